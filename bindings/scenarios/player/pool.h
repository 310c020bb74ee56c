/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that lives as long as one scenario, and texts in it. Thread-safe. Without memory the program ends with code 2. */
#ifndef PAWL_PLAYER_POOL_H
#define PAWL_PLAYER_POOL_H

#include <pawl/api.h>
#include <stdarg.h>

struct pool;

struct pool *pool_new(void);
void pool_free(struct pool *pool);

/* Memory that is set to zero. */
void *pool_alloc(struct pool *pool, size_t size);

/* A copy with a NUL byte after it. */
pawl_bytes pool_copy(struct pool *pool, pawl_bytes bytes);

char *pool_vprintf(struct pool *pool, const char *format, va_list args) PAWL_PRINTF(2, 0);
char *pool_printf(struct pool *pool, const char *format, ...) PAWL_PRINTF(2, 3);

/* A text that grows. Starts as {0}. */
struct text {
    char *data; /* NULL while it is empty; ends in a NUL byte */
    size_t size;
    size_t room;
};

void text_add(struct text *text, const char *data, size_t size);
void text_say(struct text *text, const char *words);

/* Moves the text into the pool and empties it. */
pawl_bytes text_take(struct text *text, struct pool *pool);

#endif
