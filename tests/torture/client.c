/* SPDX-License-Identifier: Apache-2.0 */
/* Producers and operators without memory: what they asked for has happened or has not, and they are told which. */
#include "session.h"
#include "torture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MANY = 300
};

/* Runs that have ended, one way each; made once. */
static char succeeded[PAWL_ID_SIZE];
static char failed[PAWL_ID_SIZE];
static char cancelled[PAWL_ID_SIZE];

static void
copy_id(char *id, const char *sql)
{
    char *text = torture_text(sql, NULL);

    (void)snprintf(id, PAWL_ID_SIZE, "%s", text);
    free(text);
}

/* Ends one run by the verbs of SQL, as any worker would. */
static void
end_run(char *id, const char *kind, const char *payload, const char *option)
{
    struct race_session session;
    struct race_item item;
    PGresult *claimed;

    copy_id(id, "select run_id from pawl.trigger('torture.ended')");
    race_session_open(&session, "torture.ended");
    claimed = race_claim(&session, 1, 0);
    race_item_set(&item, PQgetvalue(claimed, 0, RACE_RUN), (int)race_field(claimed, 0, RACE_FENCE),
        kind, NULL, payload, option);
    race_commit_all(&session, &item, 1);
    PQclear(claimed);
    race_session_close(&session);
}

static void
prepare(void)
{
    bench_do(torture_database(), "select pawl.create_workflow('torture.client')");
    bench_do(torture_database(), "select pawl.create_workflow('torture.ended')");
}

static void
prepare_ended(void)
{
    prepare();
    end_run(succeeded, "complete", "{\"sum\": 42}", NULL);
    end_run(failed, "fail", "{\"code\": \"broken\", \"message\": \"it is broken\"}",
        "{\"final\": true}");
    copy_id(cancelled, "select run_id from pawl.trigger('torture.client')");
    bench_do(torture_database(),
        "select pawl.cancel(array[run_id]) from pawl.list_runs('torture.client')");
}

/* How many runs there are that have not ended; nobody executes any. */
static long
count_runs(void)
{
    return race_count(torture_database(), "select count(*) from pawl_data.task");
}

static pawl_client *
open_client(void)
{
    pawl_config *config = torture_config();
    pawl_client *client = NULL;
    pawl_error *error = NULL;

    if (config == NULL)
        return NULL;
    if (!torture_ok(pawl_client_open(config, &client, &error), &error, "pawl_client_open"))
        client = NULL;
    pawl_config_free(config);
    return client;
}

static pawl_trigger *
new_trigger(void)
{
    pawl_trigger *trigger = pawl_trigger_new("torture.client");
    char input[100];

    if (trigger == NULL)
        return NULL;
    (void)snprintf(input, sizeof(input), "{\"trial\": %ld}", torture_trial());
    pawl_trigger_set_input(trigger, pawl_text(input));
    return trigger;
}

/* --- configuration --- */

static bool
configure(void)
{
    static const char *const settings[][2] = {
        {"database", "host=/nowhere dbname=x"},
        {"lease", "3s"},
        {"payload_max", "64kB"},
        {"runtimes", "c,python"},
        {"worker_name", "a worker"},
        {"listen", "off"},
        {"listen_database", "host=/elsewhere"},
        {"create_workflows", "off"},
    };
    pawl_config *config = torture_config();
    pawl_error *error = NULL;
    bool good = config != NULL;

    for (size_t i = 0; good && i < sizeof(settings) / sizeof(settings[0]); i++) {
        good = torture_ok(pawl_config_set(config, settings[i][0], settings[i][1], &error), &error,
            "pawl_config_set");
        if (good)
            (void)torture_check(
                strcmp(pawl_config_get(config, settings[i][0]), settings[i][1]) == 0,
                "%s is not set", settings[i][0]);
        else
            (void)torture_check(
                strcmp(pawl_config_get(config, settings[i][0]), settings[i][1]) != 0, "%s is set",
                settings[i][0]);
    }
    if (good) {
        (void)torture_is(pawl_config_set(config, "lease", "for ever", &error), PAWL_EINVAL, &error,
            "a bad value");
        (void)torture_check(strcmp(pawl_config_get(config, "lease"), "3s") == 0,
            "a bad value has changed the setting");
    }
    pawl_config_free(config);
    return good;
}

/* --- connections --- */

static bool
open_and_close(void)
{
    pawl_client *client = open_client();

    pawl_client_close(client);
    return client != NULL;
}

static bool
open_nowhere(void)
{
    pawl_config *config = torture_config();
    pawl_client *client = NULL;
    pawl_error *error = NULL;
    pawl_status status;
    bool good = config != NULL;

    if (good)
        good = torture_ok(pawl_config_set(config, "database", "host=/nowhere", &error), &error,
                   "pawl_config_set") &&
            torture_ok(
                pawl_config_set(config, "call_timeout", "30ms", &error), &error, "pawl_config_set");
    if (good) {
        status = pawl_client_open(config, &client, &error);
        good = torture_is(status, PAWL_ECONN, &error, "pawl_client_open");
    }
    pawl_config_free(config);
    return good;
}

/* --- trigger --- */

static bool
trigger_plain(void)
{
    pawl_client *client = open_client();
    pawl_trigger *trigger = client == NULL ? NULL : new_trigger();
    pawl_error *error = NULL;
    char run_id[PAWL_ID_SIZE] = "";
    uint32_t flags = 0;
    long before = count_runs();
    bool good = false;

    if (trigger != NULL) {
        good = torture_ok(pawl_client_trigger(client, trigger, run_id, &flags, &error), &error,
            "pawl_client_trigger");
        (void)torture_check(!torture_is_sure() || count_runs() - before == good,
            "%ld runs more, and the answer is %s", count_runs() - before, good ? "yes" : "no");
        if (good)
            (void)torture_check(strlen(run_id) == 36 && (flags & PAWL_CREATED) != 0,
                "run \"%s\", flags %u", run_id, flags);
    }
    pawl_trigger_free(trigger);
    pawl_client_close(client);
    return good;
}

static bool
trigger_with_options(void)
{
    pawl_client *client = open_client();
    pawl_trigger *trigger = client == NULL ? NULL : new_trigger();
    pawl_error *error = NULL;
    char key[40];
    char run_id[PAWL_ID_SIZE] = "";
    char again[PAWL_ID_SIZE] = "";
    uint32_t flags = 0;
    bool good = trigger != NULL;

    (void)snprintf(key, sizeof(key), "trial-%ld", torture_trial());
    if (good) {
        pawl_trigger_set(trigger, "key", key);
        pawl_trigger_set(trigger, "tenant", "acme");
        pawl_trigger_set(trigger, "priority", "7");
        pawl_trigger_set(trigger, "delay_ms", "3600000");
        pawl_trigger_set(trigger, "metadata", "{\"from\": \"torture\"}");
        pawl_trigger_set(trigger, "limit_key", "l");
        good = torture_ok(pawl_client_trigger(client, trigger, run_id, NULL, &error), &error,
            "pawl_client_trigger");
    }
    if (good)
        good = torture_ok(
            pawl_client_trigger(client, trigger, again, &flags, &error), &error, "the same again");
    if (good)
        (void)torture_check(strcmp(run_id, again) == 0 && (flags & PAWL_CREATED) == 0,
            "\"%s\" and \"%s\"", run_id, again);
    if (good) {
        pawl_trigger_set_input(trigger, pawl_text("{\"another\": true}"));
        good = torture_is(pawl_client_trigger(client, trigger, again, NULL, &error), PAWL_ECONFLICT,
            &error, "another input");
    }
    pawl_trigger_free(trigger);
    pawl_client_close(client);
    return good;
}

static bool
trigger_many(void)
{
    pawl_client *client = open_client();
    pawl_trigger *trigger = client == NULL ? NULL : new_trigger();
    pawl_error *error = NULL;
    static char run_ids[MANY * PAWL_ID_SIZE];
    static uint32_t flags[MANY];
    char input[100];
    char key[40];
    long before = count_runs();
    long more;
    bool good = trigger != NULL;

    if (good) {
        for (int i = 0; i < MANY; i++) {
            (void)snprintf(input, sizeof(input), "{\"trial\": %ld, \"n\": %d}", torture_trial(), i);
            (void)snprintf(key, sizeof(key), "many-%ld-%d", torture_trial(), i);
            pawl_trigger_add(trigger, pawl_text(input), key);
        }
        good = torture_ok(pawl_client_trigger_many(client, trigger, run_ids, flags, &error), &error,
            "pawl_client_trigger_many");
        more = count_runs() - before;
        (void)torture_check(!torture_is_sure() || more == (good ? MANY : 0),
            "%ld runs more, and the answer is %s", more, good ? "yes" : "no");
        pawl_trigger_clear(trigger);
    }
    pawl_trigger_free(trigger);
    pawl_client_close(client);
    return good;
}

static bool
trigger_in_vain(void)
{
    pawl_client *client = open_client();
    pawl_trigger *trigger = client == NULL ? NULL : pawl_trigger_new("torture.unknown");
    pawl_error *error = NULL;
    char run_id[PAWL_ID_SIZE];
    bool good = trigger != NULL;

    if (good)
        good = torture_is(pawl_client_trigger(client, trigger, run_id, NULL, &error),
            PAWL_ENOTFOUND, &error, "no such workflow");
    if (good) {
        pawl_trigger_set(trigger, "priority", "much");
        good = torture_is(pawl_client_trigger(client, trigger, run_id, NULL, &error), PAWL_EINVAL,
            &error, "a bad option");
    }
    pawl_trigger_free(trigger);
    pawl_client_close(client);
    return good;
}

/* --- wait --- */

static bool
wait_for_ends(void)
{
    pawl_client *client = open_client();
    pawl_error *error = NULL;
    pawl_bytes output = {NULL, 0};
    bool good = client != NULL;

    if (good)
        good = torture_ok(pawl_client_wait(client, succeeded, 1000, &output, &error), &error,
            "wait for a success");
    if (good)
        (void)torture_check(
            strcmp(output.data, "{\"sum\": 42}") == 0, "the output is \"%s\"", output.data);
    if (good) {
        pawl_status status = pawl_client_wait(client, failed, 1000, NULL, &error);

        /* Without memory for the error itself, the status alone tells; without memory to read it, the message is a general one. */
        if (status == PAWL_ERUN && pawl_error_code(error) == PAWL_ERUN)
            (void)torture_check(
                (sites_failed() || strstr(pawl_error_message(error), "it is broken") != NULL) &&
                    pawl_error_detail(error).size > 0,
                "the error is \"%s\"", pawl_error_message(error));
        good = torture_is(status, PAWL_ERUN, &error, "wait for a failure");
    }
    if (good)
        good = torture_is(pawl_client_wait(client, cancelled, 1000, NULL, &error), PAWL_ECANCELLED,
            &error, "wait for a cancelled run");
    if (good)
        good = torture_is(
            pawl_client_wait(client, "0196f0f0-0000-7000-8000-000000000000", 10, NULL, &error),
            PAWL_ENOTFOUND, &error, "wait for no run");
    pawl_client_close(client);
    return good;
}

/* A run that nobody executes. */
static void
new_run(char *run_id)
{
    char sql[160];

    (void)snprintf(sql, sizeof(sql),
        "select run_id from pawl.trigger('torture.client', '{\"trial\": %ld}')", torture_trial());
    copy_id(run_id, sql);
}

static bool
wait_in_vain(void)
{
    pawl_client *client = open_client();
    pawl_error *error = NULL;
    char run_id[PAWL_ID_SIZE];
    bool good = client != NULL;

    new_run(run_id);
    if (good)
        good = torture_is(pawl_client_wait(client, run_id, 30, NULL, &error), PAWL_ETIMEOUT, &error,
            "wait for a run that waits");
    pawl_client_close(client);
    return good;
}

/* --- telling runs --- */

static long
count_where(const char *sql, const char *param)
{
    PGresult *result = bench_exec_params(torture_database(), sql, 1, &param);
    long count = race_field(result, 0, 0);

    PQclear(result);
    return count;
}

static bool
send_signal(void)
{
    pawl_client *client = open_client();
    pawl_error *error = NULL;
    char run_id[PAWL_ID_SIZE];
    long sent;
    bool good = client != NULL;

    new_run(run_id);
    if (good) {
        good = torture_ok(pawl_client_signal(client, run_id, "go", pawl_text("{\"a\": 1}"), &error),
            &error, "pawl_client_signal");
        sent = count_where("select count(*) from pawl_data.signal where run_id = $1::uuid", run_id);
        (void)torture_check(!torture_is_sure() || sent == good, "%ld signals, and the answer is %s",
            sent, good ? "yes" : "no");
    }
    if (good)
        good = torture_is(pawl_client_signal(client, succeeded, "go", pawl_text("1"), &error),
            PAWL_EREFUSED, &error, "a signal to a run that has ended");
    pawl_client_close(client);
    return good;
}

static bool
emit_event(void)
{
    pawl_client *client = open_client();
    pawl_error *error = NULL;
    char key[40];
    long sent;
    long before;
    bool good = client != NULL;

    (void)snprintf(key, sizeof(key), "trial-%ld", torture_trial());
    before = count_where(
        "select count(*) from pawl_data.event where topic = 'torture' and key = $1", key);
    if (good) {
        good = torture_ok(
            pawl_client_emit(client, "torture", key, NULL, pawl_text("{\"a\": 1}"), &error), &error,
            "pawl_client_emit");
        sent = count_where(
            "select count(*) from pawl_data.event where topic = 'torture' and key = $1", key);
        (void)torture_check(!torture_is_sure() || sent - before == good,
            "%ld events, and the answer is %s", sent - before, good ? "yes" : "no");
    }
    pawl_client_close(client);
    return good;
}

static bool
cancel_run(void)
{
    pawl_client *client = open_client();
    pawl_error *error = NULL;
    char run_id[PAWL_ID_SIZE];
    char *status;
    bool good = client != NULL;

    new_run(run_id);
    if (good) {
        good = torture_ok(pawl_client_cancel(client, run_id, "no longer wanted", 0, &error), &error,
            "pawl_client_cancel");
        status = torture_text("select status from pawl.get_run($1::uuid)", run_id);
        (void)torture_check(
            !torture_is_sure() || strcmp(status, good ? "CANCELLED" : "QUEUED") == 0,
            "the run is %s, and the answer is %s", status, good ? "yes" : "no");
        free(status);
    }
    pawl_client_close(client);
    return good;
}

/* --- tokens --- */

static const char token_digest[] = "0123456789abcdef0123456789abcdef";

static void
prepare_token(void)
{
    bench_do(torture_database(), "select pawl.create_workflow('torture.token')");
    bench_do(torture_database(),
        "select pawl.create_token('torture', '0123456789abcdef0123456789abcdef'::bytea, "
        "'{producer}', 'acme')");
}

static bool
act_as_token(void)
{
    pawl_client *client = open_client();
    pawl_trigger *trigger = client == NULL ? NULL : pawl_trigger_new("torture.token");
    pawl_error *error = NULL;
    char run_id[PAWL_ID_SIZE] = "";
    char *tenant;
    bool good = trigger != NULL;

    if (good)
        good = torture_ok(pawl_client_act_as_token(client, pawl_text(token_digest), &error), &error,
            "pawl_client_act_as_token");
    if (good)
        good = torture_ok(pawl_client_trigger(client, trigger, run_id, NULL, &error), &error,
            "trigger as a token");
    if (good) {
        /* Whatever failed, and however often it was sent: not once without the token. */
        tenant = torture_text("select tenant from pawl.get_run($1::uuid)", run_id);
        (void)torture_check(strcmp(tenant, "acme") == 0, "the tenant is \"%s\"", tenant);
        free(tenant);
        good = torture_is(pawl_client_call(client, "list_runs", NULL, NULL, 0, NULL, &error),
            PAWL_EFORBIDDEN, &error, "a verb that is not its right");
    }
    if (good)
        good = torture_is(pawl_client_call(client, "tick", NULL, NULL, 0, NULL, &error),
            PAWL_EINVAL, &error, "a procedure as a token");
    (void)torture_check(race_count(torture_database(),
                            "select count(*) from pawl.list_runs('torture.token') where tenant <> "
                            "'acme'") == 0,
        "a run was triggered without the token");
    pawl_trigger_free(trigger);
    pawl_client_close(client);
    return good;
}

/* --- any other verb --- */

static bool
call_verbs(void)
{
    static const char *const names[] = {"only_workflow", "max_rows"};
    static const char *const values[] = {"torture.ended", "2"};
    pawl_client *client = open_client();
    pawl_error *error = NULL;
    pawl_rows *rows = NULL;
    bool good = client != NULL;

    if (good)
        good = torture_ok(pawl_client_call(client, "list_runs", names, values, 2, &rows, &error),
            &error, "list_runs");
    if (good) {
        (void)torture_check(pawl_rows_count(rows) == 2 &&
                strcmp(pawl_rows_text(rows, 0, "workflow"), "torture.ended") == 0 &&
                pawl_rows_column_name(rows, 0) != NULL && pawl_rows_column_count(rows) > 10,
            "%zu rows", pawl_rows_count(rows));
        pawl_rows_free(rows);
        good = torture_is(pawl_client_call(client, "no_verb", NULL, NULL, 0, NULL, &error),
            PAWL_EINVAL, &error, "no such verb");
    }
    if (good)
        good = torture_ok(pawl_client_call(client, "pause_workflow", (const char *const[]){"name"},
                              (const char *const[]){"torture.client"}, 1, NULL, &error),
            &error, "pause_workflow");
    pawl_client_close(client);
    return good;
}

static bool
connect_again(void)
{
    pawl_client *client = open_client();
    pawl_error *error = NULL;
    char run_id[PAWL_ID_SIZE];
    bool good = client != NULL;

    new_run(run_id);
    if (good) {
        bench_do(torture_database(),
            "select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = "
            "'torture' and datname = current_database()");
        good = torture_is(pawl_client_wait(client, run_id, 0, NULL, &error), PAWL_ETIMEOUT, &error,
            "a call after the connection was lost");
    }
    pawl_client_close(client);
    return good;
}

int
main(int argc, char **argv)
{
    static const struct scenario scenarios[] = {
        {.name = "a configuration", .act = configure},
        {.name = "open and close", .act = open_and_close},
        {.name = "open where nobody is", .act = open_nowhere},
        {.name = "trigger", .prepare = prepare, .act = trigger_plain},
        {.name = "trigger with a key and all options",
            .prepare = prepare,
            .act = trigger_with_options},
        {.name = "trigger many", .prepare = prepare, .act = trigger_many},
        {.name = "trigger in vain", .prepare = prepare, .act = trigger_in_vain},
        {.name = "wait for runs that have ended", .prepare = prepare_ended, .act = wait_for_ends},
        {.name = "wait in vain", .prepare = prepare, .act = wait_in_vain},
        {.name = "signal", .prepare = prepare_ended, .act = send_signal},
        {.name = "emit", .prepare = prepare, .act = emit_event},
        {.name = "cancel", .prepare = prepare, .act = cancel_run},
        {.name = "call verbs by name", .prepare = prepare_ended, .act = call_verbs},
        {.name = "act as a token", .prepare = prepare_token, .act = act_as_token},
        {.name = "connect again", .prepare = prepare, .act = connect_again},
    };

    return torture_main(argc, argv, scenarios, sizeof(scenarios) / sizeof(scenarios[0]));
}
