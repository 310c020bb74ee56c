/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker and a client log, at the most talkative level: never a payload, never a password. */
#include "race.h"
#include "scene.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Planted wherever a payload or a password may stand. */
#define MARK "m4rk3r"

static pawl_status
secret(pawl_run *run, void *userdata, pawl_bytes *output)
{
    const char *what = userdata;

    pawl_run_log(run, "note " MARK);
    if (strcmp(what, "bad") == 0)
        *output = pawl_text("{not json " MARK);
    else if (strcmp(what, "fails") == 0)
        pawl_run_set_error(run, "code", "message " MARK);
    else
        *output = pawl_text("\"" MARK "\"");
    return strcmp(what, "fails") == 0 ? PAWL_EPERMANENT : PAWL_OK;
}

/* Everything that has a payload, and some of it wrong. */
static pawl_status
careless(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    char good[] = "good", bad[] = "bad", fails[] = "fails";
    pawl_status status;

    if ((status = pawl_step(run, "good", secret, good, output)) != PAWL_OK ||
        (status = pawl_step(run, "bad", secret, bad, NULL)) == PAWL_OK ||
        (status = pawl_step(run, "fails", secret, fails, NULL)) == PAWL_OK)
        return status == PAWL_OK ? PAWL_EPERMANENT : status;
    if (pawl_run_execution(run) > 2)
        return PAWL_OK;
    pawl_run_set_option(run, "match", "{\"/id\": \"" MARK "\"}");
    if ((status = pawl_wait_event(run, "event", "logs.topic", -1, NULL)) != PAWL_OK ||
        (status = pawl_child_detached(run, "child", "logs.child", input, NULL)) != PAWL_OK)
        return status;
    *output = pawl_text("{\"broken\": " MARK);
    return PAWL_OK;
}

static void
check_log(struct scene *scene)
{
    (void)pthread_mutex_lock(&scene->log_lock);
    if (strstr(scene->log, MARK) != NULL)
        fail_msg("a secret is in the log: %s", scene->log);
    (void)pthread_mutex_unlock(&scene->log_lock);
}

static void
payloads_are_in_no_field(void **state)
{
    struct scene *scene = *state;

    scene_set(scene, "lease", "600ms");
    scene_set(scene, "database", "password=" MARK);
    scene_handle(scene, "logs.careless", careless, NULL);
    scene_work(scene);
    scene_do(scene, "select pawl.create_workflow('logs.child')", NULL);
    scene_trigger(scene, "logs.careless", "{\"in\": \"" MARK "\"}");
    scene_until(scene, "select t.state($1) = 'PAUSED event'", scene->run_id);
    scene_do(scene, "select pawl.emit('logs.topic', '{\"id\": \"" MARK "\"}')", NULL);
    /* Its output is no JSON, so it ends with an error, which has the payload's name but not the payload. */
    (void)scene_wait(scene, scene->run_id, PAWL_ERUN);
    scene_until_logged(scene, "worker_registered");
    check_log(scene);
}

static void
what_happens_to_connections_and_leases_tells_no_password(void **state)
{
    struct scene *scene = *state;

    /* A pooler keeps its connections for itself. */
    if (getenv("PAWL_DIRECT_PGHOST") != NULL)
        skip();
    scene_set(scene, "lease", "600ms");
    scene_set(scene, "database", "password=" MARK " application_name=logs_test");
    scene_handle(scene, "logs.cut", careless, NULL);
    scene_work(scene);
    scene_do(scene,
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = "
        "'logs_test' and datname = current_database()",
        NULL);
    scene_until_logged(scene, "connection_lost");
    scene_do(scene, "select pawl.raise_epoch('test')", NULL);
    scene_until_logged(scene, "session_lost");
    check_log(scene);
}

/* Every error that opening with these settings gives. */
static void
check_refusal(struct scene *scene, const char *database)
{
    pawl_error *error = NULL;
    pawl_client *client = NULL;
    pawl_status status = pawl_config_set(scene->config, "database", database, &error);

    if (status == PAWL_OK) {
        scene_set(scene, "connect_timeout", "100ms");
        scene_set(scene, "call_timeout", "100ms");
        status = pawl_client_open(scene->config, &client, &error);
    }
    assert_int_not_equal(status, PAWL_OK);
    assert_null(strstr(pawl_error_message(error), MARK));
    assert_null(strstr(pawl_error_hint(error), MARK));
    pawl_error_free(error);
    pawl_client_close(client);
}

static void
a_connection_that_is_refused_tells_no_password(void **state)
{
    struct scene *scene = *state;
    pawl_error *error = NULL;

    check_refusal(scene, "postgresql://someone:" MARK "@127.0.0.1:1/nowhere");
    check_refusal(scene, "postgresql://someone:" MARK "@nowhere.invalid/x?bad_option=1");
    check_refusal(scene, "host=/nowhere password=" MARK);
    check_refusal(scene, "host=/nowhere password='" MARK);
    check_refusal(scene, "password=" MARK " dbname=there_is_no_such_database");
    scene_set(scene, "database", "host=/nowhere password=" MARK);
    scene_handle(scene, "logs.nowhere", careless, NULL);
    assert_int_equal(pawl_worker_start(scene->worker, &error), PAWL_ECONN);
    assert_null(strstr(pawl_error_message(error), MARK));
    pawl_error_free(error);
    check_log(scene);
}

/* Returns true if the lines that are kept have one of this event; takes all of them. */
static bool
fetch(struct scene *scene, const char *event)
{
    const pawl_log_line *line = NULL;
    bool found = false;

    while (pawl_worker_log_next(scene->worker, &line) == PAWL_OK) {
        assert_true(line->level <= PAWL_LOG_INFO && line->at_us > 0);
        assert_int_equal(line->dropped, 0);
        found = found || strcmp(line->event, event) == 0;
    }
    return found;
}

static void
lines_are_kept_until_they_are_fetched(void **state)
{
    struct scene *scene = *state;
    struct pollfd ready = {.events = POLLIN};
    const pawl_log_line *line = NULL;

    pawl_config_keep_log(scene->config, PAWL_LOG_INFO);
    scene_set(scene, "application_name", "logs_kept");
    scene_handle(scene, "logs.kept", NULL, NULL);
    assert_int_equal(pawl_worker_log_next(scene->worker, &line), PAWL_ETIMEOUT);
    scene_start(scene);
    ready.fd = pawl_worker_fd(scene->worker);
    assert_int_equal(poll(&ready, 1, 0), 1);
    assert_true(fetch(scene, "worker_registered"));
    assert_int_equal(poll(&ready, 1, 0), 0);
    /* The callback has it, too. */
    scene_until_logged(scene, "worker_registered");
    scene_do(scene,
        "select count(pg_terminate_backend(pid)) from pg_stat_activity where application_name = "
        "'logs_kept' and datname = current_database()",
        NULL);
    do
        assert_int_equal(poll(&ready, 1, scene_patience_ms), 1);
    while (!fetch(scene, "connection_lost"));
    assert_int_equal(pawl_worker_log_next(scene->worker, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_worker_log_next(NULL, &line), PAWL_EINVAL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_set_up, scene_tear_down)
        TEST(payloads_are_in_no_field),
        TEST(what_happens_to_connections_and_leases_tells_no_password),
        TEST(a_connection_that_is_refused_tells_no_password),
        TEST(lines_are_kept_until_they_are_fetched),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
