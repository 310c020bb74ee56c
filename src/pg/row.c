/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a result of libpq. */
#include "pg/row.h"

#include "pg/stmt.h"

#include <libpq-fe.h>
#include <limits.h>
#include <string.h>

/* Types that are sent as their own text in the binary form too, besides those of enum pw_type. */
enum {
    TYPE_NAME = 19,
    TYPE_UNKNOWN = 705,
    TYPE_VARCHAR = 1043
};

enum {
    FORMAT_TEXT = 0,
    FORMAT_BINARY = 1
};

static uint32_t
read_be32(const char *at)
{
    const unsigned char *bytes = (const unsigned char *)at;

    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* Whether there is a value, other than null, at this place. */
static bool
has_value(const struct pw_rows *rows, int row, int column)
{
    return row >= 0 && row < pw_rows_count(rows) && column >= 0 && column < pw_rows_columns(rows) &&
        PQgetisnull(rows->result, row, column) == 0;
}

/* A value of exactly this type and size, or NULL. */
static const char *
binary_value(const struct pw_rows *rows, int row, int column, Oid type, int size)
{
    if (!has_value(rows, row, column) || PQfformat(rows->result, column) != FORMAT_BINARY ||
        PQftype(rows->result, column) != type || PQgetlength(rows->result, row, column) != size)
        return NULL;
    return PQgetvalue(rows->result, row, column);
}

static bool
is_text_type(Oid type)
{
    return type == PW_TYPE_TEXT || type == PW_TYPE_JSON || type == TYPE_NAME ||
        type == TYPE_UNKNOWN || type == TYPE_VARCHAR;
}

void
pw_rows_done(struct pw_rows *rows)
{
    PQclear(rows->result);
    rows->result = NULL;
}

int
pw_rows_count(const struct pw_rows *rows)
{
    return PQntuples(rows->result);
}

int
pw_rows_columns(const struct pw_rows *rows)
{
    return PQnfields(rows->result);
}

const char *
pw_rows_name(const struct pw_rows *rows, int column)
{
    return column >= 0 && column < pw_rows_columns(rows) ? PQfname(rows->result, column) : NULL;
}

unsigned
pw_rows_type(const struct pw_rows *rows, int column)
{
    return column >= 0 && column < pw_rows_columns(rows) ? PQftype(rows->result, column) : 0;
}

bool
pw_rows_bool(const struct pw_rows *rows, int row, int column, bool *out)
{
    const char *value = binary_value(rows, row, column, PW_TYPE_BOOL, 1);

    if (value == NULL)
        return false;
    *out = value[0] != 0;
    return true;
}

bool
pw_rows_int4(const struct pw_rows *rows, int row, int column, int32_t *out)
{
    const char *value = binary_value(rows, row, column, PW_TYPE_INT4, 4);

    if (value == NULL)
        return false;
    *out = (int32_t)read_be32(value);
    return true;
}

bool
pw_rows_int8(const struct pw_rows *rows, int row, int column, int64_t *out)
{
    const char *value = binary_value(rows, row, column, PW_TYPE_INT8, 8);

    if (value == NULL)
        return false;
    *out = (int64_t)((uint64_t)read_be32(value) << 32 | read_be32(value + 4));
    return true;
}

bool
pw_rows_uuid(const struct pw_rows *rows, int row, int column, struct pw_uuid *out)
{
    const char *value = binary_value(rows, row, column, PW_TYPE_UUID, (int)sizeof(out->bytes));

    if (value == NULL)
        return false;
    memcpy(out->bytes, value, sizeof(out->bytes));
    return true;
}

bool
pw_rows_bytes(const struct pw_rows *rows, int row, int column, const char **data, size_t *size)
{
    if (!has_value(rows, row, column))
        return false;
    if (PQfformat(rows->result, column) != FORMAT_TEXT &&
        !is_text_type(PQftype(rows->result, column)))
        return false;
    *data = PQgetvalue(rows->result, row, column);
    *size = (size_t)PQgetlength(rows->result, row, column);
    return true;
}

const char *
pw_rows_text(const struct pw_rows *rows, int row, int column)
{
    const char *data;
    size_t size;

    return pw_rows_bytes(rows, row, column, &data, &size) ? data : NULL;
}
