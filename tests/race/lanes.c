/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits by key: many sessions claim runs of a few limit keys, in transactions of which some stay open for a while and some are rolled
 * back, and let them go in every way: completed, released, failed, asleep, left, lost. Producers trigger more in the meantime, in such
 * transactions, too. Each thread counts a run from the reply to its claim to the moment before it lets it go, so that a count above the
 * limit shows an accepted claim above the limit, however short. In the end every run has ended, and no row is left in any lane.
 */
#include "session.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    sessions = 16,
    producers = 2,
    keys = 12,
    limit = 3,
    batch_max = 8,
    runs_in_full = 100000
};

struct shared {
    struct race race;
    long wanted; /* runs of each producer */
    atomic_long triggered;
    atomic_int producing;
    atomic_int held[keys];
    atomic_int most[keys];
    atomic_long over;
    atomic_long claims;
    atomic_long claimed;
    atomic_long ended;
    atomic_long undone;
    atomic_long lost;
    atomic_long wrong;
};

struct part {
    struct shared *shared;
    unsigned number;
};

/* Triggers runs, one or a few in a transaction that may stay open or be rolled back. */
static void
produce(struct shared *shared, struct race_random *random)
{
    PGconn *conn = bench_connect();
    long made = 0;

    while (made < shared->wanted) {
        long count = 1 + race_below(random, 3);
        char sql[300];
        bool undo = race_below(random, 7) == 0;

        (void)snprintf(sql, sizeof(sql),
            "select count(*) from generate_series(1, %ld) i, lateral (select (random() * %d)::int "
            "%% %d as n) k,"
            " lateral pawl.trigger('race.lane', json_build_object('n', k.n, 'i', i), limit_key => "
            "'k' || "
            "k.n)",
            count, 1000, keys);
        bench_do(conn, "begin");
        PQclear(bench_exec(conn, sql));
        if (race_below(random, 4) == 0)
            race_stagger(random, 20000);
        bench_do(conn, undo ? "rollback" : "commit");
        if (!undo) {
            made += count;
            atomic_fetch_add(&shared->triggered, count);
        }
    }
    PQfinish(conn);
    atomic_fetch_sub(&shared->producing, 1);
}

/* Claims; null if the claim was rolled back. */
static PGresult *
claim(struct shared *shared, struct race_session *session, struct race_random *random)
{
    PGresult *claimed;
    bool undo;

    if (race_below(random, 2) == 0)
        return race_claim(session, 1 + (int)race_below(random, batch_max), 0);
    bench_do(session->conn, "begin");
    claimed = race_claim(session, 1 + (int)race_below(random, batch_max), 0);
    if (race_below(random, 8) == 0)
        race_stagger(random, 20000);
    undo = race_below(random, 8) == 0;
    bench_do(session->conn, undo ? "rollback" : "commit");
    if (!undo)
        return claimed;
    PQclear(claimed);
    atomic_fetch_add(&shared->undone, 1);
    return NULL;
}

static void
count(struct shared *shared, const PGresult *claimed)
{
    for (int i = 0; i < PQntuples(claimed); i++) {
        long key = race_field(claimed, i, RACE_N);
        int held = atomic_fetch_add(&shared->held[key], 1) + 1;
        int most = atomic_load(&shared->most[key]);

        while (held > most && !atomic_compare_exchange_weak(&shared->most[key], &most, held)) {
        }
        if (held > limit)
            atomic_fetch_add(&shared->over, 1);
    }
    atomic_fetch_add(&shared->claims, 1);
    atomic_fetch_add(&shared->claimed, PQntuples(claimed));
}

/* The session holds what it claimed and is gone: it leaves, or its lease ends. */
static void
desert(
    struct shared *shared, struct race_session *session, struct race_random *random, PGconn *direct)
{
    const char *params[] = {session->id};

    if (race_below(random, 2) == 0)
        PQclear(bench_exec_params(session->conn, "select pawl.leave($1)", 1, params));
    else
        PQclear(bench_exec_params(direct,
            "update pawl_data.worker set lease = '1 ms', lease_until = pawl.now() - interval '1 s' "
            "where "
            "session_id = $1",
            1, params));
    race_session_register(session, "race.lane", "1 h");
    atomic_fetch_add(&shared->lost, 1);
}

/* Lets go of all that was claimed. */
static void
finish(struct shared *shared, struct race_session *session, struct race_random *random,
    const PGresult *claimed)
{
    struct race_item items[2 * batch_max];
    int length = 0;

    for (int i = 0; i < PQntuples(claimed); i++) {
        const char *run = PQgetvalue(claimed, i, RACE_RUN);
        int fence = (int)race_field(claimed, i, RACE_FENCE);
        unsigned way = race_below(random, 20);

        if (way == 0) {
            race_item_set(&items[length++], run, fence, "release", NULL, NULL, NULL);
        } else if (way == 1) {
            race_item_set(&items[length++], run, fence, "fail", NULL, "{}", NULL);
        } else if (way == 2 && race_field(claimed, i, RACE_STEPS) == 0) {
            race_item_set(&items[length++], run, fence, "sleep", "nap#1", NULL, "{\"ms\": 1}");
            race_item_set(&items[length++], run, fence, "suspend", NULL, NULL, NULL);
        } else {
            race_item_set(&items[length++], run, fence, "complete", NULL, "1", NULL);
        }
        atomic_fetch_sub(&shared->held[race_field(claimed, i, RACE_N)], 1);
    }
    race_commit_all(session, items, length);
    for (int i = 0; i < length; i++) {
        if (strcmp(items[i].answer, "ok") != 0) {
            atomic_fetch_add(&shared->wrong, 1);
            race_note("%s answers %s: %s", items[i].kind, items[i].answer, items[i].reason);
        } else if (items[i].kind[0] == 'c') {
            atomic_fetch_add(&shared->ended, 1);
        }
    }
}

static void *
play(void *argument)
{
    struct part *part = argument;
    struct shared *shared = part->shared;
    struct race_random random = race_random(&shared->race, part->number);
    struct race_session session;
    PGconn *direct;
    double until = bench_limit_s(300);

    if (part->number < producers) {
        produce(shared, &random);
        return NULL;
    }
    direct = race_connect_direct();
    race_session_open(&session, "race.lane");
    while ((atomic_load(&shared->producing) > 0 ||
               atomic_load(&shared->ended) < atomic_load(&shared->triggered)) &&
        bench_now_s() < until) {
        PGresult *claimed = claim(shared, &session, &random);

        if (claimed == NULL)
            continue;
        count(shared, claimed);
        if (PQntuples(claimed) == 0) {
            bench_do(direct, "call pawl.tick()");
            race_breathe();
        } else if (race_below(&random, 100) == 0) {
            for (int i = 0; i < PQntuples(claimed); i++)
                atomic_fetch_sub(&shared->held[race_field(claimed, i, RACE_N)], 1);
            desert(shared, &session, &random, direct);
        } else {
            finish(shared, &session, &random, claimed);
        }
        PQclear(claimed);
    }
    race_session_close(&session);
    PQfinish(direct);
    return NULL;
}

int
main(int argc, char **argv)
{
    struct shared shared = {0};
    struct part parts[sessions + producers];
    struct race *race = &shared.race;
    PGconn *direct;
    long left;
    int full = 0;

    race_start(race, argc, argv);
    direct = race_connect_direct();
    bench_do(direct, "select pawl.create_workflow('race.lane', max_attempts => 1000, base => '0')");
    bench_do(direct, "select pawl.alter_workflow('race.lane', '{\"key_limit\": 3}')");
    /* A run that was lost five times would end, and no thread would count it. */
    bench_do(direct, "update pawl_data.setting set crash_max = 30000");
    shared.wanted = race_share(race, runs_in_full / producers / 5);
    atomic_store(&shared.producing, producers);
    for (unsigned i = 0; i < sessions + producers; i++)
        parts[i] = (struct part){.shared = &shared, .number = i};
    race_threads(sessions + producers, play, parts, sizeof(parts[0]));
    for (int i = 0; i < keys; i++)
        full += atomic_load(&shared.most[i]) == limit;
    race_note("%ld claims took %ld tasks of %ld runs, %ld claims rolled back, %ld sessions "
              "deserted, %d of %d keys were full",
        atomic_load(&shared.claims), atomic_load(&shared.claimed), atomic_load(&shared.triggered),
        atomic_load(&shared.undone), atomic_load(&shared.lost), full, keys);
    race_ok(race, atomic_load(&shared.over) == 0, "%ld claims above the limit",
        atomic_load(&shared.over));
    race_ok(race, atomic_load(&shared.wrong) == 0, "%ld unexpected answers",
        atomic_load(&shared.wrong));
    race_ok(race, atomic_load(&shared.ended) == atomic_load(&shared.triggered),
        "%ld of %ld runs have ended", atomic_load(&shared.ended), atomic_load(&shared.triggered));
    left = race_count(direct,
        "select (select count(*) from pawl_data.task) + (select count(*) from pawl_data.lane_task)"
        " + (select count(*) from pawl_data.lane_hold)");
    race_ok(race, left == 0, "%ld tasks, or rows of them in lanes, are left", left);
    PQfinish(direct);
    return race_end(race);
}
