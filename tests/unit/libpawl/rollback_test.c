/* SPDX-License-Identifier: Apache-2.0 */
/* Rolling back: which undos are done, in which order, and how they are recorded. */
#include "fake_core.h"
#include "pawl/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#define UNDOS                                                                                    \
    "\"undos\":[{\"name\":\"c#1\",\"undo\":{\"handler\":\"unc\"},\"output\":null,\"uncertain\":" \
    "true},"                                                                                     \
    "{\"name\":\"x/"                                                                             \
    "b#2\",\"undo\":{\"handler\":\"unb\",\"input\":[2],\"policy\":{\"max_attempts\":9}},"        \
    "\"output\":{\"o\":2},\"uncertain\":false}]"

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

static void
undos_are_given_out_newest_first_and_recorded_as_steps(void **state)
{
    const char *handler = NULL;
    pawl_bytes input = none, output = none;

    (void)state;
    begin(
        "{\"steps\":[{\"name\":\"x/b#2\",\"kind\":\"step\",\"state\":\"SUCCESS\",\"seq\":4}]," UNDOS
        "}");
    assert_int_equal(pawl_run_rolling_back(run), 1);
    assert_int_equal(pawl_run_undo_next(run, &handler, &input, &output), PAWL_EXECUTE);
    assert_string_equal(handler, "unc");
    assert_null(input.data);
    assert_null(output.data);
    assert_int_equal(pawl_run_undo_uncertain(run), 1);
    assert_string_equal(pawl_step_key(run), "019ab000-0000-7000-8000-000000000001/rollback:c#1");
    assert_int_equal(pawl_run_undo_next(run, &handler, &input, &output), PAWL_EINVAL);
    assert_int_equal(pawl_step_finish(run, PAWL_OK, none, NULL), PAWL_OK);
    assert_string_equal(fake_core_item(0), "step rollback:c#1 null -");
    assert_int_equal(fake_core_seq(0), 5);
    assert_int_equal(pawl_run_undo_next(run, &handler, &input, &output), PAWL_EXECUTE);
    assert_string_equal(handler, "unb");
    assert_string_equal(input.data, "[2]");
    assert_string_equal(output.data, "{\"o\":2}");
    assert_int_equal(pawl_run_undo_uncertain(run), 0);
    assert_int_equal(pawl_step_finish(run, PAWL_OK, pawl_text("1"), NULL), PAWL_OK);
    assert_string_equal(fake_core_item(1), "step rollback:x/b#2 1 -");
    assert_int_equal(pawl_run_undo_next(run, &handler, NULL, NULL), PAWL_OK);
    pawl_run_finish(run, PAWL_OK, none);
    /* Nothing is said about records that were not asked for. */
    assert_string_equal(fake_core_last(), "complete - - -");
}

static void
an_undo_that_is_recorded_is_not_done_again(void **state)
{
    const char *handler;

    (void)state;
    begin("{\"steps\":[{\"name\":\"rollback:c#1\",\"kind\":\"step\",\"state\":\"SUCCESS\",\"seq\":"
          "4}]," UNDOS "}");
    assert_int_equal(pawl_run_undo_next(run, &handler, NULL, NULL), PAWL_EXECUTE);
    assert_string_equal(handler, "unb");
}

static void
an_undo_that_fails_is_tried_again_with_its_own_policy(void **state)
{
    const char *handler;

    (void)state;
    begin("{\"steps\":[{\"name\":\"rollback:c#1\",\"kind\":\"step\",\"state\":\"SUCCESS\",\"seq\":"
          "4}],"
          "\"retries\":{\"rollback:x/b#2\":{\"n\":3,\"due\":\"2026-03-01T12:00:00+00:00\"}}," UNDOS
          "}");
    assert_int_equal(pawl_run_undo_next(run, &handler, NULL, NULL), PAWL_EXECUTE);
    assert_int_equal(pawl_step_attempt(run), 4);
    pawl_run_set_error(run, "c", "m");
    assert_int_equal(pawl_step_finish(run, PAWL_EFAILED, none, NULL), PAWL_SUSPENDED);
    assert_string_equal(fake_core_item(0),
        "retry rollback:x/b#2 {\"code\":\"c\",\"message\":\"m\"} "
        "{\"policy\":{\"max_attempts\":9},\"failure\":4}");
    assert_int_equal(pawl_run_undo_next(run, &handler, NULL, NULL), PAWL_SUSPENDED);
    pawl_run_finish(run, PAWL_SUSPENDED, none);
    assert_string_equal(fake_core_last(), "suspend - - -");
}

static void
an_undo_that_is_not_due_suspends(void **state)
{
    const char *handler;

    (void)state;
    begin("{\"retries\":{\"rollback:c#1\":{\"n\":3,\"due\":\"2026-03-01T12:00:30+00:00\"}}," UNDOS
          "}");
    assert_int_equal(pawl_run_undo_next(run, &handler, NULL, NULL), PAWL_SUSPENDED);
}

static void
an_undo_that_failed_for_good_stops_the_rollback(void **state)
{
    const char *handler;

    begin("{" UNDOS "}");
    fake_core_answer((struct fake_answer){.final = true});
    assert_int_equal(pawl_run_undo_next(run, &handler, NULL, NULL), PAWL_EXECUTE);
    pawl_run_set_error(run, "c", "m");
    assert_int_equal(pawl_step_finish(run, PAWL_EFAILED, none, NULL), PAWL_EFAILED);
    assert_int_equal(pawl_run_undo_next(run, &handler, NULL, NULL), PAWL_EFAILED);
    pawl_run_finish(run, PAWL_EFAILED, none);
    assert_string_equal(
        fake_core_last(), "fail - {\"code\":\"c\",\"message\":\"m\"} {\"final\":true}");
    end(state);
    begin("{\"steps\":[{\"name\":\"rollback:c#1\",\"kind\":\"step\",\"state\":\"ERROR\",\"seq\":4,"
          "\"error\":{\"code\":\"c\"}}]," UNDOS "}");
    assert_int_equal(pawl_run_undo_next(run, &handler, NULL, NULL), PAWL_EFAILED);
    pawl_run_finish(run, PAWL_EFAILED, none);
    assert_string_equal(fake_core_last(), "fail - {\"code\":\"c\"} {\"final\":true}");
}

static void
a_rollback_without_undos_is_over_at_once(void **state)
{
    const char *handler;

    (void)state;
    begin("{\"undos\":[]}");
    assert_int_equal(pawl_run_rolling_back(run), 1);
    assert_int_equal(pawl_run_undo_next(run, &handler, NULL, NULL), PAWL_OK);
}

static void
a_rollback_has_undos_and_nothing_else(void **state)
{
    const char *handler;
    pawl_run *branch;

    begin("{" UNDOS "}");
    assert_int_equal(pawl_step_begin(run, "a", NULL), PAWL_EINVAL);
    assert_string_equal(
        pawl_run_error_message(run), "the run is rolling back: only its undos can be done");
    assert_int_equal(pawl_sleep(run, "a", 1), PAWL_EINVAL);
    assert_int_equal(pawl_run_branch(run, "a", &branch), PAWL_EINVAL);
    assert_int_equal(pawl_run_undo_next(run, NULL, NULL, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_run_undo_next(NULL, &handler, NULL, NULL), PAWL_EINVAL);
    end(state);
    begin(NULL);
    assert_int_equal(pawl_run_undo_next(run, &handler, NULL, NULL), PAWL_EINVAL);
    assert_string_equal(pawl_run_error_message(run), "the run is not rolling back");
}

#define DEFERRED                                                                                 \
    "retry rollback:no_undo_handler#0 {\"code\":\"none\",\"message\":\"not here\"} {\"policy\":" \
    "{\"max_attempts\":300,\"base_ms\":5000,\"factor\":2,\"cap_ms\":300000,\"jitter\":0.2},"     \
    "\"failure\":1}"

static void
a_rollback_can_be_deferred_without_blocking(void **state)
{
    const char *handler;

    (void)state;
    begin("{" UNDOS "}");
    pawl_run_set_nonblocking(run);
    assert_int_equal(pawl_run_undo_next(run, &handler, NULL, NULL), PAWL_EXECUTE);
    pawl_run_set_error(run, "none", "not here");
    assert_int_equal(pawl_run_defer(run), PAWL_PENDING);
    /* It is no step that could be finished. */
    assert_int_equal(pawl_step_finish(run, PAWL_OK, none, NULL), PAWL_EINVAL);
    assert_ptr_equal(fake_core_next(), run);
    assert_int_equal(pawl_run_defer(run), PAWL_SUSPENDED);
    assert_string_equal(fake_core_item(0), DEFERRED);
    pawl_run_finish(run, PAWL_SUSPENDED, none);
    assert_string_equal(fake_core_last(), "suspend - - -");
    assert_int_equal(fake_core_count(), 2);
}

static void
a_run_can_be_deferred_before_a_call_and_not_within_one(void **state)
{
    pawl_run *branch = NULL;

    begin(NULL);
    assert_int_equal(pawl_step_begin(run, "a", NULL), PAWL_EXECUTE);
    assert_int_equal(pawl_run_defer(run), PAWL_EINVAL);
    assert_int_equal(pawl_step_finish(run, PAWL_OK, none, NULL), PAWL_OK);
    assert_int_equal(pawl_run_branch(run, "b", &branch), PAWL_OK);
    assert_int_equal(pawl_run_defer(branch), PAWL_EINVAL);
    end(state);
    begin(NULL);
    pawl_run_set_error(run, "none", "not here");
    assert_int_equal(pawl_run_defer(run), PAWL_SUSPENDED);
    assert_int_equal(pawl_step_begin(run, "a", NULL), PAWL_SUSPENDED);
    pawl_run_finish(run, PAWL_SUSPENDED, none);
    assert_string_equal(fake_core_last(), "suspend - - -");
}

static void
nothing_is_undone_with_a_lost_lease(void **state)
{
    const char *handler;

    (void)state;
    begin("{" UNDOS "}");
    fake_core_stand(PW_LEASE_LOST, 1);
    assert_int_equal(pawl_run_undo_next(run, &handler, NULL, NULL), PAWL_ELEASE_LOST);
    assert_int_equal(pawl_run_undo_next(run, &handler, NULL, NULL), PAWL_ELEASE_LOST);
}

static void
a_name_too_long_to_be_undone_is_told(void **state)
{
    char record[600] = "{\"undos\":[{\"name\":\"";
    const char *handler;

    (void)state;
    memset(record + strlen(record), 'a', 238);
    strncat(record, "#1\",\"undo\":{\"handler\":\"u\"},\"uncertain\":false}]}", 200);
    begin(record);
    assert_int_equal(pawl_run_undo_next(run, &handler, NULL, NULL), PAWL_EINVAL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(undos_are_given_out_newest_first_and_recorded_as_steps, end),
        cmocka_unit_test_teardown(an_undo_that_is_recorded_is_not_done_again, end),
        cmocka_unit_test_teardown(an_undo_that_fails_is_tried_again_with_its_own_policy, end),
        cmocka_unit_test_teardown(an_undo_that_is_not_due_suspends, end),
        cmocka_unit_test_teardown(an_undo_that_failed_for_good_stops_the_rollback, end),
        cmocka_unit_test_teardown(a_rollback_without_undos_is_over_at_once, end),
        cmocka_unit_test_teardown(a_rollback_has_undos_and_nothing_else, end),
        cmocka_unit_test_teardown(a_rollback_can_be_deferred_without_blocking, end),
        cmocka_unit_test_teardown(a_run_can_be_deferred_before_a_call_and_not_within_one, end),
        cmocka_unit_test_teardown(nothing_is_undone_with_a_lost_lease, end),
        cmocka_unit_test_teardown(a_name_too_long_to_be_undone_is_told, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
