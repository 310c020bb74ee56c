/* SPDX-License-Identifier: Apache-2.0 */
/* Completion: lists the possible next words of a command line, and prints the script that makes a shell ask for them. */
#ifndef PW_CLI_COMMAND_COMPLETION_H
#define PW_CLI_COMMAND_COMPLETION_H

#include "cli/command/invocation.h"

#include <stdio.h>

/*
 * Lists, a line each, the words that the last word can become. words are those after the program's name. Names of workflows and queues and
 * ids of runs come from the database that the words or the environment name; invocation connects to it. Returns EXIT_OK if a file name is
 * possible as well, else EXIT_NOT_FOUND.
 */
int completion_list(FILE *out, struct invocation *invocation, int count, char **words);

/* Prints the script for a shell. Returns false if the shell is unknown. */
bool completion_script(FILE *out, const char *shell);

#endif
