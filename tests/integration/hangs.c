/* SPDX-License-Identifier: Apache-2.0 */
/* Servers that are there and do not answer: no connection breaks, and nothing comes. The worker must not wait for ever. */
#include "fixture.h"
#include "proxy.h"
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct tale {
    struct gate gate;
    atomic_int executed;
    atomic_int steps;
};

static pawl_status
count_at_gate(pawl_run *run, void *userdata, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);

    (void)userdata;
    if (!gate_pass(&tale->gate))
        return PAWL_EPERMANENT;
    return pawl_run_printf(run, output, "%d", atomic_fetch_add(&tale->steps, 1) + 1);
}

static pawl_status
one_step(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);

    (void)input;
    atomic_fetch_add(&tale->executed, 1);
    return pawl_step(run, "one", count_at_gate, NULL, output);
}

/* A worker, and a run in its step. */
static void
begin(struct scene *scene, struct tale *tale)
{
    gate_init(&tale->gate);
    scene_handle(scene, "hangs.one", one_step, tale);
    scene_work(scene);
    scene_trigger(scene, "hangs.one", "{}");
    gate_await(&tale->gate, 1);
}

/* The step was executed and recorded once, in one attempt. */
static void
check_once(struct scene *scene, struct tale *tale)
{
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "1");
    assert_int_equal(tale->executed, 1);
    assert_string_equal(scene_steps(scene, scene->run_id), "one#1 SUCCESS 1");
    assert_int_equal(
        scene_number(scene, "select execution from pawl.get_run($1)", scene->run_id), 1);
    assert_int_equal(scene_rest(scene), PAWL_OK);
    gate_done(&tale->gate);
}

/* The connections for work get nothing through, in either direction; heartbeats have a way of their own. */
static void
a_commit_that_is_not_answered_goes_again_on_another_connection(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    struct proxy *proxy = proxy_new(&(struct proxy_options){.seed = 1});
    char database[600];

    (void)snprintf(
        database, sizeof(database), "host=%s port=%d", proxy_host(proxy), proxy_port(proxy));
    scene_set(scene, "database", database);
    (void)snprintf(
        database, sizeof(database), "host=%s port=%s", getenv("PGHOST"), getenv("PGPORT"));
    scene_set(scene, "listen_database", database);
    scene_set(scene, "lease", "3s"); /* and five seconds are the time for a commit */
    begin(scene, &tale);
    proxy_mode(proxy, PROXY_HOLD, 0);
    gate_open(&tale.gate);
    scene_until_logged(scene, "has not answered in time");
    /* What was held arrives late, while it is sent again. */
    proxy_mode(proxy, PROXY_NORMAL, 0);
    check_once(scene, &tale);
    proxy_free(proxy);
}

/* Nothing gets through on the connections of one option; the other one goes to the server. */
static void
give_up_and_try_again(
    struct scene *scene, const char *lost_option, const char *direct_option, const char *logged)
{
    struct tale tale = {0};
    struct proxy *proxy = proxy_new(&(struct proxy_options){.seed = 1});
    char database[600];

    (void)snprintf(
        database, sizeof(database), "host=%s port=%d", proxy_host(proxy), proxy_port(proxy));
    scene_set(scene, lost_option, database);
    (void)snprintf(
        database, sizeof(database), "host=%s port=%s", getenv("PGHOST"), getenv("PGPORT"));
    scene_set(scene, direct_option, database);
    scene_set(scene, "connect_timeout", "2s");
    begin(scene, &tale);
    proxy_mode(proxy, PROXY_BLACKHOLE, 0);
    proxy_cut_all(proxy);
    gate_open(&tale.gate);
    scene_until_logged(scene, logged);
    proxy_mode(proxy, PROXY_NORMAL, 0);
    check_once(scene, &tale);
    proxy_free(proxy);
}

static void
a_writer_that_does_not_connect_in_time_gives_up_and_tries_again(void **state)
{
    give_up_and_try_again(
        *state, "database", "listen_database", "connect_timeout status=PAWL_ECONN\n");
}

static void
a_control_connection_that_is_not_made_in_time_is_given_up_and_tried_again(void **state)
{
    give_up_and_try_again(
        *state, "listen_database", "database", "connect_timeout status=PAWL_ECONN what=control\n");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_set_up, scene_tear_down)
        TEST(a_commit_that_is_not_answered_goes_again_on_another_connection),
        TEST(a_writer_that_does_not_connect_in_time_gives_up_and_tries_again),
        TEST(a_control_connection_that_is_not_made_in_time_is_given_up_and_tried_again),
#undef TEST
    };

    fixture_go_direct();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
