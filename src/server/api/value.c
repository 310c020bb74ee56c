/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/value.h"

#include "base/buf.h"
#include "base/text.h"
#include "base/uuid.h"

#include <stdint.h>
#include <string.h>

static const size_t list_max = (size_t)20 << 20;

/* Copies the text of a buffer to the arena, and empties the buffer. NULL: no memory. */
static const char *
keep(struct pw_arena *arena, struct pw_buf *buf)
{
    const char *text = pw_buf_ok(buf) ? pw_arena_copy(arena, pw_buf_text(buf), buf->size) : NULL;

    pw_buf_done(buf);
    return text;
}

static bool
is_id(const char *text)
{
    struct pw_uuid id;

    return pw_uuid_parse(text, &id);
}

/* Checks a whole number, or one with a point: what PostgreSQL reads in any context. */
static bool
is_number(const char *text, bool whole)
{
    double number;
    int64_t integer;

    if (whole)
        return pw_parse_i64(text, INT64_MIN, INT64_MAX, &integer);
    return pw_parse_double(text, -1e300, 1e300, &number);
}

static bool
is_digits(const char *text, size_t from, size_t count)
{
    return strspn(text + from, "0123456789") >= count;
}

/* Checks "2026-02-03T04:05:06.789Z", with Z or an offset. What a day or an hour may be, PostgreSQL knows. */
static bool
is_time(const char *text)
{
    size_t size = strlen(text);

    if (size < 20 || size > 40 || !is_digits(text, 0, 4) || text[4] != '-' ||
        !is_digits(text, 5, 2) || text[7] != '-' || !is_digits(text, 8, 2) ||
        (text[10] != 'T' && text[10] != ' ') || !is_digits(text, 11, 2) || text[13] != ':' ||
        !is_digits(text, 14, 2) || text[16] != ':' || !is_digits(text, 17, 2))
        return false;
    text += 19;
    if (*text == '.')
        text += 1 + strspn(text + 1, "0123456789");
    if (strcmp(text, "Z") == 0)
        return true;
    return (*text == '+' || *text == '-') && strlen(text) == 6 && is_digits(text, 1, 2) &&
        text[3] == ':' && is_digits(text, 4, 2);
}

static const char *
join(struct pw_arena *arena, const char *before, const char *text, const char *after)
{
    struct pw_buf buf;

    pw_buf_init(&buf, list_max);
    pw_buf_adds(&buf, before);
    pw_buf_adds(&buf, text);
    pw_buf_adds(&buf, after);
    return keep(arena, &buf);
}

/* Ids separated by commas. */
static const char *
read_ids(const char *text, struct pw_arena *arena, const char **out)
{
    char id[PW_UUID_TEXT_SIZE];

    for (const char *at = text;; at++) {
        size_t size = strcspn(at, ",");

        if (size != sizeof(id) - 1)
            return "must be ids separated by commas";
        memcpy(id, at, size);
        id[size] = '\0';
        if (!is_id(id))
            return "must be ids separated by commas";
        at += size;
        if (*at == '\0')
            break;
    }
    *out = join(arena, "{", text, "}");
    return NULL;
}

static const char *
read_hex(const char *text, struct pw_arena *arena, const char **out)
{
    size_t size = strlen(text);

    if (size == 0 || size % 2 != 0 || size > 1000 || strspn(text, "0123456789abcdefABCDEF") != size)
        return "must be hexadecimal digits";
    *out = join(arena, "\\x", text, "");
    return NULL;
}

const char *
value_of_text(enum argument_kind kind, const char *text, struct pw_arena *arena, const char **out)
{
    *out = text;
    switch (kind) {
    case ARGUMENT_ID:
        return is_id(text) ? NULL : "must be an id";
    case ARGUMENT_ONE_ID:
        if (!is_id(text))
            return "must be an id";
        *out = join(arena, "{", text, "}");
        return NULL;
    case ARGUMENT_IDS:
        return read_ids(text, arena, out);
    case ARGUMENT_INTEGER:
        return is_number(text, true) ? NULL : "must be a whole number";
    case ARGUMENT_NUMBER:
        return is_number(text, false) ? NULL : "must be a number";
    case ARGUMENT_BOOLEAN:
        return strcmp(text, "true") == 0 || strcmp(text, "false") == 0 ? NULL
                                                                       : "must be true or false";
    case ARGUMENT_DURATION:
        if (!is_number(text, false) || strpbrk(text, "eE-") != NULL)
            return "must be a number of milliseconds, 0 or more";
        *out = join(arena, "", text, " milliseconds");
        return NULL;
    case ARGUMENT_TIME:
        return is_time(text) ? NULL : "must be a time such as 2026-02-03T04:05:06Z";
    case ARGUMENT_HEX:
        return read_hex(text, arena, out);
    case ARGUMENT_TEXT:
    case ARGUMENT_JSON:
    case ARGUMENT_TEXTS:
    case ARGUMENT_JSONS:
    case ARGUMENT_END:
        break;
    }
    return NULL;
}

/* Adds an element of a list as PostgreSQL reads it: in quotes, which a backslash escapes. */
static void
add_element(struct pw_buf *buf, const char *data, size_t size)
{
    pw_buf_addc(buf, '"');
    for (size_t i = 0; i < size; i++) {
        if (data[i] == '"' || data[i] == '\\')
            pw_buf_addc(buf, '\\');
        pw_buf_addc(buf, data[i]);
    }
    pw_buf_addc(buf, '"');
}

/* A list of texts, or of JSON values. */
static const char *
read_list(struct pw_json json, bool texts, struct pw_arena *arena, const char **out)
{
    const char *problem = texts ? "must be a list of texts" : "must be a list";
    struct pw_json_walk walk;
    struct pw_json key;
    struct pw_json value;
    struct pw_buf buf;
    bool first = true;

    *out = NULL;
    if (json.data[0] != '[')
        return problem;
    pw_buf_init(&buf, list_max);
    pw_buf_addc(&buf, '{');
    pw_json_walk(&walk, json);
    while (pw_json_walk_next(&walk, &key, &value)) {
        if (!first)
            pw_buf_addc(&buf, ',');
        first = false;
        if (texts && !pw_json_given(value)) {
            pw_buf_adds(&buf, "NULL");
        } else if (texts) {
            char *text = value.data[0] == '"' ? pw_json_text(value, arena) : NULL;

            if (text == NULL) {
                pw_buf_done(&buf);
                return value.data[0] == '"' ? NULL : problem;
            }
            add_element(&buf, text, strlen(text));
        } else {
            add_element(&buf, value.data, value.size);
        }
    }
    pw_buf_addc(&buf, '}');
    *out = keep(arena, &buf);
    return NULL;
}

const char *
value_of_json(
    enum argument_kind kind, struct pw_json json, struct pw_arena *arena, const char **out)
{
    bool text = json.data[0] == '"';
    const char *read;
    bool boolean;

    switch (kind) {
    case ARGUMENT_JSON:
        *out = pw_arena_copy(arena, json.data, json.size);
        return NULL;
    case ARGUMENT_TEXTS:
        return read_list(json, true, arena, out);
    case ARGUMENT_JSONS:
        return read_list(json, false, arena, out);
    case ARGUMENT_BOOLEAN:
        if (!pw_json_to_bool(json, &boolean))
            return "must be true or false";
        *out = boolean ? "true" : "false";
        return NULL;
    case ARGUMENT_INTEGER:
    case ARGUMENT_NUMBER:
    case ARGUMENT_DURATION:
        text = !text && json.data[0] != '{' && json.data[0] != '[';
        break;
    case ARGUMENT_TEXT:
    case ARGUMENT_ID:
    case ARGUMENT_ONE_ID:
    case ARGUMENT_IDS:
    case ARGUMENT_TIME:
    case ARGUMENT_HEX:
    case ARGUMENT_END:
        break;
    }
    if (!text)
        return kind == ARGUMENT_INTEGER || kind == ARGUMENT_NUMBER || kind == ARGUMENT_DURATION
            ? "must be a number"
            : "must be a text";
    read = pw_json_text(json, arena);
    *out = NULL;
    return read != NULL ? value_of_text(kind, read, arena, out) : NULL;
}
