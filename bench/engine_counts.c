/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts that do not depend on the machine: commits, WAL, transaction ids, rows, locks and notifications of one run or
 * one call. Measured on a server that does nothing else, without autovacuum and without page images. Where one call is
 * looked at, the housekeeping that it might do beside is held off.
 */
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char quiet_note[] = "autovacuum off, no page images, no housekeeping";

/* The log and the transaction ids from one moment to another. */
struct meter {
    PGconn *conn;
    char lsn[32];
    double xid;
};

static const char xid_sql[] = "select pg_snapshot_xmax(pg_current_snapshot())::text::bigint";

static void
meter_start(struct meter *meter, PGconn *conn)
{
    PGresult *res = bench_exec(conn, "select pg_current_wal_flush_lsn()");

    meter->conn = conn;
    (void)snprintf(meter->lsn, sizeof(meter->lsn), "%s", PQgetvalue(res, 0, 0));
    PQclear(res);
    meter->xid = bench_value(conn, xid_sql);
}

static double
meter_xids(const struct meter *meter)
{
    return bench_value(meter->conn, xid_sql) - meter->xid;
}

/* A sum over what was logged, except what the server logs every 15 seconds: count or record_size. */
static double
meter_wal(const struct meter *meter, const char *column)
{
    struct bench_text sql;
    double value;

    bench_text_init(&sql, 400);
    bench_text_addf(&sql,
        "select sum(%s) from bench.pg_get_wal_stats('%s', pg_current_wal_flush_lsn()) w "
        "where w.\"resource_manager/record_type\" <> 'Standby'",
        column, meter->lsn);
    value = bench_value(meter->conn, sql.data);
    bench_text_done(&sql);
    return value;
}

/* What the records were, so that a figure over its bound says where to look. */
static void
print_records(struct bench_report *report, const struct meter *meter, const char *name, double runs)
{
    struct bench_text sql, label;
    PGresult *res;

    bench_text_init(&sql, 800);
    bench_text_init(&label, 200);
    bench_text_addf(&sql,
        "select w.\"resource_manager/record_type\", w.count / %.0f::numeric, w.record_size / "
        "%.0f::numeric "
        "from bench.pg_get_wal_stats('%s', pg_current_wal_flush_lsn(), true) w where w.count > "
        "%.0f "
        "order by w.count desc",
        runs, runs, meter->lsn, runs / 200);
    res = bench_exec(meter->conn, sql.data);
    for (int i = 0; i < PQntuples(res); i++) {
        bench_text_clear(&sql);
        bench_text_addf(&sql, "select %s", PQgetvalue(res, i, 1));
        bench_text_clear(&label);
        bench_text_addf(&label, "%s_wal_of_%s", name, PQgetvalue(res, i, 0));
        bench_say_plain(report, label.data, bench_value(meter->conn, sql.data), "records per run",
            BENCH_NO_BOUND, 0);
    }
    PQclear(res);
    bench_text_done(&label);
    bench_text_done(&sql);
}

/* Three-step runs in batches of one: trigger, claim, two steps, and the third with the completion. */
static void
count_runs(struct bench_report *report, PGconn *conn, bool with_key)
{
    const char *name = with_key ? "run_with_key" : "run";
    struct engine_hand *hand = engine_hand_new(1, "{bench.*}");
    struct meter meter;
    struct bench_text label;
    struct bench_figure figure = {.bound_kind = BENCH_AT_MOST, .note = quiet_note};
    int runs = 1000, more = 0;
    double held_s = 0;

    bench_text_init(&label, 100);
    for (int i = -200; i < runs; i++) {
        if (i == 0)
            meter_start(&meter, conn);
        /* Housekeeping costs by time, not by run; a slow machine would count more of it. This holds it off for five seconds. */
        if (i % 100 == 0 || bench_now_s() - held_s > 3) {
            bench_do(conn, "select bench.set_tick(false)");
            held_s = bench_now_s();
            more += i > 0 && i % 100 != 0;
        }
        engine_hand_trigger(hand, with_key);
        if (engine_hand_work(hand) != 1)
            bench_die("a run was not there to be claimed");
    }
    bench_text_addf(&label, "%s_commits", name);
    figure.name = label.data;
    /* Holding housekeeping off is a transaction of two records. What a slow machine needs of it is not counted. */
    figure.value = (meter_xids(&meter) - more) / runs;
    figure.unit = "transaction ids per run";
    figure.bound = 5.02;
    bench_say(report, &figure);
    bench_text_clear(&label);
    bench_text_addf(&label, "%s_wal_records", name);
    figure.value = (meter_wal(&meter, "count") - 2.0 * more) / runs;
    figure.unit = "records per run";
    figure.bound = with_key ? 27 : 25;
    /* With a key the count is 27 and page splits: the insert that gives way to a duplicate writes one record more
     * than a plain one, and nothing else was found to save. */
    figure.gate = with_key ? 27.3 : 0;
    bench_say(report, &figure);
    figure.gate = 0;
    bench_text_clear(&label);
    bench_text_addf(&label, "%s_wal_bytes", name);
    figure.value = meter_wal(&meter, "record_size") / runs;
    figure.unit = "bytes per run";
    figure.bound = with_key ? 4200 : 3800;
    bench_say(report, &figure);
    print_records(report, &meter, name, runs);
    bench_text_done(&label);
    engine_hand_done(hand);
}

static void
count_batched(struct bench_report *report, PGconn *conn)
{
    struct engine_hand *hand = engine_hand_new(10, "{bench.*}");
    struct meter meter;
    int batches = 100;

    for (int i = -10; i < batches; i++) {
        if (i == 0)
            meter_start(&meter, conn);
        engine_hand_trigger(hand, false);
        if (engine_hand_work(hand) != 10)
            bench_die("a batch was not there to be claimed");
    }
    bench_say_plain(report, "run_in_batches_of_10", meter_xids(&meter) / (batches * 10),
        "transaction ids per run", BENCH_AT_MOST, 0.6);
    bench_say_plain(report, "run_in_batches_of_10_wal",
        meter_wal(&meter, "record_size") / (batches * 10), "bytes per run", BENCH_NO_BOUND, 0);
    bench_do(hand->conn, "select pg_stat_force_next_flush()");
    bench_do(hand->conn, "select");
    bench_say_plain(report, "task_hot_updates",
        bench_value(conn,
            "select round(n_tup_hot_upd::numeric / greatest(n_tup_upd, 1), 3) "
            "from pg_stat_user_tables where relid = 'pawl_data.task'::regclass"),
        "share of updates", BENCH_NO_BOUND, 0);
    engine_hand_done(hand);
}

/*
 * What the session has counted on pawl's tables, or on those whose names match, and not yet handed to the server: it does
 * that between transactions only, so a difference within one is what was done there.
 */
static double
counted(PGconn *conn, const char *what, const char *tables)
{
    struct bench_text sql;
    double value;

    bench_text_init(&sql, 300);
    bench_text_addf(&sql,
        "select coalesce(sum(%s), 0) from pg_stat_xact_user_tables where schemaname = 'pawl_data' "
        "and "
        "relname ~ '%s'",
        what, tables);
    value = bench_value(conn, sql.data);
    bench_text_done(&sql);
    return value;
}

static const char rows_changed[] = "n_tup_ins + n_tup_upd + n_tup_del";
static const char scans[] = "seq_scan + coalesce(idx_scan, 0)";

/* What the first execution of a step costs, in a session that is warm. */
static void
count_step(struct bench_report *report)
{
    struct engine_hand *hand = engine_hand_new(1, "{bench.*}");
    double changed, inserted, scanned;

    for (int i = 0; i < 10; i++)
        engine_hand_trigger(hand, false);
    for (int i = 0; i < 9; i++)
        (void)engine_hand_work(hand); /* All runs are alike; only warm caches are wanted. */
    (void)engine_hand_claim(hand);
    bench_do(hand->conn, "begin");
    changed = counted(hand->conn, rows_changed, "");
    inserted = counted(hand->conn, "n_tup_ins", "^step_");
    scanned = counted(hand->conn, scans, "^step");
    engine_hand_commit(hand, 1, 1, false);
    changed = counted(hand->conn, rows_changed, "") - changed;
    inserted = counted(hand->conn, "n_tup_ins", "^step_") - inserted;
    scanned = counted(hand->conn, scans, "^step") - scanned;
    bench_do(hand->conn, "commit");
    bench_say_plain(report, "step_rows_changed", changed, "rows", BENCH_AT_MOST, 1);
    bench_say_plain(report, "step_rows_inserted", inserted, "rows", BENCH_AT_LEAST, 1);
    bench_say_plain(report, "step_reads_of_steps", scanned, "scans", BENCH_AT_MOST, 0);
    engine_hand_commit(hand, 2, 2, false);
    engine_hand_commit(hand, 3, 3, true);
    engine_hand_done(hand);
}

static void
call_heartbeat(struct engine_hand *hand)
{
    struct bench_text sql;

    bench_text_init(&sql, 200);
    bench_text_addf(&sql, "select * from pawl.heartbeat(%s)", hand->session);
    bench_do(hand->conn, sql.data);
    bench_text_done(&sql);
}

static void
count_heartbeat(struct bench_report *report)
{
    static const int held[] = {1, 1000};

    for (size_t i = 0; i < 2; i++) {
        struct engine_hand *hand = engine_hand_new(held[i], "{bench.*}");
        double changed;

        engine_hand_trigger(hand, false);
        if (engine_hand_claim(hand) != held[i])
            bench_die("nothing to hold");
        bench_do(hand->conn, "select bench.set_tick(false)");
        bench_do(hand->conn, "begin");
        changed = counted(hand->conn, rows_changed, "");
        call_heartbeat(hand);
        changed = counted(hand->conn, rows_changed, "") - changed;
        bench_do(hand->conn, "commit");
        bench_say_plain(report, held[i] == 1 ? "heartbeat_with_1_held" : "heartbeat_with_1000_held",
            changed, "rows changed", BENCH_AT_MOST, 1);
        engine_hand_commit(hand, 1, 0, true);
        engine_hand_done(hand);
    }
}

static void
count_large_input(struct bench_report *report, PGconn *conn)
{
    struct engine_hand *hand = engine_hand_new(1, "{bench.*}");
    struct bench_figure figure = {
        .name = "large_input_claim_heartbeat_complete_wal",
        .unit = "bytes besides the payload of 1,000,000",
        .bound_kind = BENCH_AT_MOST,
        .bound = 4096,
        .note = quiet_note,
    };
    struct meter meter;

    for (int i = 0; i < 6; i++) {
        bench_do(conn,
            "select pawl.trigger('" ENGINE_WORKFLOW
            "', ('\"' || repeat(md5(random()::text), 31250) || '\"')::json)");
        meter_start(&meter, conn);
        if (engine_hand_claim(hand) != 1)
            bench_die("the large run was not there to be claimed");
        call_heartbeat(hand);
        engine_hand_commit(hand, 1, 0, true);
    }
    figure.value = meter_wal(&meter, "record_size");
    bench_say(report, &figure);
    engine_hand_done(hand);
}

/* Relation locks that did not fit into the session's fast path, seen from outside while the transaction is open. */
static double
slow_locks(PGconn *conn, PGconn *looker)
{
    struct bench_text sql;
    double value;

    bench_text_init(&sql, 200);
    bench_text_addf(&sql,
        "select count(*) from pg_locks where pid = %d and locktype = 'relation' and not fastpath",
        PQbackendPID(conn));
    value = bench_value(looker, sql.data);
    bench_text_done(&sql);
    return value;
}

static double
larger(double a, double b)
{
    return a > b ? a : b;
}

/* What a verb locks: relations out of the fast path when it returns, and the most relations at any time. */
struct lock_count {
    double slow;
    double most;
};

static void
begin_watched(PGconn *conn)
{
    bench_do(conn, "begin");
    bench_do(conn, "select set_config('bench.locks', '0', false)");
}

static void
end_watched(struct lock_count *count, PGconn *conn, PGconn *looker, bool from_within)
{
    if (from_within)
        count->most =
            larger(count->most, bench_value(conn, "select current_setting('bench.locks')::bigint"));
    else
        count->slow = larger(count->slow, slow_locks(conn, looker));
    bench_do(conn, "commit");
}

static void
say_locks(struct bench_report *report, const char *verb, const struct lock_count *count)
{
    char name[64];

    (void)snprintf(name, sizeof(name), "%s_slow_locks", verb);
    bench_say_plain(report, name, count->slow, "relation locks", BENCH_AT_MOST, 0);
    (void)snprintf(name, sizeof(name), "%s_locks", verb);
    bench_say_plain(report, name, count->most, "relations at a time", BENCH_AT_MOST, 16);
}

/* The first half is looked at from outside only, because a look from within a statement takes a lock, too. */
static void
count_locks(struct bench_report *report, PGconn *looker)
{
    struct engine_hand *hand = engine_hand_new(10, "{bench.*}");
    struct engine_hand *one = engine_hand_new(1, "{bench.*}");
    struct lock_count cold = {0}, trigger = {0}, with_id = {0}, claim = {0}, commit = {0};

    for (int i = 0; i < 40; i++) {
        bool warm = i % 20 >= 10;
        bool from_within = i >= 20;

        if (i == 20)
            bench_do(looker, "select bench.watch_locks(true)");
        begin_watched(one->conn);
        engine_hand_trigger(one, true);
        end_watched(warm ? &trigger : &cold, one->conn, looker, from_within);
        begin_watched(one->conn);
        engine_hand_trigger_new(one, true);
        end_watched(warm ? &with_id : &cold, one->conn, looker, from_within);
        engine_hand_trigger(hand, false);
        bench_do(looker, "select bench.set_tick(false)");
        begin_watched(hand->conn);
        (void)engine_hand_claim(hand); /* What it took is worked off below. */
        end_watched(warm ? &claim : &cold, hand->conn, looker, from_within);
        engine_hand_commit(hand, 1, 1, false);
        engine_hand_commit(hand, 2, 2, false);
        begin_watched(hand->conn);
        engine_hand_commit(hand, 3, 3, true);
        end_watched(warm ? &commit : &cold, hand->conn, looker, from_within);
    }
    bench_do(looker, "select bench.watch_locks(false)");
    say_locks(report, "trigger", &trigger);
    say_locks(report, "trigger_with_new_id_and_key", &with_id);
    say_locks(report, "claim", &claim);
    say_locks(report, "commit", &commit);
    for (int left = 1; left > 0;)
        left = engine_hand_work(hand);
    engine_hand_done(one);
    engine_hand_done(hand);
}

/* A worker that has nothing to do says so, looks once more and would sleep. */
static void
work_or_idle(struct engine_hand *hand)
{
    struct bench_text sql;

    if (engine_hand_work(hand) > 0)
        return;
    bench_text_init(&sql, 200);
    bench_text_addf(&sql, "select pawl.rest(%s)", hand->session);
    bench_do(hand->conn, sql.data);
    bench_text_done(&sql);
    (void)engine_hand_work(hand);
}

/* A thousand triggers beside two workers that have a backlog. */
static void
count_notifications(struct bench_report *report)
{
    struct engine_hand *hands[2], *producer = engine_hand_new(1, "{none}"),
                                  *filler = engine_hand_new(1000, "{none}");
    PGconn *listener = bench_connect();
    struct bench_text sql;
    PGnotify *notify;
    int heard = 0;

    engine_hand_trigger(filler, false);
    bench_text_init(&sql, 100);
    for (size_t i = 0; i < 2; i++) {
        hands[i] = engine_hand_new(10, "{bench.*}");
        bench_text_clear(&sql);
        bench_text_addf(&sql, "listen pawl_%s", hands[i]->session);
        bench_do(listener, sql.data);
    }
    for (int i = 0; i < 1000; i++) {
        engine_hand_trigger(producer, false);
        if (i % 20 == 0)
            work_or_idle(hands[i / 20 % 2]);
    }
    bench_do(listener, "select");
    while ((notify = PQnotifies(listener)) != NULL) {
        heard++;
        PQfreemem(notify);
    }
    bench_say_plain(
        report, "notifications_under_load", heard, "per 1,000 triggers", BENCH_AT_MOST, 10);
    bench_text_done(&sql);
    PQfinish(listener);
    engine_hand_done(hands[0]);
    engine_hand_done(hands[1]);
    engine_hand_done(producer);
    engine_hand_done(filler);
}

/* Searches that have an index, with many newer runs. */
static void
count_searches(struct bench_report *report)
{
    PGconn *conn;
    struct bench_text sql;

    engine_fresh("bench_search");
    conn = bench_connect();
    bench_text_init(&sql, 100);
    bench_text_addf(&sql, "select bench.fill_searched(%d)", report->quick ? 50000 : 1000000);
    bench_do(conn, sql.data);
    bench_say_plain(report, "list_by_key",
        bench_value(conn,
            "select bench.least_buffers($$select * from pawl.list_runs(only_key => 'wanted')$$)"),
        "buffers", BENCH_AT_MOST, 60);
    bench_say_plain(report, "list_by_tag",
        bench_value(conn,
            "select bench.least_buffers($$select * from pawl.list_runs(only_tag => 'wanted')$$)"),
        "buffers", BENCH_AT_MOST, 400);
    bench_say_plain(report, "find_by_tag",
        bench_value(conn, "select bench.least_buffers($$select * from pawl.find('wanted')$$)"),
        "buffers", BENCH_AT_MOST, 400);
    bench_say_plain(report, "find_by_tag_found",
        bench_value(conn, "select count(*) from pawl.find('wanted') where what = 'tag'"), "runs",
        BENCH_AT_LEAST, 1);
    bench_say_plain(report, "list_newest_50_failures",
        bench_value(conn,
            "select bench.least_buffers($$select * from pawl.list_runs(only_status => 'ERROR', "
            "max_rows => 50)$$)"),
        "buffers", BENCH_AT_MOST, 400);
    bench_say_plain(report, "list_newest_50_failures_found",
        bench_value(
            conn, "select count(*) from pawl.list_runs(only_status => 'ERROR', max_rows => 50)"),
        "runs", BENCH_AT_LEAST, 50);
    bench_text_done(&sql);
    PQfinish(conn);
}

void
engine_counts(struct bench_report *report)
{
    PGconn *conn;

    engine_quiet(true);
    engine_fresh("bench_counts");
    conn = bench_connect();
    count_runs(report, conn, false);
    count_runs(report, conn, true);
    count_batched(report, conn);
    count_step(report);
    count_heartbeat(report);
    count_large_input(report, conn);
    count_locks(report, conn);
    count_notifications(report);
    PQfinish(conn);
    count_searches(report);
    engine_quiet(false);
}
