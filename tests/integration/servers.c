/* SPDX-License-Identifier: Apache-2.0 */
/* Servers that go away and come back, and one behind PgBouncer in transaction mode. In a cluster of this program's own. */
#include "cluster.h"
#include "race.h"
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

enum {
    RUNS = 50
};

/* One for all tests of the program: to make one takes seconds. */
static struct cluster cluster;

struct tale {
    struct gate gate;
    atomic_int executed;
    atomic_int steps;
    atomic_int undos;
};

static pawl_status
count(pawl_run *run, void *userdata, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);

    (void)userdata;
    return pawl_run_printf(run, output, "%d", atomic_fetch_add(&tale->steps, 1) + 1);
}

static pawl_status
wait_at_gate(pawl_run *run, void *userdata, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);

    (void)userdata;
    *output = pawl_text("\"through\"");
    return gate_pass(&tale->gate) ? PAWL_OK : PAWL_EPERMANENT;
}

static pawl_status
slow(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);
    pawl_status status;

    (void)input;
    atomic_fetch_add(&tale->executed, 1);
    if ((status = pawl_step(run, "before", count, NULL, NULL)) != PAWL_OK ||
        (status = pawl_step(run, "slow", wait_at_gate, NULL, output)) != PAWL_OK)
        return status;
    return pawl_step(run, "after", count, NULL, NULL);
}

/* The scene's own connection has gone with the server. */
static void
reconnect(struct scene *scene)
{
    PQfinish(scene->conn);
    scene->conn = race_connect_direct();
}

static int64_t
cpu_ms(void)
{
    struct rusage usage;

    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
        (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
}

static void
a_run_survives_a_crash_of_the_server_and_no_attempt_is_consumed(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    gate_init(&tale.gate);
    scene_set(scene, "lease", "3s");
    scene_handle(scene, "servers.slow", slow, &tale);
    scene_work(scene);
    scene_trigger(scene, "servers.slow", "{}");
    gate_await(&tale.gate, 1);
    cluster_crash(&cluster);
    gate_open(&tale.gate);
    cluster_start(&cluster);
    reconnect(scene);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "\"through\"");
    assert_int_equal(scene_rest(scene), PAWL_OK);
    assert_int_equal(tale.executed, 1);
    assert_int_equal(
        scene_number(scene, "select execution from pawl.get_run($1)", scene->run_id), 1);
    assert_string_equal(scene_steps(scene, scene->run_id),
        "before#1 SUCCESS 1, slow#1 SUCCESS \"through\", after#1 SUCCESS 2");
    gate_done(&tale.gate);
}

static void
a_worker_waits_for_a_server_that_is_away_without_being_busy(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    int64_t began_ms, used_ms;

    scene_set(scene, "lease", "1s");
    scene_handle(scene, "servers.slow", slow, &tale);
    scene_work(scene);
    cluster_stop(&cluster);
    scene_until_logged(scene, "connection_lost");
    began_ms = scene_now_ms();
    used_ms = cpu_ms();
    while (scene_now_ms() - began_ms < 800)
        scene_breathe();
    used_ms = cpu_ms() - used_ms;
    (void)printf("# %ld ms of CPU time in 800 ms without a server\n", (long)used_ms);
    cluster_start(&cluster);
    reconnect(scene);
    scene_in_time(used_ms, 200);
    gate_init(&tale.gate);
    gate_open(&tale.gate);
    scene_trigger(scene, "servers.slow", "{}");
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "\"through\"");
    (void)scene_rest(scene);
    gate_done(&tale.gate);
}

static void
a_stop_without_a_server_ends_in_time_and_does_not_call_it_well(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    pawl_error *error = NULL;
    pawl_run *run = NULL;
    pawl_status status;
    int64_t began_ms, took_ms;

    scene_handle(scene, "servers.stop", NULL, &tale);
    scene_start(scene);
    scene_trigger(scene, "servers.stop", "{}");
    assert_int_equal(pawl_worker_next(scene->worker, scene_patience_ms, &run, &error), PAWL_OK);
    cluster_stop(&cluster);
    pawl_run_finish(run, PAWL_OK, pawl_text("1"));
    began_ms = scene_now_ms();
    status = pawl_worker_stop(scene->worker, 100, &error);
    took_ms = scene_now_ms() - began_ms;
    pawl_error_free(error);
    cluster_start(&cluster);
    reconnect(scene);
    /* The handler is through, but nobody has written that down. */
    assert_int_equal(status, PAWL_ETIMEOUT);
    assert_true(took_ms >= 90);
    scene_in_time(took_ms, 3000);
}

static pawl_status
saga(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_status status;

    (void)input;
    pawl_run_set_option(run, "undo", "servers.undo");
    if ((status = pawl_step(run, "act", count, NULL, output)) != PAWL_OK ||
        (status = pawl_sleep(run, "nap", 10)) != PAWL_OK ||
        (status = pawl_wait_signal(run, "go", -1, NULL)) != PAWL_OK)
        return status;
    return PAWL_EPERMANENT;
}

static pawl_status
undo(pawl_run *run, pawl_bytes input, pawl_bytes output)
{
    struct tale *tale = pawl_run_userdata(run);

    (void)input;
    (void)output;
    atomic_fetch_add(&tale->undos, 1);
    return PAWL_OK;
}

static pawl_status
branch(pawl_run *run, void *userdata, pawl_bytes *output)
{
    pawl_status status = pawl_step(run, "one", count, userdata, NULL);

    return status == PAWL_OK ? pawl_step(run, "two", count, userdata, output) : status;
}

static pawl_status
branching(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_status status = PAWL_OK;
    char name[8];

    (void)input;
    *output = pawl_text("\"joined\"");
    for (int i = 0; i < 5 && status == PAWL_OK; i++) {
        (void)snprintf(name, sizeof(name), "b%d", i);
        status = pawl_branch(run, name, branch, NULL, NULL);
    }
    return status == PAWL_OK ? pawl_branches_join(run) : status;
}

static pawl_status
flaky(pawl_run *run, void *userdata, pawl_bytes *output)
{
    (void)userdata;
    *output = pawl_text("\"at last\"");
    return pawl_run_execution(run) < 3 ? PAWL_EFAILED : PAWL_OK;
}

static pawl_status
retried(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)input;
    pawl_run_set_option(run, "base_ms", "1");
    return pawl_step(run, "flaky", flaky, NULL, output);
}

/* The settings of a worker behind the pooler. */
static void
go_through_the_pooler(struct scene *scene)
{
    char conninfo[cluster_name_bytes + 64];

    (void)snprintf(conninfo, sizeof(conninfo), "host=%s port=%s", cluster.host, cluster.port);
    scene_set(scene, "database", conninfo);
}

static void
behind_a_pooler_everything_works_by_polling(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    char ids[RUNS][PAWL_ID_SIZE];

    gate_init(&tale.gate);
    gate_open(&tale.gate);
    scene_set(scene, "poll", "20ms");
    go_through_the_pooler(scene);
    scene_handle(scene, "servers.slow", slow, &tale);
    scene_handle(scene, "servers.branching", branching, &tale);
    scene_handle(scene, "servers.retried", retried, &tale);
    scene_handle(scene, "servers.saga", saga, &tale);
    scene_undo(scene, "servers.undo", undo, &tale);
    scene_work(scene);
    for (int i = 0; i < RUNS; i++)
        memcpy(ids[i], scene_trigger(scene, "servers.slow", "{}"), sizeof(ids[i]));
    for (int i = 0; i < RUNS; i++)
        (void)scene_wait(scene, ids[i], PAWL_OK);
    scene_trigger(scene, "servers.branching", "{}");
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "\"joined\"");
    scene_trigger(scene, "servers.retried", "{}");
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "\"at last\"");
    scene_trigger(scene, "servers.saga", "{}");
    scene_until(scene, "select t.state($1) = 'PAUSED signal'", scene->run_id);
    scene_do(scene, "select pawl.signal($1, 'go')", scene->run_id);
    (void)scene_wait(scene, scene->run_id, PAWL_ERUN);
    assert_int_equal(tale.undos, 1);
    /* Nobody listens, and nothing is left behind in connections that others use. */
    assert_int_equal(scene_number(scene,
                         "select count(*) from pg_stat_activity where query ilike 'listen%'", NULL),
        0);
    (void)scene_rest(scene);
    gate_done(&tale.gate);
}

static void
with_a_direct_way_for_notifications_a_pooled_worker_is_woken(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    char conninfo[cluster_name_bytes + 64];
    int64_t began_ms;

    gate_init(&tale.gate);
    gate_open(&tale.gate);
    /* A worker that could not say goodbye in an earlier test is still taken for idle, and would be notified instead. */
    scene_do(
        scene, "update pawl_data.worker set ended_at = pawl.now() where ended_at is null", NULL);
    scene_set(scene, "poll", "1h");
    go_through_the_pooler(scene);
    (void)snprintf(
        conninfo, sizeof(conninfo), "host=%s port=%s", cluster.direct_host, cluster.direct_port);
    scene_set(scene, "listen_database", conninfo);
    scene_handle(scene, "servers.slow", slow, &tale);
    scene_work(scene);
    scene_until(scene,
        "select bool_or(idle) from pawl_data.worker where handles = '{servers.slow}' and ended_at "
        "is "
        "null",
        NULL);
    began_ms = scene_now_ms();
    scene_trigger(scene, "servers.slow", "{}");
    (void)scene_wait(scene, scene->run_id, PAWL_OK);
    scene_in_time(scene_now_ms() - began_ms, 2000);
    (void)scene_rest(scene);
    gate_done(&tale.gate);
}

/* As after a failover whose old server lives on: the session is at one, and connections from before are at the other. */
static void
a_session_does_not_end_because_a_server_elsewhere_does_not_know_it(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    char here[cluster_name_bytes + 64];
    int64_t began_ms;

    (void)snprintf(here, sizeof(here), "dbname=%s", cluster.database);
    scene_set(scene, "lease", "1s");
    scene_set(scene, "listen_database", here);
    scene_set(scene, "database", "dbname=elsewhere");
    scene_handle(scene, "servers.slow", slow, &tale);
    scene_work(scene);
    began_ms = scene_now_ms();
    while (scene_now_ms() - began_ms < 1500)
        scene_breathe();
    scene_until_logged(scene, "connection_lost");
    /* A machine that stands still may cost it one or the other. */
    assert_in_range(pawl_worker_counter(scene->worker, "sessions"), 1, 5);
    (void)scene_rest(scene);
}

static int
open_cluster(void **state)
{
    const struct cluster_options options = {.pawl = true, .pooled = true};
    char sql[cluster_name_bytes + 64];
    PGconn *conn;

    (void)state;
    cluster_open(&cluster, &options);
    cluster_use(&cluster);
    conn = cluster_connect(&cluster);
    (void)snprintf(sql, sizeof(sql), "create database elsewhere template %s", cluster.database);
    bench_do(conn, sql);
    PQfinish(conn);
    /* Programs go to the server itself; those that want the pooler say so. */
    if (setenv("PGHOST", cluster.direct_host, 1) != 0 ||
        setenv("PGPORT", cluster.direct_port, 1) != 0)
        return -1;
    return 0;
}

static int
close_cluster(void **state)
{
    (void)state;
    cluster_close(&cluster);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_set_up, scene_tear_down)
        TEST(a_run_survives_a_crash_of_the_server_and_no_attempt_is_consumed),
        TEST(a_worker_waits_for_a_server_that_is_away_without_being_busy),
        TEST(a_stop_without_a_server_ends_in_time_and_does_not_call_it_well),
        TEST(behind_a_pooler_everything_works_by_polling),
        TEST(with_a_direct_way_for_notifications_a_pooled_worker_is_woken),
        TEST(a_session_does_not_end_because_a_server_elsewhere_does_not_know_it),
#undef TEST
    };

    return cmocka_run_group_tests(tests, open_cluster, close_cluster);
}
