/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A step whose effect is in the same database, done exactly once: the effect and the record of the step are one transaction, on a
 * connection of the program's own. Here that is libpq; any driver will do, for all it takes is one SQL function.
 *
 *     transactional_step            works until it is killed, which may happen at any time
 *     transactional_step demo       ten payments of 5 into one account, prints its balance, and exits
 *
 * The database is the one that libpq's variables name (PGHOST, PGDATABASE …). It gets a table demo_account.
 */
#include <libpq-fe.h>
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

/* One statement with at most one parameter. answer gets the first column of the first row. */
static int
query(PGconn *conn, const char *sql, const char *parameter, char answer[20])
{
    PGresult *result = PQexecParams(conn, sql, parameter != NULL, NULL, &parameter, NULL, NULL, 0);
    ExecStatusType status = PQresultStatus(result);

    snprintf(answer, 20, "%s", PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "");
    PQclear(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

static pawl_status
pay_in(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    const char *token;
    char answer[20];
    pawl_status status;
    PGconn *conn;

    (void)input;
    status = pawl_step_begin_transaction(run, "pay", output, &token);
    if (status != PAWL_EXECUTE)
        return status;
    conn = PQconnectdb("");
    if (query(conn, "begin", NULL, answer) &&
        query(conn, "update demo_account set balance = balance + 5", NULL, answer) &&
        query(conn, "select pawl.record_step($1, '{\"paid\": 5}')", token, answer)) {
        /* What is recorded already must not happen a second time. Whether a commit has happened, the database is asked. */
        query(conn, strcmp(answer, "ok") == 0 ? "commit" : "rollback", NULL, answer);
        status = pawl_step_confirm(run, output);
    } else {
        pawl_run_set_error(run, "database", "%s", PQerrorMessage(conn));
        status = pawl_step_finish(run, PAWL_EFAILED, pawl_text(NULL), output);
    }
    PQfinish(conn);
    return status;
}
PAWL_WORKFLOW("demo.pay_in.v1", pay_in);

static void
produce(const pawl_config *config)
{
    pawl_trigger *trigger = pawl_trigger_new("demo.pay_in.v1");
    PGconn *conn = PQconnectdb("");
    char run_ids[10][PAWL_ID_SIZE], answer[20];
    pawl_client *client;
    pawl_error *error;

    query(conn, "create table if not exists demo_account as select 0 as balance", NULL, answer);
    check(pawl_client_open(config, &client, &error), &error);
    for (int i = 0; i < 10; i++)
        pawl_trigger_add(trigger, pawl_text("{}"), NULL);
    check(pawl_client_trigger_many(client, trigger, run_ids[0], NULL, &error), &error);
    for (int i = 0; i < 10; i++)
        check(pawl_client_wait(client, run_ids[i], 30000, NULL, &error), &error);
    query(conn, "select balance from demo_account", NULL, answer);
    printf("balance %s\n", answer);
    PQfinish(conn);
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
