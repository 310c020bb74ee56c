/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libpq, loaded when it is first called. A program that is linked with this file has libpq's functions without libpq, which brings
 * two dozen libraries: to load them takes longer than all the rest of what a script calls at each of its steps, and that talks to
 * the worker, not to a database. Only the pawl command is linked so; the library is linked with libpq as usual.
 *
 * A function that src/pg calls and that is missing here is taken from libpq itself, so that it is loaded at every start again; a
 * test says so.
 */
#include <dlfcn.h>
#include <libpq-fe.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char library[] = "libpq.so.5";

/* Type, name, parameters, arguments. These may be called when nothing has been loaded, for what they are given may be NULL. */
#define FIRST(X)                                                                            \
    X(void, PQclear, (PGresult * result), (result))                                         \
    X(PQconninfoOption *, PQconndefaults, (void), ())                                       \
    X(PGconn *, PQconnectStartParams,                                                       \
        (const char *const *names, const char *const *values, int expand),                  \
        (names, values, expand))                                                            \
    X(void, PQconninfoFree, (PQconninfoOption * options), (options))                        \
    X(PQconninfoOption *, PQconninfoParse, (const char *text, char **error), (text, error)) \
    X(void, PQfinish, (PGconn * conn), (conn))                                              \
    X(void, PQfreemem, (void *memory), (memory))                                            \
    X(int, PQnfields, (const PGresult *result), (result))                                   \
    X(int, PQntuples, (const PGresult *result), (result))

/* These are given a connection, or a result that is not NULL: who has one has loaded libpq. */
#define LATER(X)                                                                                   \
    X(int, PQbackendPID, (const PGconn *conn), (conn))                                             \
    X(PostgresPollingStatusType, PQconnectPoll, (PGconn * conn), (conn))                           \
    X(int, PQconnectionNeedsPassword, (const PGconn *conn), (conn))                                \
    X(PQconninfoOption *, PQconninfo, (PGconn * conn), (conn))                                     \
    X(int, PQconsumeInput, (PGconn * conn), (conn))                                                \
    X(int, PQenterPipelineMode, (PGconn * conn), (conn))                                           \
    X(char *, PQerrorMessage, (const PGconn *conn), (conn))                                        \
    X(int, PQfformat, (const PGresult *result, int column), (result, column))                      \
    X(int, PQflush, (PGconn * conn), (conn))                                                       \
    X(char *, PQfname, (const PGresult *result, int column), (result, column))                     \
    X(Oid, PQftype, (const PGresult *result, int column), (result, column))                        \
    X(PGresult *, PQgetResult, (PGconn * conn), (conn))                                            \
    X(int, PQgetisnull, (const PGresult *result, int row, int column), (result, row, column))      \
    X(int, PQgetlength, (const PGresult *result, int row, int column), (result, row, column))      \
    X(char *, PQgetvalue, (const PGresult *result, int row, int column), (result, row, column))    \
    X(int, PQisBusy, (PGconn * conn), (conn))                                                      \
    X(PGnotify *, PQnotifies, (PGconn * conn), (conn))                                             \
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

#define FUNCTIONS(X) FIRST(X) LATER(X)

#define MEMBER(type, name, parameters, arguments) type(*name) parameters;
static struct libpq {
    FUNCTIONS(MEMBER)
} libpq;

/* Their names, one behind the other, each with its NUL. */
#define NAME(type, name, parameters, arguments) #name "\0"
static const char all_names[] = FUNCTIONS(NAME);

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

/* As the loader does it: who cannot have a library that he needs ends. */
static void
load(void)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    char *at = (char *)&libpq;

    if (handle == NULL) {
        (void)fprintf(stderr,
            "pawl: PostgreSQL's client library is not here (%s); Debian: apt install libpq5\n",
            dlerror());
        _Exit(EXIT_FAILURE);
    }
    /* The members are pointers, in the order of the names. */
    for (const char *name = all_names; *name != '\0'; name += strlen(name) + 1) {
        void *found = find(handle, name);

        memcpy(at, &found, sizeof(found));
        at += sizeof(found);
    }
}

/* There is one library in a process, however often it is asked for. */
static void
need_libpq(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static atomic_bool loaded;

    if (!atomic_load_explicit(&loaded, memory_order_acquire)) {
        (void)pthread_mutex_lock(&lock); /* no error is possible */
        if (!atomic_load_explicit(&loaded, memory_order_relaxed))
            load();
        atomic_store_explicit(&loaded, true, memory_order_release);
        (void)pthread_mutex_unlock(&lock);
    }
}

#define FIRST_FUNCTION(type, name, parameters, arguments) \
    type name parameters                                  \
    {                                                     \
        need_libpq();                                     \
        return libpq.name arguments;                      \
    }
FIRST(FIRST_FUNCTION)

#define LATER_FUNCTION(type, name, parameters, arguments) \
    type name parameters                                  \
    {                                                     \
        return libpq.name arguments;                      \
    }
LATER(LATER_FUNCTION)
