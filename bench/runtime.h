/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of bench/runtime: one section for each kind of figure, the databases they work in, and the worker processes that
 * they start. A worker process is this program again, and knows nothing of pawl but <pawl/pawl.h>.
 */
#ifndef PAWL_BENCH_RUNTIME_H
#define PAWL_BENCH_RUNTIME_H

#include "harness.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#define RUNTIME_WORKFLOW "bench.run"

enum {
    RUNTIME_ROUNDS = 5,
    RUNTIME_QUICK_ROUNDS = 3,
    RUNTIME_STEPS = 3,
    RUNTIME_STAMPS_MAX = 4096,
    RUNTIME_PROCESSES_MAX = 2,
    RUNTIME_SETTINGS_MAX = 16,
};

/* What was asked for, and how many figures are out of bounds so far. */
struct runtime_report {
    struct bench_report figures;
    /* NAME=VALUE for every worker, after those that a section sets. */
    const char *settings[RUNTIME_SETTINGS_MAX + 1];
};

/* Sets value and spread from the values of some rounds, which it sorts, and prints the figure. */
void runtime_say_median(
    struct runtime_report *report, struct bench_figure *figure, double *values, int rounds);

int runtime_rounds(const struct runtime_report *report);

/* The sections. Each makes the databases it needs. */
void runtime_throughput(struct runtime_report *report);
void runtime_peers(struct runtime_report *report);
void runtime_latency(struct runtime_report *report);
void runtime_footprint(struct runtime_report *report);

/* --- databases --- */

/* 240 bytes of JSON, as the yardstick's. */
extern const char runtime_payload[];

/* A fresh database with pawl and one workflow, named in the environment. */
void runtime_fresh(void);

/* The yardstick's database, named in the environment. It makes its tables afresh itself. */
void runtime_bare(void);

/* Ready runs, made beforehand, then a checkpoint. */
void runtime_fill(long total);

/* Waits until no other client is connected to the database: what it did is then counted. */
void runtime_settle(PGconn *conn);

/* What the database and the server's processes have used so far. */
struct runtime_counters {
    double commits;
    double xids;
    double wal_bytes;
    double server_cpu_s;
};

void runtime_count(PGconn *conn, struct runtime_counters *counters);

/* --- worker processes --- */

/* Memory that this program and its worker processes share. */
struct runtime_shared {
    long total; /* so many handlers have been called: drain; 0: never */
    atomic_long called;
    atomic_long steps;
    int64_t called_ns[RUNTIME_STAMPS_MAX]; /* when, on the monotonic clock, for workers that tell */
    int64_t steps_ns[RUNTIME_STAMPS_MAX];  /* how long each step took, for workers that tell */
    int64_t ended_ns[RUNTIME_PROCESSES_MAX];
};

struct runtime_spec {
    int steps;
    bool pull; /* one thread with pawl_worker_next() instead of pawl_worker_run() */
    bool tell; /* every handler keeps its times and wakes runtime_crew_wait() */
    long total;
    int processes;
    const char *settings[RUNTIME_SETTINGS_MAX + 1];
};

struct runtime_crew {
    struct runtime_shared *shared;
    int shared_fd, drain_fd, tell_fd;
    pid_t pids[RUNTIME_PROCESSES_MAX];
    int processes;
    double started_s;
};

/* Starts the processes. The caller ends them with runtime_crew_join(). */
void runtime_crew_start(struct runtime_crew *crew, const struct runtime_report *report,
    const struct runtime_spec *spec);

/* Waits until a handler, or a worker that has been registered, tells; false after timeout_s. */
bool runtime_crew_wait(struct runtime_crew *crew, double timeout_s);

void runtime_crew_drain(struct runtime_crew *crew);

/* What worker processes used in all. */
struct runtime_used {
    double cpu_s;
    double switches; /* of the processor from one thread to another, wanted or not */
};

/* Waits for their end; returns the seconds from the start until all was durable, and what they used. */
double runtime_crew_join(struct runtime_crew *crew, struct runtime_used *used);

/* A process that is started with these arguments and these descriptors kept open. */
pid_t runtime_spawn(const char *path, const char *const *arguments);

/* One drain of ready runs, measured. */
struct runtime_drained {
    double per_s;
    double commits, xids, wal_bytes;   /* per run */
    double worker_cpu_s, server_cpu_s; /* per 10,000 runs */
    double switches;                   /* context switches of the worker, per run */
};

/* In a fresh database: triggers spec->total runs, starts the workers, waits until all runs have ended with success. */
void runtime_drain(const struct runtime_report *report, const struct runtime_spec *spec,
    struct runtime_drained *drained);

/* The main function of a worker process. */
int runtime_worker_main(int argc, char **argv);

/* --- pickup --- */

struct runtime_pickup {
    double bare_p50_ms, bare_p99_ms; /* insert, notify, select */
    double p50_ms, p95_ms, p99_ms;   /* trigger from SQL until the handler starts */
    double commit_p50_ms;            /* one bare commit */
    double step_p50_ms, step_p99_ms; /* one step of a lone run */
};

/* Triggers `count` runs one by one at an idle worker, every gap_ms, each beside a bare round trip. */
void runtime_pickup(
    const struct runtime_report *report, int count, int gap_ms, struct runtime_pickup *pickup);

#endif
