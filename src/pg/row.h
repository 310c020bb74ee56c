/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a reply: typed and checked access. A value of another type or size than asked for is an error, never a guess. */
#ifndef PW_PG_ROW_H
#define PW_PG_ROW_H

#include "base/uuid.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Owns a result of libpq; empty if result is NULL. */
struct pw_rows {
    void *result;
};

void pw_rows_done(struct pw_rows *rows);
int pw_rows_count(const struct pw_rows *rows);
int pw_rows_columns(const struct pw_rows *rows);
const char *pw_rows_name(const struct pw_rows *rows, int column);
/* The type of a column, as PostgreSQL numbers them; 0 if there is no such column. */
unsigned pw_rows_type(const struct pw_rows *rows, int column);

/* Whole values. Each returns false for a null, for a column that does not exist, and for a value that does not fit. */
bool pw_rows_bool(const struct pw_rows *rows, int row, int column, bool *out);
bool pw_rows_int4(const struct pw_rows *rows, int row, int column, int32_t *out);
bool pw_rows_int8(const struct pw_rows *rows, int row, int column, int64_t *out);
bool pw_rows_uuid(const struct pw_rows *rows, int row, int column, struct pw_uuid *out);
/* Bytes of a text or of JSON, borrowed, followed by a NUL. */
bool pw_rows_bytes(
    const struct pw_rows *rows, int row, int column, const char **data, size_t *size);
/* The same as a text; NULL for a null. */
const char *pw_rows_text(const struct pw_rows *rows, int row, int column);

#endif
