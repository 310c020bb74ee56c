/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a value is what an option or operand takes, before anything is sent anywhere. */
#ifndef PW_CLI_COMMAND_CHECK_H
#define PW_CLI_COMMAND_CHECK_H

#include "cli/command/command.h"

/* Both return EXIT_OK, or print why not and return the exit code. */
int check_option(const struct option *option, const char *value);
int check_operand(const struct operand *operand, const char *value);

bool check_is_run_id(const char *value);

/* Returns the word of choices, a list separated by spaces, that equals value in any case, and sets size to its length; NULL: none. */
const char *check_choice(const char *choices, const char *value, size_t *size);

/* Returns the known word that is nearest to an unknown one: "list" for "lsit". NULL if none is near. words ends with NULL. */
const char *check_nearest(const char *word, const char *const *words);

#endif
