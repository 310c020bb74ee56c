/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one value out of JSON by its pointer. base/json_read.c parses the values. */
#include "pawl/json.h"

#include "base/json_read.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Returns true for a JSON pointer: empty, or names with a slash ahead of each. In a name, 0 or 1 must follow each ~. */
static bool
is_pointer(const char *pointer)
{
    if (pointer == NULL || (pointer[0] != '\0' && pointer[0] != '/'))
        return false;
    for (; *pointer != '\0'; pointer++)
        if (*pointer == '~' && pointer[1] != '0' && pointer[1] != '1')
            return false;
    return true;
}

/* Takes the next byte of a name in a pointer. */
static char
next_byte(const char **name)
{
    char c = *(*name)++;

    if (c != '~')
        return c;
    return *(*name)++ == '1' ? '/' : '~';
}

/* Returns true if the name of a member, which has JSON escapes, equals a name of a pointer, which has its own escapes. */
static bool
is_named(struct pw_json key, const char *name, const char *name_end)
{
    const char *at = key.data, *end = key.data + key.size;
    char bytes[4];

    while (at < end) {
        size_t count = pw_json_unescape(&at, end, bytes);

        for (size_t i = 0; i < count; i++)
            if (name == name_end || next_byte(&name) != bytes[i])
                return false;
    }
    return name == name_end;
}

/* Returns the number of an element. If the name is not a number, returns SIZE_MAX, which no element has. */
static size_t
index_of(const char *name, const char *name_end)
{
    size_t index = 0;

    if (name == name_end || (*name == '0' && name + 1 != name_end))
        return SIZE_MAX;
    for (; name < name_end; name++)
        if (*name < '0' || *name > '9' || __builtin_mul_overflow(index, 10, &index) ||
            __builtin_add_overflow(index, (size_t)(*name - '0'), &index))
            return SIZE_MAX;
    return index;
}

/* Finds the member or element of this name. Reads an object to its end, because the last member of a name counts. */
static pawl_status
find_inside(struct pw_json outer, const char *name, const char *name_end, struct pw_json *out)
{
    size_t wanted = index_of(name, name_end), number = 0;
    struct pw_json key, value, found = {0};
    struct pw_json_walk walk;

    pw_json_walk(&walk, outer);
    if (walk.bad)
        return pw_json_valid(outer) ? PAWL_ENOTFOUND : PAWL_EINVAL;
    while (pw_json_walk_next(&walk, &key, &value)) {
        if (walk.object && is_named(key, name, name_end))
            found = value;
        if (!walk.object && number++ == wanted) {
            found = value;
            break;
        }
    }
    if (walk.bad)
        return PAWL_EINVAL;
    if (found.data == NULL)
        return PAWL_ENOTFOUND;
    *out = found;
    return PAWL_OK;
}

static bool
is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Returns the whole value, without blanks around it. */
static pawl_status
find_whole(struct pw_json whole, struct pw_json *out)
{
    if (!pw_json_valid(whole))
        return PAWL_EINVAL;
    for (; is_blank(*whole.data); whole.data++)
        whole.size--;
    while (is_blank(whole.data[whole.size - 1]))
        whole.size--;
    *out = whole;
    return PAWL_OK;
}

static pawl_status
find_value(pawl_bytes json, const char *pointer, struct pw_json *out)
{
    struct pw_json value = {json.data, json.size};
    pawl_status status = PAWL_OK;

    if (!is_pointer(pointer))
        return PAWL_EINVAL;
    if (json.data == NULL)
        return PAWL_ENOTFOUND;
    if (*pointer == '\0')
        return find_whole(value, out);
    while (status == PAWL_OK && *pointer == '/') {
        const char *end = pointer + 1 + strcspn(pointer + 1, "/");

        status = find_inside(value, pointer + 1, end, &value);
        pointer = end;
    }
    if (status == PAWL_OK)
        *out = value;
    return status;
}

pawl_status
pawl_json_find(pawl_bytes json, const char *pointer, pawl_bytes *value)
{
    struct pw_json found;
    pawl_status status = find_value(json, pointer, &found);

    if (status == PAWL_OK && value != NULL)
        *value = (pawl_bytes){found.data, found.size};
    return status;
}

pawl_status
pawl_json_int(pawl_bytes json, const char *pointer, int64_t *value)
{
    struct pw_json found;
    pawl_status status;

    if (value == NULL)
        return PAWL_EINVAL;
    status = find_value(json, pointer, &found);
    if (status != PAWL_OK || pw_json_to_int(found, value))
        return status;
    for (size_t i = found.data[0] == '-'; i < found.size; i++)
        if (found.data[i] < '0' || found.data[i] > '9')
            return PAWL_EINVAL;
    return PAWL_ETOOLARGE;
}

pawl_status
pawl_json_bool(pawl_bytes json, const char *pointer, int *value)
{
    struct pw_json found;
    pawl_status status;
    bool truth;

    if (value == NULL)
        return PAWL_EINVAL;
    status = find_value(json, pointer, &found);
    if (status != PAWL_OK)
        return status;
    if (!pw_json_to_bool(found, &truth))
        return PAWL_EINVAL;
    *value = truth;
    return PAWL_OK;
}

pawl_status
pawl_json_text(pawl_bytes json, const char *pointer, char *buffer, size_t size)
{
    struct pw_json found;
    pawl_status status;
    const char *at, *end;
    size_t used = 0;
    char bytes[4];

    if (buffer == NULL)
        return PAWL_EINVAL;
    status = find_value(json, pointer, &found);
    if (status != PAWL_OK)
        return status;
    if (found.data[0] != '"')
        return PAWL_EINVAL;
    end = found.data + found.size - 1;
    /* Once to measure, so that a buffer which is too small stays as it is. */
    for (at = found.data + 1; at < end;)
        used += pw_json_unescape(&at, end, bytes);
    if (used >= size)
        return PAWL_ETOOLARGE;
    for (at = found.data + 1; at < end;)
        buffer += pw_json_unescape(&at, end, buffer);
    *buffer = '\0';
    return PAWL_OK;
}
