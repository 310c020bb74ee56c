/* SPDX-License-Identifier: Apache-2.0 */
/* JSON values: read, asked, written in canonical form. README.md defines that form. */
#ifndef PAWL_PLAYER_VALUE_H
#define PAWL_PLAYER_VALUE_H

#include "pool.h"

#include <pawl/api.h>
#include <stdbool.h>

enum value_kind {
    VALUE_NULL,
    VALUE_FALSE,
    VALUE_TRUE,
    VALUE_NUMBER,
    VALUE_STRING,
    VALUE_ARRAY,
    VALUE_OBJECT
};

struct value {
    enum value_kind kind;
    pawl_bytes text; /* of a number as it is written, of a string without escapes */
    size_t count;    /* of elements or members */
    const struct value **items;
    pawl_bytes *names; /* of members, in the order in which they were read */
};

extern const struct value value_null;

/* Reads one JSON text. Returns NULL if it is none, and sets problem. */
const struct value *value_read(struct pool *pool, pawl_bytes json, const char **problem);

/* Writes canonical JSON. */
pawl_bytes value_write(struct pool *pool, const struct value *value);

bool value_equal(struct pool *pool, const struct value *one, const struct value *other);

/* Makes values. */
const struct value *value_string(struct pool *pool, const char *text);
const struct value *value_number(struct pool *pool, int64_t number);
const struct value *value_bool(bool is);
struct value *value_list(struct pool *pool, enum value_kind kind, size_t count);

/* Returns the member of an object, or NULL; also for NULL and for another kind of value. */
const struct value *value_member(const struct value *object, const char *name);

/* Returns the text of a string that is a member, or another text if there is no such member. */
const char *value_text(const struct value *object, const char *name, const char *otherwise);
int64_t value_int(const struct value *object, const char *name, int64_t otherwise);
/* Returns a whole number, or another one if value is none or NULL. */
int64_t value_to_int(const struct value *value, int64_t otherwise);
bool value_is_true(const struct value *object, const char *name);

/* Returns the text of a value for a human or an option: that of a string, JSON of others. */
const char *value_plain(struct pool *pool, const struct value *value);

#endif
