/* SPDX-License-Identifier: Apache-2.0 */
/* Several calls at the same time: what one of them notices of the others, and which of them housekeeping may meet. */
#include "state.h"

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

bool
oracle_tick_is_due(const struct oracle *oracle)
{
    return oracle->housekeeping_at <= oracle->now;
}

void
oracle_lose_tick(struct oracle *oracle)
{
    oracle->housekeeping_at = oracle->now + 100000;
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

static bool
is_due(struct oracle *o, const struct oracle_run *run)
{
    const struct oracle_session *s = oracle_find_session(o, run->session);

    return run->living &&
        ((run->place == ORACLE_WAITING && run->due_at <= o->now) ||
            (run->place == ORACLE_HELD && s != NULL && (is_over(o, s) || s->running.run != NULL)) ||
            limit_is_over(o, run->timeout_at) || limit_is_over(o, run->grace_at) ||
            limit_is_over(o, run->cancel_at));
}

void
oracle_each_due(struct oracle *oracle, void (*tell)(const char *id, void *userdata), void *userdata)
{
    for (const struct oracle_run *run = oracle->runs; run != NULL; run = run->next)
        if (is_due(oracle, run)) {
            const char *parent = oracle_parent_of(oracle, run->id);

            tell(run->id, userdata);
            if (parent != NULL)
                tell(parent, userdata);
        }
    for (size_t i = 0; i < oracle->sessions_count; i++)
        if (is_over(oracle, &oracle->sessions[i])) {
            char id[24];

            write_session(&oracle->sessions[i], id);
            tell(oracle_keep(oracle, id), userdata);
        }
}

void
oracle_each_held(struct oracle *oracle, int64_t session,
    void (*tell)(const char *run, void *userdata), void *userdata)
{
    for (const struct oracle_run *run = oracle->runs; run != NULL; run = run->next)
        if (run->living &&
            (session == 0 ? run->place == ORACLE_READY || run->place == ORACLE_SUSPECT
                          : run->place == ORACLE_HELD && run->session == session))
            tell(run->id, userdata);
}

void
oracle_look_progress(struct oracle *oracle, const char *run, struct oracle_progressed *progressed)
{
    const struct oracle_run *found = oracle_find_run(oracle, run);
    const struct oracle_round *last = found == NULL ? NULL : oracle_last_round(found);

    *progressed = (struct oracle_progressed){0};
    if (found == NULL)
        return;
    progressed->fence = found->living ? found->fence : last == NULL ? 0 : last->fence;
    progressed->rounds = (int)found->rounds_count;
    progressed->audits = (int)found->audits_count;
}

const char *
oracle_parent_of(struct oracle *oracle, const char *run)
{
    const struct oracle_run *found = oracle_find_run(oracle, run);

    return found == NULL || !found->living || found->parent_step == NULL ? NULL : found->parent;
}
