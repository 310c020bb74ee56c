/* SPDX-License-Identifier: Apache-2.0 */
#include "server/call.h"

#include "server/api/page.h"
#include "server/api/show.h"
#include "server/live.h"
#include "server/metrics.h"
#include "server/request.h"
#include "server/server.h"
#include "server/waits.h"

#include <stdio.h>
#include <string.h>

static const char json_type[] = "application/json";

pawl_status
call_act_as(struct request *request, pawl_client *client)
{
    const pawl_bytes digest = {(const char *)request->digest, sizeof(request->digest)};
    pawl_error *error = NULL;
    pawl_status status;

    if (client == NULL) {
        problem_set_unavailable(&request->problem);
        return PAWL_ECONN;
    }
    status = pawl_client_act_as_token(client, digest, &error);
    if (status != PAWL_OK)
        problem_set_error(&request->problem, status, error);
    pawl_error_free(error);
    return status;
}

/* The verb that a client calls ahead of every other one shows what a token allows; it takes the digest as an argument, too. */
static void
add_digest(struct request *request)
{
    static const char digits[] = "0123456789abcdef";
    char *text = pw_arena_alloc(&request->arena, 2 * TOKEN_DIGEST_SIZE + 3);
    char *at = text;

    if (text == NULL)
        return;
    *at++ = '\\';
    *at++ = 'x';
    for (size_t i = 0; i < TOKEN_DIGEST_SIZE; i++) {
        *at++ = digits[request->digest[i] >> 4];
        *at++ = digits[request->digest[i] & 15];
    }
    *at = '\0';
    arguments_set(&request->arguments, "digest", text);
}

/* Calls the verb of the request's route. */
static pawl_status
ask(struct request *request, pawl_client *client, pawl_rows **rows)
{
    const struct arguments *arguments = &request->arguments;
    pawl_error *error = NULL;
    pawl_status status = call_act_as(request, client);

    if (status != PAWL_OK)
        return status;
    if (strcmp(request->match.route->verb, "act_as_token") == 0)
        add_digest(request);
    status = pawl_client_call(client, request->match.route->verb, arguments->names,
        arguments->values, arguments->count, rows, &error);
    if (status != PAWL_OK)
        problem_set_error(&request->problem, status, error);
    pawl_error_free(error);
    return status;
}

static void
set_location(struct request *request, const char *run)
{
    (void)snprintf(request->reply.location, sizeof(request->reply.location), "/v1/runs/%s", run);
    (void)snprintf(request->run, sizeof(request->run), "%s", run);
}

/* The column of a verb that returns one value; it has the name of the verb. */
static const char *
value_of(const pawl_rows *rows)
{
    const char *name = pawl_rows_column_name(rows, 0);

    return name != NULL ? pawl_rows_text(rows, 0, name) : NULL;
}

/* Sets the status of an answer that names what it has created. */
static void
set_created(struct request *request, const pawl_rows *rows)
{
    const struct route *route = request->match.route;
    const char *created = pawl_rows_text(rows, 0, "created");
    const char *run = pawl_rows_text(rows, 0, "run_id");
    const char *value = value_of(rows);

    if (run != NULL)
        set_location(request, run);
    if (created != NULL
            ? created[0] == 't'
            : value != NULL && strcmp(value, "exists") != 0 && route->shape != SHAPE_LIST)
        request->reply.status = 201;
}

/* One value under the noun of the route, or a problem if it is an answer that means one. */
static void
write_value(struct request *request, const pawl_rows *rows)
{
    const struct route *route = request->match.route;
    const char *column = pawl_rows_column_name(rows, 0);
    const char *value = value_of(rows);
    struct pw_buf *body = &request->reply.body;

    if (strcmp(route->noun, "answer") == 0 && value != NULL && value[0] != '\0') {
        if (problem_set_answer(&request->problem, value, NULL))
            return;
    }
    pw_buf_addf(body, "{\"%s\":", route->noun);
    /* A function that returns nothing has succeeded. */
    if (column == NULL || value == NULL || value[0] == '\0')
        pw_buf_adds(body, strcmp(route->noun, "answer") == 0 ? "\"ok\"" : "null");
    else
        show_value(body, rows, 0, column);
    pw_buf_addc(body, '}');
}

static void
write_row(struct request *request, const pawl_rows *rows)
{
    const char *answer = pawl_rows_text(rows, 0, "answer");
    struct pw_buf *body = &request->reply.body;

    if (pawl_rows_count(rows) == 0) {
        if ((request->match.route->flags & ROUTE_ENDS) != 0)
            request->reply.status = 202;
        pw_buf_adds(body,
            (request->match.route->flags & ROUTE_ENDS) != 0
                ? "{\"status\":null,\"output\":null,\"error\":null}"
                : "{}");
        return;
    }
    if (answer != NULL &&
        problem_set_answer(&request->problem, answer, pawl_rows_text(rows, 0, "reason")))
        return;
    show_row(body, rows, 0, NULL);
}

/* Makes the reply of the rows that the verb of the request returned. */
static void
write_reply(struct request *request, const pawl_rows *rows)
{
    const struct route *route = request->match.route;
    struct reply *reply = &request->reply;

    reply->status = 200;
    reply->type = json_type;
    switch (route->shape) {
    case SHAPE_LIST:
        page_write(&reply->body, route, &request->arguments, rows);
        break;
    case SHAPE_VALUE:
        write_value(request, rows);
        break;
    case SHAPE_TEXT:
        reply->type = "text/plain; version=0.0.4; charset=utf-8";
        pw_buf_adds(&reply->body, value_of(rows) != NULL ? value_of(rows) : "");
        metrics_write(request->server, &reply->body);
        break;
    case SHAPE_ROW:
    case SHAPE_STREAM:
    case SHAPE_OWN:
        write_row(request, rows);
        break;
    }
    if (request->problem.status != 0)
        return;
    if ((route->flags & ROUTE_CREATES) != 0)
        set_created(request, rows);
}

/*
 * Asks for the mark of a run ahead of the run itself: the tag is then never newer than what it stands for. Sets the status of the reply if
 * the client has that tag, so that nothing more is to be asked.
 */
static pawl_status
ask_tag(struct request *request, pawl_client *client)
{
    const char *run = arguments_get(&request->arguments, "run");
    const char *header = request_header(request, "If-None-Match");
    const char *const names[] = {"runs"};
    char list[PAWL_ID_SIZE + 2];
    const char *const values[] = {list};
    pawl_error *error = NULL;
    pawl_rows *rows = NULL;
    pawl_status status = call_act_as(request, client);
    const char *mark;

    if (status != PAWL_OK)
        return status;
    (void)snprintf(list, sizeof(list), "{%s}", run);
    status = pawl_client_call(client, "list_states", names, values, 1, &rows, &error);
    /* A producer may read a run, but not its mark: it gets no tag. */
    if (status == PAWL_EFORBIDDEN && strcmp(pawl_error_sqlstate(error), "42501") == 0)
        status = PAWL_OK;
    if (status != PAWL_OK)
        problem_set_error(&request->problem, status, error);
    mark = pawl_rows_text(rows, 0, "mark");
    if (mark != NULL) {
        page_tag(mark, request->reply.tag);
        if (header != NULL && page_has_tag(header, request->reply.tag))
            request->reply.status = 304;
    }
    pawl_rows_free(rows);
    pawl_error_free(error);
    return status;
}

pawl_status
call_verb(struct request *request, pawl_client *client)
{
    pawl_rows *rows = NULL;
    pawl_status status;

    if ((request->match.route->flags & ROUTE_TAGGED) != 0) {
        status = ask_tag(request, client);
        if (status != PAWL_OK || request->reply.status == 304)
            return status;
    }
    status = ask(request, client, &rows);
    if (status == PAWL_OK) {
        write_reply(request, rows);
        if (!pw_buf_ok(&request->reply.body))
            problem_set_later(
                &request->problem, 503, "unavailable", 1, "there is no memory for the answer");
    }
    pawl_rows_free(rows);
    return status;
}

pawl_status
call_waited(struct request *request, pawl_client *client, const pawl_rows *rows, size_t row)
{
    const struct route *route = request->match.route;
    struct pw_buf *body = &request->reply.body;
    pawl_status status = PAWL_OK;

    request->reply.waited = true;
    if (strcmp(route->verb, "trigger") != 0) {
        /* A reader gets the run as it is now. */
        pw_buf_clear(body);
        return call_verb(request, client);
    }
    if (rows == NULL) {
        request->reply.status = 202;
        return status;
    }
    /* The answer of the trigger gets the members of the result. */
    request->reply.status = 200;
    if (body->size > 0)
        body->data[--body->size] = '\0';
    pw_buf_addc(body, ',');
    show_members(body, rows, row, "run_id");
    pw_buf_addc(body, '}');
    return status;
}

/* A reader that waits asks for the end first; a trigger that waits does it, and then waits. */
static bool
waits_first(const struct request *request)
{
    return strcmp(request->match.route->verb, "trigger") != 0;
}

pawl_status
call_act(struct job *job, pawl_client *client)
{
    struct request *request = PW_CONTAINER(job, struct request, job);
    pawl_status status;

    if (request->wait_s > 0 && waits_first(request)) {
        const char *run = arguments_get(&request->arguments, "run");

        (void)snprintf(request->run, sizeof(request->run), "%s", run);
        waits_add(request->server->waits, request, true);
        return PAWL_EUNKNOWN; /* nothing was called */
    }
    if (request->match.route->shape == SHAPE_STREAM) {
        status = live_begin(request, client);
    } else {
        status = call_verb(request, client);
        if (request->wait_s > 0 && request->problem.status == 0) {
            waits_add(request->server->waits, request, false);
            return status;
        }
    }
    request_finish(request);
    return status;
}
