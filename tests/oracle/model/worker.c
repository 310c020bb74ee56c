/* SPDX-License-Identifier: Apache-2.0 */
/* Worker sessions: register, heartbeat, rest, leave, drain, held, epoch. */
#include "state.h"

#include <inttypes.h>
#include <string.h>

const char *
oracle_session_problem(struct oracle *o, int64_t id)
{
    const struct oracle_session *s = oracle_find_session(o, id);

    if (s == NULL || s->ended != NULL)
        return "PW005";
    return id >> 32 == o->epoch ? NULL : "PW012";
}

bool
oracle_session_lives(struct oracle *oracle, int64_t session)
{
    return oracle_session_problem(oracle, session) == NULL;
}

uint64_t
oracle_queues_of(struct oracle *o, const struct oracle_session *session)
{
    uint64_t queues = 0;

    for (int i = 0; i < o->queues_count; i++) {
        const struct oracle_queue *q = &o->queues[i];
        const struct oracle_workflow *w = &o->workflows[q->workflow];

        if (w->runtime != NULL && !oracle_same(w->runtime, session->runtime))
            continue;
        for (const char *const *h = session->handles; *h != NULL; h++) {
            size_t length = strlen(*h);
            bool pattern = length > 0 && (*h)[length - 1] == '*';

            if (strcmp(*h, q->name) == 0 || (pattern && strncmp(*h, q->name, length - 1) == 0))
                queues |= (uint64_t)1 << i;
        }
    }
    return queues;
}

static int
count_bits(uint64_t bits)
{
    int count = 0;

    for (; bits != 0; bits &= bits - 1)
        count++;
    return count;
}

const char *
oracle_register(struct oracle *oracle, const struct oracle_register_spec *spec, int64_t made,
    struct pw_buf *reply)
{
    struct oracle_session *s;

    if (spec->protocol != 1)
        return "PW011";
    if (spec->name[0] == '\0' || spec->lease_us < 500000 || spec->lease_us > INT64_C(86400000000) ||
        spec->handles[0] == NULL)
        return "PW003";
    if (made >> 32 != oracle->epoch || oracle_find_session(oracle, made) != NULL)
        return "not allowed: the session number";
    s = oracle_push(&oracle->sessions, &oracle->sessions_count, sizeof(*s));
    s->id = made;
    s->name = oracle_keep(oracle, spec->name);
    s->handles = spec->handles;
    s->runtime = oracle_keep(oracle, spec->runtime);
    s->lease_us = spec->lease_us;
    s->lease_until = oracle->now + spec->lease_us;
    s->queues = oracle_queues_of(oracle, s);
    s->queues_seen = oracle->queues_version;
    s->next_limit_at = ORACLE_NEVER;
    pw_buf_addf(reply, "%" PRId64 " %d %d", made, oracle->epoch, count_bits(s->queues));
    return "ok";
}

static const char *
told(const struct oracle_run *run)
{
    return (run->ending && !run->rolling_back) || (run->task > 0 && run->whole->ending)
        ? "cancelled"
        : run->paused ? "paused"
                      : NULL;
}

/* Notes when the step that runs is over its limit. A limit that moves by at most a second stays as it was. */
static void
note_limit(struct oracle *oracle, struct oracle_session *s)
{
    int64_t limit = oracle_limit_of_step(oracle, s);

    if (limit == ORACLE_NEVER || s->next_limit_at == ORACLE_NEVER ||
        limit < s->next_limit_at - 1000000 || limit > s->next_limit_at + 1000000)
        s->next_limit_at = limit;
}

const char *
oracle_heartbeat(struct oracle *oracle, int64_t session, const struct oracle_running *running,
    struct pw_buf *reply)
{
    const char *problem =
        running != NULL && running->malformed ? "PW003" : oracle_session_problem(oracle, session);
    const char *answer = "nothing";
    struct oracle_session *s;

    if (problem != NULL)
        return problem;
    s = oracle_find_session(oracle, session);
    s->lease_until = oracle->now + s->lease_us;
    s->reported_at = oracle->now;
    s->queues = oracle_queues_of(oracle, s);
    s->queues_seen = oracle->queues_version;
    s->running = running == NULL ? (struct oracle_running){0} : *running;
    s->running.run = oracle_keep(oracle, s->running.run);
    note_limit(oracle, s);
    oracle_tick(oracle);
    pw_buf_addf(reply, "%d %" PRId64, oracle->epoch, s->lease_until);
    for (struct oracle_run *run = oracle->runs; run != NULL; run = oracle_next_task(run))
        if (run->living && run->place == ORACLE_HELD && run->session == session &&
            told(run) != NULL) {
            pw_buf_addf(reply, " %s/%d=%s", run->id, run->task, told(run));
            answer = told(run);
        }
    if (s->draining) {
        pw_buf_adds(reply, " drain");
        answer = "drain";
    }
    return answer;
}

const char *
oracle_rest(struct oracle *oracle, int64_t session, bool renew, bool has_work)
{
    const char *problem = oracle_session_problem(oracle, session);
    struct oracle_session *s;

    if (problem != NULL)
        return problem;
    s = oracle_find_session(oracle, session);
    s->idle = !s->draining;
    if (renew) {
        s->lease_until = oracle->now + s->lease_us;
        s->queues = oracle_queues_of(oracle, s);
        s->queues_seen = oracle->queues_version;
        if (!oracle_still_holds(oracle, s)) {
            s->reported_at = oracle->now;
            s->running = (struct oracle_running){0};
            s->next_limit_at = ORACLE_NEVER;
        }
    }
    /* Housekeeping is due and has nothing to do: the clock moves as if it were done. Whether a chore has something, only the engine knows. */
    if (!has_work && oracle->housekeeping_at <= oracle->now + 2000001)
        oracle->housekeeping_at = oracle->now + 2100001;
    return "ok";
}

const char *
oracle_leave(struct oracle *oracle, int64_t session, struct pw_buf *reply)
{
    const char *problem = oracle_session_problem(oracle, session);
    struct oracle_session *s;
    int given;

    if (problem != NULL)
        return problem;
    s = oracle_find_session(oracle, session);
    given = oracle_release_held(oracle, s, false);
    /* If something is locked, the session stays. */
    if (!oracle_still_holds(oracle, s)) {
        s->ended = "left";
        s->idle = false;
    }
    pw_buf_addf(reply, "%d", given);
    return given > 0 ? "gave back" : "ok";
}

const char *
oracle_drain_worker(struct oracle *oracle, int64_t session)
{
    struct oracle_session *s = oracle_find_session(oracle, session);

    if (s == NULL || s->ended != NULL)
        return "PW001";
    if (s->draining)
        return "already";
    s->draining = true;
    s->idle = false;
    return "ok";
}

const char *
oracle_held(struct oracle *oracle, int64_t session, struct pw_buf *reply)
{
    const char *problem = oracle_session_problem(oracle, session);
    const char *answer = "none";

    if (problem != NULL)
        return problem;
    for (struct oracle_run *run = oracle->runs; run != NULL; run = oracle_next_task(run))
        if (run->living && run->place == ORACLE_HELD && run->session == session) {
            pw_buf_addf(reply, "%s/%d %d %s %d %" PRId64 " %s\n", run->id, run->task, run->fence,
                oracle->queues[run->queue].name, run->attempt, run->claimed_at,
                told(run) == NULL ? "-" : told(run));
            answer = "some";
        }
    return answer;
}

const char *
oracle_raise_epoch(struct oracle *oracle, struct pw_buf *reply)
{
    pw_buf_addf(reply, "%d", ++oracle->epoch);
    return "ok";
}
