/* SPDX-License-Identifier: Apache-2.0 */
/* How many runs a worker has in flight whose setting is auto: what makes it more, and what less. */
#include "libpawl/worker/worker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const int64_t second_us = 1000000;

static struct pw_width
new_width(int64_t concurrency)
{
    struct pw_settings settings = {.concurrency = concurrency};
    struct pw_width width;

    pw_width_init(&width, &settings);
    return width;
}

static void
a_number_is_the_width(void **state)
{
    struct pw_width width = new_width(7);
    struct pw_settings settings = {.concurrency = 7};

    (void)state;
    assert_int_equal(width.now, 7);
    assert_int_equal(pw_width_most(&settings), 7);
    settings.concurrency = 0;
    assert_int_equal(pw_width_most(&settings), PW_WIDTH_MOST);
}

static void
a_worker_whose_handlers_wait_for_records_grows(void **state)
{
    struct pw_width width = new_width(0);
    struct pw_width_seen seen = {.us = second_us / 10, .busy_us = second_us / 10, .ended = 1000};
    size_t was;

    (void)state;
    assert_int_equal(width.now, PW_WIDTH_BASE);
    do {
        was = width.now;
        width.full = true;
        assert_true(pw_width_decide(&width, &seen));
        assert_true(width.now > was);
    } while (width.now < PW_WIDTH_MOST);
    assert_true(pw_width_decide(&width, &seen));
    assert_int_equal(width.now, PW_WIDTH_MOST);
    /* Without a lack of places there is no need. */
    width = new_width(0);
    assert_true(pw_width_decide(&width, &seen));
    assert_int_equal(width.now, PW_WIDTH_BASE);
}

static void
a_worker_whose_handlers_execute_for_long_does_not(void **state)
{
    struct pw_width width = new_width(0);
    const struct pw_width_seen unfit[] = {
        /* Half of them executed all the time. */
        {.us = second_us, .busy_us = PW_WIDTH_BASE / 2 * second_us, .ended = 1000},
        /* So many execute a step that has not ended. */
        {.us = second_us, .ended = 1000, .slow = PW_WIDTH_BASE / 2},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(unfit) / sizeof(unfit[0]); i++) {
        width.full = true;
        assert_true(pw_width_decide(&width, &unfit[i]));
        assert_int_equal(width.now, PW_WIDTH_BASE);
    }
}

/* The first steps may be short, and the last one long. */
static void
whole_runs_must_have_been_seen(void **state)
{
    struct pw_width width = new_width(0);
    struct pw_width_seen seen = {.us = second_us / 10, .ended = PW_WIDTH_BASE - 1};

    (void)state;
    width.full = true;
    assert_false(pw_width_decide(&width, &seen));
    seen.us = second_us;
    assert_true(pw_width_decide(&width, &seen));
    assert_int_equal(width.now, PW_WIDTH_BASE);
}

static void
a_worker_whose_handlers_begin_to_block_shrinks(void **state)
{
    struct pw_width width = new_width(0);
    const struct pw_width_seen busy = {.us = second_us, .busy_us = 17 * second_us};
    const struct pw_width_seen slow = {.us = second_us, .slow = PW_WIDTH_BASE + 1};

    (void)state;
    width.now = 4 * PW_WIDTH_BASE;
    assert_true(pw_width_decide(&width, &busy));
    assert_int_equal(width.now, 2 * PW_WIDTH_BASE);
    assert_true(pw_width_decide(&width, &slow));
    assert_int_equal(width.now, PW_WIDTH_BASE);
    assert_true(pw_width_decide(&width, &slow));
    assert_int_equal(width.now, PW_WIDTH_BASE);
}

/* A turn of the I/O thread may follow another within microseconds, and a look locks every run. */
static void
runs_are_looked_at_now_and_then(void **state)
{
    static const int64_t start_us = 1000000000;
    pawl_config *config = pawl_config_new();
    pawl_worker *worker = NULL;

    (void)state;
    assert_int_equal(pawl_worker_new(config, &worker, NULL), PAWL_OK);
    /* Two runs ended, fewer than are in flight, so that the period goes on. */
    worker->width.since_us = start_us;
    worker->inbox.ended = 2;
    pw_width_turn(worker, start_us + 20000);
    assert_int_equal(worker->width.looked_us, start_us + 20000);
    pw_width_turn(worker, start_us + 39999);
    assert_int_equal(worker->width.looked_us, start_us + 20000);
    pw_width_turn(worker, start_us + 40000);
    assert_int_equal(worker->width.looked_us, start_us + 40000);
    assert_int_equal(worker->width.since_us, start_us);
    pawl_worker_free(worker);
    pawl_config_free(config);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_is_the_width),
        cmocka_unit_test(a_worker_whose_handlers_wait_for_records_grows),
        cmocka_unit_test(a_worker_whose_handlers_execute_for_long_does_not),
        cmocka_unit_test(whole_runs_must_have_been_seen),
        cmocka_unit_test(a_worker_whose_handlers_begin_to_block_shrinks),
        cmocka_unit_test(runs_are_looked_at_now_and_then),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
