/* SPDX-License-Identifier: Apache-2.0 */
/* Sums and products of sizes that do not wrap around. */
#ifndef PW_BASE_SIZE_H
#define PW_BASE_SIZE_H

#include <stdbool.h>
#include <stddef.h>

/* Both write *out and return true, or return false if the result is more than size_t holds and leave *out alone. */

static inline bool
pw_size_add(size_t a, size_t b, size_t *out)
{
    size_t sum;

    if (__builtin_add_overflow(a, b, &sum))
        return false;
    *out = sum;
    return true;
}

static inline bool
pw_size_mul(size_t a, size_t b, size_t *out)
{
    size_t product;

    if (__builtin_mul_overflow(a, b, &product))
        return false;
    *out = product;
    return true;
}

#endif
