/* SPDX-License-Identifier: Apache-2.0 */
/* What a storm needs before it begins, and its trace. */
#include "kinds.h"
#include "ledger.h"
#include "storm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    install_bytes_max = 4000000
};

/* A clock that can be moved. */
static const char clock_sql[] =
    "create or replace function pawl.now() returns timestamptz language plpgsql volatile security"
    " definer set search_path to pg_catalog, pg_temp as $$ begin return clock_timestamp() + (select"
    " c.moved from public.storm_clock c); end $$";

/*
 * The recount of gates is that of suite flow; the query is read from where it stands there. One statement has one snapshot, so nothing
 * can be seen half done.
 */
static void
read_gates(struct storm *storm)
{
    static const char path[] = STORM_SOURCE_ROOT "/tests/flow/lib/recount.py";
    static const char from[] = "GATES = \"\"\"";
    char text[sizeof(storm->gates)];
    FILE *file = fopen(path, "re");
    size_t size;
    char *start, *end;

    if (file == NULL)
        bench_die("cannot read \"%s\": error %d", path, errno);
    size = fread(text, 1, sizeof(text) - 1, file);
    (void)fclose(file); /* It was only read. */
    text[size] = '\0';
    start = strstr(text, from);
    end = start == NULL ? NULL : strstr(start + sizeof(from), "\"\"\"");
    if (end == NULL)
        bench_die("no query of gates in \"%s\"", path);
    *end = '\0';
    (void)snprintf(storm->gates, sizeof(storm->gates), "%s", start + sizeof(from) - 1);
}

static void
make_workflows(PGconn *conn)
{
    for (int i = 0; i < storm_kinds; i++) {
        const char *params[] = {storm_kind_specs[i].workflow};

        if (i != STORM_FLOWS)
            PQclear(bench_exec_params(
                conn, "select pawl.create_workflow($1, base => '20 ms', cap => '1 s')", 1, params));
    }
    bench_do(conn, "select pawl.create_workflow('" STORM_CHILD "')");
    bench_do(conn,
        "select from pawl.apply_flow('{\"flow\": \"" STORM_FLOW "\", \"base\": \"20ms\", \"cap\":"
        " \"1s\", \"steps\": [{\"step\": \"split\"}, {\"step\": \"side\"}, {\"step\": \"each\","
        " \"deps\": [\"split\"], \"map\": \"split\", \"undo\": \"storm.undo\"}, {\"step\": "
        "\"join\","
        " \"deps\": [\"each\", \"side\"]}]}')");
}

/* The file that installs pawl. */
static void
read_install(struct storm *storm)
{
    const char *path = getenv("PAWL_SQL");
    FILE *file = path == NULL ? NULL : fopen(path, "re");
    size_t size;
    char *end;

    if (file == NULL)
        bench_die("PAWL_SQL names no file");
    storm->install = race_alloc(install_bytes_max, 1);
    size = fread(storm->install, 1, install_bytes_max - 1, file);
    (void)fclose(file); /* It was only read. */
    if (size == install_bytes_max - 1)
        bench_die("\"%s\" is longer than %d bytes", path, install_bytes_max);
    storm->install[size] = '\0';
    /* It would also set the clock back: ours is put in its place before it commits. */
    end = strstr(storm->install + (size > 100 ? size - 100 : 0), "\ncommit;");
    if (end == NULL || (size_t)(end - storm->install) + sizeof(clock_sql) + 20 > install_bytes_max)
        bench_die("\"%s\" does not end with a commit", path);
    (void)snprintf(end, (size_t)install_bytes_max - (size_t)(end - storm->install),
        "\n%s;\ncommit;", clock_sql);
}

/* A guard that was taken out on purpose, by a file as tests/mutants makes it: the storm has to notice. */
static void
mutate(PGconn *conn)
{
    const char *path = getenv("PAWL_MUTANT");

    if (path == NULL || path[0] == '\0')
        return;
    race_note("with the mutant of \"%s\"", path);
    bench_do_file(conn, path);
}

void
storm_prepare(struct storm *storm, bool install)
{
    PGconn *conn = storm->crash.direct;
    char sql[200];

    make_workflows(conn);
    /* Whoever is killed again and again is not to blame: that many crashes in a row end no run. */
    (void)snprintf(sql, sizeof(sql),
        "update pawl_data.setting set crash_max = 1000, grace = '%d s'", storm_grace_s);
    bench_do(conn, sql);
    /* No constraint keeps a second row out. */
    bench_do(conn, "create table public.crash_row (run_id uuid not null)");
    bench_do(conn, "create table public.storm_clock as select interval '0' as moved");
    bench_do(conn, "grant select on public.storm_clock to pawl_owner");
    bench_do(conn, clock_sql);
    mutate(conn);
    if (install)
        read_install(storm);
    read_gates(storm);
    storm->ledger = ledger_open(storm->crash.ledger);
    (void)snprintf(storm->trace_path, sizeof(storm->trace_path), "%s/trace", storm->crash.dir);
    storm->trace = open(storm->trace_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (storm->trace < 0)
        bench_die("cannot open \"%s\": error %d", storm->trace_path, errno);
}

struct cluster *
storm_server(struct storm *storm)
{
    return storm->failed_over ? &storm->standby : &storm->cluster;
}

void
storm_ignore(void *userdata, const char *message)
{
    (void)userdata;
    (void)message;
}

void
storm_trace(struct storm *storm, unsigned caller, const char *call, const char *told,
    const char *run, long value)
{
    char line[256];
    struct timespec now;
    int length;

    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
        bench_die("no monotonic clock");
    length = snprintf(line, sizeof(line),
        "{\"at_ns\": %lld, \"caller\": %u, \"call\": \"%s\", \"told\": \"%s\", \"run\": %s%s%s,"
        " \"value\": %ld}\n",
        (long long)now.tv_sec * 1000000000 + now.tv_nsec, caller, call, told,
        run == NULL ? "" : "\"", run == NULL ? "null" : run, run == NULL ? "" : "\"", value);
    if (length < 0 || (size_t)length >= sizeof(line) ||
        write(storm->trace, line, (size_t)length) != length)
        bench_die("cannot write the trace: error %d", errno);
}
