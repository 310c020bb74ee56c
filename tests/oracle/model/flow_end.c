/* SPDX-License-Identifier: Apache-2.0 */
/* How a task of a flow ends, and how its run does by that: with a failure, a cancel or a time limit. */
#include "flow.h"

#include "base/json_read.h"

#include <stdlib.h>
#include <string.h>

void
oracle_record_task(struct oracle *o, struct oracle_run *run, int task,
    const struct oracle_outcome *outcome, const char *undo)
{
    const struct oracle_flow_step *step = oracle_step_of(run, task);
    struct oracle_run *holder = oracle_task(run, task);
    int place = task % ORACLE_STEP_SPAN;
    struct oracle_step *record;

    /* What an earlier round has lost is known now, or is lost again. */
    for (size_t i = 0; i < holder->steps_count;)
        if (holder->steps[i].full_name != NULL && holder->steps[i].state == ORACLE_RUNNING)
            oracle_drop(holder->steps, &holder->steps_count, sizeof(*record), i);
        else
            i++;
    record = oracle_push(&holder->steps, &holder->steps_count, sizeof(*record));
    record->name = step->name;
    record->full_name = oracle_keepf(o, "%s#%d", step->name, place == 0 ? 1 : place);
    record->round = run->round;
    record->state = outcome->state;
    record->kind = outcome->source == NULL ? ORACLE_STEP : ORACLE_CHILD;
    record->seq = step->no;
    record->attempt = outcome->attempt;
    record->fence = outcome->fence;
    record->started_at = outcome->started_at == ORACLE_NONE ? o->now : outcome->started_at;
    record->ended_at = outcome->state == ORACLE_RUNNING ? ORACLE_NONE : o->now;
    record->output = oracle_keep(o, outcome->output);
    record->error = oracle_keep(o, outcome->error);
    record->undo = undo;
    record->source = oracle_keep(o, outcome->source);
    run->touched = true;
}

static const char *
undo_of(struct oracle *o, const struct oracle_flow_step *step)
{
    return step->spec.undo == NULL ? NULL
                                   : oracle_keepf(o, "{\"handler\": \"%s\"}", step->spec.undo);
}

static void
take_away(struct oracle_run *task)
{
    task->living = false;
    task->waits_count = task->tries_count = 0;
    task->whole->touched = true;
}

void
oracle_drop_task(struct oracle *o, struct oracle_run *task)
{
    const char *undo = undo_of(o, oracle_step_of(task, task->task));

    take_away(task);
    /* Nobody knows what it did. */
    if (undo != NULL && task->attempt > 0)
        oracle_record_task(o, task->whole, task->task,
            &(struct oracle_outcome){
                ORACLE_RUNNING, NULL, NULL, task->attempt, task->fence, task->started_at, NULL},
            undo);
}

void
oracle_drop_tasks(struct oracle *o, struct oracle_run *run, bool held)
{
    for (struct oracle_run *task = run->tasks; task != NULL; task = task->next)
        if (task->living && (held || task->place != ORACLE_HELD) && !oracle_locked(o, task))
            oracle_drop_task(o, task);
}

/* Steps that are child runs and have not ended: nobody knows what they did, or do until their cancel reaches them. */
static void
leave_children(struct oracle *o, struct oracle_run *run)
{
    for (struct oracle_run *task = run->tasks; task != NULL; task = task->next) {
        const struct oracle_flow_step *step = oracle_step_of(run, task->task);
        const struct oracle_wait *wait = oracle_find_wait(task, step->name);

        if (wait != NULL && step->spec.undo != NULL)
            oracle_record_task(o, run, task->task,
                &(struct oracle_outcome){
                    ORACLE_RUNNING, NULL, NULL, 1, 0, wait->created_at, wait->child},
                undo_of(o, step));
    }
}

void
oracle_let_end(struct oracle *o, struct oracle_run *run)
{
    oracle_drop_tasks(o, run, false);
    for (const struct oracle_run *task = run->tasks; task != NULL; task = task->next)
        if (task->living)
            return;
    leave_children(o, run);
    /* Whoever did this has the runs above as well. */
    (void)oracle_end_or_roll_back(
        o, run, run->ending_status, run->ending_error, run->ending_rollback, true);
}

static void
mark(struct oracle_run *task, const struct oracle_run *run)
{
    task->ending = true;
    task->ending_status = run->ending_status;
    task->ending_fence = -1;
    task->ending_rollback = run->ending_rollback;
    task->ending_by = run->ending_by;
    task->ending_why = run->ending_why;
    task->ending_error = run->ending_error;
}

void
oracle_begin_ending(struct oracle *o, struct oracle_run *run, int status, const char *error,
    bool rollback, const char *by)
{
    struct pw_json message = pw_json_member((struct pw_json){error, strlen(error)}, "message");

    if (run->ending)
        return;
    run->ending = true;
    run->ending_status = status;
    run->ending_fence = -1;
    run->ending_rollback = rollback;
    run->ending_by = oracle_keep(o, by);
    run->ending_why = pw_json_text(message, &o->texts);
    run->ending_error = oracle_keep(o, error);
    for (struct oracle_run *task = run->tasks; task != NULL; task = task->next)
        /* Whoever is at it, with a commit or a claim, is told by the next call. */
        if (task->living && task->place == ORACLE_HELD && !oracle_locked(o, task))
            mark(task, run);
    run->grace_at = o->now + o->grace_us;
    run->touched = true;
    oracle_cancel_children(o, run);
    oracle_let_end(o, run);
}

const char *
oracle_force_end(
    struct oracle *o, struct oracle_run *run, int status, const char *error, bool rollback)
{
    if (oracle_flow_is_locked(o, run) || oracle_tasks_are_locked(o, run))
        return "busy";
    oracle_cancel_children(o, run);
    oracle_drop_tasks(o, run, true);
    leave_children(o, run);
    return oracle_end_or_roll_back(o, run, status, error, rollback, false);
}

/* What an error says, for a sentence. */
static const char *
error_text(struct oracle *o, const char *error)
{
    static const char *const names[] = {"message", "code"};

    if (error == NULL)
        return "no reason given";
    for (size_t i = 0; error[0] == '{' && i < 2; i++) {
        struct pw_json found = pw_json_member((struct pw_json){error, strlen(error)}, names[i]);

        if (pw_json_given(found))
            return oracle_keepf(o, "%.200s", pw_json_text(found, &o->texts));
    }
    return oracle_keepf(o, "%.200s", error);
}

static const char *
name_of(struct oracle *o, const struct oracle_flow_step *step, int task)
{
    int place = task % ORACLE_STEP_SPAN;

    return oracle_keepf(o, "%s#%d", step->name, place == 0 ? 1 : place);
}

bool
oracle_skips_failure(const struct oracle_flow_step *step)
{
    return step->spec.failed != NULL && strcmp(step->spec.failed, "fail") != 0;
}

const char *
oracle_skipped_failure(
    struct oracle *o, const struct oracle_flow_step *step, int task, const char *error)
{
    const char *text =
        oracle_keepf(o, "step %s failed: %s", name_of(o, step, task), error_text(o, error));

    return oracle_keepf(o,
        "{\"code\": \"failed\", \"error\": %s, \"message\": %s, \"spreads\": %s}",
        error == NULL ? "null" : error, oracle_quote(o, text),
        strcmp(step->spec.failed, "skip_all") == 0 ? "true" : "false");
}

void
oracle_finish_task(
    struct oracle *o, struct oracle_run *run, int task, const struct oracle_outcome *how)
{
    struct oracle_run *ended = oracle_task(run, task);
    const struct oracle_flow_step *step = oracle_step_of(run, task);
    struct oracle_outcome changed = *how;
    const struct oracle_outcome *outcome = &changed;
    const char *name;

    take_away(ended);
    /* Not one that fails because the time of its run is over. */
    if (how->state == ORACLE_ERROR && !run->ending && oracle_skips_failure(step) &&
        oracle_left_ms(o, run) != 0) {
        changed.state = ORACLE_SKIPPED;
        changed.error = oracle_skipped_failure(o, step, task, how->error);
    }
    oracle_record_task(o, run, task, outcome, undo_of(o, step));
    if (run->ending) {
        oracle_let_end(o, run);
        return;
    }
    if (outcome->state != ORACLE_ERROR) {
        oracle_go_on(o, run, task);
        return;
    }
    /* A worker that lets go because the time of the run is over says the same as the engine would. */
    if (oracle_left_ms(o, run) == 0) {
        oracle_begin_ending(o, run, ORACLE_ERROR,
            oracle_error(o, "timeout", "the run has reached its time limit"), true, NULL);
        return;
    }
    name = name_of(o, step, task);
    oracle_begin_ending(o, run, ORACLE_ERROR,
        oracle_keepf(o,
            "{\"code\": \"step_failed\", \"step\": \"%s\", \"error\": %s, \"message\": %s}", name,
            outcome->error == NULL ? "null" : outcome->error,
            oracle_quote(
                o, oracle_keepf(o, "step %s failed: %s", name, error_text(o, outcome->error)))),
        true, NULL);
}

static void
finish(struct oracle *o, struct oracle_run *task, enum oracle_state state, const char *output,
    const char *error, int fence)
{
    oracle_finish_task(o, task->whole, task->task,
        &(struct oracle_outcome){
            state, output, error, task->attempt, fence, task->started_at, NULL});
}

static void
fail(struct oracle *o, struct oracle_run *task, const struct oracle_item *item, const char **answer,
    const char **value)
{
    const char *error = item->payload == NULL ? "{}" : item->payload;
    int failures;
    int64_t due_at;

    if (!item->option.final && !task->whole->ending &&
        !oracle_count_failure(o, task, item, "", answer, &failures, &due_at)) {
        oracle_let_go(o, task, due_at, "retry");
        *value = oracle_keepf(o, "{\"final\": false, \"failures\": %d}", failures);
        return;
    }
    finish(o, task, ORACLE_ERROR, NULL, error, task->fence);
    *value = "{\"final\": true}";
}

void
oracle_item_task(struct oracle *o, struct oracle_run *task, const struct oracle_item *item,
    const char **answer, const char **value)
{
    struct oracle_run *run = task->whole;
    bool completes = strcmp(item->kind, "complete") == 0, fails = strcmp(item->kind, "fail") == 0;
    bool cancelled = run->ending && run->ending_status == 3;

    if (cancelled || (run->ending && !completes && !fails)) {
        /* Cancelled, or to end anyway and nothing to record: the task goes. */
        *answer = cancelled ? "cancelled" : "ok";
        oracle_drop_task(o, task);
        oracle_let_end(o, run);
    } else if (item->not_json && (completes || fails)) {
        *answer = "refused";
    } else if (completes) {
        if (item->option.unused != NULL)
            oracle_audit(o, task, "unused_records", NULL);
        finish(o, task, ORACLE_SUCCESS, item->payload == NULL ? "null" : item->payload, NULL,
            task->fence);
    } else if (fails) {
        fail(o, task, item, answer, value);
    } else {
        oracle_item_close(o, task, item, answer, value);
    }
}

bool
oracle_ends_lost(const struct oracle *o, const struct oracle_run *task, bool crashed, bool started)
{
    return task->task > 0 &&
        (task->whole->ending || (crashed && started && task->crashes + 1 >= o->crash_max));
}

bool
oracle_end_lost_task(struct oracle *o, struct oracle_run *task, bool crashed, bool started)
{
    if (!oracle_ends_lost(o, task, crashed, started))
        return false;
    if (task->whole->ending) {
        oracle_drop_task(o, task);
        oracle_let_end(o, task->whole);
    } else {
        /* Under a fence that its holder never had. */
        finish(o, task, ORACLE_ERROR, NULL,
            oracle_error(o, "crashed",
                oracle_keepf(
                    o, "%d workers lost their lease while they held this task", task->crashes + 1)),
            task->fence + 1);
    }
    return true;
}
