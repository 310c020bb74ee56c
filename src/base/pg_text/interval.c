/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pg_text/interval.h"

#include <stddef.h>
#include <string.h>

static const int64_t second_us = 1000000;

/* Reads at most nine digits as a number, and moves text past them. Returns -1 if there is none. */
static int64_t
take_number(const char **text)
{
    size_t digits = strspn(*text, "0123456789");
    int64_t number = 0;

    if (digits == 0 || digits > 9)
        return -1;
    for (; digits > 0; digits--)
        number = number * 10 + (*(*text)++ - '0');
    return number;
}

/* Reads ":03:04.5" after the hours, to the end of the text. Returns -1 if it is not that. */
static int64_t
read_clock(const char *text, int64_t hours)
{
    int64_t minutes;
    int64_t seconds;
    int64_t us;

    if (*text++ != ':' || (minutes = take_number(&text)) < 0 || minutes > 99)
        return -1;
    if (*text++ != ':' || (seconds = take_number(&text)) < 0 || seconds > 99)
        return -1;
    us = ((hours * 60 + minutes) * 60 + seconds) * second_us;
    if (*text == '.') {
        int64_t unit = second_us;

        for (text++; *text >= '0' && *text <= '9'; text++)
            us += (unit /= 10) * (*text - '0');
    }
    return *text == '\0' ? us : -1;
}

/* Returns the microseconds of the unit that text begins with, or 0. */
static int64_t
unit_us(const char *text)
{
    static const struct {
        const char *name;
        int64_t days;
    } units[] = {{"year", 365}, {"mon", 30}, {"day", 1}};

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strncmp(text, units[i].name, strlen(units[i].name)) == 0)
            return units[i].days * 86400 * second_us;
    return 0;
}

bool
pw_interval_read(const char *text, int64_t *us)
{
    int64_t sum = 0;

    while (*text != '\0') {
        int64_t sign = *text == '-' ? -1 : 1;
        int64_t number;
        int64_t part;
        bool last;

        text += *text == '-' || *text == '+';
        number = take_number(&text);
        if (number < 0)
            return false;
        last = *text == ':';
        if (last) {
            part = read_clock(text, number);
            if (part < 0)
                return false;
        } else {
            int64_t unit;

            text += strspn(text, " ");
            unit = unit_us(text);
            if (unit == 0 || __builtin_mul_overflow(number, unit, &part))
                return false;
        }
        if (__builtin_add_overflow(sum, sign * part, &sum))
            return false;
        if (last)
            break;
        text += strcspn(text, " ");
        text += strspn(text, " ");
    }
    *us = sum;
    return true;
}
