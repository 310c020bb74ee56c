/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debounce against work: producers trigger runs of a few keys, in transactions of which some stay open for a while and some are rolled back,
 * while workers execute the runs and a keeper ticks. Triggers of one key take turns until they commit, so a sequence that is read after the
 * trigger, in its transaction, has their order. A run is executed once, with the input of the last trigger that was answered with its id;
 * so every last input is executed, and none twice.
 */
#include "session.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    producers = 8,
    workers = 3,
    threads = producers + workers + 1,
    keys = 10,
    batch_max = 4,
    triggers_in_full = 10000
};

struct shared {
    struct race race;
    long wanted; /* triggers of each producer */
    atomic_int producing;
    atomic_int working;
    atomic_long executed;
    atomic_long undone;
    atomic_long contended;
    atomic_long pairs; /* transactions with two triggers of a key */
};

struct part {
    struct shared *shared;
    unsigned number;
};

/* Triggers a run of a key. Returns false if the key was contended. */
static bool
trigger_one(struct shared *shared, PGconn *conn, unsigned key, long n, bool large)
{
    char sql[500];
    PGresult *res;
    bool sent;

    (void)snprintf(sql, sizeof(sql),
        "insert into race.call (key, n, run_id, created) "
        "select k.key, %ld, t.run_id, t.created from (select 'k%u' as key) k, "
        "lateral pawl.trigger('race.debounce', json_build_object('n', %ld, 'pad', repeat('x', "
        "%d)), "
        "key => k.key, debounce => '20 ms', debounce_max => '300 ms') t",
        n, key, n, large ? 3000 : 0);
    res = race_try(conn, sql, 0, NULL);
    sent = PQresultStatus(res) == PGRES_COMMAND_OK;
    if (!sent && strcmp(race_state(res), "PW010") != 0)
        bench_die("trigger: %s", PQresultErrorMessage(res));
    PQclear(res);
    if (!sent)
        atomic_fetch_add(&shared->contended, 1);
    return sent;
}

/* One to `most` triggers of a key in a transaction. Returns how many were committed. */
static long
trigger(struct shared *shared, PGconn *conn, struct race_random *random, long n, long most)
{
    long count = race_below(random, 4) == 0 && most > 1 ? 2 : 1;
    bool undo = race_below(random, 8) == 0;
    unsigned key = race_below(random, keys);

    bench_do(conn, "begin");
    /* Some inputs are large, so that they are rows of their own. */
    for (long i = 0; i < count; i++) {
        if (!trigger_one(shared, conn, key, n + i, race_below(random, 10) == 0)) {
            undo = true;
            break;
        }
    }
    if (race_below(random, 16) == 0)
        race_stagger(random, 20000);
    bench_do(conn, undo ? "rollback" : "commit");
    if (undo) {
        atomic_fetch_add(&shared->undone, 1);
        return 0;
    }
    /* No worker can claim a run before the second trigger has replaced its input, however slow the machine is. */
    atomic_fetch_add(&shared->pairs, count - 1);
    return count;
}

static void
produce(struct shared *shared, unsigned number)
{
    struct race_random random = race_random(&shared->race, number);
    PGconn *conn = bench_connect();

    /* What was rolled back is triggered again, as any producer would. */
    for (long i = 0; i < shared->wanted;)
        i += trigger(shared, conn, &random, number * shared->wanted + i, shared->wanted - i);
    PQfinish(conn);
    atomic_fetch_sub(&shared->producing, 1);
}

static bool
has_work(PGconn *direct)
{
    return race_count(direct, "select exists (select from pawl_data.task)::int") != 0;
}

/* Ends the runs that were claimed, and keeps what inputs they had. */
static void
execute(struct shared *shared, struct race_session *session, const PGresult *claimed)
{
    struct race_item items[batch_max];
    int count = PQntuples(claimed);

    for (int i = 0; i < count; i++) {
        char sql[200];

        race_item_set(&items[i], PQgetvalue(claimed, i, RACE_RUN),
            (int)race_field(claimed, i, RACE_FENCE), "complete", NULL, "1", NULL);
        (void)snprintf(sql, sizeof(sql), "insert into race.done (run_id, n) values ('%s', %ld)",
            PQgetvalue(claimed, i, RACE_RUN), race_field(claimed, i, RACE_N));
        bench_do(session->conn, sql);
    }
    race_commit_all(session, items, count);
    atomic_fetch_add(&shared->executed, count);
}

static void
work(struct shared *shared, unsigned number)
{
    struct race_random random = race_random(&shared->race, number);
    struct race_session session;
    PGconn *direct = race_connect_direct();

    race_session_open(&session, "race.debounce");
    while (atomic_load(&shared->producing) > 0 || has_work(direct)) {
        PGresult *claimed;
        bool undo = false;

        bench_do(session.conn, "begin");
        claimed = race_claim(&session, 1 + (int)race_below(&random, batch_max), 0);
        if (race_below(&random, 8) == 0)
            race_stagger(&random, 20000);
        undo = race_below(&random, 8) == 0;
        bench_do(session.conn, undo ? "rollback" : "commit");
        if (!undo)
            execute(shared, &session, claimed);
        if (PQntuples(claimed) == 0)
            race_breathe();
        PQclear(claimed);
    }
    race_session_close(&session);
    PQfinish(direct);
    atomic_fetch_sub(&shared->working, 1);
}

static void
keep(struct shared *shared)
{
    PGconn *direct = race_connect_direct();

    while (atomic_load(&shared->working) > 0) {
        bench_do(direct, "call pawl.tick()");
        race_breathe();
    }
    PQfinish(direct);
}

static void *
play(void *argument)
{
    struct part *part = argument;

    if (part->number < producers)
        produce(part->shared, part->number);
    else if (part->number < producers + workers)
        work(part->shared, part->number);
    else
        keep(part->shared);
    return NULL;
}

static void
check_all(struct shared *shared, PGconn *direct)
{
    struct race *race = &shared->race;
    long calls = race_count(direct, "select count(*) from race.call");
    long created = race_count(direct, "select count(*) from race.call where created");
    long count;

    race_note(
        "%d producers, %d keys, %d workers: %ld triggers, %ld runs; %ld rolled back, %ld of a "
        "contended key",
        producers, keys, workers, calls, created, atomic_load(&shared->undone),
        atomic_load(&shared->contended));
    race_ok(race, calls == shared->wanted * producers, "%ld triggers were committed", calls);
    race_ok(race, calls - created >= atomic_load(&shared->pairs),
        "%ld of them changed a run that was there; %ld must have", calls - created,
        atomic_load(&shared->pairs));
    count = race_count(direct, "select count(*) from pawl_data.run where status = 's'");
    race_ok(race, count == created, "%ld runs have ended, each once", count);
    count = race_count(direct, "select count(*) from race.done");
    race_ok(race, count == created && count == atomic_load(&shared->executed),
        "%ld inputs were executed", count);
    count = race_count(
        direct, "select count(*) from (select n from race.done group by n having count(*) > 1) d");
    race_ok(race, count == 0, "%ld inputs were executed twice", count);
    count = race_count(direct,
        "select count(*) from (select distinct on (key) key, n from race.call order by key, at "
        "desc) "
        "l where not exists (select from race.done d where d.n = l.n)");
    race_ok(race, count == 0, "%ld keys whose last input was not executed", count);
    count = race_count(direct,
        "select count(*) from (select distinct on (run_id) run_id, n from race.call order by "
        "run_id, "
        "at desc) l where not exists (select from race.done d where d.run_id = l.run_id and d.n = "
        "l.n)");
    race_ok(race, count == 0, "%ld runs were executed with another input than their last", count);
    count = race_count(direct,
        "select count(*) from race.done d join race.call c using (n) where d.run_id <> c.run_id");
    race_ok(race, count == 0, "%ld inputs were executed by another run than was answered", count);
    count = race_count(direct,
        "select (select count(*) from pawl_data.wait) + (select count(*) from pawl_data.input i "
        "where not exists (select from pawl_data.run r where r.run_id = i.run_id and "
        "r.input_apart))");
    race_ok(race, count == 0, "%ld rows are left", count);
}

int
main(int argc, char **argv)
{
    struct shared shared = {.producing = producers, .working = workers};
    struct part parts[threads];
    PGconn *direct;

    race_start(&shared.race, argc, argv);
    direct = race_connect_direct();
    shared.wanted = race_share(&shared.race, triggers_in_full) / producers;
    bench_do(direct, "select pawl.create_workflow('race.debounce')");
    bench_do(direct,
        "create schema race; "
        "create table race.call (at bigint generated always as identity, key text, n bigint, "
        "run_id "
        "uuid, created bool); create table race.done (run_id uuid, n bigint)");
    for (unsigned i = 0; i < threads; i++)
        parts[i] = (struct part){.shared = &shared, .number = i};
    race_threads(threads, play, parts, sizeof(parts[0]));
    check_all(&shared, direct);
    PQfinish(direct);
    return race_end(&shared.race);
}
