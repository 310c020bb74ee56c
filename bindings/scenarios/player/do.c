/* SPDX-License-Identifier: Apache-2.0 */
/* The function of a step or an undo: does what the scenario says. */
#include "frame.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

const struct value *
do_choose(const struct value *what, int64_t at)
{
    size_t last;

    if (what == NULL || what->kind != VALUE_ARRAY || what->count == 0)
        return what;
    last = what->count - 1;
    return what->items[(uint64_t)at < last ? (size_t)at : last];
}

pawl_status
do_fail(struct play *play, pawl_run *run, const struct value *failure)
{
    const char *message = value_text(failure, "message", "");
    int64_t after_ms = value_int(failure, "retry_after_ms", -1);

    (void)play;
    pawl_run_set_error(run, value_text(failure, "code", NULL), "%s", message);
    if (after_ms >= 0)
        pawl_run_retry_after(run, after_ms);
    return value_is_true(failure, "permanent") ? PAWL_EPERMANENT : PAWL_EFAILED;
}

static void
take_time(int64_t ms)
{
    struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    while (ms > 0 && nanosleep(&left, &left) != 0)
        continue;
}

pawl_status
do_call(struct play *play, pawl_run *run, int64_t at, const struct value *what,
    const struct variable *variables, const struct value **value)
{
    const struct value *now = do_choose(what, at);
    const struct value *form;
    pawl_bytes trace;

    variables =
        variable_add(play, variables, "attempt", value_number(play->pool, pawl_step_attempt(run)));
    trace = play_fill_member(play, variables, now, "trace");
    if (trace.size > 0)
        ledger_trace(play->ledger, trace.data);
    form = value_member(now, "log");
    if (form != NULL)
        pawl_run_log(run, "%s", value_plain(play->pool, play_fill(play, variables, form)));
    form = value_member(now, "stream");
    for (size_t i = 0; form != NULL && i < form->count; i++)
        pawl_step_stream(
            run, pawl_text(value_plain(play->pool, play_fill(play, variables, form->items[i]))));
    form = value_member(now, "during");
    if (form != NULL)
        action_list(play, form);
    take_time(value_int(now, "takes_ms", 0));
    if (value_is_true(now, "exit")) {
        if (play->is_process)
            (void)kill(getpid(), SIGKILL);
        play_problem(play, "exit, but the worker is no process of its own");
    }
    form = value_member(now, "fail");
    if (form != NULL)
        return do_fail(play, run, form);
    form = value_member(now, "return");
    *value = form != NULL ? play_fill(play, variables, form) : &value_null;
    return PAWL_OK;
}
