/* SPDX-License-Identifier: Apache-2.0 */
/* Completion: what may come next on a command line, and the few lines that make a shell ask for it. */
#ifndef PW_CLI_COMMAND_COMPLETION_H
#define PW_CLI_COMMAND_COMPLETION_H

#include "cli/command/invocation.h"

#include <stdio.h>

/*
 * Lists, a line each, what the last of the words can become. The words are those after the program's name. Names of workflows and queues
 * and ids of runs come from the database that the words or the environment name; invocation is the one that connects. Returns EXIT_OK if
 * a file name may come as well, EXIT_NOT_FOUND if not.
 */
int completion_list(FILE *out, struct invocation *invocation, int count, char **words);

/* The script for a shell; false if it is not known. */
bool completion_script(FILE *out, const char *shell);

#endif
