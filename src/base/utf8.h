/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 as PostgreSQL takes it: no surrogates, nothing overlong, nothing beyond U+10FFFF. */
#ifndef PW_BASE_UTF8_H
#define PW_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes (1 to 4) of the character that data, of size bytes, begins with; 0 if it is none, cut off, or size is 0.
 * A NUL byte is a character. */
size_t pw_utf8_length(const char *data, size_t size);

/* True if data is a sequence of whole characters. Empty is valid. */
bool pw_utf8_valid(const char *data, size_t size);

/* The largest number of bytes, at most size, that does not end inside a character. Only an unfinished character at
 * the end is checked. */
size_t pw_utf8_cut(const char *data, size_t size);

/* True if a terminal would act on the character text, of size bytes, instead of showing it. These are C0, DEL, C1,
 * bytes that are not a character, and characters that change the direction of a text, so that it shows as another
 * one. */
bool pw_utf8_is_control(const char *text, size_t size);

#endif
