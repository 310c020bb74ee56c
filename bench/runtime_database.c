/* SPDX-License-Identifier: Apache-2.0 */
/* The databases of bench/runtime: made, filled, and asked what they have cost. */
#include "runtime.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TEMPLATE "bench_pawl_template"
#define DATABASE "bench_pawl"
#define BARE "bench_bare"

const char runtime_payload[] =
    "{\"pad\":\""
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
    "\"}";

static const char fill_sql[] = "select count(*) from pawl.trigger_many('" RUNTIME_WORKFLOW "', "
                               "array_fill($1::json, array[$2::int]))";

static const long fill_batch = 5000;

/* Once for each cluster: pawl is installed and the workflow is there. */
static void
make_template(void)
{
    PGconn *conn = bench_install(TEMPLATE);

    bench_do(conn, "select pawl.create_workflow('" RUNTIME_WORKFLOW "')");
    /* The yardstick's tables have stock settings. */
    bench_do(conn,
        "alter table pawl_data.task reset (autovacuum_vacuum_scale_factor, "
        "autovacuum_vacuum_threshold, "
        "autovacuum_vacuum_cost_delay, autovacuum_analyze_scale_factor, "
        "autovacuum_analyze_threshold)");
    PQfinish(conn);
}

void
runtime_bare(void)
{
    if (!bench_has_database(BARE))
        bench_fresh_database(BARE);
    bench_go_to(BARE);
}

void
runtime_fresh(void)
{
    if (!bench_has_database(TEMPLATE))
        make_template();
    bench_copy_database(DATABASE, TEMPLATE);
}

void
runtime_fill(long total)
{
    PGconn *conn = bench_connect();

    bench_prepare(conn, "fill", fill_sql, 2);
    for (long made = 0; made < total; made += fill_batch) {
        char count[24];
        const char *params[] = {runtime_payload, count};
        long left = total - made;

        (void)snprintf(count, sizeof(count), "%ld", left < fill_batch ? left : fill_batch);
        PQclear(bench_exec_prepared(conn, "fill", 2, params));
    }
    bench_do(conn, "vacuum analyze pawl_data.task");
    bench_do(conn, "checkpoint");
    PQfinish(conn);
}

void
runtime_settle(PGconn *conn)
{
    double start = bench_now_s();

    while (bench_value(conn,
               "select count(*) from pg_stat_activity where datname = current_database() "
               "and backend_type = 'client backend' and pid <> pg_backend_pid()") > 0) {
        struct timespec wait = {.tv_nsec = 10 * 1000 * 1000};

        if (bench_now_s() - start > 30)
            bench_die("a client stays connected to the database");
        (void)nanosleep(&wait, NULL); /* Cut short by a signal, it asks again sooner. */
    }
}

/* Fields of /proc/PID/stat; 4 is the parent, 14 to 17 are ticks of user and system time, own and of reaped children. */
struct process {
    long parent;
    double own_ticks;
    double reaped_ticks;
};

static bool
read_process(const char *pid, struct process *process)
{
    char path[64], line[1024];
    double fields[18] = {0};
    const char *at;
    FILE *file;

    (void)snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
    file = fopen(path, "r");
    if (file == NULL)
        return false;
    at = fgets(line, sizeof(line), file);
    (void)fclose(file); /* It was only read. */
    /* The name in field 2 may hold anything; what follows its last bracket is numbers and one letter. */
    at = at == NULL ? NULL : strrchr(line, ')');
    if (at == NULL)
        return false;
    for (int field = 2; *at != '\0' && field <= 17; at++) {
        if (*at == ' ')
            field++;
        else if (*at >= '0' && *at <= '9' && field <= 17)
            fields[field] = fields[field] * 10 + (*at - '0');
    }
    process->parent = (long)fields[4];
    process->own_ticks = fields[14] + fields[15];
    process->reaped_ticks = fields[16] + fields[17];
    return true;
}

static double
children_ticks(long parent)
{
    struct process process;
    struct dirent *entry;
    double ticks = 0;
    DIR *dir = opendir("/proc");

    if (dir == NULL)
        bench_die("cannot read /proc");
    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
            read_process(entry->d_name, &process) && process.parent == parent)
            ticks += process.own_ticks;
    }
    (void)closedir(dir); /* It was only read. */
    return ticks;
}

/* Processor time of the server: of the postmaster, of its children that live, and of those that have ended. */
static double
server_cpu_s(long backend)
{
    struct process before, after;
    double ticks;
    long postmaster;
    char pid[24];

    (void)snprintf(pid, sizeof(pid), "%ld", backend); /* A long fits. */
    if (!read_process(pid, &after))
        return 0; /* The server is on another machine. */
    postmaster = after.parent;
    (void)snprintf(pid, sizeof(pid), "%ld", postmaster);
    if (!read_process(pid, &after))
        bench_die("no process %s", pid);
    /* A child that ends meanwhile may be counted twice or not at all: then once more. */
    do {
        before = after;
        ticks = children_ticks(postmaster);
        if (!read_process(pid, &after))
            bench_die("no process %s", pid);
    } while (after.reaped_ticks != before.reaped_ticks);
    return (ticks + after.own_ticks + after.reaped_ticks) / (double)sysconf(_SC_CLK_TCK);
}

void
runtime_count(PGconn *conn, struct runtime_counters *counters)
{
    counters->commits = bench_value(
        conn, "select xact_commit from pg_stat_database where datname = current_database()");
    counters->xids = bench_value(conn, "select pg_snapshot_xmax(pg_current_snapshot())::text");
    counters->wal_bytes = bench_value(conn, "select pg_current_wal_insert_lsn() - '0/0'::pg_lsn");
    counters->server_cpu_s = server_cpu_s(PQbackendPID(conn));
}
