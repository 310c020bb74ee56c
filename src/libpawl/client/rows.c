/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that a call returned. */
#include "libpawl/client/rows.h"

#include "base/alloc.h"

#include <limits.h>
#include <string.h>

struct pawl_rows {
    struct pw_rows rows;
};

pawl_rows *
pw_rows_make(struct pw_error *err)
{
    pawl_rows *made = pw_calloc(1, sizeof(*made));

    if (made == NULL)
        pw_error_oom(err);
    return made;
}

void
pw_rows_fill(pawl_rows *made, struct pw_rows *rows)
{
    made->rows = *rows;
    rows->result = NULL;
}

size_t
pawl_rows_count(const pawl_rows *rows)
{
    return rows != NULL ? (size_t)pw_rows_count(&rows->rows) : 0;
}

size_t
pawl_rows_column_count(const pawl_rows *rows)
{
    return rows != NULL ? (size_t)pw_rows_columns(&rows->rows) : 0;
}

const char *
pawl_rows_column_name(const pawl_rows *rows, size_t column)
{
    return column < pawl_rows_column_count(rows) ? pw_rows_name(&rows->rows, (int)column) : NULL;
}

/* The number of a column, or -1. */
static int
find_column(const pawl_rows *rows, const char *name)
{
    size_t width = pawl_rows_column_count(rows);

    for (size_t i = 0; name != NULL && i < width; i++)
        if (strcmp(pw_rows_name(&rows->rows, (int)i), name) == 0)
            return (int)i;
    return -1;
}

const char *
pawl_rows_text(const pawl_rows *rows, size_t row, const char *column)
{
    int number = find_column(rows, column);

    if (number < 0 || row >= pawl_rows_count(rows))
        return NULL;
    return pw_rows_text(&rows->rows, (int)row, number);
}

int
pawl_rows_type(const pawl_rows *rows, const char *column)
{
    int number = find_column(rows, column);

    switch (number < 0 ? 0 : pw_rows_type(&rows->rows, number)) {
    case 16:
        return PAWL_TYPE_BOOLEAN;
    case 20:   /* int8 */
    case 21:   /* int2 */
    case 23:   /* int4 */
    case 700:  /* float4 */
    case 701:  /* float8 */
    case 1700: /* numeric */
        return PAWL_TYPE_NUMBER;
    case 114:
    case 3802: /* jsonb */
        return PAWL_TYPE_JSON;
    case 1184: /* timestamptz */
        return PAWL_TYPE_TIME;
    case 1186:
        return PAWL_TYPE_INTERVAL;
    case 1009: /* text[] */
        return PAWL_TYPE_LIST;
    default:
        return PAWL_TYPE_TEXT;
    }
}

void
pawl_rows_free(pawl_rows *rows)
{
    if (rows == NULL)
        return;
    pw_rows_done(&rows->rows);
    pw_free(rows);
}
