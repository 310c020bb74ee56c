/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions that are idle and stay so: each listens and keeps its mark as a worker of libpawl does after an empty claim, renews it as often
 * as a worker polls, and takes notifications without a claim. So producers meet the same marks however many runs they have triggered.
 */
#include "crowd.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    IDLERS_MAX = 1000,
    RENEW_MS = 2000,
};

struct idler {
    PGconn *conn;
    char session[24];
    bool listens;
    double renew_at_s;
};

struct crowd_idlers {
    struct idler list[IDLERS_MAX];
    int count;
    long notified;
    atomic_bool ends;
    pthread_t thread;
};

static void
set_listening(struct idler *idler, bool listens)
{
    struct bench_text sql;

    if (listens == idler->listens)
        return;
    bench_text_init(&sql, 100);
    bench_text_addf(&sql, "%s pawl_%s", listens ? "listen" : "unlisten", idler->session);
    bench_do(idler->conn, sql.data);
    bench_text_done(&sql);
    idler->listens = listens;
}

/* Marks the session as a worker does that has found nothing. */
static void
mark(struct idler *idler)
{
    const char *params[] = {idler->session};
    const char *value;
    PGresult *res;

    res = bench_exec_params(idler->conn, "select * from pawl.rest($1)", 1, params);
    value = PQntuples(res) > 0 ? PQgetvalue(res, 0, 0) : "f";
    set_listening(idler, strcmp(value, "t") == 0);
    PQclear(res);
}

static void
begin(struct idler *idler, const char *handles)
{
    const char *params[] = {handles};
    PGresult *res;

    idler->conn = bench_connect();
    res = bench_exec_params(idler->conn,
        "select session from pawl.register('idle', $1::text[], lease => '1 hour')", 1, params);
    (void)snprintf(idler->session, sizeof(idler->session), "%s", PQgetvalue(res, 0, 0));
    PQclear(res);
    mark(idler);
    idler->renew_at_s = bench_now_s() + (double)RENEW_MS / 1000;
}

static void
take_notifications(struct crowd_idlers *idlers, PGconn *conn)
{
    PGnotify *notify;

    if (PQconsumeInput(conn) != 1)
        bench_die("%s", PQerrorMessage(conn));
    while ((notify = PQnotifies(conn)) != NULL) {
        idlers->notified++;
        PQfreemem(notify);
    }
}

static void *
serve(void *arg)
{
    struct crowd_idlers *idlers = arg;
    struct pollfd *fds = calloc((size_t)idlers->count, sizeof(*fds));

    if (fds == NULL)
        bench_die("out of memory");
    for (int i = 0; i < idlers->count; i++)
        fds[i] = (struct pollfd){.fd = PQsocket(idlers->list[i].conn), .events = POLLIN};
    while (!atomic_load(&idlers->ends)) {
        double now = bench_now_s();

        if (poll(fds, (nfds_t)idlers->count, 20) < 0 && errno != EINTR)
            bench_die("poll: error %d", errno);
        for (int i = 0; i < idlers->count; i++) {
            struct idler *idler = &idlers->list[i];

            if (fds[i].revents != 0)
                take_notifications(idlers, idler->conn);
            if (now < idler->renew_at_s)
                continue;
            mark(idler);
            idler->renew_at_s = now + (double)RENEW_MS / 1000;
        }
    }
    free(fds);
    return NULL;
}

struct crowd_idlers *
crowd_idlers_start(int count, const char *handles)
{
    struct crowd_idlers *idlers = calloc(1, sizeof(*idlers));

    if (idlers == NULL || count > IDLERS_MAX)
        bench_die("too many idle sessions");
    idlers->count = count;
    for (int i = 0; i < count; i++)
        begin(&idlers->list[i], handles);
    if (count > 0 && pthread_create(&idlers->thread, NULL, serve, idlers) != 0)
        bench_die("cannot start a thread");
    return idlers;
}

long
crowd_idlers_stop(struct crowd_idlers *idlers)
{
    long notified;

    atomic_store(&idlers->ends, true);
    if (idlers->count > 0 && pthread_join(idlers->thread, NULL) != 0)
        bench_die("cannot join a thread");
    for (int i = 0; i < idlers->count; i++) {
        const char *params[] = {idlers->list[i].session};

        PQclear(bench_exec_params(idlers->list[i].conn, "select pawl.leave($1)", 1, params));
        PQfinish(idlers->list[i].conn);
    }
    notified = idlers->notified;
    free(idlers);
    return notified;
}
