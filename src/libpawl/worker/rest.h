/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rest: what a worker does that finds nothing to claim. It tells the server, which answers whether to listen for notifications; it claims
 * again shortly after, because a run may be committed later than its notification; then it asks once in each poll interval. worker.h has the
 * contract of reply and broken.
 */
#ifndef PW_LIBPAWL_WORKER_REST_H
#define PW_LIBPAWL_WORKER_REST_H

#include "libpawl/worker/request.h"
#include "pawl/worker.h"
#include "pg/conn.h"

struct pw_writer;

enum {
    PW_REST_AFTER_US = 3000000, /* how long a worker is idle before its writers rest */
};

/* Used by the I/O thread only. */
struct pw_rest {
    struct pw_request request;
    struct pw_request pass;   /* a call of pass_on() */
    struct pw_writer *passer; /* on whose connection it was sent; NULL: the session's */
    bool due;                 /* the request is sent before the next claim */
    bool renews;              /* the request in flight renews the lease, too */
    bool woken;       /* the looks follow a notification, and no claim has returned a run since */
    bool passes;      /* a claim has returned a run: other workers are notified of what is left */
    bool passed;      /* pass was sent with the claim in flight */
    bool failed;      /* the last request, which is logged */
    bool owes;        /* it passes on even without a place: see pw_rest_full_us() */
    bool often;       /* the last two claims that returned runs were close to each other */
    unsigned looks;   /* how many of the looks are done */
    int64_t since_us; /* when they began */
    int64_t ran_us;   /* when a claim last returned a run */
    int64_t owes_until_us;
    int64_t pass_at_us; /* not before, after a claim that returned all that it asked for */
    int64_t vain_at_us; /* not before, after a notification that was of no use */
};

/* Begins the looks. woken: because of a notification. */
void pw_rest_begin(pawl_worker *worker, bool woken, int64_t now_us);
/* Returns when the next look is, INT64_MAX for none. */
int64_t pw_rest_look_us(const pawl_worker *worker);
/* Counts the looks that are due, because a claim is sent; with it, tells other workers of what it leaves, if that is due. */
void pw_rest_look(
    pawl_worker *worker, struct pw_writer *writer, struct pw_conn *conn, int64_t now_us);
/* Returns when a worker without a place for another run calls pass_on(), INT64_MAX for never. */
int64_t pw_rest_full_us(const pawl_worker *worker);
void pw_rest_full(
    pawl_worker *worker, struct pw_writer *writer, struct pw_conn *conn, int64_t now_us);
/* A claim has returned so many runs. resting: it was sent by a worker that rested. */
void pw_rest_claimed(pawl_worker *worker, int32_t count, bool resting, int64_t now_us);
/* Tells the server that the worker rests. Returns false if the request could not be sent. */
bool pw_rest_send(pawl_worker *worker, struct pw_conn *conn, bool none_held, int64_t now_us);
void pw_rest_reply(pawl_worker *worker, struct pw_reply *reply, int64_t now_us);
/* The connection of a writer, or with NULL the session's, has broken. */
void pw_rest_broken(pawl_worker *worker, const struct pw_writer *writer);

#endif
