/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claim against claim: many sessions claim batches of varying size from two queues, with the planner's switches set at
 * random, and repeat requests as if the reply had been lost. Nobody gets more than it asked for, no task has two holders,
 * and every task is claimed.
 */
#include "session.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    sessions = 32,
    batch_max = 64,
    claims_in_full = 200000,
    /* At most so many wait at a time: with bad plans a claim looks at all of them. */
    part_max = 5000
};

struct shared {
    struct race race;
    long runs;
    atomic_int *holders;
    atomic_long claims;
    atomic_long claimed;
    atomic_long given_back;
    atomic_long repeats;
    atomic_long ended;
    atomic_long too_many;
    atomic_long two_holders;
    atomic_long other_set;
    atomic_long wrong;
    atomic_long busy;
};

struct part {
    struct shared *shared;
    unsigned number;
};

/* Claims with some of the planner's switches off. */
static PGresult *
claim(struct race_session *session, struct race_random *random, int most, int request)
{
    static const char *const switches[] = {"enable_seqscan", "enable_indexscan",
        "enable_bitmapscan", "enable_nestloop", "enable_hashjoin", "enable_mergejoin",
        "enable_sort", "enable_material", "enable_tidscan", "enable_indexonlyscan"};
    char sql[400];
    size_t length = 0;
    PGresult *claimed;

    if (race_below(random, 3) == 0)
        return race_claim(session, most, request);
    length += (size_t)snprintf(sql, sizeof(sql), "begin");
    for (size_t i = 0; i < sizeof(switches) / sizeof(switches[0]); i++) {
        if (race_below(random, 3) == 0)
            length += (size_t)snprintf(
                sql + length, sizeof(sql) - length, "; set local %s to off", switches[i]);
    }
    bench_do(session->conn, sql);
    claimed = race_claim(session, most, request);
    bench_do(session->conn, "commit");
    return claimed;
}

/* The same request again must give the same tasks with the same fences. */
static void
repeat(struct shared *shared, struct race_session *session, struct race_random *random,
    const PGresult *claimed, int most, int request)
{
    PGresult *again = claim(session, random, most, request);
    int found = 0;

    for (int i = 0; i < PQntuples(claimed); i++) {
        for (int k = 0; k < PQntuples(again); k++)
            found +=
                strcmp(PQgetvalue(claimed, i, RACE_RUN), PQgetvalue(again, k, RACE_RUN)) == 0 &&
                strcmp(PQgetvalue(claimed, i, RACE_FENCE), PQgetvalue(again, k, RACE_FENCE)) == 0;
    }
    if (found != PQntuples(claimed) || PQntuples(again) != PQntuples(claimed))
        atomic_fetch_add(&shared->other_set, 1);
    atomic_fetch_add(&shared->repeats, 1);
    PQclear(again);
}

/* Ends most of what was claimed and gives the rest back. */
static void
finish(struct shared *shared, struct race_session *session, struct race_random *random,
    const PGresult *claimed)
{
    struct race_item items[2 * batch_max];
    int count = PQntuples(claimed);

    for (int i = 0; i < count; i++) {
        bool back = race_below(random, 10) == 0;

        race_item_set(&items[i], PQgetvalue(claimed, i, RACE_RUN),
            (int)race_field(claimed, i, RACE_FENCE), back ? "release" : "complete", NULL,
            back ? NULL : "1", NULL);
        atomic_fetch_sub(&shared->holders[race_field(claimed, i, RACE_N)], 1);
    }
    race_commit_all(session, items, count);
    for (int i = 0; i < count; i++) {
        if (strcmp(items[i].answer, "ok") != 0) {
            atomic_fetch_add(&shared->wrong, 1);
            race_note("%s answers %s: %s", items[i].kind, items[i].answer, items[i].reason);
        } else if (items[i].kind[0] == 'c') {
            atomic_fetch_add(&shared->ended, 1);
        } else {
            atomic_fetch_add(&shared->given_back, 1);
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
    double until = bench_limit_s(300);
    int request = 0;

    race_session_open(&session, "race.claim.*");
    while (atomic_load(&shared->ended) < shared->runs && bench_now_s() < until) {
        /* Mostly one: many claims for the runs there are. */
        int most = 1 + (int)race_below(&random, race_below(&random, 16) == 0 ? batch_max : 2);
        PGresult *claimed = claim(&session, &random, most, ++request);
        int count = PQntuples(claimed);

        if (count > most)
            atomic_fetch_add(&shared->too_many, 1);
        if (count > 2 * batch_max)
            bench_die("%d tasks for %d", count, most);
        for (int i = 0; i < count; i++) {
            if (atomic_fetch_add(&shared->holders[race_field(claimed, i, RACE_N)], 1) != 0)
                atomic_fetch_add(&shared->two_holders, 1);
        }
        atomic_fetch_add(&shared->claims, 1);
        atomic_fetch_add(&shared->claimed, count);
        if (count > 0 && race_below(&random, 4) == 0)
            repeat(shared, &session, &random, claimed, most, request);
        if (count == 0)
            race_breathe();
        finish(shared, &session, &random, claimed);
        PQclear(claimed);
    }
    atomic_fetch_add(&shared->busy, session.busy);
    race_session_close(&session);
    return NULL;
}

int
main(int argc, char **argv)
{
    struct shared shared = {0};
    struct part parts[sessions];
    struct race *race = &shared.race;
    PGconn *direct;
    long left, total;

    race_start(race, argc, argv);
    direct = race_connect_direct();
    /* A claim takes three tasks in two on average. Of the full size a fiftieth shows what there is to see. */
    total = race->divisor == 1 ? claims_in_full / 2 * 3 : race_share(race, 50000);
    shared.holders = race_alloc(total + part_max, sizeof(*shared.holders));
    bench_do(direct, "select pawl.create_workflow('race.claim.a')");
    bench_do(direct, "select pawl.create_workflow('race.claim.b', priority => 50)");
    for (unsigned i = 0; i < sessions; i++)
        parts[i] = (struct part){.shared = &shared, .number = i};
    while (shared.runs < total) {
        long half = (total - shared.runs < part_max ? total - shared.runs : part_max) / 2 + 1;

        race_trigger(direct, "race.claim.a", shared.runs, half);
        race_trigger(direct, "race.claim.b", shared.runs + half, half);
        shared.runs += 2 * half;
        race_threads(sessions, play, parts, sizeof(parts[0]));
    }
    race_note(
        "%ld claims took %ld tasks of %ld runs, %ld given back, %ld requests repeated, %ld busy",
        atomic_load(&shared.claims), atomic_load(&shared.claimed), shared.runs,
        atomic_load(&shared.given_back), atomic_load(&shared.repeats), atomic_load(&shared.busy));
    race_ok(race, atomic_load(&shared.too_many) == 0, "%ld claims got more than they asked for",
        atomic_load(&shared.too_many));
    race_ok(race, atomic_load(&shared.two_holders) == 0, "%ld tasks had two holders",
        atomic_load(&shared.two_holders));
    race_ok(race, atomic_load(&shared.other_set) == 0, "%ld repeated requests got another set",
        atomic_load(&shared.other_set));
    race_ok(race, atomic_load(&shared.wrong) == 0, "%ld unexpected answers",
        atomic_load(&shared.wrong));
    race_ok(race, atomic_load(&shared.claimed) == shared.runs + atomic_load(&shared.given_back),
        "every task was claimed once, or once more for each time it was given back");
    left = race_count(direct, "select count(*) from pawl_data.task");
    race_ok(race, left == 0, "%ld tasks left", left);
    PQfinish(direct);
    free(shared.holders);
    return race_end(race);
}
