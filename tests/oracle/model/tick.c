/* SPDX-License-Identifier: Apache-2.0 */
/* Housekeeping: timers that are due, sessions whose lease is over, time limits. It has no bounds here. */
#include "flow.h"

#include <stdlib.h>
#include <string.h>

void
oracle_make_due(struct oracle *o, struct oracle_run *run)
{
    run->place = oracle_ready_place(run->crashes);
    run->due_at = o->now;
    run->reason = NULL;
    run->touched = true;
}

static void
promote(struct oracle *o)
{
    for (struct oracle_run *run = o->runs; run != NULL; run = oracle_next_task(run))
        if (run->living && run->place == ORACLE_WAITING && run->due_at <= o->now &&
            !oracle_locked(o, run))
            oracle_make_due(o, run);
}

static const char *
cancelled_error(struct oracle *o, const struct oracle_run *run)
{
    return oracle_error(o, "cancelled", run->ending_why == NULL ? "cancelled" : run->ending_why);
}

static const char *
crash_out(struct oracle *o, struct oracle_run *run, int crashes)
{
    const char *error = oracle_error(o, "crashed",
        oracle_keepf(o, "%d workers lost their lease while they held this run", crashes));

    if (run->rolling_back)
        return oracle_end_run(o, run, ORACLE_ERROR, NULL,
            oracle_keepf(o,
                "{\"code\": \"rollback_failed\", \"cause\": %s, \"error\": %s, \"status\": \"%s\", "
                "\"not_undone\": %s}",
                run->ending_error == NULL ? "null" : run->ending_error, error,
                run->ending_status == ORACLE_ERROR ? "ERROR" : "CANCELLED",
                oracle_undone(o, run, NULL)),
            run->fence + 1);
    run->crashes = 0;
    return oracle_end_or_roll_back(o, run, ORACLE_ERROR, error, true, false);
}

/* Ready again under a raised fence. */
static void
make_free(struct oracle *o, struct oracle_run *run, bool crashed, int crashes)
{
    run->fence++;
    run->session = 0;
    run->request = 0;
    run->crashes = crashes;
    if (!crashed && run->started)
        run->attempt--;
    run->started = false;
    run->woken = run->paused;
    run->place = run->paused ? ORACLE_WAITING : oracle_ready_place(crashes);
    run->due_at = run->paused ? ORACLE_NEVER : o->now;
    run->reason = run->paused ? "operator" : NULL;
    run->touched = true;
}

void
oracle_free_held(struct oracle *o, struct oracle_run *run, bool crashed, bool started)
{
    int crashes = run->crashes + (crashed && started ? 1 : 0);

    if (run->task > 0) {
        if (!oracle_end_lost_task(o, run, crashed, started))
            make_free(o, run, crashed, crashes);
        return;
    }
    if (run->ending && !run->rolling_back) {
        if (strcmp(oracle_end_or_roll_back(
                       o, run, 3, cancelled_error(o, run), run->ending_rollback, false),
                "busy") == 0) {
            /* Its parent is locked. Nobody may start it again; the end of its grace ends it. */
            run->fence++;
            run->place = ORACLE_WAITING;
            run->due_at = ORACLE_NEVER;
            run->session = 0;
            run->request = 0;
            run->started = false;
            run->touched = true;
        }
        return;
    }
    if (crashes > run->crashes && crashes >= o->crash_max &&
        strcmp(crash_out(o, run, crashes), "ok") == 0)
        return;
    make_free(o, run, crashed, crashes);
}

int
oracle_release_held(struct oracle *o, struct oracle_session *session, bool crashed)
{
    enum oracle_moment moment = o->moment;
    int count = 0;

    for (struct oracle_run *run = o->runs; run != NULL; run = oracle_next_task(run))
        if (run->living && run->place == ORACLE_HELD && run->session == session->id &&
            !oracle_locked(o, run)) {
            count++;
            o->moment = moment == ORACLE_SWEEP ? ORACLE_ENDS : moment;
            /* The whole run is needed then; it is left to the next sweep, and its holder may go on. */
            if (!oracle_ends_lost(o, run, crashed, run->started) ||
                !oracle_flow_is_locked(o, run->whole)) {
                if (crashed && run->started)
                    oracle_audit(o, run, "lease_lost", NULL);
                oracle_free_held(o, run, crashed, run->started);
            }
            o->moment = moment;
        }
    return count;
}

static void
sweep_session(struct oracle *o, struct oracle_session *s)
{
    bool old = s->id >> 32 != o->epoch;

    if (s->ended != NULL || (!old && s->lease_until >= o->now) || oracle_session_locked(o, s))
        return;
    /* A closed epoch is not the worker's fault. */
    (void)oracle_release_held(o, s, !old); /* whatever it was */
    if (oracle_still_holds(o, s))
        return;
    s->ended = old ? "epoch" : "lost";
    s->idle = false;
    s->running.run = NULL;
}

int
oracle_count_over(struct oracle *oracle)
{
    int count = 0;

    for (size_t i = 0; i < oracle->sessions_count; i++) {
        const struct oracle_session *s = &oracle->sessions[i];

        count += s->ended == NULL && (s->id >> 32 != oracle->epoch || s->lease_until < oracle->now);
    }
    return count;
}

/* In any order, and that makes a difference to a flow that several of them have tasks of: those that are told come first. */
static void
sweep(struct oracle *o)
{
    bool asks = o->chooser != NULL && oracle_count_over(o) > 1;
    int64_t id;

    for (int n = 0; asks && (id = o->chooser->swept(o->chooser->userdata, n)) != 0; n++) {
        struct oracle_session *s = oracle_find_session(o, id);

        if (s != NULL)
            sweep_session(o, s);
    }
    for (size_t i = 0; i < o->sessions_count; i++)
        sweep_session(o, &o->sessions[i]);
}

/* Whether a worker has claimed it, or a task of its flow; a flow may also have gone on without that. */
bool
oracle_was_claimed(const struct oracle_run *run)
{
    if (run->place != ORACLE_OPEN)
        return run->claimed_at != ORACLE_NONE;
    for (const struct oracle_run *task = run->tasks; task != NULL; task = task->next) {
        if ((task->living && task->claimed_at != ORACLE_NONE) || task->steps_count > 0)
            return true;
        for (size_t i = 0; i < task->waits_count; i++)
            if (task->waits[i].kind == ORACLE_CHILD)
                return true;
    }
    return run->steps_count > 0;
}

/* A claim must not start this task of it. */
bool
oracle_has_expired(const struct oracle *o, const struct oracle_run *task)
{
    const struct oracle_run *run = task->whole;

    return task->living && run->expires_at != ORACLE_NONE &&
        (run->expires_at <= o->now || run->expires_put_off) && !run->ending &&
        !oracle_was_claimed(run);
}

int
oracle_count_expired(struct oracle *oracle)
{
    int count = 0;

    for (struct oracle_run *run = oracle->runs; run != NULL; run = run->next)
        count += oracle_has_expired(oracle, run);
    return count;
}

static const char *
expire(struct oracle *o, struct oracle_run *run)
{
    const char *error = oracle_error(o, "expired", "no worker claimed the run in time");

    if (run->ending || oracle_was_claimed(run))
        return "ok";
    if (run->place == ORACLE_OPEN)
        return oracle_force_end(o, run, 3, error, false);
    return oracle_end_run(o, run, 3, NULL, error, run->fence + 1);
}

void
oracle_expire(struct oracle *o, struct oracle_run *run)
{
    (void)expire(o, run); /* busy: it stays */
}

static const char *
end_by_limit(struct oracle *o, struct oracle_run *run, const int64_t *limit)
{
    const char *timeout = oracle_error(o, "timeout", "the run has reached its time limit");

    if (limit == &run->cancel_at)
        return oracle_cancel_run(o, run, "pawl",
            run->cancel_why != NULL ? run->cancel_why : "the parent was cancelled", false);
    if (limit == &run->expires_at)
        return expire(o, run);
    if (limit == &run->grace_at && run->place == ORACLE_OPEN)
        return oracle_force_end(
            o, run, run->ending_status, run->ending_error, run->ending_rollback);
    if (limit == &run->grace_at)
        return oracle_end_or_roll_back(
            o, run, 3, cancelled_error(o, run), run->ending_rollback, false);
    if (run->ending)
        return "ok";
    if (run->place == ORACLE_OPEN)
        return oracle_force_end(o, run, ORACLE_ERROR, timeout, true);
    return oracle_end_or_roll_back(o, run, ORACLE_ERROR, timeout, true, false);
}

/* What cannot be ended now goes behind the others. */
const char *
oracle_defer_limit(struct oracle *o, struct oracle_run *run, int64_t *limit)
{
    *limit = o->now + 1000000;
    run->expires_put_off = run->expires_put_off || limit == &run->expires_at;
    run->touched = true;
    return "busy";
}

const char *
oracle_enforce_limit(struct oracle *o, struct oracle_run *run, int64_t *limit)
{
    const char *answer = end_by_limit(o, run, limit);

    if (strcmp(answer, "busy") == 0)
        return oracle_defer_limit(o, run, limit);
    *limit = ORACLE_NONE;
    run->touched = true;
    return answer;
}

/* A limit that was over when the round began. */
struct limit {
    struct oracle_run *run;
    int64_t *at;
    int64_t due_at;
};

/* Both are over since the same moment, the one is a flow and the other a child of it: the child came first if its end is recorded. */
static bool
child_came_first(struct oracle *o, const struct oracle_run *child, const struct oracle_run *flow)
{
    return o->chooser->records(
        o->chooser->userdata, flow->id, child->parent_task, child->parent_step, flow->round);
}

static bool
is_child(const struct oracle_run *run, const struct oracle_run *of)
{
    return oracle_same(run->parent, of->id) && run->parent_step != NULL && of->place == ORACLE_OPEN;
}

/* The earlier first. Of those of the same moment the engine chooses, and only between a flow and its child it can be told. */
static bool
comes_before(struct oracle *o, const struct limit *x, const struct limit *y)
{
    if (x->due_at != y->due_at)
        return x->due_at < y->due_at;
    if (o->chooser != NULL && is_child(x->run, y->run))
        return child_came_first(o, x->run, y->run);
    if (o->chooser != NULL && is_child(y->run, x->run))
        return !child_came_first(o, y->run, x->run);
    return false;
}

/* The first limit that no other comes before: between neighbours alone a flow and its child need not meet. */
static size_t
first_limit(struct oracle *o, const struct limit *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;

        while (k < count && !comes_before(o, &list[k], &list[i]))
            k++;
        if (k == count)
            return i;
    }
    return 0;
}

/* What is passed on by this round, a cancel of children, is the next one's. */
static void
enforce_limits(struct oracle *o)
{
    struct limit *list = NULL;
    size_t count = 0;

    for (struct oracle_run *run = o->runs; run != NULL; run = run->next) {
        int64_t *limits[] = {&run->timeout_at, &run->grace_at, &run->cancel_at, &run->expires_at};

        for (size_t i = 0; run->living && !oracle_locked(o, run) && i < 4; i++)
            if (*limits[i] != ORACLE_NONE && *limits[i] <= o->now) {
                struct limit *place = oracle_push(&list, &count, sizeof(*place));

                *place = (struct limit){run, limits[i], *limits[i]};
            }
    }
    while (count > 0) {
        size_t at = first_limit(o, list, count);
        struct limit first = list[at];

        oracle_drop(list, &count, sizeof(first), at);
        if (*first.at != ORACLE_NONE)
            (void)oracle_enforce_limit(o, first.run, first.at); /* busy: the next round's */
    }
    free(list);
}

/* The task that a session said to execute a step of, if it held it then and holds it now. Others may have it locked: a heartbeat only reads. */
static struct oracle_run *
find_reported(struct oracle *o, const struct oracle_session *s)
{
    struct oracle_run *run = s->running.run == NULL ? NULL : oracle_find_run(o, s->running.run);

    run = run == NULL ? NULL : oracle_find_task(run, s->running.task);
    return run != NULL && run->living && run->place == ORACLE_HELD && run->session == s->id &&
            run->claimed_at <= s->reported_at
        ? run
        : NULL;
}

int64_t
oracle_limit_of_step(struct oracle *o, const struct oracle_session *s)
{
    const struct oracle_running *r = &s->running;

    return r->timeout_ms == ORACLE_NONE || find_reported(o, s) == NULL
        ? ORACLE_NEVER
        : s->reported_at + (r->timeout_ms - r->started_ms + 5000) * 1000;
}

static void
enforce_step_limit(struct oracle *o, const struct oracle_session *s)
{
    struct oracle_run *run = find_reported(o, s);

    if (run == NULL || oracle_locked(o, run))
        return;
    if (oracle_ends_lost(o, run, true, true) && oracle_flow_is_locked(o, run->whole))
        return;
    oracle_audit(o, run, "step_timeout", NULL);
    oracle_free_held(o, run, true, true);
}

static int
compare_running(const void *a, const void *b)
{
    const struct oracle_running *x = &(*(struct oracle_session *const *)a)->running;
    const struct oracle_running *y = &(*(struct oracle_session *const *)b)->running;
    int order = strcmp(x->run, y->run);

    return order != 0 ? order : x->task - y->task;
}

/* A worker stops a step at its limit; if it did not within five seconds more, the task is taken from it. In the order of tasks. */
static void
enforce_step_limits(struct oracle *o)
{
    struct oracle_session **hung = NULL;
    size_t count = 0;

    for (size_t i = 0; i < o->sessions_count; i++) {
        struct oracle_session *s = &o->sessions[i];

        if (s->ended == NULL && s->next_limit_at < o->now && oracle_limit_of_step(o, s) < o->now)
            *(struct oracle_session **)oracle_push(&hung, &count, sizeof(*hung)) = s;
    }
    if (count > 1)
        qsort(hung, count, sizeof(*hung), compare_running);
    for (size_t i = 0; i < count; i++)
        enforce_step_limit(o, hung[i]);
    free(hung);
}

static void
work(struct oracle *o)
{
    o->moment = ORACLE_SWEEP;
    promote(o);
    sweep(o);
    o->moment = ORACLE_LIMITS;
    enforce_limits(o);
    enforce_step_limits(o);
    o->moment = ORACLE_OWN;
}

void
oracle_tick(struct oracle *o)
{
    if (o->observing || o->housekeeping_at > o->now ||
        (o->meanwhile != NULL && o->meanwhile->other_tick))
        return;
    o->housekeeping_at = o->now + 100001;
    work(o);
}

/* Claims do nothing of it until it is late by two seconds. */
const char *
oracle_force_tick(struct oracle *oracle)
{
    oracle->housekeeping_at = oracle->now + 2100001;
    work(oracle);
    oracle_fire(oracle);
    oracle_start_runs(oracle);
    oracle_go_on_with_bulks(oracle);
    return "ok";
}

const char *
oracle_housekeep(struct oracle *oracle)
{
    work(oracle);
    oracle_fire(oracle);
    oracle_start_runs(oracle);
    oracle_go_on_with_bulks(oracle);
    return "ok";
}
