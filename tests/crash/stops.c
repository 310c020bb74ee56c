/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server is stopped at once, as by a power cut, again and again, in the middle of the work of producers and workers. What
 * was acknowledged is there afterwards, and no run pays for the outage with an attempt.
 */
#include "cluster.h"
#include "producers.h"

enum {
    stops = 60,
    runs = 20000,
    threads = 4,
    long_in = 12,
    lease_ms = 5000
};

struct field {
    struct crash crash;
    struct cluster cluster;
    struct producers producers;
};

struct part {
    struct field *field;
    unsigned number;
};

/* Stops the server when half of what was allowed last has ended, so that the rest is under way. */
static void
stop_and_start(struct field *field)
{
    struct crash *crash = &field->crash;
    struct producers *producers = &field->producers;
    long count = race_share(&crash->race, stops);

    for (long i = 0; i < count; i++) {
        long from = producers->total * i / count;
        long to = producers->total * (i + 1) / count;

        atomic_store(&producers->allowed, to);
        producers_await_ended(producers, from + (to - from) / 2);
        crash_pause(crash, 20000);
        cluster_crash(&field->cluster);
        /* Now and then it takes longer than leases, and workers have learnt to wait when it is over. */
        if (i % long_in == 1)
            crash_outlast(crash);
        cluster_start(&field->cluster);
        crash_connect(crash);
    }
    atomic_store(&producers->allowed, producers->total);
}

/* The producers, and the one who stops the server, each in a thread. */
static void *
play(void *argument)
{
    struct part *part = argument;

    if (part->number == 0)
        stop_and_start(part->field);
    else
        producers_work(&part->field->producers);
    return NULL;
}

int
main(int argc, char **argv)
{
    struct field field = {0};
    struct crash *crash = &field.crash;
    struct crash_workers spec = {
        .count = 4, .lease_ms = lease_ms, .concurrency = 16, .step_us = 3000};
    struct part parts[threads + 1];
    struct cluster_options options = {.pawl = true};

    crash_start(crash, argc, argv);
    options.pooled = crash->race.pooled;
    cluster_open(&field.cluster, &options);
    cluster_use(&field.cluster);
    crash_connect(crash);
    field.producers = (struct producers){.crash = crash, .total = race_share(&crash->race, runs)};
    producers_start(&field.producers);
    crash_spawn(crash, &spec);
    crash_wait_sessions(crash, spec.count);
    for (unsigned i = 0; i <= threads; i++)
        parts[i] = (struct part){.field = &field, .number = i};
    race_threads(threads + 1, play, parts, sizeof(parts[0]));
    race_ok(&crash->race, crash_wait_left(crash, 0, 60), "all runs end");
    race_note(
        "immediate stops %ld, runs %ld", race_share(&crash->race, stops), field.producers.total);
    crash_end_workers(crash);
    producers_check(&field.producers);
    crash_check_attempts(crash);
    PQfinish(crash->direct);
    crash->direct = NULL;
    cluster_close(&field.cluster);
    return crash_end(crash);
}
