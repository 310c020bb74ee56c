/* SPDX-License-Identifier: Apache-2.0 */
/* Values that somebody else wrote: the whole text counts, in every locale. */
#include "base/text.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

static void
whole_numbers_are_read_to_the_ends_of_the_range(void **state)
{
    int64_t out;

    (void)state;
    assert_true(pw_parse_i64("0", INT64_MIN, INT64_MAX, &out));
    assert_true(out == 0);
    assert_true(pw_parse_i64("-0", INT64_MIN, INT64_MAX, &out));
    assert_true(out == 0);
    assert_true(pw_parse_i64("007", INT64_MIN, INT64_MAX, &out));
    assert_true(out == 7);
    assert_true(pw_parse_i64("9223372036854775807", INT64_MIN, INT64_MAX, &out));
    assert_true(out == INT64_MAX);
    assert_true(pw_parse_i64("-9223372036854775808", INT64_MIN, INT64_MAX, &out));
    assert_true(out == INT64_MIN);
    assert_true(pw_parse_i64("0000000000000000000000000000012", 12, 12, &out));
    assert_true(out == 12);
}

static void
other_texts_are_no_whole_numbers(void **state)
{
    static const char *const bad[] = {"", "-", "+1", "--1", " 1", "1 ", "1\n", "1a", "a", "0x10",
        "1.0", "1e3", "9223372036854775808", "-9223372036854775809", "99999999999999999999999",
        "\xd9\xa1"};
    int64_t out = 5;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (pw_parse_i64(bad[i], INT64_MIN, INT64_MAX, &out))
            fail_msg("%s", bad[i]);
    assert_false(pw_parse_i64(NULL, INT64_MIN, INT64_MAX, &out));
    assert_true(out == 5);
}

static void
whole_numbers_keep_to_their_range(void **state)
{
    int64_t out = 5;

    (void)state;
    assert_true(pw_parse_i64("1", 1, 3, &out));
    assert_true(pw_parse_i64("3", 1, 3, &out));
    assert_false(pw_parse_i64("0", 1, 3, &out));
    assert_false(pw_parse_i64("4", 1, 3, &out));
    assert_false(pw_parse_i64("-1", 0, 3, &out));
    assert_false(pw_parse_i64("2", 3, 1, &out));
    assert_true(out == 3);
}

static void
numbers_are_read(void **state)
{
    static const struct {
        const char *text;
        double value;
    } good[] = {{"0", 0}, {"1", 1}, {"-0.25", -0.25}, {"0.2", 0.2}, {"1e3", 1000}, {"1E+3", 1000},
        {"12.5e-1", 1.25}, {"1e-400", 0}, {"1.7976931348623157e308", DBL_MAX},
        {"0.1000000000000000055511151231257827", 0.1}};
    double out;

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        if (!pw_parse_double(good[i].text, -DBL_MAX, DBL_MAX, &out) || out != good[i].value)
            fail_msg("%s", good[i].text);
}

static void
other_texts_are_no_numbers(void **state)
{
    static const char *const bad[] = {"", "-", ".", ".5", "5.", "1,5", "+1", " 1", "1 ", "1e",
        "1e+", "1e1.5", "0x1p3", "inf", "-inf", "nan", "INFINITY", "1e400", "-1e400", "1..2",
        "1\xd9\xab."};
    double out = 5;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (pw_parse_double(bad[i], -INFINITY, INFINITY, &out))
            fail_msg("%s", bad[i]);
    assert_false(pw_parse_double(NULL, -INFINITY, INFINITY, &out));
    assert_true(out == 5);
}

static void
numbers_keep_to_their_range(void **state)
{
    double out = 5;

    (void)state;
    assert_true(pw_parse_double("0", 0, 1, &out));
    assert_true(pw_parse_double("1", 0, 1, &out));
    assert_false(pw_parse_double("1.0000001", 0, 1, &out));
    assert_false(pw_parse_double("-0.0000001", 0, 1, &out));
    assert_false(pw_parse_double("0.5", NAN, 1, &out));
    assert_false(pw_parse_double("0.5", 0, NAN, &out));
    assert_true(out == 1);
}

static void
durations_are_read_in_milliseconds(void **state)
{
    static const struct {
        const char *text;
        int64_t ms;
    } good[] = {{"10ms", 10}, {"5s", 5000}, {"2m", 120000}, {"1h", 3600000}, {"3d", 259200000},
        {"0", 0}, {"00", 0}, {"0d", 0}, {"0500ms", 500}, {"9223372036854775807ms", INT64_MAX},
        {"106751991167d", INT64_C(106751991167) * 86400000}};
    int64_t out;

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        if (!pw_parse_duration_ms(good[i].text, 0, INT64_MAX, &out) || out != good[i].ms)
            fail_msg("%s", good[i].text);
}

static void
sizes_are_read_in_bytes(void **state)
{
    static const char *const bad[] = {
        "", "kB", "1KB", "1 kB", "1.5MB", "-1", "1kBB", "9223372036854775807GB", "1TB"};
    int64_t out = 5;

    (void)state;
    assert_true(pw_parse_size("4096", 0, INT64_MAX, &out) && out == 4096);
    assert_true(pw_parse_size("64kB", 0, INT64_MAX, &out) && out == 65536);
    assert_true(pw_parse_size("1MB", 0, 1048576, &out) && out == 1048576);
    assert_true(pw_parse_size("2GB", 0, INT64_MAX, &out) && out == INT64_C(2147483648));
    out = 5;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (pw_parse_size(bad[i], 0, INT64_MAX, &out))
            fail_msg("%s", bad[i]);
    assert_false(pw_parse_size(NULL, 0, INT64_MAX, &out));
    assert_false(pw_parse_size("1MB", 0, 1048575, &out));
    assert_false(pw_parse_size("1kB", 1025, INT64_MAX, &out));
    assert_true(out == 5);
}

static void
other_texts_are_no_durations(void **state)
{
    static const char *const bad[] = {"", "ms", "s", "10", "1 s", " 1s", "1s ", "-1s", "+1s",
        "1.5s", "1S", "1min", "1w", "1y", "1us", "1h30m", "1mss", "9223372036854775808ms",
        "9223372036854776s", "106751991168d"};
    int64_t out = 5;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (pw_parse_duration_ms(bad[i], INT64_MIN, INT64_MAX, &out))
            fail_msg("%s", bad[i]);
    assert_false(pw_parse_duration_ms(NULL, INT64_MIN, INT64_MAX, &out));
    assert_false(pw_parse_duration_ms("499ms", 500, 60000, &out));
    assert_false(pw_parse_duration_ms("61s", 500, 60000, &out));
    assert_true(out == 5);
    assert_true(pw_parse_duration_ms("1m", 500, 60000, &out));
    assert_true(pw_parse_duration_ms("500ms", 500, 60000, &out));
    assert_true(out == 500);
}

static void
switches_are_on_or_off(void **state)
{
    static const char *const bad[] = {
        "", "On", "ON", "1", "0", "yes", "no", "on ", " on", "o", "offf"};
    bool out = false;

    (void)state;
    assert_true(pw_parse_bool("on", &out) && out);
    assert_true(pw_parse_bool("off", &out) && !out);
    assert_true(pw_parse_bool("true", &out) && out);
    assert_true(pw_parse_bool("false", &out) && !out);
    out = true;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (pw_parse_bool(bad[i], &out))
            fail_msg("%s", bad[i]);
    assert_false(pw_parse_bool(NULL, &out));
    assert_true(out);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_are_read_to_the_ends_of_the_range),
        cmocka_unit_test(other_texts_are_no_whole_numbers),
        cmocka_unit_test(whole_numbers_keep_to_their_range),
        cmocka_unit_test(numbers_are_read),
        cmocka_unit_test(other_texts_are_no_numbers),
        cmocka_unit_test(numbers_keep_to_their_range),
        cmocka_unit_test(durations_are_read_in_milliseconds),
        cmocka_unit_test(other_texts_are_no_durations),
        cmocka_unit_test(sizes_are_read_in_bytes),
        cmocka_unit_test(switches_are_on_or_off),
    };

    return cmocka_run_group_tests_name("base text", tests, NULL, NULL);
}
