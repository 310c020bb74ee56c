/* SPDX-License-Identifier: Apache-2.0 */
/* Completion: what may stand next on a command line, and the few lines that make a shell ask for it. */
#ifndef PW_CLI_COMMAND_COMPLETION_H
#define PW_CLI_COMMAND_COMPLETION_H

#include <stdbool.h>
#include <stdio.h>

/* Prints the words that may stand where the last of the given ones is being typed, a line each. */
void completion_list(FILE *out, int count, char *const *words);

/* A script for bash, zsh or fish; false for another shell. */
bool completion_script(FILE *out, const char *shell);

#endif
