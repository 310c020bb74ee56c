/* SPDX-License-Identifier: Apache-2.0 */
/* Steps that are recorded by a transaction of the author's own: its effects and the record commit together, or not at all. */
#include "killer.h"
#include "race.h"
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
    atomic_int executed;
    atomic_int transactions;
    int failing;         /* of the first transactions, so many fail */
    bool forgets;        /* to record */
    struct gate *gate;   /* waited at before the record */
    pawl_status seen[8]; /* what took or finish returned */
    pawl_status refused[4];
    char sqlstate[8];
    char error[300];
};

/* One statement of the author's transaction; false if it failed, with its SQLSTATE in tale. */
static bool
run_sql(PGconn *conn, struct tale *tale, const char *sql, const char *parameter)
{
    const char *params[] = {parameter};
    PGresult *res = PQexecParams(conn, sql, parameter != NULL ? 1 : 0, NULL, params, NULL, NULL, 0);
    bool ok = PQresultStatus(res) == PGRES_TUPLES_OK || PQresultStatus(res) == PGRES_COMMAND_OK;

    if (!ok && tale != NULL)
        (void)snprintf(tale->sqlstate, sizeof(tale->sqlstate), "%s", race_state(res));
    PQclear(res);
    return ok;
}

/* The effect and the record, in one transaction. */
static bool
transact(PGconn *conn, struct tale *tale, const char *run_id, const char *token)
{
    int number = tale != NULL ? atomic_fetch_add(&tale->transactions, 1) : 1000;

    return run_sql(conn, tale, "begin", NULL) &&
        run_sql(conn, tale, "insert into public.effect (run_id) values ($1)", run_id) &&
        (tale == NULL || tale->gate == NULL || gate_pass(tale->gate)) &&
        (number >= (tale == NULL ? 0 : tale->failing) ||
            run_sql(conn, tale, "select 1 / 0", NULL)) &&
        (tale == NULL || !tale->forgets || run_sql(conn, tale, "rollback", NULL)) &&
        ((tale != NULL && tale->forgets) ||
            run_sql(conn, tale, "select pawl.record_step($1, '{\"paid\":  true}')", token)) &&
        run_sql(conn, tale, "commit", NULL);
}

static pawl_status
pay(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct tale *tale = pawl_run_userdata(run);
    int at = atomic_fetch_add(&tale->executed, 1);
    const char *token = NULL;
    PGconn *conn;
    pawl_status status;

    (void)input;
    pawl_run_set_option(run, "base_ms", "1");
    pawl_run_set_option(run, "max_attempts", "3");
    status = pawl_step_begin_transaction(run, "pay", output, &token);
    if (status == PAWL_EXECUTE) {
        tale->refused[0] = pawl_step_begin(run, "other", NULL);
        tale->refused[1] = pawl_sleep(run, "other", 1);
        tale->refused[2] = pawl_step_finish(run, PAWL_OK, pawl_text("1"), NULL);
        conn = PQconnectdb("");
        status = transact(conn, tale, pawl_run_id(run), token)
            ? pawl_step_confirm(run, output)
            : pawl_step_finish(run, PAWL_EFAILED, (pawl_bytes){0}, NULL);
        PQfinish(conn);
    }
    tale->seen[at] = status;
    (void)snprintf(tale->error, sizeof(tale->error), "%s", pawl_run_error_message(run));
    if (status == PAWL_OK)
        status = pawl_wait_signal(run, "go", -1, NULL);
    return status;
}

static int
set_up(void **state)
{
    struct scene *scene;

    if (scene_set_up(state) != 0)
        return -1;
    scene = *state;
    scene_do(scene, "create table if not exists public.effect (run_id uuid)", NULL);
    return 0;
}

static long
effects(struct scene *scene)
{
    return scene_number(
        scene, "select count(*) from public.effect where run_id = $1", scene->run_id);
}

static void
begin(struct scene *scene, struct tale *tale)
{
    scene_handle(scene, "transaction.pay", pay, tale);
    scene_work(scene);
    scene_trigger(scene, "transaction.pay", "{}");
}

static void
go(struct scene *scene)
{
    scene_do(scene, "select pawl.signal($1, 'go')", scene->run_id);
}

static void
effect_and_record_commit_together_and_are_found_on_replay(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    begin(scene, &tale);
    scene_until(scene, "select t.state($1) = 'PAUSED signal'", scene->run_id);
    assert_int_equal(effects(scene), 1);
    for (int i = 0; i < 3; i++)
        assert_int_equal(tale.refused[i], PAWL_EINVAL);
    go(scene);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "{\"paid\":  true}");
    assert_int_equal(effects(scene), 1);
    assert_int_equal(tale.transactions, 1);
    assert_int_equal(tale.executed, 2);
}

static void
a_transaction_that_fails_is_tried_again(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {.failing = 2};

    begin(scene, &tale);
    go(scene);
    assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "{\"paid\":  true}");
    assert_int_equal(tale.transactions, 3);
    assert_int_equal(effects(scene), 1);
    assert_int_equal(tale.seen[0], PAWL_SUSPENDED);
    assert_string_equal(tale.sqlstate, "22012");
}

static void
a_transaction_that_has_recorded_nothing_is_a_failure(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {.forgets = true};

    begin(scene, &tale);
    scene_has(scene_wait(scene, scene->run_id, PAWL_ERUN), "not_recorded");
    assert_int_equal(tale.transactions, 3);
    assert_int_equal(tale.seen[2], PAWL_EFAILED);
    assert_string_equal(tale.error, "the transaction has not recorded the step");
    assert_int_equal(effects(scene), 0);
}

static void
the_transaction_of_a_run_that_was_cancelled_has_no_effect(void **state)
{
    struct scene *scene = *state;
    struct gate gate;
    struct tale tale = {.gate = &gate};
    pawl_error *error = NULL;

    gate_init(&gate);
    begin(scene, &tale);
    gate_await(&gate, 1);
    assert_int_equal(pawl_client_cancel(scene->client, scene->run_id, NULL, 0, &error), PAWL_OK);
    gate_open(&gate);
    (void)scene_wait(scene, scene->run_id, PAWL_ECANCELLED);
    (void)scene_rest(scene);
    assert_int_equal(effects(scene), 0);
    assert_string_equal(tale.sqlstate, "PW006");
    assert_int_equal(tale.seen[0], PAWL_ECANCELLED);
    gate_done(&gate);
}

static void
the_transaction_of_a_run_that_was_given_away_has_no_effect(void **state)
{
    struct scene *scene = *state;
    struct gate gate;
    struct tale tale = {.gate = &gate};

    gate_init(&gate);
    begin(scene, &tale);
    gate_await(&gate, 1);
    scene_do(scene, "select pawl.kill(array[$1::uuid])", scene->run_id);
    gate_open(&gate);
    (void)scene_rest(scene);
    assert_int_equal(effects(scene), 0);
    assert_true(strncmp(tale.sqlstate, "PW", 2) == 0);
    assert_true(tale.seen[0] == PAWL_ELEASE_LOST || tale.seen[0] == PAWL_ECANCELLED);
    gate_done(&gate);
}

/* Pays with an undo, and then fails. */
static pawl_status
pay_and_fail(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    const char *token = NULL;
    PGconn *conn;
    pawl_status status;

    (void)input;
    pawl_run_set_option(run, "undo", "pay_back");
    status = pawl_step_begin_transaction(run, "pay", output, &token);
    if (status == PAWL_EXECUTE) {
        conn = PQconnectdb("");
        status = transact(conn, pawl_run_userdata(run), pawl_run_id(run), token)
            ? pawl_step_confirm(run, output)
            : pawl_step_finish(run, PAWL_EFAILED, (pawl_bytes){0}, NULL);
        PQfinish(conn);
    }
    return status == PAWL_OK ? PAWL_EPERMANENT : status;
}

static pawl_status
pay_back(pawl_run *run, pawl_bytes input, pawl_bytes output)
{
    struct tale *tale = pawl_run_userdata(run);

    (void)input;
    (void)snprintf(tale->error, sizeof(tale->error), "%s%s",
        output.data == NULL ? "-" : output.data, pawl_run_undo_uncertain(run) ? " uncertain" : "");
    return PAWL_OK;
}

static void
a_step_that_a_transaction_has_recorded_can_be_undone(void **state)
{
    struct scene *scene = *state;
    struct tale tale = {0};

    scene_handle(scene, "transaction.undone", pay_and_fail, &tale);
    scene_undo(scene, "pay_back", pay_back, &tale);
    scene_work(scene);
    scene_trigger(scene, "transaction.undone", "{}");
    (void)scene_wait(scene, scene->run_id, PAWL_ERUN);
    assert_string_equal(tale.error, "{\"paid\":  true}");
    assert_int_equal(effects(scene), 1);
}

/* In a process of its own, at the first attempt: dies before its transaction commits, or after. */
static pawl_status
die_around(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    bool before = strstr(input.data, "before") != NULL;
    const char *token = NULL;
    PGconn *conn;
    pawl_status status = pawl_step_begin_transaction(run, "pay", output, &token);

    if (status != PAWL_EXECUTE)
        return status;
    conn = PQconnectdb("");
    if (before && pawl_run_execution(run) == 1) {
        if (run_sql(conn, NULL, "begin", NULL) &&
            run_sql(conn, NULL, "insert into public.effect (run_id) values ($1)", pawl_run_id(run)))
            (void)run_sql(conn, NULL, "select pawl.record_step($1, '1')", token);
        (void)kill(getpid(), SIGKILL);
    }
    status = transact(conn, NULL, pawl_run_id(run), token) ? PAWL_OK : PAWL_EFAILED;
    if (!before && pawl_run_execution(run) == 1)
        (void)kill(getpid(), SIGKILL);
    PQfinish(conn);
    return status == PAWL_OK ? pawl_step_confirm(run, output)
                             : pawl_step_finish(run, status, (pawl_bytes){0}, NULL);
}

static const pawl_declaration in_a_process[] = {
    {sizeof(pawl_declaration), "transaction.dying", die_around, NULL, {NULL}},
};
static const char *const process_settings[] = {"lease", "3s", NULL};

static void
a_worker_that_dies_around_the_commit_leaves_one_effect(void **state)
{
    static const char *const inputs[] = {"\"before\"", "\"after\""};
    struct scene *scene = *state;
    struct killer *killer = killer_new(1);

    scene_do(scene, "select pawl.create_workflow('transaction.dying')", NULL);
    (void)scene_spawn(killer, "worker", true);
    for (int i = 0; i < 2; i++) {
        scene_trigger(scene, "transaction.dying", inputs[i]);
        assert_string_equal(scene_wait(scene, scene->run_id, PAWL_OK), "{\"paid\":  true}");
        assert_int_equal(effects(scene), 1);
        assert_int_equal(
            scene_number(scene, "select execution from pawl.get_run($1)", scene->run_id), 2);
    }
    killer_free(killer);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, scene_tear_down)
        TEST(effect_and_record_commit_together_and_are_found_on_replay),
        TEST(a_transaction_that_fails_is_tried_again),
        TEST(a_transaction_that_has_recorded_nothing_is_a_failure),
        TEST(the_transaction_of_a_run_that_was_cancelled_has_no_effect),
        TEST(the_transaction_of_a_run_that_was_given_away_has_no_effect),
        TEST(a_step_that_a_transaction_has_recorded_can_be_undone),
        TEST(a_worker_that_dies_around_the_commit_leaves_one_effect),
#undef TEST
    };

    if (argc > 1 && strcmp(argv[1], "worker") == 0)
        return scene_be_worker(process_settings, in_a_process, 1, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
