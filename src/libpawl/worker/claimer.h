/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claims: decides when to claim, how many tasks, and on which writer's connection, and handles the reply. worker.h has the contract of
 * turn, reply, broken and next_us.
 */
#ifndef PW_LIBPAWL_WORKER_CLAIMER_H
#define PW_LIBPAWL_WORKER_CLAIMER_H

#include "base/heap.h"
#include "libpawl/worker/request.h"
#include "libpawl/worker/rest.h"
#include "pawl/worker.h"
#include "pg/conn.h"

struct pw_writer;

enum {
    PW_CLAIM_MAX = 1000, /* the engine's limit for one claim */
};

enum pw_idle {
    PW_BUSY,    /* the last claim returned tasks */
    PW_LOOKING, /* it returned nothing: the session is marked idle and claims again */
    PW_IDLE,    /* that returned nothing either: waits for a notification or the poll interval */
};

/* Used by the I/O thread only. */
struct pw_claimer {
    enum pw_idle idle;
    struct pw_request claim;
    struct pw_rest rest;
    struct pw_request held_request;
    struct pw_writer *writer; /* whose connection the last request used; NULL: it broke */
    bool on_control;          /* it was sent on the session's connection instead */
    size_t writer_next;       /* the number of the writer that is asked first */
    int32_t most;
    int32_t places;  /* how many were free at the last turn */
    int32_t cap;     /* the limit of a claim; lower after a larger claim failed */
    int32_t number;  /* the request's number: the same until it is answered */
    unsigned losses; /* how often its reply was lost */
    unsigned tries;
    unsigned looks;    /* of looked, when the claim began */
    unsigned looked;   /* how many looks were asked for: see pawl_test_idle() */
    unsigned answered; /* how many of them a claim has answered */
    bool quiet;
    bool pending;      /* requested, perhaps not sent */
    bool again;        /* there may be more than the claim in flight has seen */
    bool hint_pending; /* a notification came, and no claim was sent since */
    bool hinted;       /* the claim in flight was sent because of one */
    bool no_writer;    /* no connection can send a claim: the first one that can wakes the thread */
    bool no_place;     /* no more runs may execute: the next one that finishes wakes the thread */
    bool suspect_held;
    int64_t hinted_us;    /* when the last claim was sent because of a notification */
    int64_t hint_paid_us; /* grows with each such claim that returned nothing; see hint_at() */
    int64_t at_us;
    /* Since when there are free places, too few for a claim; else INT64_MAX. */
    int64_t place_since_us;
    int64_t poll_at_us; /* when an idle worker looks although nothing has notified it */
    int64_t due_again_us;
    struct pw_heap dues;  /* when runs that were suspended here are due */
    int64_t held_at_us;   /* when to ask for held tasks that the worker does not know */
    unsigned held_unsure; /* how many such requests are to follow soon */
};

void pw_claimer_init(struct pw_claimer *claimer);
void pw_claim_turn(pawl_worker *worker, int64_t now_us);
void pw_claim_reply(pawl_worker *worker, struct pw_reply *reply, int64_t now_us);
void pw_held_reply(pawl_worker *worker, struct pw_reply *reply, int64_t now_us);
/* The connection of a writer, or with NULL the session's, has broken. */
void pw_claim_broken(pawl_worker *worker, struct pw_writer *writer, int64_t now_us);
int64_t pw_claim_next_us(const pawl_worker *worker);
/* Returns how many more runs must finish before turn() claims; SIZE_MAX if turn() waits for a reply, or has enough free places. */
size_t pw_claim_worth(const pawl_worker *worker);
/* Returns true if the reply to a request about claims is late. */
bool pw_claim_late(const pawl_worker *worker, int64_t now_us);
void pw_claim_soon(pawl_worker *worker, int64_t at_us);
/* Claims because of a notification: at once, or a little later if claims after earlier notifications returned nothing. */
void pw_claim_hint(pawl_worker *worker, int64_t now_us);
/* Returns a request of the present session. */
struct pw_request pw_claim_request(
    const pawl_worker *worker, enum pw_request_kind kind, int64_t now_us);
/* Waits for the next look, or the next poll. */
void pw_claim_wait(pawl_worker *worker, int64_t now_us);

#endif
