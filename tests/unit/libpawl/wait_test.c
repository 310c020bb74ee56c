/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting: what is asked of the engine, and what its answers and its records come to. */
#include "fake_core.h"
#include "pawl/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static struct pw_task *task;
static pawl_run *run;

static const struct fake_answer paused = {.state = PW_STATE_PAUSED};

static void
begin(const char *record)
{
    fake_core_reset();
    task = fake_core_task(record);
    assert_non_null(task);
    run = task->run;
}

static int
end(void **state)
{
    (void)state;
    if (task != NULL)
        fake_core_end(task);
    task = NULL;
    fake_core_done();
    return 0;
}

static void
a_sleep_is_opened_and_lets_go(void **state)
{
    (void)state;
    begin(NULL);
    fake_core_answer(paused);
    assert_int_equal(pawl_sleep(run, "nap", 259200000), PAWL_SUSPENDED);
    assert_string_equal(fake_core_item(0), "sleep nap#1 - {\"ms\":259200000}");
    assert_int_equal(fake_core_seq(0), 1);
    pawl_run_finish(run, PAWL_SUSPENDED, (pawl_bytes){0});
    assert_string_equal(fake_core_last(), "suspend - - -");
}

static void
a_wait_that_is_open_is_not_asked_for_again(void **state)
{
    (void)state;
    begin("{\"waits\":[{\"name\":\"nap#1\",\"kind\":\"sleep\",\"child\":null}]}");
    assert_int_equal(pawl_sleep(run, "nap", 5), PAWL_SUSPENDED);
    assert_int_equal(fake_core_count(), 0);
}

static void
what_is_over_is_returned(void **state)
{
    pawl_bytes output = {0};

    (void)state;
    begin(
        "{\"steps\":["
        "{\"name\":\"nap#1\",\"kind\":\"sleep\",\"state\":\"SUCCESS\",\"seq\":1,\"output\":null},"
        "{\"name\":\"ev#1\",\"kind\":\"event\",\"state\":\"SUCCESS\",\"seq\":2,\"output\":{\"id\":"
        "7}},"
        "{\"name\":\"late#1\",\"kind\":\"event\",\"state\":\"ERROR\",\"seq\":3,\"error\":{\"code\":"
        "\"timeout\",\"message\":\"the wait timed out\"}},"
        "{\"name\":\"sig#1\",\"kind\":\"signal\",\"state\":\"SUCCESS\",\"seq\":4,\"output\":null},"
        "{\"name\":\"yes#1\",\"kind\":\"approval\",\"state\":\"SUCCESS\",\"seq\":5,\"output\":{"
        "\"approved\":true,\"by\":\"eve\"}},"
        "{\"name\":\"no#1\",\"kind\":\"approval\",\"state\":\"SUCCESS\",\"seq\":6,\"output\":{"
        "\"approved\":false,\"by\":\"bob\"}},"
        "{\"name\":\"kid#1\",\"kind\":\"child\",\"state\":\"SUCCESS\",\"seq\":7,\"output\":9},"
        "{\"name\":\"bad#1\",\"kind\":\"child\",\"state\":\"ERROR\",\"seq\":8,\"error\":{\"code\":"
        "\"child_failed\",\"error\":{\"message\":\"deep\"}}}]}");
    assert_int_equal(pawl_sleep(run, "nap", 5), PAWL_OK);
    assert_int_equal(pawl_wait_event(run, "ev", "t", -1, &output), PAWL_OK);
    assert_string_equal(output.data, "{\"id\":7}");
    assert_int_equal(pawl_wait_event(run, "late", "t", 5, &output), PAWL_ETIMEOUT);
    assert_string_equal(pawl_run_error_message(run), "the wait timed out");
    assert_int_equal(pawl_wait_signal(run, "sig", -1, &output), PAWL_OK);
    assert_string_equal(output.data, "null");
    assert_int_equal(pawl_wait_approval(run, "yes", (pawl_bytes){0}, -1, &output), PAWL_OK);
    assert_string_equal(output.data, "{\"approved\":true,\"by\":\"eve\"}");
    assert_int_equal(pawl_wait_approval(run, "no", (pawl_bytes){0}, -1, &output), PAWL_EREFUSED);
    assert_string_equal(output.data, "{\"approved\":false,\"by\":\"bob\"}");
    assert_string_equal(pawl_run_error_message(run), "\"no#1\" was rejected");
    assert_int_equal(pawl_child(run, "kid", "w", (pawl_bytes){0}, &output), PAWL_OK);
    assert_string_equal(output.data, "9");
    assert_int_equal(pawl_child(run, "bad", "w", (pawl_bytes){0}, &output), PAWL_ERUN);
    assert_string_equal(output.data, "9");
    assert_string_equal(pawl_run_error_message(run), "deep");
    assert_int_equal(fake_core_count(), 0);
    /* A recorded failure that the handler returns ends the run: the next execution would come to the same. */
    pawl_run_finish(run, PAWL_ERUN, (pawl_bytes){0});
    assert_string_equal(fake_core_last(),
        "fail - {\"code\":\"child_failed\",\"error\":{\"message\":\"deep\"}} {\"final\":true}");
}

static void
an_event_is_asked_for_with_key_and_match(void **state)
{
    (void)state;
    begin(NULL);
    fake_core_answer(paused);
    pawl_run_set_option(run, "key", "order:\"7\"");
    pawl_run_set_option(run, "match", "{\"/id\": 7}");
    assert_int_equal(pawl_wait_event(run, "ev", "photo.approved", 60000, NULL), PAWL_SUSPENDED);
    assert_string_equal(fake_core_item(0),
        "event ev#1 - "
        "{\"topic\":\"photo.approved\",\"key\":\"order:\\\"7\\\"\",\"match\":{\"/id\": "
        "7},\"timeout_ms\":60000}");
    end(state);
    begin(NULL);
    assert_int_equal(pawl_wait_event(run, "ev", "t", -1, NULL), PAWL_SUSPENDED);
    assert_string_equal(fake_core_item(0), "event ev#1 - {\"topic\":\"t\"}");
}

static void
an_event_that_is_there_is_taken_at_once(void **state)
{
    pawl_bytes output = {0};

    (void)state;
    begin(NULL);
    fake_core_answer((struct fake_answer){.state = PW_STATE_SUCCESS, .output = "{\"id\":1}"});
    assert_int_equal(pawl_wait_event(run, "ev", "t", -1, &output), PAWL_OK);
    assert_string_equal(output.data, "{\"id\":1}");
    fake_core_answer((struct fake_answer){.answer = PW_ANSWER_ALREADY,
        .state = PW_STATE_ERROR,
        .error = "{\"code\":\"timeout\"}",
        .error_code = "timeout"});
    assert_int_equal(pawl_wait_event(run, "ev", "t", -1, &output), PAWL_ETIMEOUT);
    assert_string_equal(fake_core_item(1), "event ev#2 - {\"topic\":\"t\"}");
    fake_core_answer((struct fake_answer){
        .answer = PW_ANSWER_ALREADY, .state = PW_STATE_ERROR, .error = "{\"code\":\"odd\"}"});
    assert_int_equal(pawl_wait_event(run, "ev", "t", -1, &output), PAWL_EFAILED);
}

static void
signals_and_approvals_say_what_they_need_and_no_more(void **state)
{
    (void)state;
    begin(NULL);
    assert_int_equal(pawl_wait_signal(run, "go", -1, NULL), PAWL_SUSPENDED);
    assert_string_equal(fake_core_item(0), "signal go#1 - -");
    end(state);
    begin(NULL);
    assert_int_equal(pawl_wait_signal(run, "go", 0, NULL), PAWL_SUSPENDED);
    assert_string_equal(fake_core_item(0), "signal go#1 - {\"timeout_ms\":0}");
    end(state);
    begin(NULL);
    assert_int_equal(pawl_wait_approval(run, "ok", (pawl_bytes){0}, -1, NULL), PAWL_SUSPENDED);
    assert_string_equal(fake_core_item(0), "approval ok#1 - -");
    end(state);
    begin(NULL);
    assert_int_equal(
        pawl_wait_approval(run, "ok", pawl_text("{\"ask\": \"?\"}"), 9, NULL), PAWL_SUSPENDED);
    assert_string_equal(
        fake_core_item(0), "approval ok#1 - {\"form\":{\"ask\": \"?\"},\"timeout_ms\":9}");
}

static void
a_decision_that_is_there_is_taken_at_once(void **state)
{
    pawl_bytes decision = {0};

    (void)state;
    begin(NULL);
    fake_core_answer((struct fake_answer){
        .state = PW_STATE_SUCCESS, .output = "{\"approved\":true}", .approved = true});
    fake_core_answer(
        (struct fake_answer){.state = PW_STATE_SUCCESS, .output = "{\"approved\":false}"});
    assert_int_equal(pawl_wait_approval(run, "a", (pawl_bytes){0}, -1, &decision), PAWL_OK);
    assert_int_equal(pawl_wait_approval(run, "b", (pawl_bytes){0}, -1, NULL), PAWL_EREFUSED);
    pawl_run_finish(run, PAWL_EREFUSED, (pawl_bytes){0});
    assert_string_equal(fake_core_last(),
        "fail - {\"code\":\"rejected\",\"message\":\"\\\"b#1\\\" was rejected\"} {\"final\":true}");
}

static void
a_child_is_triggered_with_its_options(void **state)
{
    pawl_bytes output = {0};

    (void)state;
    begin(NULL);
    pawl_run_set_option(run, "priority", "5");
    pawl_run_set_option(run, "delay_ms", "1000");
    pawl_run_set_option(run, "metadata", "{\"m\": 1}");
    pawl_run_set_option(run, "limit_key", "acme");
    fake_core_answer(
        (struct fake_answer){.state = PW_STATE_SUCCESS, .output = "{\"run_id\":\"x\"}"});
    assert_int_equal(
        pawl_child_detached(run, "kid", "child.v1", pawl_text("[1]"), &output), PAWL_OK);
    assert_string_equal(output.data, "{\"run_id\":\"x\"}");
    assert_string_equal(fake_core_item(0),
        "child kid#1 [1] "
        "{\"workflow\":\"child.v1\",\"detached\":true,\"priority\":5,\"delay_ms\":1000,"
        "\"metadata\":{\"m\": 1},\"limit_key\":\"acme\"}");
    fake_core_answer(paused);
    assert_int_equal(pawl_child(run, "kid", "child.v1", (pawl_bytes){0}, &output), PAWL_SUSPENDED);
    assert_string_equal(fake_core_item(1), "child kid#2 - {\"workflow\":\"child.v1\"}");
}

static void
what_the_engine_refuses_is_a_bad_argument(void **state)
{
    (void)state;
    begin(NULL);
    fake_core_answer((struct fake_answer){
        .answer = PW_ANSWER_REFUSED, .reason = "unknown workflow \"child.v1\""});
    assert_int_equal(pawl_child(run, "kid", "child.v1", (pawl_bytes){0}, NULL), PAWL_EINVAL);
    assert_string_equal(pawl_run_error_message(run), "unknown workflow \"child.v1\"");
    pawl_run_finish(run, PAWL_EINVAL, (pawl_bytes){0});
    assert_string_equal(fake_core_last(),
        "fail - {\"code\":\"refused\",\"message\":\"unknown workflow \\\"child.v1\\\"\"} -");
}

static void
mistakes_are_said_and_nothing_is_posted(void **state)
{
    static char large[70000];
    pawl_bytes none = {0};

    (void)state;
    memset(large, 'x', sizeof(large) - 1);
    begin(NULL);
    assert_int_equal(pawl_sleep(run, "a", -1), PAWL_EINVAL);
    assert_int_equal(pawl_sleep(run, "A", 1), PAWL_EINVAL);
    assert_int_equal(pawl_wait_event(run, "a", "t", -2, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_wait_event(run, "a", "", -1, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_wait_event(run, "a", NULL, -1, NULL), PAWL_EINVAL);
    assert_string_equal(pawl_run_error_message(run), "\"a\": a wait for an event needs a topic");
    assert_int_equal(pawl_wait_signal(run, "a", -2, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_wait_approval(run, "a", none, -2, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_wait_approval(run, "a", pawl_text("{x"), -1, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_child(run, "a", NULL, none, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_child(run, "a", "w", pawl_text("\xff"), NULL), PAWL_EINVAL);
    assert_string_equal(
        pawl_run_error_message(run), "the input of the child \"a\" is not valid UTF-8");
    assert_int_equal(pawl_wait_event(run, "b", large, -1, NULL), PAWL_EINVAL);
    pawl_run_set_option(run, "timeout_ms", "5");
    assert_int_equal(pawl_sleep(run, "a", 1), PAWL_EINVAL);
    assert_string_equal(
        pawl_run_error_message(run), "option \"timeout_ms\" is not one of this call");
    pawl_run_set_option(run, "match", "{\"/a\": 1}");
    assert_int_equal(pawl_wait_signal(run, "a", -1, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_sleep(NULL, "a", 1), PAWL_EINVAL);
    assert_int_equal(pawl_wait_event(NULL, "a", "t", -1, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_wait_signal(NULL, "a", -1, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_wait_approval(NULL, "a", none, -1, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_child(NULL, "a", "w", none, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_child_detached(NULL, "a", "w", none, NULL), PAWL_EINVAL);
    assert_int_equal(fake_core_count(), 0);
    /* None of them was counted. */
    assert_int_equal(pawl_wait_signal(run, "a", -1, NULL), PAWL_SUSPENDED);
    assert_string_equal(fake_core_item(0), "signal a#1 - -");
}

static void
a_wait_recorded_as_another_kind_is_drift(void **state)
{
    (void)state;
    begin("{\"steps\":[{\"name\":\"a#1\",\"kind\":\"step\",\"state\":\"SUCCESS\",\"seq\":1}]}");
    assert_int_equal(pawl_wait_approval(run, "a", (pawl_bytes){0}, -1, NULL), PAWL_SUSPENDED);
    pawl_run_finish(run, PAWL_SUSPENDED, (pawl_bytes){0});
    assert_string_equal(
        fake_core_last(), "drift a#1 - {\"recorded\":\"step\",\"asked\":\"approval\"}");
}

static void
a_wait_of_a_run_that_was_cancelled_is_not_opened(void **state)
{
    (void)state;
    begin(NULL);
    atomic_store(&task->standing, PW_CANCELLED);
    assert_int_equal(pawl_sleep(run, "a", 1), PAWL_ECANCELLED);
    assert_int_equal(fake_core_count(), 0);
    end(state);
    begin(NULL);
    fake_core_answer((struct fake_answer){.answer = PW_ANSWER_LEASE_LOST});
    assert_int_equal(pawl_sleep(run, "a", 1), PAWL_ELEASE_LOST);
    assert_int_equal(pawl_run_check(run), PAWL_ELEASE_LOST);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_sleep_is_opened_and_lets_go, end),
        cmocka_unit_test_teardown(a_wait_that_is_open_is_not_asked_for_again, end),
        cmocka_unit_test_teardown(what_is_over_is_returned, end),
        cmocka_unit_test_teardown(an_event_is_asked_for_with_key_and_match, end),
        cmocka_unit_test_teardown(an_event_that_is_there_is_taken_at_once, end),
        cmocka_unit_test_teardown(signals_and_approvals_say_what_they_need_and_no_more, end),
        cmocka_unit_test_teardown(a_decision_that_is_there_is_taken_at_once, end),
        cmocka_unit_test_teardown(a_child_is_triggered_with_its_options, end),
        cmocka_unit_test_teardown(what_the_engine_refuses_is_a_bad_argument, end),
        cmocka_unit_test_teardown(mistakes_are_said_and_nothing_is_posted, end),
        cmocka_unit_test_teardown(a_wait_recorded_as_another_kind_is_drift, end),
        cmocka_unit_test_teardown(a_wait_of_a_run_that_was_cancelled_is_not_opened, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
