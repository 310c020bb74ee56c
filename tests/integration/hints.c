/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notifications are hints, whoever sent them. The stranger here is a login that was granted nothing: it can call no function of pawl, and
 * PostgreSQL lets it notify every channel and guess the numbers of sessions.
 */
#include "scene.h"

#include "race.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    FLOOD_MS = 2000
};

static bool is_pooled;

static pawl_status
echo(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)run;
    *output = input;
    return PAWL_OK;
}

/* A connection of a login without rights, past any pooler. */
static PGconn *
be_stranger(struct scene *scene)
{
    PGconn *conn = race_connect_direct();
    PGresult *res;

    scene_do(scene,
        "do $$ begin"
        " if not exists (select from pg_roles where rolname = 'hints_stranger_' || "
        "current_database()) then"
        " execute format('create role %I login', 'hints_stranger_' || current_database()); end if;"
        " end $$",
        NULL);
    bench_do(conn,
        "select set_config('session_authorization', 'hints_stranger_' || current_database(), "
        "false)");
    res = PQexec(conn, "select pawl.epoch()");
    assert_string_equal(PQresultErrorField(res, PG_DIAG_SQLSTATE), "42501");
    PQclear(res);
    return conn;
}

static void
drop_stranger(struct scene *scene, PGconn *conn)
{
    PQfinish(conn);
    scene_do(scene,
        "do $$ begin execute format('drop role %I', 'hints_stranger_' || current_database()); end "
        "$$",
        NULL);
}

/* The session of the worker, once it waits to be notified. */
static const char *
idle_session(struct scene *scene, const char *handles, char *room, size_t size)
{
    scene_until(scene,
        "select count(*) = 1 from pawl.list_workers() where handles = array[$1] and state = 'idle'",
        handles);
    (void)snprintf(room, size, "%s",
        scene_text(
            scene, "select session from pawl.list_workers() where handles = array[$1]", handles));
    return room;
}

static void
work_idly(struct scene *scene, const char *workflow)
{
    if (is_pooled)
        skip(); /* a pooler passes no notifications on */
    scene_set(scene, "poll", "1h");
    scene_set(scene, "lease", "1h");
    scene_handle(scene, workflow, echo, NULL);
    scene_work(scene);
    scene_trigger(scene, workflow, "[0]");
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "[0]");
}

static void
the_notifications_of_a_stranger_make_a_worker_only_look(void **state)
{
    struct scene *scene = *state;
    char session[24], now[24];
    int64_t claims, deadline_ms;
    PGconn *stranger;

    work_idly(scene, "hints.echo");
    (void)idle_session(scene, "hints.echo", session, sizeof(session));
    stranger = be_stranger(scene);
    claims = pawl_worker_counter(scene->worker, "claims");
    /* As the attack had it: all sessions there may be, and every payload. */
    bench_do(stranger,
        "do $$ begin for n in 1..10000 loop perform pg_notify('pawl_' || ((1::bigint << 32) + n), "
        "'drain'); end loop; end $$");
    bench_do(stranger,
        "select count(pg_notify('pawl_' || ((1::bigint << 32) + n), p)) from generate_series(1, "
        "100) n,"
        " unnest(array['', 'drain ', 'DRAIN', 'stop', '{\"drain\": true}', repeat('x', 7000), "
        "'cancel']) p");
    deadline_ms = scene_now_ms() + scene_patience_ms;
    while (pawl_worker_counter(scene->worker, "claims") == claims && scene_now_ms() < deadline_ms)
        scene_breathe();
    assert_true(pawl_worker_counter(scene->worker, "claims") > claims);
    for (int i = 0; i < 3; i++) {
        /* It polls hardly ever, and a trigger notifies only workers that are marked as idle. */
        (void)idle_session(scene, "hints.echo", now, sizeof(now));
        scene_trigger(scene, "hints.echo", "[1]");
        assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "[1]");
    }
    assert_string_equal(idle_session(scene, "hints.echo", now, sizeof(now)), session);
    assert_string_equal(
        scene_text(scene, "select draining from pawl_data.worker where session_id = $1", session),
        "f");
    drop_stranger(scene, stranger);
}

static void
an_operator_drains_a_worker_at_once_while_a_stranger_notifies_drain(void **state)
{
    struct scene *scene = *state;
    char session[24], sql[200];
    PGconn *stranger;

    work_idly(scene, "hints.drain");
    (void)idle_session(scene, "hints.drain", session, sizeof(session));
    stranger = be_stranger(scene);
    (void)snprintf(sql, sizeof(sql), "select pg_notify('pawl_%s', 'drain')", session);
    for (int i = 0; i < 100; i++)
        bench_do(stranger, sql);
    scene_do(scene, "select pawl.drain_worker($1)", session);
    /* Its next heartbeat would be due in twenty minutes. */
    (void)pthread_join(scene->thread, NULL);
    scene->working = false;
    assert_int_equal(scene->ended, PAWL_OK);
    drop_stranger(scene, stranger);
}

/* How many of its looks and heartbeats a worker makes because of notifications that are of no use. */
static void
a_flood_of_notifications_costs_few_claims_and_heartbeats(void **state)
{
    struct scene *scene = *state;
    int64_t began_ms, took_ms, claims;
    char session[24], sql[200], told[64] = "";
    int sent = 0, heartbeats = 0;
    PGconn *stranger;

    work_idly(scene, "hints.flood");
    (void)idle_session(scene, "hints.flood", session, sizeof(session));
    stranger = be_stranger(scene);
    (void)snprintf(sql, sizeof(sql),
        "select pg_notify('pawl_%s', p) from unnest(array['', 'drain']) p", session);
    claims = pawl_worker_counter(scene->worker, "claims");
    began_ms = scene_now_ms();
    while (scene_now_ms() - began_ms < FLOOD_MS) {
        const char *at;

        bench_do(stranger, sql);
        sent++;
        at = scene_text(
            scene, "select reported_at from pawl_data.worker where session_id = $1", session);
        heartbeats += strcmp(at, told) != 0;
        (void)snprintf(told, sizeof(told), "%s", at);
    }
    took_ms = scene_now_ms() - began_ms;
    claims = pawl_worker_counter(scene->worker, "claims") - claims;
    (void)printf("# %d times two notifications in %ld ms: %ld claims, %d heartbeats\n", sent,
        (long)took_ms, (long)claims, heartbeats);
    /* Eight claims at once, then one in 32 ms; and one heartbeat in a second. */
    assert_true(claims <= 20 + took_ms / 30);
    assert_true(heartbeats <= 3 + took_ms / 1000);
    /* A notification that is of use is heard at once even so. */
    scene_trigger(scene, "hints.flood", "[2]");
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "[2]");
    drop_stranger(scene, stranger);
}

static void
a_worker_finds_work_by_polling_while_notify_is_off(void **state)
{
    struct scene *scene = *state;

    scene_do(scene, "select * from pawl.set_notify('off')", NULL);
    scene_set(scene, "poll", "50ms");
    scene_handle(scene, "hints.poll", echo, NULL);
    scene_work(scene);
    for (int i = 0; i < 3; i++) {
        scene_trigger(scene, "hints.poll", "[3]");
        assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "[3]");
    }
    scene_do(scene, "select * from pawl.set_notify('on')", NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_set_up, scene_tear_down)
        TEST(the_notifications_of_a_stranger_make_a_worker_only_look),
        TEST(an_operator_drains_a_worker_at_once_while_a_stranger_notifies_drain),
        TEST(a_flood_of_notifications_costs_few_claims_and_heartbeats),
        TEST(a_worker_finds_work_by_polling_while_notify_is_off),
#undef TEST
    };

    is_pooled = getenv("PAWL_DIRECT_PGHOST") != NULL;
    return cmocka_run_group_tests_name("hints", tests, NULL, NULL);
}
