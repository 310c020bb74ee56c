/* SPDX-License-Identifier: Apache-2.0 */
/* pawl_worker_run(): which handler is called for what, by which threads, and until when. */
#include "scene.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum {
    THREADS = 8,
    DEFAULT_THREADS = 16,
};

/* Says which handler it is: userdata is its name, as JSON. */
static pawl_status
tell_name(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)input;
    *output = pawl_text(pawl_run_userdata(run));
    return PAWL_OK;
}

/* Triggers a run and returns what came of it. */
static const char *
ask(struct scene *scene, const char *workflow)
{
    scene_do(scene, "select pawl.create_workflow($1)", workflow);
    scene_trigger(scene, workflow, "{}");
    return scene_wait(scene, scene->run_id, PAWL_OK);
}

static void
the_longest_pattern_wins(void **state)
{
    static char all[] = "\"*\"", a[] = "\"a.*\"", ab[] = "\"a.b*\"", whole[] = "\"a.b\"";
    struct scene *scene = *state;

    scene_handle(scene, "executor.a.*", tell_name, a);
    scene_handle(scene, "executor.*", tell_name, all);
    scene_handle(scene, "executor.a.b", tell_name, whole);
    scene_handle(scene, "executor.a.b*", tell_name, ab);
    scene_work(scene);
    assert_string_equal(ask(scene, "executor.z"), "\"*\"");
    assert_string_equal(ask(scene, "executor.a.z"), "\"a.*\"");
    assert_string_equal(ask(scene, "executor.a.b"), "\"a.b\"");
    assert_string_equal(ask(scene, "executor.a.bc"), "\"a.b*\"");
    assert_string_equal(ask(scene, "executor.a.b.c"), "\"a.b*\"");
}

/* Registers a handler, which must be refused with a message that has this part. */
static void
refuse(struct scene *scene, const char *pattern, const char *part)
{
    pawl_error *error = NULL;

    assert_int_equal(
        pawl_worker_handle(scene->worker, pattern, tell_name, NULL, &error), PAWL_EINVAL);
    scene_has(pawl_error_message(error), part);
    pawl_error_free(error);
}

static void
what_cannot_be_registered_is_refused(void **state)
{
    struct scene *scene = *state;
    pawl_error *error = NULL;
    char name[303] = "";

    memset(name, 'x', sizeof(name) - 1);
    scene_handle(scene, "executor.once", tell_name, NULL);
    refuse(scene, "executor.once", "\"executor.once\" has a handler already");
    refuse(scene, "Executor", "bad name \"Executor\"");
    refuse(scene, "a*b", "bad name");
    refuse(scene, "", "bad name");
    refuse(scene, NULL, "bad name");
    refuse(scene, name, "bad name");
    assert_int_equal(pawl_worker_undo(scene->worker, "undo", NULL, NULL, &error), PAWL_EINVAL);
    pawl_error_free(error);
    scene_start(scene);
    refuse(scene, "executor.late", "has been started");
}

/* Declared beside their functions, for a_program_registers_what_it_declares. */
static pawl_status
declared(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)input;
    (void)run;
    *output = pawl_text("\"declared\"");
    return PAWL_OK;
}
PAWL_WORKFLOW("executor.declared", declared);

static pawl_status
undoable(pawl_run *run, void *userdata, pawl_bytes *output)
{
    (void)run;
    (void)userdata;
    (void)output;
    return PAWL_OK;
}

static pawl_status
failing(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_status status;

    (void)input;
    (void)output;
    pawl_run_set_option(run, "undo", "executor.undo");
    status = pawl_step(run, "undoable", undoable, NULL, NULL);
    return status == PAWL_OK ? PAWL_EPERMANENT : status;
}
PAWL_WORKFLOW("executor.failing", failing);

static pawl_status
count_undo(pawl_run *run, pawl_bytes input, pawl_bytes output)
{
    atomic_int *undos = pawl_run_userdata(run);

    (void)input;
    (void)output;
    atomic_fetch_add(undos, 1);
    return PAWL_OK;
}
PAWL_UNDO("executor.undo", count_undo);

static void
a_program_registers_what_it_declares(void **state)
{
    struct scene *scene = *state;
    pawl_error *error = NULL;
    atomic_int undos = 0;

    assert_int_equal(pawl_worker_new(scene->config, &scene->worker, &error), PAWL_OK);
    assert_int_equal(pawl_worker_handle_declared(scene->worker, &undos, &error), PAWL_OK);
    scene_work(scene);
    assert_string_equal(ask(scene, "executor.declared"), "\"declared\"");
    scene_trigger(scene, "executor.failing", "{}");
    (void)scene_wait(scene, scene->run_id, PAWL_ERUN);
    assert_int_equal(undos, 1);
    /* The workflows were made by the worker. */
    assert_int_equal(
        scene_number(
            scene, "select count(*) from pawl_data.workflow where name like 'executor.%ed'", NULL),
        1);
}

static void
a_table_registers_handlers_and_undos(void **state)
{
    static const pawl_declaration table[] = {
        {sizeof(pawl_declaration), "executor.table", declared, NULL, {NULL}},
        {sizeof(pawl_declaration), "executor.broken", failing, NULL, {NULL}},
        {sizeof(pawl_declaration), "executor.undo", NULL, count_undo, {NULL}},
    };
    static const pawl_declaration bad = {.name = "executor.bad", .handler = declared};
    struct scene *scene = *state;
    pawl_error *error = NULL;
    atomic_int undos = 0;

    assert_int_equal(pawl_worker_new(scene->config, &scene->worker, &error), PAWL_OK);
    assert_int_equal(pawl_worker_handle_table(scene->worker, &bad, 1, NULL, &error), PAWL_EINVAL);
    pawl_error_free(error);
    assert_int_equal(pawl_worker_handle_table(scene->worker, table, 3, &undos, &error), PAWL_OK);
    scene_work(scene);
    assert_string_equal(ask(scene, "executor.table"), "\"declared\"");
    scene_trigger(scene, "executor.broken", "{}");
    (void)scene_wait(scene, scene->run_id, PAWL_ERUN);
    assert_int_equal(undos, 1);
}

static void
a_module_registers_what_it_declares_itself(void **state)
{
    struct scene *scene = *state;
    pawl_error *error = NULL;
    pawl_status (*registers)(pawl_worker * worker, void *userdata, pawl_error **error) = NULL;
    char path[1000];
    void *module;

    (void)snprintf(path, sizeof(path), "%s/tests/integration_module.so", getenv("PAWL_BUILD"));
    module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (module == NULL)
        fail_msg("%s", dlerror());
    *(void **)&registers = dlsym(module, "module_register");
    assert_non_null(registers);
    assert_int_equal(pawl_worker_new(scene->config, &scene->worker, &error), PAWL_OK);
    assert_int_equal(registers(scene->worker, NULL, &error), PAWL_OK);
    /* What the program declares is not the module's. */
    scene_handle(scene, "executor.declared", tell_name, NULL);
    scene_work(scene);
    assert_string_equal(ask(scene, "executor.module"), "\"from the module\"");
    (void)scene_rest(scene);
    (void)dlclose(module);
}

static void
the_library_can_be_loaded_by_a_program_that_does_not_link_it(void **state)
{
    char path[1000];
    void *library;

    (void)state;
    (void)snprintf(path, sizeof(path), "%s/src/libpawl/libpawl.so.0", getenv("PAWL_BUILD"));
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        fail_msg("%s", dlerror());
    assert_non_null(dlsym(library, "pawl_worker_run"));
    (void)dlclose(library);
}

static pawl_status
one(pawl_run *run, void *userdata, pawl_bytes *output)
{
    (void)userdata;
    pawl_run_log(run, "in a step");
    *output = pawl_text("1");
    return PAWL_OK;
}

static pawl_status
chatty_branch(pawl_run *branch, void *userdata, pawl_bytes *output)
{
    pawl_status status = PAWL_OK;

    (void)userdata;
    for (int i = 0; i < 5 && status == PAWL_OK; i++) {
        pawl_run_progress(branch, "turn", "%d", i);
        status = pawl_step(branch, "turn", one, NULL, output);
    }
    return status;
}

static pawl_status
chatty(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_status status = PAWL_OK;
    char name[8];

    (void)input;
    *output = pawl_text("\"said\"");
    for (int i = 0; i < 5 && status == PAWL_OK; i++) {
        (void)snprintf(name, sizeof(name), "b%d", i);
        status = pawl_branch(run, name, chatty_branch, NULL, NULL);
    }
    return status == PAWL_OK ? pawl_branches_join(run) : status;
}

static void
a_worker_works_with_the_smallest_batches_and_the_least_connections(void **state)
{
    struct scene *scene = *state;
    char ids[5][PAWL_ID_SIZE];

    scene_set(scene, "batch_max", "1");
    scene_set(scene, "batch_window_us", "0");
    scene_set(scene, "connections", "1");
    scene_set(scene, "prepared", "off");
    scene_set(scene, "listen", "off");
    scene_set(scene, "poll", "20ms");
    scene_handle(scene, "executor.chatty", chatty, NULL);
    scene_work(scene);
    for (int i = 0; i < 5; i++)
        memcpy(ids[i], scene_trigger(scene, "executor.chatty", "{}"), sizeof(ids[i]));
    for (int i = 0; i < 5; i++) {
        assert_string_equal(scene_wait(scene, ids[i], PAWL_OK), "\"said\"");
        assert_int_equal(
            scene_number(scene, "select json_array_length(steps) from pawl.get_run($1)", ids[i]),
            25);
        assert_int_equal(scene_number(scene, "select count(*) from pawl.notes($1)", ids[i]), 50);
    }
}

static pawl_status
meet(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    sigset_t blocked;

    (void)input;
    if (!gate_pass(pawl_run_userdata(run)))
        return PAWL_EPERMANENT;
    (void)sigemptyset(&blocked);
    (void)pthread_sigmask(SIG_BLOCK, NULL, &blocked); /* it only asks */
    *output = sigismember(&blocked, SIGTERM) == 1 && sigismember(&blocked, SIGINT) == 1
        ? pawl_text("\"blocked\"")
        : pawl_text("\"open\"");
    return PAWL_OK;
}

static void
as_many_handlers_as_the_setting_says_execute_at_once(void **state)
{
    struct scene *scene = *state;
    struct gate gate;

    gate_init(&gate);
    scene_set(scene, "concurrency", "8");
    scene_handle(scene, "executor.meet", meet, &gate);
    scene_work(scene);
    for (int i = 0; i < THREADS + 1; i++)
        scene_trigger(scene, "executor.meet", "{}");
    gate_await(&gate, THREADS);
    /* The ninth is not even claimed. */
    assert_string_equal(scene_state(scene, scene->run_id), "QUEUED");
    assert_int_equal(pawl_worker_counter(scene->worker, "held"), THREADS);
    gate_open(&gate);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "\"blocked\"");
    (void)scene_rest(scene);
    gate_done(&gate);
}

/* With default settings there are more only while handlers take little time. These have not finished at all. */
static void
sixteen_handlers_that_block_execute_at_once_by_default(void **state)
{
    struct scene *scene = *state;
    struct gate gate;

    gate_init(&gate);
    scene_handle(scene, "executor.meet", meet, &gate);
    scene_work(scene);
    for (int i = 0; i < DEFAULT_THREADS + 1; i++)
        scene_trigger(scene, "executor.meet", "{}");
    gate_await(&gate, DEFAULT_THREADS);
    assert_string_equal(scene_state(scene, scene->run_id), "QUEUED");
    assert_int_equal(pawl_worker_counter(scene->worker, "held"), DEFAULT_THREADS);
    gate_open(&gate);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "\"blocked\"");
    (void)scene_rest(scene);
    gate_done(&gate);
}

static void
a_descriptor_that_becomes_readable_drains_the_worker(void **state)
{
    struct scene *scene = *state;
    struct gate gate;
    int ends[2];

    gate_init(&gate);
    assert_int_equal(pipe(ends), 0);
    scene_set(scene, "concurrency", "1");
    scene_handle(scene, "executor.meet", meet, &gate);
    pawl_worker_drain_on(scene->worker, ends[0]);
    scene_work(scene);
    scene_trigger(scene, "executor.meet", "{}");
    gate_await(&gate, 1);
    assert_int_equal(write(ends[1], "x", 1), 1);
    gate_open(&gate);
    (void)pthread_join(scene->thread, NULL);
    scene->working = false;
    assert_int_equal(scene->ended, PAWL_OK);
    assert_string_equal(scene_state(scene, scene->run_id), "SUCCESS");
    assert_int_equal(
        scene_number(scene,
            "select count(*) from pawl.list_workers() where handles = '{executor.meet}'", NULL),
        0);
    (void)close(ends[0]);
    (void)close(ends[1]);
    gate_done(&gate);
}

static void
an_operator_drains_a_worker(void **state)
{
    struct scene *scene = *state;

    scene_handle(scene, "executor.remote", declared, NULL);
    scene_work(scene);
    assert_string_equal(ask(scene, "executor.remote"), "\"declared\"");
    scene_do(scene,
        "select pawl.drain_worker(session) from pawl.list_workers()"
        " where handles = '{executor.remote}'",
        NULL);
    (void)pthread_join(scene->thread, NULL);
    scene->working = false;
    assert_int_equal(scene->ended, PAWL_OK);
}

static void
a_run_that_a_worker_has_no_function_for_is_left_to_another(void **state)
{
    struct scene *scene = *state;

    scene_do(scene, "select pawl.create_workflow('executor.nobody', max_attempts => 1)", NULL);
    scene_handle(scene, "executor.nobody", NULL, NULL);
    scene_work(scene);
    scene_trigger(scene, "executor.nobody", "{}");
    scene_until(scene,
        "select pawl.why($1) like 'Attempt 2 of 300 of step no_handler#0 starts in %"
        " Last error: \"the worker has no function for \"executor.nobody\"\".'",
        scene->run_id);
    (void)scene_rest(scene);
    scene_handle(scene, "executor.nobody", declared, NULL);
    scene_work(scene);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "\"declared\"");
}

static void
a_worker_takes_only_what_its_runtimes_offer(void **state)
{
    struct scene *scene = *state;
    char elsewhere[PAWL_ID_SIZE];

    scene_do(scene, "select pawl.create_workflow('executor.python', runtime => 'python')", NULL);
    scene_handle(scene, "executor.*", declared, NULL);
    scene_work(scene);
    memcpy(elsewhere, scene_trigger(scene, "executor.python", "{}"), sizeof(elsewhere));
    assert_string_equal(ask(scene, "executor.plain"), "\"declared\"");
    assert_string_equal(scene_state(scene, elsewhere), "QUEUED");
    scene_do(scene, "select pawl.alter_workflow('executor.python', '{\"runtime\": \"c\"}')", NULL);
    assert_string_equal(scene_wait(scene, elsewhere, PAWL_OK), "\"declared\"");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_set_up, scene_tear_down)
        TEST(the_longest_pattern_wins),
        TEST(what_cannot_be_registered_is_refused),
        TEST(a_program_registers_what_it_declares),
        TEST(a_table_registers_handlers_and_undos),
        TEST(a_module_registers_what_it_declares_itself),
        TEST(the_library_can_be_loaded_by_a_program_that_does_not_link_it),
        TEST(a_worker_works_with_the_smallest_batches_and_the_least_connections),
        TEST(as_many_handlers_as_the_setting_says_execute_at_once),
        TEST(sixteen_handlers_that_block_execute_at_once_by_default),
        TEST(a_descriptor_that_becomes_readable_drains_the_worker),
        TEST(an_operator_drains_a_worker),
        TEST(a_run_that_a_worker_has_no_function_for_is_left_to_another),
        TEST(a_worker_takes_only_what_its_runtimes_offer),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
