/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The works that other products on PostgreSQL were measured with on such a machine, each as a share of a bare figure that is
 * taken in the same round. A bound is the best share of a product that gives what pawl gives: a job that is durable when the call
 * returns, is executed at least once whatever crashes, and whose outcome is kept and written once.
 */
#include "bare.h"
#include "runtime.h"

#include <pawl/pawl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum {
    PRODUCERS = 8,
    BULK = 1000,
    CONNECTIONS = 8,
};

enum {
    SIDES_MAX = 2,
};

/* One work: what pawl does, in one or two ways, beside one or two bare figures. */
struct work {
    double (*pawl)(const struct runtime_report *report, int parameter, long total);
    long total, quick_total;
    struct {
        const char *name;
        int parameter;
        double bounds[SIDES_MAX]; /* of the share of each bare figure */
        const char *peer;         /* who sets them */
    } ways[SIDES_MAX];
    struct {
        const char *suffix;
        enum bench_bare_mode mode;
        int batch;
        int connections;
        long total, quick_total;
    } bares[SIDES_MAX];
};

static void
die_of(pawl_error *error)
{
    bench_die("%s %s", pawl_error_message(error), pawl_error_hint(error));
}

/* --- enqueueing, with the library's own client --- */

struct producer {
    long total;
    int batch;
};

static void
add_inputs(pawl_trigger *trigger, int batch)
{
    pawl_trigger_set_input(trigger, pawl_text(runtime_payload));
    for (int i = 0; batch > 1 && i < batch; i++)
        pawl_trigger_add(trigger, pawl_text(runtime_payload), NULL);
}

static void *
produce(void *arg)
{
    const struct producer *producer = arg;
    pawl_config *config = pawl_config_new();
    pawl_trigger *trigger = pawl_trigger_new(RUNTIME_WORKFLOW);
    pawl_client *client;
    pawl_error *error;

    if (config == NULL || trigger == NULL)
        bench_die("out of memory");
    if (pawl_client_open(config, &client, &error) != PAWL_OK)
        die_of(error);
    add_inputs(trigger, producer->batch);
    for (long made = 0; made < producer->total; made += producer->batch) {
        char run_id[PAWL_ID_SIZE];
        pawl_status status = producer->batch > 1
            ? pawl_client_trigger_many(client, trigger, NULL, NULL, &error)
            : pawl_client_trigger(client, trigger, run_id, NULL, &error);

        if (status != PAWL_OK)
            die_of(error);
    }
    pawl_trigger_free(trigger);
    pawl_client_close(client);
    pawl_config_free(config);
    return NULL;
}

/* Producers with a client each; `batch` runs per call. */
static double
enqueue(int producers, int batch, long total)
{
    pthread_t threads[PRODUCERS];
    struct producer producer = {.total = total / producers, .batch = batch};
    double start, seconds;
    PGconn *conn;

    runtime_fresh();
    conn = bench_connect();
    bench_do(conn, "checkpoint");
    start = bench_now_s();
    for (int i = 0; i < producers; i++)
        if (pthread_create(&threads[i], NULL, produce, &producer) != 0)
            bench_die("cannot start a thread");
    for (int i = 0; i < producers; i++)
        if (pthread_join(threads[i], NULL) != 0)
            bench_die("cannot join a thread");
    seconds = bench_now_s() - start;
    if ((long)bench_value(conn, "select count(*) from pawl_data.task") != total)
        bench_die("not all runs were triggered");
    PQfinish(conn);
    return (double)total / seconds;
}

static double
enqueue_single(const struct runtime_report *report, int parameter, long total)
{
    (void)report;
    return enqueue(parameter, 1, total);
}

static double
enqueue_bulk(const struct runtime_report *report, int parameter, long total)
{
    (void)report;
    return enqueue(parameter, BULK, total);
}

/* --- draining --- */

static double
drain(const struct runtime_report *report, int processes, int steps, long total)
{
    struct runtime_drained drained;
    struct runtime_spec spec = {
        .steps = steps,
        .total = total,
        .processes = processes,
        .settings = {"concurrency=256"},
    };

    runtime_drain(report, &spec, &drained);
    return drained.per_s;
}

static double
drain_noop(const struct runtime_report *report, int parameter, long total)
{
    return drain(report, parameter, 0, total);
}

static double
drain_steps(const struct runtime_report *report, int parameter, long total)
{
    return drain(report, parameter, RUNTIME_STEPS, total);
}

/*
 * Which product sets which bound. pgmq (enqueue 0.29 and 0.41, drain 0.42 and 0.52) keeps no outcome and accepts a late delete
 * from a reader whose time was over; graphile-worker (drain 0.24 and 0.39) deletes a job that is done. Both are faster because
 * they promise less, and are not a bound. Chains of jobs (pg-boss 0.35 of the three-step work) and an overwritten blob
 * (BullMQ 0.17) are no recorded steps.
 */
static const struct work works[] = {
    /* absurd 0.15, BullMQ on PostgreSQL 0.11, DBOS 0.10, pg-boss 0.07, pgflow 0.05 */
    {enqueue_single, 40000, 4000, {{"enqueue", PRODUCERS, {0.15}, "absurd"}},
        {{"", BENCH_BARE_INSERT, 1, CONNECTIONS, 40000, 4000}}},
    /* pg-boss 0.13, BullMQ on PostgreSQL 0.09, absurd 0.03, DBOS 0.01 */
    {enqueue_bulk, 200000, 20000, {{"enqueue_bulk", 1, {0.13}, "pg-boss"}},
        {{"", BENCH_BARE_INSERT, BULK, 1, 200000, 20000}}},
    /*
     * One process: pg-boss 0.23 and 3.5, DBOS and BullMQ on PostgreSQL at most 0.02 and 0.20, absurd and pgflow 0.01 and 0.14. Two:
     * pg-boss 0.24 and 3.2, DBOS 0.02 and 0.23.
     */
    {drain_noop, 20000, 10000,
        {{"drain", 1, {0.23, 3.5}, "pg-boss"}, {"drain_with_two", 2, {0.24, 3.2}, "pg-boss"}},
        {{"", BENCH_BARE_DELETE, 100, CONNECTIONS, 20000, 10000},
            {"_one_by_one", BENCH_BARE_DELETE, 1, CONNECTIONS, 20000, 2000}}},
    /* absurd 0.12, DBOS 0.11, pgflow 0.06 */
    {drain_steps, 2000, 2000, {{"drain_three_steps", 1, {0.12}, "absurd"}},
        {{"", BENCH_BARE_DRAIN, 1, CONNECTIONS, 2000, 2000}}},
};

/* What was measured in the rounds of one work. */
struct measured {
    double pawl[SIDES_MAX][RUNTIME_ROUNDS];
    double bare[SIDES_MAX][RUNTIME_ROUNDS];
};

static void
say_named(struct runtime_report *report, struct bench_figure *figure, const char *work,
    const char *what, const char *suffix, double *values)
{
    double sorted[RUNTIME_ROUNDS];
    struct bench_text name;

    memcpy(sorted, values, sizeof(sorted));
    bench_text_init(&name, 100);
    bench_text_addf(&name, "%s_%s%s", work, what, suffix);
    figure->name = name.data;
    runtime_say_median(report, figure, sorted, runtime_rounds(report));
    bench_text_done(&name);
}

static void
say_way(struct runtime_report *report, const struct work *work, int way, struct measured *measured)
{
    struct bench_figure speed = {.unit = "runs/s"};

    say_named(report, &speed, work->ways[way].name, "pawl", "", measured->pawl[way]);
    for (int b = 0; b < SIDES_MAX && work->bares[b].suffix != NULL; b++) {
        double shares[RUNTIME_ROUNDS] = {0};
        struct bench_figure figure = {
            .unit = "of bare",
            .bound_kind = BENCH_AT_LEAST,
            .bound = work->ways[way].bounds[b],
            .gate =
                bench_ratio_gate(report->figures.quick, BENCH_AT_LEAST, work->ways[way].bounds[b]),
            .note = work->ways[way].peer,
        };

        for (int i = 0; i < runtime_rounds(report); i++)
            shares[i] = measured->pawl[way][i] / measured->bare[b][i];
        say_named(report, &figure, work->ways[way].name, "ratio", work->bares[b].suffix, shares);
    }
}

static void
measure(struct runtime_report *report, const struct work *work)
{
    struct measured measured = {0};
    long total = report->figures.quick ? work->quick_total : work->total;

    for (int i = 0; i < runtime_rounds(report); i++) {
        runtime_bare();
        for (int b = 0; b < SIDES_MAX && work->bares[b].suffix != NULL; b++)
            measured.bare[b][i] = bench_bare_run(work->bares[b].mode, work->bares[b].batch,
                work->bares[b].connections,
                report->figures.quick ? work->bares[b].quick_total : work->bares[b].total);
        for (int w = 0; w < SIDES_MAX && work->ways[w].name != NULL; w++)
            measured.pawl[w][i] = work->pawl(report, work->ways[w].parameter, total);
    }
    for (int b = 0; b < SIDES_MAX && work->bares[b].suffix != NULL; b++) {
        struct bench_figure figure = {
            .unit = "runs/s",
            .batch = work->bares[b].batch,
            .connections = work->bares[b].connections,
        };

        say_named(
            report, &figure, work->ways[0].name, "bare", work->bares[b].suffix, measured.bare[b]);
    }
    for (int w = 0; w < SIDES_MAX && work->ways[w].name != NULL; w++)
        say_way(report, work, w, &measured);
}

void
runtime_peers(struct runtime_report *report)
{
    struct runtime_pickup pickup;

    for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++)
        measure(report, &works[i]);
    /*
     * There is no bare figure for the others, so the bounds are in ms, with the machine's noise in them, and only the full form has them: p50 graphile-worker
     * with a local queue, the best of all on PostgreSQL (BullMQ on PostgreSQL 4.5, pg-boss 4.6), p99 pg-boss 7.2 (graphile-worker
     * 6.3 keeps no outcome).
     */
    runtime_pickup(
        report, report->figures.quick ? 60 : 200, report->figures.quick ? 25 : 50, &pickup);
    bench_say_plain(&report->figures, "pickup_beside_peers_bare_p50", pickup.bare_p50_ms, "ms",
        BENCH_NO_BOUND, 0);
    bench_say_plain(&report->figures, "pickup_beside_peers_p50", pickup.p50_ms, "ms",
        report->figures.quick ? BENCH_NO_BOUND : BENCH_AT_MOST, 4.0);
    bench_say_plain(
        &report->figures, "pickup_beside_peers_p95", pickup.p95_ms, "ms", BENCH_NO_BOUND, 0);
    bench_say_plain(&report->figures, "pickup_beside_peers_p99", pickup.p99_ms, "ms",
        report->figures.quick ? BENCH_NO_BOUND : BENCH_AT_MOST, 7.2);
}
