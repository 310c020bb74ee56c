/* SPDX-License-Identifier: Apache-2.0 */
/* The form of tokens. Whether a token is valid, and what it allows, only the database decides. */
#ifndef PW_SERVER_API_TOKEN_H
#define PW_SERVER_API_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TOKEN_SIZE = 55, /* "pawl_", 43 characters of base64url, "_", 6 digits of the checksum */
    TOKEN_DIGEST_SIZE = 32,
};

/*
 * Reads a token: checks its form and its checksum, so that a typing error costs no query, and computes the digest that the database has.
 * Returns false if it is not a token.
 */
bool token_read(const char *text, size_t size, uint8_t digest[TOKEN_DIGEST_SIZE]);

/* The same for the value of a header Authorization: "Bearer", blanks, and the token. */
bool token_of_header(const char *value, uint8_t digest[TOKEN_DIGEST_SIZE]);

#endif
