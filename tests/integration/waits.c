/* SPDX-License-Identifier: Apache-2.0 */
/* Sleeps, events, signals and approvals: what lets go of the worker and what does not, and how each wait ends. The clock stands still. */
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum {
    HOUR = 3600 * 1000
};

/* What a handler asks for, and what it tells its test. */
struct tale {
    int64_t timeout_ms;
    const char *key;
    const char *match;
    const char *form;
    atomic_int executed;
    pawl_status seen[8]; /* what the wait returned, by execution */
    char payloads[8][300];
    char errors[8][300];
};

/* Keeps what a wait returned. */
static pawl_status
note(struct tale *tale, pawl_run *run, pawl_status status, pawl_bytes payload)
{
    int at = atomic_fetch_add(&tale->executed, 1);

    tale->seen[at] = status;
    (void)snprintf(tale->payloads[at], sizeof(tale->payloads[at]), "%s",
        payload.data == NULL ? "" : payload.data);
    (void)snprintf(tale->errors[at], sizeof(tale->errors[at]), "%s",
        status == PAWL_OK || pawl_run_error(run).data == NULL ? "" : pawl_run_error(run).data);
    return status;
}

static pawl_status
sleeper(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);

    (void)input;
    *output = pawl_text("\"awake\"");
    return note(tale, run, pawl_sleep(run, "nap", tale->timeout_ms), (pawl_bytes){0});
}

static pawl_status
event_waiter(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);
    pawl_status status;

    (void)input;
    if (tale->key != NULL)
        pawl_run_set_option(run, "key", tale->key);
    if (tale->match != NULL)
        pawl_run_set_option(run, "match", tale->match);
    status = pawl_wait_event(run, "news", "waits.topic", tale->timeout_ms, output);
    return note(tale, run, status, *output);
}

static pawl_status
signal_waiter(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);

    (void)input;
    return note(tale, run, pawl_wait_signal(run, "go", tale->timeout_ms, output), *output);
}

static pawl_status
asker(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);
    pawl_status status =
        pawl_wait_approval(run, "pay", pawl_text(tale->form), tale->timeout_ms, output);

    (void)input;
    (void)note(tale, run, status, *output);
    return status == PAWL_EREFUSED ? PAWL_OK : status;
}

static void
begin(struct scene *scene, const char *workflow, pawl_handler_fn handler, struct tale *tale)
{
    scene_handle(scene, workflow, handler, tale);
    scene_start(scene);
    scene_trigger(scene, workflow, "{}");
    scene_go_on(scene);
}

static void
a_sleep_lets_go_of_the_worker_until_its_time_has_come(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {.timeout_ms = 72 * HOUR};

    begin(scene, "waits.sleep", sleeper, &tale);
    assert_string_equal(scene_state(scene, scene->run_id), "PAUSED sleep");
    assert_int_equal(pawl_worker_counter(scene->worker, "held"), 0);
    scene_has(scene_text(scene, "select pawl.why($1)", scene->run_id), "Sleeping in nap#1 until");
    scene_advance(scene, 72 * HOUR - 1000);
    scene_go_on(scene);
    assert_int_equal(tale.executed, 1);
    scene_advance(scene, 1000);
    scene_go_on(scene);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "\"awake\"");
    assert_int_equal(tale.executed, 2);
    assert_int_equal(tale.seen[0], PAWL_SUSPENDED);
    assert_int_equal(tale.seen[1], PAWL_OK);
}

static void
a_sleep_of_no_time_is_over_at_once(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {.timeout_ms = 0};

    begin(scene, "waits.nothing", sleeper, &tale);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "\"awake\"");
}

static void
a_sleep_shorter_than_nothing_is_refused(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {.timeout_ms = -1};

    scene_do(scene, "select pawl.create_workflow('waits.refused', max_attempts => 1)", NULL);
    begin(scene, "waits.refused", sleeper, &tale);
    (void)scene_wait(scene, scene->run_id, PAWL_ERUN);
    assert_int_equal(tale.seen[0], PAWL_EINVAL);
}

static void
an_event_that_came_before_the_wait_is_taken_without_letting_go(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {.timeout_ms = -1};

    scene_do(scene, "select pawl.create_workflow('waits.before')", NULL);
    scene_do(scene, "select pawl.emit('waits.topic', '\"too early\"')", NULL);
    scene_advance(scene, 1000);
    scene_trigger(scene, "waits.before", "{}");
    scene_do(scene, "select pawl.emit('waits.topic', '{\"b\" : 1,\"a\":2}')", NULL);
    scene_advance(scene, 10);
    scene_do(scene, "select pawl.emit('waits.topic', '\"later\"')", NULL);
    scene_handle(scene, "waits.before", event_waiter, &tale);
    scene_start(scene);
    scene_go_on(scene);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "{\"b\" : 1,\"a\":2}");
    assert_int_equal(tale.executed, 1);
}

static void
an_event_that_comes_later_wakes_the_run(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {.timeout_ms = -1};

    begin(scene, "waits.after", event_waiter, &tale);
    assert_string_equal(scene_state(scene, scene->run_id), "PAUSED event");
    scene_do(scene, "select pawl.emit('waits.other', '1')", NULL);
    scene_do(scene, "select pawl.emit('waits.topic', '2', key => 'k')", NULL);
    scene_do(scene, "select pawl.emit('waits.topic', '3', tenant => 'acme')", NULL);
    scene_go_on(scene);
    assert_int_equal(tale.executed, 1);
    scene_do(scene, "select pawl.emit('waits.topic', '4')", NULL);
    scene_go_on(scene);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "4");
    assert_int_equal(tale.executed, 2);
}

static void
a_wait_takes_only_what_has_its_key_and_matches(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {
        .timeout_ms = -1, .key = "order \"7\"", .match = "{\"/id\": 7, \"/a/b\": \"x\"}"};

    begin(scene, "waits.match", event_waiter, &tale);
    scene_do(
        scene, "select pawl.emit('waits.topic', $1::json)", "{\"id\": 7, \"a\": {\"b\": \"x\"}}");
    scene_do(scene, "select pawl.emit('waits.topic', $1::json, key => 'order \"7\"')",
        "{\"id\": \"7\", \"a\": {\"b\": \"x\"}}");
    scene_do(
        scene, "select pawl.emit('waits.topic', $1::json, key => 'order \"7\"')", "{\"id\": 7}");
    scene_go_on(scene);
    assert_int_equal(tale.executed, 1);
    scene_has(scene_text(scene, "select pawl.why($1)", scene->run_id), "/id = 7");
    scene_do(scene, "select pawl.emit('waits.topic', $1::json, key => 'order \"7\"')",
        "{\"a\": {\"b\": \"x\", \"c\": 1}, \"id\": 7}");
    scene_go_on(scene);
    scene_has(scene_wait(scene, scene->run_id, PAWL_OK), "\"c\": 1");
}

static void
a_match_that_is_none_is_refused_with_a_reason(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {.timeout_ms = -1, .match = "{\"/id\": [7]}"};

    scene_do(scene, "select pawl.create_workflow('waits.mismatch', max_attempts => 1)", NULL);
    begin(scene, "waits.mismatch", event_waiter, &tale);
    scene_has(scene_wait(scene, scene->run_id, PAWL_ERUN), "scalar");
    assert_int_equal(tale.seen[0], PAWL_EINVAL);
}

static pawl_status
two_events(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_bytes one, two;
    pawl_status status;

    (void)input;
    if ((status = pawl_wait_event(run, "news", "waits.two", -1, &one)) != PAWL_OK ||
        (status = pawl_wait_event(run, "news", "waits.two", -1, &two)) != PAWL_OK)
        return status;
    return pawl_run_printf(run, output, "[%s, %s]", one.data, two.data);
}

static void
each_event_is_taken_once_by_a_run_in_order_and_wakes_many_runs(void **state)
{
    struct scene *scene = *state;
    char other[PAWL_ID_SIZE];

    scene_handle(scene, "waits.two", two_events, NULL);
    scene_start(scene);
    memcpy(other, scene_trigger(scene, "waits.two", "{}"), sizeof(other));
    scene_trigger(scene, "waits.two", "{}");
    scene_go_on(scene);
    scene_do(scene, "select pawl.emit('waits.two', '1')", NULL);
    scene_advance(scene, 10);
    scene_do(scene, "select pawl.emit('waits.two', '2')", NULL);
    scene_go_on(scene);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "[1, 2]");
    assert_string_equal(scene_wait(scene, other, PAWL_OK), "[1, 2]");
}

static void
a_wait_for_an_event_times_out(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {.timeout_ms = HOUR};

    begin(scene, "waits.event_timeout", event_waiter, &tale);
    scene_advance(scene, HOUR);
    scene_go_on(scene);
    scene_has(scene_wait(scene, scene->run_id, PAWL_ERUN), "timeout");
    assert_int_equal(tale.seen[1], PAWL_ETIMEOUT);
    scene_has(tale.errors[1], "timeout");
}

/* Copes with the time that is over, and lets go once more. */
static pawl_status
patient(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);
    pawl_status status = signal_waiter(run, input, output);

    if (status != PAWL_ETIMEOUT)
        return status;
    status = pawl_sleep(run, "nap", HOUR);
    *output = pawl_text("\"gave up\"");
    return tale->executed > 0 ? status : PAWL_EINVAL;
}

static void
a_wait_that_timed_out_says_so_on_every_replay(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {.timeout_ms = HOUR};

    begin(scene, "waits.patient", patient, &tale);
    scene_advance(scene, HOUR);
    scene_go_on(scene);
    assert_string_equal(scene_state(scene, scene->run_id), "PAUSED sleep");
    scene_do(scene, "select pawl.signal($1, 'go', '1')", scene->run_id);
    scene_advance(scene, HOUR);
    scene_go_on(scene);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "\"gave up\"");
    assert_int_equal(tale.seen[1], PAWL_ETIMEOUT);
    assert_int_equal(tale.seen[2], PAWL_ETIMEOUT);
    assert_string_equal(tale.errors[1], tale.errors[2]);
}

static void
a_signal_that_came_before_the_wait_is_taken_without_letting_go(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {.timeout_ms = -1};

    scene_do(scene, "select pawl.create_workflow('waits.signal')", NULL);
    scene_trigger(scene, "waits.signal", "{}");
    scene_do(scene, "select pawl.signal($1, 'go', '\"one\"')", scene->run_id);
    scene_do(scene, "select pawl.signal($1, 'go', '\"two\"')", scene->run_id);
    scene_handle(scene, "waits.signal", signal_waiter, &tale);
    scene_start(scene);
    scene_go_on(scene);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "\"one\"");
    assert_int_equal(tale.executed, 1);
}

static void
a_signal_that_comes_later_wakes_the_run_and_no_other(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {.timeout_ms = -1};
    pawl_error *error = NULL;
    char other[PAWL_ID_SIZE];

    begin(scene, "waits.signal", signal_waiter, &tale);
    memcpy(other, scene->run_id, sizeof(other));
    scene_trigger(scene, "waits.signal", "{}");
    scene_go_on(scene);
    assert_int_equal(
        pawl_client_signal(scene->client, scene->run_id, "come", pawl_text("1"), &error), PAWL_OK);
    scene_go_on(scene);
    assert_int_equal(tale.executed, 2);
    assert_int_equal(
        pawl_client_signal(scene->client, scene->run_id, "go", pawl_text("2"), &error), PAWL_OK);
    scene_go_on(scene);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "2");
    assert_string_equal(scene_state(scene, other), "PAUSED signal");
}

static void
an_approval_shows_its_form_and_gives_the_decision(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {.timeout_ms = -1, .form = "{\"amount\":  12.50}"};

    begin(scene, "waits.approved", asker, &tale);
    assert_string_equal(
        scene_text(scene,
            "select form from pawl.list_waits(only_run => $1, only_approvals => true)",
            scene->run_id),
        "{\"amount\":  12.50}");
    /* A plain signal of that name is no decision. */
    scene_do(scene, "select pawl.signal($1, 'pay', '{\"approved\": true}')", scene->run_id);
    scene_go_on(scene);
    assert_int_equal(tale.executed, 1);
    scene_do(scene,
        "select pawl.approve($1, 'pay', by => 'ann', why => 'fine', payload => '{\"n\": 1}')",
        scene->run_id);
    scene_go_on(scene);
    (void)scene_wait(scene, scene->run_id, PAWL_OK);
    assert_int_equal(tale.seen[1], PAWL_OK);
    assert_string_equal(scene_text(scene,
                            "select concat_ws(' ', o ->> 'approved', o ->> 'by', o ->> 'why', o "
                            "-> 'payload' ->> 'n') from (select $1::json) t (o)",
                            tale.payloads[1]),
        "true ann fine 1");
}

static void
a_rejected_approval_is_refused_and_gives_the_decision(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {.timeout_ms = -1};

    begin(scene, "waits.rejected", asker, &tale);
    scene_do(scene, "select pawl.reject($1, 'pay', by => 'bob', why => 'too much')", scene->run_id);
    scene_go_on(scene);
    scene_has(scene_wait(scene, scene->run_id, PAWL_OK), "too much");
    assert_int_equal(tale.seen[1], PAWL_EREFUSED);
    assert_string_equal(scene_text(scene,
                            "select concat_ws(' ', o ->> 'approved', o ->> 'by') from (select "
                            "$1::json) t (o)",
                            tale.payloads[1]),
        "false bob");
}

static void
an_approval_that_was_given_before_is_taken_without_letting_go(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {.timeout_ms = -1};

    scene_do(scene, "select pawl.create_workflow('waits.early')", NULL);
    scene_trigger(scene, "waits.early", "{}");
    scene_do(scene, "select pawl.approve($1, 'pay', by => 'ann')", scene->run_id);
    scene_handle(scene, "waits.early", asker, &tale);
    scene_start(scene);
    scene_go_on(scene);
    (void)scene_wait(scene, scene->run_id, PAWL_OK);
    assert_int_equal(tale.executed, 1);
    assert_int_equal(tale.seen[0], PAWL_OK);
}

static void
a_wait_without_time_takes_what_is_there_or_times_out(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {.timeout_ms = 0};

    begin(scene, "waits.look", signal_waiter, &tale);
    (void)scene_wait(scene, scene->run_id, PAWL_ERUN);
    assert_int_equal(tale.seen[1], PAWL_ETIMEOUT);
    (void)scene_rest(scene);
    scene_trigger(scene, "waits.look", "{}");
    scene_do(scene, "select pawl.signal($1, 'go', '7')", scene->run_id);
    scene_handle(scene, "waits.look", signal_waiter, &tale);
    scene_start(scene);
    scene_go_on(scene);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "7");
}

static void
an_approval_times_out(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {.timeout_ms = 72 * HOUR};

    begin(scene, "waits.undecided", asker, &tale);
    scene_advance(scene, 72 * HOUR);
    scene_go_on(scene);
    (void)scene_wait(scene, scene->run_id, PAWL_ERUN);
    assert_int_equal(tale.seen[1], PAWL_ETIMEOUT);
}

static void
a_form_that_is_no_json_is_refused(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {.timeout_ms = -1, .form = "{bad"};

    scene_do(scene, "select pawl.create_workflow('waits.form', max_attempts => 1)", NULL);
    begin(scene, "waits.form", asker, &tale);
    scene_has(scene_wait(scene, scene->run_id, PAWL_ERUN), "form must be JSON");
    assert_int_equal(tale.seen[0], PAWL_EINVAL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_set_up_stopped, scene_tear_down)
        TEST(a_sleep_lets_go_of_the_worker_until_its_time_has_come),
        TEST(a_sleep_of_no_time_is_over_at_once),
        TEST(a_sleep_shorter_than_nothing_is_refused),
        TEST(an_event_that_came_before_the_wait_is_taken_without_letting_go),
        TEST(an_event_that_comes_later_wakes_the_run),
        TEST(a_wait_takes_only_what_has_its_key_and_matches),
        TEST(a_match_that_is_none_is_refused_with_a_reason),
        TEST(each_event_is_taken_once_by_a_run_in_order_and_wakes_many_runs),
        TEST(a_wait_for_an_event_times_out),
        TEST(a_wait_that_timed_out_says_so_on_every_replay),
        TEST(a_signal_that_came_before_the_wait_is_taken_without_letting_go),
        TEST(a_signal_that_comes_later_wakes_the_run_and_no_other),
        TEST(an_approval_shows_its_form_and_gives_the_decision),
        TEST(a_rejected_approval_is_refused_and_gives_the_decision),
        TEST(an_approval_that_was_given_before_is_taken_without_letting_go),
        TEST(a_wait_without_time_takes_what_is_there_or_times_out),
        TEST(an_approval_times_out),
        TEST(a_form_that_is_no_json_is_refused),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
