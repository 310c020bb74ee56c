/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads single JSON values without a library, from an input, an output or a decision.
 *
 * A JSON pointer (RFC 6901) names a value. "" is the whole text; "/items/0/id" is the member id of the
 * first element of the member items. In a name, ~1 stands for / and ~0 for ~. Of members with the same
 * name the last one counts, as in PostgreSQL.
 *
 * These calls are not a validator: they read only as far as the value. The text after it may be
 * invalid, and UTF-8 is not checked. They are not for large data: each call reads from the start.
 *
 * All of them are thread-safe, allocate nothing and write outputs on success only.
 * They return PAWL_ENOTFOUND if there is no value at the pointer, or if json is empty.
 * They return PAWL_EINVAL if the pointer is malformed or an output is missing. The same applies if the
 * text is not JSON as far as it was read, or is nested more than 128 deep.
 */
#ifndef PAWL_JSON_H
#define PAWL_JSON_H

#include <pawl/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Finds the value at a pointer. Sets value to the part of json that holds it, including quotes, without
 * blanks around it. It is borrowed from json and does NOT end in a NUL byte: print it with "%.*s". A
 * null is a value like others. value may be NULL, to only check whether there is one.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_json_find(
    pawl_bytes json, const char *pointer, pawl_bytes *value);

/*
 * Reads a whole number without point and exponent. Also returns PAWL_EINVAL for another kind of value,
 * and PAWL_ETOOLARGE if the number does not fit.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_json_int(
    pawl_bytes json, const char *pointer, int64_t *value);

/* Reads true as 1 and false as 0. Also returns PAWL_EINVAL for another kind of value. */
PAWL_API PAWL_MUST_USE pawl_status pawl_json_bool(pawl_bytes json, const char *pointer, int *value);

/*
 * Copies a string, without quotes and escapes, to buffer and ends it with a NUL byte. size is the size
 * of buffer; json.size bytes are always enough. The character \u0000, which would end the text too
 * early, becomes U+FFFD. Also returns PAWL_EINVAL for another kind of value, and PAWL_ETOOLARGE if the
 * text does not fit.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_json_text(
    pawl_bytes json, const char *pointer, char *buffer, size_t size);

#ifdef __cplusplus
}
#endif

#endif
