/* SPDX-License-Identifier: Apache-2.0 */
/* Clients that trigger runs one by one while the server is taken from them, and what must hold of what they were told. */
#ifndef PAWL_CRASH_PRODUCERS_H
#define PAWL_CRASH_PRODUCERS_H

#include "crash.h"

#include <stdatomic.h>

/* Set crash and total; the rest begins as zero. */
struct producers {
    struct crash *crash;
    /* How many runs are triggered in all: of crash.steps.v1, and every eighth of crash.sleep.v1. */
    long total;
    /* How long a call may take, as a setting of the client; NULL: the usual. */
    const char *call_timeout;
    int ledger;
    /* How many may have been triggered by now, so that there is something to do until the last fault. */
    atomic_long allowed;
    atomic_long triggered;
    atomic_long acked;
    /* Calls whose outcome nobody knew; they were made again. */
    atomic_long unknown;
    atomic_long failed;
    atomic_long not_created;
};

/* Makes the workflows and opens the ledger. */
void producers_start(struct producers *producers);

/* Triggers until `total` have been; any number of threads may. Every other run has a key. */
void producers_work(struct producers *producers);

/* Waits until so many runs have ended, and dies if that takes two minutes. */
void producers_await_ended(struct producers *producers, long count);

/* Checks that all runs have ended well, and that none that was acknowledged is lost. The workers have ended. */
void producers_check(struct producers *producers);

#endif
