/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a tenant that triggers ten runs a second waits for their start while another tenant has a million waiting, on two workers that execute 64
 * at a time for 5 ms; and what the large tenant gets of what is left.
 */
#include "lanes.h"

#include <stdatomic.h>
#include <stdlib.h>

enum {
    WORKERS = 2,
    BATCH = 64,
    ROUNDS_MAX = 1000000,
};

struct load {
    double until;
    bool produces;
    atomic_long done;
    double *rounds; /* seconds between two claims of a worker */
    atomic_size_t rounds_count;
};

static bool
work(struct engine_hand *hand, struct load *load)
{
    double start = bench_now_s();
    int count = engine_hand_claim(hand);
    size_t n;

    if (count == 0) {
        bench_pause_ms(1);
        return bench_now_s() < load->until;
    }
    bench_pause_ms(5);
    engine_hand_commit(hand, 1, 0, true);
    atomic_fetch_add(&load->done, count);
    n = atomic_fetch_add(&load->rounds_count, 1);
    if (n < ROUNDS_MAX)
        load->rounds[n] = bench_now_s() - start;
    return bench_now_s() < load->until;
}

/* The first of the crew is the producer. */
static bool
take_turn(struct engine_hand *hand, int number, void *shared)
{
    struct load *load = shared;

    if (number > 0)
        return work(hand, load);
    if (load->produces)
        lanes_fill_tenants(hand->conn, 2, 2, 1);
    bench_pause_ms(100);
    return bench_now_s() < load->until;
}

/* Runs the load; returns how many runs a second were done. */
static double
run(struct load *load, double seconds, bool produces)
{
    load->produces = produces;
    load->until = bench_now_s() + seconds;
    atomic_store(&load->done, 0);
    atomic_store(&load->rounds_count, 0);
    lanes_crew(1 + WORKERS, BATCH, take_turn, load);
    return (double)atomic_load(&load->done) / seconds;
}

/* Milliseconds from trigger to start of the runs of the small tenant that have ended since. */
static double
waited_ms(PGconn *conn, const char *since)
{
    struct bench_text sql;
    double value;

    bench_text_init(&sql, 300);
    bench_text_addf(&sql,
        "select 1000 * percentile_disc(0.99) within group (order by date_part('epoch', started_at "
        "- triggered_at)) "
        "from pawl_data.run where tenant = 't2' and triggered_at > '%s'",
        since);
    value = bench_value(conn, sql.data);
    bench_text_done(&sql);
    return value;
}

void
lanes_newcomer(struct bench_report *report)
{
    struct load load = {.rounds = calloc(ROUNDS_MAX, sizeof(double))};
    double seconds = report->quick ? 5 : 40, alone, together, round, all, beside;
    long runs = report->quick ? 150000 : 1000000;
    PGconn *conn = lanes_fresh("{\"fair\": true}");
    struct bench_figure figure = {
        .unit = "ms", .bound_kind = BENCH_AT_MOST, .gate = bench_time_gate(report->quick)};
    PGresult *res;

    if (load.rounds == NULL)
        bench_die("out of memory");
    (void)run(&load, seconds, true);
    alone = waited_ms(conn, "-infinity");
    lanes_fill_tenants(conn, 1, 1, runs);
    bench_do(conn, "vacuum analyze");
    bench_do(conn, "checkpoint");
    all = run(&load, seconds / 2, false);
    res = bench_exec(conn, "select clock_timestamp()");
    beside = run(&load, seconds, true);
    together = waited_ms(conn, PQgetvalue(res, 0, 0));
    PQclear(res);
    if (bench_value(conn, "select count(*) from pawl_data.task where tenant = 't1'") == 0)
        bench_die("nothing is left of the large tenant");
    round = 1000 * bench_percentile(load.rounds, atomic_load(&load.rounds_count), 0.99);
    bench_say_plain(report, "newcomer_alone_p99", alone, "ms", BENCH_NO_BOUND, 0);
    bench_say_plain(report, "newcomer_claim_round_p99", round, "ms", BENCH_NO_BOUND, 0);
    figure.name = "newcomer_p99";
    figure.value = together;
    figure.bound = round + 2 * alone;
    bench_say(report, &figure);
    figure = (struct bench_figure){.name = "large_tenant_share",
        .unit = "of what is left",
        .bound_kind = BENCH_AT_LEAST,
        .bound = 0.9,
        .gate = bench_ratio_gate(report->quick, BENCH_AT_LEAST, 0.9)};
    figure.value = (beside - 10) / (all - 10);
    bench_say(report, &figure);
    free(load.rounds);
    PQfinish(conn);
}
