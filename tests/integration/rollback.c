/* SPDX-License-Identifier: Apache-2.0 */
/* Rolling back: which undos are executed, in which order, what they are told, and what happens when one fails. The clock stands still. */
#include "killer.h"
#include "scene.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct tale {
    atomic_int executed;
    atomic_int undos;
    atomic_int failing; /* undos that are to fail, from now on */
    struct gate *gate;
    char text[2000]; /* what undos were told */
};

static pawl_status
act(pawl_run *run, void *userdata, pawl_bytes *output)
{
    const char *name = userdata;

    if (strcmp(name, "ship") == 0) {
        pawl_run_set_error(run, "no_route", "nobody ships there");
        return PAWL_EPERMANENT;
    }
    return pawl_run_printf(run, output, "\"%s done\"", name);
}

/* A step with an undo that is told its name. */
static pawl_status
act_with_undo(pawl_run *run, const char *name)
{
    pawl_bytes quoted;
    char room[64];
    pawl_status status = pawl_run_quote(run, name, &quoted);

    if (status != PAWL_OK)
        return status;
    pawl_run_set_option(run, "undo", "take_back");
    pawl_run_set_option(run, "undo_input", quoted.data);
    pawl_run_set_option(run, "undo_max_attempts", "2");
    pawl_run_set_option(run, "undo_base_ms", "1000");
    (void)snprintf(room, sizeof(room), "%s", name);
    return pawl_step(run, name, act, room, NULL);
}

static pawl_status
order(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);
    char look[] = "look";
    pawl_status status;

    (void)output;
    atomic_fetch_add(&tale->executed, 1);
    if ((status = act_with_undo(run, "reserve")) != PAWL_OK ||
        (status = pawl_step(run, "look", act, look, NULL)) != PAWL_OK ||
        (status = act_with_undo(run, "charge")) != PAWL_OK)
        return status;
    if (strstr(input.data, "wait") != NULL &&
        (status = pawl_wait_signal(run, "go", -1, NULL)) != PAWL_OK)
        return status;
    return act_with_undo(run, "ship");
}

static pawl_status
take_back(pawl_run *run, pawl_bytes input, pawl_bytes output)
{
    struct tale *tale = pawl_run_userdata(run);
    size_t at = strlen(tale->text);

    atomic_fetch_add(&tale->undos, 1);
    (void)snprintf(tale->text + at, sizeof(tale->text) - at, "%s%s %s %s", at > 0 ? "; " : "",
        input.data == NULL ? "-" : input.data, output.data == NULL ? "-" : output.data,
        pawl_run_undo_uncertain(run) ? "uncertain" : "certain");
    if (tale->failing > 0 && strstr(input.data, "charge") != NULL) {
        atomic_fetch_sub(&tale->failing, 1);
        pawl_run_set_error(run, "bank", "the bank is closed");
        return PAWL_EFAILED;
    }
    return PAWL_OK;
}

static void
begin(struct scene *scene, struct tale *tale, const char *input)
{
    scene_handle(scene, "rollback.order", order, tale);
    scene_undo(scene, "take_back", take_back, tale);
    scene_start(scene);
    scene_trigger(scene, "rollback.order", input);
    scene_go_on(scene);
}

static void
undos_are_executed_newest_first_and_told_what_is_uncertain(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    begin(scene, &tale, "{}");
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_ERUN),
        "{\"code\":\"no_route\",\"message\":\"nobody ships there\"}");
    assert_string_equal(tale.text,
        "\"ship\" - uncertain; \"charge\" \"charge done\" certain; \"reserve\" \"reserve done\" "
        "certain");
    assert_string_equal(scene_text(scene,
                            "select string_agg(s ->> 'name', ' ') from pawl.get_run($1) g,"
                            " json_array_elements(g.steps) s where s ->> 'name' like 'rollback:%'",
                            scene->run_id),
        "rollback:ship#1 rollback:charge#1 rollback:reserve#1");
    assert_int_equal(tale.executed, 1);
}

static void
an_undo_that_fails_is_tried_again_by_its_own_policy(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {.failing = 1};

    begin(scene, &tale, "{}");
    scene_has(scene_state(scene, scene->run_id), "PAUSED");
    scene_advance(scene, 2000);
    scene_go_on(scene);
    scene_has(scene_wait(scene, scene->run_id, PAWL_ERUN), "no_route");
    /* One for ship, two for charge, one for reserve: what was undone is not undone again. */
    assert_int_equal(tale.undos, 4);
}

static void
an_undo_that_fails_for_good_stops_the_rollback_and_an_operator_goes_on(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {.failing = 2};
    const char *error;

    begin(scene, &tale, "{}");
    scene_advance(scene, 2000);
    scene_go_on(scene);
    error = scene_wait(scene, scene->run_id, PAWL_ERUN);
    scene_has(error, "rollback_failed");
    scene_has(error, "the bank is closed");
    scene_has(error, "nobody ships there");
    assert_string_equal(
        scene_text(scene, "select error -> 'not_undone' from pawl.result($1)", scene->run_id),
        "[\"charge#1\", \"reserve#1\"]");
    assert_int_equal(tale.undos, 3);
    assert_string_equal(
        scene_text(scene, "select answer from pawl.rollback_retry(array[$1::uuid])", scene->run_id),
        "ok");
    scene_go_on(scene);
    scene_has(scene_wait(scene, scene->run_id, PAWL_ERUN), "no_route");
    assert_int_equal(tale.undos, 5);
    assert_int_equal(tale.executed, 1);
}

static void
an_operator_may_skip_an_undo(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {.failing = 100};

    begin(scene, &tale, "{}");
    scene_advance(scene, 2000);
    scene_go_on(scene);
    scene_has(scene_wait(scene, scene->run_id, PAWL_ERUN), "rollback_failed");
    assert_string_equal(
        scene_text(scene, "select pawl.rollback_skip($1, 'charge#1')", scene->run_id), "ok");
    scene_go_on(scene);
    scene_has(scene_wait(scene, scene->run_id, PAWL_ERUN), "no_route");
    scene_has(tale.text, "\"reserve\" \"reserve done\" certain");
}

static void
a_cancel_with_rollback_undoes_what_was_done(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    pawl_error *error = NULL;

    begin(scene, &tale, "\"wait\"");
    assert_string_equal(scene_state(scene, scene->run_id), "PAUSED signal");
    assert_int_equal(
        pawl_client_cancel(scene->client, scene->run_id, "changed my mind", PAWL_ROLLBACK, &error),
        PAWL_OK);
    scene_go_on(scene);
    scene_has(scene_wait(scene, scene->run_id, PAWL_ECANCELLED), "changed my mind");
    assert_string_equal(
        tale.text, "\"charge\" \"charge done\" certain; \"reserve\" \"reserve done\" certain");
}

static void
a_cancel_without_rollback_undoes_nothing(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    pawl_error *error = NULL;

    begin(scene, &tale, "\"wait\"");
    assert_int_equal(pawl_client_cancel(scene->client, scene->run_id, NULL, 0, &error), PAWL_OK);
    scene_go_on(scene);
    (void)scene_wait(scene, scene->run_id, PAWL_ECANCELLED);
    assert_int_equal(tale.undos, 0);
}

/* Succeeds at its second try. */
static pawl_status
stumble(pawl_run *run, void *userdata, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);

    (void)userdata;
    *output = pawl_text("\"second\"");
    return atomic_fetch_add(&tale->executed, 1) == 0 ? PAWL_EFAILED : PAWL_OK;
}

static pawl_status
stumbling(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_status status;

    (void)input;
    (void)output;
    pawl_run_set_option(run, "undo", "take_back");
    status = pawl_step(run, "stumble", stumble, NULL, NULL);
    return status == PAWL_OK ? PAWL_EPERMANENT : status;
}

static void
a_step_that_was_tried_twice_is_undone_once(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    scene_handle(scene, "rollback.stumbling", stumbling, &tale);
    scene_undo(scene, "take_back", take_back, &tale);
    scene_start(scene);
    scene_trigger(scene, "rollback.stumbling", "{}");
    scene_go_on(scene);
    scene_advance(scene, 2000);
    scene_go_on(scene);
    (void)scene_wait(scene, scene->run_id, PAWL_ERUN);
    assert_string_equal(tale.text, "- \"second\" certain");
}

static pawl_status
wait_at_gate(pawl_run *run, void *userdata, pawl_bytes *output)
{
    (void)run;
    *output = pawl_text("\"late\"");
    return gate_pass(userdata) ? PAWL_OK : PAWL_EPERMANENT;
}

/* Is in a step with an undo when it is cancelled. */
static pawl_status
interrupted(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);
    pawl_status status = act_with_undo(run, "reserve");

    (void)input;
    if (status != PAWL_OK)
        return status;
    atomic_fetch_add(&tale->executed, 1);
    pawl_run_set_option(run, "undo", "take_back");
    pawl_run_set_option(run, "undo_input", "\"slow\"");
    return pawl_step(run, "slow", wait_at_gate, tale->gate, output);
}

static void
a_step_that_was_under_way_at_the_cancel_is_undone_as_uncertain(void **state)
{
    struct scene *scene = *state;
    struct gate gate;
    struct tale tale = {.gate = &gate};
    pawl_error *error = NULL;

    gate_init(&gate);
    scene_handle(scene, "rollback.interrupted", interrupted, &tale);
    scene_undo(scene, "take_back", take_back, &tale);
    scene_work(scene);
    scene_trigger(scene, "rollback.interrupted", "{}");
    gate_await(&gate, 1);
    assert_int_equal(
        pawl_client_cancel(scene->client, scene->run_id, NULL, PAWL_ROLLBACK, &error), PAWL_OK);
    /* Nothing is undone while the step executes. */
    assert_int_equal(tale.undos, 0);
    gate_open(&gate);
    (void)scene_wait(scene, scene->run_id, PAWL_ECANCELLED);
    (void)scene_rest(scene);
    assert_string_equal(tale.text, "\"slow\" - uncertain; \"reserve\" \"reserve done\" certain");
    assert_int_equal(tale.executed, 1);
    gate_done(&gate);
}

/* In a process of its own: dies in a step with an undo, after its effect and before its record. */
static pawl_status
die(pawl_run *run, void *userdata, pawl_bytes *output)
{
    (void)run;
    (void)userdata;
    (void)output;
    (void)kill(getpid(), SIGKILL);
    return PAWL_EFAILED;
}

static pawl_status
deadly(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)input;
    (void)output;
    pawl_run_set_option(run, "undo", "take_back");
    pawl_run_set_option(run, "undo_input", "\"deadly\"");
    return pawl_step(run, "deadly", die, NULL, NULL);
}

static const pawl_declaration in_a_process[] = {
    {sizeof(pawl_declaration), "rollback.deadly", deadly, NULL, {NULL}},
};
static const char *const process_settings[] = {"lease", "500ms", NULL};

static void
a_step_whose_worker_died_in_it_is_undone_as_uncertain(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    struct killer *killer = killer_new(1);
    pawl_error *error = NULL;

    scene_do(scene, "select pawl.create_workflow('rollback.deadly')", NULL);
    scene_trigger(scene, "rollback.deadly", "{}");
    (void)scene_spawn(killer, "worker", false);
    assert_true(killer_wait_all(killer, scene_patience_ms));
    killer_free(killer);
    assert_string_equal(scene_steps(scene, scene->run_id), "deadly#1 RUNNING");
    scene_advance(scene, 1000);
    scene_do(scene, "select pawl.housekeep()", NULL);
    assert_int_equal(
        pawl_client_cancel(scene->client, scene->run_id, NULL, PAWL_ROLLBACK, &error), PAWL_OK);
    scene_handle(scene, "rollback.deadly", deadly, &tale);
    scene_undo(scene, "take_back", take_back, &tale);
    scene_start(scene);
    scene_go_on(scene);
    (void)scene_wait(scene, scene->run_id, PAWL_ECANCELLED);
    assert_string_equal(tale.text, "\"deadly\" - uncertain");
}

/* As while a program is being replaced: some workers have the undo handler, and some do not yet. */
static void
a_worker_without_the_undo_handler_leaves_the_rollback_to_another(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {.failing = 1};

    scene_handle(scene, "rollback.order", order, &tale);
    scene_start(scene);
    scene_trigger(scene, "rollback.order", "{}");
    for (int i = 0; i < 4; i++) {
        scene_go_on(scene);
        assert_string_equal(scene_state(scene, scene->run_id), "PAUSED retry");
        scene_has(scene_text(scene, "select pawl.why($1)", scene->run_id),
            "of 300 of step rollback:no_undo_handler#0 starts in");
        scene_has(scene_text(scene, "select pawl.why($1)", scene->run_id),
            "Last error: \"the worker has no undo handler \"take_back\"\"");
        scene_advance(scene, 60000);
    }
    (void)scene_rest(scene);
    scene_handle(scene, "rollback.order", order, &tale);
    scene_undo(scene, "take_back", take_back, &tale);
    scene_start(scene);
    scene_go_on(scene);
    /* Its own two tries are there yet: the first fails. */
    scene_has(scene_text(scene, "select pawl.why($1)", scene->run_id),
        "Attempt 2 of 2 of step rollback:charge#1");
    scene_advance(scene, 2000);
    scene_go_on(scene);
    scene_has(scene_wait(scene, scene->run_id, PAWL_ERUN), "no_route");
    assert_int_equal(tale.undos, 4);
    assert_int_equal(tale.executed, 1);
}

static pawl_status
undoing_branch(pawl_run *branch, void *userdata, pawl_bytes *output)
{
    const char *names = userdata;
    char name[2] = "";

    (void)output;
    for (size_t i = 0; i < strlen(names); i++) {
        pawl_status status;

        name[0] = names[i];
        status = act_with_undo(branch, name);
        if (status != PAWL_OK)
            return status;
    }
    return PAWL_OK;
}

/* Two branches one after the other, so that the order of their steps is known. */
static pawl_status
branching(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    char first[] = "ab", second[] = "cd";
    pawl_status status;

    (void)input;
    (void)output;
    if ((status = pawl_branch(run, "one", undoing_branch, first, NULL)) != PAWL_OK ||
        (status = pawl_branches_join(run)) != PAWL_OK ||
        (status = pawl_branch(run, "two", undoing_branch, second, NULL)) != PAWL_OK ||
        (status = pawl_branches_join(run)) != PAWL_OK)
        return status;
    return PAWL_EPERMANENT;
}

static void
undos_of_branches_are_executed_in_one_order(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    scene_handle(scene, "rollback.branches", branching, &tale);
    scene_undo(scene, "take_back", take_back, &tale);
    scene_start(scene);
    scene_trigger(scene, "rollback.branches", "{}");
    scene_go_on(scene);
    (void)scene_wait(scene, scene->run_id, PAWL_ERUN);
    assert_string_equal(scene_text(scene,
                            "select string_agg(s ->> 'name', ' ') from pawl.get_run($1) g,"
                            " json_array_elements(g.steps) s where s ->> 'name' like 'rollback:%'",
                            scene->run_id),
        "rollback:two/d#1 rollback:two/c#1 rollback:one/b#1 rollback:one/a#1");
}

static void
a_run_that_was_rolled_back_cannot_be_retried(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    begin(scene, &tale, "{}");
    (void)scene_wait(scene, scene->run_id, PAWL_ERUN);
    assert_string_equal(
        scene_text(scene, "select answer from pawl.retry(array[$1::uuid])", scene->run_id),
        "refused");
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_set_up_stopped, scene_tear_down)
        TEST(undos_are_executed_newest_first_and_told_what_is_uncertain),
        TEST(an_undo_that_fails_is_tried_again_by_its_own_policy),
        TEST(an_undo_that_fails_for_good_stops_the_rollback_and_an_operator_goes_on),
        TEST(an_operator_may_skip_an_undo),
        TEST(a_cancel_with_rollback_undoes_what_was_done),
        TEST(a_cancel_without_rollback_undoes_nothing),
        TEST(a_step_that_was_tried_twice_is_undone_once),
        TEST(a_step_that_was_under_way_at_the_cancel_is_undone_as_uncertain),
        TEST(a_step_whose_worker_died_in_it_is_undone_as_uncertain),
        TEST(a_worker_without_the_undo_handler_leaves_the_rollback_to_another),
        TEST(undos_of_branches_are_executed_in_one_order),
        TEST(a_run_that_was_rolled_back_cannot_be_retried),
#undef TEST
    };

    if (argc > 1 && strcmp(argv[1], "worker") == 0)
        return scene_be_worker(process_settings, in_a_process, 1, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
