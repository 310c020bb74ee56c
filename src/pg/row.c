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

/* Dimensions, flags, type; then size and first number of the one dimension. */
enum {
    ARRAY_HEAD = 12,
    ARRAY_DIMENSION = 8
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
pw_rows_null(const struct pw_rows *rows, int row, int column)
{
    return !has_value(rows, row, column);
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

/* The type of the elements that an array of this type has, 0 for others. */
static Oid
element_of(Oid array)
{
    switch (array) {
    case PW_TYPE_TEXT_ARRAY:
        return PW_TYPE_TEXT;
    case PW_TYPE_JSON_ARRAY:
        return PW_TYPE_JSON;
    case PW_TYPE_INT4_ARRAY:
        return PW_TYPE_INT4;
    case PW_TYPE_UUID_ARRAY:
        return PW_TYPE_UUID;
    default:
        return 0;
    }
}

bool
pw_rows_array(const struct pw_rows *rows, int row, int column, struct pw_array_reader *out)
{
    const char *value;
    size_t size;
    uint32_t count;
    Oid element;

    if (!has_value(rows, row, column) || PQfformat(rows->result, column) != FORMAT_BINARY)
        return false;
    element = element_of(PQftype(rows->result, column));
    value = PQgetvalue(rows->result, row, column);
    size = (size_t)PQgetlength(rows->result, row, column);
    if (element == 0 || size < ARRAY_HEAD || read_be32(value + 8) != element)
        return false;

    out->at = value + size;
    out->end = value + size;
    out->left = 0;
    if (read_be32(value) == 0)
        return true;
    if (read_be32(value) != 1 || size < ARRAY_HEAD + ARRAY_DIMENSION)
        return false;
    count = read_be32(value + ARRAY_HEAD);
    if (count > (size - ARRAY_HEAD - ARRAY_DIMENSION) / 4)
        return false;
    out->at = value + ARRAY_HEAD + ARRAY_DIMENSION;
    out->left = (int32_t)count;
    return true;
}

bool
pw_array_next(struct pw_array_reader *reader, const char **data, size_t *size)
{
    uint32_t length;

    if (reader->left <= 0 || reader->end - reader->at < 4)
        return false;
    length = read_be32(reader->at);
    if (length == UINT32_MAX) {
        *data = NULL;
        *size = 0;
        reader->at += 4;
        reader->left--;
        return true;
    }
    if (length > (size_t)(reader->end - reader->at - 4))
        return false;
    *data = reader->at + 4;
    *size = length;
    reader->at += 4 + length;
    reader->left--;
    return true;
}
