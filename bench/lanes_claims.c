/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers of claims: while ten thousand keys are at their limit with a hundred waiting runs each, when a hundred of them open, and with dead rows that a
 * held snapshot keeps. Measured without autovacuum.
 */
#include "lanes.h"

#include <stdio.h>

enum {
    TENANTS = 40,
};

static void
say(struct bench_report *report, const char *name, double value, double bound, const char *note)
{
    struct bench_figure figure = {
        .name = name,
        .value = value,
        .unit = "buffers",
        .bound_kind = bound > 0 ? BENCH_AT_MOST : BENCH_NO_BOUND,
        .bound = bound,
        .note = note,
    };

    bench_say(report, &figure);
}

/* Of a claim of the workflow without lanes beside them. */
static double
plain_buffers(PGconn *conn, int most)
{
    struct engine_hand *hand = engine_hand_new(1, "{plain.*}");
    double value;

    bench_do(conn,
        "select count(*) from generate_series(1, 4) n, lateral pawl.trigger_many('plain.run', "
        "array_fill(to_json(n), array[1000])) t");
    bench_do(conn, "vacuum analyze");
    value = engine_claim_buffers(hand, most, false);
    bench_do(conn, "delete from pawl_data.task where queue_id = bench.queue('plain.run')");
    engine_hand_done(hand);
    return value;
}

/* As many runs of another queue, without lanes: with them indexes are as deep as beside lanes. */
static void
fill_other(PGconn *conn, long count)
{
    struct bench_text sql;

    bench_do(conn, "select pawl.create_workflow('other.run')");
    bench_text_init(&sql, 200);
    bench_text_addf(&sql,
        "select count(*) from generate_series(1, %ld) n, lateral pawl.trigger_many('other.run', "
        "array_fill(to_json(n), array[1000])) t",
        count / 1000);
    bench_do(conn, sql.data);
    bench_text_done(&sql);
}

/* Of a claim of the hand's batch, which it holds then: the claim is made again with the same request number. */
static double
held_buffers(struct engine_hand *hand)
{
    struct bench_text call;
    double value;

    bench_text_init(&call, 200);
    bench_text_addf(&call, "select bench.buffers('select * from pawl.claim(%s, %d, %d)')",
        hand->session, hand->batch, hand->request + 1);
    bench_do(hand->conn, "select bench.set_tick(false)");
    value = bench_value(hand->conn, call.data);
    bench_text_done(&call);
    if (engine_hand_claim(hand) != hand->batch)
        bench_die("a claim of %d took %d", hand->batch, hand->held);
    return value;
}

/* The keys of a hundred runs that end give a run each. */
static double
opened_buffers(struct engine_hand *hand)
{
    double values[5];

    for (int i = -3; i < 5; i++) {
        double value;

        engine_hand_commit(hand, 1, 0, true);
        value = held_buffers(hand);
        if (i >= 0)
            values[i] = value;
    }
    return bench_percentile(values, 5, 0.5);
}

void
lanes_full(struct bench_report *report)
{
    long keys = report->quick ? 1000 : 10000, runs = report->quick ? 21 : 101;
    struct engine_hand *holder, *hand, *none;
    double one, hundred;
    char note[80];
    PGconn *conn;

    engine_quiet(true);
    conn = lanes_fresh("{\"key_limit\": 1}");
    bench_do(conn, "select pawl.create_workflow('plain.run')");
    fill_other(conn, keys * runs);
    one = plain_buffers(conn, 1);
    hundred = plain_buffers(conn, 100);
    bench_do(conn, "delete from pawl_data.task where queue_id = bench.queue('other.run')");
    lanes_fill_keys(conn, keys, runs);
    bench_do(conn, "vacuum analyze");
    holder = engine_hand_new(ENGINE_BATCH_MAX, "{bench.*}");
    hand = engine_hand_new(100, "{bench.*}");
    none = engine_hand_new(1, "{bench.*}");
    bench_do(holder->conn, "set synchronous_commit to off");
    bench_do(hand->conn, "set synchronous_commit to off");
    (void)snprintf(
        note, sizeof(note), "%ld runs that no claim has seen", keys * runs); /* two longs fit */
    say(report, "first_claim_of_100", held_buffers(hand), 0, note);
    do
        bench_do(holder->conn, "select bench.set_tick(false)");
    while (engine_hand_claim(holder) > 0);
    bench_do(conn, "vacuum analyze");
    (void)snprintf(
        note, sizeof(note), "%ld keys at their limit, %ld runs wait", keys, keys * (runs - 1));
    say(report, "empty_claim_beside_full_lanes", engine_claim_buffers(none, 1, false), 25, note);
    (void)snprintf(note, sizeof(note), "%.6g beside as many runs without lanes", one);
    say(report, "plain_claim_beside_full_lanes", plain_buffers(conn, 1), one + 2, note);
    (void)snprintf(note, sizeof(note), "%.6g beside as many runs without lanes", hundred);
    say(report, "plain_claim_of_100_beside_full_lanes", plain_buffers(conn, 100), hundred * 1.05,
        note);
    (void)snprintf(note, sizeof(note), "%.6g for plain ones", hundred);
    say(report, "claim_of_100_out_of_100_lanes", opened_buffers(hand), 4 * hundred, note);
    engine_hand_done(none);
    engine_hand_done(hand);
    engine_hand_done(holder);
    PQfinish(conn);
    engine_quiet(false);
}

static void
measure_claims(PGconn *conn, double *one, double *hundred)
{
    struct engine_hand *hand = engine_hand_new(1, "{bench.*}");

    bench_do(hand->conn, "set synchronous_commit to off");
    lanes_fill_tenants(conn, 1, TENANTS, 100);
    *one = engine_claim_buffers(hand, 1, false);
    *hundred = engine_claim_buffers(hand, 100, false);
    engine_hand_done(hand);
}

void
lanes_snapshot(struct bench_report *report)
{
    struct engine_hand *hand;
    long runs = report->quick ? 20000 : 100000;
    double one, hundred, one_after, hundred_after;
    char note[80];
    PGconn *conn, *holder;

    engine_quiet(true);
    conn = lanes_fresh("{\"fair\": true}");
    measure_claims(conn, &one, &hundred);
    holder = bench_connect();
    hand = engine_hand_new(ENGINE_BATCH_MAX, "{bench.*}");
    bench_do(hand->conn, "set synchronous_commit to off");
    bench_do(holder, "begin isolation level repeatable read");
    bench_do(holder, "select count(*) from pawl_data.task");
    for (long done = 0; done < runs; done += hand->held) {
        if (engine_hand_claim(hand) == 0) {
            lanes_fill_tenants(conn, 1, TENANTS, 100);
            if (engine_hand_claim(hand) == 0)
                bench_die("nothing to claim under a held snapshot");
        }
        engine_hand_commit(hand, 1, 0, true);
    }
    measure_claims(conn, &one_after, &hundred_after);
    (void)snprintf(note, sizeof(note), "%.6g before %ld runs", one, runs);
    say(report, "held_snapshot_claim_of_1_in_lanes", one_after, 4 * one, note);
    (void)snprintf(note, sizeof(note), "%.6g before %ld runs", hundred, runs);
    say(report, "held_snapshot_claim_of_100_in_lanes", hundred_after, 4 * hundred, note);
    bench_do(holder, "rollback");
    PQfinish(holder);
    engine_hand_done(hand);
    PQfinish(conn);
    engine_quiet(false);
}
