/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A gateway on the wire: it says for which token it acts in the pipeline of the call, and nothing of that is left for the next one. Passes through
 * PgBouncer, too. The rows of tests/sql/token that need no pipeline and no login are there.
 */
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char act[] = "select from pawl.act_as_token(sha256('gate'))";
static const char act_other[] = "select from pawl.act_as_token(sha256('other'))";
static const char verb[] = "select count(*) from pawl.list_runs()";
static const char refused[] = "42501";

struct gate {
    PGconn *owner;
    char role[80];
};

/* Runs a statement with the role after its first part, as the owner. */
static void
do_sql(struct gate *gate, const char *before, const char *after)
{
    char sql[600];

    (void)snprintf(sql, sizeof(sql), "%s%s%s", before, gate->role, after);
    PQclear(bench_exec(gate->owner, sql));
}

static PGconn *
log_in(struct gate *gate)
{
    char info[200];
    PGconn *conn;

    (void)snprintf(info, sizeof(info), "user=%s dbname=%s", gate->role, PQdb(gate->owner));
    conn = PQconnectdb(info);
    if (PQstatus(conn) != CONNECTION_OK)
        fail_msg("%s", PQerrorMessage(conn));
    return conn;
}

/* Sends statements in one pipeline with one synchronization. Returns the SQLSTATE of the first error, "" without one. */
static const char *
pipeline(PGconn *conn, const char *const *statements)
{
    static char state[6];
    PGresult *res;

    state[0] = '\0';
    assert_int_equal(PQenterPipelineMode(conn), 1);
    for (size_t i = 0; statements[i] != NULL; i++)
        assert_int_equal(PQsendQueryParams(conn, statements[i], 0, NULL, NULL, NULL, NULL, 0), 1);
    assert_int_equal(PQpipelineSync(conn), 1);
    for (bool synced = false; !synced; PQclear(res)) {
        res = PQgetResult(conn);
        if (res == NULL)
            continue;
        synced = PQresultStatus(res) == PGRES_PIPELINE_SYNC;
        if (PQresultStatus(res) == PGRES_FATAL_ERROR && state[0] == '\0')
            (void)snprintf(state, sizeof(state), "%s", PQresultErrorField(res, PG_DIAG_SQLSTATE));
    }
    assert_int_equal(PQexitPipelineMode(conn), 1);
    return state;
}

#define PIPELINE(conn, ...) pipeline(conn, (const char *const[]){__VA_ARGS__, NULL})

static void
a_pipeline_acts_for_its_token_and_the_next_for_none(void **state)
{
    struct gate *gate = *state;
    PGconn *conn = log_in(gate);

    assert_string_equal(PIPELINE(conn, verb), refused);
    assert_string_equal(PIPELINE(conn, act, verb), "");
    assert_string_equal(PIPELINE(conn, verb), refused);
    assert_string_equal(PIPELINE(conn, act, verb, act, verb), "");
    assert_string_equal(PIPELINE(conn, act, act_other, verb), refused);
    assert_string_equal(PIPELINE(conn, act_other, verb), "");
    assert_string_equal(PIPELINE(conn, verb, act), refused);
    PQfinish(conn);
}

/* Through PgBouncer both are on one connection to the server, if it is the only one that is free. */
static void
a_stamp_that_one_client_leaves_in_the_session_serves_no_other(void **state)
{
    struct gate *gate = *state;
    PGconn *first = log_in(gate);
    PGconn *second = log_in(gate);

    assert_string_equal(
        PIPELINE(
            first, act, "select set_config('pawl.acting', current_setting('pawl.acting'), false)"),
        "");
    assert_string_equal(PIPELINE(first, verb), refused);
    assert_string_equal(PIPELINE(second, verb), refused);
    assert_string_equal(PIPELINE(second, act, verb), "");
    assert_string_equal(PIPELINE(first, "reset pawl.acting"), "");
    PQfinish(first);
    PQfinish(second);
}

/* Up to PostgreSQL 16 a procedure can commit in a pipeline, and from 17 on it raises there. */
static void
a_procedure_that_commits_ends_what_was_said(void **state)
{
    struct gate *gate = *state;
    PGconn *conn = log_in(gate);
    const char *code;

    code = PIPELINE(conn, act, "call gate_commits()", verb);
    if (strcmp(code, "2D000") != 0)
        assert_string_equal(code, refused);
    assert_string_equal(PIPELINE(conn, act, "call pawl.tick(true)"), code);
    PQfinish(conn);
}

/* A stamp that is in the role's settings is in each of its sessions from the start. */
static void
a_stamp_in_the_settings_of_the_role_is_refused(void **state)
{
    struct gate *gate = *state;
    PGconn *conn = log_in(gate);
    PGresult *res;
    char sql[600];

    PQclear(bench_exec(conn, "begin"));
    PQclear(bench_exec(conn, act));
    res = bench_exec(conn, "select quote_literal(current_setting('pawl.acting'))");
    (void)snprintf(sql, sizeof(sql), " set pawl.acting = %s", PQgetvalue(res, 0, 0));
    PQclear(res);
    PQclear(bench_exec(conn, "commit"));
    PQfinish(conn);
    do_sql(gate, "alter role ", sql);
    conn = log_in(gate);
    assert_string_equal(PIPELINE(conn, verb), refused);
    assert_string_equal(PIPELINE(conn, act, verb), "");
    PQfinish(conn);
    do_sql(gate, "alter role ", " reset pawl.acting");
}

static int
set_up(void **state)
{
    static struct gate gate;
    PGresult *res;

    gate.owner = bench_connect();
    res = bench_exec(gate.owner, "select 'gate_' || current_database()");
    (void)snprintf(gate.role, sizeof(gate.role), "%s", PQgetvalue(res, 0, 0));
    PQclear(res);
    do_sql(&gate, "create role ", " login");
    do_sql(&gate, "select pawl.grant_role('", "', 'gateway')");
    PQclear(bench_exec(gate.owner, "select pawl.create_token('gate', sha256('gate'), '{reader}')"));
    PQclear(
        bench_exec(gate.owner, "select pawl.create_token('other', sha256('other'), '{reader}')"));
    PQclear(bench_exec(
        gate.owner, "create procedure gate_commits() language plpgsql as 'begin commit; end'"));
    *state = &gate;
    return 0;
}

static int
tear_down(void **state)
{
    struct gate *gate = *state;

    do_sql(gate, "drop owned by ", "");
    do_sql(gate, "drop role ", "");
    PQfinish(gate->owner);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pipeline_acts_for_its_token_and_the_next_for_none),
        cmocka_unit_test(a_stamp_that_one_client_leaves_in_the_session_serves_no_other),
        cmocka_unit_test(a_procedure_that_commits_ends_what_was_said),
        cmocka_unit_test(a_stamp_in_the_settings_of_the_role_is_refused),
    };

    return cmocka_run_group_tests_name("gateway", tests, set_up, tear_down);
}
