/* SPDX-License-Identifier: Apache-2.0 */
/* Finds where JSON values begin and end, by the whole grammar, and turns the simple ones into C values. */
#include "json_read.h"

#include "arena.h"
#include "text.h"

#include <string.h>

enum {
    DEPTH_MAX = 128
};

static const char *
skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
        at++;
    return at;
}

/* The value of a hexadecimal digit, or -1. */
static int
hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* Reads the four digits of \uXXXX. */
static bool
read_hex4(const char *at, const char *end, unsigned *out)
{
    unsigned value = 0;

    if (end - at < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(at[i]);

        if (digit < 0)
            return false;
        value = value * 16 + (unsigned)digit;
    }
    *out = value;
    return true;
}

/* The functions below return where a value ends, or NULL if there is none at this place. */

static const char *
skip_string(const char *at, const char *end)
{
    unsigned unit;

    for (at++; at < end && *at != '"'; at++) {
        if ((unsigned char)*at < 0x20)
            return NULL;
        if (*at != '\\')
            continue;
        at++;
        if (at == end || *at == '\0' || strchr("\"\\/bfnrtu", *at) == NULL)
            return NULL;
        if (*at == 'u') {
            if (!read_hex4(at + 1, end, &unit))
                return NULL;
            at += 4;
        }
    }
    return at < end ? at + 1 : NULL;
}

/* At least one digit, then as many as there are. */
static const char *
skip_digits(const char *at, const char *end)
{
    const char *from = at;

    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at > from ? at : NULL;
}

static const char *
skip_number(const char *at, const char *end)
{
    if (at < end && *at == '-')
        at++;
    if (at < end && *at == '0')
        at++;
    else
        at = skip_digits(at, end);
    if (at != NULL && at < end && *at == '.')
        at = skip_digits(at + 1, end);
    if (at != NULL && at < end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < end && (*at == '+' || *at == '-'))
            at++;
        at = skip_digits(at, end);
    }
    return at;
}

static const char *
skip_word(const char *at, const char *end, const char *word)
{
    size_t size = strlen(word);

    return (size_t)(end - at) >= size && memcmp(at, word, size) == 0 ? at + size : NULL;
}

/* The name of a member with its colon. */
static const char *
skip_key(const char *at, const char *end)
{
    if (at == end || *at != '"')
        return NULL;
    at = skip_string(at, end);
    if (at == NULL)
        return NULL;
    at = skip_blanks(at, end);
    if (at == end || *at != ':')
        return NULL;
    return skip_blanks(at + 1, end);
}

/* Calls itself for what is inside, DEPTH_MAX times at most. */
static const char *
skip_value(const char *at, const char *end, unsigned depth)
{
    char close;

    if (at == end)
        return NULL;
    switch (*at) {
    case '"':
        return skip_string(at, end);
    case 't':
        return skip_word(at, end, "true");
    case 'f':
        return skip_word(at, end, "false");
    case 'n':
        return skip_word(at, end, "null");
    case '{':
    case '[':
        break;
    default:
        return skip_number(at, end);
    }
    if (depth == DEPTH_MAX)
        return NULL;
    close = *at == '{' ? '}' : ']';
    at = skip_blanks(at + 1, end);
    if (at < end && *at == close)
        return at + 1;
    for (;;) {
        if (close == '}')
            at = skip_key(at, end);
        if (at != NULL)
            at = skip_value(at, end, depth + 1);
        if (at == NULL)
            return NULL;
        at = skip_blanks(at, end);
        if (at == end || (*at != ',' && *at != close))
            return NULL;
        if (*at == close)
            return at + 1;
        at = skip_blanks(at + 1, end);
    }
}

void
pw_json_walk(struct pw_json_walk *walk, struct pw_json value)
{
    *walk = (struct pw_json_walk){.first = true};
    if (value.data == NULL) {
        walk->bad = true;
        return;
    }
    walk->end = value.data + value.size;
    walk->at = skip_blanks(value.data, walk->end);
    if (walk->at == walk->end || (*walk->at != '{' && *walk->at != '[')) {
        walk->bad = true;
        return;
    }
    walk->object = *walk->at == '{';
    walk->at = skip_blanks(walk->at + 1, walk->end);
}

/* Ends a walk at the closing bracket, after which nothing may stand. */
static bool
end_walk(struct pw_json_walk *walk)
{
    walk->bad = skip_blanks(walk->at + 1, walk->end) != walk->end;
    walk->at = NULL;
    return false;
}

static bool
spoil_walk(struct pw_json_walk *walk)
{
    walk->bad = true;
    walk->at = NULL;
    return false;
}

bool
pw_json_walk_next(struct pw_json_walk *walk, struct pw_json *key, struct pw_json *value)
{
    const char *from, *end;

    if (walk->bad || walk->at == NULL)
        return false;
    if (walk->at == walk->end)
        return spoil_walk(walk);
    if (*walk->at == (walk->object ? '}' : ']'))
        return end_walk(walk);
    if (!walk->first) {
        if (*walk->at != ',')
            return spoil_walk(walk);
        walk->at = skip_blanks(walk->at + 1, walk->end);
    }
    *key = (struct pw_json){0};
    from = walk->at;
    if (walk->object) {
        from = skip_key(walk->at, walk->end);
        if (from == NULL)
            return spoil_walk(walk);
        end = skip_string(walk->at, walk->end);
        *key = (struct pw_json){walk->at + 1, (size_t)(end - walk->at) - 2};
    }
    end = skip_value(from, walk->end, 1);
    if (end == NULL)
        return spoil_walk(walk);
    *value = (struct pw_json){from, (size_t)(end - from)};
    walk->first = false;
    walk->at = skip_blanks(end, walk->end);
    return true;
}

bool
pw_json_valid(struct pw_json value)
{
    const char *end, *at;

    if (value.data == NULL)
        return false;
    end = value.data + value.size;
    at = skip_value(skip_blanks(value.data, end), end, 0);
    return at != NULL && skip_blanks(at, end) == end;
}

bool
pw_json_is(struct pw_json key, const char *word)
{
    return key.data != NULL && key.size == strlen(word) && memcmp(key.data, word, key.size) == 0;
}

struct pw_json
pw_json_member(struct pw_json object, const char *name)
{
    struct pw_json_walk walk;
    struct pw_json key, value;

    pw_json_walk(&walk, object);
    while (walk.object && pw_json_walk_next(&walk, &key, &value)) {
        if (pw_json_is(key, name))
            return value;
    }
    return (struct pw_json){0};
}

bool
pw_json_given(struct pw_json value)
{
    return value.data != NULL && value.size > 0 && !pw_json_is(value, "null");
}

/* Writes a character as UTF-8 and returns where it ends. */
static char *
put_utf8(char *out, unsigned code)
{
    if (code < 0x80) {
        *out++ = (char)code;
    } else if (code < 0x800) {
        *out++ = (char)(0xc0 | code >> 6);
        *out++ = (char)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        *out++ = (char)(0xe0 | code >> 12);
        *out++ = (char)(0x80 | (code >> 6 & 0x3f));
        *out++ = (char)(0x80 | (code & 0x3f));
    } else {
        *out++ = (char)(0xf0 | code >> 18);
        *out++ = (char)(0x80 | (code >> 12 & 0x3f));
        *out++ = (char)(0x80 | (code >> 6 & 0x3f));
        *out++ = (char)(0x80 | (code & 0x3f));
    }
    return out;
}

/* Reads the digits after \u, and the second half of a surrogate pair if there is one. Sets *at to the byte after
 * them. */
static unsigned
read_unicode(const char **at, const char *end)
{
    unsigned first = 0, second;

    if (!read_hex4(*at, end, &first)) {
        *at = end;
        return 0xfffd;
    }
    *at += 4;
    if (first >= 0xd800 && first < 0xdc00 && end - *at >= 6 && (*at)[0] == '\\' &&
        (*at)[1] == 'u' && read_hex4(*at + 2, end, &second) && second >= 0xdc00 &&
        second < 0xe000) {
        *at += 6;
        return 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
    }
    if (first == 0 || (first >= 0xd800 && first < 0xe000))
        return 0xfffd;
    return first;
}

size_t
pw_json_unescape(const char **at, const char *end, char *out)
{
    static const char letters[] = "bfnrt";
    static const char meant[] = "\b\f\n\r\t";
    const char *found;
    char c = *(*at)++;

    if (c != '\\' || *at == end) {
        *out = c;
        return 1;
    }
    c = *(*at)++;
    if (c == 'u')
        return (size_t)(put_utf8(out, read_unicode(at, end)) - out);
    found = c != '\0' ? strchr(letters, c) : NULL;
    *out = found != NULL ? meant[found - letters] : c;
    return 1;
}

char *
pw_json_text(struct pw_json value, struct pw_arena *arena)
{
    char *text = pw_arena_copy(arena, value.data, value.size);
    const char *at, *end;
    char *out;

    if (text == NULL || value.size < 2 || value.data[0] != '"')
        return text;
    at = value.data + 1;
    end = value.data + value.size - 1;
    for (out = text; at < end;)
        out += pw_json_unescape(&at, end, out);
    *out = '\0';
    return text;
}

bool
pw_json_to_int(struct pw_json value, int64_t *out)
{
    char text[24];

    if (value.data == NULL || value.size >= sizeof(text))
        return false;
    memcpy(text, value.data, value.size);
    text[value.size] = '\0';
    return strlen(text) == value.size && pw_parse_i64(text, INT64_MIN, INT64_MAX, out);
}

bool
pw_json_to_bool(struct pw_json value, bool *out)
{
    if (pw_json_is(value, "true"))
        *out = true;
    else if (pw_json_is(value, "false"))
        *out = false;
    else
        return false;
    return true;
}

/* Days from 1970-01-01 to a day of the Gregorian calendar; the year begins in March here, so that the leap day is its last. */
static int64_t
days_of(int64_t year, int64_t month, int64_t day)
{
    int64_t shifted = month <= 2 ? year - 1 : year;
    int64_t era = shifted / 400;
    int64_t of_era = shifted - era * 400;
    int64_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;

    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* A place in a text that is being read. Once something did not fit, all that follows does not either. */
struct reader {
    const char *at;
    const char *end;
    bool bad;
};

/* A number of least to most digits between min and max. */
static int64_t
read_number(struct reader *reader, int least, int most, int64_t min, int64_t max)
{
    int64_t value = 0;
    int count = 0;

    while (count < most && reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9') {
        value = value * 10 + (*reader->at++ - '0');
        count++;
    }
    if (count < least || value < min || value > max)
        reader->bad = true;
    return value;
}

/* Whether this character comes next; it is taken then. */
static bool
read_char(struct reader *reader, char c)
{
    if (reader->bad || reader->at == reader->end || *reader->at != c)
        return false;
    reader->at++;
    return true;
}

/* The part of a second in microseconds. */
static int64_t
read_fraction(struct reader *reader)
{
    const char *from = reader->at;
    int64_t value = read_number(reader, 1, 6, 0, 999999);

    for (int64_t digits = reader->at - from; digits < 6; digits++)
        value *= 10;
    return value;
}

/* The offset from UTC in seconds. */
static int64_t
read_offset(struct reader *reader)
{
    bool east = read_char(reader, '+');
    int64_t seconds;

    if (!east && !read_char(reader, '-')) {
        reader->bad = reader->bad || !read_char(reader, 'Z');
        return 0;
    }
    seconds = read_number(reader, 2, 2, 0, 23) * 3600;
    if (read_char(reader, ':'))
        seconds += read_number(reader, 2, 2, 0, 59) * 60;
    if (read_char(reader, ':'))
        seconds += read_number(reader, 2, 2, 0, 59);
    return east ? seconds : -seconds;
}

bool
pw_json_to_time_us(struct pw_json value, int64_t *out)
{
    static const char before[] = {'-', '-', 'T', ':', ':'};
    static const int64_t max[] = {12, 31, 23, 59, 60};
    struct reader reader;
    int64_t part[5], year, us = 0, offset, seconds;

    if (value.data == NULL || value.size < 2 || value.data[0] != '"')
        return false;
    reader = (struct reader){value.data + 1, value.data + value.size - 1, false};
    year = read_number(&reader, 4, 6, 1, 294276);
    for (int i = 0; i < 5; i++) {
        if (!read_char(&reader, before[i]))
            return false;
        part[i] = read_number(&reader, 2, 2, i < 2 ? 1 : 0, max[i]);
    }
    if (read_char(&reader, '.'))
        us = read_fraction(&reader);
    offset = read_offset(&reader);
    if (reader.bad || reader.at != reader.end)
        return false;
    seconds =
        days_of(year, part[0], part[1]) * 86400 + part[2] * 3600 + part[3] * 60 + part[4] - offset;
    if (__builtin_mul_overflow(seconds, 1000000, &seconds) ||
        __builtin_add_overflow(seconds, us, out))
        *out = INT64_MAX;
    return true;
}
