/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker and the standby of its server. What the standby does not have is not told to a handler, however the commit came back; and
 * when the standby takes over, the worker finds it, although its old server is still there and can be read. Two clusters of
 * this program's own; client_standby.c is about clients.
 */
#include "cluster.h"
#include "fixture.h"
#include "proxy.h"
#include "race.h"
#include "scene.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* One pair for all tests of the program: to make it takes seconds. */
static struct cluster primary;
static struct cluster standby;

/* Connections of the library wait for the standby; those of the tests do not. */
static const char waits[] = "options='-c synchronous_commit=on'";

struct tale {
    struct gate gate;
    atomic_int steps;
    atomic_int heard; /* handlers that were told of their first step */
};

static int
open_clusters(void **state)
{
    static const char *const settings[] = {"synchronous_commit=local", NULL};
    const struct cluster_options with_pawl = {.pawl = true, .settings = settings};
    const struct cluster_options without = {.settings = settings};

    (void)state;
    cluster_open(&primary, &with_pawl);
    cluster_open(&standby, &without);
    cluster_follow(&standby, &primary, "standby");
    cluster_use(&primary);
    return 0;
}

static void
promote(struct cluster *cluster)
{
    cluster_use(cluster);
    cluster_promote(cluster);
}

static int
close_clusters(void **state)
{
    (void)state;
    promote(&primary); /* or its database could not be dropped */
    cluster_close(&standby);
    cluster_close(&primary);
    return 0;
}

static pawl_status
count(pawl_run *run, void *userdata, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);

    (void)userdata;
    return pawl_run_printf(run, output, "%d", atomic_fetch_add(&tale->steps, 1) + 1);
}

static pawl_status
count_at_gate(pawl_run *run, void *userdata, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);

    return gate_pass(&tale->gate) ? count(run, userdata, output) : PAWL_EPERMANENT;
}

static pawl_status
two_steps(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);
    pawl_status status = pawl_step(run, "one", count_at_gate, NULL, NULL);

    (void)input;
    if (status != PAWL_OK)
        return status;
    atomic_fetch_add(&tale->heard, 1);
    return pawl_step(run, "two", count, NULL, output);
}

static void
work(struct scene *scene, struct tale *tale, const char *database)
{
    gate_init(&tale->gate);
    scene_set(scene, "database", database);
    /* With no place for another run, nothing of it waits for the standby but what the tests look at. */
    scene_set(scene, "concurrency", "1");
    scene_handle(scene, "standby.two", two_steps, tale);
    scene_work(scene);
}

/* A worker, and a run in its first step. */
static void
begin(struct scene *scene, struct tale *tale, const char *database)
{
    work(scene, tale, database);
    scene_trigger(scene, "standby.two", "{}");
    gate_await(&tale->gate, 1);
}

/* Each step was executed and recorded once, in one attempt. */
static void
check_once(struct scene *scene, struct tale *tale)
{
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "2");
    assert_int_equal(tale->heard, 1);
    assert_int_equal(tale->steps, 2);
    assert_string_equal(scene_steps(scene, scene->run_id), "one#1 SUCCESS 1, two#1 SUCCESS 2");
    assert_int_equal(
        scene_number(scene, "select execution from pawl.get_run($1)", scene->run_id), 1);
    assert_int_equal(scene_rest(scene), PAWL_OK);
    gate_done(&tale->gate);
}

/* Which standby commits wait for. Returns when the server has taken it over. */
static void
set_standby(struct scene *scene, const char *name)
{
    char sql[96];

    (void)snprintf(sql, sizeof(sql), "alter system set synchronous_standby_names = '%s'", name);
    scene_do(scene, sql, NULL);
    scene_do(scene, "select pg_reload_conf()", NULL);
    scene_until(scene,
        "select setting = $1 from pg_settings where name = 'synchronous_standby_names'", name);
    if (name[0] != '\0')
        scene_until(scene,
            "select sync_state = 'sync' from pg_stat_replication where application_name = $1",
            name);
}

/* The process of the standby that hears of commits stops, or goes on. */
static void
signal_standby(int number)
{
    PGconn *conn;
    long pid;

    cluster_use(&standby);
    conn = bench_connect();
    cluster_use(&primary);
    pid = race_count(conn, "select pid from pg_stat_wal_receiver");
    PQfinish(conn);
    assert_int_equal(kill((pid_t)pid, number), 0);
}

/* A backend that waits for the standby. */
struct waiting {
    char pid[24];
    char since[64];
};

/* Waits until one that executes this function does. */
static void
await_call(struct scene *scene, const char *function, struct waiting *waiting)
{
    int64_t deadline_ms = scene_now_ms() + scene_patience_ms;
    const char *pid;

    do {
        if (scene_now_ms() > deadline_ms)
            fail_msg("no call of %s waits for the standby", function);
        scene_breathe();
        pid = scene_text(scene,
            "select pid from pg_stat_activity where wait_event = 'SyncRep'"
            " and application_name = 'pawl' and query ~ $1",
            function);
    } while (pid[0] == '\0');
    (void)snprintf(waiting->pid, sizeof(waiting->pid), "%s", pid);
    waiting->since[0] = '\0';
}

/* Waits until the same connection has asked, once more, for something that is confirmed together with the step. */
static void
await_confirm(struct scene *scene, struct waiting *waiting)
{
    int64_t deadline_ms = scene_now_ms() + scene_patience_ms;
    const char *since;

    do {
        if (scene_now_ms() > deadline_ms)
            fail_msg("the commit is not confirmed");
        scene_breathe();
        since = scene_text(scene,
            "select query_start from pg_stat_activity where pid = $1::int"
            " and wait_event = 'SyncRep' and query ~ 'pawl.heartbeat'",
            waiting->pid);
    } while (since[0] == '\0' || strcmp(since, waiting->since) == 0);
    (void)snprintf(waiting->since, sizeof(waiting->since), "%s", since);
}

/* A step that is committed on this server alone. */
static void
commit_without_standby(struct scene *scene, struct tale *tale, struct waiting *waiting)
{
    begin(scene, tale, waits);
    set_standby(scene, "standby");
    signal_standby(SIGSTOP);
    gate_open(&tale->gate);
    await_call(scene, "pawl.commit", waiting);
}

/* Its handler hears nothing while the call that committed it goes on without the standby, of which the server warns. */
static void
hold_back(struct scene *scene, struct tale *tale)
{
    struct waiting waiting;

    commit_without_standby(scene, tale, &waiting);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(tale->heard, 0);
        scene_do(scene, "select pg_cancel_backend($1::int)", waiting.pid);
        await_confirm(scene, &waiting);
    }
    assert_int_equal(tale->heard, 0);
    assert_string_equal(scene_steps(scene, scene->run_id), "one#1 SUCCESS 1");
}

static void
a_step_is_told_to_its_handler_when_the_standby_is_back(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    hold_back(scene, &tale);
    signal_standby(SIGCONT);
    check_once(scene, &tale);
    set_standby(scene, "");
}

static void
a_step_is_told_to_its_handler_when_no_standby_is_asked_for_any_more(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    hold_back(scene, &tale);
    set_standby(scene, "");
    check_once(scene, &tale);
    signal_standby(SIGCONT);
}

static void
end_backend(struct scene *scene, const struct waiting *waiting)
{
    scene_do(scene, "select pg_terminate_backend($1::int)", waiting->pid);
    scene_until(
        scene, "select count(*) = 0 from pg_stat_activity where pid = $1::int", waiting->pid);
}

static void
a_step_whose_connection_is_lost_meanwhile_is_told_to_its_handler_no_sooner(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    struct waiting waiting;

    commit_without_standby(scene, &tale, &waiting);
    end_backend(scene, &waiting);
    /* It is sent again, and found. */
    await_call(scene, "pawl.commit", &waiting);
    scene_do(scene, "select pg_cancel_backend($1::int)", waiting.pid);
    await_confirm(scene, &waiting);
    end_backend(scene, &waiting);
    scene_until(scene,
        "select count(*) > 0 from pg_stat_activity where wait_event = 'SyncRep'"
        " and application_name = 'pawl'",
        NULL);
    assert_int_equal(tale.heard, 0);
    signal_standby(SIGCONT);
    check_once(scene, &tale);
    set_standby(scene, "");
}

static void
a_run_that_the_standby_does_not_know_as_claimed_is_not_executed(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    struct waiting waiting;
    int64_t deadline_ms = scene_now_ms() + 2 * scene_patience_ms;

    scene_set(scene, "poll", "1h");
    work(scene, &tale, waits);
    gate_open(&tale.gate);
    scene_until(scene, "select count(*) = 1 from pawl.list_workers() where state = 'idle'", NULL);
    race_no_housekeeping(scene->conn); /* which a claim would do with the rest, and wait for */
    set_standby(scene, "standby");
    signal_standby(SIGSTOP);
    scene_trigger(scene, "standby.two", "{}");
    await_call(scene, "pawl.claim", &waiting);
    /* It gives the run back. On a slow machine it may have claimed a second time, over another connection, and that waits, too. */
    do {
        assert_true(scene_now_ms() < deadline_ms);
        scene_do(scene,
            "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'"
            " and application_name = 'pawl' and query ~ 'pawl.claim'",
            NULL);
        scene_breathe();
    } while (scene_number(scene,
                 "select count(*) from pg_stat_activity where wait_event = 'SyncRep'"
                 " and application_name = 'pawl' and query ~ 'pawl.commit'",
                 NULL) == 0);
    assert_int_equal(tale.steps, 0);
    signal_standby(SIGCONT);
    check_once(scene, &tale);
    set_standby(scene, "");
}

/* The library's way to the server, through a proxy. */
static struct proxy *
open_way(char *database, size_t size)
{
    struct proxy *proxy = proxy_new(&(struct proxy_options){.seed = 1});

    (void)snprintf(
        database, size, "host=%s port=%d %s", proxy_host(proxy), proxy_port(proxy), waits);
    return proxy;
}

static void
a_server_that_turns_read_only_is_left_and_asked_again_without_haste(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    char database[600];
    struct proxy *proxy = open_way(database, sizeof(database));
    int64_t began_ms;
    long connections;

    begin(scene, &tale, database);
    connections = proxy_counts(proxy).connections;
    scene_do(scene, "set default_transaction_read_only = off", NULL);
    scene_do(scene, "alter system set default_transaction_read_only = on", NULL);
    scene_do(scene, "select pg_reload_conf()", NULL);
    gate_open(&tale.gate);
    scene_until_logged(scene, "25006");
    began_ms = scene_now_ms();
    while (scene_now_ms() - began_ms < 1000)
        scene_breathe();
    connections = proxy_counts(proxy).connections - connections;
    assert_in_range(connections, 1, 60);
    scene_do(scene, "alter system reset default_transaction_read_only", NULL);
    scene_do(scene, "select pg_reload_conf()", NULL);
    check_once(scene, &tale);
    proxy_free(proxy);
}

/*
 * The name of the server leads to the old one for a while, which is a standby by then: it can be read, and nothing can be written.
 * Nobody cuts the connections to it.
 */
static void
a_worker_goes_on_with_the_standby_that_has_taken_over(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    char database[600], second[PAWL_ID_SIZE];
    struct proxy *proxy = open_way(database, sizeof(database));
    pawl_client *client = fixture_client((const char *[]){"database", database, NULL});

    set_standby(scene, "standby");
    begin(scene, &tale, database);
    cluster_demote(&primary);
    promote(&standby);
    scene_until_logged(scene, "25006");
    gate_open(&tale.gate);
    proxy_target(proxy, standby.host, (int)bench_number(standby.port, "port", 1, 65535));
    PQfinish(scene->conn);
    scene->conn = race_connect_direct();
    pawl_client_close(scene->client);
    scene->client = fixture_client((const char *[]){"wait_poll", "10ms", NULL});
    fixture_trigger(client, "standby.two", second);
    (void)scene_wait(scene, second, PAWL_OK);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "2");
    assert_int_equal(tale.steps, 4);
    assert_string_equal(scene_steps(scene, scene->run_id), "one#1 SUCCESS 1, two#1 SUCCESS 2");
    assert_int_equal(
        scene_number(scene, "select execution from pawl.get_run($1)", scene->run_id), 1);
    assert_int_equal(scene_rest(scene), PAWL_OK);
    pawl_client_close(client);
    proxy_free(proxy);
    gate_done(&tale.gate);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_set_up, scene_tear_down)
        TEST(a_step_is_told_to_its_handler_when_the_standby_is_back),
        TEST(a_step_is_told_to_its_handler_when_no_standby_is_asked_for_any_more),
        TEST(a_step_whose_connection_is_lost_meanwhile_is_told_to_its_handler_no_sooner),
        TEST(a_run_that_the_standby_does_not_know_as_claimed_is_not_executed),
        TEST(a_server_that_turns_read_only_is_left_and_asked_again_without_haste),
        /* The last one, for the primary is none after it. */
        TEST(a_worker_goes_on_with_the_standby_that_has_taken_over),
#undef TEST
    };

    fixture_go_direct();
    return cmocka_run_group_tests_name("standby", tests, open_clusters, close_clusters);
}
