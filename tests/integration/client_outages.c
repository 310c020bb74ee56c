/* SPDX-License-Identifier: Apache-2.0 */
/* A client whose connection breaks: what is sent again, what is not, and what it then says. */
#include "fixture.h"
#include "proxy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct scene {
    struct proxy *proxy;
    pawl_client *client;
    PGconn *conn; /* past the proxy */
    pawl_trigger *trigger;
    pawl_error *error;
    char run_id[PAWL_ID_SIZE];
    char database[512];
    char workflow[32];
};

static int
set_up(void **state)
{
    const struct proxy_options options = {.seed = 7};
    struct scene *scene = calloc(1, sizeof(*scene));
    static int count;

    scene->proxy = proxy_new(&options);
    (void)snprintf(scene->database, sizeof(scene->database), "host=%s port=%d",
        proxy_host(scene->proxy), proxy_port(scene->proxy));
    scene->client = fixture_client((const char *[]){
        "database", scene->database, "call_timeout", "20s", "connect_timeout", "5s", NULL});
    scene->conn = bench_connect();
    (void)snprintf(scene->workflow, sizeof(scene->workflow), "outage.%d", ++count);
    fixture_workflow(scene->conn, scene->workflow);
    scene->trigger = pawl_trigger_new(scene->workflow);
    *state = scene;
    return 0;
}

static int
tear_down(void **state)
{
    struct scene *scene = *state;

    pawl_trigger_free(scene->trigger);
    pawl_client_close(scene->client);
    PQfinish(scene->conn);
    proxy_free(scene->proxy);
    free(scene);
    return 0;
}

/* The next request of this statement is cut. */
static void
cut_next(struct scene *scene, const char *text, enum proxy_when when)
{
    const struct proxy_rule rule = {.text = text, .when = when, .cuts_max = 1};

    proxy_rules_clear(scene->proxy);
    (void)proxy_rule_add(scene->proxy, &rule);
}

static void
expect_cut(struct scene *scene)
{
    assert_int_equal(proxy_rule_counts(scene->proxy, 0).cuts, 1);
    assert_int_equal(proxy_rule_counts(scene->proxy, 0).errors, 0);
}

static long
count_runs(struct scene *scene)
{
    return fixture_count(scene->conn,
        "select count(*) from pawl.list_runs(only_workflow => $1, max_rows => 1000)",
        scene->workflow);
}

static void
a_trigger_whose_reply_was_lost_is_one_run(void **state)
{
    static const enum proxy_when when[] = {PROXY_AFTER, PROXY_BEFORE};
    struct scene *scene = *state;
    uint32_t flags = 0;

    for (int i = 0; i < 2; i++) {
        cut_next(scene, "pawl_trigger", when[i]);
        fixture_expect(pawl_client_trigger(
                           scene->client, scene->trigger, scene->run_id, &flags, &scene->error),
            PAWL_OK, &scene->error);
        expect_cut(scene);
        assert_int_equal(flags, PAWL_CREATED);
        assert_int_equal(count_runs(scene), i + 1);
        assert_int_equal(
            fixture_count(scene->conn, "select count(*) from pawl.get_run($1)", scene->run_id), 1);
    }
}

static void
a_trigger_with_a_key_whose_reply_was_lost_is_one_run(void **state)
{
    struct scene *scene = *state;
    char again[PAWL_ID_SIZE];
    uint32_t flags = 0;

    pawl_trigger_set(scene->trigger, "key", "k");
    cut_next(scene, "pawl_trigger", PROXY_AFTER);
    fixture_expect(
        pawl_client_trigger(scene->client, scene->trigger, scene->run_id, &flags, &scene->error),
        PAWL_OK, &scene->error);
    expect_cut(scene);
    assert_int_equal(flags, PAWL_CREATED);
    fixture_expect(pawl_client_trigger(scene->client, scene->trigger, again, &flags, &scene->error),
        PAWL_OK, &scene->error);
    assert_int_equal(flags, 0);
    assert_string_equal(again, scene->run_id);
    assert_int_equal(count_runs(scene), 1);
}

static void
many_runs_whose_reply_was_lost_are_there_once(void **state)
{
    enum {
        MANY = 200
    };
    struct scene *scene = *state;
    char ids[MANY][PAWL_ID_SIZE];
    uint32_t flags[MANY];
    char key[16];

    for (int i = 0; i < MANY; i++) {
        (void)snprintf(key, sizeof(key), "%d", i);
        pawl_trigger_add(scene->trigger, pawl_text("{}"), i % 2 ? key : NULL);
    }
    cut_next(scene, "pawl_trigger_many", PROXY_AFTER);
    fixture_expect(
        pawl_client_trigger_many(scene->client, scene->trigger, ids[0], flags, &scene->error),
        PAWL_OK, &scene->error);
    expect_cut(scene);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(flags[i], PAWL_CREATED);
    assert_int_equal(count_runs(scene), MANY);
}

static void
an_event_whose_reply_was_lost_is_stored_once(void **state)
{
    struct scene *scene = *state;

    cut_next(scene, "pawl_emit", PROXY_AFTER);
    fixture_expect(
        pawl_client_emit(scene->client, "once", NULL, NULL, pawl_text("1"), &scene->error), PAWL_OK,
        &scene->error);
    expect_cut(scene);
    assert_int_equal(fixture_count(scene->conn,
                         "select count(*) from pawl_data.event where topic = 'once'", NULL),
        1);
}

static void
a_cancel_whose_reply_was_lost_is_done(void **state)
{
    struct scene *scene = *state;

    fixture_trigger(scene->client, scene->workflow, scene->run_id);
    cut_next(scene, "pawl_cancel", PROXY_AFTER);
    fixture_expect(pawl_client_cancel(scene->client, scene->run_id, NULL, 0, &scene->error),
        PAWL_OK, &scene->error);
    expect_cut(scene);
    fixture_expect(pawl_client_wait(scene->client, scene->run_id, 0, NULL, &scene->error),
        PAWL_ECANCELLED, &scene->error);
}

static void
a_signal_whose_reply_was_lost_is_unknown_and_not_sent_again(void **state)
{
    static const enum proxy_when when[] = {PROXY_BEFORE, PROXY_AFTER};
    struct scene *scene = *state;

    fixture_trigger(scene->client, scene->workflow, scene->run_id);
    for (int i = 0; i < 2; i++) {
        cut_next(scene, "pawl_signal", when[i]);
        assert_int_equal(
            pawl_client_signal(scene->client, scene->run_id, "go", pawl_text("1"), &scene->error),
            PAWL_EUNKNOWN);
        assert_int_equal(pawl_error_retryable(scene->error), 0);
        fixture_expect(PAWL_EUNKNOWN, PAWL_EUNKNOWN, &scene->error);
        expect_cut(scene);
        assert_int_equal(
            fixture_count(scene->conn, "select count(*) from pawl_data.signal where run_id = $1",
                scene->run_id),
            i);
    }
}

static void
a_called_verb_is_sent_again_only_if_it_reads(void **state)
{
    const char *names[] = {"why"};
    const char *values[] = {"test"};
    struct scene *scene = *state;
    pawl_rows *rows = NULL;

    cut_next(scene, "pawl_call_list_queues", PROXY_AFTER);
    fixture_expect(
        pawl_client_call(scene->client, "list_queues", NULL, NULL, 0, &rows, &scene->error),
        PAWL_OK, &scene->error);
    expect_cut(scene);
    assert_true(pawl_rows_count(rows) > 0);
    pawl_rows_free(rows);
    cut_next(scene, "pawl_call_raise_epoch", PROXY_AFTER);
    fixture_expect(
        pawl_client_call(scene->client, "raise_epoch", names, values, 1, NULL, &scene->error),
        PAWL_EUNKNOWN, &scene->error);
    expect_cut(scene);
}

static void
a_wait_goes_on_over_broken_connections(void **state)
{
    const struct proxy_rule rule = {.text = "pawl_result", .when = PROXY_AFTER, .cuts_max = 3};
    struct scene *scene = *state;

    fixture_trigger(scene->client, scene->workflow, scene->run_id);
    fixture_end_run(scene->workflow, "complete", "17", NULL);
    (void)proxy_rule_add(scene->proxy, &rule);
    fixture_expect(pawl_client_wait(scene->client, scene->run_id, 10000, NULL, &scene->error),
        PAWL_OK, &scene->error);
    assert_int_equal(proxy_rule_counts(scene->proxy, 0).cuts, 3);
}

static void
a_connection_that_broke_between_two_calls_costs_nothing(void **state)
{
    struct scene *scene = *state;

    fixture_trigger(scene->client, scene->workflow, scene->run_id);
    for (int i = 0; i < 5; i++) {
        proxy_cut_all(scene->proxy);
        while (proxy_counts(scene->proxy).open > 0)
            race_breathe();
        /* Sent once only, so it would be unknown if it were sent on the dead connection. */
        fixture_expect(
            pawl_client_signal(scene->client, scene->run_id, "go", pawl_text("1"), &scene->error),
            PAWL_OK, &scene->error);
    }
}

static void
an_outage_shorter_than_the_time_for_a_call_is_waited_for(void **state)
{
    struct scene *scene = *state;

    proxy_mode(scene->proxy, PROXY_REFUSE, 500);
    proxy_cut_all(scene->proxy);
    fixture_trigger(scene->client, scene->workflow, scene->run_id);
    assert_int_equal(count_runs(scene), 1);
}

static void
an_outage_longer_than_the_time_for_a_call_is_an_error(void **state)
{
    struct scene *scene = *state;
    pawl_client *hasty =
        fixture_client((const char *[]){"database", scene->database, "call_timeout", "3s", NULL});

    proxy_mode(scene->proxy, PROXY_REFUSE, 0);
    proxy_cut_all(scene->proxy);
    assert_int_equal(
        pawl_client_trigger(hasty, scene->trigger, scene->run_id, NULL, &scene->error), PAWL_ECONN);
    assert_int_equal(pawl_error_retryable(scene->error), 1);
    fixture_expect(PAWL_ECONN, PAWL_ECONN, &scene->error);
    proxy_mode(scene->proxy, PROXY_NORMAL, 0);
    fixture_expect(pawl_client_trigger(hasty, scene->trigger, scene->run_id, NULL, &scene->error),
        PAWL_OK, &scene->error);
    assert_int_equal(count_runs(scene), 1);
    pawl_client_close(hasty);
}

static void
a_reply_that_does_not_come_in_time_is_unknown_for_what_writes(void **state)
{
    struct scene *scene = *state;
    char other_id[PAWL_ID_SIZE];
    pawl_client *hasty =
        fixture_client((const char *[]){"database", scene->database, "call_timeout", "3s", NULL});

    fixture_trigger(hasty, scene->workflow, scene->run_id);
    proxy_mode(scene->proxy, PROXY_BLACKHOLE, 0);
    assert_int_equal(
        pawl_client_trigger(hasty, scene->trigger, other_id, NULL, &scene->error), PAWL_EUNKNOWN);
    assert_int_equal(pawl_error_retryable(scene->error), 0);
    fixture_expect(PAWL_EUNKNOWN, PAWL_EUNKNOWN, &scene->error);
    fixture_expect(
        pawl_client_wait(hasty, scene->run_id, 0, NULL, &scene->error), PAWL_ECONN, &scene->error);
    proxy_mode(scene->proxy, PROXY_NORMAL, 0);
    /* It has not reached the server, as can be asked. */
    fixture_expect(
        pawl_client_wait(hasty, other_id, 0, NULL, &scene->error), PAWL_ENOTFOUND, &scene->error);
    fixture_expect(pawl_client_wait(hasty, scene->run_id, 0, NULL, &scene->error), PAWL_ETIMEOUT,
        &scene->error);
    pawl_client_close(hasty);
}

static void
what_was_triggered_without_a_reply_is_found_by_its_id(void **state)
{
    static const struct proxy_rule rules[] = {{.text = "pawl_trigger", .when = PROXY_AFTER},
        {.text = "pawl_trigger_many", .when = PROXY_AFTER}};
    struct scene *scene = *state;
    char ids[3][PAWL_ID_SIZE];
    pawl_client *hasty =
        fixture_client((const char *[]){"database", scene->database, "call_timeout", "3s", NULL});
    uint32_t flags = 77;

    for (int i = 0; i < 3; i++)
        pawl_trigger_add(scene->trigger, pawl_text("{}"), i == 1 ? "k" : NULL);
    (void)proxy_rule_add(scene->proxy, &rules[0]);
    (void)proxy_rule_add(scene->proxy, &rules[1]);
    assert_int_equal(pawl_client_trigger(hasty, scene->trigger, scene->run_id, NULL, &scene->error),
        PAWL_EUNKNOWN);
    assert_int_equal(pawl_error_retryable(scene->error), 0);
    fixture_expect(PAWL_EUNKNOWN, PAWL_EUNKNOWN, &scene->error);
    fixture_expect(pawl_client_trigger_many(hasty, scene->trigger, ids[0], NULL, &scene->error),
        PAWL_EUNKNOWN, &scene->error);
    proxy_rules_clear(scene->proxy);
    assert_int_equal(count_runs(scene), 4);
    for (int i = 0; i < 3; i++)
        assert_int_equal(
            fixture_count(scene->conn, "select count(*) from pawl.get_run($1)", ids[i]), 1);
    /* To trigger it again with its id is always right. */
    pawl_trigger_set(scene->trigger, "id", scene->run_id);
    fixture_expect(pawl_client_trigger(hasty, scene->trigger, ids[0], &flags, &scene->error),
        PAWL_OK, &scene->error);
    assert_string_equal(ids[0], scene->run_id);
    assert_int_equal(flags & PAWL_CREATED, 0);
    assert_int_equal(count_runs(scene), 4);
    pawl_client_close(hasty);
}

static void
a_client_that_cannot_connect_says_so_at_once(void **state)
{
    static const char *const databases[] = {"host=/nonexistent",
        "postgresql://127.0.0.1:1,127.0.0.1:2/none", "service=nobody.has.this"};
    struct scene *scene = *state;
    pawl_client *client = NULL;

    for (size_t i = 0; i < sizeof(databases) / sizeof(databases[0]); i++) {
        pawl_config *config = pawl_config_new();
        double began_s = bench_now_s();

        fixture_expect(pawl_config_set(config, "database", databases[i], &scene->error), PAWL_OK,
            &scene->error);
        /* Long enough to be told from "at once" on any machine. */
        fixture_expect(pawl_config_set(config, "connect_timeout", "1h", &scene->error), PAWL_OK,
            &scene->error);
        fixture_expect(pawl_client_open(config, &client, &scene->error), PAWL_ECONN, &scene->error);
        assert_true(bench_now_s() - began_s < 600);
        pawl_config_free(config);
    }
    assert_null(client);
}

static void
a_database_without_pawl_is_told_as_such(void **state)
{
    struct scene *scene = *state;
    pawl_config *config = pawl_config_new();
    pawl_client *client = NULL;

    fixture_expect(pawl_config_set(config, "database", "dbname=template1", &scene->error), PAWL_OK,
        &scene->error);
    fixture_expect(pawl_client_open(config, &client, &scene->error), PAWL_ESCHEMA, &scene->error);
    pawl_config_free(config);
}

static void
a_role_without_rights_is_forbidden(void **state)
{
    struct scene *scene = *state;
    pawl_config *config = pawl_config_new();
    pawl_client *client = NULL;

    bench_do(scene->conn, "create role client_outages_nobody login");
    fixture_expect(pawl_config_set(config, "database", "user=client_outages_nobody", &scene->error),
        PAWL_OK, &scene->error);
    fixture_expect(
        pawl_client_open(config, &client, &scene->error), PAWL_EFORBIDDEN, &scene->error);
    bench_do(scene->conn, "drop role client_outages_nobody");
    pawl_config_free(config);
}

static void
the_next_host_is_taken_when_one_is_away(void **state)
{
    struct scene *scene = *state;
    char database[1024];
    pawl_client *client;

    (void)snprintf(database, sizeof(database), "host=/nonexistent,%s port=5432,%d",
        proxy_host(scene->proxy), proxy_port(scene->proxy));
    client = fixture_client((const char *[]){"database", database, NULL});
    fixture_trigger(client, scene->workflow, scene->run_id);
    proxy_cut_all(scene->proxy);
    fixture_trigger(client, scene->workflow, scene->run_id);
    assert_int_equal(count_runs(scene), 2);
    pawl_client_close(client);
}

static void
cuts_at_random_lose_nothing_and_double_nothing(void **state)
{
    enum {
        RUNS = 60
    };
    static const struct proxy_rule rules[] = {
        {.text = "pawl_trigger", .when = PROXY_AFTER, .one_in = 4},
        {.text = "pawl_trigger", .when = PROXY_BEFORE, .one_in = 4},
    };
    struct scene *scene = *state;
    uint32_t flags;

    (void)proxy_rule_add(scene->proxy, &rules[0]);
    (void)proxy_rule_add(scene->proxy, &rules[1]);
    for (int i = 0; i < RUNS; i++) {
        fixture_expect(pawl_client_trigger(
                           scene->client, scene->trigger, scene->run_id, &flags, &scene->error),
            PAWL_OK, &scene->error);
        assert_int_equal(flags, PAWL_CREATED);
    }
    assert_true(proxy_counts(scene->proxy).cuts_after > 10);
    assert_int_equal(count_runs(scene), RUNS);
}

/* As after a failover to a standby that has not got the commit of raise_epoch(). */
static void
a_server_that_has_forgotten_an_epoch_is_refused_until_it_is_raised(void **state)
{
    struct scene *scene = *state;
    uint32_t flags = 0;

    bench_do(scene->conn, "select pawl.raise_epoch('a test')");
    proxy_cut_all(scene->proxy);
    fixture_expect(
        pawl_client_trigger(scene->client, scene->trigger, scene->run_id, &flags, &scene->error),
        PAWL_OK, &scene->error);
    bench_do(scene->conn, "update pawl_data.setting set epoch = epoch - 1");
    proxy_cut_all(scene->proxy);
    fixture_expect(
        pawl_client_trigger(scene->client, scene->trigger, scene->run_id, &flags, &scene->error),
        PAWL_ECONN, &scene->error);
    fixture_expect(pawl_client_emit(scene->client, "t", NULL, NULL, pawl_text("1"), &scene->error),
        PAWL_ECONN, &scene->error);
    assert_int_equal(count_runs(scene), 1);
    bench_do(scene->conn, "select pawl.raise_epoch('it was told')");
    fixture_expect(
        pawl_client_trigger(scene->client, scene->trigger, scene->run_id, &flags, &scene->error),
        PAWL_OK, &scene->error);
    assert_int_equal(count_runs(scene), 2);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_trigger_whose_reply_was_lost_is_one_run, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_trigger_with_a_key_whose_reply_was_lost_is_one_run, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            many_runs_whose_reply_was_lost_are_there_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            an_event_whose_reply_was_lost_is_stored_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_cancel_whose_reply_was_lost_is_done, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_signal_whose_reply_was_lost_is_unknown_and_not_sent_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_called_verb_is_sent_again_only_if_it_reads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_wait_goes_on_over_broken_connections, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_connection_that_broke_between_two_calls_costs_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            an_outage_shorter_than_the_time_for_a_call_is_waited_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            an_outage_longer_than_the_time_for_a_call_is_an_error, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_reply_that_does_not_come_in_time_is_unknown_for_what_writes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            what_was_triggered_without_a_reply_is_found_by_its_id, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_client_that_cannot_connect_says_so_at_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_database_without_pawl_is_told_as_such, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_role_without_rights_is_forbidden, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_next_host_is_taken_when_one_is_away, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_server_that_has_forgotten_an_epoch_is_refused_until_it_is_raised, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            cuts_at_random_lose_nothing_and_double_nothing, set_up, tear_down),
    };

    fixture_go_direct();
    return cmocka_run_group_tests_name("client_outages", tests, NULL, NULL);
}
