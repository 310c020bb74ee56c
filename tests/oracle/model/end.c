/* SPDX-License-Identifier: Apache-2.0 */
/* How a wait is settled, how a run ends, and how its rollback starts. */
#include "flow.h"

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
void
oracle_make_ready(struct oracle *o, struct oracle_run *run)
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
    oracle_make_ready(o, run);
}

/* A step whose undo is still to do, by the name of the undo. */
struct undone {
    const struct oracle_run *task;
    const struct oracle_step *step;
    const char *name;
};

static bool
was_undone(const struct oracle_run *run, const char *name)
{
    for (size_t i = 0; i < run->steps_count; i++) {
        const struct oracle_step *other = &run->steps[i];

        if (strncmp(other->name, "rollback:", 9) == 0 && strcmp(other->name + 9, name) == 0 &&
            (other->state == ORACLE_SUCCESS || other->state == ORACLE_SKIPPED))
            return true;
    }
    return false;
}

const char *
oracle_undo_name(const struct oracle_step *step)
{
    if (step->full_name != NULL)
        return step->full_name;
    return step->undo_name != NULL ? step->undo_name : step->name;
}

/* Only the last of a step's rows counts. */
static bool
has_undo_to_do(const struct oracle_run *task, const struct oracle_step *step, const char *name)
{
    if (step->undo == NULL || (step->source != NULL && step->kind != ORACLE_CHILD))
        return false;
    for (size_t i = 0; i < task->steps_count; i++) {
        const struct oracle_step *other = &task->steps[i];

        if (strcmp(other->name, step->name) == 0 && other->undo != NULL &&
            other->round > step->round)
            return false;
    }
    return !was_undone(task->whole, name);
}

static int
compare_newest_first(const void *a, const void *b)
{
    const struct undone *x = a;
    const struct undone *y = b;
    bool x_inner = x->step->full_name == NULL, y_inner = y->step->full_name == NULL;

    /* Of a flow by its tasks; the steps inside of one come before what the task came to. */
    if (x->task->task != y->task->task)
        return x->task->task < y->task->task ? 1 : -1;
    if (x_inner != y_inner)
        return x_inner ? -1 : 1;
    if (x->step->seq != y->step->seq)
        return x->step->seq < y->step->seq ? 1 : -1;
    return -strcmp(x->name, y->name);
}

/* The steps that are not undone, newest first; the caller frees the list. */
static struct undone *
list_undone(const struct oracle_run *run, size_t *count)
{
    struct undone *list = NULL;

    *count = 0;
    for (const struct oracle_run *task = run; task != NULL;
         task = task == run ? run->tasks : task->next)
        for (size_t i = 0; i < task->steps_count; i++) {
            const struct oracle_step *step = &task->steps[i];
            const char *name = oracle_undo_name(step);

            if (has_undo_to_do(task, step, name)) {
                struct undone *place = oracle_push(&list, count, sizeof(*place));

                *place = (struct undone){task, step, name};
            }
        }
    if (*count > 1)
        qsort(list, *count, sizeof(*list), compare_newest_first);
    return list;
}

const char *
oracle_undone(struct oracle *o, const struct oracle_run *run, size_t *count)
{
    size_t found;
    struct undone *list = list_undone(run, &found);
    const char *text = "[";

    for (size_t i = 0; i < found; i++)
        text = oracle_keepf(o, "%s%s\"%s\"", text, i > 0 ? ", " : "", list[i].name);
    free(list);
    if (count != NULL)
        *count = found;
    return oracle_keepf(o, "%s]", text);
}

const char *
oracle_first_undone(const struct oracle_run *run)
{
    size_t count;
    struct undone *list = list_undone(run, &count);
    const char *name = count > 0 ? list[0].name : NULL;

    free(list);
    return name;
}

static bool
free_key(struct oracle *o, const struct oracle_run *run)
{
    for (size_t i = 0; i < o->keys_count; i++)
        if (o->keys[i].expires_at == ORACLE_NEVER && strcmp(o->keys[i].run, run->id) == 0) {
            oracle_drop(o->keys, &o->keys_count, sizeof(*o->keys), i);
            return true;
        }
    return false;
}

/* Children follow, at the next housekeeping; each is asked through a time limit that is over already. */
void
oracle_cancel_children(struct oracle *o, const struct oracle_run *run)
{
    for (const struct oracle_run *task = run; task != NULL;
         task = task == run ? run->tasks : task->next)
        for (size_t i = 0; i < task->waits_count; i++) {
            struct oracle_run *child = task->waits[i].kind == ORACLE_CHILD
                ? oracle_find_run(o, task->waits[i].child)
                : NULL;

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
    run->timeout_at = run->grace_at = run->cancel_at = run->expires_at = ORACLE_NONE;
    run->expires_put_off = false;
    run->cancel_why = NULL;
    memset(run->missing, 0, sizeof(run->missing));
    for (struct oracle_run *task = run->tasks; task != NULL; task = task->next)
        task->waits_count = 0;
}

/* Where a run's parent waits for it: the run, or a task of it, whose step it is; a step of a flow has no task, so there it is
 * the run. NULL: nobody waits. */
static struct oracle_run *
find_parent(struct oracle *o, const struct oracle_run *run)
{
    struct oracle_run *parent = oracle_row_above(o, run);

    return parent != NULL && parent->living ? parent : NULL;
}

static void
tell_parent(struct oracle *o, const struct oracle_run *run, struct oracle_run *parent,
    const struct oracle_round *round)
{
    bool flow = strchr(run->parent_step, '#') == NULL;
    struct oracle_run *task = flow ? oracle_find_task(parent, run->parent_task) : parent;
    const struct oracle_wait *wait = task == NULL ? NULL : oracle_find_wait(task, run->parent_step);
    enum oracle_state state = round->status == ORACLE_SUCCESS ? ORACLE_SUCCESS : ORACLE_ERROR;
    const char *error = NULL, *output = round->output;
    int64_t created_at;

    if (wait == NULL || !oracle_same(wait->child, run->id))
        return;
    if (round->status == ORACLE_ERROR)
        error = oracle_keepf(o, "{\"code\": \"child_failed\", \"child\": \"%s\", \"error\": %s}",
            run->id, round->error == NULL ? "null" : round->error);
    else if (round->status == 3)
        error = oracle_keepf(o, "{\"code\": \"child_cancelled\", \"child\": \"%s\"}", run->id);
    if (!flow) {
        oracle_settle(o, parent, wait->name, state, output, error, run->id);
        return;
    }
    created_at = wait->created_at;
    oracle_drop(task->waits, &task->waits_count, sizeof(*wait), (size_t)(wait - task->waits));
    parent->touched = true;
    if (!parent->ending || parent->ending_status == ORACLE_ERROR)
        oracle_finish_task(o, parent, task->task,
            &(struct oracle_outcome){state, output, error, 1, 0, created_at, run->id});
}

const char *
oracle_end_run(struct oracle *o, struct oracle_run *run, int status, const char *output,
    const char *error, int fence)
{
    struct oracle_run *parent = find_parent(o, run);
    struct oracle_round *round, told;

    /* It may also have ended since it was in the way. */
    if (parent == NULL && oracle_row_above(o, run) != NULL &&
        oracle_row_is_held(o, oracle_row_above(o, run)))
        return "busy";
    if (parent != NULL &&
        (strchr(run->parent_step, '#') == NULL ? oracle_flow_is_locked(o, parent)
                                               : oracle_locked(o, parent)))
        return "busy";
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
    round->parent_task = run->parent_task;
    round->output = oracle_keep(o, output);
    round->error = oracle_keep(o, error);
    if (status == 3)
        oracle_cancel_children(o, run);
    forget_waits(run);
    run->signals_count = 0;
    run->tries_count = 0;
    run->living = false;
    run->touched = true;
    for (struct oracle_run *task = run->tasks; task != NULL; task = task->next)
        task->living = false;
    round->key_freed = free_key(o, run);
    told = *round;
    if (parent != NULL)
        tell_parent(o, run, parent, &told);
    return "ok";
}

const char *
oracle_end_or_roll_back(struct oracle *o, struct oracle_run *run, int status, const char *error,
    bool rollback, bool own)
{
    /* A cancel is an operator's newer word than a pause; a failure is not, and waits for the resume. */
    bool stays_paused = run->paused && status == ORACLE_ERROR;
    const char *reason = run->place == ORACLE_WAITING ? run->reason : "operator";

    if (!rollback || run->rolling_back || oracle_first_undone(run) == NULL)
        return oracle_end_run(o, run, status, NULL, error, own ? run->fence : run->fence + 1);
    if (status == 3)
        oracle_cancel_children(o, run);
    forget_waits(run);
    run->tries_count = 0;
    run->place = stays_paused ? ORACLE_WAITING : oracle_ready_place(run->crashes);
    run->due_at = stays_paused ? ORACLE_NEVER : o->now;
    run->reason = stays_paused ? reason : NULL;
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
    run->started = run->woken = run->in_line = false;
    run->rolling_back = true;
    oracle_audit(o, run, "rollback_started", NULL);
    return "ok";
}
