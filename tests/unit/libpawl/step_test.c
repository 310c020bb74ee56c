/* SPDX-License-Identifier: Apache-2.0 */
/* Steps: what is posted, what answers and records come to, and which calls are refused. */
#include "fake_core.h"
#include "pawl/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

/* What the step function of these tests does. */
struct plan {
    pawl_status status;
    const char *output;
    const char *code;
    const char *message;
    int calls;
};

static pawl_status
work(pawl_run *run, void *userdata, pawl_bytes *output)
{
    struct plan *plan = userdata;

    plan->calls++;
    if (plan->message != NULL)
        pawl_run_set_error(run, plan->code, "%s", plan->message);
    *output = pawl_text(plan->output);
    return plan->status;
}

static struct pw_task *task;
static pawl_run *run;

/* The error of a status about which nobody has said more. */
static const char *
plain_error(pawl_status status, const char *code)
{
    static char text[300];

    (void)snprintf(
        text, sizeof(text), "{\"code\":\"%s\",\"message\":\"%s\"}", code, pawl_status_text(status));
    return text;
}

static void
assert_item(size_t n, const char *kind, const char *error, const char *option)
{
    char text[400];

    (void)snprintf(text, sizeof(text), "%s %s %s", kind, error, option);
    assert_string_equal(fake_core_item(n), text);
}

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
a_step_is_executed_and_recorded_once(void **state)
{
    struct plan plan = {.output = "{\"a\":1}"};
    pawl_bytes output = {0};

    (void)state;
    begin(NULL);
    assert_int_equal(pawl_step(run, "fetch", work, &plan, &output), PAWL_OK);
    assert_int_equal(plan.calls, 1);
    assert_string_equal(output.data, "{\"a\":1}");
    assert_int_equal(output.size, 7);
    assert_ptr_not_equal(output.data, plan.output);
    assert_int_equal(fake_core_count(), 1);
    assert_string_equal(fake_core_item(0), "step fetch#1 {\"a\":1} -");
    assert_int_equal(fake_core_seq(0), 1);
}

static void
a_step_without_output_records_null(void **state)
{
    struct plan plan = {0};
    pawl_bytes output = {0};

    (void)state;
    begin(NULL);
    assert_int_equal(pawl_step(run, "fetch", work, &plan, &output), PAWL_OK);
    assert_string_equal(fake_core_item(0), "step fetch#1 null -");
    assert_string_equal(output.data, "null");
    assert_int_equal(pawl_step(run, "fetch", work, &plan, NULL), PAWL_OK);
    assert_string_equal(fake_core_item(1), "step fetch#2 null -");
    assert_int_equal(fake_core_seq(1), 2);
}

static void
what_is_recorded_is_returned_without_being_done_again(void **state)
{
    struct plan plan = {0};
    pawl_bytes output = {0};

    (void)state;
    begin("{\"steps\":[{\"name\":\"a#1\",\"kind\":\"step\",\"state\":\"SUCCESS\",\"seq\":1,"
          "\"output\":[7]},"
          "{\"name\":\"b#1\",\"kind\":\"step\",\"state\":\"SUCCESS\",\"seq\":2,\"output\":null},"
          "{\"name\":\"c#1\",\"kind\":\"step\",\"state\":\"ERROR\",\"seq\":5,\"error\":{\"code\":"
          "\"x\",\"message\":\"was so\"}}]}");
    assert_int_equal(pawl_step(run, "a", work, &plan, &output), PAWL_OK);
    assert_string_equal(output.data, "[7]");
    assert_int_equal(pawl_step_begin(run, "b", &output), PAWL_OK);
    assert_string_equal(output.data, "null");
    assert_int_equal(pawl_step(run, "c", work, &plan, &output), PAWL_EFAILED);
    assert_string_equal(output.data, "null");
    assert_string_equal(pawl_run_error(run).data, "{\"code\":\"x\",\"message\":\"was so\"}");
    assert_string_equal(pawl_run_error_message(run), "was so");
    assert_int_equal(plan.calls, 0);
    assert_int_equal(fake_core_count(), 0);
    /* What comes new is numbered behind it. */
    assert_int_equal(pawl_step(run, "d", work, &plan, NULL), PAWL_OK);
    assert_int_equal(fake_core_seq(0), 6);
}

static void
another_kind_than_the_recorded_one_is_drift(void **state)
{
    struct plan plan = {0};

    (void)state;
    begin("{\"steps\":[{\"name\":\"a#1\",\"kind\":\"sleep\",\"state\":\"SUCCESS\",\"seq\":1}],"
          "\"waits\":[{\"name\":\"b#1\",\"kind\":\"event\"}]}");
    assert_int_equal(pawl_step(run, "a", work, &plan, NULL), PAWL_SUSPENDED);
    assert_int_equal(pawl_step(run, "b", work, &plan, NULL), PAWL_SUSPENDED);
    assert_int_equal(plan.calls, 0);
    pawl_run_finish(run, PAWL_OK, pawl_text("1"));
    assert_string_equal(
        fake_core_last(), "drift a#1 - {\"recorded\":\"sleep\",\"asked\":\"step\"}");
}

static void
an_open_wait_of_that_name_is_drift_as_well(void **state)
{
    struct plan plan = {0};

    (void)state;
    begin("{\"waits\":[{\"name\":\"b#1\",\"kind\":\"event\"}]}");
    assert_int_equal(pawl_step(run, "b", work, &plan, NULL), PAWL_SUSPENDED);
    pawl_run_finish(run, PAWL_SUSPENDED, (pawl_bytes){0});
    assert_string_equal(
        fake_core_last(), "drift b#1 - {\"recorded\":\"event\",\"asked\":\"step\"}");
}

static void
drift_that_the_engine_found_lets_go_and_writes_nothing(void **state)
{
    struct plan plan = {0};

    (void)state;
    begin(NULL);
    fake_core_answer((struct fake_answer){.answer = PW_ANSWER_REFUSED, .reason = "drift"});
    assert_int_equal(pawl_step(run, "a", work, &plan, NULL), PAWL_SUSPENDED);
    pawl_run_finish(run, PAWL_SUSPENDED, (pawl_bytes){0});
    assert_string_equal(fake_core_last(), "release - - -");
}

static void
a_step_that_failed_is_retried_later(void **state)
{
    struct plan plan = {.status = PAWL_EFAILED, .code = "http", .message = "no \"luck\""};

    (void)state;
    begin(NULL);
    assert_int_equal(pawl_step(run, "a", work, &plan, NULL), PAWL_SUSPENDED);
    assert_string_equal(fake_core_item(0),
        "retry a#1 {\"code\":\"http\",\"message\":\"no \\\"luck\\\"\"} {\"failure\":1}");
    assert_string_equal(pawl_run_error_message(run), "no \"luck\"");
    /* From now on this branch can do nothing more. */
    assert_int_equal(pawl_step(run, "b", work, &plan, NULL), PAWL_SUSPENDED);
    assert_int_equal(plan.calls, 1);
    assert_int_equal(fake_core_count(), 1);
}

static void
the_last_failure_is_final_and_says_why(void **state)
{
    struct plan plan = {.status = PAWL_EFAILED};

    (void)state;
    begin("{\"retries\":{\"a#1\":{\"n\":4,\"due\":\"2026-03-01T11:59:59+00:00\"}}}");
    fake_core_answer((struct fake_answer){.final = true});
    assert_int_equal(pawl_step(run, "a", work, &plan, NULL), PAWL_EFAILED);
    assert_item(0, "retry a#1", plain_error(PAWL_EFAILED, "efailed"), "{\"failure\":5}");
    assert_string_equal(pawl_run_error_message(run), pawl_status_text(PAWL_EFAILED));
}

static void
a_try_that_is_not_due_suspends_at_once(void **state)
{
    struct plan plan = {0};

    (void)state;
    begin("{\"retries\":{\"a#1\":{\"n\":1,\"due\":\"2026-03-01T12:00:40+00:00\"}}}");
    assert_int_equal(pawl_step(run, "a", work, &plan, NULL), PAWL_SUSPENDED);
    assert_int_equal(plan.calls, 0);
    assert_int_equal(fake_core_count(), 0);
    pawl_run_finish(run, PAWL_SUSPENDED, (pawl_bytes){0});
    assert_string_equal(fake_core_last(), "suspend - - -");
}

static void
a_policy_goes_with_the_failure(void **state)
{
    struct plan plan = {.status = PAWL_EFAILED, .message = "m"};

    (void)state;
    begin(NULL);
    pawl_run_set_option(run, "max_attempts", "3");
    pawl_run_set_option(run, "base_ms", "250");
    pawl_run_set_option(run, "factor", "1.5");
    pawl_run_set_option(run, "cap_ms", "60000");
    pawl_run_set_option(run, "jitter", "0");
    assert_int_equal(pawl_step(run, "a", work, &plan, NULL), PAWL_SUSPENDED);
    assert_string_equal(fake_core_item(0),
        "retry a#1 {\"code\":\"efailed\",\"message\":\"m\"} "
        "{\"policy\":{\"max_attempts\":3,\"base_ms\":250,\"factor\":1.5,\"cap_ms\":60000,"
        "\"jitter\":0},\"failure\":1}");
}

static void
options_are_for_one_call_only(void **state)
{
    struct plan good = {0}, bad = {.status = PAWL_EFAILED, .message = "m", .code = "c"};

    (void)state;
    begin(NULL);
    pawl_run_set_option(run, "max_attempts", "3");
    assert_int_equal(pawl_step(run, "a", work, &good, NULL), PAWL_OK);
    assert_int_equal(pawl_step(run, "b", work, &bad, NULL), PAWL_SUSPENDED);
    assert_string_equal(fake_core_item(0), "step a#1 null -");
    assert_string_equal(
        fake_core_item(1), "retry b#1 {\"code\":\"c\",\"message\":\"m\"} {\"failure\":1}");
}

static void
a_permanent_failure_and_a_delay_are_said(void **state)
{
    struct plan plan = {.status = PAWL_EPERMANENT, .message = "never"};

    (void)state;
    begin(NULL);
    fake_core_answer((struct fake_answer){.final = true});
    assert_int_equal(pawl_step(run, "a", work, &plan, NULL), PAWL_EFAILED);
    assert_string_equal(fake_core_item(0),
        "retry a#1 {\"code\":\"epermanent\",\"message\":\"never\"} "
        "{\"permanent\":true,\"failure\":1}");
    assert_int_equal(pawl_step_begin(run, "b", NULL), PAWL_EXECUTE);
    pawl_run_retry_after(run, 4000);
    pawl_run_set_error_json(run, pawl_text("{\"mine\": [1]}"));
    assert_int_equal(pawl_step_finish(run, PAWL_EFAILED, (pawl_bytes){0}, NULL), PAWL_SUSPENDED);
    assert_string_equal(
        fake_core_item(1), "retry b#1 {\"mine\": [1]} {\"retry_after_ms\":4000,\"failure\":1}");
}

static void
what_a_handler_said_before_a_step_is_not_about_the_step(void **state)
{
    struct plan plan = {.status = PAWL_EFAILED};

    (void)state;
    begin(NULL);
    pawl_run_set_error(run, "mine", "all is lost");
    pawl_run_retry_after(run, 10);
    fake_core_answer((struct fake_answer){.final = true});
    assert_int_equal(pawl_step(run, "cleanup", work, &plan, NULL), PAWL_EFAILED);
    assert_item(0, "retry cleanup#1", plain_error(PAWL_EFAILED, "efailed"), "{\"failure\":1}");
    pawl_run_finish(run, PAWL_EFAILED, (pawl_bytes){0});
    assert_string_equal(fake_core_last(),
        "fail - {\"code\":\"mine\",\"message\":\"all is lost\"} {\"retry_after_ms\":10}");
}

static void
an_earlier_record_wins_over_what_was_done_now(void **state)
{
    struct plan plan = {.output = "1"};
    pawl_bytes output;

    (void)state;
    begin(NULL);
    fake_core_answer((struct fake_answer){
        .answer = PW_ANSWER_ALREADY, .state = PW_STATE_SUCCESS, .output = "\"first\""});
    fake_core_answer((struct fake_answer){
        .answer = PW_ANSWER_ALREADY, .state = PW_STATE_ERROR, .error = "{\"message\":\"no\"}"});
    assert_int_equal(pawl_step(run, "a", work, &plan, &output), PAWL_OK);
    assert_string_equal(output.data, "\"first\"");
    assert_int_equal(pawl_step(run, "b", work, &plan, &output), PAWL_EFAILED);
    assert_string_equal(pawl_run_error_message(run), "no");
    plan.status = PAWL_EFAILED;
    fake_core_answer((struct fake_answer){
        .answer = PW_ANSWER_ALREADY, .state = PW_STATE_SUCCESS, .output = "5"});
    assert_int_equal(pawl_step(run, "c", work, &plan, &output), PAWL_OK);
    assert_string_equal(output.data, "5");
}

static void
what_the_engine_refuses_becomes_a_final_failure(void **state)
{
    struct plan plan = {.output = "{}"};

    (void)state;
    begin(NULL);
    fake_core_answer((struct fake_answer){.answer = PW_ANSWER_REFUSED, .reason = "invalid json"});
    assert_int_equal(pawl_step(run, "a", work, &plan, NULL), PAWL_EFAILED);
    assert_string_equal(fake_core_item(0), "step a#1 {} -");
    assert_string_equal(
        fake_core_item(1), "step_error a#1 {\"code\":\"refused\",\"message\":\"invalid json\"} -");
    assert_int_equal(fake_core_seq(1), 1);
    assert_string_equal(pawl_run_error_message(run), "invalid json");
    /* It does not go on for ever. */
    fake_core_answer((struct fake_answer){.answer = PW_ANSWER_REFUSED, .reason = "invalid json"});
    fake_core_answer((struct fake_answer){.answer = PW_ANSWER_REFUSED, .reason = "no such luck"});
    assert_int_equal(pawl_step(run, "b", work, &plan, NULL), PAWL_EFAILED);
    assert_int_equal(fake_core_count(), 4);
}

static void
a_lost_lease_and_a_cancel_stop_the_branch(void **state)
{
    static const struct {
        enum pw_answer answer;
        pawl_status status;
        const char *last;
    } ends[] = {
        {PW_ANSWER_LEASE_LOST, PAWL_ELEASE_LOST, "release - - -"},
        {PW_ANSWER_FAILED, PAWL_ELEASE_LOST, "release - - -"},
        {PW_ANSWER_CANCELLED, PAWL_ECANCELLED,
            "fail - {\"code\":\"ecancelled\",\"message\":\"the run was cancelled\"} -"},
    };

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        struct plan plan = {0};

        begin(NULL);
        fake_core_answer((struct fake_answer){.answer = ends[i].answer});
        assert_int_equal(pawl_step(run, "a", work, &plan, NULL), ends[i].status);
        assert_int_equal(pawl_step(run, "b", work, &plan, NULL), ends[i].status);
        assert_int_equal(pawl_sleep(run, "c", 5), ends[i].status);
        assert_int_equal(plan.calls, 1);
        pawl_run_finish(run, ends[i].status, (pawl_bytes){0});
        assert_string_equal(fake_core_last(), ends[i].last);
        end(state);
    }
}

static void
nothing_is_started_when_it_may_not_be(void **state)
{
    struct plan plan = {0};

    begin(NULL);
    fake_core_stand(PW_LEASE_LOST, 2);
    assert_int_equal(pawl_step(run, "a", work, &plan, NULL), PAWL_OK);
    assert_int_equal(pawl_step(run, "b", work, &plan, NULL), PAWL_ELEASE_LOST);
    assert_int_equal(plan.calls, 1);
    assert_int_equal(pawl_run_check(run), PAWL_ELEASE_LOST);
    end(state);
    begin(NULL);
    fake_core_stand(PW_CANCELLED, 1);
    assert_int_equal(pawl_step(run, "a", work, &plan, NULL), PAWL_ECANCELLED);
    assert_int_equal(plan.calls, 1);
    assert_int_equal(fake_core_count(), 0);
    assert_int_equal(pawl_run_check(run), PAWL_ECANCELLED);
}

static void
a_step_with_an_undo_is_not_executed_when_its_run_was_stopped_while_it_began(void **state)
{
    static const struct {
        enum pw_standing standing;
        pawl_status status;
    } cases[] = {
        {PW_CANCELLED, PAWL_ECANCELLED},
        {PW_LEASE_LOST, PAWL_ELEASE_LOST},
        {PW_PAUSED, PAWL_SUSPENDED},
    };
    struct plan plan = {0};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        begin(NULL);
        fake_core_stand(cases[i].standing, 2);
        pawl_run_set_option(run, "undo", "u");
        assert_int_equal(pawl_step(run, "a", work, &plan, NULL), cases[i].status);
        assert_int_equal(plan.calls, 0);
        assert_int_equal(fake_core_count(), 1);
        assert_string_equal(fake_core_item(0), "begin a#1 - {\"undo\":{\"handler\":\"u\"}}");
        end(state);
    }
    begin(NULL);
}

static void
what_a_step_returns_because_of_its_run_is_no_failure(void **state)
{
    struct plan plan = {.status = PAWL_ECANCELLED};

    begin(NULL);
    assert_int_equal(pawl_step_begin(run, "a", NULL), PAWL_EXECUTE);
    atomic_store(&task->standing, PW_CANCELLED);
    assert_int_equal(
        pawl_step_finish(run, pawl_run_check(run), (pawl_bytes){0}, NULL), PAWL_ECANCELLED);
    assert_int_equal(fake_core_count(), 0);
    end(state);
    /* But the same word about something else is one. */
    begin(NULL);
    assert_int_equal(pawl_step(run, "a", work, &plan, NULL), PAWL_SUSPENDED);
    assert_string_equal(fake_core_item(0),
        "retry a#1 {\"code\":\"ecancelled\",\"message\":\"the run was cancelled\"} "
        "{\"failure\":1}");
}

static void
ten_thousand_steps_of_a_loop_are_counted_fast(void **state)
{
    struct plan plan = {.output = "1"};
    char item[64];

    (void)state;
    begin(NULL);
    for (int i = 1; i <= 10000; i++)
        assert_int_equal(pawl_step(run, i % 2 ? "odd" : "even", work, &plan, NULL), PAWL_OK);
    assert_string_equal(fake_core_item(9998), "step odd#5000 1 -");
    assert_string_equal(fake_core_item(9999), "step even#5000 1 -");
    assert_int_equal(fake_core_seq(9999), 10000);
    /* So many names, too. */
    for (int i = 0; i < 10000; i++) {
        (void)snprintf(item, sizeof(item), "page-%d", i);
        assert_int_equal(pawl_step(run, item, work, &plan, NULL), PAWL_OK);
    }
    assert_string_equal(fake_core_item(19999), "step page-9999#1 1 -");
    assert_int_equal(pawl_step(run, "page-17", work, &plan, NULL), PAWL_OK);
    assert_string_equal(fake_core_item(20000), "step page-17#2 1 -");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_step_is_executed_and_recorded_once, end),
        cmocka_unit_test_teardown(a_step_without_output_records_null, end),
        cmocka_unit_test_teardown(what_is_recorded_is_returned_without_being_done_again, end),
        cmocka_unit_test_teardown(another_kind_than_the_recorded_one_is_drift, end),
        cmocka_unit_test_teardown(an_open_wait_of_that_name_is_drift_as_well, end),
        cmocka_unit_test_teardown(drift_that_the_engine_found_lets_go_and_writes_nothing, end),
        cmocka_unit_test_teardown(a_step_that_failed_is_retried_later, end),
        cmocka_unit_test_teardown(the_last_failure_is_final_and_says_why, end),
        cmocka_unit_test_teardown(a_try_that_is_not_due_suspends_at_once, end),
        cmocka_unit_test_teardown(a_policy_goes_with_the_failure, end),
        cmocka_unit_test_teardown(options_are_for_one_call_only, end),
        cmocka_unit_test_teardown(a_permanent_failure_and_a_delay_are_said, end),
        cmocka_unit_test_teardown(what_a_handler_said_before_a_step_is_not_about_the_step, end),
        cmocka_unit_test_teardown(an_earlier_record_wins_over_what_was_done_now, end),
        cmocka_unit_test_teardown(what_the_engine_refuses_becomes_a_final_failure, end),
        cmocka_unit_test_teardown(a_lost_lease_and_a_cancel_stop_the_branch, end),
        cmocka_unit_test_teardown(nothing_is_started_when_it_may_not_be, end),
        cmocka_unit_test_teardown(
            a_step_with_an_undo_is_not_executed_when_its_run_was_stopped_while_it_began, end),
        cmocka_unit_test_teardown(what_a_step_returns_because_of_its_run_is_no_failure, end),
        cmocka_unit_test_teardown(ten_thousand_steps_of_a_loop_are_counted_fast, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
