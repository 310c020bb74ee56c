/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The disk of the server's log is full for a while, in the middle of the work of producers and workers, and then has room again. Nothing that
 * was acknowledged is lost, no run pays for it with an attempt, and who waits for the server does not keep the machine busy. Takes root.
 */
#include "disk.h"
#include "producers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    workers = 4,
    runs = 20000,
    threads = 4,
    full_s = 60,
    full_few_s = 10,
    ready_within_ms = 5000,
    lease_ms = 5000,
    busy_percent = 5
};

struct field {
    struct crash crash;
    struct cluster cluster;
    struct disk disk;
    struct producers producers;
    double seconds;
    /* What the busiest worker took of a processor while the disk was full. */
    double percent;
    long ready_ms;
    long stalled_ms;
};

struct part {
    struct field *field;
    unsigned number;
};

/* Seconds of processor time of a process so far: fields 14 and 15 of its stat, counted behind the name, which may hold anything. */
static double
cpu_s(pid_t pid)
{
    char path[40], text[1000];
    size_t size;
    FILE *file;
    char *at;
    long ticks = 0;

    (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    file = fopen(path, "re");
    if (file == NULL)
        bench_die("cannot read \"%s\": error %d", path, errno);
    size = fread(text, 1, sizeof(text) - 1, file);
    (void)fclose(file); /* It was only read. */
    text[size] = '\0';
    at = strrchr(text, ')');
    for (int field = 3; at != NULL && field <= 15; field++) {
        char *next = strchr(at + 2, ' ');

        if (next == NULL)
            bench_die("\"%s\" is not as it should be", path);
        at = at + 2;
        *next = '\0';
        if (field >= 14)
            ticks += bench_number(at, "ticks", 0, 1000000000);
        at = next - 1;
    }
    return (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

/* Half of all is done, the rest is allowed, and the disk is full. */
static void
fill_and_free(struct field *field)
{
    struct crash *crash = &field->crash;
    double before_s[workers], until_s;
    int64_t from_us;
    long acked;

    atomic_store(&field->producers.allowed, field->producers.total / 2);
    producers_await_ended(&field->producers, field->producers.total / 4);
    disk_fill(&field->disk);
    for (int i = 0; i < workers; i++)
        before_s[i] = cpu_s(killer_pid(crash->killer, i));
    until_s = bench_now_s() + field->seconds;
    while (bench_now_s() < until_s)
        crash_rest();
    for (int i = 0; i < workers; i++) {
        double percent = 100 * (cpu_s(killer_pid(crash->killer, i)) - before_s[i]) / field->seconds;

        field->percent = percent > field->percent ? percent : field->percent;
    }
    race_ok(
        &crash->race, disk_free(&field->disk), "the server was not there while the disk was full");
    from_us = meter_now_us();
    acked = atomic_load(&field->producers.acked);
    atomic_store(&field->producers.allowed, field->producers.total);
    while (atomic_load(&field->producers.acked) == acked)
        crash_rest();
    field->ready_ms = (long)((meter_now_us() - from_us) / 1000);
    field->stalled_ms = meter_stalled_ms(crash->meter, from_us, meter_now_us());
    crash_connect(crash);
}

/* The producers, and the one who fills the disk, each in a thread. */
static void *
play(void *argument)
{
    struct part *part = argument;

    if (part->number == 0)
        fill_and_free(part->field);
    else
        producers_work(&part->field->producers);
    return NULL;
}

static void
check(struct field *field)
{
    struct crash *crash = &field->crash;

    race_note("disk full for %.0f s, which the server said %ld times; the busiest worker took %.1f "
              "%% of a "
              "processor, and the first trigger was acknowledged %ld ms after the server was back",
        field->seconds, disk_complaints(&field->disk), field->percent, field->ready_ms);
    race_ok(
        &crash->race, disk_complaints(&field->disk) > 0, "the server said that its disk is full");
    race_ok(&crash->race, field->percent < busy_percent,
        "workers took less than %d %% of a processor meanwhile", busy_percent);
    race_in_time(&crash->race, field->ready_ms <= ready_within_ms + field->stalled_ms,
        "a trigger was acknowledged within %d ms afterwards", ready_within_ms);
    crash_end_workers(crash);
    producers_check(&field->producers);
    crash_check_attempts(crash);
}

int
main(int argc, char **argv)
{
    struct field field = {0};
    struct crash *crash = &field.crash;
    struct crash_workers spec = {
        .count = workers, .lease_ms = lease_ms, .concurrency = 16, .step_us = 3000};
    struct part parts[threads + 1];
    const char *const settings[] = {"max_wal_size=96MB", "min_wal_size=32MB", NULL};
    struct cluster_options options = {.pawl = true, .settings = settings};

    if (!disk_allow()) {
        (void)puts("1..0 # SKIP it takes root to make a disk that can be filled");
        return 0;
    }
    crash_start(crash, argc, argv);
    field.seconds = crash->race.divisor == 1 ? full_s : full_few_s;
    options.pooled = crash->race.pooled;
    cluster_open(&field.cluster, &options);
    disk_open(&field.disk, &field.cluster, crash->dir);
    cluster_use(&field.cluster);
    crash_connect(crash);
    field.producers = (struct producers){
        .crash = crash, .total = race_share(&crash->race, runs), .call_timeout = "2s"};
    producers_start(&field.producers);
    crash_spawn(crash, &spec);
    crash_wait_sessions(crash, spec.count);
    for (unsigned i = 0; i <= threads; i++)
        parts[i] = (struct part){.field = &field, .number = i};
    race_threads(threads + 1, play, parts, sizeof(parts[0]));
    race_ok(&crash->race, crash_wait_left(crash, 0, 60), "all runs end");
    check(&field);
    PQfinish(crash->direct);
    crash->direct = NULL;
    disk_close(&field.disk);
    cluster_close(&field.cluster);
    return crash_end(crash);
}
