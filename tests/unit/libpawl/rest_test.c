/* SPDX-License-Identifier: Apache-2.0 */
/* When a worker that rests looks again, and what its writers do without connections; without a database. */
#include "libpawl/worker/worker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const int64_t now_us = 1000000000;

static int
set_up(void **state)
{
    pawl_config *config = pawl_config_new();
    pawl_worker *worker = NULL;

    if (config == NULL || pawl_worker_new(config, &worker, NULL) != PAWL_OK)
        return -1;
    pawl_config_free(config);
    worker->session.id = 1;
    worker->session.state = PW_SESSION_LIVE;
    *state = worker;
    return 0;
}

static int
tear_down(void **state)
{
    pawl_worker_free(*state);
    return 0;
}

/* The reply to a claim: no run. */
static void
claim_nothing(pawl_worker *worker, int64_t at_us)
{
    struct pw_reply reply = {.status = PAWL_OK, .tag = &worker->claimer.claim};

    worker->claimer.claim = (struct pw_request){.kind = PW_REQUEST_CLAIM, .session = 1};
    worker->claimer.most = 1;
    pw_claim_reply(worker, &reply, at_us);
}

/* 1. A claim finds nothing. 2. A run is triggered, and no worker rests that could be notified. So the mark comes first, then another claim. */
static void
a_worker_rests_before_it_claims_for_the_last_time(void **state)
{
    pawl_worker *worker = *state;

    claim_nothing(worker, now_us);
    assert_int_equal(worker->claimer.idle, PW_LOOKING);
    assert_true(worker->claimer.rest.due);
    assert_int_equal(worker->claimer.at_us, now_us);
    worker->claimer.rest.due = false;
    pw_rest_begin(worker, false, now_us);
    claim_nothing(worker, now_us);
    assert_int_equal(worker->claimer.idle, PW_IDLE);
    assert_false(worker->claimer.rest.due);
}

/* 1. It rests, and begins to listen. 2. It listens while a claim is in flight, so it claims again; that is no reason to rest again. */
static void
a_worker_that_claims_once_more_rests_once(void **state)
{
    pawl_worker *worker = *state;

    worker->claimer.idle = PW_LOOKING;
    pw_rest_begin(worker, false, now_us);
    worker->claimer.again = true;
    claim_nothing(worker, now_us);
    assert_int_equal(worker->claimer.at_us, now_us);
    worker->claimer.again = false;
    claim_nothing(worker, now_us);
    assert_int_equal(worker->claimer.idle, PW_IDLE);
    assert_false(worker->claimer.rest.due);
}

static void
a_worker_looks_four_times_and_then_polls(void **state)
{
    static const int64_t after_us[] = {3000, 10000, 40000, 150000};
    pawl_worker *worker = *state;
    int64_t poll_us;

    worker->claimer.idle = PW_IDLE;
    pw_rest_begin(worker, false, now_us);
    for (size_t i = 0; i < sizeof(after_us) / sizeof(after_us[0]); i++) {
        claim_nothing(worker, now_us);
        assert_int_equal(worker->claimer.at_us, now_us + after_us[i]);
        /* The claim of this look is sent a little later. */
        pw_rest_look(worker, &worker->writers[0], NULL, now_us + after_us[i] + 100);
    }
    claim_nothing(worker, now_us + 200000);
    poll_us = (int64_t)worker->settings.poll_ms * 1000;
    assert_true(worker->claimer.at_us >= now_us + 200000 + poll_us);
    assert_true(worker->claimer.at_us <= now_us + 200000 + poll_us * 12 / 10);
    /* A claim that was late has done the looks that it missed. */
    pw_rest_begin(worker, false, now_us);
    pw_rest_look(worker, &worker->writers[0], NULL, now_us + 50000);
    assert_int_equal(pw_rest_look_us(worker), now_us + 150000);
}

/* The first writer commits on the session's connection. */
static void
borrow(pawl_worker *worker, struct pw_item *item)
{
    for (size_t i = 0; i < worker->writer_count; i++)
        worker->writers[i].resting = true;
    worker->writers[0].batch.items[0] = item;
    worker->writers[0].batch.count = 1;
    worker->writers[0].commit =
        (struct pw_request){.kind = PW_REQUEST_COMMIT, .session = 1, .sent = true};
}

static void
what_was_sent_on_a_borrowed_connection_that_breaks_is_sent_again(void **state)
{
    pawl_worker *worker = *state;
    struct pw_item item = {0};

    borrow(worker, &item);
    assert_true(pw_writer_borrows(worker));
    assert_true(pw_writer_borrowed_late(worker, now_us));
    worker->writers[0].commit.deadline_us = INT64_MAX;
    assert_false(pw_writer_borrowed_late(worker, now_us));
    pw_writer_borrowed_broken(worker);
    assert_false(pw_writer_borrows(worker));
    assert_int_equal(worker->writers[0].batch.count, 1);
    assert_true(worker->writers[0].batch.one_by_one);
    worker->writers[0].batch.count = 0;
}

/* Its reply would be applied to nothing, and the batch committed twice. */
static void
a_batch_on_a_borrowed_connection_stays_with_its_writer(void **state)
{
    pawl_worker *worker = *state;
    struct pw_item item = {0};

    borrow(worker, &item);
    worker->writers[1].resting = false;
    worker->writers[1].is_up = true;
    pw_writer_rescue(worker, &worker->writers[0], now_us);
    assert_int_equal(worker->writers[0].batch.count, 1);
    assert_int_equal(worker->writers[1].batch.count, 0);
    worker->writers[0].batch.count = 0;
    worker->writers[1].is_up = false;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(a_worker_rests_before_it_claims_for_the_last_time),
        TEST(a_worker_that_claims_once_more_rests_once),
        TEST(a_worker_looks_four_times_and_then_polls),
        TEST(what_was_sent_on_a_borrowed_connection_that_breaks_is_sent_again),
        TEST(a_batch_on_a_borrowed_connection_stays_with_its_writer),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
