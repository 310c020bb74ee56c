/* SPDX-License-Identifier: Apache-2.0 */
/* Transactions of others that stay open and hold a run or a topic: only that run waits, and everything ends well. */
#include "race.h"
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum {
    NEIGHBOURS = 20,
    TURNS = 10
};

struct tale {
    struct gate gate;
    atomic_int executed;
    atomic_int steps;
    atomic_int told; /* what the first execution heard of its step */
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
held(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);
    pawl_status status = pawl_step(run, "first", wait_at_gate, NULL, output);

    (void)input;
    atomic_fetch_add(&tale->executed, 1);
    pawl_run_log(run, "a note stands behind it");
    for (int i = 0; i < TURNS && status == PAWL_OK; i++)
        status = pawl_step(run, "turn", count, NULL, NULL);
    return status;
}

static pawl_status
neighbour(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_status status = PAWL_OK;

    (void)input;
    for (int i = 0; i < 3 && status == PAWL_OK; i++)
        status = pawl_step(run, "turn", count, NULL, output);
    return status;
}

/* Others of the same worker go on, and end. */
static void
check_neighbours(struct scene *scene)
{
    char ids[NEIGHBOURS][PAWL_ID_SIZE];
    char kept[PAWL_ID_SIZE];

    memcpy(kept, scene->run_id, sizeof(kept));
    for (int i = 0; i < NEIGHBOURS; i++)
        memcpy(ids[i], scene_trigger(scene, "busy.neighbour", "{}"), sizeof(ids[i]));
    for (int i = 0; i < NEIGHBOURS; i++)
        (void)scene_wait(scene, ids[i], PAWL_OK);
    memcpy(scene->run_id, kept, sizeof(kept));
}

static void
begin(struct scene *scene, struct tale *tale)
{
    gate_init(&tale->gate);
    /* One connection, so that whoever waits for a lock would stall all. */
    scene_set(scene, "connections", "1");
    scene_handle(scene, "busy.held", held, tale);
    scene_handle(scene, "busy.neighbour", neighbour, tale);
    scene_work(scene);
    scene_trigger(scene, "busy.held", "{}");
    gate_await(&tale->gate, 1);
}

/* Waits until so many items were answered busy. */
static void
until_busy(struct scene *scene, int count)
{
    int64_t deadline_ms = scene_now_ms() + scene_patience_ms;

    while (pawl_worker_counter(scene->worker, "busy") < count) {
        if (scene_now_ms() > deadline_ms)
            fail_msg("nothing is busy");
        scene_breathe();
    }
}

static void
do_in(PGconn *conn, const char *sql, const char *parameter)
{
    const char *params[] = {parameter};

    PQclear(bench_exec_params(conn, sql, 1, params));
}

static void
a_transaction_that_holds_a_run_makes_only_that_run_wait(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    PGconn *other = race_connect_direct();

    begin(scene, &tale);
    bench_do(other, "begin");
    do_in(other, "select pawl.signal($1, 'anything')", scene->run_id);
    gate_open(&tale.gate);
    check_neighbours(scene);
    assert_int_equal(tale.executed, 0);
    assert_string_equal(scene_steps(scene, scene->run_id), "");
    until_busy(scene, 1);
    bench_do(other, "commit");
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "\"through\"");
    (void)scene_rest(scene);
    assert_int_equal(
        scene_number(scene, "select json_array_length(steps) from pawl.get_run($1)", scene->run_id),
        TURNS + 1);
    assert_int_equal(
        scene_number(scene, "select execution from pawl.get_run($1)", scene->run_id), 1);
    PQfinish(other);
    gate_done(&tale.gate);
}

static void
a_run_that_is_locked_before_it_is_claimed_is_taken_later(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    PGconn *other = race_connect_direct();

    gate_init(&tale.gate);
    gate_open(&tale.gate);
    scene_handle(scene, "busy.held", held, &tale);
    scene_handle(scene, "busy.neighbour", neighbour, &tale);
    scene_do(scene, "select pawl.create_workflow('busy.held')", NULL);
    scene_trigger(scene, "busy.held", "{}");
    bench_do(other, "begin");
    do_in(other, "select pawl.signal($1, 'anything')", scene->run_id);
    scene_work(scene);
    check_neighbours(scene);
    assert_string_equal(scene_state(scene, scene->run_id), "QUEUED");
    bench_do(other, "rollback");
    (void)scene_wait(scene, scene->run_id, PAWL_OK);
    (void)scene_rest(scene);
    PQfinish(other);
    gate_done(&tale.gate);
}

static pawl_status
listener(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_status status = pawl_step(run, "first", wait_at_gate, NULL, NULL);

    (void)input;
    return status == PAWL_OK ? pawl_wait_event(run, "news", "busy.topic", -1, output) : status;
}

static void
an_emit_that_is_not_committed_makes_only_its_waiters_wait(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    PGconn *other = race_connect_direct();

    gate_init(&tale.gate);
    scene_set(scene, "connections", "1");
    scene_handle(scene, "busy.listener", listener, &tale);
    scene_handle(scene, "busy.neighbour", neighbour, &tale);
    scene_work(scene);
    scene_do(scene, "select pawl.emit('busy.topic', '0')", NULL);
    scene_trigger(scene, "busy.listener", "{}");
    gate_await(&tale.gate, 1);
    bench_do(other, "begin");
    do_in(other, "select pawl.emit('busy.topic', $1::json)", "1");
    gate_open(&tale.gate);
    check_neighbours(scene);
    until_busy(scene, 1);
    assert_string_equal(scene_state(scene, scene->run_id), "RUNNING");
    bench_do(other, "commit");
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "1");
    (void)scene_rest(scene);
    PQfinish(other);
    gate_done(&tale.gate);
}

static pawl_status
parent(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    return pawl_child(run, "kid", "busy.held", input, output);
}

static void
a_child_whose_parent_is_locked_ends_when_it_is_free(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    PGconn *other = race_connect_direct();

    gate_init(&tale.gate);
    scene_set(scene, "connections", "1");
    scene_handle(scene, "busy.parent", parent, &tale);
    scene_handle(scene, "busy.held", held, &tale);
    scene_handle(scene, "busy.neighbour", neighbour, &tale);
    scene_work(scene);
    scene_trigger(scene, "busy.parent", "{}");
    gate_await(&tale.gate, 1);
    scene_until(scene, "select t.state($1) = 'PAUSED child'", scene->run_id);
    bench_do(other, "begin");
    do_in(other, "select pawl.signal($1, 'anything')", scene->run_id);
    gate_open(&tale.gate);
    check_neighbours(scene);
    until_busy(scene, 1);
    assert_string_equal(scene_state(scene, scene->run_id), "PAUSED child");
    bench_do(other, "commit");
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "\"through\"");
    (void)scene_rest(scene);
    PQfinish(other);
    gate_done(&tale.gate);
}

static pawl_status
turning_branch(pawl_run *branch, void *userdata, pawl_bytes *output)
{
    pawl_status status = PAWL_OK;

    (void)userdata;
    (void)output;
    for (int i = 0; i < TURNS && status == PAWL_OK; i++)
        status = pawl_step(branch, "turn", count, NULL, NULL);
    return status;
}

static pawl_status
branching(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);
    pawl_status status = pawl_step(run, "first", wait_at_gate, NULL, output);
    char name[8];

    (void)input;
    atomic_fetch_add(&tale->executed, 1);
    for (int i = 0; i < 8 && status == PAWL_OK; i++) {
        (void)snprintf(name, sizeof(name), "b%d", i);
        status = pawl_branch(run, name, turning_branch, NULL, NULL);
    }
    return status == PAWL_OK ? pawl_branches_join(run) : status;
}

/* Takes and lets go of the run, again and again, while its branches record. */
static void
branches_of_a_run_that_is_locked_again_and_again_record_each_step_once(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    PGconn *other = race_connect_direct();
    int rounds = 0;

    gate_init(&tale.gate);
    scene_handle(scene, "busy.branching", branching, &tale);
    scene_work(scene);
    scene_trigger(scene, "busy.branching", "{}");
    gate_await(&tale.gate, 1);
    gate_open(&tale.gate);
    while (scene_number(scene, "select count(*) from pawl.result($1)", scene->run_id) == 0 &&
        rounds++ < 1000) {
        const char *params[] = {scene->run_id};

        bench_do(other, "begin");
        PQclear(race_try(other, "select pawl.signal($1, 'anything')", 1, params));
        scene_breathe();
        bench_do(other, "rollback");
    }
    (void)scene_wait(scene, scene->run_id, PAWL_OK);
    (void)scene_rest(scene);
    assert_int_equal(scene_number(scene,
                         "select count(distinct s ->> 'name') from pawl.get_run($1) g, "
                         "json_array_elements(g.steps) s where s ->> 'state' = 'SUCCESS'",
                         scene->run_id),
        8 * TURNS + 1);
    assert_int_equal(tale.steps, 8 * TURNS);
    assert_int_equal(tale.executed, 1);
    PQfinish(other);
    gate_done(&tale.gate);
}

static void
a_drain_waits_for_a_run_that_another_transaction_holds(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    PGconn *other = race_connect_direct();

    begin(scene, &tale);
    bench_do(other, "begin");
    do_in(other, "select pawl.signal($1, 'anything')", scene->run_id);
    gate_open(&tale.gate);
    pawl_worker_drain(scene->worker);
    until_busy(scene, 3);
    bench_do(other, "commit");
    assert_int_equal(scene_rest(scene), PAWL_OK);
    assert_string_equal(scene_state(scene, scene->run_id), "SUCCESS");
    PQfinish(other);
    gate_done(&tale.gate);
}

/* Its notes are sent while it returns, and nobody waits for them. */
static pawl_status
note_and_end(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);

    (void)input;
    if (!gate_pass(&tale->gate))
        return PAWL_EPERMANENT;
    pawl_run_log(run, "the first of the last words");
    scene_breathe();
    pawl_run_log(run, "the second of them");
    *output = pawl_text("\"ended\"");
    return PAWL_OK;
}

static void
a_run_that_ends_with_a_note_while_it_is_locked_keeps_the_note(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    PGconn *other = race_connect_direct();

    gate_init(&tale.gate);
    scene_set(scene, "connections", "1");
    scene_handle(scene, "busy.noted", note_and_end, &tale);
    scene_handle(scene, "busy.neighbour", neighbour, &tale);
    scene_work(scene);
    scene_trigger(scene, "busy.noted", "{}");
    gate_await(&tale.gate, 1);
    bench_do(other, "begin");
    do_in(other, "select pawl.signal($1, 'anything')", scene->run_id);
    gate_open(&tale.gate);
    until_busy(scene, 3);
    check_neighbours(scene);
    bench_do(other, "commit");
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "\"ended\"");
    check_neighbours(scene);
    (void)scene_rest(scene);
    assert_string_equal(
        scene_text(scene, "select string_agg(body, ', ' order by note_no) from pawl.notes($1)",
            scene->run_id),
        "the first of the last words, the second of them");
    PQfinish(other);
    gate_done(&tale.gate);
}

static pawl_status
tell_first(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);
    pawl_status status = pawl_step(run, "first", wait_at_gate, NULL, output);

    (void)input;
    if (atomic_fetch_add(&tale->executed, 1) == 0)
        atomic_store(&tale->told, status);
    return status;
}

static void
a_run_that_is_taken_away_while_it_is_locked_is_told_so(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    PGconn *other = race_connect_direct();

    gate_init(&tale.gate);
    scene_set(scene, "lease", "3s");
    scene_handle(scene, "busy.taken", tell_first, &tale);
    scene_work(scene);
    scene_trigger(scene, "busy.taken", "{}");
    gate_await(&tale.gate, 1);
    bench_do(other, "begin");
    do_in(other, "select from pawl_data.task where run_id = $1 for update", scene->run_id);
    gate_open(&tale.gate);
    until_busy(scene, 2);
    /* As if nobody had heard of the worker for long. */
    bench_do(other,
        "update pawl_data.worker set lease_until = pawl.now() - interval '1 h'"
        " where handles = '{busy.taken}' and ended_at is null");
    bench_do(other, "select pawl.housekeep()");
    bench_do(other, "commit");
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "\"through\"");
    (void)scene_rest(scene);
    assert_int_equal(tale.executed, 2);
    assert_int_equal(tale.told, PAWL_ELEASE_LOST);
    assert_string_equal(scene_steps(scene, scene->run_id), "first#1 SUCCESS \"through\"");
    PQfinish(other);
    gate_done(&tale.gate);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_set_up, scene_tear_down)
        TEST(a_transaction_that_holds_a_run_makes_only_that_run_wait),
        TEST(a_run_that_is_locked_before_it_is_claimed_is_taken_later),
        TEST(an_emit_that_is_not_committed_makes_only_its_waiters_wait),
        TEST(a_child_whose_parent_is_locked_ends_when_it_is_free),
        TEST(branches_of_a_run_that_is_locked_again_and_again_record_each_step_once),
        TEST(a_drain_waits_for_a_run_that_another_transaction_holds),
        TEST(a_run_that_ends_with_a_note_while_it_is_locked_keeps_the_note),
        TEST(a_run_that_is_taken_away_while_it_is_locked_is_told_so),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
