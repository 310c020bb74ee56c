/* SPDX-License-Identifier: Apache-2.0 */
/* How a claim ends: the last item for everything that a handler can return. */
#include "fake_core.h"
#include "pawl/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct pw_task *task;
static pawl_run *run;
static const pawl_bytes none;

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

static pawl_status
fail_step(pawl_run *of, void *userdata, pawl_bytes *output)
{
    (void)output;
    pawl_run_set_error(of, "card", "%s", (const char *)userdata);
    return PAWL_EFAILED;
}

static void
a_handler_that_succeeds_completes_its_run(void **state)
{
    char output[] = "{\"done\":true}";

    (void)state;
    begin(NULL);
    pawl_run_finish(run, PAWL_OK, pawl_text(output));
    assert_string_equal(fake_core_last(), "complete - {\"done\":true} -");
    assert_true(task->finished);
    end(state);
    begin(NULL);
    pawl_run_finish(run, PAWL_OK, none);
    assert_string_equal(fake_core_last(), "complete - null -");
}

static void
records_that_were_not_asked_for_are_told(void **state)
{
    (void)state;
    begin("{\"steps\":[{\"name\":\"a#1\",\"kind\":\"step\",\"state\":\"SUCCESS\",\"seq\":1,"
          "\"output\":1},"
          "{\"name\":\"b#1\",\"kind\":\"step\",\"state\":\"SUCCESS\",\"seq\":2,\"output\":1},"
          "{\"name\":\"c#1\",\"kind\":\"sleep\",\"state\":\"SUCCESS\",\"seq\":3}],"
          "\"retries\":{\"\":{\"n\":1},\"z#1\":{\"n\":1}}}");
    assert_int_equal(pawl_step_begin(run, "b", NULL), PAWL_OK);
    pawl_run_finish(run, PAWL_OK, pawl_text("1"));
    assert_string_equal(fake_core_last(), "complete - 1 {\"unused\":[\"a#1\",\"c#1\"]}");
}

static void
a_long_list_of_them_is_cut(void **state)
{
    size_t size = 0, room = 10000 * 90;
    char *record = malloc(room);

    (void)state;
    assert_non_null(record);
    size += (size_t)snprintf(record, room, "{\"steps\":[");
    for (int i = 1; i <= 9000; i++)
        size += (size_t)snprintf(record + size, room - size,
            "%s{\"name\":\"p#%d\",\"kind\":\"step\",\"state\":\"SUCCESS\",\"seq\":%d}",
            i > 1 ? "," : "", i, i);
    (void)snprintf(record + size, room - size, "]}");
    begin(record);
    pawl_run_finish(run, PAWL_OK, pawl_text("1"));
    assert_in_range(strlen(fake_core_last()), 50000, 60000);
    free(record);
}

static void
an_output_that_cannot_be_kept_fails_the_run_for_good(void **state)
{
    (void)state;
    begin(NULL);
    fake_core_limits(4, 100000);
    pawl_run_finish(run, PAWL_OK, pawl_text("12345"));
    assert_string_equal(fake_core_last(),
        "fail - {\"code\":\"too_large\",\"message\":\"the output of the run, 5 bytes, is too "
        "large\"} {\"final\":true}");
    end(state);
    begin(NULL);
    pawl_run_finish(run, PAWL_OK, pawl_text("\"\xc3\""));
    assert_string_equal(fake_core_last(),
        "fail - {\"code\":\"bad_payload\",\"message\":\"the output of the run, 3 bytes, is not "
        "valid UTF-8\"} {\"final\":true}");
}

static void
a_failure_has_the_handlers_words_or_the_name_of_the_status(void **state)
{
    char text[300];

    begin(NULL);
    pawl_run_set_error(run, "mine", "because of %d", 7);
    pawl_run_finish(run, PAWL_EFAILED, none);
    assert_string_equal(
        fake_core_last(), "fail - {\"code\":\"mine\",\"message\":\"because of 7\"} -");
    end(state);
    begin(NULL);
    pawl_run_set_error_text(run, NULL, (pawl_bytes){"no code%s", 7});
    pawl_run_finish(run, PAWL_EFAILED, none);
    assert_string_equal(
        fake_core_last(), "fail - {\"code\":\"efailed\",\"message\":\"no code\"} -");
    end(state);
    begin(NULL);
    pawl_run_set_error_json(run, pawl_text("{\"x\": 1}"));
    pawl_run_retry_after(run, 500);
    pawl_run_finish(run, PAWL_ECONN, none);
    assert_string_equal(fake_core_last(), "fail - {\"x\": 1} {\"retry_after_ms\":500}");
    end(state);
    begin(NULL);
    pawl_run_finish(run, PAWL_ECONN, none);
    (void)snprintf(text, sizeof(text), "fail - {\"code\":\"econn\",\"message\":\"%s\"} -",
        pawl_status_text(PAWL_ECONN));
    assert_string_equal(fake_core_last(), text);
    end(state);
    begin(NULL);
    pawl_run_finish(run, 4711, none);
    assert_int_equal(strncmp(fake_core_last(), "fail - {\"code\":\"unknown\",", 25), 0);
}

static void
a_permanent_failure_is_said_to_be_one(void **state)
{
    (void)state;
    begin(NULL);
    pawl_run_set_error(run, "c", "m");
    pawl_run_retry_after(run, 500);
    pawl_run_finish(run, PAWL_EPERMANENT, none);
    assert_string_equal(
        fake_core_last(), "fail - {\"code\":\"c\",\"message\":\"m\"} {\"permanent\":true}");
}

static void
an_error_that_is_none_is_replaced(void **state)
{
    begin(NULL);
    pawl_run_set_error_json(run, pawl_text("{\"x\": "));
    pawl_run_finish(run, PAWL_EFAILED, none);
    assert_string_equal(fake_core_last(),
        "fail - {\"code\":\"bad_error\",\"message\":\"the error that the handler gave is not "
        "valid JSON\"} -");
    end(state);
    begin(NULL);
    pawl_run_set_error_json(run, none);
    pawl_run_finish(run, PAWL_EFAILED, none);
    assert_string_equal(fake_core_last(),
        "fail - {\"code\":\"bad_error\",\"message\":\"the error that the handler gave is empty\"} "
        "-");
}

static void
long_words_are_cut_between_characters(void **state)
{
    char *text = malloc(20001);

    (void)state;
    assert_non_null(text);
    begin(NULL);
    memset(text, 'x', 20000);
    text[20000] = '\0';
    memcpy(text + 8191, "\xc3\xa4", 2);
    pawl_run_set_error(run, text, "%s", text);
    pawl_run_finish(run, PAWL_EFAILED, none);
    assert_int_equal(
        strlen(fake_core_last()), strlen("fail - {\"code\":\"\",\"message\":\"\"} -") + 100 + 8191);
    free(text);
}

static void
the_final_failure_of_a_step_ends_the_run(void **state)
{
    char why[] = "declined";

    begin(NULL);
    fake_core_answer((struct fake_answer){.final = true});
    assert_int_equal(pawl_step(run, "pay", fail_step, why, NULL), PAWL_EFAILED);
    pawl_run_finish(run, PAWL_EFAILED, none);
    assert_string_equal(
        fake_core_last(), "fail - {\"code\":\"card\",\"message\":\"declined\"} {\"final\":true}");
    end(state);
    /* A failure of the handler's own is another. */
    begin(NULL);
    fake_core_answer((struct fake_answer){.final = true});
    assert_int_equal(pawl_step(run, "pay", fail_step, why, NULL), PAWL_EFAILED);
    pawl_run_set_error(run, "mine", "later");
    pawl_run_finish(run, PAWL_EFAILED, none);
    assert_string_equal(fake_core_last(), "fail - {\"code\":\"mine\",\"message\":\"later\"} -");
    end(state);
    /* And one that was dealt with is none. */
    begin(NULL);
    fake_core_answer((struct fake_answer){.final = true});
    assert_int_equal(pawl_step(run, "pay", fail_step, why, NULL), PAWL_EFAILED);
    pawl_run_finish(run, PAWL_OK, pawl_text("1"));
    assert_string_equal(fake_core_last(), "complete - 1 -");
}

static void
a_failure_that_was_dealt_with_ends_nothing_later(void **state)
{
    static const char record[] =
        "{\"steps\":[{\"name\":\"pay#1\",\"kind\":\"step\",\"state\":\"ERROR\",\"seq\":1,"
        "\"error\":{\"code\":\"card\"}},"
        "{\"name\":\"other#1\",\"kind\":\"step\",\"state\":\"SUCCESS\",\"seq\":2}]}";
    char why[] = "declined";

    begin(NULL);
    fake_core_answer((struct fake_answer){.final = true});
    assert_int_equal(pawl_step(run, "pay", fail_step, why, NULL), PAWL_EFAILED);
    assert_int_equal(pawl_step_begin(run, "other", NULL), PAWL_EXECUTE);
    assert_int_equal(pawl_step_finish(run, PAWL_OK, none, NULL), PAWL_OK);
    pawl_run_finish(run, PAWL_EFAILED, none);
    assert_string_equal(fake_core_last(), "fail - {\"code\":\"card\",\"message\":\"declined\"} -");
    end(state);
    /* The same when it is executed again. */
    begin(record);
    assert_int_equal(pawl_step_begin(run, "pay", NULL), PAWL_EFAILED);
    assert_int_equal(pawl_step_begin(run, "other", NULL), PAWL_OK);
    pawl_run_finish(run, PAWL_EFAILED, none);
    assert_string_equal(fake_core_last(), "fail - {\"code\":\"card\"} -");
    end(state);
    /* One that fails again does end it. */
    begin(record);
    fake_core_answer((struct fake_answer){.final = true});
    assert_int_equal(pawl_step_begin(run, "pay", NULL), PAWL_EFAILED);
    assert_int_equal(pawl_step_begin(run, "other", NULL), PAWL_OK);
    assert_int_equal(pawl_step(run, "pay", fail_step, why, NULL), PAWL_EFAILED);
    pawl_run_finish(run, PAWL_EFAILED, none);
    assert_string_equal(
        fake_core_last(), "fail - {\"code\":\"card\",\"message\":\"declined\"} {\"final\":true}");
    end(state);
    /* Cleaning up before the end. */
    begin(record);
    assert_int_equal(pawl_step_begin(run, "pay", NULL), PAWL_EFAILED);
    pawl_run_set_error_json(run, pawl_run_error(run));
    assert_int_equal(pawl_step_begin(run, "other", NULL), PAWL_OK);
    pawl_run_finish(run, PAWL_EPERMANENT, none);
    assert_string_equal(fake_core_last(), "fail - {\"code\":\"card\"} {\"permanent\":true}");
}

/* A branch, and one made by hand from it, whose failures it handles. */
static pawl_status
handle_failures(pawl_run *branch, void *userdata, pawl_bytes *output)
{
    pawl_run *inner;

    (void)output;
    if (pawl_step(branch, "pay", fail_step, userdata, NULL) != PAWL_EFAILED ||
        pawl_run_branch(branch, "in", &inner) != PAWL_OK ||
        pawl_step(inner, "pay", fail_step, userdata, NULL) != PAWL_EFAILED)
        return PAWL_EINVAL;
    pawl_run_set_error(inner, "mine", "later");
    pawl_run_retry_after(inner, 99);
    return PAWL_OK;
}

static void
a_failure_that_a_joined_branch_dealt_with_is_not_that_of_the_run(void **state)
{
    char why[] = "declined";

    (void)state;
    begin(NULL);
    fake_core_answer((struct fake_answer){.final = true});
    fake_core_answer((struct fake_answer){.final = true});
    assert_int_equal(pawl_branch(run, "a", handle_failures, why, NULL), PAWL_OK);
    assert_int_equal(pawl_branches_join(run), PAWL_OK);
    pawl_run_finish(run, PAWL_EFAILED, none);
    assert_int_equal(strncmp(fake_core_last(), "fail - {\"code\":\"efailed\",", 25), 0);
    assert_string_equal(fake_core_last() + strlen(fake_core_last()) - 3, "} -");
}

static pawl_status
never_called(pawl_run *branch, void *userdata, pawl_bytes *output)
{
    (void)branch;
    (void)userdata;
    (void)output;
    fail();
    return PAWL_OK;
}

static void
a_handler_that_never_joins_its_branches_has_failed(void **state)
{
    begin(NULL);
    assert_int_equal(pawl_branch(run, "left", never_called, NULL, NULL), PAWL_OK);
    pawl_run_finish(run, PAWL_OK, pawl_text("1"));
    assert_string_equal(fake_core_last(),
        "fail - {\"code\":\"einval\",\"message\":\"the handler returned before the branch "
        "\\\"left\\\" was "
        "executed: call pawl_branches_join() after pawl_branch()\"} -");
    end(state);
    /* One that fails has other words to say. */
    begin(NULL);
    assert_int_equal(pawl_branch(run, "left", never_called, NULL, NULL), PAWL_OK);
    pawl_run_set_error(run, "c", "m");
    pawl_run_finish(run, PAWL_EFAILED, none);
    assert_string_equal(fake_core_last(), "fail - {\"code\":\"c\",\"message\":\"m\"} -");
}

static void
a_mistake_that_the_handler_returns_is_told(void **state)
{
    (void)state;
    begin(NULL);
    pawl_run_finish(run, pawl_sleep(run, "BAD", 1), none);
    assert_int_equal(strncmp(fake_core_last(),
                         "fail - {\"code\":\"einval\",\"message\":\"bad name \\\"BAD\\\"", 50),
        0);
}

static void
a_handler_that_swallows_a_suspension_is_suspended_all_the_same(void **state)
{
    char why[] = "declined";

    begin(NULL);
    fake_core_answer((struct fake_answer){.state = PW_STATE_PAUSED});
    assert_int_equal(pawl_sleep(run, "nap", 1), PAWL_SUSPENDED);
    pawl_run_finish(run, PAWL_OK, pawl_text("1"));
    assert_string_equal(fake_core_last(), "suspend - - -");
    end(state);
    begin(NULL);
    assert_int_equal(pawl_step(run, "pay", fail_step, why, NULL), PAWL_SUSPENDED);
    pawl_run_finish(run, PAWL_EFAILED, none);
    assert_string_equal(fake_core_last(), "suspend - - -");
}

static void
a_handler_that_leaves_a_step_open_has_failed(void **state)
{
    (void)state;
    begin(NULL);
    assert_int_equal(pawl_step_begin(run, "a", NULL), PAWL_EXECUTE);
    pawl_run_finish(run, PAWL_OK, pawl_text("1"));
    assert_string_equal(fake_core_last(),
        "fail - {\"code\":\"einval\",\"message\":\"the handler returned while the step \\\"a#1\\\" "
        "was open\"} -");
    end(state);
    begin(NULL);
    assert_int_equal(pawl_step_begin(run, "a", NULL), PAWL_EXECUTE);
    pawl_run_set_error(run, "c", "m");
    pawl_run_finish(run, PAWL_EFAILED, none);
    assert_string_equal(fake_core_last(), "fail - {\"code\":\"c\",\"message\":\"m\"} -");
}

static void
nothing_is_written_about_a_run_that_is_lost(void **state)
{
    static const pawl_status statuses[] = {PAWL_OK, PAWL_EFAILED, PAWL_SUSPENDED, PAWL_ELEASE_LOST};

    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        begin(NULL);
        atomic_store(&task->standing, PW_LEASE_LOST);
        pawl_run_finish(run, statuses[i], pawl_text("1"));
        assert_string_equal(fake_core_last(), "release - - -");
        end(state);
    }
}

static void
a_run_that_was_cancelled_is_closed_by_a_failure(void **state)
{
    begin(NULL);
    atomic_store(&task->standing, PW_CANCELLED);
    pawl_run_finish(run, PAWL_ECANCELLED, none);
    assert_int_equal(strncmp(fake_core_last(), "fail - {\"code\":\"ecancelled\"", 27), 0);
    end(state);
    begin(NULL);
    atomic_store(&task->standing, PW_CANCELLED);
    pawl_run_finish(run, PAWL_SUSPENDED, none);
    assert_int_equal(strncmp(fake_core_last(), "fail - ", 7), 0);
}

static void
words_about_other_runs_are_failures_of_this_one(void **state)
{
    begin(NULL);
    pawl_run_finish(run, PAWL_ECANCELLED, none);
    assert_int_equal(strncmp(fake_core_last(), "fail - {\"code\":\"ecancelled\"", 27), 0);
    end(state);
    begin(NULL);
    pawl_run_finish(run, PAWL_ELEASE_LOST, none);
    assert_int_equal(strncmp(fake_core_last(), "fail - {\"code\":\"elease_lost\"", 28), 0);
}

static void
the_failure_of_a_branch_speaks_for_the_run(void **state)
{
    pawl_run *branch, *other;
    char why[] = "declined";

    begin(NULL);
    fake_core_answer((struct fake_answer){.final = true});
    assert_int_equal(pawl_run_branch(run, "a", &other), PAWL_OK);
    assert_int_equal(pawl_run_branch(run, "b", &branch), PAWL_OK);
    assert_int_equal(pawl_step(branch, "pay", fail_step, why, NULL), PAWL_EFAILED);
    pawl_run_finish(branch, PAWL_EFAILED, none);
    assert_string_equal(
        fake_core_last(), "fail - {\"code\":\"card\",\"message\":\"declined\"} {\"final\":true}");
    end(state);
    begin(NULL);
    assert_int_equal(pawl_run_branch(run, "b", &branch), PAWL_OK);
    pawl_run_set_error(branch, "c", "m");
    pawl_run_retry_after(branch, 77);
    pawl_run_finish(run, PAWL_EFAILED, none);
    assert_string_equal(
        fake_core_last(), "fail - {\"code\":\"c\",\"message\":\"m\"} {\"retry_after_ms\":77}");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_handler_that_succeeds_completes_its_run, end),
        cmocka_unit_test_teardown(records_that_were_not_asked_for_are_told, end),
        cmocka_unit_test_teardown(a_long_list_of_them_is_cut, end),
        cmocka_unit_test_teardown(an_output_that_cannot_be_kept_fails_the_run_for_good, end),
        cmocka_unit_test_teardown(a_failure_has_the_handlers_words_or_the_name_of_the_status, end),
        cmocka_unit_test_teardown(a_permanent_failure_is_said_to_be_one, end),
        cmocka_unit_test_teardown(an_error_that_is_none_is_replaced, end),
        cmocka_unit_test_teardown(long_words_are_cut_between_characters, end),
        cmocka_unit_test_teardown(the_final_failure_of_a_step_ends_the_run, end),
        cmocka_unit_test_teardown(a_failure_that_was_dealt_with_ends_nothing_later, end),
        cmocka_unit_test_teardown(
            a_failure_that_a_joined_branch_dealt_with_is_not_that_of_the_run, end),
        cmocka_unit_test_teardown(a_handler_that_never_joins_its_branches_has_failed, end),
        cmocka_unit_test_teardown(a_mistake_that_the_handler_returns_is_told, end),
        cmocka_unit_test_teardown(
            a_handler_that_swallows_a_suspension_is_suspended_all_the_same, end),
        cmocka_unit_test_teardown(a_handler_that_leaves_a_step_open_has_failed, end),
        cmocka_unit_test_teardown(nothing_is_written_about_a_run_that_is_lost, end),
        cmocka_unit_test_teardown(a_run_that_was_cancelled_is_closed_by_a_failure, end),
        cmocka_unit_test_teardown(words_about_other_runs_are_failures_of_this_one, end),
        cmocka_unit_test_teardown(the_failure_of_a_branch_speaks_for_the_run, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
