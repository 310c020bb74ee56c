/* SPDX-License-Identifier: Apache-2.0 */
/* What an operator does to one run: cancel, kill, pause, resume, wake, retry, rollback, fork, purge. */
#include "flow.h"

#include "base/uuid.h"
#include "uuid_parts.h"

#include <string.h>

/* The answer for a run that does not live, or is locked; NULL if it can be worked on. */
static const char *
not_grabbed(struct oracle *o, const char *id, struct oracle_run **run)
{
    static const char *const states[] = {"", "SUCCESS", "ERROR", "CANCELLED"};

    *run = oracle_find_run(o, id);
    if (*run == NULL)
        return "not_found";
    if (!(*run)->living)
        return states[oracle_last_round(*run)->status];
    return oracle_locked(o, *run) ? "busy" : NULL;
}

const char *
oracle_cancel_run(
    struct oracle *o, struct oracle_run *run, const char *by, const char *why, bool rollback)
{
    if (run->ending)
        return run->ending_status == 2 ? "ERROR" : "already";
    if (run->place == ORACLE_OPEN) {
        if (oracle_flow_is_locked(o, run) || oracle_tasks_are_locked(o, run))
            return "busy";
        oracle_begin_ending(
            o, run, 3, oracle_error(o, "cancelled", why == NULL ? "cancelled" : why), rollback, by);
    } else if (run->place == ORACLE_HELD) {
        run->ending = true;
        run->ending_status = 3;
        run->ending_fence = -1;
        run->ending_rollback = rollback;
        run->ending_by = oracle_keep(o, by);
        run->ending_why = oracle_keep(o, why);
        run->ending_error = NULL;
        run->grace_at = o->now + o->grace_us;
    } else if (strcmp(oracle_end_or_roll_back(o, run, 3,
                          oracle_error(o, "cancelled", why == NULL ? "cancelled" : why), rollback,
                          true),
                   "busy") == 0) {
        return "busy";
    }
    oracle_audit(o, run, "cancel", by);
    return "ok";
}

const char *
oracle_cancel(
    struct oracle *oracle, const char *run, const char *why, bool rollback, const char *by)
{
    struct oracle_run *found;
    const char *answer = not_grabbed(oracle, run, &found);

    if (answer != NULL)
        return strcmp(answer, "CANCELLED") == 0 ? "already" : answer;
    return oracle_cancel_run(oracle, found, by, why, rollback);
}

const char *
oracle_kill(struct oracle *oracle, const char *run, const char *why, const char *by)
{
    struct oracle_run *found;
    const char *answer = not_grabbed(oracle, run, &found), *error;

    if (answer != NULL)
        return strcmp(answer, "CANCELLED") == 0 ? "already" : answer;
    error = oracle_error(oracle, "killed", why == NULL ? "killed" : why);
    /* Tasks of a flow that had started leave a record, for the rollback of a later round. */
    answer = found->place == ORACLE_OPEN
        ? oracle_force_end(oracle, found, 3, error, false)
        : oracle_end_run(oracle, found, 3, NULL, error, found->fence + 1);
    if (strcmp(answer, "ok") == 0)
        oracle_audit(oracle, found, "kill", by);
    return answer;
}

static void
pause_one(struct oracle *o, struct oracle_run *run, const char *why, const char *by)
{
    run->paused = true;
    run->paused_by = oracle_keep(o, by);
    run->paused_why = oracle_keep(o, why);
    run->paused_due = run->place == ORACLE_WAITING ? run->due_at : ORACLE_NONE;
    run->paused_reason = run->reason;
    run->in_line = false;
    if (run->place != ORACLE_HELD && run->place != ORACLE_OPEN) {
        /* It was ready: then it is ready again after resume, whatever else it waits for. */
        run->woken = run->woken || run->place != ORACLE_WAITING;
        run->place = ORACLE_WAITING;
        run->due_at = ORACLE_NEVER;
        run->reason = "operator";
    }
}

const char *
oracle_pause(struct oracle *oracle, const char *run, const char *why, const char *by)
{
    struct oracle_run *found;
    const char *answer = not_grabbed(oracle, run, &found);

    if (answer != NULL)
        return answer;
    if (found->paused)
        return "already";
    for (struct oracle_run *task = found; task != NULL;
         task = task == found ? found->tasks : task->next)
        if (task->living && !task->paused)
            pause_one(oracle, task, why, by);
    oracle_audit(oracle, found, "pause", by);
    return "ok";
}

/* When the first of its waits and tries is due; without any, when it was due before the pause. */
static int64_t
due_of(const struct oracle_run *run)
{
    int64_t due = ORACLE_NEVER;

    for (size_t i = 0; i < run->waits_count; i++)
        due = run->waits[i].due_at < due ? run->waits[i].due_at : due;
    for (size_t i = 0; i < run->tries_count; i++)
        due = run->tries[i].due_at < due ? run->tries[i].due_at : due;
    return run->waits_count + run->tries_count > 0 ? due : run->paused_due;
}

static void
resume_one(struct oracle *o, struct oracle_run *run)
{
    int64_t due = run->woken ? o->now : due_of(run);

    due = due == ORACLE_NONE || due < o->now ? o->now : due;
    run->paused = false;
    if (run->place == ORACLE_HELD || run->place == ORACLE_OPEN) {
        run->reason = NULL;
        return;
    }
    run->woken = false;
    run->place = due > o->now ? ORACLE_WAITING : oracle_ready_place(run->crashes);
    run->reason = due <= o->now ? NULL : run->paused_reason == NULL ? "sleep" : run->paused_reason;
    run->due_at = due;
}

const char *
oracle_resume(struct oracle *oracle, const char *run, const char *by)
{
    struct oracle_run *found;
    const char *answer = not_grabbed(oracle, run, &found);
    bool paused = false;

    if (answer != NULL)
        return answer;
    for (struct oracle_run *task = found; task != NULL;
         task = task == found ? found->tasks : task->next)
        if (task->living && task->paused) {
            paused = true;
            resume_one(oracle, task);
        }
    if (!paused)
        return "already";
    oracle_audit(oracle, found, "resume", by);
    return "ok";
}

/* Whether the operator means the timer of this name, as it is shown; NULL means any. */
static bool
is_meant(struct oracle *o, const struct oracle_run *task, const char *name, const char *step)
{
    const char *shown = name;
    size_t length;

    if (step == NULL)
        return true;
    if (task->task > 0) {
        const char *of = task->workflow->steps[task->task / ORACLE_STEP_SPAN - 1].name;
        int element = task->task % ORACLE_STEP_SPAN;
        const char *inside = name != NULL && strchr(name, '#') != NULL ? name : NULL;
        const char *index = element > 0 ? oracle_keepf(o, "[%d]", element - 1) : "";

        shown = oracle_keepf(
            o, "%s%s%s%s", of, index, inside != NULL ? "/" : "", inside != NULL ? inside : "");
    }
    if (shown == NULL || shown[0] == '\0')
        return false;
    length = strcspn(shown, "#");
    return strcmp(shown, step) == 0 || (strncmp(shown, step, length) == 0 && step[length] == '\0');
}

/* Ends what only time would end; false: there is nothing of that. */
static bool
wake_one(struct oracle *o, struct oracle_run *run, struct oracle_run *task, const char *step)
{
    bool woken = false;

    if (task->place != ORACLE_WAITING || task->paused || task->due_at <= o->now ||
        (run->ending && !run->rolling_back))
        return false;
    if (task->reason != NULL && strcmp(task->reason, "delay") == 0 &&
        is_meant(o, task, NULL, step)) {
        woken = true;
        if (run->due_at == task->due_at && run->timeout_at != ORACLE_NONE)
            run->timeout_at -= task->due_at - o->now;
        if (run->due_at == task->due_at && run->expires_at != ORACLE_NONE)
            run->expires_at -= task->due_at - o->now;
        if (run->due_at == task->due_at && run->place == ORACLE_OPEN)
            run->due_at = o->now;
    }
    for (size_t i = 0; i < task->tries_count; i++) {
        if (task->tries[i].due_at > o->now && is_meant(o, task, task->tries[i].name, step)) {
            task->tries[i].due_at = o->now;
            woken = true;
        }
    }
    for (size_t i = 0; i < task->waits_count;) {
        const struct oracle_wait *wait = &task->waits[i];

        if (wait->kind == ORACLE_SLEEP && is_meant(o, task, wait->name, step)) {
            oracle_settle(o, task, wait->name, ORACLE_SUCCESS, NULL, NULL, NULL);
            woken = true;
        } else {
            i++;
        }
    }
    if (woken)
        oracle_make_ready(o, task);
    return woken;
}

const char *
oracle_wake(struct oracle *oracle, const char *run, const char *step, const char *by)
{
    struct oracle_run *found;
    const char *answer = not_grabbed(oracle, run, &found);
    bool woken = false, held = false, ready = false;

    if (answer != NULL)
        return answer;
    for (struct oracle_run *task = found; task != NULL;
         task = task == found ? found->tasks : task->next)
        if (task->living && wake_one(oracle, found, task, step))
            woken = true;
    if (woken) {
        oracle_audit(oracle, found, "wake", by);
        return "ok";
    }
    for (struct oracle_run *task = found; task != NULL;
         task = task == found ? found->tasks : task->next) {
        if (!task->living)
            continue;
        held = held || task->place == ORACLE_HELD;
        ready = ready || task->place == ORACLE_READY || task->place == ORACLE_SUSPECT ||
            (task->place == ORACLE_WAITING && task->due_at <= oracle->now);
    }
    return (found->ending && !found->rolling_back) || found->paused || held || !ready ||
            (found->place == ORACLE_OPEN && step != NULL)
        ? "refused"
        : "already";
}

/* Its key may have been freed and taken by a run that lives: then there would be two. */
static bool
key_is_taken(struct oracle *o, const struct oracle_run *run)
{
    const struct oracle_key *key =
        run->key == NULL ? NULL : oracle_find_key(o, run->tenant, run->workflow, run->key);
    const struct oracle_run *other;

    if (key == NULL || strcmp(key->run, run->id) == 0)
        return false;
    other = oracle_find_run(o, key->run);
    return other != NULL && other->living;
}

/* A key that the end of the run freed stands for it again; false: another run has it. */
static bool
take_key_again(struct oracle *o, const struct oracle_run *run)
{
    struct oracle_key *key = oracle_find_key(o, run->tenant, run->workflow, run->key);

    if (key != NULL && !oracle_key_is_over(o, key))
        return false;
    if (key == NULL)
        key = oracle_push(&o->keys, &o->keys_count, sizeof(*key));
    key->tenant = run->tenant;
    key->workflow = run->workflow;
    key->key = run->key;
    key->run = run->id;
    key->input = run->input;
    key->expires_at = ORACLE_NEVER;
    return true;
}

static bool
has_undone_something(const struct oracle_run *run)
{
    for (size_t i = 0; i < run->steps_count; i++)
        if (strncmp(run->steps[i].name, "rollback:", 9) == 0 &&
            run->steps[i].state == ORACLE_SUCCESS)
            return true;
    return false;
}

/* Makes an ended run a living one again. With rollback the new round only rolls back. */
static const char *
open_round(struct oracle *o, struct oracle_run *run, const char *by, bool rollback)
{
    const struct oracle_round *last;

    if (run->living)
        return "already";
    last = oracle_last_round(run);
    if (last->status == ORACLE_SUCCESS || (!rollback && has_undone_something(run)) ||
        (last->key_freed ? !take_key_again(o, run) : key_is_taken(o, run)))
        return "refused";
    run->living = true;
    run->place = run->workflow->flow && !rollback ? ORACLE_OPEN : ORACLE_READY;
    run->round = last->round + 1;
    run->fence = last->fence + 1;
    run->crashes = 0;
    run->started = run->woken = run->paused = run->in_line = false;
    run->rolling_back = run->ending = rollback;
    run->ending_fence = -1;
    run->ending_rollback = false;
    run->ending_by = run->ending_why = NULL;
    run->reason = NULL;
    run->session = 0;
    run->request = 0;
    run->due_at = o->now;
    run->claimed_at = ORACLE_NONE;
    run->parent_step = NULL;
    run->parent_task = 0;
    run->tries_count = 0;
    if (!rollback && run->workflow->run_timeout_us != ORACLE_NONE)
        run->timeout_at = o->now + run->workflow->run_timeout_us;
    oracle_audit(o, run, rollback ? "rollback_retry" : "retry", by);
    if (run->place == ORACLE_OPEN)
        oracle_reopen_flow(o, run);
    return "ok";
}

const char *
oracle_retry(struct oracle *oracle, const char *run, const char *by)
{
    struct oracle_run *found = oracle_find_run(oracle, run);

    return found == NULL ? "not_found" : open_round(oracle, found, by, false);
}

bool
oracle_rollback_is_stuck(const struct oracle_round *round)
{
    return round->error != NULL && strncmp(round->error, "{\"code\": \"rollback_failed\"", 26) == 0;
}

static bool
is_stuck(const struct oracle_run *run)
{
    const struct oracle_round *last = oracle_last_round(run);

    return last != NULL && oracle_rollback_is_stuck(last);
}

const char *
oracle_rollback_retry(struct oracle *oracle, const char *run, const char *by)
{
    struct oracle_run *found = oracle_find_run(oracle, run);

    if (found == NULL)
        return "not_found";
    if (!found->living && !is_stuck(found))
        return "refused";
    return open_round(oracle, found, by, true);
}

const char *
oracle_rollback_skip(
    struct oracle *oracle, const char *run, const char *step, const char *why, const char *by)
{
    struct oracle_run *found = oracle_find_run(oracle, run);
    const char *answer, *name = oracle_keepf(oracle, "rollback:%s", step);
    struct oracle_step *old, *skipped;
    bool known = false;

    if (found == NULL)
        return "not_found";
    for (const struct oracle_run *task = found; task != NULL;
         task = task == found ? found->tasks : task->next)
        for (size_t i = 0; i < task->steps_count; i++)
            known = known ||
                (task->steps[i].undo != NULL &&
                    strcmp(oracle_undo_name(&task->steps[i]), step) == 0);
    if (!known || !is_stuck(found))
        return "refused";
    answer = open_round(oracle, found, by, true);
    if (strcmp(answer, "ok") != 0)
        return answer;
    old = oracle_find_step(found, name);
    if (old == NULL) {
        skipped = oracle_record(oracle, found, name, ORACLE_STEP, ORACLE_SKIPPED, 0);
        skipped->error = why == NULL ? oracle_keep(oracle, "{\"why\": null}")
                                     : oracle_keepf(oracle, "{\"why\": \"%s\"}", why);
    }
    oracle_audit(oracle, found, "rollback_skip", by);
    return "ok";
}

/* The order of the first step or wait of that name, with or without its number; 0: there is none. */
static int
seq_of(const struct oracle_run *run, const char *from)
{
    size_t length = strlen(from);
    int seq = 0;

    for (size_t i = 0; i < run->steps_count + (run->living ? run->waits_count : 0); i++) {
        bool is_step = i < run->steps_count;
        const char *name = is_step ? run->steps[i].name : run->waits[i - run->steps_count].name;
        int other = is_step ? run->steps[i].seq : run->waits[i - run->steps_count].seq;

        if (strncmp(name, from, length) == 0 && (name[length] == '\0' || name[length] == '#') &&
            (seq == 0 || other < seq))
            seq = other;
    }
    return seq;
}

static int
copy_steps(struct oracle *o, const struct oracle_run *from, struct oracle_run *to, int below)
{
    int copied = 0;

    for (size_t i = 0; i < from->steps_count; i++) {
        const struct oracle_step *step = &from->steps[i];
        struct oracle_step *copy;

        if (step->state != ORACLE_SUCCESS || strncmp(step->name, "rollback:", 9) == 0 ||
            step->seq >= below)
            continue;
        copy = oracle_record(o, to, step->name, step->kind, ORACLE_SUCCESS, step->seq);
        copy->attempt = step->attempt;
        copy->fence = 0;
        copy->started_at = step->started_at;
        copy->ended_at = step->ended_at;
        copy->output = step->output;
        copy->undo = step->undo;
        copy->source = from->id;
        copied++;
    }
    return copied;
}

/* Whether a step of a flow is this one or comes after it. */
static bool
is_downstream(const struct oracle_workflow *flow, int step, int from)
{
    if (step == from)
        return true;
    for (int i = 0; i < flow->steps[step - 1].deps_count; i++)
        if (is_downstream(flow, flow->steps[step - 1].deps[i], from))
            return true;
    return false;
}

/* The number of a step of a flow, or 0. */
static int
number_of(const struct oracle_workflow *flow, const char *name)
{
    for (int i = 0; i < flow->steps_count; i++)
        if (strcmp(flow->steps[i].name, name) == 0)
            return i + 1;
    return 0;
}

/* What tasks came to that are not downstream of a step, without their undos: the fork did none of it. 0: from the beginning. */
static int
copy_tasks(const struct oracle_run *from, struct oracle_run *to, int step)
{
    int copied = 0;

    for (const struct oracle_run *task = from->tasks; step > 0 && task != NULL; task = task->next)
        for (size_t i = 0; i < task->steps_count; i++) {
            const struct oracle_step *record = &task->steps[i];
            struct oracle_run *holder;
            struct oracle_step *copy;

            if (record->full_name == NULL ||
                (record->state != ORACLE_SUCCESS && record->state != ORACLE_SKIPPED) ||
                is_downstream(from->workflow, task->task / ORACLE_STEP_SPAN, step))
                continue;
            holder = oracle_task(to, task->task);
            copy = oracle_push(&holder->steps, &holder->steps_count, sizeof(*copy));
            *copy = *record;
            copy->round = 1;
            copy->fence = 0;
            copy->undo = NULL;
            copy->source = from->id;
            copied++;
        }
    return copied;
}

static bool
moves(const struct oracle *o, const struct oracle_run *run)
{
    if (run->place != ORACLE_OPEN)
        return run->place != ORACLE_WAITING || run->due_at <= o->now;
    for (const struct oracle_run *task = run->tasks; task != NULL; task = task->next)
        if (task->living && (task->place != ORACLE_WAITING || task->due_at <= o->now))
            return true;
    return false;
}

const char *
oracle_fork(struct oracle *oracle, const char *run, const char *from_step, const char *made,
    struct pw_buf *reply)
{
    struct oracle_run *found = oracle_find_run(oracle, run), *fork;
    struct pw_uuid source, id;
    int below = 0, copied;

    if (found == NULL)
        return "not_found";
    if (found->living && moves(oracle, found))
        return "refused";
    if (from_step != NULL)
        below = found->workflow->flow ? number_of(found->workflow, from_step)
                                      : seq_of(found, from_step);
    if (from_step != NULL && below == 0)
        return "no_such_step";
    if (made == NULL || !pw_uuid_parse(made, &id) || !pw_uuid_parse(run, &source) ||
        uuid_slot(&id) != uuid_slot(&source) || oracle_find_run(oracle, made) != NULL)
        return "not allowed: the id of the fork";
    fork = oracle_add_run(oracle,
        &(struct oracle_new_run){
            .workflow = found->workflow,
            .id = made,
            .tenant = found->tenant,
            .priority = found->priority,
            .input = found->input,
            .metadata = found->metadata,
            .limit_key = found->limit_key,
            .tags = found->tags,
            .delay_us = ORACLE_NONE,
        });
    if (fork->workflow->flow) {
        copied = copy_tasks(found, fork, below);
        oracle_reopen_flow(oracle, fork);
    } else {
        copied = copy_steps(oracle, found, fork, below);
    }
    pw_buf_addf(reply, "%s %d", made, copied);
    oracle_audit(oracle, fork, "forked_from", "op");
    oracle_audit(oracle, found, "forked_to", "op");
    return "ok";
}

const char *
oracle_purge(struct oracle *oracle, const char *run)
{
    struct oracle_run *found = oracle_find_run(oracle, run);

    if (found == NULL)
        return "not_found";
    if (found->living)
        return "refused";
    for (size_t i = 0; i < oracle->keys_count; i++)
        if (strcmp(oracle->keys[i].run, run) == 0) {
            oracle_drop(oracle->keys, &oracle->keys_count, sizeof(*oracle->keys), i);
            break;
        }
    found->gone = true;
    return "ok";
}
