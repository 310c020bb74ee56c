/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that changed under a run: thirty handlers that no longer fit what is recorded. Each of five steps of different kinds becomes one of
 * the other kinds, gets another name, or is taken out. All of them are noticed, the run is paused, and no call ever returns what another
 * one has recorded. The clock stands still.
 */
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum kind {
    STEP,
    SLEEP,
    EVENT,
    SIGNAL,
    CHILD,
    KINDS,
    RENAMED = KINDS,
    GONE,
    CHANGES
};

/* There is one step of each kind, and it can become all but what it is. */
enum {
    mutants = KINDS * (CHANGES - 1)
};

struct tale {
    bool changed;
    int wrong;
};

/* The mutant's step, and what becomes of it. */
static void
read_mutant(int number, int *step, int *change)
{
    *step = number / (CHANGES - 1);
    *change = number % (CHANGES - 1);
    *change += *change >= *step;
}

static pawl_status
say_name(pawl_run *run, void *userdata, pawl_bytes *output)
{
    (void)run;
    *output = pawl_text(userdata);
    return PAWL_OK;
}

/* What each gives is its own name in quotes; a sleep gives nothing. */
static pawl_status
ask(pawl_run *run, int kind, char *quoted, const char *name, pawl_bytes *output)
{
    char topic[32];

    switch (kind) {
    case STEP:
        return pawl_step(run, name, say_name, quoted, output);
    case SLEEP:
        return pawl_sleep(run, name, 1);
    case EVENT:
        (void)snprintf(topic, sizeof(topic), "drift.%.2s", name);
        return pawl_wait_event(run, name, topic, -1, output);
    case SIGNAL:
        return pawl_wait_signal(run, name, -1, output);
    default:
        return pawl_child(run, name, "drift.child", pawl_text(quoted), output);
    }
}

static pawl_status
change(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);
    pawl_status status = PAWL_OK;
    int mutant = 0, step, what;

    (void)output;
    for (size_t i = 0; i < input.size; i++)
        if (input.data[i] >= '0' && input.data[i] <= '9')
            mutant = mutant * 10 + (input.data[i] - '0');
    read_mutant(mutant, &step, &what);
    for (int i = 0; i < KINDS && status == PAWL_OK; i++) {
        bool other = tale->changed && i == step;
        char name[] = {(char)('a' + i), other && what == RENAMED ? 'x' : '\0', '\0'};
        char quoted[8];
        pawl_bytes got = {0};

        if (other && what == GONE)
            continue;
        (void)snprintf(quoted, sizeof(quoted), "\"%s\"", name);
        status = ask(run, other && what < KINDS ? what : i, quoted, name, &got);
        tale->wrong += status == PAWL_OK && got.data != NULL && strcmp(got.data, quoted) != 0;
    }
    if (status == PAWL_OK)
        status = pawl_wait_signal(run, "last", -1, NULL);
    return status;
}

static pawl_status
echo(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)run;
    *output = input;
    return PAWL_OK;
}

/* Everything that the handlers wait for, also under another name, for all runs. */
static void
tell_all(struct scene *scene)
{
    scene_do(scene,
        "select one.answer from pawl.emit('drift.c', '\"c\"') one, pawl.emit('drift.cx', '\"cx\"') "
        "other",
        NULL);
    scene_do(scene,
        "select pawl.signal(r.run_id, s.name, to_json(s.name)) from"
        " pawl.list_runs(only_workflow => 'drift.v1', max_rows => 100) r, unnest(array['d', 'dx']) "
        "s "
        "(name)",
        NULL);
}

static void
go_on(struct scene *scene)
{
    for (int i = 0; i < KINDS + 1; i++) {
        scene_go_on(scene);
        scene_advance(scene, 10);
    }
}

static void
thirty_handlers_that_do_not_fit_their_records_are_all_noticed(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    char runs[mutants][PAWL_ID_SIZE];

    scene_do(scene, "select pawl.create_workflow('drift.v1', strict_order => true)", NULL);
    scene_handle(scene, "drift.v1", change, &tale);
    scene_handle(scene, "drift.child", echo, &tale);
    scene_start(scene);
    for (int i = 0; i < mutants; i++) {
        char input[24];

        (void)snprintf(input, sizeof(input), "{\"n\": %d}", i);
        (void)snprintf(runs[i], sizeof(runs[i]), "%s", scene_trigger(scene, "drift.v1", input));
    }
    tell_all(scene);
    go_on(scene);
    for (int i = 0; i < mutants; i++)
        assert_string_equal(scene_state(scene, runs[i]), "PAUSED signal");
    tale.changed = true;
    for (int i = 0; i < mutants; i++)
        scene_do(scene, "select pawl.signal($1, 'last')", runs[i]);
    go_on(scene);
    for (int i = 0; i < mutants; i++) {
        if (strcmp(scene_state(scene, runs[i]), "PAUSED drift") != 0)
            fail_msg("mutant %d was not noticed: %s, %s", i, scene_state(scene, runs[i]),
                scene_steps(scene, runs[i]));
        scene_has(scene_text(scene, "select pawl.why($1)", runs[i]), "drift");
    }
    assert_int_equal(tale.wrong, 0);
    /* With the code that they were begun with they end, but for those that have recorded something under another name by now. */
    tale.changed = false;
    for (int i = 0; i < mutants; i++)
        scene_do(scene, "select pawl.resume(array[$1::uuid])", runs[i]);
    go_on(scene);
    for (int i = 0; i < mutants; i++) {
        int step, what;

        read_mutant(i, &step, &what);
        assert_string_equal(
            scene_state(scene, runs[i]), what == RENAMED ? "PAUSED drift" : "SUCCESS");
    }
    assert_int_equal(tale.wrong, 0);
}

/* Code of three ages: without the change point, with it ahead of the sleep, and with it after the sleep. */
enum age {
    OLD,
    AHEAD,
    AFTER
};

struct taxes {
    enum age age;
};

static pawl_status
note(pawl_run *run, void *userdata, pawl_bytes *output)
{
    return pawl_run_printf(run, output, "%d", *(int *)userdata);
}

static pawl_status
bill(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    const struct taxes *taxes = pawl_run_userdata(run);
    int is_new = taxes->age == OLD ? 0 : -1;
    pawl_status status = pawl_step(run, "order", note, &(int){7}, NULL);

    (void)input;
    if (status == PAWL_OK && taxes->age == AHEAD)
        status = pawl_run_changed(run, "new-tax", &is_new);
    if (status == PAWL_OK)
        status = pawl_sleep(run, "nap", 1000);
    if (status == PAWL_OK && taxes->age == AFTER)
        status = pawl_run_changed(run, "new-tax", &is_new);
    return status == PAWL_OK ? pawl_step(run, "bill", note, &is_new, output) : status;
}

/* The output of a run that was begun by old code, and goes on with code of this age. */
static const char *
go_on_with(struct scene *scene, struct taxes *taxes, enum age first, enum age then)
{
    taxes->age = first;
    scene_trigger(scene, "drift.bill", "{}");
    go_on(scene);
    assert_string_equal(scene_state(scene, scene->run_id), "PAUSED sleep");
    taxes->age = then;
    scene_advance(scene, 2000);
    go_on(scene);
    return scene_wait(scene, scene->run_id, PAWL_OK);
}

static void
a_change_point_keeps_old_runs_on_old_code(void **state)
{
    struct scene *scene = *state;
    struct taxes taxes = {OLD};

    scene_handle(scene, "drift.bill", bill, &taxes);
    scene_start(scene);
    /* The old run sleeps already: it has been beyond a point ahead of the sleep, but not beyond one after it. */
    assert_string_equal(go_on_with(scene, &taxes, OLD, AHEAD), "0");
    assert_string_equal(scene_steps(scene, scene->run_id),
        "order#1 SUCCESS 7, nap#1 SUCCESS, new-tax#1 SUCCESS false, bill#1 SUCCESS 0");
    assert_string_equal(go_on_with(scene, &taxes, OLD, AFTER), "1");
    /* A new run gets the new code, on every replay. */
    assert_string_equal(go_on_with(scene, &taxes, AHEAD, AHEAD), "1");
    assert_string_equal(go_on_with(scene, &taxes, AFTER, AFTER), "1");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_change_point_keeps_old_runs_on_old_code, scene_set_up_stopped, scene_tear_down),
        cmocka_unit_test_setup_teardown(
            thirty_handlers_that_do_not_fit_their_records_are_all_noticed, scene_set_up_stopped,
            scene_tear_down),
    };

    return cmocka_run_group_tests_name("drift", tests, NULL, NULL);
}
