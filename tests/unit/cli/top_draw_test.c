/* SPDX-License-Identifier: Apache-2.0 */
/* The frame of pawl top at every size: nothing is drawn outside, and nothing that is needed is missing. */
#include "cli/top/top_draw.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static char *
text_of(const struct canvas *canvas)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    canvas_print(canvas, out);
    assert_int_equal(fclose(out), 0);
    return text;
}

/* Much of everything. */
static void
fill(struct top_view *view, struct top_queue *queues, struct top_worker *workers,
    struct top_run *runs, size_t count)
{
    *view = (struct top_view){.now_us = INT64_C(1700000000000000),
        .queues = queues,
        .queue_count = count,
        .workers = workers,
        .worker_count = count,
        .runs = runs,
        .run_count = count,
        .rates = {.triggered = 123456, .started = 0.5, .least = true, .window_us = 1000},
        .hour = {.succeeded = 123456789,
            .failed = 1,
            .took_s = 1e6,
            .counted_us = INT64_C(1700000000000000)}};
    for (size_t i = 0; i < count; i++) {
        queues[i] = (struct top_queue){.name = "a.very.long.name.of.a.queue.that.does.not.fit.v1",
            .ready_shown = "10k+",
            .ready = 10001,
            .held = 9999999,
            .oldest_us = INT64_C(100000000000000),
            .paused = i == 1};
        workers[i] = (struct top_worker){.name = "a-worker-with-a-long-name:1234567",
            .state = i == 0 ? "lost" : "draining",
            .held = 100000,
            .lease_us = i == 0 ? -INT64_C(100000000000) : 1,
            .step = "a step",
            .steps = 3};
        runs[i] = (struct top_run){.id = "01a1e111-4bda-7490-87ab-cb4118b5fd7f",
            .workflow = "workflow",
            .status = i % 2 == 0 ? "CANCELLED" : "PAUSED",
            .reason = "retry",
            .key = "key",
            .worker = "worker",
            .triggered_us = 0,
            .started_us = -1,
            .ended_us = i % 2 == 0 ? 1 : -1,
            .due_us = view->now_us + 5000000};
        if (i < TOP_FAILURES_MAX) {
            view->failures[i] = (struct top_failure){
                .workflow = "workflow", .failed = 2, .last_ended = true, .text = "no paper"};
            view->failure_count = i + 1;
        }
    }
}

static void
everything_is_drawn_at_every_size(void **state)
{
    static const size_t counts[] = {0, 1, 3, 60};
    struct top_view *view = calloc(1, sizeof(*view));
    struct top_queue queues[60];
    struct top_worker workers[60];
    struct top_run runs[60];

    (void)state;
    assert_non_null(view);
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        fill(view, queues, workers, runs, counts[i]);
        for (size_t width = 1; width < 260; width += 3)
            for (size_t height = 1; height < 70; height += 3) {
                struct canvas canvas = {0};
                struct top_face face = {.every_us = 2000000};
                char *text;

                assert_true(canvas_resize(&canvas, width, height));
                top_cursor_follow(&face.cursor, view);
                top_draw(&canvas, view, &face);
                text = text_of(&canvas);
                if (width >= 60 && height >= 16) {
                    assert_non_null(strstr(text, "RUNS"));
                    assert_non_null(strstr(text, "QUEUE"));
                    assert_non_null(strstr(text, "q quit"));
                    assert_true(face.run_rows > 0);
                } else if (width >= 40) {
                    assert_non_null(strstr(text, "60 columns and 16 lines"));
                }
                free(text);
                canvas_done(&canvas);
            }
    }
    free(view);
}

static void
what_does_not_fit_is_counted(void **state)
{
    struct top_view *view = calloc(1, sizeof(*view));
    struct top_queue queues[60];
    struct top_worker workers[60];
    struct top_run runs[60];
    struct canvas canvas = {0};
    struct top_face face = {.every_us = 2000000, .plain = true};
    char *text;

    (void)state;
    assert_non_null(view);
    fill(view, queues, workers, runs, 60);
    assert_true(canvas_resize(&canvas, 80, 24));
    top_draw(&canvas, view, &face);
    text = text_of(&canvas);
    assert_non_null(strstr(text, "and 57 more"));
    assert_non_null(strstr(text, "and 38 more")); /* failures */
    assert_non_null(strstr(text, "triggered   123k"));
    assert_non_null(strstr(text, "succeeded   123M"));
    assert_null(strstr(text, "q quit"));
    free(text);
    canvas_done(&canvas);
    free(view);
}

static void
counts_that_stand_still_say_since_when(void **state)
{
    struct top_view *view = calloc(1, sizeof(*view));
    struct canvas canvas = {0};
    struct top_face face = {.every_us = 2000000};
    char *text;

    (void)state;
    assert_non_null(view);
    fill(view, NULL, NULL, NULL, 0);
    assert_true(canvas_resize(&canvas, 80, 24));
    top_draw(&canvas, view, &face);
    text = text_of(&canvas);
    assert_non_null(strstr(text, "took"));
    assert_null(strstr(text, "counted"));
    free(text);
    view->hour.counted_us -= INT64_C(24) * 60 * 1000000;
    top_draw(&canvas, view, &face);
    text = text_of(&canvas);
    assert_non_null(strstr(text, "counted 24m ago"));
    free(text);
    canvas_done(&canvas);
    free(view);
}

static void
help_and_titles_fit_eighty_columns(void **state)
{
    struct top_view *view = calloc(1, sizeof(*view));
    struct canvas canvas = {0};
    struct top_face face = {.every_us = 2000000, .paused = true, .question = "Cancel? y/n"};
    char *text;

    (void)state;
    assert_non_null(view);
    assert_true(canvas_resize(&canvas, 80, 24));
    top_draw_title(&canvas, view, &face, "top");
    top_draw_help(&canvas);
    top_draw_foot(&canvas, &face, "keys");
    text = text_of(&canvas);
    assert_null(strstr(text, "…"));
    assert_non_null(strstr(text, "paused"));
    assert_non_null(strstr(text, "Cancel? y/n"));
    free(text);
    (void)snprintf(face.trouble, sizeof(face.trouble),
        "no connection to the database for 59m59s; trying again");
    assert_true(canvas_resize(&canvas, 80, 24));
    top_draw_title(&canvas, view, &face, "top: run");
    text = text_of(&canvas);
    assert_non_null(strstr(text, face.trouble));
    free(text);
    canvas_done(&canvas);
    free(view);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_drawn_at_every_size),
        cmocka_unit_test(what_does_not_fit_is_counted),
        cmocka_unit_test(counts_that_stand_still_say_since_when),
        cmocka_unit_test(help_and_titles_fit_eighty_columns),
    };

    (void)setlocale(LC_CTYPE, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
