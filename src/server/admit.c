/* SPDX-License-Identifier: Apache-2.0 */
#include "server/admit.h"

#include "base/json_read.h"
#include "base/text.h"
#include "base/time.h"
#include "server/limit.h"
#include "server/options.h"
#include "server/reaper.h"
#include "server/request.h"
#include "server/server.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
    BODY_MAX = 1048576,
    LARGE_BODY_MAX = 8388608,
    WAIT_MAX_S = 30,
};

static enum MHD_Result
add_header(void *argument, enum MHD_ValueKind kind, const char *name, size_t name_size,
    const char *value, size_t value_size)
{
    (void)kind;
    guard_header(argument, name, name_size, value != NULL ? value : "", value_size);
    return MHD_YES;
}

/* Keeps the last line of X-Forwarded-For: a proxy adds its own after those that the client has sent. */
static enum MHD_Result
take_forwarded(void *argument, enum MHD_ValueKind kind, const char *name, size_t name_size,
    const char *value, size_t value_size)
{
    static const char header[] = "X-Forwarded-For";
    const char **last = argument;

    (void)kind;
    (void)value_size;
    if (name_size == sizeof(header) - 1 && strncasecmp(name, header, name_size) == 0)
        *last = value;
    return MHD_YES;
}

/*
 * The address that failures count against: of the client, which a proxy that is trusted names last. A name that is no address counts for the
 * address of the proxy.
 */
static void
address_of(const struct request *request, uint8_t address[ADDRESS_SIZE])
{
    const char *forwarded = NULL;
    char text[INET6_ADDRSTRLEN] = "";
    const char *last;
    struct in_addr in;
    struct in6_addr in6;

    memcpy(address, request->conn->address, ADDRESS_SIZE);
    if (!request->server->options->behind_proxy)
        return;
    (void)MHD_get_connection_values_n(
        request->connection, MHD_HEADER_KIND, take_forwarded, (void *)&forwarded);
    if (forwarded == NULL)
        return;
    last = strrchr(forwarded, ',');
    last = last != NULL ? last + 1 : forwarded;
    last += strspn(last, " \t");
    if (strcspn(last, " \t") < sizeof(text))
        memcpy(text, last, strcspn(last, " \t"));
    if (inet_pton(AF_INET, text, &in) == 1) {
        memset(address, 0, ADDRESS_SIZE);
        address[0] = 4;
        memcpy(address + 1, &in, sizeof(in));
    } else if (inet_pton(AF_INET6, text, &in6) == 1) {
        memset(address, 0, ADDRESS_SIZE);
        address[0] = 6;
        memcpy(address + 1, &in6, 8);
    }
}

/* Judges what the request looks like, and by which name it came. */
static bool
admit_form(struct request *request, const char *url, const char *version)
{
    struct guard *guard = &request->guard;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    /* Later ones are strict themselves. */
    bool lenient = strncmp(MHD_get_version(), "0.", 2) == 0 && info != NULL;
    const char *host;

    guard_init(guard);
    guard_line(guard, request->method, request->target, version);
    if (lenient)
        guard_layout(guard, request->method, url, request->target, version);
    (void)MHD_get_connection_values_n(request->connection, MHD_HEADER_KIND, add_header, guard);
    if (lenient)
        guard_layout_end(guard, request->method, info->header_size);
    if (!guard_end(guard)) {
        problem_set(&request->problem, guard->status,
            guard->status == 400 ? "bad_argument" : "bad_request", "%s", guard->problem);
        request->reply.close = true;
        return false;
    }
    host = request_header(request, "Host");
    if (host == NULL || !guard_host(&request->server->hosts, host)) {
        problem_set(&request->problem, 421, "wrong_host",
            "this server is not called by the name in the header Host");
        (void)snprintf(request->problem.hint, sizeof(request->problem.hint), "%s",
            "Start pawl-serve with --host NAME for each name that clients use.");
        request->reply.close = true;
        return false;
    }
    return true;
}

static void
refuse_rate(struct request *request, unsigned retry_s, const char *what)
{
    problem_set_later(&request->problem, 429, "rate_limited", retry_s, what);
}

/*
 * Reads the token. One that the database has accepted lately has a bucket, and takes one from it. Others are strangers: they have no bucket,
 * so that made-up ones push none out, and are refused while strangers of their address were refused too often. So who sends made-up tokens
 * keeps away no token that is known, though all of a machine or of a company have one address. Without a token nothing is asked, and nothing
 * is counted.
 */
static bool
admit_token(struct request *request)
{
    const char *header = request_header(request, "Authorization");
    int64_t now = pw_now_us();
    uint8_t address[ADDRESS_SIZE];
    unsigned retry_s;

    request->has_token = header != NULL && token_of_header(header, request->digest);
    request->known = request->has_token && limit_knows(request->server->tokens, request->digest);
    if (request->known) {
        if (limit_take(request->server->tokens, request->digest, now, &retry_s))
            return true;
        refuse_rate(request, retry_s, "the token sends more requests than its rate");
        return false;
    }
    address_of(request, address);
    if (header != NULL && !limit_has(request->server->strange, address, now, &retry_s)) {
        refuse_rate(request, retry_s, "too many tokens from this address were refused");
        return false;
    }
    request->stranger = header != NULL;
    if (!request->has_token)
        problem_set_token(&request->problem);
    return request->has_token;
}

void
admit_outcome(struct request *request)
{
    const unsigned status = request->problem.status;
    uint8_t address[ADDRESS_SIZE];
    unsigned retry_s;

    if (!request->stranger)
        return;
    request->stranger = false;
    if (!request->asked || status == 401) {
        address_of(request, address);
        (void)limit_take(request->server->strange, address, pw_now_us(), &retry_s);
    } else if (status < 500) {
        (void)limit_take(request->server->tokens, request->digest, pw_now_us(), &retry_s);
    }
}

/* A body must be JSON by its type. A page can send other types to a foreign server without asking it first. */
static bool
is_json_type(const char *type)
{
    size_t size = strcspn(type, "; \t");

    if (size != 16 || strncasecmp(type, "application/json", size) != 0)
        return false;
    type += size;
    type += strspn(type, "; \t");
    return *type == '\0' || strcasecmp(type, "charset=utf-8") == 0 ||
        strcasecmp(type, "charset=\"utf-8\"") == 0;
}

static bool
admit_body(struct request *request)
{
    const char *type = request_header(request, "Content-Type");

    request->body_max =
        (request->match.route->flags & ROUTE_LARGE) != 0 ? LARGE_BODY_MAX : BODY_MAX;
    if (!guard_has_body(&request->guard))
        return true;
    if (type != NULL && !is_json_type(type)) {
        problem_set(
            &request->problem, 415, "not_json", "the header Content-Type must be application/json");
        return false;
    }
    if (request->guard.length > (int64_t)request->body_max) {
        problem_set(&request->problem, 413, "too_large", "the body has more than %zu bytes",
            request->body_max);
        return false;
    }
    return true;
}

static void
refuse_route(struct request *request)
{
    if (request->match.allowed[0] != '\0')
        problem_set(&request->problem, 405, "method_not_allowed", "this address has the methods %s",
            request->match.allowed);
    else
        problem_set(&request->problem, 404, "not_found", "there is no such address");
}

/* Returns the origin of the page that sent the request, if it is listed, or NULL. */
static const char *
listed_origin(const struct request *request)
{
    const char *origin = request_header(request, "Origin");
    const char *const *listed = request->server->options->origins;

    for (; origin != NULL && *listed != NULL; listed++)
        if (strcmp(origin, *listed) == 0)
            return origin;
    return NULL;
}

void
admit_origin(const struct request *request, struct MHD_Response *response)
{
    const char *origin = request->begun ? listed_origin(request) : NULL;

    if (origin == NULL)
        return;
    /* No credentials: a page must send a token, and no cookie means anything here. */
    (void)MHD_add_response_header(response, "Access-Control-Allow-Origin", origin);
    (void)MHD_add_response_header(response, "Vary", "Origin");
    if (strcmp(request->method, "OPTIONS") == 0) {
        (void)MHD_add_response_header(
            response, "Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE");
        (void)MHD_add_response_header(response, "Access-Control-Allow-Headers",
            "Authorization, Content-Type, Idempotency-Key, If-None-Match, Prefer, traceparent");
        (void)MHD_add_response_header(response, "Access-Control-Max-Age", "600");
    } else {
        (void)MHD_add_response_header(response, "Access-Control-Expose-Headers",
            "ETag, Location, Preference-Applied, Retry-After");
    }
}

void
admit_headers(struct request *request, const char *url, const char *version)
{
    const char *query = strchr(request->target, '?');
    size_t path = query != NULL ? (size_t)(query - request->target) : strlen(request->target);
    const struct route *route;

    request->query = query != NULL ? query + 1 : "";
    if (!admit_form(request, url, version))
        return;
    route_find(&request->match, request->method, request->target, path);
    route = request->match.route;
    /* A browser asks ahead, without a token. */
    if (strcmp(request->method, "OPTIONS") == 0 && listed_origin(request) != NULL) {
        request->preflight = true;
        return;
    }
    if (route == NULL || (route->flags & ROUTE_OPEN) == 0)
        if (!admit_token(request))
            return;
    if (route == NULL) {
        refuse_route(request);
        return;
    }
    if (request->server->options->read_only && strcmp(route->method, "GET") != 0 &&
        (route->flags & ROUTE_READS) == 0) {
        problem_set(&request->problem, 403, "forbidden", "this server is read-only");
        return;
    }
    (void)admit_body(request);
}

/* Idempotency-Key is the argument key. The draft has it in quotes. */
static void
admit_key(struct request *request)
{
    const char *header = request_header(request, "Idempotency-Key");
    const char *field = arguments_get(&request->arguments, "key");
    size_t size = header != NULL ? strlen(header) : 0;
    char *key;

    if (header == NULL || route_argument(request->match.route, PLACE_BODY, "key") == NULL)
        return;
    if (size >= 2 && header[0] == '"' && header[size - 1] == '"') {
        header++;
        size -= 2;
    }
    key = pw_arena_copy(&request->arena, header, size);
    if (key == NULL)
        problem_set_later(&request->problem, 503, "unavailable", 1, "out of memory");
    else if (field != NULL && strcmp(field, key) != 0)
        problem_set(&request->problem, 400, "bad_argument",
            "\"key\" and the header Idempotency-Key differ");
    else
        arguments_set(&request->arguments, "key", key);
}

/* "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01" */
static bool
is_traceparent(const char *text)
{
    static const char form[] = "00-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-xxxxxxxxxxxxxxxx-xx";

    if (strlen(text) != sizeof(form) - 1)
        return false;
    for (size_t i = 0; i < sizeof(form) - 1; i++)
        if (form[i] == 'x' ? strchr("0123456789abcdef", text[i]) == NULL : form[i] != text[i])
            return false;
    return true;
}

/* The header traceparent becomes a member of the metadata, if they have none. */
static void
admit_trace(struct request *request)
{
    const char *header = request_header(request, "traceparent");
    const char *field = arguments_get(&request->arguments, "metadata");
    struct pw_json metadata = {field, field != NULL ? strlen(field) : 0};
    struct pw_buf made;
    const char *text;

    if (header == NULL || !is_traceparent(header) ||
        route_argument(request->match.route, PLACE_BODY, "metadata") == NULL)
        return;
    if (field != NULL && (field[0] != '{' || pw_json_member(metadata, "traceparent").data != NULL))
        return;
    pw_buf_init(&made, BODY_MAX + 200);
    pw_buf_addf(&made, "{\"traceparent\": \"%s\"", header);
    if (field == NULL || field[1 + strspn(field + 1, " \t\r\n")] == '}')
        pw_buf_addc(&made, '}');
    else
        pw_buf_addf(&made, ", %s", field + 1);
    text = pw_buf_ok(&made) ? pw_arena_copy(&request->arena, made.data, made.size) : NULL;
    pw_buf_done(&made);
    if (text != NULL)
        arguments_set(&request->arguments, "metadata", text);
}

/* "wait=10", alone or with other preferences. One that is not understood is no error. */
static void
admit_wait(struct request *request)
{
    const char *header = request_header(request, "Prefer");
    char digits[8];
    int64_t seconds;
    size_t size;

    if ((request->match.route->flags & ROUTE_WAITS) == 0)
        return;
    while (header != NULL && *header != '\0') {
        header += strspn(header, " \t,;");
        if (strncasecmp(header, "wait=", 5) == 0) {
            header += 5;
            size = strspn(header, "0123456789");
            if (size == 0 || size >= sizeof(digits))
                return;
            memcpy(digits, header, size);
            digits[size] = '\0';
            if (pw_parse_i64(digits, 0, INT64_MAX, &seconds))
                request->wait_s = seconds < WAIT_MAX_S ? (unsigned)seconds : WAIT_MAX_S;
            return;
        }
        header += strcspn(header, ",;");
    }
}

void
admit_arguments(struct request *request)
{
    admit_key(request);
    admit_trace(request);
    admit_wait(request);
}
