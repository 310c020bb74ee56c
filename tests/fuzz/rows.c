/* SPDX-License-Identifier: Apache-2.0 */
/* A value of a reply is read where its type, form and size fit; an array that we write reads back. */
#include "base/buf.h"
#include "fuzz.h"
#include "pg/params.h"
#include "pg/row.h"
#include "pg/stmt.h"

#include <libpq-fe.h>
#include <stdlib.h>
#include <string.h>

static struct pw_rows
make_row(unsigned type, int format, char *data, int size)
{
    char name[] = "n";
    PGresAttDesc column = {.name = name, .typid = type, .format = format};
    struct pw_rows rows = {PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK)};

    fuzz_check(rows.result != NULL && PQsetResultAttrs(rows.result, 1, &column) != 0 &&
            PQsetvalue(rows.result, 0, 0, data, size) != 0,
        "out of memory");
    return rows;
}

static uint32_t
read_be32(const char *data)
{
    const unsigned char *bytes = (const unsigned char *)data;

    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* Walks a one-dimensional array as the server does; returns the number of its elements, and the sum of their bytes. */
static size_t
walk(const char *data, size_t size, size_t *sum)
{
    size_t at = 20; /* dimensions, nulls, type, count, lower bound */
    size_t count = 0;

    *sum = 0;
    if (read_be32(data) == 0)
        return 0;
    for (; at < size; count++) {
        uint32_t length = read_be32(data + at);

        at += 4;
        if (length == UINT32_MAX)
            continue;
        *sum += length;
        at += length;
    }
    fuzz_check(at == size && read_be32(data + 12) == count, "an array of another size");
    return count;
}

static void
try_value(unsigned type, int format, char *data, int size)
{
    struct pw_rows rows = make_row(type, format, data, size);
    const char *bytes;
    size_t length;
    struct pw_uuid uuid;
    int64_t int8;
    int32_t int4;
    bool truth;

    fuzz_check(!pw_rows_bool(&rows, 0, 0, &truth) || size == 1, "a switch of another size");
    fuzz_check(!pw_rows_int4(&rows, 0, 0, &int4) || size == 4, "a number of another size");
    fuzz_check(!pw_rows_int8(&rows, 0, 0, &int8) || size == 8, "a long number of another size");
    fuzz_check(!pw_rows_uuid(&rows, 0, 0, &uuid) || size == 16, "an id of another size");
    if (pw_rows_bytes(&rows, 0, 0, &bytes, &length))
        fuzz_check(length == (size_t)size && memcmp(bytes, data, length) == 0, "other bytes");
    fuzz_check(!pw_rows_bool(&rows, 1, 0, &truth) && !pw_rows_bool(&rows, 0, 1, &truth) &&
            pw_rows_text(&rows, -1, 0) == NULL,
        "a value at a place that there is not");
    pw_rows_done(&rows);
}

/* Elements as long as the bytes say, one after the other. */
static void
try_array(const char *data, size_t size)
{
    struct pw_array array;
    struct pw_params params;
    size_t count = 0;
    size_t sum = 0;
    size_t read_sum;

    pw_array_init(&array, 1024 * 1024);
    pw_array_begin(&array, PW_TYPE_TEXT);
    for (size_t at = 0; at < size; count++) {
        size_t length = (unsigned char)data[at++];

        length = length > size - at ? size - at : length;
        pw_array_bytes(&array, length % 7 == 6 ? NULL : data + at, length);
        sum += length % 7 == 6 ? 0 : length;
        at += length;
    }
    if (pw_array_ok(&array)) {
        pw_params_init(&params);
        pw_params_array(&params, &array);
        fuzz_check(walk(array.buf.data, array.buf.size, &read_sum) == count && read_sum == sum,
            "an array reads back as another");
    }
    pw_array_done(&array);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned types[] = {PW_TYPE_BOOL, PW_TYPE_INT4, PW_TYPE_INT8, PW_TYPE_UUID,
        PW_TYPE_TEXT, PW_TYPE_JSON, PW_TYPE_TEXT_ARRAY, PW_TYPE_JSON_ARRAY, PW_TYPE_INT4_ARRAY,
        PW_TYPE_UUID_ARRAY, 19, 705, 1043, 3802, 0};
    struct fuzz_input input = fuzz_input(data, size);
    unsigned char choice = fuzz_byte(&input);
    size_t left = (size_t)(input.end - input.at);
    char *copy = fuzz_rest(&input);

    try_value(types[choice / 2 % (sizeof(types) / sizeof(types[0]))], choice % 2, copy, (int)left);
    try_array(copy, left);
    free(copy);
    return 0;
}
