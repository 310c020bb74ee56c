/* SPDX-License-Identifier: Apache-2.0 */
/* Steps that succeed: recorded once, found again by whoever executes the run next. */
#include "killer.h"
#include "scene.h"

#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* What handlers tell their test. */
struct tale {
    atomic_int executed; /* how often the handler was */
    atomic_int steps;    /* how often steps were */
    atomic_int code;     /* which version of the handler it is */
    pawl_status refused[8];
    char keys[3][300];
    char text[1000];
};

static struct tale *
tale_of(pawl_run *run)
{
    struct tale *tale = pawl_run_userdata(run);

    return tale;
}

static pawl_status
count(pawl_run *run, void *userdata, pawl_bytes *output)
{
    (void)userdata;
    return pawl_run_printf(run, output, "%d", atomic_fetch_add(&tale_of(run)->steps, 1) + 1);
}

static pawl_status
three_steps(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_bytes values[3];
    pawl_status status;

    (void)input;
    atomic_fetch_add(&tale_of(run)->executed, 1);
    if ((status = pawl_step(run, "one", count, NULL, &values[0])) != PAWL_OK ||
        (status = pawl_step(run, "two", count, NULL, &values[1])) != PAWL_OK ||
        (status = pawl_step(run, "three", count, NULL, &values[2])) != PAWL_OK)
        return status;
    return pawl_run_printf(
        run, output, "[%s, %s, %s]", values[0].data, values[1].data, values[2].data);
}

static void
steps_are_executed_in_order_and_recorded(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    scene_handle(scene, "steps.three", three_steps, &tale);
    scene_work(scene);
    scene_trigger(scene, "steps.three", "{}");
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "[1, 2, 3]");
    assert_int_equal(tale.executed, 1);
    assert_string_equal(
        scene_steps(scene, scene->run_id), "one#1 SUCCESS 1, two#1 SUCCESS 2, three#1 SUCCESS 3");
}

/* In a process of its own, which ends itself in its third step at the first attempt. */
static pawl_status
tell_process(pawl_run *run, void *userdata, pawl_bytes *output)
{
    if (userdata != NULL && pawl_run_execution(run) == 1)
        (void)kill(getpid(), SIGKILL);
    return pawl_run_printf(run, output, "%ld", (long)getpid());
}

static pawl_status
die_in_the_third(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_bytes values[4];
    pawl_status status;

    (void)input;
    if ((status = pawl_step(run, "page", tell_process, NULL, &values[0])) != PAWL_OK ||
        (status = pawl_step(run, "page", tell_process, NULL, &values[1])) != PAWL_OK ||
        (status = pawl_step(run, "page", tell_process, run, &values[2])) != PAWL_OK ||
        (status = pawl_step(run, "page", tell_process, NULL, &values[3])) != PAWL_OK)
        return status;
    return pawl_run_printf(run, output, "[%s, %s, %s, %s]", values[0].data, values[1].data,
        values[2].data, values[3].data);
}

static const pawl_declaration in_a_process[] = {
    {sizeof(pawl_declaration), "steps.process", die_in_the_third, NULL, {NULL}},
};
static const char *const process_settings[] = {"lease", "3s", NULL};

static void
a_run_whose_worker_was_killed_goes_on_where_it_stood(void **state)
{
    struct scene *scene = *state;
    struct killer *killer = killer_new(1);
    pid_t first, second;
    char wanted[100];
    const char *output;

    scene_do(scene, "select pawl.create_workflow('steps.process')", NULL);
    scene_trigger(scene, "steps.process", "{}");
    (void)scene_spawn(killer, "worker", true);
    first = killer_pid(killer, 0);
    output = scene_wait(scene, scene->run_id, PAWL_OK);
    second = killer_pid(killer, 0);
    assert_int_not_equal(first, second);
    (void)snprintf(wanted, sizeof(wanted), "[%ld, %ld, %ld, %ld]", (long)first, (long)first,
        (long)second, (long)second);
    assert_string_equal(output, wanted);
    killer_free(killer);
    assert_string_equal(scene_text(scene,
                            "select string_agg(s ->> 'name', ' ') from pawl.get_run($1) g,"
                            " json_array_elements(g.steps) s",
                            scene->run_id),
        "page#1 page#2 page#3 page#4");
    assert_int_equal(
        scene_number(scene, "select execution from pawl.get_run($1)", scene->run_id), 2);
}

static pawl_status
pages(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    int sum = 0;

    (void)input;
    atomic_fetch_add(&tale_of(run)->executed, 1);
    for (int i = 1; i <= 4; i++) {
        pawl_bytes value;
        pawl_status status = pawl_step(run, "page", count, NULL, &value);

        if (status == PAWL_OK)
            status = pawl_wait_signal(run, "next", -1, NULL);
        if (status != PAWL_OK)
            return status;
        sum = sum * 10 + (value.data[0] - '0');
    }
    return pawl_run_printf(run, output, "%d", sum);
}

static void
a_loop_is_replayed_turn_by_turn(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    scene_handle(scene, "steps.pages", pages, &tale);
    scene_start(scene);
    scene_trigger(scene, "steps.pages", "{}");
    for (int i = 0; i < 4; i++) {
        scene_go_on(scene);
        assert_int_equal(tale.steps, i + 1);
        scene_do(scene, "select pawl.signal($1, 'next')", scene->run_id);
    }
    scene_go_on(scene);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "1234");
    assert_int_equal(tale.executed, 5);
}

static pawl_status
in_two_halves(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = tale_of(run);
    pawl_bytes recorded = {NULL, 0};
    pawl_run *branch;
    pawl_status status = pawl_step_begin(run, "half", output);

    if (status != PAWL_EXECUTE)
        return status;
    tale->refused[0] = pawl_step(run, "other", count, NULL, NULL);
    tale->refused[1] = pawl_step_begin(run, "other", NULL);
    tale->refused[2] = pawl_sleep(run, "other", 1);
    tale->refused[3] = pawl_wait_signal(run, "other", -1, NULL);
    tale->refused[4] = pawl_child(run, "other", "steps.three", input, NULL);
    tale->refused[5] = pawl_run_branch(run, "other", &branch);
    tale->refused[6] = pawl_step_confirm(run, NULL);
    pawl_run_log(run, "facts, memory and notes are allowed in %s", pawl_run_id(run));
    status = pawl_step_finish(run, PAWL_OK, pawl_text("{\"a\" : 1}"), &recorded);
    if (status != PAWL_OK)
        return status;
    tale->refused[7] = pawl_step_finish(run, PAWL_OK, pawl_text("2"), NULL);
    (void)snprintf(tale->text, sizeof(tale->text), "%s", recorded.data);
    status = pawl_wait_signal(run, "go", -1, NULL);
    return status;
}

static void
between_begin_and_finish_other_calls_are_refused(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    scene_handle(scene, "steps.halves", in_two_halves, &tale);
    scene_start(scene);
    scene_trigger(scene, "steps.halves", "{}");
    scene_go_on(scene);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(tale.refused[i], PAWL_EINVAL);
    assert_string_equal(tale.text, "{\"a\" : 1}");
    assert_string_equal(
        scene_steps(scene, scene->run_id), "half#1 SUCCESS {\"a\" : 1}, go#1 PAUSED");
    scene_do(scene, "select pawl.signal($1, 'go')", scene->run_id);
    scene_go_on(scene);
    /* On replay begin answers with what is recorded. */
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "{\"a\" : 1}");
}

static pawl_status
fail_once(pawl_run *run, void *userdata, pawl_bytes *output)
{
    struct tale *tale = tale_of(run);
    int at = atomic_fetch_add(&tale->steps, 1);

    (void)userdata;
    (void)output;
    (void)snprintf(tale->keys[at], sizeof(tale->keys[at]), "%s", pawl_step_key(run));
    return at == 0 ? PAWL_EFAILED : PAWL_OK;
}

static pawl_status
pay(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_status status;

    (void)input;
    (void)output;
    tale_of(run)->refused[0] = pawl_step_key(run) == NULL ? PAWL_OK : PAWL_EINVAL;
    pawl_run_set_option(run, "base_ms", "1");
    if ((status = pawl_step(run, "pay", fail_once, NULL, NULL)) != PAWL_OK)
        return status;
    return pawl_step(run, "pay", fail_once, NULL, NULL);
}

static void
a_step_has_the_same_key_at_each_try_and_another_than_others(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    scene_handle(scene, "steps.key", pay, &tale);
    scene_work(scene);
    scene_trigger(scene, "steps.key", "{}");
    (void)scene_wait(scene, scene->run_id, PAWL_OK);
    assert_int_equal(tale.refused[0], PAWL_OK);
    assert_int_equal(tale.steps, 3);
    assert_string_equal(tale.keys[0], tale.keys[1]);
    assert_string_not_equal(tale.keys[1], tale.keys[2]);
    scene_has(tale.keys[0], scene->run_id);
}

/* Its second version has one step more in front, and one less at the end. */
static pawl_status
changing(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    int code = tale_of(run)->code;
    pawl_status status = PAWL_OK;

    (void)input;
    if (code == 2)
        status = pawl_step(run, "new", count, NULL, NULL);
    if (status == PAWL_OK)
        status = pawl_step(run, "old", count, NULL, output);
    if (status == PAWL_OK && code == 1)
        status = pawl_step(run, "gone", count, NULL, NULL);
    if (status == PAWL_OK)
        status = pawl_wait_signal(run, "go", -1, NULL);
    return status;
}

static void
change_under(struct scene *scene, struct tale *tale, const char *workflow)
{
    scene_handle(scene, workflow, changing, tale);
    scene_start(scene);
    tale->code = 1;
    scene_trigger(scene, workflow, "{}");
    scene_go_on(scene);
    tale->code = 2;
    scene_do(scene, "select pawl.signal($1, 'go')", scene->run_id);
    scene_go_on(scene);
}

static void
new_steps_may_be_added_and_unused_records_are_told(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    change_under(scene, &tale, "steps.changing");
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "1");
    assert_int_equal(tale.steps, 3);
    assert_string_equal(
        scene_text(scene, "select detail from pawl.history($1) where what = 'unused_records'",
            scene->run_id),
        "[\"gone#1\"]");
}

static void
a_strict_workflow_pauses_when_records_are_unused(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    scene_do(scene, "select pawl.create_workflow('steps.strict', strict_order => true)", NULL);
    change_under(scene, &tale, "steps.strict");
    assert_string_equal(scene_state(scene, scene->run_id), "PAUSED drift");
    scene_has(scene_text(scene, "select pawl.why($1)", scene->run_id), "gone#1");
}

static pawl_status
stubborn(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = tale_of(run);

    (void)input;
    atomic_fetch_add(&tale->executed, 1);
    if (pawl_wait_signal(run, "go", -1, NULL) != PAWL_SUSPENDED)
        return pawl_step(run, "after", count, NULL, output);
    /* It should return now, and does not. */
    tale->refused[0] = pawl_step(run, "after", count, NULL, NULL);
    *output = pawl_text("\"wrong\"");
    return PAWL_OK;
}

static void
a_handler_that_goes_on_although_it_is_suspended_changes_nothing(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    scene_handle(scene, "steps.stubborn", stubborn, &tale);
    scene_start(scene);
    scene_trigger(scene, "steps.stubborn", "{}");
    scene_go_on(scene);
    assert_string_equal(scene_state(scene, scene->run_id), "PAUSED signal");
    assert_int_equal(tale.refused[0], PAWL_SUSPENDED);
    assert_int_equal(tale.steps, 0);
    scene_do(scene, "select pawl.signal($1, 'go')", scene->run_id);
    scene_go_on(scene);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "1");
    assert_int_equal(tale.executed, 2);
}

static pawl_status
tell_facts(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_bytes quoted;
    pawl_status status = pawl_run_quote(run, "say \"hi\"\n\t\\ \x01 \xc3\xa4", &quoted);
    char *room = pawl_run_alloc(run, 10000);

    if (status != PAWL_OK || room == NULL)
        return PAWL_ENOMEM;
    memset(room, 'x', 9999);
    room[9999] = '\0';
    return pawl_run_printf(run, output, "[\"%s\", \"%s\", \"%s\", %s, %s, %d, %s, %zu, %d, %d]",
        pawl_run_id(run), pawl_run_workflow(run), pawl_run_tenant(run), input.data,
        pawl_run_metadata(run).data, pawl_run_execution(run), quoted.data, strlen(room),
        pawl_run_check(run), pawl_run_rolling_back(run));
}

static void
a_handler_knows_the_facts_of_its_run(void **state)
{
    struct scene *scene = *state;
    pawl_trigger *trigger = pawl_trigger_new("steps.facts");
    pawl_error *error = NULL;
    char wanted[400];

    scene_handle(scene, "steps.facts", tell_facts, NULL);
    scene_work(scene);
    pawl_trigger_set_input(trigger, pawl_text("{\"b\" : 1, \"a\":2 }"));
    pawl_trigger_set(trigger, "tenant", "acme");
    pawl_trigger_set(trigger, "metadata", "{\"by\":\"me\"}");
    assert_int_equal(
        pawl_client_trigger(scene->client, trigger, scene->run_id, NULL, &error), PAWL_OK);
    pawl_trigger_free(trigger);
    (void)snprintf(wanted, sizeof(wanted),
        "[\"%s\", \"steps.facts\", \"acme\", {\"b\" : 1, \"a\":2 }, {\"by\":\"me\"}, 1, "
        "\"say \\\"hi\\\"\\n\\t\\\\ \\u0001 \xc3\xa4\", 9999, 0, 0]",
        scene->run_id);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), wanted);
}

static pawl_status
greedy(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    int got = 0;

    (void)input;
    while (got < 1000 && pawl_run_alloc(run, (size_t)64 * 1024) != NULL)
        got++;
    return got < 1000 ? pawl_run_printf(run, output, "%d", got) : PAWL_EPERMANENT;
}

static void
the_memory_of_a_run_has_a_limit(void **state)
{
    struct scene *scene = *state;
    const char *output;

    scene_set(scene, "memory_max", "4MB");
    scene_handle(scene, "steps.greedy", greedy, NULL);
    scene_work(scene);
    scene_trigger(scene, "steps.greedy", "{}");
    output = scene_wait(scene, scene->run_id, PAWL_OK);
    assert_true(strcmp(output, "50") >= 0 && strlen(output) == 2);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_set_up, scene_tear_down)
        TEST(steps_are_executed_in_order_and_recorded),
        TEST(a_run_whose_worker_was_killed_goes_on_where_it_stood),
        TEST(a_loop_is_replayed_turn_by_turn),
        TEST(between_begin_and_finish_other_calls_are_refused),
        TEST(a_step_has_the_same_key_at_each_try_and_another_than_others),
        TEST(new_steps_may_be_added_and_unused_records_are_told),
        TEST(a_strict_workflow_pauses_when_records_are_unused),
        TEST(a_handler_that_goes_on_although_it_is_suspended_changes_nothing),
        TEST(a_handler_knows_the_facts_of_its_run),
        TEST(the_memory_of_a_run_has_a_limit),
#undef TEST
    };

    if (argc > 1 && strcmp(argv[1], "worker") == 0)
        return scene_be_worker(process_settings, in_a_process, 1, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
