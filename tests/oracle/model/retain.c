/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Retention: ended runs go a time after their end, events a time after they were emitted. History goes by whole days of
 * ids, so a run that ended within a day of its trigger may stay for up to two days longer; one that lived longer is kept
 * apart, and its own end counts.
 */
#include "state.h"

static int64_t
day_of(int64_t at_us)
{
    return at_us / ORACLE_DAY_US;
}

static bool
has_ended_since(const struct oracle_run *run, int64_t since)
{
    for (size_t i = 0; i < run->rounds_count; i++)
        if (run->rounds[i].ended_at >= since)
            return true;
    return false;
}

static void
forget_events(struct oracle *o)
{
    for (size_t i = 0; i < o->events_count;)
        if (day_of(o->events[i].emitted_at) < day_of(o->now - ORACLE_EVENT_RETENTION_US))
            oracle_drop(o->events, &o->events_count, sizeof(*o->events), i);
        else
            i++;
}

/* A key whose time is over, or that holds with its run and whose run is not retained. */
static bool
stands_for_nothing(struct oracle *o, const struct oracle_key *key)
{
    if (key->expires_at != ORACLE_NONE)
        return key->expires_at <= o->now;
    for (const struct oracle_run *run = o->runs; run != NULL; run = run->next)
        if (oracle_same(run->id, key->run))
            return run->gone;
    return true;
}

const char *
oracle_retain(struct oracle *oracle, int64_t by_us, struct pw_buf *reply)
{
    int kept = 0, gone = 0;
    int64_t last_day;

    oracle_advance(oracle, by_us);
    last_day = day_of(oracle->now - ORACLE_RETENTION_US - ORACLE_DAY_US);
    for (struct oracle_run *run = oracle->runs; run != NULL; run = run->next) {
        bool over = run->kept ? !has_ended_since(run, oracle->now - ORACLE_RETENTION_US)
                              : day_of(run->triggered_at) < last_day;

        if (run->gone)
            continue;
        if (!run->living && over) {
            run->gone = true;
            gone++;
        } else if (run->living && over && !run->kept) {
            run->kept = run->touched = true;
            kept++;
        }
    }
    forget_events(oracle);
    for (size_t i = 0; i < oracle->keys_count;)
        if (stands_for_nothing(oracle, &oracle->keys[i]))
            oracle_drop(oracle->keys, &oracle->keys_count, sizeof(*oracle->keys), i);
        else
            i++;
    pw_buf_addf(reply, "kept %d gone %d", kept, gone);
    return kept > 0 ? "kept" : gone > 0 ? "gone" : "nothing";
}
