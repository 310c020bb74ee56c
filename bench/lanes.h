/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of bench/lanes: one section for each kind of figure. Sessions are the hands of bench/engine. */
#ifndef PAWL_BENCH_LANES_H
#define PAWL_BENCH_LANES_H

#include "engine.h"

/* The sections. Each makes the databases it needs. */
void lanes_shares(struct bench_report *report);
void lanes_claimers(struct bench_report *report);
void lanes_newcomer(struct bench_report *report);
void lanes_full(struct bench_report *report);
void lanes_snapshot(struct bench_report *report);

enum {
    LANES_CREW_MAX = 16,
};

/* What a session of a crew does over and over until it answers false. */
typedef bool lanes_turn(struct engine_hand *hand, int number, void *shared);

/* Runs `count` sessions, each in a thread of its own, that claim up to `batch` runs of workflow ENGINE_WORKFLOW. */
void lanes_crew(int count, int batch, lanes_turn *turn, void *shared);

/* Triggers `runs` runs of each of the tenants t<first> to t<last>, tenant by tenant. */
void lanes_fill_tenants(PGconn *conn, long first, long last, long runs);

/* Triggers `runs` runs with each of the limit keys k0 to k<count - 1>, in turns. */
void lanes_fill_keys(PGconn *conn, long count, long runs);

/* A fresh database whose workflow has these options, a JSON object. */
PGconn *lanes_fresh(const char *options);

#endif
