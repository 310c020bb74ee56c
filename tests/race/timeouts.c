/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Event against timeout: runs wait for an event until a moment at which, give or take a millisecond, it is emitted, three times under one
 * id. Each wait comes to one thing, the event or the timeout; an emit that said it woke the run was taken by it; and a later claim is told
 * the same as the first.
 */
#include "session.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    pairs = 3,
    batch = 20,
    wait_ms = 20,
    apart_ms = 3
};

/* What a worker and its emitter share: runs that wait, and until when. */
struct table {
    _Atomic double due_s;
    atomic_long first; /* number of the first run, plus 1; 0: nothing to do */
    atomic_bool over;
};

struct shared {
    struct race race;
    long rounds;
    struct table tables[pairs];
    atomic_long woke;
    atomic_long events;
    atomic_long timed_out;
    atomic_long wrong;
    atomic_long again;
};

struct part {
    struct shared *shared;
    unsigned number;
};

/* The first emit says how many it woke; the others that it is there already. */
static void
emit(struct shared *shared, PGconn *conn, long n, const char *id, bool again)
{
    char key[24];
    const char *params[] = {key, id};
    PGresult *res;

    (void)snprintf(key, sizeof(key), "%ld", n);
    res = bench_exec_params(
        conn, "select answer, woken from pawl.emit('race.timeout', '1', $1, id => $2)", 2, params);
    if (strcmp(PQgetvalue(res, 0, 0), again ? "already" : "ok") != 0)
        atomic_fetch_add(&shared->wrong, 1);
    atomic_fetch_add(&shared->woke, race_field(res, 0, 1));
    PQclear(res);
}

static void *
emit_at_the_time(struct part *part)
{
    struct shared *shared = part->shared;
    struct table *table = &shared->tables[part->number / 2];
    struct race_random random = race_random(&shared->race, part->number);
    PGconn *conn = bench_connect();

    while (!atomic_load(&table->over)) {
        long first = atomic_load(&table->first);
        PGresult *ids;

        if (first == 0) {
            race_breathe();
            continue;
        }
        ids = bench_exec(conn, "select pawl.make_id() from generate_series(1, 20)");
        for (int i = 0; i < batch; i++) {
            double at_s = atomic_load(&table->due_s) + i * apart_ms / 1e3 +
                ((double)race_below(&random, 2001) - 1000) / 1e6;

            while (bench_now_s() < at_s - 0.002)
                race_breathe();
            while (bench_now_s() < at_s)
                continue; /* A millisecond is too short to sleep. */
            emit(shared, conn, first - 1 + i, PQgetvalue(ids, i, 0), false);
        }
        for (int i = 0; i < 2 * batch; i++)
            emit(shared, conn, first - 1 + i / 2, PQgetvalue(ids, i / 2, 0), true);
        PQclear(ids);
        atomic_store(&table->first, 0);
    }
    PQfinish(conn);
    return NULL;
}

/* Claims until so many runs are there; their outcomes and fences come in the order of their numbers. */
static void
claim_all(struct race_session *session, long first, struct race_item *items, char (*outcomes)[16])
{
    const char *params[] = {session->id};
    double until_s = bench_limit_s(60);

    for (int left = batch; left > 0;) {
        PGresult *res = bench_exec_params(session->conn,
            "select c.run_id, c.fence, c.input ->> 'n', coalesce(c.record -> 'steps' -> 0 ->> "
            "'state',"
            " 'none') || coalesce(json_array_length(c.record -> 'steps'), 0)"
            " from pawl.claim($1, 20, start => true) c",
            1, params);

        if (PQntuples(res) == 0)
            race_breathe();
        for (int i = 0; i < PQntuples(res); i++) {
            long place = race_field(res, i, 2) - first;

            if (place < 0 || place >= batch)
                bench_die("a run of another round was claimed");
            race_item_set(&items[place], PQgetvalue(res, i, 0), (int)race_field(res, i, 1), "",
                NULL, NULL, NULL);
            (void)snprintf(outcomes[place], sizeof(outcomes[place]), "%s", PQgetvalue(res, i, 3));
            left--;
        }
        PQclear(res);
        if (bench_now_s() > until_s)
            bench_die("%d runs do not come back", left);
    }
}

static void
commit_kind(
    struct shared *shared, struct race_session *session, struct race_item *items, const char *kind)
{
    for (int i = 0; i < batch; i++) {
        struct race_item old = items[i];

        race_item_set(&items[i], old.run, old.fence, kind, NULL,
            strcmp(kind, "complete") == 0 ? "1" : NULL, NULL);
    }
    race_commit_all(session, items, batch);
    for (int i = 0; i < batch; i++)
        if (strcmp(items[i].answer, "ok") != 0)
            atomic_fetch_add(&shared->wrong, 1);
}

/* A round: all wait and are suspended, come back with an outcome, are given back, and come again with the same. */
static void
play_round(struct shared *shared, struct table *table, struct race_session *session, long first)
{
    struct race_item items[2 * batch];
    char before[batch][16], after[batch][16];

    claim_all(session, first, items, before);
    for (int i = batch - 1; i >= 0; i--) {
        char option[100], run[40];
        int fence = items[i].fence;

        (void)snprintf(run, sizeof(run), "%s", items[i].run);
        (void)snprintf(option, sizeof(option),
            "{\"topic\": \"race.timeout\", \"key\": \"%ld\", \"timeout_ms\": %d}", first + i,
            wait_ms);
        race_item_set(&items[2 * i], run, fence, "event", "e#1", NULL, option);
        race_item_set(&items[2 * i + 1], run, fence, "suspend", NULL, NULL, NULL);
    }
    atomic_store(&table->due_s, bench_now_s() + wait_ms / 1e3);
    race_commit_all(session, items, 2 * batch);
    atomic_store(&table->first, first + 1);
    claim_all(session, first, items, before);
    commit_kind(shared, session, items, "release");
    claim_all(session, first, items, after);
    commit_kind(shared, session, items, "complete");
    for (int i = 0; i < batch; i++) {
        atomic_fetch_add(&shared->events, strcmp(after[i], "SUCCESS1") == 0);
        atomic_fetch_add(&shared->timed_out, strcmp(after[i], "ERROR1") == 0);
        atomic_fetch_add(&shared->again, strcmp(before[i], after[i]) != 0);
    }
    while (atomic_load(&table->first) != 0)
        race_breathe();
}

static void *
play(void *argument)
{
    struct part *part = argument;
    struct shared *shared = part->shared;
    unsigned number = part->number / 2;
    struct race_session session;
    char workflow[32];

    if (part->number % 2 == 1)
        return emit_at_the_time(part);
    (void)snprintf(workflow, sizeof(workflow), "race.timeout.%u", number);
    race_session_open(&session, workflow);
    for (long round = number; round < shared->rounds; round += pairs) {
        race_trigger(session.conn, workflow, round * batch, batch);
        play_round(shared, &shared->tables[number], &session, round * batch);
    }
    atomic_store(&shared->tables[number].over, true);
    race_session_close(&session);
    return NULL;
}

static void
check(struct shared *shared, PGconn *direct)
{
    struct race *race = &shared->race;
    long waits = shared->rounds * batch;
    long events = atomic_load(&shared->events), timed_out = atomic_load(&shared->timed_out);
    long taken =
        race_count(direct, "select count(*) from pawl_data.step where kind = 'e' and state = 's'");
    long twice = race_count(direct,
        "select count(*) from (select from pawl_data.step where kind = 'e' group by run_id having "
        "count(*) > 1) x");
    long stored = race_count(direct, "select count(*) from pawl_data.event");
    long left = race_count(direct, "select count(*) from pawl_data.task");

    race_note("%ld waits: %ld took the event, %ld timed out", waits, events, timed_out);
    race_ok(race, events + timed_out == waits, "%ld waits have no outcome, or several",
        waits - events - timed_out);
    race_ok(race, twice == 0, "%ld runs have several outcomes", twice);
    race_ok(race, atomic_load(&shared->again) == 0, "%ld later claims were told something else",
        atomic_load(&shared->again));
    race_ok(race, taken == events && atomic_load(&shared->woke) == events,
        "%ld events were taken, %ld emits said so", taken, atomic_load(&shared->woke));
    race_ok(race, stored == waits, "%ld events are stored, of %ld that were emitted three times",
        stored, waits);
    race_ok(race, atomic_load(&shared->wrong) == 0, "%ld unexpected answers",
        atomic_load(&shared->wrong));
    race_ok(race, events > 0 && timed_out > 0, "both happen");
    race_ok(race, left == 0, "%ld tasks left", left);
}

int
main(int argc, char **argv)
{
    static struct shared shared;
    struct part parts[2 * pairs];
    PGconn *direct;

    race_start(&shared.race, argc, argv);
    direct = race_connect_direct();
    shared.rounds = race_share(&shared.race, 50000 / batch);
    for (unsigned i = 0; i < pairs; i++) {
        char sql[80];

        (void)snprintf(sql, sizeof(sql), "select pawl.create_workflow('race.timeout.%u')", i);
        bench_do(direct, sql);
    }
    for (unsigned i = 0; i < 2 * pairs; i++)
        parts[i] = (struct part){.shared = &shared, .number = i};
    race_threads(2 * pairs, play, parts, sizeof(parts[0]));
    check(&shared, direct);
    PQfinish(direct);
    return race_end(&shared.race);
}
