/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Databases with defaults that are not PostgreSQL's own: another isolation level, transactions that only read. The library works there, or
 * reports what is in its way.
 */
#include "race.h"
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool is_pooled;

/* Sets a default of the database for sessions that begin from now on; NULL: that of the server again. */
static void
set_default(struct scene *scene, const char *name, const char *value)
{
    char sql[300];

    (void)snprintf(sql, sizeof(sql),
        "do $$ begin execute format('alter database %%I %s %s%s%s', current_database()); end $$",
        value != NULL ? "set" : "reset", name, value != NULL ? " to " : "",
        value != NULL ? value : "");
    scene_do(scene, sql, NULL);
}

static pawl_status
two(pawl_run *run, void *userdata, pawl_bytes *output)
{
    (void)run;
    (void)userdata;
    *output = pawl_text("2");
    return PAWL_OK;
}

static pawl_status
step_and_sleep(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_status status;

    (void)input;
    if ((status = pawl_step(run, "two", two, NULL, output)) != PAWL_OK)
        return status;
    return pawl_sleep(run, "nap", 10);
}

static void
check_isolation(struct scene *scene, const char *level)
{
    pawl_error *error = NULL;

    if (is_pooled)
        skip();
    set_default(scene, "default_transaction_isolation", level);
    /* The client of the scene was connected before. */
    pawl_client_close(scene->client);
    scene->client = NULL;
    assert_int_equal(pawl_client_open(scene->config, &scene->client, &error), PAWL_OK);
    scene_handle(scene, "defaults.run", step_and_sleep, NULL);
    scene_work(scene);
    scene_trigger(scene, "defaults.run", "{}");
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "2");
    assert_int_equal(
        pawl_client_cancel(scene->client, scene->run_id, "too late", 0, &error), PAWL_EREFUSED);
    pawl_error_free(error);
    (void)scene_rest(scene);
    set_default(scene, "default_transaction_isolation", NULL);
}

static void
a_worker_and_a_client_work_where_the_default_is_repeatable_read(void **state)
{
    check_isolation(*state, "''repeatable read''");
}

static void
a_worker_and_a_client_work_where_the_default_is_serializable(void **state)
{
    check_isolation(*state, "''serializable''");
}

static void
a_caller_above_read_committed_is_told_of_its_default(void **state)
{
    struct scene *scene = *state;
    PGresult *res;

    scene_do(scene, "set default_transaction_isolation to 'serializable'", NULL);
    res = PQexec(scene->conn, "select * from pawl.register('w', '{*}')");
    assert_string_equal(PQresultErrorField(res, PG_DIAG_SQLSTATE), "PW008");
    scene_has(PQresultErrorField(res, PG_DIAG_MESSAGE_HINT),
        "alter role NAME set default_transaction_isolation to 'read committed'");
    PQclear(res);
    scene_do(scene, "reset default_transaction_isolation", NULL);
    bench_do(scene->conn, "begin isolation level serializable");
    res = PQexec(scene->conn, "select * from pawl.register('w', '{*}')");
    assert_string_equal(PQresultErrorField(res, PG_DIAG_MESSAGE_HINT),
        "Call it in a transaction of its own, or begin with isolation level read committed.");
    PQclear(res);
    bench_do(scene->conn, "rollback");
}

static void
a_default_of_read_only_is_reported_and_its_end_is_noticed(void **state)
{
    struct scene *scene = *state;
    pawl_trigger *trigger = pawl_trigger_new("defaults.read");
    pawl_config *config = pawl_config_new();
    pawl_client *client = NULL;
    pawl_error *error = NULL;
    pawl_rows *rows = NULL;

    if (is_pooled)
        skip();
    scene_do(scene, "select pawl.create_workflow('defaults.read')", NULL);
    set_default(scene, "default_transaction_read_only", "on");
    scene_do(scene, "set default_transaction_read_only to off", NULL);
    assert_int_equal(pawl_config_set(config, "call_timeout", "3s", &error), PAWL_OK);
    assert_int_equal(pawl_client_open(config, &client, &error), PAWL_OK);
    /* Reading works. */
    assert_int_equal(pawl_client_call(client, "list_runs", NULL, NULL, 0, &rows, &error), PAWL_OK);
    pawl_rows_free(rows);
    assert_int_equal(pawl_client_trigger(client, trigger, NULL, NULL, &error), PAWL_ECONN);
    scene_has(pawl_error_message(error), "default_transaction_read_only is on");
    scene_has(pawl_error_hint(error), "alter role NAME set default_transaction_read_only to off");
    pawl_error_free(error);
    scene_set(scene, "connect_timeout", "3s");
    scene_handle(scene, "defaults.read", step_and_sleep, NULL);
    assert_int_equal(pawl_worker_start(scene->worker, &error), PAWL_ECONN);
    scene_has(pawl_error_message(error), "default_transaction_read_only is on");
    pawl_error_free(error);
    set_default(scene, "default_transaction_read_only", NULL);
    assert_int_equal(pawl_client_trigger(client, trigger, NULL, NULL, &error), PAWL_OK);
    assert_int_equal(pawl_worker_start(scene->worker, &error), PAWL_OK);
    pawl_client_close(client);
    pawl_config_free(config);
    pawl_trigger_free(trigger);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_set_up, scene_tear_down)
        TEST(a_worker_and_a_client_work_where_the_default_is_repeatable_read),
        TEST(a_worker_and_a_client_work_where_the_default_is_serializable),
        TEST(a_caller_above_read_committed_is_told_of_its_default),
        TEST(a_default_of_read_only_is_reported_and_its_end_is_noticed),
#undef TEST
    };

    is_pooled = getenv("PAWL_DIRECT_PGHOST") != NULL;
    return cmocka_run_group_tests_name("defaults", tests, NULL, NULL);
}
