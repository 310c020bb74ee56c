/* SPDX-License-Identifier: Apache-2.0 */
/* How a wait is settled, how a run ends, and how its rollback starts. */
#include "state.h"

#include <stdlib.h>
#include <string.h>

struct oracle_step *
oracle_record(struct oracle *o, struct oracle_run *run, const char *name, enum oracle_kind kind,
    enum oracle_state state, int seq)
{
    int next = oracle_next_seq(run);
    struct oracle_step *step = oracle_push(&run->steps, &run->steps_count, sizeof(*step));

    step->name = oracle_keep(o, name);
    step->round = run->round;
    step->kind = kind;
    step->state = state;
    step->seq = seq == 0 ? next : seq;
    step->attempt = 1;
    step->fence = run->fence;
    step->started_at = o->now;
    step->ended_at = state == ORACLE_RUNNING ? ORACLE_NONE : o->now;
    run->touched = true;
    return step;
}

void
oracle_progress(struct oracle_run *run, const char *name)
{
    struct oracle_try *failed = oracle_find_try(run, name);

    run->crashes = 0;
    if (failed != NULL)
        oracle_drop(run->tries, &run->tries_count, sizeof(*failed), (size_t)(failed - run->tries));
}

/* Something happened that the run's code should see. */
static void
make_ready(struct oracle *o, struct oracle_run *run)
{
    if (run->place == ORACLE_HELD || run->paused) {
        run->woken = true;
    } else if (run->place == ORACLE_WAITING) {
        run->place = oracle_ready_place(run->crashes);
        run->due_at = o->now;
        run->reason = NULL;
    }
    run->touched = true;
}

void
oracle_settle(struct oracle *o, struct oracle_run *run, const char *wait, enum oracle_state state,
    const char *output, const char *error, const char *source)
{
    struct oracle_wait *open = oracle_find_wait(run, wait);
    struct oracle_step *step;

    /* After an acknowledged cancel nothing is recorded but undos. */
    if (run->ending && !run->rolling_back)
        return;
    step = oracle_record(o, run, wait, open->kind, state, open->seq);
    step->started_at = open->created_at;
    step->output = oracle_keep(o, output);
    step->error = oracle_keep(o, error);
    step->source = oracle_keep(o, source);
    oracle_drop(run->waits, &run->waits_count, sizeof(*open), (size_t)(open - run->waits));
    make_ready(o, run);
}

/* Whether an undo of this step is still to do; only the last of its rows counts. */
static bool
is_undone(const struct oracle_run *run, const struct oracle_step *step)
{
    if (step->undo == NULL || step->source != NULL)
        return true;
    for (size_t i = 0; i < run->steps_count; i++) {
        const struct oracle_step *other = &run->steps[i];

        if (strcmp(other->name, step->name) == 0 && other->undo != NULL &&
            other->round > step->round)
            return true;
        if (strncmp(other->name, "rollback:", 9) == 0 && strcmp(other->name + 9, step->name) == 0 &&
            (other->state == ORACLE_SUCCESS || other->state == ORACLE_SKIPPED))
            return true;
    }
    return false;
}

static int
compare_newest_first(const void *a, const void *b)
{
    const struct oracle_step *const *x = a;
    const struct oracle_step *const *y = b;

    if ((*x)->seq != (*y)->seq)
        return (*x)->seq < (*y)->seq ? 1 : -1;
    return -strcmp((*x)->name, (*y)->name);
}

/* The steps that are not undone, newest first; the caller frees the list. */
static const struct oracle_step **
list_undone(const struct oracle_run *run, size_t *count)
{
    const struct oracle_step **list = NULL;

    *count = 0;
    for (size_t i = 0; i < run->steps_count; i++)
        if (!is_undone(run, &run->steps[i])) {
            const struct oracle_step **place = oracle_push(&list, count, sizeof(*place));

            *place = &run->steps[i];
        }
    if (*count > 1)
        qsort(list, *count, sizeof(*list), compare_newest_first);
    return list;
}

const char *
oracle_undone(struct oracle *o, const struct oracle_run *run, size_t *count)
{
    size_t found;
    const struct oracle_step **list = list_undone(run, &found);
    const char *text = "[";

    for (size_t i = 0; i < found; i++)
        text = oracle_keepf(o, "%s%s\"%s\"", text, i > 0 ? ", " : "", list[i]->name);
    free(list);
    if (count != NULL)
        *count = found;
    return oracle_keepf(o, "%s]", text);
}

const char *
oracle_first_undone(const struct oracle_run *run)
{
    size_t count;
    const struct oracle_step **list = list_undone(run, &count);
    const char *name = count > 0 ? list[0]->name : NULL;

    free(list);
    return name;
}

static void
free_key(struct oracle *o, const struct oracle_run *run)
{
    for (size_t i = 0; i < o->keys_count; i++)
        if (o->keys[i].expires_at == ORACLE_NEVER && strcmp(o->keys[i].run, run->id) == 0) {
            oracle_drop(o->keys, &o->keys_count, sizeof(*o->keys), i);
            return;
        }
}

/* Children follow, at the next housekeeping; each is asked through a time limit that is over already. */
static void
cancel_children(struct oracle *o, const struct oracle_run *run)
{
    for (size_t i = 0; i < run->waits_count; i++) {
        struct oracle_run *child =
            run->waits[i].kind == ORACLE_CHILD ? oracle_find_run(o, run->waits[i].child) : NULL;

        if (child != NULL && child->living && child->cancel_at == ORACLE_NONE) {
            child->cancel_at = o->now;
            child->touched = true;
        }
    }
}

static void
forget_waits(struct oracle_run *run)
{
    run->waits_count = 0;
    run->timeout_at = run->grace_at = run->cancel_at = ORACLE_NONE;
}

static void
tell_parent(struct oracle *o, const struct oracle_run *run, struct oracle_run *parent,
    const struct oracle_round *round)
{
    const struct oracle_wait *wait = oracle_find_wait(parent, run->parent_step);
    const char *error = NULL;

    if (wait == NULL || !oracle_same(wait->child, run->id))
        return;
    if (round->status == ORACLE_ERROR)
        error = oracle_keepf(o, "{\"code\": \"child_failed\", \"child\": \"%s\", \"error\": %s}",
            run->id, round->error == NULL ? "null" : round->error);
    else if (round->status == 3)
        error = oracle_keepf(o, "{\"code\": \"child_cancelled\", \"child\": \"%s\"}", run->id);
    oracle_settle(o, parent, wait->name,
        round->status == ORACLE_SUCCESS ? ORACLE_SUCCESS : ORACLE_ERROR, round->output, error,
        run->id);
}

const char *
oracle_end_run(struct oracle *o, struct oracle_run *run, int status, const char *output,
    const char *error, int fence)
{
    struct oracle_run *parent = NULL;
    struct oracle_round *round;

    if (run->parent != NULL && run->parent_step != NULL) {
        parent = oracle_find_run(o, run->parent);
        if (parent != NULL && !parent->living)
            parent = NULL;
        if (parent != NULL && oracle_locked(o, parent))
            return "busy";
    }
    run->kept = run->kept || run->triggered_at < o->now - ORACLE_DAY_US;
    round = oracle_push(&run->rounds, &run->rounds_count, sizeof(*round));
    round->round = run->round;
    round->status = status;
    round->fence = fence;
    round->attempt = run->attempt;
    round->session = run->session;
    round->started_at = run->started_at;
    round->ended_at = o->now;
    round->rolled_back = run->rolling_back;
    round->parent_step = run->parent_step;
    round->output = oracle_keep(o, output);
    round->error = oracle_keep(o, error);
    if (status == 3)
        cancel_children(o, run);
    forget_waits(run);
    run->signals_count = 0;
    run->tries_count = 0;
    run->living = false;
    run->touched = true;
    free_key(o, run);
    if (parent != NULL)
        tell_parent(o, run, parent, round);
    return "ok";
}

const char *
oracle_end_or_roll_back(struct oracle *o, struct oracle_run *run, int status, const char *error,
    bool rollback, bool own)
{
    /* A cancel is an operator's newer word than a pause; a failure is not, and waits for the resume. */
    bool stays_paused = run->paused && status == ORACLE_ERROR;

    if (!rollback || run->rolling_back || oracle_first_undone(run) == NULL)
        return oracle_end_run(o, run, status, NULL, error, own ? run->fence : run->fence + 1);
    if (status == 3)
        cancel_children(o, run);
    forget_waits(run);
    run->tries_count = 0;
    run->place = stays_paused ? ORACLE_WAITING : oracle_ready_place(run->crashes);
    run->due_at = stays_paused ? ORACLE_NEVER : o->now;
    run->reason = stays_paused ? "operator" : NULL;
    run->paused = stays_paused;
    run->ending = true;
    run->ending_status = status;
    run->ending_error = oracle_keep(o, error);
    run->ending_fence = own ? run->fence : -1;
    run->ending_by = run->ending_why = NULL;
    run->ending_rollback = false;
    run->fence++;
    run->session = 0;
    run->request = 0;
    run->started = run->woken = false;
    run->rolling_back = true;
    oracle_audit(o, run, "rollback_started", NULL);
    return "ok";
}
