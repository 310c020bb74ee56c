/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that lives as long as one request or one task: pieces are allocated one after another and freed all at
 * once. NOT safe with threads: an arena belongs to one thread at a time. */
#ifndef PW_BASE_ARENA_H
#define PW_BASE_ARENA_H

#include <stddef.h>

struct pw_arena_block;

/* All fields are the arena's own. */
struct pw_arena {
    struct pw_arena_block *blocks; /* the newest first */
    size_t used;                   /* of the newest */
    size_t total;                  /* bytes taken from the system */
    size_t max;                    /* the most that total may become */
};

/* Allocates nothing. max counts what is taken from the system, so the small heads of blocks too. */
void pw_arena_init(struct pw_arena *arena, size_t max);

/* Returns size bytes, aligned for any type, undefined content. NULL if that would be over the maximum, or out of
 * memory; the arena stays valid then. Size 0 returns a pointer that must not be read. */
void *pw_arena_alloc(struct pw_arena *arena, size_t size) __attribute__((warn_unused_result));

/* A copy of size bytes, followed by a NUL. data may be NULL if size is 0. */
char *pw_arena_copy(struct pw_arena *arena, const void *data, size_t size)
    __attribute__((warn_unused_result));

/* Frees all memory and leaves the arena as after init. */
void pw_arena_done(struct pw_arena *arena);

#endif
