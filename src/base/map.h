/* SPDX-License-Identifier: Apache-2.0 */
/* A hash map from a run's id and a task's number to a pointer, with a bound on its entries. One thread at a time. */
#ifndef PW_BASE_MAP_H
#define PW_BASE_MAP_H

#include "uuid.h"

#include <stdbool.h>
#include <stddef.h>

struct pw_map_entry {
    struct pw_uuid run;
    int task;
    void *value; /* NULL: the place is free */
};

/* All fields are the map's own. Open addressing; the number of places is a power of two, or 0. */
struct pw_map {
    struct pw_map_entry *entries;
    size_t places;
    size_t count;
    size_t count_max;
};

/* Allocates nothing. */
void pw_map_init(struct pw_map *map, size_t count_max);

/* Frees the map, not what the values point to, and leaves it as after init. */
void pw_map_done(struct pw_map *map);

/* Adds an entry, or gives the one with that key another value, which always succeeds. value must not be NULL. False,
 * with nothing changed, if the map is full or there is no memory. */
bool pw_map_put(struct pw_map *map, const struct pw_uuid *run, int task, void *value)
    __attribute__((warn_unused_result));

/* The value, or NULL. */
void *pw_map_get(const struct pw_map *map, const struct pw_uuid *run, int task);

/* Takes the entry out and returns its value, or NULL if there was none. */
void *pw_map_remove(struct pw_map *map, const struct pw_uuid *run, int task);

size_t pw_map_count(const struct pw_map *map);

/* Walks all entries in no order: begin with *at = 0, NULL is the end. put and remove in between are not allowed; to take
 * all out, walk and then call done. */
const struct pw_map_entry *pw_map_next(const struct pw_map *map, size_t *at);

#endif
