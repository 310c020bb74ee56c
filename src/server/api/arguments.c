/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/arguments.h"

#include "base/json_read.h"
#include "base/json_scan.h"
#include "server/api/value.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
    DEPTH_MAX = 120, /* of JSON; the engine's limits are lower */
};

/* The state of one reading. */
struct reading {
    struct arguments *arguments;
    const struct route *route;
    struct pw_arena *arena;
    struct problem *problem;
    struct pw_buf object; /* the JSON object that some arguments are members of */
    const char *into;     /* the argument that this object is; NULL: none yet */
    uint64_t seen;        /* a bit for each argument of the route that the body has */
};

const char *
arguments_get(const struct arguments *arguments, const char *name)
{
    for (size_t i = 0; i < arguments->count; i++)
        if (strcmp(arguments->names[i], name) == 0)
            return arguments->values[i];
    return NULL;
}

void
arguments_set(struct arguments *arguments, const char *name, const char *value)
{
    size_t at = 0;

    while (at < arguments->count && strcmp(arguments->names[at], name) != 0)
        at++;
    if (at == ARGUMENTS_MAX)
        return;
    arguments->names[at] = name;
    arguments->values[at] = value;
    if (at == arguments->count)
        arguments->count++;
}

static bool
no_memory(struct reading *reading)
{
    problem_set_later(reading->problem, 503, "unavailable", 1, "out of memory");
    return false;
}

/* Names a field in a message only if it looks like one: a payload at the wrong place must not be repeated. */
static bool
unknown(struct reading *reading, const char *what, const char *field)
{
    size_t size = strspn(field, "abcdefghijklmnopqrstuvwxyz_0123456789");

    if (field[size] == '\0' && size > 0 && size < ROUTE_FIELD_SIZE)
        problem_set(reading->problem, 400, "bad_argument", "%s \"%s\" is unknown", what, field);
    else
        problem_set(reading->problem, 400, "bad_argument", "a %s is unknown", what);
    return false;
}

static bool
bad(struct reading *reading, const struct argument *argument, const char *why)
{
    char field[ROUTE_FIELD_SIZE];

    route_field(argument, field);
    problem_set(reading->problem, 400, "bad_argument", "\"%s\" %s",
        argument->place == PLACE_WHOLE ? argument->name : field, why);
    return false;
}

static bool
add(struct reading *reading, const struct argument *argument, const char *value)
{
    if (value == NULL)
        return no_memory(reading);
    if (arguments_get(reading->arguments, argument->name) != NULL)
        return bad(reading, argument, "is given twice");
    arguments_set(reading->arguments, argument->name, value);
    return true;
}

static bool
add_text(struct reading *reading, const struct argument *argument, const char *text)
{
    const char *value = NULL;
    const char *problem = value_of_text(argument->kind, text, reading->arena, &value);

    return problem == NULL ? add(reading, argument, value) : bad(reading, argument, problem);
}

static bool
read_path(struct reading *reading, const struct route_match *match)
{
    for (size_t i = 0; i < match->part_count; i++) {
        const struct route_part *part = &match->parts[i];
        char *text = pw_arena_alloc(reading->arena, part->size + 1);
        char field[ROUTE_FIELD_SIZE];
        const struct argument *argument;

        if (text == NULL)
            return no_memory(reading);
        route_decode(part->text, part->size, false, text);
        (void)snprintf(field, sizeof(field), "%.*s", (int)part->name_size, part->name);
        argument = route_argument(reading->route, PLACE_PATH, field);
        if (argument != NULL && !add_text(reading, argument, text))
            return false;
    }
    return true;
}

/* A list of ids may be given in several parts. */
static bool
add_query(struct reading *reading, const struct argument *argument, const char *text)
{
    const char *old = arguments_get(reading->arguments, argument->name);
    const char *value = NULL;
    const char *problem;
    char *both;
    size_t size;

    if (old == NULL || argument->kind != ARGUMENT_IDS)
        return add_text(reading, argument, text);
    problem = value_of_text(argument->kind, text, reading->arena, &value);
    if (problem != NULL)
        return bad(reading, argument, problem);
    if (value == NULL)
        return no_memory(reading);
    size = strlen(old) + strlen(value);
    both = pw_arena_alloc(reading->arena, size);
    if (both == NULL)
        return no_memory(reading);
    (void)snprintf(both, size, "%.*s,%s", (int)strlen(old) - 1, old, value + 1);
    arguments_set(reading->arguments, argument->name, both);
    return true;
}

static bool
read_query(struct reading *reading, const char *query)
{
    while (*query != '\0') {
        size_t size = strcspn(query, "&");
        size_t name_size = strcspn(query, "=&");
        char *name = pw_arena_alloc(reading->arena, size + 2);
        const struct argument *argument;
        char *text;

        if (name == NULL)
            return no_memory(reading);
        route_decode(query, name_size, true, name);
        text = name + strlen(name) + 1;
        if (name_size < size)
            route_decode(query + name_size + 1, size - name_size - 1, true, text);
        else
            text = name + strlen(name);
        argument = route_argument(reading->route, PLACE_QUERY, name);
        if (argument == NULL && size > 0)
            return unknown(reading, "parameter", name);
        if (argument != NULL && !add_query(reading, argument, text))
            return false;
        query += size + (query[size] == '&');
    }
    return true;
}

/* Adds a member to the object that becomes one argument. A duration becomes an interval. */
static bool
add_member(struct reading *reading, const struct argument *argument, struct pw_json json)
{
    const char *value = "";
    const char *problem = NULL;

    if (pw_json_given(json))
        problem = value_of_json(argument->kind, json, reading->arena, &value);
    if (problem != NULL)
        return bad(reading, argument, problem);
    if (value == NULL)
        return no_memory(reading);
    reading->into = argument->into;
    pw_buf_addf(
        &reading->object, "%s\"%s\":", reading->object.size > 0 ? "," : "{", argument->name);
    if (argument->kind == ARGUMENT_DURATION && pw_json_given(json))
        pw_buf_addf(&reading->object, "\"%s\"", value);
    else
        pw_buf_add(&reading->object, json.data, json.size);
    return true;
}

static bool
read_member(struct reading *reading, struct pw_json key, struct pw_json json)
{
    char name[ROUTE_FIELD_SIZE];
    const struct argument *argument;
    const char *value = NULL;
    const char *problem;
    uint64_t bit;

    if (key.size >= sizeof(name))
        return unknown(reading, "field", "");
    memcpy(name, key.data, key.size);
    name[key.size] = '\0';
    argument = route_argument(reading->route, PLACE_BODY, name);
    if (argument == NULL)
        return unknown(reading, "field", name);
    bit = UINT64_C(1) << (argument - reading->route->arguments);
    if ((reading->seen & bit) != 0)
        return bad(reading, argument, "is given twice");
    reading->seen |= bit;
    if (argument->into != NULL)
        return add_member(reading, argument, json);
    if (!pw_json_given(json))
        return true;
    problem = value_of_json(argument->kind, json, reading->arena, &value);
    return problem == NULL ? add(reading, argument, value) : bad(reading, argument, problem);
}

static bool
scan_body(struct reading *reading, pawl_bytes body)
{
    enum pw_json_problem found = pw_json_scan(body.data, body.size, SIZE_MAX, DEPTH_MAX);

    if (found == PW_JSON_OK)
        return true;
    if (found == PW_JSON_TOO_DEEP)
        problem_set(reading->problem, 413, "too_large", "the body %s", pw_json_problem_text(found));
    else
        problem_set(
            reading->problem, 400, "bad_argument", "the body %s", pw_json_problem_text(found));
    return false;
}

static bool
read_members(struct reading *reading, pawl_bytes body)
{
    const struct pw_json json = {body.data, body.size};
    struct pw_json_walk walk;
    struct pw_json key;
    struct pw_json value;

    if (body.data[strspn(body.data, " \t\r\n")] != '{') {
        problem_set(reading->problem, 400, "bad_argument", "the body must be a JSON object");
        return false;
    }
    pw_json_walk(&walk, json);
    while (pw_json_walk_next(&walk, &key, &value)) {
        if (!read_member(reading, key, value))
            return false;
    }
    return true;
}

static bool
read_body(struct reading *reading, pawl_bytes body)
{
    const struct argument *argument = reading->route->arguments;
    const char *value;

    if (body.size == 0)
        return true;
    if (!scan_body(reading, body))
        return false;
    while (argument->kind != ARGUMENT_END && argument->place != PLACE_WHOLE)
        argument++;
    if (argument->kind == ARGUMENT_END)
        return read_members(reading, body);
    value = pw_arena_copy(reading->arena, body.data, body.size);
    return add(reading, argument, value);
}

/* Puts the object of members in its place, and looks for arguments that must be there. */
static bool
finish(struct reading *reading)
{
    const struct argument *argument = reading->route->arguments;

    if (reading->into != NULL) {
        pw_buf_addc(&reading->object, '}');
        if (!pw_buf_ok(&reading->object))
            return no_memory(reading);
        arguments_set(reading->arguments, reading->into,
            pw_arena_copy(reading->arena, reading->object.data, reading->object.size));
        if (arguments_get(reading->arguments, reading->into) == NULL)
            return no_memory(reading);
    }
    for (; argument->kind != ARGUMENT_END; argument++) {
        /* Options are an object, even an empty one. */
        if (argument->into != NULL && arguments_get(reading->arguments, argument->into) == NULL)
            arguments_set(reading->arguments, argument->into, "{}");
        if (argument->required && arguments_get(reading->arguments, argument->name) == NULL)
            return bad(reading, argument, "is missing");
    }
    return true;
}

bool
arguments_read(struct arguments *arguments, const struct route_match *match, const char *query,
    pawl_bytes body, struct pw_arena *arena, struct problem *problem)
{
    struct reading reading = {
        .arguments = arguments, .route = match->route, .arena = arena, .problem = problem};
    bool good;

    arguments->count = 0;
    pw_buf_init(&reading.object, (size_t)1 << 20);
    good = read_path(&reading, match) && read_query(&reading, query) && read_body(&reading, body) &&
        finish(&reading);
    pw_buf_done(&reading.object);
    return good;
}
