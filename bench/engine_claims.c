/* SPDX-License-Identifier: Apache-2.0 */
/*
 * That a claim and an emit cost the same however much lies around: buffers touched by one call, before and after the
 * tables are filled. Measured without autovacuum; tables are filled by SQL and vacuumed once, as they would be.
 */
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Buffers of one claim of one task, of one of a hundred, and of one with its round of housekeeping. */
struct cost {
    double one, hundred, tick;
};

static void
do_counted(PGconn *conn, const char *format, long from, long count)
{
    struct bench_text sql;

    bench_text_init(&sql, 400);
    bench_text_addf(&sql, "select bench.%s, %ld, %ld)", format, from, count);
    bench_do(conn, sql.data);
    bench_text_done(&sql);
}

/* A connection that does not wait for the disk: buffers do not depend on it. */
static struct engine_hand *
hurried_hand(int batch, const char *handles)
{
    struct engine_hand *hand = engine_hand_new(batch, handles);

    bench_do(hand->conn, "set synchronous_commit to off");
    return hand;
}

/* A new session each time, with runs to claim that nobody has held. `clean` is false where the dead are to stay. */
static struct cost
measure(const char *handles, bool clean)
{
    struct engine_hand *filler = hurried_hand(ENGINE_BATCH_MAX, "{none}");
    struct engine_hand *hand = hurried_hand(1, handles);
    struct cost cost;

    if (clean) {
        bench_do(filler->conn,
            "delete from pawl_data.task where place <> 'w' and queue_id = "
            "bench.queue('bench.run')");
        bench_do(filler->conn, "vacuum analyze");
    }
    for (int i = 0; i < 3; i++)
        engine_hand_trigger(filler, false);
    cost.one = engine_claim_buffers(hand, 1, false);
    cost.tick = engine_claim_buffers(hand, 1, true);
    cost.hundred = engine_claim_buffers(hand, 100, false);
    engine_hand_done(hand);
    engine_hand_done(filler);
    return cost;
}

/* Of one claim of one task, in a new session. */
static double
claim_buffers_once(void)
{
    struct engine_hand *hand = hurried_hand(1, "{bench.*}");
    struct bench_text call;
    double value;

    bench_do(hand->conn, "select bench.set_tick(false)");
    bench_text_init(&call, 200);
    bench_text_addf(
        &call, "select bench.buffers('select * from pawl.claim(%s, 1)')", hand->session);
    value = bench_value(hand->conn, call.data);
    bench_text_done(&call);
    engine_hand_done(hand);
    return value;
}

/* Says one figure beside what it was before; `factor` is the bound of their ratio, 0 for none. */
static void
say(struct bench_report *report, const char *name, const char *what, double before, double after,
    double factor)
{
    struct bench_text label, note;
    struct bench_figure figure = {
        .value = after,
        .bound_kind = factor > 0 ? BENCH_AT_MOST : BENCH_NO_BOUND,
        .bound = before * factor,
    };

    bench_text_init(&label, 200);
    bench_text_init(&note, 200);
    bench_text_addf(&label, "%s_%s", name, what);
    bench_text_addf(&note, "%.6g before", before);
    figure.name = label.data;
    figure.unit = "buffers";
    figure.note = note.data;
    bench_say(report, &figure);
    bench_text_done(&note);
    bench_text_done(&label);
}

static void
say_cost(struct bench_report *report, const char *name, const struct cost *before,
    const struct cost *after, double factor)
{
    say(report, name, "claim_of_1", before->one, after->one, factor);
    say(report, name, "claim_of_100", before->hundred, after->hundred, factor);
    say(report, name, "claim_with_housekeeping", before->tick, after->tick, factor);
}

static void
claim_with_history(struct bench_report *report, PGconn *conn, long many)
{
    char name[64];
    struct cost before, after;

    do_counted(conn, "fill_runs(current_date - 1", 1, 10000);
    do_counted(conn, "fill_steps(current_date - 1", 1, 10000);
    before = measure("{bench.*}", true);
    do_counted(conn, "fill_runs(current_date - 1", 10001, many / 2 - 10000);
    do_counted(conn, "fill_runs(current_date", 1, many / 2);
    after = measure("{bench.*}", true);
    (void)snprintf(name, sizeof(name), "history_of_%ld", many); /* A long fits. */
    say_cost(report, name, &before, &after, 1.2);
}

/* An emit that one of the waits on its topic matches. */
static double
emit_buffers(void)
{
    struct engine_hand *hand = hurried_hand(1, "{none}");
    double value;

    value = engine_buffers(hand,
        "select * from pawl.emit('bench', json_build_object('id', nextval('bench.emit_no')))",
        false);
    engine_hand_done(hand);
    return value;
}

/* Sleeping runs that are waits of one topic at the same time, so that one fill serves claim and emit. */
static void
claim_with_sleepers(struct bench_report *report, PGconn *conn, long many)
{
    struct cost before, after;
    double emit;
    char name[64];
    static const char tasks[] =
        "fill_waiting('event', date_trunc('day', now()), now() + interval '3 days'";
    static const char waits[] =
        "fill_waits('bench', date_trunc('day', now()), now() + interval '3 days'";

    bench_do(conn, "create sequence bench.emit_no");
    do_counted(conn, tasks, 1, 1000);
    do_counted(conn, waits, 1, 1000);
    before = measure("{bench.*}", true);
    emit = emit_buffers();
    do_counted(conn, tasks, 1001, many - 1000);
    do_counted(conn, waits, 1001, many - 1000);
    after = measure("{bench.*}", true);
    (void)snprintf(name, sizeof(name), "sleeping_%ld", many);
    say_cost(report, name, &before, &after, 1.2);
    (void)snprintf(name, sizeof(name), "waits_%ld", many);
    say(report, name, "emit", emit, emit_buffers(), 1.2);
    do_counted(conn,
        "fill_waiting('delay', date_trunc('day', now()) + interval '1 ms', now() + interval '1 "
        "day'",
        many + 1, many);
    after = measure("{bench.*}", true);
    (void)snprintf(name, sizeof(name), "due_in_the_future_%ld", many);
    say_cost(report, name, &before, &after, 1.2);
}

/* A thousand queues; a worker of one of them, and a worker of them all. */
static void
claim_with_queues(struct bench_report *report, PGconn *conn)
{
    struct cost before, after;

    before = measure("{bench.*}", true);
    bench_do(
        conn, "select count(pawl.create_workflow('many.w' || n)) from generate_series(1, 1000) n");
    after = measure("{bench.*}", true);
    say_cost(report, "queues_1000_worker_of_one", &before, &after, 1.2);
    after = measure("{bench.*,many.*}", true);
    say_cost(report, "queues_1000_worker_of_all_one_has_work", &before, &after, 4);
    bench_do(conn,
        "select count(*) from generate_series(1, 1000) n cross join lateral "
        "pawl.trigger_many('many.w' || n, array_fill('{}'::json, array[20])) t");
    after = measure("{bench.*,many.*}", true);
    say_cost(report, "queues_1000_worker_of_all_with_work", &before, &after, 4);
}

/* Dead row versions that nobody may remove, because somebody might still look at them. */
static void
claim_under_snapshot(struct bench_report *report, PGconn *conn, long runs)
{
    struct engine_hand *hand = hurried_hand(ENGINE_BATCH_MAX, "{bench.*}");
    PGconn *holder = bench_connect();
    struct cost before, after;
    char name[64];

    before = measure("{bench.*}", true);
    bench_do(holder, "begin isolation level repeatable read");
    bench_do(holder, "select count(*) from pawl_data.task");
    for (long done = 0; done < runs; done += hand->held) {
        engine_hand_trigger(hand, false);
        if (engine_hand_claim(hand) == 0)
            bench_die("nothing to claim under a held snapshot");
        engine_hand_commit(hand, 1, 0, true);
    }
    after = measure("{bench.*}", false);
    (void)snprintf(name, sizeof(name), "held_snapshot_%ld_runs", runs);
    say_cost(report, name, &before, &after, 4);
    /* What a claim has learnt about the dead holds for two seconds; a worker that polls seldom learns it anew. */
    bench_do(conn, "select pg_sleep(2.5)");
    say(report, name, "first_claim_after_a_pause", before.one, claim_buffers_once(), 0);
    bench_do(holder, "rollback");
    PQfinish(holder);
    engine_hand_done(hand);
}

/* An empty claim of a worker that is bound to a tenant, while another tenant has runs in the same queue. */
static void
claim_of_tenant(struct bench_report *report, PGconn *conn, long many)
{
    struct engine_hand *hand = hurried_hand(1, "{bench.*}");
    struct bench_text sql;
    double before = 0;
    char name[64];

    bench_text_init(&sql, 300);
    bench_text_addf(
        &sql, "update pawl_data.worker set tenant = 'quiet' where session_id = %s", hand->session);
    bench_do(conn, sql.data);
    bench_do(conn, "set synchronous_commit to off");
    for (long runs = 0; runs < many; runs += runs == 0 ? 1000 : 10000) {
        if (runs == 1000) {
            bench_do(conn, "vacuum analyze");
            before = engine_claim_buffers(hand, 10, false);
        }
        bench_text_clear(&sql);
        bench_text_addf(&sql,
            "select count(*) from pawl.trigger_many('" ENGINE_WORKFLOW
            "', array_fill('{}'::json, array[%d]), tenant => 'noisy')",
            runs == 0 ? 1000 : 10000);
        bench_do(conn, sql.data);
    }
    bench_do(conn, "vacuum analyze");
    (void)snprintf(name, sizeof(name), "runs_of_another_tenant_%ld", many);
    say(report, name, "empty_claim", before, engine_claim_buffers(hand, 10, false), 1.2);
    bench_text_done(&sql);
    engine_hand_done(hand);
}

void
engine_claims(struct bench_report *report)
{
    PGconn *conn;

    engine_quiet(true);
    engine_fresh("bench_claims");
    conn = bench_connect();
    claim_with_queues(report, conn);
    PQfinish(conn);

    engine_fresh("bench_claims");
    conn = bench_connect();
    claim_of_tenant(report, conn, report->quick ? 50000 : 1000000);
    PQfinish(conn);

    engine_fresh("bench_claims");
    conn = bench_connect();
    claim_under_snapshot(report, conn, report->quick ? 20000 : 100000);
    PQfinish(conn);

    engine_fresh("bench_claims");
    conn = bench_connect();
    claim_with_history(report, conn, report->quick ? 100000 : 10000000);
    PQfinish(conn);

    engine_fresh("bench_claims");
    conn = bench_connect();
    claim_with_sleepers(report, conn, report->quick ? 100000 : 1000000);
    PQfinish(conn);
    engine_quiet(false);
}
