/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fairness between tenants: eight claimers of a thousand tenants with a backlog each, a tenant that comes later, and eight claimers of one tenant
 * against a queue without lanes.
 */
#include "lanes.h"

#include <stdatomic.h>

enum {
    CLAIMERS = 8,
    BATCH = 100,
    QUANTUM = 7, /* a sixteenth of the batch */
    HEAVY = 7,   /* the tenant of weight 3 */
    NEWCOMERS = 10,
    ROUNDS = 5,
    QUICK_ROUNDS = 3,
};

/* What claimers share: they stop once so many runs were claimed. */
struct claims {
    long until;
    atomic_long taken, claims, empty;
};

static bool
claim_and_complete(struct engine_hand *hand, int number, void *shared)
{
    struct claims *c = shared;
    int count;

    (void)number;
    if (atomic_load(&c->taken) >= c->until)
        return false;
    count = engine_hand_claim(hand);
    atomic_fetch_add(&c->claims, 1);
    atomic_fetch_add(&c->taken, count);
    if (count == 0)
        atomic_fetch_add(&c->empty, 1);
    engine_hand_commit(hand, 1, 0, true);
    return true;
}

/* How many claims of one session it takes until a tenant that comes now is served; the most of some. */
static int
newcomer_claims(PGconn *conn)
{
    struct engine_hand *hand = engine_hand_new(BATCH, "{bench.*}");
    struct bench_text left;
    int most = 0;

    bench_text_init(&left, 200);
    for (int i = 0; i < NEWCOMERS; i++) {
        int claims = 0;

        bench_text_clear(&left);
        bench_text_addf(
            &left, "select count(*) from pawl_data.task where tenant = 't%d'", 100000 + i);
        lanes_fill_tenants(conn, 100000 + i, 100000 + i, 1);
        do {
            if (engine_hand_claim(hand) == 0)
                bench_die("the newcomer was not served");
            engine_hand_commit(hand, 1, 0, true);
            claims++;
        } while (bench_value(conn, left.data) > 0);
        most = claims > most ? claims : most;
    }
    bench_text_done(&left);
    engine_hand_done(hand);
    return most;
}

void
lanes_shares(struct bench_report *report)
{
    long tenants = report->quick ? 100 : 1000, runs = report->quick ? 300 : 1000;
    struct claims claims = {.until = tenants * 20};
    struct bench_text sql;
    PGconn *conn = lanes_fresh("{\"fair\": true}");
    double due;
    struct bench_figure figure = {
        .name = "share_off_what_is_due",
        .unit = "runs, by weight",
        .bound_kind = BENCH_AT_MOST,
        .bound = 2 * QUANTUM,
    };

    bench_do(
        conn, "select pawl.set_lane('" ENGINE_WORKFLOW "', null, weight => 3, tenant => 't7')");
    lanes_fill_tenants(conn, 1, tenants, runs);
    bench_do(conn, "vacuum analyze");
    /* Until claims have seen all of them: a lane joins with the least turn of those that it finds. */
    lanes_crew(CLAIMERS, BATCH, claim_and_complete, &claims);
    bench_do(conn,
        "create table bench.left as select tenant, count(*) as n from pawl_data.task group by "
        "tenant");
    claims.until = tenants * 72;
    lanes_crew(CLAIMERS, BATCH, claim_and_complete, &claims);
    bench_text_init(&sql, 600);
    bench_text_addf(&sql,
        "create table bench.share as select l.tenant, (l.n - count(t.*))::float8 as taken, case "
        "l.tenant when 't%d' then 3 else 1 end as weight from bench.left l left join "
        "pawl_data.task t on t.tenant = l.tenant group by l.tenant, l.n",
        HEAVY);
    bench_do(conn, sql.data);
    due = bench_value(conn, "select sum(taken) / sum(weight) from bench.share");
    bench_text_clear(&sql);
    bench_text_addf(&sql, "select max(abs(taken / weight - %.9f)) from bench.share", due);
    figure.value = bench_value(conn, sql.data);
    bench_text_clear(&sql);
    bench_text_addf(&sql, "%.1f each are due", due);
    figure.note = sql.data;
    bench_say(report, &figure);
    bench_say_plain(report, "share_of_weight_3",
        bench_value(conn, "select taken from bench.share where weight = 3") / due,
        "of a share of weight 1", BENCH_NO_BOUND, 0);
    bench_text_done(&sql);
    bench_say_plain(report, "newcomer_claims", newcomer_claims(conn), "claims until it is served",
        BENCH_AT_MOST, 3);
    PQfinish(conn);
}

/* Runs a second, and the share of claims that are empty. */
static double
speed(const char *options, long runs, double *empty)
{
    struct claims claims = {.until = runs - (long)CLAIMERS * BATCH};
    PGconn *conn = lanes_fresh(options);
    double start;

    lanes_fill_tenants(conn, 1, 1, runs);
    bench_do(conn, "vacuum analyze");
    bench_do(conn, "checkpoint");
    start = bench_now_s();
    lanes_crew(CLAIMERS, BATCH, claim_and_complete, &claims);
    start = bench_now_s() - start;
    *empty = (double)atomic_load(&claims.empty) / (double)atomic_load(&claims.claims);
    PQfinish(conn);
    return (double)atomic_load(&claims.taken) / start;
}

void
lanes_claimers(struct bench_report *report)
{
    double laned[ROUNDS], plain[ROUNDS], shares[ROUNDS], empties[ROUNDS], none;
    long runs = report->quick ? 20000 : 100000;
    int rounds = report->quick ? QUICK_ROUNDS : ROUNDS;
    struct bench_figure figure = {.unit = "runs/s", .batch = BATCH, .connections = CLAIMERS};

    for (int i = 0; i < rounds; i++) {
        plain[i] = speed("{\"fair\": false}", runs, &none);
        laned[i] = speed("{\"fair\": true}", runs, &empties[i]);
        shares[i] = laned[i] / plain[i];
    }
    figure.name = "claimers_plain";
    bench_figure_median(&figure, plain, rounds);
    bench_say(report, &figure);
    figure.name = "claimers_of_one_tenant";
    bench_figure_median(&figure, laned, rounds);
    bench_say(report, &figure);
    figure.unit = "of the plain queue";
    figure.bound_kind = BENCH_AT_LEAST;
    figure.bound = 0.8;
    figure.gate = bench_ratio_gate(report->quick, BENCH_AT_LEAST, figure.bound);
    figure.name = "claimers_ratio";
    bench_figure_median(&figure, shares, rounds);
    bench_say(report, &figure);
    figure = (struct bench_figure){.name = "claimers_empty",
        .unit = "of all claims",
        .bound_kind = BENCH_AT_MOST,
        .bound = 0.01};
    bench_figure_median(&figure, empties, rounds);
    bench_say(report, &figure);
}
