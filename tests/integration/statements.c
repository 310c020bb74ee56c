/* SPDX-License-Identifier: Apache-2.0 */
/* Every SQL text of the library fits the engine: it can be prepared, and pawl_client_call() knows every verb as it is. */
#include "fixture.h"

#include "libpawl/client/call.h"
#include "libpawl/common/statements.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The public functions that are not for workers alone, with the names and defaults of their arguments; tests' own are left out. */
static const char functions_sql[] =
    "select p.proname, coalesce(a.name, ''), pg_get_function_arg_default(p.oid, a.n::int) "
    "from pg_proc p "
    "left join lateral unnest(p.proargnames[1:p.pronargs]) with ordinality a (name, n) on true "
    "where p.pronamespace = 'pawl'::regnamespace and p.proname !~ '^_|^test_clock_' "
    "and not (p.proname = any (pawl._functions_of('worker')) and p.proname <> all "
    "(pawl._functions_of('none') "
    "|| "
    "pawl._functions_of('producer') || pawl._functions_of('operator') || "
    "pawl._functions_of('reader'))) "
    "order by p.proname, a.n";

static void
every_statement_can_be_prepared(void **state)
{
    PGconn *conn = *state;

    for (int i = 0; i < PW_STMT_COUNT; i++) {
        const struct pw_stmt *stmt = pw_statement(i);
        PGresult *res;
        int count = 0;

        assert_int_equal(stmt->number, i);
        assert_non_null(stmt->sql);
        while (stmt->types[count] != 0)
            count++;
        res = PQprepare(conn, stmt->name, stmt->sql, count, stmt->types);
        if (PQresultStatus(res) != PGRES_COMMAND_OK)
            fail_msg("%s: %s", stmt->name, PQresultErrorMessage(res));
        PQclear(res);
    }
    assert_true((int)PW_STMT_COUNT <= (int)PW_STMTS_MAX);
}

static const struct pw_verb *
find_verb(const char *name)
{
    const struct pw_verb *verb;

    for (size_t i = 0; (verb = pw_verb_at(i)) != NULL; i++)
        if (strcmp(verb->name, name) == 0)
            return verb;
    fail_msg("pawl_client_call() does not know \"%s\"", name);
    return NULL;
}

/* What the statement has in the place of an argument: a parameter alone, or with a default. */
static void
check_argument(
    PGconn *conn, const struct pw_verb *verb, int number, const char *name, const char *standard)
{
    const char *sql = pw_statement(verb->statement)->sql;
    char plain[128];
    char defaulted[128];
    const char *found;

    if (strcmp(verb->arguments[number] != NULL ? verb->arguments[number] : "", name) != 0)
        fail_msg("%s: argument %d is \"%s\"", verb->name, number + 1, name);
    (void)snprintf(plain, sizeof(plain), "%s => $%d", name, number + 1);
    (void)snprintf(defaulted, sizeof(defaulted), "%s => coalesce($%d, ", name, number + 1);
    if (standard == NULL || strncmp(standard, "NULL", 4) == 0) {
        assert_non_null(strstr(sql, plain));
        return;
    }
    found = strstr(sql, defaulted);
    if (found == NULL)
        fail_msg("%s: argument \"%s\" has no default", verb->name, name);
    found += strlen(defaulted);
    (void)snprintf(defaulted, sizeof(defaulted), "select ((%.*s)::text = (%s)::text)::int",
        (int)strcspn(found, ")"), found, standard);
    if (race_count(conn, defaulted) != 1)
        fail_msg("%s: argument \"%s\" has another default", verb->name, name);
}

static void
every_verb_is_known_with_its_arguments_and_defaults(void **state)
{
    PGconn *conn = *state;
    PGresult *res = bench_exec(conn, functions_sql);
    const struct pw_verb *verb = NULL;
    size_t verbs = 0;
    int number = 0;

    for (int row = 0; row < PQntuples(res); row++) {
        const char *function = PQgetvalue(res, row, 0);
        const char *argument = PQgetvalue(res, row, 1);

        if (verb == NULL || strcmp(verb->name, function) != 0) {
            assert_true(verb == NULL || verb->arguments[number] == NULL);
            verb = find_verb(function);
            assert_int_equal(verb->statement, PW_STMT_CALLS + (verb - pw_verb_at(0)));
            number = 0;
            verbs++;
        }
        if (argument[0] != '\0')
            check_argument(conn, verb, number++, argument,
                PQgetisnull(res, row, 2) ? NULL : PQgetvalue(res, row, 2));
    }
    assert_null(pw_verb_at(verbs));
    assert_non_null(pw_verb_at(verbs - 1));
    assert_int_equal(PW_STMT_CALLS + verbs, PW_STMT_COUNT);
    PQclear(res);
}

/* A volatile function that reads is one that makes an id; everything else that reads is not volatile, or says so. */
static void
verbs_that_are_sent_again_change_nothing(void **state)
{
    PGconn *conn = *state;
    const struct pw_verb *verb;

    for (size_t i = 0; (verb = pw_verb_at(i)) != NULL; i++) {
        const char *params[] = {verb->name};
        PGresult *res = bench_exec_params(conn,
            /* Only operators or gateways may call those at the end, which change nothing either. */
            "select ($1 = any (pawl._functions_of('reader') || pawl._functions_of('none')"
            " || array['preview_bulk', 'list_subscriptions', 'list_tokens', 'act_as_token']))::int",
            1, params);

        assert_int_equal(race_field(res, 0, 0), verb->reads);
        PQclear(res);
    }
}

static int
set_up(void **state)
{
    *state = bench_connect();
    return 0;
}

static int
tear_down(void **state)
{
    PQfinish(*state);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_statement_can_be_prepared),
        cmocka_unit_test(every_verb_is_known_with_its_arguments_and_defaults),
        cmocka_unit_test(verbs_that_are_sent_again_change_nothing),
    };

    fixture_go_direct();
    return cmocka_run_group_tests_name("statements", tests, set_up, tear_down);
}
