/* SPDX-License-Identifier: Apache-2.0 */
/* What pawl top makes of a look at the database: rates, order, failures, and the run that is chosen. */
#include "cli/top/top_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SECOND = 1000000,
};
static const int64_t now_us = INT64_C(1000000) * SECOND;

/* A run that was triggered so many seconds ago, started and ended as many later; -1: not. */
static struct top_run
run_of(const char *id, const char *status, int64_t ago_s, int64_t started_s, int64_t ended_s)
{
    int64_t triggered_us = now_us - ago_s * SECOND;

    return (struct top_run){.id = id,
        .workflow = "a",
        .status = status,
        .reason = "",
        .key = "",
        .worker = "",
        .triggered_us = triggered_us,
        .started_us = started_s < 0 ? -1 : triggered_us + started_s * SECOND,
        .ended_us = ended_s < 0 ? -1 : triggered_us + ended_s * SECOND,
        .due_us = -1};
}

static void
rates_are_those_of_the_last_ten_seconds(void **state)
{
    const struct top_run runs[] = {run_of("1", "QUEUED", 1, -1, -1),
        run_of("2", "RUNNING", 2, 1, -1), run_of("3", "ERROR", 9, 0, 2),
        run_of("4", "SUCCESS", 30, 1, 29), run_of("5", "SUCCESS", 60, 1, 2)};
    struct top_view view = {.now_us = now_us};

    (void)state;
    top_rate(&view, runs, 5, false);
    assert_float_equal(view.rates.triggered, 0.3, 0.001);
    assert_float_equal(view.rates.started, 0.2, 0.001);
    assert_float_equal(view.rates.finished, 0.2, 0.001);
    assert_float_equal(view.rates.failed, 0.1, 0.001);
    assert_true(view.rates.window_us == 10 * SECOND);
    assert_false(view.rates.least);
}

static void
rates_are_those_of_the_time_that_all_known_runs_span(void **state)
{
    const struct top_run runs[] = {run_of("1", "SUCCESS", 0, 0, 0), run_of("2", "SUCCESS", 1, 0, 0),
        run_of("3", "SUCCESS", 2, 0, 1)};
    struct top_view view = {.now_us = now_us};

    (void)state;
    top_rate(&view, runs, 3, true);
    assert_true(view.rates.window_us == 2 * SECOND);
    assert_float_equal(view.rates.triggered, 1.5, 0.001);
    assert_float_equal(view.rates.finished, 1.5, 0.001);
}

static void
rates_are_bounds_if_older_runs_live(void **state)
{
    const struct top_run runs[] = {run_of("1", "QUEUED", 1, -1, -1)};
    struct top_queue queue = {.name = "a", .ready = 100};
    struct top_view view = {.now_us = now_us, .queues = &queue, .queue_count = 1};

    (void)state;
    top_rate(&view, runs, 1, true);
    assert_true(view.rates.least);
    queue.ready = 2;
    top_rate(&view, runs, 1, true);
    assert_false(view.rates.least);
    top_rate(&view, NULL, 0, false);
    assert_float_equal(view.rates.triggered, 0, 0.001);
}

static void
what_needs_somebody_comes_first(void **state)
{
    struct top_queue queues[] = {{.name = "b"}, {.name = "a"},
        {.name = "busy", .ready = 50, .workers = 1}, {.name = "held", .held = 3, .workers = 1},
        {.name = "nobody", .ready = 1}};
    struct top_worker workers[] = {{.name = "b", .state = "live", .held = 1},
        {.name = "a", .state = "live", .held = 1}, {.name = "c", .state = "draining"},
        {.name = "d", .state = "lost"}, {.name = "e", .state = "idle"}};
    static const char *const queue_order[] = {"nobody", "busy", "held", "a", "b"};
    static const char *const worker_order[] = {"d", "c", "a", "b", "e"};

    (void)state;
    top_order_queues(queues, 5);
    top_order_workers(workers, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(queues[i].name, queue_order[i]);
        assert_string_equal(workers[i].name, worker_order[i]);
    }
}

static void
failures_are_counted_by_workflow(void **state)
{
    struct top_run failed = run_of("1", "ERROR", 100, 0, 10);
    struct top_run later = run_of("2", "ERROR", 100, 0, 20);
    struct top_run old = run_of("3", "ERROR", 5000, 0, 10);
    struct top_run retrying = run_of("4", "PAUSED", 100, 0, -1);
    struct top_run sleeping = run_of("5", "PAUSED", 100, 0, -1);
    struct top_run other = run_of("6", "PAUSED", 100, 0, -1);
    struct top_view *view = calloc(1, sizeof(*view));

    (void)state;
    assert_non_null(view);
    view->now_us = now_us;
    retrying.reason = "retry";
    retrying.due_us = now_us + SECOND;
    sleeping.reason = "sleep";
    other.reason = "retry";
    other.workflow = "b";
    top_note_failure(view, &retrying);
    top_note_failure(view, &later);
    top_note_failure(view, &failed);
    top_note_failure(view, &old);
    top_note_failure(view, &sleeping);
    top_note_failure(view, &other);
    top_order_failures(view);
    assert_int_equal(view->failure_count, 2);
    assert_string_equal(view->failures[0].workflow, "a");
    assert_int_equal(view->failures[0].failed, 2);
    assert_int_equal(view->failures[0].retrying, 1);
    assert_string_equal(view->failures[0].last_id, "2"); /* an end, and the last one */
    assert_true(view->failures[0].last_ended);
    assert_string_equal(view->failures[1].last_id, "6");
    assert_false(view->failures[1].last_ended);
    free(view);
}

static void
failures_of_more_workflows_than_fit_are_left_out(void **state)
{
    struct top_view *view = calloc(1, sizeof(*view));
    static char names[TOP_FAILURES_MAX + 5][16];

    (void)state;
    assert_non_null(view);
    view->now_us = now_us;
    for (size_t i = 0; i < TOP_FAILURES_MAX + 5; i++) {
        struct top_run run = run_of("1", "ERROR", 10, 0, 1);

        (void)snprintf(names[i], sizeof(names[i]), "w%zu", i);
        run.workflow = names[i];
        top_note_failure(view, &run);
    }
    assert_int_equal(view->failure_count, TOP_FAILURES_MAX);
    free(view);
}

static void
the_chosen_run_is_found_again(void **state)
{
    struct top_run before[] = {run_of("c", "RUNNING", 1, 0, -1), run_of("b", "RUNNING", 2, 0, -1),
        run_of("a", "RUNNING", 3, 0, -1)};
    struct top_run after[] = {run_of("d", "RUNNING", 0, 0, -1), run_of("c", "RUNNING", 1, 0, -1),
        run_of("b", "RUNNING", 2, 0, -1)};
    struct top_view view = {.runs = before, .run_count = 3};
    struct top_cursor cursor = {0};

    (void)state;
    top_cursor_follow(&cursor, &view);
    assert_string_equal(cursor.id, "c");
    top_cursor_move(&cursor, &view, 1);
    assert_string_equal(cursor.id, "b");
    view.runs = after;
    top_cursor_follow(&cursor, &view);
    assert_int_equal(cursor.index, 2);
    assert_string_equal(top_cursor_run(&cursor, &view)->id, "b");
    view.run_count = 2; /* it is gone: its place stays, as far as there is one */
    top_cursor_follow(&cursor, &view);
    assert_string_equal(cursor.id, "c");
    view.run_count = 0;
    top_cursor_follow(&cursor, &view);
    assert_string_equal(cursor.id, "");
    assert_null(top_cursor_run(&cursor, &view));
    top_cursor_move(&cursor, &view, 5);
    top_cursor_move(&cursor, &view, -5);
    assert_int_equal(cursor.index, 0);
}

static void
moving_ends_at_the_ends(void **state)
{
    struct top_run runs[] = {run_of("c", "RUNNING", 1, 0, -1), run_of("b", "RUNNING", 2, 0, -1),
        run_of("a", "RUNNING", 3, 0, -1)};
    struct top_view view = {.runs = runs, .run_count = 3};
    struct top_cursor cursor = {0};

    (void)state;
    top_cursor_follow(&cursor, &view);
    top_cursor_move(&cursor, &view, 100);
    assert_string_equal(cursor.id, "a");
    top_cursor_fit(&cursor, 2, 3);
    assert_int_equal(cursor.first, 1);
    top_cursor_move(&cursor, &view, -100);
    assert_string_equal(cursor.id, "c");
    top_cursor_fit(&cursor, 2, 3);
    assert_int_equal(cursor.first, 0);
    cursor.first = 2;
    cursor.index = 2;
    top_cursor_fit(&cursor, 5, 3); /* more rows than runs */
    assert_int_equal(cursor.first, 0);
    top_cursor_fit(&cursor, 0, 3);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_are_those_of_the_last_ten_seconds),
        cmocka_unit_test(rates_are_those_of_the_time_that_all_known_runs_span),
        cmocka_unit_test(rates_are_bounds_if_older_runs_live),
        cmocka_unit_test(what_needs_somebody_comes_first),
        cmocka_unit_test(failures_are_counted_by_workflow),
        cmocka_unit_test(failures_of_more_workflows_than_fit_are_left_out),
        cmocka_unit_test(the_chosen_run_is_found_again),
        cmocka_unit_test(moving_ends_at_the_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
