/* SPDX-License-Identifier: Apache-2.0 */
/* How pawl bench measures: scripts on some connections, and a worker of the library. It knows nothing of tables and options. */
#ifndef PW_CLI_BENCH_BENCH_H
#define PW_CLI_BENCH_BENCH_H

#include <pawl/pawl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BENCH_CONNECTIONS_MAX = 8,
    BENCH_ITEMS_MAX =
        100000, /* of one measurement, so that no disk is filled; a fast server is done before its time is over */
};

struct bench {
    const pawl_config *config; /* of the database that is measured in */
    int signals;               /* a signalfd: readable when somebody wants an end */
};

/* What a measurement found. */
struct bench_figure {
    double per_s;
    double p50_ms; /* 0: not measured */
    double p99_ms;
};

/* Somebody wants an end. */
bool bench_interrupted(const struct bench *bench);

/*
 * Executes a script again and again on so many connections at once. Each turn counts as so many items. Returns what to exit with, after
 * having said why; EXIT_INTERRUPTED without a word.
 */
int bench_script(const struct bench *bench, const char *script, int connections, int items,
    int64_t time_us, struct bench_figure *figure);

/* Three-step runs of bench.runtime, which one thread triggers and one worker executes. */
int bench_runtime(const struct bench *bench, int64_t time_us, struct bench_figure *figure);

/* From the trigger of a run of bench.pickup until an idle worker has begun it, one by one. */
int bench_pickup(const struct bench *bench, int64_t time_us, struct bench_figure *figure);

/* --- for both kinds --- */

/* Sorts the times; p50 and p99. */
void bench_percentiles(int64_t *times_us, size_t count, struct bench_figure *figure);

#endif
