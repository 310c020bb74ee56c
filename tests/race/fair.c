/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fairness: eight sessions claim from one tenant, then from forty tenants whose runs were triggered tenant by tenant. A claim that returns
 * nothing makes a worker rest, so hardly any may while runs wait. Of the forty each gets its share, and one of weight 3 three times as much.
 */
#include "session.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    sessions = 8,
    tenants = 40,
    heavy = 7,  /* the tenant of weight 3 */
    batch = 16, /* so that a share is one run */
    runs_in_full = 40000
};

struct shared {
    struct race race;
    long until; /* how many runs are to be claimed */
    atomic_long claimed;
    atomic_long claims;
    atomic_long empty;
    atomic_long wrong;
    atomic_long of[tenants];
    atomic_long first[tenants]; /* how many claims there were before the first of it */
};

struct part {
    struct shared *shared;
    unsigned number;
};

static void
end_all(struct shared *shared, struct race_session *session, const PGresult *claimed)
{
    struct race_item items[batch];
    int length = PQntuples(claimed);

    for (int i = 0; i < length; i++)
        race_item_set(&items[i], PQgetvalue(claimed, i, RACE_RUN),
            (int)race_field(claimed, i, RACE_FENCE), "complete", NULL, "1", NULL);
    race_commit_all(session, items, length);
    for (int i = 0; i < length; i++)
        if (strcmp(items[i].answer, "ok") != 0)
            atomic_fetch_add(&shared->wrong, 1);
}

static void *
play(void *argument)
{
    struct part *part = argument;
    struct shared *shared = part->shared;
    struct race_random random = race_random(&shared->race, part->number);
    struct race_session session;
    double until = bench_limit_s(300);

    race_session_open(&session, "race.fair");
    while (atomic_load(&shared->claimed) < shared->until && bench_now_s() < until) {
        PGresult *claimed = race_claim(&session, batch, 0);

        for (int i = 0; i < PQntuples(claimed); i++)
            if (atomic_fetch_add(&shared->of[race_field(claimed, i, RACE_N)], 1) == 0)
                atomic_store(
                    &shared->first[race_field(claimed, i, RACE_N)], atomic_load(&shared->claims));
        atomic_fetch_add(&shared->claimed, PQntuples(claimed));
        atomic_fetch_add(&shared->claims, 1);
        if (PQntuples(claimed) == 0)
            atomic_fetch_add(&shared->empty, 1);
        if (race_below(&random, 8) == 0)
            race_stagger(&random, 2000);
        end_all(shared, &session, claimed);
        PQclear(claimed);
    }
    race_session_close(&session);
    return NULL;
}

/* Triggers runs of tenants 0 to count - 1, and claims until a part of them has been. */
static void
round_of(struct shared *shared, PGconn *direct, int count, long runs, long until)
{
    struct part parts[sessions];
    char sql[400];

    (void)snprintf(sql, sizeof(sql),
        "select count(*) from generate_series(0, %d) n, lateral pawl.trigger_many('race.fair', "
        "array_fill(json_build_object('n', n), array[%ld]), tenant => 't' || n)",
        count - 1, runs);
    bench_do(direct, sql);
    shared->until = until;
    atomic_store(&shared->claimed, 0);
    atomic_store(&shared->claims, 0);
    atomic_store(&shared->empty, 0);
    for (int i = 0; i < tenants; i++)
        atomic_store(&shared->of[i], 0);
    for (unsigned i = 0; i < sessions; i++)
        parts[i] = (struct part){.shared = shared, .number = i};
    race_threads(sessions, play, parts, sizeof(parts[0]));
}

int
main(int argc, char **argv)
{
    struct shared shared = {0};
    struct race *race = &shared.race;
    PGconn *direct;
    long runs;
    long least = LONG_MAX;
    long most = 0;
    long late = 0;

    race_start(race, argc, argv);
    direct = race_connect_direct();
    bench_do(direct, "select pawl.create_workflow('race.fair')");
    bench_do(direct, "select pawl.alter_workflow('race.fair', '{\"fair\": true}')");
    bench_do(direct, "select pawl.set_lane('race.fair', null, weight => 3, tenant => 't' || 7)");
    runs = race_share(race, runs_in_full) / 10 * 10;
    if (runs > 10000)
        runs = 10000;
    /* As long as more wait than all sessions can take. */
    round_of(&shared, direct, 1, runs, runs - (long)2 * sessions * batch);
    race_note("one tenant: %ld claims took %ld runs, %ld claims were empty",
        atomic_load(&shared.claims), atomic_load(&shared.claimed), atomic_load(&shared.empty));
    race_ok(race, atomic_load(&shared.empty) * 100 <= atomic_load(&shared.claims),
        "%ld of %ld claims of one tenant are empty", atomic_load(&shared.empty),
        atomic_load(&shared.claims));
    bench_do(direct,
        "select pawl.kill(array_agg(run_id)) from (select run_id from pawl_data.task limit 1000) "
        "t");
    runs /= 10;
    round_of(&shared, direct, tenants, runs, tenants * runs / 4);
    for (int i = 0; i < tenants; i++)
        if (i != heavy) {
            long n = atomic_load(&shared.of[i]);

            late = late > atomic_load(&shared.first[i]) ? late : atomic_load(&shared.first[i]);
            least = n < least ? n : least;
            most = n > most ? n : most;
        }
    race_note("%d tenants: %ld claims, %ld empty; each got %ld to %ld runs, that of weight 3 %ld; "
              "all were served after %ld claims",
        tenants, atomic_load(&shared.claims), atomic_load(&shared.empty), least, most,
        atomic_load(&shared.of[heavy]), late);
    race_ok(race, most - least <= 2 * sessions, "shares of %d tenants are %ld to %ld", tenants,
        least, most);
    race_ok(race,
        atomic_load(&shared.of[heavy]) >= 3 * least - sessions &&
            atomic_load(&shared.of[heavy]) <= 3 * most + sessions,
        "the tenant of weight 3 got %ld", atomic_load(&shared.of[heavy]));
    race_ok(race, atomic_load(&shared.wrong) == 0, "%ld unexpected answers",
        atomic_load(&shared.wrong));
    PQfinish(direct);
    return race_end(race);
}
