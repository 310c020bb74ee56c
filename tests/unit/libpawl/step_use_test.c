/* SPDX-License-Identifier: Apache-2.0 */
/* How steps are used: in two halves, with an undo, with a transaction, with a time limit, with mistakes. */
#include "base/time.h"
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
pass_us(int64_t us)
{
    int64_t until = pw_now_us() + us;

    while (pw_now_us() < until)
        ;
}

static pawl_status
do_nothing(pawl_run *of, void *userdata, pawl_bytes *output)
{
    (void)of;
    (void)userdata;
    (void)output;
    return PAWL_OK;
}

static void
a_step_in_two_halves_is_like_one(void **state)
{
    pawl_bytes output = {0};

    (void)state;
    begin(NULL);
    assert_int_equal(pawl_step_begin(run, "a", &output), PAWL_EXECUTE);
    assert_null(output.data);
    assert_int_equal(fake_core_count(), 0);
    assert_int_equal(pawl_step_finish(run, PAWL_OK, pawl_text("[1]"), &output), PAWL_OK);
    assert_string_equal(output.data, "[1]");
    assert_string_equal(fake_core_item(0), "step a#1 [1] -");
    assert_int_equal(pawl_step_finish(run, PAWL_OK, pawl_text("[1]"), &output), PAWL_EINVAL);
    assert_string_equal(pawl_run_error_message(run), "no step was begun in this branch");
    assert_int_equal(fake_core_count(), 1);
}

static void
while_a_step_is_open_other_calls_of_its_branch_are_refused(void **state)
{
    pawl_run *branch;
    const char *text;

    (void)state;
    begin(NULL);
    assert_int_equal(pawl_step_begin(run, "a", NULL), PAWL_EXECUTE);
    assert_int_equal(pawl_step(run, "b", do_nothing, NULL, NULL), PAWL_EINVAL);
    assert_string_equal(pawl_run_error_message(run), "a step is open in this branch: \"a#1\"");
    assert_int_equal(pawl_step_begin(run, "a", NULL), PAWL_EINVAL);
    assert_int_equal(pawl_step_begin_transaction(run, "b", NULL, &text), PAWL_EINVAL);
    assert_int_equal(pawl_step_confirm(run, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_sleep(run, "b", 1), PAWL_EINVAL);
    assert_int_equal(pawl_wait_event(run, "b", "t", -1, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_wait_signal(run, "b", -1, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_wait_approval(run, "b", (pawl_bytes){0}, -1, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_child(run, "b", "w", (pawl_bytes){0}, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_run_branch(run, "b", &branch), PAWL_EINVAL);
    assert_int_equal(pawl_branches_join(run), PAWL_EINVAL);
    /* Facts, memory and notes are not. */
    assert_string_equal(pawl_run_workflow(run), "demo.v1");
    assert_non_null(pawl_run_alloc(run, 10));
    pawl_run_log(run, "still here");
    assert_int_equal(pawl_step_finish(run, PAWL_OK, pawl_text("1"), NULL), PAWL_OK);
    assert_string_equal(fake_core_item(0), "note - still here -");
    assert_string_equal(fake_core_item(1), "step a#1 1 -");
    /* None of them was counted. */
    assert_int_equal(pawl_step(run, "b", do_nothing, NULL, NULL), PAWL_OK);
    assert_string_equal(fake_core_item(2), "step b#1 null -");
}

static pawl_status
use_run_inside(pawl_run *of, void *userdata, pawl_bytes *output)
{
    (void)userdata;
    assert_int_equal(pawl_step_finish(of, PAWL_OK, pawl_text("1"), output), PAWL_EINVAL);
    return pawl_step(of, "inner", do_nothing, NULL, output);
}

static void
a_step_function_must_not_use_its_run_for_other_steps(void **state)
{
    (void)state;
    begin(NULL);
    assert_int_equal(pawl_step(run, "outer", use_run_inside, NULL, NULL), PAWL_SUSPENDED);
    assert_string_equal(fake_core_item(0),
        "retry outer#1 {\"code\":\"einval\",\"message\":\"a step is open in this branch: "
        "\\\"outer#1\\\"\"} {\"failure\":1}");
    assert_int_equal(fake_core_count(), 1);
}

static void
a_step_with_an_undo_is_begun_before_it_is_done(void **state)
{
    (void)state;
    begin(NULL);
    pawl_run_set_option(run, "undo", "unbook");
    pawl_run_set_option(run, "undo_input", "{\"seat\": 7}");
    pawl_run_set_option(run, "undo_max_attempts", "9");
    pawl_run_set_option(run, "undo_base_ms", "5");
    pawl_run_set_option(run, "max_attempts", "2");
    assert_int_equal(pawl_step_begin(run, "book", NULL), PAWL_EXECUTE);
    assert_string_equal(fake_core_item(0),
        "begin book#1 - {\"undo\":{\"handler\":\"unbook\",\"input\":{\"seat\": "
        "7},\"policy\":{\"max_attempts\":9,\"base_ms\":5}}}");
    assert_int_equal(pawl_step_finish(run, PAWL_EFAILED, (pawl_bytes){0}, NULL), PAWL_SUSPENDED);
    assert_non_null(strstr(fake_core_item(1), "{\"policy\":{\"max_attempts\":2},\"failure\":1}"));
    assert_int_equal(fake_core_seq(1), fake_core_seq(0));
}

static void
a_begin_that_is_known_already_goes_on(void **state)
{
    pawl_bytes output;

    (void)state;
    begin(NULL);
    fake_core_answer((struct fake_answer){.answer = PW_ANSWER_ALREADY});
    pawl_run_set_option(run, "undo", "u");
    assert_int_equal(pawl_step_begin(run, "a", NULL), PAWL_EXECUTE);
    assert_string_equal(fake_core_item(0), "begin a#1 - {\"undo\":{\"handler\":\"u\"}}");
    assert_int_equal(pawl_step_finish(run, PAWL_OK, pawl_text("1"), NULL), PAWL_OK);
    fake_core_answer((struct fake_answer){
        .answer = PW_ANSWER_ALREADY, .state = PW_STATE_SUCCESS, .output = "[2]"});
    pawl_run_set_option(run, "undo", "u");
    assert_int_equal(pawl_step_begin(run, "b", &output), PAWL_OK);
    assert_string_equal(output.data, "[2]");
    fake_core_answer((struct fake_answer){.answer = PW_ANSWER_REFUSED, .reason = "not so"});
    pawl_run_set_option(run, "undo", "u");
    assert_int_equal(pawl_step_begin(run, "c", &output), PAWL_EINVAL);
    assert_string_equal(pawl_run_error_message(run), "not so");
    fake_core_answer((struct fake_answer){.answer = PW_ANSWER_CANCELLED});
    pawl_run_set_option(run, "undo", "u");
    assert_int_equal(pawl_step_begin(run, "d", &output), PAWL_ECANCELLED);
}

static void
a_step_that_was_begun_before_is_not_begun_again(void **state)
{
    (void)state;
    begin("{\"steps\":[{\"name\":\"book#1\",\"kind\":\"step\",\"state\":\"RUNNING\",\"seq\":3,"
          "\"output\":null,\"error\":null}],"
          "\"retries\":{\"book#1\":{\"n\":2,\"due\":\"2026-03-01T12:00:00+00:00\"}}}");
    pawl_run_set_option(run, "undo", "unbook");
    assert_int_equal(pawl_step_begin(run, "book", NULL), PAWL_EXECUTE);
    assert_int_equal(fake_core_count(), 0);
    assert_int_equal(pawl_step_finish(run, PAWL_EFAILED, (pawl_bytes){0}, NULL), PAWL_SUSPENDED);
    assert_non_null(strstr(fake_core_item(0), "{\"failure\":3}"));
    assert_int_equal(fake_core_seq(0), 3);
}

static void
a_step_that_took_too_long_has_failed(void **state)
{
    (void)state;
    begin(NULL);
    pawl_run_set_option(run, "timeout_ms", "1");
    assert_int_equal(pawl_step_begin(run, "slow", NULL), PAWL_EXECUTE);
    assert_int_equal(pawl_run_check(run), PAWL_OK);
    pass_us(2100);
    assert_int_equal(pawl_run_check(run), PAWL_ETIMEOUT);
    assert_int_equal(pawl_step_finish(run, PAWL_OK, pawl_text("1"), NULL), PAWL_SUSPENDED);
    assert_int_equal(strncmp(fake_core_item(0),
                         "retry slow#1 {\"code\":\"timeout\",\"message\":\"the step took ", 55),
        0);
    assert_non_null(strstr(fake_core_item(0), "its limit is 1 ms\"} {\"failure\":1}"));
    assert_int_equal(pawl_run_check(run), PAWL_OK);
}

static void
the_limit_of_the_workflow_holds_where_a_step_has_none(void **state)
{
    (void)state;
    begin(NULL);
    task->step_timeout_ms = 1;
    assert_int_equal(pawl_step_begin(run, "slow", NULL), PAWL_EXECUTE);
    pass_us(1100);
    assert_int_equal(
        pawl_step_finish(run, pawl_run_check(run), pawl_text("1"), NULL), PAWL_SUSPENDED);
    assert_int_equal(
        strncmp(fake_core_item(0), "retry slow#1 {\"code\":\"timeout\",\"message\":", 41), 0);
    end(state);
    begin(NULL);
    task->step_timeout_ms = 1;
    pawl_run_set_option(run, "timeout_ms", "100000");
    assert_int_equal(pawl_step_begin(run, "slow", NULL), PAWL_EXECUTE);
    pass_us(1100);
    assert_int_equal(pawl_step_finish(run, PAWL_OK, pawl_text("1"), NULL), PAWL_OK);
}

static void
a_run_whose_time_is_over_starts_nothing(void **state)
{
    (void)state;
    begin(NULL);
    task->run_deadline_us = pw_now_us();
    assert_int_equal(pawl_run_check(run), PAWL_ETIMEOUT);
    assert_int_equal(pawl_step_begin(run, "a", NULL), PAWL_ETIMEOUT);
    assert_int_equal(fake_core_count(), 0);
    pawl_run_finish(run, PAWL_ETIMEOUT, (pawl_bytes){0});
    assert_string_equal(fake_core_last(),
        "fail - {\"code\":\"timeout\",\"message\":\"the run has reached its time limit\"} "
        "{\"final\":true}");
}

static void
an_output_that_cannot_be_kept_fails_the_step_for_good(void **state)
{
    static const struct {
        const char *output;
        const char *item;
    } outputs[] = {
        {"123456789",
            "retry a#1 {\"code\":\"too_large\",\"message\":\"the output of the step, 9 bytes, "},
        {"\"\xff\"",
            "retry a#1 {\"code\":\"bad_payload\",\"message\":\"the output of the step, 3 bytes, "},
        {"", "retry a#1 {\"code\":\"bad_payload\",\"message\":\"the output of the step, 0 bytes, "},
    };

    for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++) {
        begin(NULL);
        fake_core_limits(8, 100000);
        fake_core_answer((struct fake_answer){.final = true});
        assert_int_equal(pawl_step_begin(run, "a", NULL), PAWL_EXECUTE);
        assert_int_equal(
            pawl_step_finish(run, PAWL_OK, pawl_text(outputs[i].output), NULL), PAWL_EFAILED);
        assert_int_equal(strncmp(fake_core_item(0), outputs[i].item, strlen(outputs[i].item)), 0);
        assert_non_null(strstr(fake_core_item(0), "{\"permanent\":true,\"failure\":1}"));
        end(state);
    }
}

static void
an_output_that_is_nested_too_deep_fails_as_well(void **state)
{
    char deep[131] = {0};

    (void)state;
    begin(NULL);
    memset(deep, '[', 65);
    memset(deep + 65, ']', 65);
    fake_core_answer((struct fake_answer){.final = true});
    assert_int_equal(pawl_step_begin(run, "a", NULL), PAWL_EXECUTE);
    assert_int_equal(pawl_step_finish(run, PAWL_OK, pawl_text(deep), NULL), PAWL_EFAILED);
    assert_non_null(strstr(fake_core_item(0), "\"bad_payload\""));
    assert_int_equal(pawl_step_begin(run, "b", NULL), PAWL_EXECUTE);
    assert_int_equal(pawl_step_finish(run, PAWL_OK, (pawl_bytes){deep + 1, 128}, NULL), PAWL_OK);
}

static void
a_transaction_gets_a_token_and_is_taken_note_of(void **state)
{
    const char *token = NULL;
    pawl_bytes output;

    (void)state;
    begin(NULL);
    assert_int_equal(pawl_step_begin_transaction(run, "pay", &output, &token), PAWL_EXECUTE);
    assert_string_equal(token, "pawl1 019ab000-0000-7000-8000-000000000001 0 4294967297 3 1 pay#1");
    assert_int_equal(fake_core_count(), 0);
    assert_int_equal(pawl_step_finish(run, PAWL_OK, pawl_text("1"), NULL), PAWL_EINVAL);
    assert_string_equal(pawl_run_error_message(run),
        "the step is recorded by a transaction: call pawl_step_confirm()");
    fake_core_answer((struct fake_answer){
        .answer = PW_ANSWER_ALREADY, .state = PW_STATE_SUCCESS, .output = "{\"paid\":1}"});
    assert_int_equal(pawl_step_confirm(run, &output), PAWL_OK);
    assert_string_equal(fake_core_item(0), "confirm pay#1 - -");
    assert_string_equal(output.data, "{\"paid\":1}");
    assert_int_equal(pawl_step_confirm(run, &output), PAWL_EINVAL);
    assert_int_equal(pawl_step_begin_transaction(run, "pay", &output, NULL), PAWL_EINVAL);
}

static void
a_transaction_that_did_not_record_is_a_failure(void **state)
{
    const char *token;

    (void)state;
    begin(NULL);
    fake_core_answer(
        (struct fake_answer){.answer = PW_ANSWER_REFUSED, .reason = "the step was not recorded"});
    pawl_run_set_option(run, "max_attempts", "7");
    assert_int_equal(pawl_step_begin_transaction(run, "pay", NULL, &token), PAWL_EXECUTE);
    assert_int_equal(pawl_step_confirm(run, NULL), PAWL_SUSPENDED);
    assert_string_equal(fake_core_item(1),
        "retry pay#1 {\"code\":\"not_recorded\",\"message\":\"the transaction has not recorded the "
        "step\"} "
        "{\"policy\":{\"max_attempts\":7},\"failure\":1}");
    end(state);
    begin(NULL);
    assert_int_equal(pawl_step_begin_transaction(run, "pay", NULL, &token), PAWL_EXECUTE);
    pawl_run_set_error(run, "40001", "serialization failure");
    assert_int_equal(pawl_step_finish(run, PAWL_EFAILED, (pawl_bytes){0}, NULL), PAWL_SUSPENDED);
    assert_string_equal(fake_core_item(0),
        "retry pay#1 {\"code\":\"40001\",\"message\":\"serialization failure\"} {\"failure\":1}");
}

static void
a_step_has_a_key_that_stays_the_same(void **state)
{
    const char *key;

    (void)state;
    begin(NULL);
    assert_null(pawl_step_key(run));
    assert_int_equal(pawl_step_begin(run, "pay", NULL), PAWL_EXECUTE);
    key = pawl_step_key(run);
    assert_string_equal(key, "019ab000-0000-7000-8000-000000000001/pay#1");
    assert_ptr_equal(pawl_step_key(run), key);
    assert_int_equal(pawl_step_finish(run, PAWL_OK, pawl_text("1"), NULL), PAWL_OK);
    assert_null(pawl_step_key(run));
    task->number = 5;
    assert_int_equal(pawl_step_begin(run, "pay", NULL), PAWL_EXECUTE);
    assert_string_equal(pawl_step_key(run), "019ab000-0000-7000-8000-000000000001/5/pay#2");
}

static void
a_step_has_its_key_also_when_memory_is_short(void **state)
{
    char *name = malloc(101);
    pawl_run *one, *two;

    (void)state;
    assert_non_null(name);
    begin(NULL);
    fake_core_limits(4, 65536);
    fake_core_end(task);
    task = fake_core_task(NULL);
    assert_non_null(task);
    run = task->run;
    task->number = INT32_MAX;
    memset(name, 'b', 100);
    name[100] = '\0';
    assert_int_equal(pawl_run_branch(run, name, &one), PAWL_OK);
    assert_int_equal(pawl_run_branch(one, name, &two), PAWL_OK);
    name[36] = '\0';
    assert_int_equal(pawl_step_begin(two, name, NULL), PAWL_EXECUTE);
    while (pawl_run_alloc(two, 1) != NULL)
        ;
    /* The longest that there is. */
    assert_non_null(pawl_step_key(two));
    assert_int_equal(strlen(pawl_step_key(two)), 36 + 1 + 10 + 1 + 240);
    assert_string_equal(pawl_step_key(two) + 36 + 1 + 10 + 1 + 240 - 4, "bb#1");
    assert_int_equal(pawl_step_finish(two, PAWL_OK, pawl_text("1"), NULL), PAWL_OK);
    free(name);
}

static pawl_status
use_up_memory(pawl_run *of, void *userdata, pawl_bytes *output)
{
    int *calls = userdata;

    ++*calls;
    while (*calls == 1 && pawl_run_alloc(of, 1) != NULL)
        ;
    *output = pawl_text("[1]");
    return PAWL_OK;
}

static void
a_step_whose_output_cannot_be_handed_out_is_not_recorded(void **state)
{
    pawl_bytes output = {0};
    int calls = 0;

    (void)state;
    begin(NULL);
    fake_core_limits(100, 65536);
    fake_core_end(task);
    task = fake_core_task(NULL);
    assert_non_null(task);
    run = task->run;
    assert_int_equal(pawl_step(run, "a", use_up_memory, &calls, &output), PAWL_ENOMEM);
    assert_int_equal(fake_core_count(), 0);
    /* One that nobody asks for needs no memory. */
    assert_int_equal(pawl_step(run, "a", use_up_memory, &calls, NULL), PAWL_OK);
    assert_string_equal(fake_core_item(0), "step a#1 [1] -");
}

static pawl_status
say_suspended(pawl_run *of, void *userdata, pawl_bytes *output)
{
    (void)of;
    (void)userdata;
    (void)output;
    return PAWL_SUSPENDED;
}

static void
a_step_that_says_it_is_suspended_has_failed(void **state)
{
    const char *item;

    begin(NULL);
    assert_int_equal(pawl_step(run, "a", say_suspended, NULL, NULL), PAWL_SUSPENDED);
    item = fake_core_item(0);
    assert_int_equal(strncmp(item, "retry a#1 {\"code\":\"suspended\",", 30), 0);
    assert_non_null(strstr(item, "{\"failure\":1}"));
    end(state);
    begin(NULL);
    fake_core_answer((struct fake_answer){.final = true});
    assert_int_equal(pawl_step_begin(run, "a", NULL), PAWL_EXECUTE);
    assert_int_equal(pawl_step_finish(run, PAWL_SUSPENDED, (pawl_bytes){0}, NULL), PAWL_EFAILED);
}

static void
a_step_knows_which_try_it_is(void **state)
{
    (void)state;
    begin("{\"retries\":{\"pay#1\":{\"n\":2,\"due\":\"2026-03-01T12:00:00+00:00\"},"
          "\"worn#1\":{\"n\":2147483647,\"due\":\"2026-03-01T12:00:00+00:00\"}}}");
    assert_int_equal(pawl_step_attempt(run), 0);
    assert_int_equal(pawl_step_begin(run, "pay", NULL), PAWL_EXECUTE);
    assert_int_equal(pawl_step_attempt(run), 3);
    assert_int_equal(pawl_step_finish(run, PAWL_OK, pawl_text("1"), NULL), PAWL_OK);
    assert_int_equal(pawl_step_attempt(run), 0);
    /* Each step has a count of its own. */
    assert_int_equal(pawl_step_begin(run, "pay", NULL), PAWL_EXECUTE);
    assert_int_equal(pawl_step_attempt(run), 1);
    assert_int_equal(pawl_step_finish(run, PAWL_OK, pawl_text("1"), NULL), PAWL_OK);
    assert_int_equal(pawl_step_begin(run, "worn", NULL), PAWL_EXECUTE);
    assert_int_equal(pawl_step_attempt(run), INT32_MAX);
}

static void
bad_names_are_refused_and_not_counted(void **state)
{
    static const char *const names[] = {"", "A", "a b", "a#1", "a/b", "a:b", "\xc3\xa4"};
    char name[102] = {0};

    (void)state;
    begin(NULL);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_int_equal(pawl_step(run, names[i], do_nothing, NULL, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_step(run, NULL, do_nothing, NULL, NULL), PAWL_EINVAL);
    assert_non_null(strstr(pawl_run_error_message(run), "bad name"));
    memset(name, 'a', 101);
    assert_int_equal(pawl_step(run, name, do_nothing, NULL, NULL), PAWL_EINVAL);
    name[100] = '\0';
    assert_int_equal(pawl_step(run, name, do_nothing, NULL, NULL), PAWL_OK);
    assert_int_equal(pawl_step(run, "a_.-9", do_nothing, NULL, NULL), PAWL_OK);
    assert_int_equal(pawl_step(run, "a", NULL, NULL, NULL), PAWL_EINVAL);
    assert_int_equal(fake_core_count(), 2);
}

static void
names_that_are_too_long_together_are_refused(void **state)
{
    pawl_run *one, *two;
    char name[101] = {0};
    char rest[32] = {0};

    (void)state;
    begin(NULL);
    memset(name, 'b', 100);
    assert_int_equal(pawl_run_branch(run, name, &one), PAWL_OK);
    assert_int_equal(pawl_run_branch(one, name, &two), PAWL_OK);
    /* 202 bytes of branches, #1, and at most 36 of a name; 27 if it can be undone. */
    memset(name, 'c', 100);
    name[37] = '\0';
    assert_int_equal(pawl_step(two, name, do_nothing, NULL, NULL), PAWL_EINVAL);
    name[36] = '\0';
    assert_int_equal(pawl_step(two, name, do_nothing, NULL, NULL), PAWL_OK);
    memset(rest, 'd', 28);
    pawl_run_set_option(two, "undo", "u");
    assert_int_equal(pawl_step(two, rest, do_nothing, NULL, NULL), PAWL_EINVAL);
    rest[27] = '\0';
    pawl_run_set_option(two, "undo", "u");
    assert_int_equal(pawl_step(two, rest, do_nothing, NULL, NULL), PAWL_OK);
    assert_int_equal(pawl_run_branch(two, rest, &one), PAWL_OK);
    assert_int_equal(pawl_run_branch(two, name, &one), PAWL_EINVAL);
}

static void
no_run_is_a_bad_argument(void **state)
{
    const char *token;
    pawl_bytes none = {0};

    (void)state;
    task = NULL;
    assert_int_equal(pawl_step(NULL, "a", do_nothing, NULL, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_step_begin(NULL, "a", NULL), PAWL_EINVAL);
    assert_int_equal(pawl_step_finish(NULL, PAWL_OK, none, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_step_begin_transaction(NULL, "a", NULL, &token), PAWL_EINVAL);
    assert_int_equal(pawl_step_confirm(NULL, NULL), PAWL_EINVAL);
    assert_null(pawl_step_key(NULL));
    assert_int_equal(pawl_step_attempt(NULL), 0);
    pawl_run_set_option(NULL, "a", "b");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_step_in_two_halves_is_like_one, end),
        cmocka_unit_test_teardown(while_a_step_is_open_other_calls_of_its_branch_are_refused, end),
        cmocka_unit_test_teardown(a_step_function_must_not_use_its_run_for_other_steps, end),
        cmocka_unit_test_teardown(a_step_with_an_undo_is_begun_before_it_is_done, end),
        cmocka_unit_test_teardown(a_begin_that_is_known_already_goes_on, end),
        cmocka_unit_test_teardown(a_step_that_was_begun_before_is_not_begun_again, end),
        cmocka_unit_test_teardown(a_step_that_took_too_long_has_failed, end),
        cmocka_unit_test_teardown(the_limit_of_the_workflow_holds_where_a_step_has_none, end),
        cmocka_unit_test_teardown(a_run_whose_time_is_over_starts_nothing, end),
        cmocka_unit_test_teardown(an_output_that_cannot_be_kept_fails_the_step_for_good, end),
        cmocka_unit_test_teardown(an_output_that_is_nested_too_deep_fails_as_well, end),
        cmocka_unit_test_teardown(a_transaction_gets_a_token_and_is_taken_note_of, end),
        cmocka_unit_test_teardown(a_transaction_that_did_not_record_is_a_failure, end),
        cmocka_unit_test_teardown(a_step_has_a_key_that_stays_the_same, end),
        cmocka_unit_test_teardown(a_step_has_its_key_also_when_memory_is_short, end),
        cmocka_unit_test_teardown(a_step_whose_output_cannot_be_handed_out_is_not_recorded, end),
        cmocka_unit_test_teardown(a_step_that_says_it_is_suspended_has_failed, end),
        cmocka_unit_test_teardown(a_step_knows_which_try_it_is, end),
        cmocka_unit_test_teardown(bad_names_are_refused_and_not_counted, end),
        cmocka_unit_test_teardown(names_that_are_too_long_together_are_refused, end),
        cmocka_unit_test_teardown(no_run_is_a_bad_argument, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
