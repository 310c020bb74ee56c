/* SPDX-License-Identifier: Apache-2.0 */
/* Judges a payload before it is sent. A payload that is not JSON must not reach the server: it would fail a whole batch, and
 * the server would write the beginning of it to its log. */
#ifndef PW_BASE_JSON_SCAN_H
#define PW_BASE_JSON_SCAN_H

#include <stddef.h>

enum pw_json_problem {
    PW_JSON_OK = 0,
    PW_JSON_EMPTY,     /* size 0, or only blanks */
    PW_JSON_TOO_LARGE, /* more than size_max bytes */
    PW_JSON_TOO_DEEP,  /* more than depth_max objects and arrays inside each other */
    PW_JSON_NOT_UTF8,  /* a byte that belongs to no character, also surrogates and overlong forms */
    PW_JSON_HAS_NUL,   /* a NUL byte; the escape \u0000 is not looked for */
    PW_JSON_INVALID,   /* not one whole JSON value */
};

/* The first problem found. data may be NULL if size is 0. */
enum pw_json_problem pw_json_scan(
    const char *data, size_t size, size_t size_max, unsigned depth_max);

/* Returns the problem as a part of a message: "is empty", "is not valid UTF-8". A constant. */
const char *pw_json_problem_text(enum pw_json_problem problem);

#endif
