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
 * Borrowed bytes: another object owns them, and they live as long as that object does. Payloads are
 * JSON in UTF-8 and are passed on unchanged. data need not end in a NUL byte. Values that the library
 * returns do end in a NUL byte, which size does not count, except those of pawl_json_find().
 * { NULL, 0 } is empty: there is no value. The JSON null is a value.
 */
typedef struct pawl_bytes {
    const char *data;
    size_t size;
} pawl_bytes;

/* Size of a buffer for a run id as text, with its final NUL. */
enum {
    PAWL_ID_SIZE = 37
};

/* Size of a buffer for a traceparent of W3C Trace Context, with its final NUL. */
enum {
    PAWL_TRACEPARENT_SIZE = 56
};

/* Returns the bytes of text without copying it; empty for NULL. Thread-safe. */
PAWL_API PAWL_MUST_USE pawl_bytes pawl_text(const char *text);

#ifdef __cplusplus
}
#endif

#endif
