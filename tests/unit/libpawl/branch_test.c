/* SPDX-License-Identifier: Apache-2.0 */
/* Branches: their names, and what comes of executing many at the same time. */
#include "base/buf.h"
#include "base/time.h"
#include "fake_core.h"
#include "pawl/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
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
give_one(pawl_run *of, void *userdata, pawl_bytes *output)
{
    (void)of;
    (void)userdata;
    *output = pawl_text("1");
    return PAWL_OK;
}

static void
what_a_branch_does_is_named_after_it(void **state)
{
    pawl_run *one, *two, *inner;

    (void)state;
    begin(NULL);
    assert_int_equal(pawl_run_branch(run, "one", &one), PAWL_OK);
    assert_int_equal(pawl_run_branch(run, "two", &two), PAWL_OK);
    assert_int_equal(pawl_run_branch(one, "in", &inner), PAWL_OK);
    assert_int_equal(pawl_step(one, "s", give_one, NULL, NULL), PAWL_OK);
    assert_int_equal(pawl_step(two, "s", give_one, NULL, NULL), PAWL_OK);
    assert_int_equal(pawl_step(two, "s", give_one, NULL, NULL), PAWL_OK);
    assert_int_equal(pawl_step(inner, "s", give_one, NULL, NULL), PAWL_OK);
    assert_int_equal(pawl_step(run, "s", give_one, NULL, NULL), PAWL_OK);
    assert_string_equal(fake_core_item(0), "step one/s#1 1 -");
    assert_string_equal(fake_core_item(1), "step two/s#1 1 -");
    assert_string_equal(fake_core_item(2), "step two/s#2 1 -");
    assert_string_equal(fake_core_item(3), "step one/in/s#1 1 -");
    assert_string_equal(fake_core_item(4), "step s#1 1 -");
    assert_int_equal(fake_core_seq(4), 5);
    assert_string_equal(pawl_run_id(inner), pawl_run_id(run));
    assert_string_equal(pawl_run_workflow(inner), "demo.v1");
}

static void
a_name_is_for_one_branch_only(void **state)
{
    pawl_run *branch = NULL;

    (void)state;
    begin(NULL);
    assert_int_equal(pawl_run_branch(run, "a", &branch), PAWL_OK);
    assert_int_equal(pawl_run_branch(run, "a", &branch), PAWL_EINVAL);
    assert_string_equal(pawl_run_error_message(run), "there is a branch \"a\" already");
    assert_int_equal(pawl_run_branch(branch, "a", &branch), PAWL_OK);
    assert_int_equal(pawl_run_branch(run, "A", &branch), PAWL_EINVAL);
    assert_int_equal(pawl_run_branch(run, NULL, &branch), PAWL_EINVAL);
    assert_int_equal(pawl_run_branch(run, "b", NULL), PAWL_EINVAL);
    assert_int_equal(pawl_run_branch(NULL, "b", &branch), PAWL_EINVAL);
}

static void
a_run_has_a_thousand_branches_at_most(void **state)
{
    pawl_run *branch;
    char name[16];

    (void)state;
    begin(NULL);
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(name, sizeof(name), "b%d", i);
        assert_int_equal(pawl_run_branch(run, name, &branch), PAWL_OK);
    }
    assert_int_equal(pawl_run_branch(run, "more", &branch), PAWL_EINVAL);
    assert_int_equal(pawl_run_branch(branch, "more", &branch), PAWL_EINVAL);
}

static void
one_branch_that_waits_does_not_stop_another(void **state)
{
    pawl_run *one, *two;

    (void)state;
    begin(NULL);
    assert_int_equal(pawl_run_branch(run, "one", &one), PAWL_OK);
    assert_int_equal(pawl_run_branch(run, "two", &two), PAWL_OK);
    fake_core_answer((struct fake_answer){.state = PW_STATE_PAUSED});
    assert_int_equal(pawl_sleep(one, "nap", 1000), PAWL_SUSPENDED);
    assert_int_equal(pawl_sleep(one, "nap", 1000), PAWL_SUSPENDED);
    assert_int_equal(pawl_run_branch(one, "x", &two), PAWL_SUSPENDED);
    assert_int_equal(pawl_step(two, "s", give_one, NULL, NULL), PAWL_OK);
    assert_int_equal(pawl_step(run, "s", give_one, NULL, NULL), PAWL_OK);
}

/* Forty steps in each of a hundred branches, in threads, with answers from another thread. */
static pawl_status
do_forty_steps(pawl_run *branch, void *userdata, pawl_bytes *output)
{
    int number = *(int *)userdata;
    pawl_status status;
    pawl_bytes done;

    for (int i = 0; i < 40; i++) {
        status = pawl_step(branch, "s", give_one, NULL, &done);
        if (status != PAWL_OK)
            return status;
        pawl_run_log(branch, "%d %d", number, i);
        status = pawl_run_check(branch);
        if (status != PAWL_OK)
            return status;
    }
    return pawl_run_printf(branch, output, "%d", number);
}

static void
a_hundred_branches_are_executed_at_the_same_time_and_joined(void **state)
{
    pawl_bytes outputs[100];
    int numbers[100];
    char text[16];

    (void)state;
    begin(NULL);
    fake_core_threaded();
    for (int i = 0; i < 100; i++) {
        numbers[i] = i;
        outputs[i] = none;
        (void)snprintf(text, sizeof(text), "b%d", i);
        assert_int_equal(pawl_branch(run, text, do_forty_steps, &numbers[i], &outputs[i]), PAWL_OK);
    }
    assert_int_equal(pawl_branches_join(run), PAWL_OK);
    for (int i = 0; i < 100; i++) {
        (void)snprintf(text, sizeof(text), "%d", i);
        assert_string_equal(outputs[i].data, text);
    }
    assert_int_equal(fake_core_count(), 100 * 40 + 1000);
    assert_int_equal(atomic_load(&task->seq), 4000);
    /* They are joined once. */
    assert_int_equal(pawl_branches_join(run), PAWL_OK);
    assert_int_equal(fake_core_count(), 100 * 40 + 1000);
}

/* What the heartbeat does, while handlers go on. */
static atomic_bool stop_beating, beat_badly;

static void *
beat(void *argument)
{
    struct pw_buf json;

    (void)argument;
    pw_buf_init(&json, 65536);
    while (!atomic_load(&stop_beating)) {
        size_t count = 0;

        pw_buf_clear(&json);
        pw_run_write_running(run, pw_now_us(), 0, &json, &count);
        if (!pw_buf_ok(&json))
            atomic_store(&beat_badly, true);
    }
    pw_buf_done(&json);
    return NULL;
}

static void
a_heartbeat_can_look_at_any_time(void **state)
{
    pawl_bytes output = none;
    int numbers[8] = {0};
    char name[16];
    pthread_t thread;

    (void)state;
    begin(NULL);
    fake_core_threaded();
    atomic_store(&stop_beating, false);
    assert_int_equal(pthread_create(&thread, NULL, beat, NULL), 0);
    for (int i = 0; i < 8; i++) {
        (void)snprintf(name, sizeof(name), "b%d", i);
        assert_int_equal(pawl_branch(run, name, do_forty_steps, &numbers[i], &output), PAWL_OK);
    }
    assert_int_equal(pawl_branches_join(run), PAWL_OK);
    atomic_store(&stop_beating, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_false(atomic_load(&beat_badly));
}

static pawl_status
return_status(pawl_run *branch, void *userdata, pawl_bytes *output)
{
    pawl_status status = *(pawl_status *)userdata;

    *output = pawl_text("[1]");
    if (status == PAWL_EFAILED)
        pawl_run_set_error(branch, "mine", "branch failed");
    return status;
}

static void
join_three(pawl_status one, pawl_status two, pawl_status three, pawl_status expected)
{
    pawl_status statuses[] = {one, two, three};
    pawl_bytes outputs[3] = {none, none, none};
    char name[16];

    begin(NULL);
    for (int i = 0; i < 3; i++) {
        (void)snprintf(name, sizeof(name), "b%d", i);
        assert_int_equal(pawl_branch(run, name, return_status, &statuses[i], &outputs[i]), PAWL_OK);
    }
    assert_int_equal(pawl_branches_join(run), expected);
    for (int i = 0; i < 3; i++)
        assert_int_equal(outputs[i].data != NULL, statuses[i] == PAWL_OK);
}

static void
the_first_failure_in_their_order_is_that_of_all(void **state)
{
    static const pawl_status cases[][4] = {
        {PAWL_OK, PAWL_OK, PAWL_OK, PAWL_OK},
        {PAWL_OK, PAWL_SUSPENDED, PAWL_OK, PAWL_SUSPENDED},
        /* While one waits it is not known which of them will be the first. */
        {PAWL_SUSPENDED, PAWL_EFAILED, PAWL_ECONN, PAWL_SUSPENDED},
        {PAWL_EFAILED, PAWL_SUSPENDED, PAWL_OK, PAWL_SUSPENDED},
        {PAWL_EFAILED, PAWL_SUSPENDED, PAWL_ECANCELLED, PAWL_ECANCELLED},
        {PAWL_ELEASE_LOST, PAWL_SUSPENDED, PAWL_EFAILED, PAWL_ELEASE_LOST},
        {PAWL_OK, PAWL_ECONN, PAWL_EFAILED, PAWL_ECONN},
        {PAWL_EFAILED, PAWL_ECANCELLED, PAWL_OK, PAWL_ECANCELLED},
        {PAWL_ECANCELLED, PAWL_EFAILED, PAWL_ELEASE_LOST, PAWL_ELEASE_LOST},
        {PAWL_OK, PAWL_OK, PAWL_EPERMANENT, PAWL_EPERMANENT},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        join_three(cases[i][0], cases[i][1], cases[i][2], cases[i][3]);
        end(state);
    }
    join_three(PAWL_OK, PAWL_EFAILED, PAWL_OK, PAWL_EFAILED);
    assert_string_equal(pawl_run_error_message(run), "branch failed");
    pawl_run_finish(run, PAWL_EFAILED, none);
    assert_string_equal(
        fake_core_last(), "fail - {\"code\":\"mine\",\"message\":\"branch failed\"} -");
}

static pawl_status
fail_finally(pawl_run *branch, void *userdata, pawl_bytes *output)
{
    (void)userdata;
    if (pawl_step_begin(branch, "pay", output) != PAWL_EXECUTE)
        return PAWL_EINVAL;
    pawl_run_set_error(branch, "card", "declined");
    return pawl_step_finish(branch, PAWL_EPERMANENT, none, NULL);
}

static pawl_status
swallow_everything(pawl_run *branch, void *userdata, pawl_bytes *output)
{
    (void)userdata;
    (void)output;
    (void)!pawl_sleep(branch, "nap", 5);
    return PAWL_OK;
}

static pawl_status
leave_open(pawl_run *branch, void *userdata, pawl_bytes *output)
{
    (void)userdata;
    return pawl_step_begin(branch, "a", output) == PAWL_EXECUTE ? PAWL_OK : PAWL_EINVAL;
}

static void
the_final_failure_of_a_step_in_a_branch_ends_the_run(void **state)
{
    (void)state;
    begin(NULL);
    fake_core_answer((struct fake_answer){.final = true});
    assert_int_equal(pawl_branch(run, "a", fail_finally, NULL, NULL), PAWL_OK);
    assert_int_equal(pawl_branches_join(run), PAWL_EFAILED);
    pawl_run_finish(run, PAWL_EFAILED, none);
    assert_string_equal(
        fake_core_last(), "fail - {\"code\":\"card\",\"message\":\"declined\"} {\"final\":true}");
}

static pawl_status
join_nothing(pawl_run *branch, void *userdata, pawl_bytes *output)
{
    (void)userdata;
    (void)output;
    return pawl_branch(branch, "in", fail_finally, NULL, NULL);
}

static void
a_branch_that_never_joins_its_own_has_failed(void **state)
{
    (void)state;
    begin(NULL);
    assert_int_equal(pawl_branch(run, "a", join_nothing, NULL, NULL), PAWL_OK);
    assert_int_equal(pawl_branches_join(run), PAWL_EINVAL);
    assert_string_equal(pawl_run_error_message(run),
        "the branch returned before the branch \"a/in\" was executed: call pawl_branches_join() "
        "after "
        "pawl_branch()");
    assert_int_equal(fake_core_count(), 0);
}

static void
a_branch_cannot_swallow_that_it_waits(void **state)
{
    pawl_bytes output = none;

    begin(NULL);
    fake_core_answer((struct fake_answer){.state = PW_STATE_PAUSED});
    assert_int_equal(pawl_branch(run, "a", swallow_everything, NULL, &output), PAWL_OK);
    assert_int_equal(pawl_branches_join(run), PAWL_SUSPENDED);
    assert_null(output.data);
    end(state);
    begin(NULL);
    assert_int_equal(pawl_branch(run, "a", leave_open, NULL, NULL), PAWL_OK);
    assert_int_equal(pawl_branches_join(run), PAWL_EINVAL);
    assert_string_equal(
        pawl_run_error_message(run), "the branch returned while the step \"a/a#1\" was open");
}

static void
mistakes_with_branches_are_refused(void **state)
{
    (void)state;
    begin(NULL);
    assert_int_equal(pawl_branch(NULL, "a", give_one, NULL, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_branch(run, "a", NULL, NULL, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_branch(run, "A", give_one, NULL, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_branches_join(NULL), PAWL_EINVAL);
    assert_int_equal(pawl_branches_join(run), PAWL_OK);
    pawl_run_set_nonblocking(run);
    assert_int_equal(pawl_branch(run, "a", give_one, NULL, NULL), PAWL_EINVAL);
    assert_int_equal(fake_core_count(), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(what_a_branch_does_is_named_after_it, end),
        cmocka_unit_test_teardown(a_name_is_for_one_branch_only, end),
        cmocka_unit_test_teardown(a_run_has_a_thousand_branches_at_most, end),
        cmocka_unit_test_teardown(one_branch_that_waits_does_not_stop_another, end),
        cmocka_unit_test_teardown(a_hundred_branches_are_executed_at_the_same_time_and_joined, end),
        cmocka_unit_test_teardown(a_heartbeat_can_look_at_any_time, end),
        cmocka_unit_test_teardown(the_first_failure_in_their_order_is_that_of_all, end),
        cmocka_unit_test_teardown(the_final_failure_of_a_step_in_a_branch_ends_the_run, end),
        cmocka_unit_test_teardown(a_branch_that_never_joins_its_own_has_failed, end),
        cmocka_unit_test_teardown(a_branch_cannot_swallow_that_it_waits, end),
        cmocka_unit_test_teardown(mistakes_with_branches_are_refused, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
