/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writers: connections that commit batches, and carry claims. One commit of a writer is in flight at a time, so that items of a run
 * stay in order. worker.h has the contract of turn, reply, broken and next_us.
 */
#ifndef PW_LIBPAWL_WORKER_WRITER_H
#define PW_LIBPAWL_WORKER_WRITER_H

#include "base/list.h"
#include "libpawl/common/config.h"
#include "libpawl/run/item.h"
#include "libpawl/worker/request.h"
#include "pawl/worker.h"
#include "pg/conn.h"

enum {
    PW_WRITERS_MAX = 2,
};

/* Items that are committed together. */
struct pw_batch {
    struct pw_item **items;
    int *rows; /* the row of the reply that answers each item */
    size_t count;
    bool one_by_one;     /* send with commit_each: it was sent before, or may have a bad item */
    bool confirm;        /* the commit may not have reached the standby: confirm it first */
    int64_t again_at_us; /* do not send before */
    unsigned tries;
};

/* Used by the I/O thread only. */
struct pw_writer {
    int number;
    struct pw_conn *conn; /* NULL: to be opened at open_at_us */
    int64_t open_at_us;
    bool resting; /* without a connection: the first writer uses the session's */
    unsigned open_tries;
    bool was_up;
    bool is_up; /* the connection is ready, and was seen so */
    int64_t down_since_us;
    int64_t session;  /* that this connection has last done something for; 0: none */
    unsigned strange; /* how often in a row it led to a server without the session */

    struct pw_list waiting; /* items to be sent */
    size_t waiting_count;
    int64_t waiting_since_us;
    size_t active; /* tasks of this writer whose handlers execute */
    size_t last_count;

    struct pw_batch batch;
    size_t batch_cap; /* the limit of a batch; lower after a larger batch failed */
    struct pw_request commit;
    struct pw_request confirm;
    struct pw_array runs, fences, kinds, names, payloads, seqs, tasks, millis, options;
};

int pw_writer_init(
    struct pw_writer *writer, int number, const struct pw_settings *settings, struct pw_error *err);
void pw_writer_done(struct pw_writer *writer);
void pw_writer_turn(pawl_worker *worker, struct pw_writer *writer, int64_t now_us);
void pw_writer_reply(
    pawl_worker *worker, struct pw_writer *writer, struct pw_reply *reply, int64_t now_us);
void pw_writer_broken(
    pawl_worker *worker, struct pw_writer *writer, const struct pw_error *error, int64_t now_us);
int64_t pw_writer_next_us(const pawl_worker *worker, const struct pw_writer *writer);
/* Returns how many items must be posted before turn() sends them; SIZE_MAX if it waits for a reply, or no handler can post one. */
size_t pw_writer_worth(const pawl_worker *worker, const struct pw_writer *writer);
/*
 * Closes the connections of all writers if the worker has been idle for some seconds. The session's connection claims then, and commits
 * the next run; the writers connect again if another run comes soon after it.
 */
void pw_writers_rest(pawl_worker *worker, int64_t now_us);
/* Returns when pw_writers_rest() has something to do, INT64_MAX for never. */
int64_t pw_writers_rest_us(const pawl_worker *worker);
/* Returns true if a request of the first writer is in flight on the session's connection. */
bool pw_writer_borrows(const pawl_worker *worker);
/* Returns true if the reply to such a request is late. */
bool pw_writer_borrowed_late(const pawl_worker *worker, int64_t now_us);
/* Handles the reply to such a request. */
void pw_writer_borrowed_reply(pawl_worker *worker, struct pw_reply *reply, int64_t now_us);
/* The session's connection has broken. */
void pw_writer_borrowed_broken(pawl_worker *worker);
/* Answers every item of this writer, because the session has ended. */
void pw_writer_lose(pawl_worker *worker, struct pw_writer *writer);
/* Passes the items and tasks of a writer that has had no connection for a while to a writer that has one. */
void pw_writer_rescue(pawl_worker *worker, struct pw_writer *writer, int64_t now_us);
/* Adds an item after the earlier items of its task. */
void pw_writer_add(pawl_worker *worker, struct pw_item *item, int64_t now_us);
/* Puts a list of items back ahead of all waiting items, in its order. */
void pw_writer_put_back(struct pw_writer *writer, struct pw_list *items, int64_t now_us);

/* batch.c */
/* conn: the writer's own connection, or the one that it borrows. */
int pw_batch_send(pawl_worker *worker, struct pw_writer *writer, struct pw_conn *conn,
    int64_t now_us, struct pw_error *err);
void pw_batch_reply(
    pawl_worker *worker, struct pw_writer *writer, struct pw_reply *reply, int64_t now_us);

#endif
