/* SPDX-License-Identifier: Apache-2.0 */
/* Time for tests of users: days are over in milliseconds, and work is done when a call returns. */
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum {
    HOUR = 3600 * 1000,
    DAY = 24 * HOUR
};

struct tale {
    struct gate gate;
    atomic_int steps;
};

static pawl_status
count(pawl_run *run, void *userdata, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);

    (void)userdata;
    return pawl_run_printf(run, output, "%d", atomic_fetch_add(&tale->steps, 1) + 1);
}

static pawl_status
dunning(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_status status;

    (void)input;
    for (int i = 0; i < 3; i++) {
        status = pawl_step(run, "remind", count, NULL, output);
        if (status == PAWL_OK)
            status = pawl_wait_event(run, "paid", "time.paid", DAY, NULL);
        if (status != PAWL_ETIMEOUT)
            return status;
    }
    return pawl_sleep(run, "rest", 3 * DAY);
}

static void
a_workflow_that_takes_a_week_is_tested_in_milliseconds(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    int64_t began_ms;

    scene_handle(scene, "time.dunning", dunning, &tale);
    scene_start(scene);
    began_ms = scene_now_ms();
    scene_trigger(scene, "time.dunning", "{}");
    scene_go_on(scene);
    for (int i = 1; i <= 3; i++) {
        assert_int_equal(tale.steps, i);
        scene_advance(scene, DAY);
        scene_go_on(scene);
    }
    assert_string_equal(scene_state(scene, scene->run_id), "PAUSED sleep");
    scene_advance(scene, 3 * DAY);
    scene_go_on(scene);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "3");
    (void)printf("# %ld ms\n", (long)(scene_now_ms() - began_ms));
    scene_in_time(scene_now_ms() - began_ms, 2000);
    /* Its worker has not lost its lease by the leap, or has a new one: either way it works on. */
    scene_trigger(scene, "time.dunning", "{}");
    scene_go_on(scene);
    assert_int_equal(tale.steps, 4);
}

static void
small_steps_of_the_clock_count_as_well(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    scene_handle(scene, "time.dunning", dunning, &tale);
    scene_start(scene);
    scene_trigger(scene, "time.dunning", "{}");
    scene_go_on(scene);
    scene_advance(scene, DAY - 3);
    scene_go_on(scene);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(tale.steps, 1);
        scene_advance(scene, 1);
        scene_go_on(scene);
    }
    assert_int_equal(tale.steps, 2);
}

static pawl_status
chain(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    char next[24];
    int depth = input.data[0] - '0';

    if (depth == 0)
        return pawl_step(run, "leaf", count, NULL, output);
    (void)snprintf(next, sizeof(next), "%d", depth - 1);
    return pawl_child(run, "next", "time.chain", pawl_text(next), output);
}

static void
work_is_done_when_the_call_returns_however_many_runs_it_takes(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    scene_set(scene, "concurrency", "1");
    scene_handle(scene, "time.chain", chain, &tale);
    scene_start(scene);
    for (int i = 0; i < 5; i++)
        scene_trigger(scene, "time.chain", "5");
    scene_go_on(scene);
    assert_int_equal(tale.steps, 5);
    assert_int_equal(
        scene_number(scene,
            "select count(*) from pawl.list_runs(only_workflow => 'time.chain', only_status => "
            "'SUCCESS', max_rows => 1000)",
            NULL),
        30);
}

static void
nothing_to_do_is_done_at_once(void **state)
{
    struct scene *scene = *state;
    int64_t began_ms;

    scene_handle(scene, "time.nothing", chain, NULL);
    scene_start(scene);
    began_ms = scene_now_ms();
    scene_go_on(scene);
    scene_in_time(scene_now_ms() - began_ms, 1000);
}

/*
 * 1. The worker is asked to look. It ticks first. 2. Its poll interval ends. 3. The tick is answered. The worker claims, as it was asked. Without
 * that it would ask whether a run is ready, hear that none is, and never claim.
 */
static void
a_worker_that_polls_meanwhile_looks_as_it_was_asked(void **state)
{
    struct scene *scene = *state;

    scene_set(scene, "poll", "20ms");
    scene_handle(scene, "time.poll", chain, NULL);
    scene_start(scene);
    for (int i = 0; i < 44; i++) {
        for (int j = 0; j < i % 11; j++)
            scene_breathe();
        scene_go_on(scene);
    }
}

/* Never lets go: tries again at once, without an end. */
static pawl_status
endless(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)input;
    (void)output;
    pawl_run_retry_after(run, 0);
    return PAWL_EFAILED;
}

/* Takes runs with pawl_worker_next() until nothing can continue; each naps once. Returns how often one was executed. */
static int
loop_until_idle(struct scene *scene)
{
    int64_t deadline_ms = scene_now_ms() + scene_patience_ms;
    int executed = 0;

    for (;;) {
        pawl_run *run = NULL;
        pawl_status status = pawl_worker_next(scene->worker, 2, &run, NULL);

        assert_true(scene_now_ms() < deadline_ms);
        if (status == PAWL_ETIMEOUT && pawl_test_idle(scene->worker) == 1)
            return executed;
        if (status != PAWL_OK)
            continue;
        executed++;
        /* The second one is triggered by the first: only a later claim finds it. */
        status = executed == 1 ? pawl_child_detached(run, "kid", "time.loop", pawl_text("{}"), NULL)
                               : PAWL_OK;
        if (status == PAWL_OK)
            status = pawl_sleep(run, "nap", DAY);
        pawl_run_finish(run, status, (pawl_bytes){0});
    }
}

static void
a_loop_of_its_own_knows_when_nothing_can_continue(void **state)
{
    struct scene *scene = *state;

    scene_handle(scene, "time.loop", NULL, NULL);
    scene_start(scene);
    assert_int_equal(loop_until_idle(scene), 0);
    scene_trigger(scene, "time.loop", "{}");
    assert_int_equal(loop_until_idle(scene), 2);
    assert_int_equal(loop_until_idle(scene), 0);
    scene_advance(scene, DAY);
    assert_int_equal(loop_until_idle(scene), 2);
    (void)scene_wait(scene, scene->run_id, PAWL_OK);
}

static void
work_without_an_end_is_left_in_time(void **state)
{
    struct scene *scene = *state;
    pawl_error *error = NULL;

    scene_do(scene, "select pawl.create_workflow('time.endless', max_attempts => 1000000)", NULL);
    scene_handle(scene, "time.endless", endless, NULL);
    scene_start(scene);
    scene_trigger(scene, "time.endless", "{}");
    assert_int_equal(pawl_test_run_until_idle(scene->worker, 200, &error), PAWL_ETIMEOUT);
    scene_has(pawl_error_message(error), "runs can still continue");
    pawl_error_free(error);
    scene_do(scene, "select pawl.kill(array[$1::uuid])", scene->run_id);
}

static void
a_clock_that_is_not_for_tests_is_not_moved(void **state)
{
    struct scene *scene = *state;
    pawl_error *error = NULL;

    /* One that runs by itself. */
    scene_do(scene, "select pawl.test_clock_set(null)", NULL);
    assert_int_equal(pawl_test_advance(scene->client, 1000, &error), PAWL_ESCHEMA);
    scene_has(pawl_error_hint(error), "test_clock_set");
    pawl_error_free(error);
    /* The clock of the server. */
    scene_do(scene, "drop function pawl.test_clock_advance(interval)", NULL);
    assert_int_equal(pawl_test_advance(scene->client, 1000, &error), PAWL_ESCHEMA);
    assert_true(pawl_error_message(error)[0] != '\0');
    pawl_error_free(error);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_set_up_stopped, scene_tear_down)
        TEST(a_workflow_that_takes_a_week_is_tested_in_milliseconds),
        TEST(small_steps_of_the_clock_count_as_well),
        TEST(work_is_done_when_the_call_returns_however_many_runs_it_takes),
        TEST(nothing_to_do_is_done_at_once),
        TEST(a_worker_that_polls_meanwhile_looks_as_it_was_asked),
        TEST(a_loop_of_its_own_knows_when_nothing_can_continue),
        TEST(work_without_an_end_is_left_in_time),
        /* The last one: there is no test clock after it. */
        TEST(a_clock_that_is_not_for_tests_is_not_moved),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
