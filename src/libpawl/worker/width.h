/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The width of a worker: the number of runs that it has in flight. The setting concurrency is that number, or auto. With auto the width
 * begins with PW_WIDTH_BASE, and grows while handlers wait for their records most of the time: such a run costs a sleeping
 * thread and nothing else. Handlers that compute for long, or block, keep it at PW_WIDTH_BASE.
 */
#ifndef PW_LIBPAWL_WORKER_WIDTH_H
#define PW_LIBPAWL_WORKER_WIDTH_H

#include "libpawl/common/config.h"
#include "pawl/worker.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PW_WIDTH_BASE = 16,
    PW_WIDTH_MOST = 256,
};

/* The work of handlers in a period. */
struct pw_width_seen {
    int64_t us;      /* how long the period was */
    int64_t busy_us; /* how long handlers executed, all together */
    size_t ended;    /* runs that ended */
    size_t slow;     /* steps that have been executing for long at its end */
};

/* The I/O thread owns it. */
struct pw_width {
    size_t now;
    size_t most;
    bool full; /* in this period there was a moment without a free place */
    int64_t since_us;
    int64_t looked_us; /* when handlers were last looked at */
    int64_t busy_us;   /* when the period began */
    int64_t ended;
};

void pw_width_init(struct pw_width *width, const struct pw_settings *settings);
/* Returns the largest width with these settings, which is the largest number of threads, too. */
size_t pw_width_most(const struct pw_settings *settings);
/*
 * Changes the width at the end of a period, if the work of handlers asks for it. Looks at all runs, so it does nothing if it was called a
 * moment ago.
 */
void pw_width_turn(pawl_worker *worker, int64_t now_us);

/* Decides for pw_width_turn(). Returns false if the period was too short to tell. */
bool pw_width_decide(struct pw_width *width, const struct pw_width_seen *seen);

#endif
