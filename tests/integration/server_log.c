/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Payloads do not reach the server's log through the library, whatever is wrong with them. PostgreSQL logs the beginning of a text that is
 * not JSON, and of JSON that holds \u0000 where it reads a value out of it.
 */
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

#define CANARY "CANARY9"

static const char *const bad[] = {
    "{\"card\": \"" CANARY "\" oops",
    "{\"card\": \"" CANARY "\"",
    CANARY,
    "\"" CANARY "\n\"",
    "\"" CANARY "\xff\"",
    "{\"" CANARY "\": 01}",
    "[\"" CANARY "\\x\"]",
};

/* JSON that PostgreSQL keeps and cannot read. */
static const char *const odd[] = {
    "{\"card\": \"" CANARY "\\u0000\", \"n\": 1}",
    "{\"card\": \"" CANARY "\\ud800\", \"n\": 1}",
    "{\"card\": \"" CANARY "\", \"n\": 1, \"m\": 1e999999}",
};

enum {
    BAD = sizeof(bad) / sizeof(bad[0]),
    ODD = sizeof(odd) / sizeof(odd[0])
};

/* Where the log of the server ends. */
static long
log_size(void)
{
    FILE *file = fopen(getenv("PAWL_PG_LOG"), "rb");
    long size;

    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    size = ftell(file);
    (void)fclose(file);
    return size;
}

/* What was logged since then holds no payload. */
static void
check_log(long from)
{
    FILE *file = fopen(getenv("PAWL_PG_LOG"), "rb");
    char line[8192];

    assert_non_null(file);
    assert_int_equal(fseek(file, from, SEEK_SET), 0);
    while (fgets(line, sizeof(line), file) != NULL)
        if (strstr(line, CANARY) != NULL)
            fail_msg("in the server's log: %s", line);
    (void)fclose(file);
}

struct tale {
    const char *payload;
    const char *how;
};

static pawl_status
give(pawl_run *run, void *userdata, pawl_bytes *output)
{
    (void)run;
    *output = pawl_text(userdata);
    return PAWL_OK;
}

/* Gives the payload to one call, whatever comes of it. */
static pawl_status
misuse(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    const struct tale *tale = pawl_run_userdata(run);
    char *payload = (char *)(uintptr_t)tale->payload;
    pawl_bytes bytes = pawl_text(payload);
    pawl_status status;

    (void)input;
    if (strcmp(tale->how, "step") == 0) {
        status = pawl_step(run, "s", give, payload, NULL);
    } else if (strcmp(tale->how, "output") == 0) {
        *output = bytes;
        return PAWL_OK;
    } else if (strcmp(tale->how, "error") == 0) {
        pawl_run_set_error_json(run, bytes);
        return PAWL_EPERMANENT;
    } else if (strcmp(tale->how, "child") == 0) {
        status = pawl_child_detached(run, "c", "log.misuse.none", bytes, NULL);
    } else if (strcmp(tale->how, "metadata") == 0) {
        pawl_run_set_option(run, "metadata", payload);
        status = pawl_child_detached(run, "c", "log.misuse.none", pawl_text("{}"), NULL);
    } else if (strcmp(tale->how, "match") == 0) {
        pawl_run_set_option(run, "match", payload);
        status = pawl_wait_event(run, "e", "topic", 1, NULL);
    } else if (strcmp(tale->how, "form") == 0) {
        status = pawl_wait_approval(run, "a", bytes, 1, NULL);
    } else if (strcmp(tale->how, "undo") == 0) {
        pawl_run_set_option(run, "undo", "nothing");
        pawl_run_set_option(run, "undo_input", payload);
        status = pawl_step(run, "s", give, (char *)(uintptr_t) "1", NULL);
    } else {
        pawl_run_log(run, "%s", payload);
        status = PAWL_OK;
    }
    /* A wait may go on later; nothing more is to be seen of it. */
    return status == PAWL_SUSPENDED ? status : PAWL_OK;
}

static void
no_call_of_a_handler_shows_its_payload(void **state)
{
    static const char *const how[] = {
        "step", "output", "error", "child", "metadata", "match", "form", "undo", "log"};
    struct scene *scene = *state;
    struct tale tale = {0};
    long from;

    scene_do(scene, "select pawl.create_workflow('log.misuse.none', max_attempts => 1)", NULL);
    scene_do(scene, "select pawl.create_workflow('log.misuse', max_attempts => 1)", NULL);
    scene_handle(scene, "log.misuse", misuse, &tale);
    scene_start(scene);
    from = log_size();
    for (size_t i = 0; i < sizeof(how) / sizeof(how[0]); i++)
        for (int n = 0; n < BAD + ODD; n++) {
            tale.how = how[i];
            tale.payload = n < BAD ? bad[n] : odd[n - BAD];
            scene_trigger(scene, "log.misuse", "{}");
            scene_go_on(scene);
        }
    check_log(from);
}

static pawl_status
call(struct scene *scene, const char *verb, const char *const *names, const char *const *values,
    size_t count)
{
    pawl_error *error = NULL;
    pawl_status status = pawl_client_call(scene->client, verb, names, values, count, NULL, &error);

    if (strstr(pawl_error_message(error), CANARY) != NULL)
        fail_msg("in an error: %s", pawl_error_message(error));
    pawl_error_free(error);
    return status;
}

static void
no_call_of_a_client_shows_its_payload(void **state)
{
    struct scene *scene = *state;
    char list[300];
    long from;

    scene_do(scene, "select pawl.create_workflow('log.client')", NULL);
    scene_trigger(scene, "log.client", "{}");
    from = log_size();
    for (int n = 0; n < BAD; n++) {
        pawl_trigger *trigger = pawl_trigger_new("log.client");
        pawl_error *error = NULL;

        pawl_trigger_set_input(trigger, pawl_text(bad[n]));
        assert_int_equal(
            pawl_client_trigger(scene->client, trigger, NULL, NULL, &error), PAWL_EINVAL);
        pawl_error_free(error);
        pawl_trigger_free(trigger);
        assert_int_equal(
            pawl_client_signal(scene->client, scene->run_id, "go", pawl_text(bad[n]), NULL),
            PAWL_EINVAL);
        assert_int_equal(call(scene, "trigger", (const char *const[]){"workflow", "input"},
                             (const char *const[]){"log.client", bad[n]}, 2),
            PAWL_EINVAL);
        assert_int_equal(call(scene, "trigger", (const char *const[]){"workflow", "metadata"},
                             (const char *const[]){"log.client", bad[n]}, 2),
            PAWL_EINVAL);
        assert_int_equal(call(scene, "emit", (const char *const[]){"topic", "payload"},
                             (const char *const[]){"log", bad[n]}, 2),
            PAWL_EINVAL);
        assert_int_equal(call(scene, "signal", (const char *const[]){"run", "name", "payload"},
                             (const char *const[]){scene->run_id, "go", bad[n]}, 3),
            PAWL_EINVAL);
        (void)snprintf(list, sizeof(list), "{1,%s}", bad[n]);
        assert_int_equal(call(scene, "trigger_many", (const char *const[]){"workflow", "inputs"},
                             (const char *const[]){"log.client", list}, 2),
            PAWL_EINVAL);
    }
    for (int n = 0; n < ODD; n++) {
        assert_int_equal(call(scene, "emit", (const char *const[]){"topic", "payload"},
                             (const char *const[]){"log", odd[n]}, 2),
            PAWL_OK);
        assert_int_equal(call(scene, "trigger", (const char *const[]){"workflow", "input"},
                             (const char *const[]){"log.client", odd[n]}, 2),
            PAWL_OK);
    }
    check_log(from);
}

/* What the engine itself reads out of payloads: matches of events, conditions of flows, answers of waits. */
static void
no_verb_of_the_engine_shows_a_payload_that_it_compares(void **state)
{
    struct scene *scene = *state;
    char session[24];
    long from;

    scene_do(scene, "select pawl.create_workflow('log.wait')", NULL);
    scene_do(scene, "select pawl.create_flow('log.flow')", NULL);
    scene_do(scene,
        "select pawl.add_step('log.flow', 'a', '{}', '{\"condition\": {\"/run/n\": 1}}')", NULL);
    (void)snprintf(session, sizeof(session), "%s",
        scene_text(scene, "select session from pawl.register('hand', '{log.wait}')", NULL));
    from = log_size();
    for (int n = 0; n < ODD; n++) {
        scene_do(scene, "select * from pawl.trigger('log.wait')", NULL);
        scene_do(scene,
            "select w.answer from pawl.claim($1::text::bigint) c, "
            "pawl.wait_event($1::text::bigint, "
            "c.run_id, c.fence, 'w', 'log', match => '{\"/n\": 1}') w",
            session);
        assert_string_equal(
            scene_text(scene, "select woken from pawl.emit('log', $1::text::json)", odd[n]), "1");
        scene_do(scene,
            "select w.answer from pawl.claim($1::text::bigint) c, "
            "pawl.wait_event($1::text::bigint, "
            "c.run_id, c.fence, 'w2', 'log', match => '{\"/n\": 1}') w",
            session);
        scene_do(scene, "select * from pawl.trigger('log.flow', $1::text::json)", odd[n]);
        scene_do(scene,
            "select * from pawl.kill(array(select t.run_id from pawl_data.task t join "
            "pawl_data.queue q "
            "using "
            "(queue_id) where q.name = 'log.wait'))",
            NULL);
    }
    assert_int_equal(
        scene_number(scene,
            "select count(*) from pawl_data.task t join pawl_data.queue q using (queue_id) where "
            "q.name = 'log.flow/a'",
            NULL),
        ODD);
    scene_do(scene, "select pawl.leave($1::text::bigint)", session);
    check_log(from);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_set_up, scene_tear_down)
        TEST(no_call_of_a_handler_shows_its_payload),
        TEST(no_call_of_a_client_shows_its_payload),
        TEST(no_verb_of_the_engine_shows_a_payload_that_it_compares),
#undef TEST
    };

    return cmocka_run_group_tests_name("server_log", tests, NULL, NULL);
}
