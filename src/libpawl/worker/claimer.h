/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claims: when to ask for work, for how much, on which writer's connection, and what becomes of the answer. worker.h has the
 * contract of turn, reply, broken and next_us.
 */
#ifndef PW_LIBPAWL_WORKER_CLAIMER_H
#define PW_LIBPAWL_WORKER_CLAIMER_H

#include "base/heap.h"
#include "libpawl/worker/request.h"
#include "pawl/worker.h"
#include "pg/conn.h"

struct pw_writer;

enum {
    PW_CLAIM_MAX = 1000, /* the engine gives no more at once */
};

enum pw_idle {
    PW_BUSY,    /* the last claim gave something */
    PW_LOOKING, /* it gave nothing: the session is marked idle and looks again */
    PW_IDLE,    /* that gave nothing either: a notification or the poll interval comes next */
};

/* Of the I/O thread. */
struct pw_claimer {
    enum pw_idle idle;
    struct pw_request claim;
    struct pw_request idle_request;
    struct pw_request held_request;
    struct pw_writer
        *writer;        /* on whose connection the last of these was sent; NULL: it has broken */
    size_t writer_next; /* the number of the writer that is asked first */
    int32_t most;
    int32_t cap;     /* not more at once, because a claim of more has failed */
    int32_t number;  /* the request's number: the same until it is answered */
    unsigned losses; /* how often its reply was lost */
    unsigned tries;
    unsigned looks;
    unsigned looked;
    bool quiet;
    bool pending;      /* asked for, perhaps not sent */
    bool again;        /* there may be more than the claim in flight has seen */
    bool hint_pending; /* a notification came, and no claim was sent since */
    bool hinted;       /* the claim in flight was sent because of one */
    bool no_writer; /* no connection can take a claim: the first that can again wakes the thread */
    bool no_place;  /* as many runs execute as may: the next that finishes wakes the thread */
    bool idle_marked; /* for the claim that comes next */
    bool suspect_held;
    int64_t hinted_us;    /* when the last claim was sent because of a notification */
    int64_t hint_paid_us; /* grows with each such claim that gave nothing; see hint_at() */
    int64_t at_us;
    int64_t poll_at_us; /* when an idle worker looks although nothing has notified it */
    int64_t due_again_us;
    struct pw_heap dues; /* when runs that were suspended here are due */
    int64_t
        held_at_us; /* when to look for tasks that the session holds and the worker does not know */
    unsigned held_unsure; /* how often to look soon, because there may be some */
};

void pw_claimer_init(struct pw_claimer *claimer);
void pw_claim_turn(pawl_worker *worker, int64_t now_us);
void pw_claim_reply(pawl_worker *worker, struct pw_reply *reply, int64_t now_us);
void pw_held_reply(pawl_worker *worker, struct pw_reply *reply, int64_t now_us);
void pw_idle_reply(pawl_worker *worker, struct pw_reply *reply, int64_t now_us);
void pw_claim_broken(pawl_worker *worker, struct pw_writer *writer, int64_t now_us);
int64_t pw_claim_next_us(const pawl_worker *worker);
/* Returns true if one of the requests about claims has waited too long. */
bool pw_claim_late(const pawl_worker *worker, int64_t now_us);
void pw_claim_soon(pawl_worker *worker, int64_t at_us);
/* Claims because of a notification: at once, or a little later if claims after earlier notifications gave nothing. */
void pw_claim_hint(pawl_worker *worker, int64_t now_us);

#endif
