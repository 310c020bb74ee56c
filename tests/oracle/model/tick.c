/* SPDX-License-Identifier: Apache-2.0 */
/* Housekeeping: timers that are due, sessions whose lease is over, time limits. It has no bounds here. */
#include "state.h"

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
    for (struct oracle_run *run = o->runs; run != NULL; run = run->next)
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
    const char *error = oracle_error(
        o, "crashed", oracle_keepf(o, "%d workers were lost while they held this run", crashes));

    if (run->rolling_back)
        return oracle_end_run(o, run, ORACLE_ERROR, NULL,
            oracle_keepf(o,
                "{\"code\": \"rollback_failed\", \"cause\": %s, \"error\": %s, \"status\": %d, "
                "\"not_undone\": %s}",
                run->ending_error == NULL ? "null" : run->ending_error, error, run->ending_status,
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
    int count = 0;

    for (struct oracle_run *run = o->runs; run != NULL; run = run->next)
        if (run->living && run->place == ORACLE_HELD && run->session == session->id &&
            !oracle_locked(o, run)) {
            count++;
            if (crashed && run->started)
                oracle_audit(o, run, "lease_lost", NULL);
            oracle_free_held(o, run, crashed, run->started);
        }
    return count;
}

static void
sweep(struct oracle *o)
{
    for (size_t i = 0; i < o->sessions_count; i++) {
        struct oracle_session *s = &o->sessions[i];
        bool old = s->id >> 32 != o->epoch;
        bool holds = false;

        if (s->ended != NULL || (!old && s->lease_until >= o->now) || oracle_session_locked(o, s))
            continue;
        /* A closed epoch is not the worker's fault. */
        (void)oracle_release_held(o, s, !old); /* whatever it was */
        for (struct oracle_run *run = o->runs; run != NULL; run = run->next)
            holds = holds || (run->living && run->place == ORACLE_HELD && run->session == s->id);
        if (!holds) {
            s->ended = old ? "epoch" : "lost";
            s->idle = false;
            s->running.run = NULL;
        }
    }
}

static const char *
end_by_limit(struct oracle *o, struct oracle_run *run, const int64_t *limit)
{
    if (limit == &run->cancel_at)
        return oracle_cancel_run(o, run, "pawl", "the parent was cancelled", false);
    if (limit == &run->grace_at)
        return oracle_end_or_roll_back(
            o, run, 3, cancelled_error(o, run), run->ending_rollback, false);
    if (run->ending)
        return "ok";
    return oracle_end_or_roll_back(o, run, ORACLE_ERROR,
        oracle_error(o, "timeout", "the run has reached its time limit"), true, false);
}

const char *
oracle_enforce_limit(struct oracle *o, struct oracle_run *run, int64_t *limit)
{
    const char *answer = end_by_limit(o, run, limit);

    if (strcmp(answer, "busy") != 0) {
        *limit = ORACLE_NONE;
        run->touched = true;
    }
    return answer;
}

/* A limit that was over when the round began. */
struct limit {
    struct oracle_run *run;
    int64_t *at;
    int64_t due_at;
};

static int
compare_due(const void *a, const void *b)
{
    const struct limit *x = a;
    const struct limit *y = b;

    return x->due_at < y->due_at ? -1 : x->due_at > y->due_at ? 1 : 0;
}

/* What is passed on by this round, a cancel of children, is the next one's. */
static void
enforce_limits(struct oracle *o)
{
    struct limit *list = NULL;
    size_t count = 0;

    for (struct oracle_run *run = o->runs; run != NULL; run = run->next) {
        int64_t *limits[] = {&run->timeout_at, &run->grace_at, &run->cancel_at};

        for (size_t i = 0; run->living && !oracle_locked(o, run) && i < 3; i++)
            if (*limits[i] != ORACLE_NONE && *limits[i] <= o->now) {
                struct limit *place = oracle_push(&list, &count, sizeof(*place));

                *place = (struct limit){run, limits[i], *limits[i]};
            }
    }
    if (count > 1)
        qsort(list, count, sizeof(*list), compare_due);
    for (size_t i = 0; i < count; i++)
        if (*list[i].at != ORACLE_NONE)
            (void)oracle_enforce_limit(o, list[i].run, list[i].at); /* busy: the next round's */
    free(list);
}

/* A worker stops a step at its limit; if it did not within five seconds more, the task is taken from it. */
static void
enforce_step_limits(struct oracle *o)
{
    for (size_t i = 0; i < o->sessions_count; i++) {
        const struct oracle_session *s = &o->sessions[i];
        const struct oracle_running *r = &s->running;
        struct oracle_run *run;

        if (s->ended != NULL || r->run == NULL || r->timeout_ms == ORACLE_NONE ||
            s->told_at + (r->timeout_ms - r->started_ms + 5000) * 1000 >= o->now)
            continue;
        run = oracle_find_living(o, r->run);
        if (run == NULL || run->place != ORACLE_HELD || run->session != s->id ||
            run->claimed_at > s->told_at)
            continue;
        oracle_audit(o, run, "step_timeout", NULL);
        oracle_free_held(o, run, true, true);
    }
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
    o->housekeeping_at = o->now + 100000;
    work(o);
}

const char *
oracle_housekeep(struct oracle *oracle)
{
    work(oracle);
    return "ok";
}
