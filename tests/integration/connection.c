/* SPDX-License-Identifier: Apache-2.0 */
/* The connection in pipeline mode against a real server, and against a real pooler. */
#include "cluster.h"
#include "fixture.h"

#include "base/time.h"
#include "pg/conn.h"

#include <pawl/error.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const struct pw_stmt echo_stmt = {0, "echo", "select $1, $2, $3, $4, $5, $6",
    {PW_TYPE_BOOL, PW_TYPE_INT4, PW_TYPE_INT8, PW_TYPE_TEXT, PW_TYPE_JSON, PW_TYPE_UUID}, false};
static const struct pw_stmt pid_stmt = {1, "pid", "select pg_backend_pid()", {0}, false};
static const struct pw_stmt divide_stmt = {2, "divide", "select 12 / $1", {PW_TYPE_INT4}, false};
static const struct pw_stmt missing_stmt = {
    3, "missing", "select nobody_made_this($1)", {PW_TYPE_INT4}, false};
static const struct pw_stmt forget_stmt = {-1, "", "deallocate all", {0}, false};
static const struct pw_stmt end_stmt = {
    4, "end_me", "select pg_terminate_backend(pg_backend_pid())", {0}, false};
static const struct pw_stmt arrays_stmt = {5, "arrays",
    "select $1::text, $2::text, $3::text, $4::text",
    {PW_TYPE_TEXT_ARRAY, PW_TYPE_INT4_ARRAY, PW_TYPE_UUID_ARRAY, PW_TYPE_JSON_ARRAY}, false};
static const struct pw_stmt length_stmt = {
    6, "length", "select length($1), repeat('x', $2)", {PW_TYPE_TEXT, PW_TYPE_INT4}, false};
static const struct pw_stmt noise_stmt = {-1, "",
    "do $$ begin raise notice 'one'; raise warning 'two' using detail = 'secret'; end $$", {0},
    false};
static const struct pw_stmt fail_stmt = {-1, "",
    "do $$ begin raise exception 'no' using errcode = 'PW007', detail = 'secret', hint = 'Look.'; "
    "end $$",
    {0}, false};
static const struct pw_stmt insert_stmt = {
    7, "insert", "insert into deferred values ($1)", {PW_TYPE_INT4}, false};
static const struct pw_stmt shape_stmt = {8, "shape", "select * from shape()", {0}, false};
static const struct pw_stmt notify_stmt = {
    9, "notify", "select pg_notify($1, $2)", {PW_TYPE_TEXT, PW_TYPE_TEXT}, false};
static const struct pw_stmt read_only_stmt = {
    -1, "", "select set_config('default_transaction_read_only', 'on', false)", {0}, false};

static const struct pw_stmt times_stmt = {10, "times",
    "select current_setting('client_min_messages') || ' ' || timestamptz '2026-02-03 04:05:06Z' at "
    "time zone 'UTC', interval '1 day 2 hours', current_setting('DateStyle')",
    {0}, true};

static int64_t
soon(void)
{
    return pw_now_us() + 20 * INT64_C(1000000);
}

static struct pw_conn *
open_conn(const char *conninfo, bool never_prepare)
{
    const struct pw_conn_spec spec = {conninfo, "connection_test", never_prepare};
    struct pw_conn *conn = NULL;
    struct pw_error err = {0};

    assert_int_equal(pw_conn_open(&spec, &conn, &err), PAWL_OK);
    if (pw_conn_wait(conn, soon(), &err) != PAWL_OK)
        fail_msg("no connection: %s", err.message);
    assert_int_equal(pw_conn_state(conn), PW_CONN_READY);
    return conn;
}

/* Sends and waits for the reply. */
static struct pw_reply
ask(struct pw_conn *conn, const struct pw_stmt *stmt, const struct pw_params *params)
{
    struct pw_params none;
    struct pw_reply reply;
    struct pw_error err = {0};

    pw_params_init(&none);
    assert_int_equal(
        pw_conn_send(conn, stmt, params != NULL ? params : &none, &reply, &err), PAWL_OK);
    if (pw_conn_wait(conn, soon(), &err) != PAWL_OK)
        fail_msg("no reply: %s", err.message);
    assert_true(pw_conn_take(conn, &reply));
    return reply;
}

static int32_t
ask_pid(struct pw_conn *conn)
{
    struct pw_reply reply = ask(conn, &pid_stmt, NULL);
    int32_t pid = 0;

    assert_int_equal(reply.status, PAWL_OK);
    assert_true(pw_rows_int4(&reply.rows, 0, 0, &pid));
    pw_reply_done(&reply);
    return pid;
}

static void
values_come_back_as_they_were_sent(void **state)
{
    const struct pw_uuid id = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 255}};
    struct pw_conn *conn = open_conn(NULL, *state != NULL);
    struct pw_params params;
    struct pw_reply reply;
    struct pw_uuid id_back;
    bool truth;
    int32_t small;
    int64_t large;
    const char *data;
    size_t size;

    pw_params_init(&params);
    pw_params_bool(&params, true);
    pw_params_int4(&params, -7);
    pw_params_int8(&params, INT64_MIN);
    pw_params_text(&params, "a \xc3\xa9");
    pw_params_bytes(&params, "{ \"x\" : 1 } ignored", 11);
    pw_params_uuid(&params, &id);
    for (int i = 0; i < 2; i++) {
        reply = ask(conn, &echo_stmt, &params);
        assert_int_equal(reply.status, PAWL_OK);
        assert_true(pw_rows_bool(&reply.rows, 0, 0, &truth) && truth);
        assert_true(pw_rows_int4(&reply.rows, 0, 1, &small) && small == -7);
        assert_true(pw_rows_int8(&reply.rows, 0, 2, &large) && large == INT64_MIN);
        assert_string_equal(pw_rows_text(&reply.rows, 0, 3), "a \xc3\xa9");
        assert_true(pw_rows_bytes(&reply.rows, 0, 4, &data, &size));
        assert_int_equal(size, 11);
        assert_string_equal(data, "{ \"x\" : 1 }");
        assert_true(pw_rows_uuid(&reply.rows, 0, 5, &id_back) && pw_uuid_equal(&id, &id_back));
        assert_false(pw_rows_int4(&reply.rows, 0, 2, &small));
        assert_null(pw_rows_text(&reply.rows, 0, 1));
        pw_reply_done(&reply);
    }
    pw_params_init(&params);
    for (int i = 0; i < 6; i++)
        pw_params_null(&params);
    reply = ask(conn, &echo_stmt, &params);
    for (int i = 0; i < 6; i++)
        assert_null(pw_rows_text(&reply.rows, 0, i));
    pw_reply_done(&reply);
    pw_conn_close(conn);
}

static void
the_server_reads_arrays_as_they_were_sent(void **state)
{
    const struct pw_uuid id = {{9}};
    struct pw_conn *conn = open_conn(NULL, false);
    struct pw_array arrays[4];
    struct pw_params params;
    struct pw_reply reply;

    (void)state;
    for (int i = 0; i < 4; i++)
        pw_array_init(&arrays[i], 1000);
    pw_array_begin(&arrays[0], PW_TYPE_TEXT);
    pw_array_bytes(&arrays[0], "one", 3);
    pw_array_null(&arrays[0]);
    pw_array_bytes(&arrays[0], "", 0);
    pw_array_begin(&arrays[1], PW_TYPE_INT4);
    pw_array_int4(&arrays[1], 258);
    pw_array_begin(&arrays[2], PW_TYPE_UUID);
    pw_array_uuid(&arrays[2], &id);
    pw_array_begin(&arrays[3], PW_TYPE_JSON);
    pw_params_init(&params);
    for (int i = 0; i < 4; i++)
        pw_params_array(&params, &arrays[i]);
    reply = ask(conn, &arrays_stmt, &params);
    assert_int_equal(reply.status, PAWL_OK);
    assert_string_equal(pw_rows_text(&reply.rows, 0, 0), "{one,NULL,\"\"}");
    assert_string_equal(pw_rows_text(&reply.rows, 0, 1), "{258}");
    assert_string_equal(pw_rows_text(&reply.rows, 0, 2), "{09000000-0000-0000-0000-000000000000}");
    assert_string_equal(pw_rows_text(&reply.rows, 0, 3), "{}");
    pw_reply_done(&reply);
    for (int i = 0; i < 4; i++)
        pw_array_done(&arrays[i]);
    pw_conn_close(conn);
}

static void
requests_are_answered_in_order_and_fail_alone(void **state)
{
    enum {
        MANY = 600
    };
    struct pw_conn *conn = open_conn(NULL, false);
    struct pw_error err = {0};
    int taken = 0;

    (void)state;
    for (intptr_t i = 0; i < MANY; i++) {
        struct pw_params params;

        pw_params_init(&params);
        pw_params_int4(&params, (int32_t)(i % 3));
        assert_int_equal(pw_conn_send(conn, &divide_stmt, &params, (void *)i, &err), PAWL_OK);
    }
    assert_int_equal(pw_conn_in_flight(conn), MANY);
    while (taken < MANY) {
        struct pw_reply reply;

        assert_int_equal(pw_conn_wait(conn, soon(), &err), PAWL_OK);
        while (pw_conn_take(conn, &reply)) {
            int32_t value = 0;

            assert_int_equal((intptr_t)reply.tag, taken);
            if (taken % 3 == 0) {
                assert_int_equal(reply.status, PAWL_EINVAL);
                assert_string_equal(reply.error.sqlstate, "22012");
                assert_int_equal(pw_rows_count(&reply.rows), 0);
            } else {
                assert_int_equal(reply.status, PAWL_OK);
                assert_true(pw_rows_int4(&reply.rows, 0, 0, &value) && value == 12 / (taken % 3));
            }
            pw_reply_done(&reply);
            taken++;
        }
    }
    assert_int_equal(pw_conn_in_flight(conn), 0);
    pw_conn_close(conn);
}

static void
too_many_requests_at_once_are_refused(void **state)
{
    struct pw_conn *conn = open_conn(NULL, false);
    struct pw_error err = {0};
    struct pw_params none;
    int sent = 0;

    (void)state;
    pw_params_init(&none);
    while (pw_conn_send(conn, &pid_stmt, &none, NULL, &err) == PAWL_OK)
        sent++;
    assert_int_equal(sent, PW_CONN_IN_FLIGHT_MAX);
    assert_int_equal(err.code, PAWL_EBUSY);
    pw_conn_close(conn);
}

static void
a_statement_that_cannot_be_prepared_is_tried_anew(void **state)
{
    struct pw_conn *conn = open_conn(NULL, false);
    struct pw_params params;
    struct pw_reply reply;

    (void)state;
    pw_params_init(&params);
    pw_params_int4(&params, 1);
    for (int i = 0; i < 2; i++) {
        reply = ask(conn, &missing_stmt, &params);
        assert_int_equal(reply.status, PAWL_ESCHEMA);
        assert_string_equal(reply.error.sqlstate, "42883");
        pw_reply_done(&reply);
    }
    pw_conn_close(conn);
}

static void
a_prepared_statement_that_is_gone_is_not_prepared_again(void **state)
{
    struct pw_conn *conn = open_conn(NULL, false);
    struct pw_reply reply;

    (void)state;
    (void)ask_pid(conn);
    reply = ask(conn, &forget_stmt, NULL);
    assert_int_equal(reply.status, PAWL_OK);
    pw_reply_done(&reply);
    reply = ask(conn, &pid_stmt, NULL);
    assert_string_equal(reply.error.sqlstate, "26000");
    assert_true(reply.error.retryable);
    pw_reply_done(&reply);
    (void)ask_pid(conn);
    assert_false(pw_conn_pooled(conn));
    pw_conn_close(conn);
}

static void
a_function_that_was_replaced_under_a_prepared_statement_can_be_called_again(void **state)
{
    struct pw_conn *conn = open_conn(NULL, false);
    PGconn *other = bench_connect();
    struct pw_reply reply;

    (void)state;
    bench_do(other, "create function shape() returns table (a int) language sql as 'select 1'");
    reply = ask(conn, &shape_stmt, NULL);
    assert_int_equal(reply.status, PAWL_OK);
    pw_reply_done(&reply);
    bench_do(other, "drop function shape()");
    bench_do(other,
        "create function shape() returns table (a int, b int) language sql as 'select 1, 2'");
    reply = ask(conn, &shape_stmt, NULL);
    assert_string_equal(reply.error.sqlstate, "0A000");
    assert_true(reply.error.retryable);
    pw_reply_done(&reply);
    reply = ask(conn, &shape_stmt, NULL);
    assert_int_equal(reply.status, PAWL_OK);
    assert_int_equal(pw_rows_columns(&reply.rows), 2);
    assert_string_equal(pw_rows_name(&reply.rows, 1), "b");
    assert_null(pw_rows_name(&reply.rows, 2));
    pw_reply_done(&reply);
    bench_do(other, "drop function shape()");
    PQfinish(other);
    pw_conn_close(conn);
}

static void
an_error_at_the_commit_is_an_error_of_the_request(void **state)
{
    struct pw_conn *conn = open_conn(NULL, false);
    PGconn *other = bench_connect();
    struct pw_params params;
    struct pw_reply reply;

    (void)state;
    bench_do(other, "create table deferred (n int unique deferrable initially deferred)");
    pw_params_init(&params);
    pw_params_int4(&params, 1);
    reply = ask(conn, &insert_stmt, &params);
    assert_int_equal(reply.status, PAWL_OK);
    pw_reply_done(&reply);
    reply = ask(conn, &insert_stmt, &params);
    assert_int_equal(reply.status, PAWL_EDATABASE);
    assert_string_equal(reply.error.sqlstate, "23505");
    pw_reply_done(&reply);
    (void)ask_pid(conn);
    bench_do(other, "drop table deferred");
    PQfinish(other);
    pw_conn_close(conn);
}

static void
errors_show_message_and_hint_and_nothing_that_users_stored(void **state)
{
    struct pw_conn *conn = open_conn(NULL, false);
    struct pw_reply reply;

    (void)state;
    reply = ask(conn, &noise_stmt, NULL);
    assert_int_equal(reply.status, PAWL_OK);
    assert_false(reply.unreplicated);
    pw_reply_done(&reply);
    reply = ask(conn, &fail_stmt, NULL);
    assert_int_equal(reply.status, PAWL_EREFUSED);
    assert_string_equal(reply.error.message, "no");
    assert_string_equal(reply.error.hint, "Look.");
    pw_reply_done(&reply);
    pw_conn_close(conn);
}

static void
large_requests_and_replies_pass_without_blocking(void **state)
{
    enum {
        SIZE = 6000000
    };
    struct pw_conn *conn = open_conn(NULL, false);
    char *text = malloc(SIZE);
    struct pw_error err = {0};
    int taken = 0;

    (void)state;
    memset(text, 'y', SIZE);
    for (int i = 0; i < 4; i++) {
        struct pw_params params;

        pw_params_init(&params);
        pw_params_bytes(&params, text, SIZE);
        pw_params_int4(&params, SIZE);
        assert_int_equal(pw_conn_send(conn, &length_stmt, &params, NULL, &err), PAWL_OK);
    }
    /* More than the socket takes is left to be written. */
    assert_int_equal(pw_conn_events(conn), POLLIN | POLLOUT);
    while (taken < 4) {
        struct pw_reply reply;
        int32_t length = 0;

        assert_int_equal(pw_conn_wait(conn, soon(), &err), PAWL_OK);
        while (pw_conn_take(conn, &reply)) {
            assert_true(pw_rows_int4(&reply.rows, 0, 0, &length) && length == SIZE);
            assert_int_equal(strlen(pw_rows_text(&reply.rows, 0, 1)), SIZE);
            pw_reply_done(&reply);
            taken++;
        }
    }
    assert_int_equal(pw_conn_events(conn), POLLIN);
    free(text);
    pw_conn_close(conn);
}

static void
a_session_hears_what_it_listens_to(void **state)
{
    struct pw_conn *conn = open_conn(NULL, false);
    struct pw_params params;
    struct pw_error err = {0};
    struct pw_reply reply;
    char payload[8];

    (void)state;
    assert_int_equal(pw_conn_listen(conn, 4294967299, true, NULL, &err), PAWL_OK);
    assert_int_equal(pw_conn_wait(conn, soon(), &err), PAWL_OK);
    assert_true(pw_conn_take(conn, &reply));
    assert_int_equal(reply.status, PAWL_OK);
    pw_reply_done(&reply);
    assert_false(pw_conn_notified(conn, payload, sizeof(payload)));
    pw_params_init(&params);
    pw_params_text(&params, "pawl_4294967299");
    pw_params_text(&params, "long \xc3\xa9\xc3\xa9\xc3\xa9");
    reply = ask(conn, &notify_stmt, &params);
    pw_reply_done(&reply);
    for (int64_t until_us = soon(); !pw_conn_notified(conn, payload, sizeof(payload));) {
        struct pollfd ready = {.fd = pw_conn_fd(conn), .events = pw_conn_events(conn)};

        assert_true(pw_now_us() < until_us);
        (void)poll(&ready, 1, 1000);
        pw_conn_pump(conn);
    }
    assert_string_equal(payload, "long \xc3\xa9");
    pw_conn_close(conn);
}

static void
a_connection_that_the_server_ends_is_broken_with_its_reason(void **state)
{
    struct pw_conn *conn = open_conn(NULL, false);
    PGconn *other = bench_connect();
    struct pw_params none;
    struct pw_reply reply;
    struct pw_error err = {0};
    char sql[64];

    (void)state;
    pw_params_init(&none);
    /* What was answered before the end is still there. */
    assert_int_equal(pw_conn_send(conn, &pid_stmt, &none, NULL, &err), PAWL_OK);
    assert_int_equal(pw_conn_send(conn, &end_stmt, &none, NULL, &err), PAWL_OK);
    while (pw_conn_state(conn) != PW_CONN_BROKEN) {
        struct pollfd ready = {.fd = pw_conn_fd(conn), .events = pw_conn_events(conn)};

        (void)poll(&ready, 1, 1000);
        pw_conn_pump(conn);
    }
    assert_true(pw_conn_take(conn, &reply));
    assert_int_equal(reply.status, PAWL_OK);
    pw_reply_done(&reply);
    assert_false(pw_conn_take(conn, &reply));
    assert_int_equal(pw_conn_in_flight(conn), 1);
    assert_int_equal(pw_conn_error(conn)->code, PAWL_ECONN);
    assert_string_equal(pw_conn_error(conn)->sqlstate, "57P01");
    assert_true(pw_conn_error(conn)->retryable);
    assert_int_equal(pw_conn_send(conn, &pid_stmt, &none, NULL, &err), PAWL_ECONN);
    assert_int_equal(pw_conn_wait(conn, soon(), &err), PAWL_ECONN);
    pw_conn_close(conn);

    conn = open_conn(NULL, false);
    (void)snprintf(sql, sizeof(sql), "select pg_terminate_backend(%d)", (int)ask_pid(conn));
    bench_do(other, sql);
    assert_int_equal(pw_conn_send(conn, &pid_stmt, &none, NULL, &err), PAWL_OK);
    assert_int_equal(pw_conn_wait(conn, soon(), &err), PAWL_ECONN);
    assert_string_equal(err.sqlstate, "57P01");
    pw_conn_close(conn);
    PQfinish(other);
}

static void
a_server_that_may_not_write_is_no_connection(void **state)
{
    struct pw_conn *conn = open_conn(NULL, false);
    PGconn *other = bench_connect();
    struct pw_params params;
    struct pw_reply reply;

    (void)state;
    bench_do(other, "create table deferred (n int)");
    reply = ask(conn, &read_only_stmt, NULL);
    pw_reply_done(&reply);
    pw_params_init(&params);
    pw_params_int4(&params, 1);
    reply = ask(conn, &insert_stmt, &params);
    assert_int_equal(reply.status, PAWL_ECONN);
    assert_true(reply.error.retryable);
    pw_reply_done(&reply);
    bench_do(other, "drop table deferred");
    PQfinish(other);
    pw_conn_close(conn);
}

static void
an_abandoned_connection_goes_on_in_the_parent(void **state)
{
    struct pw_conn *conn = open_conn(NULL, false);
    int32_t pid = ask_pid(conn);

    (void)state;
    for (int close_it = 0; close_it < 2; close_it++) {
        int child_status = -1;
        pid_t child = fork();

        if (child == 0) {
            if (close_it)
                pw_conn_close(conn);
            else
                pw_conn_abandon(conn);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &child_status, 0), child);
        assert_int_equal(child_status, 0);
        assert_int_equal(ask_pid(conn), pid);
    }
    pw_conn_abandon(NULL);
    pw_conn_close(conn);
    pw_conn_close(NULL);
}

static void
a_wait_ends_with_its_deadline(void **state)
{
    static const struct pw_stmt sleep_stmt = {-1, "", "select pg_sleep(30)", {0}, false};
    struct pw_conn *conn = open_conn(NULL, false);
    struct pw_params none;
    struct pw_error err = {0};
    int64_t began_us = pw_now_us();

    (void)state;
    pw_params_init(&none);
    assert_int_equal(pw_conn_send(conn, &sleep_stmt, &none, NULL, &err), PAWL_OK);
    assert_int_equal(pw_conn_wait(conn, pw_now_us() + 50000, &err), PAWL_ETIMEOUT);
    assert_true(pw_now_us() - began_us >= 50000);
    pw_conn_close(conn);
}

/* Three times, so that one finds the statement prepared. */
static void
expect_usual_times(struct pw_conn *conn)
{
    for (int i = 0; i < 3; i++) {
        struct pw_reply reply = ask(conn, &times_stmt, NULL);

        assert_int_equal(reply.status, PAWL_OK);
        assert_string_equal(pw_rows_text(&reply.rows, 0, 0), "warning 2026-02-03 04:05:06");
        assert_string_equal(pw_rows_text(&reply.rows, 0, 1), "1 day 02:00:00");
        assert_string_equal(pw_rows_text(&reply.rows, 0, 2), "ISO, DMY");
        pw_reply_done(&reply);
    }
}

static void
warnings_and_times_do_not_depend_on_settings_of_the_session(void **state)
{
    static const char *const settings[] = {
        "-c datestyle=German", "-c intervalstyle=iso_8601", "-c client_min_messages=error"};
    char conninfo[128];

    (void)state;
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        struct pw_conn *conn;

        (void)snprintf(
            conninfo, sizeof(conninfo), "options='-c datestyle=ISO,DMY %s'", settings[i]);
        conn = open_conn(conninfo, false);
        expect_usual_times(conn);
        pw_conn_close(conn);
    }
}

static void
a_pooler_is_noticed_and_nothing_is_prepared(void **state)
{
    static const char *const settings[] = {"datestyle=SQL, DMY", "client_min_messages=error", NULL};
    const struct cluster_options options = {.pawl = true, .pooled = true, .settings = settings};
    static struct cluster cluster;
    char direct[cluster_name_bytes * 2 + 64];
    char run_id[PAWL_ID_SIZE];
    PGconn *other;
    struct pw_conn *conn;
    pawl_client *client;

    (void)state;
    cluster_open(&cluster, &options);
    cluster_use(&cluster);
    conn = open_conn(NULL, false);
    assert_true(pw_conn_pooled(conn));
    for (int i = 0; i < 10; i++)
        (void)ask_pid(conn);
    expect_usual_times(conn);
    (void)snprintf(
        direct, sizeof(direct), "host=%s port=%s", cluster.direct_host, cluster.direct_port);
    pw_conn_close(conn);
    conn = open_conn(direct, true);
    assert_false(pw_conn_pooled(conn));
    (void)ask_pid(conn);
    pw_conn_close(conn);

    other = bench_connect();
    fixture_workflow(other, "pooled");
    client = fixture_client(NULL);
    for (int i = 0; i < 20; i++)
        fixture_trigger(client, "pooled", run_id);
    assert_int_equal(fixture_count(other,
                         "select count(*) from pawl.list_runs(only_workflow => 'pooled')", NULL),
        20);
    assert_int_equal(fixture_count(other, "select count(*) from pg_prepared_statements", NULL), 0);
    pawl_client_close(client);
    PQfinish(other);
    cluster_close(&cluster);
}

static void
a_database_in_another_encoding_is_refused_with_what_to_do(void **state)
{
    const struct pw_conn_spec spec = {"dbname=connection_latin1", "connection_test", false};
    PGconn *owner = bench_connect();
    struct pw_conn *conn = NULL;
    struct pw_error err = {0};

    (void)state;
    bench_do(owner, "drop database if exists connection_latin1");
    bench_do(owner,
        "create database connection_latin1 encoding 'LATIN1' lc_collate 'C' lc_ctype 'C' template "
        "template0");
    assert_int_equal(pw_conn_open(&spec, &conn, &err), PAWL_OK);
    assert_int_equal(pw_conn_wait(conn, soon(), &err), PAWL_ECONN);
    assert_int_equal(err.code, PAWL_ESCHEMA);
    assert_int_equal(pw_conn_state(conn), PW_CONN_BROKEN);
    assert_non_null(strstr(err.message, "LATIN1"));
    assert_non_null(strstr(err.hint, "encoding 'UTF8'"));
    assert_false(err.retryable);
    pw_conn_close(conn);
    bench_do(owner, "drop database connection_latin1");
    PQfinish(owner);
}

int
main(void)
{
    static int never;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_come_back_as_they_were_sent),
        cmocka_unit_test_prestate(values_come_back_as_they_were_sent, &never),
        cmocka_unit_test(the_server_reads_arrays_as_they_were_sent),
        cmocka_unit_test(requests_are_answered_in_order_and_fail_alone),
        cmocka_unit_test(too_many_requests_at_once_are_refused),
        cmocka_unit_test(a_statement_that_cannot_be_prepared_is_tried_anew),
        cmocka_unit_test(a_prepared_statement_that_is_gone_is_not_prepared_again),
        cmocka_unit_test(
            a_function_that_was_replaced_under_a_prepared_statement_can_be_called_again),
        cmocka_unit_test(an_error_at_the_commit_is_an_error_of_the_request),
        cmocka_unit_test(errors_show_message_and_hint_and_nothing_that_users_stored),
        cmocka_unit_test(large_requests_and_replies_pass_without_blocking),
        cmocka_unit_test(a_session_hears_what_it_listens_to),
        cmocka_unit_test(a_connection_that_the_server_ends_is_broken_with_its_reason),
        cmocka_unit_test(a_server_that_may_not_write_is_no_connection),
        cmocka_unit_test(a_database_in_another_encoding_is_refused_with_what_to_do),
        cmocka_unit_test(an_abandoned_connection_goes_on_in_the_parent),
        cmocka_unit_test(a_wait_ends_with_its_deadline),
        cmocka_unit_test(warnings_and_times_do_not_depend_on_settings_of_the_session),
        cmocka_unit_test(a_pooler_is_noticed_and_nothing_is_prepared),
    };

    fixture_go_direct();
    return cmocka_run_group_tests_name("connection", tests, NULL, NULL);
}
