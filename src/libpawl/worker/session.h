/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker's session: registration, heartbeats and the lease, on its own connection. worker.h has the contract of turn, reply and
 * next_us.
 */
#ifndef PW_LIBPAWL_WORKER_SESSION_H
#define PW_LIBPAWL_WORKER_SESSION_H

#include "libpawl/worker/request.h"
#include "pawl/worker.h"
#include "pg/conn.h"

enum pw_session_state {
    PW_SESSION_NONE, /* to be registered */
    PW_SESSION_REGISTERING,
    PW_SESSION_LIVE,
    PW_SESSION_LEFT,
};

/* Used by the I/O thread only. */
struct pw_session {
    enum pw_session_state state;
    int64_t id;
    int32_t epoch;        /* the highest that was seen */
    struct pw_conn *conn; /* NULL: to be opened at open_at_us */
    int64_t open_at_us;
    unsigned open_tries;
    struct pw_request request; /* register, create or listen */
    struct pw_request heartbeat;
    struct pw_request leave;
    int64_t heartbeat_at_us;
    int64_t heartbeat_every_us;
    int64_t notice_asked_us; /* when a notification last made the worker send a heartbeat */
    size_t create_next;      /* the handler whose workflow is created next */
    int64_t register_at_us;
    unsigned register_tries;
    bool listening;
    bool listen_wanted;  /* the server has answered that this session should listen */
    bool listen_on;      /* the request in flight begins to listen, or ends it */
    bool listen_refused; /* the server has refused to listen: polling is enough */
};

void pw_session_turn(pawl_worker *worker, int64_t now_us);
void pw_session_reply(pawl_worker *worker, struct pw_reply *reply, int64_t now_us);
int64_t pw_session_next_us(const pawl_worker *worker);
/* Ends the session in this worker: sets all its tasks to PW_LEASE_LOST, and answers all its items with a lost lease. */
void pw_session_lost(pawl_worker *worker, const char *why, int64_t now_us);
/* Makes a heartbeat due now. If the flag is set, first closes the present connection, which may lead to the wrong one of two servers. */
void pw_session_ask(pawl_worker *worker, bool anew, int64_t now_us);
/* Returns true if a reply reports that a session has ended, or belongs to another epoch. */
bool pw_session_over(const struct pw_reply *reply);
/* Returns true if the reply reports that its session has ended. If that is the present session, also calls pw_session_lost(). */
bool pw_session_check(pawl_worker *worker, const struct pw_reply *reply, int64_t now_us);
/* Returns true if the session could listen: the settings allow it, and its connection. */
bool pw_session_can_listen(const pawl_worker *worker);
/* The lease was renewed by a request that was sent then. */
void pw_session_renewed(pawl_worker *worker, int64_t sent_us);

#endif
