/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every race program needs besides bench/harness.h: its size and seed, TAP, threads, random numbers, and statements
 * that may fail. Sessions of workers are in session.h. Nothing keeps state between calls of a connection, so
 * everything works behind a pooler in transaction mode.
 */
#ifndef PAWL_RACE_H
#define PAWL_RACE_H

#include "harness.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One program's run. */
struct race {
    uint64_t seed;
    /* What part of the full size is done: 1 of this many. */
    long divisor;
    /* Connections go through a pooler. */
    bool pooled;
    int checks;
    int failed;
    double started_s;
};

/*
 * Reads --full and --seed N (or PAWL_SEED in the environment), prints the seed, and lets the clock of the database run if the tests have stopped it.
 * A tenth of the full size is done without --full, and a fiftieth behind a pooler; PAWL_SHARE in the environment is another
 * number than 10 or 50.
 */
void race_start(struct race *race, int argc, char **argv);

/* How many of `full` are to be done. */
long race_share(const struct race *race, long full);

/* One TAP line: what was found to hold, or not. */
void race_ok(struct race *race, bool ok, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As race_ok(), for a bound in time: see bench_in_time(). At full size it is a check in any case. */
void race_in_time(struct race *race, bool ok, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A line for the reader, behind a "#". */
void race_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints the plan and the time it took; returns what main returns. */
int race_end(struct race *race);

/* Random numbers: each thread has its own stream of the seed. */
struct race_random {
    uint64_t state;
};

struct race_random race_random(const struct race *race, unsigned stream);

/* A number from 0 to below - 1. */
unsigned race_below(struct race_random *random, unsigned below);

/* Lets up to `most_us` microseconds pass, often none: the random offset of one side of a race. */
void race_stagger(struct race_random *random, unsigned most_us);

/* Lets the others move while this thread waits for a condition. */
void race_breathe(void);

/* Runs body once for each of `count` elements of `size` bytes, in threads, and waits for all of them. */
void race_threads(int count, void *(*body)(void *), void *elements, size_t size);

/* Past the pooler, for what only the checks do: look at tables. */
PGconn *race_connect_direct(void);

/* The same, and whether it came about is the caller's to see. */
PGconn *race_try_connect_direct(void);

/* As bench_exec_params, but an error of the statement is the caller's to see. */
PGresult *race_try(PGconn *conn, const char *sql, int count, const char *const *params);

/* The SQLSTATE of a failed statement, else "". */
const char *race_state(const PGresult *res);

/* The one number that a query returns. */
long race_count(PGconn *conn, const char *sql);

/* The number in a field; an empty field is 0. */
long race_field(const PGresult *res, int row, int column);

/* Keeps claims from doing housekeeping for the next nine seconds. */
void race_no_housekeeping(PGconn *direct);

/* Triggers `count` runs of a workflow with inputs {"n": first}, {"n": first + 1}, ... */
void race_trigger(PGconn *conn, const char *workflow, long first, long count);

/* The ids of all runs that live, each in the place of its n. */
enum {
    race_id_bytes = 40
};
void race_load_ids(PGconn *conn, char (*ids)[race_id_bytes]);

/* Memory that must be there, filled with zeroes. */
void *race_alloc(long count, size_t size);

#endif
