/* SPDX-License-Identifier: Apache-2.0 */
/* Housekeeping on the session's connection. worker.h has the contract of turn, reply and next_us. */
#ifndef PW_LIBPAWL_WORKER_TICK_H
#define PW_LIBPAWL_WORKER_TICK_H

#include "libpawl/worker/request.h"
#include "pawl/worker.h"
#include "pg/conn.h"

/* Used by the I/O thread only. */
struct pw_tick {
    struct pw_request request;
    int64_t at_us; /* no tick before this time */
    bool wanted;
    bool first;  /* the next claim waits for the tick, which makes due timers ready */
    bool failed; /* the last tick failed, and that is logged */
};

/* Calls pawl.tick() when the session's connection is free. */
void pw_tick_soon(pawl_worker *worker);
/* The same, and the next claim waits for it: a tick makes due timers ready. */
void pw_tick_ahead(pawl_worker *worker);
void pw_tick_turn(pawl_worker *worker, int64_t now_us);
void pw_tick_reply(pawl_worker *worker, struct pw_reply *reply, int64_t now_us);
int64_t pw_tick_next_us(const pawl_worker *worker);
/* Returns true if a claim must wait for the tick, because timers may be due. */
bool pw_tick_first(pawl_worker *worker, int64_t now_us);

#endif
