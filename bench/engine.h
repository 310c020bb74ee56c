/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of bench/engine: one section for each kind of figure, and the client that drives pawl through its SQL
 * functions as a worker library would.
 */
#ifndef PAWL_BENCH_ENGINE_H
#define PAWL_BENCH_ENGINE_H

#include "harness.h"

#define ENGINE_BATCH_MAX 1000
#define ENGINE_WORKFLOW "bench.run"

/* The sections. Each makes the databases it needs. */
void engine_counts(struct bench_report *report);
void engine_claims(struct bench_report *report);
void engine_plans(struct bench_report *report);
void engine_retention(struct bench_report *report);
void engine_ratios(struct bench_report *report);

/* A fresh database with pawl, the helpers of engine/fill.sql and one workflow. */
void engine_fresh(const char *database);

/*
 * Settings of the whole server that a section needs: with `quiet`, no autovacuum and no page images in the WAL; without,
 * as the cluster was started.
 */
void engine_quiet(bool quiet);

/* A task that a hand holds. */
struct engine_task {
    char run_id[37];
    char fence[12];
};

/* One connection, registered as a worker session of every workflow, with the texts of its calls. */
struct engine_hand {
    PGconn *conn;
    char session[24];
    int batch;
    int request;
    struct engine_task tasks[ENGINE_BATCH_MAX]; /* what the last claim took */
    int held;
    double longest_s; /* of all its calls so far */
    long busy;        /* answers that made it send an item again */
    const char *payload;
    struct bench_text runs, fences, kinds, names, payloads, seqs;
};

/* `handles` is an array literal of names and patterns. The hand is large; free it with engine_hand_done(). */
struct engine_hand *engine_hand_new(int batch, const char *handles);
void engine_hand_done(struct engine_hand *hand);

/* A batch of runs in one call; the single-run verb for a batch of one. With a key each, if asked for. */
void engine_hand_trigger(struct engine_hand *hand, bool with_key);

/* Triggers one run as libpawl does: with an id that it calls new. */
void engine_hand_trigger_new(struct engine_hand *hand, bool with_key);

/* Claims up to a batch and returns how many. */
int engine_hand_claim(struct engine_hand *hand);

/*
 * Records steps first..last of all tasks held and then completes them if asked to, in one call; items that another
 * transaction holds are sent again, as a worker would.
 */
void engine_hand_commit(struct engine_hand *hand, int first, int last, bool complete);

/* Claim, three steps, completion: three calls after the claim. Returns how many runs it did. */
int engine_hand_work(struct engine_hand *hand);

/* Buffers of a call, the median of some, each its own transaction; with `tick`, of one that does the housekeeping that is due. */
double engine_buffers(struct engine_hand *hand, const char *call, bool tick);

/* The same of a claim. */
double engine_claim_buffers(struct engine_hand *hand, int most, bool tick);

enum engine_mode {
    ENGINE_LIFE,       /* trigger, claim, three steps, complete */
    ENGINE_INSERT,     /* trigger only */
    ENGINE_INSERT_KEY, /* trigger with an idempotency key */
    ENGINE_NOOP,       /* claim and complete; runs made beforehand */
};

/* Makes a fresh database, fills it where the mode needs it, checkpoints, and does as bench_bare_run_warm(). */
double engine_run(enum engine_mode mode, int batch, int connections, long total);

#endif
