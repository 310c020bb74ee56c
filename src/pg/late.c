/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libpq, loaded when it is first called. A program that is linked with this file has libpq's functions without libpq, which brings two
 * dozen libraries. Loading them takes longer than everything else that a command of a script does at each step. That command talks to the
 * worker, not to a database. Only the pawl command is linked so; the library is linked with libpq as usual.
 *
 * A function that src/pg calls and that is missing here is taken from libpq itself. Then libpq is loaded at every start again; a test
 * reports that.
 */
#include <dlfcn.h>
#include <libpq-fe.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static const char library[] = "libpq.so.5";

/* Type, name, parameters, arguments. */
#define FUNCTIONS(X)                                                                               \
    X(int, PQbackendPID, (const PGconn *conn), (conn))                                             \
    X(void, PQclear, (PGresult * result), (result))                                                \
    X(PQconninfoOption *, PQconndefaults, (void), ())                                              \
    X(PostgresPollingStatusType, PQconnectPoll, (PGconn * conn), (conn))                           \
    X(PGconn *, PQconnectStartParams,                                                              \
        (const char *const *names, const char *const *values, int expand),                         \
        (names, values, expand))                                                                   \
    X(int, PQconnectionNeedsPassword, (const PGconn *conn), (conn))                                \
    X(PQconninfoOption *, PQconninfo, (PGconn * conn), (conn))                                     \
    X(void, PQconninfoFree, (PQconninfoOption * options), (options))                               \
    X(PQconninfoOption *, PQconninfoParse, (const char *text, char **error), (text, error))        \
    X(int, PQconsumeInput, (PGconn * conn), (conn))                                                \
    X(int, PQenterPipelineMode, (PGconn * conn), (conn))                                           \
    X(char *, PQerrorMessage, (const PGconn *conn), (conn))                                        \
    X(int, PQfformat, (const PGresult *result, int column), (result, column))                      \
    X(void, PQfinish, (PGconn * conn), (conn))                                                     \
    X(int, PQflush, (PGconn * conn), (conn))                                                       \
    X(char *, PQfname, (const PGresult *result, int column), (result, column))                     \
    X(void, PQfreemem, (void *memory), (memory))                                                   \
    X(Oid, PQftype, (const PGresult *result, int column), (result, column))                        \
    X(PGresult *, PQgetResult, (PGconn * conn), (conn))                                            \
    X(int, PQgetisnull, (const PGresult *result, int row, int column), (result, row, column))      \
    X(int, PQgetlength, (const PGresult *result, int row, int column), (result, row, column))      \
    X(char *, PQgetvalue, (const PGresult *result, int row, int column), (result, row, column))    \
    X(int, PQgssEncInUse, (PGconn * conn), (conn))                                                 \
    X(char *, PQhost, (const PGconn *conn), (conn))                                                \
    X(char *, PQhostaddr, (const PGconn *conn), (conn))                                            \
    X(int, PQisBusy, (PGconn * conn), (conn))                                                      \
    X(int, PQnfields, (const PGresult *result), (result))                                          \
    X(PGnotify *, PQnotifies, (PGconn * conn), (conn))                                             \
    X(int, PQntuples, (const PGresult *result), (result))                                          \
    X(const char *, PQparameterStatus, (const PGconn *conn, const char *name), (conn, name))       \
    X(int, PQpipelineSync, (PGconn * conn), (conn))                                                \
    X(char *, PQresultErrorField, (const PGresult *result, int field), (result, field))            \
    X(char *, PQresultErrorMessage, (const PGresult *result), (result))                            \
    X(ExecStatusType, PQresultStatus, (const PGresult *result), (result))                          \
    X(int, PQsendPrepare,                                                                          \
        (PGconn * conn, const char *name, const char *query, int count, const Oid *types),         \
        (conn, name, query, count, types))                                                         \
    X(int, PQsendQuery, (PGconn * conn, const char *query), (conn, query))                         \
    X(int, PQsendQueryParams,                                                                      \
        (PGconn * conn, const char *query, int count, const Oid *types, const char *const *values, \
            const int *lengths, const int *formats, int format),                                   \
        (conn, query, count, types, values, lengths, formats, format))                             \
    X(int, PQsendQueryPrepared,                                                                    \
        (PGconn * conn, const char *name, int count, const char *const *values,                    \
            const int *lengths, const int *formats, int format),                                   \
        (conn, name, count, values, lengths, formats, format))                                     \
    X(PQnoticeReceiver, PQsetNoticeReceiver,                                                       \
        (PGconn * conn, PQnoticeReceiver receiver, void *userdata), (conn, receiver, userdata))    \
    X(int, PQsetnonblocking, (PGconn * conn, int on), (conn, on))                                  \
    X(int, PQsocket, (const PGconn *conn), (conn))                                                 \
    X(int, PQsslInUse, (PGconn * conn), (conn))                                                    \
    X(ConnStatusType, PQstatus, (const PGconn *conn), (conn))

#define MEMBER(type, name, parameters, arguments) type(*name) parameters;
struct libpq {
    FUNCTIONS(MEMBER)
};

static void *
find(void *handle, const char *name)
{
    void *found = dlsym(handle, name);

    if (found != NULL)
        return found;
    (void)fprintf(stderr, "pawl: %s is too old, it has no %s; use that of PostgreSQL 15 or later\n",
        library, name);
    _Exit(EXIT_FAILURE);
}

/* Ends the process if it cannot have the library, as the dynamic loader does. */
static void
load(struct libpq *libpq)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);

    if (handle == NULL) {
        (void)fprintf(stderr,
            "pawl: PostgreSQL's client library is not here (%s); Debian: apt install libpq5\n",
            dlerror());
        _Exit(EXIT_FAILURE);
    }
#define FIND(type, name, parameters, arguments) *(void **)&libpq->name = find(handle, #name);
    FUNCTIONS(FIND)
}

/* Returns the functions of libpq, which is loaded once in a process. */
static const struct libpq *
get_libpq(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static atomic_bool loaded;
    static struct libpq libpq;

    if (!atomic_load_explicit(&loaded, memory_order_acquire)) {
        (void)pthread_mutex_lock(&lock); /* no error is possible */
        if (!atomic_load_explicit(&loaded, memory_order_relaxed))
            load(&libpq);
        atomic_store_explicit(&loaded, true, memory_order_release);
        (void)pthread_mutex_unlock(&lock);
    }
    return &libpq;
}

#define FUNCTION(type, name, parameters, arguments) \
    type name parameters                            \
    {                                               \
        return get_libpq()->name arguments;         \
    }
FUNCTIONS(FUNCTION)
