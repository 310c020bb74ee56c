/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading JSON without a library: one value out of an input, an output or a decision. Values are named by a JSON pointer (RFC 6901):
 * "" is the whole, "/items/0/id" the member id of the first element of the member items; in a name, ~1 stands for / and ~0 for ~.
 *
 * This is no validator: it reads as far as it must to find the value, so that what it takes may still be no JSON elsewhere, and
 * it does not look at UTF-8. Nor is it meant for large data: each call reads from the start.
 *
 * All of it can be called from any thread, allocates nothing and writes outputs on success only. All of it answers
 * PAWL_ENOTFOUND if there is nothing at that place, also in no bytes at all; and PAWL_EINVAL if a pointer is none, a place for
 * the answer is missing, or the text is not JSON as far as it was read, or nested more than 128 deep. Of members with the same
 * name the last one counts, as for PostgreSQL.
 */
#ifndef PAWL_JSON_H
#define PAWL_JSON_H

#include <pawl/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The value at a pointer, cut out of json with quotes and all, without blanks around it, and borrowed from it. So it lives as
 * long as json does, and does NOT end in a NUL byte: print it with "%.*s". A null is a value like others. value may be NULL,
 * which only asks whether there is one.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_json_find(
    pawl_bytes json, const char *pointer, pawl_bytes *value);

/*
 * A whole number, written without point and exponent. PAWL_EINVAL, too, if it is another kind of value. PAWL_ETOOLARGE: it does
 * not fit.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_json_int(
    pawl_bytes json, const char *pointer, int64_t *value);

/* true is 1 and false is 0. PAWL_EINVAL, too, if it is another kind of value. */
PAWL_API PAWL_MUST_USE pawl_status pawl_json_bool(pawl_bytes json, const char *pointer, int *value);

/*
 * A string without quotes and escapes, copied to buffer, which has size bytes, and ended by a NUL byte. The character \u0000, which
 * would end it too early, becomes U+FFFD. PAWL_EINVAL, too, if it is another kind of value. PAWL_ETOOLARGE: it does not fit; a
 * buffer of json.size bytes is always enough.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_json_text(
    pawl_bytes json, const char *pointer, char *buffer, size_t size);

#ifdef __cplusplus
}
#endif

#endif
