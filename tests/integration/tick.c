/* SPDX-License-Identifier: Apache-2.0 */
/* Housekeeping of workers: they call pawl.tick(), alone in its transaction, also where their connections or their role are unusual. */
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static pawl_status
nothing(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)run;
    (void)input;
    (void)output;
    return PAWL_OK;
}

/* A run of a tenant that starts after a delay; its id. */
static const char *
trigger_later(struct scene *scene, const char *workflow, const char *tenant)
{
    static char id[PAWL_ID_SIZE];
    char sql[200];

    (void)snprintf(sql, sizeof(sql),
        "select run_id from pawl.trigger($1, tenant => '%s', delay => '300 ms')", tenant);
    (void)snprintf(id, sizeof(id), "%s", scene_text(scene, sql, workflow));
    return id;
}

static void
until_done(struct scene *scene, const char *id)
{
    scene_until(
        scene, "select exists (select from pawl.result($1) r where r.status = 'SUCCESS')", id);
}

/* The name of a role of this database, with the rights of a worker; roles belong to the whole cluster. */
static const char *
make_role(struct scene *scene, const char *tenant)
{
    static char name[80];
    char sql[300];

    (void)snprintf(
        name, sizeof(name), "ticker_%s", scene_text(scene, "select current_database()", NULL));
    (void)snprintf(sql, sizeof(sql), "create role %s login", name);
    scene_do(scene, sql, NULL);
    (void)snprintf(sql, sizeof(sql), "select pawl.grant_role('%s', 'worker', %s)", name, tenant);
    scene_do(scene, sql, NULL);
    return name;
}

static void
drop_role(struct scene *scene, const char *name)
{
    char sql[200];

    (void)snprintf(sql, sizeof(sql), "drop owned by %s", name);
    scene_do(scene, sql, NULL);
    (void)snprintf(sql, sizeof(sql), "select pawl.revoke_role('%s', 'worker')", name);
    scene_do(scene, sql, NULL);
    (void)snprintf(sql, sizeof(sql), "drop role %s", name);
    scene_do(scene, sql, NULL);
}

/* The worker connects as a role. */
static void
connect_as(struct scene *scene, const char *name)
{
    char info[200];

    (void)snprintf(info, sizeof(info), "user=%s dbname=%s", name, PQdb(scene->conn));
    scene_set(scene, "database", info);
}

/* With such settings each request begins with another statement, which a procedure that commits must not have before it. */
static void
a_session_with_unusual_settings_ticks(void **state)
{
    struct scene *scene = *state;

    assert_int_equal(setenv("PGOPTIONS", "-c client_min_messages=error -c datestyle=german", 1), 0);
    scene_handle(scene, "tick.unusual", nothing, NULL);
    scene_work(scene);
    until_done(scene, trigger_later(scene, "tick.unusual", ""));
    scene_until(scene, "select not pawl._keeper_missing(pawl.now())", NULL);
    assert_null(strstr(scene->log == NULL ? "" : scene->log, "tick_failed"));
    assert_int_equal(unsetenv("PGOPTIONS"), 0);
}

/* The worker's own tick makes it ready: a heartbeat comes every ten seconds only, and no notification does. */
static void
timers_of_an_idle_worker_come_due_without_notifications(void **state)
{
    struct scene *scene = *state;

    scene_set(scene, "listen", "off");
    scene_handle(scene, "tick.polls", nothing, NULL);
    scene_work(scene);
    until_done(scene, trigger_later(scene, "tick.polls", ""));
}

static void
a_bound_worker_ticks_for_its_tenant(void **state)
{
    struct scene *scene = *state;
    const char *role;
    char other[PAWL_ID_SIZE];

    scene_do(scene, "select pawl.create_workflow('tick.bound')", NULL);
    role = make_role(scene, "'acme'");
    connect_as(scene, role);
    scene_set(scene, "create_workflows", "off");
    scene_handle(scene, "tick.bound", nothing, NULL);
    scene_work(scene);
    (void)snprintf(other, sizeof(other), "%s", trigger_later(scene, "tick.bound", "umbrella"));
    until_done(scene, trigger_later(scene, "tick.bound", "acme"));
    assert_string_equal(
        scene_text(scene, "select place from pawl_data.task where run_id = $1", other), "w");
    assert_int_equal(scene_rest(scene), PAWL_OK);
    drop_role(scene, role);
}

/* Its claims help out after two seconds, as for any worker that cannot tick. */
static void
a_worker_that_may_not_tick_says_so_once_and_goes_on(void **state)
{
    struct scene *scene = *state;
    const char *role = make_role(scene, "null");
    char sql[200];
    const char *first;

    scene_do(scene, "select pawl.create_workflow('tick.refused')", NULL);
    (void)snprintf(sql, sizeof(sql), "revoke execute on procedure pawl.tick from %s", role);
    scene_do(scene, sql, NULL);
    connect_as(scene, role);
    scene_set(scene, "create_workflows", "off");
    scene_handle(scene, "tick.refused", nothing, NULL);
    scene_work(scene);
    scene_until_logged(scene, "tick_failed");
    until_done(scene, trigger_later(scene, "tick.refused", ""));
    first = strstr(scene->log, "tick_failed");
    assert_non_null(first);
    assert_null(strstr(first + 1, "tick_failed"));
    assert_int_equal(scene_rest(scene), PAWL_OK);
    drop_role(scene, role);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_session_with_unusual_settings_ticks, scene_set_up, scene_tear_down),
        cmocka_unit_test_setup_teardown(
            timers_of_an_idle_worker_come_due_without_notifications, scene_set_up, scene_tear_down),
        cmocka_unit_test_setup_teardown(
            a_bound_worker_ticks_for_its_tenant, scene_set_up, scene_tear_down),
        cmocka_unit_test_setup_teardown(
            a_worker_that_may_not_tick_says_so_once_and_goes_on, scene_set_up, scene_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
