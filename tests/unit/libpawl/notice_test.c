/* SPDX-License-Identifier: Apache-2.0 */
/* The inbox without its thread: notices, and the descriptor that tells of them. */
#include "base/alloc.h"
#include "base/time.h"
#include "libpawl/worker/worker.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* No post wakes the I/O thread. */
static const struct pw_worth worth_all = {.posts = SIZE_MAX, .ends = SIZE_MAX};

struct scene {
    pawl_worker *worker;
    struct pw_inbox *inbox;
    struct pw_task *tasks[2];
    int fd;
};

static struct pw_task *
new_task(pawl_worker *worker, uint8_t number)
{
    struct pw_task *task = pw_calloc(1, sizeof(*task));

    assert_non_null(task);
    task->worker = worker;
    task->id.bytes[0] = number;
    task->run_deadline_us = INT64_MAX;
    task->step_timeout_ms = -1;
    pw_arena_init(&task->arena, 1000000);
    pw_list_init(&task->link);
    pw_list_init(&task->parked_link);
    pw_list_init(&task->items);
    pw_list_init(&task->last.link);
    task->last.task = task;
    task->run = pw_run_new(task);
    assert_non_null(task->run);
    return task;
}

static int
set_up(void **state)
{
    struct scene *scene = pw_calloc(1, sizeof(*scene));

    if (scene == NULL || pawl_worker_new(NULL, &scene->worker, NULL) != PAWL_OK)
        return -1;
    scene->inbox = &scene->worker->inbox;
    pw_inbox_start(scene->inbox);
    pw_inbox_set_lease(scene->inbox, INT64_MAX);
    scene->fd = pw_inbox_fd(scene->inbox);
    for (uint8_t i = 0; i < 2; i++)
        scene->tasks[i] = new_task(scene->worker, i);
    *state = scene;
    return 0;
}

static int
tear_down(void **state)
{
    struct scene *scene = *state;

    for (int i = 0; i < 2; i++) {
        pw_run_free(scene->tasks[i]->run);
        pw_arena_done(&scene->tasks[i]->arena);
        pw_free(scene->tasks[i]);
    }
    scene->inbox->started = false; /* there is no thread */
    pawl_worker_free(scene->worker);
    pw_free(scene);
    return 0;
}

static bool
is_readable(const struct scene *scene)
{
    struct pollfd ready = {.fd = scene->fd, .events = POLLIN};

    return poll(&ready, 1, 0) == 1;
}

static void
offer(struct pw_inbox *inbox, struct pw_task *task)
{
    struct pw_list tasks;

    pw_list_init(&tasks);
    task->offered_us = pw_now_us();
    pw_list_add_tail(&tasks, &task->link);
    pw_inbox_add_tasks(inbox, &tasks);
}

/* Claims a task and hands it out. */
static pawl_run *
hand_out(struct scene *scene, int number)
{
    pawl_run *run = NULL;

    offer(scene->inbox, scene->tasks[number]);
    assert_int_equal(pw_inbox_next(scene->inbox, 0, true, &run), PAWL_OK);
    assert_ptr_equal(run, scene->tasks[number]->run);
    return run;
}

static void
expect_notice(struct scene *scene, const pawl_run *wanted, int reason)
{
    pawl_run *run = NULL;
    int found = 0;

    assert_int_equal(
        pawl_worker_notice(scene->worker, &run, &found), wanted == NULL ? PAWL_ETIMEOUT : PAWL_OK);
    assert_ptr_equal(run, wanted);
    assert_int_equal(found, reason);
}

static void
a_reason_is_reported_once_and_the_descriptor_with_it(void **state)
{
    struct scene *scene = *state;
    pawl_run *run = hand_out(scene, 0);

    pw_task_tell(scene->tasks[0], PW_CANCELLED);
    assert_false(is_readable(scene)); /* not wanted yet */
    expect_notice(scene, run, PAWL_NOTICE_CANCELLED);
    expect_notice(scene, NULL, 0);
    assert_false(is_readable(scene));
    pw_task_tell(scene->tasks[0], PW_CANCELLED);
    expect_notice(scene, NULL, 0);
    pw_task_tell(scene->tasks[0], PW_LEASE_LOST);
    assert_true(is_readable(scene));
    expect_notice(scene, run, PAWL_NOTICE_LEASE_LOST);
    assert_false(is_readable(scene));
    /* A lost run is not also cancelled, and a pause is no reason to stop. */
    pw_task_tell(scene->tasks[0], PW_CANCELLED);
    pw_task_tell(scene->tasks[0], PW_PAUSED);
    expect_notice(scene, NULL, 0);
}

static void
several_reasons_of_a_run_are_reported_one_by_one(void **state)
{
    struct scene *scene = *state;
    pawl_run *runs[2] = {hand_out(scene, 0), hand_out(scene, 1)};

    expect_notice(scene, NULL, 0);
    pw_task_notify(pw_run_notice(runs[0]), PAWL_NOTICE_STEP_TIMEOUT);
    pw_task_notify(pw_run_notice(runs[1]), PAWL_NOTICE_RUN_TIMEOUT);
    pw_task_notify(pw_run_notice(runs[0]), PAWL_NOTICE_CANCELLED);
    expect_notice(scene, runs[0], PAWL_NOTICE_CANCELLED);
    expect_notice(scene, runs[0], PAWL_NOTICE_STEP_TIMEOUT);
    assert_true(is_readable(scene));
    /* A reason that was dropped is reported again; one that was not is not. */
    pw_task_drop_notice(pw_run_notice(runs[0]), PAWL_NOTICE_STEP_TIMEOUT);
    pw_task_notify(pw_run_notice(runs[0]), PAWL_NOTICE_STEP_TIMEOUT);
    pw_task_notify(pw_run_notice(runs[0]), PAWL_NOTICE_CANCELLED);
    expect_notice(scene, runs[1], PAWL_NOTICE_RUN_TIMEOUT);
    pw_task_drop_notice(pw_run_notice(runs[0]), PAWL_NOTICE_STEP_TIMEOUT);
    assert_false(is_readable(scene));
    expect_notice(scene, NULL, 0);
}

static void
a_run_that_no_handler_has_is_not_reported(void **state)
{
    struct scene *scene = *state;
    pawl_run *run = NULL;

    expect_notice(scene, NULL, 0);
    offer(scene->inbox, scene->tasks[0]);
    pw_task_tell(scene->tasks[0], PW_CANCELLED);
    expect_notice(scene, NULL, 0);
    assert_int_equal(pw_inbox_next(scene->inbox, 0, true, &run), PAWL_OK);
    assert_true(is_readable(scene));
    expect_notice(scene, run, PAWL_NOTICE_CANCELLED);
}

static void
a_finished_run_has_no_notices(void **state)
{
    struct scene *scene = *state;
    pawl_run *runs[2] = {hand_out(scene, 0), hand_out(scene, 1)};
    struct pw_list posted;

    expect_notice(scene, NULL, 0);
    pw_task_tell(scene->tasks[0], PW_CANCELLED);
    pw_task_tell(scene->tasks[1], PW_CANCELLED);
    assert_true(pw_inbox_post(scene->inbox, &scene->tasks[0]->last, true));
    /* The I/O thread has not seen its last item yet. */
    pw_task_tell(scene->tasks[0], PW_LEASE_LOST);
    pw_task_notify(pw_run_notice(runs[0]), PAWL_NOTICE_RUN_TIMEOUT);
    expect_notice(scene, runs[1], PAWL_NOTICE_CANCELLED);
    expect_notice(scene, NULL, 0);
    assert_false(is_readable(scene));
    pw_list_init(&posted);
    (void)pw_inbox_take_posted(scene->inbox, &posted, 0);
}

static void
limits_are_watched_from_the_first_call_on(void **state)
{
    struct scene *scene = *state;
    int64_t until_us = 900;

    pw_inbox_watch(scene->inbox, 500);
    assert_false(pw_inbox_limits_due(scene->inbox, 1000));
    (void)pw_inbox_sleep(scene->inbox, worth_all, &until_us);
    assert_int_equal(until_us, 900);
    expect_notice(scene, NULL, 0);
    assert_true(pw_inbox_limits_due(scene->inbox, 1));
    assert_false(pw_inbox_limits_due(scene->inbox, 2));
    pw_inbox_watch(scene->inbox, 700);
    pw_inbox_watch(scene->inbox, 600);
    pw_inbox_watch(scene->inbox, 800);
    (void)pw_inbox_sleep(scene->inbox, worth_all, &until_us);
    assert_int_equal(until_us, 600);
    assert_false(pw_inbox_limits_due(scene->inbox, 599));
    assert_true(pw_inbox_limits_due(scene->inbox, 600));
}

static void
late_steps_and_runs_are_found(void **state)
{
    struct scene *scene = *state;
    pawl_run *run = hand_out(scene, 0), *branch = NULL;
    int64_t now_us = pw_now_us();

    assert_true(pw_map_put(&scene->worker->tasks, &scene->tasks[0]->id, 0, scene->tasks[0]));
    expect_notice(scene, NULL, 0);
    assert_int_equal(pawl_run_branch(run, "side", &branch), PAWL_OK);
    pawl_run_set_option(branch, "timeout_ms", "1000");
    assert_int_equal(pawl_step_begin(branch, "a", NULL), PAWL_EXECUTE);
    assert_int_equal(pawl_step_begin(run, "b", NULL), PAWL_EXECUTE);
    scene->tasks[0]->run_deadline_us = now_us + 5000000;
    pw_notice_turn(scene->worker, now_us);
    expect_notice(scene, NULL, 0);
    pw_notice_turn(scene->worker, now_us + 4000000);
    expect_notice(scene, branch, PAWL_NOTICE_STEP_TIMEOUT);
    expect_notice(scene, NULL, 0);
    pw_notice_turn(scene->worker, now_us + 4500000);
    expect_notice(scene, NULL, 0);
    pw_notice_turn(scene->worker, now_us + 5000000);
    expect_notice(scene, run, PAWL_NOTICE_RUN_TIMEOUT);
    expect_notice(scene, NULL, 0);
}

/* Returns how many tasks are released at this time. */
static int
release_at(struct scene *scene, int64_t now_us, bool starved)
{
    struct pw_list tasks;
    struct pw_list *link;
    int count = 0;

    pw_list_init(&tasks);
    assert_int_equal(pw_inbox_take_undone(scene->inbox, now_us, &tasks), starved);
    for (; (link = pw_list_first(&tasks)) != NULL; count++)
        pw_list_remove(link);
    return count;
}

static void
new_runs_that_nobody_takes_are_starved(void **state)
{
    struct scene *scene = *state;
    int64_t now_us = pw_now_us(), until_us = INT64_MAX;
    pawl_run *run = NULL;

    assert_int_equal(scene->inbox->start_limit_us, 2000000);
    offer(scene->inbox, scene->tasks[0]);
    offer(scene->inbox, scene->tasks[1]);
    assert_int_equal(release_at(scene, now_us + 1999999, false), 0);
    (void)pw_inbox_sleep(scene->inbox, worth_all, &until_us);
    assert_in_range(until_us, now_us + 2000000, now_us + 60000000);
    assert_false(pw_inbox_load(scene->inbox).starved);
    assert_int_equal(release_at(scene, until_us, true), 2);
    assert_true(pw_inbox_load(scene->inbox).starved);
    /* The next call ends it, although it returns nothing. */
    pw_inbox_claimed(scene->inbox, false, 0);
    assert_int_equal(pw_inbox_next(scene->inbox, 0, true, &run), PAWL_ETIMEOUT);
    assert_false(pw_inbox_load(scene->inbox).starved);
    until_us = INT64_MAX;
    (void)pw_inbox_sleep(scene->inbox, worth_all, &until_us);
    assert_int_equal(until_us, INT64_MAX);
}

static void
a_run_that_cannot_be_taken_is_not_starved(void **state)
{
    struct scene *scene = *state;
    int64_t now_us = pw_now_us();

    offer(scene->inbox, scene->tasks[0]);
    /* A thread waits for it. */
    scene->inbox->sleepers = 1;
    assert_int_equal(release_at(scene, now_us + 60000000, false), 0);
    scene->inbox->sleepers = 0;
    /* The lease may have expired; when it is known to hold again, the time begins again. */
    atomic_store(&scene->inbox->lease_until_us, now_us);
    assert_int_equal(release_at(scene, now_us + 60000000, false), 0);
    pw_inbox_set_lease(scene->inbox, INT64_MAX);
    scene->inbox->sure_since_us = now_us + 60000000;
    assert_int_equal(release_at(scene, now_us + 61000000, false), 0);
    assert_int_equal(release_at(scene, now_us + 62000000, true), 1);
    /* There is no limit, or the worker drains. */
    offer(scene->inbox, scene->tasks[1]);
    scene->inbox->start_limit_us = 0;
    assert_int_equal(release_at(scene, INT64_MAX - 1, false), 0);
    pw_inbox_drain(scene->inbox);
    assert_int_equal(release_at(scene, now_us, false), 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(a_reason_is_reported_once_and_the_descriptor_with_it),
        TEST(several_reasons_of_a_run_are_reported_one_by_one),
        TEST(a_run_that_no_handler_has_is_not_reported),
        TEST(a_finished_run_has_no_notices),
        TEST(limits_are_watched_from_the_first_call_on),
        TEST(late_steps_and_runs_are_found),
        TEST(new_runs_that_nobody_takes_are_starved),
        TEST(a_run_that_cannot_be_taken_is_not_starved),
#undef TEST
    };

    return cmocka_run_group_tests_name("libpawl/inbox", tests, NULL, NULL);
}
