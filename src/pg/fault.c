/* SPDX-License-Identifier: Apache-2.0 */
#include "pg/fault.h"

#include "base/utf8.h"
#include "pawl/error.h"
#include "pg/sqlstate.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <string.h>

void
pw_fault_lost(struct pw_error *err, const char *text)
{
    char line[sizeof(err->message)] = "";
    size_t size = 0;

    /* libpq has a line for each host, some with a tab before them, and ends in a newline; ours is one line. */
    for (; *text != '\0' && size + 3 < sizeof(line); text++) {
        if (*text == '\t')
            continue;
        if (*text != '\n') {
            line[size++] = *text;
        } else if (text[1] != '\0') {
            line[size++] = ';';
            line[size++] = ' ';
        }
    }
    size = pw_utf8_cut(line, size);
    line[size] = '\0';
    pw_error_set(err, PAWL_ECONN, "%s", size > 0 ? line : "the connection is lost");
    err->retryable = true;
}

/*
 * Whether the message repeats a whole array that could not be read, which may be one of payloads. It is in the server's language,
 * so it is known by where it comes from.
 */
static bool
shows_array(const struct pg_result *result, const char *sqlstate)
{
    const char *file = PQresultErrorField(result, PG_DIAG_SOURCE_FILE);

    return file != NULL && strcmp(file, "arrayfuncs.c") == 0 && sqlstate != NULL &&
        strcmp(sqlstate, "22P02") == 0;
}

void
pw_fault_read_only(struct pw_error *err)
{
    pw_error_set(err, PAWL_ECONN, "default_transaction_read_only is on for this role or database");
    pw_error_hint(err,
        "Turn it off for the role of this program: alter role NAME set "
        "default_transaction_read_only to off.");
    (void)snprintf(err->sqlstate, sizeof(err->sqlstate), "25006");
    /* Only an operator can change it; the connection that is opened next sees that. */
    err->retryable = false;
}

void
pw_fault_server(struct pw_error *err, const struct pg_result *result)
{
    const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const char *hint = PQresultErrorField(result, PG_DIAG_MESSAGE_HINT);
    bool retryable;
    int status = pw_sqlstate_status(sqlstate, &retryable);

    /* guard:array_is_secret */
    if (shows_array(result, sqlstate))
        message = "a list is not written as PostgreSQL reads it: {value,value}";
    pw_error_set(err, status, "%s", message != NULL ? message : "an error without a text");
    if (hint != NULL)
        pw_error_hint(err, "%s", hint);
    (void)snprintf(err->sqlstate, sizeof(err->sqlstate), "%s", sqlstate != NULL ? sqlstate : "");
    err->retryable = retryable;
}
