/* SPDX-License-Identifier: Apache-2.0 */
/* The one place that asks the system for memory. */
#include "alloc.h"

#include "size.h"

#include <stdlib.h>
#include <string.h>

/* Every allocation passes here. A former p stays valid where this returns NULL. */
static void *
take_memory(void *p, size_t size)
{
    if (pw_alloc_hook != NULL && !pw_alloc_hook())
        return NULL;
    return realloc(p, size > 0 ? size : 1);
}

void *
pw_alloc(size_t size)
{
    return take_memory(NULL, size);
}

void *
pw_calloc(size_t count, size_t size)
{
    void *p;
    size_t total;

    if (!pw_size_mul(count, size, &total))
        return NULL;
    p = take_memory(NULL, total);
    if (p != NULL)
        memset(p, 0, total);
    return p;
}

void *
pw_realloc_array(void *p, size_t count, size_t size)
{
    size_t total;

    if (!pw_size_mul(count, size, &total))
        return NULL;
    return take_memory(p, total);
}

char *
pw_strdup(const char *text)
{
    return pw_memdup(text, strlen(text));
}

char *
pw_memdup(const void *data, size_t size)
{
    char *copy;
    size_t total;

    if (!pw_size_add(size, 1, &total))
        return NULL;
    copy = take_memory(NULL, total);
    if (copy == NULL)
        return NULL;
    if (size > 0)
        memcpy(copy, data, size);
    copy[size] = '\0';
    return copy;
}

void
pw_free(void *p)
{
    free(p);
}
