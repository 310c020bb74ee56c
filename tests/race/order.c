/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Order by key: sixteen sessions claim runs of many limit keys, one at a time of each, with limit_while run. Runs sleep, fail and are
 * repeated, are released, and lose their worker, and claims are rolled back. No run of a key may be claimed before the one before it has
 * ended. The full size is 1,000 keys of 100 runs.
 */
#include "session.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    sessions = 16,
    keys_max = 1000,
    keys_in_full = 1000,
    runs_in_full = 100,
    batch_max = 8,
    /* The n of an input: a key times this, and the number of the run in its key. */
    step = 100000
};

struct shared {
    struct race race;
    long keys;
    long runs;
    atomic_long done[keys_max]; /* runs of a key that have ended */
    atomic_long ended;
    atomic_long inversions;
    atomic_long claims;
    atomic_long undone;
    atomic_long lost;
    atomic_long slept;
    atomic_long failed;
    atomic_long wrong;
};

struct part {
    struct shared *shared;
    unsigned number;
};

static PGresult *
claim(struct shared *shared, struct race_session *session, struct race_random *random)
{
    PGresult *claimed;
    bool undo;

    if (race_below(random, 4) > 0)
        return race_claim(session, 1 + (int)race_below(random, batch_max), 0);
    bench_do(session->conn, "begin");
    claimed = race_claim(session, 1 + (int)race_below(random, batch_max), 0);
    if (race_below(random, 8) == 0)
        race_stagger(random, 10000);
    undo = race_below(random, 8) == 0;
    bench_do(session->conn, undo ? "rollback" : "commit");
    if (!undo)
        return claimed;
    PQclear(claimed);
    atomic_fetch_add(&shared->undone, 1);
    return NULL;
}

/* Each run that was claimed must be the first of its key that has not ended. */
static void
compare(struct shared *shared, const PGresult *claimed)
{
    for (int i = 0; i < PQntuples(claimed); i++) {
        long n = race_field(claimed, i, RACE_N);

        if (n % step != atomic_load(&shared->done[n / step])) {
            if (atomic_fetch_add(&shared->inversions, 1) < 5)
                race_note("key %ld: run %ld is claimed when %ld runs have ended", n / step,
                    n % step, atomic_load(&shared->done[n / step]));
        }
    }
    atomic_fetch_add(&shared->claims, 1);
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
            "where session_id = $1",
            1, params));
    race_session_register(session, "race.order", "1 h");
    atomic_fetch_add(&shared->lost, 1);
}

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
            atomic_fetch_add(&shared->failed, 1);
        } else if (way < 5 && race_field(claimed, i, RACE_STEPS) == 0) {
            race_item_set(&items[length++], run, fence, "sleep", "nap#1", NULL, "{\"ms\": 1}");
            race_item_set(&items[length++], run, fence, "suspend", NULL, NULL, NULL);
            atomic_fetch_add(&shared->slept, 1);
        } else {
            /* Before the call: the next run may be claimed before its reply is here. */
            atomic_fetch_add(&shared->done[race_field(claimed, i, RACE_N) / step], 1);
            race_item_set(&items[length++], run, fence, "complete", NULL, "1", NULL);
        }
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
    PGconn *direct = race_connect_direct();
    double until = 0;
    long ended, seen = -1;

    race_session_open(&session, "race.order");
    while ((ended = atomic_load(&shared->ended)) < shared->keys * shared->runs) {
        PGresult *claimed;

        /* However long it takes: the limit is for runs of which none ends any more. */
        if (ended != seen)
            until = bench_limit_s(120);
        else if (bench_now_s() > until)
            break;
        seen = ended;
        claimed = claim(shared, &session, &random);
        if (claimed == NULL)
            continue;
        compare(shared, claimed);
        if (PQntuples(claimed) == 0) {
            bench_do(direct, "call pawl.tick()");
            race_breathe();
        } else if (race_below(&random, 50) == 0) {
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
    struct part parts[sessions];
    struct race *race = &shared.race;
    PGconn *direct;
    char sql[400];
    long left;

    race_start(race, argc, argv);
    direct = race_connect_direct();
    bench_do(
        direct, "select pawl.create_workflow('race.order', max_attempts => 1000, base => '0')");
    bench_do(direct,
        "select pawl.alter_workflow('race.order', '{\"key_limit\": 1, \"limit_while\": \"run\"}')");
    /* A run that was lost five times would end, and no thread would count it. */
    bench_do(direct, "update pawl_data.setting set crash_max = 30000");
    shared.keys = race_share(race, keys_in_full);
    shared.keys = shared.keys > keys_max ? keys_max : shared.keys;
    shared.runs = shared.keys < keys_max ? runs_in_full / 10 : runs_in_full;
    (void)snprintf(sql, sizeof(sql),
        "select count(*) from generate_series(0, %ld) k, generate_series(0, %ld) i, lateral "
        "pawl.trigger('race.order', json_build_object('n', k * %d + i), limit_key => 'k' || k)",
        shared.keys - 1, shared.runs - 1, step);
    bench_do(direct, sql);
    for (unsigned i = 0; i < sessions; i++)
        parts[i] = (struct part){.shared = &shared, .number = i};
    race_threads(sessions, play, parts, sizeof(parts[0]));
    race_note("%ld keys of %ld runs: %ld claims, %ld rolled back, %ld sessions deserted, %ld runs "
              "slept, %ld failed",
        shared.keys, shared.runs, atomic_load(&shared.claims), atomic_load(&shared.undone),
        atomic_load(&shared.lost), atomic_load(&shared.slept), atomic_load(&shared.failed));
    race_ok(race, atomic_load(&shared.inversions) == 0, "%ld inversions",
        atomic_load(&shared.inversions));
    race_ok(race, atomic_load(&shared.wrong) == 0, "%ld unexpected answers",
        atomic_load(&shared.wrong));
    race_ok(race, atomic_load(&shared.ended) == shared.keys * shared.runs, "%ld of %ld runs ended",
        atomic_load(&shared.ended), shared.keys * shared.runs);
    left = race_count(direct,
        "select (select count(*) from pawl_data.task) + (select count(*) from pawl_data.lane_task)"
        " + (select count(*) from pawl_data.lane_hold)");
    race_ok(race, left == 0, "%ld tasks, or rows of them in lanes, are left", left);
    PQfinish(direct);
    return race_end(race);
}
