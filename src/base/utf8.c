/* SPDX-License-Identifier: Apache-2.0 */
/* Checks UTF-8, byte by byte, after the table of well-formed sequences in the Unicode Standard. */
#include "utf8.h"

#include <stdint.h>

static bool
is_continuation(uint8_t byte)
{
    return (byte & 0xc0) == 0x80;
}

/* How long a character should be that begins with this byte; 0 if none does. */
static size_t
length_by_lead(uint8_t lead)
{
    if (lead < 0x80)
        return 1;
    if (lead < 0xc2)
        return 0;
    if (lead < 0xe0)
        return 2;
    if (lead < 0xf0)
        return 3;
    return lead < 0xf5 ? 4 : 0;
}

/* The second byte shows overlong forms, surrogates and numbers that are too large. */
static bool
second_fits(uint8_t lead, uint8_t second)
{
    switch (lead) {
    case 0xe0:
        return second >= 0xa0 && second <= 0xbf;
    case 0xed:
        return second >= 0x80 && second <= 0x9f;
    case 0xf0:
        return second >= 0x90 && second <= 0xbf;
    case 0xf4:
        return second >= 0x80 && second <= 0x8f;
    default:
        return is_continuation(second);
    }
}

size_t
pw_utf8_length(const char *data, size_t size)
{
    const uint8_t *bytes = (const uint8_t *)data;
    size_t length;

    if (size == 0)
        return 0;
    length = length_by_lead(bytes[0]);
    if (length > size)
        return 0;
    if (length > 1 && !second_fits(bytes[0], bytes[1]))
        return 0;
    for (size_t i = 2; i < length; i++)
        if (!is_continuation(bytes[i]))
            return 0;
    return length;
}

bool
pw_utf8_valid(const char *data, size_t size)
{
    size_t at = 0;

    while (at < size) {
        size_t length = pw_utf8_length(data + at, size - at);

        if (length == 0)
            return false;
        at += length;
    }
    return true;
}

size_t
pw_utf8_cut(const char *data, size_t size)
{
    for (size_t back = 1; back <= 4 && back <= size; back++) {
        uint8_t byte = (uint8_t)data[size - back];

        if (!is_continuation(byte))
            return length_by_lead(byte) > back ? size - back : size;
    }
    return size;
}

/*
 * Characters that change the direction of a text, so that it shows as another one: U+061C, U+200E, U+200F, U+202A to U+202E and
 * U+2066 to U+2069, in UTF-8.
 */
static bool
is_direction(const char *text, size_t size)
{
    const unsigned char *bytes = (const unsigned char *)text;

    if (size == 2)
        return bytes[0] == 0xd8 && bytes[1] == 0x9c;
    if (size != 3 || bytes[0] != 0xe2)
        return false;
    if (bytes[1] == 0x80)
        return bytes[2] == 0x8e || bytes[2] == 0x8f || (bytes[2] >= 0xaa && bytes[2] <= 0xae);
    return bytes[1] == 0x81 && bytes[2] >= 0xa6 && bytes[2] <= 0xa9;
}

bool
pw_utf8_is_control(const char *text, size_t size)
{
    unsigned char first = (unsigned char)text[0];

    /* guard:no_direction */
    if (is_direction(text, size))
        return true;
    /* guard:no_control */
    return first < 0x20 || first == 0x7f || (size == 1 && first >= 0x80) ||
        (size == 2 && first == 0xc2 && (unsigned char)text[1] < 0xa0);
}
