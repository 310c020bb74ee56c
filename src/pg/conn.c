/* SPDX-License-Identifier: Apache-2.0 */
/* A connection in pipeline mode. Each request is followed by a sync, so it is a transaction of its own and fails alone. */
#include "pg/conn.h"

#include "base/alloc.h"
#include "base/list.h"
#include "base/time.h"
#include "base/utf8.h"
#include "pawl/error.h"
#include "pg/fault.h"
#include "pg/target.h"

#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libpq-fe.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    /* libpq never returns so many empty results in a row; it would mean that results and requests no longer match. */
    EMPTY_MAX = 16,
    /* One read may leave the end of a TLS record inside the TLS library, where poll(2) does not see it. */
    TLS_READS = 3,
    /* A wait reads again after this time, whatever poll(2) reports, because of such a record. */
    LOOK_AGAIN_US = 1000000,
};

/* The results that arrive ahead of those of a request's own statement, in this order. */
enum {
    AHEAD_SETTINGS = 1,      /* of settings_sql */
    AHEAD_PREPARE_FIRST = 2, /* of preparing the first statement */
    AHEAD_FIRST = 4,         /* of that statement */
    AHEAD_PREPARE = 8        /* of preparing the request's own statement */
};

/* A request that was sent. */
struct request {
    struct pw_list link;
    struct pw_reply reply;
    int number;       /* of the statement; -1 for one that is never prepared */
    int first_number; /* of the first statement, if there is one */
    unsigned ahead;   /* AHEAD_*: results that have not arrived yet */
    bool named;       /* prepared statements are used */
    bool check;       /* our own: whether there is a pooler */
};

struct pw_conn {
    PGconn *pq;
    pid_t pid;
    /* True while a call of libpq may be in progress. Read in a child process only, to know whether pq is whole there. */
    atomic_bool inside;
    enum pw_conn_state state;
    bool checking; /* connected; the check for a pooler is in progress */
    bool pooled;
    bool unnamed;   /* nothing is prepared */
    bool unusual;   /* the session's settings are not those that we count on; see settings_sql */
    bool read_only; /* transactions do not write by default, although the server could */
    bool raise_unacked; /* see target.h */
    short events;
    int in_flight;
    struct pw_error error;  /* why it is broken, or the last message of the server */
    struct pw_list pending; /* requests without a whole reply; the first is being read */
    struct pw_list replied;
    bool prepared[PW_STMTS_MAX];
};

/*
 * Asks whether there is a pooler, whether the session answers in another form than the one that we count on, and whether it can write.
 * Verbs of workers need isolation level read committed, which a role or a database may not have as its default. So the check pins it for
 * the session. It does not behind a pooler, which gives the session to other programs. There the engine refuses the verb, and its error
 * says what to do.
 */
static const struct pw_stmt check_stmt = {
    .number = -1,
    .name = "",
    .sql = "select pg_backend_pid(), current_setting('client_min_messages') = 'error' or "
           "current_setting('DateStyle') not like 'ISO%' or "
           "current_setting('IntervalStyle') <> 'postgres', "
           "current_setting('default_transaction_read_only') = 'on' and not pg_is_in_recovery(), "
           /* guard:isolation_pinned */
           "case when pg_backend_pid() = $1 "
           "and current_setting('default_transaction_isolation') <> 'read committed' "
           "then set_config('default_transaction_isolation', 'read committed', false) end",
    .types = {PW_TYPE_INT4},
};

/*
 * Without warnings, a commit that no standby has would go unnoticed, and times are promised in one form. A role, a database or a variable
 * of libpq may have set either otherwise. Then each request begins with this statement. It is for the request's own transaction only,
 * because behind a pooler other programs use the session, too. The order of day and month in the texts of callers stays theirs.
 */
static const char settings_sql[] =
    "select set_config('client_min_messages', 'warning', true), "
    "set_config('DateStyle', 'ISO', true), set_config('IntervalStyle', 'postgres', true)";

static void
enter(struct pw_conn *conn)
{
    /* The fence orders the flag before all writes of libpq. */
    atomic_store(&conn->inside, true);
    atomic_thread_fence(memory_order_seq_cst);
}

static void
leave(struct pw_conn *conn)
{
    atomic_store(&conn->inside, false);
}

static void
free_request(struct request *request)
{
    if (request == NULL)
        return;
    pw_reply_done(&request->reply);
    pw_free(request);
}

static void
free_requests(struct pw_list *list)
{
    struct pw_list *link;

    while ((link = pw_list_first(list)) != NULL) {
        pw_list_remove(link);
        free_request(PW_CONTAINER(link, struct request, link));
    }
}

static struct request *
first_pending(const struct pw_conn *conn)
{
    struct pw_list *link = pw_list_first(&conn->pending);

    return link != NULL ? PW_CONTAINER(link, struct request, link) : NULL;
}

/* True if the server ends the connection with this message. A server that is stopped at once reports that in a mere warning. */
static bool
is_fatal(const PGresult *result)
{
    const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);

    /* guard:goodbye_in_warning */
    return (severity != NULL &&
               (strcmp(severity, "FATAL") == 0 || strcmp(severity, "PANIC") == 0)) ||
        (sqlstate != NULL && (strcmp(sqlstate, "57P01") == 0 || strcmp(sqlstate, "57P02") == 0));
}

/* Stores the last message of the server. Whatever its code, the connection is lost. */
static void
keep_fatal(struct pw_conn *conn, const PGresult *result)
{
    pw_fault_server(&conn->error, result);
    if (conn->error.code != PAWL_ECONN) {
        conn->error.code = PAWL_ECONN;
        conn->error.retryable = true;
    }
}

/* Stores libpq's reason if there was no last message of the server. */
static void
break_conn(struct pw_conn *conn)
{
    if (conn->state == PW_CONN_BROKEN)
        return;
    conn->state = PW_CONN_BROKEN;
    if (conn->error.code == PAWL_OK)
        pw_fault_lost(&conn->error, PQerrorMessage(conn->pq));
}

/*
 * Notices are not shown to users. Two kinds are used. One is the warning of a commit that returns although no standby has confirmed it,
 * recognized by the function that raises it. The other is the last message of a server that stops while no request is pending.
 */
static void
receive_notice(void *arg, const PGresult *notice)
{
    struct pw_conn *conn = arg;
    const char *source = PQresultErrorField(notice, PG_DIAG_SOURCE_FUNCTION);
    const char *severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
    struct request *request = first_pending(conn);

    /* guard:notice_unreplicated */
    if (request != NULL && source != NULL && severity != NULL && strcmp(severity, "WARNING") == 0 &&
        strcmp(source, "SyncRepWaitForLSN") == 0)
        request->reply.unreplicated = true;
    if (is_fatal(notice))
        keep_fatal(conn, notice);
}

/*
 * Handles an error about a prepared statement: it is missing, it exists although we have not prepared it, or its plan is out of date. The
 * cause is a pooler, or an upgrade.
 */
static void
stop_preparing(struct pw_conn *conn, struct request *request)
{
    const char *sqlstate = request->reply.error.sqlstate;
    bool missing = strcmp(sqlstate, "26000") == 0;
    int number = (request->ahead & AHEAD_FIRST) != 0 ? request->first_number : request->number;

    if (!request->named ||
        (!missing && strcmp(sqlstate, "42P05") != 0 && strcmp(sqlstate, "0A000") != 0))
        return;
    request->reply.error.retryable = true;
    /* This request was sent after another one, which failed to prepare the statement: nothing is wrong with preparing as such. */
    if (missing && !conn->prepared[number])
        return;
    conn->unnamed = true;
}

static void
take_error(struct pw_conn *conn, struct request *request, const PGresult *result)
{
    if (PQresultErrorField(result, PG_DIAG_SQLSTATE) == NULL) {
        /* An error of libpq itself: the connection is lost, or there was no memory for the result. The outcome is unknown. */
        if (conn->error.code == PAWL_OK)
            pw_fault_lost(&conn->error, PQresultErrorMessage(result));
        break_conn(conn);
        return;
    }
    if (is_fatal(result)) {
        keep_fatal(conn, result);
        break_conn(conn);
        return;
    }
    /* The first error is the cause; an error of the commit comes after rows. */
    if (request->reply.status != PAWL_OK)
        return;
    pw_fault_server(&request->reply.error, result);
    request->reply.status = request->reply.error.code;
    /* guard:read_only_told */
    if (conn->read_only && strcmp(request->reply.error.sqlstate, "25006") == 0)
        pw_fault_read_only(&request->reply.error);
    if ((request->ahead & AHEAD_PREPARE_FIRST) != 0)
        conn->prepared[request->first_number] = false;
    if ((request->ahead & AHEAD_PREPARE) != 0)
        conn->prepared[request->number] = false;
    stop_preparing(conn, request);
}

/*
 * Refuses a database that is not in UTF8. Every run must be able to read what another run stores, and one character that the database lacks
 * would fail a whole batch.
 */
static bool
check_encoding(struct pw_conn *conn)
{
    const char *encoding = PQparameterStatus(conn->pq, "server_encoding");

    /* guard:encoding */
    if (encoding == NULL || strcmp(encoding, "UTF8") == 0)
        return true;
    pw_error_set(&conn->error, PAWL_ESCHEMA, "the database is in encoding %.40s", encoding);
    pw_error_hint(&conn->error,
        "Use a database in UTF8: create database NAME encoding 'UTF8' template template0.");
    return false;
}

/* Reads the reply to the check. If the server's process is not the one that libpq was connected to, there is a pooler in between. */
static void
finish_check(struct pw_conn *conn, struct request *request)
{
    int32_t pid;

    if (request->reply.status != PAWL_OK || !pw_rows_int4(&request->reply.rows, 0, 0, &pid)) {
        conn->error = request->reply.error;
        if (conn->error.code == PAWL_OK)
            pw_fault_lost(&conn->error, "the server gave no sensible answer to the first question");
        conn->error.code = PAWL_ECONN;
        break_conn(conn);
    } else if (!check_encoding(conn)) {
        break_conn(conn);
    } else {
        conn->pooled = pid != PQbackendPID(conn->pq);
        conn->unnamed = conn->unnamed || conn->pooled;
        (void)pw_rows_bool(&request->reply.rows, 0, 1, &conn->unusual); /* null: they are usual */
        (void)pw_rows_bool(&request->reply.rows, 0, 2, &conn->read_only);
        conn->checking = false;
        conn->state = PW_CONN_READY;
    }
    free_request(request);
}

static void
finish_request(struct pw_conn *conn, struct request *request)
{
    pw_list_remove(&request->link);
    if (request->reply.status != PAWL_OK)
        pw_rows_done(&request->reply.rows);
    if (request->check) {
        finish_check(conn, request);
        return;
    }
    conn->in_flight--;
    pw_list_add_tail(&conn->replied, &request->link);
}

/* Takes ownership of the result. */
static void
take_result(struct pw_conn *conn, struct request *request, PGresult *result)
{
    switch ((int)PQresultStatus(result)) {
    case PGRES_PIPELINE_SYNC:
        finish_request(conn, request);
        break;
    case PGRES_COMMAND_OK:
    case PGRES_TUPLES_OK:
        if (request->ahead != 0) {
            request->ahead &= request->ahead - 1;
            break;
        }
        pw_rows_done(&request->reply.rows);
        request->reply.rows.result = result;
        return;
    case PGRES_PIPELINE_ABORTED:
        break;
    case PGRES_FATAL_ERROR:
        take_error(conn, request, result);
        break;
    default:
        pw_fault_lost(&conn->error, "the server sent an answer that does not belong to a request");
        break_conn(conn);
        break;
    }
    PQclear(result);
}

static void
read_results(struct pw_conn *conn)
{
    struct request *request;
    int empty = 0;

    while (conn->state != PW_CONN_BROKEN && (request = first_pending(conn)) != NULL &&
        PQisBusy(conn->pq) == 0) {
        PGresult *result = PQgetResult(conn->pq);

        if (result != NULL) {
            empty = 0;
            take_result(conn, request, result);
        } else if (++empty > EMPTY_MAX) {
            pw_fault_lost(&conn->error, "the server's answers do not match the requests");
            break_conn(conn);
        }
    }
    /* While no request is pending, this makes libpq read notices and notifications. */
    if (conn->state != PW_CONN_BROKEN && pw_list_empty(&conn->pending))
        (void)PQisBusy(conn->pq);
}

static bool
flush(struct pw_conn *conn)
{
    int left = PQflush(conn->pq);

    /* While something is left to be written, this side also reads: the server may wait for that. */
    conn->events = left > 0 ? POLLIN | POLLOUT : POLLIN;
    return left >= 0;
}

/* Results that arrived before a break are still taken: they are durable, and the break may come from the server's own end. */
static void
exchange(struct pw_conn *conn)
{
    bool whole = flush(conn);
    int reads = PQsslInUse(conn->pq) != 0 ? TLS_READS : 1;

    for (int i = 0; i < reads; i++) {
        bool read = PQconsumeInput(conn->pq) != 0;

        read_results(conn);
        if (!read || PQstatus(conn->pq) != CONNECTION_OK)
            whole = false;
        if (!whole || conn->state == PW_CONN_BROKEN)
            break;
    }
    if (!whole)
        break_conn(conn);
}

static struct request *
new_request(
    struct pw_conn *conn, const struct pw_conn_first *first, const struct pw_stmt *stmt, void *tag)
{
    struct request *request = pw_calloc(1, sizeof(*request));

    if (request == NULL)
        return NULL;
    request->reply.tag = tag;
    request->number = stmt->number;
    request->named = !conn->unnamed && stmt->number >= 0;
    if (request->named && !conn->prepared[stmt->number])
        request->ahead |= AHEAD_PREPARE;
    if (first != NULL) {
        request->first_number = first->stmt->number;
        request->ahead |= AHEAD_FIRST;
        if (request->named && !conn->prepared[first->stmt->number])
            request->ahead |= AHEAD_PREPARE_FIRST;
    }
    /* Up to PostgreSQL 15, a procedure also commits what was sent ahead of it in its transaction. So nothing is sent ahead of it. */
    /* guard:settings */
    if (conn->unusual && stmt->number >= 0 && !pw_stmt_is_call(stmt))
        request->ahead |= AHEAD_SETTINGS;
    return request;
}

/* Sends one statement. libpq's own queue is half written if this fails, so the caller breaks the connection. */
static bool
send_statement(struct pw_conn *conn, bool named, bool prepare, const struct pw_stmt *stmt,
    const struct pw_params *params)
{
    int format = stmt->as_text ? 0 : 1;

    if (!named)
        return PQsendQueryParams(conn->pq, stmt->sql, params->count, stmt->types, params->values,
                   params->sizes, params->formats, format) != 0;
    if (prepare && PQsendPrepare(conn->pq, stmt->name, stmt->sql, params->count, stmt->types) == 0)
        return false;
    return PQsendQueryPrepared(conn->pq, stmt->name, params->count, params->values, params->sizes,
               params->formats, format) != 0;
}

/* Sends all statements of a request. There is no sync between them, so they share one transaction. */
static bool
send_statements(struct pw_conn *conn, const struct request *request,
    const struct pw_conn_first *first, const struct pw_stmt *stmt, const struct pw_params *params)
{
    unsigned ahead = request->ahead;

    if ((ahead & AHEAD_SETTINGS) != 0 &&
        PQsendQueryParams(conn->pq, settings_sql, 0, NULL, NULL, NULL, NULL, 0) == 0)
        return false;
    if (first != NULL &&
        !send_statement(
            conn, request->named, (ahead & AHEAD_PREPARE_FIRST) != 0, first->stmt, first->params))
        return false;
    return send_statement(conn, request->named, (ahead & AHEAD_PREPARE) != 0, stmt, params);
}

/* The request belongs to the connection from here on. */
static bool
send_request(struct pw_conn *conn, struct request *request, const struct pw_conn_first *first,
    const struct pw_stmt *stmt, const struct pw_params *params)
{
    pw_list_add_tail(&conn->pending, &request->link);
    if (!request->check)
        conn->in_flight++;
    if (!send_statements(conn, request, first, stmt, params) || PQpipelineSync(conn->pq) == 0 ||
        !flush(conn)) {
        break_conn(conn);
        return false;
    }
    if ((request->ahead & AHEAD_PREPARE_FIRST) != 0)
        conn->prepared[request->first_number] = true;
    if ((request->ahead & AHEAD_PREPARE) != 0)
        conn->prepared[request->number] = true;
    return true;
}

/* Called once connected. The check for a pooler is sent ahead of all other requests. */
static void
begin_check(struct pw_conn *conn)
{
    struct request *request;
    struct pw_params params;

    pw_target_connected(conn->raise_unacked, PQsocket(conn->pq));
    if (PQsetnonblocking(conn->pq, 1) != 0 || PQenterPipelineMode(conn->pq) == 0) {
        break_conn(conn);
        return;
    }
    request = new_request(conn, NULL, &check_stmt, NULL);
    if (request == NULL) {
        pw_error_oom(&conn->error);
        break_conn(conn);
        return;
    }
    request->check = true;
    conn->checking = true;
    pw_params_init(&params);
    pw_params_int4(&params, PQbackendPID(conn->pq));
    (void)send_request(conn, request, NULL, &check_stmt, &params);
}

/* libpq must not be asked before the descriptor is ready: it would take that for a failure. */
static void
go_on_connecting(struct pw_conn *conn)
{
    struct pollfd ready = {.fd = PQsocket(conn->pq), .events = conn->events};

    if (ready.fd >= 0 && poll(&ready, 1, 0) <= 0)
        return;
    switch (PQconnectPoll(conn->pq)) {
    case PGRES_POLLING_READING:
        conn->events = POLLIN;
        break;
    case PGRES_POLLING_WRITING:
        conn->events = POLLOUT;
        break;
    case PGRES_POLLING_OK:
        begin_check(conn);
        break;
    case PGRES_POLLING_FAILED:
    case PGRES_POLLING_ACTIVE:
    default:
        break_conn(conn);
        if (PQconnectionNeedsPassword(conn->pq) != 0) {
            conn->error.code = PAWL_EFORBIDDEN;
            conn->error.retryable = false;
        }
        break;
    }
}

int
pw_conn_open(const struct pw_conn_spec *spec, struct pw_conn **out, struct pw_error *err)
{
    struct pw_target target;
    struct pw_conn *conn;
    int status = pw_target_init(&target, spec->conninfo, spec->application_name, err);

    if (status != PAWL_OK)
        return status;
    conn = pw_calloc(1, sizeof(*conn));
    if (conn == NULL)
        goto oom;
    conn->pid = getpid();
    conn->unnamed = spec->never_prepare;
    conn->raise_unacked = target.raise_unacked;
    conn->events = POLLOUT;
    atomic_init(&conn->inside, false);
    pw_list_init(&conn->pending);
    pw_list_init(&conn->replied);
    conn->pq = PQconnectStartParams(target.keywords, target.values, 1);
    if (conn->pq == NULL)
        goto oom;
    (void)PQsetNoticeReceiver(conn->pq, receive_notice, conn);
    if (PQstatus(conn->pq) == CONNECTION_BAD)
        break_conn(conn);
    *out = conn;
    return PAWL_OK;
oom:
    pw_free(conn);
    pw_error_oom(err);
    return PAWL_ENOMEM;
}

void
pw_conn_close(struct pw_conn *conn)
{
    if (conn == NULL)
        return;
    /* guard:conn_of_this_process */
    if (conn->pid != getpid()) {
        pw_conn_abandon(conn);
        return;
    }
    PQfinish(conn->pq);
    free_requests(&conn->pending);
    free_requests(&conn->replied);
    pw_free(conn);
}

/*
 * PQfinish() sends a goodbye to the server, in clear or through TLS. The descriptor is the same connection as the parent's, which would
 * lose it. So the child's descriptor is replaced by /dev/null first. That is one atomic step. With a mere close(), another thread of the
 * child might open something under the same number, which PQfinish() would then write to. In two cases libpq's memory is leaked instead.
 * Either no descriptor is left for /dev/null, or the thread that owned the connection was inside libpq at the fork. In the second case its
 * copy may be half changed.
 */
void
pw_conn_abandon(struct pw_conn *conn)
{
    int fd;
    int null_fd;

    if (conn == NULL)
        return;
    fd = PQsocket(conn->pq);
    null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (fd < 0 || (null_fd >= 0 && dup3(null_fd, fd, O_CLOEXEC) == fd)) {
        if (!atomic_load(&conn->inside))
            PQfinish(conn->pq);
        else if (fd >= 0)
            (void)close(fd);
    } else {
        (void)close(fd);
    }
    if (null_fd >= 0)
        (void)close(null_fd);
    free_requests(&conn->pending);
    free_requests(&conn->replied);
    pw_free(conn);
}

int
pw_conn_fd(const struct pw_conn *conn)
{
    return PQsocket(conn->pq);
}

short
pw_conn_events(const struct pw_conn *conn)
{
    return conn->events;
}

void
pw_conn_pump(struct pw_conn *conn)
{
    enter(conn);
    if (conn->state == PW_CONN_CONNECTING && !conn->checking)
        go_on_connecting(conn);
    if (conn->state == PW_CONN_READY || conn->checking)
        exchange(conn);
    leave(conn);
}

enum pw_conn_state
pw_conn_state(const struct pw_conn *conn)
{
    return conn->state;
}

const struct pw_error *
pw_conn_error(const struct pw_conn *conn)
{
    return &conn->error;
}

bool
pw_conn_pooled(const struct pw_conn *conn)
{
    return conn->pooled;
}

bool
pw_conn_unverified(const struct pw_conn *conn)
{
    return conn->state == PW_CONN_READY && pw_target_unverified(conn->pq);
}

bool
pw_conn_can_send(const struct pw_conn *conn)
{
    return conn->state == PW_CONN_READY &&
        conn->in_flight < (conn->pooled ? 1 : PW_CONN_IN_FLIGHT_MAX);
}

int
pw_conn_send(struct pw_conn *conn, const struct pw_stmt *stmt, const struct pw_params *params,
    void *tag, struct pw_error *err)
{
    return pw_conn_send_with(conn, NULL, stmt, params, tag, err);
}

int
pw_conn_send_with(struct pw_conn *conn, const struct pw_conn_first *first,
    const struct pw_stmt *stmt, const struct pw_params *params, void *tag, struct pw_error *err)
{
    struct request *request;
    bool sent;

    assert(stmt->number < PW_STMTS_MAX);
    assert(first == NULL || (stmt->number >= 0 && !pw_stmt_is_call(stmt)));
    if (conn->state != PW_CONN_READY) {
        pw_error_set(err, PAWL_ECONN, "the connection is not ready");
        if (err != NULL && conn->state == PW_CONN_BROKEN)
            *err = conn->error;
        return PAWL_ECONN;
    }
    /* guard:params_bytes_max */
    if (params->bytes > PW_PARAMS_BYTES_MAX) {
        pw_error_set(err, PAWL_ETOOLARGE, "more than 1 GB in one call");
        return PAWL_ETOOLARGE;
    }
    if (!pw_conn_can_send(conn)) {
        pw_error_set(err, PAWL_EBUSY, "too many requests wait for a reply");
        return PAWL_EBUSY;
    }
    request = new_request(conn, first, stmt, tag);
    if (request == NULL) {
        pw_error_oom(err);
        return PAWL_ENOMEM;
    }
    enter(conn);
    sent = send_request(conn, request, first, stmt, params);
    leave(conn);
    if (!sent && err != NULL)
        *err = conn->error;
    return sent ? PAWL_OK : PAWL_ECONN;
}

int
pw_conn_listen(struct pw_conn *conn, int64_t session, bool on, void *tag, struct pw_error *err)
{
    char sql[48];
    const struct pw_stmt stmt = {.number = -1, .name = "", .sql = sql, .types = {0}};
    struct pw_params none;

    (void)snprintf(sql, sizeof(sql), "%slisten pawl_%" PRId64, on ? "" : "un", session);
    pw_params_init(&none);
    return pw_conn_send(conn, &stmt, &none, tag, err);
}

int
pw_conn_in_flight(const struct pw_conn *conn)
{
    return conn->in_flight;
}

bool
pw_conn_take(struct pw_conn *conn, struct pw_reply *reply)
{
    struct pw_list *link = pw_list_first(&conn->replied);
    struct request *request;

    if (link == NULL)
        return false;
    pw_list_remove(link);
    request = PW_CONTAINER(link, struct request, link);
    *reply = request->reply;
    pw_free(request);
    return true;
}

void
pw_reply_done(struct pw_reply *reply)
{
    pw_rows_done(&reply->rows);
}

bool
pw_conn_notified(struct pw_conn *conn, char *payload, size_t size)
{
    PGnotify *notify;

    enter(conn);
    notify = PQnotifies(conn->pq);
    leave(conn);
    if (notify == NULL)
        return false;
    if (size > 0) {
        size_t length = strnlen(notify->extra, size - 1);

        length = pw_utf8_cut(notify->extra, length);
        memcpy(payload, notify->extra, length);
        payload[length] = '\0';
    }
    PQfreemem(notify);
    return true;
}

int
pw_conn_wait(struct pw_conn *conn, int64_t deadline_us, struct pw_error *err)
{
    for (;;) {
        struct pollfd ready;
        int64_t now_us;
        int64_t until_us;

        pw_conn_pump(conn);
        if (!pw_list_empty(&conn->replied) ||
            (conn->state == PW_CONN_READY && conn->in_flight == 0))
            return PAWL_OK;
        if (conn->state == PW_CONN_BROKEN) {
            if (err != NULL)
                *err = conn->error;
            return PAWL_ECONN;
        }
        now_us = pw_now_us();
        if (now_us >= deadline_us) {
            pw_error_set(err, PAWL_ETIMEOUT, "no reply of the database in time");
            return PAWL_ETIMEOUT;
        }
        until_us = pw_add_us(now_us, LOOK_AGAIN_US);
        ready.fd = PQsocket(conn->pq);
        ready.events = conn->events;
        (void)poll(
            &ready, 1, pw_poll_timeout_ms(now_us, until_us < deadline_us ? until_us : deadline_us));
    }
}
