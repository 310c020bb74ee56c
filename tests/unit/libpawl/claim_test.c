/* SPDX-License-Identifier: Apache-2.0 */
/* How much a worker asks for after a claim that was too large, without a database. */
#include "libpawl/worker/worker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const int64_t now_us = 1000000000;

static void
a_claim_that_gave_nothing_is_no_reason_to_ask_for_more(void **state)
{
    pawl_config *config = pawl_config_new();
    pawl_worker *worker = NULL;
    struct pw_reply reply = {.status = PAWL_OK};

    (void)state;
    assert_int_equal(pawl_worker_new(config, &worker, NULL), PAWL_OK);
    worker->session.id = 1;
    worker->session.state = PW_SESSION_LIVE;
    worker->claimer.claim = (struct pw_request){.kind = PW_REQUEST_CLAIM, .session = 1};
    worker->claimer.most = 200;
    worker->claimer.pending = true;
    /* Its reply is lost, and lost again: the third time it asks for less. */
    for (int i = 0; i < 3; i++) {
        assert_true(worker->claimer.pending);
        worker->claimer.claim.sent = true;
        worker->claimer.writer = &worker->writers[0];
        pw_claim_broken(worker, &worker->writers[0], now_us);
    }
    assert_false(worker->claimer.pending);
    assert_int_equal(worker->claimer.cap, 100);
    assert_true(worker->claimer.held_at_us <= now_us);
    reply.tag = &worker->claimer.claim;
    pw_claim_reply(worker, &reply, now_us);
    assert_int_equal(worker->claimer.cap, 100);
    pawl_worker_free(worker);
    pawl_config_free(config);
}

/* Runs that finish after the same batch follow each other closely: one claim for all of them is cheaper than one for the first. */
static void
a_worker_without_a_place_waits_for_several(void **state)
{
    pawl_config *config = pawl_config_new();
    pawl_worker *worker = NULL;

    (void)state;
    assert_int_equal(pawl_config_set(config, "concurrency", "80", NULL), PAWL_OK);
    assert_int_equal(pawl_worker_new(config, &worker, NULL), PAWL_OK);
    worker->session.id = 1;
    worker->session.state = PW_SESSION_LIVE;
    for (int i = 0; i < 80; i++)
        pw_inbox_count_task(&worker->inbox);
    pw_claim_turn(worker, now_us);
    assert_true(worker->claimer.no_place);
    assert_int_equal(pw_claim_worth(worker), 10);
    /* For a while. There is no connection on which it could claim. */
    worker->inbox.active -= 3;
    pw_claim_turn(worker, now_us);
    assert_false(worker->claimer.no_place || worker->claimer.no_writer);
    assert_int_equal(pw_claim_next_us(worker), now_us + worker->settings.batch_window_us);
    assert_int_equal(pw_claim_worth(worker), 7);
    pw_claim_turn(worker, pw_claim_next_us(worker));
    assert_true(worker->claimer.no_writer);
    /* As many as are enough need not wait; with few places in all, one is enough. */
    worker->claimer.place_since_us = INT64_MAX;
    worker->inbox.active -= 7;
    pw_claim_turn(worker, now_us);
    assert_true(worker->claimer.no_writer);
    worker->width.now = 15;
    assert_int_equal(pw_claim_worth(worker), SIZE_MAX);
    worker->claimer.no_place = true;
    worker->claimer.places = 0;
    assert_int_equal(pw_claim_worth(worker), 1);
    pawl_worker_free(worker);
    pawl_config_free(config);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_worker_without_a_place_waits_for_several),
        cmocka_unit_test(a_claim_that_gave_nothing_is_no_reason_to_ask_for_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
