/* SPDX-License-Identifier: Apache-2.0 */
/* Workers that rest: they are notified when a transaction commits, look again, and keep one connection. */
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

static bool is_pooled;

static pawl_status
echo(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)run;
    *output = input;
    return PAWL_OK;
}

/* Of this database: another copy of the test may run on the same server. */
#define MINE                                                                         \
    "from pg_stat_activity where application_name = 'pawl_rest_test' and datname = " \
    "current_database()"

static const char connections[] = "select count(*) " MINE;

/* Triggers runs until the worker has more connections than one: two must come within three seconds. */
static void
until_more(struct scene *scene)
{
    int64_t deadline_ms = scene_now_ms() + scene_patience_ms;

    while (scene_number(scene, connections, NULL) == 1) {
        assert_true(scene_now_ms() < deadline_ms);
        scene_trigger(scene, "rest.lean", "[4]");
        assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "[4]");
    }
}

static void
until_idle(struct scene *scene, const char *handles)
{
    scene_until(scene,
        "select count(*) = 1 from pawl.list_workers() where handles = array[$1] and state = 'idle'",
        handles);
}

static void
work_idly(struct scene *scene, const char *workflow)
{
    if (is_pooled)
        skip(); /* a pooler passes no notifications on, and has connections of its own */
    scene_set(scene, "poll", "1h");
    scene_handle(scene, workflow, echo, NULL);
    scene_work(scene);
    scene_trigger(scene, workflow, "[0]");
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "[0]");
}

/* 1. A producer triggers a run and stays in its transaction. 2. The worker comes to rest. 3. The producer commits. */
static void
a_run_of_a_long_transaction_is_notified_at_its_commit(void **state)
{
    struct scene *scene = *state;
    PGconn *producer;

    work_idly(scene, "rest.long");
    producer = race_connect_direct();
    for (int i = 0; i < 3; i++) {
        char id[64], at[64];
        PGresult *res;

        bench_do(producer, "begin");
        scene_trigger(scene, "rest.long", "[1]");
        res = bench_exec(producer, "select run_id from pawl.trigger('rest.long', '[2]')");
        (void)snprintf(id, sizeof(id), "%s", PQgetvalue(res, 0, 0));
        PQclear(res);
        assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "[1]");
        until_idle(scene, "rest.long");
        /* Longer than the worker looks again. */
        (void)snprintf(at, sizeof(at), "%s", scene_text(scene, "select clock_timestamp()", NULL));
        scene_until(scene, "select clock_timestamp() > $1::timestamptz + interval '400 ms'", at);
        bench_do(producer, "commit");
        assert_string_equal(scene_wait(scene, id, PAWL_OK), "[2]");
    }
    PQfinish(producer);
}

/* A connection of a role whose calls notify no worker; the role is of this database. */
static PGconn *
connect_quietly(struct scene *scene)
{
    PGconn *quiet = race_connect_direct();

    scene_do(scene,
        "do $$ declare v_role name := 'rest_quiet_' || current_database(); begin"
        " execute format('create role %I', v_role); perform pawl.grant_role(v_role, 'producer');"
        " perform pawl.set_notify('off', v_role); end $$",
        NULL);
    bench_do(quiet, "select set_config('role', 'rest_quiet_' || current_database(), false)");
    return quiet;
}

static void
drop_quiet(struct scene *scene, PGconn *quiet)
{
    PQfinish(quiet);
    scene_do(scene,
        "do $$ declare v_role name := 'rest_quiet_' || current_database(); begin"
        " perform pawl.set_notify('default', v_role); execute format('drop owned by %I', v_role);"
        " execute format('drop role %I', v_role); end $$",
        NULL);
}

/*
 * Without a notification, and with a poll interval of an hour, only a look can find a run. The worker looks for 150 ms, so the one statement
 * that triggers it is all that comes between.
 */
static void
a_worker_looks_again_after_a_run(void **state)
{
    struct scene *scene = *state;
    bool found = false;
    PGconn *quiet;

    work_idly(scene, "rest.look");
    quiet = connect_quietly(scene);
    for (int i = 0; i < 100 && !found; i++) {
        char id[64];
        PGresult *res;
        int64_t until_ms;

        scene_trigger(scene, "rest.look", "[1]");
        assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "[1]");
        res = bench_exec(quiet, "select run_id from pawl.trigger('rest.look', '[2]')");
        (void)snprintf(id, sizeof(id), "%s", PQgetvalue(res, 0, 0));
        PQclear(res);
        until_ms = scene_now_ms() + 1000;
        while (!found && scene_now_ms() < until_ms)
            found = scene_number(scene,
                        "select count(*) from pawl.get_run($1) where status = 'SUCCESS'", id) == 1;
    }
    assert_true(found);
    drop_quiet(scene, quiet);
}

/* A run now and then needs no other connection; two that are close to each other do. */
static void
a_worker_that_rests_keeps_one_connection(void **state)
{
    struct scene *scene = *state;
    char sql[200];

    scene_set(scene, "application_name", "pawl_rest_test");
    work_idly(scene, "rest.lean");
    (void)snprintf(sql, sizeof(sql), "select (%s) = 1", connections);
    for (int i = 0; i < 2; i++) {
        scene_until(scene, sql, NULL);
        until_idle(scene, "rest.lean");
        scene_trigger(scene, "rest.lean", "[3]");
        assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "[3]");
        assert_int_equal(scene_number(scene, connections, NULL), 1);
        until_more(scene);
    }
    assert_int_equal(pawl_worker_counter(scene->worker, "sessions"), 1);
    assert_int_equal(pawl_worker_counter(scene->worker, "reconnects"), 0);
}

/* Its lease is renewed by the requests of a worker that rests, which sends no heartbeats. */
static void
a_worker_that_rests_keeps_its_lease(void **state)
{
    struct scene *scene = *state;
    char session[24], sql[300];

    scene_set(scene, "poll", "100ms");
    scene_set(scene, "lease", "10s");
    scene_handle(scene, "rest.lease", echo, NULL);
    scene_work(scene);
    until_idle(scene, "rest.lease");
    (void)snprintf(session, sizeof(session), "%s",
        scene_text(scene, "select session from pawl.list_workers() where handles = array[$1]",
            "rest.lease"));
    /* Two renewals, of the session that it had at first. */
    (void)snprintf(sql, sizeof(sql),
        "select lease_until > '%s'::timestamptz + interval '5 s' from pawl.list_workers() where "
        "session = $1",
        scene_text(
            scene, "select lease_until from pawl.list_workers() where session = $1", session));
    scene_until(scene, sql, session);
    assert_int_equal(pawl_worker_counter(scene->worker, "sessions"), 1);
}

static pawl_status
wait_at_gate(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    *output = input;
    return gate_pass(pawl_run_userdata(run)) ? PAWL_OK : PAWL_ERUN;
}

static const char blocked[] = "select count(*) > 0 " MINE " and wait_event_type = 'Lock'";

/* 1. A worker that has one connection has sent a commit. 2. The connection breaks. The run is committed on another one. */
static void
a_commit_on_the_one_connection_survives_it(void **state)
{
    struct scene *scene = *state;
    PGconn *other;
    struct gate gate;
    char sql[200];

    if (is_pooled)
        skip();
    gate_init(&gate);
    scene_set(scene, "application_name", "pawl_rest_test");
    scene_set(scene, "poll", "1h");
    scene_handle(scene, "rest.broken", wait_at_gate, &gate);
    scene_work(scene);
    other = race_connect_direct();
    (void)snprintf(sql, sizeof(sql), "select (%s) = 1", connections);
    scene_until(scene, sql, NULL);
    until_idle(scene, "rest.broken");
    scene_trigger(scene, "rest.broken", "[5]");
    gate_await(&gate, 1);
    /* The commit waits for it. So may a look, which goes on the same connection, in front of the commit. */
    bench_do(other, "begin");
    bench_do(other, "lock table pawl_data.task in exclusive mode");
    gate_open(&gate);
    scene_until(scene, blocked, NULL);
    scene_do(scene, "select pg_terminate_backend(pid) " MINE, NULL);
    bench_do(other, "rollback");
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "[5]");
    assert_int_equal(
        scene_number(scene, "select execution from pawl.get_run($1)", scene->run_id), 1);
    PQfinish(other);
    (void)scene_rest(scene);
    gate_done(&gate);
}

/* A second worker of the same settings and handler. */
struct second {
    pawl_worker *worker;
    pthread_t thread;
};

static void *
work(void *worker)
{
    pawl_error *error = NULL;

    if (pawl_worker_run(worker, &error) != PAWL_OK)
        (void)printf("# the second worker: %s\n", pawl_error_message(error));
    return NULL;
}

static void
start_second(struct scene *scene, struct second *second, const char *workflow,
    pawl_handler_fn handler, void *userdata)
{
    pawl_error *error = NULL;

    assert_int_equal(pawl_worker_new(scene->config, &second->worker, &error), PAWL_OK);
    assert_int_equal(
        pawl_worker_handle(second->worker, workflow, handler, userdata, &error), PAWL_OK);
    assert_int_equal(pawl_worker_start(second->worker, &error), PAWL_OK);
    assert_int_equal(pthread_create(&second->thread, NULL, work, second->worker), 0);
}

static void
stop_second(struct second *second)
{
    pawl_worker_drain(second->worker);
    (void)pthread_join(second->thread, NULL);
    pawl_worker_free(second->worker);
}

static const char both_idle[] =
    "select count(*) = 2 from pawl.list_workers() where handles = array[$1] and state = 'idle'";

/* Two runs of one transaction, which notifies one worker. That one has room for one. */
static void
a_worker_passes_on_what_it_cannot_take(void **state)
{
    struct scene *scene = *state;
    struct second second;
    PGconn *producer;
    struct gate gate;

    if (is_pooled)
        skip();
    gate_init(&gate);
    scene_set(scene, "poll", "1h");
    scene_set(scene, "concurrency", "1");
    scene_handle(scene, "rest.both", wait_at_gate, &gate);
    scene_work(scene);
    start_second(scene, &second, "rest.both", wait_at_gate, &gate);
    scene_until(scene, both_idle, "rest.both");
    producer = race_connect_direct();
    bench_do(producer,
        "begin; select pawl.trigger('rest.both', '[6]'); select pawl.trigger('rest.both', '[7]'); "
        "commit");
    gate_await(&gate, 2);
    gate_open(&gate);
    PQfinish(producer);
    stop_second(&second);
    (void)scene_rest(scene);
    gate_done(&gate);
}

/* A run that is "[0]" waits at the first gate, others at the second. */
static pawl_status
wait_at_gates(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct gate *gates = pawl_run_userdata(run);

    *output = input;
    return gate_pass(&gates[strcmp(input.data, "[0]") != 0]) ? PAWL_OK : PAWL_ERUN;
}

static void
wait_a_while(struct scene *scene)
{
    char at[64];

    (void)snprintf(at, sizeof(at), "%s", scene_text(scene, "select clock_timestamp()", NULL));
    scene_until(scene, "select clock_timestamp() > $1::timestamptz + interval '400 ms'", at);
}

/* The requests of all workers are answered. */
static const char answered[] = "select count(*) = 0 " MINE " and state <> 'idle'";

/* Returns true if so many have arrived within a second. */
static bool
has_arrived(struct gate *gate, int count)
{
    int64_t until_ms = scene_now_ms() + 1000;
    bool arrived = false;

    while (!arrived && scene_now_ms() < until_ms) {
        scene_breathe();
        (void)pthread_mutex_lock(&gate->lock);
        arrived = gate->arrived >= count;
        (void)pthread_mutex_unlock(&gate->lock);
    }
    return arrived;
}

/* What happens after a worker with one place has claimed "[0]", while another rests. Two further runs are at the second gate in the end. */
typedef void (*play_fn)(struct scene *scene, struct gate *gates);

/* Plays it until it has come out well once: it is a matter of milliseconds. Two runs, or one and the first, must execute at the same time. */
static void
play_until_well(struct scene *scene, const char *workflow, play_fn play, int gate, int count)
{
    bool found = false;

    if (is_pooled)
        skip();
    scene_set(scene, "application_name", "pawl_rest_test");
    scene_set(scene, "poll", "1h");
    scene_set(scene, "lease", "1h");
    scene_set(scene, "concurrency", "1");
    for (int i = 0; i < 10 && !found; i++) {
        struct second second;
        struct gate gates[2];

        gate_init(&gates[0]);
        gate_init(&gates[1]);
        scene_handle(scene, workflow, wait_at_gates, gates);
        scene_work(scene);
        start_second(scene, &second, workflow, wait_at_gates, gates);
        scene_until(scene, both_idle, workflow);
        wait_a_while(scene);
        scene_trigger(scene, workflow, "[0]");
        gate_await(&gates[0], 1);
        scene_until(scene, answered, NULL);
        play(scene, gates);
        found = has_arrived(&gates[gate], count);
        gate_open(&gates[0]);
        gate_open(&gates[1]);
        (void)scene_wait(scene, scene->run_id, PAWL_OK);
        stop_second(&second);
        (void)scene_rest(scene);
        gate_done(&gates[0]);
        gate_done(&gates[1]);
    }
    assert_true(found);
}

/* 1. Two runs become ready, without a notification. 2. The worker ends its run, and claims one of them. */
static void
end_the_first(struct scene *scene, struct gate *gates)
{
    wait_a_while(scene);
    scene_do(scene, "select * from pawl.set_notify('off')", NULL);
    scene_trigger(scene, "rest.busy", "[1]");
    scene_trigger(scene, "rest.busy", "[2]");
    scene_do(scene, "select * from pawl.set_notify('on')", NULL);
    gate_open(&gates[0]);
}

static void
a_busy_worker_passes_on_what_it_cannot_take(void **state)
{
    play_until_well(*state, "rest.busy", end_the_first, 1, 2);
}

/* A run is triggered, and notifies no worker, because one just was. With luck that one still looks again. */
static void
trigger_silently(struct scene *scene, struct gate *gates)
{
    (void)gates;
    scene_do(scene,
        "select setval('pawl_data.bell_clock', ((date_part('epoch', clock_timestamp()) * 1000000)"
        "::bigint + 900000) << 12 | (queue_id & 4095)) from pawl_data.queue where name = "
        "'rest.full'",
        NULL);
    scene_trigger(scene, "rest.full", "[1]");
}

static void
a_worker_without_a_place_passes_on_what_comes_later(void **state)
{
    play_until_well(*state, "rest.full", trigger_silently, 1, 1);
}

static int64_t
claims_of(const struct scene *scene, const struct second *second)
{
    return pawl_worker_counter(scene->worker, "claims") +
        pawl_worker_counter(second->worker, "claims");
}

/* 1. A run is ready, and another transaction has locked it. 2. Workers are notified of it, find nothing, and pass it on to each other. */
static void
workers_that_find_nothing_pass_on_seldom(void **state)
{
    struct scene *scene = *state;
    struct second second;
    int64_t began_ms, took_ms, claims;
    char sql[200];
    PGconn *other;

    if (is_pooled)
        skip();
    scene_set(scene, "poll", "1h");
    scene_set(scene, "lease", "1h");
    scene_handle(scene, "rest.vain", echo, NULL);
    scene_work(scene);
    start_second(scene, &second, "rest.vain", echo, NULL);
    scene_until(scene, both_idle, "rest.vain");
    other = race_connect_direct();
    scene_do(scene, "select * from pawl.set_notify('off')", NULL);
    scene_do(scene, "select pawl.pause_queue('rest.vain')", NULL);
    scene_trigger(scene, "rest.vain", "[8]");
    (void)snprintf(sql, sizeof(sql), "select from pawl_data.task where run_id = '%s' for update",
        scene->run_id);
    bench_do(other, "begin");
    bench_do(other, sql);
    scene_do(scene, "select * from pawl.set_notify('on')", NULL);
    scene_until(scene, both_idle, "rest.vain");
    claims = claims_of(scene, &second);
    scene_do(scene, "select pawl.resume_queue('rest.vain')", NULL);
    began_ms = scene_now_ms();
    /* On a slow machine the first claim may take longer. */
    while (scene_now_ms() - began_ms < 2000 ||
        (claims_of(scene, &second) == claims && scene_now_ms() - began_ms < scene_patience_ms))
        scene_breathe();
    took_ms = scene_now_ms() - began_ms;
    claims = claims_of(scene, &second) - claims;
    (void)printf("# %ld claims in %ld ms\n", (long)claims, (long)took_ms);
    assert_true(claims > 0);
    /* Each passes on once in a second, and looks four times after each notification. */
    assert_true(claims <= 20 + took_ms / 50);
    bench_do(other, "rollback");
    PQfinish(other);
    stop_second(&second);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_set_up, scene_tear_down)
        TEST(a_run_of_a_long_transaction_is_notified_at_its_commit),
        TEST(a_worker_looks_again_after_a_run),
        TEST(a_worker_that_rests_keeps_one_connection),
        TEST(a_worker_that_rests_keeps_its_lease),
        TEST(a_commit_on_the_one_connection_survives_it),
        TEST(a_worker_passes_on_what_it_cannot_take),
        TEST(a_busy_worker_passes_on_what_it_cannot_take),
        TEST(a_worker_without_a_place_passes_on_what_comes_later),
        TEST(workers_that_find_nothing_pass_on_seldom),
#undef TEST
    };

    is_pooled = getenv("PAWL_DIRECT_PGHOST") != NULL;
    return cmocka_run_group_tests_name("rest", tests, NULL, NULL);
}
