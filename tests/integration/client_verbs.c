/* SPDX-License-Identifier: Apache-2.0 */
/* A client against a database that answers: every call, and every answer that it can get. */
#include "fixture.h"

#include "base/uuid.h"
#include "uuid_parts.h"

#include <pawl/test.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char absent_id[] = "01900000-0000-7000-8000-000000000000";

struct scene {
    pawl_client *client;
    PGconn *conn;
    pawl_trigger *trigger;
    pawl_error *error;
    char run_id[PAWL_ID_SIZE];
    char workflow[32]; /* of this test alone */
};

static int
set_up(void **state)
{
    struct scene *scene = calloc(1, sizeof(*scene));
    static int count;

    scene->client = fixture_client(NULL);
    scene->conn = bench_connect();
    (void)snprintf(scene->workflow, sizeof(scene->workflow), "test.%d", ++count);
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
    free(scene);
    return 0;
}

static pawl_status
trigger(struct scene *scene, uint32_t *flags)
{
    return pawl_client_trigger(scene->client, scene->trigger, scene->run_id, flags, &scene->error);
}

static void
a_trigger_gives_the_id_of_a_run_that_is_there(void **state)
{
    struct scene *scene = *state;
    uint32_t flags = 0;

    pawl_trigger_set_input(scene->trigger, pawl_text("{\"n\": 1}"));
    pawl_trigger_set(scene->trigger, "priority", "7");
    pawl_trigger_set(scene->trigger, "metadata", "{\"by\": \"test\"}");
    pawl_trigger_set(scene->trigger, "tenant", "acme");
    pawl_trigger_set(scene->trigger, "limit_key", "l");
    fixture_expect(trigger(scene, &flags), PAWL_OK, &scene->error);
    assert_int_equal(flags, PAWL_CREATED);
    assert_int_equal(
        fixture_count(scene->conn,
            "select count(*) from pawl.get_run($1) where input::text = '{\"n\": 1}' and priority = "
            "7 and metadata ->> 'by' = 'test' and tenant = 'acme' and status = 'QUEUED'",
            scene->run_id),
        1);
}

static void
a_trigger_says_whether_a_live_worker_handles_it(void **state)
{
    struct scene *scene = *state;
    struct race_session session;
    uint32_t flags = 0;

    race_session_open(&session, scene->workflow);
    fixture_expect(trigger(scene, &flags), PAWL_OK, &scene->error);
    assert_int_equal(flags, PAWL_CREATED | PAWL_HANDLED);
    race_session_close(&session);
    bench_do(scene->conn, "select pawl.leave(session) from pawl.list_workers()");
}

static void
a_key_stands_for_one_run_and_one_input(void **state)
{
    struct scene *scene = *state;
    char first[PAWL_ID_SIZE];
    struct pw_uuid id;
    uint32_t flags = 0;

    pawl_trigger_set(scene->trigger, "key", "order:42");
    fixture_expect(trigger(scene, &flags), PAWL_OK, &scene->error);
    assert_int_equal(flags, PAWL_CREATED);
    memcpy(first, scene->run_id, sizeof(first));
    assert_true(pw_uuid_parse(first, &id));
    assert_int_equal(uuid_slot(&id), pw_key_slot("", scene->workflow, "order:42"));
    fixture_expect(trigger(scene, &flags), PAWL_OK, &scene->error);
    assert_int_equal(flags, 0);
    assert_string_equal(scene->run_id, first);
    pawl_trigger_set_input(scene->trigger, pawl_text("[]"));
    assert_int_equal(trigger(scene, &flags), PAWL_ECONFLICT);
    assert_string_equal(pawl_error_sqlstate(scene->error), "PW004");
    assert_string_not_equal(pawl_error_hint(scene->error), "");
    fixture_expect(PAWL_ECONFLICT, PAWL_ECONFLICT, &scene->error);
}

static void
an_id_of_the_callers_own_stands_for_one_run(void **state)
{
    struct scene *scene = *state;
    PGresult *made = bench_exec(scene->conn, "select pawl.make_id()");
    uint32_t flags = 0;

    pawl_trigger_set(scene->trigger, "id", PQgetvalue(made, 0, 0));
    fixture_expect(trigger(scene, &flags), PAWL_OK, &scene->error);
    assert_int_equal(flags, PAWL_CREATED);
    assert_string_equal(scene->run_id, PQgetvalue(made, 0, 0));
    fixture_expect(trigger(scene, &flags), PAWL_OK, &scene->error);
    assert_int_equal(flags, 0);
    pawl_trigger_set(scene->trigger, "id", absent_id);
    fixture_expect(trigger(scene, &flags), PAWL_EINVAL, &scene->error);
    PQclear(made);
}

static void
a_delay_keeps_a_run_from_starting(void **state)
{
    struct scene *scene = *state;

    pawl_trigger_set(scene->trigger, "delay_ms", "90000");
    fixture_expect(trigger(scene, NULL), PAWL_OK, &scene->error);
    assert_int_equal(fixture_count(scene->conn,
                         "select count(*) from pawl.get_run($1) where due_at - triggered_at = "
                         "interval '90 s' and status = 'PAUSED'",
                         scene->run_id),
        1);
}

static void
what_is_wrong_with_a_trigger_is_said_by_the_call(void **state)
{
    static const struct {
        const char *option, *value;
        pawl_status status;
    } rows[] = {
        {"priority", "high", PAWL_EINVAL},
        {"delay_ms", "-1", PAWL_EINVAL},
        {"delay_ms", "9000000000000000", PAWL_EINVAL},
        {"key_ttl_ms", "0", PAWL_EINVAL},
        {"key_while_active", "maybe", PAWL_EINVAL},
        {"id", "4711", PAWL_EINVAL},
        {"metadata", "{", PAWL_EINVAL},
        {"metadata", "", PAWL_EINVAL},
        {"colour", "red", PAWL_EINVAL},
        {"key", "", PAWL_EINVAL},
    };
    struct scene *scene = *state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        pawl_trigger_set(scene->trigger, rows[i].option, rows[i].value);
        fixture_expect(trigger(scene, NULL), rows[i].status, &scene->error);
        pawl_trigger_set(scene->trigger, rows[i].option, NULL);
    }
    fixture_expect(trigger(scene, NULL), PAWL_OK, &scene->error);
    pawl_trigger_set_input(scene->trigger, pawl_text("{\"a\":"));
    fixture_expect(trigger(scene, NULL), PAWL_EINVAL, &scene->error);
    pawl_trigger_set_input(scene->trigger, pawl_text("\"\xff\""));
    fixture_expect(trigger(scene, NULL), PAWL_EINVAL, &scene->error);
    pawl_trigger_set_input(scene->trigger, (pawl_bytes){NULL, 0});
    fixture_expect(trigger(scene, NULL), PAWL_OK, &scene->error);
    fixture_expect(pawl_client_trigger(scene->client, NULL, scene->run_id, NULL, &scene->error),
        PAWL_EINVAL, &scene->error);
}

static void
an_input_over_the_limit_is_refused_before_it_is_sent(void **state)
{
    struct scene *scene = *state;
    size_t size = 1024 * 1024 + 1;
    char *large = malloc(size);

    memset(large, ' ', size);
    large[0] = '1';
    pawl_trigger_set_input(scene->trigger, (pawl_bytes){large, size});
    fixture_expect(trigger(scene, NULL), PAWL_ETOOLARGE, &scene->error);
    pawl_trigger_set_input(scene->trigger, (pawl_bytes){large, size - 1});
    fixture_expect(trigger(scene, NULL), PAWL_OK, &scene->error);
    memset(large, '[', 65);
    pawl_trigger_set_input(scene->trigger, (pawl_bytes){large, 65});
    fixture_expect(trigger(scene, NULL), PAWL_ETOOLARGE, &scene->error);
    free(large);
}

static void
an_unknown_workflow_is_not_found(void **state)
{
    struct scene *scene = *state;
    pawl_trigger *other = pawl_trigger_new("nobody.knows");

    fixture_expect(pawl_client_trigger(scene->client, other, scene->run_id, NULL, &scene->error),
        PAWL_ENOTFOUND, &scene->error);
    pawl_trigger_free(other);
}

static void
many_runs_are_triggered_in_their_order(void **state)
{
    enum {
        MANY = 3000
    };
    struct scene *scene = *state;
    char *ids = malloc((size_t)MANY * PAWL_ID_SIZE);
    uint32_t *flags = calloc(MANY, sizeof(*flags));
    char input[32];
    struct pw_uuid before = {{0}};

    for (int i = 0; i < MANY; i++) {
        (void)snprintf(input, sizeof(input), "{\"n\": %d}", i);
        pawl_trigger_add(scene->trigger, pawl_text(input), NULL);
    }
    fixture_expect(
        pawl_client_trigger_many(scene->client, scene->trigger, ids, flags, &scene->error), PAWL_OK,
        &scene->error);
    for (int i = 0; i < MANY; i++) {
        struct pw_uuid id;

        assert_true(pw_uuid_parse(ids + (size_t)i * PAWL_ID_SIZE, &id));
        assert_true(memcmp(&id, &before, 8) >= 0);
        assert_int_equal(flags[i], PAWL_CREATED);
        before = id;
    }
    assert_int_equal(fixture_count(scene->conn,
                         "select count(*) from pawl.get_run($1) where input ->> 'n' = '1234'",
                         ids + 1234 * PAWL_ID_SIZE),
        1);
    pawl_trigger_clear(scene->trigger);
    fixture_expect(
        pawl_client_trigger_many(scene->client, scene->trigger, ids, flags, &scene->error), PAWL_OK,
        &scene->error);
    free(flags);
    free(ids);
}

static void
many_runs_may_have_keys_and_are_all_or_none(void **state)
{
    struct scene *scene = *state;
    char ids[3][PAWL_ID_SIZE];
    char again[3][PAWL_ID_SIZE];
    uint32_t flags[3];

    pawl_trigger_add(scene->trigger, pawl_text("1"), "a");
    pawl_trigger_add(scene->trigger, pawl_text("2"), NULL);
    pawl_trigger_add(scene->trigger, (pawl_bytes){NULL, 0}, "b");
    fixture_expect(
        pawl_client_trigger_many(scene->client, scene->trigger, ids[0], flags, &scene->error),
        PAWL_OK, &scene->error);
    fixture_expect(
        pawl_client_trigger_many(scene->client, scene->trigger, again[0], flags, &scene->error),
        PAWL_OK, &scene->error);
    assert_string_equal(again[0], ids[0]);
    assert_string_not_equal(again[1], ids[1]);
    assert_string_equal(again[2], ids[2]);
    assert_int_equal(flags[0], 0);
    assert_int_equal(flags[1], PAWL_CREATED);
    pawl_trigger_clear(scene->trigger);
    pawl_trigger_add(scene->trigger, pawl_text("4"), "c");
    pawl_trigger_add(scene->trigger, pawl_text("5"), "a");
    fixture_expect(
        pawl_client_trigger_many(scene->client, scene->trigger, NULL, NULL, &scene->error),
        PAWL_ECONFLICT, &scene->error);
    assert_int_equal(
        fixture_count(scene->conn, "select count(*) from pawl.list_runs(only_key => 'c')", NULL),
        0);
    pawl_trigger_set(scene->trigger, "key", "k");
    fixture_expect(
        pawl_client_trigger_many(scene->client, scene->trigger, NULL, NULL, &scene->error),
        PAWL_EINVAL, &scene->error);
}

static void
more_than_ten_thousand_runs_are_too_many(void **state)
{
    struct scene *scene = *state;

    for (int i = 0; i < 10001; i++)
        pawl_trigger_add(scene->trigger, pawl_text("0"), NULL);
    fixture_expect(
        pawl_client_trigger_many(scene->client, scene->trigger, NULL, NULL, &scene->error),
        PAWL_ETOOLARGE, &scene->error);
}

static void
a_wait_returns_the_output_of_a_run_that_succeeds(void **state)
{
    struct scene *scene = *state;
    pawl_bytes output = {NULL, 0};

    fixture_expect(trigger(scene, NULL), PAWL_OK, &scene->error);
    fixture_expect(pawl_client_wait(scene->client, scene->run_id, 0, &output, &scene->error),
        PAWL_ETIMEOUT, &scene->error);
    fixture_expect(pawl_client_wait(scene->client, scene->run_id, 20, &output, &scene->error),
        PAWL_ETIMEOUT, &scene->error);
    fixture_end_run(scene->workflow, "complete", "{\"x\":  1}", NULL);
    fixture_expect(pawl_client_wait(scene->client, scene->run_id, 5000, &output, &scene->error),
        PAWL_OK, &scene->error);
    assert_int_equal(output.size, strlen("{\"x\":  1}"));
    assert_string_equal(output.data, "{\"x\":  1}");
    fixture_expect(pawl_client_wait(scene->client, scene->run_id, 0, NULL, &scene->error), PAWL_OK,
        &scene->error);
}

static void
a_wait_tells_the_error_of_a_run_that_fails(void **state)
{
    struct scene *scene = *state;
    pawl_bytes detail;

    fixture_expect(trigger(scene, NULL), PAWL_OK, &scene->error);
    fixture_end_run(
        scene->workflow, "fail", "{\"message\": \"no \\\"paper\\\"\"}", "{\"final\": true}");
    assert_int_equal(
        pawl_client_wait(scene->client, scene->run_id, 0, NULL, &scene->error), PAWL_ERUN);
    assert_string_equal(pawl_error_message(scene->error), "no \"paper\"");
    detail = pawl_error_detail(scene->error);
    assert_string_equal(detail.data, "{\"message\": \"no \\\"paper\\\"\"}");
    assert_int_equal(detail.size, strlen(detail.data));
    fixture_expect(PAWL_ERUN, PAWL_ERUN, &scene->error);
}

static void
a_cancelled_run_is_told_as_such(void **state)
{
    struct scene *scene = *state;

    fixture_expect(trigger(scene, NULL), PAWL_OK, &scene->error);
    fixture_expect(pawl_client_cancel(scene->client, scene->run_id, "not wanted", 0, &scene->error),
        PAWL_OK, &scene->error);
    fixture_expect(
        pawl_client_cancel(scene->client, scene->run_id, NULL, PAWL_ROLLBACK, &scene->error),
        PAWL_OK, &scene->error);
    assert_int_equal(
        pawl_client_wait(scene->client, scene->run_id, 0, NULL, &scene->error), PAWL_ECANCELLED);
    assert_string_equal(pawl_error_message(scene->error), "not wanted");
    fixture_expect(PAWL_ECANCELLED, PAWL_ECANCELLED, &scene->error);
    fixture_expect(pawl_client_cancel(scene->client, absent_id, NULL, 0, &scene->error),
        PAWL_ENOTFOUND, &scene->error);
    fixture_expect(pawl_client_cancel(scene->client, absent_id, NULL, 8, &scene->error),
        PAWL_EINVAL, &scene->error);
    fixture_expect(pawl_client_cancel(scene->client, "me", NULL, 0, &scene->error), PAWL_EINVAL,
        &scene->error);
}

static void
a_run_that_has_ended_cannot_be_cancelled_or_told_anything(void **state)
{
    struct scene *scene = *state;

    fixture_expect(trigger(scene, NULL), PAWL_OK, &scene->error);
    fixture_end_run(scene->workflow, "complete", "1", NULL);
    fixture_expect(pawl_client_cancel(scene->client, scene->run_id, NULL, 0, &scene->error),
        PAWL_EREFUSED, &scene->error);
    fixture_expect(
        pawl_client_signal(scene->client, scene->run_id, "go", pawl_text("1"), &scene->error),
        PAWL_EREFUSED, &scene->error);
}

static void
a_run_that_a_transaction_holds_is_busy(void **state)
{
    struct scene *scene = *state;

    fixture_expect(trigger(scene, NULL), PAWL_OK, &scene->error);
    bench_do(scene->conn, "begin");
    PQclear(bench_exec_params(
        scene->conn, "select pawl.signal($1, 'go')", 1, (const char *[]){scene->run_id}));
    assert_int_equal(
        pawl_client_cancel(scene->client, scene->run_id, NULL, 0, &scene->error), PAWL_EBUSY);
    assert_int_equal(pawl_error_retryable(scene->error), 1);
    fixture_expect(PAWL_EBUSY, PAWL_EBUSY, &scene->error);
    bench_do(scene->conn, "commit");
}

static void
a_wake_ends_a_delay_and_nothing_else(void **state)
{
    struct scene *scene = *state;

    pawl_trigger_set(scene->trigger, "delay_ms", "3600000");
    fixture_expect(trigger(scene, NULL), PAWL_OK, &scene->error);
    fixture_expect(pawl_client_wake(scene->client, scene->run_id, "other", NULL, &scene->error),
        PAWL_EREFUSED, &scene->error);
    fixture_expect(pawl_client_wake(scene->client, scene->run_id, NULL, "because", &scene->error),
        PAWL_OK, &scene->error);
    assert_int_equal(
        fixture_count(scene->conn,
            "select count(*) from pawl.get_run($1) g, pawl.history($1) h where g.status = 'QUEUED' "
            "and h.what = 'wake' and h.detail ->> 'why' = 'because'",
            scene->run_id),
        1);
    fixture_expect(pawl_client_wake(scene->client, scene->run_id, NULL, NULL, &scene->error),
        PAWL_OK, &scene->error);
    fixture_end_run(scene->workflow, "complete", "1", NULL);
    fixture_expect(pawl_client_wake(scene->client, scene->run_id, NULL, NULL, &scene->error),
        PAWL_EREFUSED, &scene->error);
    fixture_expect(pawl_client_wake(scene->client, absent_id, NULL, NULL, &scene->error),
        PAWL_ENOTFOUND, &scene->error);
    fixture_expect(pawl_client_wake(scene->client, "me", NULL, NULL, &scene->error), PAWL_EINVAL,
        &scene->error);
}

static void
a_run_that_never_was_is_not_found(void **state)
{
    struct scene *scene = *state;

    fixture_expect(pawl_client_wait(scene->client, absent_id, 1000, NULL, &scene->error),
        PAWL_ENOTFOUND, &scene->error);
    fixture_expect(
        pawl_client_wait(scene->client, "x", 0, NULL, &scene->error), PAWL_EINVAL, &scene->error);
    fixture_expect(
        pawl_client_signal(scene->client, absent_id, "go", pawl_text("1"), &scene->error),
        PAWL_ENOTFOUND, &scene->error);
}

/* Asks for these runs. Returns the rows; the caller frees them. */
static pawl_rows *
wait_any(struct scene *scene, const char *const *ids, size_t count, int64_t timeout_ms,
    pawl_status wanted)
{
    pawl_rows *rows = NULL;

    fixture_expect(
        pawl_client_wait_any(scene->client, ids, count, timeout_ms, &rows, &scene->error), wanted,
        &scene->error);
    return rows;
}

static void
one_client_waits_for_many_runs(void **state)
{
    struct scene *scene = *state;
    char ids[1000][PAWL_ID_SIZE];
    const char *list[1001] = {absent_id};
    pawl_rows *rows;

    for (int i = 0; i < 1000; i++)
        pawl_trigger_add(scene->trigger, pawl_text("{}"), NULL);
    fixture_expect(
        pawl_client_trigger_many(scene->client, scene->trigger, ids[0], NULL, &scene->error),
        PAWL_OK, &scene->error);
    for (int i = 0; i < 1000; i++)
        list[i] = ids[i];
    assert_null(wait_any(scene, list, 1000, 0, PAWL_ETIMEOUT));
    assert_null(wait_any(scene, list, 1000, 50, PAWL_ETIMEOUT));
    fixture_expect(pawl_client_cancel(scene->client, ids[700], "enough", 0, &scene->error), PAWL_OK,
        &scene->error);
    rows = wait_any(scene, list, 1000, 300000, PAWL_OK);
    assert_int_equal(pawl_rows_count(rows), 1);
    assert_string_equal(pawl_rows_text(rows, 0, "run_id"), ids[700]);
    assert_string_equal(pawl_rows_text(rows, 0, "status"), "CANCELLED");
    assert_null(pawl_rows_text(rows, 0, "output"));
    assert_non_null(strstr(pawl_rows_text(rows, 0, "error"), "enough"));
    pawl_rows_free(rows);
    list[3] = absent_id;
    rows = wait_any(scene, list, 4, 300000, PAWL_OK);
    assert_int_equal(pawl_rows_count(rows), 1);
    assert_string_equal(pawl_rows_text(rows, 0, "status"), "NOT_FOUND");
    pawl_rows_free(rows);
    list[1000] = absent_id;
    assert_null(wait_any(scene, list, 1001, 0, PAWL_EINVAL));
    assert_null(wait_any(scene, list, 0, 0, PAWL_EINVAL));
    assert_null(wait_any(scene, list, 1, -1, PAWL_EINVAL));
    list[0] = "x";
    assert_null(wait_any(scene, list, 1, 0, PAWL_EINVAL));
    assert_null(wait_any(scene, NULL, 1, 0, PAWL_EINVAL));
    list[0] = absent_id;
    fixture_expect(pawl_client_wait_any(scene->client, list, 1, 0, NULL, &scene->error),
        PAWL_EINVAL, &scene->error);
}

static void
a_signal_is_kept_for_its_run_each_time(void **state)
{
    struct scene *scene = *state;

    fixture_expect(trigger(scene, NULL), PAWL_OK, &scene->error);
    for (int i = 0; i < 2; i++)
        fixture_expect(pawl_client_signal(scene->client, scene->run_id, "go", (pawl_bytes){NULL, 0},
                           &scene->error),
            PAWL_OK, &scene->error);
    assert_int_equal(fixture_count(scene->conn,
                         "select count(*) from pawl_data.signal where run_id = $1", scene->run_id),
        2);
    fixture_expect(
        pawl_client_signal(scene->client, scene->run_id, "Go!", pawl_text("1"), &scene->error),
        PAWL_EINVAL, &scene->error);
    fixture_expect(
        pawl_client_signal(scene->client, scene->run_id, NULL, pawl_text("1"), &scene->error),
        PAWL_EINVAL, &scene->error);
}

static void
events_of_one_client_keep_their_order(void **state)
{
    struct scene *scene = *state;
    char payload[16];

    for (int i = 0; i < 50; i++) {
        (void)snprintf(payload, sizeof(payload), "%d", i);
        fixture_expect(pawl_client_emit(scene->client, "order", i % 2 ? "" : NULL, NULL,
                           pawl_text(payload), &scene->error),
            PAWL_OK, &scene->error);
    }
    assert_int_equal(fixture_count(scene->conn,
                         "select count(*) from (select payload::text::int p, row_number() over "
                         "(order by event_id) n "
                         "from pawl_data.event where topic = 'order') e where p = n - 1",
                         NULL),
        50);
    fixture_expect(pawl_client_emit(scene->client, NULL, NULL, NULL, pawl_text("1"), &scene->error),
        PAWL_EINVAL, &scene->error);
    fixture_expect(
        pawl_client_emit(scene->client, "order", NULL, "acme", pawl_text("{}{}"), &scene->error),
        PAWL_EINVAL, &scene->error);
}

static void
a_clock_that_is_moved_does_not_make_ids_useless(void **state)
{
    struct scene *scene = *state;

    fixture_expect(trigger(scene, NULL), PAWL_OK, &scene->error);
    bench_do(scene->conn, "select pawl.test_clock_set(clock_timestamp())");
    bench_do(scene->conn, "select pawl.test_clock_advance('3 days')");
    fixture_expect(trigger(scene, NULL), PAWL_OK, &scene->error);
    bench_do(scene->conn, "select pawl.test_clock_advance('3 days')");
    pawl_trigger_add(scene->trigger, pawl_text("1"), NULL);
    fixture_expect(
        pawl_client_trigger_many(scene->client, scene->trigger, NULL, NULL, &scene->error), PAWL_OK,
        &scene->error);
    bench_do(scene->conn, "select pawl.test_clock_advance('3 days')");
    fixture_expect(pawl_client_emit(scene->client, "t", NULL, NULL, pawl_text("1"), &scene->error),
        PAWL_OK, &scene->error);
    fixture_expect(
        pawl_test_advance(scene->client, 86400000, &scene->error), PAWL_OK, &scene->error);
    fixture_expect(trigger(scene, NULL), PAWL_OK, &scene->error);
    bench_do(scene->conn, "select pawl.test_clock_set(null)");
    fixture_expect(trigger(scene, NULL), PAWL_OK, &scene->error);
}

static void
any_verb_can_be_called_by_name(void **state)
{
    struct scene *scene = *state;
    const char *names[] = {"only_workflow", "max_rows"};
    const char *values[] = {scene->workflow, "2"};
    pawl_rows *rows = NULL;

    for (int i = 0; i < 3; i++)
        fixture_expect(trigger(scene, NULL), PAWL_OK, &scene->error);
    fixture_expect(
        pawl_client_call(scene->client, "list_runs", names, values, 2, &rows, &scene->error),
        PAWL_OK, &scene->error);
    assert_int_equal(pawl_rows_count(rows), 2);
    assert_string_equal(pawl_rows_column_name(rows, 0), "run_id");
    assert_string_equal(pawl_rows_text(rows, 0, "run_id"), scene->run_id);
    assert_string_equal(pawl_rows_text(rows, 0, "rolling_back"), "f");
    assert_null(pawl_rows_text(rows, 0, "started_at"));
    assert_null(pawl_rows_text(rows, 2, "run_id"));
    assert_null(pawl_rows_text(rows, 0, "colour"));
    assert_int_equal(pawl_rows_type(rows, "run_id"), PAWL_TYPE_TEXT);
    assert_int_equal(pawl_rows_type(rows, "execution"), PAWL_TYPE_NUMBER);
    assert_int_equal(pawl_rows_type(rows, "rolling_back"), PAWL_TYPE_BOOLEAN);
    assert_int_equal(pawl_rows_type(rows, "triggered_at"), PAWL_TYPE_TIME);
    assert_int_equal(pawl_rows_type(rows, "colour"), PAWL_TYPE_TEXT);
    assert_int_equal(pawl_rows_type(rows, NULL), PAWL_TYPE_TEXT);
    assert_null(pawl_rows_text(rows, 0, NULL));
    assert_null(pawl_rows_column_name(rows, pawl_rows_column_count(rows)));
    pawl_rows_free(rows);
    rows = NULL;

    values[1] = NULL;
    fixture_expect(
        pawl_client_call(scene->client, "list_runs", names, values, 2, &rows, &scene->error),
        PAWL_OK, &scene->error);
    assert_true(pawl_rows_count(rows) >= 3);
    pawl_rows_free(rows);
    names[0] = "run";
    values[0] = scene->run_id;
    fixture_expect(pawl_client_call(scene->client, "why", names, values, 1, &rows, &scene->error),
        PAWL_OK, &scene->error);
    assert_string_equal(pawl_rows_column_name(rows, 0), "why");
    assert_non_null(pawl_rows_text(rows, 0, "why"));
    pawl_rows_free(rows);
    fixture_expect(pawl_client_call(scene->client, "housekeep", NULL, NULL, 0, NULL, &scene->error),
        PAWL_OK, &scene->error);
    names[0] = "name";
    values[0] = "fractions";
    names[1] = "factor";
    values[1] = "1.5";
    fixture_expect(
        pawl_client_call(scene->client, "create_workflow", names, values, 2, NULL, &scene->error),
        PAWL_OK, &scene->error);
    names[0] = "after";
    values[0] = "5000000000";
    fixture_expect(
        pawl_client_call(scene->client, "list_actions", names, values, 1, NULL, &scene->error),
        PAWL_OK, &scene->error);
}

static void
a_list_that_cannot_be_read_is_not_repeated_in_the_error(void **state)
{
    static const char *const lists[] = {
        "{\"secret", "{secret}x", "secret", "{{secret},x}", "{\"\\\"secret\\\"\"}x", "{}secret"};
    static const char *const names[] = {"workflow", "inputs", "keys"};
    struct scene *scene = *state;

    for (size_t i = 0; i < 2 * sizeof(lists) / sizeof(lists[0]); i++) {
        bool is_key = i % 2 == 1;
        const char *values[] = {
            scene->workflow, is_key ? "{1}" : lists[i / 2], is_key ? lists[i / 2] : NULL};

        assert_int_equal(
            pawl_client_call(scene->client, "trigger_many", names, values, 3, NULL, &scene->error),
            PAWL_EINVAL);
        assert_null(strstr(pawl_error_message(scene->error), "secret"));
        /* Inputs are payloads, so the library judges them, and the server does not see them. */
        assert_string_equal(pawl_error_sqlstate(scene->error), is_key ? "22P02" : "");
        pawl_error_free(scene->error);
    }
}

static void
a_call_that_makes_no_sense_is_refused(void **state)
{
    const char *names[] = {"run", "run"};
    const char *values[] = {absent_id, absent_id};
    struct scene *scene = *state;
    pawl_rows *rows = NULL;

    fixture_expect(pawl_client_call(scene->client, "claim", NULL, NULL, 0, &rows, &scene->error),
        PAWL_EINVAL, &scene->error);
    fixture_expect(pawl_client_call(scene->client, NULL, NULL, NULL, 0, &rows, &scene->error),
        PAWL_EINVAL, &scene->error);
    fixture_expect(pawl_client_call(scene->client, "why", names, values, 2, &rows, &scene->error),
        PAWL_EINVAL, &scene->error);
    fixture_expect(pawl_client_call(scene->client, "why", names, NULL, 1, &rows, &scene->error),
        PAWL_EINVAL, &scene->error);
    fixture_expect(
        pawl_client_call(scene->client, "list_runs", names, values, 1, &rows, &scene->error),
        PAWL_EINVAL, &scene->error);
    fixture_expect(pawl_client_call(scene->client, "why", names, values, 1, &rows, &scene->error),
        PAWL_ENOTFOUND, &scene->error);
    values[0] = "no id";
    fixture_expect(pawl_client_call(scene->client, "why", names, values, 1, &rows, &scene->error),
        PAWL_EINVAL, &scene->error);
    assert_null(rows);
    assert_int_equal(pawl_rows_count(NULL) + pawl_rows_column_count(NULL), 0);
    pawl_rows_free(NULL);
}

static void *
wait_in_thread(void *arg)
{
    struct scene *scene = arg;
    pawl_status status;

    /* The other may have come first. */
    do
        status = pawl_client_wait(scene->client, scene->run_id, 30000, NULL, NULL);
    while (status == PAWL_EINVAL);
    return status == PAWL_OK ? scene : NULL;
}

static void
a_second_caller_at_the_same_time_is_refused(void **state)
{
    struct scene *scene = *state;
    pthread_t thread;
    pawl_status status = PAWL_OK;
    void *waited = NULL;

    fixture_expect(trigger(scene, NULL), PAWL_OK, &scene->error);
    assert_int_equal(pthread_create(&thread, NULL, wait_in_thread, scene), 0);
    /* Until the other has begun, ours may come first. */
    while (status != PAWL_EINVAL)
        status = pawl_client_emit(scene->client, "t", NULL, NULL, pawl_text("1"), NULL);
    fixture_end_run(scene->workflow, "complete", "1", NULL);
    assert_int_equal(pthread_join(thread, &waited), 0);
    assert_ptr_equal(waited, scene);
}

static void
a_forked_child_is_refused_and_the_parent_goes_on(void **state)
{
    struct scene *scene = *state;
    int child_status = -1;
    pid_t child = fork();

    if (child == 0) {
        pawl_status status = pawl_client_emit(scene->client, "t", NULL, NULL, pawl_text("1"), NULL);

        pawl_client_close(scene->client);
        _exit(status == PAWL_EINVAL ? 0 : 1);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &child_status, 0), child);
    assert_int_equal(child_status, 0);
    /* The same connection still works: it was not closed under the parent. */
    assert_int_equal(
        fixture_count(scene->conn,
            "select count(*) from pg_stat_activity where application_name = 'pawl' and datname = "
            "current_database()",
            NULL),
        1);
    fixture_expect(trigger(scene, NULL), PAWL_OK, &scene->error);
}

static void
a_client_without_a_configuration_has_the_defaults(void **state)
{
    pawl_error *error = NULL;
    pawl_client *client = NULL;

    (void)state;
    fixture_expect(pawl_client_open(NULL, &client, &error), PAWL_OK, &error);
    fixture_expect(pawl_client_call(client, "now", NULL, NULL, 0, NULL, &error), PAWL_OK, &error);
    pawl_client_close(client);
}

static void
what_is_missing_is_refused(void **state)
{
    pawl_error *error = NULL;

    (void)state;
    fixture_expect(pawl_client_open(NULL, NULL, &error), PAWL_EINVAL, &error);
    fixture_expect(pawl_client_trigger(NULL, NULL, NULL, NULL, &error), PAWL_EINVAL, &error);
    fixture_expect(pawl_client_wait(NULL, NULL, 0, NULL, &error), PAWL_EINVAL, &error);
    pawl_client_close(NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_trigger_gives_the_id_of_a_run_that_is_there, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_trigger_says_whether_a_live_worker_handles_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_key_stands_for_one_run_and_one_input, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            an_id_of_the_callers_own_stands_for_one_run, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_delay_keeps_a_run_from_starting, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            what_is_wrong_with_a_trigger_is_said_by_the_call, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            an_input_over_the_limit_is_refused_before_it_is_sent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_unknown_workflow_is_not_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_runs_are_triggered_in_their_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            many_runs_may_have_keys_and_are_all_or_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            more_than_ten_thousand_runs_are_too_many, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_wait_returns_the_output_of_a_run_that_succeeds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_wait_tells_the_error_of_a_run_that_fails, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_cancelled_run_is_told_as_such, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_run_that_has_ended_cannot_be_cancelled_or_told_anything, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_run_that_a_transaction_holds_is_busy, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_wake_ends_a_delay_and_nothing_else, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_run_that_never_was_is_not_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_client_waits_for_many_runs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_signal_is_kept_for_its_run_each_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(events_of_one_client_keep_their_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_clock_that_is_moved_does_not_make_ids_useless, set_up, tear_down),
        cmocka_unit_test_setup_teardown(any_verb_can_be_called_by_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_list_that_cannot_be_read_is_not_repeated_in_the_error, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_call_that_makes_no_sense_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_second_caller_at_the_same_time_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_forked_child_is_refused_and_the_parent_goes_on, set_up, tear_down),
        cmocka_unit_test(a_client_without_a_configuration_has_the_defaults),
        cmocka_unit_test(what_is_missing_is_refused),
    };

    fixture_go_direct();
    return cmocka_run_group_tests_name("client_verbs", tests, NULL, NULL);
}
