/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Producers beside an idle worker, on a server that allows prepared transactions and, from PostgreSQL 17 on, has a small notification
 * queue: PREPARE TRANSACTION works after every verb while notify is off, and a full queue fails no trigger.
 */
#include "cluster.h"
#include "fixture.h"
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

static struct cluster cluster;

static int
open_cluster(void **state)
{
    const char *const settings[] = {
        "max_prepared_transactions=20", "max_notify_queue_pages=64", NULL};
    const char *const old_settings[] = {"max_prepared_transactions=20", NULL};
    const char *version = getenv("PAWL_PG_VERSION");
    bool is_old = version == NULL || strcmp(version, "17") < 0;
    const struct cluster_options options = {
        .pawl = true, .settings = is_old ? old_settings : settings};

    (void)state;
    cluster_open(&cluster, &options);
    cluster_use(&cluster);
    return 0;
}

static int
close_cluster(void **state)
{
    (void)state;
    cluster_close(&cluster);
    return 0;
}

static pawl_status
echo(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)run;
    *output = input;
    return PAWL_OK;
}

static pawl_status
await(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)input;
    (void)output;
    return pawl_wait_signal(run, "go", -1, NULL);
}

static void
wait_until_idle(struct scene *scene)
{
    scene_until(scene,
        "select count(*) = 1 from pawl.list_workers() where 'phase.*' = any (handles) and "
        "state = 'idle'",
        NULL);
}

/* An idle worker, and a role that uses two-phase commit. */
static void
work_idly(struct scene *scene)
{
    scene_do(scene, "select pawl.create_workflow('phase.echo')", NULL);
    scene_do(scene, "select pawl.create_flow('phase.flow')", NULL);
    scene_do(scene, "select pawl.add_step('phase.flow', 'a')", NULL);
    scene_do(scene,
        "do $$ begin if not exists (select from pg_roles where rolname = 'phase_xa') then"
        " create role phase_xa login; end if; end $$",
        NULL);
    scene_do(scene, "select pawl.grant_role('phase_xa', 'producer')", NULL);
    scene_do(scene, "select pawl.grant_role('phase_xa', 'operator')", NULL);
    scene_set(scene, "poll", "100ms");
    scene_handle(scene, "phase.*", echo, NULL);
    scene_handle(scene, "phase.wait", await, NULL);
    scene_work(scene);
    wait_until_idle(scene);
}

static PGconn *
be_producer(void)
{
    PGconn *conn = cluster_operate(&cluster);

    bench_do(conn, "set session authorization phase_xa");
    return conn;
}

/* Executes a statement in a transaction that is prepared and then committed. Returns the SQLSTATE of PREPARE TRANSACTION, "" if it works. */
static const char *
prepare(PGconn *conn, const char *sql)
{
    static char sqlstate[8];
    const char *said;
    PGresult *res;

    bench_do(conn, "begin");
    bench_do(conn, sql);
    res = PQexec(conn, "prepare transaction 'phase'");
    said = PQresultErrorField(res, PG_DIAG_SQLSTATE);
    (void)snprintf(sqlstate, sizeof(sqlstate), "%s", said != NULL ? said : "");
    PQclear(res);
    if (sqlstate[0] == '\0')
        bench_do(conn, "commit prepared 'phase'");
    return sqlstate;
}

/* Only because a worker is idle, and it is not for the moment in which it polls. */
static void
expect_not_prepared(struct scene *scene, PGconn *conn, const char *sql)
{
    int64_t deadline_ms = scene_now_ms() + scene_patience_ms;
    const char *sqlstate;

    do {
        wait_until_idle(scene);
        sqlstate = prepare(conn, sql);
    } while (sqlstate[0] == '\0' && scene_now_ms() < deadline_ms);
    assert_string_equal(sqlstate, "0A000");
}

static void
a_transaction_is_prepared_after_every_verb_while_notify_is_off_for_the_role(void **state)
{
    static const char *const verbs[] = {
        "select * from pawl.trigger('phase.echo', '[1]')",
        "select * from pawl.trigger('phase.echo', '[1]', key => 'k')",
        "select * from pawl.trigger('phase.echo', '[1]', id => pawl.make_id())",
        "select * from pawl.trigger('phase.flow', '[1]')",
        "select * from pawl.trigger_many('phase.echo', array['[1]', '[1]']::json[])",
        "select * from pawl.trigger_many('phase.echo', array['[1]', '[1]']::json[], array['a', "
        "'b'])",
        "select * from pawl.emit('phase')",
        "select pawl.signal((select run_id from pawl.list_runs('phase.wait', 'PAUSED') where "
        "run_id is not null limit 1), 'go')",
        "select * from pawl.retry(array(select run_id from pawl.list_runs('phase.echo') where "
        "status = 'CANCELLED' limit 1))",
        "select * from pawl.fork((select run_id from pawl.list_runs('phase.echo') where run_id is "
        "not null limit 1))",
        "select w.* from pawl.trigger('phase.echo', '[1]', delay => '1 h') t, lateral "
        "pawl.wake(array[t.run_id]) w",
        "select pawl.resume_workflow('phase.echo')",
    };
    struct scene *scene = *state;
    PGconn *conn;

    work_idly(scene);
    conn = be_producer();
    /* So it was, and so it is while notify is on. */
    expect_not_prepared(scene, conn, verbs[0]);
    scene_do(scene, "select * from pawl.set_notify('off', 'phase_xa')", NULL);
    scene_trigger(scene, "phase.wait", "{}");
    scene_until(scene, "select status = 'PAUSED' from pawl.get_run($1)", scene->run_id);
    scene_do(scene,
        "select * from pawl.kill(array[(select run_id from pawl.trigger('phase.echo', delay => '1 "
        "h'))])",
        NULL);
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        if (strstr(verbs[i], "resume_workflow") != NULL)
            scene_do(scene, "select pawl.pause_workflow('phase.echo')", NULL);
        wait_until_idle(scene);
        if (strcmp(prepare(conn, verbs[i]), "") != 0)
            fail_msg("not prepared after: %s", verbs[i]);
    }
    scene_until(scene,
        "select count(*) = 0 from pawl.list_runs(only_status => 'QUEUED') where run_id is not null",
        NULL);
    wait_until_idle(scene);
    assert_string_equal(
        prepare(
            conn, "select pawl.drain_worker((select session from pawl.list_workers() limit 1))"),
        "");
    PQfinish(conn);
    scene_do(scene, "select * from pawl.set_notify('default', 'phase_xa')", NULL);
}

static void
notify_off_for_the_database_counts_for_every_role(void **state)
{
    struct scene *scene = *state;
    PGconn *conn;

    work_idly(scene);
    conn = be_producer();
    scene_do(scene, "select * from pawl.set_notify('off')", NULL);
    assert_string_equal(prepare(conn, "select * from pawl.trigger('phase.echo', '[1]')"), "");
    scene_do(scene, "select * from pawl.set_notify('on')", NULL);
    expect_not_prepared(scene, conn, "select * from pawl.trigger('phase.echo', '[1]')");
    PQfinish(conn);
}

static void
doctor_names_two_phase_commit_until_a_role_is_off(void **state)
{
    struct scene *scene = *state;

    scene_do(scene,
        "do $$ begin if not exists (select from pg_roles where rolname = 'phase_xa') then"
        " create role phase_xa login; end if; end $$",
        NULL);
    scene_has(
        scene_text(scene, "select found from pawl.doctor() where what = 'two-phase commit'", NULL),
        "max_prepared_transactions is 20");
    scene_do(scene, "select * from pawl.set_notify('off', 'phase_xa')", NULL);
    assert_string_equal(
        scene_text(scene, "select found from pawl.doctor() where what = 'two-phase commit'", NULL),
        "");
    scene_do(scene, "select * from pawl.set_notify('default', 'phase_xa')", NULL);
}

/* A login without rights listens in a transaction that it leaves open, and notifies until the queue is full. */
static void
a_full_notification_queue_fails_no_trigger(void **state)
{
    struct scene *scene = *state;
    PGconn *listener, *filler, *conn;
    const char *said = NULL;

    if (scene_number(scene,
            "select count(*) from pg_settings where name = 'max_notify_queue_pages'", NULL) == 0)
        skip();
    work_idly(scene);
    scene_do(scene,
        "do $$ begin if not exists (select from pg_roles where rolname = 'phase_stranger') then"
        " create role phase_stranger login; end if; end $$",
        NULL);
    listener = cluster_operate(&cluster);
    filler = cluster_operate(&cluster);
    bench_do(listener, "set session authorization phase_stranger");
    bench_do(filler, "set session authorization phase_stranger");
    bench_do(listener, "listen zzz");
    bench_do(listener, "begin");
    bench_do(listener, "select 1");
    for (int i = 0; i < 1000 && said == NULL; i++) {
        PGresult *res = PQexec(filler, "select pg_notify('zzz', random() || repeat('x', 7900))");

        said = PQresultStatus(res) == PGRES_TUPLES_OK ? NULL : "full";
        PQclear(res);
    }
    assert_non_null(said);
    conn = be_producer();
    wait_until_idle(scene);
    bench_do(conn, "begin");
    bench_do(conn, "select * from pawl.trigger('phase.echo', '[4]', key => 'full')");
    bench_do(conn, "commit");
    scene_until(scene,
        "select count(*) = 1 from pawl.list_runs('phase.echo', 'SUCCESS', only_key => 'full') "
        "where run_id is not null",
        NULL);
    assert_int_equal(scene_number(scene,
                         "select count(*) from pawl.doctor() where what = 'notifications'", NULL),
        1);
    PQfinish(listener);
    PQfinish(filler);
    PQfinish(conn);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_set_up, scene_tear_down)
        TEST(a_transaction_is_prepared_after_every_verb_while_notify_is_off_for_the_role),
        TEST(notify_off_for_the_database_counts_for_every_role),
        TEST(doctor_names_two_phase_commit_until_a_role_is_off),
        TEST(a_full_notification_queue_fails_no_trigger),
#undef TEST
    };

    fixture_go_direct();
    return cmocka_run_group_tests_name("two_phase", tests, open_cluster, close_cluster);
}
