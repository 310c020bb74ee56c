/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of a wait for an event to the server, compared with a recorded step: opened and suspended in batches as a worker does it, then
 * settled by the event. And how long one event takes to wake very many runs.
 */
#include "crowd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BATCH = 500
};

static const double wake_limit_s = 600;

static const char commit_sql[] =
    "select item, answer, reason from pawl.commit($1, $2::uuid[], $3::int[], $4::text[], "
    "$5::text[], $6::text[], $7::int[], options => $8::text[])";

/* A session and the texts of its calls. */
struct hand {
    PGconn *conn;
    char session[24];
    int request;
    int held;
    char runs[BATCH][37];
    char fences[BATCH][12];
    struct bench_text ids, numbers, kinds, names, payloads, seqs, options;
    double cpu_s; /* of the commits so far */
};

static struct hand *
hand_new(void)
{
    struct hand *hand = calloc(1, sizeof(*hand));
    PGresult *res;

    if (hand == NULL)
        bench_die("out of memory");
    hand->conn = bench_connect();
    bench_text_init(&hand->ids, 2 * BATCH * 40);
    bench_text_init(&hand->numbers, 2 * BATCH * 12);
    bench_text_init(&hand->kinds, 2 * BATCH * 12);
    bench_text_init(&hand->names, 2 * BATCH * 12);
    bench_text_init(&hand->payloads, 2 * BATCH * 260);
    bench_text_init(&hand->seqs, 2 * BATCH * 8);
    bench_text_init(&hand->options, 2 * BATCH * 40);
    bench_prepare(hand->conn, "commit", commit_sql, 8);
    res = bench_exec(hand->conn,
        "select session from pawl.register('waits', '{" CROWD_WORKFLOW "}', lease => '1 hour')");
    (void)snprintf(hand->session, sizeof(hand->session), "%s", PQgetvalue(res, 0, 0));
    PQclear(res);
    return hand;
}

static void
hand_done(struct hand *hand)
{
    PQfinish(hand->conn);
    bench_text_done(&hand->ids);
    bench_text_done(&hand->numbers);
    bench_text_done(&hand->kinds);
    bench_text_done(&hand->names);
    bench_text_done(&hand->payloads);
    bench_text_done(&hand->seqs);
    bench_text_done(&hand->options);
    free(hand);
}

static int
claim(struct hand *hand)
{
    char most[16], request[16];
    const char *params[] = {hand->session, most, request};
    PGresult *res;

    (void)snprintf(most, sizeof(most), "%d", BATCH); /* An int fits. */
    (void)snprintf(request, sizeof(request), "%d", ++hand->request);
    res = bench_exec_params(
        hand->conn, "select run_id, fence from pawl.claim($1, $2, $3)", 3, params);
    hand->held = PQntuples(res);
    for (int i = 0; i < hand->held; i++) {
        (void)snprintf(hand->runs[i], sizeof(hand->runs[i]), "%s", PQgetvalue(res, i, 0));
        (void)snprintf(hand->fences[i], sizeof(hand->fences[i]), "%s", PQgetvalue(res, i, 1));
    }
    PQclear(res);
    return hand->held;
}

static void
clear_items(struct hand *hand)
{
    bench_text_clear(&hand->ids);
    bench_text_clear(&hand->numbers);
    bench_text_clear(&hand->kinds);
    bench_text_clear(&hand->names);
    bench_text_clear(&hand->payloads);
    bench_text_clear(&hand->seqs);
    bench_text_clear(&hand->options);
}

/* One more item; the texts are elements of arrays, quoted where it is needed. */
static void
add_item(struct hand *hand, int run, const char *kind, const char *name, const char *seq,
    const char *item_payload, const char *option)
{
    const char *comma = hand->ids.length == 0 ? "{" : ",";

    bench_text_addf(&hand->ids, "%s%s", comma, hand->runs[run]);
    bench_text_addf(&hand->numbers, "%s%s", comma, hand->fences[run]);
    bench_text_addf(&hand->kinds, "%s%s", comma, kind);
    bench_text_addf(&hand->names, "%s%s", comma, name);
    bench_text_addf(&hand->payloads, "%s%s", comma, item_payload);
    bench_text_addf(&hand->seqs, "%s%s", comma, seq);
    bench_text_addf(&hand->options, "%s%s", comma, option);
}

static void
send_items(struct hand *hand)
{
    static struct crowd_cpu before, after;
    const char *params[] = {hand->session, hand->ids.data, hand->numbers.data, hand->kinds.data,
        hand->names.data, hand->payloads.data, hand->seqs.data, hand->options.data};
    PGresult *res;

    bench_text_add(&hand->ids, "}");
    bench_text_add(&hand->numbers, "}");
    bench_text_add(&hand->kinds, "}");
    bench_text_add(&hand->names, "}");
    bench_text_add(&hand->payloads, "}");
    bench_text_add(&hand->seqs, "}");
    bench_text_add(&hand->options, "}");
    crowd_cpu_read(hand->conn, &before);
    res = bench_exec_prepared(hand->conn, "commit", 8, params);
    crowd_cpu_read(hand->conn, &after);
    hand->cpu_s += crowd_cpu_between(&before, &after);
    for (int i = 0; i < PQntuples(res); i++) {
        if (strcmp(PQgetvalue(res, i, 1), "ok") != 0)
            bench_die("commit answered \"%s\": %s", PQgetvalue(res, i, 1), PQgetvalue(res, i, 2));
    }
    PQclear(res);
}

static void
trigger_runs(PGconn *conn, long count)
{
    struct bench_text sql;

    bench_text_init(&sql, 300);
    for (long made = 0; made < count; made += BATCH) {
        bench_text_clear(&sql);
        bench_text_addf(&sql,
            "select count(*) from pawl.trigger_many('" CROWD_WORKFLOW
            "', array_fill('{}'::json, array[%d]))",
            BATCH);
        bench_do(conn, sql.data);
    }
    bench_text_done(&sql);
    bench_do(conn, "vacuum analyze pawl_data.task");
}

/* Records one step of each of so many runs and completes them; returns the processor time of a step, in us. */
static double
step_us(struct hand *hand, long count)
{
    static const char output[] =
        "\"{\\\"pad\\\":\\\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\\\"}\"";
    long done = 0;

    trigger_runs(hand->conn, count);
    hand->cpu_s = 0;
    while (claim(hand) > 0) {
        double steps_s;

        clear_items(hand);
        for (int i = 0; i < hand->held; i++)
            add_item(hand, i, "step", "step1#1", "1", output, "null");
        send_items(hand);
        steps_s = hand->cpu_s;
        clear_items(hand);
        for (int i = 0; i < hand->held; i++)
            add_item(hand, i, "complete", "null", "null", output, "null");
        send_items(hand);
        hand->cpu_s = steps_s;
        done += hand->held;
    }
    return hand->cpu_s * 1e6 / (double)done;
}

/* Lets so many runs wait, each for a topic of its own or all for one; returns the processor time of a wait, in us. */
static double
open_us(struct hand *hand, long count, bool own)
{
    double start = bench_now_s();
    long done = 0;

    trigger_runs(hand->conn, count);
    hand->cpu_s = 0;
    while (claim(hand) > 0) {
        clear_items(hand);
        for (int i = 0; i < hand->held; i++) {
            char option[48];

            (void)snprintf(option, sizeof(option), "\"{\\\"topic\\\":\\\"t%ld\\\"}\"",
                own ? done + i + 1 : 0L); /* A long fits. */
            add_item(hand, i, "event", "e#1", "1", "null", option);
            add_item(hand, i, "suspend", "null", "null", "null", "null");
        }
        send_items(hand);
        done += hand->held;
        if (bench_now_s() - start > wake_limit_s)
            bench_die("only %ld waits could be opened", done);
    }
    return hand->cpu_s * 1e6 / (double)done;
}

/* Emits the one event and ticks until no run waits; returns the seconds. */
static double
wake_all(PGconn *conn)
{
    double start = bench_now_s(), limit = bench_limit_s(wake_limit_s);

    bench_do(conn, "select pawl.emit('t0')");
    while (
        bench_value(conn, "select exists (select from pawl_data.wait where kind = 'e')::int") > 0) {
        if (bench_now_s() > limit)
            bench_die("waits are left");
        bench_do(conn, "call pawl.tick()");
        crowd_sleep_ms(5);
    }
    return bench_now_s() - start;
}

/* One event for each topic, one after the other. */
static void
wake_each(PGconn *conn, long count)
{
    bench_prepare(conn, "emit", "select pawl.emit('t' || $1::text)", 1);
    for (long i = 1; i <= count; i++) {
        char number[24];
        const char *params[] = {number};

        (void)snprintf(number, sizeof(number), "%ld", i); /* A long fits. */
        PQclear(bench_exec_prepared(conn, "emit", 1, params));
    }
}

/* Processor time in us: of a step, and of a wait that is opened and settled, of one topic and of a topic of its own. */
struct costs {
    double step, opened_one, settled_one, opened_own, settled_own;
};

static void
measure_costs(const struct crowd_report *report, struct costs *costs)
{
    static struct crowd_cpu before, after;
    long count = report->quick ? 2000 : 10000;
    struct hand *hand;
    PGconn *conn;

    crowd_fresh();
    crowd_disk(CROWD_FAST_US);
    hand = hand_new();
    conn = bench_connect();
    (void)step_us(hand, 2 * BATCH); /* Plans are made. */
    costs->step = step_us(hand, 2 * count);
    costs->opened_one = open_us(hand, count, false);
    crowd_cpu_read(conn, &before);
    (void)wake_all(conn);
    crowd_cpu_read(conn, &after);
    costs->settled_one = crowd_cpu_between(&before, &after) * 1e6 / (double)count;
    bench_do(conn, "truncate pawl_data.task, pawl_data.wait");
    costs->opened_own = open_us(hand, count, true);
    crowd_cpu_read(conn, &before);
    wake_each(conn, count);
    crowd_cpu_read(conn, &after);
    costs->settled_own = crowd_cpu_between(&before, &after) * 1e6 / (double)count;
    hand_done(hand);
    PQfinish(conn);
}

static void
say_costs(struct crowd_report *report, const struct costs *costs)
{
    double values[7][CROWD_ROUNDS];
    struct crowd_name us = {.unit = "us of the server"};
    struct crowd_name ratio = {
        .unit = "times a recorded step",
        .kind = BENCH_AT_MOST,
        .bound = 20,
        .goal = 8,
    };
    static const char *const names[] = {"step_recorded", "wait_opened", "wait_settled",
        "wait_of_its_own_topic_opened", "wait_of_its_own_topic_settled_by_its_own_emit"};

    for (int r = 0; r < report->rounds; r++) {
        values[0][r] = costs[r].step;
        values[1][r] = costs[r].opened_one;
        values[2][r] = costs[r].settled_one;
        values[3][r] = costs[r].opened_own;
        values[4][r] = costs[r].settled_own;
        values[5][r] = (costs[r].opened_one + costs[r].settled_one) / costs[r].step;
        values[6][r] = costs[r].opened_own / costs[r].step;
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        us.name = names[i];
        crowd_say_median(report, &us, values[i]);
    }
    ratio.name = "wait_opened_and_settled_ratio";
    crowd_say_median(report, &ratio, values[5]);
    ratio.name = "wait_of_its_own_topic_opened_ratio";
    crowd_say_median(report, &ratio, values[6]);
}

/* Very many waits of one topic. */
static void
measure_woken(struct crowd_report *report)
{
    long count = report->quick ? 10000 : 100000;
    char name[40];
    struct crowd_name woken = {
        .name = name,
        .unit = "s until all are ready",
        .kind = BENCH_AT_MOST,
        .bound = report->quick ? 1 : 10,
        .goal = report->quick ? 0.4 : 4,
        .is_time = true,
    };
    struct hand *hand;
    double start;

    crowd_fresh();
    crowd_disk(CROWD_FAST_US);
    hand = hand_new();
    start = bench_now_s();
    (void)open_us(hand, count, false);
    crowd_say_plain(report, (double)count / (bench_now_s() - start), "waits/s",
        "waits_of_one_topic_opened_with_trigger_and_claim");
    (void)snprintf(name, sizeof(name), "waits_woken_%ld", count);
    crowd_say(report, &woken, wake_all(hand->conn));
    hand_done(hand);
}

void
crowd_waits(struct crowd_report *report)
{
    struct costs costs[CROWD_ROUNDS];

    for (int r = 0; r < report->rounds; r++)
        measure_costs(report, &costs[r]);
    say_costs(report, costs);
    measure_woken(report);
}
