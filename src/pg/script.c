/* SPDX-License-Identifier: Apache-2.0 */
#include "pg/script.h"

#include "base/alloc.h"
#include "base/time.h"
#include "pawl/error.h"
#include "pg/fault.h"
#include "pg/target.h"

#include <errno.h>
#include <libpq-fe.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

/* Discards the notices of a script. */
static void
ignore_notice(void *arg, const PGresult *notice)
{
    (void)arg;
    (void)notice;
}

static int
lost(struct pw_error *err, const char *text)
{
    pw_fault_lost(err, text);
    return err->code;
}

/* An error without a state, or on a connection that is gone, is libpq's own. */
static int
refused(PGconn *pq, const PGresult *result, struct pw_error *err)
{
    if (PQresultErrorField(result, PG_DIAG_SQLSTATE) == NULL || PQstatus(pq) != CONNECTION_OK)
        return lost(err, PQerrorMessage(pq));
    pw_fault_server(err, result);
    return err->code;
}

/* Waits until the socket can be read or written. Returns false when the deadline has passed. */
static bool
wait_for(PGconn *pq, short events, int64_t deadline_us)
{
    struct pollfd ready = {.fd = PQsocket(pq), .events = events};
    int64_t left_us = deadline_us == INT64_MAX ? -1000 : deadline_us - pw_now_us();
    int left_ms = left_us > INT_MAX / 2 ? INT_MAX / 2 : (int)(left_us / 1000);

    if (deadline_us != INT64_MAX && left_us <= 0)
        return false;
    return poll(&ready, 1, deadline_us == INT64_MAX ? -1 : left_ms + 1) >= 0 || errno == EINTR;
}

static int
connect_script(PGconn *pq, int64_t deadline_us, struct pw_error *err)
{
    PostgresPollingStatusType state = PGRES_POLLING_WRITING;

    while (PQstatus(pq) != CONNECTION_BAD && state != PGRES_POLLING_OK &&
        state != PGRES_POLLING_FAILED) {
        if (!wait_for(pq, state == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline_us))
            return lost(err, "could not connect within connect_timeout");
        state = PQconnectPoll(pq);
    }
    return PQstatus(pq) == CONNECTION_OK && PQsetnonblocking(pq, 1) == 0
        ? PAWL_OK
        : lost(err, PQerrorMessage(pq));
}

/*
 * Whether the server waits for data, or sends some. libpq returns such a result again and again until the caller has moved the data, which
 * a script cannot do.
 */
static bool
is_copy(ExecStatusType status)
{
    return status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH;
}

static int
refuse_copy(struct pw_error *err)
{
    pw_error_set(err, PAWL_EINVAL, "a script cannot copy from stdin or to stdout");
    pw_error_hint(err, "Use psql for it, or copy from and to files of the server.");
    return PAWL_EINVAL;
}

/*
 * 1. A statement is sent. 2. The connection is lost, and the outcome is unknown. Without this the error would be retryable, and a caller
 * could execute the statement twice.
 */
static int
conclude(int status, struct pw_error *err)
{
    /* guard:script_sent */
    if (status == PAWL_ECONN)
        err->retryable = false;
    return status;
}

/* Takes all results. The first error is the cause of later ones. After a copy the connection cannot be used. */
static int
take_results(PGconn *pq, struct pw_error *err)
{
    ExecStatusType kind;
    PGresult *result;
    int status = PAWL_OK;

    for (;;) {
        int unsent = PQflush(pq);

        if (unsent < 0 || PQconsumeInput(pq) == 0)
            return status != PAWL_OK ? status : lost(err, PQerrorMessage(pq));
        if (unsent > 0 || PQisBusy(pq) != 0) {
            (void)wait_for(pq, unsent > 0 ? POLLIN | POLLOUT : POLLIN, INT64_MAX);
            continue;
        }
        result = PQgetResult(pq);
        if (result == NULL)
            return status;
        kind = PQresultStatus(result);
        if (kind == PGRES_FATAL_ERROR && status == PAWL_OK)
            status = refused(pq, result, err);
        PQclear(result);
        if (is_copy(kind))
            return refuse_copy(err);
    }
}

/* The caller owns the connection, even after an error; NULL means that there is none. */
static int
open_connection(
    const struct pw_conn_spec *spec, int64_t deadline_us, PGconn **opened, struct pw_error *err)
{
    struct pw_target target;
    int status = pw_target_init(&target, spec->conninfo, spec->application_name, err);

    if (status != PAWL_OK)
        return status;
    *opened = PQconnectStartParams(target.keywords, target.values, 1);
    if (*opened == NULL) {
        pw_error_oom(err);
        return PAWL_ENOMEM;
    }
    (void)PQsetNoticeReceiver(*opened, ignore_notice, NULL);
    status = connect_script(*opened, deadline_us, err);
    if (status == PAWL_OK)
        pw_target_connected(target.raise_unacked, PQsocket(*opened));
    return status;
}

int
pw_script_run(
    const struct pw_conn_spec *spec, const char *script, int64_t deadline_us, struct pw_error *err)
{
    PGconn *pq = NULL;
    int status = open_connection(spec, deadline_us, &pq, err);

    if (status == PAWL_OK)
        status = conclude(
            PQsendQuery(pq, script) == 0 ? lost(err, PQerrorMessage(pq)) : take_results(pq, err),
            err);
    PQfinish(pq);
    return status;
}

/* Cuts a script into statements and prepares each under its number. */
static int
prepare_all(PGconn *pq, char *script, int *count, struct pw_error *err)
{
    int status = PAWL_OK;

    *count = 0;
    while (script != NULL && *script != '\0' && status == PAWL_OK) {
        char *end = strstr(script, ";\n");
        char name[16];

        if (end != NULL) {
            *end = '\0';
            end += 2;
        }
        (void)snprintf(name, sizeof(name), "%d", (*count)++);
        status = PQsendPrepare(pq, name, script, 0, NULL) == 0 ? lost(err, PQerrorMessage(pq))
                                                               : take_results(pq, err);
        script = end;
    }
    return status;
}

int
pw_script_measure(const struct pw_conn_spec *spec, const char *script, int64_t deadline_us,
    int (*measure)(int64_t elapsed_us, void *userdata), void *userdata, struct pw_error *err)
{
    char *copy = pw_strdup(script);
    PGconn *pq = NULL;
    int count = 0;
    int status = PAWL_ENOMEM;
    bool again = true;

    if (copy == NULL)
        pw_error_oom(err);
    else
        status = open_connection(spec, deadline_us, &pq, err);
    if (status == PAWL_OK)
        status = prepare_all(pq, copy, &count, err);
    while (status == PAWL_OK && again) {
        int64_t began_us = pw_now_us();

        for (int i = 0; i < count && status == PAWL_OK; i++) {
            char name[16];

            (void)snprintf(name, sizeof(name), "%d", i);
            status = conclude(PQsendQueryPrepared(pq, name, 0, NULL, NULL, NULL, 0) == 0
                    ? lost(err, PQerrorMessage(pq))
                    : take_results(pq, err),
                err);
        }
        again = status == PAWL_OK && measure(pw_now_us() - began_us, userdata) != 0;
    }
    PQfinish(pq);
    pw_free(copy);
    return status;
}
