/* SPDX-License-Identifier: Apache-2.0 */
/* Reads numbers, durations, sizes and switches from text. */
#include "text.h"

#include <locale.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Skips at least one digit; NULL if there is none. */
static const char *
skip_digits(const char *text)
{
    if (!is_digit(*text))
        return NULL;
    while (is_digit(*text))
        text++;
    return text;
}

/* Reads digits as a number below zero, because that side of the range is larger by one. Returns what follows them, or
 * NULL if there is none or the number does not fit. */
static const char *
read_digits(const char *text, int64_t *out)
{
    int64_t value = 0;

    if (!is_digit(*text))
        return NULL;
    for (; is_digit(*text); text++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_sub_overflow(value, *text - '0', &value))
            return NULL;
    *out = value;
    return text;
}

bool
pw_parse_i64(const char *text, int64_t min, int64_t max, int64_t *out)
{
    bool negative;
    int64_t value;

    if (text == NULL)
        return false;
    negative = *text == '-';
    text = read_digits(negative ? text + 1 : text, &value);
    if (text == NULL || *text != '\0')
        return false;
    if (!negative && __builtin_sub_overflow(0, value, &value))
        return false;
    if (value < min || value > max)
        return false;
    *out = value;
    return true;
}

/* True if the text is digits, perhaps with a point and digits, perhaps with an exponent: less than strtod takes. */
static bool
is_decimal(const char *text)
{
    text = skip_digits(*text == '-' ? text + 1 : text);
    if (text != NULL && *text == '.')
        text = skip_digits(text + 1);
    if (text != NULL && (*text == 'e' || *text == 'E')) {
        text++;
        text = skip_digits(*text == '-' || *text == '+' ? text + 1 : text);
    }
    return text != NULL && *text == '\0';
}

bool
pw_parse_double(const char *text, double min, double max, double *out)
{
    locale_t plain;
    double value;

    if (text == NULL || !is_decimal(text))
        return false;
    /* The plain locale is a constant of the C library; asking for it costs no memory. */
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0)
        return false;
    value = strtod_l(text, NULL, plain);
    freelocale(plain);
    if (!isfinite(value) || !(value >= min && value <= max))
        return false;
    *out = value;
    return true;
}

/* Milliseconds of a unit; 0 if there is no such unit. */
static int64_t
unit_ms(const char *unit)
{
    static const struct {
        const char *name;
        int64_t ms;
    } units[] = {
        {"ms", 1},
        {"s", 1000},
        {"m", 60 * 1000},
        {"h", 60 * 60 * 1000},
        {"d", 24 * 60 * 60 * 1000},
    };

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(unit, units[i].name) == 0)
            return units[i].ms;
    return 0;
}

bool
pw_parse_duration_ms(const char *text, int64_t min_ms, int64_t max_ms, int64_t *out)
{
    int64_t value, unit;

    if (text == NULL)
        return false;
    text = read_digits(text, &value);
    if (text == NULL)
        return false;
    unit = value == 0 && *text == '\0' ? 1 : unit_ms(text);
    if (unit == 0 || __builtin_mul_overflow(value, -unit, &value))
        return false;
    if (value < min_ms || value > max_ms)
        return false;
    *out = value;
    return true;
}

bool
pw_parse_size(const char *text, int64_t min, int64_t max, int64_t *out)
{
    static const struct {
        const char *name;
        int64_t bytes;
    } units[] = {{"kB", 1024}, {"MB", 1024 * 1024}, {"GB", 1024 * 1024 * 1024}};
    char digits[24];
    int64_t unit = 1;
    int64_t number;
    size_t size;

    if (text == NULL)
        return false;
    size = strnlen(text, sizeof(digits));
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (size >= 2 && size < sizeof(digits) && strcmp(text + size - 2, units[i].name) == 0) {
            unit = units[i].bytes;
            size -= 2;
        }
    if (size >= sizeof(digits))
        return false;
    memcpy(digits, text, size);
    digits[size] = '\0';
    if (!is_digit(digits[0]) || !pw_parse_i64(digits, 0, max / unit, &number) ||
        number * unit < min)
        return false;
    *out = number * unit;
    return true;
}

bool
pw_parse_bool(const char *text, bool *out)
{
    bool on;

    if (text == NULL)
        return false;
    on = strcmp(text, "on") == 0 || strcmp(text, "true") == 0;
    if (!on && strcmp(text, "off") != 0 && strcmp(text, "false") != 0)
        return false;
    *out = on;
    return true;
}
