/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers, durations, sizes and switches: each is what simple arithmetic with 128 bits makes of it. */
#include "base/text.h"
#include "fuzz.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

/* So large that nothing that is allowed reaches it, so small that a unit cannot overflow it. */
static const __int128 ceiling = (__int128)1 << 100;

/* Digits and nothing else between the two, as a number; -1 if there is something else. Stays at the ceiling. */
static __int128
digits(const char *at, const char *end)
{
    __int128 value = 0;

    if (at == end)
        return -1;
    for (; at < end; at++) {
        if (*at < '0' || *at > '9')
            return -1;
        value = value > ceiling ? ceiling : value * 10 + (*at - '0');
    }
    return value;
}

/* The number before a unit that the text ends with, times what the unit is; -1 if it does not. */
static __int128
with_unit(const char *text, const char *unit, int64_t factor)
{
    size_t size = strlen(text);
    size_t unit_size = strlen(unit);
    __int128 number;

    if (size < unit_size || strcmp(text + size - unit_size, unit) != 0)
        return -1;
    number = digits(text, text + size - unit_size);
    return number < 0 ? -1 : number > ceiling / factor ? ceiling : number * factor;
}

static void
try_i64(const char *text, int64_t min, int64_t max)
{
    bool negative = text[0] == '-';
    __int128 value = digits(text + negative, text + strlen(text));
    bool right = value >= 0;
    int64_t got = 0;
    bool read = pw_parse_i64(text, min, max, &got);

    value = negative ? -value : value;
    right = right && value >= min && value <= max;
    fuzz_check(read == right, "two opinions about what is a number");
    fuzz_check(!read || got == value, "another number");
}

static void
try_duration(const char *text, int64_t min, int64_t max)
{
    static const struct {
        const char *unit;
        int64_t ms;
    } units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}};
    __int128 value = digits(text, text + strlen(text)) == 0 ? 0 : -1;
    int64_t got = 0;
    bool read = pw_parse_duration_ms(text, min, max, &got);
    bool right;

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]) && value < 0; i++)
        value = with_unit(text, units[i].unit, units[i].ms);
    right = value >= 0 && value >= min && value <= max;
    fuzz_check(read == right, "two opinions about what is a duration");
    fuzz_check(!read || got == value, "another duration");
}

static void
try_size(const char *text, int64_t min, int64_t max)
{
    static const struct {
        const char *unit;
        int64_t bytes;
    } units[] = {{"", 1}, {"kB", 1024}, {"MB", 1024 * 1024}, {"GB", 1024 * 1024 * 1024}};
    __int128 value = -1;
    int64_t got = 0;
    bool read = pw_parse_size(text, min, max, &got);

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]) && value < 0; i++)
        value = with_unit(text, units[i].unit, units[i].bytes);
    /* What has more digits than a size can have is none, also where they are zeros. */
    if (strlen(text) < 20)
        fuzz_check(read == (value >= 0 && value >= min && value <= max),
            "two opinions about what is a size");
    fuzz_check(!read || got == value, "another size");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input(data, size);
    char *text = fuzz_rest(&input);
    double real = 0;
    bool on = false;

    try_i64(text, INT64_MIN, INT64_MAX);
    try_i64(text, 0, 1000);
    try_duration(text, 0, INT64_MAX);
    try_duration(text, 10, 3600000);
    try_size(text, 0, INT64_MAX);
    try_size(text, 4096, 1024 * 1024);
    if (pw_parse_double(text, -1000, 1000, &real))
        fuzz_check(real >= -1000 && real <= 1000, "a number beyond its bounds");
    if (pw_parse_double(text, -DBL_MAX, DBL_MAX, &real))
        fuzz_check(strspn(text, "0123456789.eE+-") == strlen(text), "a number of other letters");
    if (pw_parse_bool(text, &on))
        fuzz_check(on == (strcmp(text, "on") == 0 || strcmp(text, "true") == 0), "another switch");
    free(text);
    return 0;
}
