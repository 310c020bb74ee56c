/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A commit that the server could not get confirmed by its standby is never acknowledged: not by the call that made it, and not
 * by a later one that only finds it there. Also: of several hosts the one that can be written to is taken.
 */
#include "cluster.h"
#include "fixture.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct scene {
    struct cluster cluster;
    pawl_client *client;
    pawl_trigger *trigger;
    pawl_error *error;
    char run_id[PAWL_ID_SIZE];
    /* What the thread beside us does to backends that wait for a standby. */
    pthread_t thread;
    _Atomic(const char *) act;
    atomic_int acts_left;
    atomic_bool stop;
};

static const char waiting[] = "options='-c synchronous_commit=on'";

static int
set_up(void **state)
{
    /* Only clients wait for the standby: nobody else is held up, whatever becomes of this program. */
    static const char *const settings[] = {"synchronous_commit=local", NULL};
    const struct cluster_options options = {.pawl = true, .settings = settings};
    struct scene *scene = calloc(1, sizeof(*scene));
    PGconn *conn;

    cluster_open(&scene->cluster, &options);
    cluster_use(&scene->cluster);
    conn = bench_connect();
    fixture_workflow(conn, "standby");
    PQfinish(conn);
    scene->client =
        fixture_client((const char *[]){"call_timeout", "20s", "database", waiting, NULL});
    scene->trigger = pawl_trigger_new("standby");
    *state = scene;
    return 0;
}

static int
tear_down(void **state)
{
    struct scene *scene = *state;

    pawl_trigger_free(scene->trigger);
    pawl_client_close(scene->client);
    cluster_close(&scene->cluster);
    free(scene);
    return 0;
}

/* A standby that does not exist, or none; returns when commits go by it. */
static void
set_standby(PGconn *conn, const char *name)
{
    char sql[96];

    (void)snprintf(sql, sizeof(sql), "alter system set synchronous_standby_names = '%s'", name);
    bench_do(conn, sql);
    bench_do(conn, "select pg_reload_conf()");
}

/* Cancels or terminates so many backends of clients that wait for a standby, in a thread of its own. */
static void *
act_on_waiting(void *arg)
{
    struct scene *scene = arg;
    PGconn *conn = bench_connect();

    while (!atomic_load(&scene->stop)) {
        PGresult *res;

        if (atomic_load(&scene->acts_left) == 0) {
            race_breathe();
            continue;
        }
        res = bench_exec(conn, atomic_load(&scene->act));
        if (PQntuples(res) > 0)
            atomic_fetch_sub(&scene->acts_left, 1);
        PQclear(res);
        race_breathe();
    }
    PQfinish(conn);
    return NULL;
}

static const char cancel_sql[] = "select pg_cancel_backend(pid) from pg_stat_activity where "
                                 "wait_event = 'SyncRep' and application_name = 'pawl' limit 1";
static const char terminate_sql[] = "select pg_terminate_backend(pid) from pg_stat_activity where "
                                    "wait_event = 'SyncRep' and application_name = 'pawl' limit 1";

/* Triggers while the thread beside us acts once; returns when it has, unless the commit needed no standby. */
static pawl_status
trigger_while(struct scene *scene, pawl_client *client, const char *act, uint32_t *flags)
{
    double deadline_s = bench_limit_s(30);
    pawl_status status;

    /* What an earlier try has come to is of no interest. */
    pawl_error_free(scene->error);
    scene->error = NULL;
    atomic_store(&scene->act, act);
    atomic_store(&scene->acts_left, 1);
    status = pawl_client_trigger(client, scene->trigger, scene->run_id, flags, &scene->error);
    while (status != PAWL_OK && atomic_load(&scene->acts_left) > 0 && bench_now_s() < deadline_s)
        race_breathe();
    if (status != PAWL_OK && atomic_load(&scene->acts_left) > 0)
        bench_die("nobody waited for a standby");
    return status;
}

static void
a_commit_that_no_standby_has_is_not_acknowledged(void **state)
{
    struct scene *scene = *state;
    PGconn *conn = bench_connect();
    double deadline_s = bench_limit_s(30);
    uint32_t flags = 0;
    pawl_status status;
    pawl_client *hasty, *deaf;

    set_standby(conn, "nobody");
    atomic_store(&scene->act, cancel_sql);
    assert_int_equal(pthread_create(&scene->thread, NULL, act_on_waiting, scene), 0);
    /* The server takes the setting over in its own time; until then commits are as before. */
    do
        status = trigger_while(scene, scene->client, cancel_sql, &flags);
    while (status == PAWL_OK && bench_now_s() < deadline_s);
    fixture_expect(status, PAWL_EUNKNOWN, &scene->error);

    pawl_trigger_set(scene->trigger, "key", "k");
    fixture_expect(
        trigger_while(scene, scene->client, cancel_sql, &flags), PAWL_EUNKNOWN, &scene->error);
    /* It is there, and still nobody has it but this server. */
    fixture_expect(
        trigger_while(scene, scene->client, cancel_sql, &flags), PAWL_EUNKNOWN, &scene->error);
    /* Its reply is lost with the connection; the library sends it again, finds it, and is no wiser. */
    pawl_trigger_set(scene->trigger, "key", "l");
    hasty = fixture_client((const char *[]){"call_timeout", "2s", "database", waiting, NULL});
    fixture_expect(
        trigger_while(scene, hasty, terminate_sql, &flags), PAWL_EUNKNOWN, &scene->error);
    pawl_client_close(hasty);
    assert_int_equal(
        fixture_count(conn, "select count(*) from pawl.list_runs(only_key => 'l')", NULL), 1);
    /* Nor does it depend on which messages the role's clients are sent. */
    pawl_trigger_set(scene->trigger, "key", "m");
    deaf = fixture_client((const char *[]){
        "database", "options='-c synchronous_commit=on -c client_min_messages=error'", NULL});
    fixture_expect(trigger_while(scene, deaf, cancel_sql, &flags), PAWL_EUNKNOWN, &scene->error);
    pawl_client_close(deaf);

    set_standby(conn, "");
    deadline_s = bench_limit_s(30);
    do
        status = trigger_while(scene, scene->client, cancel_sql, &flags);
    while (status == PAWL_EUNKNOWN && bench_now_s() < deadline_s);
    fixture_expect(status, PAWL_OK, &scene->error);
    assert_int_equal(flags, 0);
    atomic_store(&scene->stop, true);
    assert_int_equal(pthread_join(scene->thread, NULL), 0);
    PQfinish(conn);
}

static void
of_several_hosts_the_one_that_can_be_written_to_is_taken(void **state)
{
    static const char *const settings[] = {"default_transaction_read_only=on", NULL};
    const struct cluster_options options = {.settings = settings};
    struct scene *scene = *state;
    struct cluster other;
    char database[2048];
    pawl_client *client;
    PGconn *conn;

    cluster_open(&other, &options);
    cluster_use(&other);
    conn = bench_connect();
    bench_do(conn, "set default_transaction_read_only = off");
    (void)snprintf(database, sizeof(database), "create database %s", scene->cluster.database);
    bench_do(conn, database);
    PQfinish(conn);
    cluster_use(&scene->cluster);
    (void)snprintf(database, sizeof(database), "host=%s,%s port=%s,%s dbname=%s", other.host,
        scene->cluster.host, other.port, scene->cluster.port, scene->cluster.database);
    client = fixture_client((const char *[]){"database", database, NULL});
    fixture_trigger(client, "standby", scene->run_id);
    pawl_client_close(client);
    cluster_close(&other);
}

static void
a_server_that_is_restarted_is_waited_for(void **state)
{
    struct scene *scene = *state;

    fixture_trigger(scene->client, "standby", scene->run_id);
    cluster_crash(&scene->cluster);
    cluster_start(&scene->cluster);
    /* Once only; the dead connection is noticed before it is used. */
    fixture_expect(
        pawl_client_signal(scene->client, scene->run_id, "go", pawl_text("1"), &scene->error),
        PAWL_OK, &scene->error);
    cluster_stop(&scene->cluster);
    cluster_start(&scene->cluster);
    fixture_trigger(scene->client, "standby", scene->run_id);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_commit_that_no_standby_has_is_not_acknowledged),
        cmocka_unit_test(of_several_hosts_the_one_that_can_be_written_to_is_taken),
        cmocka_unit_test(a_server_that_is_restarted_is_waited_for),
    };

    fixture_go_direct();
    return cmocka_run_group_tests_name("client_standby", tests, set_up, tear_down);
}
