/* SPDX-License-Identifier: Apache-2.0 */
/* Runs that trigger others, and wait for them or not. The clock stands still. */
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum {
    FAN = 30
};

struct tale {
    bool detached;
    const char *workflow; /* of the child */
    atomic_int executed;
    pawl_status seen[8]; /* what the call returned, by execution */
    char outputs[8][300];
    char errors[8][500];
};

static pawl_status
parent(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);
    int at = atomic_fetch_add(&tale->executed, 1);
    pawl_status status;

    if (tale->detached) {
        pawl_run_set_option(run, "priority", "7");
        pawl_run_set_option(run, "delay_ms", "60000");
        pawl_run_set_option(run, "metadata", "{\"by\": \"parent\"}");
        status = pawl_child_detached(run, "kid", tale->workflow, input, output);
    } else {
        status = pawl_child(run, "kid", tale->workflow, input, output);
    }
    tale->seen[at] = status;
    (void)snprintf(
        tale->outputs[at], sizeof(tale->outputs[at]), "%s", status == PAWL_OK ? output->data : "");
    (void)snprintf(tale->errors[at], sizeof(tale->errors[at]), "%s",
        pawl_run_error(run).data == NULL ? "" : pawl_run_error(run).data);
    return status;
}

static pawl_status
good_child(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    return pawl_run_printf(run, output, "{\"got\": %s}", input.data);
}

static pawl_status
bad_child(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)input;
    (void)output;
    pawl_run_set_error(run, "naughty", "no, I will not");
    return PAWL_EPERMANENT;
}

static pawl_status
slow_child(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    *output = input;
    return pawl_wait_signal(run, "go", -1, NULL);
}

static void
begin(struct scene *scene, struct tale *tale, const char *workflow, pawl_handler_fn child)
{
    tale->workflow = workflow;
    scene_handle(scene, "children.parent", parent, tale);
    scene_handle(scene, workflow, child, tale);
    scene_start(scene);
    scene_trigger(scene, "children.parent", "[1]");
}

/* The one child of the run. */
static const char *
child_of(struct scene *scene, char id[PAWL_ID_SIZE])
{
    (void)snprintf(id, PAWL_ID_SIZE, "%s",
        scene_text(scene,
            "select run_id from pawl.list_runs(only_workflow => 'children.*', max_rows => 1000)"
            " where parent_id = $1",
            scene->run_id));
    return id;
}

static void
a_parent_waits_for_its_child_and_gets_its_output(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    begin(scene, &tale, "children.good", good_child);
    scene_go_on(scene);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "{\"got\": [1]}");
    assert_int_equal(tale.executed, 2);
    assert_int_equal(tale.seen[0], PAWL_SUSPENDED);
}

static void
a_parent_that_waits_holds_no_worker(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    char child[PAWL_ID_SIZE];

    begin(scene, &tale, "children.slow", slow_child);
    scene_go_on(scene);
    assert_string_equal(scene_state(scene, scene->run_id), "PAUSED child");
    scene_has(scene_text(scene, "select pawl.why($1)", scene->run_id), "Waiting for child run");
    assert_string_equal(scene_state(scene, child_of(scene, child)), "PAUSED signal");
    assert_int_equal(pawl_worker_counter(scene->worker, "held"), 0);
    scene_do(scene, "select pawl.signal($1, 'go')", child);
    scene_go_on(scene);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "[1]");
}

static void
a_child_that_fails_is_an_error_that_carries_its_own(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    begin(scene, &tale, "children.bad", bad_child);
    scene_go_on(scene);
    scene_has(scene_wait(scene, scene->run_id, PAWL_ERUN), "child_failed");
    assert_int_equal(tale.seen[1], PAWL_ERUN);
    scene_has(tale.errors[1], "no, I will not");
    scene_has(tale.errors[1], "naughty");
}

static void
a_child_that_is_cancelled_is_an_error_of_the_call(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    char child[PAWL_ID_SIZE];

    begin(scene, &tale, "children.slow", slow_child);
    scene_go_on(scene);
    scene_do(scene, "select pawl.cancel(array[$1::uuid])", child_of(scene, child));
    scene_go_on(scene);
    scene_has(scene_wait(scene, scene->run_id, PAWL_ERUN), "child_cancelled");
    assert_int_equal(tale.seen[1], PAWL_ERUN);
}

static void
a_cancel_of_the_parent_reaches_a_child_that_it_waits_for(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    char child[PAWL_ID_SIZE];

    begin(scene, &tale, "children.slow", slow_child);
    scene_go_on(scene);
    (void)child_of(scene, child);
    scene_do(scene, "select pawl.cancel(array[$1::uuid])", scene->run_id);
    scene_advance(scene, 1000);
    scene_go_on(scene);
    assert_string_equal(scene_state(scene, scene->run_id), "CANCELLED");
    assert_string_equal(scene_state(scene, child), "CANCELLED");
}

static void
a_detached_child_is_triggered_with_its_options_and_not_waited_for(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {.detached = true};
    char child[PAWL_ID_SIZE];
    char wanted[100];

    begin(scene, &tale, "children.slow", slow_child);
    scene_go_on(scene);
    (void)child_of(scene, child);
    assert_string_equal(scene_text(scene,
                            "select concat_ws(' ', status, reason, priority, metadata ->> 'by', "
                            "input) from pawl.get_run($1)",
                            child),
        "PAUSED delay 7 parent [1]");
    (void)snprintf(wanted, sizeof(wanted), "{\"run_id\" : \"%s\"}", child);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), wanted);
    assert_int_equal(tale.executed, 1);
}

static void
a_child_of_a_workflow_that_there_is_not_is_refused_with_a_reason(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    scene_do(scene, "select pawl.create_workflow('children.orphan', max_attempts => 1)", NULL);
    tale.workflow = "children.nowhere";
    scene_handle(scene, "children.orphan", parent, &tale);
    scene_start(scene);
    scene_trigger(scene, "children.orphan", "{}");
    scene_go_on(scene);
    scene_has(
        scene_wait(scene, scene->run_id, PAWL_ERUN), "unknown workflow \\\"children.nowhere\\\"");
    assert_int_equal(tale.seen[0], PAWL_EINVAL);
}

/* Thirty children at once, each of a branch. */
static pawl_status
one_of_many(pawl_run *branch, void *userdata, pawl_bytes *output)
{
    char input[24];

    (void)snprintf(input, sizeof(input), "%d", (int)(intptr_t)userdata);
    return pawl_child(branch, "kid", "children.good", pawl_text(input), output);
}

static pawl_status
fan_out(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_bytes outputs[FAN] = {{0}};
    char name[24], wanted[40];
    pawl_status status = PAWL_OK;
    int good = 0;

    (void)input;
    for (intptr_t i = 0; i < FAN && status == PAWL_OK; i++) {
        (void)snprintf(name, sizeof(name), "b%d", (int)i);
        status = pawl_branch(run, name, one_of_many, (void *)i, &outputs[i]);
    }
    if (status == PAWL_OK)
        status = pawl_branches_join(run);
    for (int i = 0; i < FAN && status == PAWL_OK; i++) {
        (void)snprintf(wanted, sizeof(wanted), "{\"got\": %d}", i);
        good += outputs[i].data != NULL && strcmp(outputs[i].data, wanted) == 0;
    }
    return status == PAWL_OK ? pawl_run_printf(run, output, "%d", good) : status;
}

static void
many_children_of_one_run_are_triggered_once_each(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    scene_handle(scene, "children.fan", fan_out, &tale);
    scene_handle(scene, "children.good", good_child, &tale);
    scene_start(scene);
    scene_trigger(scene, "children.fan", "{}");
    scene_go_on(scene);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "30");
    assert_int_equal(scene_number(scene,
                         "select count(*) from pawl.list_runs(only_workflow => 'children.good', "
                         "max_rows => 1000)"
                         " where parent_id = $1",
                         scene->run_id),
        FAN);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_set_up_stopped, scene_tear_down)
        TEST(a_parent_waits_for_its_child_and_gets_its_output),
        TEST(a_parent_that_waits_holds_no_worker),
        TEST(a_child_that_fails_is_an_error_that_carries_its_own),
        TEST(a_child_that_is_cancelled_is_an_error_of_the_call),
        TEST(a_cancel_of_the_parent_reaches_a_child_that_it_waits_for),
        TEST(a_detached_child_is_triggered_with_its_options_and_not_waited_for),
        TEST(a_child_of_a_workflow_that_there_is_not_is_refused_with_a_reason),
        TEST(many_children_of_one_run_are_triggered_once_each),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
