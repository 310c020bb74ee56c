/* SPDX-License-Identifier: Apache-2.0 */
/* Passwords on a command line, which every user of the machine can read in /proc. */
#ifndef PW_BASE_SECRET_H
#define PW_BASE_SECRET_H

#include <stdbool.h>

/* Returns true if a connection string has a password: in a URI ahead of the host, or under that name. In case of doubt it has one. */
bool pw_secret_in(const char *database);

/* Overwrites a word of the command line with x. Copy it first. */
void pw_secret_hide(char *word);

/*
 * Overwrites the passwords of all connection strings in a message, for people who typed one where it does not belong. In case of doubt more
 * than the password.
 */
void pw_secret_cover(char *text);

#endif
