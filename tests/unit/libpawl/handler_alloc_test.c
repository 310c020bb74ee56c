/* SPDX-License-Identifier: Apache-2.0 */
/* What handlers hold when memory runs out: no crash, no leak, and every run ends with one last item. */
#include "fail_alloc.h"
#include "fake_core.h"
#include "libpawl/worker/executor.h"
#include "pawl/run.h"
#include "pawl/worker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static bool nonblocking;

/* Calls again until there is an answer. */
#define ASK(call)                                 \
    ({                                            \
        pawl_status asked_;                       \
        while ((asked_ = (call)) == PAWL_PENDING) \
            (void)fake_core_next();               \
        asked_;                                   \
    })

static pawl_status
work(pawl_run *run, void *userdata, pawl_bytes *output)
{
    (void)userdata;
    return pawl_run_printf(run, output, "[%d]", 7);
}

static pawl_status
give_two(pawl_run *run, void *userdata, pawl_bytes *output)
{
    (void)run;
    (void)userdata;
    *output = pawl_text("2");
    return PAWL_OK;
}

static pawl_status
fail_work(pawl_run *run, void *userdata, pawl_bytes *output)
{
    (void)userdata;
    (void)output;
    pawl_run_set_error(run, "c", "no %s", "luck");
    return PAWL_EPERMANENT;
}

static pawl_status
branch_work(pawl_run *run, void *userdata, pawl_bytes *output)
{
    (void)userdata;
    return pawl_step(run, "s", work, NULL, output);
}

/* One of everything. */
static pawl_status
use_steps(pawl_run *run, pawl_bytes *output)
{
    const char *token;
    pawl_status status;
    pawl_bytes one;

    pawl_run_set_option(run, "max_attempts", "3");
    if ((status = ASK(pawl_step(run, "one", work, NULL, &one))) != PAWL_OK)
        return status;
    pawl_run_set_option(run, "undo", "u");
    pawl_run_set_option(run, "undo_input", "{}");
    if ((status = ASK(pawl_step_begin(run, "two", &one))) != PAWL_EXECUTE)
        return status;
    (void)!pawl_step_key(run);
    if ((status = ASK(pawl_step_finish(run, PAWL_OK, pawl_text("1"), output))) != PAWL_OK)
        return status;
    if ((status = ASK(pawl_step_begin_transaction(run, "pay", NULL, &token))) != PAWL_EXECUTE)
        return status;
    if ((status = ASK(pawl_step_confirm(run, &one))) != PAWL_OK)
        return status;
    pawl_run_log(run, "a line");
    status = ASK(pawl_step(run, "bad", fail_work, NULL, NULL));
    return status == PAWL_EFAILED ? PAWL_OK : status;
}

static pawl_status
use_waits(pawl_run *run)
{
    pawl_status status;
    pawl_bytes output;

    pawl_run_set_option(run, "key", "k");
    if ((status = ASK(pawl_wait_event(run, "ev", "t", 5, &output))) != PAWL_OK)
        return status;
    if ((status = ASK(pawl_wait_approval(run, "ok", pawl_text("{}"), 5, &output))) != PAWL_EREFUSED)
        return status;
    return ASK(pawl_child(run, "kid", "w", pawl_text("{}"), &output));
}

static pawl_status
handle(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_status status;
    pawl_run *branch;
    pawl_bytes quoted;

    (void)input;
    if (nonblocking)
        pawl_run_set_nonblocking(run);
    if ((status = pawl_run_quote(run, "text", &quoted)) != PAWL_OK ||
        (status = use_steps(run, output)) != PAWL_OK || (status = use_waits(run)) != PAWL_OK ||
        (status = pawl_run_branch(run, "side", &branch)) != PAWL_OK ||
        (status = ASK(pawl_sleep(branch, "nap", 1))) != PAWL_OK)
        return status;
    if (nonblocking)
        return PAWL_OK;
    if ((status = pawl_branch(run, "x", branch_work, NULL, output)) != PAWL_OK)
        return status;
    return pawl_branches_join(run);
}

static void
script(void)
{
    fake_core_reset();
    fake_core_handle(handle, NULL);
    fake_core_answer((struct fake_answer){0});
    fake_core_answer((struct fake_answer){0});
    fake_core_answer((struct fake_answer){0});
    fake_core_answer((struct fake_answer){
        .answer = PW_ANSWER_ALREADY, .state = PW_STATE_SUCCESS, .output = "1"});
    fake_core_answer((struct fake_answer){.final = true});
    fake_core_answer((struct fake_answer){.state = PW_STATE_SUCCESS, .output = "{}"});
    fake_core_answer((struct fake_answer){.state = PW_STATE_SUCCESS, .output = "{}"});
    fake_core_answer((struct fake_answer){.state = PW_STATE_SUCCESS, .output = "{}"});
    fake_core_answer((struct fake_answer){.state = PW_STATE_SUCCESS});
}

/* Executes one run and returns whether it completed. The rest is for the sanitizers. */
static bool
execute(const char *record)
{
    struct pw_task *task = fake_core_task(record);
    bool completed;

    if (task == NULL)
        return false;
    pw_executor_execute(fake_core_worker(), task->run);
    assert_true(task->finished);
    assert_string_not_equal(fake_core_last(), "");
    completed = strncmp(fake_core_last(), "complete ", 9) == 0;
    fake_core_end(task);
    return completed;
}

static void
every_allocation_of_a_handler_may_fail(void **state)
{
    (void)state;
    for (int mode = 0; mode < 2; mode++) {
        long n;

        nonblocking = mode == 1;
        fail_alloc_at(0);
        script();
        assert_true(execute(NULL));
        for (n = 1; fail_alloc_try(n); n++) {
            script();
            (void)execute(NULL);
        }
        assert_true(n > 10);
        for (n = 1; n < 60; n++) {
            script();
            fail_alloc_from(n);
            (void)execute(NULL);
            fail_alloc_at(0);
        }
    }
    fake_core_done();
}

static void
an_arena_may_be_full_anywhere(void **state)
{
    (void)state;
    nonblocking = false;
    for (size_t max = 200; max < 9000; max += 40) {
        script();
        fake_core_limits(1000, max);
        (void)execute(NULL);
    }
    nonblocking = true;
    for (size_t max = 200; max < 9000; max += 40) {
        script();
        fake_core_limits(1000, max);
        (void)execute(NULL);
    }
    fake_core_done();
}

static pawl_status
undo(pawl_run *run, pawl_bytes input, pawl_bytes output)
{
    (void)input;
    (void)output;
    pawl_run_set_error(run, NULL, "m");
    return PAWL_EFAILED;
}

static void
ends_of_every_kind_need_no_memory(void **state)
{
    static const char *const records[] = {
        "{\"steps\":[{\"name\":\"one#1\",\"kind\":\"sleep\",\"state\":\"SUCCESS\",\"seq\":1}]}",
        "{\"steps\":[{\"name\":\"one#1\",\"kind\":\"step\",\"state\":\"ERROR\",\"seq\":1,\"error\":"
        "{\"code\":\"c\"}}]}",
        "{\"steps\":[{\"name\":\"zzz#1\",\"kind\":\"step\",\"state\":\"SUCCESS\",\"seq\":1}]}",
        "{\"undos\":[{\"name\":\"a#1\",\"undo\":{\"handler\":\"u\",\"policy\":{\"base_ms\":1}},"
        "\"uncertain\":true}]}",
        "{\"undos\":[{\"name\":\"a#1\",\"undo\":{\"handler\":\"x\"},\"uncertain\":true}]}",
    };

    (void)state;
    nonblocking = false;
    for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
        for (long n = 1; fail_alloc_try(n); n++) {
            script();
            fake_core_undo("u", undo, NULL);
            (void)execute(records[i]);
        }
    }
    fake_core_done();
}

/* Calls again at once whenever there is no memory, with every allocation failing in turn. */
static void
insist(pawl_run *run)
{
    const char *token;
    pawl_status status;
    pawl_bytes output;

    for (int i = 0; i < 3; i++) {
        while ((status = ASK(pawl_step(run, "same", give_two, NULL, &output))) == PAWL_ENOMEM)
            ;
        assert_int_equal(status, PAWL_OK);
        assert_string_equal(output.data, "2");
    }
    pawl_run_set_option(run, "undo", "u");
    while ((status = ASK(pawl_step_begin(run, "half", NULL))) == PAWL_ENOMEM)
        pawl_run_set_option(run, "undo", "u");
    assert_int_equal(status, PAWL_EXECUTE);
    while ((status = ASK(pawl_step_finish(run, PAWL_OK, pawl_text("3"), &output))) == PAWL_ENOMEM)
        assert_int_equal(pawl_step_begin(run, "other", NULL), PAWL_EINVAL);
    assert_int_equal(status, PAWL_OK);
    while ((status = ASK(pawl_step_begin_transaction(run, "pay", NULL, &token))) == PAWL_ENOMEM)
        ;
    assert_int_equal(status, PAWL_EXECUTE);
    while ((status = ASK(pawl_step_confirm(run, NULL))) == PAWL_ENOMEM)
        ;
    assert_int_equal(status, PAWL_OK);
    while ((status = ASK(pawl_child(run, "kid", "w", pawl_text("{}"), NULL))) == PAWL_ENOMEM)
        ;
}

static void
a_call_without_memory_has_done_nothing_and_can_be_repeated(void **state)
{
    (void)state;
    for (int mode = 0; mode < 2; mode++) {
        nonblocking = mode == 1;
        for (long n = 1; fail_alloc_try(n); n++) {
            struct pw_task *task;
            size_t last;

            fake_core_reset();
            task = fake_core_task(NULL);
            if (task == NULL)
                continue;
            if (nonblocking)
                pawl_run_set_nonblocking(task->run);
            insist(task->run);
            last = fake_core_count() - 1;
            assert_string_equal(fake_core_item(last), "child kid#1 {} {\"workflow\":\"w\"}");
            assert_string_equal(fake_core_item(last - 1), "confirm pay#1 - -");
            assert_string_equal(fake_core_item(last - 2), "step half#1 3 -");
            fake_core_end(task);
        }
    }
    fake_core_done();
}

static void
a_rollback_without_memory_is_given_back(void **state)
{
    struct pw_task *task;
    const char *handler;

    (void)state;
    fake_core_reset();
    task = fake_core_task(
        "{\"undos\":[{\"name\":\"a#1\",\"undo\":{\"handler\":\"u\"},\"uncertain\":true}]}");
    assert_non_null(task);
    assert_int_equal(pawl_run_undo_next(task->run, &handler, NULL, NULL), PAWL_EXECUTE);
    fail_alloc_from(1);
    assert_int_equal(pawl_step_finish(task->run, PAWL_EFAILED, (pawl_bytes){0}, NULL), PAWL_ENOMEM);
    fail_alloc_at(0);
    pawl_run_finish(task->run, PAWL_ENOMEM, (pawl_bytes){0});
    assert_string_equal(fake_core_last(), "release - - -");
    fake_core_end(task);
    fake_core_done();
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_of_a_handler_may_fail),
        cmocka_unit_test(an_arena_may_be_full_anywhere),
        cmocka_unit_test(ends_of_every_kind_need_no_memory),
        cmocka_unit_test(a_call_without_memory_has_done_nothing_and_can_be_repeated),
        cmocka_unit_test(a_rollback_without_memory_is_given_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
