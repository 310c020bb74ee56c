/* SPDX-License-Identifier: Apache-2.0 */
/* What housekeeping was observed to do: each is done if the rules allow it now, and else told why not. */
#include "state.h"

#include <string.h>

void
oracle_observe(struct oracle *oracle, int crash_max, int64_t grace_us)
{
    oracle->observing = true;
    oracle->crash_max = crash_max;
    oracle->grace_us = grace_us;
}

void
oracle_set_time(struct oracle *oracle, int64_t now_us)
{
    oracle->now = now_us;
}

const char *
oracle_promote(struct oracle *oracle, const char *run)
{
    struct oracle_run *found = oracle_find_living(oracle, run);

    if (found == NULL || found->place != ORACLE_WAITING)
        return "not allowed: the run does not wait";
    if (found->due_at > oracle->now)
        return "not allowed: its time has not come";
    oracle_make_due(oracle, found);
    return "ok";
}

const char *
oracle_time_out(struct oracle *oracle, const char *run, const char *wait)
{
    struct oracle_run *found = oracle_find_living(oracle, run);
    const struct oracle_wait *open = found == NULL ? NULL : oracle_find_wait(found, wait);

    if (open == NULL)
        return "not allowed: the run has no such wait";
    if (open->due_at > oracle->now)
        return "not allowed: the time of the wait is not over";
    if (found->place != ORACLE_READY && found->place != ORACLE_SUSPECT)
        return "not allowed: the run is not ready to be claimed";
    oracle_settle_due(oracle, found, (size_t)(open - found->waits));
    return "ok";
}

/* Why a session's runs may not be taken from it, or NULL. */
static const char *
still_acts(struct oracle *o, int64_t session)
{
    const struct oracle_session *s = oracle_find_session(o, session);

    if (s == NULL)
        return "not allowed: no such session";
    if (s->ended == NULL && s->id >> 32 == o->epoch && s->lease_until >= o->now)
        return "not allowed: the lease of its session is not over";
    return NULL;
}

const char *
oracle_take_back(struct oracle *oracle, int64_t session, const char *run, bool crashed)
{
    struct oracle_run *found = oracle_find_living(oracle, run);
    const char *problem = crashed ? still_acts(oracle, session) : NULL;

    if (found == NULL || found->place != ORACLE_HELD || found->session != session)
        return "not allowed: the session does not hold the run";
    if (problem != NULL)
        return problem;
    if (crashed && found->started)
        oracle_audit(oracle, found, "lease_lost", NULL);
    oracle_free_held(oracle, found, crashed, found->started);
    return "ok";
}

const char *
oracle_enforce(struct oracle *oracle, const char *run, const char *limit, bool busy)
{
    struct oracle_run *found = oracle_find_living(oracle, run);
    int64_t *at;

    if (found == NULL)
        return "not allowed: the run does not live";
    at = strcmp(limit, "cancel") == 0   ? &found->cancel_at
        : strcmp(limit, "grace") == 0   ? &found->grace_at
        : strcmp(limit, "expires") == 0 ? &found->expires_at
                                        : &found->timeout_at;
    if (*at == ORACLE_NONE)
        return "not allowed: the run has no such limit";
    if (*at > oracle->now)
        return "not allowed: the limit is not over";
    return busy ? oracle_defer_limit(oracle, found, at) : oracle_enforce_limit(oracle, found, at);
}

const char *
oracle_end_session(struct oracle *oracle, int64_t session, const char *why)
{
    struct oracle_session *s = oracle_find_session(oracle, session);
    const char *problem = strcmp(why, "lost") == 0 ? still_acts(oracle, session) : NULL;

    if (s == NULL || s->ended != NULL)
        return "not allowed: the session has ended";
    if (problem != NULL)
        return problem;
    for (const struct oracle_run *run = oracle->runs; run != NULL; run = run->next)
        if (run->living && run->place == ORACLE_HELD && run->session == session)
            return "not allowed: the session holds a run";
    s->ended = oracle_keep(oracle, why);
    s->idle = false;
    return "ok";
}
