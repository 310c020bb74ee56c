/* SPDX-License-Identifier: Apache-2.0 */
/* The server of bench/crowd: its databases, its disk, and what its processes use. */
#include "crowd.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TEMPLATE "crowd_template"
#define DATABASE "crowd_pawl"
#define BARE "crowd_bare"

void
crowd_sleep_ms(long ms)
{
    struct timespec wait = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    while (nanosleep(&wait, &wait) != 0 && errno == EINTR)
        ;
}

int64_t
crowd_now_ns(void)
{
    struct timespec t;

    if (clock_gettime(CLOCK_MONOTONIC, &t) != 0)
        bench_die("no monotonic clock");
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Once for each cluster: pawl as it is installed, with its own settings of tables. */
static void
make_template(void)
{
    PGconn *conn = bench_install(TEMPLATE);

    bench_do(conn, "select pawl.create_workflow('" CROWD_WORKFLOW "')");
    bench_do(conn, "create table public.caller (number bigint, note text)");
    PQfinish(conn);
}

void
crowd_fresh(void)
{
    crowd_disk(0);
    if (!bench_has_database(TEMPLATE))
        make_template();
    bench_copy_database(DATABASE, TEMPLATE);
}

void
crowd_bare(void)
{
    bench_fresh_database(BARE);
}

void
crowd_empty(void)
{
    PGconn *conn = bench_connect();

    bench_do(conn, "set client_min_messages to warning");
    bench_do(conn, "truncate pawl_data.task, pawl_data.key, public.caller");
    PQfinish(conn);
}

/* The shortest of some commits. */
static double
commit_s(void)
{
    PGconn *conn = bench_connect();
    double best = 1;

    for (int i = 0; i < 5; i++) {
        double start = bench_now_s();

        bench_do(conn, "select pg_logical_emit_message(true, 'bench', '')");
        if (bench_now_s() - start < best)
            best = bench_now_s() - start;
    }
    PQfinish(conn);
    return best;
}

void
crowd_disk(long us)
{
    const char *data = getenv("PAWL_PG_DATA");
    struct bench_text path;
    FILE *file;

    if (data == NULL) {
        if (us > 0)
            bench_die("the slow disk needs a server of this program's own: unset PGHOST");
        return;
    }
    bench_text_init(&path, 4096);
    bench_text_addf(&path, "%s/slow_disk_us", data);
    if (us == 0) {
        if (unlink(path.data) != 0 && errno != ENOENT)
            bench_die("cannot remove \"%s\": error %d", path.data, errno);
    } else {
        file = fopen(path.data, "w");
        if (file == NULL || fprintf(file, "%ld", us) < 0 || fclose(file) != 0)
            bench_die("cannot write \"%s\": error %d", path.data, errno);
        if (commit_s() < (double)us / 1e6)
            bench_die("the disk is not slow: the server was started without slow_disk");
    }
    bench_text_done(&path);
}

/* Reads the start of a file of /proc; returns false where it is not there. */
static bool
read_proc(const char *pid, const char *name, char *text, size_t size)
{
    char path[64];
    size_t length;
    FILE *file;

    (void)snprintf(path, sizeof(path), "/proc/%.20s/%.20s", pid, name);
    file = fopen(path, "r");
    if (file == NULL)
        return false;
    length = fread(text, 1, size - 1, file);
    (void)fclose(file); /* It was only read. */
    text[length] = '\0';
    return length > 0;
}

/* The digits at the beginning of a text, after blanks. */
static double
digits(const char *text)
{
    double value = 0;

    while (*text == ' ')
        text++;
    for (; *text >= '0' && *text <= '9'; text++)
        value = value * 10 + (*text - '0');
    return value;
}

/* A field of /proc/PID/stat. The name in field 2 may hold anything; numbers and one letter follow its last bracket. */
static double
stat_field(const char *pid, int field)
{
    char text[1024];
    const char *at;

    if (!read_proc(pid, "stat", text, sizeof(text)) || (at = strrchr(text, ')')) == NULL)
        return 0;
    for (int i = 2; i < field && at != NULL; i++)
        at = strchr(at + 1, ' ');
    return at == NULL ? 0 : digits(at);
}

static long
parent_of(const char *pid)
{
    return (long)stat_field(pid, 4);
}

/* In nanoseconds, which the ticks of /proc/PID/stat are too coarse for. */
static double
seconds_of(const char *pid)
{
    char text[200];

    return read_proc(pid, "schedstat", text, sizeof(text)) ? digits(text) / 1e9 : 0;
}

void
crowd_cpu_read(PGconn *conn, struct crowd_cpu *cpu)
{
    struct dirent *entry;
    char backend[24];
    long postmaster;
    DIR *dir = opendir("/proc");

    (void)snprintf(backend, sizeof(backend), "%d", PQbackendPID(conn)); /* An int fits. */
    postmaster = parent_of(backend);
    cpu->count = 0;
    if (dir == NULL || postmaster == 0)
        bench_die("the server is on another machine");
    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9' ||
            parent_of(entry->d_name) != postmaster)
            continue;
        if (cpu->count == sizeof(cpu->processes) / sizeof(cpu->processes[0]))
            bench_die("the server has too many processes");
        cpu->processes[cpu->count].pid = (long)digits(entry->d_name);
        cpu->processes[cpu->count++].s = seconds_of(entry->d_name);
    }
    (void)closedir(dir); /* It was only read. */
}

double
crowd_cpu_ended(PGconn *conn)
{
    char pid[24];

    (void)snprintf(pid, sizeof(pid), "%d", PQbackendPID(conn)); /* An int fits. */
    (void)snprintf(pid, sizeof(pid), "%ld", parent_of(pid));
    return (stat_field(pid, 16) + stat_field(pid, 17)) / (double)sysconf(_SC_CLK_TCK);
}

double
crowd_cpu_between(const struct crowd_cpu *before, const struct crowd_cpu *after)
{
    double sum = 0;

    for (size_t i = 0; i < after->count; i++) {
        sum += after->processes[i].s;
        for (size_t k = 0; k < before->count; k++) {
            if (before->processes[k].pid == after->processes[i].pid)
                sum -= before->processes[k].s;
        }
    }
    return sum;
}

static double
private_bytes_of(const char *pid)
{
    static const char *const fields[] = {"\nPrivate_Clean:", "\nPrivate_Dirty:"};
    char text[4096];
    double kb = 0;

    if (!read_proc(pid, "smaps_rollup", text, sizeof(text)))
        return 0;
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        const char *at = strstr(text, fields[i]);

        if (at != NULL)
            kb += digits(at + strlen(fields[i]));
    }
    return kb * 1024;
}

double
crowd_private_bytes(PGconn *conn)
{
    PGresult *res = bench_exec(conn,
        "select pid from pg_stat_activity where datname = current_database() "
        "and backend_type = 'client backend' and pid <> pg_backend_pid()");
    double sum = 0;

    for (int i = 0; i < PQntuples(res); i++)
        sum += private_bytes_of(PQgetvalue(res, i, 0));
    PQclear(res);
    return sum;
}
