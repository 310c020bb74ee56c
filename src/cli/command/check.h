/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a value is what an option or operand takes, before anything is sent anywhere. */
#ifndef PW_CLI_COMMAND_CHECK_H
#define PW_CLI_COMMAND_CHECK_H

#include "cli/command/command.h"

/* Both return EXIT_OK, or what to exit with after having said why. */
int check_option(const struct option *option, const char *value);
int check_operand(const struct operand *operand, const char *value);

bool check_is_run_id(const char *value);

/* The one of a few words, separated by spaces, that value is in any case; NULL: none. size: how long it is. */
const char *check_choice(const char *choices, const char *value, size_t *size);

/* The known word that is nearest to one that is not: "lsit" is "list". NULL if none is near. words ends with NULL. */
const char *check_nearest(const char *word, const char *const *words);

#endif
