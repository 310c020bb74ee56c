/* SPDX-License-Identifier: Apache-2.0 */
/* The benchmarks' helpers: figures that gate CI must be printed and judged right. */
#include "harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static void
a_figure_without_bound_is_ok_and_prints_no_bound(void **state)
{
    struct bench_figure figure = {
        .name = "bare_life", .value = 26000, .unit = "runs/s", .batch = 100};
    struct bench_text text;

    (void)state;
    bench_text_init(&text, 200);
    bench_figure_write(&figure, &text);
    assert_string_equal(text.data,
        "{\"name\": \"bare_life\", \"batch\": 100, \"value\": 26000, \"unit\": \"runs/s\"}");
    assert_true(bench_figure_ok(&figure));
    bench_text_done(&text);
}

static void
a_figure_on_the_wrong_side_of_its_bound_is_not_ok(void **state)
{
    struct bench_figure figure = {.name = "ratio", .value = 0.449, .unit = "ratio"};
    struct bench_text text;

    (void)state;
    figure.bound = 0.45;
    figure.bound_kind = BENCH_AT_MOST;
    assert_true(bench_figure_ok(&figure));
    figure.bound_kind = BENCH_AT_LEAST;
    assert_false(bench_figure_ok(&figure));
    bench_text_init(&text, 200);
    bench_figure_write(&figure, &text);
    assert_string_equal(text.data,
        "{\"name\": \"ratio\", \"value\": 0.449, \"unit\": \"ratio\", \"bound\": 0.45, \"ok\": "
        "false}");
    bench_text_done(&text);
}

static void
ids_have_the_uuidv7_layout_and_do_not_repeat(void **state)
{
    struct bench_text one, two;

    (void)state;
    bench_text_init(&one, 32);
    bench_text_init(&two, 32);
    bench_text_add_uuid(&one);
    bench_text_add_uuid(&two);
    assert_int_equal(one.length, 32);
    assert_int_equal(one.data[12], '7');
    assert_non_null(strchr("89ab", one.data[16]));
    assert_true(strncmp(one.data, two.data, 12) <= 0);
    assert_string_not_equal(one.data, two.data);
    bench_text_done(&one);
    bench_text_done(&two);
}

static void
a_percentile_is_one_of_the_values(void **state)
{
    double values[] = {4, 1, 3, 5, 2};

    (void)state;
    assert_true(bench_percentile(values, 5, 0.5) == 3);
    assert_true(bench_percentile(values, 5, 0) == 1);
    assert_true(bench_percentile(values, 5, 0.99) == 5);
    assert_true(bench_percentile(values, 5, 1) == 5);
    assert_true(bench_percentile(values, 4, 0.5) == 3); /* the upper one of two */
    assert_true(bench_percentile(values, 1, 0.5) == 1);
}

static void
a_figure_of_rounds_is_their_median_with_their_spread(void **state)
{
    double values[] = {7, 9, 8};
    struct bench_figure figure = {.name = "median", .unit = "ms"};
    struct bench_text text;

    (void)state;
    bench_figure_median(&figure, values, 3);
    bench_text_init(&text, 200);
    bench_figure_write(&figure, &text);
    assert_string_equal(text.data,
        "{\"name\": \"median\", \"value\": 8, \"unit\": \"ms\", \"rounds\": 3, \"low\": 7, "
        "\"high\": 9}");
    bench_text_done(&text);
}

static void
numbers_are_read_whole(void **state)
{
    (void)state;
    assert_int_equal(bench_number("100", "BATCH", 1, 100), 100);
    assert_int_equal(bench_number("1", "BATCH", 1, 100), 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_figure_without_bound_is_ok_and_prints_no_bound),
        cmocka_unit_test(a_figure_on_the_wrong_side_of_its_bound_is_not_ok),
        cmocka_unit_test(ids_have_the_uuidv7_layout_and_do_not_repeat),
        cmocka_unit_test(a_percentile_is_one_of_the_values),
        cmocka_unit_test(a_figure_of_rounds_is_their_median_with_their_spread),
        cmocka_unit_test(numbers_are_read_whole),
    };

    return cmocka_run_group_tests_name("bench harness", tests, NULL, NULL);
}
