/* SPDX-License-Identifier: Apache-2.0 */
/* JSON is found valid exactly where a second reader, which shares nothing with the first, finds it so; and what is cut out of it lies inside. */
#include "base/json_read.h"
#include "base/arena.h"
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    DEPTH_MAX = 128
};

/* The second reader: one byte after the other, with a stack of what is open. */
struct second {
    const char *at;
    const char *end;
    char open[DEPTH_MAX];
    size_t depth;
};

static void
blanks(struct second *second)
{
    while (second->at < second->end && memchr(" \t\r\n", *second->at, 4) != NULL)
        second->at++;
}

static bool
is_hex(char c)
{
    return c != '\0' && strchr("0123456789abcdefABCDEF", c) != NULL;
}

static bool
string(struct second *second)
{
    if (second->at == second->end || *second->at++ != '"')
        return false;
    while (second->at < second->end) {
        char c = *second->at++;

        if (c == '"')
            return true;
        if ((unsigned char)c < 0x20)
            return false;
        if (c != '\\')
            continue;
        if (second->at == second->end)
            return false;
        c = *second->at++;
        if (c == 'u') {
            for (int i = 0; i < 4; i++)
                if (second->at == second->end || !is_hex(*second->at++))
                    return false;
        } else if (c == '\0' || strchr("\"\\/bfnrt", c) == NULL) {
            return false;
        }
    }
    return false;
}

static size_t
digits(struct second *second)
{
    size_t count = 0;

    for (; second->at < second->end && *second->at >= '0' && *second->at <= '9'; second->at++)
        count++;
    return count;
}

static bool
number(struct second *second)
{
    bool zero;
    size_t count;

    if (second->at < second->end && *second->at == '-')
        second->at++;
    zero = second->at < second->end && *second->at == '0';
    count = digits(second);
    if (count == 0 || (zero && count > 1))
        return false;
    if (second->at < second->end && *second->at == '.') {
        second->at++;
        if (digits(second) == 0)
            return false;
    }
    if (second->at < second->end && (*second->at == 'e' || *second->at == 'E')) {
        second->at++;
        if (second->at < second->end && (*second->at == '+' || *second->at == '-'))
            second->at++;
        if (digits(second) == 0)
            return false;
    }
    return true;
}

static bool
word(struct second *second, const char *text)
{
    size_t size = strlen(text);

    if ((size_t)(second->end - second->at) < size || memcmp(second->at, text, size) != 0)
        return false;
    second->at += size;
    return true;
}

/* What is neither object nor array. */
static bool
plain(struct second *second)
{
    if (second->at == second->end)
        return false;
    switch (*second->at) {
    case '"':
        return string(second);
    case 't':
        return word(second, "true");
    case 'f':
        return word(second, "false");
    case 'n':
        return word(second, "null");
    default:
        return number(second);
    }
}

/* The name of a member and its colon, where an object is open. */
static bool
name(struct second *second)
{
    blanks(second);
    if (second->open[second->depth - 1] == '[')
        return true;
    if (!string(second))
        return false;
    blanks(second);
    return second->at < second->end && *second->at++ == ':';
}

/* Closes what ends here, and goes on to the next value. Sets more to false where there is none. */
static bool
behind(struct second *second, bool *more)
{
    for (;;) {
        char c;

        blanks(second);
        if (second->depth == 0) {
            *more = false;
            return second->at == second->end;
        }
        if (second->at == second->end)
            return false;
        c = *second->at++;
        if (c == ',')
            return name(second);
        if (c != (second->open[second->depth - 1] == '{' ? '}' : ']'))
            return false;
        second->depth--;
    }
}

static bool
second_opinion(const char *data, size_t size)
{
    struct second second = {.at = data, .end = data + size};
    bool more = true;

    while (more) {
        blanks(&second);
        if (second.at < second.end && (*second.at == '{' || *second.at == '[')) {
            char close = *second.at == '{' ? '}' : ']';

            if (second.depth == DEPTH_MAX)
                return false;
            second.open[second.depth++] = *second.at++;
            blanks(&second);
            if (second.at == second.end || *second.at != close) {
                if (!name(&second))
                    return false;
                continue;
            }
        } else if (!plain(&second)) {
            return false;
        }
        if (!behind(&second, &more))
            return false;
    }
    return true;
}

/* A time is in the year that it names, or in the one beside it, by its offset. */
static void
check_time(struct pw_json value)
{
    int64_t us = 0;
    int64_t year = 0;
    time_t seconds;
    struct tm tm = {0};

    if (!pw_json_to_time_us(value, &us))
        return;
    for (const char *at = value.data + 1; *at >= '0' && *at <= '9'; at++)
        year = year * 10 + (*at - '0');
    seconds = (time_t)(us / 1000000);
    fuzz_check(gmtime_r(&seconds, &tm) != NULL, "a time beyond all years");
    fuzz_check(us == INT64_MAX ? year >= 294246
                               : tm.tm_year + 1900 >= year - 1 && tm.tm_year + 1900 <= year + 1,
        "a time in another year");
}

static void
look_at(struct pw_json value, struct pw_arena *arena)
{
    int64_t number_of;
    bool truth;
    const char *text = pw_json_text(value, arena);

    fuzz_check(text == NULL || strlen(text) <= value.size, "a text that is longer than its JSON");
    fuzz_check(pw_json_valid(value), "a value that is none");
    if (pw_json_to_int(value, &number_of))
        fuzz_check(value.data[0] == '-' || (value.data[0] >= '0' && value.data[0] <= '9'),
            "a number that does not begin like one");
    if (pw_json_to_bool(value, &truth))
        fuzz_check(value.data[0] == (truth ? 't' : 'f'), "the wrong truth");
    check_time(value);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input(data, size);
    struct pw_json whole = {input.at, size};
    struct pw_json_walk walk;
    struct pw_json key, value;
    struct pw_arena arena;
    size_t count = 0;
    bool valid = pw_json_valid(whole);

    fuzz_check(valid == second_opinion(input.at, size), "two opinions about what is JSON");
    check_time(whole);
    pw_arena_init(&arena, (size_t)64 * 1024 * 1024);
    (void)pw_json_text(whole, &arena);
    for (pw_json_walk(&walk, whole); pw_json_walk_next(&walk, &key, &value); count++) {
        fuzz_check(count <= size, "more members than bytes");
        fuzz_check(value.data >= input.at && value.data + value.size <= input.end,
            "a value outside of the text");
        fuzz_check(!walk.object || (key.data > input.at && key.data + key.size < value.data),
            "a name that is not before its value");
        look_at(value, &arena);
    }
    if (walk.object || !walk.bad)
        fuzz_check(valid == !walk.bad, "a walk to the end of what is not valid, or not to it");
    if (valid && walk.object)
        (void)pw_json_given(pw_json_member(whole, "name"));
    pw_arena_done(&arena);
    return 0;
}
