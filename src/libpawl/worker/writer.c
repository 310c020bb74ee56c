/* SPDX-License-Identifier: Apache-2.0 */
/* A writer: opens its connection again when it breaks, decides when to send a batch, and passes each reply to its part of the worker. */
#include "libpawl/worker/writer.h"

#include "base/alloc.h"
#include "base/time.h"
#include "libpawl/worker/worker.h"
#include "pg/fault.h"

#include <assert.h>

static const int64_t open_base_us = 20000;
static const int64_t open_cap_us = 5000000;

/* The size limit of one array of a batch, in bytes; a batch is cut long before it reaches this limit. */
static const size_t array_max = (size_t)64 * 1024 * 1024;

int
pw_writer_init(
    struct pw_writer *writer, int number, const struct pw_settings *settings, struct pw_error *err)
{
    struct pw_array *arrays[] = {&writer->runs, &writer->fences, &writer->kinds, &writer->names,
        &writer->payloads, &writer->seqs, &writer->tasks, &writer->millis, &writer->options};

    writer->number = number;
    writer->batch_cap = (size_t)settings->batch_max;
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
        pw_array_init(arrays[i], array_max);
    writer->batch.items = pw_calloc((size_t)settings->batch_max, sizeof(struct pw_item *));
    writer->batch.rows = pw_calloc((size_t)settings->batch_max, sizeof(int));
    if (writer->batch.items == NULL || writer->batch.rows == NULL) {
        pw_error_oom(err);
        return PAWL_ENOMEM;
    }
    return PAWL_OK;
}

void
pw_writer_done(struct pw_writer *writer)
{
    struct pw_array *arrays[] = {&writer->runs, &writer->fences, &writer->kinds, &writer->names,
        &writer->payloads, &writer->seqs, &writer->tasks, &writer->millis, &writer->options};

    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
        pw_array_done(arrays[i]);
    pw_free(writer->batch.items);
    pw_free(writer->batch.rows);
    writer->batch.items = NULL;
    writer->batch.rows = NULL;
}

void
pw_writer_add(pawl_worker *worker, struct pw_item *item, int64_t now_us)
{
    struct pw_writer *writer = &worker->writers[item->task->writer];

    assert(item->answer == PW_ANSWER_NONE && pw_list_empty(&item->link));
    /* A busy item of the run is parked: this item waits after it, so that the items of a run stay in order. */
    if (!pw_list_empty(&item->task->items)) {
        pw_list_add_tail(&item->task->items, &item->link);
        return;
    }
    if (writer->waiting_count == 0)
        writer->waiting_since_us = now_us;
    writer->waiting_count++;
    pw_list_add_tail(&writer->waiting, &item->link);
}

void
pw_writer_put_back(struct pw_writer *writer, struct pw_list *items, int64_t now_us)
{
    if (writer->waiting_count == 0)
        writer->waiting_since_us = now_us;
    for (struct pw_list *link = pw_list_first(items); link != NULL;
         link = pw_list_next(items, link))
        writer->waiting_count++;
    pw_list_move_all(items, &writer->waiting);
    pw_list_move_all(&writer->waiting, items);
}

void
pw_writer_lose(pawl_worker *worker, struct pw_writer *writer)
{
    struct pw_list *link;

    for (size_t i = 0; i < writer->batch.count; i++)
        pw_item_answer(
            worker, writer->batch.items[i], PW_ANSWER_LEASE_LOST, "the session has ended");
    writer->batch.count = 0;
    while ((link = pw_list_first(&writer->waiting)) != NULL) {
        pw_list_remove(link);
        pw_item_answer(worker, PW_CONTAINER(link, struct pw_item, link), PW_ANSWER_LEASE_LOST,
            "the session has ended");
    }
    writer->waiting_count = 0;
}

/* The requests in flight get no reply. The outcome of a batch is unknown. It is sent again, and items that were applied answer "already". */
static void
forget_requests(struct pw_writer *writer)
{
    if (writer->commit.sent) {
        writer->commit.sent = false;
        writer->batch.one_by_one = true;
    }
    if (writer->confirm.sent) {
        writer->confirm.sent = false;
        writer->batch.confirm = true;
    }
}

void
pw_writer_broken(
    pawl_worker *worker, struct pw_writer *writer, const struct pw_error *error, int64_t now_us)
{
    assert(error != NULL);
    pw_attempt_failed(worker, PAWL_LOG_WARNING, "connection_lost", NULL, error, now_us);
    pw_conn_close(writer->conn);
    writer->conn = NULL;
    if (writer->is_up)
        writer->down_since_us = now_us;
    writer->is_up = false;
    writer->session = 0;
    writer->open_tries++;
    writer->open_at_us = pw_add_us(
        now_us, pw_backoff_us(&worker->rand, writer->open_tries, open_base_us, open_cap_us));
    forget_requests(writer);
    pw_claim_broken(worker, writer, now_us);
}

static void
open_writer(pawl_worker *worker, struct pw_writer *writer, int64_t now_us)
{
    struct pw_conn_spec spec = pw_settings_spec(&worker->settings);
    struct pw_error err = {0};

    if (now_us < writer->open_at_us)
        return;
    if (pw_conn_open(&spec, &writer->conn, &err) != PAWL_OK) {
        writer->conn = NULL;
        writer->open_tries++;
        writer->open_at_us = pw_add_us(
            now_us, pw_backoff_us(&worker->rand, writer->open_tries, open_base_us, open_cap_us));
        pw_attempt_failed(worker, PAWL_LOG_WARNING, "connection_refused", NULL, &err, now_us);
        return;
    }
    writer->open_at_us = pw_add_us(now_us, pw_ms_to_us(worker->settings.connect_timeout_ms));
    pw_conn_pump(writer->conn);
}

/* Returns true if the connection is ready. Counts a reconnect when it sees that for the first time after a break. */
static bool
is_up(pawl_worker *worker, struct pw_writer *writer)
{
    if (writer->conn == NULL || pw_conn_state(writer->conn) != PW_CONN_READY)
        return false;
    if (!writer->is_up)
        pw_log_unverified(&worker->settings.logger, writer->conn, &worker->unverified_told);
    if (!writer->is_up && writer->was_up)
        pw_worker_add(worker, PW_COUNT_RECONNECTS, 1);
    writer->is_up = true;
    writer->was_up = true;
    return true;
}

/*
 * Returns true if the writer must send now. A run that is alone never waits. While other runs of this writer execute, items wait for the
 * items of those runs, for at most batch_window_us. They do not wait once there are as many as in the last batch.
 */
static bool
is_due(const pawl_worker *worker, const struct pw_writer *writer, int64_t now_us)
{
    if (writer->batch.count > 0)
        return now_us >= writer->batch.again_at_us;
    if (writer->waiting_count == 0)
        return false;
    if (writer->waiting_count >= writer->active || writer->waiting_count >= writer->last_count ||
        writer->waiting_count >= (size_t)worker->settings.batch_max)
        return true;
    return now_us >= pw_add_us(writer->waiting_since_us, worker->settings.batch_window_us);
}

size_t
pw_writer_worth(const pawl_worker *worker, const struct pw_writer *writer)
{
    size_t enough = (size_t)worker->settings.batch_max;

    /* Items of a session that has ended are answered without a reply. */
    if (worker->session.state != PW_SESSION_LIVE)
        return 1;
    if (writer->commit.sent || writer->confirm.sent || writer->active == 0)
        return SIZE_MAX;
    /* The first one begins the window, and no timer runs before. */
    /* guard:first_item_wakes */
    if (writer->waiting_count == 0 || !writer->is_up)
        return 1;
    if (writer->active < enough)
        enough = writer->active;
    if (writer->last_count < enough)
        enough = writer->last_count;
    return enough > writer->waiting_count ? enough - writer->waiting_count : 1;
}

/* Sends a heartbeat to confirm earlier commits: once its commit is replicated, so is every earlier commit of this connection. */
static int
send_confirm(pawl_worker *worker, struct pw_writer *writer, struct pw_conn *conn, int64_t now_us,
    struct pw_error *err)
{
    struct pw_params params;
    int status;

    pw_params_init(&params);
    pw_params_int8(&params, worker->session.id);
    pw_params_null(&params);
    pw_params_null(&params);
    writer->confirm = (struct pw_request){
        .kind = PW_REQUEST_CONFIRM, .session = worker->session.id, .sent_us = now_us};
    writer->confirm.deadline_us = pw_add_us(now_us, pw_ms_to_us(worker->settings.lease_ms));
    status = pw_conn_send(conn, pw_statement(PW_STMT_HEARTBEAT), &params, &writer->confirm, err);
    writer->confirm.sent = status == PAWL_OK;
    return status;
}

/* Gives up the connection for a reason that libpq does not report. */
static void
give_up(pawl_worker *worker, struct pw_writer *writer, const char *why, int64_t now_us)
{
    struct pw_error err = {0};

    pw_fault_lost(&err, why);
    pw_writer_broken(worker, writer, &err, now_us);
}

/* A writer without a connection for this long passes its items and tasks to another writer. */
static const int64_t rescue_us = 1000000;

/*
 * Returns true if a writer can take over the items of another one. A writer that waits for a reply cannot: it would apply that reply to
 * those items.
 */
static bool
has_room(const struct pw_writer *writer)
{
    return writer->is_up && writer->batch.count == 0 && !writer->commit.sent &&
        !writer->confirm.sent;
}

void
pw_writer_rescue(pawl_worker *worker, struct pw_writer *writer, int64_t now_us)
{
    struct pw_writer *other = NULL;
    const struct pw_map_entry *entry;
    struct pw_batch batch;
    size_t at = 0;

    /* A writer that rests may have a request in flight, on the session's connection. */
    /* guard:borrowed_rescue */
    if (writer->is_up || writer->resting || now_us < pw_add_us(writer->down_since_us, rescue_us) ||
        (writer->active == 0 && writer->batch.count == 0 && writer->waiting_count == 0))
        return;
    for (size_t i = 0; i < worker->writer_count; i++)
        if (has_room(&worker->writers[i]))
            other = &worker->writers[i];
    if (other == NULL)
        return;
    batch = other->batch;
    other->batch = writer->batch;
    writer->batch = batch;
    pw_writer_put_back(other, &writer->waiting, now_us);
    writer->waiting_count = 0;
    while ((entry = pw_map_next(&worker->tasks, &at)) != NULL) {
        struct pw_task *task = entry->value;

        if (task->writer != writer->number)
            continue;
        task->writer = other->number;
        if (!task->finished) {
            writer->active--;
            other->active++;
        }
    }
}

/* Returns true if a writer has, or will have, something to commit. */
static bool
has_work(const pawl_worker *worker)
{
    for (size_t i = 0; i < worker->writer_count; i++) {
        const struct pw_writer *writer = &worker->writers[i];

        if (writer->active > 0 || writer->waiting_count > 0 || writer->batch.count > 0)
            return true;
    }
    return pw_map_count(&worker->tasks) > 0 || !pw_list_empty(&worker->parked);
}

static bool
all_rest(const pawl_worker *worker)
{
    for (size_t i = 0; i < worker->writer_count; i++)
        if (!worker->writers[i].resting)
            return false;
    return true;
}

/*
 * Returns true if the writers need connections of their own. A server starts a process for each connection, and a new process plans
 * every statement first; for a single run now and then that costs more than the run.
 */
static bool
must_connect(const pawl_worker *worker)
{
    return has_work(worker) &&
        (pw_map_count(&worker->tasks) > 1 || worker->claimer.rest.often ||
            worker->session.conn == NULL || pw_conn_state(worker->session.conn) != PW_CONN_READY);
}

/* Returns the connection that a writer sends on: its own, or while it rests the session's; NULL for none. */
static struct pw_conn *
conn_of(const pawl_worker *worker, const struct pw_writer *writer)
{
    if (!writer->resting)
        return writer->conn;
    if (writer->number != 0 || worker->session.conn == NULL ||
        pw_conn_state(worker->session.conn) != PW_CONN_READY)
        return NULL;
    return worker->session.conn;
}

bool
pw_writer_borrows(const pawl_worker *worker)
{
    const struct pw_writer *writer = &worker->writers[0];

    return writer->resting && (writer->commit.sent || writer->confirm.sent);
}

bool
pw_writer_borrowed_late(const pawl_worker *worker, int64_t now_us)
{
    const struct pw_writer *writer = &worker->writers[0];

    return pw_writer_borrows(worker) &&
        (pw_request_late(&writer->commit, now_us) || pw_request_late(&writer->confirm, now_us));
}

void
pw_writer_borrowed_broken(pawl_worker *worker)
{
    /* guard:borrowed_broken */
    if (pw_writer_borrows(worker))
        forget_requests(&worker->writers[0]);
}

int64_t
pw_writers_rest_us(const pawl_worker *worker)
{
    const struct pw_claimer *claimer = &worker->claimer;

    if (worker->session.state != PW_SESSION_LIVE || worker->session.conn == NULL ||
        pw_conn_state(worker->session.conn) != PW_CONN_READY ||
        pw_conn_in_flight(worker->session.conn) > 0 || claimer->idle != PW_IDLE ||
        claimer->claim.sent || claimer->rest.request.sent || claimer->held_request.sent ||
        claimer->pending || all_rest(worker) || has_work(worker))
        return INT64_MAX;
    for (size_t i = 0; i < worker->writer_count; i++) {
        const struct pw_conn *conn = worker->writers[i].conn;

        if (conn != NULL && (pw_conn_state(conn) != PW_CONN_READY || pw_conn_in_flight(conn) > 0))
            return INT64_MAX;
    }
    return pw_add_us(claimer->rest.since_us, PW_REST_AFTER_US);
}

/*
 * The session keeps the connection of the first writer: its process in the server has planned claims and commits, that of the session's own
 * has not. It listens on that connection, and then claims, so that no notification is missed.
 */
static void
exchange_connections(pawl_worker *worker)
{
    struct pw_conn *conn = worker->session.conn;

    /* A connection that has done nothing for the session may lead to another server; see is_strange(). */
    if (worker->writers[0].conn == NULL || worker->writers[0].session != worker->session.id ||
        worker->settings.listen_database[0] != '\0')
        return;
    worker->session.conn = worker->writers[0].conn;
    worker->writers[0].conn = conn;
    worker->session.listening = false;
}

void
pw_writers_rest(pawl_worker *worker, int64_t now_us)
{
    if (now_us < pw_writers_rest_us(worker))
        return;
    exchange_connections(worker);
    for (size_t i = 0; i < worker->writer_count; i++) {
        struct pw_writer *writer = &worker->writers[i];

        if (writer->conn != NULL)
            pw_conn_close(writer->conn);
        writer->conn = NULL;
        writer->resting = true;
        writer->is_up = false;
        writer->was_up = false;
        writer->session = 0;
        writer->open_tries = 0;
    }
}

/* Gives up a connection that does not come up, or on which a reply is late. Returns true if it has. */
static bool
give_up_late(pawl_worker *worker, struct pw_writer *writer, int64_t now_us)
{
    if (pw_conn_state(writer->conn) == PW_CONN_CONNECTING && now_us >= writer->open_at_us) {
        give_up(worker, writer, "could not connect within connect_timeout", now_us);
        return true;
    }
    /* guard:writer_late */
    if (pw_request_late(&writer->commit, now_us) || pw_request_late(&writer->confirm, now_us) ||
        (worker->claimer.writer == writer && !worker->claimer.on_control &&
            pw_claim_late(worker, now_us)) ||
        (worker->claimer.rest.passer == writer &&
            pw_request_late(&worker->claimer.rest.pass, now_us))) {
        give_up(worker, writer, "the server has not answered in time", now_us);
        return true;
    }
    return false;
}

void
pw_writer_turn(pawl_worker *worker, struct pw_writer *writer, int64_t now_us)
{
    struct pw_error err = {0};
    struct pw_conn *conn;
    int status = PAWL_OK;

    /* A reply on the session's connection is taken before the writer has its own, so that it is clear where a request is in flight. */
    if (writer->resting && !writer->commit.sent && !writer->confirm.sent && must_connect(worker)) {
        writer->resting = false;
        writer->open_at_us = now_us;
        writer->down_since_us = now_us;
    }
    if (writer->conn == NULL && !writer->resting)
        open_writer(worker, writer, now_us);
    if (writer->conn != NULL && give_up_late(worker, writer, now_us))
        return;
    conn = conn_of(worker, writer);
    if (conn == NULL || (!writer->resting && !is_up(worker, writer)) ||
        worker->session.state != PW_SESSION_LIVE || writer->commit.sent || writer->confirm.sent ||
        !pw_conn_can_send(conn))
        return;
    if (writer->batch.confirm && now_us >= writer->batch.again_at_us)
        status = send_confirm(worker, writer, conn, now_us, &err);
    else if (writer->batch.confirm)
        return;
    else if (is_due(worker, writer, now_us))
        status = pw_batch_send(worker, writer, conn, now_us, &err);
    if (status == PAWL_ENOMEM)
        writer->batch.again_at_us = pw_add_us(now_us, open_base_us);
    if (pw_conn_in_flight(conn) > 0)
        pw_conn_pump(conn);
}

int64_t
pw_writer_next_us(const pawl_worker *worker, const struct pw_writer *writer)
{
    const struct pw_conn *conn = conn_of(worker, writer);
    int64_t at = INT64_MAX;

    if (writer->resting && conn == NULL)
        return INT64_MAX;
    if (conn == NULL || (!writer->resting && pw_conn_state(conn) == PW_CONN_CONNECTING))
        return writer->open_at_us;
    if (writer->commit.sent)
        at = writer->commit.deadline_us;
    else if (writer->confirm.sent)
        at = writer->confirm.deadline_us;
    else if (worker->session.state != PW_SESSION_LIVE || !pw_conn_can_send(conn))
        at = INT64_MAX;
    else if (writer->batch.count > 0)
        at = writer->batch.again_at_us;
    else if (writer->waiting_count > 0)
        at = pw_add_us(writer->waiting_since_us, worker->settings.batch_window_us);
    return at;
}

/* Handles the reply to a confirmation: either earlier commits are replicated now, or the writer asks again a little later. */
static void
confirmed(
    pawl_worker *worker, struct pw_writer *writer, const struct pw_reply *reply, int64_t now_us)
{
    if (pw_session_check(worker, reply, now_us))
        return;
    writer->batch.confirm = reply->status != PAWL_OK || reply->unreplicated;
    writer->batch.again_at_us = writer->batch.confirm ? pw_add_us(now_us, open_base_us) : 0;
}

void
pw_writer_borrowed_reply(pawl_worker *worker, struct pw_reply *reply, int64_t now_us)
{
    const struct pw_request *request = reply->tag;

    if (request->kind == PW_REQUEST_COMMIT)
        pw_batch_reply(worker, &worker->writers[0], reply, now_us);
    else
        confirmed(worker, &worker->writers[0], reply, now_us);
}

/*
 * Returns true if the server of this connection does not have the session, although the session is live as far as the worker knows.
 * 1. After a failover two servers, A and B, accept writes. The session of the worker is at A.
 * 2. This connection leads to B, which answers that the session has ended.
 * 3. The worker closes the connection, and asks A with a heartbeat.
 * Without this check, the worker would end its session each time a connection reaches the other server, and register again without a
 * pause. A connection that has done something for the session leads to the right server, and its answer is accepted.
 */
static bool
is_strange(const pawl_worker *worker, const struct pw_writer *writer, const struct pw_reply *reply)
{
    const struct pw_request *request = reply->tag;

    /* guard:writer_elsewhere */
    return pw_session_over(reply) && worker->session.state == PW_SESSION_LIVE &&
        request->session == worker->session.id && writer->session != worker->session.id;
}

void
pw_writer_reply(
    pawl_worker *worker, struct pw_writer *writer, struct pw_reply *reply, int64_t now_us)
{
    struct pw_request *request = reply->tag;

    assert(request != NULL);
    /* The server cannot be used: it may be a standby after a failover. Another server may be found under the same name. */
    if (reply->status == PAWL_ECONN) {
        pw_writer_broken(worker, writer, &reply->error, now_us);
        return;
    }
    if (is_strange(worker, writer, reply)) {
        pw_writer_broken(worker, writer, &reply->error, now_us);
        /*
         * The heartbeat decides. If this happens again although the heartbeat confirmed the session, the heartbeat may be at the wrong
         * server.
         */
        pw_session_ask(worker, writer->strange++ > 0, now_us);
        return;
    }
    if (reply->status == PAWL_OK) {
        writer->session = request->session;
        writer->strange = 0;
    }
    writer->open_tries = 0;
    request->sent = false;
    switch (request->kind) {
    case PW_REQUEST_COMMIT:
        pw_batch_reply(worker, writer, reply, now_us);
        break;
    case PW_REQUEST_CLAIM:
        pw_claim_reply(worker, reply, now_us);
        break;
    case PW_REQUEST_REST:
        pw_rest_reply(worker, reply, now_us);
        break;
    case PW_REQUEST_PASS_ON:
        (void)pw_session_check(worker, reply, now_us);
        break;
    case PW_REQUEST_HELD:
        pw_held_reply(worker, reply, now_us);
        break;
    case PW_REQUEST_CONFIRM:
        confirmed(worker, writer, reply, now_us);
        break;
    case PW_REQUEST_NONE:
    case PW_REQUEST_LEAVE:
    case PW_REQUEST_CREATE:
    case PW_REQUEST_REGISTER:
    case PW_REQUEST_LISTEN:
    case PW_REQUEST_HEARTBEAT:
    case PW_REQUEST_TICK:
        break;
    }
}
