/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters and arrays in PostgreSQL's binary form. */
#include "pg/params.h"

#include "base/size.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

/* Where an array's head keeps what is known only at its end. */
enum {
    ARRAY_FLAGS_AT = 4,
    ARRAY_COUNT_AT = 12
};

static void
add_param(struct pw_params *params, const char *value, size_t size, int format)
{
    assert(params->count < PW_PARAMS_MAX);
    if (!pw_size_add(params->bytes, size, &params->bytes))
        params->bytes = SIZE_MAX;
    params->values[params->count] = value;
    params->sizes[params->count] = size <= INT_MAX ? (int)size : 0;
    params->formats[params->count] = format;
    params->count++;
}

/* A number is kept inside, so that it lives as long as the parameters do. */
static void
add_number(struct pw_params *params, uint64_t value, size_t size)
{
    char *kept = params->numbers[params->count];

    for (size_t i = 0; i < size; i++)
        kept[i] = (char)(uint8_t)(value >> (8 * (size - 1 - i)));
    add_param(params, kept, size, 1);
}

void
pw_params_init(struct pw_params *params)
{
    params->count = 0;
    params->bytes = 0;
}

void
pw_params_null(struct pw_params *params)
{
    add_param(params, NULL, 0, 1);
}

void
pw_params_bool(struct pw_params *params, bool value)
{
    add_number(params, value ? 1 : 0, 1);
}

void
pw_params_int4(struct pw_params *params, int32_t value)
{
    add_number(params, (uint32_t)value, 4);
}

void
pw_params_int8(struct pw_params *params, int64_t value)
{
    add_number(params, (uint64_t)value, 8);
}

void
pw_params_bytes(struct pw_params *params, const char *data, size_t size)
{
    add_param(params, data, data != NULL ? size : 0, 1);
}

void
pw_params_text(struct pw_params *params, const char *text)
{
    add_param(params, text, text != NULL ? strlen(text) : 0, 1);
}

void
pw_params_literal(struct pw_params *params, const char *text)
{
    add_param(params, text, text != NULL ? strlen(text) : 0, 0);
}

void
pw_params_uuid(struct pw_params *params, const struct pw_uuid *value)
{
    add_param(params, (const char *)value->bytes, sizeof(value->bytes), 1);
}

void
pw_array_init(struct pw_array *array, size_t size_max)
{
    pw_buf_init(&array->buf, size_max);
    array->count = 0;
    array->has_null = false;
}

void
pw_array_done(struct pw_array *array)
{
    pw_buf_done(&array->buf);
    array->count = 0;
    array->has_null = false;
}

void
pw_array_begin(struct pw_array *array, enum pw_type element)
{
    pw_buf_clear(&array->buf);
    array->count = 0;
    array->has_null = false;
    pw_buf_add_be32(&array->buf, 1); /* dimensions */
    pw_buf_add_be32(&array->buf, 0); /* whether there are nulls: ARRAY_FLAGS_AT */
    pw_buf_add_be32(&array->buf, (uint32_t)element);
    pw_buf_add_be32(&array->buf, 0); /* elements: ARRAY_COUNT_AT */
    pw_buf_add_be32(&array->buf, 1); /* the first one's number */
}

void
pw_array_null(struct pw_array *array)
{
    pw_buf_add_be32(&array->buf, UINT32_MAX);
    array->count++;
    array->has_null = true;
}

void
pw_array_int4(struct pw_array *array, int32_t value)
{
    pw_buf_add_be32(&array->buf, 4);
    pw_buf_add_be32(&array->buf, (uint32_t)value);
    array->count++;
}

void
pw_array_uuid(struct pw_array *array, const struct pw_uuid *value)
{
    pw_array_bytes(array, (const char *)value->bytes, sizeof(value->bytes));
}

void
pw_array_bytes(struct pw_array *array, const char *data, size_t size)
{
    if (data == NULL) {
        pw_array_null(array);
        return;
    }
    assert(size <= INT_MAX);
    pw_buf_add_be32(&array->buf, (uint32_t)size);
    pw_buf_add(&array->buf, data, size);
    array->count++;
}

bool
pw_array_ok(const struct pw_array *array)
{
    return pw_buf_ok(&array->buf) && array->buf.size <= INT_MAX;
}

void
pw_params_array(struct pw_params *params, struct pw_array *array)
{
    assert(pw_array_ok(array));
    pw_buf_put_be32(&array->buf, ARRAY_FLAGS_AT, array->has_null ? 1 : 0);
    pw_buf_put_be32(&array->buf, ARRAY_COUNT_AT, array->count);
    add_param(params, array->buf.data, array->buf.size, 1);
}
