/* SPDX-License-Identifier: Apache-2.0 */
/* Routes: which request means which, that the table is in order, and that requests become the arguments of verbs. */
#include "libpawl/client/call.h"
#include "server/api/arguments.h"
#include "server/api/route.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char id[] = "01a1eb22-f60c-7350-9883-4376c8597225";

static const struct pw_verb *
verb_of(const char *name)
{
    const struct pw_verb *verb;

    for (size_t i = 0; (verb = pw_verb_at(i)) != NULL; i++)
        if (strcmp(verb->name, name) == 0)
            return verb;
    return NULL;
}

static void
each_route_names_a_verb_and_its_arguments(void **state)
{
    const struct route *route;

    (void)state;
    for (size_t i = 0; (route = route_at(i)) != NULL; i++) {
        const struct pw_verb *verb = verb_of(route->verb);

        if (route->shape == SHAPE_OWN)
            continue;
        if (verb == NULL)
            fail_msg("%s %s: no verb %s", route->method, route->path, route->verb);
        if (verb->reads && strcmp(route->method, "GET") != 0 && (route->flags & ROUTE_READS) == 0)
            fail_msg("%s %s only reads", route->method, route->path);
        if (!verb->reads && strcmp(route->method, "GET") == 0)
            fail_msg("%s %s changes something", route->method, route->path);
        for (const struct argument *at = route->arguments; at->kind != ARGUMENT_END; at++) {
            const char *name = at->into != NULL ? at->into : at->name;
            size_t j = 0;

            while (verb->arguments[j] != NULL && strcmp(verb->arguments[j], name) != 0)
                j++;
            if (verb->arguments[j] == NULL)
                fail_msg("%s has no argument %s", route->verb, name);
        }
    }
}

static void
a_path_and_a_method_mean_one_route(void **state)
{
    static const struct {
        const char *method;
        const char *path;
        const char *verb; /* NULL: none */
        const char *allowed;
    } cases[] = {
        {"GET", "/v1/runs", "list_runs", NULL},
        {"HEAD", "/v1/runs", "list_runs", NULL},
        {"POST", "/v1/runs", "trigger", NULL},
        {"POST", "/v1/runs/batch", "trigger_many", NULL},
        {"GET", "/v1/runs/x", "get_run", NULL},
        {"GET", "/v1/runs/x/why", "why", NULL},
        {"POST", "/v1/runs/x/signals/go", "signal", NULL},
        {"POST", "/v1/waits/x/y/approve", "approve", NULL},
        {"DELETE", "/v1/runs", NULL, "POST, GET"},
        {"POST", "/metrics", NULL, "GET"},
        {"GET", "/v1/runs/", NULL, ""},
        {"GET", "/v1/runs/x/", NULL, ""},
        {"GET", "/v1/runs/x/y/z", NULL, ""},
        {"GET", "/V1/runs", NULL, ""},
        {"GET", "/v1", NULL, ""},
        {"GET", "/", NULL, ""},
        {"GET", "", NULL, ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct route_match match;

        route_find(&match, cases[i].method, cases[i].path, strlen(cases[i].path));
        if (cases[i].verb != NULL) {
            assert_non_null(match.route);
            assert_string_equal(match.route->verb, cases[i].verb);
        } else {
            assert_null(match.route);
            assert_string_equal(match.allowed, cases[i].allowed);
        }
    }
}

/* Reads a request; returns the status of its problem, 0 without one. */
static unsigned
read_request(const char *method, const char *target, const char *body, struct arguments *arguments,
    struct pw_arena *arena)
{
    const char *query = strchr(target, '?');
    struct route_match match;
    struct problem problem = {0};

    route_find(&match, method, target, query != NULL ? (size_t)(query - target) : strlen(target));
    assert_non_null(match.route);
    if (arguments_read(arguments, &match, query != NULL ? query + 1 : "",
            (pawl_bytes){body, body != NULL ? strlen(body) : 0}, arena, &problem))
        return 0;
    return problem.status;
}

static void
requests_become_arguments(void **state)
{
    static const struct {
        const char *method;
        const char *target;
        const char *body;
        const char *name;
        const char *value;
    } cases[] = {
        {"POST", "/v1/runs", "{\"workflow\": \"a\\u00e4\"}", "workflow", "a\xc3\xa4"},
        {"POST", "/v1/runs", "{\"workflow\":\"a\",\"input\": { \"b\" :1 }}", "input",
            "{ \"b\" :1 }"},
        {"POST", "/v1/runs", "{\"workflow\":\"a\",\"delay_ms\":1500}", "delay",
            "1500 milliseconds"},
        {"POST", "/v1/runs", "{\"workflow\":\"a\",\"tags\":[\"x\",\"y\\\"\\\\\"]}", "tags",
            "{\"x\",\"y\\\"\\\\\"}"},
        {"POST", "/v1/runs", "{\"workflow\":\"a\",\"key\":null}", "key", NULL},
        {"POST", "/v1/runs", "{\"workflow\":\"a\",\"replace\":true}", "replace", "true"},
        {"POST", "/v1/runs/batch", "{\"workflow\":\"a\",\"inputs\":[{\"n\":1},\"x\"]}", "inputs",
            "{\"{\\\"n\\\":1}\",\"\\\"x\\\"\"}"},
        {"POST", "/v1/runs/batch", "{\"workflow\":\"a\",\"inputs\":[],\"keys\":[\"k\",null]}",
            "keys", "{\"k\",NULL}"},
        {"GET", "/v1/runs?workflow=a%2Fb+c&max_rows=5", NULL, "only_workflow", "a/b c"},
        {"GET", "/v1/runs?since=2026-02-03T04:05:06.7Z", NULL, "since", "2026-02-03T04:05:06.7Z"},
        {"GET", "/v1/runs?", NULL, "only_workflow", NULL},
        {"POST", "/v1/runs/01a1eb22-f60c-7350-9883-4376c8597225/cancel", "", "runs",
            "{01a1eb22-f60c-7350-9883-4376c8597225}"},
        {"PATCH", "/v1/workflows/x", "{\"max_attempts\":3,\"base_ms\":50,\"expires_ms\":null}",
            "options", "{\"max_attempts\":3,\"base\":\"50 milliseconds\",\"expires\":null}"},
        {"PATCH", "/v1/workflows/x", "{}", "options", "{}"},
        {"PUT", "/v1/flows?only_check=true", " [1] ", "definition", " [1] "},
        {"POST", "/v1/tokens", "{\"name\":\"n\",\"digest\":\"00ff\",\"rights\":[]}", "digest",
            "\\x00ff"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arguments arguments;
        struct pw_arena arena;
        const char *value;

        pw_arena_init(&arena, 1 << 20);
        assert_int_equal(
            read_request(cases[i].method, cases[i].target, cases[i].body, &arguments, &arena), 0);
        value = arguments_get(&arguments, cases[i].name);
        if (cases[i].value != NULL)
            assert_string_equal(value, cases[i].value);
        else
            assert_null(value);
        pw_arena_done(&arena);
    }
}

static void
requests_with_other_fields_or_values_are_refused(void **state)
{
    static const char *const bodies[] = {"{}", "[]", "\"a\"", "{", "{\"workflow\":7}",
        "{\"workflow\":\"a\",\"colour\":1}", "{\"workflow\":\"a\",\"workflow\":\"a\"}",
        "{\"workflow\":\"a\",\"priority\":\"1\"}", "{\"workflow\":\"a\",\"priority\":1.5}",
        "{\"workflow\":\"a\",\"delay_ms\":-1}", "{\"workflow\":\"a\",\"delay_ms\":1e3}",
        "{\"workflow\":\"a\",\"delay\":1}", "{\"workflow\":\"a\",\"id\":\"x\"}",
        "{\"workflow\":\"a\",\"tags\":\"x\"}", "{\"workflow\":\"a\",\"tags\":[1]}",
        "{\"workflow\":\"a\",\"replace\":\"true\"}", "{\"workflow\":\"a\"} x", "\xff"};
    static const char *const targets[] = {"/v1/runs?nosuch=1", "/v1/runs?workflow=a&workflow=b",
        "/v1/runs?max_rows=x", "/v1/runs?max_rows=", "/v1/runs?since=yesterday",
        "/v1/runs?since=2026-02-03", "/v1/runs?cursor=1", "/v1/states",
        "/v1/states?runs=", "/v1/states?runs=x", "/v1/waits?approvals=yes", "/v1/runs/x",
        "/v1/runs?=1"};
    struct arguments arguments;
    struct pw_arena arena;
    char target[200];

    (void)state;
    pw_arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
        if (read_request("POST", "/v1/runs", bodies[i], &arguments, &arena) != 400)
            fail_msg("%s is not refused", bodies[i]);
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
        if (read_request("GET", targets[i], NULL, &arguments, &arena) != 400)
            fail_msg("%s is not refused", targets[i]);
    (void)snprintf(target, sizeof(target), "/v1/states?runs=%s,%s&runs=%s", id, id, id);
    assert_int_equal(read_request("GET", target, NULL, &arguments, &arena), 0);
    assert_int_equal(strlen(arguments_get(&arguments, "runs")), 3 * strlen(id) + 4);
    pw_arena_done(&arena);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_route_names_a_verb_and_its_arguments),
        cmocka_unit_test(a_path_and_a_method_mean_one_route),
        cmocka_unit_test(requests_become_arguments),
        cmocka_unit_test(requests_with_other_fields_or_values_are_refused),
    };

    return cmocka_run_group_tests_name("server/route", tests, NULL, NULL);
}
