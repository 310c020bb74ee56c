/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One caller leaves a transaction open that has signalled runs, emitted an event and recorded a transactional step, while
 * workers go on with batches that hold those very items among others. Held items answer busy; everything else takes at most
 * twice its normal time, and nobody waits for the caller.
 */
#include "meter.h"
#include "session.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    workers = 2,
    batch = 97,
    guests = 3,
    dead = 10,
    samples_max = 200000
};

enum phase {
    PHASE_BEFORE,
    PHASE_HELD,
    PHASE_AFTER,
    /* The caller is just coming or going: nothing is measured. */
    PHASE_CHANGE,
    PHASES,
};

enum call {
    CALL_COMMIT,
    CALL_CLAIM,
    CALLS,
};

struct worker {
    struct race_session session;
    /* A run that is signalled, one that waits for the event, one with the transactional step. */
    char runs[guests][40];
    int fences[guests];
    long steps;
    float *took_s[PHASES][CALLS];
    int samples[PHASES][CALLS];
    long busy;
    long not_busy;
    long again;
    long wrong;
};

struct shared {
    struct race race;
    /* How long the machine itself stood still: the slowest calls tell that, then, and nothing else. */
    long stalled_ms;
    struct worker workers[workers];
    atomic_int phase;
    atomic_bool over;
    char dead_run[40];
    char ready_run[40];
    int holder_pid;
    long blocked;
    long looks;
    double cancel_s;
    char cancel_answer[16];
    double slowest_s;
};

struct part {
    struct shared *shared;
    unsigned number;
};

static void
add_sample(struct worker *worker, int phase, enum call call, double took_s)
{
    if (worker->samples[phase][call] < samples_max)
        worker->took_s[phase][call][worker->samples[phase][call]++] = (float)took_s;
}

/* The three items that the open transaction is in the way of. */
static void
add_guests(struct worker *worker, struct race_item *items, bool held)
{
    char name[32], option[160];

    /* While nobody holds the event, each worker has a key of its own: the two must not be in each other's way. */
    (void)snprintf(option, sizeof(option), "{\"topic\": \"held\", \"key\": \"%s\"}",
        held ? "k" : worker->session.id);
    race_item_set(&items[0], worker->runs[0], worker->fences[0], "start", NULL, NULL, NULL);
    race_item_set(&items[1], worker->runs[1], worker->fences[1], "event",
        held ? "held#1" : "free#1", NULL, option);
    (void)snprintf(name, sizeof(name), "s#%ld", ++worker->steps);
    race_item_set(&items[2], worker->runs[2], worker->fences[2], "step", name, "1", NULL);
}

static void
commit_timed(struct shared *shared, struct worker *worker, struct race_item *items, int count)
{
    int before = atomic_load(&shared->phase);
    double started_s;
    bool clear;

    add_guests(worker, &items[count], before == PHASE_HELD);
    started_s = bench_now_s();
    race_commit(&worker->session, items, count + guests);
    clear = before == atomic_load(&shared->phase) && before != PHASE_CHANGE;
    add_sample(worker, clear ? before : PHASE_CHANGE, CALL_COMMIT, bench_now_s() - started_s);
    for (int i = 0; i < count; i++) {
        /* The other worker's claim may have looked at the row at this moment; never for long. */
        if (strcmp(items[i].answer, "busy") == 0) {
            worker->again++;
            race_commit_all(&worker->session, &items[i], 1);
        }
        worker->wrong += strcmp(items[i].answer, "ok") != 0;
    }
    for (int i = count; clear && i < count + guests; i++) {
        bool busy = strcmp(items[i].answer, "busy") == 0;

        worker->busy += busy;
        worker->not_busy += busy != (before == PHASE_HELD);
        if (busy != (before == PHASE_HELD) && worker->not_busy < 5)
            race_note("%s %s answers %s in phase %d: %s", items[i].kind, items[i].name,
                items[i].answer, before, items[i].reason);
    }
}

static void
work_once(struct shared *shared, struct worker *worker)
{
    struct race_item items[batch + guests];
    int phase = atomic_load(&shared->phase);
    double started_s;
    PGresult *claimed;
    int count;

    race_trigger(worker->session.conn, "race.held", 0, batch);
    started_s = bench_now_s();
    claimed = race_claim(&worker->session, batch, 0);
    if (phase == atomic_load(&shared->phase))
        add_sample(worker, phase, CALL_CLAIM, bench_now_s() - started_s);
    count = PQntuples(claimed);
    if (count > batch)
        bench_die("claim: %d tasks instead of %d", count, batch);
    for (int i = 0; i < count; i++)
        race_item_set(&items[i], PQgetvalue(claimed, i, RACE_RUN),
            (int)race_field(claimed, i, RACE_FENCE), "step", "s#1", "{\"a\": 1}", NULL);
    commit_timed(shared, worker, items, count);
    for (int i = 0; i < count; i++)
        race_item_set(&items[i], PQgetvalue(claimed, i, RACE_RUN),
            (int)race_field(claimed, i, RACE_FENCE), "complete", NULL, "{\"a\": 1}", NULL);
    commit_timed(shared, worker, items, count);
    PQclear(claimed);
}

/* Claims the three runs that will be in the way, and makes an undisturbed round before they are. */
static void
open_worker(struct worker *worker)
{
    race_session_open(&worker->session, "race.held*");
    for (int i = 0; i < PHASES; i++) {
        for (int k = 0; k < CALLS; k++)
            worker->took_s[i][k] = race_alloc(samples_max, sizeof(float));
    }
    race_trigger(worker->session.conn, "race.held", 0, guests);
    /* The other worker claims at the same time, so it may take more than one call. */
    for (int got = 0, tries = 0; got < guests; tries++) {
        PGresult *claimed = race_claim(&worker->session, guests - got, 0);

        for (int i = 0; i < PQntuples(claimed); i++, got++) {
            (void)snprintf(
                worker->runs[got], sizeof(worker->runs[0]), "%s", PQgetvalue(claimed, i, RACE_RUN));
            worker->fences[got] = (int)race_field(claimed, i, RACE_FENCE);
        }
        PQclear(claimed);
        if (tries == 10000)
            bench_die("the runs that were triggered cannot be claimed");
    }
}

/* After the release everything goes on: nothing of a run is lost, and it ends. */
static void
close_worker(struct worker *worker)
{
    struct race_item items[guests];

    for (int i = 0; i < guests; i++)
        race_item_set(&items[i], worker->runs[i], worker->fences[i], "complete", NULL, "1", NULL);
    race_commit_all(&worker->session, items, guests);
    for (int i = 0; i < guests; i++)
        worker->wrong += strcmp(items[i].answer, "ok") != 0;
    race_session_close(&worker->session);
}

static void
hold(struct shared *shared, PGconn *conn)
{
    PGconn *other = race_connect_direct();
    PGresult *res;

    bench_do(conn, "begin");
    res = bench_exec(conn, "select pg_backend_pid()");
    shared->holder_pid = (int)race_field(res, 0, 0);
    PQclear(res);
    for (int i = 0; i < workers; i++) {
        struct worker *worker = &shared->workers[i];
        char fence[16];
        const char *params[] = {worker->session.id, worker->runs[2], fence};
        const char *run[] = {worker->runs[0]};

        (void)snprintf(fence, sizeof(fence), "%d", worker->fences[2]);
        PQclear(bench_exec_params(conn, "select pawl.signal($1, 'held')", 1, run));
        PQclear(bench_exec_params(conn,
            "select pawl.record_step(pawl.step_token($1, $2, $3, 'transactional#1'))", 3, params));
    }
    bench_do(conn, "select pawl.emit('held', '{}', 'k')");
    PQclear(bench_exec_params(
        conn, "select pawl.signal($1, 'held')", 1, (const char *const[]){shared->dead_run}));
    PQclear(bench_exec_params(
        conn, "select pawl.signal($1, 'held')", 1, (const char *const[]){shared->ready_run}));
    bench_do(other, "select pawl.resume_queue('race.held.first')");
    PQfinish(other);
}

static void
pass(double seconds)
{
    double until = bench_now_s() + seconds;

    while (bench_now_s() < until)
        race_breathe();
}

/* Plays the caller and moves the phases on. */
static void
direct_phases(struct shared *shared)
{
    double held_s = shared->race.divisor == 1 ? 60 : shared->race.pooled ? 3 : 6;
    double normal_s = held_s / 2 > 10 ? 10 : held_s / 2;
    PGconn *conn = bench_connect();

    pass(normal_s);
    atomic_store(&shared->phase, PHASE_CHANGE);
    hold(shared, conn);
    atomic_store(&shared->phase, PHASE_HELD);
    pass(held_s);
    atomic_store(&shared->phase, PHASE_CHANGE);
    bench_do(conn, "commit");
    atomic_store(&shared->phase, PHASE_AFTER);
    pass(normal_s);
    atomic_store(&shared->over, true);
    PQfinish(conn);
    race_note("held for %.0f s", held_s);
}

/* Sees that nobody waits for the caller; sweeps, beats and cancels meanwhile. */
static void
look_around(struct shared *shared)
{
    PGconn *direct = race_connect_direct();
    PGconn *conn = bench_connect();
    const char *beat[] = {shared->workers[0].session.id};
    const char *run[] = {shared->workers[0].runs[0]};
    bool cancelled = false;

    while (!atomic_load(&shared->over)) {
        int phase = atomic_load(&shared->phase);
        double started_s = bench_now_s();

        PQclear(bench_exec_params(conn, "select from pawl.heartbeat($1)", 1, beat));
        bench_do(conn, "select pawl.housekeep()");
        if (phase == PHASE_HELD && bench_now_s() - started_s > shared->slowest_s)
            shared->slowest_s = bench_now_s() - started_s;
        if (phase == PHASE_HELD) {
            char sql[160];

            (void)snprintf(sql, sizeof(sql),
                "select count(*) from pg_stat_activity a where %d = any (pg_blocking_pids(a.pid))",
                shared->holder_pid);
            shared->blocked += race_count(direct, sql);
            shared->looks++;
        }
        if (phase == PHASE_HELD && !cancelled) {
            PGresult *res;

            cancelled = true;
            started_s = bench_now_s();
            res =
                bench_exec_params(conn, "select answer from pawl.cancel(array[$1::uuid])", 1, run);
            shared->cancel_s = bench_now_s() - started_s;
            (void)snprintf(
                shared->cancel_answer, sizeof(shared->cancel_answer), "%s", PQgetvalue(res, 0, 0));
            PQclear(res);
        }
        for (int i = 0; i < 50; i++)
            race_breathe();
    }
    PQfinish(conn);
    PQfinish(direct);
}

static void *
play(void *argument)
{
    struct part *part = argument;
    struct shared *shared = part->shared;

    if (part->number < workers) {
        struct worker *worker = &shared->workers[part->number];

        while (!atomic_load(&shared->over))
            work_once(shared, worker);
        close_worker(worker);
    } else if (part->number == workers) {
        direct_phases(shared);
    } else {
        look_around(shared);
    }
    return NULL;
}

static int
compare(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

/* The median and the 95th percentile of all workers, in milliseconds. */
static void
measure(struct shared *shared, int phase, enum call call, double *median_ms, double *p95_ms)
{
    float *all = race_alloc((long)workers * samples_max, sizeof(float));
    size_t count = 0;

    for (int i = 0; i < workers; i++) {
        struct worker *worker = &shared->workers[i];

        memcpy(all + count, worker->took_s[phase][call],
            sizeof(float) * (size_t)worker->samples[phase][call]);
        count += (size_t)worker->samples[phase][call];
    }
    if (count == 0)
        bench_die("no samples");
    qsort(all, count, sizeof(float), compare);
    *median_ms = 1000 * (double)all[count / 2];
    *p95_ms = 1000 * (double)all[count * 95 / 100];
    free(all);
}

static void
check_times(struct shared *shared, enum call call, const char *name)
{
    double before[2], held[2], after[2], normal[2];

    measure(shared, PHASE_BEFORE, call, &before[0], &before[1]);
    measure(shared, PHASE_HELD, call, &held[0], &held[1]);
    measure(shared, PHASE_AFTER, call, &after[0], &after[1]);
    race_note("%s, median and p95 in ms: before %.2f %.2f, held %.2f %.2f, after %.2f %.2f", name,
        before[0], before[1], held[0], held[1], after[0], after[1]);
    for (int i = 0; i < 2; i++)
        normal[i] = before[i] > after[i] ? before[i] : after[i];
    race_in_time(&shared->race, held[0] <= 2 * normal[0], "%s: median %.2f times the normal one",
        name, held[0] / normal[0]);
    race_in_time(&shared->race, held[1] <= 2 * normal[1] || shared->stalled_ms > 0,
        "%s: p95 %.2f times the normal one", name, held[1] / normal[1]);
}

static void
check_all(struct shared *shared, PGconn *direct)
{
    struct race *race = &shared->race;
    long busy = 0, not_busy = 0, again = 0, wrong = 0, count;

    for (int i = 0; i < workers; i++) {
        busy += shared->workers[i].busy;
        not_busy += shared->workers[i].not_busy;
        again += shared->workers[i].again;
        wrong += shared->workers[i].wrong;
    }
    check_times(shared, CALL_COMMIT, "commit of 100 items");
    check_times(shared, CALL_CLAIM, "claim of 97");
    race_ok(race, not_busy == 0 && busy > 0, "%ld answers busy for held items, %ld otherwise", busy,
        not_busy);
    race_ok(
        race, wrong == 0, "%ld other items that were not taken, %ld were sent twice", wrong, again);
    race_ok(race, shared->blocked == 0, "in %ld looks %ld others waited for the caller",
        shared->looks, shared->blocked);
    race_in_time(
        race, shared->slowest_s < 1, "heartbeat and sweep took %.3f s at most", shared->slowest_s);
    race_ok(race, strcmp(shared->cancel_answer, "busy") == 0, "cancel of a held run answers %s",
        shared->cancel_answer);
    race_in_time(race, shared->cancel_s < 3, "after %.1f s", shared->cancel_s);
    count = race_count(direct,
        "select count(*) from pawl_data.step where name = 'transactional#1' and state = 's'");
    race_ok(race, count == workers, "%ld transactional steps recorded", count);
    bench_do(direct, "select pawl.housekeep()");
    count = race_count(direct,
        "select count(*) from pawl_data.task t join pawl_data.queue q using (queue_id) where "
        "q.name = "
        "'race.dead' and place = 'r'");
    race_ok(race, count == dead, "%ld of %d tasks of the dead session taken back", count, dead);
    count = race_count(direct,
        "select count(*) from pawl_data.task t join pawl_data.queue q using (queue_id)"
        " where q.name like 'race.held%' and place <> 'r'");
    race_ok(race, count == 0, "%ld runs left behind", count);
    count = race_count(direct,
        "select count(*) from pawl_data.run r join pawl_data.queue q using (queue_id)"
        " where q.name = 'race.held.first' and status = 's'");
    race_ok(race, count == 1, "%ld ready run claimed once the caller let go of it", count);
}

/* A session that dies with ten runs, one of which will be signalled; and a ready run, before all others: its
 * queue is paused until the caller has it. */
static void
prepare(struct shared *shared, PGconn *direct)
{
    struct race_session session;
    PGresult *res;

    bench_do(direct, "select pawl.create_workflow('race.held')");
    bench_do(direct, "select pawl.create_workflow('race.dead')");
    race_session_open(&session, "race.dead");
    race_session_register(&session, "race.dead", "1 s");
    race_trigger(direct, "race.dead", 0, dead);
    res = race_claim(&session, dead, 0);
    (void)snprintf(
        shared->dead_run, sizeof(shared->dead_run), "%s", PQgetvalue(res, dead / 2, RACE_RUN));
    PQclear(res);
    race_session_close(&session);
    for (int i = 0; i < workers; i++)
        open_worker(&shared->workers[i]);
    bench_do(direct, "select pawl.create_workflow('race.held.first', priority => 0)");
    bench_do(direct, "select pawl.pause_queue('race.held.first')");
    res = bench_exec(direct, "select run_id from pawl.trigger('race.held.first')");
    (void)snprintf(shared->ready_run, sizeof(shared->ready_run), "%s", PQgetvalue(res, 0, 0));
    PQclear(res);
}

int
main(int argc, char **argv)
{
    static struct shared shared;
    struct part parts[workers + 2];
    struct meter *meter;
    int64_t start_us;
    PGconn *direct;

    race_start(&shared.race, argc, argv);
    direct = race_connect_direct();
    prepare(&shared, direct);
    start_us = meter_now_us();
    meter = meter_start();
    for (unsigned i = 0; i < workers + 2; i++)
        parts[i] = (struct part){.shared = &shared, .number = i};
    race_threads(workers + 2, play, parts, sizeof(parts[0]));
    shared.stalled_ms = meter_stalled_ms(meter, start_us, meter_now_us());
    meter_stop(meter);
    if (shared.stalled_ms > 0)
        race_note("the machine stood still for %ld ms", shared.stalled_ms);
    check_all(&shared, direct);
    for (int i = 0; i < workers * PHASES * CALLS; i++)
        free(shared.workers[i / (PHASES * CALLS)].took_s[i / CALLS % PHASES][i % CALLS]);
    PQfinish(direct);
    return race_end(&shared.race);
}
