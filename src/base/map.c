/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing with linear probing. Removing moves later entries back, so there are no graves to clean up. */
#include "map.h"

#include "alloc.h"
#include "rand.h"

static const size_t PLACES_FIRST = 16;

static uint64_t
hash_key(const struct pw_uuid *run, int task)
{
    struct pw_rand mixer;

    pw_rand_init(&mixer, pw_uuid_hash(run) + (unsigned)task);
    return pw_rand_next(&mixer);
}

/* The index of the key, or else of the free entry for it. There must be a free entry. */
static size_t
find_place(const struct pw_map_entry *entries, size_t places, const struct pw_uuid *run, int task)
{
    size_t at = (size_t)hash_key(run, task) & (places - 1);

    while (entries[at].value != NULL &&
        !(entries[at].task == task && pw_uuid_equal(&entries[at].run, run)))
        at = (at + 1) & (places - 1);
    return at;
}

/* Makes room for one more; a quarter of the places stays free, so that searches are short and end. */
static bool
grow(struct pw_map *map)
{
    struct pw_map_entry *entries;
    struct pw_map_entry *old = map->entries;
    size_t places;

    if (map->count < map->places - map->places / 4)
        return true;
    /* A product that wraps around would be refused by the allocation long before. */
    places = map->places > 0 ? map->places * 2 : PLACES_FIRST;
    entries = pw_calloc(places, sizeof(*entries));
    if (entries == NULL)
        return false;
    for (size_t i = 0; i < map->places; i++) {
        const struct pw_map_entry *entry = &old[i];

        if (entry->value != NULL)
            entries[find_place(entries, places, &entry->run, entry->task)] = *entry;
    }
    map->entries = entries;
    map->places = places;
    /*
     * Last: 1. A thread grows the map of its worker. 2. Another thread forks. 3. The child frees the worker, and with it the entries that the
     * map points to, which must not be freed already.
     */
    pw_free(old);
    return true;
}

void
pw_map_init(struct pw_map *map, size_t count_max)
{
    *map = (struct pw_map){.count_max = count_max};
}

void
pw_map_done(struct pw_map *map)
{
    pw_free(map->entries);
    pw_map_init(map, map->count_max);
}

bool
pw_map_put(struct pw_map *map, const struct pw_uuid *run, int task, void *value)
{
    size_t at;

    if (value == NULL)
        return false;
    if (map->places > 0) {
        at = find_place(map->entries, map->places, run, task);
        if (map->entries[at].value != NULL) {
            map->entries[at].value = value;
            return true;
        }
    }
    if (map->count >= map->count_max || !grow(map))
        return false;
    at = find_place(map->entries, map->places, run, task);
    map->entries[at] = (struct pw_map_entry){.run = *run, .task = task, .value = value};
    map->count++;
    return true;
}

void *
pw_map_get(const struct pw_map *map, const struct pw_uuid *run, int task)
{
    if (map->places == 0)
        return NULL;
    return map->entries[find_place(map->entries, map->places, run, task)].value;
}

void *
pw_map_remove(struct pw_map *map, const struct pw_uuid *run, int task)
{
    size_t mask = map->places - 1;
    size_t hole, at;
    void *value;

    if (map->places == 0)
        return NULL;
    hole = find_place(map->entries, map->places, run, task);
    value = map->entries[hole].value;
    if (value == NULL)
        return NULL;
    /* An entry may move into the hole unless that lies before the place where its search begins. */
    for (at = (hole + 1) & mask; map->entries[at].value != NULL; at = (at + 1) & mask) {
        size_t home = (size_t)hash_key(&map->entries[at].run, map->entries[at].task) & mask;

        if (((at - home) & mask) >= ((at - hole) & mask)) {
            map->entries[hole] = map->entries[at];
            hole = at;
        }
    }
    map->entries[hole].value = NULL;
    map->count--;
    return value;
}

size_t
pw_map_count(const struct pw_map *map)
{
    return map->count;
}

const struct pw_map_entry *
pw_map_next(const struct pw_map *map, size_t *at)
{
    while (*at < map->places) {
        const struct pw_map_entry *entry = &map->entries[(*at)++];

        if (entry->value != NULL)
            return entry;
    }
    return NULL;
}
