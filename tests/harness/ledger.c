/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger; see the header. */
#include "ledger.h"

#include "race.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    fields = 9,
    entries_per_read = 256
};

static const char *const kind_names[] = {
    [LEDGER_NOTE] = "note",
    [LEDGER_START] = "start",
    [LEDGER_END] = "end",
    [LEDGER_RECORDED] = "recorded",
    [LEDGER_UNDO] = "undo",
    [LEDGER_REFUSED] = "refused",
    [LEDGER_ACKED] = "acked",
};

int
ledger_open(const char *path)
{
    int ledger = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

    if (ledger < 0)
        bench_die("cannot open the ledger \"%s\": error %d", path, errno);
    return ledger;
}

/* The text as COPY reads it. Names of runs and steps have no character that would mean something else there. */
static const char *
field_of(const char *text)
{
    if (text == NULL)
        return "\\N";
    if (strlen(text) >= ledger_step_bytes || strpbrk(text, "\t\n\\") != NULL)
        bench_die("no name for the ledger: \"%s\"", text);
    return text;
}

void
ledger_add(int ledger, const struct ledger_entry *entry)
{
    char line[ledger_entry_bytes + 1];
    struct timespec now;
    int length;

    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
        bench_die("no monotonic clock");
    length = snprintf(line, sizeof(line), "%s\t%s\t%s\t%d\t%d\t%d\t%d\t%lld\t%ld",
        kind_names[entry->kind], field_of(entry->run), field_of(entry->step), entry->task,
        entry->fence, entry->attempt, (int)getpid(),
        (long long)now.tv_sec * 1000000000 + now.tv_nsec, entry->value);
    if (length < 0 || length >= ledger_entry_bytes)
        bench_die("an entry runs over its %d bytes", ledger_entry_bytes);
    /* Blanks after the last number mean nothing to COPY. */
    memset(line + length, ' ', (size_t)(ledger_entry_bytes - length));
    line[ledger_entry_bytes - 1] = '\n';
    if (write(ledger, line, ledger_entry_bytes) != ledger_entry_bytes)
        bench_die("cannot add to the ledger: error %d", errno);
}

static bool
is_whole(const char *line)
{
    int tabs = 0;

    for (int i = 0; i < ledger_entry_bytes - 1; i++) {
        if (line[i] == '\t')
            tabs++;
        else if (line[i] == '\n' || line[i] == '\0')
            return false;
    }
    return tabs == fields - 1 && line[ledger_entry_bytes - 1] == '\n';
}

/* Reads on; returns how many entries there were, which is 0 at the end. */
static size_t
read_entries(FILE *file, const char *path, char *lines)
{
    size_t bytes = fread(lines, 1, (size_t)entries_per_read * ledger_entry_bytes, file);
    size_t count = bytes / ledger_entry_bytes;

    if (ferror(file) != 0 || bytes % ledger_entry_bytes != 0)
        bench_die("the ledger \"%s\" cannot be read, or its last entry is torn", path);
    for (size_t i = 0; i < count; i++) {
        if (!is_whole(lines + i * ledger_entry_bytes))
            bench_die(
                "torn entry in the ledger \"%s\": %.100s", path, lines + i * ledger_entry_bytes);
    }
    return count;
}

/* Reads all of a ledger and hands it to the connection, which copies; without one it only looks. */
static long
read_ledger(const char *path, PGconn *conn)
{
    char lines[entries_per_read * ledger_entry_bytes];
    FILE *file = fopen(path, "re");
    long length = 0;
    size_t count;

    if (file == NULL)
        bench_die("cannot open the ledger \"%s\": error %d", path, errno);
    while ((count = read_entries(file, path, lines)) > 0) {
        if (conn != NULL && PQputCopyData(conn, lines, (int)(count * ledger_entry_bytes)) != 1)
            bench_die("cannot copy the ledger: %s", PQerrorMessage(conn));
        length += (long)count;
    }
    (void)fclose(file); /* It was only read. */
    return length;
}

long
ledger_length(const char *path)
{
    return read_ledger(path, NULL);
}

long
ledger_load(const char *path, PGconn *conn)
{
    PGresult *res;
    long length;

    bench_do(conn, "set client_min_messages to warning");
    bench_do(conn, "drop table if exists pg_temp.ledger");
    bench_do(conn,
        "create temporary table ledger (place bigint generated always as identity,"
        " kind text not null, run_id uuid, step text, task int not null, fence int not null, "
        "attempt int not null,"
        " pid int not null, at_ns bigint not null, value bigint not null)");
    res = PQexec(conn,
        "copy pg_temp.ledger (kind, run_id, step, task, fence, attempt, pid, at_ns, value) from "
        "stdin");
    if (PQresultStatus(res) != PGRES_COPY_IN)
        bench_die("cannot copy the ledger: %s", PQerrorMessage(conn));
    PQclear(res);
    length = read_ledger(path, conn);
    if (PQputCopyEnd(conn, NULL) != 1)
        bench_die("cannot copy the ledger: %s", PQerrorMessage(conn));
    res = PQgetResult(conn);
    if (PQresultStatus(res) != PGRES_COMMAND_OK)
        bench_die("cannot copy the ledger: %s", PQerrorMessage(conn));
    PQclear(res);
    PQclear(PQgetResult(conn)); /* There is none, and that ends it. */
    bench_do(conn, "create index on pg_temp.ledger (run_id, task, step)");
    bench_do(conn, "analyze pg_temp.ledger");
    return length;
}

/* How many rows of the ledger, or of what was made of it, a condition holds for. */
static long
count_where(PGconn *conn, const char *rows, const char *condition)
{
    char sql[1000];

    if ((size_t)snprintf(sql, sizeof(sql), "select count(*) from %s where %s", rows, condition) >=
        sizeof(sql))
        bench_die("too long a check of the ledger");
    return race_count(conn, sql);
}

void
ledger_join(PGconn *conn, struct ledger_findings *findings)
{
    static const char recorded[] = "pg_temp.recorded_step r";
    static const char ledger[] = "pg_temp.ledger l";
    static const char steps[] =
        "(select l.run_id, l.task, l.step from pg_temp.ledger l where l.kind = 'end'"
        " group by 1, 2, 3) l";
    static const char told[] =
        "(select l.run_id, l.task, l.step from pg_temp.ledger l where l.kind = 'recorded'"
        " group by 1, 2, 3) l";
    static const char no_record[] =
        "not exists (select from pg_temp.recorded_step r"
        " where r.run_id = l.run_id and r.task = l.task and r.step = l.step)";

    /* Kind 1 is a step, state 1 a success. A success counts in every later round, so there is one for all of them. */
    bench_do(conn, "drop table if exists pg_temp.recorded_step");
    bench_do(conn,
        "create temporary table recorded_step as"
        " select s.run_id, s.task_no as task, s.name as step, count(*) as times"
        " from (select * from pawl_data.step union all select * from pawl_data.step_kept) s"
        " where s.kind = 's' and s.state = 's' and strpos(s.name, '#') > 0 group by 1, 2, 3");
    bench_do(conn, "create unique index on pg_temp.recorded_step (run_id, task, step)");
    bench_do(conn, "analyze pg_temp.recorded_step");
    findings->recorded = count_where(conn, recorded, "true");
    findings->repeated = count_where(conn,
        "(select count(*) as times from pg_temp.ledger where kind = 'start' group by run_id, task, "
        "step) "
        "l",
        "l.times > 1");
    findings->unrecorded = count_where(conn, steps, no_record);
    findings->twice = count_where(conn, recorded, "r.times > 1");
    findings->unfounded = count_where(conn, recorded,
        "not exists (select from pg_temp.ledger l where l.run_id = r.run_id and l.task = r.task "
        "and l.step = r.step"
        " and l.kind in ('start', 'undo'))");
    findings->lost = count_where(conn, told, no_record);
    findings->after_record = count_where(conn, ledger,
        "l.kind = 'start' and exists (select from pg_temp.ledger r where r.run_id = l.run_id"
        " and r.task = l.task and r.step = l.step and r.kind = 'recorded' and r.place < l.place "
        "and r.fence <= "
        "l.fence)");
    findings->after_refusal = count_where(conn, ledger,
        "l.kind = 'start' and exists (select from pg_temp.ledger r where r.run_id = l.run_id"
        " and r.task = l.task and r.kind = 'refused' and r.place < l.place and r.fence = l.fence "
        "and r.pid = l.pid)");
}
