/* SPDX-License-Identifier: Apache-2.0 */
/* Flows whose steps are handled by C functions. */
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
    atomic_int fetches;
    atomic_int others;
    atomic_int failing; /* tries that are to fail, from now on */
    atomic_int sizes;
    pthread_mutex_t lock;
    char text[4000];
};

__attribute__((format(printf, 2, 3))) static void
tell(struct tale *tale, const char *format, ...)
{
    va_list arguments;
    size_t at;

    (void)pthread_mutex_lock(&tale->lock);
    at = strlen(tale->text);
    va_start(arguments, format);
    (void)vsnprintf(tale->text + at, sizeof(tale->text) - at, format, arguments);
    va_end(arguments);
    (void)pthread_mutex_unlock(&tale->lock);
}

static void
apply(struct scene *scene, const char *definition)
{
    scene_do(scene, "select * from pawl.apply_flow($1::json)", definition);
}

static pawl_status
fetch(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);

    (void)input;
    atomic_fetch_add(&tale->fetches, 1);
    return pawl_run_printf(run, output, "{\"from\": \"%s\"}", pawl_run_workflow(run));
}

/* Answers with what it was given. */
static pawl_status
other(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);

    atomic_fetch_add(&tale->others, 1);
    return pawl_run_printf(
        run, output, "{\"%s\": %s}", strchr(pawl_run_workflow(run), '/') + 1, input.data);
}

static void
steps_are_handled_by_name_and_by_pattern(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {.lock = PTHREAD_MUTEX_INITIALIZER};

    apply(scene,
        "{\"flow\": \"flow.web\", \"steps\": [{\"step\": \"fetch\"}, "
        "{\"step\": \"text\", \"deps\": [\"fetch\"]}, {\"step\": \"images\", \"deps\": "
        "[\"fetch\"]}, "
        "{\"step\": \"report\", \"deps\": [\"text\", \"images\"]}]}");
    scene_handle(scene, "flow.web/fetch", fetch, &tale);
    scene_handle(scene, "flow.web/*", other, &tale);
    scene_work(scene);
    scene_trigger(scene, "flow.web", "{\"url\":1}");
    (void)scene_wait(scene, scene->run_id, PAWL_OK);
    assert_int_equal(tale.fetches, 1);
    assert_int_equal(tale.others, 3);
    assert_string_equal(
        scene_text(scene, "select output::jsonb from pawl.result($1)", scene->run_id),
        "{\"report\": {\"report\": {\"run\": {\"url\": 1}, "
        "\"text\": {\"text\": {\"run\": {\"url\": 1}, \"fetch\": {\"from\": \"flow.web/fetch\"}}}, "
        "\"images\": {\"images\": {\"run\": {\"url\": 1}, \"fetch\": {\"from\": "
        "\"flow.web/fetch\"}}}}}}");
}

static void
a_name_may_be_as_long_as_a_flow_and_a_step_together(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {.lock = PTHREAD_MUTEX_INITIALIZER};
    char flow[201];
    char definition[600];
    char name[302];
    char step[101];

    memset(flow, 'f', sizeof(flow) - 1);
    flow[200] = '\0';
    memset(step, 's', sizeof(step) - 1);
    step[100] = '\0';
    (void)snprintf(definition, sizeof(definition),
        "{\"flow\": \"%s\", \"steps\": [{\"step\": \"%s\"}]}", flow, step);
    (void)snprintf(name, sizeof(name), "%s/%s", flow, step);
    apply(scene, definition);
    scene_handle(scene, name, fetch, &tale);
    scene_work(scene);
    scene_trigger(scene, flow, "{}");
    (void)scene_wait(scene, scene->run_id, PAWL_OK);
    assert_int_equal(tale.fetches, 1);
}

static pawl_status
make_list(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    int64_t count = 0;
    char list[4000] = "[";

    if (pawl_json_int(input, "/run/count", &count) != PAWL_OK)
        return PAWL_EPERMANENT;
    for (int64_t i = 0; i < count; i++)
        (void)snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%d", i > 0 ? "," : "",
            (int)(10 * i));
    return pawl_run_printf(run, output, "%s]", list);
}

/* Twice the element and its place; each has a task number of its own. */
static pawl_status
twice(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    int64_t item;
    int64_t index;

    if (pawl_json_int(input, "/item", &item) != PAWL_OK ||
        pawl_json_int(input, "/index", &index) != PAWL_OK)
        return PAWL_EPERMANENT;
    return pawl_run_printf(
        run, output, "[%d, %d, %d]", (int)(2 * item), (int)index, pawl_run_task(run));
}

static pawl_status
measure(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_bytes list;

    if (pawl_json_find(input, "/twice", &list) != PAWL_OK)
        return PAWL_EPERMANENT;
    return pawl_run_printf(run, output, "%.*s", (int)list.size, list.data);
}

static void
a_map_step_has_a_task_for_each_element(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {.lock = PTHREAD_MUTEX_INITIALIZER};

    apply(scene,
        "{\"flow\": \"flow.map\", \"steps\": [{\"step\": \"list\"}, "
        "{\"step\": \"twice\", \"deps\": [\"list\"], \"map\": \"list\"}, "
        "{\"step\": \"sum\", \"deps\": [\"twice\"]}]}");
    scene_handle(scene, "flow.map/list", make_list, &tale);
    scene_handle(scene, "flow.map/twice", twice, &tale);
    scene_handle(scene, "flow.map/sum", measure, &tale);
    scene_work(scene);
    scene_trigger(scene, "flow.map", "{\"count\": 100}");
    (void)scene_wait(scene, scene->run_id, PAWL_OK);
    assert_string_equal(
        scene_text(scene,
            "select count(*) || ' ' || count(distinct e.v ->> 2) || ' ' || "
            "bool_and((e.v ->> 0)::int = 20 * (n - 1) and (e.v ->> 1)::int = n - 1) "
            "from pawl.result($1) r, "
            "json_array_elements(r.output -> 'sum') with ordinality e (v, n)",
            scene->run_id),
        "100 100 true");
    scene_trigger(scene, "flow.map", "{\"count\": 0}");
    (void)scene_wait(scene, scene->run_id, PAWL_OK);
    assert_string_equal(
        scene_text(scene, "select output -> 'sum' from pawl.result($1)", scene->run_id), "[]");
}

static pawl_status
flaky(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);

    (void)input;
    (void)output;
    atomic_fetch_add(&tale->others, 1);
    if (atomic_fetch_sub(&tale->failing, 1) <= 0)
        return PAWL_OK;
    pawl_run_set_error(run, "flaky", "try %d", pawl_run_execution(run));
    return PAWL_EFAILED;
}

static void
a_task_is_tried_as_its_step_says_and_a_retry_goes_on_from_there(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {.lock = PTHREAD_MUTEX_INITIALIZER, .failing = 3};

    apply(scene,
        "{\"flow\": \"flow.flaky\", \"steps\": [{\"step\": \"fetch\"}, {\"step\": \"flaky\", "
        "\"deps\": "
        "[\"fetch\"], \"max_attempts\": 2, \"base\": \"1s\", \"jitter\": 0}]}");
    scene_handle(scene, "flow.flaky/fetch", fetch, &tale);
    scene_handle(scene, "flow.flaky/flaky", flaky, &tale);
    scene_start(scene);
    scene_trigger(scene, "flow.flaky", "{}");
    scene_go_on(scene);
    assert_int_equal(tale.others, 1);
    assert_string_equal(scene_state(scene, scene->run_id), "PAUSED retry");
    scene_advance(scene, 1100);
    scene_go_on(scene);
    scene_has(scene_wait(scene, scene->run_id, PAWL_ERUN), "try 2");
    assert_int_equal(tale.others, 2);
    assert_string_equal(
        scene_text(scene, "select answer from pawl.retry(array[$1::uuid])", scene->run_id), "ok");
    scene_go_on(scene);
    scene_advance(scene, 1100);
    scene_go_on(scene);
    (void)scene_wait(scene, scene->run_id, PAWL_OK);
    assert_int_equal(tale.others, 4);
    assert_int_equal(tale.fetches, 1);
}

static pawl_status
add_one(pawl_run *run, void *userdata, pawl_bytes *output)
{
    struct tale *tale = userdata;

    return pawl_run_printf(run, output, "%d", atomic_fetch_add(&tale->others, 1) + 1);
}

/* A step, a sleep and a wait, as any run may have them. */
static pawl_status
long_task(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);
    pawl_bytes value;
    pawl_status status = pawl_step(run, "add", add_one, tale, &value);

    (void)input;
    if (status == PAWL_OK)
        status = pawl_sleep(run, "nap", 60000);
    if (status == PAWL_OK)
        status = pawl_wait_signal(run, "go", -1, NULL);
    if (status != PAWL_OK)
        return status;
    return pawl_run_printf(run, output, "%.*s", (int)value.size, value.data);
}

static void
steps_sleeps_and_waits_inside_of_a_task(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {.lock = PTHREAD_MUTEX_INITIALIZER};

    apply(scene, "{\"flow\": \"flow.long\", \"steps\": [{\"step\": \"each\", \"map\": \"run\"}]}");
    scene_handle(scene, "flow.long/*", long_task, &tale);
    scene_start(scene);
    scene_trigger(scene, "flow.long", "[7, 8]");
    scene_go_on(scene);
    assert_int_equal(tale.others, 2);
    assert_string_equal(scene_state(scene, scene->run_id), "PAUSED sleep");
    scene_advance(scene, 61000);
    scene_go_on(scene);
    scene_do(scene, "select pawl.signal($1::uuid, 'go', '1')", scene->run_id);
    scene_do(scene, "select pawl.signal($1::uuid, 'go', '2')", scene->run_id);
    scene_go_on(scene);
    (void)scene_wait(scene, scene->run_id, PAWL_OK);
    assert_int_equal(tale.others, 2);
    assert_string_equal(scene_text(scene,
                            "select string_agg(s ->> 'name', ' ' order by s ->> 'name') "
                            "from pawl.get_run($1) g, json_array_elements(g.steps) s "
                            "where s ->> 'name' like '%add%'",
                            scene->run_id),
        "each[0]/add#1 each[1]/add#1");
}

static pawl_status
book(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)input;
    return pawl_run_printf(run, output, "[\"%s\"]", strchr(pawl_run_workflow(run), '/') + 1);
}

/* Has a step with an undo of its own. */
static pawl_status
order(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_status status;

    (void)input;
    pawl_run_set_option(run, "undo", "unbook");
    pawl_run_set_option(run, "undo_input", "\"taxi \"");
    status = pawl_step_begin(run, "order", NULL);
    if (status == PAWL_EXECUTE)
        status = pawl_step_finish(run, PAWL_OK, pawl_text("12"), NULL);
    *output = pawl_text("null");
    return status;
}

static pawl_status
refuse(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)input;
    (void)output;
    pawl_run_set_error(run, "full", "no seat is left");
    return PAWL_EPERMANENT;
}

static pawl_status
unbook(pawl_run *run, pawl_bytes input, pawl_bytes output)
{
    tell(pawl_run_userdata(run), "%s%.*s;", input.data == NULL ? "" : input.data, (int)output.size,
        output.data == NULL ? "" : output.data);
    return PAWL_OK;
}

static void
a_rollback_calls_the_undo_handlers_of_completed_steps_in_reverse(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {.lock = PTHREAD_MUTEX_INITIALIZER};

    apply(scene,
        "{\"flow\": \"flow.trip\", \"steps\": [{\"step\": \"hotel\", \"undo\": \"unbook\"}, "
        "{\"step\": \"car\", \"deps\": [\"hotel\"], \"map\": \"hotel\", \"undo\": \"unbook\"}, "
        "{\"step\": \"taxi\", \"deps\": [\"car\"]}, "
        "{\"step\": \"flight\", \"deps\": [\"taxi\"], \"max_attempts\": 1}]}");
    scene_handle(scene, "flow.trip*", book, &tale);
    scene_handle(scene, "flow.trip/taxi", order, &tale);
    scene_handle(scene, "flow.trip/flight", refuse, &tale);
    scene_undo(scene, "unbook", unbook, &tale);
    scene_start(scene);
    scene_trigger(scene, "flow.trip", "{}");
    scene_go_on(scene);
    scene_has(scene_wait(scene, scene->run_id, PAWL_ERUN), "no seat is left");
    assert_string_equal(tale.text, "\"taxi \"12;[\"car\"];[\"hotel\"];");
}

/* In a process of its own: dies the first time it executes an element whose place is a multiple of ten. */
static pawl_status
deadly(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    int64_t index = 1;

    if (pawl_json_int(input, "/index", &index) == PAWL_OK && index % 10 == 0 &&
        pawl_run_execution(run) == 1)
        (void)kill(getpid(), SIGKILL);
    return pawl_run_printf(run, output, "%d", (int)index);
}

static const pawl_declaration in_a_process[] = {
    {sizeof(pawl_declaration), "flow.deadly/each", deadly, NULL, {NULL}},
};
static const char *const process_settings[] = {"lease", "500ms", "concurrency", "4", NULL};

static void
killed_workers_cost_a_map_nothing_but_time(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct killer *killer = killer_new(1);

    apply(scene,
        "{\"flow\": \"flow.deadly\", \"steps\": [{\"step\": \"list\"}, "
        "{\"step\": \"each\", \"deps\": [\"list\"], \"map\": \"list\"}]}");
    scene_handle(scene, "flow.deadly/list", make_list, &tale);
    scene_work(scene);
    (void)scene_spawn(killer, "worker", true);
    (void)scene_spawn(killer, "worker", true);
    scene_trigger(scene, "flow.deadly", "{\"count\": 40}");
    (void)scene_wait(scene, scene->run_id, PAWL_OK);
    killer_free(killer);
    assert_string_equal(scene_text(scene,
                            "select string_agg(v, ' ' order by n) from pawl.result($1) r, "
                            "json_array_elements_text(r.output -> 'each') with ordinality e (v, n) "
                            "where n % 13 = 1 and json_array_length(r.output -> 'each') = 40",
                            scene->run_id),
        "0 13 26 39");
    assert_true(scene_number(scene,
                    "select count(*) from pawl.get_run($1) g, json_array_elements(g.steps) s "
                    "where s ->> 'name' like 'each[%' and (s ->> 'attempt')::int > 1",
                    scene->run_id) > 0);
    assert_int_equal(scene_number(scene,
                         "select count(*) from pawl.get_run($1) g, json_array_elements(g.steps) s "
                         "where s ->> 'name' like 'each[%'",
                         scene->run_id),
        40);
}

static pawl_status
turn(pawl_run *run, void *userdata, pawl_bytes *output)
{
    (void)userdata;
    scene_breathe();
    return pawl_run_printf(run, output, "1");
}

/* Takes one step after the other for as long as it may. */
static pawl_status
dawdle(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);
    int64_t give_up_ms = scene_now_ms() + scene_patience_ms;
    pawl_status status = PAWL_OK;

    (void)input;
    (void)output;
    atomic_fetch_add(&tale->others, 1);
    while (status == PAWL_OK && scene_now_ms() < give_up_ms)
        status = pawl_step(run, "turn", turn, NULL, NULL);
    atomic_store(&tale->sizes, (int)status);
    return status;
}

/* The clock of the database stands still, so it is the worker that keeps to the limit. */
static void
a_task_whose_run_is_out_of_time_starts_no_further_step(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {.lock = PTHREAD_MUTEX_INITIALIZER};

    apply(scene,
        "{\"flow\": \"flow.late\", \"run_timeout\": \"400 ms\", \"max_attempts\": 9, "
        "\"steps\": [{\"step\": \"dawdle\"}]}");
    scene_handle(scene, "flow.late/*", dawdle, &tale);
    scene_work(scene);
    scene_trigger(scene, "flow.late", "{}");
    scene_has(scene_wait(scene, scene->run_id, PAWL_ERUN), "time limit");
    assert_int_equal(tale.sizes, PAWL_ETIMEOUT);
    assert_int_equal(tale.others, 1);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_set_up, scene_tear_down)
#define STOPPED(name) cmocka_unit_test_setup_teardown(name, scene_set_up_stopped, scene_tear_down)
        TEST(steps_are_handled_by_name_and_by_pattern),
        TEST(a_name_may_be_as_long_as_a_flow_and_a_step_together),
        TEST(a_map_step_has_a_task_for_each_element),
        TEST(killed_workers_cost_a_map_nothing_but_time),
        /* From here on the clock of this database stands still. */
        STOPPED(a_task_is_tried_as_its_step_says_and_a_retry_goes_on_from_there),
        STOPPED(steps_sleeps_and_waits_inside_of_a_task),
        STOPPED(a_rollback_calls_the_undo_handlers_of_completed_steps_in_reverse),
        STOPPED(a_task_whose_run_is_out_of_time_starts_no_further_step),
#undef STOPPED
#undef TEST
    };

    if (argc > 1 && strcmp(argv[1], "worker") == 0)
        return scene_be_worker(process_settings, in_a_process, 1, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
