/* SPDX-License-Identifier: Apache-2.0 */
/* Notices: a program with an event loop of its own learns that a run must stop, without asking. */
#include "scene.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static bool
is_readable(int fd, int timeout_ms)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};

    return poll(&ready, 1, timeout_ms) == 1 && (ready.revents & POLLIN) != 0;
}

/* Starts a worker of this workflow that asks for notices, triggers a run and takes it. Returns the descriptor. */
static int
begin(struct scene *scene, const char *workflow, pawl_run **run)
{
    pawl_error *error = NULL;
    int reason = 0;
    int fd;

    scene_handle(scene, workflow, NULL, NULL);
    assert_int_equal(pawl_worker_notice(scene->worker, run, &reason), PAWL_EINVAL);
    scene_start(scene);
    fd = pawl_worker_fd(scene->worker);
    assert_int_equal(pawl_worker_notice(scene->worker, run, &reason), PAWL_ETIMEOUT);
    scene_trigger(scene, workflow, "{}");
    assert_int_equal(pawl_worker_next(scene->worker, scene_patience_ms, run, &error), PAWL_OK);
    pawl_run_set_nonblocking(*run);
    assert_false(is_readable(fd, 0));
    return fd;
}

/* Lets the workers send a heartbeat now and then, until the descriptor is readable. */
static void
until_readable(struct scene *scene, int fd)
{
    int64_t deadline_ms = scene_now_ms() + scene_patience_ms;

    while (!is_readable(fd, 100)) {
        assert_true(scene_now_ms() < deadline_ms);
        scene_do(scene,
            "select pg_notify('pawl_' || w.session_id, 'drain') from pawl_data.worker w where "
            "w.ended_at is null",
            NULL);
    }
}

/* The next notice is this one, and there is no other. */
static void
expect_one(struct scene *scene, int fd, pawl_run *wanted, int reason)
{
    pawl_run *run = NULL;
    int found = 0;

    assert_int_equal(pawl_worker_notice(scene->worker, &run, &found), PAWL_OK);
    assert_ptr_equal(run, wanted);
    assert_int_equal(found, reason);
    assert_int_equal(pawl_worker_notice(scene->worker, &run, &found), PAWL_ETIMEOUT);
    assert_false(is_readable(fd, 0));
}

static void
cancel(struct scene *scene)
{
    pawl_error *error = NULL;

    assert_int_equal(
        pawl_client_cancel(scene->client, scene->run_id, "enough", 0, &error), PAWL_OK);
}

static void
a_cancelled_run_is_reported_once_through_the_descriptor(void **state)
{
    struct scene *scene = *state;
    pawl_run *run = NULL;
    int fd = begin(scene, "notices.cancel", &run);

    assert_int_equal(pawl_step_begin(run, "long", NULL), PAWL_EXECUTE);
    assert_false(is_readable(fd, 0));
    cancel(scene);
    until_readable(scene, fd);
    assert_int_equal(pawl_run_check(run), PAWL_ECANCELLED);
    expect_one(scene, fd, run, PAWL_NOTICE_CANCELLED);
    assert_int_equal(
        pawl_step_finish(run, PAWL_ECANCELLED, (pawl_bytes){0}, NULL), PAWL_ECANCELLED);
    pawl_run_finish(run, PAWL_ECANCELLED, (pawl_bytes){0});
    (void)scene_wait(scene, scene->run_id, PAWL_ECANCELLED);
}

static void
a_lost_run_is_reported_and_a_cancelled_one_can_be_lost_later(void **state)
{
    struct scene *scene = *state;
    pawl_run *run = NULL;
    int fd = begin(scene, "notices.lost", &run);

    cancel(scene);
    until_readable(scene, fd);
    expect_one(scene, fd, run, PAWL_NOTICE_CANCELLED);
    scene_do(scene, "select pawl.raise_epoch('a test')", NULL);
    until_readable(scene, fd);
    assert_int_equal(pawl_run_check(run), PAWL_ELEASE_LOST);
    expect_one(scene, fd, run, PAWL_NOTICE_LEASE_LOST);
    pawl_run_finish(run, PAWL_ELEASE_LOST, (pawl_bytes){0});
}

static void
a_step_that_exceeds_its_limit_is_reported_on_its_own_handle(void **state)
{
    struct scene *scene = *state;
    pawl_run *run = NULL, *other = NULL, *found = NULL;
    int reason = 0;
    int fd = begin(scene, "notices.step", &run);

    assert_int_equal(pawl_run_branch(run, "side", &other), PAWL_OK);
    pawl_run_set_option(other, "timeout_ms", "50");
    assert_int_equal(pawl_step_begin(other, "long", NULL), PAWL_EXECUTE);
    pawl_run_set_option(run, "timeout_ms", "3600000");
    assert_int_equal(pawl_step_begin(run, "short", NULL), PAWL_EXECUTE);
    assert_true(is_readable(fd, scene_patience_ms));
    assert_int_equal(pawl_run_check(other), PAWL_ETIMEOUT);
    assert_int_equal(pawl_run_check(run), PAWL_OK);
    expect_one(scene, fd, other, PAWL_NOTICE_STEP_TIMEOUT);
    assert_int_equal(pawl_step_finish(other, PAWL_EPERMANENT, (pawl_bytes){0}, NULL), PAWL_PENDING);
    assert_true(is_readable(fd, scene_patience_ms));
    assert_int_equal(pawl_worker_next(scene->worker, 0, &found, NULL), PAWL_OK);
    assert_int_equal(pawl_step_finish(other, PAWL_EPERMANENT, (pawl_bytes){0}, NULL), PAWL_EFAILED);
    /* The next step of the same branch has a limit of its own, and its end drops a notice that was not fetched. */
    pawl_run_set_option(other, "timeout_ms", "50");
    assert_int_equal(pawl_step_begin(other, "longer", NULL), PAWL_EXECUTE);
    assert_true(is_readable(fd, scene_patience_ms));
    assert_int_equal(pawl_step_finish(other, PAWL_EPERMANENT, (pawl_bytes){0}, NULL), PAWL_PENDING);
    assert_int_equal(pawl_worker_notice(scene->worker, &found, &reason), PAWL_ETIMEOUT);
    assert_int_equal(pawl_worker_next(scene->worker, scene_patience_ms, &found, NULL), PAWL_OK);
    assert_ptr_equal(found, other);
    assert_int_equal(pawl_step_finish(other, PAWL_EPERMANENT, (pawl_bytes){0}, NULL), PAWL_EFAILED);
    /* The end of the run drops what is left. */
    pawl_run_set_option(other, "timeout_ms", "50");
    assert_int_equal(pawl_step_begin(other, "longest", NULL), PAWL_EXECUTE);
    assert_true(is_readable(fd, scene_patience_ms));
    pawl_run_finish(run, PAWL_EPERMANENT, (pawl_bytes){0});
    assert_int_equal(pawl_worker_notice(scene->worker, &found, &reason), PAWL_ETIMEOUT);
    assert_false(is_readable(fd, 0));
    (void)scene_wait(scene, scene->run_id, PAWL_ERUN);
}

static void
a_run_that_exceeds_its_limit_is_reported(void **state)
{
    struct scene *scene = *state;
    pawl_run *run = NULL, *found = NULL;
    int64_t deadline_ms;
    int reason = 0;

    scene_do(scene,
        "select pawl.create_workflow('notices.late', run_timeout => '3 s', max_attempts => 1)",
        NULL);
    scene_handle(scene, "notices.late", NULL, NULL);
    scene_start(scene);
    scene_trigger(scene, "notices.late", "{}");
    assert_int_equal(pawl_worker_next(scene->worker, scene_patience_ms, &run, NULL), PAWL_OK);
    deadline_ms = scene_now_ms() + scene_patience_ms;
    while (pawl_worker_notice(scene->worker, &found, &reason) != PAWL_OK) {
        assert_true(scene_now_ms() < deadline_ms);
        scene_breathe();
    }
    assert_ptr_equal(found, run);
    /* A heartbeat can report the end that housekeeping has begun, but only later. */
    assert_int_equal(reason, PAWL_NOTICE_RUN_TIMEOUT);
    pawl_run_finish(run, PAWL_ETIMEOUT, (pawl_bytes){0});
    (void)scene_wait(scene, scene->run_id, PAWL_ERUN);
}

/* The first call comes late: what happened before is reported, and the descriptor was silent until then. */
static void
a_program_that_never_asks_is_not_woken_and_one_that_asks_late_misses_nothing(void **state)
{
    struct scene *scene = *state;
    pawl_error *error = NULL;
    pawl_run *run = NULL, *found = NULL;
    int reason = 0;
    int fd;

    scene_handle(scene, "notices.quiet", NULL, NULL);
    scene_start(scene);
    fd = pawl_worker_fd(scene->worker);
    scene_trigger(scene, "notices.quiet", "{}");
    assert_int_equal(pawl_worker_next(scene->worker, scene_patience_ms, &run, &error), PAWL_OK);
    pawl_run_set_nonblocking(run);
    pawl_run_set_option(run, "timeout_ms", "50");
    assert_int_equal(pawl_step_begin(run, "long", NULL), PAWL_EXECUTE);
    cancel(scene);
    while (pawl_run_check(run) != PAWL_ECANCELLED) {
        assert_false(is_readable(fd, 100));
        scene_do(scene,
            "select pg_notify('pawl_' || w.session_id, 'drain') from pawl_data.worker w where "
            "w.ended_at is null",
            NULL);
    }
    assert_int_equal(pawl_worker_notice(scene->worker, &found, &reason), PAWL_OK);
    assert_ptr_equal(found, run);
    assert_int_equal(reason, PAWL_NOTICE_CANCELLED);
    assert_true(is_readable(fd, scene_patience_ms));
    expect_one(scene, fd, run, PAWL_NOTICE_STEP_TIMEOUT);
    assert_int_equal(
        pawl_step_finish(run, PAWL_ECANCELLED, (pawl_bytes){0}, NULL), PAWL_ECANCELLED);
    pawl_run_finish(run, PAWL_ECANCELLED, (pawl_bytes){0});
}

static void
a_run_is_reported_only_after_next_has_returned_it(void **state)
{
    struct scene *scene = *state;
    pawl_run *first = NULL, *run = NULL;
    int reason = 0;
    int fd;

    scene_set(scene, "start_timeout", "0");
    fd = begin(scene, "notices.new", &first);

    scene_trigger(scene, "notices.new", "{}");
    assert_true(is_readable(fd, scene_patience_ms));
    cancel(scene);
    /* The first run is cancelled after the second one: its notice shows that both are known. */
    scene_do(scene, "select pawl.cancel(array[$1::uuid])", pawl_run_id(first));
    while (pawl_worker_notice(scene->worker, &run, &reason) != PAWL_OK) {
        scene_do(scene,
            "select pg_notify('pawl_' || w.session_id, 'drain') from pawl_data.worker w where "
            "w.ended_at is null",
            NULL);
        scene_breathe();
    }
    assert_ptr_equal(run, first);
    assert_int_equal(pawl_worker_notice(scene->worker, &run, &reason), PAWL_ETIMEOUT);
    assert_int_equal(pawl_worker_next(scene->worker, 0, &run, NULL), PAWL_OK);
    expect_one(scene, fd, run, PAWL_NOTICE_CANCELLED);
    pawl_run_finish(first, PAWL_ECANCELLED, (pawl_bytes){0});
    pawl_run_finish(run, PAWL_ECANCELLED, (pawl_bytes){0});
    (void)scene_wait(scene, scene->run_id, PAWL_ECANCELLED);
}

static void
a_stopped_worker_reports_the_runs_that_it_has_released(void **state)
{
    struct scene *scene = *state;
    pawl_error *error = NULL;
    pawl_run *run = NULL, *found = NULL;
    int reason = 0;
    int fd = begin(scene, "notices.stop", &run);

    assert_int_equal(pawl_worker_stop(scene->worker, 0, &error), PAWL_ETIMEOUT);
    pawl_error_free(error);
    assert_true(is_readable(fd, 0));
    assert_int_equal(pawl_worker_notice(scene->worker, &found, &reason), PAWL_OK);
    assert_ptr_equal(found, run);
    assert_int_equal(reason, PAWL_NOTICE_LEASE_LOST);
    assert_int_equal(pawl_worker_notice(scene->worker, &found, &reason), PAWL_ETIMEOUT);
    pawl_run_finish(run, PAWL_ELEASE_LOST, (pawl_bytes){0});
    assert_int_equal(pawl_worker_notice(scene->worker, &found, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_worker_notice(scene->worker, NULL, &reason), PAWL_EINVAL);
    assert_int_equal(pawl_worker_notice(NULL, &found, &reason), PAWL_EINVAL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_set_up, scene_tear_down)
        TEST(a_cancelled_run_is_reported_once_through_the_descriptor),
        TEST(a_step_that_exceeds_its_limit_is_reported_on_its_own_handle),
        TEST(a_run_that_exceeds_its_limit_is_reported),
        TEST(a_program_that_never_asks_is_not_woken_and_one_that_asks_late_misses_nothing),
        TEST(a_run_is_reported_only_after_next_has_returned_it),
        TEST(a_stopped_worker_reports_the_runs_that_it_has_released),
        TEST(a_lost_run_is_reported_and_a_cancelled_one_can_be_lost_later),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
