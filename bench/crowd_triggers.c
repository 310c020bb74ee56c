/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Triggers on a slow disk while workers are idle, triggers through libpawl compared with bare inserts, and triggers while many workers of many
 * queues are registered.
 */
#include "bare.h"
#include "crowd.h"

#include <stdio.h>
#include <string.h>

/* --- producers and idle workers, on a slow disk --- */

enum {
    CROWDS_MAX = 5,
    LOADS_MAX = 6,
};

/* The sessions and workers that are there while producers trigger. */
struct company {
    const char *name;
    int idle; /* sessions that are idle and claim nothing */
    int live; /* workers of libpawl that take what they find */
    bool full_only;
    bool bound;
};

static const struct company companies[CROWDS_MAX] = {
    {"alone", 0, 0, false, false},
    {"idle_1", 1, 0, false, true},
    {"idle_50", 50, 0, false, true},
    {"idle_100", 100, 0, true, true},
    {"live_1", 0, 1, false, false},
};

/* Which load, by its place in the arrays of results. */
static void
make_load(const struct crowd_report *report, int which, struct crowd_load *load)
{
    static const int producers[] = {1, 8, 32};

    *load = (struct crowd_load){
        .form = which % 2 == 0 ? CROWD_LIBPAWL : CROWD_BLOCK,
        .producers = producers[which / 2],
        .batch = 1,
        .seconds = report->quick ? 0.8 : 4,
        .first = 1,
    };
}

static void
load_name(int which, const char *company, const char *what, char *name, size_t size)
{
    struct crowd_report none = {.quick = true};
    struct crowd_load load;

    make_load(&none, which, &load);
    (void)snprintf(name, size, "producers_%d%s_%s%s", load.producers,
        load.form == CROWD_BLOCK ? "_in_block" : "", company, what); /* All names fit. */
}

/* All loads with one company. */
static void
measure_company(
    const struct crowd_report *report, const struct company *company, struct crowd_loaded *results)
{
    struct crowd_crew_spec spec = {
        .workers = company->live, .per_process = 1, .handles = CROWD_WORKFLOW};
    struct crowd_idlers *idlers = crowd_idlers_start(company->idle, "{" CROWD_WORKFLOW "}");
    struct crowd_crew crew;

    if (company->live > 0)
        crowd_crew_start(&crew, &spec);
    crowd_disk(CROWD_SLOW_US);
    for (int i = 0; i < LOADS_MAX; i++) {
        struct crowd_load load;

        make_load(report, i, &load);
        if (company->live == 0)
            crowd_empty();
        crowd_produce(&load, &results[i]);
    }
    crowd_disk(0);
    if (company->live > 0)
        crowd_crew_stop(&crew);
    (void)crowd_idlers_stop(idlers);
}

static void
say_company(struct crowd_report *report, int at, int which,
    struct crowd_loaded results[CROWD_ROUNDS][CROWDS_MAX][LOADS_MAX])
{
    const struct company *company = &companies[at];
    double speeds[CROWD_ROUNDS], shares[CROWD_ROUNDS], cpus[CROWD_ROUNDS];
    char name[100];
    struct crowd_name speed = {.name = name, .unit = "triggers/s"};
    struct crowd_name cpu = {.name = name, .unit = "us of the server for a trigger"};
    /* The floor is for 8 and 32 producers. */
    struct crowd_name share = {
        .name = name,
        .unit = "of producers without workers",
        .kind = BENCH_AT_LEAST,
        .bound = company->bound && which >= 2 ? 0.8 : 0,
        .goal = company->bound && which >= 2 ? 0.92 : 0,
    };

    for (int r = 0; r < report->rounds; r++) {
        speeds[r] = results[r][at][which].per_s;
        cpus[r] = results[r][at][which].server_us;
        shares[r] = speeds[r] / results[r][0][which].per_s;
    }
    load_name(which, company->name, "", name, sizeof(name));
    crowd_say_median(report, &speed, speeds);
    load_name(which, company->name, "_cpu", name, sizeof(name));
    crowd_say_median(report, &cpu, cpus);
    load_name(which, company->name, "_ratio", name, sizeof(name));
    if (at > 0)
        crowd_say_median(report, &share, shares);
}

void
crowd_producers(struct crowd_report *report)
{
    static struct crowd_loaded results[CROWD_ROUNDS][CROWDS_MAX][LOADS_MAX];

    for (int r = 0; r < report->rounds; r++) {
        crowd_fresh();
        for (int c = 0; c < CROWDS_MAX; c++) {
            if (!companies[c].full_only || !report->quick)
                measure_company(report, &companies[c], results[r][c]);
        }
    }
    for (int which = 0; which < LOADS_MAX; which++) {
        for (int c = 0; c < CROWDS_MAX; c++) {
            if (!companies[c].full_only || !report->quick)
                say_company(report, c, which, results);
        }
    }
    crowd_bare();
    crowd_disk(CROWD_SLOW_US);
    crowd_say_plain(report,
        bench_bare_run_warm(BENCH_BARE_INSERT, 1, 8, report->quick ? 4000 : 20000), "inserts/s",
        "producers_8_bare");
    crowd_say_plain(report,
        bench_bare_run_warm(BENCH_BARE_INSERT, 1, 32, report->quick ? 8000 : 40000), "inserts/s",
        "producers_32_bare");
    crowd_disk(0);
}

/* --- triggers through libpawl, compared with bare inserts --- */

struct trigger_ratio {
    const char *name;
    enum crowd_form form;
    enum bench_bare_mode bare;
    int batch, producers;
    long total, quick_total; /* of the yardstick */
    double floor, goal;
};

static const struct trigger_ratio trigger_ratios[] = {
    {"trigger", CROWD_LIBPAWL, BENCH_BARE_INSERT, 1, 8, 60000, 15000, 0.45, 0.55},
    {"trigger_with_key", CROWD_LIBPAWL_KEY, BENCH_BARE_INSERT, 1, 8, 60000, 15000, 0.35, 0.4},
    {"trigger_many", CROWD_LIBPAWL, BENCH_BARE_INSERT, 1000, 2, 300000, 60000, 0.45, 0},
    {"trigger_many_with_keys", CROWD_LIBPAWL_KEY, BENCH_BARE_INSERT_KEY, 1000, 2, 300000, 60000,
        0.35, 0},
};

/* Runs per second of the yardstick, and what each takes of the server's processor time. */
static double
run_bare(const struct trigger_ratio *ratio, long total, double *server_us)
{
    PGconn *conn = bench_connect();
    long warm_up = (long)bench_warm_up(ratio->batch) * ratio->batch * ratio->producers;
    double before = crowd_cpu_ended(conn), per_s;

    crowd_disk(CROWD_FAST_US);
    per_s = bench_bare_run_warm(ratio->bare, ratio->batch, ratio->producers, total);
    crowd_disk(0);
    crowd_sleep_ms(200); /* Its processes end. */
    *server_us = (crowd_cpu_ended(conn) - before) * 1e6 / (double)(total + warm_up);
    PQfinish(conn);
    return per_s;
}

static void
measure_ratio(struct crowd_report *report, const struct trigger_ratio *ratio)
{
    double bare[CROWD_ROUNDS], pawl[CROWD_ROUNDS], shares[CROWD_ROUNDS], cpus[CROWD_ROUNDS],
        cpu_shares[CROWD_ROUNDS];
    long total = report->quick ? ratio->quick_total : ratio->total;
    struct crowd_load load = {
        .form = ratio->form,
        .producers = ratio->producers,
        .batch = ratio->batch,
        .seconds = report->quick ? 1.5 : 8,
        .first = 1,
    };
    char name[100];
    struct crowd_name speed = {.name = name, .unit = "runs/s"};
    struct crowd_name cpu = {.name = name, .unit = "us of the server for a run"};
    struct crowd_name share = {
        .name = name,
        .unit = "of the yardstick",
        .kind = BENCH_AT_LEAST,
        .bound = ratio->floor,
        .goal = ratio->goal,
    };

    for (int i = 0; i < report->rounds; i++) {
        struct crowd_loaded loaded;
        double bare_us;

        crowd_bare();
        bare[i] = run_bare(ratio, total, &bare_us);
        crowd_fresh();
        crowd_disk(CROWD_FAST_US);
        crowd_produce(&load, &loaded);
        crowd_disk(0);
        cpu_shares[i] = bare_us / loaded.server_us;
        pawl[i] = loaded.per_s;
        cpus[i] = loaded.server_us;
        shares[i] = pawl[i] / bare[i];
    }
    (void)snprintf(name, sizeof(name), "libpawl_%s_bare", ratio->name);
    crowd_say_median(report, &speed, bare);
    (void)snprintf(name, sizeof(name), "libpawl_%s", ratio->name);
    crowd_say_median(report, &speed, pawl);
    (void)snprintf(name, sizeof(name), "libpawl_%s_cpu", ratio->name);
    crowd_say_median(report, &cpu, cpus);
    (void)snprintf(name, sizeof(name), "libpawl_%s_cpu_ratio", ratio->name);
    speed.unit = "of the yardstick in processor time of the server";
    crowd_say_median(report, &speed, cpu_shares);
    (void)snprintf(name, sizeof(name), "libpawl_%s_ratio", ratio->name);
    crowd_say_median(report, &share, shares);
}

/* One trigger with an id in a transaction that stays open. */
static void
trigger_with_id(PGconn *conn, PGconn *looker, bool with_key)
{
    PGresult *res = bench_exec(looker, "select pawl.make_id()");
    struct bench_text sql;

    bench_text_init(&sql, 300);
    bench_text_addf(&sql,
        "select run_id from pawl.trigger('" CROWD_WORKFLOW "', id => '%s', id_is_new => true",
        PQgetvalue(res, 0, 0));
    if (with_key)
        bench_text_addf(&sql, ", key => '%s'", PQgetvalue(res, 0, 0));
    bench_text_add(&sql, ")");
    PQclear(res);
    bench_do(conn, "begin");
    bench_do(conn, "select set_config('bench.locks', '0', false)");
    bench_do(conn, sql.data);
    bench_text_done(&sql);
}

/*
 * Relations that a trigger with an id locks at a time, seen from outside when it returns, and from a trigger of the tables that it writes.
 * Those that do not fit into the fast path are seen from outside only, because a look from within a statement takes a lock, too.
 */
static void
count_locks(struct crowd_report *report, bool with_key)
{
    PGconn *conn, *looker;
    struct bench_text sql;
    double most = 0, slow = 0;

    crowd_fresh();
    conn = bench_connect();
    looker = bench_connect();
    bench_do_file(looker, "bench/engine/fill.sql");
    bench_text_init(&sql, 300);
    /* The last of 12 calls, when all plans are there. */
    for (int i = 0; i < 12; i++) {
        trigger_with_id(conn, looker, with_key);
        bench_text_clear(&sql);
        bench_text_addf(&sql,
            "select count(distinct relation) from pg_locks where locktype = 'relation' "
            "and pid = %d",
            PQbackendPID(conn));
        most = bench_value(looker, sql.data);
        bench_text_add(&sql, " and not fastpath");
        slow = bench_value(looker, sql.data);
        bench_do(conn, "commit");
    }
    bench_do(looker, "select bench.watch_locks(true)");
    for (int i = 0; i < 12; i++) {
        double within;

        trigger_with_id(conn, looker, with_key);
        within = bench_value(conn, "select current_setting('bench.locks')::bigint");
        most = i == 11 && within > most ? within : most;
        bench_do(conn, "commit");
    }
    crowd_say_count(
        report, with_key ? "trigger_with_id_and_key_locks" : "trigger_with_id_locks", most, 16);
    crowd_say_count(report,
        with_key ? "trigger_with_id_and_key_slow_locks" : "trigger_with_id_slow_locks", slow, 0);
    bench_text_done(&sql);
    PQfinish(conn);
    PQfinish(looker);
}

void
crowd_triggers(struct crowd_report *report)
{
    count_locks(report, false);
    count_locks(report, true);
    for (size_t i = 0; i < sizeof(trigger_ratios) / sizeof(trigger_ratios[0]); i++)
        measure_ratio(report, &trigger_ratios[i]);
}

/* --- triggers while many workers of many queues are registered --- */

/* Milliseconds of a trigger of a queue that none of these workers has: through libpawl, one by one; and in one transaction, where no commit is part of it. */
struct trigger_cost {
    double alone_ms, in_block_ms;
    double alone_us; /* of the server's processor time */
};

static void
measure_cost(const struct crowd_report *report, struct trigger_cost *cost)
{
    struct crowd_load load = {
        .form = CROWD_LIBPAWL,
        .producers = 1,
        .batch = 1,
        .seconds = report->quick ? 1 : 5,
        .first = 1,
    };
    const int calls = report->quick ? 200 : 1000;
    struct crowd_loaded loaded;
    PGconn *conn;
    double start;

    crowd_produce(&load, &loaded);
    cost->alone_ms = 1000 / loaded.per_s;
    cost->alone_us = loaded.server_us;
    conn = bench_connect();
    bench_prepare(conn, "trigger", "select run_id from pawl.trigger('" CROWD_WORKFLOW "')", 0);
    bench_do(conn, "begin");
    for (int i = 0; i < 10; i++)
        PQclear(bench_exec_prepared(conn, "trigger", 0, NULL));
    start = bench_now_s();
    for (int i = 0; i < calls; i++)
        PQclear(bench_exec_prepared(conn, "trigger", 0, NULL));
    cost->in_block_ms = (bench_now_s() - start) * 1000 / calls;
    bench_do(conn, "rollback");
    PQfinish(conn);
}

static void
register_many(PGconn *conn, int sessions)
{
    bench_do(conn, "select pawl.create_workflow('bench.q' || g) from generate_series(1, 2000) g");
    for (int i = 0; i < sessions; i++)
        bench_do(conn, "select pawl.register('many', '{bench.q*}', lease => '1 hour')");
    bench_do(conn, "vacuum analyze");
}

static void
say_cost(struct crowd_report *report, const char *crowd, const struct trigger_cost *costs,
    const struct trigger_cost *none)
{
    double alone[CROWD_ROUNDS], in_block[CROWD_ROUNDS], alone_ms[CROWD_ROUNDS],
        in_block_ms[CROWD_ROUNDS], cpu_us[CROWD_ROUNDS];
    char name[100];
    struct crowd_name ms = {.name = name, .unit = "ms"};
    struct crowd_name us = {.name = name, .unit = "us of the server for a trigger"};
    struct crowd_name ratio = {
        .name = name, .unit = "times one without workers", .kind = BENCH_AT_MOST};

    for (int r = 0; r < report->rounds; r++) {
        alone[r] = costs[r].alone_ms / none[r].alone_ms;
        in_block[r] = costs[r].in_block_ms / none[r].in_block_ms;
        alone_ms[r] = costs[r].alone_ms;
        in_block_ms[r] = costs[r].in_block_ms;
        cpu_us[r] = costs[r].alone_us;
    }
    (void)snprintf(name, sizeof(name), "trigger_beside_%s", crowd);
    crowd_say_median(report, &ms, alone_ms);
    (void)snprintf(name, sizeof(name), "trigger_beside_%s_cpu", crowd);
    crowd_say_median(report, &us, cpu_us);
    (void)snprintf(name, sizeof(name), "trigger_beside_%s_in_one_transaction", crowd);
    crowd_say_median(report, &ms, in_block_ms);
    if (costs == none)
        return;
    ratio.bound = 2;
    ratio.goal = 1.2;
    (void)snprintf(name, sizeof(name), "trigger_beside_%s_ratio", crowd);
    crowd_say_median(report, &ratio, alone);
    (void)snprintf(name, sizeof(name), "trigger_beside_%s_in_one_transaction_ratio", crowd);
    crowd_say_median(report, &ratio, in_block);
}

void
crowd_queues(struct crowd_report *report)
{
    struct trigger_cost none[CROWD_ROUNDS], busy[CROWD_ROUNDS], idle[CROWD_ROUNDS];
    const int sessions = 300;

    for (int r = 0; r < report->rounds; r++) {
        struct crowd_idlers *idlers;
        PGconn *conn;

        crowd_fresh();
        crowd_disk(CROWD_FAST_US);
        measure_cost(report, &none[r]);
        conn = bench_connect();
        register_many(conn, sessions);
        measure_cost(report, &busy[r]);
        bench_do(conn, "select pawl.leave(session_id) from pawl_data.worker");
        idlers = crowd_idlers_start(sessions, "{bench.q*}");
        measure_cost(report, &idle[r]);
        (void)crowd_idlers_stop(idlers);
        PQfinish(conn);
        crowd_disk(0);
    }
    say_cost(report, "no_worker", none, none);
    say_cost(report, "300_busy_workers_of_2000_queues", busy, none);
    say_cost(report, "300_idle_workers_of_2000_queues", idle, none);
}
