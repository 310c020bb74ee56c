/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of an access token: "pawl_", 32 random bytes as base64url, "_", and six digits of a checksum. The database has only its digest.
 * The prefix lets scanners of source code find tokens that were published by accident, and the checksum lets a server refuse most wrong
 * texts without the database.
 */
#ifndef PW_BASE_TOKEN_H
#define PW_BASE_TOKEN_H

#include "base/sha256.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PW_TOKEN_SECRET = 32,
    PW_TOKEN_LENGTH = 55, /* characters */
};

/* Writes the text of the token with this secret, and a NUL. */
void pw_token_write(
    const uint8_t secret[static PW_TOKEN_SECRET], char text[static PW_TOKEN_LENGTH + 1]);

/* Returns true if size bytes have the form of a token and the right checksum. text may be NULL if size is 0. */
bool pw_token_valid(const char *text, size_t size);

/* Computes the digest of a token: the SHA-256 of its whole text. */
void pw_token_digest(
    const char text[static PW_TOKEN_LENGTH], uint8_t digest[static PW_SHA256_SIZE]);

#endif
