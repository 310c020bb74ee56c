/* SPDX-License-Identifier: Apache-2.0 */
/* JSON values: what they hold, and how they are written. value_read.c reads them. */
#include "value.h"

#include <inttypes.h>
#include <pawl/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct value value_null = {.kind = VALUE_NULL};
static const struct value value_false = {.kind = VALUE_FALSE};
static const struct value value_true = {.kind = VALUE_TRUE};

const struct value *
value_bool(bool is)
{
    return is ? &value_true : &value_false;
}

const struct value *
value_string(struct pool *pool, const char *text)
{
    struct value *value = pool_alloc(pool, sizeof(*value));

    value->kind = VALUE_STRING;
    value->text = pool_copy(pool, pawl_text(text));
    return value;
}

const struct value *
value_number(struct pool *pool, int64_t number)
{
    struct value *value = pool_alloc(pool, sizeof(*value));

    value->kind = VALUE_NUMBER;
    value->text = pawl_text(pool_printf(pool, "%" PRId64, number));
    return value;
}

struct value *
value_list(struct pool *pool, enum value_kind kind, size_t count)
{
    struct value *value = pool_alloc(pool, sizeof(*value));

    value->kind = kind;
    value->count = count;
    value->items = pool_alloc(pool, (count + 1) * sizeof(*value->items));
    value->names = pool_alloc(pool, (count + 1) * sizeof(*value->names));
    for (size_t i = 0; i < count; i++)
        value->items[i] = &value_null;
    return value;
}

const struct value *
value_member(const struct value *object, const char *name)
{
    if (object == NULL || object->kind != VALUE_OBJECT)
        return NULL;
    for (size_t i = 0; i < object->count; i++)
        if (strcmp(object->names[i].data, name) == 0)
            return object->items[i];
    return NULL;
}

const char *
value_text(const struct value *object, const char *name, const char *otherwise)
{
    const struct value *member = value_member(object, name);

    return member != NULL && member->kind == VALUE_STRING ? member->text.data : otherwise;
}

int64_t
value_to_int(const struct value *value, int64_t otherwise)
{
    int64_t number = otherwise;

    if (value == NULL || value->kind != VALUE_NUMBER ||
        pawl_json_int(value->text, "", &number) != PAWL_OK)
        return otherwise;
    return number;
}

int64_t
value_int(const struct value *object, const char *name, int64_t otherwise)
{
    return value_to_int(value_member(object, name), otherwise);
}

bool
value_is_true(const struct value *object, const char *name)
{
    const struct value *member = value_member(object, name);

    return member != NULL && member->kind == VALUE_TRUE;
}

const char *
value_plain(struct pool *pool, const struct value *value)
{
    return value->kind == VALUE_STRING ? value->text.data : value_write(pool, value).data;
}

/* Writes a character that must be escaped. */
static void
write_escape(struct text *out, char c)
{
    static const char plain[] = "\"\\\b\f\n\r\t", named[] = "\"\\bfnrt";
    const char *found = memchr(plain, c, sizeof(plain) - 1);
    char escape[8];

    if (found != NULL)
        (void)snprintf(escape, sizeof(escape), "\\%c", named[found - plain]);
    else
        (void)snprintf(escape, sizeof(escape), "\\u%04x", (unsigned)c);
    text_say(out, escape);
}

static void
write_string(struct text *out, pawl_bytes string)
{
    size_t start = 0;

    text_say(out, "\"");
    for (size_t i = 0; i < string.size; i++) {
        char c = string.data[i];

        if ((unsigned char)c >= 0x20 && c != '"' && c != '\\')
            continue;
        text_add(out, string.data + start, i - start);
        write_escape(out, c);
        start = i + 1;
    }
    text_add(out, string.data + start, string.size - start);
    text_say(out, "\"");
}

struct member {
    pawl_bytes name;
    const struct value *value;
};

/* Compares names byte by byte; a name comes after its own beginning. */
static int
compare_names(const void *one, const void *other)
{
    const pawl_bytes a = ((const struct member *)one)->name;
    const pawl_bytes b = ((const struct member *)other)->name;
    int order = memcmp(a.data, b.data, a.size < b.size ? a.size : b.size);

    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

static void write_value(struct pool *pool, struct text *out, const struct value *value);

static void
write_object(struct pool *pool, struct text *out, const struct value *value)
{
    struct member *members = pool_alloc(pool, (value->count + 1) * sizeof(*members));

    for (size_t i = 0; i < value->count; i++)
        members[i] = (struct member){value->names[i], value->items[i]};
    qsort(members, value->count, sizeof(*members), compare_names);
    text_say(out, "{");
    for (size_t i = 0; i < value->count; i++) {
        text_say(out, i > 0 ? "," : "");
        write_string(out, members[i].name);
        text_say(out, ":");
        write_value(pool, out, members[i].value);
    }
    text_say(out, "}");
}

static void
write_value(struct pool *pool, struct text *out, const struct value *value)
{
    switch (value->kind) {
    case VALUE_NULL:
        text_say(out, "null");
        break;
    case VALUE_FALSE:
        text_say(out, "false");
        break;
    case VALUE_TRUE:
        text_say(out, "true");
        break;
    case VALUE_NUMBER:
        text_add(out, value->text.data, value->text.size);
        break;
    case VALUE_STRING:
        write_string(out, value->text);
        break;
    case VALUE_ARRAY:
        text_say(out, "[");
        for (size_t i = 0; i < value->count; i++) {
            text_say(out, i > 0 ? "," : "");
            write_value(pool, out, value->items[i]);
        }
        text_say(out, "]");
        break;
    case VALUE_OBJECT:
        write_object(pool, out, value);
        break;
    }
}

pawl_bytes
value_write(struct pool *pool, const struct value *value)
{
    struct text out = {0};

    write_value(pool, &out, value);
    return text_take(&out, pool);
}

bool
value_equal(struct pool *pool, const struct value *one, const struct value *other)
{
    pawl_bytes a = value_write(pool, one), b = value_write(pool, other);

    return a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
}
