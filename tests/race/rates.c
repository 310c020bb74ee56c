/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rates: eight sessions claim runs of a few limit keys, of which only so many may start in a time, in transactions of which some stay open
 * for a while and some are rolled back. Some runs sleep, and go on: that is no start. In the end the server compares each stretch of time
 * between two starts of a key, of any length, with what the rate and the burst allow in it.
 */
#include "session.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    sessions = 8,
    keys = 6,
    rate = 200, /* in a second, of most keys */
    burst = 3,
    slow_rate = 20, /* of key k0, with a burst of 1 */
    batch_max = 8,
    runs_in_full = 24000
};

struct shared {
    struct race race;
    long wanted;
    atomic_long claims;
    atomic_long empty;
    atomic_long ended;
    atomic_long undone;
    atomic_long slept;
    atomic_long wrong;
};

struct part {
    struct shared *shared;
    unsigned number;
};

/* Claims; null if the claim was rolled back. */
static PGresult *
claim(struct shared *shared, struct race_session *session, struct race_random *random)
{
    PGresult *claimed;
    bool undo;

    if (race_below(random, 3) > 0)
        return race_claim(session, 1 + (int)race_below(random, batch_max), 0);
    bench_do(session->conn, "begin");
    claimed = race_claim(session, 1 + (int)race_below(random, batch_max), 0);
    if (race_below(random, 4) == 0)
        race_stagger(random, 20000);
    undo = race_below(random, 4) == 0;
    bench_do(session->conn, undo ? "rollback" : "commit");
    if (!undo)
        return claimed;
    PQclear(claimed);
    atomic_fetch_add(&shared->undone, 1);
    return NULL;
}

/* Ends what was claimed, or lets it sleep once. */
static void
finish(struct shared *shared, struct race_session *session, struct race_random *random,
    const PGresult *claimed)
{
    struct race_item items[2 * batch_max];
    int length = 0;

    for (int i = 0; i < PQntuples(claimed); i++) {
        const char *run = PQgetvalue(claimed, i, RACE_RUN);
        int fence = (int)race_field(claimed, i, RACE_FENCE);

        if (race_below(random, 4) == 0 && race_field(claimed, i, RACE_STEPS) == 0) {
            race_item_set(&items[length++], run, fence, "sleep", "nap#1", NULL, "{\"ms\": 1}");
            race_item_set(&items[length++], run, fence, "suspend", NULL, NULL, NULL);
            atomic_fetch_add(&shared->slept, 1);
        } else {
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

    race_session_open(&session, "race.rate");
    while ((ended = atomic_load(&shared->ended)) < shared->wanted) {
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
        atomic_fetch_add(&shared->claims, 1);
        if (PQntuples(claimed) == 0) {
            atomic_fetch_add(&shared->empty, 1);
            bench_do(direct, "call pawl.tick()");
            race_breathe();
        } else {
            finish(shared, &session, &random, claimed);
        }
        PQclear(claimed);
    }
    race_session_close(&session);
    PQfinish(direct);
    return NULL;
}

/* How many stretches of time, each from one start of a key to another, have more starts than are allowed, and how many starts there are. */
static const char over[] =
    "with start as ("
    "  select limit_key, (extract(epoch from started_at) * 1000000)::bigint as at,"
    "         case when limit_key = 'k0' then 1000000 / %d else 1000000 / %d end as gap,"
    "         case when limit_key = 'k0' then 1 else %d end as burst,"
    "         row_number() over (partition by limit_key order by started_at) as n"
    "  from pawl_data.run where started_at is not null"
    "), ahead as ("
    /* n starts from the first on take (n - burst) gaps, at least. */
    "  select s.*, s.n * s.gap - s.at as ahead, min(s.n * s.gap - s.at) over ("
    "             partition by limit_key order by n) as least"
    "  from start s"
    ") select count(*) from ahead where ahead - least > (burst - 1) * gap";

int
main(int argc, char **argv)
{
    struct shared shared = {0};
    struct part parts[sessions];
    struct race *race = &shared.race;
    PGconn *direct;
    char sql[1200];
    long runs;
    long found;

    race_start(race, argc, argv);
    direct = race_connect_direct();
    bench_do(direct, "select pawl.create_workflow('race.rate')");
    (void)snprintf(sql, sizeof(sql),
        "select pawl.alter_workflow('race.rate', '{\"key_rate\": \"%d/s\", \"key_burst\": %d}'), "
        "pawl.set_lane('race.rate', 'k0', key_rate => '%d/s')",
        rate, burst, slow_rate);
    bench_do(direct, sql);
    runs = race_share(race, runs_in_full) / keys;
    shared.wanted = runs * (keys - 1) + runs / 10;
    (void)snprintf(sql, sizeof(sql),
        "select count(*) from generate_series(0, %d) n, generate_series(1, case n when 0 then %ld "
        "else %ld end) i, lateral pawl.trigger('race.rate', json_build_object('n', n, 'i', i), "
        "limit_key => "
        "'k' || n)",
        keys - 1, runs / 10, runs);
    bench_do(direct, sql);
    for (unsigned i = 0; i < sessions; i++)
        parts[i] = (struct part){.shared = &shared, .number = i};
    race_threads(sessions, play, parts, sizeof(parts[0]));
    race_note("%ld claims, %ld of them empty, %ld rolled back; %ld runs went on after a sleep",
        atomic_load(&shared.claims), atomic_load(&shared.empty), atomic_load(&shared.undone),
        atomic_load(&shared.slept));
    race_note("from the first start to the last %ld ms, of %ld runs of a key at %d a second",
        race_count(direct,
            "select (extract(epoch from max(started_at) - min(started_at)) * 1000)::bigint from "
            "pawl_data.run"),
        runs, rate);
    (void)snprintf(sql, sizeof(sql), over, slow_rate, rate, burst);
    found = race_count(direct, sql);
    race_ok(race, found == 0, "%ld starts too many for a stretch of time before them", found);
    race_ok(race, atomic_load(&shared.wrong) == 0, "%ld unexpected answers",
        atomic_load(&shared.wrong));
    race_ok(race, atomic_load(&shared.ended) == shared.wanted, "%ld of %ld runs have ended",
        atomic_load(&shared.ended), shared.wanted);
    found = race_count(direct, "select count(*) from pawl_data.lane where state <> 'e'");
    race_ok(race, found <= keys, "%ld lanes", found);
    PQfinish(direct);
    return race_end(race);
}
