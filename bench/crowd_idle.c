/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Costs of idle workers of libpawl to the server: connections, memory, transactions, processor time, and the processor time of a run that one
 * of them is notified of, compared with a lone worker.
 */
#include "crowd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PER_PROCESS = 100
};

/* So many workers of one queue, or of a queue each. */
struct size {
    int workers;
    bool own_queues;
    bool full_only, quick_only;
    bool many; /* the bounds of 500 workers are for this one */
    /* Runs are triggered. These workers poll seldom, so that what they do while they are idle is little. */
    bool notified;
};

static const struct size sizes[] = {
    {1, false, false, false, false, true},
    {100, false, false, true, false, true},
    {100, true, false, true, false, true},
    {450, false, true, false, false, true},
    {450, true, true, false, false, true},
    {1, false, false, false, false, false},
    {100, false, false, false, false, false},
    {500, false, true, false, true, false},
};

struct use {
    double connections, private_mb, queries_per_s, transactions_per_s, cpu_per_s;
    double notified_us; /* of the server, for a run from trigger to end */
};

static double
transactions(PGconn *conn)
{
    bench_do(conn, "select pg_stat_clear_snapshot()");
    return bench_value(
        conn, "select xact_commit from pg_stat_database where datname = current_database()");
}

/* No run is triggered. */
static void
measure_quiet(const struct crowd_report *report, PGconn *conn, struct use *use)
{
    static struct crowd_cpu before, after;
    long ms = report->quick ? 6000 : 20000;
    double first, start = bench_now_s();

    first = transactions(conn);
    crowd_cpu_read(conn, &before);
    crowd_sleep_ms(ms);
    crowd_cpu_read(conn, &after);
    use->transactions_per_s = (transactions(conn) - first - 2) / (bench_now_s() - start);
    use->cpu_per_s = crowd_cpu_between(&before, &after) / (bench_now_s() - start);
    use->connections = bench_value(conn,
        "select count(*) from pg_stat_activity where datname = current_database() "
        "and backend_type = 'client backend' and pid <> pg_backend_pid()");
    use->private_mb = crowd_private_bytes(conn) / 1048576;
}

/* Lines of the server's log, from a place on, that a statement has left which was executed. */
static long
count_logged(FILE *log)
{
    char line[512];
    long count = 0;

    while (fgets(line, sizeof(line), log) != NULL) {
        const char *at = strstr(line, " ms  ");

        count += at != NULL && strstr(line, "duration: ") != NULL &&
            (strncmp(at + 5, "execute ", 8) == 0 || strncmp(at + 5, "statement: ", 11) == 0);
    }
    return count;
}

/* Statements that clients send, which a tick makes more transactions of. The server counts them by its log, in a time of their own. */
static void
measure_queries(const struct crowd_report *report, PGconn *conn, struct use *use)
{
    const char *path = getenv("PAWL_PG_LOG");
    FILE *log = path == NULL ? NULL : fopen(path, "r");
    double start;

    if (log == NULL)
        bench_die("no log of the server");
    bench_do(conn, "alter system set log_min_duration_statement to 0");
    bench_do(conn, "select pg_reload_conf()");
    crowd_sleep_ms(1000);
    if (fseek(log, 0, SEEK_END) != 0)
        bench_die("cannot read the log of the server");
    start = bench_now_s();
    crowd_sleep_ms(report->quick ? 5000 : 20000);
    use->queries_per_s = (double)count_logged(log) / (bench_now_s() - start);
    bench_do(conn, "alter system reset log_min_duration_statement");
    bench_do(conn, "select pg_reload_conf()");
    (void)fclose(log); /* It was only read. */
}

/* A run for each worker, if they have queues of their own: a process of the server plans its statements when it executes them first. */
static void
warm_up(const struct size *size)
{
    struct crowd_load load = {
        .form = CROWD_LIBPAWL,
        .producers = 1,
        .batch = 1,
        .seconds = size->workers < 100 ? 2 : size->workers / 50,
        .rate = 50,
        .queues = size->own_queues ? size->workers : 0,
        .first = 1,
    };
    struct crowd_loaded loaded;

    crowd_produce(&load, &loaded);
}

/* Twenty runs a second, each of which wakes a worker. */
static void
measure_notified(const struct crowd_report *report, const struct size *size, struct use *use)
{
    struct crowd_load load = {
        .form = CROWD_LIBPAWL,
        .producers = 1,
        .batch = 1,
        .seconds = report->quick ? 5 : 15,
        .rate = 20,
        .queues = size->own_queues ? size->workers : 0,
        .first = 1,
    };
    struct crowd_loaded loaded;
    double start = bench_now_s();

    crowd_produce(&load, &loaded);
    use->notified_us =
        loaded.server_us - use->cpu_per_s * (bench_now_s() - start) * 1e6 / (double)loaded.made;
}

static void
measure(const struct crowd_report *report, const struct size *size, struct use *use)
{
    struct crowd_crew_spec spec = {
        .workers = size->workers,
        .per_process = PER_PROCESS,
        .handles = size->own_queues ? "bench.q#" : CROWD_WORKFLOW,
        .settings = {size->notified ? "poll=30s" : NULL},
    };
    struct crowd_crew crew;
    PGconn *conn;

    crowd_fresh();
    crowd_stamps_clear();
    crowd_crew_start(&crew, &spec);
    conn = bench_connect();
    if (size->notified)
        warm_up(size);
    crowd_sleep_ms(report->quick ? 6000 : 15000); /* Until all are idle. */
    measure_quiet(report, conn, use);
    if (size->notified)
        measure_notified(report, size, use);
    else
        measure_queries(report, conn, use);
    PQfinish(conn);
    crowd_crew_stop(&crew);
}

static void
say_notified(struct crowd_report *report, const struct size *size, const struct use *use,
    const struct use *lone)
{
    const char *queues = size->own_queues ? "_of_own_queues" : "";
    char name[100];
    struct crowd_name ratio = {
        .name = name,
        .unit = "times that of a lone worker",
        .kind = BENCH_AT_MOST,
        .bound = 3,
        .goal = 1.5,
    };

    crowd_say_plain(report, use->notified_us, "us of the server from trigger to end",
        "idle_%d%s_notified_run", size->workers, queues);
    (void)snprintf(name, sizeof(name), "idle_%d%s_notified_run_ratio", size->workers, queues);
    if (use != lone)
        crowd_say(report, &ratio, use->notified_us / lone->notified_us);
}

static void
say_use(struct crowd_report *report, const struct size *size, const struct use *use)
{
    char name[100];
    struct crowd_name figure = {.name = name, .kind = BENCH_AT_MOST};

    (void)snprintf(name, sizeof(name), "idle_%d_connections", size->workers);
    figure.unit = "connections";
    figure.bound = size->many ? 510 : 0;
    crowd_say(report, &figure, use->connections);
    (void)snprintf(name, sizeof(name), "idle_%d_queries", size->workers);
    figure.unit = "statements/s of all workers";
    figure.bound = size->many ? 250 : 0;
    crowd_say(report, &figure, use->queries_per_s);
    (void)snprintf(name, sizeof(name), "idle_%d_memory", size->workers);
    figure.unit = "MB that the processes of the server do not share";
    figure.bound = size->many ? 3.3 * 1024 : 0;
    crowd_say(report, &figure, use->private_mb);
    crowd_say_plain(
        report, use->transactions_per_s, "transactions/s", "idle_%d_transactions", size->workers);
    crowd_say_plain(report, use->cpu_per_s * 1000, "ms of the server in a second", "idle_%d_cpu",
        size->workers);
}

void
crowd_idle(struct crowd_report *report)
{
    struct use uses[sizeof(sizes) / sizeof(sizes[0])];

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        if (report->quick ? sizes[i].full_only : sizes[i].quick_only)
            continue;
        measure(report, &sizes[i], &uses[i]);
        if (sizes[i].notified)
            say_notified(report, &sizes[i], &uses[i], &uses[0]);
        else
            say_use(report, &sizes[i], &uses[i]);
    }
}
