/* SPDX-License-Identifier: Apache-2.0 */
/* The earliest of many points in time, bounded: what does not fit is forgotten, the latest first. One thread at a time. */
#ifndef PW_BASE_HEAP_H
#define PW_BASE_HEAP_H

#include <stddef.h>
#include <stdint.h>

enum {
    PW_HEAP_MAX = 1024
};

struct pw_heap {
    int64_t at[PW_HEAP_MAX];
    size_t count;
};

void pw_heap_init(struct pw_heap *heap);
/* Adds a point in time; a full heap keeps the earlier ones, as far as that can be told at once. */
void pw_heap_add(struct pw_heap *heap, int64_t at);
/* The earliest, or INT64_MAX. */
int64_t pw_heap_first(const struct pw_heap *heap);
/* Takes out all that are at or before a point in time; returns how many there were. */
size_t pw_heap_take(struct pw_heap *heap, int64_t until);

#endif
