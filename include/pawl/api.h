/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of declarations, and the two types that every header shares. */
#ifndef PAWL_API_H
#define PAWL_API_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define PAWL_API __attribute__((__visibility__("default")))
#define PAWL_MUST_USE __attribute__((__warn_unused_result__))
#define PAWL_PRINTF(text, first) __attribute__((__format__(__printf__, text, first)))
#else
#define PAWL_API
#define PAWL_MUST_USE
#define PAWL_PRINTF(text, first)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Bytes that somebody else owns. Payloads are JSON in UTF-8, passed on untouched; data need not end in a NUL byte. What the
 * library hands out does end in one, which size does not count, but for what pawl_json_find() cuts out. { NULL, 0 } means that
 * there is nothing, which is another thing than the JSON null.
 */
typedef struct pawl_bytes {
    const char *data;
    size_t size;
} pawl_bytes;

/* Room for a run id as text, with its final NUL. */
enum {
    PAWL_ID_SIZE = 37
};

/* The bytes of a text, without copying it; NULL gives no bytes. Any thread. */
PAWL_API PAWL_MUST_USE pawl_bytes pawl_text(const char *text);

#ifdef __cplusplus
}
#endif

#endif
