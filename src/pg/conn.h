/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One connection in pipeline mode, used by one thread. It never blocks, except for the name lookup that libpq does when it connects.
 * Requests are sent one after the other, each in its own transaction, and answered in their order.
 */
#ifndef PW_PG_CONN_H
#define PW_PG_CONN_H

#include "base/error.h"
#include "pg/params.h"
#include "pg/row.h"
#include "pg/stmt.h"

#include <stdbool.h>
#include <stdint.h>

struct pw_conn;

/* The most requests that may wait for a reply. */
enum {
    PW_CONN_IN_FLIGHT_MAX = 1024
};

/* The server to connect to. Copied. */
struct pw_conn_spec {
    const char *
        conninfo; /* a URI or keywords of libpq; several hosts are fine; NULL: libpq's own variables and defaults */
    const char *application_name;
    bool never_prepare; /* send unnamed statements, as behind a pooler */
};

/* The reply to one request. The taker calls pw_reply_done(). */
struct pw_reply {
    void *tag;  /* as given to pw_conn_send() */
    int status; /* PAWL_OK, or a code with error set */
    struct pw_error error;
    struct pw_rows rows;
    bool
        unreplicated; /* the server has warned that the commit may not have reached its standby: not acknowledged */
};

enum pw_conn_state {
    PW_CONN_CONNECTING,
    PW_CONN_READY,
    PW_CONN_BROKEN, /* error has the reason; no further reply arrives; close it */
};

/*
 * Begins to connect. Adds, unless conninfo says otherwise: keepalives, a limit for unacknowledged data, and with several hosts that the
 * server must be writable. Once connected it enters pipeline mode and checks for a pooler, by comparing the server's process id with the
 * one that libpq received. Returns PAWL_EINVAL for a bad conninfo, or PAWL_ENOMEM.
 */
int pw_conn_open(const struct pw_conn_spec *spec, struct pw_conn **out, struct pw_error *err);

/* Closes and frees; NULL is fine. Requests without reply are forgotten. */
void pw_conn_close(struct pw_conn *conn);

/* In a child process after fork(): frees memory, and neither says goodbye to the server nor touches the parent's socket. */
void pw_conn_abandon(struct pw_conn *conn);

/* The descriptor and events for poll(2). The descriptor may change while connecting. */
int pw_conn_fd(const struct pw_conn *conn);
short pw_conn_events(const struct pw_conn *conn);

/*
 * Reads and writes as much as possible without blocking. Call it when poll(2) reports the descriptor, after sending, and at least once
 * after open.
 */
void pw_conn_pump(struct pw_conn *conn);

enum pw_conn_state pw_conn_state(const struct pw_conn *conn);

/* Why it is broken. */
const struct pw_error *pw_conn_error(const struct pw_conn *conn);

/* Whether there is a pooler in between: then nothing is prepared, and LISTEN is of no use. */
bool pw_conn_pooled(const struct pw_conn *conn);

/* Whether the server is on another host, and nothing has shown that it is the one that was meant. */
bool pw_conn_unverified(const struct pw_conn *conn);

/*
 * Sends a request; must be READY. Prepares the statement first if this connection has not yet. Returns PAWL_ENOMEM or PAWL_ECONN (then the
 * connection is broken) with err set, PAWL_ETOOLARGE for more than PW_PARAMS_BYTES_MAX, or PAWL_EBUSY if pw_conn_can_send() is false. After
 * PAWL_OK a reply with this tag arrives, unless the connection breaks. Replies that were whole before it broke can still be taken.
 */
int pw_conn_send(struct pw_conn *conn, const struct pw_stmt *stmt, const struct pw_params *params,
    void *tag, struct pw_error *err);

/* A statement that prepares the transaction of a request, with its parameters. */
struct pw_conn_first {
    const struct pw_stmt *stmt;
    const struct pw_params *params;
};

/*
 * Sends a request as pw_conn_send() does, with another statement ahead of it, in the same transaction and the same round trip. Rows of the
 * first statement are discarded. If it fails, the request is not executed, and the reply has the error of the first statement. first may be
 * NULL; with it, the request must not call a procedure.
 */
int pw_conn_send_with(struct pw_conn *conn, const struct pw_conn_first *first,
    const struct pw_stmt *stmt, const struct pw_params *params, void *tag, struct pw_error *err);

/*
 * Sends LISTEN for the channel of a worker session; it is replied to like any request. Its text contains the number of the session, because
 * a channel cannot be a parameter.
 */
int pw_conn_listen(struct pw_conn *conn, int64_t session, bool on, void *tag, struct pw_error *err);

/*
 * Whether a request may be sent now. Behind a pooler there is one at a time. PgBouncer before 1.21 reuses a server connection when its
 * client disconnects after the first of several answers. The next client then gets the remaining ones.
 */
bool pw_conn_can_send(const struct pw_conn *conn);

/* How many requests have no reply yet. */
int pw_conn_in_flight(const struct pw_conn *conn);

/* The next whole reply, if there is one. */
bool pw_conn_take(struct pw_conn *conn, struct pw_reply *reply);
void pw_reply_done(struct pw_reply *reply);

/* Takes one notification: true, with its payload cut to size. */
bool pw_conn_notified(struct pw_conn *conn, char *payload, size_t size);

/*
 * For blocking callers: pumps until a reply is there, or the connection is ready and none is pending, or the deadline (pw_now_us) has
 * passed. Returns PAWL_OK, PAWL_ETIMEOUT or PAWL_ECONN.
 */
int pw_conn_wait(struct pw_conn *conn, int64_t deadline_us, struct pw_error *err);

#endif
