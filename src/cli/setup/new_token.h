/* SPDX-License-Identifier: Apache-2.0 */
/* A token that is made here: its text, and its digest as the verb create_token takes it. */
#ifndef PW_CLI_SETUP_NEW_TOKEN_H
#define PW_CLI_SETUP_NEW_TOKEN_H

#include "base/token.h"

struct new_token {
    char text[PW_TOKEN_LENGTH + 1];
    char digest[2 * PW_SHA256_SIZE + 3]; /* \x0123… */
};

/* Makes a token of random bytes. Returns EXIT_OK, or prints why not and returns the exit code. */
int new_token_make(struct new_token *token);

#endif
