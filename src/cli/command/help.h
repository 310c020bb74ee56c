/* SPDX-License-Identifier: Apache-2.0 */
/* What is made of the descriptions of commands: help and manual pages. */
#ifndef PW_CLI_COMMAND_HELP_H
#define PW_CLI_COMMAND_HELP_H

#include "cli/command/command.h"

#include <stdio.h>

/* All commands, a line each; or those that begin with a word. */
void help_list(FILE *out, const char *group);

/* One command. */
void help_command(FILE *out, const struct command *command);

/* The manual page of one command, or with NULL of the program, as scdoc reads it. */
void help_manual(FILE *out, const struct command *command);

#endif
