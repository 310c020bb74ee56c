/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Idle workers with up to five hundred connections lose their server at the same moment, and it comes back. They do not all come at once; all
 * are there again soon; and where the server has too few places for them, those who find none go on asking until there are more.
 *
 * The workers are in groups, as on ten machines. Group and worker are known by the name of their connections, in the server's log and in
 * pg_stat_activity. A worker is there when it has a connection: writers of idle workers close theirs.
 */
#include "pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    groups = 10,
    workers_each = 17,
    workers = groups * workers_each,
    connections_each = 3, /* at most */
    restarts = 2,
    outage_us = 1500000,
    per_second = 50,
    steady_ms = 10000,
    bare = 20,
    log_lines_max = 20000,
    line_bytes = 1000
};

/* A connection, as the log tells of it. */
struct arrival {
    int group;
    long at_ms;
};

struct field {
    struct crash crash;
    struct cluster cluster;
    int count;
    pawl_worker *worker[workers];
    struct arrival *arrivals;
    long arrived;
    long refused;
    /* Where the server's log was read up to. */
    long log_at;
    long peak;
    long group_peak;
    long slowest_ms;
    long late;
};

/* How long a connection takes on this machine now, of somebody who comes alone, in milliseconds. */
static double
measure_bare(void)
{
    double from_s = bench_now_s();

    for (int i = 0; i < bare; i++)
        PQfinish(race_connect_direct());
    return (bench_now_s() - from_s) * 1000 / bare;
}

/* Waits until all workers have a connection; returns how long it took, less what the machine stood still. */
static long
await_all(struct field *field, int64_t since_us)
{
    double until_s = bench_limit_s(120);
    int64_t now_us;

    while (race_count(field->crash.direct,
               "select count(distinct application_name) from pg_stat_activity where "
               "application_name like 'herd-%'") < field->count) {
        if (bench_now_s() > until_s)
            bench_die("not all workers came back in two minutes");
        crash_pause(&field->crash, 50000);
    }
    now_us = meter_now_us();
    return (now_us - since_us) / 1000 - meter_stalled_ms(field->crash.meter, since_us, now_us);
}

/* The number behind a word of a line, or 0. */
static long
number_behind(const char *line, const char *word)
{
    const char *at = strstr(line, word);
    long number = 0;

    if (at == NULL)
        return 0;
    for (at += strlen(word); *at >= '0' && *at <= '9'; at++)
        number = number * 10 + (*at - '0');
    return number;
}

/* Reads what the log says since the last look: who has come, and who found no place. A line begins with its time, SECONDS.MILLISECONDS. */
static void
read_log(struct field *field)
{
    char path[cluster_name_bytes + 32], line[line_bytes];
    FILE *file;

    field->arrived = field->refused = 0;
    (void)snprintf(path, sizeof(path), "%s/log/server.log", field->cluster.data);
    file = fopen(path, "re");
    if (file == NULL || fseek(file, field->log_at, SEEK_SET) != 0)
        bench_die("cannot read \"%s\"", path);
    while (fgets(line, sizeof(line), file) != NULL) {
        if (strstr(line, "too many clients") != NULL ||
            strstr(line, "connection slots are") != NULL)
            field->refused++;
        if (strstr(line, "connection authorized") != NULL &&
            strstr(line, "application_name=herd-") != NULL && field->arrived < log_lines_max)
            field->arrivals[field->arrived++] =
                (struct arrival){.group = (int)number_behind(line, "application_name=herd-"),
                    .at_ms = 1000 * number_behind(line, "at ") + number_behind(line, ".")};
    }
    field->log_at = ftell(file);
    (void)fclose(file); /* It was only read. */
}

/* The most arrivals within a second, of a group or, for -1, of all. */
static long
peak_of(const struct field *field, int group)
{
    long peak = 0;

    for (long i = 0; i < field->arrived; i++) {
        long count = 0;

        if (group >= 0 && field->arrivals[i].group != group)
            continue;
        for (long j = i; j >= 0 && field->arrivals[j].at_ms > field->arrivals[i].at_ms - 1000; j--)
            count += group < 0 || field->arrivals[j].group == group;
        peak = count > peak ? count : peak;
    }
    return peak;
}

/* Stops the server for long enough for everybody to have learnt to wait, and starts it. Returns when it was there. */
static int64_t
restart(struct field *field)
{
    int64_t from_us;

    cluster_crash(&field->cluster);
    from_us = meter_now_us();
    while (meter_now_us() < from_us + outage_us)
        crash_pause(&field->crash, 100000);
    read_log(field);
    cluster_start(&field->cluster);
    from_us = meter_now_us();
    crash_connect(&field->crash);
    return from_us;
}

static void
play_restart(struct field *field)
{
    int64_t back_us = restart(field);
    long took_ms = await_all(field, back_us), peak, group_peak = 0;
    double bare_ms = measure_bare();

    read_log(field);
    peak = peak_of(field, -1);
    for (int i = 0; i < groups; i++) {
        long of_group = peak_of(field, i);

        group_peak = of_group > group_peak ? of_group : group_peak;
    }
    race_note("%d workers: all were there after %ld ms; of %ld connections %ld came in one second,"
              " %ld of one group; a bare connection took %.1f ms",
        field->count, took_ms, field->arrived, peak, group_peak, bare_ms);
    field->slowest_ms = took_ms > field->slowest_ms ? took_ms : field->slowest_ms;
    field->peak = peak > field->peak ? peak : field->peak;
    field->group_peak = group_peak > field->group_peak ? group_peak : field->group_peak;
    /* Whatever the workers do, the machine needs its time for so many. */
    field->late += (double)took_ms > steady_ms + 2 * bare_ms * field->count * connections_each;
}

/* A server with places for half of them, and then for all of them again. */
static void
play_crowd(struct field *field)
{
    struct race *race = &field->crash.race;
    double until_s;
    long refused = 0;
    char sql[80];

    (void)snprintf(
        sql, sizeof(sql), "alter system set max_connections to %d", field->count / 2 + 10);
    bench_do(field->crash.direct, sql);
    (void)restart(field);
    bench_do(field->crash.direct, "alter system reset max_connections");
    until_s = bench_limit_s(60);
    while (refused < field->count && bench_now_s() < until_s) {
        crash_pause(&field->crash, 50000);
        read_log(field);
        refused += field->refused;
    }
    race_ok(race, refused >= field->count, "%ld times a worker found no place", refused);
    play_restart(field);
}

static pawl_worker *
open_worker(int number)
{
    char name[60];
    pawl_config *config;
    pawl_worker *worker = NULL;
    pawl_error *error = NULL;

    (void)snprintf(name, sizeof(name), "application_name=herd-%d-%d", number % groups, number);
    config = crash_config(name);
    crash_must(pawl_worker_new(config, &worker, &error), &error);
    crash_must(pawl_worker_handle(worker, "crash.*", NULL, NULL, &error), &error);
    crash_must(pawl_worker_start(worker, &error), &error);
    pawl_config_free(config);
    return worker;
}

static void
open_all(struct field *field)
{
    static const char *const settings[] = {"max_connections=600", "logging_collector=on",
        "log_filename=server.log", "log_connections=on", "log_line_prefix=at %n ", NULL};
    const struct cluster_options options = {.pawl = true, .settings = settings};

    cluster_open(&field->cluster, &options);
    cluster_use(&field->cluster);
    crash_connect(&field->crash);
    crash_measure(&field->crash);
    field->arrivals = race_alloc(log_lines_max, sizeof(struct arrival));
    field->count = field->crash.race.divisor == 1 ? workers : workers / 10;
    for (int i = 0; i < field->count; i++)
        field->worker[i] = open_worker(i);
    (void)await_all(field, meter_now_us());
}

int
main(int argc, char **argv)
{
    struct field field = {0};
    struct crash *crash = &field.crash;
    pawl_error *error = NULL;
    long sessions = 0;

    crash_start(crash, argc, argv);
    open_all(&field);
    for (long i = 0; i < restarts && crash->race.divisor == 1; i++)
        play_restart(&field);
    play_crowd(&field);
    race_ok(&crash->race, field.group_peak <= per_second,
        "at most %ld connections of a group came in one second", field.group_peak);
    race_in_time(&crash->race, field.late == 0, "all were there after %ld ms", field.slowest_ms);
    for (int i = 0; i < field.count; i++) {
        sessions += pawl_worker_counter(field.worker[i], "sessions") == 1;
        crash_must(pawl_worker_stop(field.worker[i], 30000, &error), &error);
        pawl_worker_free(field.worker[i]);
    }
    race_ok(&crash->race, sessions == field.count || crash_stalled(crash, 30000),
        "%ld of %d workers kept their session", sessions, field.count);
    free(field.arrivals);
    meter_stop(crash->meter);
    crash->meter = NULL;
    PQfinish(crash->direct);
    crash->direct = NULL;
    cluster_close(&field.cluster);
    return crash_end(crash);
}
