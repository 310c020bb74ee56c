/* SPDX-License-Identifier: Apache-2.0 */
/* Steps and handlers that fail: how often and when they are tried again, and what a final failure says. The clock stands still. */
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What handlers are to do, and what they tell their test. */
struct tale {
    const char *options[5][2]; /* of the step */
    pawl_status result;        /* of each try */
    const char *say;           /* pawl_run_set_error() is called with it */
    const char *json;          /* or pawl_run_set_error_json() */
    int64_t retry_after_ms;    /* -1: it is not said */
    int good_from;             /* the first try that succeeds; 0: none */
    atomic_int executed;       /* how often the handler was */
    atomic_int tries;          /* how often the step was */
    pawl_status seen[8];       /* what the step returned, by execution */
    char errors[8][300];
    char messages[8][100];
};

static const struct tale no_tale = {.result = PAWL_EFAILED, .retry_after_ms = -1};

static pawl_status
try_it(pawl_run *run, void *userdata, pawl_bytes *output)
{
    struct tale *tale = userdata;
    int try = atomic_fetch_add(&tale->tries, 1) + 1;

    if (tale->good_from > 0 && try >= tale->good_from)
        return pawl_run_printf(run, output, "%d", try);
    if (tale->say != NULL)
        pawl_run_set_error(run, "no_luck", "%s, try %d", tale->say, try);
    if (tale->json != NULL)
        pawl_run_set_error_json(run, pawl_text(tale->json));
    if (tale->retry_after_ms >= 0)
        pawl_run_retry_after(run, tale->retry_after_ms);
    return tale->result;
}

/* One step, whose failure is the handler's. */
static pawl_status
one_step(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);
    int at = atomic_fetch_add(&tale->executed, 1);

    (void)input;
    for (int i = 0; i < 5 && tale->options[i][0] != NULL; i++)
        pawl_run_set_option(run, tale->options[i][0], tale->options[i][1]);
    tale->seen[at] = pawl_step(run, "try", try_it, tale, output);
    (void)snprintf(tale->errors[at], sizeof(tale->errors[at]), "%s",
        pawl_run_error(run).data == NULL ? "" : pawl_run_error(run).data);
    (void)snprintf(
        tale->messages[at], sizeof(tale->messages[at]), "%s", pawl_run_error_message(run));
    return tale->seen[at];
}

/* No step at all. */
static pawl_status
no_step(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);

    (void)input;
    atomic_fetch_add(&tale->executed, 1);
    return try_it(run, tale, output);
}

/* Copes with a step that fails for good, and waits before it goes on. */
static pawl_status
cope(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_status status = one_step(run, input, output);

    if (status != PAWL_EFAILED)
        return status;
    if ((status = pawl_wait_signal(run, "go", -1, NULL)) != PAWL_OK)
        return status;
    *output = pawl_text("\"coped\"");
    return PAWL_OK;
}

static void
begin(struct scene *scene, const char *workflow, pawl_handler_fn handler, struct tale *tale)
{
    scene_handle(scene, workflow, handler, tale);
    scene_start(scene);
    scene_trigger(scene, workflow, "{}");
    scene_go_on(scene);
}

/* Milliseconds until the run is due. */
static long
due_ms(struct scene *scene)
{
    return scene_number(scene,
        "select round(1000 * extract(epoch from due_at - pawl.now())) from pawl.get_run($1)",
        scene->run_id);
}

static void
a_step_is_tried_as_often_as_its_own_policy_says_and_no_second_layer_begins(void **state)
{
    struct scene *scene = *state;
    struct tale tale = no_tale;

    tale.options[0][0] = "max_attempts";
    tale.options[0][1] = "3";
    tale.say = "nobody is there";
    begin(scene, "retries.own", one_step, &tale);
    assert_int_equal(tale.tries, 1);
    assert_string_equal(scene_state(scene, scene->run_id), "PAUSED retry");
    scene_has(scene_text(scene, "select pawl.why($1)", scene->run_id),
        "Attempt 2 of 3 of step try#1 starts in 1 s. Last error: \"nobody is there, try 1\"");
    scene_advance(scene, 2000);
    scene_go_on(scene);
    assert_int_equal(tale.tries, 2);
    scene_advance(scene, 4000);
    scene_go_on(scene);
    /* The third was the last, although the workflow would have five for errors of its own. */
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_ERUN),
        "{\"code\":\"no_luck\",\"message\":\"nobody is there, try 3\"}");
    scene_advance(scene, 3600000);
    scene_go_on(scene);
    assert_int_equal(tale.tries, 3);
    assert_int_equal(tale.executed, 3);
    assert_int_equal(tale.seen[0], PAWL_SUSPENDED);
    assert_int_equal(tale.seen[2], PAWL_EFAILED);
    assert_int_equal(
        scene_number(scene, "select count(*) from pawl.history($1) where what = 'attempt_failed'",
            scene->run_id),
        2);
}

static void
the_pause_grows_from_base_by_factor_up_to_cap(void **state)
{
    static const char *const options[5][2] = {{"base_ms", "100"}, {"factor", "3"},
        {"cap_ms", "500"}, {"jitter", "0"}, {"max_attempts", "4"}};
    static const long pauses[] = {100, 300, 500};
    struct scene *scene = *state;
    struct tale tale = no_tale;

    memcpy(tale.options, options, sizeof(options));
    tale.good_from = 4;
    begin(scene, "retries.backoff", one_step, &tale);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(due_ms(scene), pauses[i]);
        scene_advance(scene, pauses[i] - 1);
        scene_go_on(scene);
        assert_int_equal(tale.tries, i + 1);
        scene_advance(scene, 1);
        scene_go_on(scene);
        assert_int_equal(tale.tries, i + 2);
    }
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "4");
}

static void
the_policy_of_the_workflow_holds_for_steps_without_one(void **state)
{
    struct scene *scene = *state;
    struct tale tale = no_tale;

    scene_do(scene,
        "select pawl.create_workflow('retries.workflow', max_attempts => 2, base => '7 s', jitter "
        "=> 0)",
        NULL);
    begin(scene, "retries.workflow", one_step, &tale);
    assert_int_equal(due_ms(scene), 7000);
    scene_advance(scene, 7000);
    scene_go_on(scene);
    (void)scene_wait(scene, scene->run_id, PAWL_ERUN);
    assert_int_equal(tale.tries, 2);
}

static void
the_policy_of_the_workflow_holds_for_errors_that_are_no_steps(void **state)
{
    struct scene *scene = *state;
    struct tale tale = no_tale;

    scene_do(scene,
        "select pawl.create_workflow('retries.handler', max_attempts => 3, base => '1 s', jitter "
        "=> 0)",
        NULL);
    tale.say = "not today";
    begin(scene, "retries.handler", no_step, &tale);
    assert_string_equal(scene_state(scene, scene->run_id), "PAUSED retry");
    scene_advance(scene, 1000);
    scene_go_on(scene);
    assert_int_equal(tale.executed, 2);
    assert_int_equal(due_ms(scene), 2000);
    scene_advance(scene, 2000);
    scene_go_on(scene);
    scene_has(scene_wait(scene, scene->run_id, PAWL_ERUN), "not today, try 3");
    assert_int_equal(tale.executed, 3);
}

static void
any_other_code_of_a_handler_is_a_failure_like_others(void **state)
{
    struct scene *scene = *state;
    struct tale tale = no_tale;

    scene_do(scene, "select pawl.create_workflow('retries.other', max_attempts => 2)", NULL);
    tale.result = 4711;
    begin(scene, "retries.other", no_step, &tale);
    assert_string_equal(scene_state(scene, scene->run_id), "PAUSED retry");
    scene_advance(scene, 2000);
    scene_go_on(scene);
    (void)scene_wait(scene, scene->run_id, PAWL_ERUN);
    assert_int_equal(tale.executed, 2);
}

static void
a_permanent_failure_of_a_step_is_not_tried_again(void **state)
{
    struct scene *scene = *state;
    struct tale tale = no_tale;

    tale.result = PAWL_EPERMANENT;
    tale.json = "{\"message\": \"no such card\", \"card\": 7}";
    begin(scene, "retries.permanent", one_step, &tale);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_ERUN), tale.json);
    assert_int_equal(tale.tries, 1);
    assert_int_equal(tale.seen[0], PAWL_EFAILED);
}

static void
a_permanent_failure_of_a_handler_is_not_tried_again(void **state)
{
    struct scene *scene = *state;
    struct tale tale = no_tale;

    tale.result = PAWL_EPERMANENT;
    begin(scene, "retries.never", no_step, &tale);
    (void)scene_wait(scene, scene->run_id, PAWL_ERUN);
    assert_int_equal(tale.executed, 1);
}

static void
retry_after_puts_off_the_next_try_of_a_step(void **state)
{
    struct scene *scene = *state;
    struct tale tale = no_tale;

    tale.retry_after_ms = 3600000;
    tale.good_from = 2;
    begin(scene, "retries.later", one_step, &tale);
    assert_int_equal(due_ms(scene), 3600000);
    scene_advance(scene, 3599000);
    scene_go_on(scene);
    assert_int_equal(tale.tries, 1);
    scene_advance(scene, 1000);
    scene_go_on(scene);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "2");
}

static void
retry_after_puts_off_the_next_try_of_a_handler(void **state)
{
    struct scene *scene = *state;
    struct tale tale = no_tale;

    tale.retry_after_ms = 60000;
    tale.good_from = 2;
    begin(scene, "retries.late", no_step, &tale);
    assert_int_equal(due_ms(scene), 60000);
    scene_advance(scene, 60000);
    scene_go_on(scene);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "2");
}

static void
a_final_failure_is_replayed_as_the_same_error(void **state)
{
    struct scene *scene = *state;
    struct tale tale = no_tale;

    tale.result = PAWL_EPERMANENT;
    tale.json = "{\"code\": \"declined\", \"message\": \"no credit\", \"limit\":  12.50}";
    begin(scene, "retries.replay", cope, &tale);
    assert_string_equal(scene_state(scene, scene->run_id), "PAUSED signal");
    scene_do(scene, "select pawl.signal($1, 'go')", scene->run_id);
    scene_go_on(scene);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "\"coped\"");
    assert_int_equal(tale.executed, 2);
    assert_int_equal(tale.tries, 1);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tale.seen[i], PAWL_EFAILED);
        assert_string_equal(tale.errors[i], tale.json);
        assert_string_equal(tale.messages[i], "no credit");
    }
}

static void
a_retry_of_the_run_tries_failed_steps_again_and_keeps_the_others(void **state)
{
    struct scene *scene = *state;
    struct tale tale = no_tale;

    tale.result = PAWL_EPERMANENT;
    tale.good_from = 2;
    begin(scene, "retries.round", one_step, &tale);
    (void)scene_wait(scene, scene->run_id, PAWL_ERUN);
    assert_string_equal(
        scene_text(scene, "select answer from pawl.retry(array[$1::uuid])", scene->run_id), "ok");
    scene_go_on(scene);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "2");
    assert_int_equal(scene_number(scene, "select round from pawl.get_run($1)", scene->run_id), 2);
}

static pawl_status
watch_the_time(pawl_run *run, void *userdata, pawl_bytes *output)
{
    struct tale *tale = userdata;
    int64_t give_up_ms = scene_now_ms() + scene_patience_ms;
    pawl_status status;

    (void)output;
    atomic_fetch_add(&tale->tries, 1);
    while ((status = pawl_run_check(run)) == PAWL_OK && scene_now_ms() < give_up_ms)
        scene_breathe();
    return status;
}

static pawl_status
ignore_the_time(pawl_run *run, void *userdata, pawl_bytes *output)
{
    (void)watch_the_time(run, userdata, output);
    *output = pawl_text("\"too late\"");
    return PAWL_OK;
}

static pawl_status
too_slow(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);
    bool own = strstr(input.data, "own") != NULL;

    if (own)
        pawl_run_set_option(run, "timeout_ms", "30");
    pawl_run_set_option(run, "max_attempts", "2");
    return pawl_step(run, "slow",
        strstr(input.data, "deaf") != NULL ? ignore_the_time : watch_the_time, tale, output);
}

static void
a_step_that_uses_up_its_time_fails_and_is_tried_again(void **state)
{
    static const char *const inputs[] = {"\"own\"", "\"own, deaf\"", "\"workflow's\""};
    struct scene *scene = *state;
    struct tale tale = no_tale;

    scene_do(scene, "select pawl.create_workflow('retries.slow', step_timeout => '40 ms')", NULL);
    scene_handle(scene, "retries.slow", too_slow, &tale);
    scene_start(scene);
    for (int i = 0; i < 3; i++) {
        tale.tries = 0;
        scene_trigger(scene, "retries.slow", inputs[i]);
        scene_go_on(scene);
        assert_string_equal(scene_state(scene, scene->run_id), "PAUSED retry");
        scene_advance(scene, 2000);
        scene_go_on(scene);
        scene_has(scene_wait(scene, scene->run_id, PAWL_ERUN), "\"code\":\"timeout\"");
        assert_int_equal(tale.tries, 2);
    }
}

static pawl_status
talkative(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    char *text = malloc(200000);

    (void)output;
    if (text == NULL)
        return PAWL_ENOMEM;
    if (strstr(input.data, "long") != NULL) {
        memset(text, 'x', 199999);
        text[199999] = '\0';
        pawl_run_set_error(run, NULL, "%s", text);
    } else if (strstr(input.data, "bytes") != NULL) {
        pawl_run_set_error(run, "c\xff", "bad \xff\xfe bytes \"quoted\" \x01");
    } else {
        pawl_run_set_error_json(run, pawl_text("{not json"));
    }
    free(text);
    return PAWL_EPERMANENT;
}

static void
whatever_a_handler_says_about_its_failure_the_run_ends_with_it(void **state)
{
    struct scene *scene = *state;

    scene_handle(scene, "retries.talkative", talkative, NULL);
    scene_start(scene);
    scene_trigger(scene, "retries.talkative", "\"long\"");
    scene_go_on(scene);
    scene_has(scene_wait(scene, scene->run_id, PAWL_ERUN), "xxxxxxxxxxxxxxxx");
    scene_trigger(scene, "retries.talkative", "\"bytes\"");
    scene_go_on(scene);
    scene_has(scene_wait(scene, scene->run_id, PAWL_ERUN), "bytes \\\"quoted\\\"");
    scene_trigger(scene, "retries.talkative", "\"json\"");
    scene_go_on(scene);
    scene_has(scene_wait(scene, scene->run_id, PAWL_ERUN), "bad_error");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_set_up_stopped, scene_tear_down)
        TEST(a_step_is_tried_as_often_as_its_own_policy_says_and_no_second_layer_begins),
        TEST(the_pause_grows_from_base_by_factor_up_to_cap),
        TEST(the_policy_of_the_workflow_holds_for_steps_without_one),
        TEST(the_policy_of_the_workflow_holds_for_errors_that_are_no_steps),
        TEST(any_other_code_of_a_handler_is_a_failure_like_others),
        TEST(a_permanent_failure_of_a_step_is_not_tried_again),
        TEST(a_permanent_failure_of_a_handler_is_not_tried_again),
        TEST(retry_after_puts_off_the_next_try_of_a_step),
        TEST(retry_after_puts_off_the_next_try_of_a_handler),
        TEST(a_final_failure_is_replayed_as_the_same_error),
        TEST(a_retry_of_the_run_tries_failed_steps_again_and_keeps_the_others),
        TEST(a_step_that_uses_up_its_time_fails_and_is_tried_again),
        TEST(whatever_a_handler_says_about_its_failure_the_run_ends_with_it),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
