/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A person decides. While a run waits for that, for days, it holds no thread and no connection: it is a row in the database.
 *
 *     human_approval            works until it is killed, which may happen at any time
 *     human_approval demo       three expenses: one approved, one rejected, one that nobody looks at; and exits
 *
 * An operator decides: select pawl.approve('RUN', 'manager', by => 'dora'); pawl.list_waits() says what waits. The database is the one that libpq's variables name (PGHOST, PGDATABASE …).
 */
#include <pawl/pawl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
check(pawl_status status, pawl_error **error)
{
    if (status != PAWL_OK) {
        fprintf(stderr, "%s: %s\n", pawl_status_name(status), pawl_error_message(*error));
        exit(1);
    }
}

static pawl_status
pay(pawl_run *run, void *userdata, pawl_bytes *output)
{
    const pawl_bytes *decision = userdata;

    return pawl_run_printf(run, output, "{\"paid\": true, \"decision\": %s}", decision->data);
}

static pawl_status
expense(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    int64_t timeout_ms;
    pawl_bytes decision;
    pawl_status status;

    if (pawl_json_int(input, "/patience_ms", &timeout_ms) != PAWL_OK)
        timeout_ms = (int64_t)3 * 24 * 3600 * 1000; /* it does not say */
    /* PAWL_SUSPENDED at first. When there is an answer the handler is executed again, and gets it here. */
    status = pawl_wait_approval(run, "manager", input, timeout_ms, &decision);
    if (status == PAWL_EREFUSED)
        return pawl_run_printf(run, output, "{\"paid\": false, \"decision\": %s}", decision.data);
    if (status == PAWL_ETIMEOUT)
        return pawl_run_printf(
            run, output, "{\"paid\": false, \"because\": \"nobody has decided\"}");
    if (status != PAWL_OK)
        return status;
    return pawl_step(run, "pay", pay, &decision, output);
}
PAWL_WORKFLOW("demo.expense.v1", expense);

/* What pawl.approve() and pawl.reject() are in SQL. */
static void
decide(pawl_client *client, const char *verb, const char *run_id, const char *why)
{
    const char *names[] = {"run", "name", "by", "why"};
    const char *values[] = {run_id, "manager", "dora", why};
    pawl_error *error;

    check(pawl_client_call(client, verb, names, values, 4, NULL, &error), &error);
}

static void
produce(const pawl_config *config)
{
    static const char *const expenses[] = {
        "{\"for\": \"tea\"}", "{\"for\": \"a yacht\"}", "{\"patience_ms\": 300}"};
    pawl_trigger *trigger = pawl_trigger_new("demo.expense.v1");
    pawl_client *client;
    pawl_error *error;
    char run_id[PAWL_ID_SIZE];
    pawl_bytes output;

    check(pawl_client_open(config, &client, &error), &error);
    for (int i = 0; i < 3; i++) {
        pawl_trigger_set_input(trigger, pawl_text(expenses[i]));
        check(pawl_client_trigger(client, trigger, run_id, NULL, &error), &error);
        if (i < 2)
            decide(client, i == 0 ? "approve" : "reject", run_id, i == 0 ? "good" : "too small");
        check(pawl_client_wait(client, run_id, 30000, &output, &error), &error);
        printf("%s -> %s\n", expenses[i], output.data);
    }
    pawl_client_close(client);
    pawl_trigger_free(trigger);
}

static void *
work(void *worker)
{
    pawl_error *error;

    check(pawl_worker_run(worker, &error), &error);
    return NULL;
}

int
main(int argc, char **argv)
{
    pawl_config *config = pawl_config_new();
    pawl_worker *worker;
    pawl_error *error;
    pthread_t thread;

    check(pawl_worker_new(config, &worker, &error), &error);
    check(pawl_worker_handle_declared(worker, NULL, &error), &error);
    check(pawl_worker_start(worker, &error), &error);
    check(pthread_create(&thread, NULL, work, worker) == 0 ? PAWL_OK : PAWL_ENOMEM, &error);
    if (argc > 1 && strcmp(argv[1], "demo") == 0) {
        produce(config);
        pawl_worker_drain(worker);
    }
    pthread_join(thread, NULL);
    pawl_worker_free(worker);
    pawl_config_free(config);
    return 0;
}
