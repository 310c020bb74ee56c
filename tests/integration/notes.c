/* SPDX-License-Identifier: Apache-2.0 */
/* What others can see of a run while it executes: notes that it keeps, and the step that it is in. */
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
    STEPS = 700 /* in this many long steps at once, more than a heartbeat can tell */
};

struct tale {
    struct gate gate;
    int notes;
    atomic_int executed;
};

static pawl_status
nothing(pawl_run *run, void *userdata, pawl_bytes *output)
{
    (void)userdata;
    (void)output;
    pawl_run_progress(run, "copy", "%d %%", 100);
    return PAWL_OK;
}

static pawl_status
talkative(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_status status;

    (void)input;
    (void)output;
    pawl_run_log(run, "begins with %s", "a \"quote\" and \xc3\xa4");
    pawl_run_progress(run, "copy", "%d %%", 40);
    status = pawl_step(run, "copy", nothing, NULL, NULL);
    pawl_run_log(run, "%s", "ends");
    return status;
}

static void
notes_are_kept_in_order_with_their_kind(void **state)
{
    struct scene *scene = *state;

    scene_handle(scene, "notes.talkative", talkative, NULL);
    scene_work(scene);
    scene_trigger(scene, "notes.talkative", "{}");
    (void)scene_wait(scene, scene->run_id, PAWL_OK);
    assert_string_equal(
        scene_text(scene,
            "select string_agg(concat_ws('|', kind, name, body), '; ' order by note_no) from "
            "pawl.notes($1)",
            scene->run_id),
        "log|begins with a \"quote\" and \xc3\xa4; progress|copy|40 %; progress|copy|100 %; "
        "log|ends");
}

static pawl_status
endless(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);
    int executed = atomic_fetch_add(&tale->executed, 1);
    pawl_status status;

    (void)input;
    for (int i = 0; i < tale->notes; i++)
        pawl_run_log(run, "note %d of execution %d", i, executed);
    if ((status = pawl_step(run, "one", nothing, NULL, NULL)) != PAWL_OK ||
        (status = pawl_sleep(run, "nap", 1)) != PAWL_OK)
        return status;
    *output = pawl_text("\"well\"");
    return PAWL_OK;
}

static void
what_is_more_than_a_thousand_notes_is_dropped_and_harms_nothing(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {.notes = 1500};

    scene_handle(scene, "notes.endless", endless, &tale);
    scene_work(scene);
    scene_trigger(scene, "notes.endless", "{}");
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "\"well\"");
    assert_int_equal(
        scene_number(scene, "select count(*) from pawl.notes($1)", scene->run_id), 1000);
}

static void
notes_that_become_too_many_over_several_claims_harm_nothing(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {.notes = 600};

    scene_handle(scene, "notes.claims", endless, &tale);
    scene_work(scene);
    scene_trigger(scene, "notes.claims", "{}");
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "\"well\"");
    assert_int_equal(tale.executed, 2);
    assert_int_equal(
        scene_number(scene, "select count(*) from pawl.notes($1)", scene->run_id), 1000);
}

static pawl_status
verbose(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    char *text = malloc(20001);

    (void)input;
    (void)output;
    if (text == NULL)
        return PAWL_ENOMEM;
    for (size_t i = 0; i < 20000; i += 2)
        memcpy(text + i, "\xc3\xa4", 2);
    text[20000] = '\0';
    pawl_run_log(run, "x%s", text);
    pawl_run_progress(run, text, "bad \xff byte");
    pawl_run_log(run, "%s", "");
    free(text);
    return PAWL_OK;
}

static void
a_note_is_cut_between_two_characters_and_mended(void **state)
{
    struct scene *scene = *state;

    scene_handle(scene, "notes.verbose", verbose, NULL);
    scene_work(scene);
    scene_trigger(scene, "notes.verbose", "{}");
    (void)scene_wait(scene, scene->run_id, PAWL_OK);
    assert_string_equal(
        scene_text(scene,
            "select string_agg(octet_length(body)::text, ' ' order by note_no) from pawl.notes($1)",
            scene->run_id),
        "16383 10 0");
    assert_int_equal(
        scene_number(
            scene, "select count(*) from pawl.notes($1) where body = 'bad ? byte'", scene->run_id),
        1);
}

static pawl_status
wait_at_gate(pawl_run *run, void *userdata, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);

    (void)userdata;
    (void)output;
    return gate_pass(&tale->gate) ? PAWL_OK : PAWL_EPERMANENT;
}

static pawl_status
long_branch(pawl_run *branch, void *userdata, pawl_bytes *output)
{
    (void)userdata;
    pawl_run_set_option(branch, "timeout_ms", "60000");
    return pawl_step(branch, "long", wait_at_gate, NULL, output);
}

static pawl_status
lasting(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_status status = pawl_step(run, "quick", nothing, NULL, NULL);

    (void)input;
    (void)output;
    if (status == PAWL_OK)
        status = pawl_branch(run, "side", long_branch, NULL, NULL);
    return status == PAWL_OK ? pawl_branches_join(run) : status;
}

static void
a_step_that_lasts_is_seen_by_others_through_the_heartbeat(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    gate_init(&tale.gate);
    scene_set(scene, "lease", "3s");
    scene_set(scene, "worker_name", "lasting-worker");
    scene_handle(scene, "notes.lasting", lasting, &tale);
    scene_work(scene);
    scene_trigger(scene, "notes.lasting", "{}");
    gate_await(&tale.gate, 1);
    scene_until(scene,
        "select count(*) = 1 from pawl.get_run($1) g, json_array_elements(g.steps) s"
        " where s ->> 'name' = 'side/long#1' and s ->> 'state' = 'RUNNING'",
        scene->run_id);
    assert_string_equal(scene_text(scene,
                            "select concat_ws(' ', r ->> 'step', r ->> 'timeout_ms', held)"
                            " from pawl.list_workers() w, json_array_elements(w.running) r"
                            " where w.worker = 'lasting-worker' and r ->> 'run' = $1",
                            scene->run_id),
        "side/long#1 60000 1");
    scene_has(scene_text(scene, "select pawl.why($1)", scene->run_id), "Running step side/long#1");
    gate_open(&tale.gate);
    (void)scene_wait(scene, scene->run_id, PAWL_OK);
    assert_string_equal(scene_text(scene,
                            "select string_agg(s ->> 'state', ' ') from pawl.get_run($1) g,"
                            " json_array_elements(g.steps) s",
                            scene->run_id),
        "SUCCESS SUCCESS");
    (void)scene_rest(scene);
    gate_done(&tale.gate);
}

/* Runs that are all in a step, held by one thread that never ends them. */
static void
take_runs(struct scene *scene, pawl_run **runs)
{
    pawl_error *error = NULL;

    for (int i = 0; i < STEPS; i++) {
        assert_int_equal(
            pawl_worker_next(scene->worker, scene_patience_ms, &runs[i], &error), PAWL_OK);
        assert_int_equal(
            pawl_step_begin(runs[i], "a_step_that_has_a_long_name_and_takes_its_time", NULL),
            PAWL_EXECUTE);
    }
}

static void
more_long_steps_than_a_heartbeat_can_tell_cost_no_lease(void **state)
{
    struct scene *scene = *state;
    pawl_run **runs = calloc(STEPS, sizeof(*runs));
    char lease[64];

    assert_non_null(runs);
    scene_set(scene, "lease", "3s");
    scene_set(scene, "concurrency", "1000");
    scene_handle(scene, "notes.many", NULL, NULL);
    scene_start(scene);
    scene_do(scene,
        "select count(*) from pawl.trigger_many('notes.many', array_fill('{}'::json, array[700]))",
        NULL);
    take_runs(scene, runs);
    scene_until(scene,
        "select bool_or(json_array_length(running) > 100) from pawl.list_workers()"
        " where handles = '{notes.many}'",
        NULL);
    /* Heartbeats go on: two leases later the session is still the same. */
    (void)snprintf(lease, sizeof(lease), "%s",
        scene_text(scene,
            "select lease_until from pawl.list_workers() where handles = '{notes.many}'", NULL));
    scene_until(scene,
        "select lease_until > $1::timestamptz + interval '6 s' from pawl.list_workers()"
        " where handles = '{notes.many}'",
        lease);
    assert_int_equal(pawl_worker_counter(scene->worker, "lease_lost"), 0);
    assert_int_equal(pawl_worker_counter(scene->worker, "sessions"), 1);
    for (int i = 0; i < STEPS; i++) {
        assert_int_equal(pawl_run_check(runs[i]), PAWL_OK);
        pawl_run_finish(runs[i], PAWL_EPERMANENT, (pawl_bytes){0});
    }
    free(runs);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_set_up, scene_tear_down)
        TEST(notes_are_kept_in_order_with_their_kind),
        TEST(what_is_more_than_a_thousand_notes_is_dropped_and_harms_nothing),
        TEST(notes_that_become_too_many_over_several_claims_harm_nothing),
        TEST(a_note_is_cut_between_two_characters_and_mended),
        TEST(a_step_that_lasts_is_seen_by_others_through_the_heartbeat),
        TEST(more_long_steps_than_a_heartbeat_can_tell_cost_no_lease),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
