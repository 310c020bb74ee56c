/* SPDX-License-Identifier: Apache-2.0 */
/* Several calls at the same time: what one of them notices of the others, and which of them housekeeping may meet. */
#include "flow.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void
oracle_set_meanwhile(struct oracle *oracle, const struct oracle_meanwhile *meanwhile)
{
    oracle->meanwhile = meanwhile;
}

bool
oracle_is_held(const struct oracle *o, const char *id)
{
    const char *const *held = o->meanwhile == NULL ? NULL : o->meanwhile->held[o->moment];

    for (; held != NULL && *held != NULL; held++)
        if (strcmp(*held, id) == 0)
            return true;
    return false;
}

enum {
    NAME_SIZE = 56,
};

/* RUN, or RUN/TASK of a task of a flow. */
static void
write_row(const struct oracle_run *run, char name[NAME_SIZE])
{
    if (run->task > 0)
        (void)snprintf(name, NAME_SIZE, "%s/%d", run->id, run->task); /* they fit */
    else
        (void)snprintf(name, NAME_SIZE, "%s", run->id);
}

bool
oracle_row_is_held(const struct oracle *o, const struct oracle_run *run)
{
    char name[NAME_SIZE];

    if (o->meanwhile == NULL)
        return false;
    write_row(run, name);
    return oracle_is_held(o, name);
}

static void
write_session(const struct oracle_session *session, char id[24])
{
    (void)snprintf(id, 24, "%" PRId64, session->id); /* it fits */
}

bool
oracle_session_locked(const struct oracle *o, const struct oracle_session *session)
{
    char id[24];

    write_session(session, id);
    return oracle_is_held(o, id);
}

/* Whether a call that gives back what a session has sees something that is left. */
bool
oracle_still_holds(struct oracle *o, const struct oracle_session *session)
{
    for (struct oracle_run *run = o->runs; run != NULL; run = oracle_next_task(run))
        if (run->living && run->place == ORACLE_HELD && run->session == session->id)
            return true;
    return o->meanwhile != NULL &&
        oracle_is_held(o, oracle_keepf(o, ORACLE_STAYS "%" PRId64, session->id));
}

bool
oracle_tick_is_due(const struct oracle *oracle)
{
    return oracle->housekeeping_at <= oracle->now;
}

void
oracle_lose_tick(struct oracle *oracle)
{
    oracle->housekeeping_at = oracle->now + 100001;
}

static bool
is_over(const struct oracle *o, const struct oracle_session *s)
{
    return s->ended == NULL && (s->id >> 32 != o->epoch || s->lease_until < o->now);
}

bool
oracle_lease_is_over(struct oracle *oracle, int64_t session)
{
    const struct oracle_session *s = oracle_find_session(oracle, session);

    return s != NULL && is_over(oracle, s);
}

static bool
limit_is_over(const struct oracle *o, int64_t at)
{
    return at != ORACLE_NONE && at <= o->now;
}

/* For whoever asks about rows: each is told by its name, which lives as long as the oracle. */
struct teller {
    struct oracle *oracle;
    void (*tell)(const char *id, void *userdata);
    void *userdata;
};

static void
tell_row(const struct teller *t, const struct oracle_run *run)
{
    char name[NAME_SIZE];

    write_row(run, name);
    t->tell(run->task > 0 ? oracle_keep(t->oracle, name) : run->id, t->userdata);
}

static const struct oracle_run *
living_above(struct oracle *o, const struct oracle_run *run)
{
    const struct oracle_run *above = oracle_row_above(o, run);

    return above != NULL && above->living ? above : NULL;
}

/* It ended a moment ago: a call may have come to it when that was not committed yet. */
static bool
ended_now(const struct oracle *o, const struct oracle_run *run)
{
    const struct oracle_round *last = oracle_last_round(run->whole);

    return !run->living && last != NULL && last->ended_at == o->now;
}

void
oracle_each_above(struct oracle *oracle, const char *run,
    void (*tell)(const char *id, void *userdata), void *userdata)
{
    struct teller t = {oracle, tell, userdata};

    for (const struct oracle_run *at = oracle_find_run(oracle, run); at != NULL && at->living;
         at = living_above(oracle, at)) {
        const struct oracle_run *above = oracle_row_above(oracle, at);

        tell_row(&t, at);
        /* What it waited for is settled, and it goes on. */
        if (at->place != ORACLE_OPEN && strcmp(at->id, run) != 0)
            return;
        if (above != NULL && ended_now(oracle, above))
            tell_row(&t, above);
    }
}

void
oracle_each_part(struct oracle *oracle, const char *run,
    void (*tell)(const char *id, void *userdata), void *userdata)
{
    struct teller t = {oracle, tell, userdata};

    for (const struct oracle_run *at = oracle_find_run(oracle, run); at != NULL && at->living;
         at = living_above(oracle, at)) {
        for (const struct oracle_run *task = at->tasks; task != NULL; task = task->next)
            if (task->living)
                tell_row(&t, task);
        if (at->place != ORACLE_OPEN && strcmp(at->id, run) != 0)
            return;
    }
}

static const struct oracle_run *
root_of(struct oracle *o, const struct oracle_run *run)
{
    const struct oracle_run *parent;

    while (run->parent != NULL && (parent = oracle_find_run(o, run->parent)) != NULL)
        run = parent;
    return run;
}

/* The run of a row. */
static struct oracle_run *
run_of_row(struct oracle *o, const char *row)
{
    char id[NAME_SIZE];

    (void)snprintf(id, sizeof(id), "%.*s", (int)strcspn(row, "/"), row); /* an id */
    return oracle_find_run(o, id);
}

bool
oracle_is_of_family(struct oracle *oracle, const char *run, const char *row)
{
    const struct oracle_run *a = oracle_find_run(oracle, run), *b = run_of_row(oracle, row);

    return a != NULL && b != NULL && root_of(oracle, a) == root_of(oracle, b);
}

bool
oracle_is_above(struct oracle *oracle, const char *run, const char *row)
{
    const struct oracle_run *of = run_of_row(oracle, row), *first = oracle_find_run(oracle, run);
    char name[NAME_SIZE];

    if (first == NULL || of == NULL)
        return false;
    for (const struct oracle_run *at = first; at != NULL; at = living_above(oracle, at)) {
        write_row(at, name);
        /* Of a flow all rows. */
        if (at->whole == of && (at->task == 0 || strcmp(name, row) == 0))
            return true;
        if (at != first && at->place != ORACLE_OPEN)
            return false;
    }
    return false;
}

/* Whether housekeeping takes this row from its holder, and whether a run may end by that. */
static bool
is_lost(struct oracle *o, const struct oracle_run *run)
{
    const struct oracle_session *s = oracle_find_session(o, run->session);

    return run->living && run->place == ORACLE_HELD && s != NULL && is_over(o, s);
}

static bool
ends_lost(const struct oracle *o, const struct oracle_run *run)
{
    return run->task > 0 ? oracle_ends_lost(o, run, true, true)
                         : run->ending || run->crashes + 1 >= o->crash_max;
}

static bool
has_limit_over(const struct oracle *o, const struct oracle_run *run)
{
    return run->living && run->task == 0 &&
        (limit_is_over(o, run->timeout_at) || limit_is_over(o, run->grace_at) ||
            limit_is_over(o, run->cancel_at) || limit_is_over(o, run->expires_at));
}

struct due_teller {
    void (*tell)(const char *id, enum oracle_moment moment, void *userdata);
    void *userdata;
    enum oracle_moment moment;
};

static void
tell_due(const char *id, void *userdata)
{
    const struct due_teller *d = userdata;

    d->tell(id, d->moment, d->userdata);
}

/* Children of what the sweep may end. It writes a limit for each of them, which is enforced in the same round. */
static void
tell_orphans(struct oracle *oracle, const struct oracle_run *run, struct due_teller *d)
{
    d->moment = ORACLE_LIMITS;
    for (const struct oracle_run *child = oracle->runs; child != NULL; child = child->next)
        if (child->living && child->parent != NULL &&
            oracle_is_above(oracle, run->id, child->parent)) {
            oracle_each_above(oracle, child->id, tell_due, d);
            oracle_each_part(oracle, child->id, tell_due, d);
        }
}

void
oracle_each_due(struct oracle *oracle,
    void (*tell)(const char *id, enum oracle_moment moment, void *userdata), void *userdata)
{
    struct due_teller d = {tell, userdata, ORACLE_SWEEP};
    struct teller t = {oracle, tell_due, &d};

    for (size_t i = 0; i < oracle->sessions_count; i++)
        if (is_over(oracle, &oracle->sessions[i])) {
            char id[24];

            write_session(&oracle->sessions[i], id);
            tell_due(oracle_keep(oracle, id), &d);
        }
    for (struct oracle_run *run = oracle->runs; run != NULL; run = oracle_next_task(run)) {
        d.moment = ORACLE_SWEEP;
        if (is_lost(oracle, run) ||
            (run->living && run->place == ORACLE_WAITING && run->due_at <= oracle->now))
            tell_row(&t, run);
        d.moment = ORACLE_ENDS;
        if (is_lost(oracle, run) && ends_lost(oracle, run)) {
            oracle_each_above(oracle, run->id, tell_due, &d);
            oracle_each_part(oracle, run->id, tell_due, &d);
            tell_orphans(oracle, run, &d);
        }
        d.moment = ORACLE_LIMITS;
        if (has_limit_over(oracle, run)) {
            oracle_each_above(oracle, run->id, tell_due, &d);
            oracle_each_part(oracle, run->id, tell_due, &d);
        }
    }
}

void
oracle_each_held(struct oracle *oracle, int64_t session,
    void (*tell)(const char *row, void *userdata), void *userdata)
{
    struct teller t = {oracle, tell, userdata};

    for (struct oracle_run *run = oracle->runs; run != NULL; run = oracle_next_task(run))
        if (run->living &&
            (session == 0 ? (run->place == ORACLE_READY || run->place == ORACLE_SUSPECT) &&
                        !oracle_is_left_over(run)
                          : run->place == ORACLE_HELD && run->session == session))
            tell_row(&t, run);
}

void
oracle_each_ending(struct oracle *oracle, int64_t session,
    void (*tell)(const char *row, void *userdata), void *userdata)
{
    for (struct oracle_run *run = oracle->runs; run != NULL; run = oracle_next_task(run))
        if (run->living && run->place == ORACLE_HELD && run->session == session &&
            (run->whole->ending || run->parent_step != NULL)) {
            oracle_each_above(oracle, run->id, tell, userdata);
            oracle_each_part(oracle, run->id, tell, userdata);
        }
}

void
oracle_each_left_over(
    struct oracle *oracle, void (*tell)(const char *row, void *userdata), void *userdata)
{
    struct teller t = {oracle, tell, userdata};

    for (struct oracle_run *run = oracle->runs; run != NULL; run = oracle_next_task(run))
        if (run->living && oracle_is_left_over(run)) {
            tell_row(&t, run);
            oracle_each_above(oracle, run->id, tell, userdata);
            oracle_each_part(oracle, run->id, tell, userdata);
        }
}

void
oracle_look_progress(struct oracle *oracle, const char *run, struct oracle_progressed *progressed)
{
    const struct oracle_run *found = oracle_find_run(oracle, run);
    const struct oracle_round *last = found == NULL ? NULL : oracle_last_round(found);

    *progressed = (struct oracle_progressed){0};
    if (found == NULL)
        return;
    progressed->found = true;
    progressed->fence = found->living ? found->fence : last == NULL ? 0 : last->fence;
    progressed->rounds = (int)found->rounds_count;
    progressed->audits = (int)found->audits_count;
    for (const struct oracle_run *task = found; task != NULL;
         task = task == found ? found->tasks : task->next)
        for (size_t i = 0; i < task->steps_count; i++)
            progressed->records += task->steps[i].state != ORACLE_RUNNING;
}

bool
oracle_look_row(struct oracle *oracle, const char *row, int *round, int *fence)
{
    const struct oracle_run *run = run_of_row(oracle, row);
    char name[NAME_SIZE];

    for (; run != NULL; run = run->task == 0 ? run->tasks : run->next) {
        write_row(run, name);
        if (strcmp(name, row) == 0) {
            *round = run->round;
            *fence = run->fence;
            return run->living;
        }
    }
    return false;
}

void
oracle_each_task(struct oracle *oracle, const char *run,
    void (*tell)(const char *row, void *userdata), void *userdata)
{
    const struct oracle_run *found = oracle_find_run(oracle, run);
    struct teller t = {oracle, tell, userdata};

    for (const struct oracle_run *task = found == NULL ? NULL : found->tasks; task != NULL;
         task = task->next)
        if (task->was_task)
            tell_row(&t, task);
}
