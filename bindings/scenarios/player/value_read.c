/* SPDX-License-Identifier: Apache-2.0 */
/* Reads JSON into values. The files are our own and the engine checks payloads, so the reader is strict and short. */
#include "value.h"

#include <string.h>

enum {
    DEPTH_MAX = 100
};

struct reader {
    struct pool *pool;
    const char *at;
    const char *end;
    const char *problem;
    int depth;
};

static const struct value *read_value(struct reader *reader);

static void
skip_blanks(struct reader *reader)
{
    while (reader->at < reader->end && strchr(" \t\r\n", *reader->at) != NULL)
        reader->at++;
}

/* Takes one character if it is the next one. */
static bool
take(struct reader *reader, char wanted)
{
    skip_blanks(reader);
    if (reader->at == reader->end || *reader->at != wanted)
        return false;
    reader->at++;
    return true;
}

static const struct value *
refuse(struct reader *reader, const char *problem)
{
    if (reader->problem == NULL)
        reader->problem = problem;
    return NULL;
}

/* Reads four digits of an escape. */
static bool
read_hex(struct reader *reader, unsigned *code)
{
    static const char digits[] = "0123456789abcdef";

    *code = 0;
    for (int i = 0; i < 4; i++) {
        int c = reader->at < reader->end ? *reader->at++ : '\0';
        const char *found;

        if (c >= 'A' && c <= 'F')
            c += 'a' - 'A';
        found = c != '\0' ? strchr(digits, c) : NULL;
        if (found == NULL)
            return refuse(reader, "bad escape") != NULL;
        *code = *code * 16 + (unsigned)(found - digits);
    }
    return true;
}

static void
add_utf8(struct text *out, unsigned code)
{
    char bytes[4];
    size_t size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char marks[] = {0, 0, 0xc0, 0xe0, 0xf0};

    for (size_t i = size; i-- > 1; code >>= 6)
        bytes[i] = (char)(0x80 | (code & 0x3f));
    bytes[0] = (char)(marks[size] | code);
    text_add(out, bytes, size);
}

static bool
read_escape(struct reader *reader, struct text *out)
{
    static const char named[] = "\"\\/bfnrt", plain[] = "\"\\/\b\f\n\r\t";
    int c = reader->at < reader->end ? *reader->at++ : '\0';
    const char *found = c != '\0' ? strchr(named, c) : NULL;
    unsigned code, low;

    if (found != NULL) {
        text_add(out, &plain[found - named], 1);
        return true;
    }
    if (c != 'u' || !read_hex(reader, &code))
        return refuse(reader, "bad escape") != NULL;
    if (code >= 0xd800 && code < 0xdc00) {
        if (reader->end - reader->at < 6 || reader->at[0] != '\\' || reader->at[1] != 'u')
            return refuse(reader, "half of a pair") != NULL;
        reader->at += 2;
        if (!read_hex(reader, &low))
            return false;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    add_utf8(out, code);
    return true;
}

/* Reads a string after its first quote. */
static bool
read_string(struct reader *reader, pawl_bytes *string)
{
    struct text out = {0};
    bool good = true;

    while (good && reader->at < reader->end && *reader->at != '"')
        if (*reader->at == '\\') {
            reader->at++;
            good = read_escape(reader, &out);
        } else {
            text_add(&out, reader->at++, 1);
        }
    *string = text_take(&out, reader->pool);
    if (good && reader->at == reader->end)
        good = refuse(reader, "a string without an end") != NULL;
    reader->at += good;
    return good;
}

/* Reads elements or members after the first bracket, up to the last one. */
static const struct value *
read_list(struct reader *reader, enum value_kind kind)
{
    const char close = kind == VALUE_ARRAY ? ']' : '}';
    struct value *list = value_list(reader->pool, kind, 0);
    size_t room = 0;

    if (take(reader, close))
        return list;
    do {
        const struct value *item;
        pawl_bytes name = {0};

        if (kind == VALUE_OBJECT &&
            (!take(reader, '"') || !read_string(reader, &name) || !take(reader, ':')))
            return refuse(reader, "a member without a name");
        item = read_value(reader);
        if (item == NULL)
            return NULL;
        if (list->count == room) {
            struct value *larger = value_list(reader->pool, kind, room * 2 + 8);

            room = larger->count;
            memcpy(larger->items, list->items, list->count * sizeof(*list->items));
            memcpy(larger->names, list->names, list->count * sizeof(*list->names));
            larger->count = list->count;
            list = larger;
        }
        list->items[list->count] = item;
        list->names[list->count++] = name;
    } while (take(reader, ','));
    return take(reader, close) ? list : refuse(reader, "a list without an end");
}

/* Reads a number or a word. */
static const struct value *
read_plain(struct reader *reader)
{
    size_t size = 0;
    struct value *value;
    pawl_bytes text;

    while (reader->at + size < reader->end && strchr(",]} \t\r\n:", reader->at[size]) == NULL)
        size++;
    text = pool_copy(reader->pool, (pawl_bytes){reader->at, size});
    reader->at += size;
    if (strcmp(text.data, "null") == 0)
        return &value_null;
    if (strcmp(text.data, "true") == 0 || strcmp(text.data, "false") == 0)
        return value_bool(text.data[0] == 't');
    if (size == 0 || strspn(text.data, "+-.0123456789eE") != size)
        return refuse(reader, "not a value");
    value = pool_alloc(reader->pool, sizeof(*value));
    value->kind = VALUE_NUMBER;
    value->text = text;
    return value;
}

static const struct value *
read_value(struct reader *reader)
{
    const struct value *value;
    struct value *string;

    if (reader->depth == DEPTH_MAX)
        return refuse(reader, "nested too deep");
    reader->depth++;
    if (take(reader, '{')) {
        value = read_list(reader, VALUE_OBJECT);
    } else if (take(reader, '[')) {
        value = read_list(reader, VALUE_ARRAY);
    } else if (take(reader, '"')) {
        string = pool_alloc(reader->pool, sizeof(*string));
        string->kind = VALUE_STRING;
        value = read_string(reader, &string->text) ? string : NULL;
    } else {
        value = read_plain(reader);
    }
    reader->depth--;
    return value;
}

const struct value *
value_read(struct pool *pool, pawl_bytes json, const char **problem)
{
    struct reader reader = {.pool = pool, .at = json.data, .end = json.data + json.size};
    const struct value *value = read_value(&reader);

    skip_blanks(&reader);
    if (value != NULL && reader.at != reader.end)
        value = refuse(&reader, "more than one value");
    *problem = reader.problem;
    return value;
}
