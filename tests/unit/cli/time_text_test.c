/* SPDX-License-Identifier: Apache-2.0 */
/* Times as people type them, on days whose clock is changed and in months that are shorter than others. */
#include "cli/show/time_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

/* What a text means to somebody in Berlin at that time, as the database is told. */
static const char *
read_in_berlin(const char *text, const char *now)
{
    static char room[TIME_TEXT_SIZE];
    int64_t now_us = 0;
    int64_t us = 0;

    assert_true(time_text_read_stamp(now, &now_us));
    if (!time_text_read(text, now_us, true, &us))
        return "none";
    time_text_write_stamp(room, us);
    return room;
}

static void
a_time_of_the_day_is_what_the_clock_shows(void **state)
{
    static const struct {
        const char *text, *now, *meant;
    } cases[] = {
        {"04:05", "2027-03-27 00:30:00+01", "2027-03-27 03:05:00.000000Z"},
        {"04:05", "2027-03-28 00:30:00+01", "2027-03-28 02:05:00.000000Z"},
        {"04:05:06.5", "2027-10-31 00:30:00+02", "2027-10-31 03:05:06.500000Z"},
        {"01:05", "2027-10-31 12:00:00+01", "2027-10-30 23:05:00.000000Z"},
        {"today", "2027-03-28 12:00:00+02", "2027-03-27 23:00:00.000000Z"},
        {"tomorrow", "2027-03-28 00:30:00+01", "2027-03-28 22:00:00.000000Z"},
        {"yesterday", "2027-11-01 12:00:00+01", "2027-10-30 22:00:00.000000Z"},
        {"2027-03-28 04:05", "2027-01-01 00:00:00+01", "2027-03-28 02:05:00.000000Z"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(read_in_berlin(cases[i].text, cases[i].now), cases[i].meant);
}

static void
a_day_that_its_month_does_not_have_is_refused(void **state)
{
    static const char now[] = "2027-01-01 00:00:00+01";
    static const char *const none[] = {"2027-02-31 04:05", "2027-02-29", "2027-04-31", "2100-02-29",
        "2027-06-31 04:05+02", "2027-00-01", "2027-13-01", "2027-01-00", "2027-01-32"};
    static const char *const some[] = {"2027-02-28", "2028-02-29", "2000-02-29 04:05Z",
        "2027-04-30", "2027-12-31", "2027-01-31 04:05"};
    int64_t us = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        assert_string_equal(read_in_berlin(none[i], now), "none");
    for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++)
        assert_string_not_equal(read_in_berlin(some[i], now), "none");
    assert_false(time_text_read_stamp("2027-02-31 04:05:00+00", &us));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_time_of_the_day_is_what_the_clock_shows),
        cmocka_unit_test(a_day_that_its_month_does_not_have_is_refused),
    };

    /* Europe/Berlin, without the files of time zones. */
    if (setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1) != 0)
        return 1;
    tzset();
    return cmocka_run_group_tests_name("cli/time_text", tests, NULL, NULL);
}
