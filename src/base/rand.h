/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers: bytes from the kernel for ids, and a small seeded generator for delays, where a guess gains
 * nothing. */
#ifndef PW_BASE_RAND_H
#define PW_BASE_RAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Fills out from the kernel's generator. False if the kernel refuses; then out is undefined. Safe with threads. */
bool pw_random(void *out, size_t size) __attribute__((warn_unused_result));

/* splitmix64. One thread at a time. */
struct pw_rand {
    uint64_t state;
};

/* The same seed gives the same numbers. */
void pw_rand_init(struct pw_rand *rand, uint64_t seed);

/* A seed from the kernel, or from the clock and the process where the kernel refuses. */
void pw_rand_init_any(struct pw_rand *rand);

uint64_t pw_rand_next(struct pw_rand *rand);

/* At least 0, below 1. */
double pw_rand_unit(struct pw_rand *rand);

/* value times a number between 1 - share and 1 + share. A share below 0 (or not a number) is taken as 0, above 1 as 1.
 * Stays within the range of int64_t. */
int64_t pw_jitter(struct pw_rand *rand, int64_t value, double share);

/* How long to wait after the tries-th failure in a row: base_us, doubled with each failure, at most cap_us. The
 * result is random between one half and all of that, so that callers that failed together do not return together.
 * tries 0 is taken as 1. base_us and cap_us below 1 are taken as 1. */
int64_t pw_backoff_us(struct pw_rand *rand, unsigned tries, int64_t base_us, int64_t cap_us);

#endif
