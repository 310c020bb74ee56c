/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A libpq that answers by a script: the functions that a connection uses, defined in the test's own program, so that they are found before
 * the library's. For one test to include, once. Results are libpq's own; the fields of errors are found by their address.
 */
#ifndef PAWL_FAKE_PQ_H
#define PAWL_FAKE_PQ_H

#include "pg/conn.h"

#include <libpq-fe.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* One thing that PQgetResult() returns: a result, with the fields of an error, or NULL. */
struct answer {
    ExecStatusType status;
    bool nothing;
    const char *sqlstate;
    const char *severity;
    const char *source;
    int32_t value;  /* of the one row of PGRES_TUPLES_OK */
    bool unusual;   /* a second column, which is true */
    bool read_only; /* a third column, which is true */
    bool notice;    /* goes to the notice receiver and not to the reader */
};

enum {
    ANSWERS_MAX = 64
};

/* What the fake libpq does. */
static struct {
    int sockets[2];
    int poll_result;
    ConnStatusType status;
    PQnoticeReceiver receiver;
    void *receiver_arg;
    struct answer answers[ANSWERS_MAX];
    int answer_count;
    int answer_at;
    const PGresult *shown[ANSWERS_MAX]; /* which result is which answer */
    int shown_at[ANSWERS_MAX];
    int shown_count;
    bool endless_nothing;
    int flush_result;
    int consume_result;
    int fail_send_at; /* the n-th of the sending calls fails; 0: none */
    int sends;
    int prepares, named, unnamed, syncs, consumes, finishes;
    bool tls;
    bool gss;
    const char *host, *address, *sslmode, *binding;
    bool needs_password;
    bool no_pipeline, no_nonblocking, no_object;
    const char *message;
    struct pw_conn
        *fork_inside; /* the next PQflush() forks, and the child closes this connection */
    int child_status;
} fake;

PGconn *
PQconnectStartParams(const char *const *keywords, const char *const *values, int expand)
{
    (void)keywords;
    (void)values;
    (void)expand;
    return fake.no_object ? NULL : (PGconn *)&fake;
}

PostgresPollingStatusType
PQconnectPoll(PGconn *conn)
{
    (void)conn;
    return (PostgresPollingStatusType)fake.poll_result;
}

int
PQsocket(const PGconn *conn)
{
    (void)conn;
    return fake.sockets[0];
}

ConnStatusType
PQstatus(const PGconn *conn)
{
    (void)conn;
    return fake.status;
}

char *
PQerrorMessage(const PGconn *conn)
{
    (void)conn;
    return (char *)(uintptr_t)fake.message;
}

PQnoticeReceiver
PQsetNoticeReceiver(PGconn *conn, PQnoticeReceiver receiver, void *arg)
{
    (void)conn;
    fake.receiver = receiver;
    fake.receiver_arg = arg;
    return NULL;
}

int
PQsetnonblocking(PGconn *conn, int arg)
{
    (void)conn;
    (void)arg;
    return fake.no_nonblocking ? -1 : 0;
}

int
PQenterPipelineMode(PGconn *conn)
{
    (void)conn;
    return fake.no_pipeline ? 0 : 1;
}

int
PQconnectionNeedsPassword(const PGconn *conn)
{
    (void)conn;
    return fake.needs_password;
}

int
PQsslInUse(PGconn *conn)
{
    (void)conn;
    return fake.tls;
}

int
PQgssEncInUse(PGconn *conn)
{
    (void)conn;
    return fake.gss;
}

char *
PQhost(const PGconn *conn)
{
    (void)conn;
    return (char *)(uintptr_t)fake.host;
}

char *
PQhostaddr(const PGconn *conn)
{
    (void)conn;
    return (char *)(uintptr_t)fake.address;
}

PQconninfoOption *
PQconninfo(PGconn *conn)
{
    PQconninfoOption *options = PQconninfoParse("sslmode=prefer channel_binding=prefer", NULL);

    (void)conn;
    for (PQconninfoOption *option = options; option->keyword != NULL; option++) {
        const char *value = strcmp(option->keyword, "sslmode") == 0 ? fake.sslmode
            : strcmp(option->keyword, "channel_binding") == 0       ? fake.binding
                                                                    : NULL;

        if (value == NULL)
            continue;
        free(option->val);
        option->val = strdup(value);
        assert_non_null(option->val);
    }
    return options;
}

int
PQbackendPID(const PGconn *conn)
{
    (void)conn;
    return 4711;
}

static int
sent(int *counter)
{
    (*counter)++;
    return ++fake.sends != fake.fail_send_at;
}

int
PQsendQueryParams(PGconn *conn, const char *command, int count, const Oid *types,
    const char *const *values, const int *lengths, const int *formats, int result)
{
    (void)conn;
    (void)command;
    (void)count;
    (void)types;
    (void)values;
    (void)lengths;
    (void)formats;
    (void)result;
    return sent(&fake.unnamed);
}

int
PQsendPrepare(PGconn *conn, const char *name, const char *query, int count, const Oid *types)
{
    (void)conn;
    (void)name;
    (void)query;
    (void)count;
    (void)types;
    return sent(&fake.prepares);
}

int
PQsendQueryPrepared(PGconn *conn, const char *name, int count, const char *const *values,
    const int *lengths, const int *formats, int result)
{
    (void)conn;
    (void)name;
    (void)count;
    (void)values;
    (void)lengths;
    (void)formats;
    (void)result;
    return sent(&fake.named);
}

int
PQpipelineSync(PGconn *conn)
{
    (void)conn;
    return sent(&fake.syncs);
}

int
PQflush(PGconn *conn)
{
    (void)conn;
    if (fake.fork_inside != NULL) {
        pid_t child = fork();

        if (child == 0) {
            pw_conn_close(fake.fork_inside);
            _exit(fake.finishes == 0 && send(fake.sockets[0], "X", 1, MSG_NOSIGNAL) < 0 ? 0 : 1);
        }
        fake.fork_inside = NULL;
        assert_int_equal(waitpid(child, &fake.child_status, 0), child);
    }
    return fake.flush_result;
}

int
PQconsumeInput(PGconn *conn)
{
    (void)conn;
    fake.consumes++;
    return fake.consume_result;
}

/* A result that stands for an answer; its fields are found by its address. */
static PGresult *
make_result(int at)
{
    const struct answer *answer = &fake.answers[at];
    PGresult *result = PQmakeEmptyPGresult(NULL, answer->status);

    if (answer->status == PGRES_TUPLES_OK) {
        char name[] = "n";
        char bytes[4] = {(char)(answer->value >> 24), (char)(answer->value >> 16),
            (char)(answer->value >> 8), (char)answer->value};
        char yes = 1;
        PGresAttDesc columns[] = {{.name = name, .typid = PW_TYPE_INT4, .format = 1},
            {.name = name, .typid = PW_TYPE_BOOL, .format = 1},
            {.name = name, .typid = PW_TYPE_BOOL, .format = 1}};

        assert_int_equal(PQsetResultAttrs(result, 3, columns), 1);
        assert_int_equal(PQsetvalue(result, 0, 0, bytes, 4), 1);
        if (answer->unusual)
            assert_int_equal(PQsetvalue(result, 0, 1, &yes, 1), 1);
        if (answer->read_only)
            assert_int_equal(PQsetvalue(result, 0, 2, &yes, 1), 1);
    }
    fake.shown[fake.shown_count] = result;
    fake.shown_at[fake.shown_count++] = at;
    return result;
}

/* Notices go to their receiver as soon as their turn comes. */
static void
tell_notices(void)
{
    while (fake.answer_at < fake.answer_count && fake.answers[fake.answer_at].notice) {
        PGresult *notice = make_result(fake.answer_at++);

        fake.receiver(fake.receiver_arg, notice);
        PQclear(notice);
    }
}

int
PQisBusy(PGconn *conn)
{
    (void)conn;
    tell_notices();
    return fake.answer_at == fake.answer_count && !fake.endless_nothing;
}

PGresult *
PQgetResult(PGconn *conn)
{
    (void)conn;
    if (fake.endless_nothing)
        return NULL;
    if (fake.answers[fake.answer_at].nothing) {
        fake.answer_at++;
        return NULL;
    }
    return make_result(fake.answer_at++);
}

char *
PQresultErrorField(const PGresult *result, int field)
{
    const struct answer *answer = NULL;
    const char *text = NULL;

    /* The latest of that address: results are freed. */
    for (int i = 0; i < fake.shown_count; i++)
        if (fake.shown[i] == result)
            answer = &fake.answers[fake.shown_at[i]];
    assert_non_null(answer);
    if (field == PG_DIAG_SQLSTATE)
        text = answer->sqlstate;
    else if (field == PG_DIAG_SEVERITY_NONLOCALIZED)
        text = answer->severity;
    else if (field == PG_DIAG_SOURCE_FUNCTION)
        text = answer->source;
    return (char *)(uintptr_t)text;
}

PGnotify *
PQnotifies(PGconn *conn)
{
    (void)conn;
    return NULL;
}

void
PQfinish(PGconn *conn)
{
    (void)conn;
    fake.finishes++;
}

#endif
