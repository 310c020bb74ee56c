/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show/time_text.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const int64_t second_us = 1000000;
static const int64_t longest_ms = INT64_C(320000000000); /* ten years */

/* Reads at most digits_max digits as a number, and moves text past them. Returns false if there is none. */
static bool
read_digits(const char **text, size_t digits_max, int *number)
{
    size_t count = 0;

    *number = 0;
    for (; count < digits_max && **text >= '0' && **text <= '9'; count++, (*text)++)
        *number = *number * 10 + (**text - '0');
    return count > 0;
}

/* Reads one required character, and moves text past it. Returns false if it is another character. */
static bool
read_char(const char **text, char wanted)
{
    if (**text != wanted)
        return false;
    (*text)++;
    return true;
}

/* Reads the fraction of a second after a point, if there is one, in microseconds. Moves text past it. */
static int64_t
read_fraction(const char **text)
{
    int64_t us = 0;
    int64_t unit = second_us;

    if (**text != '.')
        return 0;
    for ((*text)++; **text >= '0' && **text <= '9'; (*text)++) {
        unit /= 10;
        us += unit * (**text - '0');
    }
    return us;
}

int64_t
time_text_duration_ms(const char *text)
{
    int64_t sum_ms = 0;

    do {
        char part[24];
        size_t size = strspn(text, "0123456789");
        int64_t ms;

        size += strspn(text + size, "abcdefghijklmnopqrstuvwxyz");
        if (size == 0 || size >= sizeof(part))
            return -1;
        memcpy(part, text, size);
        part[size] = '\0';
        if (!pw_parse_duration_ms(part, 0, longest_ms - sum_ms, &ms))
            return -1;
        sum_ms += ms;
        text += size;
    } while (*text != '\0');
    return sum_ms;
}

/* Reads "+02", "-03:30" or "Z", and moves text past it. Returns false if there is no offset. */
static bool
read_offset(const char **text, int *seconds)
{
    int hours = 0;
    int minutes = 0;
    char sign = **text;

    *seconds = 0;
    if (sign == 'Z' || sign == 'z') {
        (*text)++;
        return true;
    }
    if (sign != '+' && sign != '-')
        return false;
    (*text)++;
    if (!read_digits(text, 2, &hours))
        return false;
    (void)read_char(text, ':');
    (void)read_digits(text, 2, &minutes); /* 0 if there are none */
    *seconds = (hours * 60 + minutes) * 60 * (sign == '-' ? -1 : 1);
    return true;
}

/* Reads "04:05" or "04:05:06.789", and moves text past it. */
static bool
read_clock(const char **text, struct tm *tm, int64_t *fraction_us)
{
    if (!read_digits(text, 2, &tm->tm_hour) || !read_char(text, ':') ||
        !read_digits(text, 2, &tm->tm_min))
        return false;
    if (read_char(text, ':') && !read_digits(text, 2, &tm->tm_sec))
        return false;
    *fraction_us = read_fraction(text);
    return tm->tm_hour < 24 && tm->tm_min < 60 && tm->tm_sec <= 60;
}

/* Needed because mktime() accepts 31 February as 3 March. */
static int
days_of_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return month == 2 && leap ? 29 : days[month - 1];
}

/* Reads date, time and offset, to the end of the text. Without an offset it is a time of this machine's time zone. */
static bool
read_calendar(const char *text, bool offset_needed, int64_t *us)
{
    struct tm tm = {.tm_isdst = -1};
    int offset = 0;
    int64_t fraction_us = 0;

    if (!read_digits(&text, 4, &tm.tm_year) || !read_char(&text, '-') ||
        !read_digits(&text, 2, &tm.tm_mon) || !read_char(&text, '-') ||
        !read_digits(&text, 2, &tm.tm_mday))
        return false;
    if ((read_char(&text, ' ') || read_char(&text, 'T')) && !read_clock(&text, &tm, &fraction_us))
        return false;
    if (tm.tm_mon < 1 || tm.tm_mon > 12 || tm.tm_mday < 1 ||
        tm.tm_mday > days_of_month(tm.tm_year, tm.tm_mon))
        return false;
    tm.tm_year -= 1900;
    tm.tm_mon--;
    if (read_offset(&text, &offset))
        *us = ((int64_t)timegm(&tm) - offset) * second_us + fraction_us;
    else if (offset_needed)
        return false;
    else
        *us = (int64_t)mktime(&tm) * second_us + fraction_us;
    return *text == '\0';
}

bool
time_text_read_stamp(const char *text, int64_t *us)
{
    int64_t read = 0;

    if (!read_calendar(text, true, &read))
        return false;
    *us = read;
    return true;
}

/*
 * Returns the time at which this machine's clock shows clock, on the day that is days days from that of now_us. It does not add hours to
 * midnight, because on some days the clock is changed.
 */
static int64_t
time_of_day(int64_t now_us, int days, const struct tm *clock)
{
    time_t seconds = (time_t)(now_us / second_us);
    struct tm tm = {0};

    (void)localtime_r(&seconds, &tm);
    tm.tm_mday += days;
    tm.tm_hour = clock->tm_hour;
    tm.tm_min = clock->tm_min;
    tm.tm_sec = clock->tm_sec;
    tm.tm_isdst = -1;
    return (int64_t)mktime(&tm) * second_us;
}

bool
time_text_read(const char *text, int64_t now_us, bool ahead, int64_t *us)
{
    static const struct {
        const char *word;
        int days;
    } words[] = {{"yesterday", -1}, {"today", 0}, {"tomorrow", 1}};
    int64_t span_ms = time_text_duration_ms(text);
    struct tm tm = {0};
    const char *at = text;
    int64_t fraction_us = 0;
    int64_t read = 0;

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(text, words[i].word) == 0) {
            *us = time_of_day(now_us, words[i].days, &tm); /* at midnight */
            return true;
        }
    }
    if (strcmp(text, "now") == 0)
        read = now_us;
    else if (span_ms >= 0)
        read = now_us + (ahead ? span_ms : -span_ms) * 1000;
    else if (read_clock(&at, &tm, &fraction_us) && *at == '\0')
        read = time_of_day(now_us, 0, &tm) + fraction_us;
    else if (!read_calendar(text, false, &read))
        return false;
    *us = read;
    return true;
}

static void
write_tm(char *room, const struct tm *tm)
{
    (void)snprintf(room, TIME_TEXT_SIZE, "%04d-%02d-%02d %02d:%02d:%02d",
        (tm->tm_year + 1900) % 10000, tm->tm_mon + 1, tm->tm_mday, tm->tm_hour, tm->tm_min,
        tm->tm_sec);
}

/* Rounds down, for times before 1970, too. */
static time_t
whole_seconds(int64_t us)
{
    return (time_t)(us / second_us - (us % second_us < 0));
}

void
time_text_write_stamp(char room[static TIME_TEXT_SIZE], int64_t us)
{
    time_t seconds = whole_seconds(us);
    struct tm tm = {0};
    size_t size;

    (void)gmtime_r(&seconds, &tm);
    write_tm(room, &tm);
    size = strlen(room);
    (void)snprintf(
        room + size, TIME_TEXT_SIZE - size, ".%06dZ", (int)(us - (int64_t)seconds * second_us));
}

void
time_text_write_local(char room[static TIME_TEXT_SIZE], int64_t us)
{
    time_t seconds = whole_seconds(us);
    struct tm tm = {0};

    (void)localtime_r(&seconds, &tm);
    write_tm(room, &tm);
}

void
time_text_write_span(char room[static TIME_TEXT_SIZE], int64_t us)
{
    static const struct {
        const char *name;
        int64_t us;
    } units[] = {
        {"d", INT64_C(86400000000)}, {"h", INT64_C(3600000000)}, {"m", 60000000}, {"s", 1000000}};
    const char *sign = us < 0 ? "-" : "";

    us = us < 0 ? -us : us;
    if (us < 10 * second_us) {
        double ms = (double)us / 1000;

        if (ms >= 1000)
            (void)snprintf(
                room, TIME_TEXT_SIZE, "%s%.*fs", sign, us % second_us == 0 ? 0 : 1, ms / 1000);
        else
            (void)snprintf(room, TIME_TEXT_SIZE, "%s%.*fms", sign, us > 0 && ms < 1 ? 1 : 0, ms);
        return;
    }
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (us < units[i].us)
            continue;
        if (i + 1 < sizeof(units) / sizeof(units[0]) && us % units[i].us >= units[i + 1].us)
            (void)snprintf(room, TIME_TEXT_SIZE, "%s%" PRId64 "%s%" PRId64 "%s", sign,
                us / units[i].us, units[i].name, us % units[i].us / units[i + 1].us,
                units[i + 1].name);
        else
            (void)snprintf(
                room, TIME_TEXT_SIZE, "%s%" PRId64 "%s", sign, us / units[i].us, units[i].name);
        return;
    }
}
