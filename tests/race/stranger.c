/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stranger, a login without any rights in pawl, beside ten workers: it notifies all of their channels and takes the advisory locks that the
 * engine has ever used. The calls of others, on connections that are open, take at most twice as long as beside a stranger that runs a plain
 * select on as many connections at the same rate. Both are measured in turns, in the same minute.
 */
#include "race.h"

#include <pawl/pawl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    workers = 10,
    strangers = 4,
    callers = 2,
    samples_max = 100000,
    round_ms = 1500,
    stranger_pace_us = 10000,
    caller_pace_us = 4000
};

enum phase {
    PHASE_REST, /* nothing is measured */
    PHASE_SELECT,
    PHASE_ATTACK,
    PHASES,
};

struct samples {
    float *took_s;
    int count;
};

struct shared {
    struct race race;
    double round_s; /* how long each phase of a round is */
    atomic_int phase;
    atomic_bool over;
    atomic_long attacks;
    atomic_long selects;
    char channels[workers * 64];
    struct samples samples[callers][PHASES];
    pawl_worker *workers[workers];
    pthread_t threads[workers];
};

struct part {
    struct shared *shared;
    int number;
};

static void
pace(long us)
{
    const struct timespec pause = {.tv_nsec = us * 1000};

    (void)nanosleep(&pause, NULL); /* woken early is as good */
}

static pawl_status
echo(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)run;
    *output = input;
    return PAWL_OK;
}

static void
expect(pawl_status status, pawl_error *error)
{
    if (status != PAWL_OK)
        bench_die("%s: %s", pawl_status_name(status), pawl_error_message(error));
}

static void *
work(void *argument)
{
    pawl_error *error = NULL;

    expect(pawl_worker_run(argument, &error), error);
    return NULL;
}

static void
start_workers(struct shared *shared, PGconn *conn)
{
    pawl_config *config = pawl_config_new();
    pawl_error *error = NULL;

    expect(pawl_config_set(config, "concurrency", "4", &error), error);
    for (int i = 0; i < workers; i++) {
        expect(pawl_worker_new(config, &shared->workers[i], &error), error);
        expect(pawl_worker_handle(shared->workers[i], "stranger.run", echo, NULL, &error), error);
        expect(pawl_worker_start(shared->workers[i], &error), error);
        if (pthread_create(&shared->threads[i], NULL, work, shared->workers[i]) != 0)
            bench_die("no thread");
    }
    pawl_config_free(config);
    while (race_count(conn, "select count(*) from pawl.list_workers() where state = 'idle'") <
            workers &&
        !shared->race.pooled)
        race_breathe();
}

static void
stop_workers(struct shared *shared)
{
    for (int i = 0; i < workers; i++)
        pawl_worker_drain(shared->workers[i]);
    for (int i = 0; i < workers; i++) {
        (void)pthread_join(shared->threads[i], NULL);
        pawl_worker_free(shared->workers[i]);
    }
}

/* What a login can do that was granted nothing. */
static void *
be_stranger(void *argument)
{
    const struct part *part = argument;
    struct shared *shared = part->shared;
    PGconn *conn = race_connect_direct();
    char attack[sizeof(shared->channels) + 200];
    bool locked = false;

    bench_do(conn,
        "select set_config('session_authorization', 'race_stranger_' || current_database(), "
        "false)");
    (void)snprintf(attack, sizeof(attack),
        "select count(pg_notify('pawl_' || c, p)) from unnest('{%s}'::text[]) c, "
        "unnest(array['', 'drain']) p",
        shared->channels);
    while (!atomic_load(&shared->over)) {
        int phase = atomic_load(&shared->phase);

        /* One of them holds every advisory lock of the engine that it can guess. */
        if (part->number == 0 && locked != (phase == PHASE_ATTACK)) {
            locked = phase == PHASE_ATTACK;
            bench_do(conn,
                locked ? "select count(*) from (select pg_try_advisory_lock(k, q) from "
                         "unnest(array[1886287724, 1886287725]) k, generate_series(1, 20) q"
                         " union all select pg_try_advisory_lock(hashtextextended(t, s)) from "
                         "unnest(array['pawl.partitions', 'pawl.workflow.stranger.run', '' || "
                         "chr(1) || 't' || chr(1)]) t, generate_series(0, 12) s) l"
                       : "select pg_advisory_unlock_all()");
        }
        if (phase == PHASE_ATTACK) {
            bench_do(conn, attack);
            atomic_fetch_add(&shared->attacks, 1);
        } else if (phase == PHASE_SELECT) {
            bench_do(conn, "select count(*) from generate_series(1, 20)");
            atomic_fetch_add(&shared->selects, 1);
        }
        pace(stranger_pace_us);
    }
    PQfinish(conn);
    return NULL;
}

static void
add_sample(struct samples *samples, double took_s)
{
    if (samples->count < samples_max)
        samples->took_s[samples->count++] = (float)took_s;
}

/* A producer that triggers runs and asks for them, on one connection. */
static void *
be_caller(void *argument)
{
    const struct part *part = argument;
    struct shared *shared = part->shared;
    PGconn *conn = bench_connect();

    while (!atomic_load(&shared->over)) {
        int phase = atomic_load(&shared->phase);
        double began_s = bench_now_s();
        const char *params[1];
        PGresult *run = bench_exec(conn, "select run_id from pawl.trigger('stranger.run')");
        PGresult *state;

        params[0] = PQgetvalue(run, 0, 0);
        state = bench_exec_params(conn, "select status from pawl.get_run($1)", 1, params);
        if (phase == atomic_load(&shared->phase))
            add_sample(&shared->samples[part->number][phase], bench_now_s() - began_s);
        PQclear(run);
        PQclear(state);
        pace(caller_pace_us);
    }
    PQfinish(conn);
    return NULL;
}

static int
compare(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

static int
compare_ratios(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The mean of the calls of a phase without the slowest hundredth, in milliseconds; a machine that stands still shows there alone. */
static double
mean_ms(struct shared *shared, enum phase phase, int *count)
{
    float *all = race_alloc((long)callers * samples_max, sizeof(*all));
    double sum_s = 0;
    int used;

    *count = 0;
    for (int i = 0; i < callers; i++) {
        struct samples *samples = &shared->samples[i][phase];

        memcpy(all + *count, samples->took_s, (size_t)samples->count * sizeof(*all));
        *count += samples->count;
        samples->count = 0;
    }
    qsort(all, (size_t)*count, sizeof(*all), compare);
    used = *count - *count / 100;
    for (int i = 0; i < used; i++)
        sum_s += (double)all[i];
    free(all);
    return used > 0 ? 1000 * sum_s / used : 0;
}

/* The threads of strangers and callers are quick enough that the phase is theirs when the rest is over. */
static void
let_pass(struct shared *shared, enum phase phase)
{
    double until_s = bench_now_s() + shared->round_s;

    atomic_store(&shared->phase, phase);
    while (bench_now_s() < until_s)
        race_breathe();
    atomic_store(&shared->phase, PHASE_REST);
    pace(100000);
}

/*
 * How many times as long calls take beside the attack, in one round of both; 0 if too few returned beside selects to compare. If hardly any
 * returned beside the attack, their number tells it: a call that waits for the end of the attack is no sample.
 */
static double
compare_phases(struct shared *shared, long round)
{
    const int least = 20;
    double select_ms, attack_ms, ratio = 0;
    int selects, attacks;

    let_pass(shared, PHASE_SELECT);
    let_pass(shared, PHASE_ATTACK);
    select_ms = mean_ms(shared, PHASE_SELECT, &selects);
    attack_ms = mean_ms(shared, PHASE_ATTACK, &attacks);
    if (selects >= least)
        ratio = attacks >= least ? attack_ms / select_ms : (double)selects / (attacks + 1);
    race_note("round %ld: %d calls of %.3f ms beside selects, %d of %.3f ms beside the attack: "
              "%.2f times",
        round, selects, select_ms, attacks, attack_ms, ratio);
    return ratio;
}

static void
measure(struct shared *shared)
{
    long rounds = race_share(&shared->race, 20) + 3, done = 0;
    double *ratios = race_alloc(rounds, sizeof(*ratios));
    double until_s = bench_limit_s(60 + (double)rounds * 2 * round_ms / 1000);
    double ratio = 0;

    shared->round_s = round_ms / 1000.0;
    /* A round with too few calls, on a slow machine, is played again, and takes longer. */
    for (long i = 0; done < rounds && (i < rounds || bench_now_s() < until_s); i++)
        if ((ratios[done] = compare_phases(shared, i + 1)) > 0)
            done++;
        else
            shared->round_s *= 2;
    qsort(ratios, (size_t)done, sizeof(*ratios), compare_ratios);
    if (done > 0)
        ratio = ratios[done / 2];
    race_ok(&shared->race, done > 0 && atomic_load(&shared->attacks) > 0,
        "%ld of %ld rounds have enough calls", done, rounds);
    race_in_time(&shared->race, ratio <= 2,
        "calls of others take %.2f times as long beside the attack (%ld statements, %ld selects)",
        ratio, atomic_load(&shared->attacks), atomic_load(&shared->selects));
    /* On a machine whose times are no check, twice the bound is. */
    race_ok(&shared->race, ratio <= 4, "and not four times as long");
    free(ratios);
}

struct role {
    struct part part;
    void *(*body)(void *);
};

static void *
play(void *argument)
{
    struct role *role = argument;
    struct shared *shared = role->part.shared;

    if (role->body != NULL)
        return role->body(&role->part);
    measure(shared);
    atomic_store(&shared->over, true);
    return NULL;
}

int
main(int argc, char **argv)
{
    static struct shared shared;
    struct role roles[strangers + callers + 1];
    PGconn *conn;
    PGresult *res;
    int count = 0;

    race_start(&shared.race, argc, argv);
    conn = race_connect_direct();
    bench_do(conn, "select pawl.create_workflow('stranger.run')");
    bench_do(conn,
        "do $$ begin execute format('create role %I login', 'race_stranger_' || "
        "current_database()); end $$");
    start_workers(&shared, conn);
    res = bench_exec(conn, "select string_agg(session::text, ',') from pawl.list_workers()");
    (void)snprintf(shared.channels, sizeof(shared.channels), "%s", PQgetvalue(res, 0, 0));
    PQclear(res);
    for (int i = 0; i < callers; i++)
        for (int p = 0; p < PHASES; p++)
            shared.samples[i][p].took_s = race_alloc(samples_max, sizeof(float));
    roles[count++] = (struct role){{&shared, 0}, NULL};
    for (int i = 0; i < strangers; i++)
        roles[count++] = (struct role){{&shared, i}, be_stranger};
    for (int i = 0; i < callers; i++)
        roles[count++] = (struct role){{&shared, i}, be_caller};
    race_threads(count, play, roles, sizeof(roles[0]));
    race_ok(&shared.race,
        race_count(conn,
            "select count(*) from pawl.list_workers() where state in ('live', 'idle')") == workers,
        "all workers are there, with the sessions they had");
    stop_workers(&shared);
    race_ok(&shared.race,
        race_count(conn,
            "select count(*) from pawl.list_runs(only_status => 'ERROR') where run_id "
            "is not null") == 0,
        "no run has failed");
    bench_do(conn,
        "do $$ begin execute format('drop role %I', 'race_stranger_' || current_database()); end "
        "$$");
    for (int i = 0; i < callers; i++)
        for (int p = 0; p < PHASES; p++)
            free(shared.samples[i][p].took_s);
    PQfinish(conn);
    return race_end(&shared.race);
}
