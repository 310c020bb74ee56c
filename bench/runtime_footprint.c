/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a worker costs that has nothing to do: memory, processor time, queries, and the library's size; beside a program that
 * holds as many connections with libpq and nothing else.
 */
#include "runtime.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct memory {
    double resident_mb;
    double anonymous_mb;
};

static void
sleep_s(double seconds)
{
    struct timespec wait = {.tv_sec = (time_t)seconds};

    wait.tv_nsec = (long)((seconds - (double)wait.tv_sec) * 1e9);
    (void)nanosleep(
        &wait, NULL); /* Times are taken from the clock, so a shorter sleep does no harm. */
}

/* The number of kB in a line like "Rss:   1234 kB". */
static double
kilobytes_of(const char *line)
{
    double value = 0;

    for (; *line != '\0'; line++)
        if (*line >= '0' && *line <= '9')
            value = value * 10 + (*line - '0');
    return value;
}

static void
read_memory(pid_t pid, struct memory *memory)
{
    char path[64], line[256];
    FILE *file;

    (void)snprintf(path, sizeof(path), "/proc/%ld/smaps_rollup", (long)pid);
    file = fopen(path, "r");
    if (file == NULL)
        bench_die("cannot read \"%s\"", path);
    while (fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, "Rss:", 4) == 0)
            memory->resident_mb = kilobytes_of(line) / 1024;
        else if (strncmp(line, "Anonymous:", 10) == 0)
            memory->anonymous_mb = kilobytes_of(line) / 1024;
    }
    (void)fclose(file); /* It was only read. */
}

/* All threads of a process. */
static double
process_cpu_s(pid_t pid)
{
    struct timespec used;
    clockid_t clock;

    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
        bench_die("no processor clock of process %ld", (long)pid);
    return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

struct idle {
    struct memory memory;
    double core;    /* share of one core */
    double commits; /* in its whole life */
    double seconds; /* of its whole life */
};

/* A worker that is idle for so long, with its start and its end. */
static void
be_idle(const struct runtime_report *report, double seconds, struct idle *idle)
{
    struct runtime_spec spec = {.tell = true, .processes = 1};
    struct runtime_counters before, after;
    struct runtime_crew crew;
    struct runtime_used in_all;
    double start, used;
    PGconn *conn;

    runtime_fresh();
    conn = bench_connect();
    runtime_settle(conn);
    runtime_count(conn, &before);
    runtime_crew_start(&crew, report, &spec);
    if (!runtime_crew_wait(&crew, 20))
        bench_die("the worker did not start");
    sleep_s(1); /* It may have things to do after its start. */
    start = bench_now_s();
    used = process_cpu_s(crew.pids[0]);
    sleep_s(seconds);
    idle->core = (process_cpu_s(crew.pids[0]) - used) / (bench_now_s() - start);
    read_memory(crew.pids[0], &idle->memory);
    runtime_crew_drain(&crew);
    idle->seconds = runtime_crew_join(&crew, &in_all);
    runtime_settle(conn);
    runtime_count(conn, &after);
    PQfinish(conn);
    idle->commits = after.commits - before.commits;
}

/* Other programs of the server must not commit in the database while commits are counted. */
static void
set_autovacuum(bool on)
{
    PGconn *conn;

    bench_go_to("postgres");
    conn = bench_connect();
    bench_do(conn, on ? "alter system reset autovacuum" : "alter system set autovacuum to off");
    bench_do(conn, "select pg_reload_conf()");
    PQfinish(conn);
}

static void
measure_worker(struct runtime_report *report)
{
    /* A processor that others use takes more time for the same. */
    struct bench_figure cpu = {
        .name = "idle_cpu",
        .unit = "% of a core",
        .bound_kind = BENCH_AT_MOST,
        .bound = 1,
        .gate = bench_ratio_gate(report->figures.quick, BENCH_AT_MOST, 1),
    };
    struct idle brief, idle;

    set_autovacuum(false);
    be_idle(report, 1, &brief);
    be_idle(report, report->figures.quick ? 8 : 20, &idle);
    set_autovacuum(true);
    bench_say_plain(
        &report->figures, "idle_anonymous", idle.memory.anonymous_mb, "MB", BENCH_AT_MOST, 4);
    bench_say_plain(
        &report->figures, "idle_resident", idle.memory.resident_mb, "MB", BENCH_NO_BOUND, 0);
    cpu.value = idle.core * 100;
    bench_say(&report->figures, &cpu);
    /*
     * What start and end cost is in both, so the difference is what being idle costs. A poll is a claim and a tick, which commits after each
     * piece that has something to do; how many of these are chores that come every ten seconds is a matter of the moment.
     */
    bench_say_plain(&report->figures, "idle_commits",
        (idle.commits - brief.commits) / (idle.seconds - brief.seconds), "commits/s", BENCH_AT_MOST,
        10);
}

/* A program with so many connections of libpq, and nothing else. */
static void
measure_libpq(struct runtime_report *report, const char *connections)
{
    const char *argv[] = {"runtime_libpq", connections, NULL, NULL};
    struct memory memory = {0};
    struct bench_text name;
    char fd[16], byte;
    int told[2], status;
    pid_t pid;

    if (pipe(told) != 0)
        bench_die("no pipe: error %d", errno);
    (void)snprintf(fd, sizeof(fd), "%d", told[1]); /* An int fits. */
    argv[2] = fd;
    pid = runtime_spawn(BENCH_RUNTIME_LIBPQ, argv);
    (void)close(told[1]); /* The program has its own. */
    if (read(told[0], &byte, 1) != 1)
        bench_die("the bare program did not start");
    read_memory(pid, &memory);
    if (kill(pid, SIGTERM) != 0 || waitpid(pid, &status, 0) != pid)
        bench_die("cannot end the bare program: error %d", errno);
    (void)close(told[0]); /* It was only read. */
    bench_text_init(&name, 100);
    bench_text_addf(&name, "libpq_with_%s_resident", connections);
    bench_say_plain(&report->figures, name.data, memory.resident_mb, "MB", BENCH_NO_BOUND, 0);
    bench_text_clear(&name);
    bench_text_addf(&name, "libpq_with_%s_anonymous", connections);
    bench_say_plain(&report->figures, name.data, memory.anonymous_mb, "MB", BENCH_NO_BOUND, 0);
    bench_text_done(&name);
}

static double
kilobytes_of_file(const char *path)
{
    struct stat info;

    if (stat(path, &info) != 0)
        bench_die("no file \"%s\"", path);
    return (double)info.st_size / 1024;
}

static void
measure_library(struct runtime_report *report)
{
    char path[] = "/tmp/bench_runtime_XXXXXX";
    const char *argv[] = {"strip", "-o", path, BENCH_LIBPAWL, NULL};
    int status, fd = mkstemp(path);
    pid_t pid;

    if (fd < 0 || close(fd) != 0)
        bench_die("cannot make a file: error %d", errno);
    pid = runtime_spawn("/usr/bin/strip", argv);
    if (waitpid(pid, &status, 0) != pid || status != 0)
        bench_die("strip failed");
    bench_say_plain(&report->figures, "libpawl_size", kilobytes_of_file(path), "kB, stripped",
        BENCH_NO_BOUND, 0);
    (void)unlink(path); /* A file left behind does no harm. */
}

void
runtime_footprint(struct runtime_report *report)
{
    measure_worker(report);
    measure_libpq(report, "1");
    measure_libpq(report, "3");
    measure_library(report);
}
