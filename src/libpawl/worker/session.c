/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker's session: registers, keeps the lease with one heartbeat for the process, and listens for hints. It has its own connection,
 * so that no load of claims and commits can delay a heartbeat. While the writers rest, that one also claims, and commits a run.
 */
#include "libpawl/worker/session.h"

#include "base/alloc.h"
#include "base/time.h"
#include "libpawl/worker/worker.h"
#include "pawl/version.h"
#include "pg/fault.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const int64_t open_base_us = 20000;
static const int64_t open_cap_us = 2000000;
static const int64_t register_base_us = 100000;
static const int64_t register_cap_us = 5000000;
/* Steps that execute for longer than this are shown with the heartbeat. */
static const int64_t shown_after_us = 1000000;
/* Any login can notify, so notifications make a worker send at most one heartbeat in this time. */
static const int64_t notice_gap_us = 1000000;
/* The engine refuses a heartbeat with a larger list of steps; steps that do not fit are not shown. */
static const size_t running_max = (size_t)64 * 1024;

/*
 * Returns when to connect again, which must be well within a lease. After an outage the server waits for one lease, and no longer, before
 * it considers a session lost.
 */
static int64_t
reopen_at(pawl_worker *worker, int64_t now_us)
{
    int64_t cap_us = pw_ms_to_us(worker->settings.lease_ms) / 4;

    return pw_add_us(now_us,
        pw_backoff_us(&worker->rand, worker->session.open_tries, open_base_us,
            cap_us < open_cap_us ? cap_us : open_cap_us));
}

static bool
is_up(const pawl_worker *worker)
{
    return worker->session.conn != NULL && pw_conn_state(worker->session.conn) == PW_CONN_READY;
}

/* Closes the control connection, which cannot be used any more, and sets the time of the next attempt. */
static void
close_control(pawl_worker *worker, const struct pw_error *error, int64_t now_us)
{
    pw_attempt_failed(worker, PAWL_LOG_WARNING, "connection_lost", "control", error, now_us);
    if (worker->session.state == PW_SESSION_NONE || worker->session.state == PW_SESSION_REGISTERING)
        pw_inbox_set_start_error(&worker->inbox, error, error->code == PAWL_ESCHEMA);
    pw_conn_close(worker->session.conn);
    worker->session.conn = NULL;
    worker->session.open_tries++;
    worker->session.open_at_us = reopen_at(worker, now_us);
    worker->session.request.sent = false;
    worker->session.heartbeat.sent = false;
    worker->tick.request.sent = false;
    worker->session.listening = false;
    worker->session.listen_refused = false;
    pw_writer_borrowed_broken(worker);
    pw_claim_broken(worker, NULL, now_us);
    if (worker->session.state == PW_SESSION_REGISTERING)
        worker->session.state = PW_SESSION_NONE;
}

static void
give_up(pawl_worker *worker, const char *why, int64_t now_us)
{
    struct pw_error err = {0};

    pw_fault_lost(&err, why);
    close_control(worker, &err, now_us);
}

static void
open_control(pawl_worker *worker, int64_t now_us)
{
    struct pw_conn_spec spec = pw_settings_spec(&worker->settings);
    struct pw_error err = {0};

    if (now_us < worker->session.open_at_us)
        return;
    if (worker->settings.listen_database[0] != '\0')
        spec.conninfo = worker->settings.listen_database;
    worker->session.open_at_us =
        pw_add_us(now_us, pw_ms_to_us(worker->settings.connect_timeout_ms));
    if (pw_conn_open(&spec, &worker->session.conn, &err) != PAWL_OK) {
        worker->session.conn = NULL;
        worker->session.open_tries++;
        worker->session.open_at_us = reopen_at(worker, now_us);
        pw_inbox_set_start_error(&worker->inbox, &err, false);
        return;
    }
    pw_conn_pump(worker->session.conn);
}

static int
send_control(pawl_worker *worker, struct pw_request *request, enum pw_request_kind kind,
    int statement, const struct pw_params *params, int64_t now_us)
{
    struct pw_error err = {0};
    int status;

    *request = (struct pw_request){.kind = kind, .session = worker->session.id, .sent_us = now_us};
    /* Half a lease leaves time for another attempt on a new connection. */
    request->deadline_us = pw_add_us(now_us, pw_ms_to_us(worker->settings.lease_ms) / 2);
    if (kind != PW_REQUEST_HEARTBEAT)
        request->deadline_us = pw_add_us(now_us, pw_ms_to_us(worker->settings.connect_timeout_ms));
    if (kind == PW_REQUEST_LISTEN)
        status = pw_conn_listen(
            worker->session.conn, worker->session.id, worker->session.listen_on, request, &err);
    else
        status = pw_conn_send(worker->session.conn, pw_statement(statement), params, request, &err);
    request->sent = status == PAWL_OK;
    pw_conn_pump(worker->session.conn);
    return status;
}

/*
 * Creates the workflows that the worker handles by their whole name, one after the other. If the role may not create one, the worker logs
 * that and continues. Returns false if none is left to create.
 */
static bool
send_create(pawl_worker *worker, int64_t now_us)
{
    struct pw_params params;

    while (
        worker->settings.create_workflows && worker->session.create_next < worker->handlers.count) {
        const struct pw_handler *handler = &worker->handlers.list[worker->session.create_next];

        /* A step of a flow is created with its flow. */
        if (handler->prefix || strchr(handler->pattern, '/') != NULL) {
            worker->session.create_next++;
            continue;
        }
        pw_params_init(&params);
        pw_params_text(&params, handler->pattern);
        /* The next workflow follows after the reply to this one. If this request cannot be sent, it is sent again. */
        if (send_control(worker, &worker->session.request, PW_REQUEST_CREATE,
                PW_STMT_CREATE_WORKFLOW, &params, now_us) != PAWL_OK)
            worker->session.register_at_us = pw_add_us(now_us, register_base_us);
        return true;
    }
    return false;
}

/* Adds what the worker is, and the version of its code. */
static void
add_client(const struct pw_settings *settings, struct pw_params *params, char *room, size_t size)
{
    (void)snprintf(room, size, "libpawl/%s", pawl_version_text());
    pw_params_text(params, settings->client[0] != '\0' ? settings->client : room);
    if (settings->code_version[0] != '\0')
        pw_params_text(params, settings->code_version);
    else
        pw_params_null(params);
}

/* Returns the worker's name: from the settings, or host:pid. */
static const char *
worker_name(const pawl_worker *worker, char *room, size_t size)
{
    char host[65] = "";

    if (worker->settings.worker_name[0] != '\0')
        return worker->settings.worker_name;
    if (gethostname(host, sizeof(host) - 1) != 0)
        host[0] = '\0';
    (void)snprintf(room, size, "%s:%ld", host[0] == '\0' ? "worker" : host, (long)getpid());
    return room;
}

static void
send_register(pawl_worker *worker, int64_t now_us)
{
    struct pw_params params;
    struct pw_array handles;
    struct pw_array runtimes;
    char name[100];
    char client[32];
    const char *at = worker->settings.runtimes;
    const char *runtime;
    size_t size;

    pw_log_unverified(&worker->settings.logger, worker->session.conn, &worker->unverified_told);
    pw_array_init(&handles, (size_t)4 * 1024 * 1024);
    pw_array_init(&runtimes, (size_t)64 * 1024);
    pw_array_begin(&handles, PW_TYPE_TEXT);
    pw_array_begin(&runtimes, PW_TYPE_TEXT);
    for (size_t i = 0; i < worker->handlers.count; i++) {
        char pattern[320];
        int length = snprintf(pattern, sizeof(pattern), "%s%s", worker->handlers.list[i].pattern,
            worker->handlers.list[i].prefix ? "*" : "");

        pw_array_bytes(&handles, pattern, (size_t)length);
    }
    while (pw_settings_runtime(&at, &runtime, &size))
        pw_array_bytes(&runtimes, runtime, size);
    /* If out of memory, the worker tries again after a pause. */
    worker->session.register_at_us = pw_add_us(now_us, register_base_us);
    if (pw_array_ok(&handles) && pw_array_ok(&runtimes)) {
        pw_params_init(&params);
        pw_params_text(&params, worker_name(worker, name, sizeof(name)));
        pw_params_array(&params, &handles);
        pw_params_array(&params, &runtimes);
        pw_params_int8(&params, worker->settings.lease_ms);
        add_client(&worker->settings, &params, client, sizeof(client));
        if (send_control(worker, &worker->session.request, PW_REQUEST_REGISTER, PW_STMT_REGISTER,
                &params, now_us) == PAWL_OK)
            worker->session.state = PW_SESSION_REGISTERING;
    }
    pw_array_done(&handles);
    pw_array_done(&runtimes);
}

/* Writes the steps of all tasks that have been executing for a while. */
static void
write_running(pawl_worker *worker, struct pw_buf *json, int64_t now_us)
{
    const struct pw_map_entry *entry;
    size_t at = 0;
    size_t count = 0;

    pw_buf_addc(json, '[');
    while ((entry = pw_map_next(&worker->tasks, &at)) != NULL) {
        const struct pw_task *task = entry->value;

        if (task->run != NULL && !task->finished)
            pw_run_write_running(task->run, now_us, shown_after_us, json, &count);
    }
    pw_buf_addc(json, ']');
}

static void
send_heartbeat(pawl_worker *worker, int64_t now_us)
{
    struct pw_params params;
    struct pw_buf json;

    pw_buf_init(&json, running_max);
    write_running(worker, &json, now_us);
    pw_params_init(&params);
    pw_params_int8(&params, worker->session.id);
    /* The lease does not need the list of steps. If out of memory, or with far too many steps, the heartbeat is sent without the list. */
    if (pw_buf_ok(&json))
        pw_params_bytes(&params, json.data, json.size);
    else
        pw_params_null(&params);
    pw_params_bool(&params, pw_inbox_load(&worker->inbox).starved);
    (void)send_control(worker, &worker->session.heartbeat, PW_REQUEST_HEARTBEAT, PW_STMT_HEARTBEAT,
        &params, now_us);
    pw_buf_done(&json);
    worker->session.heartbeat_at_us = pw_add_us(now_us, worker->session.heartbeat_every_us);
}

/* Sends a heartbeat soon, because its answer may hold a notice. */
static void
ask_for_notice(pawl_worker *worker, int64_t now_us)
{
    int64_t at_us = pw_add_us(worker->session.notice_asked_us, notice_gap_us);

    /* guard:hinted_heartbeats */
    if (at_us < now_us)
        at_us = now_us;
    if (at_us < worker->session.heartbeat_at_us) {
        worker->session.heartbeat_at_us = at_us;
        worker->session.notice_asked_us = at_us;
    }
}

/*
 * A notification is a hint, because PostgreSQL lets every login notify every channel. So its payload decides only what the worker asks:
 * 1. An operator calls drain_worker(), which marks the session and notifies "drain". 2. The worker sends a heartbeat. 3. The answer shows
 * whether the session is draining. If the worker obeyed the payload, a login without any privilege could stop every worker.
 */
static void
take_notifications(pawl_worker *worker, int64_t now_us)
{
    char payload[16];

    while (pw_conn_notified(worker->session.conn, payload, sizeof(payload))) {
        /* guard:notification_is_a_hint */
        if (strcmp(payload, "drain") == 0)
            ask_for_notice(worker, now_us);
        else
            pw_claim_hint(worker, now_us);
    }
}

bool
pw_session_can_listen(const pawl_worker *worker)
{
    return worker->settings.listen && is_up(worker) && !worker->session.listen_refused &&
        !pw_conn_pooled(worker->session.conn);
}

/* Listens while the server wants it: every session that listens is woken by every notification in the database. */
static void
keep_listening(pawl_worker *worker, int64_t now_us)
{
    bool on = worker->session.listen_wanted && pw_session_can_listen(worker);

    if (worker->session.request.sent || on == worker->session.listening)
        return;
    worker->session.listen_on = on;
    (void)send_control(worker, &worker->session.request, PW_REQUEST_LISTEN, 0, NULL, now_us);
}

void
pw_session_turn(pawl_worker *worker, int64_t now_us)
{
    if (worker->session.conn == NULL)
        open_control(worker, now_us);
    if (worker->session.conn == NULL)
        return;
    if (pw_conn_state(worker->session.conn) == PW_CONN_BROKEN) {
        close_control(worker, pw_conn_error(worker->session.conn), now_us);
        return;
    }
    if (pw_conn_state(worker->session.conn) == PW_CONN_CONNECTING &&
        now_us >= worker->session.open_at_us) {
        give_up(worker, "could not connect within connect_timeout", now_us);
        return;
    }
    if (pw_request_late(&worker->session.heartbeat, now_us) ||
        pw_request_late(&worker->session.request, now_us) ||
        pw_request_late(&worker->tick.request, now_us) ||
        (worker->claimer.on_control && pw_claim_late(worker, now_us)) ||
        pw_writer_borrowed_late(worker, now_us)) {
        give_up(worker, "the server has not answered in time", now_us);
        return;
    }
    if (!is_up(worker))
        return;
    if (worker->session.state == PW_SESSION_NONE && !worker->session.request.sent &&
        now_us >= worker->session.register_at_us && !send_create(worker, now_us))
        send_register(worker, now_us);
    if (worker->session.state != PW_SESSION_LIVE)
        return;
    /*
     * 1. Behind a pooler one request is in flight at a time, and it is a tick. 2. A heartbeat is due, and cannot be sent. 3. It stays
     * due, and is sent in the turn of the tick's reply, ahead of the next tick. If it counted as sent, two such ticks in a row would lose
     * the lease.
     */
    if (!worker->session.heartbeat.sent && now_us >= worker->session.heartbeat_at_us &&
        pw_conn_can_send(worker->session.conn))
        send_heartbeat(worker, now_us);
    keep_listening(worker, now_us);
    pw_tick_turn(worker, now_us);
    /* This is last, because sending also reads notifications that have arrived. */
    take_notifications(worker, now_us);
}

int64_t
pw_session_next_us(const pawl_worker *worker)
{
    int64_t at = INT64_MAX;

    if (worker->session.conn == NULL || pw_conn_state(worker->session.conn) != PW_CONN_READY)
        return worker->session.open_at_us;
    if (worker->session.request.sent)
        at = worker->session.request.deadline_us;
    else if (worker->session.state == PW_SESSION_NONE)
        at = worker->session.register_at_us;
    if (worker->session.state != PW_SESSION_LIVE)
        return at;
    if (pw_tick_next_us(worker) < at)
        at = pw_tick_next_us(worker);
    if (worker->session.heartbeat.sent)
        return worker->session.heartbeat.deadline_us < at ? worker->session.heartbeat.deadline_us
                                                          : at;
    /* A connection that cannot send now can send again after its next reply, which wakes the thread. */
    if (!pw_conn_can_send(worker->session.conn))
        return at;
    return worker->session.heartbeat_at_us < at ? worker->session.heartbeat_at_us : at;
}

static void
set_lease(pawl_worker *worker, int64_t sent_us)
{
    pw_inbox_set_lease(&worker->inbox, pw_add_us(sent_us, pw_ms_to_us(worker->settings.lease_ms)));
}

void
pw_session_renewed(pawl_worker *worker, int64_t sent_us)
{
    set_lease(worker, sent_us);
    worker->session.heartbeat_at_us = pw_add_us(sent_us, worker->session.heartbeat_every_us);
}

void
pw_session_lost(pawl_worker *worker, const char *why, int64_t now_us)
{
    const struct pw_map_entry *entry;
    struct pw_list fresh;
    struct pw_list *link;
    size_t at = 0;

    assert(why != NULL);
    if (worker->session.state == PW_SESSION_LIVE)
        pw_log(&worker->settings.logger, PAWL_LOG_WARNING, "session_lost", why, NULL);
    worker->session.state =
        worker->session.state == PW_SESSION_LEFT ? PW_SESSION_LEFT : PW_SESSION_NONE;
    worker->session.register_at_us = now_us;
    worker->session.listening = false;
    worker->session.listen_wanted = false;
    worker->claimer.pending = false;
    worker->claimer.rest.due = false;
    worker->claimer.idle = PW_BUSY;
    /* guard:lost_is_told */
    while ((entry = pw_map_next(&worker->tasks, &at)) != NULL)
        pw_task_tell(entry->value, PW_LEASE_LOST);
    for (size_t i = 0; i < PW_WRITERS_MAX; i++)
        pw_writer_lose(worker, &worker->writers[i]);
    while ((link = pw_list_first(&worker->parked)) != NULL) {
        pw_list_remove(link);
        pw_task_lose(worker, PW_CONTAINER(link, struct pw_task, parked_link));
    }
    pw_list_init(&fresh);
    pw_inbox_lose(&worker->inbox, &fresh);
    /* No handler has these tasks, so none has to be notified. */
    while ((link = pw_list_first(&fresh)) != NULL) {
        pw_list_remove(link);
        pw_task_give_back(PW_CONTAINER(link, struct pw_task, link));
    }
}

bool
pw_session_over(const struct pw_reply *reply)
{
    return reply->status != PAWL_OK &&
        (strcmp(reply->error.sqlstate, "PW005") == 0 ||
            strcmp(reply->error.sqlstate, "PW012") == 0);
}

bool
pw_session_check(pawl_worker *worker, const struct pw_reply *reply, int64_t now_us)
{
    const struct pw_request *request = reply->tag;

    /* guard:session_over */
    if (!pw_session_over(reply))
        return false;
    if (worker->session.state == PW_SESSION_LIVE && request->session == worker->session.id)
        pw_session_lost(worker, reply->error.message, now_us);
    return true;
}

void
pw_session_ask(pawl_worker *worker, bool anew, int64_t now_us)
{
    if (anew && worker->session.conn != NULL)
        give_up(
            worker, "another connection leads to a server that does not know the session", now_us);
    worker->session.heartbeat_at_us = now_us;
}

/*
 * Checks the epoch of the server. If it is lower than one that the worker has seen, the server has lost commits, and no operator has
 * raised its epoch yet. The worker then ends its session and registers again later.
 */
static bool
check_epoch(pawl_worker *worker, int32_t epoch, int64_t now_us)
{
    /* guard:epoch_seen */
    if (epoch >= worker->session.epoch) {
        worker->session.epoch = epoch;
        return true;
    }
    pw_log(&worker->settings.logger, PAWL_LOG_ERROR, "old_epoch",
        "the server's epoch is lower than one that was seen: raise it with pawl.raise_epoch()",
        NULL);
    pw_session_lost(worker, "the server has lost commits", now_us);
    worker->session.register_tries++;
    worker->session.register_at_us = pw_add_us(now_us,
        pw_backoff_us(
            &worker->rand, worker->session.register_tries, register_base_us, register_cap_us));
    return false;
}

/*
 * Handles a failed registration: the worker registers again after growing pauses. An error that no later attempt can change also ends
 * pawl_worker_start(), if that still waits.
 */
static void
register_failed(pawl_worker *worker, const struct pw_error *error, int64_t now_us)
{
    worker->session.state = PW_SESSION_NONE;
    worker->session.register_tries++;
    worker->session.register_at_us = pw_add_us(now_us,
        pw_backoff_us(
            &worker->rand, worker->session.register_tries, register_base_us, register_cap_us));
    pw_attempt_failed(worker, PAWL_LOG_ERROR, "register_failed", NULL, error, now_us);
    pw_inbox_set_start_error(&worker->inbox, error, !error->retryable);
}

static void
registered(pawl_worker *worker, struct pw_reply *reply, int64_t sent_us, int64_t now_us)
{
    char number[PW_LOG_NUMBER_SIZE];
    int64_t every_ms = 0;
    int32_t epoch = 0;
    struct pw_error err = {0};

    if (reply->status != PAWL_OK) {
        register_failed(worker, &reply->error, now_us);
        return;
    }
    if (reply->unreplicated || pw_rows_count(&reply->rows) != 1 ||
        !pw_rows_int8(&reply->rows, 0, 0, &worker->session.id) ||
        !pw_rows_int4(&reply->rows, 0, 1, &epoch) || !pw_rows_int8(&reply->rows, 0, 2, &every_ms)) {
        pw_error_set(&err, PAWL_ESCHEMA, "the answer to register is malformed");
        err.retryable = true;
        register_failed(worker, &err, now_us);
        return;
    }
    if (!check_epoch(worker, epoch, now_us))
        return;
    worker->session.state = PW_SESSION_LIVE;
    worker->session.register_tries = 0;
    pw_attempts_over(worker);
    worker->session.heartbeat_every_us = pw_ms_to_us(every_ms < 100 ? 100 : every_ms);
    worker->session.heartbeat_at_us = pw_add_us(now_us, worker->session.heartbeat_every_us);
    worker->claimer.at_us = now_us;
    worker->claimer.again = false;
    worker->claimer.held_unsure = 0;
    worker->claimer.held_at_us = pw_add_us(now_us, pw_ms_to_us(worker->settings.lease_ms));
    worker->claimer.idle = PW_BUSY;
    worker->claimer.rest.due = false;
    worker->claimer.poll_at_us = INT64_MAX;
    worker->tick.wanted = true;
    worker->tick.first = true;
    /* The name of the channel contains the session, and the connection may still listen to the channel of the last one. */
    worker->session.listening = false;
    pw_worker_add(worker, PW_COUNT_SESSIONS, 1);
    set_lease(worker, sent_us);
    pw_log(&worker->settings.logger, PAWL_LOG_INFO, "worker_registered", "the worker is registered",
        "session", pw_log_number(worker->session.id, number), NULL);
    pw_inbox_set_registered(&worker->inbox);
}

/*
 * Handles the reply to a heartbeat, which renews the lease. Its rows name the runs that handlers must stop, and show whether the worker
 * must drain.
 */
static void
heard(pawl_worker *worker, struct pw_reply *reply, int64_t sent_us, int64_t now_us)
{
    int32_t epoch;
    bool tick_due = false;

    if (reply->status != PAWL_OK) {
        if (!pw_session_check(worker, reply, now_us)) {
            pw_log_error(&worker->settings.logger, PAWL_LOG_WARNING, "heartbeat_failed", NULL,
                &reply->error);
            worker->session.heartbeat_at_us =
                pw_add_us(now_us, worker->session.heartbeat_every_us / 4);
        }
        return;
    }
    if (pw_rows_count(&reply->rows) > 0 && pw_rows_int4(&reply->rows, 0, 0, &epoch) &&
        !check_epoch(worker, epoch, now_us))
        return;
    pw_attempts_over(worker);
    if (!reply->unreplicated)
        set_lease(worker, sent_us);
    if (pw_rows_count(&reply->rows) > 0 && pw_rows_bool(&reply->rows, 0, 4, &tick_due) && tick_due)
        pw_tick_soon(worker);
    for (int row = 0; row < pw_rows_count(&reply->rows); row++) {
        const char *notice = pw_rows_text(&reply->rows, row, 3);
        struct pw_task *task;
        struct pw_uuid id;
        int32_t number;

        if (notice == NULL)
            continue;
        if (strcmp(notice, "drain") == 0)
            pawl_worker_drain(worker);
        else if (pw_rows_uuid(&reply->rows, row, 1, &id) &&
            pw_rows_int4(&reply->rows, row, 2, &number) &&
            (task = pw_map_get(&worker->tasks, &id, number)) != NULL)
            pw_task_tell(task, strcmp(notice, "paused") == 0 ? PW_PAUSED : PW_CANCELLED);
    }
}

/* Handles the reply to listen. Earlier notifications are lost, so the worker claims again; then it marks the session idle. */
static void
listening(pawl_worker *worker, const struct pw_reply *reply, int64_t now_us)
{
    const struct pw_request *request = reply->tag;

    if (request->session != worker->session.id || worker->session.state != PW_SESSION_LIVE)
        return;
    if (reply->status != PAWL_OK) {
        worker->session.listen_refused = true;
        return;
    }
    worker->session.listening = worker->session.listen_on;
    if (worker->session.listening)
        pw_claim_soon(worker, now_us);
}

/* A role that may not create workflows cannot ask which workflows exist either, so the sentence leaves that open. */
static void
log_not_created(pawl_worker *worker, const char *workflow, const struct pw_error *err)
{
    struct pw_error advice = *err;

    pw_error_set(&advice, err->code, "%s; if the workflow does not exist: pawl workflow create %s",
        err->message, workflow);
    memcpy(advice.sqlstate, err->sqlstate, sizeof(advice.sqlstate));
    pw_log_error(
        &worker->settings.logger, PAWL_LOG_WARNING, "workflow_not_created", workflow, &advice);
}

/*
 * Handles the reply to create_workflow. After a retryable error the worker sends it again. After any other error, such as a missing
 * privilege, it continues without the workflow.
 */
static void
created(pawl_worker *worker, const struct pw_reply *reply, int64_t now_us)
{
    if (reply->status != PAWL_OK)
        log_not_created(
            worker, worker->handlers.list[worker->session.create_next].pattern, &reply->error);
    if (reply->status != PAWL_OK && reply->error.retryable)
        worker->session.register_at_us = pw_add_us(now_us, register_base_us);
    else
        worker->session.create_next++;
}

void
pw_session_reply(pawl_worker *worker, struct pw_reply *reply, int64_t now_us)
{
    struct pw_request *request = reply->tag;

    assert(request != NULL);
    /* The server may be a standby after a failover. Another server may be found under the same name. */
    if (reply->status == PAWL_ECONN) {
        close_control(worker, &reply->error, now_us);
        return;
    }
    worker->session.open_tries = 0;
    request->sent = false;
    switch (request->kind) {
    case PW_REQUEST_REGISTER:
        registered(worker, reply, request->sent_us, now_us);
        break;
    case PW_REQUEST_HEARTBEAT:
        heard(worker, reply, request->sent_us, now_us);
        break;
    case PW_REQUEST_LISTEN:
        listening(worker, reply, now_us);
        break;
    case PW_REQUEST_TICK:
        pw_tick_reply(worker, reply, now_us);
        break;
    case PW_REQUEST_CREATE:
        created(worker, reply, now_us);
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
    case PW_REQUEST_COMMIT:
    case PW_REQUEST_CONFIRM:
        pw_writer_borrowed_reply(worker, reply, now_us);
        break;
    case PW_REQUEST_NONE:
    case PW_REQUEST_LEAVE:
        break;
    }
}
