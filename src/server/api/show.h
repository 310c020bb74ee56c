/* SPDX-License-Identifier: Apache-2.0 */
/* Rows as JSON. A column is a member of the same name; an interval is a number of milliseconds, and its name ends with _ms. */
#ifndef PW_SERVER_API_SHOW_H
#define PW_SERVER_API_SHOW_H

#include "base/buf.h"

#include <pawl/pawl.h>

enum {
    SHOW_TIME_SIZE = 48,
};

/* Adds one row as an object. without, which may be NULL, is a column to leave out. */
void show_row(struct pw_buf *out, const pawl_rows *rows, size_t row, const char *without);

/* Adds the members of that object without braces. */
void show_members(struct pw_buf *out, const pawl_rows *rows, size_t row, const char *without);

/* Adds the value in a column. Adds null if there is none. */
void show_value(struct pw_buf *out, const pawl_rows *rows, size_t row, const char *column);

/*
 * Writes a time that PostgreSQL has printed, "2026-02-03 04:05:06.789+00", as RFC 3339 in UTC. Returns false if it is none of UTC, such
 * as infinity.
 */
bool show_time(const char *text, char out[SHOW_TIME_SIZE]);

#endif
