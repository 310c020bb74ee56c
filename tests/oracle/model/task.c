/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks of flows' runs: how they are made, found and walked over. What they do is where that of runs is. */
#include "flow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct oracle_run *
oracle_find_task(struct oracle_run *run, int task)
{
    struct oracle_run *found = run->tasks;

    if (task == 0)
        return run;
    while (found != NULL && found->task < task)
        found = found->next;
    return found != NULL && found->task == task ? found : NULL;
}

struct oracle_run *
oracle_task(struct oracle_run *run, int task)
{
    struct oracle_run **at = &run->tasks;
    struct oracle_run *made;

    if (task == 0)
        return run;
    while (*at != NULL && (*at)->task < task)
        at = &(*at)->next;
    if (*at != NULL && (*at)->task == task)
        return *at;
    made = calloc(1, sizeof(*made));
    if (made == NULL) {
        (void)fputs("oracle: out of memory\n", stderr); /* nothing is left to do */
        abort();
    }
    made->id = run->id;
    made->workflow = run->workflow;
    made->queue = -1;
    made->whole = run;
    made->task = task;
    made->tenant = run->tenant;
    made->limit_key = run->limit_key;
    made->triggered_at = run->triggered_at;
    made->due_at = run->due_at;
    made->round = run->round;
    made->started_at = made->claimed_at = ORACLE_NONE;
    made->timeout_at = made->grace_at = made->cancel_at = made->expires_at = ORACLE_NONE;
    made->next = *at;
    *at = made;
    return made;
}

struct oracle_run *
oracle_next_task(struct oracle_run *task)
{
    if (task->task == 0)
        return task->tasks != NULL ? task->tasks : task->next;
    return task->next != NULL ? task->next : task->whole->next;
}

void
oracle_free_tasks(struct oracle_run *run)
{
    struct oracle_run *task;

    while ((task = run->tasks) != NULL) {
        run->tasks = task->next;
        free(task->steps);
        free(task->waits);
        free(task->tries);
        free(task);
    }
}

struct oracle_run *
oracle_row_above(struct oracle *o, const struct oracle_run *run)
{
    struct oracle_run *parent =
        run->parent == NULL || run->parent_step == NULL ? NULL : oracle_find_run(o, run->parent);

    if (parent != NULL && strchr(run->parent_step, '#') != NULL)
        parent = oracle_find_task(parent, run->parent_task);
    return parent;
}

bool
oracle_flow_is_locked(struct oracle *o, const struct oracle_run *run)
{
    const struct oracle_run *at = run;

    for (;;) {
        struct oracle_run *parent;

        if (oracle_locked(o, at))
            return true;
        parent = at->place == ORACLE_OPEN ? oracle_row_above(o, at) : NULL;
        if (parent == NULL || !parent->living)
            return parent != NULL && oracle_row_is_held(o, parent);
        at = parent;
    }
}

bool
oracle_tasks_are_locked(const struct oracle *o, const struct oracle_run *run)
{
    for (const struct oracle_run *task = run->tasks; task != NULL; task = task->next)
        if (oracle_locked(o, task))
            return true;
    return false;
}

bool
oracle_is_left_over(const struct oracle_run *task)
{
    return task->task > 0 && task->whole->ending &&
        (task->place == ORACLE_READY || task->place == ORACLE_SUSPECT);
}

int
oracle_nth_task(struct oracle *oracle, const char *run, int n)
{
    const struct oracle_run *found = oracle_find_run(oracle, run);

    for (const struct oracle_run *task = found == NULL ? NULL : found->tasks; task != NULL;
         task = task->next)
        if (task->was_task && n-- == 0)
            return task->task;
    return 0;
}

const struct oracle_flow_step *
oracle_step_of(const struct oracle_run *run, int task)
{
    return &run->workflow->steps[task / ORACLE_STEP_SPAN - 1];
}

struct oracle_policy
oracle_policy_of(const struct oracle_run *task)
{
    struct oracle_policy policy = task->workflow->policy;

    if (task->task > 0) {
        const struct oracle_step_spec *spec = &oracle_step_of(task, task->task)->spec;

        policy.max_attempts = spec->max_attempts == -1 ? policy.max_attempts : spec->max_attempts;
        policy.base_us = spec->base_us == ORACLE_NONE ? policy.base_us : spec->base_us;
    }
    return policy;
}

static const char *
kind_of_record(const struct oracle_run *task, const struct oracle_step *record)
{
    static const char *const states[] = {"", "success", "error", "uncertain", "skipped"};

    if (record->state == ORACLE_SKIPPED && strncmp(record->error, "{\"code\": \"failed\"", 17) == 0)
        return strstr(record->error, "\"spreads\": true") != NULL ? "failed_all" : "failed_alone";
    if (record->source != NULL)
        return record->kind == ORACLE_CHILD && record->fence == 0 && record->undo != NULL
            ? "child_with_undo"
            : "child_or_copy";
    if (record->state == ORACLE_SUCCESS && task->task % ORACLE_STEP_SPAN > 0)
        return "element";
    return states[record->state];
}

/* Whether it has expired, or another run has replaced it. */
static void
tell_cancelled(const struct oracle_run *run, const struct oracle_round *round,
    void (*tell)(const char *what, const char *kind, void *userdata), void *userdata)
{
    if (round->error == NULL)
        return;
    if (strstr(round->error, "\"expired\"") != NULL)
        tell("run round", run->workflow->flow ? "expired_flow" : "expired", userdata);
    else if (strstr(round->error, "has replaced it") != NULL)
        tell("run round", run->workflow->flow ? "replaced_flow" : "replaced", userdata);
}

void
oracle_each_outcome(struct oracle *oracle,
    void (*tell)(const char *what, const char *kind, void *userdata), void *userdata)
{
    static const char *const statuses[] = {"", "SUCCESS", "ERROR", "CANCELLED"};

    for (const struct oracle_run *run = oracle->runs; run != NULL; run = run->next) {
        /* In a later round: a retry took it again. */
        for (size_t i = 0; i < run->rounds_count; i++)
            if (run->rounds[i].key_freed)
                tell("key freed", run->rounds[i].round > 1 ? "again" : "once", userdata);
        for (size_t i = 0; i < run->rounds_count; i++)
            tell_cancelled(run, &run->rounds[i], tell, userdata);
        if (!run->workflow->flow)
            continue;
        for (size_t i = 0; i < run->rounds_count; i++)
            tell("flow round",
                run->rounds[i].rolled_back     ? "rolled_back"
                    : run->rounds[i].round > 1 ? "again"
                    : run->parent != NULL      ? "child"
                                               : statuses[run->rounds[i].status],
                userdata);
        /* Only the undos of steps inside of tasks have a slash in their names. */
        for (size_t i = 0; i < run->steps_count; i++)
            if (run->steps[i].state != ORACLE_ERROR)
                tell("flow undo", strchr(run->steps[i].name, '/') == NULL ? "task" : "step",
                    userdata);
        for (const struct oracle_run *task = run->tasks; task != NULL; task = task->next)
            for (size_t i = 0; i < task->steps_count; i++)
                if (task->steps[i].full_name != NULL)
                    tell("flow record", kind_of_record(task, &task->steps[i]), userdata);
    }
}
