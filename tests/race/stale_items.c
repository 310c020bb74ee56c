/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches with stale items: of a hundred tasks that a session claimed it has lost three to another one, and goes on to report steps of all
 * of them, in one call each time. Three are refused every time and the others recorded, and what the other session records is untouched.
 * Meanwhile a session that has ended sends heartbeats, which change nothing.
 */
#include "session.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    pairs = 3,
    held = 100,
    stale = 3,
    heartbeats_of_each = 10
};

struct shared {
    struct race race;
    long batches;
    atomic_long refused;
    atomic_long recorded;
    atomic_long theirs;
    atomic_long wrong;
    atomic_long heartbeats;
    atomic_long heard;
};

struct part {
    struct shared *shared;
    unsigned number;
};

/* Adds what a commit came to; items from `lost` on are stale. */
static void
count(struct shared *shared, const struct race_item *items, int lost)
{
    for (int i = 0; i < held; i++) {
        const char *wanted = i < lost ? "ok" : "lease_lost";

        if (strcmp(items[i].answer, wanted) != 0) {
            atomic_fetch_add(&shared->wrong, 1);
            race_note("item %d answers %s: %s", i, items[i].answer, items[i].reason);
        }
        atomic_fetch_add(
            strcmp(items[i].answer, "ok") == 0 ? &shared->recorded : &shared->refused, 1);
    }
}

static void
set_steps(struct race_item *items, int from, int to, long batch)
{
    char name[24];

    (void)snprintf(name, sizeof(name), "s#%ld", batch + 1);
    for (int i = from; i < to; i++) {
        struct race_item old = items[i];

        race_item_set(&items[i], old.run, old.fence, "step", name, "1", NULL);
        items[i].seq = (int)batch + 1;
    }
}

static void
claim_into(struct race_session *session, struct race_item *items, int wanted)
{
    PGresult *claimed = race_claim(session, wanted, 0);

    if (PQntuples(claimed) != wanted)
        bench_die("%d tasks were claimed, not %d", PQntuples(claimed), wanted);
    for (int i = 0; i < wanted; i++)
        race_item_set(&items[i], PQgetvalue(claimed, i, RACE_RUN),
            (int)race_field(claimed, i, RACE_FENCE), "release", NULL, NULL, NULL);
    PQclear(claimed);
}

/* Heartbeats of a session that has ended are errors, whatever they tell. */
static void
beat(struct shared *shared, struct race_session *dead, const char *run)
{
    char running[120];
    const char *params[] = {dead->id, running};

    (void)snprintf(
        running, sizeof(running), "[{\"run\": \"%s\", \"step\": \"s#1\", \"timeout_ms\": 1}]", run);
    for (int i = 0; i < heartbeats_of_each; i++) {
        PGresult *res = race_try(dead->conn, "select from pawl.heartbeat($1, $2)", 2, params);

        atomic_fetch_add(&shared->heartbeats, 1);
        atomic_fetch_add(&shared->heard, strcmp(race_state(res), "PW005") != 0);
        PQclear(res);
    }
}

static void *
play(void *argument)
{
    struct part *part = argument;
    struct shared *shared = part->shared;
    struct race_session one, other, dead;
    struct race_item items[held], lost[stale], theirs[stale];
    char workflow[32];

    (void)snprintf(workflow, sizeof(workflow), "race.stale.%u", part->number);
    race_session_open(&dead, workflow);
    PQclear(bench_exec_params(dead.conn, "select pawl.leave($1)", 1, (const char *[]){dead.id}));
    race_session_open(&one, workflow);
    race_session_open(&other, workflow);
    /* Nobody sends heartbeats for them, and nobody is to sweep them. */
    race_session_register(&one, workflow, "1 day");
    race_session_register(&other, workflow, "1 day");
    claim_into(&one, items, held);
    memcpy(lost, &items[held - stale], sizeof(lost));
    race_commit_all(&one, lost, stale);
    claim_into(&other, theirs, stale);
    for (long batch = 0; batch < shared->batches; batch++) {
        set_steps(items, 0, held, batch);
        set_steps(theirs, 0, stale, batch);
        race_commit_all(&one, items, held);
        count(shared, items, held - stale);
        race_commit_all(&other, theirs, stale);
        for (int i = 0; i < stale; i++)
            atomic_fetch_add(&shared->theirs, strcmp(theirs[i].answer, "ok") == 0);
        beat(shared, &dead, items[0].run);
    }
    race_session_close(&one);
    race_session_close(&other);
    race_session_close(&dead);
    return NULL;
}

int
main(int argc, char **argv)
{
    static struct shared shared;
    struct part parts[pairs];
    struct race *race = &shared.race;
    PGconn *direct;
    long all, others, changed;

    race_start(race, argc, argv);
    direct = race_connect_direct();
    shared.batches = race_share(race, 10000) / pairs;
    for (unsigned i = 0; i < pairs; i++) {
        char workflow[32], sql[80];

        (void)snprintf(workflow, sizeof(workflow), "race.stale.%u", i);
        (void)snprintf(sql, sizeof(sql), "select pawl.create_workflow('%s')", workflow);
        bench_do(direct, sql);
        race_trigger(direct, workflow, 0, held);
        parts[i] = (struct part){.shared = &shared, .number = i};
    }
    race_threads(pairs, play, parts, sizeof(parts[0]));
    all = pairs * shared.batches;
    race_note("%ld batches of %d: %ld recorded, %ld refused; %ld stale heartbeats", all, held,
        atomic_load(&shared.recorded), atomic_load(&shared.refused),
        atomic_load(&shared.heartbeats));
    race_ok(race, atomic_load(&shared.wrong) == 0, "%ld unexpected answers",
        atomic_load(&shared.wrong));
    race_ok(race,
        atomic_load(&shared.refused) == all * stale &&
            atomic_load(&shared.recorded) == all * (held - stale),
        "each batch has %d refused and %d recorded", stale, held - stale);
    race_ok(race, atomic_load(&shared.theirs) == all * stale, "who holds them records all of his");
    others = race_count(direct,
        "select count(*) from pawl_data.step s where s.fence <> (select t.fence from "
        "pawl_data.task t where"
        " t.run_id = s.run_id)");
    race_ok(race, others == 0, "%ld records are not of the claim in force", others);
    others = race_count(direct,
        "select count(*) from (select from pawl_data.task t left join pawl_data.step s on s.run_id "
        "= t.run_id"
        " group by t.run_id having count(*) <> (select max(x.seq) from pawl_data.step x)) y");
    race_ok(race, others == 0, "%ld runs have more or fewer records than batches", others);
    changed = race_count(direct,
        "select count(*) from pawl_data.worker where ended_why = 'left' and (running is not null or"
        " lease_until > ended_at + lease)");
    race_ok(race, atomic_load(&shared.heard) == 0 && changed == 0,
        "%ld heartbeats of ended sessions were taken, %ld rows changed", atomic_load(&shared.heard),
        changed);
    PQfinish(direct);
    return race_end(race);
}
