/* SPDX-License-Identifier: Apache-2.0 */
/* A request on a connection of the worker, and the tag of its reply. */
#ifndef PW_LIBPAWL_WORKER_REQUEST_H
#define PW_LIBPAWL_WORKER_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

enum pw_request_kind {
    PW_REQUEST_NONE,
    PW_REQUEST_COMMIT,
    PW_REQUEST_CLAIM,
    PW_REQUEST_REST,
    PW_REQUEST_PASS_ON,
    PW_REQUEST_HELD,
    PW_REQUEST_LEAVE,
    PW_REQUEST_CREATE,
    PW_REQUEST_REGISTER,
    PW_REQUEST_LISTEN,
    PW_REQUEST_HEARTBEAT,
    PW_REQUEST_TICK,
    PW_REQUEST_CONFIRM, /* a heartbeat on a writer's connection: once it is replicated, so is every commit before it */
};

struct pw_request {
    enum pw_request_kind kind;
    bool sent;           /* and no reply yet */
    int64_t session;     /* that it was sent for; a reply about another session is ignored */
    int64_t deadline_us; /* by when there must be a reply */
    int64_t sent_us;
};

/* Returns true if a request has waited too long for its reply. */
static inline bool
pw_request_late(const struct pw_request *request, int64_t now_us)
{
    return request->sent && now_us >= request->deadline_us;
}

#endif
