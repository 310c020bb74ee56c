/* SPDX-License-Identifier: Apache-2.0 */
/* How often each name came up in a branch: a hash table in the branch's arena, so that a loop of many steps stays linear. */
#ifndef PW_LIBPAWL_NAMES_H
#define PW_LIBPAWL_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pw_arena;

struct pw_name {
    const char *text; /* NULL: the place is free */
    uint32_t hash;
    uint32_t count;
};

/* All zero is an empty one. Open addressing; the number of places is a power of two. Its bound is that of the arena. */
struct pw_names {
    struct pw_name *places;
    size_t size;
    size_t used;
};

/* Returns the count of a name, 0 if it is new; the caller changes it before the next call. Returns NULL if out of memory. */
uint32_t *pw_names_count(struct pw_names *names, struct pw_arena *arena, const char *text);

/* Returns true if a name of this size was counted. */
bool pw_names_has(const struct pw_names *names, const char *text, size_t size);

/* Returns true if text is valid as the name of a step, a wait, a child or a branch. NULL is not valid. */
bool pw_name_valid(const char *text);

#endif
