/* SPDX-License-Identifier: Apache-2.0 */
/* A statement that is sent ahead of a request in its transaction, and clients that act as tokens. */
#include "fixture.h"

#include "base/sha256.h"
#include "base/time.h"
#include "pg/conn.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const struct pw_stmt first_stmt = {0, "first",
    "select set_config('test.first', (12 / $1)::text || ' ' || pg_current_xact_id(), true)",
    {PW_TYPE_INT4}, false};
static const struct pw_stmt look_stmt = {1, "look",
    "select split_part(current_setting('test.first', true), ' ', 1), "
    "coalesce(current_setting('test.first', true) like '% ' || pg_current_xact_id(), false)",
    {0}, false};
static const struct pw_stmt missing_stmt = {
    2, "missing", "select no_such_function($1)", {PW_TYPE_INT4}, false};
static const struct pw_stmt forget_stmt = {-1, "", "deallocate all", {0}, false};

static int64_t
soon(void)
{
    return pw_now_us() + 20 * INT64_C(1000000);
}

static struct pw_conn *
open_conn(bool never_prepare)
{
    const struct pw_conn_spec spec = {NULL, "tokens_test", never_prepare};
    struct pw_conn *conn = NULL;
    struct pw_error err = {0};

    assert_int_equal(pw_conn_open(&spec, &conn, &err), PAWL_OK);
    assert_int_equal(pw_conn_wait(conn, soon(), &err), PAWL_OK);
    return conn;
}

/* Sends a request after first_stmt, which divides 12 by a number; or alone if that is negative. */
static void
send(struct pw_conn *conn, const struct pw_stmt *stmt, int32_t number)
{
    struct pw_params none;
    struct pw_params one;
    const struct pw_conn_first first = {&first_stmt, &one};
    struct pw_error err = {0};

    pw_params_init(&none);
    pw_params_init(&one);
    pw_params_int4(&one, number);
    assert_int_equal(pw_conn_send_with(conn, number >= 0 ? &first : NULL, stmt,
                         stmt == &missing_stmt ? &one : &none, NULL, &err),
        PAWL_OK);
}

static struct pw_reply
take(struct pw_conn *conn)
{
    struct pw_reply reply;
    struct pw_error err = {0};

    assert_int_equal(pw_conn_wait(conn, soon(), &err), PAWL_OK);
    assert_true(pw_conn_take(conn, &reply));
    return reply;
}

/* The reply to look_stmt: the first statement has shared its transaction, and has left this text. "": there was none. */
static void
expect_look(struct pw_conn *conn, const char *text)
{
    struct pw_reply reply = take(conn);
    bool shared = false;
    const char *left;

    if (reply.status != PAWL_OK)
        fail_msg("%s", reply.error.message);
    left = pw_rows_text(&reply.rows, 0, 0);
    assert_string_equal(left != NULL ? left : "", text);
    assert_true(pw_rows_bool(&reply.rows, 0, 1, &shared));
    assert_int_equal(shared, text[0] != '\0');
    pw_reply_done(&reply);
}

static void
expect_error(struct pw_conn *conn, const char *sqlstate)
{
    struct pw_reply reply = take(conn);

    assert_int_not_equal(reply.status, PAWL_OK);
    assert_string_equal(reply.error.sqlstate, sqlstate);
    assert_int_equal(pw_rows_count(&reply.rows), 0);
    pw_reply_done(&reply);
}

static void
a_first_statement_shares_the_transaction_of_its_request_alone(void **state)
{
    static const struct {
        int32_t number;
        const char *left;
    } cases[] = {{3, "4"}, {-1, ""}, {4, "3"}, {0, NULL}, {6, "2"}};
    struct pw_conn *conn = open_conn(*state != NULL);
    size_t sent = 0;

    /* All in one flight, or one by one behind a pooler: each reply belongs to its own request. */
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (; sent < sizeof(cases) / sizeof(cases[0]) && pw_conn_can_send(conn); sent++)
            send(conn, &look_stmt, cases[sent].number);
        assert_true(pw_conn_pooled(conn) || sent == sizeof(cases) / sizeof(cases[0]));
        if (cases[i].left != NULL)
            expect_look(conn, cases[i].left);
        else
            expect_error(conn, "22012");
    }
    pw_conn_close(conn);
}

static void
a_first_statement_that_fails_is_why_its_request_was_not_executed(void **state)
{
    struct pw_conn *conn = open_conn(*state != NULL);

    /* The request could not even be prepared, and is when it is sent again. */
    for (int i = 0; i < 2; i++) {
        send(conn, &look_stmt, 0);
        expect_error(conn, "22012");
    }
    send(conn, &look_stmt, 1);
    expect_look(conn, "12");
    send(conn, &missing_stmt, 1);
    expect_error(conn, "42883");
    send(conn, &missing_stmt, 0);
    expect_error(conn, "22012");
    send(conn, &look_stmt, 12);
    expect_look(conn, "1");
    pw_conn_close(conn);
}

static void
prepared_statements_that_are_gone_are_not_prepared_again(void **state)
{
    struct pw_conn *conn = open_conn(false);
    struct pw_reply reply;

    (void)state;
    if (pw_conn_pooled(conn)) {
        pw_conn_close(conn);
        skip();
    }
    send(conn, &look_stmt, 1);
    expect_look(conn, "12");
    send(conn, &forget_stmt, -1);
    reply = take(conn);
    assert_int_equal(reply.status, PAWL_OK);
    pw_reply_done(&reply);
    send(conn, &look_stmt, 1);
    reply = take(conn);
    assert_string_equal(reply.error.sqlstate, "26000");
    assert_true(reply.error.retryable);
    pw_reply_done(&reply);
    send(conn, &look_stmt, 2);
    expect_look(conn, "6");
    pw_conn_close(conn);
}

/* --- clients --- */

static const char some_id[] = "01900000-0000-7000-8000-000000000000";

/* The database, and what a client is told by it. */
struct scene {
    PGconn *conn; /* a superuser */
    pawl_client *client;
    pawl_error *error;
    char run_id[PAWL_ID_SIZE];
};

static int
set_up(void **state)
{
    static struct scene scene;

    scene = (struct scene){.conn = bench_connect(), .client = fixture_client(NULL)};
    fixture_workflow(scene.conn, "tokens");
    *state = &scene;
    return 0;
}

static int
tear_down(void **state)
{
    struct scene *scene = *state;

    pawl_client_close(scene->client);
    PQfinish(scene->conn);
    return 0;
}

/* Creates a token whose text is its name. */
static void
create_token(struct scene *scene, const char *name, const char *rights, const char *tenant)
{
    const char *params[] = {name, rights, tenant};

    PQclear(bench_exec_params(scene->conn,
        "select pawl.create_token($1, sha256($1::text::bytea), $2::text[], $3)", 3, params));
}

static void
revoke_token(struct scene *scene, const char *name)
{
    const char *params[] = {name};

    PQclear(bench_exec_params(scene->conn, "select pawl.revoke_token($1)", 1, params));
}

/* All later calls are made as the token of this name; NULL: as the login. */
static void
act(struct scene *scene, const char *name)
{
    uint8_t digest[PW_SHA256_SIZE];
    struct pw_sha256_state sum;
    pawl_bytes bytes = {NULL, 0};

    if (name != NULL) {
        pw_sha256_init(&sum);
        pw_sha256_add(&sum, name, strlen(name));
        pw_sha256_end(&sum, digest);
        bytes = (pawl_bytes){(const char *)digest, sizeof(digest)};
    }
    fixture_expect(
        pawl_client_act_as_token(scene->client, bytes, &scene->error), PAWL_OK, &scene->error);
    /* The client has a copy. */
    memset(digest, 0, sizeof(digest));
}

static void
expect_refused(struct scene *scene, pawl_status status, const char *sqlstate)
{
    assert_int_equal(status, PAWL_EFORBIDDEN);
    assert_string_equal(pawl_error_sqlstate(scene->error), sqlstate);
    assert_false(pawl_error_retryable(scene->error));
    fixture_expect(status, PAWL_EFORBIDDEN, &scene->error);
}

static pawl_status
trigger(struct scene *scene, const char *tenant)
{
    pawl_trigger *trigger = pawl_trigger_new("tokens");
    pawl_status status;

    pawl_trigger_set(trigger, "tenant", tenant);
    status = pawl_client_trigger(scene->client, trigger, scene->run_id, NULL, &scene->error);
    pawl_trigger_free(trigger);
    return status;
}

static pawl_status
call(struct scene *scene, const char *verb, const char *name, const char *value)
{
    return pawl_client_call(
        scene->client, verb, &name, &value, name != NULL ? 1 : 0, NULL, &scene->error);
}

static void
each_call_has_the_rights_and_the_tenant_of_the_token(void **state)
{
    struct scene *scene = *state;
    const char *names[] = {"run"};
    const char *values[] = {scene->run_id};
    char others[PAWL_ID_SIZE];
    pawl_rows *rows = NULL;

    create_token(scene, "shop", "{producer}", "acme");
    create_token(scene, "desk", "{operator,reader}", NULL);
    fixture_expect(trigger(scene, "other"), PAWL_OK, &scene->error);
    memcpy(others, scene->run_id, sizeof(others));

    act(scene, "shop");
    fixture_expect(trigger(scene, NULL), PAWL_OK, &scene->error);
    assert_int_equal(
        fixture_count(scene->conn,
            "select count(*) from pawl.get_run($1::uuid) where tenant = 'acme'", scene->run_id),
        1);
    fixture_expect(pawl_client_wait(scene->client, scene->run_id, 0, NULL, &scene->error),
        PAWL_ETIMEOUT, &scene->error);
    fixture_expect(pawl_client_wait(scene->client, others, 0, NULL, &scene->error), PAWL_ENOTFOUND,
        &scene->error);
    fixture_expect(pawl_client_cancel(scene->client, others, NULL, 0, &scene->error),
        PAWL_ENOTFOUND, &scene->error);
    fixture_expect(
        pawl_client_signal(scene->client, scene->run_id, "go", pawl_text("1"), &scene->error),
        PAWL_OK, &scene->error);
    fixture_expect(
        pawl_client_emit(scene->client, "topic", NULL, NULL, pawl_text("1"), &scene->error),
        PAWL_OK, &scene->error);
    expect_refused(scene, call(scene, "pause_workflow", "name", "tokens"), "42501");
    expect_refused(scene, call(scene, "list_runs", NULL, NULL), "42501");
    expect_refused(
        scene, pawl_client_wake(scene->client, scene->run_id, NULL, NULL, &scene->error), "42501");

    act(scene, "desk");
    expect_refused(scene, trigger(scene, NULL), "42501");
    fixture_expect(
        pawl_client_call(scene->client, "get_run", names, values, 1, &rows, &scene->error), PAWL_OK,
        &scene->error);
    assert_int_equal(pawl_rows_count(rows), 1);
    pawl_rows_free(rows);
    fixture_expect(call(scene, "pause_workflow", "name", "tokens"), PAWL_OK, &scene->error);
    fixture_expect(call(scene, "resume_workflow", "name", "tokens"), PAWL_OK, &scene->error);
    assert_int_equal(fixture_count(scene->conn,
                         "select count(*) from pawl.list_actions() where who = 'token:desk'", NULL),
        2);

    act(scene, NULL);
    fixture_expect(trigger(scene, NULL), PAWL_OK, &scene->error);
}

static void
the_database_decides_about_a_token_at_each_call(void **state)
{
    struct scene *scene = *state;

    create_token(scene, "passing", "{producer,reader}", NULL);
    act(scene, "passing");
    fixture_expect(trigger(scene, NULL), PAWL_OK, &scene->error);
    bench_do(scene->conn,
        "select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = "
        "current_database() and pid <> pg_backend_pid()");
    fixture_expect(call(scene, "list_runs", NULL, NULL), PAWL_OK, &scene->error);
    revoke_token(scene, "passing");
    expect_refused(scene, trigger(scene, NULL), "28000");
    expect_refused(scene, call(scene, "now", NULL, NULL), "28000");
    act(scene, "never created");
    expect_refused(scene, trigger(scene, NULL), "28000");
}

static void *
revoke_soon(void *arg)
{
    (void)usleep(100000);
    revoke_token(arg, "waiting");
    return NULL;
}

static void
a_wait_ends_when_its_token_is_revoked(void **state)
{
    struct scene *scene = *state;
    pthread_t thread;
    pawl_status status;

    create_token(scene, "waiting", "{producer}", NULL);
    act(scene, "waiting");
    fixture_expect(trigger(scene, NULL), PAWL_OK, &scene->error);
    assert_int_equal(pthread_create(&thread, NULL, revoke_soon, scene), 0);
    status = pawl_client_wait(scene->client, scene->run_id, 600000, NULL, &scene->error);
    assert_int_equal(pthread_join(thread, NULL), 0);
    expect_refused(scene, status, "28000");
}

static void
a_gateway_does_nothing_without_a_token(void **state)
{
    struct scene *scene = *state;
    pawl_client *own = scene->client;
    char role[64];
    char database[80];
    char sql[200];
    const char *settings[] = {"database", database, NULL};

    (void)snprintf(role, sizeof(role), "tokens_gateway_%ld", (long)getpid());
    (void)snprintf(database, sizeof(database), "user=%s", role);
    (void)snprintf(sql, sizeof(sql),
        "create role %s login; select pawl.grant_role('%s', 'gateway')", role, role);
    bench_do(scene->conn, sql);
    create_token(scene, "page", "{reader}", NULL);

    /* The client asks for the clock when it opens, which needs no token. */
    scene->client = fixture_client(settings);
    expect_refused(scene, call(scene, "get_run", "run", some_id), "42501");
    expect_refused(scene, trigger(scene, NULL), "42501");
    act(scene, "page");
    fixture_expect(call(scene, "get_run", "run", some_id), PAWL_ENOTFOUND, &scene->error);
    expect_refused(scene, trigger(scene, NULL), "42501");
    act(scene, NULL);
    expect_refused(scene, call(scene, "get_run", "run", some_id), "42501");
    pawl_client_close(scene->client);
    scene->client = own;
    (void)snprintf(
        sql, sizeof(sql), "select pawl.revoke_role('%s', 'gateway'); drop role %s", role, role);
    bench_do(scene->conn, sql);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int
main(void)
{
    static int never;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_first_statement_shares_the_transaction_of_its_request_alone),
        cmocka_unit_test_prestate(
            a_first_statement_shares_the_transaction_of_its_request_alone, &never),
        cmocka_unit_test(a_first_statement_that_fails_is_why_its_request_was_not_executed),
        cmocka_unit_test_prestate(
            a_first_statement_that_fails_is_why_its_request_was_not_executed, &never),
        cmocka_unit_test(prepared_statements_that_are_gone_are_not_prepared_again),
        TEST(each_call_has_the_rights_and_the_tenant_of_the_token),
        TEST(the_database_decides_about_a_token_at_each_call),
        TEST(a_wait_ends_when_its_token_is_revoked),
        TEST(a_gateway_does_nothing_without_a_token),
    };

    return cmocka_run_group_tests_name("tokens", tests, NULL, NULL);
}
