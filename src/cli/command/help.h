/* SPDX-License-Identifier: Apache-2.0 */
/* What is made of the descriptions of commands: help and manual pages. */
#ifndef PW_CLI_COMMAND_HELP_H
#define PW_CLI_COMMAND_HELP_H

#include "cli/command/command.h"

#include <stdio.h>

/* The commands that are used most, and where to read more. */
void help_short(FILE *out);

/* All commands in their groups, a line each; plumbing: these as well. */
void help_program(FILE *out, bool plumbing);

/* The commands whose first word this is, a line each. */
void help_list(FILE *out, const char *word);

/* One command. */
void help_command(FILE *out, const struct command *command);

/* The manual page of one command, or with NULL of the program, as scdoc reads it. */
void help_manual(FILE *out, const struct command *command);

#endif
