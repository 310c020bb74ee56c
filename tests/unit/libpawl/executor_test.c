/* SPDX-License-Identifier: Apache-2.0 */
/* The executor: threads as they are needed, handlers and undo handlers, and how it ends; and work for tests. */
#include "fake_core.h"
#include "libpawl/worker/executor.h"
#include "libpawl/worker/worker.h"
#include "pawl/test.h"
#include "pawl/worker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static struct pw_task *tasks[100];
static size_t task_count;

static atomic_int executed, executing, executing_max, drain_after, badly_masked;

static struct pw_task *
claim(const char *record)
{
    struct pw_task *task = fake_core_task(record);

    assert_non_null(task);
    tasks[task_count++] = task;
    fake_core_claim(task);
    return task;
}

static int
begin(void **state)
{
    (void)state;
    fake_core_reset();
    atomic_store(&executed, 0);
    atomic_store(&executing, 0);
    atomic_store(&executing_max, 0);
    atomic_store(&drain_after, 0);
    atomic_store(&badly_masked, 0);
    return 0;
}

static int
end(void **state)
{
    (void)state;
    while (task_count > 0)
        fake_core_end(tasks[--task_count]);
    fake_core_done();
    return 0;
}

static pawl_status
handle(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    sigset_t blocked;
    int now = atomic_fetch_add(&executing, 1) + 1;
    int max = atomic_load(&executing_max);

    while (now > max && !atomic_compare_exchange_weak(&executing_max, &max, now))
        ;
    (void)pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    if (!sigismember(&blocked, SIGTERM) || sigismember(&blocked, SIGSEGV) ||
        sigismember(&blocked, SIGFPE))
        atomic_fetch_add(&badly_masked, 1);
    *output = input;
    atomic_fetch_sub(&executing, 1);
    if (atomic_fetch_add(&executed, 1) + 1 == atomic_load(&drain_after))
        pawl_worker_drain(pawl_run_userdata(run));
    return PAWL_OK;
}

static void
runs_are_executed_until_the_worker_drains(void **state)
{
    pawl_error *error = NULL;

    (void)state;
    for (int i = 0; i < 50; i++)
        claim(NULL)->userdata = fake_core_worker();
    fake_core_handle(handle, NULL);
    atomic_store(&drain_after, 50);
    assert_int_equal(pawl_worker_run(fake_core_worker(), &error), PAWL_OK);
    assert_null(error);
    assert_int_equal(atomic_load(&executed), 50);
    assert_int_equal(fake_core_count(), 50);
    assert_string_equal(fake_core_last(), "complete - {\"n\":1} -");
    assert_int_equal(atomic_load(&badly_masked), 0);
    assert_in_range(atomic_load(&executing_max), 1, 4);
    assert_int_equal(fake_core_starts(), 0);
}

/* Handlers that wait for each other show that there are as many threads as may be. */
static pthread_barrier_t barrier;

static pawl_status
meet(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)pthread_barrier_wait(&barrier);
    return handle(run, input, output);
}

static void
there_are_as_many_threads_as_are_needed_and_no_more(void **state)
{
    (void)state;
    assert_int_equal(pthread_barrier_init(&barrier, NULL, 4), 0);
    for (int i = 0; i < 8; i++)
        claim(NULL)->userdata = fake_core_worker();
    fake_core_handle(meet, NULL);
    atomic_store(&drain_after, 8);
    assert_int_equal(pawl_worker_run(fake_core_worker(), NULL), PAWL_OK);
    assert_int_equal(atomic_load(&executed), 8);
    assert_in_range(fake_core_waiting_max(), 1, 4);
    assert_int_equal(pthread_barrier_destroy(&barrier), 0);
}

static pawl_status
write_to_pipe(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)run;
    *output = input;
    return write(*(int *)pawl_run_userdata(run), "x", 1) == 1 ? PAWL_OK : PAWL_EFAILED;
}

static void
a_descriptor_makes_it_drain(void **state)
{
    int fds[2];

    (void)state;
    assert_int_equal(pipe(fds), 0);
    fake_core_drain_on(fds[0]);
    fake_core_handle(write_to_pipe, NULL);
    claim(NULL)->userdata = &fds[1];
    assert_int_equal(pawl_worker_run(fake_core_worker(), NULL), PAWL_OK);
    assert_string_equal(fake_core_last(), "complete - {\"n\":1} -");
    (void)close(fds[0]);
    (void)close(fds[1]);
}

/* Else it would go on claiming, and nobody would execute anything. */
static void
a_worker_that_was_started_here_is_stopped_when_there_is_no_thread_for_handlers(void **state)
{
    pawl_error *error = NULL;

    (void)state;
    for (int started = 0; started < 2; started++) {
        fake_core_worker()->inbox.started = started != 0;
        fake_core_worker()->settings.thread_stack = SIZE_MAX / 4 + 1;
        assert_int_equal(pawl_worker_run(fake_core_worker(), &error), PAWL_ENOMEM);
        assert_int_equal(pawl_error_code(error), PAWL_ENOMEM);
        pawl_error_free(error);
        assert_int_equal(fake_core_starts(), started == 0);
        assert_int_equal(fake_core_worker()->inbox.draining, started == 0);
        end(state);
        begin(state);
    }
}

static void
a_worker_that_was_not_started_is_started(void **state)
{
    pawl_error *error = NULL;

    (void)state;
    fake_core_worker()->inbox.started = false;
    fake_core_handle(handle, NULL);
    claim(NULL)->userdata = fake_core_worker();
    atomic_store(&drain_after, 1);
    assert_int_equal(pawl_worker_run(fake_core_worker(), NULL), PAWL_OK);
    assert_int_equal(fake_core_starts(), 1);
    end(state);
    begin(state);
    fake_core_worker()->inbox.started = false;
    fake_core_break(PAWL_ESCHEMA);
    assert_int_equal(pawl_worker_run(fake_core_worker(), &error), PAWL_ESCHEMA);
    assert_string_equal(pawl_error_message(error), "it is broken");
    pawl_error_free(error);
    error = NULL;
    assert_int_equal(pawl_worker_run(NULL, &error), PAWL_EINVAL);
    pawl_error_free(error);
}

static void
a_worker_that_breaks_ends_the_executor_with_its_error(void **state)
{
    pawl_error *error = NULL;

    (void)state;
    fake_core_break(PAWL_EDATABASE);
    fake_core_handle(handle, NULL);
    claim(NULL);
    assert_int_equal(pawl_worker_run(fake_core_worker(), &error), PAWL_EDATABASE);
    assert_string_equal(pawl_error_message(error), "it is broken");
    pawl_error_free(error);
    assert_int_equal(pawl_worker_run(fake_core_worker(), NULL), PAWL_EDATABASE);
    assert_int_equal(atomic_load(&executed), 1);
}

/* For about a day. */
#define POLICY                                                                           \
    "{\"policy\":{\"max_attempts\":300,\"base_ms\":5000,\"factor\":2,\"cap_ms\":300000," \
    "\"jitter\":"                                                                        \
    "0.2},"

static void
a_run_without_a_function_here_is_deferred(void **state)
{
    struct pw_task *task = claim(NULL);

    (void)state;
    pw_executor_execute(fake_core_worker(), task->run);
    assert_string_equal(fake_core_item(0),
        "retry no_handler#0 {\"code\":\"no_handler\",\"message\":\"the worker has no function for "
        "\\\"demo.v1\\\"\"} " POLICY "\"failure\":1}");
    assert_string_equal(fake_core_last(), "suspend - - -");
    task =
        claim("{\"retries\":{\"no_handler#0\":{\"n\":6,\"due\":\"2026-03-01T12:00:00+00:00\"}}}");
    task->workflow = "other.v1";
    fake_core_handle(handle, NULL);
    pw_executor_execute(fake_core_worker(), task->run);
    assert_string_equal(fake_core_item(2),
        "retry no_handler#0 {\"code\":\"no_handler\",\"message\":\"the worker has no function for "
        "\\\"other.v1\\\"\"} " POLICY "\"failure\":7}");
    assert_string_equal(fake_core_last(), "suspend - - -");
    /* Once it has waited for long enough it is over. */
    fake_core_answer((struct fake_answer){.final = true});
    task = claim(NULL);
    task->workflow = "other.v1";
    pw_executor_execute(fake_core_worker(), task->run);
    assert_string_equal(fake_core_last(),
        "fail - {\"code\":\"no_handler\",\"message\":\"the worker has no function for "
        "\\\"other.v1\\\"\"} {\"final\":true}");
}

static void
a_run_that_was_deferred_is_executed_where_there_is_a_function(void **state)
{
    (void)state;
    fake_core_handle(handle, NULL);
    claim("{\"retries\":{\"no_handler#0\":{\"n\":6,\"due\":\"2026-03-01T12:00:00+00:00\"}}}")
        ->userdata = fake_core_worker();
    pw_executor_execute(fake_core_worker(), tasks[0]->run);
    assert_int_equal(fake_core_count(), 1);
    assert_string_equal(fake_core_last(), "complete - {\"n\":1} -");
}

static const char undos[] =
    "{\"undos\":[{\"name\":\"b#1\",\"undo\":{\"handler\":\"u\",\"input\":[2]},\"output\":null,"
    "\"uncertain\":true},"
    "{\"name\":\"a#1\",\"undo\":{\"handler\":\"u\"},\"output\":7,\"uncertain\":false}]}";

static pawl_status
undo(pawl_run *run, pawl_bytes input, pawl_bytes output)
{
    int *calls = pawl_run_userdata(run);

    ++*calls;
    if (*calls == 1)
        assert_true(
            strcmp(input.data, "[2]") == 0 && output.data == NULL && pawl_run_undo_uncertain(run));
    else
        assert_true(
            input.data == NULL && strcmp(output.data, "7") == 0 && !pawl_run_undo_uncertain(run));
    return PAWL_OK;
}

static void
undo_handlers_are_called_with_their_own_userdata(void **state)
{
    int calls = 0;

    (void)state;
    fake_core_undo("u", undo, &calls);
    fake_core_handle(handle, NULL);
    pw_executor_execute(fake_core_worker(), claim(undos)->run);
    assert_int_equal(calls, 2);
    assert_string_equal(fake_core_item(0), "step rollback:b#1 null -");
    assert_string_equal(fake_core_item(1), "step rollback:a#1 null -");
    assert_string_equal(fake_core_last(), "complete - - -");
}

static void
a_rollback_without_the_undo_handler_here_is_deferred(void **state)
{
    (void)state;
    pw_executor_execute(fake_core_worker(), claim(undos)->run);
    /* Nothing is taken from the tries of the undo. */
    assert_string_equal(fake_core_item(0),
        "retry rollback:no_undo_handler#0 {\"code\":\"no_undo_handler\",\"message\":\"the worker "
        "has "
        "no undo handler \\\"u\\\"\"} " POLICY "\"failure\":1}");
    assert_string_equal(fake_core_last(), "suspend - - -");
    assert_int_equal(fake_core_count(), 2);
}

static void
a_rollback_that_was_deferred_for_too_long_has_failed(void **state)
{
    (void)state;
    fake_core_answer((struct fake_answer){.final = true});
    pw_executor_execute(fake_core_worker(), claim(undos)->run);
    assert_string_equal(fake_core_last(),
        "fail - {\"code\":\"no_undo_handler\",\"message\":\"the worker has no undo handler "
        "\\\"u\\\"\"} {\"final\":true}");
}

static void
work_for_tests_goes_on_until_nothing_is_left(void **state)
{
    pawl_error *error = NULL;

    (void)state;
    for (int i = 0; i < 20; i++)
        claim(NULL);
    fake_core_handle(handle, NULL);
    assert_int_equal(pawl_test_run_until_idle(fake_core_worker(), 10000, &error), PAWL_OK);
    assert_null(error);
    assert_int_equal(atomic_load(&executed), 20);
    /* A look that began after the last run was finished has found nothing, twice. */
    assert_int_equal(fake_core_looks(), 2);
    assert_int_equal(pawl_test_run_until_idle(fake_core_worker(), -1, NULL), PAWL_OK);
    assert_int_equal(fake_core_looks(), 4);
}

static void
a_loop_of_its_own_asks_until_nothing_is_left(void **state)
{
    pawl_worker *worker = fake_core_worker();
    int asked = 0;

    (void)state;
    claim(NULL);
    fake_core_handle(handle, NULL);
    assert_int_equal(pawl_test_idle(worker), 0);
    assert_int_equal(fake_core_looks(), 0);
    assert_int_equal(pawl_test_run_until_idle(worker, 10000, NULL), PAWL_OK);
    assert_int_equal(fake_core_looks(), 2);
    /* It starts again after it has returned 1. */
    for (int round = 2; round <= 3; round++) {
        while (pawl_test_idle(worker) == 0)
            asked++;
        assert_int_equal(fake_core_looks(), 2 * round);
    }
    assert_true(asked >= 4);
    assert_int_equal(pawl_test_idle(NULL), 1);
}

/* One run that makes the next, as one that triggers itself. */
static pawl_status
go_round(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)run;
    (void)input;
    (void)output;
    (void)usleep(5000);
    if (atomic_fetch_add(&executed, 1) < 90)
        (void)claim(NULL);
    return PAWL_OK;
}

static void
work_for_tests_that_never_ends_is_left_when_its_time_is_over(void **state)
{
    pawl_error *error = NULL;

    (void)state;
    fake_core_handle(go_round, NULL);
    (void)claim(NULL);
    assert_int_equal(pawl_test_run_until_idle(fake_core_worker(), 20, &error), PAWL_ETIMEOUT);
    assert_string_equal(pawl_error_message(error), "timeout: runs can still continue");
    pawl_error_free(error);
    /* About four; 91 would be all of them. On a slow machine the limit is seen late. */
    assert_in_range(atomic_load(&executed), 1, 80);
}

static void
work_for_tests_has_an_end(void **state)
{
    pawl_error *error = NULL;

    (void)state;
    assert_int_equal(pawl_test_run_until_idle(fake_core_worker(), 0, &error), PAWL_ETIMEOUT);
    assert_string_equal(pawl_error_message(error), "timeout: runs can still continue");
    pawl_error_free(error);
    fake_core_break(PAWL_EINVAL);
    assert_int_equal(pawl_test_run_until_idle(fake_core_worker(), 1000, &error), PAWL_EINVAL);
    pawl_error_free(error);
    assert_int_equal(pawl_test_run_until_idle(fake_core_worker(), 1000, NULL), PAWL_EINVAL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(runs_are_executed_until_the_worker_drains, begin, end),
        cmocka_unit_test_setup_teardown(
            there_are_as_many_threads_as_are_needed_and_no_more, begin, end),
        cmocka_unit_test_setup_teardown(a_descriptor_makes_it_drain, begin, end),
        cmocka_unit_test_setup_teardown(a_worker_that_was_not_started_is_started, begin, end),
        cmocka_unit_test_setup_teardown(
            a_worker_that_was_started_here_is_stopped_when_there_is_no_thread_for_handlers, begin,
            end),
        cmocka_unit_test_setup_teardown(
            a_worker_that_breaks_ends_the_executor_with_its_error, begin, end),
        cmocka_unit_test_setup_teardown(a_run_without_a_function_here_is_deferred, begin, end),
        cmocka_unit_test_setup_teardown(
            a_run_that_was_deferred_is_executed_where_there_is_a_function, begin, end),
        cmocka_unit_test_setup_teardown(
            undo_handlers_are_called_with_their_own_userdata, begin, end),
        cmocka_unit_test_setup_teardown(
            a_rollback_without_the_undo_handler_here_is_deferred, begin, end),
        cmocka_unit_test_setup_teardown(
            a_rollback_that_was_deferred_for_too_long_has_failed, begin, end),
        cmocka_unit_test_setup_teardown(
            work_for_tests_that_never_ends_is_left_when_its_time_is_over, begin, end),
        cmocka_unit_test_setup_teardown(work_for_tests_goes_on_until_nothing_is_left, begin, end),
        cmocka_unit_test_setup_teardown(a_loop_of_its_own_asks_until_nothing_is_left, begin, end),
        cmocka_unit_test_setup_teardown(work_for_tests_has_an_end, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
