/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameters of one call, and arrays for them, in PostgreSQL's binary form. Added data must live until the call was sent; numbers are
 * copied. Parameters are added in the order of the statement; a wrong count or type is a programming error.
 */
#ifndef PW_PG_PARAMS_H
#define PW_PG_PARAMS_H

#include "base/buf.h"
#include "base/uuid.h"
#include "pg/stmt.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most bytes that the parameters of one call may have. The server does not read a larger message, but ends the connection. */
enum {
    PW_PARAMS_BYTES_MAX = 1000000000
};

struct pw_params {
    int count;
    size_t bytes; /* of all; more than PW_PARAMS_BYTES_MAX is never sent */
    const char *values[PW_PARAMS_MAX];
    int sizes[PW_PARAMS_MAX];
    int formats[PW_PARAMS_MAX]; /* 1 binary, 0 text */
    char numbers[PW_PARAMS_MAX][8];
};

void pw_params_init(struct pw_params *params);
void pw_params_null(struct pw_params *params);
void pw_params_bool(struct pw_params *params, bool value);
void pw_params_int4(struct pw_params *params, int32_t value);
void pw_params_int8(struct pw_params *params, int64_t value);
/* Bytes of a text or of JSON; NULL data is null. */
void pw_params_bytes(struct pw_params *params, const char *data, size_t size);
/* A text that ends in NUL; NULL is null. */
void pw_params_text(struct pw_params *params, const char *text);
/* The same, to be read by the server as text whatever the type of the parameter is. */
void pw_params_literal(struct pw_params *params, const char *text);
void pw_params_uuid(struct pw_params *params, const struct pw_uuid *value);

/* An array that grows in a buffer of its own, which is kept from call to call. */
struct pw_array {
    struct pw_buf buf;
    uint32_t count;
    bool has_null;
};

void pw_array_init(struct pw_array *array, size_t size_max);
void pw_array_done(struct pw_array *array);
/* Begins an array of elements of this type (PW_TYPE_INT4, …), forgetting what was there. */
void pw_array_begin(struct pw_array *array, enum pw_type element);
void pw_array_null(struct pw_array *array);
void pw_array_int4(struct pw_array *array, int32_t value);
void pw_array_uuid(struct pw_array *array, const struct pw_uuid *value);
/* NULL data is null. */
void pw_array_bytes(struct pw_array *array, const char *data, size_t size);
/* Whether all fits and there was memory. */
bool pw_array_ok(const struct pw_array *array);
/* Adds the array as the next parameter; it must stay as it is until the call was sent. */
void pw_params_array(struct pw_params *params, struct pw_array *array);

#endif
