/* SPDX-License-Identifier: Apache-2.0 */
/* A work connection: opens it again when it breaks, decides when a batch is sent, and hands replies to whom they belong. */
#include "base/alloc.h"
#include "base/time.h"
#include "libpawl/worker.h"
#include "pg/fault.h"

static const int64_t open_base_us = 20000;
static const int64_t open_cap_us = 5000000;

/* What one array of a batch may take; a batch is cut before it comes near. */
static const size_t array_max = (size_t)64 * 1024 * 1024;

int
pw_lane_init(
    struct pw_lane *lane, int number, const struct pw_settings *settings, struct pw_error *err)
{
    struct pw_array *arrays[] = {&lane->runs, &lane->fences, &lane->kinds, &lane->names,
        &lane->payloads, &lane->seqs, &lane->tasks, &lane->millis, &lane->options};

    lane->number = number;
    lane->batch_cap = (size_t)settings->batch_max;
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
        pw_array_init(arrays[i], array_max);
    lane->batch.items = pw_calloc((size_t)settings->batch_max, sizeof(struct pw_item *));
    lane->batch.rows = pw_calloc((size_t)settings->batch_max, sizeof(int));
    if (lane->batch.items == NULL || lane->batch.rows == NULL) {
        pw_error_oom(err);
        return PAWL_ENOMEM;
    }
    return PAWL_OK;
}

void
pw_lane_done(struct pw_lane *lane)
{
    struct pw_array *arrays[] = {&lane->runs, &lane->fences, &lane->kinds, &lane->names,
        &lane->payloads, &lane->seqs, &lane->tasks, &lane->millis, &lane->options};

    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
        pw_array_done(arrays[i]);
    pw_free(lane->batch.items);
    pw_free(lane->batch.rows);
    lane->batch.items = NULL;
    lane->batch.rows = NULL;
}

void
pw_lane_add(pawl_worker *worker, struct pw_item *item, int64_t now_us)
{
    struct pw_lane *lane = &worker->lanes[item->task->lane];

    /* Behind a busy one, so that the items of a run stay in order. */
    if (!pw_list_empty(&item->task->items)) {
        pw_list_add_tail(&item->task->items, &item->link);
        return;
    }
    if (lane->waiting_count == 0)
        lane->waiting_since_us = now_us;
    lane->waiting_count++;
    pw_list_add_tail(&lane->waiting, &item->link);
}

void
pw_lane_put_back(struct pw_lane *lane, struct pw_list *items, int64_t now_us)
{
    if (lane->waiting_count == 0)
        lane->waiting_since_us = now_us;
    for (struct pw_list *link = pw_list_first(items); link != NULL;
         link = pw_list_next(items, link))
        lane->waiting_count++;
    pw_list_move_all(items, &lane->waiting);
    pw_list_move_all(&lane->waiting, items);
}

void
pw_lane_lose(pawl_worker *worker, struct pw_lane *lane)
{
    struct pw_list *link;

    for (size_t i = 0; i < lane->batch.count; i++)
        pw_item_answer(worker, lane->batch.items[i], PW_ANSWER_LEASE_LOST, "the session has ended");
    lane->batch.count = 0;
    while ((link = pw_list_first(&lane->waiting)) != NULL) {
        pw_list_remove(link);
        pw_item_answer(worker, PW_CONTAINER(link, struct pw_item, link), PW_ANSWER_LEASE_LOST,
            "the session has ended");
    }
    lane->waiting_count = 0;
}

void
pw_lane_broken(
    pawl_worker *worker, struct pw_lane *lane, const struct pw_error *error, int64_t now_us)
{
    pw_log_error(&worker->settings.logger, PAWL_LOG_WARNING, "connection_lost", NULL, error);
    pw_conn_close(lane->conn);
    lane->conn = NULL;
    if (lane->is_up)
        lane->down_since_us = now_us;
    lane->is_up = false;
    lane->session = 0;
    lane->open_tries++;
    lane->open_at_us = pw_add_us(
        now_us, pw_backoff_us(&worker->rand, lane->open_tries, open_base_us, open_cap_us));
    /* Nobody knows whether the batch was taken: what was answers "already". */
    if (lane->commit.sent) {
        lane->commit.sent = false;
        lane->batch.careful = true;
    }
    if (lane->confirm.sent) {
        lane->confirm.sent = false;
        lane->batch.confirm = true;
    }
    pw_claim_broken(worker, lane, now_us);
}

static void
open_lane(pawl_worker *worker, struct pw_lane *lane, int64_t now_us)
{
    struct pw_conn_spec spec = pw_settings_spec(&worker->settings);
    struct pw_error err = {0};

    if (now_us < lane->open_at_us)
        return;
    if (pw_conn_open(&spec, &lane->conn, &err) != PAWL_OK) {
        lane->conn = NULL;
        lane->open_tries++;
        lane->open_at_us = pw_add_us(
            now_us, pw_backoff_us(&worker->rand, lane->open_tries, open_base_us, open_cap_us));
        pw_log_error(&worker->settings.logger, PAWL_LOG_WARNING, "connection_refused", NULL, &err);
        return;
    }
    lane->open_at_us = pw_add_us(now_us, pw_ms_to_us(worker->settings.connect_timeout_ms));
    pw_conn_pump(lane->conn);
}

/* Up and usable: the first time it is seen so, it is counted. */
static bool
is_up(pawl_worker *worker, struct pw_lane *lane)
{
    if (lane->conn == NULL || pw_conn_state(lane->conn) != PW_CONN_READY)
        return false;
    if (!lane->is_up)
        pw_log_unverified(&worker->settings.logger, lane->conn, &worker->unverified_told);
    if (!lane->is_up && lane->was_up)
        pw_worker_add(worker, PW_COUNT_RECONNECTS, 1);
    lane->is_up = true;
    lane->was_up = true;
    return true;
}

/*
 * Whether to send now. A run that is alone never waits; while others of this lane execute, those that have something to
 * commit wait for them, for as long as the window says, if the last batch shows that it is worth it.
 */
static bool
is_due(const pawl_worker *worker, const struct pw_lane *lane, int64_t now_us)
{
    if (lane->batch.count > 0)
        return now_us >= lane->batch.again_at_us;
    if (lane->waiting_count == 0)
        return false;
    if (lane->waiting_count >= lane->active || lane->waiting_count >= lane->last_count ||
        lane->waiting_count >= (size_t)worker->settings.batch_max)
        return true;
    return now_us >= pw_add_us(lane->waiting_since_us, worker->settings.batch_window_us);
}

/* Whatever was committed on this connection before is replicated once a later commit is. */
static int
send_confirm(pawl_worker *worker, struct pw_lane *lane, int64_t now_us, struct pw_error *err)
{
    struct pw_params params;
    int status;

    pw_params_init(&params);
    pw_params_int8(&params, worker->session);
    pw_params_null(&params);
    lane->confirm = (struct pw_request){
        .kind = PW_REQUEST_CONFIRM, .session = worker->session, .sent_us = now_us};
    lane->confirm.deadline_us = pw_add_us(now_us, pw_ms_to_us(worker->settings.lease_ms));
    status =
        pw_conn_send(lane->conn, pw_statement(PW_STMT_HEARTBEAT), &params, &lane->confirm, err);
    lane->confirm.sent = status == PAWL_OK;
    return status;
}

/* What a lane says that breaks without a word from libpq. */
static void
give_up(pawl_worker *worker, struct pw_lane *lane, const char *why, int64_t now_us)
{
    struct pw_error err = {0};

    pw_fault_lost(&err, why);
    pw_lane_broken(worker, lane, &err, now_us);
}

/* A lane without a connection for this long gives what it has to another. */
static const int64_t rescue_us = 1000000;

/* Whether a lane can take what another has. A reply that it waits for would be taken for one about that. */
static bool
has_room(const struct pw_lane *lane)
{
    return lane->is_up && lane->batch.count == 0 && !lane->commit.sent && !lane->confirm.sent;
}

void
pw_lane_rescue(pawl_worker *worker, struct pw_lane *lane, int64_t now_us)
{
    struct pw_lane *other = NULL;
    const struct pw_map_entry *entry;
    struct pw_batch batch;
    size_t at = 0;

    if (lane->is_up || now_us < pw_add_us(lane->down_since_us, rescue_us) ||
        (lane->active == 0 && lane->batch.count == 0 && lane->waiting_count == 0))
        return;
    for (size_t i = 0; i < worker->lane_count; i++)
        if (has_room(&worker->lanes[i]))
            other = &worker->lanes[i];
    if (other == NULL)
        return;
    batch = other->batch;
    other->batch = lane->batch;
    lane->batch = batch;
    pw_lane_put_back(other, &lane->waiting, now_us);
    lane->waiting_count = 0;
    while ((entry = pw_map_next(&worker->tasks, &at)) != NULL) {
        struct pw_task *task = entry->value;

        if (task->lane != lane->number)
            continue;
        task->lane = other->number;
        if (!task->finished) {
            lane->active--;
            other->active++;
        }
    }
}

bool
pw_request_late(const struct pw_request *request, int64_t now_us)
{
    return request->sent && now_us >= request->deadline_us;
}

void
pw_lane_turn(pawl_worker *worker, struct pw_lane *lane, int64_t now_us)
{
    struct pw_error err = {0};
    int status = PAWL_OK;

    if (lane->conn == NULL)
        open_lane(worker, lane, now_us);
    if (lane->conn == NULL)
        return;
    if (pw_conn_state(lane->conn) == PW_CONN_CONNECTING && now_us >= lane->open_at_us) {
        give_up(worker, lane, "could not connect within connect_timeout", now_us);
        return;
    }
    /* guard:lane_late */
    if (pw_request_late(&lane->commit, now_us) || pw_request_late(&lane->confirm, now_us) ||
        (worker->claim_lane == lane && pw_claim_late(worker, now_us))) {
        give_up(worker, lane, "the server has not answered in time", now_us);
        return;
    }
    if (!is_up(worker, lane) || worker->session_state != PW_SESSION_LIVE || lane->commit.sent ||
        lane->confirm.sent || !pw_conn_can_send(lane->conn))
        return;
    if (lane->batch.confirm && now_us >= lane->batch.again_at_us)
        status = send_confirm(worker, lane, now_us, &err);
    else if (lane->batch.confirm)
        return;
    else if (is_due(worker, lane, now_us))
        status = pw_batch_send(worker, lane, now_us, &err);
    if (status == PAWL_ENOMEM)
        lane->batch.again_at_us = pw_add_us(now_us, open_base_us);
    if (pw_conn_in_flight(lane->conn) > 0)
        pw_conn_pump(lane->conn);
}

int64_t
pw_lane_next_us(const pawl_worker *worker, const struct pw_lane *lane)
{
    int64_t at = INT64_MAX;

    if (lane->conn == NULL || pw_conn_state(lane->conn) == PW_CONN_CONNECTING)
        return lane->open_at_us;
    if (lane->commit.sent)
        at = lane->commit.deadline_us;
    else if (lane->confirm.sent)
        at = lane->confirm.deadline_us;
    else if (worker->session_state != PW_SESSION_LIVE || !pw_conn_can_send(lane->conn))
        at = INT64_MAX;
    else if (lane->batch.count > 0)
        at = lane->batch.again_at_us;
    else if (lane->waiting_count > 0)
        at = pw_add_us(lane->waiting_since_us, worker->settings.batch_window_us);
    return at;
}

/* What was committed before is replicated now, or that is asked again a little later. */
static void
confirmed(pawl_worker *worker, struct pw_lane *lane, const struct pw_reply *reply, int64_t now_us)
{
    if (pw_session_check(worker, reply, now_us))
        return;
    lane->batch.confirm = reply->status != PAWL_OK || reply->unreplicated;
    lane->batch.again_at_us = lane->batch.confirm ? pw_add_us(now_us, open_base_us) : 0;
}

/*
 * Whether the session is not known where this connection leads, although it lives where it was registered, as far as we know. Of two
 * servers that take writes, after a failover, each would end what the other has begun, and that without a pause. A connection that
 * has done something for the session is at the right one, and is believed.
 */
static bool
is_strange(const pawl_worker *worker, const struct pw_lane *lane, const struct pw_reply *reply)
{
    const struct pw_request *request = reply->tag;

    /* guard:lane_elsewhere */
    return pw_session_over(reply) && worker->session_state == PW_SESSION_LIVE &&
        request->session == worker->session && lane->session != worker->session;
}

void
pw_lane_reply(pawl_worker *worker, struct pw_lane *lane, struct pw_reply *reply, int64_t now_us)
{
    struct pw_request *request = reply->tag;

    /* It is no server to work with: a standby after a failover, perhaps. Another may be found under the same name. */
    if (reply->status == PAWL_ECONN) {
        pw_lane_broken(worker, lane, &reply->error, now_us);
        return;
    }
    if (is_strange(worker, lane, reply)) {
        pw_lane_broken(worker, lane, &reply->error, now_us);
        /* The heartbeat decides. If that says again and again that the session lives, it may be the one that is at the wrong server. */
        pw_session_ask(worker, lane->strange++ > 0, now_us);
        return;
    }
    if (reply->status == PAWL_OK) {
        lane->session = request->session;
        lane->strange = 0;
    }
    lane->open_tries = 0;
    request->sent = false;
    switch (request->kind) {
    case PW_REQUEST_COMMIT:
        pw_batch_reply(worker, lane, reply, now_us);
        break;
    case PW_REQUEST_CLAIM:
        pw_claim_reply(worker, reply, now_us);
        break;
    case PW_REQUEST_IDLE:
        pw_idle_reply(worker, reply, now_us);
        break;
    case PW_REQUEST_HELD:
        pw_held_reply(worker, reply, now_us);
        break;
    case PW_REQUEST_CONFIRM:
        confirmed(worker, lane, reply, now_us);
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
