/* SPDX-License-Identifier: Apache-2.0 */
/* Change points: whether older code has been beyond this place. */
#include "fake_core.h"
#include "pawl/run.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define STEP(name) \
    "{\"name\":\"" name "\",\"kind\":\"step\",\"state\":\"SUCCESS\",\"seq\":1,\"output\":3}"
#define RECORD(steps) "{\"steps\":[" steps "]}"

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

/* What the change point answers in a branch, after the branch has asked for these steps. */
static int
ask(pawl_run *branch, const char *step)
{
    pawl_bytes output = none;
    int is_new = -1;

    if (step != NULL)
        assert_int_equal(pawl_step_begin(branch, step, &output), PAWL_OK);
    assert_int_equal(pawl_run_changed(branch, "tax", &is_new), PAWL_OK);
    return is_new;
}

static void
a_run_that_comes_here_first_is_new(void **state)
{
    begin(NULL);
    assert_int_equal(ask(run, NULL), 1);
    assert_string_equal(fake_core_item(0), "step tax#1 true -");
    end(state);
    begin(RECORD(STEP("a#1")));
    assert_int_equal(ask(run, "a"), 1);
    end(state);
}

static void
a_run_that_was_further_is_old(void **state)
{
    begin(RECORD(STEP("a#1") "," STEP("b#1")));
    assert_int_equal(ask(run, "a"), 0);
    assert_string_equal(fake_core_item(0), "step tax#1 false -");
    end(state);
    /* An open wait, and a step that has only failed so far, count as well. */
    begin("{\"waits\":[{\"name\":\"nap#1\",\"kind\":\"sleep\",\"seq\":1}]}");
    assert_int_equal(ask(run, NULL), 0);
    end(state);
    begin("{\"retries\":{\"a#1\":{\"n\":1}}}");
    assert_int_equal(ask(run, NULL), 0);
    end(state);
    /* Failures of the handler itself, and what pawl_run_defer() counts, do not. */
    begin("{\"retries\":{\"\":{\"n\":1},\"no_handler#0\":{\"n\":3}}}");
    assert_int_equal(ask(run, NULL), 1);
    end(state);
}

static void
the_answer_is_recorded(void **state)
{
    int is_new = -1;

    begin(RECORD("{\"name\":\"tax#1\",\"kind\":\"step\",\"state\":\"SUCCESS\",\"seq\":1,\"output\":"
                 "true}," STEP("b#1")));
    assert_int_equal(ask(run, NULL), 1);
    assert_int_equal(fake_core_count(), 0);
    end(state);
    begin(RECORD(STEP("tax#1")));
    assert_int_equal(pawl_run_changed(run, "tax", &is_new), PAWL_EINVAL);
    assert_string_equal(
        pawl_run_error_message(run), "\"tax\" is recorded as a step, not as a change");
    end(state);
}

static void
each_branch_is_asked_about_its_own_records(void **state)
{
    pawl_run *branch = NULL;

    begin(RECORD(STEP("a#1") "," STEP("side/b#1") "," STEP("side/deep/c#1")));
    assert_int_equal(pawl_run_branch(run, "side", &branch), PAWL_OK);
    /* Records of a branch that exists are its own; those of one that does not exist yet were made by older code. */
    assert_int_equal(ask(run, "a"), 1);
    assert_int_equal(ask(branch, "b"), 0);
    end(state);
    begin(RECORD(STEP("a#1") "," STEP("side/b#1")));
    assert_int_equal(ask(run, "a"), 0);
    end(state);
}

/* Asks for the recorded steps of a branch. */
static void *
replay(void *branch)
{
    pawl_bytes output = none;

    assert_int_equal(pawl_step_begin(branch, "b", &output), PAWL_OK);
    assert_int_equal(pawl_step_begin(branch, "c", &output), PAWL_OK);
    return NULL;
}

/* The checker for threads (tools/sanitize build thread) finds what this test is about. */
static void
threads_of_other_branches_may_replay_at_the_same_time(void **state)
{
    pawl_run *branches[2] = {NULL, NULL};
    pthread_t thread;
    int of_branch = -1;
    int of_run = -1;

    begin(RECORD(STEP("a#1") "," STEP("one/b#1") "," STEP("one/c#1") "," STEP("two/b#1")));
    assert_int_equal(pawl_run_branch(run, "one", &branches[0]), PAWL_OK);
    assert_int_equal(pawl_run_branch(run, "two", &branches[1]), PAWL_OK);
    assert_int_equal(pthread_create(&thread, NULL, replay, branches[0]), 0);
    of_branch = ask(branches[1], "b");
    of_run = ask(run, "a");
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(of_branch, 1);
    assert_int_equal(of_run, 1);
    end(state);
}

static void
it_pends_and_takes_no_options(void **state)
{
    int is_new = -1;

    begin(NULL);
    pawl_run_set_option(run, "timeout_ms", "5");
    assert_int_equal(pawl_run_changed(run, "tax", &is_new), PAWL_EINVAL);
    assert_int_equal(pawl_run_changed(run, "tax", NULL), PAWL_EINVAL);
    assert_int_equal(pawl_run_changed(NULL, "tax", &is_new), PAWL_EINVAL);
    assert_int_equal(pawl_run_changed(run, "Bad name", &is_new), PAWL_EINVAL);
    pawl_run_set_nonblocking(run);
    assert_int_equal(pawl_run_changed(run, "tax", &is_new), PAWL_PENDING);
    assert_int_equal(pawl_step_finish(run, PAWL_OK, none, NULL), PAWL_EINVAL);
    assert_ptr_equal(fake_core_next(), run);
    assert_int_equal(pawl_run_changed(run, "tax", &is_new), PAWL_OK);
    assert_int_equal(is_new, 1);
    assert_int_equal(fake_core_count(), 1);
    end(state);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_run_that_comes_here_first_is_new, end),
        cmocka_unit_test_teardown(a_run_that_was_further_is_old, end),
        cmocka_unit_test_teardown(the_answer_is_recorded, end),
        cmocka_unit_test_teardown(each_branch_is_asked_about_its_own_records, end),
        cmocka_unit_test_teardown(threads_of_other_branches_may_replay_at_the_same_time, end),
        cmocka_unit_test_teardown(it_pends_and_takes_no_options, end),
    };

    return cmocka_run_group_tests_name("libpawl/changed", tests, NULL, NULL);
}
