/* SPDX-License-Identifier: Apache-2.0 */
/* Rates: a bucket for each key, such as a token or an address. Bounded: of many keys the idle ones are forgotten. */
#ifndef PW_SERVER_LIMIT_H
#define PW_SERVER_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

enum {
    LIMIT_KEY_SIZE = 16,
};

struct limit;

/* Makes buckets that hold burst and get rate again in a second. NULL: no memory. */
struct limit *limit_new(double rate, double burst);
void limit_free(struct limit *limit);

/* Takes one from the bucket of a key. Returns false if it has none, and sets retry_s to the seconds until it has. Safe with threads. */
bool limit_take(
    struct limit *limit, const uint8_t key[LIMIT_KEY_SIZE], int64_t now_us, unsigned *retry_s);

/* Returns whether there is a bucket for a key, without making one. */
bool limit_knows(struct limit *limit, const uint8_t key[LIMIT_KEY_SIZE]);

/* Returns whether the bucket of a key has one, without taking it. */
bool limit_has(
    struct limit *limit, const uint8_t key[LIMIT_KEY_SIZE], int64_t now_us, unsigned *retry_s);

#endif
