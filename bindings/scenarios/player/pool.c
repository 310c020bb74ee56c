/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a scenario: a list of blocks. */
#include "pool.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct block {
    struct block *next;
    _Alignas(max_align_t) char data[];
};

struct pool {
    pthread_mutex_t lock;
    struct block *first;
};

/* Ends the program if there is no memory. */
static void *
need(void *memory)
{
    if (memory == NULL) {
        (void)fprintf(stderr, "play: out of memory\n");
        exit(2);
    }
    return memory;
}

struct pool *
pool_new(void)
{
    struct pool *pool = need(calloc(1, sizeof(*pool)));

    if (pthread_mutex_init(&pool->lock, NULL) != 0)
        need(NULL);
    return pool;
}

void
pool_free(struct pool *pool)
{
    struct block *next;

    for (struct block *block = pool->first; block != NULL; block = next) {
        next = block->next;
        free(block);
    }
    (void)pthread_mutex_destroy(&pool->lock);
    free(pool);
}

void *
pool_alloc(struct pool *pool, size_t size)
{
    struct block *block = need(calloc(1, sizeof(*block) + size));

    (void)pthread_mutex_lock(&pool->lock);
    block->next = pool->first;
    pool->first = block;
    (void)pthread_mutex_unlock(&pool->lock);
    return block->data;
}

pawl_bytes
pool_copy(struct pool *pool, pawl_bytes bytes)
{
    char *copy = pool_alloc(pool, bytes.size + 1);

    if (bytes.size > 0)
        memcpy(copy, bytes.data, bytes.size);
    return (pawl_bytes){copy, bytes.size};
}

char *
pool_vprintf(struct pool *pool, const char *format, va_list args)
{
    va_list again;
    char *text;
    int size;

    va_copy(again, args);
    size = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (size < 0)
        need(NULL);
    text = pool_alloc(pool, (size_t)size + 1);
    (void)vsnprintf(text, (size_t)size + 1, format, args);
    return text;
}

char *
pool_printf(struct pool *pool, const char *format, ...)
{
    va_list args;
    char *text;

    va_start(args, format);
    text = pool_vprintf(pool, format, args);
    va_end(args);
    return text;
}

void
text_add(struct text *text, const char *data, size_t size)
{
    if (text->room - text->size < size + 1) {
        text->room = (text->size + size + 1) * 2;
        text->data = need(realloc(text->data, text->room));
    }
    if (size > 0)
        memcpy(text->data + text->size, data, size);
    text->size += size;
    text->data[text->size] = '\0';
}

void
text_say(struct text *text, const char *words)
{
    text_add(text, words, strlen(words));
}

pawl_bytes
text_take(struct text *text, struct pool *pool)
{
    pawl_bytes bytes = pool_copy(pool, (pawl_bytes){text->data, text->size});

    free(text->data);
    *text = (struct text){0};
    return bytes;
}
