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

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_claim_that_gave_nothing_is_no_reason_to_ask_for_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
