/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a request, from its first line to the last byte of its reply. */
#ifndef PW_SERVER_REQUEST_H
#define PW_SERVER_REQUEST_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/list.h"
#include "server/api/arguments.h"
#include "server/api/guard.h"
#include "server/api/problem.h"
#include "server/api/route.h"
#include "server/api/token.h"
#include "server/callers.h"

#include <microhttpd.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct conn;
struct server;
struct stream;

/* The reply, until it is queued. */
struct reply {
    unsigned status;
    const char *type; /* of the body */
    struct pw_buf body;
    char location[80];
    char tag[40]; /* ETag, with its quotes */
    bool waited;  /* Preference-Applied */
    bool close;   /* the connection ends with this reply */
};

/*
 * A request. The thread of its connection has it until it suspends the connection; then the thread that a queue gives it to; and again the
 * thread of the connection after request_finish().
 */
struct request {
    struct server *server;
    struct MHD_Connection *connection;
    struct conn *conn;
    struct pw_arena arena;
    const char *target; /* as it was received */
    const char *query;  /* of the target, or "" */
    const char *method;
    struct guard guard;
    struct route_match match;
    struct arguments arguments;
    uint8_t digest[TOKEN_DIGEST_SIZE]; /* of the token */
    bool has_token;
    bool known;      /* the database has accepted the token lately */
    bool stranger;   /* the token was not known to this server, and has no outcome yet */
    bool asked;      /* the request was given to the pool */
    bool preflight;  /* OPTIONS of a page that may call: answered without a route */
    bool good_line;  /* there was memory for the target, and it is not too long */
    bool begun;      /* the headers were read */
    bool dispatched; /* the body was read, and the request was given to a queue or answered */
    bool head;
    struct pw_buf body;
    size_t body_seen; /* with what was not kept */
    size_t body_max;
    size_t body_kept;      /* what counts in bodies */
    atomic_size_t *bodies; /* of the server: that of strangers, or of others */
    struct problem problem;
    struct reply reply;
    struct stream *stream; /* the reply is one */
    size_t sent;           /* bytes of the body that was queued */
    int64_t begun_us;
    struct job job;
    /* Prefer: wait. */
    unsigned wait_s;        /* 0: does not wait */
    char run[PAWL_ID_SIZE]; /* the run that it waits for */
    struct pw_list link;
    bool resting; /* in the list of waits.c, whose mutex guards it */
    int64_t due_us;
    int64_t pause_us;
    int64_t deadline_us;
    atomic_bool gone; /* the client has hung up */
};

/* Callbacks of libmicrohttpd. */
void *request_line(void *server, const char *target, struct MHD_Connection *connection);
enum MHD_Result request_handle(void *server, struct MHD_Connection *connection, const char *url,
    const char *method, const char *version, const char *data, size_t *size, void **request);
void request_completed(void *server, struct MHD_Connection *connection, void **request,
    enum MHD_RequestTerminationCode why);

/* Gives the answer, or the problem, of a suspended request to the thread of its connection. From any thread; the caller no longer has it. */
void request_finish(struct request *request);

/* Returns the value of a header, or NULL. */
const char *request_header(const struct request *request, const char *name);

/* Sets the reply to the problem of the request. */
void request_refuse(struct request *request);

/* The client of a request that waits or streams has hung up. Called with the connections locked. */
void request_gone(struct request *request);

#endif
