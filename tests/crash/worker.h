/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the handlers of crash workers share: they tell the ledger what they do. tests/crash/worker.c has the program, and handlers; a worker
 * that is linked with more of them (tests/storm) executes those, too.
 */
#ifndef PAWL_CRASH_WORKER_H
#define PAWL_CRASH_WORKER_H

#include "ledger.h"

#include <libpq-fe.h>
#include <pawl/pawl.h>
#include <pthread.h>
#include <stdatomic.h>

enum {
    worker_conns_max = 64
};

/* The user data of every handler. */
struct world {
    int ledger;
    unsigned step_us;
    /* A pattern to handle besides what is declared, without a function: for the rollbacks of a flow. NULL: none. */
    const char *pattern;
    atomic_ulong serial;
    /* Connections of handlers' own, for transactional steps. */
    pthread_mutex_t lock;
    PGconn *conns[worker_conns_max];
    int conn_count;
};

/* Adds to the ledger what happens to a step of a run. */
void worker_note(
    struct world *world, pawl_run *run, enum ledger_kind kind, const char *step, long value);

/* A number that no other process and no other call gets. */
unsigned long worker_next_number(struct world *world);

/* What a number decides, as if by chance. */
unsigned worker_dice(unsigned long number, unsigned sides);

/* The n of {"n" : n}, however it is written. */
unsigned long worker_number_of(pawl_bytes input);

/* Step number i of a saga, sI, with an undo, that ends as it is told to. Other options are the caller's. */
pawl_status worker_do_saga_step(pawl_run *run, int i, pawl_status ends);

/* A step that ends as it is told to. */
pawl_status worker_do_step(pawl_run *run, const char *name, pawl_status ends);

/* A step of a branch of this name, which takes so much longer than others. */
pawl_status worker_do_branch_step(pawl_run *branch, const char *of, const char *name, unsigned us);

#endif
