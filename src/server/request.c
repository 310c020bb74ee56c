/* SPDX-License-Identifier: Apache-2.0 */
#include "server/request.h"

#include "base/alloc.h"
#include "base/text.h"
#include "base/time.h"
#include "server/access_log.h"
#include "server/admit.h"
#include "server/call.h"
#include "server/live.h"
#include "server/metrics.h"
#include "server/options.h"
#include "server/own.h"
#include "server/reaper.h"
#include "server/server.h"
#include "server/waits.h"

#include <stdio.h>
#include <string.h>

enum {
    CLIENT_CLOSED = 499, /* in log and metrics: there was no one to reply to */
    SMALL_BODY = 65536,
    READ_TIMES =
        4, /* a body may be this many times as long as its limit, so that its client sees the reply */
};

static const size_t arena_max = (size_t)64 << 20;
static const size_t reply_max = (size_t)512 << 20;
static const size_t bodies_max = (size_t)256 << 20;
static const size_t strangers_bodies_max = (size_t)64 << 20;

void *
request_line(void *server, const char *target, struct MHD_Connection *connection)
{
    struct request *request = pw_calloc(1, sizeof(*request));
    const union MHD_ConnectionInfo *info;
    size_t size = strlen(target);

    if (request == NULL)
        return NULL;
    request->server = server;
    request->connection = connection;
    request->begun_us = pw_now_us();
    request->job.act = call_act;
    pw_list_init(&request->link);
    pw_arena_init(&request->arena, arena_max);
    pw_buf_init(&request->body, 0);
    pw_buf_init(&request->reply.body, reply_max);
    info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    request->conn = info != NULL ? info->socket_context : NULL;
    if (request->conn != NULL)
        reaper_phase(request->conn, PHASE_HEADERS);
    if (size > GUARD_TARGET_MAX + 1)
        size = GUARD_TARGET_MAX + 1; /* the guard refuses it all the same */
    request->target = pw_arena_copy(&request->arena, target, size);
    request->good_line = request->target != NULL;
    return request;
}

const char *
request_header(const struct request *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

void
request_refuse(struct request *request)
{
    struct reply *reply = &request->reply;

    pw_buf_clear(&reply->body);
    problem_write(&request->problem, &reply->body);
    reply->status = request->problem.status;
    reply->type = "application/problem+json";
    reply->location[0] = '\0';
    reply->tag[0] = '\0';
}

static void
add_header(struct MHD_Response *response, const char *name, const char *value)
{
    (void)MHD_add_response_header(response, name, value); /* without memory the reply lacks it */
}

static void
add_number(struct MHD_Response *response, const char *name, unsigned number, const char *before)
{
    char text[40];

    (void)snprintf(text, sizeof(text), "%s%u", before, number);
    add_header(response, name, text);
}

/* Headers that depend on the request. */
static void
add_headers(struct request *request, struct MHD_Response *response)
{
    const struct reply *reply = &request->reply;
    const struct problem *problem = &request->problem;

    add_header(response, "X-Content-Type-Options", "nosniff");
    add_header(response, "Referrer-Policy", "no-referrer");
    add_header(response, "Cache-Control", "no-store");
    if (reply->type != NULL && reply->status != 304)
        add_header(response, "Content-Type", reply->type);
    if (reply->location[0] != '\0')
        add_header(response, "Location", reply->location);
    if (reply->tag[0] != '\0')
        add_header(response, "ETag", reply->tag);
    if (reply->waited)
        add_number(response, "Preference-Applied", request->wait_s, "wait=");
    if (problem->status == 401)
        add_header(response, "WWW-Authenticate", "Bearer");
    if (problem->status == 405)
        add_header(response, "Allow", request->match.allowed);
    if (problem->retry_after_s > 0)
        add_number(response, "Retry-After", problem->retry_after_s, "");
    if (reply->close || atomic_load(&request->server->draining))
        add_header(response, "Connection", "close");
    admit_origin(request, response);
}

static struct MHD_Response *
make_response(struct request *request)
{
    struct pw_buf *body = &request->reply.body;
    struct MHD_Response *response;

    if (request->stream != NULL) {
        request->reply.status = 200;
        request->reply.type = "text/event-stream";
        return live_response(request->stream, request->connection, request->conn->fd);
    }
    if (request->reply.status == 304)
        pw_buf_clear(body);
    request->sent = body->size;
    response = MHD_create_response_from_buffer(
        body->size, body->data, MHD_RESPMEM_PERSISTENT); /* it lives until the request completes */
    return response;
}

/* Queues the reply. */
static enum MHD_Result
send_reply(struct request *request)
{
    struct MHD_Response *response;
    enum MHD_Result result;

    if (atomic_load(&request->gone) && request->stream == NULL)
        return MHD_NO;
    if (request->problem.status != 0)
        request_refuse(request);
    reaper_phase(request->conn, request->stream != NULL ? PHASE_STREAM : PHASE_REPLY);
    response = make_response(request);
    if (response == NULL)
        return MHD_NO;
    add_headers(request, response);
    if (request->stream != NULL)
        reaper_watch(request->conn, request);
    result = MHD_queue_response(request->connection, request->reply.status, response);
    MHD_destroy_response(response);
    return result;
}

/*
 * Whether a refused request is answered ahead of its body, which ends the connection. A client that sends all of its body before it reads
 * would not see the reply, so a body that is not much too long is read first.
 */
static bool
answers_early(const struct request *request)
{
    const struct guard *guard = &request->guard;
    int64_t body_max = request->body_max > 0 ? (int64_t)request->body_max : SMALL_BODY;

    if (request->problem.status == 0 || !guard_has_body(guard))
        return false;
    return request->reply.close || guard->chunked > 0 ||
        guard->length > (request->problem.status == 413 ? READ_TIMES * body_max : SMALL_BODY);
}

/* Reads the headers. */
static enum MHD_Result
begin(struct request *request, const char *url, const char *method, const char *version)
{
    request->begun = true;
    request->method = method;
    request->head = strcmp(method, "HEAD") == 0;
    if (request->conn == NULL || !request->good_line)
        return MHD_NO;
    admit_headers(request, url, version);
    if (!answers_early(request)) {
        reaper_phase(request->conn, guard_has_body(&request->guard) ? PHASE_BODY : PHASE_CALL);
        request->body.max = request->body_max;
        return MHD_YES;
    }
    request->reply.close = true;
    return send_reply(request);
}

/*
 * Counts a piece of a body that is about to be kept. Bodies of all requests have a bound together, and strangers a lower one of their own: who
 * has no token that is known cannot keep others from sending.
 */
static bool
count_body(struct request *request, size_t size)
{
    struct server *server = request->server;
    size_t max = request->known ? bodies_max : strangers_bodies_max;

    if (request->bodies == NULL)
        request->bodies = request->known ? &server->bodies : &server->strangers_bodies;
    if (atomic_fetch_add(request->bodies, size) + size > max) {
        (void)atomic_fetch_sub(request->bodies, size);
        return false;
    }
    request->body_kept += size;
    return true;
}

static void
let_body_go(struct request *request)
{
    if (request->bodies != NULL)
        (void)atomic_fetch_sub(request->bodies, request->body_kept);
    request->body_kept = 0;
}

/* Keeps a piece of the body. What is over the limit is read for a while, so that the client can read why it was refused. */
static enum MHD_Result
add_body(struct request *request, const char *data, size_t *size)
{
    request->body_seen += *size;
    if (request->body_seen <= request->body_max) {
        if (request->problem.status == 0 && !count_body(request, *size)) {
            problem_set_later(
                &request->problem, 503, "overloaded", 1, "too many bodies are being sent");
            request->reply.close = true;
        }
        if (request->problem.status == 0)
            pw_buf_add(&request->body, data, *size);
        if (!pw_buf_ok(&request->body))
            problem_set_later(&request->problem, 503, "unavailable", 1, "out of memory");
    } else if (request->body_seen > READ_TIMES * request->body_max + SMALL_BODY) {
        return MHD_NO;
    } else if (request->problem.status == 0) {
        problem_set(&request->problem, 413, "too_large", "the body has more than %zu bytes",
            request->body_max);
        request->reply.close = true;
    }
    *size = 0;
    return MHD_YES;
}

/* Gives the request to the pool. The connection is suspended until request_finish(). */
static enum MHD_Result
enqueue(struct request *request)
{
    reaper_phase(request->conn, PHASE_CALL);
    request->asked = true;
    if (request->wait_s > 0)
        reaper_watch(request->conn, request);
    MHD_suspend_connection(request->connection);
    if (callers_add(request->server->callers, &request->job))
        return MHD_YES;
    problem_set_later(&request->problem, 503, "overloaded", 1,
        "as many requests as may wait for the database do so");
    request_finish(request);
    return MHD_YES;
}

/* The request is complete: answers it, or lets a thread of the pool do it. */
static enum MHD_Result
dispatch(struct request *request)
{
    const pawl_bytes body = {request->body.data, request->body.size};

    request->dispatched = true;
    if (request->preflight) {
        request->reply.status = 204;
        return send_reply(request);
    }
    if (request->problem.status == 0 &&
        arguments_read(&request->arguments, &request->match, request->query, body, &request->arena,
            &request->problem))
        admit_arguments(request);
    if (request->problem.status != 0)
        return send_reply(request);
    if (request->match.route->shape == SHAPE_OWN) {
        own_answer(request);
        return send_reply(request);
    }
    return enqueue(request);
}

enum MHD_Result
request_handle(void *server, struct MHD_Connection *connection, const char *url, const char *method,
    const char *version, const char *data, size_t *size, void **context)
{
    struct request *request = *context;

    (void)server;
    (void)connection;
    if (request == NULL)
        return MHD_NO;
    if (!request->begun)
        return begin(request, url, method, version);
    if (*size > 0)
        return add_body(request, data, size);
    if (!request->dispatched)
        return dispatch(request);
    return send_reply(request);
}

void
request_finish(struct request *request)
{
    admit_outcome(request);
    MHD_resume_connection(request->connection);
}

void
request_gone(struct request *request)
{
    atomic_store(&request->gone, true);
    if (request->stream != NULL)
        live_gone(request->server->live, request->stream);
    else
        waits_gone(request->server->waits, request);
}

void
request_completed(void *argument, struct MHD_Connection *connection, void **context,
    enum MHD_RequestTerminationCode why)
{
    struct server *server = argument;
    struct request *request = *context;
    int64_t took_us;

    (void)connection;
    (void)why;
    if (request == NULL)
        return;
    *context = NULL;
    took_us = pw_now_us() - request->begun_us;
    if (request->conn != NULL) {
        if (request->wait_s > 0 || request->stream != NULL)
            reaper_watch(request->conn, NULL);
        reaper_phase(request->conn, PHASE_IDLE);
    }
    live_end(server->live, request->stream);
    admit_outcome(request);
    let_body_go(request);
    if (request->begun) {
        if (request->reply.status == 0)
            request->reply.status = CLIENT_CLOSED;
        metrics_count(server->metrics, request->match.route, request->reply.status, took_us);
        access_log(request, took_us);
    }
    pw_buf_done(&request->body);
    pw_buf_done(&request->reply.body);
    pw_arena_done(&request->arena);
    pw_free(request);
}
