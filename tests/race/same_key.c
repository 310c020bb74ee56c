/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trigger against trigger: many connections trigger the same keys at the same time, while workers finish the runs, so that
 * some have left the hot set before the last caller comes. One run for each key, and every caller has its id. A tenth of
 * the keys are ids that the clients chose. The same key with another input is refused.
 */
#include "session.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    callers = 64,
    workers = 2,
    conflicts = 500,
    batch_max = 100,
    near = 4
};

struct shared {
    struct race race;
    long keys;
    /* The id that the first caller of each key was given; the others must have the same. */
    char (*ids)[40];
    pthread_mutex_t lock;
    /* How far the slowest may be behind the fastest: all stay together. */
    atomic_long calls;
    atomic_long created;
    atomic_long differ;
    atomic_long wrong;
    atomic_long refused;
    atomic_int calling;
};

struct part {
    struct shared *shared;
    unsigned number;
};

/* Every tenth key is no key but an id made by the client before. */
static bool
is_own_id(long k)
{
    return k % 10 == 9;
}

static void
keep_id(struct shared *shared, long k, const char *id)
{
    if (pthread_mutex_lock(&shared->lock) != 0)
        bench_die("no lock");
    if (shared->ids[k][0] == '\0')
        (void)snprintf(shared->ids[k], sizeof(shared->ids[0]), "%s", id);
    else if (strcmp(shared->ids[k], id) != 0)
        atomic_fetch_add(&shared->differ, 1);
    if (pthread_mutex_unlock(&shared->lock) != 0)
        bench_die("no lock");
}

static void
trigger(struct shared *shared, PGconn *conn, long k)
{
    char key[24], id[40];
    const char *params[] = {key, NULL};
    PGresult *res;

    (void)snprintf(key, sizeof(key), "%ld", k);
    if (is_own_id(k)) {
        (void)snprintf(id, sizeof(id), "%s", shared->ids[k]);
        params[0] = NULL;
        params[1] = id;
    }
    res = race_try(conn,
        "select run_id, created::int from pawl.trigger('race.key', '{\"n\": 1}', $1, id => $2)", 2,
        params);
    if (PQresultStatus(res) != PGRES_TUPLES_OK) {
        if (atomic_fetch_add(&shared->wrong, 1) < 10)
            race_note("trigger: %s", PQresultErrorMessage(res));
    } else {
        keep_id(shared, k, PQgetvalue(res, 0, 0));
        atomic_fetch_add(&shared->created, race_field(res, 0, 1));
    }
    PQclear(res);
}

static void
trigger_otherwise(struct shared *shared, PGconn *conn, long k)
{
    char key[24];
    const char *params[] = {key};
    PGresult *res;

    (void)snprintf(key, sizeof(key), "%ld", k);
    res = race_try(conn, "select from pawl.trigger('race.key', '{\"n\": 2}', $1)", 1, params);
    if (strcmp(race_state(res), "PW004") == 0)
        atomic_fetch_add(&shared->refused, 1);
    else if (atomic_fetch_add(&shared->wrong, 1) < 10)
        race_note("the same key with another input: \"%s\"", race_state(res));
    PQclear(res);
}

static void *
call(struct part *part)
{
    struct shared *shared = part->shared;
    PGconn *conn = bench_connect();
    long every = shared->keys * callers / (conflicts + callers);
    long since = 0;

    for (long k = 0; k < shared->keys; k++) {
        while (atomic_load(&shared->calls) < (k - near) * callers)
            race_breathe();
        trigger(shared, conn, k);
        atomic_fetch_add(&shared->calls, 1);
        if (++since >= every) {
            since = 0;
            trigger_otherwise(shared, conn, is_own_id(k) ? k - 1 : k);
        }
    }
    atomic_fetch_sub(&shared->calling, 1);
    PQfinish(conn);
    return NULL;
}

static void *
work(struct part *part)
{
    struct shared *shared = part->shared;
    struct race_session session;
    struct race_item items[batch_max];
    int count = 0;

    race_session_open(&session, "race.key");
    while (count > 0 || atomic_load(&shared->calling) > 0) {
        PGresult *claimed = race_claim(&session, batch_max, 0);

        count = PQntuples(claimed);
        for (int row = 0; row < count; row++)
            race_item_set(&items[row], PQgetvalue(claimed, row, RACE_RUN),
                (int)race_field(claimed, row, RACE_FENCE), "complete", NULL, "1", NULL);
        PQclear(claimed);
        race_commit_all(&session, items, count);
        if (count == 0)
            race_breathe();
    }
    race_session_close(&session);
    return NULL;
}

static void *
play(void *argument)
{
    struct part *part = argument;

    return part->number < callers ? call(part) : work(part);
}

static void
make_ids(struct shared *shared)
{
    struct bench_text id;

    bench_text_init(&id, 40);
    for (long k = 0; k < shared->keys; k++) {
        if (!is_own_id(k))
            continue;
        bench_text_clear(&id);
        bench_text_add_uuid(&id);
        (void)snprintf(shared->ids[k], sizeof(shared->ids[0]), "%.8s-%.4s-%.4s-%.4s-%.12s", id.data,
            id.data + 8, id.data + 12, id.data + 16, id.data + 20);
    }
    bench_text_done(&id);
}

static void
check_all(struct shared *shared, PGconn *direct)
{
    struct race *race = &shared->race;
    long count = race_count(direct,
        "select count(*) from (select run_id from pawl_data.run union all select run_id from "
        "pawl_data.task) "
        "r");

    race_note("%d connections, %ld keys, %ld triggers; %ld runs ended meanwhile", callers,
        shared->keys, atomic_load(&shared->calls),
        race_count(direct, "select count(*) from pawl_data.run"));
    race_ok(race, count == shared->keys, "%ld runs for %ld keys", count, shared->keys);
    race_ok(race, atomic_load(&shared->created) == shared->keys, "%ld were told created",
        atomic_load(&shared->created));
    race_ok(race, atomic_load(&shared->differ) == 0, "%ld callers hold another id",
        atomic_load(&shared->differ));
    race_ok(race, atomic_load(&shared->refused) >= conflicts,
        "%ld triggers of a key with another input, all refused", atomic_load(&shared->refused));
    race_ok(race, atomic_load(&shared->wrong) == 0, "%ld unexpected answers",
        atomic_load(&shared->wrong));
    count = race_count(direct,
        "select count(*) from (select key from pawl_data.run where key is not null group by key "
        "having "
        "count(*) > 1) d");
    race_ok(race, count == 0, "%ld keys with more than one run", count);
}

int
main(int argc, char **argv)
{
    struct shared shared = {.calling = callers, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct part parts[callers + workers];
    PGconn *direct;

    race_start(&shared.race, argc, argv);
    direct = race_connect_direct();
    shared.keys = race_share(&shared.race, 10000);
    shared.ids = race_alloc(shared.keys, sizeof(*shared.ids));
    make_ids(&shared);
    bench_do(direct, "select pawl.create_workflow('race.key')");
    for (unsigned i = 0; i < callers + workers; i++)
        parts[i] = (struct part){.shared = &shared, .number = i};
    race_threads(callers + workers, play, parts, sizeof(parts[0]));
    check_all(&shared, direct);
    PQfinish(direct);
    free(shared.ids);
    return race_end(&shared.race);
}
