/* SPDX-License-Identifier: Apache-2.0 */
/* How steps of a flow start, as a task, as one for each element, as a child run, or not at all; and how a run goes on. */
#include "flow.h"

#include "base/json_read.h"
#include "base/uuid.h"
#include "uuid_parts.h"

#include <string.h>

/* Steps by their numbers. */
struct steps {
    int list[ORACLE_STEPS_MAX + 1];
    int count;
};

bool
oracle_is_leaf(const struct oracle_workflow *flow, int step)
{
    for (int i = 0; i < flow->steps_count; i++)
        for (int k = 0; k < flow->steps[i].deps_count; k++)
            if (flow->steps[i].deps[k] == step)
                return false;
    return true;
}

/* What must be done before a step starts, or for step 0 before the run ends. */
static struct steps
needs_of(const struct oracle_workflow *flow, int step)
{
    struct steps needs = {.count = 0};

    if (step > 0) {
        needs.count = flow->steps[step - 1].deps_count;
        memcpy(needs.list, flow->steps[step - 1].deps, sizeof(flow->steps[0].deps));
        return needs;
    }
    for (int i = 1; i <= flow->steps_count; i++)
        if (oracle_is_leaf(flow, i))
            needs.list[needs.count++] = i;
    return needs;
}

static bool
is_among(const struct steps *steps, int step)
{
    for (int i = 0; i < steps->count; i++)
        if (steps->list[i] == step)
            return true;
    return false;
}

/* Made while its run is paused, a task is paused as well. */
static void
put_task(struct oracle *o, struct oracle_run *run, int number, const char *item, int64_t delay_us)
{
    struct oracle_run *task = oracle_task(run, number);
    const struct oracle_flow_step *step = oracle_step_of(run, number);
    bool delayed = delay_us > 0;

    task->living = task->was_task = task->touched = true;
    task->queue = step->queue;
    task->priority = step->spec.priority == -1 ? run->priority : step->spec.priority;
    task->round = run->round;
    /* No claim of an earlier round may have the same fence. */
    task->fence = (run->round - 1) * 1000000;
    task->attempt = task->crashes = 0;
    task->place = run->paused || delayed ? ORACLE_WAITING : ORACLE_READY;
    task->reason = run->paused ? "operator" : delayed ? "delay" : NULL;
    task->due_at = run->paused ? ORACLE_NEVER : delayed ? o->now + delay_us : o->now;
    task->session = 0;
    task->request = 0;
    task->started = task->ending = task->rolling_back = false;
    task->woken = run->paused && !delayed;
    task->started_at = task->claimed_at = ORACLE_NONE;
    task->paused = run->paused;
    task->paused_by = run->paused_by;
    task->paused_why = run->paused_why;
    task->paused_due = delayed ? o->now + delay_us : run->paused_due;
    task->paused_reason = delayed ? "delay" : run->paused_reason;
    task->waits_count = task->tries_count = 0;
    task->input = item;
}

/* The engine makes the id. */
static const char *
child_id(struct oracle *o, const struct oracle_run *run, int task, const char *step)
{
    const char *id =
        o->chooser == NULL ? NULL : o->chooser->child(o->chooser->userdata, run->id, task, step);
    struct pw_uuid parent, child;

    if (id == NULL || !pw_uuid_parse(id, &child) || !pw_uuid_parse(run->id, &parent) ||
        uuid_slot(&child) != uuid_slot(&parent) || !oracle_is_of_now(o, &child))
        return oracle_keepf(o, "not allowed: no child of %s/%d", run->id, task);
    return oracle_keep(o, id);
}

static void
start_child(struct oracle *o, struct oracle_run *run, const struct oracle_flow_step *step,
    int number, const char *input, int64_t delay_us)
{
    struct oracle_run *task = oracle_task(run, number), *child;
    struct oracle_workflow *w = &o->workflows[step->child];
    struct oracle_wait *wait = oracle_push(&task->waits, &task->waits_count, sizeof(*wait));

    wait->name = step->name;
    wait->kind = ORACLE_CHILD;
    wait->seq = step->no;
    wait->child = child_id(o, run, number, step->name);
    wait->created_at = o->now;
    wait->due_at = ORACLE_NEVER;
    run->touched = true;
    child = oracle_add_run(o,
        &(struct oracle_new_run){
            .workflow = w,
            .id = wait->child,
            .tenant = run->tenant,
            .limit_key = run->limit_key,
            .priority = step->spec.priority == -1 ? w->priority : step->spec.priority,
            .input = input,
            .delay_us = delay_us == 0 ? ORACLE_NONE : delay_us,
            .parent = run->id,
            .parent_step = step->name,
            .parent_task = number,
        });
    oracle_open_flow(o, child, delay_us == 0 ? ORACLE_NONE : delay_us);
}

static void
end_map(struct oracle *o, struct oracle_run *run, const struct oracle_flow_step *step)
{
    run->missing[step->no] = 0;
    oracle_record_task(o, run, step->no * ORACLE_STEP_SPAN,
        &(struct oracle_outcome){ORACLE_SUCCESS, NULL, NULL, 1, 0, ORACLE_NONE, NULL}, NULL);
}

static void
put(struct oracle *o, struct oracle_run *run, const struct oracle_flow_step *step, int number,
    const char *item, int64_t delay_us)
{
    int place = number % ORACLE_STEP_SPAN;

    if (step->child == -1)
        put_task(o, run, number, item, delay_us);
    else
        start_child(o, run, step, number,
            place == 0 ? oracle_step_input(o, run, step)
                       : oracle_keepf(o, "{\"run\": %s, \"item\": %s, \"index\": %d}", run->input,
                             item, place - 1),
            delay_us);
}

/* One task or child for each element that no earlier round has done. True: there is none. */
static bool
put_elements(struct oracle *o, struct oracle_run *run, const struct oracle_flow_step *step,
    const char *array, int64_t delay_us)
{
    struct pw_json_walk walk;
    struct pw_json key, value;
    const char *items[64];
    int count = 0, missing = 0;

    pw_json_walk(&walk, (struct pw_json){array, strlen(array)});
    while (count < 64 && pw_json_walk_next(&walk, &key, &value))
        items[count++] = oracle_keepf(o, "%.*s", (int)value.size, value.data);
    for (int i = 1; i <= count; i++)
        missing += oracle_task_record(run, step->no * ORACLE_STEP_SPAN + i) == NULL;
    if (missing == 0) {
        end_map(o, run, step);
        return true;
    }
    run->missing[step->no] = missing;
    for (int i = 1; i <= count; i++)
        /* A child that has nothing to do ends as it is started, and may fail the run. */
        if (run->living && !run->ending &&
            oracle_task_record(run, step->no * ORACLE_STEP_SPAN + i) == NULL)
            put(o, run, step, step->no * ORACLE_STEP_SPAN + i, items[i - 1], delay_us);
    return false;
}

/* Why a step is skipped together with one that it depends on, or NULL. */
static const char *
skipped_before(struct oracle *o, const struct oracle_run *run, const struct oracle_flow_step *step)
{
    const char *first = NULL;
    int first_no = 0;

    for (int i = 0; step->spreads && i < step->deps_count; i++) {
        const struct oracle_step *record =
            oracle_task_record(run, step->deps[i] * ORACLE_STEP_SPAN);

        if (record != NULL && record->state == ORACLE_SKIPPED &&
            strstr(record->error, "\"spreads\": true") != NULL &&
            (first == NULL || step->deps[i] < first_no)) {
            first = record->name;
            first_no = step->deps[i];
        }
    }
    return first == NULL ? NULL
                         : oracle_keepf(o,
                               "{\"code\": \"skipped\", \"message\": \"step %s was skipped\", "
                               "\"spreads\": true}",
                               first);
}

/* True: it is done already, because it was skipped or goes over nothing. */
static bool
start_step(
    struct oracle *o, struct oracle_run *run, const struct oracle_flow_step *step, int64_t delay_us)
{
    const char *skip, *error = NULL, *array = NULL;
    bool unmet;

    if (!run->living || run->ending)
        return false;
    skip = skipped_before(o, run, step);
    unmet = skip == NULL && step->spec.condition != NULL &&
        !oracle_matches(step->spec.condition, oracle_step_input(o, run, step));
    if (unmet && oracle_same(step->spec.unmet, "fail"))
        error = oracle_error(
            o, "condition", oracle_keepf(o, "the condition of step %s is not met", step->name));
    else if (unmet)
        skip = oracle_keepf(o,
            "{\"code\": \"skipped\", \"message\": \"its condition is not met\", \"spreads\": %s}",
            oracle_same(step->spec.unmet, "skip_all") ? "true" : "false");
    if (skip == NULL && error == NULL && step->map_from != -1)
        array = oracle_map_array(o, run, step, &error);
    if (error != NULL && !unmet && oracle_skips_failure(step)) {
        skip = oracle_skipped_failure(o, step, step->no * ORACLE_STEP_SPAN, error);
        error = NULL;
    }
    if (skip != NULL || error != NULL)
        oracle_record_task(o, run, step->no * ORACLE_STEP_SPAN,
            &(struct oracle_outcome){skip != NULL ? ORACLE_SKIPPED : ORACLE_ERROR, NULL,
                skip != NULL ? skip : error, 1, 0, ORACLE_NONE, NULL},
            NULL);
    if (error != NULL)
        oracle_begin_ending(o, run, ORACLE_ERROR, error, true, NULL);
    if (skip != NULL || error != NULL)
        return skip != NULL;
    delay_us = (delay_us == ORACLE_NONE ? 0 : delay_us) +
        (step->spec.delay_us == ORACLE_NONE ? 0 : step->spec.delay_us);
    if (array != NULL)
        return put_elements(o, run, step, array, delay_us);
    put(o, run, step, step->no * ORACLE_STEP_SPAN, NULL, delay_us);
    return false;
}

/* Nothing has to be decided when it starts. */
static bool
is_plain(const struct oracle_flow_step *step)
{
    return !step->spreads && step->map_from == -1 && step->spec.condition == NULL &&
        step->child == -1 && step->spec.delay_us == ORACLE_NONE;
}

/* Plain ones first, then one after another. Returns those that are done by it. */
static struct steps
start_steps(struct oracle *o, struct oracle_run *run, const struct steps *ready, int64_t delay_us)
{
    struct steps done = {.count = 0};

    for (int plain = 1; plain >= 0; plain--)
        for (int no = 1; no <= run->workflow->steps_count; no++) {
            const struct oracle_flow_step *step = &run->workflow->steps[no - 1];

            if (!is_among(ready, no) || is_plain(step) != plain)
                continue;
            if (plain)
                put_task(
                    o, run, no * ORACLE_STEP_SPAN, NULL, delay_us == ORACLE_NONE ? 0 : delay_us);
            else if (start_step(o, run, step, delay_us))
                done.list[done.count++] = no;
        }
    return done;
}

static void
end_flow(struct oracle *o, struct oracle_run *run)
{
    const struct oracle_step *first = oracle_task_record(run, ORACLE_STEP_SPAN);

    run->attempt = 1;
    run->started_at = first == NULL ? ORACLE_NONE : first->started_at;
    /* Whoever did this has the runs above as well. */
    (void)oracle_end_run(o, run, ORACLE_SUCCESS, oracle_flow_output(o, run), NULL, run->fence);
}

/* These steps have come: what waited for them alone starts, and so on. */
static void
advance(struct oracle *o, struct oracle_run *run, struct steps done)
{
    bool ends = false;

    while (done.count > 0 && run->living && !run->ending) {
        struct steps ready = {.count = 0};

        for (int no = 0; no <= run->workflow->steps_count; no++) {
            struct steps needs = needs_of(run->workflow, no);
            int came = 0;

            for (int i = 0; i < needs.count; i++)
                came += is_among(&done, needs.list[i]);
            if (came == 0)
                continue;
            run->missing[no] = (run->missing[no] == 0 ? needs.count : run->missing[no]) - came;
            if (run->missing[no] == 0)
                ready.list[ready.count++] = no;
        }
        run->touched = true;
        ends = ends || is_among(&ready, 0);
        done = start_steps(o, run, &ready, ORACLE_NONE);
    }
    if (ends && run->living)
        end_flow(o, run);
}

void
oracle_go_on(struct oracle *o, struct oracle_run *run, int task)
{
    struct steps done = {{task / ORACLE_STEP_SPAN}, 1};

    if (task % ORACLE_STEP_SPAN > 0) {
        if (--run->missing[done.list[0]] > 0)
            return;
        end_map(o, run, oracle_step_of(run, task));
    }
    advance(o, run, done);
}

void
oracle_open_flow(struct oracle *o, struct oracle_run *run, int64_t delay_us)
{
    struct steps roots = {.count = 0};

    if (!run->workflow->flow)
        return;
    run->workflow->frozen = true;
    for (int i = 1; i <= run->workflow->steps_count; i++)
        if (run->workflow->steps[i - 1].deps_count == 0)
            roots.list[roots.count++] = i;
    if (roots.count == 0)
        end_flow(o, run);
    else
        advance(o, run, start_steps(o, run, &roots, delay_us));
}

void
oracle_reopen_flow(struct oracle *o, struct oracle_run *run)
{
    struct steps ready = {.count = 0}, done = {.count = 0};

    memset(run->missing, 0, sizeof(run->missing));
    for (int no = 1; no <= run->workflow->steps_count; no++)
        if (oracle_task_record(run, no * ORACLE_STEP_SPAN) != NULL)
            done.list[done.count++] = no;
    for (int no = 0; no <= run->workflow->steps_count; no++) {
        struct steps needs = needs_of(run->workflow, no);
        int came = 0;

        if (no > 0 && is_among(&done, no))
            continue;
        for (int i = 0; i < needs.count; i++)
            came += is_among(&done, needs.list[i]);
        if (came == needs.count)
            ready.list[ready.count++] = no;
        else if (came > 0)
            run->missing[no] = needs.count - came;
    }
    if (is_among(&ready, 0))
        end_flow(o, run);
    else
        advance(o, run, start_steps(o, run, &ready, ORACLE_NONE));
}
