/* SPDX-License-Identifier: Apache-2.0 */
/* Passwords on the command line, which every user of the machine can read in /proc. */
#ifndef PW_CLI_COMMAND_SECRET_H
#define PW_CLI_COMMAND_SECRET_H

#include <stdbool.h>

/* Whether a connection string has a password: in a URI before the host, or under that name. In case of doubt it has one. */
bool secret_in(const char *database);

/* Returns a malloced copy of a word of the command line, and overwrites the word with x. NULL: out of memory, nothing is overwritten. */
char *secret_take(char *word);

#endif
