/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Emit against wait: no wake-up is lost. Runs wait for an event while other connections emit it at random offsets: before,
 * during and after. Housekeeping is kept from running, so that only the emit or the wait itself can have woken a run.
 */
#include "session.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Workers do not run ahead of the emitters by more than this many events: then the two would never meet. */
enum {
    workers = 3,
    emitters = 3,
    batch_max = 12,
    ahead_max = 9
};

struct shared {
    struct race race;
    long runs;
    long pairs;
    /* Numbers of runs whose event is to be emitted, in order; each is stored as n + 1. */
    atomic_long *orders;
    atomic_long ordered;
    atomic_long next;
    atomic_long emitted;
    atomic_long woken;
    atomic_long waiting;
    atomic_long wrong;
    atomic_long busy;
    atomic_long deadlocks;
    atomic_bool done;
};

struct part {
    struct shared *shared;
    unsigned number;
};

/* Every eighth run waits twice for the same topic and key. */
static int
waits_of(long n)
{
    return n % 8 == 7 ? 2 : 1;
}

/* A tenth of the events comes before the wait, a tenth after it, the rest at the same time. */
static bool
is_early(long n)
{
    return n % 10 == 3;
}

static bool
is_late(long n)
{
    return n % 10 == 4;
}

/* Where run n and its events meet. Few share a topic for long: a wait looks through the events since its trigger. */
static void
place_of(long n, char *topic, size_t topic_size, char *key, size_t key_size, bool *match)
{
    *match = n % 8 < 3;
    if (*match)
        (void)snprintf(topic, topic_size, "shared.%ld", n / 160);
    else
        (void)snprintf(topic, topic_size, "own");
    if (n % 8 == 0)
        key[0] = '\0';
    else
        (void)snprintf(key, key_size, "%ld", *match ? n % 3 : n);
}

static void
order_events(struct shared *shared, long n)
{
    for (int i = 0; i < waits_of(n); i++) {
        long place = atomic_fetch_add(&shared->ordered, 1);

        atomic_store(&shared->orders[place], n + 1);
    }
}

static void *
emit_events(void *argument)
{
    struct part *part = argument;
    struct shared *shared = part->shared;
    struct race_random random = race_random(&shared->race, 100 + part->number);
    PGconn *conn = bench_connect();
    long place;

    while ((place = atomic_fetch_add(&shared->next, 1)) < shared->pairs) {
        char topic[32], key[32], payload[64];
        const char *params[] = {topic, payload, key};
        bool match;
        long n;
        PGresult *res;

        while ((n = atomic_load(&shared->orders[place]) - 1) < 0)
            race_breathe();
        place_of(n, topic, sizeof(topic), key, sizeof(key), &match);
        (void)snprintf(payload, sizeof(payload), "{\"n\": %ld}", n);
        race_stagger(&random, 3000);
        res = race_try(conn, "select woken from pawl.emit($1, $2, $3)", 3, params);
        while (strcmp(race_state(res), "40P01") == 0) {
            atomic_fetch_add(&shared->deadlocks, 1);
            PQclear(res);
            res = race_try(conn, "select woken from pawl.emit($1, $2, $3)", 3, params);
        }
        if (PQresultStatus(res) != PGRES_TUPLES_OK)
            bench_die("emit: %s", PQresultErrorMessage(res));
        atomic_fetch_add(&shared->woken, race_field(res, 0, 0));
        PQclear(res);
        atomic_fetch_add(&shared->emitted, 1);
    }
    PQfinish(conn);
    return NULL;
}

static int
add_waits(struct race_item *items, const PGresult *claimed, int row)
{
    const char *run = PQgetvalue(claimed, row, RACE_RUN);
    int fence = (int)race_field(claimed, row, RACE_FENCE);
    long n = race_field(claimed, row, RACE_N);
    char topic[32], key[32], option[160], name[16];
    bool match;

    place_of(n, topic, sizeof(topic), key, sizeof(key), &match);
    (void)snprintf(option, sizeof(option),
        match ? "{\"topic\": \"%s\", \"key\": \"%s\", \"match\": {\"/n\": %ld}}"
              : "{\"topic\": \"%s\", \"key\": \"%s\"}",
        topic, key, n);
    for (int i = 0; i < waits_of(n); i++) {
        (void)snprintf(name, sizeof(name), "wait#%d", i + 1);
        race_item_set(&items[i], run, fence, "event", name, NULL, option);
        items[i].seq = i + 1;
        items[i].n = n;
    }
    return waits_of(n);
}

static void
expect_ok(struct shared *shared, const struct race_item *item)
{
    if (strcmp(item->answer, "ok") == 0)
        return;
    if (atomic_fetch_add(&shared->wrong, 1) < 10)
        race_note("%s of run %s answers %s: %s", item->kind, item->run, item->answer, item->reason);
}

/* Lets go of runs, or ends those that have all they waited for. */
static void
suspend(
    struct shared *shared, struct race_session *session, const struct race_item *waits, int count)
{
    struct race_item items[3 * batch_max];
    int used = 0;

    for (int i = 0; i < count; i++) {
        if (i > 0 && strcmp(waits[i].run, waits[i - 1].run) == 0)
            continue;
        race_item_set(&items[used], waits[i].run, waits[i].fence, "suspend", NULL, NULL, NULL);
        items[used++].n = waits[i].n;
    }
    race_commit_all(session, items, used);
    for (int i = 0; i < used; i++) {
        if (strcmp(items[i].answer, "refused") == 0) {
            struct race_item end;

            race_item_set(&end, items[i].run, items[i].fence, "complete", NULL, "1", NULL);
            race_commit_all(session, &end, 1);
            expect_ok(shared, &end);
        } else {
            expect_ok(shared, &items[i]);
        }
    }
}

/* Waits, and suspends in the same call or in the next one: an event may come between the two. */
static void
open_waits(struct shared *shared, struct race_session *session, struct race_random *random,
    const PGresult *claimed)
{
    struct race_item items[3 * batch_max];
    int count = 0, fresh = 0;
    bool together = race_below(random, 2) == 0;

    for (int row = 0; row < PQntuples(claimed); row++) {
        long n = race_field(claimed, row, RACE_N);

        if (race_field(claimed, row, RACE_STEPS) + race_field(claimed, row, RACE_WAITS) > 0)
            continue;
        fresh++;
        count += add_waits(&items[count], claimed, row);
        if (together) {
            race_item_set(&items[count], items[count - 1].run, items[count - 1].fence, "suspend",
                NULL, NULL, NULL);
            items[count++].n = n;
        }
        if (!is_early(n) && !is_late(n))
            order_events(shared, n);
    }
    race_commit_all(session, items, count);
    if (together) {
        struct race_item met[batch_max];
        int left = 0;

        for (int i = 0; i < count; i++) {
            if (strcmp(items[i].kind, "suspend") == 0 && strcmp(items[i].answer, "ok") != 0)
                met[left++] = items[i];
        }
        suspend(shared, session, met, left);
    } else {
        suspend(shared, session, items, count);
    }
    for (int row = 0; row < PQntuples(claimed); row++) {
        long n = race_field(claimed, row, RACE_N);

        if (race_field(claimed, row, RACE_STEPS) + race_field(claimed, row, RACE_WAITS) == 0 &&
            is_late(n))
            order_events(shared, n);
    }
    atomic_fetch_add(&shared->waiting, fresh);
}

/* Runs that were woken: they end when they have what they waited for. */
static void
go_on(struct shared *shared, struct race_session *session, const PGresult *claimed)
{
    struct race_item items[batch_max], back[batch_max];
    int count = 0, left = 0;

    for (int row = 0; row < PQntuples(claimed); row++) {
        long n = race_field(claimed, row, RACE_N);
        long steps = race_field(claimed, row, RACE_STEPS);
        const char *run = PQgetvalue(claimed, row, RACE_RUN);
        int fence = (int)race_field(claimed, row, RACE_FENCE);

        if (steps + race_field(claimed, row, RACE_WAITS) == 0)
            continue;
        if (steps == waits_of(n)) {
            race_item_set(&items[count++], run, fence, "complete", NULL, "1", NULL);
        } else {
            race_item_set(&back[left], run, fence, "suspend", NULL, NULL, NULL);
            back[left++].n = n;
        }
    }
    race_commit_all(session, items, count);
    for (int i = 0; i < count; i++)
        expect_ok(shared, &items[i]);
    suspend(shared, session, back, left);
}

static void *
work(void *argument)
{
    struct part *part = argument;
    struct shared *shared = part->shared;
    struct race_random random = race_random(&shared->race, part->number);
    struct race_session session;

    race_session_open(&session, "race.wait");
    while (!atomic_load(&shared->done) || atomic_load(&shared->waiting) < shared->runs) {
        PGresult *claimed;

        while (atomic_load(&shared->ordered) > atomic_load(&shared->emitted) + ahead_max)
            race_breathe();
        claimed = race_claim(&session, 1 + (int)race_below(&random, batch_max), 0);
        if (PQntuples(claimed) == 0)
            race_breathe();
        open_waits(shared, &session, &random, claimed);
        go_on(shared, &session, claimed);
        PQclear(claimed);
        if (atomic_load(&shared->emitted) == shared->pairs &&
            atomic_load(&shared->waiting) == shared->runs)
            atomic_store(&shared->done, true);
    }
    atomic_fetch_add(&shared->busy, session.busy);
    atomic_fetch_add(&shared->deadlocks, session.deadlocks);
    race_session_close(&session);
    return NULL;
}

static void *
play(void *argument)
{
    struct part *part = argument;

    return part->number < workers ? work(part) : emit_events(part);
}

/* Puts housekeeping off for as long as the race lasts. */
static void *
keep_polling_off(void *argument)
{
    struct shared *shared = argument;
    PGconn *direct = race_connect_direct();
    double next = 0;

    while (!atomic_load(&shared->done)) {
        if (bench_now_s() > next) {
            race_no_housekeeping(direct);
            next = bench_now_s() + 2;
        }
        race_breathe();
    }
    PQfinish(direct);
    return NULL;
}

static void
check_all(struct shared *shared, PGconn *direct)
{
    struct race *race = &shared->race;
    double until = bench_limit_s(1);
    long left;

    while (
        (left = race_count(direct, "select count(*) from pawl_data.task where place = 'w'")) > 0 &&
        bench_now_s() < until)
        race_breathe();
    race_note("%ld pairs of emit and wait, %ld woken by the emit, %ld found by the wait",
        shared->pairs, atomic_load(&shared->woken), shared->pairs - atomic_load(&shared->woken));
    race_note("%ld busy answers, %ld deadlocks", atomic_load(&shared->busy),
        atomic_load(&shared->deadlocks));
    race_ok(race, left == 0, "%ld runs still waiting after 1 s", left);
    race_ok(race, atomic_load(&shared->wrong) == 0, "%ld unexpected answers",
        atomic_load(&shared->wrong));
    race_ok(race, atomic_load(&shared->deadlocks) == 0, "%ld deadlocks",
        atomic_load(&shared->deadlocks));
    left = race_count(direct, "select count(*) from pawl_data.wait");
    race_ok(race, left == 0, "%ld waits left open", left);
    left =
        race_count(direct, "select count(*) from pawl_data.step where kind = 'e' and state = 's'");
    race_ok(
        race, left == shared->pairs, "%ld waits took an event each, of %ld", left, shared->pairs);
    left = race_count(direct,
        "select count(*) from (select run_id, source_id from pawl_data.step group by 1, 2 having "
        "count(*) > 1) d");
    race_ok(race, left == 0, "%ld events taken twice by one run", left);
    left = race_count(direct,
        "select count(*) from pawl_data.step s left join pawl_data.event e on e.event_id = "
        "s.source_id"
        " left join (select run_id, input from pawl_data.run union all select run_id, input from "
        "pawl_data.task) r"
        " on r.run_id = s.run_id where e.payload ->> 'n' is distinct from r.input ->> 'n'");
    race_ok(race, left == 0, "%ld waits took an event of another run", left);
}

int
main(int argc, char **argv)
{
    struct shared shared = {0};
    struct part parts[workers + emitters];
    PGconn *direct;
    pthread_t poller;

    race_start(&shared.race, argc, argv);
    direct = race_connect_direct();
    shared.pairs = (race_share(&shared.race, 100000) + 8) / 9 * 9;
    shared.runs = shared.pairs / 9 * 8;
    shared.orders = race_alloc(shared.pairs, sizeof(*shared.orders));
    bench_do(direct, "select pawl.create_workflow('race.wait')");
    race_trigger(direct, "race.wait", 0, shared.runs);
    for (long n = 0; n < shared.runs; n++) {
        if (is_early(n))
            order_events(&shared, n);
    }
    race_no_housekeeping(direct);
    if (pthread_create(&poller, NULL, keep_polling_off, &shared) != 0)
        bench_die("cannot start a thread");
    for (unsigned i = 0; i < workers + emitters; i++)
        parts[i] = (struct part){.shared = &shared, .number = i};
    race_threads(workers + emitters, play, parts, sizeof(parts[0]));
    if (pthread_join(poller, NULL) != 0)
        bench_die("cannot join a thread");
    check_all(&shared, direct);
    PQfinish(direct);
    free(shared.orders);
    return race_end(&shared.race);
}
