/* SPDX-License-Identifier: Apache-2.0 */
/* Counts names. */
#include "libpawl/run/names.h"

#include "base/arena.h"
#include "base/size.h"

#include <string.h>

static const size_t size_first = 16;
static const size_t name_max = 100;

/* FNV-1a: the names come from the author of the handler, who gains nothing if they collide. */
static uint32_t
hash_text(const char *text)
{
    uint32_t hash = 2166136261u;

    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash;
}

/* The place of a name, or the free one where it belongs. There is always a free one. */
static struct pw_name *
find_place(struct pw_name *places, size_t size, uint32_t hash, const char *text)
{
    size_t at = hash & (size - 1);

    while (
        places[at].text != NULL && (places[at].hash != hash || strcmp(places[at].text, text) != 0))
        at = (at + 1) & (size - 1);
    return &places[at];
}

/* Twice the places. The old ones stay in the arena; together they are not larger than the new ones. */
static bool
grow(struct pw_names *names, struct pw_arena *arena)
{
    size_t size = names->size > 0 ? names->size * 2 : size_first;
    struct pw_name *places;
    size_t bytes;

    if (!pw_size_mul(size, sizeof(*places), &bytes))
        return false;
    places = pw_arena_alloc(arena, bytes);
    if (places == NULL)
        return false;
    memset(places, 0, bytes);
    for (size_t i = 0; i < names->size; i++) {
        const struct pw_name *old = &names->places[i];

        if (old->text != NULL)
            *find_place(places, size, old->hash, old->text) = *old;
    }
    names->places = places;
    names->size = size;
    return true;
}

uint32_t *
pw_names_count(struct pw_names *names, struct pw_arena *arena, const char *text)
{
    uint32_t hash = hash_text(text);
    struct pw_name *place;

    if (names->size > 0) {
        place = find_place(names->places, names->size, hash, text);
        if (place->text != NULL)
            return &place->count;
    }
    if (names->used >= names->size / 4 * 3 && !grow(names, arena))
        return NULL;
    text = pw_arena_copy(arena, text, strlen(text));
    if (text == NULL)
        return NULL;
    place = find_place(names->places, names->size, hash, text);
    *place = (struct pw_name){text, hash, 0};
    names->used++;
    return &place->count;
}

bool
pw_names_has(const struct pw_names *names, const char *text, size_t size)
{
    for (size_t i = 0; i < names->size; i++) {
        const struct pw_name *place = &names->places[i];

        if (place->text != NULL && place->count > 0 && strlen(place->text) == size &&
            memcmp(place->text, text, size) == 0)
            return true;
    }
    return false;
}

bool
pw_name_valid(const char *text)
{
    size_t size = 0;

    if (text == NULL)
        return false;
    for (; text[size] != '\0'; size++) {
        char c = text[size];

        if (size == name_max ||
            !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-'))
            return false;
    }
    return size > 0;
}
