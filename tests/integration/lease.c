/* SPDX-License-Identifier: Apache-2.0 */
/* A worker's right to act: how it is lost, kept and given back, and what that means for handlers that execute. */
#include "killer.h"
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

enum {
    AHEAD = 10
};

struct tale {
    struct gate gate;
    atomic_int executed;
    atomic_int steps;
    atomic_int seen[8]; /* what the slow step returned, by execution */
    atomic_int after[8];
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

/* Waits in its second step, and goes on although it is told to stop. */
static pawl_status
slow(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);
    int at = atomic_fetch_add(&tale->executed, 1);
    pawl_status status = pawl_step(run, "before", count, NULL, NULL);

    (void)input;
    if (status != PAWL_OK)
        return status;
    tale->seen[at] = status = pawl_step(run, "slow", wait_at_gate, NULL, output);
    tale->after[at] = pawl_step(run, "after", count, NULL, NULL);
    return status;
}

/* Waits until a counter of the worker is in this range. */
static void
until_counted(struct scene *scene, const char *counter, int64_t least, int64_t most)
{
    int64_t deadline_ms = scene_now_ms() + scene_patience_ms;
    int64_t value;

    while ((value = pawl_worker_counter(scene->worker, counter)) < least || value > most) {
        if (scene_now_ms() > deadline_ms)
            fail_msg("%s is %ld", counter, (long)value);
        scene_breathe();
    }
}

static void
begin(struct scene *scene, struct tale *tale)
{
    gate_init(&tale->gate);
    scene_handle(scene, "lease.slow", slow, tale);
    scene_work(scene);
    scene_trigger(scene, "lease.slow", "{}");
    gate_await(&tale->gate, 1);
}

/* What is recorded of a run that was executed twice. */
static void
check_once(struct scene *scene, struct tale *tale)
{
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "\"through\"");
    (void)scene_rest(scene);
    assert_int_equal(tale->executed, 2);
    assert_string_equal(scene_steps(scene, scene->run_id),
        "before#1 SUCCESS 1, slow#1 SUCCESS \"through\", after#1 SUCCESS 2");
    /* Whoever lost it was told so, and has started nothing more. */
    assert_int_equal(tale->seen[0], PAWL_ELEASE_LOST);
    assert_int_equal(tale->after[0], PAWL_ELEASE_LOST);
    assert_int_equal(tale->seen[1], PAWL_OK);
    gate_done(&tale->gate);
}

static void
a_worker_that_was_swept_drops_everything_and_registers_again(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    scene_set(scene, "lease", "3s");
    begin(scene, &tale);
    /* As if nobody had heard of it for long; in one transaction, so that no heartbeat comes in between. */
    scene_do(scene,
        "do $$ begin update pawl_data.worker set lease_until = pawl.now() - interval '1 h'"
        " where handles = '{lease.slow}' and ended_at is null; perform pawl.housekeep(); end $$",
        NULL);
    scene_until_logged(scene, "session_lost");
    gate_await(&tale.gate, 2);
    assert_int_equal(pawl_worker_counter(scene->worker, "sessions"), 2);
    gate_open(&tale.gate);
    check_once(scene, &tale);
    assert_int_equal(
        scene_number(scene, "select count(*) from pawl.history($1) where what = 'lease_lost'",
            scene->run_id),
        1);
}

/* Talks without end, until it is told to stop; then it stays for as long as the test wants. */
static pawl_status
talk(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);
    int at = atomic_fetch_add(&tale->executed, 1);
    pawl_status status;

    (void)input;
    (void)output;
    while ((status = pawl_run_check(run)) == PAWL_OK) {
        (void)pawl_run_progress(run, "turns", "%d", atomic_fetch_add(&tale->steps, 1));
        scene_breathe();
    }
    tale->seen[at] = (int)status;
    if (at == 0 && !gate_pass(&tale->gate))
        return PAWL_EPERMANENT;
    return status;
}

/* The engine takes a run from a worker that lives when it lets a step hang; here it is done by hand. */
static void
a_run_that_was_taken_and_claimed_again_is_two_claims_for_its_worker(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    gate_init(&tale.gate);
    scene_set(scene, "lease", "3s");
    scene_handle(scene, "lease.talk", talk, &tale);
    scene_work(scene);
    scene_trigger(scene, "lease.talk", "{}");
    scene_until(scene, "select count(*) > 3 from pawl.notes($1)", scene->run_id);
    scene_do(scene,
        "update pawl_data.task set fence = fence + 1, session_id = null, request = null, place = "
        "'r',"
        " started = false where run_id = $1",
        scene->run_id);
    gate_await(&tale.gate, 1);
    assert_int_equal(tale.seen[0], PAWL_ELEASE_LOST);
    /* The worker has it again; then the first execution ends, and the second must still be known. */
    scene_until(scene, "select place = 'h' from pawl_data.task where run_id = $1", scene->run_id);
    gate_open(&tale.gate);
    until_counted(scene, "held", 0, 1);
    scene_do(scene, "select pawl.cancel(array[$1]::uuid[])", scene->run_id);
    (void)scene_wait(scene, scene->run_id, PAWL_ECANCELLED);
    (void)scene_rest(scene);
    assert_int_equal(tale.executed, 2);
    assert_int_equal(tale.seen[1], PAWL_ECANCELLED);
    gate_done(&tale.gate);
}

static void
a_worker_that_was_swept_is_notified_as_before(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    int64_t began_ms;

    if (getenv("PAWL_DIRECT_PGHOST") != NULL)
        skip(); /* a pooler passes no notifications on */
    gate_init(&tale.gate);
    gate_open(&tale.gate);
    scene_set(scene, "lease", "3s");
    scene_set(scene, "poll", "1h");
    scene_handle(scene, "lease.slow", slow, &tale);
    scene_work(scene);
    for (int i = 0; i < 3; i++) {
        /* Its connections break, too, so that it asks for its old session on the new one. */
        scene_do(scene,
            "do $$ begin update pawl_data.worker set lease_until = pawl.now() - interval '1 h'"
            " where handles = '{lease.slow}' and ended_at is null; perform pawl.housekeep();"
            " perform pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()"
            " and datname = current_database() and query ilike '%listen%'; end $$",
            NULL);
        until_counted(scene, "sessions", i + 2, INT64_MAX);
        scene_until(scene,
            "select count(*) = 1 from pawl_data.worker where handles = '{lease.slow}' and ended_at "
            "is"
            " null and idle",
            NULL);
        began_ms = scene_now_ms();
        scene_trigger(scene, "lease.slow", "{}");
        (void)scene_wait(scene, scene->run_id, PAWL_OK);
        scene_in_time(scene_now_ms() - began_ms, 5000);
    }
    (void)scene_rest(scene);
    gate_done(&tale.gate);
}

static void
a_worker_goes_on_when_the_epoch_is_raised(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    scene_set(scene, "lease", "3s");
    begin(scene, &tale);
    scene_do(scene, "select pawl.raise_epoch('a test')", NULL);
    gate_await(&tale.gate, 2);
    gate_open(&tale.gate);
    check_once(scene, &tale);
}

static pawl_status
quick(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)input;
    return pawl_step(run, "quick", count, NULL, output);
}

static void
a_worker_refuses_a_server_with_an_epoch_below_one_that_it_has_seen(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    scene_set(scene, "lease", "600ms");
    scene_handle(scene, "lease.quick", quick, &tale);
    scene_work(scene);
    scene_do(scene, "update pawl_data.setting set epoch = epoch - 1", NULL);
    scene_until_logged(scene, "old_epoch");
    scene_trigger(scene, "lease.quick", "{}");
    scene_until(scene,
        "select count(*) > 3 from pawl.list_workers(ended => true) where handles = "
        "'{lease.quick}'",
        NULL);
    /* It has tried again, and taken nothing. */
    assert_string_equal(scene_state(scene, scene->run_id), "QUEUED");
    assert_int_equal(tale.steps, 0);
    scene_do(scene, "select pawl.raise_epoch('the commits are back')", NULL);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "1");
}

/* Starts a step when it is let through. */
static pawl_status
begin_late(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);

    (void)input;
    atomic_fetch_add(&tale->executed, 1);
    if (!gate_pass(&tale->gate))
        return PAWL_EPERMANENT;
    return pawl_step(run, "late", count, NULL, output);
}

static void
let_pass(int64_t ms)
{
    int64_t began_ms = scene_now_ms();

    while (scene_now_ms() - began_ms < ms)
        scene_breathe();
}

static void
no_step_starts_while_nobody_knows_whether_the_lease_is_over(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    PGconn *other = race_connect_direct();

    gate_init(&tale.gate);
    scene_set(scene, "lease", "600ms");
    scene_handle(scene, "lease.late", begin_late, &tale);
    scene_work(scene);
    scene_trigger(scene, "lease.late", "{}");
    gate_await(&tale.gate, 1);
    /* Heartbeats are not answered for longer than the lease. */
    bench_do(other, "begin");
    bench_do(other, "lock table pawl_data.worker in access exclusive mode");
    let_pass(1500);
    gate_open(&tale.gate);
    let_pass(300);
    assert_int_equal(tale.steps, 0);
    bench_do(other, "commit");
    PQfinish(other);
    (void)scene_wait(scene, scene->run_id, PAWL_OK);
    (void)scene_rest(scene);
    assert_true(tale.steps >= 1);
    gate_done(&tale.gate);
}

/* Asks, and does nothing else, until it is told to stop. */
static pawl_status
ask_only(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);
    int at = atomic_fetch_add(&tale->executed, 1);
    pawl_status status;

    (void)input;
    *output = pawl_text("{}");
    while ((status = pawl_run_check(run)) == PAWL_OK && tale->steps == 0)
        scene_breathe();
    tale->seen[at] = (int)status;
    return status;
}

static void
a_handler_that_only_asks_learns_that_the_lease_is_lost(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    int64_t began_ms;

    scene_set(scene, "lease", "3s");
    scene_handle(scene, "lease.ask", ask_only, &tale);
    scene_work(scene);
    scene_trigger(scene, "lease.ask", "{}");
    scene_until(scene, "select t.state($1) = 'RUNNING'", scene->run_id);
    began_ms = scene_now_ms();
    while (tale.executed == 0 && scene_now_ms() - began_ms < scene_patience_ms)
        scene_breathe();
    /* Nobody claims it meanwhile: a worker that has a run for the second time knows that the first claim is over. */
    scene_do(scene, "select pawl.pause_workflow('lease.ask')", NULL);
    scene_do(scene,
        "do $$ begin update pawl_data.worker set lease_until = pawl.now() - interval '1 h'"
        " where handles = '{lease.ask}' and ended_at is null; perform pawl.housekeep(); end $$",
        NULL);
    scene_until_logged(scene, "session_lost");
    began_ms = scene_now_ms();
    while (tale.seen[0] == PAWL_OK && scene_now_ms() - began_ms < scene_patience_ms)
        scene_breathe();
    atomic_store(&tale.steps, 1);
    scene_do(scene, "select pawl.resume_workflow('lease.ask')", NULL);
    (void)scene_wait(scene, scene->run_id, PAWL_OK);
    (void)scene_rest(scene);
    assert_int_equal(tale.seen[0], PAWL_ELEASE_LOST);
    assert_int_equal(tale.seen[1], PAWL_OK);
}

static void
a_drain_gives_back_what_was_not_started_and_consumes_no_attempt(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    pawl_error *error = NULL;
    pawl_run *runs[2] = {NULL, NULL};

    scene_set(scene, "concurrency", "10");
    scene_handle(scene, "lease.ahead", NULL, &tale);
    scene_start(scene);
    race_trigger(scene->conn, "lease.ahead", 1, AHEAD);
    for (int i = 0; i < 2; i++)
        assert_int_equal(
            pawl_worker_next(scene->worker, scene_patience_ms, &runs[i], &error), PAWL_OK);
    scene_until(scene,
        "select count(*) = 10 from pawl.list_runs(only_workflow => 'lease.ahead', max_rows => 100)"
        " where status = 'RUNNING'",
        NULL);
    pawl_worker_drain(scene->worker);
    scene_until(scene,
        "select count(*) = 8 from pawl.list_runs(only_workflow => 'lease.ahead', max_rows => 100)"
        " where status = 'QUEUED' and execution = 0",
        NULL);
    for (int i = 0; i < 2; i++)
        pawl_run_finish(runs[i], PAWL_OK, (pawl_bytes){0});
    assert_int_equal(pawl_worker_stop(scene->worker, scene_patience_ms, &error), PAWL_OK);
    assert_int_equal(
        scene_number(scene,
            "select count(*) from pawl.list_runs(only_workflow => 'lease.ahead', max_rows => 100)"
            " where status = 'SUCCESS' and execution = 1",
            NULL),
        2);
    assert_int_equal(
        scene_number(scene,
            "select count(*) from pawl.list_runs(only_workflow => 'lease.ahead', max_rows => 100) r"
            " cross join lateral pawl.history(r.run_id) h where h.what = 'lease_lost'",
            NULL),
        0);
}

static void
a_stop_that_cannot_wait_gives_back_what_executes(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    pawl_error *error = NULL;

    begin(scene, &tale);
    assert_int_equal(pawl_worker_stop(scene->worker, 50, &error), PAWL_ETIMEOUT);
    scene_has(pawl_error_message(error), "1 run");
    pawl_error_free(error);
    /* It is not lost with a crash, and others may have it while the handler still executes. */
    assert_string_equal(scene_state(scene, scene->run_id), "QUEUED");
    assert_int_equal(
        scene_number(scene, "select execution from pawl.get_run($1)", scene->run_id), 0);
    gate_open(&tale.gate);
    (void)scene_rest(scene);
    assert_int_equal(tale.seen[0], PAWL_ELEASE_LOST);
    assert_int_equal(tale.after[0], PAWL_ELEASE_LOST);
    assert_string_equal(scene_steps(scene, scene->run_id), "before#1 SUCCESS 1");
    gate_done(&tale.gate);
}

/* Of two runs one is locked by somebody else, so that the goodbye takes a while; the other one is given back meanwhile. */
static void
no_step_starts_while_the_worker_leaves(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    PGconn *other = race_connect_direct();
    char given_back[PAWL_ID_SIZE];
    char lock[200];

    gate_init(&tale.gate);
    scene_set(scene, "drain_timeout", "0");
    scene_handle(scene, "lease.late", begin_late, &tale);
    scene_work(scene);
    memcpy(given_back, scene_trigger(scene, "lease.late", "{}"), sizeof(given_back));
    scene_trigger(scene, "lease.late", "{}");
    gate_await(&tale.gate, 2);
    (void)snprintf(lock, sizeof(lock), "select from pawl_data.task where run_id = '%s' for update",
        scene->run_id);
    bench_do(other, "begin");
    bench_do(other, lock);
    pawl_worker_drain(scene->worker);
    scene_until(scene, "select t.state($1) = 'QUEUED'", given_back);
    gate_open(&tale.gate);
    let_pass(300);
    assert_int_equal(tale.steps, 0);
    bench_do(other, "commit");
    PQfinish(other);
    (void)scene_rest(scene);
    assert_int_equal(tale.steps, 0);
    assert_string_equal(scene_state(scene, given_back), "QUEUED");
    assert_string_equal(scene_state(scene, scene->run_id), "QUEUED");
    gate_done(&tale.gate);
}

static pawl_status
tell_well(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)run;
    (void)input;
    *output = pawl_text("\"well\"");
    return PAWL_OK;
}

static void
a_suspect_run_is_taken_only_by_a_worker_with_nothing_else(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    char suspect[PAWL_ID_SIZE];

    gate_init(&tale.gate);
    scene_do(scene, "select pawl.create_workflow('lease.quick')", NULL);
    scene_do(scene, "select pawl.pause_workflow('lease.quick')", NULL);
    memcpy(suspect, scene_trigger(scene, "lease.quick", "{}"), sizeof(suspect));
    /* As if two workers had been lost with it. */
    scene_do(
        scene, "update pawl_data.task set crashes = 2, place = 's' where run_id = $1", suspect);
    scene_handle(scene, "lease.quick", quick, &tale);
    scene_handle(scene, "lease.slow", slow, &tale);
    scene_handle(scene, "lease.neighbour", tell_well, NULL);
    scene_work(scene);
    scene_trigger(scene, "lease.slow", "{}");
    gate_await(&tale.gate, 1);
    scene_do(scene, "select pawl.resume_workflow('lease.quick')", NULL);
    /* Others are taken beside the one that executes. */
    for (int i = 0; i < 5; i++) {
        scene_trigger(scene, "lease.neighbour", "{}");
        (void)scene_wait(scene, scene->run_id, PAWL_OK);
    }
    assert_string_equal(scene_state(scene, suspect), "QUEUED");
    scene_has(scene_text(scene, "select pawl.why($1)", suspect), "suspect");
    gate_open(&tale.gate);
    (void)scene_wait(scene, suspect, PAWL_OK);
    (void)scene_rest(scene);
    gate_done(&tale.gate);
}

/* In a process of its own: tells what it sees in a table. */
static void
tell(const char *run_id, const char *what)
{
    const char *params[] = {run_id, what};
    PGconn *conn = PQconnectdb("");

    PQclear(PQexecParams(conn, "insert into public.told (run_id, what) values ($1, $2)", 2, NULL,
        params, NULL, NULL, 0));
    PQfinish(conn);
}

/* Until the test has written that the run may go on. */
static bool
wait_for_word(const char *run_id)
{
    const char *params[] = {run_id};
    PGconn *conn = PQconnectdb("");
    int64_t give_up_ms = scene_now_ms() + scene_patience_ms;
    bool come = false;

    while (!come && scene_now_ms() < give_up_ms) {
        PGresult *res =
            PQexecParams(conn, "select 1 from public.told where run_id = $1 and what = 'go'", 1,
                NULL, params, NULL, NULL, 0);

        come = PQntuples(res) > 0;
        PQclear(res);
        scene_breathe();
    }
    PQfinish(conn);
    return come;
}

static pawl_status
wait_in_step(pawl_run *run, void *userdata, pawl_bytes *output)
{
    const char *name = userdata;

    tell(pawl_run_id(run), name);
    *output = pawl_text("1");
    return wait_for_word(pawl_run_id(run)) ? PAWL_OK : PAWL_EPERMANENT;
}

static pawl_status
frozen(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    char first[] = "first", second[] = "second";
    pawl_status status = pawl_step(run, "first", wait_in_step, first, NULL);

    (void)input;
    tell(pawl_run_id(run), pawl_status_name(status));
    if (pawl_step(run, "second", wait_in_step, second, output) != PAWL_OK)
        tell(pawl_run_id(run), "not second");
    return status;
}

static const pawl_declaration in_a_process[] = {
    {sizeof(pawl_declaration), "lease.frozen", frozen, NULL, {NULL}},
    {sizeof(pawl_declaration), "lease.process", tell_well, NULL, {NULL}},
};
static const char *const process_settings[] = {"lease", "3s", "worker_name", "frozen", NULL};

/* A process whose handler is in its first step. */
static struct killer *
begin_process(struct scene *scene)
{
    struct killer *killer = killer_new(1);

    scene_do(scene, "create table if not exists public.told (run_id uuid, what text)", NULL);
    (void)scene_spawn(killer, "worker", false);
    scene_do(scene, "select pawl.create_workflow('lease.frozen')", NULL);
    scene_trigger(scene, "lease.frozen", "{}");
    scene_until(scene, "select count(*) = 1 from public.told where run_id = $1 and what = 'first'",
        scene->run_id);
    return killer;
}

static const char *
told(struct scene *scene, const char *run_id)
{
    return scene_text(scene,
        "select string_agg(what, ', ' order by ctid) from public.told where run_id = $1 and what "
        "<> 'go'",
        run_id);
}

static void
a_process_that_was_stopped_until_it_was_swept_writes_nothing_and_goes_on(void **state)
{
    struct scene *scene = *state;
    struct killer *killer = begin_process(scene);
    char frozen_run[PAWL_ID_SIZE];

    memcpy(frozen_run, scene->run_id, sizeof(frozen_run));
    assert_true(killer_hit(killer, 0, KILLER_STOP_CONT, 0));
    /* Somebody else sweeps it: this worker, which then has the run, and holds it paused. */
    scene_until(scene,
        "select pawl.housekeep() is not null and t.state($1) = 'QUEUED' and not exists (select "
        "from "
        "pawl.list_workers() where worker = 'frozen')",
        frozen_run);
    scene_do(scene, "select pawl.pause(array[$1::uuid])", frozen_run);
    scene_do(scene, "insert into public.told (run_id, what) values ($1, 'go')", frozen_run);
    killer_continue(killer, 0);
    scene_until(scene,
        "select count(*) = 1 from public.told where run_id = $1 and what = 'not second'",
        frozen_run);
    assert_string_equal(told(scene, frozen_run), "first, PAWL_ELEASE_LOST, not second");
    assert_string_equal(scene_steps(scene, frozen_run), "");
    /* It is a worker again. */
    scene_trigger(scene, "lease.process", "{}");
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "\"well\"");
    scene_do(scene, "select pawl.resume(array[$1::uuid])", frozen_run);
    assert_string_equal(scene_wait(scene, frozen_run, PAWL_OK), "1");
    assert_int_equal(killer_end_all(killer, scene_patience_ms), 0);
    killer_free(killer);
}

static void
a_process_that_was_stopped_and_that_nobody_has_missed_keeps_its_runs(void **state)
{
    struct scene *scene = *state;
    struct killer *killer = begin_process(scene);

    assert_true(killer_hit(killer, 0, KILLER_STOP_CONT, 0));
    scene_until(scene,
        "select lease_until < pawl.now() from pawl.list_workers() where worker = 'frozen'", NULL);
    scene_do(scene, "insert into public.told (run_id, what) values ($1, 'go')", scene->run_id);
    killer_continue(killer, 0);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "1");
    assert_string_equal(told(scene, scene->run_id), "first, PAWL_OK, second");
    assert_int_equal(
        scene_number(scene, "select execution from pawl.get_run($1)", scene->run_id), 1);
    assert_int_equal(killer_end_all(killer, scene_patience_ms), 0);
    killer_free(killer);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_set_up, scene_tear_down)
        TEST(a_worker_that_was_swept_drops_everything_and_registers_again),
        TEST(a_run_that_was_taken_and_claimed_again_is_two_claims_for_its_worker),
        TEST(a_worker_that_was_swept_is_notified_as_before),
        TEST(a_worker_goes_on_when_the_epoch_is_raised),
        TEST(a_worker_refuses_a_server_with_an_epoch_below_one_that_it_has_seen),
        TEST(no_step_starts_while_nobody_knows_whether_the_lease_is_over),
        TEST(a_handler_that_only_asks_learns_that_the_lease_is_lost),
        TEST(a_drain_gives_back_what_was_not_started_and_consumes_no_attempt),
        TEST(a_stop_that_cannot_wait_gives_back_what_executes),
        TEST(no_step_starts_while_the_worker_leaves),
        TEST(a_suspect_run_is_taken_only_by_a_worker_with_nothing_else),
        TEST(a_process_that_was_stopped_until_it_was_swept_writes_nothing_and_goes_on),
        TEST(a_process_that_was_stopped_and_that_nobody_has_missed_keeps_its_runs),
#undef TEST
    };

    if (argc > 1 && strcmp(argv[1], "worker") == 0)
        return scene_be_worker(process_settings, in_a_process, 2, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
