/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 (FIPS 180-4), for ids that others must be able to compute too. Not for passwords. */
#ifndef PW_BASE_SHA256_H
#define PW_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum {
    PW_SHA256_SIZE = 32,
    PW_SHA256_BLOCK = 64
};

/* A digest that is computed in pieces. All fields are its own. */
struct pw_sha256_state {
    uint32_t words[8];
    uint64_t size; /* bytes added so far */
    uint8_t block[PW_SHA256_BLOCK];
};

void pw_sha256_init(struct pw_sha256_state *state);

/* Adds size bytes; data may be NULL if size is 0. */
void pw_sha256_add(struct pw_sha256_state *state, const void *data, size_t size);

/* Ends it; only init may follow. */
void pw_sha256_end(struct pw_sha256_state *state, uint8_t out[PW_SHA256_SIZE]);

#endif
