/* SPDX-License-Identifier: Apache-2.0 */
/* Memory from the system. All allocation of the library goes through here, so that a test can make the n-th one
 * fail. Out of memory is an error like others: each function then returns NULL and has changed nothing. Safe with
 * threads. */
#ifndef PW_BASE_ALLOC_H
#define PW_BASE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

/* The caller owns the memory that these return, and frees it with pw_free. A size of zero is taken as one byte, so
 * NULL always means out of memory. */

/* The content is undefined. */
void *pw_alloc(size_t size) __attribute__((warn_unused_result));

/* All bytes are zero. NULL also if count times size is more than size_t holds. */
void *pw_calloc(size_t count, size_t size) __attribute__((warn_unused_result));

/* Makes p, which may be NULL, hold count elements. On NULL, p is still valid and still the caller's. */
void *pw_realloc_array(void *p, size_t count, size_t size) __attribute__((warn_unused_result));

/* Copies of a text, which must not be NULL, and of size bytes, followed by a NUL. */
char *pw_strdup(const char *text) __attribute__((warn_unused_result));
char *pw_memdup(const void *data, size_t size) __attribute__((warn_unused_result));

/* Takes NULL. */
void pw_free(void *p);

/* Nothing in the library defines this. A test program may: it is asked before each allocation, in any thread, and the
 * allocation fails if it answers false. Hidden, so that the shared library neither exports nor looks for it. */
bool pw_alloc_hook(void) __attribute__((weak, visibility("hidden")));

#endif
