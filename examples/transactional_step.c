/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A step whose effect is in the same database, done exactly once: the effect and the record of the step are one transaction, on the
 * program's own connection. Here that is libpq; any driver will do, because all it takes is one SQL function. The worker can be
 * killed at any time, and the account still gets 5 for each payment.
 *
 *     psql -qc 'create table demo_account as select 0 as balance'
 *     transactional_step &
 *     for i in 1 2 3 4 5 6 7 8 9 10; do pawl trigger demo.pay_in.v1 --wait; done
 *     psql -Atc 'select balance from demo_account'
 */
#include <libpq-fe.h>
#include <pawl/pawl.h>
#include <stdio.h>
#include <string.h>

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
        /* The effect of a recorded step must not happen again. The database is asked whether the commit has happened. */
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

int
main(int argc, char **argv)
{
    return pawl_worker_main(argc, argv);
}
