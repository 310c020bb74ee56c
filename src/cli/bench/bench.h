/* SPDX-License-Identifier: Apache-2.0 */
/* The measurements of pawl bench: scripts on several connections, and a worker of the library. This part has no tables and no options. */
#ifndef PW_CLI_BENCH_BENCH_H
#define PW_CLI_BENCH_BENCH_H

#include <pawl/pawl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BENCH_CONNECTIONS_MAX = 8,
    /* The limit of one measurement, so that it does not fill the disk. A fast server reaches it before the time has passed. */
    BENCH_ITEMS_MAX = 100000,
};

struct bench {
    const pawl_config *config; /* of the database in which it measures */
    int signals;               /* a signalfd: readable when a signal asks the program to end */
};

/* The result of one measurement. */
struct bench_figure {
    double per_s;
    double p50_ms; /* 0: not measured */
    double p99_ms;
};

/* Returns true if a signal has asked the program to end. */
bool bench_interrupted(const struct bench *bench);

/*
 * Executes a script repeatedly, on this number of connections at once. Each turn of the script counts as items items. Returns EXIT_OK, or
 * prints why not and returns the exit code. Returns EXIT_INTERRUPTED without a message.
 */
int bench_script(const struct bench *bench, const char *script, int connections, int items,
    int64_t time_us, struct bench_figure *figure);

/* Measures runs of workflow bench.runtime, each with three steps. One thread triggers them and one worker executes them. */
int bench_runtime(const struct bench *bench, int64_t time_us, struct bench_figure *figure);

/* Measures the time from the trigger of a run of bench.pickup until an idle worker has begun it, one run at a time. */
int bench_pickup(const struct bench *bench, int64_t time_us, struct bench_figure *figure);

/* --- for both kinds of measurement --- */

/* Sorts the times, and sets p50 and p99 of figure. */
void bench_percentiles(int64_t *times_us, size_t count, struct bench_figure *figure);

#endif
