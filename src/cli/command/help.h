/* SPDX-License-Identifier: Apache-2.0 */
/* Prints help and manual pages, from the descriptions of commands. */
#ifndef PW_CLI_COMMAND_HELP_H
#define PW_CLI_COMMAND_HELP_H

#include "cli/command/command.h"

#include <stdio.h>

/* Prints the commands that are used most, and where to read more. */
void help_short(FILE *out);

/* Prints all commands in their groups, a line each. plumbing: including the last group. */
void help_program(FILE *out, bool plumbing);

/* Prints the commands whose first word is word, a line each. */
void help_list(FILE *out, const char *word);

/* Prints the help of one command. */
void help_command(FILE *out, const struct command *command);

/* Prints the manual page of one command, or of the program if command is NULL, in the format of scdoc. */
void help_manual(FILE *out, const struct command *command);

#endif
