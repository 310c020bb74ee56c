/* SPDX-License-Identifier: Apache-2.0 */
/* Mistakes that authors make: each ends its run with an error that says what is wrong, and none leaves a run stuck. */
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static pawl_status
nothing(pawl_run *run, void *userdata, pawl_bytes *output)
{
    (void)run;
    (void)userdata;
    (void)output;
    return PAWL_OK;
}

/* A step inside of a step. */
static pawl_status
step_in_step(pawl_run *run, void *userdata, pawl_bytes *output)
{
    return pawl_step(run, "inner", nothing, userdata, output);
}

static pawl_status
sleep_in_step(pawl_run *run, void *userdata, pawl_bytes *output)
{
    (void)userdata;
    (void)output;
    return pawl_sleep(run, "inner", 1);
}

static pawl_status
suspend_in_step(pawl_run *run, void *userdata, pawl_bytes *output)
{
    (void)run;
    (void)userdata;
    (void)output;
    return PAWL_SUSPENDED;
}

/* Options that are none, or have a value that they cannot have, or are for another call. */
static const char *const bad_options[][2] = {
    {"max_attempt", "3"},
    {"max_attempts", "0"},
    {"max_attempts", "many"},
    {"factor", "-1"},
    {"timeout_ms", "soon"},
    {"undo", "Bad Name"},
    {"undo_input", "{"},
    {"match", "{}"},
    {"delay_ms", "1"},
};

static pawl_status
bad_option(pawl_run *run, size_t number)
{
    pawl_run_set_option(run, bad_options[number][0], bad_options[number][1]);
    return pawl_step(run, "fine", nothing, NULL, NULL);
}

/* The mistake that the input names. */
static pawl_status
wrong(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    const char *what = input.data;
    pawl_status status;

    *output = pawl_text("\"ended well\"");
    if (what[0] >= '0' && what[0] <= '9')
        return bad_option(run, (size_t)(what[0] - '0'));
    if (strstr(what, "open") != NULL) {
        status = pawl_step_begin(run, "open", NULL);
        return status == PAWL_EXECUTE ? PAWL_OK : status;
    }
    if (strstr(what, "name") != NULL)
        return pawl_step(run, "Bad name", nothing, NULL, NULL);
    if (strstr(what, "function") != NULL)
        return pawl_step(run, "none", NULL, NULL, NULL);
    if (strstr(what, "nested") != NULL)
        return pawl_step(run, "outer", step_in_step, NULL, NULL);
    if (strstr(what, "asleep") != NULL)
        return pawl_step(run, "outer", sleep_in_step, NULL, NULL);
    if (strstr(what, "suspended step") != NULL)
        return pawl_step(run, "outer", suspend_in_step, NULL, NULL);
    if (strstr(what, "finish") != NULL)
        return pawl_step_finish(run, PAWL_OK, pawl_text("1"), NULL);
    if (strstr(what, "topic") != NULL)
        return pawl_wait_event(run, "wait", "", -1, NULL);
    if (strstr(what, "limit") != NULL)
        return pawl_wait_signal(run, "wait", -2, NULL);
    if (strstr(what, "undo") != NULL)
        return pawl_run_undo_next(run, &what, NULL, NULL);
    return PAWL_SUSPENDED;
}

static void
check(struct scene *scene, const char *input, const char *part)
{
    scene_trigger(scene, "mistakes.wrong", input);
    scene_go_on(scene);
    scene_has(scene_wait(scene, scene->run_id, PAWL_ERUN), part);
}

static void
begin(struct scene *scene)
{
    scene_do(scene, "select pawl.create_workflow('mistakes.wrong', max_attempts => 1)", NULL);
    scene_handle(scene, "mistakes.wrong", wrong, NULL);
    scene_start(scene);
}

static void
a_call_that_cannot_be_right_says_why(void **state)
{
    struct scene *scene = *state;

    begin(scene);
    check(scene, "\"name\"", "bad name \\\"Bad name\\\"");
    check(scene, "\"function\"", "no function was given");
    check(scene, "\"nested\"", "a step is open in this branch: \\\"outer#1\\\"");
    check(scene, "\"asleep\"", "a step is open in this branch: \\\"outer#1\\\"");
    check(scene, "\"suspended step\"", "a step cannot wait");
    check(scene, "\"finish\"", "no step was begun");
    check(scene, "\"topic\"", "needs a topic");
    check(scene, "\"limit\"", "timeout_ms must be");
    check(scene, "\"undo\"", "not rolling back");
}

static void
an_option_that_cannot_be_right_is_named(void **state)
{
    struct scene *scene = *state;
    char input[8];

    begin(scene);
    for (size_t i = 0; i < sizeof(bad_options) / sizeof(bad_options[0]); i++) {
        (void)snprintf(input, sizeof(input), "%zu", i);
        check(scene, input, bad_options[i][0]);
    }
}

static void
a_handler_that_returns_with_an_open_step_fails(void **state)
{
    struct scene *scene = *state;

    begin(scene);
    check(scene, "\"open\"", "the step \\\"open#1\\\" was open");
}

static void
a_run_that_is_suspended_and_waits_for_nothing_fails(void **state)
{
    struct scene *scene = *state;

    begin(scene);
    check(scene, "\"nothing\"", "waits_for_nothing");
}

/* Says that it was cancelled, or has lost its lease, which is not so. */
static pawl_status
liar(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    *output = pawl_text("\"honest\"");
    if (pawl_run_execution(run) > 1)
        return PAWL_OK;
    return strstr(input.data, "cancelled") != NULL ? PAWL_ECANCELLED : PAWL_ELEASE_LOST;
}

static void
a_handler_that_claims_to_be_cancelled_is_tried_again(void **state)
{
    struct scene *scene = *state;

    scene_handle(scene, "mistakes.liar", liar, NULL);
    scene_start(scene);
    scene_trigger(scene, "mistakes.liar", "\"cancelled\"");
    scene_go_on(scene);
    scene_advance(scene, 5000);
    scene_go_on(scene);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "\"honest\"");
    scene_trigger(scene, "mistakes.liar", "\"lost\"");
    scene_go_on(scene);
    scene_advance(scene, 5000);
    scene_go_on(scene);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "\"honest\"");
}

static void
calls_without_a_run_are_refused(void **state)
{
    pawl_bytes bytes = {NULL, 0};
    pawl_run *branch = NULL;
    const char *text = NULL;

    (void)state;
    assert_int_equal(pawl_step(NULL, "a", nothing, NULL, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_step_begin(NULL, "a", NULL), PAWL_EINVAL);
    assert_int_equal(pawl_step_finish(NULL, PAWL_OK, bytes, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_step_begin_transaction(NULL, "a", NULL, &text), PAWL_EINVAL);
    assert_int_equal(pawl_step_confirm(NULL, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_sleep(NULL, "a", 1), PAWL_EINVAL);
    assert_int_equal(pawl_wait_event(NULL, "a", "b", 1, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_wait_signal(NULL, "a", 1, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_wait_approval(NULL, "a", bytes, 1, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_child(NULL, "a", "b", bytes, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_child_detached(NULL, "a", "b", bytes, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_run_branch(NULL, "a", &branch), PAWL_EINVAL);
    assert_int_equal(pawl_branch(NULL, "a", NULL, NULL, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_branches_join(NULL), PAWL_EINVAL);
    assert_int_equal(pawl_run_check(NULL), PAWL_EINVAL);
    assert_int_equal(pawl_run_undo_next(NULL, &text, NULL, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_run_defer(NULL), PAWL_EINVAL);
    assert_null(pawl_run_alloc(NULL, 1));
    assert_null(pawl_step_key(NULL));
    assert_string_equal(pawl_run_id(NULL), "");
    pawl_run_log(NULL, "nobody hears it");
    pawl_run_set_error(NULL, NULL, "nor this");
    pawl_run_finish(NULL, PAWL_OK, bytes);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_set_up_stopped, scene_tear_down)
        TEST(a_call_that_cannot_be_right_says_why),
        TEST(an_option_that_cannot_be_right_is_named),
        TEST(a_handler_that_returns_with_an_open_step_fails),
        TEST(a_run_that_is_suspended_and_waits_for_nothing_fails),
        TEST(a_handler_that_claims_to_be_cancelled_is_tried_again),
        TEST(calls_without_a_run_are_refused),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
