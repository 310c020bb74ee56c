/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker that kills itself at the point that CRASH names, for tests/docs/crash_points_hold. What has an effect is written down
 * in the file that LEDGER names. Each workflow has the points of one part of the table in docs/guarantees.md.
 */
#include <fcntl.h>
#include <libpq-fe.h>
#include <pawl/pawl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
point(const char *name)
{
    const char *crash = getenv("CRASH");

    if (crash != NULL && strcmp(crash, name) == 0)
        raise(SIGKILL);
}

static void
note(const char *format, const char *detail)
{
    int fd = open(getenv("LEDGER"), O_WRONLY | O_APPEND | O_CREAT, 0600);

    dprintf(fd, format, detail);
    close(fd);
}

static pawl_status
first(pawl_run *run, void *userdata, pawl_bytes *output)
{
    (void)userdata;
    point("before the effect");
    note("first %s\n", strrchr(pawl_step_key(run), '/'));
    point("after the effect");
    *output = pawl_text("1");
    return PAWL_OK;
}

static pawl_status
second(pawl_run *run, void *userdata, pawl_bytes *output)
{
    (void)run;
    (void)output;
    note("second after %s\n", ((const pawl_bytes *)userdata)->data);
    return PAWL_OK;
}

static pawl_status
steps(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_bytes one;
    pawl_status status;

    (void)input;
    point("before the first step");
    if ((status = pawl_step(run, "first", first, NULL, &one)) != PAWL_OK)
        return status;
    point("between two steps");
    status = pawl_sleep(run, "sleep", 300);
    point("after the sleep began");
    if (status != PAWL_OK)
        return status;
    status = pawl_child(run, "child", "point.child", pawl_text("{}"), output);
    point("after the child was triggered");
    if (status != PAWL_OK)
        return status;
    if ((status = pawl_step(run, "second", second, &one, NULL)) != PAWL_OK)
        return status;
    point("before the end");
    return PAWL_OK;
}
PAWL_WORKFLOW("point.steps", steps);

static pawl_status
child(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)run;
    *output = input;
    return PAWL_OK;
}
PAWL_WORKFLOW("point.child", child);

static pawl_status
book(pawl_run *run, void *userdata, pawl_bytes *output)
{
    (void)run;
    (void)userdata;
    note("book%s\n", "");
    point("before the record");
    *output = pawl_text("\"7a\"");
    return PAWL_OK;
}

static pawl_status
unbook(pawl_run *run, pawl_bytes input, pawl_bytes output)
{
    (void)input;
    note("unbook%s\n", pawl_run_undo_uncertain(run) ? " perhaps" : "");
    if ((output.data == NULL) != (pawl_run_undo_uncertain(run) != 0))
        note("an output that should not be there%s\n", "");
    point("in the undo");
    return PAWL_OK;
}
PAWL_UNDO("point.unbook", unbook);

/* Fails for good; on its second attempt already before the booking, if that was cut short. */
static pawl_status
saga(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_status status;

    (void)input;
    if (pawl_run_execution(run) == 1) {
        pawl_run_set_option(run, "undo", "point.unbook");
        if ((status = pawl_step(run, "book", book, NULL, output)) != PAWL_OK)
            return status;
    }
    pawl_run_set_error(run, "no", "no");
    return PAWL_EPERMANENT;
}
PAWL_WORKFLOW("point.saga", saga);

static pawl_status
transact(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    const char *token;
    pawl_status status = pawl_step_begin_transaction(run, "count", output, &token);
    PGconn *conn;

    (void)input;
    if (status != PAWL_EXECUTE)
        return status;
    conn = PQconnectdb("");
    PQclear(PQexec(conn, "begin; insert into counted values (1)"));
    PQclear(PQexecParams(conn, "select pawl.record_step($1)", 1, NULL, &token, NULL, NULL, 0));
    point("before the commit");
    PQclear(PQexec(conn, "commit"));
    point("after the commit");
    PQfinish(conn);
    return pawl_step_confirm(run, output);
}
PAWL_WORKFLOW("point.transaction", transact);

int
main(int argc, char **argv)
{
    return pawl_worker_main(argc, argv);
}
