/* SPDX-License-Identifier: Apache-2.0 */
/* What one bad item, one broken connection or one claim that is too large may not do to everybody else. */
#include "fixture.h"
#include "proxy.h"
#include "race.h"
#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum {
    NEIGHBOURS = 40,
};

struct tale {
    struct gate gate;
    atomic_int steps;
};

static pawl_status
count(pawl_run *run, void *userdata, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);

    (void)userdata;
    return pawl_run_printf(run, output, "%d", atomic_fetch_add(&tale->steps, 1) + 1);
}

static pawl_status
three_steps(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_status status = PAWL_OK;

    (void)input;
    for (int i = 0; i < 3 && status == PAWL_OK; i++)
        status = pawl_step(run, "turn", count, NULL, output);
    return status;
}

static pawl_status
poison(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)input;
    return pawl_step(run, "poison", count, NULL, output);
}

static pawl_status
gated(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);
    pawl_status status = pawl_step(run, "before", count, NULL, NULL);

    (void)input;
    if (status == PAWL_OK && !gate_pass(&tale->gate))
        status = PAWL_EPERMANENT;
    return status == PAWL_OK ? pawl_step(run, "after", count, NULL, output) : status;
}

static void
check_neighbours(struct scene *scene)
{
    char ids[NEIGHBOURS][PAWL_ID_SIZE];
    char kept[PAWL_ID_SIZE];

    memcpy(kept, scene->run_id, sizeof(kept));
    for (int i = 0; i < NEIGHBOURS; i++)
        memcpy(ids[i], scene_trigger(scene, "rescue.neighbour", "{}"), sizeof(ids[i]));
    for (int i = 0; i < NEIGHBOURS; i++)
        (void)scene_wait(scene, ids[i], PAWL_OK);
    memcpy(scene->run_id, kept, sizeof(kept));
}

/* As a page that cannot be read would: an error that no commit_each can keep to one item. */
static void
a_record_that_the_server_stumbles_over_holds_up_only_its_run(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    scene_set(scene, "connections", "1");
    scene_handle(scene, "rescue.poison", poison, &tale);
    scene_handle(scene, "rescue.neighbour", three_steps, &tale);
    scene_do(scene,
        "create function pawl.stumble() returns trigger language plpgsql as $$"
        " begin raise exception 'no such page' using errcode = 'XX001'; end $$",
        NULL);
    scene_do(scene,
        "create trigger stumble before insert on pawl_data.step for each row"
        " when (new.name = 'poison#1') execute function pawl.stumble()",
        NULL);
    scene_work(scene);
    scene_trigger(scene, "rescue.poison", "{}");
    scene_until_logged(scene, "commit_failed");
    for (int i = 0; i < 5; i++)
        check_neighbours(scene);
    assert_string_equal(scene_state(scene, scene->run_id), "RUNNING");
    scene_do(scene, "drop trigger stumble on pawl_data.step", NULL);
    (void)scene_wait(scene, scene->run_id, PAWL_OK);
    (void)scene_rest(scene);
    assert_int_equal(
        scene_number(scene, "select execution from pawl.get_run($1)", scene->run_id), 1);
    scene_do(scene, "drop function pawl.stumble()", NULL);
}

static void
a_claim_that_is_too_large_becomes_smaller(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    scene_set(scene, "concurrency", "64");
    scene_handle(scene, "rescue.neighbour", three_steps, &tale);
    scene_do(scene, "select pawl.create_workflow('rescue.neighbour')", NULL);
    scene_do(scene,
        "select count(*) from generate_series(1, 50) n, pawl.trigger('rescue.neighbour', "
        "to_json(n))",
        NULL);
    scene_do(scene,
        "create function pawl.too_many() returns trigger language plpgsql as $$ begin"
        " if (select count(*) from n where place = 'h') > 5 then"
        "  raise exception 'too much for one call' using errcode = '57014'; end if;"
        " return null; end $$",
        NULL);
    scene_do(scene,
        "create trigger too_many after update on pawl_data.task referencing new table as n"
        " for each statement execute function pawl.too_many()",
        NULL);
    scene_work(scene);
    scene_until_logged(scene, "claim_failed");
    scene_until(scene, "select not exists (select from pawl_data.task)", NULL);
    (void)scene_rest(scene);
    assert_int_equal(tale.steps, 150);
    scene_do(scene, "drop trigger too_many on pawl_data.task", NULL);
    scene_do(scene, "drop function pawl.too_many()", NULL);
}

/* The places are gone, as far as a connection that broke can tell; the other one and the heartbeats go on. */
static void
runs_of_a_connection_that_does_not_come_back_go_on_over_the_other(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    struct proxy *proxy = proxy_new(&(struct proxy_options){0});
    const struct proxy_rule rule = {.text = "pawl_commit", .when = PROXY_AFTER, .cuts_max = 1};
    char database[200];

    gate_init(&tale.gate);
    (void)snprintf(
        database, sizeof(database), "host=%s port=%d", proxy_host(proxy), proxy_port(proxy));
    scene_set(scene, "database", database);
    scene_handle(scene, "rescue.gated", gated, &tale);
    scene_handle(scene, "rescue.neighbour", three_steps, &tale);
    scene_work(scene);
    scene_trigger(scene, "rescue.gated", "{}");
    gate_await(&tale.gate, 1);
    check_neighbours(scene);
    proxy_mode(proxy, PROXY_REFUSE, 0);
    (void)proxy_rule_add(proxy, &rule);
    gate_open(&tale.gate);
    (void)scene_wait(scene, scene->run_id, PAWL_OK);
    check_neighbours(scene);
    assert_int_equal(proxy_rule_counts(proxy, 0).cuts, 1);
    assert_string_equal(scene_text(scene,
                            "select string_agg(s ->> 'name', ', ') from pawl.get_run($1) r,"
                            " json_array_elements(r.steps) s",
                            scene->run_id),
        "before#1, after#1");
    proxy_mode(proxy, PROXY_NORMAL, 0);
    (void)scene_rest(scene);
    proxy_free(proxy);
    gate_done(&tale.gate);
}

/* As when there is no memory for the answer: libpq gives the connection up, however often it is sent. */
static void
a_claim_whose_answer_never_arrives_is_given_up_for_a_smaller_one(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};
    struct proxy *proxy = proxy_new(&(struct proxy_options){0});
    const struct proxy_rule rule = {.text = "pawl_claim", .when = PROXY_AFTER};
    char database[200];

    (void)snprintf(
        database, sizeof(database), "host=%s port=%d", proxy_host(proxy), proxy_port(proxy));
    scene_set(scene, "database", database);
    scene_set(scene, "concurrency", "4");
    scene_handle(scene, "rescue.neighbour", three_steps, &tale);
    scene_do(scene, "select pawl.create_workflow('rescue.neighbour')", NULL);
    scene_do(scene,
        "select count(*) from generate_series(1, 10) n, pawl.trigger('rescue.neighbour', "
        "to_json(n))",
        NULL);
    (void)proxy_rule_add(proxy, &rule);
    scene_work(scene);
    /* Asks for four, for two, for one. What it does not know of it has given back. */
    scene_until(
        scene, "select count(*) = 1 from pawl_data.task where place = 'h' and request >= 3", NULL);
    scene_until(scene, "select count(*) <= 1 from pawl_data.task where place = 'h'", NULL);
    assert_int_equal(tale.steps, 0);
    proxy_rules_clear(proxy);
    scene_until(scene, "select not exists (select from pawl_data.task)", NULL);
    (void)scene_rest(scene);
    assert_int_equal(tale.steps, 30);
    proxy_free(proxy);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_set_up, scene_tear_down)
        TEST(a_record_that_the_server_stumbles_over_holds_up_only_its_run),
        TEST(a_claim_that_is_too_large_becomes_smaller),
        TEST(runs_of_a_connection_that_does_not_come_back_go_on_over_the_other),
        TEST(a_claim_whose_answer_never_arrives_is_given_up_for_a_smaller_one),
#undef TEST
    };

    /* A pooler between would mend, or hide, what is broken here. */
    fixture_go_direct();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
