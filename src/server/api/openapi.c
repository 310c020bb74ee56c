/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/openapi.h"

#include "base/json_write.h"
#include "server/api/problem.h"
#include "server/api/route.h"

#include <pawl/pawl.h>
#include <stdio.h>
#include <string.h>

static void
text(struct pw_json_writer *json, const char *key, const char *value)
{
    pw_json_key(json, key);
    pw_json_add_text(json, value);
}

static void
open_key(struct pw_json_writer *json, const char *key, char kind)
{
    pw_json_key(json, key);
    pw_json_open(json, kind);
}

/* Types and formats of the kinds of arguments. JSON has none: any value. */
static void
write_schema(struct pw_json_writer *json, enum argument_kind kind, bool query)
{
    pw_json_open(json, '{');
    switch (kind) {
    case ARGUMENT_INTEGER:
        text(json, "type", "integer");
        break;
    case ARGUMENT_NUMBER:
    case ARGUMENT_DURATION:
        text(json, "type", "number");
        break;
    case ARGUMENT_BOOLEAN:
        text(json, "type", "boolean");
        break;
    case ARGUMENT_ID:
    case ARGUMENT_ONE_ID:
        text(json, "type", "string");
        text(json, "format", "uuid");
        break;
    case ARGUMENT_TIME:
        text(json, "type", "string");
        text(json, "format", "date-time");
        break;
    case ARGUMENT_IDS:
    case ARGUMENT_TEXTS:
    case ARGUMENT_JSONS:
        text(json, "type", "array");
        pw_json_key(json, "items");
        write_schema(json,
            kind == ARGUMENT_IDS         ? ARGUMENT_ID
                : kind == ARGUMENT_TEXTS ? ARGUMENT_TEXT
                                         : ARGUMENT_JSON,
            query);
        break;
    case ARGUMENT_TEXT:
    case ARGUMENT_HEX:
        text(json, "type", "string");
        break;
    case ARGUMENT_JSON:
    case ARGUMENT_END:
        break;
    }
    pw_json_close(json);
}

static void
write_parameter(struct pw_json_writer *json, const struct argument *argument)
{
    char field[ROUTE_FIELD_SIZE];

    route_field(argument, field);
    pw_json_open(json, '{');
    text(json, "name", field);
    text(json, "in", argument->place == PLACE_PATH ? "path" : "query");
    if (argument->place == PLACE_PATH || argument->required) {
        pw_json_key(json, "required");
        pw_json_add_bool(json, true);
    }
    if (argument->kind == ARGUMENT_IDS) {
        pw_json_key(json, "explode");
        pw_json_add_bool(json, false);
    }
    pw_json_key(json, "schema");
    write_schema(json, argument->kind, true);
    pw_json_close(json);
}

static void
write_header(struct pw_json_writer *json, const char *name, const char *description)
{
    pw_json_open(json, '{');
    text(json, "name", name);
    text(json, "in", "header");
    text(json, "description", description);
    pw_json_key(json, "schema");
    write_schema(json, ARGUMENT_TEXT, true);
    pw_json_close(json);
}

static void
write_parameters(struct pw_json_writer *json, const struct route *route)
{
    const struct argument *argument = route->arguments;

    open_key(json, "parameters", '[');
    for (; argument->kind != ARGUMENT_END; argument++)
        if (argument->place == PLACE_PATH || argument->place == PLACE_QUERY)
            write_parameter(json, argument);
    if ((route->flags & ROUTE_WAITS) != 0)
        write_header(json, "Prefer", "wait=SECONDS: wait for the end of the run, at most 30 s");
    if ((route->flags & ROUTE_TAGGED) != 0)
        write_header(json, "If-None-Match", "The ETag of an earlier answer");
    if (strcmp(route->verb, "trigger") == 0)
        write_header(json, "Idempotency-Key", "The same as the field key");
    if (strcmp(route->verb, "follow") == 0)
        write_header(json, "Last-Event-ID", "The id of the last event that was received");
    pw_json_close(json);
}

/* Writes the body as an object of fields, or as any JSON. Nothing if the route has none. */
static void
write_body(struct pw_json_writer *json, const struct route *route)
{
    const struct argument *argument = route->arguments;
    char field[ROUTE_FIELD_SIZE];
    bool required = false;

    while (argument->kind != ARGUMENT_END && argument->place != PLACE_BODY &&
        argument->place != PLACE_WHOLE)
        argument++;
    if (argument->kind == ARGUMENT_END)
        return;
    open_key(json, "requestBody", '{');
    open_key(json, "content", '{');
    open_key(json, "application/json", '{');
    pw_json_key(json, "schema");
    if (argument->place == PLACE_WHOLE) {
        write_schema(json, argument->kind, false);
    } else {
        pw_json_open(json, '{');
        text(json, "type", "object");
        pw_json_key(json, "additionalProperties");
        pw_json_add_bool(json, false);
        open_key(json, "properties", '{');
        for (argument = route->arguments; argument->kind != ARGUMENT_END; argument++) {
            if (argument->place != PLACE_BODY)
                continue;
            required = required || argument->required;
            route_field(argument, field);
            pw_json_key(json, field);
            write_schema(json, argument->kind, false);
        }
        pw_json_close(json);
        if (required) {
            open_key(json, "required", '[');
            for (argument = route->arguments; argument->kind != ARGUMENT_END; argument++)
                if (argument->place == PLACE_BODY && argument->required) {
                    route_field(argument, field);
                    pw_json_add_text(json, field);
                }
            pw_json_close(json);
        }
        pw_json_close(json);
    }
    pw_json_close(json);
    pw_json_close(json);
    pw_json_close(json);
}

static void
write_response(struct pw_json_writer *json, unsigned status, const char *type, const char *schema)
{
    char number[12];

    (void)snprintf(number, sizeof(number), "%u", status);
    open_key(json, number, '{');
    text(json, "description", problem_title(status));
    if (type != NULL) {
        open_key(json, "content", '{');
        open_key(json, type, '{');
        open_key(json, "schema", '{');
        if (schema != NULL)
            text(json, "$ref", schema);
        pw_json_close(json);
        pw_json_close(json);
        pw_json_close(json);
    }
    pw_json_close(json);
}

static void
write_responses(struct pw_json_writer *json, const struct route *route)
{
    static const unsigned problems[] = {400, 401, 403, 404, 409, 413, 422, 429, 503, 504};
    const char *type = route->shape == SHAPE_TEXT ? "text/plain"
        : route->shape == SHAPE_STREAM            ? "text/event-stream"
                                                  : "application/json";

    open_key(json, "responses", '{');
    write_response(json, 200, type, NULL);
    if ((route->flags & ROUTE_CREATES) != 0)
        write_response(json, 201, type, NULL);
    if ((route->flags & ROUTE_WAITS) != 0 && (route->flags & ROUTE_TAGGED) == 0)
        write_response(json, 202, type, NULL);
    if ((route->flags & ROUTE_TAGGED) != 0)
        write_response(json, 304, NULL, NULL);
    if ((route->flags & ROUTE_OPEN) != 0 && strcmp(route->verb, "ready") == 0)
        write_response(json, 503, type, NULL);
    for (size_t i = 0; i < sizeof(problems) / sizeof(problems[0]); i++)
        if ((route->flags & ROUTE_OPEN) == 0)
            write_response(
                json, problems[i], "application/problem+json", "#/components/schemas/problem");
    pw_json_close(json);
}

static void
write_operation(struct pw_json_writer *json, const struct route *route)
{
    char method[8] = "";

    for (size_t i = 0; route->method[i] != '\0' && i + 1 < sizeof(method); i++)
        method[i] = (char)(route->method[i] | 32);
    open_key(json, method, '{');
    text(json, "operationId", route->shape == SHAPE_STREAM ? route->noun : route->verb);
    text(json, "summary", route->summary);
    write_parameters(json, route);
    write_body(json, route);
    write_responses(json, route);
    if ((route->flags & ROUTE_OPEN) != 0) {
        open_key(json, "security", '[');
        pw_json_close(json);
    }
    pw_json_close(json);
}

/* Whether an earlier row of the table has the path of this one. */
static bool
is_known(size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(route_at(i)->path, route_at(index)->path) == 0)
            return true;
    return false;
}

static void
write_paths(struct pw_json_writer *json)
{
    const struct route *route;

    open_key(json, "paths", '{');
    for (size_t i = 0; (route = route_at(i)) != NULL; i++) {
        const struct route *other;

        if (is_known(i))
            continue;
        open_key(json, route->path, '{');
        for (size_t j = i; (other = route_at(j)) != NULL; j++)
            if (strcmp(other->path, route->path) == 0)
                write_operation(json, other);
        pw_json_close(json);
    }
    pw_json_close(json);
}

static void
write_problem(struct pw_json_writer *json)
{
    static const struct {
        const char *name;
        enum argument_kind kind;
    } members[] = {
        {"type", ARGUMENT_TEXT},
        {"title", ARGUMENT_TEXT},
        {"status", ARGUMENT_INTEGER},
        {"code", ARGUMENT_TEXT},
        {"detail", ARGUMENT_TEXT},
        {"hint", ARGUMENT_TEXT},
        {"sqlstate", ARGUMENT_TEXT},
        {"retryable", ARGUMENT_BOOLEAN},
    };

    open_key(json, "problem", '{');
    text(json, "type", "object");
    open_key(json, "properties", '{');
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        pw_json_key(json, members[i].name);
        write_schema(json, members[i].kind, false);
    }
    pw_json_close(json);
    pw_json_close(json);
}

bool
openapi_write(struct pw_buf *out)
{
    struct pw_json_writer json;
    char version[40];

    (void)snprintf(version, sizeof(version), "%d.%d.%d", PAWL_VERSION_MAJOR, PAWL_VERSION_MINOR,
        PAWL_VERSION_PATCH);
    pw_json_writer_init(&json, out);
    pw_json_open(&json, '{');
    text(&json, "openapi", "3.1.0");
    open_key(&json, "info", '{');
    text(&json, "title", "pawl");
    text(&json, "version", version);
    text(&json, "summary", "Durable workflows on PostgreSQL: the SQL API over HTTP");
    pw_json_close(&json);
    open_key(&json, "security", '[');
    pw_json_open(&json, '{');
    open_key(&json, "token", '[');
    pw_json_close(&json);
    pw_json_close(&json);
    pw_json_close(&json);
    write_paths(&json);
    open_key(&json, "components", '{');
    open_key(&json, "securitySchemes", '{');
    open_key(&json, "token", '{');
    text(&json, "type", "http");
    text(&json, "scheme", "bearer");
    pw_json_close(&json);
    pw_json_close(&json);
    open_key(&json, "schemas", '{');
    write_problem(&json);
    pw_json_close(&json);
    pw_json_close(&json);
    pw_json_close(&json);
    return pw_json_ok(&json);
}
