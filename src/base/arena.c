/* SPDX-License-Identifier: Apache-2.0 */
/* Takes memory in blocks, each twice as large as the one before, and hands it out piece by piece. */
#include "arena.h"

#include "alloc.h"
#include "size.h"

#include <stdbool.h>
#include <string.h>

struct pw_arena_block {
    struct pw_arena_block *next;
    size_t size; /* of the whole block */
    _Alignas(max_align_t) char data[];
};

enum {
    ALIGNMENT = _Alignof(max_align_t)
};

static const size_t BLOCK_FIRST = 1024;
static const size_t BLOCK_MOST = 65536;

/* Bytes of data in a block. */
static size_t
block_room(const struct pw_arena_block *block)
{
    return block->size - sizeof(*block);
}

/* A new block with room for size bytes, or NULL. */
static struct pw_arena_block *
take_block(struct pw_arena *arena, size_t size)
{
    struct pw_arena_block *block;
    size_t whole, wish = BLOCK_FIRST;
    size_t left = arena->max - arena->total;

    if (!pw_size_add(size, sizeof(*block), &whole) || whole > left)
        return NULL;
    if (arena->blocks != NULL)
        wish = arena->blocks->size < BLOCK_MOST / 2 ? arena->blocks->size * 2 : BLOCK_MOST;
    if (wish > left)
        wish = left;
    if (whole < wish)
        whole = wish;
    block = pw_alloc(whole);
    if (block == NULL)
        return NULL;
    block->size = whole;
    arena->total += whole;
    return block;
}

void
pw_arena_init(struct pw_arena *arena, size_t max)
{
    *arena = (struct pw_arena){.max = max};
}

void *
pw_arena_alloc(struct pw_arena *arena, size_t size)
{
    struct pw_arena_block *block;
    size_t rounded, room;

    if (!pw_size_add(size, ALIGNMENT - 1, &rounded))
        return NULL;
    rounded -= rounded % ALIGNMENT;
    room = arena->blocks != NULL ? block_room(arena->blocks) - arena->used : 0;
    if (arena->blocks != NULL && size <= room) {
        char *piece = arena->blocks->data + arena->used;

        arena->used += rounded < room ? rounded : room;
        return piece;
    }
    block = take_block(arena, size);
    if (block == NULL)
        return NULL;
    if (rounded > block_room(block))
        rounded = block_room(block);
    if (arena->blocks != NULL && block_room(block) - rounded < room) {
        /* The block before has more left: it stays the one to take from. */
        block->next = arena->blocks->next;
        arena->blocks->next = block;
    } else {
        block->next = arena->blocks;
        arena->blocks = block;
        arena->used = rounded;
    }
    return block->data;
}

char *
pw_arena_copy(struct pw_arena *arena, const void *data, size_t size)
{
    size_t whole;
    char *copy;

    if (!pw_size_add(size, 1, &whole))
        return NULL;
    copy = pw_arena_alloc(arena, whole);
    if (copy == NULL)
        return NULL;
    if (size > 0)
        memcpy(copy, data, size);
    copy[size] = '\0';
    return copy;
}

void
pw_arena_done(struct pw_arena *arena)
{
    struct pw_arena_block *block = arena->blocks;

    while (block != NULL) {
        struct pw_arena_block *next = block->next;

        pw_free(block);
        block = next;
    }
    pw_arena_init(arena, arena->max);
}
