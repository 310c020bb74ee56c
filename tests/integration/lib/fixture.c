/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of the client share; see the header. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
fixture_go_direct(void)
{
    const char *host = getenv("PAWL_DIRECT_PGHOST");
    const char *port = getenv("PAWL_DIRECT_PGPORT");

    if ((host != NULL && setenv("PGHOST", host, 1) != 0) ||
        (port != NULL && setenv("PGPORT", port, 1) != 0))
        bench_die("no environment");
}

pawl_client *
fixture_client(const char *const *settings)
{
    pawl_config *config = pawl_config_new();
    pawl_client *client = NULL;
    pawl_error *error = NULL;

    if (config == NULL)
        bench_die("out of memory");
    for (; settings != NULL && *settings != NULL; settings += 2)
        if (pawl_config_set(config, settings[0], settings[1], &error) != PAWL_OK)
            bench_die("%s: %s", settings[0], pawl_error_message(error));
    if (pawl_client_open(config, &client, &error) != PAWL_OK)
        bench_die("no client: %s", pawl_error_message(error));
    pawl_config_free(config);
    return client;
}

void
fixture_expect(pawl_status status, pawl_status wanted, pawl_error **error)
{
    if (status != wanted)
        bench_die("%s instead of %s: \"%s\" (%s)", pawl_status_name(status),
            pawl_status_name(wanted), pawl_error_message(*error), pawl_error_sqlstate(*error));
    if ((status == PAWL_OK) != (*error == NULL) || pawl_error_code(*error) != status)
        bench_die("the error does not fit the status %s", pawl_status_name(status));
    pawl_error_free(*error);
    *error = NULL;
}

void
fixture_workflow(PGconn *conn, const char *name)
{
    const char *params[] = {name};

    PQclear(bench_exec_params(conn, "select pawl.create_workflow($1)", 1, params));
}

void
fixture_trigger(pawl_client *client, const char *workflow, char run_id[PAWL_ID_SIZE])
{
    pawl_trigger *trigger = pawl_trigger_new(workflow);
    pawl_error *error = NULL;

    if (trigger == NULL)
        bench_die("out of memory");
    fixture_expect(pawl_client_trigger(client, trigger, run_id, NULL, &error), PAWL_OK, &error);
    pawl_trigger_free(trigger);
}

void
fixture_end_run(const char *workflow, const char *kind, const char *payload, const char *option)
{
    struct race_session session;
    struct race_item item;
    PGresult *claimed;

    race_session_open(&session, workflow);
    claimed = race_claim(&session, 1, 0);
    if (PQntuples(claimed) != 1)
        bench_die("no run of \"%s\" to claim", workflow);
    race_item_set(&item, PQgetvalue(claimed, 0, RACE_RUN), (int)race_field(claimed, 0, RACE_FENCE),
        kind, NULL, payload, option);
    race_commit_all(&session, &item, 1);
    if (strcmp(item.answer, "ok") != 0)
        bench_die("%s was answered %s: %s", kind, item.answer, item.reason);
    PQclear(claimed);
    race_session_close(&session);
}

long
fixture_count(PGconn *conn, const char *sql, const char *parameter)
{
    const char *params[] = {parameter};
    PGresult *res = bench_exec_params(conn, sql, parameter != NULL ? 1 : 0, params);
    long count = race_field(res, 0, 0);

    PQclear(res);
    return count;
}
