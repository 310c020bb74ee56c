/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ten minutes of steady load at 60 % of what the machine can do, with stock autovacuum: whether waits and tables grow. Three-step runs,
 * triggered by tens.
 */
#include "crowd.h"

#include <stdlib.h>

enum {
    BATCH = 10,
    PRODUCERS = 2,
    WINDOWS = 10,
    QUICK_WINDOWS = 6,
};

static const double drain_limit_s = 120;

/* Measurements of one window, which is a minute in the full form. */
struct window {
    double per_s, p50_ms, p99_ms;
    double task_mb, task_indexes_mb, dead, worker_mb;
};

static void
wait_until_empty(PGconn *conn)
{
    double limit = bench_limit_s(drain_limit_s);

    while (bench_value(conn, "select count(*) from pawl_data.task") > 0) {
        if (bench_now_s() > limit)
            bench_die("runs are left after %.0f s", drain_limit_s);
        crowd_sleep_ms(20);
    }
}

/* Runs per second, from the first trigger until the last one has ended. */
static double
capacity(PGconn *conn, double seconds)
{
    struct crowd_load load = {
        .form = CROWD_LIBPAWL,
        .producers = PRODUCERS,
        .batch = BATCH,
        .seconds = seconds,
        .first = 1,
    };
    struct crowd_loaded loaded;
    double start = bench_now_s();

    crowd_produce(&load, &loaded);
    wait_until_empty(conn);
    return (double)loaded.made / (bench_now_s() - start);
}

static void
read_sizes(PGconn *conn, struct window *window)
{
    window->task_mb = bench_value(conn, "select pg_table_size('pawl_data.task') / 1048576.0");
    window->task_indexes_mb =
        bench_value(conn, "select pg_indexes_size('pawl_data.task') / 1048576.0");
    window->worker_mb =
        bench_value(conn, "select pg_total_relation_size('pawl_data.worker') / 1048576.0");
    window->dead = bench_value(conn,
        "select coalesce(n_dead_tup, 0) from pg_stat_all_tables "
        "where relid = 'pawl_data.task'::regclass");
}

static void
measure_window(PGconn *conn, const struct crowd_load *load, struct window *window, long *made)
{
    struct crowd_loaded loaded;
    double *values;
    size_t kept;

    crowd_produce(load, &loaded);
    read_sizes(conn, window);
    if (crowd_await(load->first, loaded.made, drain_limit_s) > 0)
        bench_die("runs were not started within %.0f s", drain_limit_s);
    values = calloc((size_t)loaded.made + 1, sizeof(*values));
    if (values == NULL)
        bench_die("out of memory");
    kept = crowd_waited(load->first, loaded.made, values);
    window->per_s = loaded.per_s;
    window->p50_ms = bench_percentile(values, kept, 0.5);
    window->p99_ms = bench_percentile(values, kept, 0.99);
    free(values);
    *made = loaded.made;
}

static void
say_window(struct crowd_report *report, int number, const struct window *window)
{
    crowd_say_plain(report, window->per_s, "runs/s", "steady_window_%d", number);
    crowd_say_plain(report, window->p50_ms, "ms", "steady_window_%d_p50", number);
    crowd_say_plain(report, window->p99_ms, "ms", "steady_window_%d_p99", number);
    crowd_say_plain(report, window->task_mb, "MB", "steady_window_%d_task", number);
    crowd_say_plain(report, window->task_indexes_mb, "MB", "steady_window_%d_task_indexes", number);
    crowd_say_plain(report, window->worker_mb, "MB", "steady_window_%d_worker", number);
    crowd_say_plain(report, window->dead, "dead rows", "steady_window_%d_task_dead", number);
}

void
crowd_steady(struct crowd_report *report)
{
    struct crowd_crew_spec spec = {
        .workers = 1,
        .per_process = 1,
        .handles = CROWD_WORKFLOW,
        .steps = 3,
        .settings = {"concurrency=1024"},
    };
    struct crowd_name ratio = {
        .name = "steady_p99_ratio",
        .unit = "times that of the second window",
        .kind = BENCH_AT_MOST,
        .bound = 1.5,
        .goal = 1.2,
    };
    struct crowd_load load = {.form = CROWD_LIBPAWL, .producers = PRODUCERS, .batch = BATCH};
    int windows = report->quick ? QUICK_WINDOWS : WINDOWS;
    struct window list[WINDOWS];
    struct crowd_crew crew;
    PGconn *conn;
    double most;
    long made;

    crowd_fresh();
    crowd_stamps_clear();
    crowd_crew_start(&crew, &spec);
    conn = bench_connect();
    most = capacity(conn, report->quick ? 5 : 15);
    load.seconds = report->quick ? 10 : 60;
    load.rate = most * 0.6;
    load.first = CROWD_STAMPS_MAX / 8;
    crowd_say_plain(report, most, "runs/s", "steady_capacity");
    for (int i = 0; i < windows; i++) {
        measure_window(conn, &load, &list[i], &made);
        load.first += made + 10 * BATCH;
        say_window(report, i + 1, &list[i]);
    }
    crowd_say(report, &ratio, list[windows - 1].p99_ms / list[1].p99_ms);
    crowd_say_plain(report,
        (list[windows - 1].task_mb + list[windows - 1].task_indexes_mb) /
            (list[1].task_mb + list[1].task_indexes_mb),
        "times the size after the second window", "steady_task_size_ratio");
    PQfinish(conn);
    crowd_crew_stop(&crew);
}
