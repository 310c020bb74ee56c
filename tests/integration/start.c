/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker needs to start, and what it says when that is not there. */
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static pawl_status
well(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)run;
    (void)input;
    *output = pawl_text("\"well\"");
    return PAWL_OK;
}

/* A role that logs in and may do this: one of the four sets of rights, or nothing if NULL. Returns a setting for it. */
static const char *
make_role(struct scene *scene, const char *rights, char setting[64])
{
    char sql[300];
    char role[48];

    (void)snprintf(
        role, sizeof(role), "start_%s_%ld", rights == NULL ? "nobody" : rights, (long)getpid());
    (void)snprintf(sql, sizeof(sql), "create role %s login", role);
    scene_do(scene, sql, NULL);
    if (rights != NULL) {
        (void)snprintf(sql, sizeof(sql), "select pawl.grant_role('%s', $1)", role);
        scene_do(scene, sql, rights);
    }
    (void)snprintf(setting, 64, "user=%s", role);
    return setting;
}

static void
drop_role(struct scene *scene, const char *setting)
{
    char sql[200];

    (void)snprintf(sql, sizeof(sql), "drop owned by %s", setting + strlen("user="));
    scene_do(scene, sql, NULL);
    (void)snprintf(sql, sizeof(sql), "drop role %s", setting + strlen("user="));
    scene_do(scene, sql, NULL);
}

/* Starts the worker, which must fail with this status; the message has this part. */
static void
refuse(struct scene *scene, pawl_status wanted, const char *part)
{
    pawl_error *error = NULL;
    pawl_status status = pawl_worker_start(scene->worker, &error);

    assert_string_equal(pawl_status_name(status), pawl_status_name(wanted));
    scene_has(pawl_error_message(error), part);
    pawl_error_free(error);
}

static void
a_worker_that_handles_nothing_does_not_start(void **state)
{
    struct scene *scene = *state;
    pawl_error *error = NULL;

    assert_int_equal(pawl_worker_new(scene->config, &scene->worker, &error), PAWL_OK);
    refuse(scene, PAWL_EINVAL, "handle");
}

static void
a_worker_without_a_server_gives_up_in_time(void **state)
{
    struct scene *scene = *state;
    int64_t began_ms = scene_now_ms();

    scene_set(scene, "database", "host=/nowhere");
    scene_set(scene, "connect_timeout", "200ms");
    scene_handle(scene, "start.nowhere", well, NULL);
    refuse(scene, PAWL_ECONN, "/nowhere");
    scene_in_time(scene_now_ms() - began_ms, 3000);
}

static void
a_worker_of_a_database_without_pawl_says_so(void **state)
{
    struct scene *scene = *state;

    scene_set(scene, "database", "dbname=postgres");
    scene_handle(scene, "start.empty", well, NULL);
    refuse(scene, PAWL_ESCHEMA, "pawl");
}

static void
a_worker_that_speaks_another_protocol_says_so(void **state)
{
    struct scene *scene = *state;

    scene_do(scene, "update pawl_data.setting set protocol_min = 7, protocol_max = 9", NULL);
    scene_handle(scene, "start.protocol", well, NULL);
    refuse(scene, PAWL_ESCHEMA, "worker speaks protocol 1, this schema 7 to 9");
    scene_do(scene, "update pawl_data.setting set protocol_min = 1, protocol_max = 1", NULL);
}

static void
a_role_without_rights_is_told_so(void **state)
{
    struct scene *scene = *state;
    char setting[64];

    scene_set(scene, "database", make_role(scene, NULL, setting));
    scene_handle(scene, "start.forbidden", well, NULL);
    refuse(scene, PAWL_EFORBIDDEN, "permission denied");
    (void)scene_rest(scene);
    drop_role(scene, setting);
}

static void
missing_workflows_are_created_where_the_role_may(void **state)
{
    struct scene *scene = *state;

    scene_handle(scene, "start.created", well, NULL);
    scene_handle(scene, "start.prefix.*", well, NULL);
    scene_work(scene);
    scene_trigger(scene, "start.created", "{}");
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "\"well\"");
    assert_int_equal(
        scene_number(scene,
            "select count(*) from pawl_data.workflow where name ~ '^start.(created|prefix)'", NULL),
        1);
}

static void
a_definition_that_exists_stays_as_it_is(void **state)
{
    struct scene *scene = *state;

    scene_do(scene, "select pawl.create_workflow('start.mine', max_attempts => 77)", NULL);
    scene_handle(scene, "start.mine", well, NULL);
    scene_start(scene);
    assert_int_equal(
        scene_number(
            scene, "select max_attempts from pawl_data.workflow where name = 'start.mine'", NULL),
        77);
}

static void
a_role_that_may_only_work_goes_on_and_logs_what_it_could_not_create(void **state)
{
    struct scene *scene = *state;
    char setting[64];

    scene_do(scene, "select pawl.create_workflow('start.there')", NULL);
    scene_set(scene, "database", make_role(scene, "worker", setting));
    scene_handle(scene, "start.missing", well, NULL);
    scene_handle(scene, "start.there", well, NULL);
    scene_work(scene);
    scene_trigger(scene, "start.there", "{}");
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "\"well\"");
    scene_until_logged(scene, "workflow_not_created: permission denied");
    scene_until_logged(scene, "if the workflow does not exist: pawl workflow create start.missing");
    scene_until_logged(scene, "what=start.missing");
    /* Once it is made, by somebody who may, it is handled. */
    scene_do(scene, "select pawl.create_workflow('start.missing')", NULL);
    scene_trigger(scene, "start.missing", "{}");
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "\"well\"");
    (void)scene_rest(scene);
    drop_role(scene, setting);
}

static void
a_worker_creates_nothing_if_it_is_told_not_to(void **state)
{
    struct scene *scene = *state;

    scene_set(scene, "create_workflows", "off");
    scene_handle(scene, "start.unmade", well, NULL);
    scene_start(scene);
    assert_int_equal(
        scene_number(
            scene, "select count(*) from pawl_data.workflow where name = 'start.unmade'", NULL),
        0);
}

static void
a_worker_starts_once(void **state)
{
    struct scene *scene = *state;

    scene_handle(scene, "start.once", well, NULL);
    scene_start(scene);
    refuse(scene, PAWL_EINVAL, "started");
}

static void
a_worker_that_was_refused_can_be_started_later(void **state)
{
    struct scene *scene = *state;

    scene_do(scene, "update pawl_data.setting set protocol_min = 7, protocol_max = 9", NULL);
    scene_handle(scene, "start.again", well, NULL);
    refuse(scene, PAWL_ESCHEMA, "protocol");
    scene_do(scene, "update pawl_data.setting set protocol_min = 1, protocol_max = 1", NULL);
    scene_work(scene);
    scene_trigger(scene, "start.again", "{}");
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "\"well\"");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_set_up, scene_tear_down)
        TEST(a_worker_that_handles_nothing_does_not_start),
        TEST(a_worker_without_a_server_gives_up_in_time),
        TEST(a_worker_of_a_database_without_pawl_says_so),
        TEST(a_worker_that_speaks_another_protocol_says_so),
        TEST(a_role_without_rights_is_told_so),
        TEST(missing_workflows_are_created_where_the_role_may),
        TEST(a_definition_that_exists_stays_as_it_is),
        TEST(a_role_that_may_only_work_goes_on_and_logs_what_it_could_not_create),
        TEST(a_worker_creates_nothing_if_it_is_told_not_to),
        TEST(a_worker_starts_once),
        TEST(a_worker_that_was_refused_can_be_started_later),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
