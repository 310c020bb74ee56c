/* SPDX-License-Identifier: Apache-2.0 */
/* Runs that are stopped from outside while their handler executes: cancelled, killed, paused, out of time, or changed under the run. */
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct tale {
    struct gate gate;
    atomic_int executed;
    atomic_int steps;
    atomic_int code; /* which version of the handler it is */
    atomic_int seen[4];
    atomic_bool leaves; /* the handler returns what calls say, else it goes on */
};

static pawl_status
count(pawl_run *run, void *userdata, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);

    (void)userdata;
    return pawl_run_printf(run, output, "%d", atomic_fetch_add(&tale->steps, 1) + 1);
}

static pawl_status
wait_at_gate(pawl_run *run, void *userdata, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);

    (void)userdata;
    *output = pawl_text("\"through\"");
    return gate_pass(&tale->gate) ? PAWL_OK : PAWL_EPERMANENT;
}

/* A step that is under way when something happens to the run, and two after it. */
static pawl_status
slow(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);
    pawl_status status;

    (void)input;
    atomic_fetch_add(&tale->executed, 1);
    if ((status = pawl_step(run, "before", count, NULL, NULL)) != PAWL_OK)
        return status;
    tale->seen[0] = status = pawl_step(run, "slow", wait_at_gate, NULL, output);
    if (status != PAWL_OK && tale->leaves)
        return status;
    tale->seen[1] = status = pawl_step(run, "after", count, NULL, NULL);
    tale->seen[2] = pawl_run_check(run);
    return tale->leaves ? status : PAWL_OK;
}

static void
begin(struct scene *scene, struct tale *tale)
{
    gate_init(&tale->gate);
    atomic_store(&tale->leaves, true);
    scene_handle(scene, "cancel.slow", slow, tale);
    scene_work(scene);
    scene_trigger(scene, "cancel.slow", "{}");
    gate_await(&tale->gate, 1);
}

static void
finish(struct scene *scene, struct tale *tale)
{
    gate_open(&tale->gate);
    assert_int_equal(scene_rest(scene), PAWL_OK);
    gate_done(&tale->gate);
}

static void
cancel(struct scene *scene)
{
    pawl_error *error = NULL;

    assert_int_equal(
        pawl_client_cancel(scene->client, scene->run_id, "enough", 0, &error), PAWL_OK);
}

static void
a_handler_learns_of_a_cancel_by_its_next_call_and_nothing_more_is_recorded(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    begin(scene, &tale);
    cancel(scene);
    gate_open(&tale.gate);
    scene_has(scene_wait(scene, scene->run_id, PAWL_ECANCELLED), "enough");
    assert_int_equal(tale.seen[0], PAWL_ECANCELLED);
    assert_string_equal(scene_steps(scene, scene->run_id), "before#1 SUCCESS 1");
    assert_int_equal(tale.executed, 1);
    finish(scene, &tale);
}

static void
a_handler_that_ignores_a_cancel_records_nothing_and_ends_nothing(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    begin(scene, &tale);
    tale.leaves = false;
    cancel(scene);
    gate_open(&tale.gate);
    (void)scene_wait(scene, scene->run_id, PAWL_ECANCELLED);
    finish(scene, &tale);
    assert_int_equal(tale.seen[0], PAWL_ECANCELLED);
    assert_int_equal(tale.seen[1], PAWL_ECANCELLED);
    assert_int_equal(tale.seen[2], PAWL_ECANCELLED);
    assert_int_equal(tale.steps, 1);
    assert_string_equal(scene_steps(scene, scene->run_id), "before#1 SUCCESS 1");
}

/* A step that looks from time to time whether it should go on. */
static pawl_status
look_around(pawl_run *run, void *userdata, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);
    int64_t give_up_ms = scene_now_ms() + scene_patience_ms;
    pawl_status status = PAWL_OK;

    (void)userdata;
    (void)output;
    if (!gate_pass(&tale->gate))
        return PAWL_EPERMANENT;
    while ((status = pawl_run_check(run)) == PAWL_OK && scene_now_ms() < give_up_ms)
        scene_breathe();
    tale->seen[0] = status;
    return status;
}

static pawl_status
watchful(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);

    (void)input;
    atomic_fetch_add(&tale->executed, 1);
    tale->seen[1] = pawl_step(run, "look", look_around, NULL, output);
    return tale->seen[1];
}

static void
a_handler_that_looks_learns_of_a_cancel_by_heartbeat(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    gate_init(&tale.gate);
    scene_set(scene, "lease", "3s");
    scene_handle(scene, "cancel.watchful", watchful, &tale);
    scene_work(scene);
    scene_trigger(scene, "cancel.watchful", "{}");
    gate_await(&tale.gate, 1);
    cancel(scene);
    gate_open(&tale.gate);
    (void)scene_wait(scene, scene->run_id, PAWL_ECANCELLED);
    assert_int_equal(tale.seen[0], PAWL_ECANCELLED);
    assert_int_equal(tale.seen[1], PAWL_ECANCELLED);
    assert_string_equal(scene_steps(scene, scene->run_id), "");
    finish(scene, &tale);
}

/* Looks from another thread while the handler takes one step after the other. */
static void *
look_from_aside(void *argument)
{
    pawl_run *run = argument;
    int64_t give_up_ms = scene_now_ms() + scene_patience_ms;
    pawl_status status;

    while ((status = pawl_run_check(run)) == PAWL_OK && scene_now_ms() < give_up_ms)
        scene_breathe();
    return (void *)(intptr_t)status;
}

static pawl_status
looked_at(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);
    int64_t give_up_ms = scene_now_ms() + scene_patience_ms;
    pawl_status status = PAWL_OK;
    pthread_t thread;
    void *seen = NULL;

    (void)input;
    (void)output;
    if (pthread_create(&thread, NULL, look_from_aside, run) != 0)
        return PAWL_EPERMANENT;
    while (status == PAWL_OK && scene_now_ms() < give_up_ms)
        status = pawl_step(run, "turn", count, NULL, NULL);
    (void)pthread_join(thread, &seen);
    tale->seen[0] = status;
    tale->seen[1] = (int)(intptr_t)seen;
    return status;
}

static void
any_thread_may_ask_whether_to_go_on(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    scene_handle(scene, "cancel.looked_at", looked_at, &tale);
    scene_work(scene);
    scene_trigger(scene, "cancel.looked_at", "{}");
    scene_until(scene, "select json_array_length(steps) > 3 from pawl.get_run($1)", scene->run_id);
    cancel(scene);
    (void)scene_wait(scene, scene->run_id, PAWL_ECANCELLED);
    (void)scene_rest(scene);
    assert_int_equal(tale.seen[0], PAWL_ECANCELLED);
    assert_int_equal(tale.seen[1], PAWL_ECANCELLED);
}

static void
a_run_that_is_killed_ends_at_once_and_its_handler_can_write_nothing(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    begin(scene, &tale);
    assert_string_equal(
        scene_text(scene, "select answer from pawl.kill(array[$1::uuid])", scene->run_id), "ok");
    assert_string_equal(scene_state(scene, scene->run_id), "CANCELLED");
    finish(scene, &tale);
    assert_true(tale.seen[0] == PAWL_ECANCELLED || tale.seen[0] == PAWL_ELEASE_LOST);
    assert_string_equal(scene_steps(scene, scene->run_id), "before#1 SUCCESS 1");
}

static void
a_cancel_of_a_run_that_waits_executes_nothing_more(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    scene_do(scene, "select pawl.create_workflow('cancel.slow')", NULL);
    scene_trigger(scene, "cancel.slow", "{}");
    cancel(scene);
    assert_string_equal(scene_state(scene, scene->run_id), "CANCELLED");
    scene_handle(scene, "cancel.slow", slow, &tale);
    scene_start(scene);
    scene_go_on(scene);
    assert_int_equal(tale.executed, 0);
}

/* The worker finds out by its own clock, unless the engine was faster and has ended the run. */
static void
check_timeout(pawl_status seen)
{
    assert_true(seen == PAWL_ETIMEOUT || seen == PAWL_ECANCELLED || seen == PAWL_ELEASE_LOST);
}

static void
a_run_that_is_out_of_time_ends_with_an_error_of_the_worker(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    gate_init(&tale.gate);
    gate_open(&tale.gate);
    scene_do(scene,
        "select pawl.create_workflow('cancel.late', run_timeout => '3 s', max_attempts => 9)",
        NULL);
    scene_handle(scene, "cancel.late", watchful, &tale);
    scene_work(scene);
    scene_trigger(scene, "cancel.late", "{}");
    scene_has(scene_wait(scene, scene->run_id, PAWL_ERUN), "timeout");
    finish(scene, &tale);
    check_timeout(tale.seen[0]);
    assert_int_equal(tale.executed, 1);
}

static pawl_status
dawdle(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);
    pawl_status status = PAWL_OK;
    int64_t give_up_ms = scene_now_ms() + scene_patience_ms;

    (void)input;
    (void)output;
    atomic_fetch_add(&tale->executed, 1);
    while (status == PAWL_OK && scene_now_ms() < give_up_ms)
        status = pawl_step(run, "turn", count, NULL, NULL);
    tale->seen[0] = status;
    return status;
}

static void
a_run_that_is_out_of_time_starts_no_further_step(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    scene_do(scene,
        "select pawl.create_workflow('cancel.dawdle', run_timeout => '3 s', max_attempts => 9)",
        NULL);
    scene_handle(scene, "cancel.dawdle", dawdle, &tale);
    scene_work(scene);
    scene_trigger(scene, "cancel.dawdle", "{}");
    scene_has(scene_wait(scene, scene->run_id, PAWL_ERUN), "timeout");
    assert_int_equal(scene_rest(scene), PAWL_OK);
    check_timeout(tale.seen[0]);
    assert_int_equal(tale.executed, 1);
}

static pawl_status
parent(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    return pawl_child(run, "kid", "cancel.watchful", input, output);
}

static void
a_child_that_executes_learns_that_its_parent_was_cancelled(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    gate_init(&tale.gate);
    scene_set(scene, "lease", "3s");
    scene_handle(scene, "cancel.watchful", watchful, &tale);
    scene_handle(scene, "cancel.parent", parent, NULL);
    scene_work(scene);
    scene_trigger(scene, "cancel.parent", "{}");
    gate_await(&tale.gate, 1);
    scene_until(scene, "select t.state($1) = 'PAUSED child'", scene->run_id);
    cancel(scene);
    gate_open(&tale.gate);
    (void)scene_wait(scene, scene->run_id, PAWL_ECANCELLED);
    scene_until(scene,
        "select bool_and(status = 'CANCELLED') from pawl.list_runs(only_workflow => "
        "'cancel.watchful') where parent_id = $1",
        scene->run_id);
    finish(scene, &tale);
    assert_int_equal(tale.seen[0], PAWL_ECANCELLED);
}

/* Lets go of the run between two steps. */
static pawl_status
in_two_claims(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);
    pawl_status status;

    (void)input;
    atomic_fetch_add(&tale->executed, 1);
    if ((status = pawl_step(run, "slow", wait_at_gate, NULL, NULL)) != PAWL_OK ||
        (status = pawl_sleep(run, "nap", 1)) != PAWL_OK)
        return status;
    return pawl_step(run, "after", count, NULL, output);
}

static void
a_paused_run_finishes_what_is_under_way_and_goes_on_when_resumed(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    gate_init(&tale.gate);
    scene_handle(scene, "cancel.claims", in_two_claims, &tale);
    scene_work(scene);
    scene_trigger(scene, "cancel.claims", "{}");
    gate_await(&tale.gate, 1);
    assert_string_equal(
        scene_text(
            scene, "select answer from pawl.pause(array[$1::uuid], why => 'audit')", scene->run_id),
        "ok");
    gate_open(&tale.gate);
    scene_until(scene, "select t.state($1) = 'PAUSED operator'", scene->run_id);
    scene_has(scene_steps(scene, scene->run_id), "slow#1 SUCCESS \"through\"");
    scene_has(scene_text(scene, "select pawl.why($1)", scene->run_id), "audit");
    assert_int_equal(tale.steps, 0);
    assert_string_equal(
        scene_text(scene, "select answer from pawl.resume(array[$1::uuid])", scene->run_id), "ok");
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "1");
    finish(scene, &tale);
}

/* Does step after step, and lets go of the run only when it is told to. */
static pawl_status
endless(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);
    pawl_status status = PAWL_OK;

    (void)input;
    atomic_fetch_add(&tale->executed, 1);
    while (status == PAWL_OK && !tale->leaves) {
        status = pawl_step(run, "turn", count, NULL, output);
        scene_breathe();
    }
    return status;
}

static void
a_paused_run_starts_no_further_step_and_no_attempt_is_consumed(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    int steps;

    gate_init(&tale.gate);
    scene_set(scene, "lease", "3s");
    scene_handle(scene, "cancel.endless", endless, &tale);
    scene_work(scene);
    scene_trigger(scene, "cancel.endless", "{}");
    scene_until(scene, "select json_array_length(steps) > 3 from pawl.get_run($1)", scene->run_id);
    assert_string_equal(
        scene_text(
            scene, "select answer from pawl.pause(array[$1::uuid], why => 'audit')", scene->run_id),
        "ok");
    scene_until(scene, "select t.state($1) = 'PAUSED operator'", scene->run_id);
    steps = atomic_load(&tale.steps);
    assert_int_equal(
        scene_number(scene, "select json_array_length(steps) from pawl.get_run($1)", scene->run_id),
        steps);
    assert_string_equal(
        scene_text(scene, "select answer from pawl.resume(array[$1::uuid])", scene->run_id), "ok");
    scene_until(scene, "select t.state($1) = 'RUNNING'", scene->run_id);
    atomic_store(&tale.leaves, true);
    (void)scene_wait(scene, scene->run_id, PAWL_OK);
    assert_int_equal(tale.executed, 2);
    assert_int_equal(
        scene_number(scene, "select execution from pawl.get_run($1)", scene->run_id), 1);
    finish(scene, &tale);
}

static pawl_status
quick(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)input;
    return pawl_step(run, "quick", count, NULL, output);
}

static void
a_paused_workflow_is_not_claimed(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    char paused[PAWL_ID_SIZE];

    /* A claim that is under way when the workflow is paused may still take its runs, so there is none. */
    scene_set(scene, "listen", "off");
    scene_set(scene, "poll", "1h");
    scene_handle(scene, "cancel.quick", quick, &tale);
    scene_handle(scene, "cancel.neighbour", quick, &tale);
    scene_start(scene);
    scene_go_on(scene);
    scene_do(scene, "select pawl.pause_workflow('cancel.quick', why => 'night')", NULL);
    memcpy(paused, scene_trigger(scene, "cancel.quick", "{}"), sizeof(paused));
    scene_has(scene_text(scene, "select pawl.why($1)", paused), "night");
    /* A neighbour that is executed shows that the worker has looked. */
    scene_trigger(scene, "cancel.neighbour", "{}");
    scene_go_on(scene);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "1");
    assert_string_equal(scene_state(scene, paused), "QUEUED");
    scene_do(scene, "select pawl.resume_workflow('cancel.quick')", NULL);
    scene_go_on(scene);
    assert_string_equal(scene_wait(scene, paused, PAWL_OK), "2");
}

/* Its second version asks for a sleep where the first had a step. */
static pawl_status
changing(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);
    pawl_status status;

    (void)input;
    (void)output;
    status =
        tale->code == 1 ? pawl_step(run, "thing", count, NULL, NULL) : pawl_sleep(run, "thing", 1);
    tale->seen[0] = status;
    if (status == PAWL_OK)
        status = pawl_wait_signal(run, "go", -1, NULL);
    return status;
}

static void
code_that_no_longer_fits_its_records_pauses_the_run_and_says_why(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {.code = 1};

    scene_handle(scene, "cancel.changing", changing, &tale);
    scene_start(scene);
    scene_trigger(scene, "cancel.changing", "{}");
    scene_go_on(scene);
    tale.code = 2;
    scene_do(scene, "select pawl.signal($1, 'go')", scene->run_id);
    scene_go_on(scene);
    assert_int_equal(tale.seen[0], PAWL_SUSPENDED);
    assert_string_equal(scene_state(scene, scene->run_id), "PAUSED drift");
    scene_has(scene_text(scene, "select pawl.why($1)", scene->run_id),
        "drift: step thing#1 is recorded as step, the code asks for sleep");
    assert_int_equal(pawl_worker_counter(scene->worker, "held"), 0);
    /* With the old code again it goes on. */
    tale.code = 1;
    scene_do(scene, "select pawl.resume(array[$1::uuid])", scene->run_id);
    scene_go_on(scene);
    (void)scene_wait(scene, scene->run_id, PAWL_OK);
    assert_int_equal(tale.steps, 1);
}

/* A wait that is open becomes a step. */
static pawl_status
changing_wait(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);

    (void)input;
    (void)output;
    return tale->code == 1 ? pawl_wait_signal(run, "thing", -1, NULL)
                           : pawl_step(run, "thing", count, NULL, NULL);
}

static void
a_wait_that_became_a_step_pauses_the_run_before_the_step_is_done(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {.code = 1};

    scene_handle(scene, "cancel.wait", changing_wait, &tale);
    scene_start(scene);
    scene_trigger(scene, "cancel.wait", "{}");
    scene_go_on(scene);
    tale.code = 2;
    scene_do(scene, "select pawl.signal($1, 'thing')", scene->run_id);
    scene_go_on(scene);
    assert_string_equal(scene_state(scene, scene->run_id), "PAUSED drift");
    scene_has(scene_text(scene, "select pawl.why($1)", scene->run_id),
        "drift: step thing#1 is recorded as signal, the code asks for step");
    assert_int_equal(tale.steps, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_set_up, scene_tear_down)
        TEST(a_handler_learns_of_a_cancel_by_its_next_call_and_nothing_more_is_recorded),
        TEST(a_handler_that_ignores_a_cancel_records_nothing_and_ends_nothing),
        TEST(a_handler_that_looks_learns_of_a_cancel_by_heartbeat),
        TEST(any_thread_may_ask_whether_to_go_on),
        TEST(a_run_that_is_killed_ends_at_once_and_its_handler_can_write_nothing),
        TEST(a_cancel_of_a_run_that_waits_executes_nothing_more),
        TEST(a_run_that_is_out_of_time_ends_with_an_error_of_the_worker),
        TEST(a_run_that_is_out_of_time_starts_no_further_step),
        TEST(a_child_that_executes_learns_that_its_parent_was_cancelled),
        TEST(a_paused_run_finishes_what_is_under_way_and_goes_on_when_resumed),
        TEST(a_paused_run_starts_no_further_step_and_no_attempt_is_consumed),
        TEST(a_paused_workflow_is_not_claimed),
        TEST(code_that_no_longer_fits_its_records_pauses_the_run_and_says_why),
        TEST(a_wait_that_became_a_step_pauses_the_run_before_the_step_is_done),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
