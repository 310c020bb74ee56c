/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time for tests: a database whose clock the test moves, so that a workflow which sleeps for three
 * days is tested in milliseconds. Needs the test clock in a temporary database: sql/test/clock.sql,
 * installed as pawl/test/clock.sql.
 */
#ifndef PAWL_TEST_H
#define PAWL_TEST_H

#include <pawl/client.h>
#include <pawl/worker.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Moves the database's clock forward. Returns PAWL_ESCHEMA if it is not a test clock. */
PAWL_API PAWL_MUST_USE pawl_status pawl_test_advance(
    pawl_client *client, int64_t by_ms, pawl_error **error);

/*
 * Executes runs on the calling thread with the worker's handlers until none can continue. Then all
 * runs have ended, or wait for time, an event, a signal or a person. The worker must have been
 * started, and pawl_worker_run() must not use it.
 *
 * Returns PAWL_ETIMEOUT after timeout_ms of real time (-1: no timeout).
 * Returns PAWL_DRAINED if the worker was drained or stopped.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_test_run_until_idle(
    pawl_worker *worker, int64_t timeout_ms, pawl_error **error);

/*
 * Returns 1 if no run can continue now, for programs that call pawl_worker_next() themselves: all runs
 * have ended, or wait for time, an event, a signal or a person. Returns 0 if that is not known yet, and
 * makes the worker look for runs.
 *
 * Call it when pawl_worker_next() has returned PAWL_ETIMEOUT, a few milliseconds apart, until it returns
 * 1. Then it starts again, so it may be used after pawl_test_advance(). Never blocks. One thread at a
 * time.
 *
 * Tests: tests/integration/time:a_loop_of_its_own_knows_when_nothing_can_continue
 */
PAWL_API PAWL_MUST_USE int pawl_test_idle(pawl_worker *worker);

#ifdef __cplusplus
}
#endif

#endif
