/* SPDX-License-Identifier: Apache-2.0 */
/* The same calls for users that do not block: they leave while an answer is on its way, and call again. */
#include "fake_core.h"
#include "pawl/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
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
    pawl_run_set_nonblocking(run);
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

/* Its output goes when it returns. */
static pawl_status
work(pawl_run *of, void *userdata, pawl_bytes *output)
{
    char *text = userdata;

    (void)of;
    memcpy(text, "[17]", 5);
    *output = pawl_text(text);
    return PAWL_OK;
}

static void
a_step_pends_until_the_worker_has_its_answer(void **state)
{
    pawl_bytes output = none;
    char *text = malloc(8);

    (void)state;
    assert_non_null(text);
    begin(NULL);
    assert_int_equal(pawl_step(run, "a", work, text, &output), PAWL_PENDING);
    assert_null(output.data);
    memset(text, 'x', 8);
    assert_ptr_equal(fake_core_next(), run);
    assert_int_equal(pawl_step(run, "a", work, text, &output), PAWL_OK);
    assert_string_equal(output.data, "[17]");
    assert_int_equal(fake_core_count(), 1);
    assert_string_equal(fake_core_item(0), "step a#1 [17] -");
    /* It is over: the same call is another step now. */
    assert_int_equal(pawl_step(run, "a", work, text, NULL), PAWL_PENDING);
    assert_ptr_equal(fake_core_next(), run);
    assert_int_equal(pawl_step(run, "a", work, text, NULL), PAWL_OK);
    assert_string_equal(fake_core_item(1), "step a#2 [17] -");
    free(text);
}

static void
replay_does_not_pend(void **state)
{
    pawl_bytes output = none;

    (void)state;
    begin("{\"steps\":[{\"name\":\"a#1\",\"kind\":\"step\",\"state\":\"SUCCESS\",\"seq\":1,"
          "\"output\":3}]}");
    assert_int_equal(pawl_step_begin(run, "a", &output), PAWL_OK);
    assert_string_equal(output.data, "3");
    assert_null(fake_core_next());
}

static void
both_halves_of_a_step_with_an_undo_pend(void **state)
{
    pawl_bytes output = none;

    (void)state;
    begin(NULL);
    pawl_run_set_option(run, "undo", "u");
    assert_int_equal(pawl_step_begin(run, "a", NULL), PAWL_PENDING);
    assert_ptr_equal(fake_core_next(), run);
    /* Options that are given again with the call change nothing. */
    pawl_run_set_option(run, "undo", "u");
    assert_int_equal(pawl_step_begin(run, "a", NULL), PAWL_EXECUTE);
    assert_int_equal(pawl_step_finish(run, PAWL_OK, pawl_text("5"), &output), PAWL_PENDING);
    assert_ptr_equal(fake_core_next(), run);
    assert_int_equal(pawl_step_finish(run, PAWL_OK, pawl_text("5"), &output), PAWL_OK);
    assert_string_equal(output.data, "5");
    assert_string_equal(fake_core_item(0), "begin a#1 - {\"undo\":{\"handler\":\"u\"}}");
    assert_string_equal(fake_core_item(1), "step a#1 5 -");
    assert_int_equal(pawl_step_begin(run, "b", NULL), PAWL_EXECUTE);
    assert_int_equal(fake_core_count(), 2);
}

/* That it begins is recorded once, however often the lease is waited for. */
static void
a_step_with_an_undo_waits_for_the_lease_before_it_begins_and_after(void **state)
{
    (void)state;
    begin(NULL);
    pawl_run_set_option(run, "undo", "u");
    fake_core_unsure(1);
    assert_int_equal(pawl_step_begin(run, "a", NULL), PAWL_PENDING);
    assert_int_equal(fake_core_count(), 0);
    assert_ptr_equal(fake_core_next(), run);
    assert_int_equal(pawl_step_begin(run, "a", NULL), PAWL_PENDING);
    assert_int_equal(fake_core_count(), 1);
    assert_ptr_equal(fake_core_next(), run);
    fake_core_unsure(1);
    assert_int_equal(pawl_step_begin(run, "a", NULL), PAWL_PENDING);
    assert_ptr_equal(fake_core_next(), run);
    assert_int_equal(pawl_step_begin(run, "a", NULL), PAWL_EXECUTE);
    assert_int_equal(fake_core_count(), 1);
    assert_string_equal(fake_core_item(0), "begin a#1 - {\"undo\":{\"handler\":\"u\"}}");
    assert_int_equal(pawl_step_finish(run, PAWL_OK, pawl_text("5"), NULL), PAWL_PENDING);
    assert_ptr_equal(fake_core_next(), run);
    assert_int_equal(pawl_step_finish(run, PAWL_OK, pawl_text("5"), NULL), PAWL_OK);
    assert_string_equal(fake_core_item(1), "step a#1 5 -");
}

static void
a_failure_pends_and_then_suspends(void **state)
{
    (void)state;
    begin(NULL);
    assert_int_equal(pawl_step_begin(run, "a", NULL), PAWL_EXECUTE);
    pawl_run_set_error(run, "c", "m");
    assert_int_equal(pawl_step_finish(run, PAWL_EFAILED, none, NULL), PAWL_PENDING);
    assert_ptr_equal(fake_core_next(), run);
    assert_int_equal(pawl_step_finish(run, PAWL_EFAILED, none, NULL), PAWL_SUSPENDED);
    assert_string_equal(
        fake_core_item(0), "retry a#1 {\"code\":\"c\",\"message\":\"m\"} {\"failure\":1}");
}

static void
what_follows_a_refusal_pends_as_well(void **state)
{
    char text[8];

    (void)state;
    begin(NULL);
    fake_core_answer((struct fake_answer){.answer = PW_ANSWER_REFUSED, .reason = "bad"});
    assert_int_equal(pawl_step(run, "a", work, text, NULL), PAWL_PENDING);
    assert_ptr_equal(fake_core_next(), run);
    assert_int_equal(pawl_step(run, "a", work, text, NULL), PAWL_PENDING);
    assert_ptr_equal(fake_core_next(), run);
    assert_int_equal(pawl_step(run, "a", work, text, NULL), PAWL_EFAILED);
    assert_string_equal(
        fake_core_item(1), "step_error a#1 {\"code\":\"refused\",\"message\":\"bad\"} -");
}

static void
waits_pend(void **state)
{
    pawl_bytes output = none;
    char input[] = "[1]";

    (void)state;
    begin(NULL);
    fake_core_answer((struct fake_answer){.state = PW_STATE_SUCCESS, .output = "{\"run_id\":1}"});
    assert_int_equal(pawl_child_detached(run, "kid", "w", pawl_text(input), &output), PAWL_PENDING);
    input[1] = '2';
    assert_ptr_equal(fake_core_next(), run);
    assert_int_equal(pawl_child_detached(run, "kid", "w", pawl_text(input), &output), PAWL_OK);
    assert_string_equal(output.data, "{\"run_id\":1}");
    assert_string_equal(
        fake_core_item(0), "child kid#1 [1] {\"workflow\":\"w\",\"detached\":true}");
    fake_core_answer((struct fake_answer){.state = PW_STATE_PAUSED});
    assert_int_equal(pawl_sleep(run, "nap", 5), PAWL_PENDING);
    assert_ptr_equal(fake_core_next(), run);
    assert_int_equal(pawl_sleep(run, "nap", 5), PAWL_SUSPENDED);
    pawl_run_finish(run, PAWL_SUSPENDED, none);
    assert_string_equal(fake_core_last(), "suspend - - -");
}

static void
a_transaction_pends(void **state)
{
    const char *token = NULL;
    pawl_bytes output = none;

    (void)state;
    begin(NULL);
    pawl_run_set_option(run, "undo", "u");
    assert_int_equal(pawl_step_begin_transaction(run, "pay", NULL, &token), PAWL_PENDING);
    assert_ptr_equal(fake_core_next(), run);
    assert_int_equal(pawl_step_begin_transaction(run, "pay", NULL, &token), PAWL_EXECUTE);
    assert_non_null(token);
    fake_core_answer((struct fake_answer){.answer = PW_ANSWER_REFUSED, .reason = "not recorded"});
    fake_core_answer((struct fake_answer){.final = true});
    assert_int_equal(pawl_step_confirm(run, &output), PAWL_PENDING);
    assert_ptr_equal(fake_core_next(), run);
    assert_int_equal(pawl_step_confirm(run, &output), PAWL_PENDING);
    assert_ptr_equal(fake_core_next(), run);
    assert_int_equal(pawl_step_confirm(run, &output), PAWL_EFAILED);
}

static void
another_call_than_the_pending_one_is_refused(void **state)
{
    pawl_run *branch;
    char text[8];

    (void)state;
    begin(NULL);
    assert_int_equal(pawl_step(run, "a", work, text, NULL), PAWL_PENDING);
    assert_int_equal(pawl_step(run, "b", work, text, NULL), PAWL_EINVAL);
    assert_string_equal(
        pawl_run_error_message(run), "another call is in flight in this branch: \"a#1\"");
    assert_int_equal(pawl_step_begin(run, "a", NULL), PAWL_EINVAL);
    assert_int_equal(pawl_step_finish(run, PAWL_OK, none, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_step_confirm(run, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_sleep(run, "a", 1), PAWL_EINVAL);
    /* Another branch is not this one. */
    assert_int_equal(pawl_run_branch(run, "x", &branch), PAWL_OK);
    assert_ptr_equal(fake_core_next(), run);
    assert_int_equal(pawl_step(run, "a", work, text, NULL), PAWL_OK);
    fake_core_answer((struct fake_answer){.state = PW_STATE_PAUSED});
    assert_int_equal(pawl_sleep(run, "nap", 5), PAWL_PENDING);
    assert_int_equal(pawl_sleep(run, "na", 5), PAWL_EINVAL);
    assert_int_equal(pawl_wait_signal(run, "nap", 5, NULL), PAWL_EINVAL);
    assert_ptr_equal(fake_core_next(), run);
    assert_int_equal(pawl_sleep(run, "nap", 5), PAWL_SUSPENDED);
    assert_int_equal(fake_core_count(), 2);
}

static void
branches_pend_beside_each_other(void **state)
{
    pawl_run *one, *two, *next;
    char text[2][8];

    (void)state;
    begin(NULL);
    fake_core_threaded();
    assert_int_equal(pawl_run_branch(run, "one", &one), PAWL_OK);
    assert_int_equal(pawl_run_branch(run, "two", &two), PAWL_OK);
    for (int i = 0; i < 200; i++) {
        assert_int_equal(pawl_step(one, "s", work, text[0], NULL), PAWL_PENDING);
        assert_int_equal(pawl_step(two, "s", work, text[1], NULL), PAWL_PENDING);
        for (int j = 0; j < 2; j++) {
            next = fake_core_next();
            assert_true(next == one || next == two);
            assert_int_equal(pawl_step(next, "s", work, text[next == two], NULL), PAWL_OK);
        }
    }
    assert_int_equal(fake_core_count(), 400);
    pawl_run_finish(run, PAWL_OK, none);
}

static void
an_undo_pends(void **state)
{
    const char *handler;

    (void)state;
    begin("{\"undos\":[{\"name\":\"a#1\",\"undo\":{\"handler\":\"u\"},\"output\":1,\"uncertain\":"
          "false}]}");
    assert_int_equal(pawl_run_undo_next(run, &handler, NULL, NULL), PAWL_EXECUTE);
    assert_int_equal(pawl_step_finish(run, PAWL_OK, none, NULL), PAWL_PENDING);
    assert_ptr_equal(fake_core_next(), run);
    assert_int_equal(pawl_step_finish(run, PAWL_OK, none, NULL), PAWL_OK);
    assert_int_equal(pawl_run_undo_next(run, &handler, NULL, NULL), PAWL_OK);
}

/* Calls of one branch that are under way at the same time: recorded as if the branch had made them one by one. */
static void
duplicates_count_names_together(void **state)
{
    pawl_run *dups[2] = {NULL, NULL};
    pawl_bytes output = none;
    pawl_run *branch = NULL;

    (void)state;
    begin(NULL);
    assert_int_equal(pawl_run_dup(run, &dups[0]), PAWL_OK);
    assert_int_equal(pawl_run_dup(run, &dups[1]), PAWL_OK);
    assert_int_equal(pawl_step_begin(dups[0], "a", &output), PAWL_EXECUTE);
    assert_int_equal(pawl_step_begin(dups[1], "b", &output), PAWL_EXECUTE);
    assert_int_equal(pawl_step_finish(dups[1], PAWL_OK, pawl_text("1"), NULL), PAWL_PENDING);
    assert_int_equal(pawl_step_finish(dups[0], PAWL_OK, pawl_text("2"), NULL), PAWL_PENDING);
    assert_ptr_equal(fake_core_next(), dups[1]);
    assert_int_equal(pawl_step_finish(dups[1], PAWL_OK, pawl_text("1"), NULL), PAWL_OK);
    assert_ptr_equal(fake_core_next(), dups[0]);
    assert_int_equal(pawl_step_finish(dups[0], PAWL_OK, pawl_text("2"), NULL), PAWL_OK);
    /* The other duplicate knows that the name came up before. */
    assert_int_equal(pawl_step_begin(dups[1], "a", &output), PAWL_EXECUTE);
    assert_int_equal(pawl_step_finish(dups[1], PAWL_OK, pawl_text("3"), NULL), PAWL_PENDING);
    assert_ptr_equal(fake_core_next(), dups[1]);
    assert_int_equal(pawl_step_finish(dups[1], PAWL_OK, pawl_text("3"), NULL), PAWL_OK);
    assert_string_equal(fake_core_item(0), "step b#1 1 -");
    assert_string_equal(fake_core_item(1), "step a#1 2 -");
    assert_string_equal(fake_core_item(2), "step a#2 3 -");
    assert_int_equal(pawl_run_dup(dups[0], &branch), PAWL_EINVAL);
    assert_int_equal(pawl_run_branch(dups[0], "x", &branch), PAWL_EINVAL);
}

/* The first call is the run's; duplicates come when one is needed. */
static void
a_run_is_one_of_its_duplicates(void **state)
{
    pawl_run *dup = NULL, *other = NULL, *branch = NULL;
    pawl_bytes output = none;

    (void)state;
    begin(NULL);
    fake_core_answer((struct fake_answer){.state = PW_STATE_PAUSED});
    assert_int_equal(pawl_wait_signal(run, "go", -1, &output), PAWL_PENDING);
    assert_int_equal(pawl_run_dup(run, &dup), PAWL_OK);
    assert_int_equal(pawl_step_begin(dup, "a", &output), PAWL_EXECUTE);
    assert_ptr_equal(fake_core_next(), run);
    assert_int_equal(pawl_wait_signal(run, "go", -1, &output), PAWL_SUSPENDED);
    /* The branch goes on, although one of its calls waits. */
    assert_int_equal(pawl_step_finish(dup, PAWL_OK, pawl_text("1"), NULL), PAWL_PENDING);
    assert_int_equal(pawl_run_dup(run, &other), PAWL_OK);
    assert_int_equal(pawl_run_branch(run, "x", &branch), PAWL_OK);
    assert_int_equal(pawl_step_begin(other, "a", &output), PAWL_EXECUTE);
    assert_ptr_equal(fake_core_next(), dup);
    assert_int_equal(pawl_step_finish(dup, PAWL_OK, pawl_text("1"), NULL), PAWL_OK);
    assert_int_equal(pawl_step_finish(other, PAWL_OK, pawl_text("2"), NULL), PAWL_PENDING);
    assert_ptr_equal(fake_core_next(), other);
    assert_int_equal(pawl_step_finish(other, PAWL_OK, pawl_text("2"), NULL), PAWL_OK);
    assert_string_equal(fake_core_item(0), "signal go#1 - -");
    assert_string_equal(fake_core_item(1), "step a#1 1 -");
    assert_string_equal(fake_core_item(2), "step a#2 2 -");
    /* The caller decides: the handler needed only one of the two. */
    pawl_run_finish(run, PAWL_OK, pawl_text("2"));
    assert_string_equal(fake_core_last(), "complete - 2 -");
}

/* Names are counted while the I/O thread brings an answer with a value; for the checkers of threads and of addresses. */
static void
a_duplicate_counts_names_while_the_run_gets_its_answer(void **state)
{
    pawl_run *dup = NULL;
    pawl_bytes output = none;
    char name[24];

    (void)state;
    begin(NULL);
    fake_core_threaded();
    assert_int_equal(pawl_run_dup(run, &dup), PAWL_OK);
    for (int i = 0; i < 200; i++) {
        fake_core_answer(
            (struct fake_answer){.state = PW_STATE_SUCCESS, .output = "\"a longer value\""});
        assert_int_equal(pawl_wait_signal(run, "go", -1, &output), PAWL_PENDING);
        (void)snprintf(name, sizeof(name), "n%d", i);
        assert_int_equal(pawl_step_begin(dup, name, &output), PAWL_EXECUTE);
        assert_ptr_equal(fake_core_next(), run);
        assert_int_equal(pawl_wait_signal(run, "go", -1, &output), PAWL_OK);
        assert_string_equal(output.data, "\"a longer value\"");
        assert_int_equal(pawl_step_finish(dup, PAWL_OK, none, NULL), PAWL_PENDING);
        assert_ptr_equal(fake_core_next(), dup);
        assert_int_equal(pawl_step_finish(dup, PAWL_OK, none, NULL), PAWL_OK);
    }
    pawl_run_finish(run, PAWL_OK, none);
}

static void
a_duplicate_of_a_branch_has_its_names(void **state)
{
    pawl_run *branch = NULL;
    pawl_run *dup = NULL;
    pawl_bytes output = none;

    (void)state;
    begin(NULL);
    assert_int_equal(pawl_run_branch(run, "x", &branch), PAWL_OK);
    assert_int_equal(pawl_run_dup(branch, &dup), PAWL_OK);
    assert_int_equal(pawl_step_begin(dup, "a", &output), PAWL_EXECUTE);
    assert_int_equal(pawl_step_finish(dup, PAWL_OK, pawl_text("1"), NULL), PAWL_PENDING);
    assert_ptr_equal(fake_core_next(), dup);
    assert_int_equal(pawl_step_finish(dup, PAWL_OK, pawl_text("1"), NULL), PAWL_OK);
    assert_string_equal(fake_core_item(0), "step x/a#1 1 -");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_step_pends_until_the_worker_has_its_answer, end),
        cmocka_unit_test_teardown(replay_does_not_pend, end),
        cmocka_unit_test_teardown(both_halves_of_a_step_with_an_undo_pend, end),
        cmocka_unit_test_teardown(
            a_step_with_an_undo_waits_for_the_lease_before_it_begins_and_after, end),
        cmocka_unit_test_teardown(a_failure_pends_and_then_suspends, end),
        cmocka_unit_test_teardown(what_follows_a_refusal_pends_as_well, end),
        cmocka_unit_test_teardown(waits_pend, end),
        cmocka_unit_test_teardown(a_transaction_pends, end),
        cmocka_unit_test_teardown(another_call_than_the_pending_one_is_refused, end),
        cmocka_unit_test_teardown(branches_pend_beside_each_other, end),
        cmocka_unit_test_teardown(an_undo_pends, end),
        cmocka_unit_test_teardown(duplicates_count_names_together, end),
        cmocka_unit_test_teardown(a_run_is_one_of_its_duplicates, end),
        cmocka_unit_test_teardown(a_duplicate_counts_names_while_the_run_gets_its_answer, end),
        cmocka_unit_test_teardown(a_duplicate_of_a_branch_has_its_names, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
