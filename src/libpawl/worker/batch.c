/* SPDX-License-Identifier: Apache-2.0 */
/* Batches: sends many items in one call of pawl.commit, and handles the answer to each item. */
#include "base/time.h"
#include "libpawl/worker/worker.h"

#include <assert.h>
#include <string.h>

/* A batch ends before its payloads are larger than this, unless it is one item. */
static const size_t payloads_max = (size_t)8 * 1024 * 1024;

static const int64_t busy_base_us = 1000;
static const int64_t busy_cap_us = 100000;
static const int64_t again_base_us = 10000;
static const int64_t again_cap_us = 2000000;
/* Runs that are due later than this are not remembered: polling finds them in time. */
static const int64_t due_max_ms = 60000;

/*
 * Returns true if the engine may fail to read an item's option. The type json accepts \u0000 and half of a surrogate pair, but no text
 * can hold them. The server would log the option of a call that fails, so such items are sent with commit_each, which catches errors.
 */
static bool
has_escape(const struct pw_item *item)
{
    const char *at = item->option.data;
    const char *end = at == NULL ? NULL : at + item->option.size;

    while (at != NULL && (at = memchr(at, '\\', (size_t)(end - at))) != NULL && ++at < end)
        if (*at == 'u')
            return true;
    return false;
}

static void
fill(struct pw_writer *writer)
{
    size_t size = 0;
    struct pw_list *link;

    writer->batch.one_by_one = false;
    while (writer->batch.count < writer->batch_cap &&
        (link = pw_list_first(&writer->waiting)) != NULL) {
        struct pw_item *item = PW_CONTAINER(link, struct pw_item, link);

        /* An earlier item of this run was busy and is parked: this one waits after it. */
        if (!pw_list_empty(&item->task->items)) {
            pw_list_remove(link);
            writer->waiting_count--;
            pw_list_add_tail(&item->task->items, link);
            continue;
        }
        size += item->payload.size + item->option.size;
        if (writer->batch.count > 0 && size > payloads_max)
            break;
        pw_list_remove(link);
        writer->waiting_count--;
        writer->batch.items[writer->batch.count] = item;
        writer->batch.count++;
        /* guard:one_by_one_options */
        writer->batch.one_by_one = writer->batch.one_by_one || has_escape(item);
    }
    writer->batch.tries = 0;
    writer->batch.again_at_us = 0;
}

static void
begin_arrays(struct pw_writer *writer)
{
    pw_array_begin(&writer->runs, PW_TYPE_UUID);
    pw_array_begin(&writer->fences, PW_TYPE_INT4);
    pw_array_begin(&writer->kinds, PW_TYPE_TEXT);
    pw_array_begin(&writer->names, PW_TYPE_TEXT);
    pw_array_begin(&writer->payloads, PW_TYPE_TEXT);
    pw_array_begin(&writer->seqs, PW_TYPE_INT4);
    pw_array_begin(&writer->tasks, PW_TYPE_INT4);
    pw_array_begin(&writer->millis, PW_TYPE_INT4);
    pw_array_begin(&writer->options, PW_TYPE_TEXT);
}

static void
add_number(struct pw_array *array, int32_t value)
{
    if (value == INT32_MIN)
        pw_array_null(array);
    else
        pw_array_int4(array, value);
}

static void
add_item(struct pw_writer *writer, const struct pw_item *item)
{
    const char *kind = pw_kind_name(item->kind);

    pw_array_uuid(&writer->runs, &item->task->id);
    pw_array_int4(&writer->fences, item->task->fence);
    pw_array_bytes(&writer->kinds, kind, strlen(kind));
    pw_array_bytes(&writer->names, item->name, item->name == NULL ? 0 : strlen(item->name));
    pw_array_bytes(&writer->payloads, item->payload.data, item->payload.size);
    add_number(&writer->seqs, item->seq);
    pw_array_int4(&writer->tasks, item->task->number);
    add_number(&writer->millis, item->millis);
    pw_array_bytes(&writer->options, item->option.data, item->option.size);
}

static bool
arrays_ok(const struct pw_writer *writer)
{
    return pw_array_ok(&writer->runs) && pw_array_ok(&writer->fences) &&
        pw_array_ok(&writer->kinds) && pw_array_ok(&writer->names) &&
        pw_array_ok(&writer->payloads) && pw_array_ok(&writer->seqs) &&
        pw_array_ok(&writer->tasks) && pw_array_ok(&writer->millis) &&
        pw_array_ok(&writer->options);
}

int
pw_batch_send(pawl_worker *worker, struct pw_writer *writer, struct pw_conn *conn, int64_t now_us,
    struct pw_error *err)
{
    struct pw_params params;
    bool plain = true;
    int status;

    assert(conn != NULL && !writer->commit.sent && !writer->confirm.sent);
    if (writer->batch.count == 0)
        fill(writer);
    if (writer->batch.count == 0)
        return PAWL_OK;
    begin_arrays(writer);
    for (size_t i = 0; i < writer->batch.count; i++) {
        add_item(writer, writer->batch.items[i]);
        plain = plain && writer->batch.items[i]->option.data == NULL &&
            writer->batch.items[i]->task->number == 0;
    }
    if (!arrays_ok(writer)) {
        pw_error_oom(err);
        return PAWL_ENOMEM;
    }
    pw_params_init(&params);
    pw_params_int8(&params, worker->session.id);
    pw_params_array(&params, &writer->runs);
    pw_params_array(&params, &writer->fences);
    pw_params_array(&params, &writer->kinds);
    pw_params_array(&params, &writer->names);
    pw_params_array(&params, &writer->payloads);
    pw_params_array(&params, &writer->seqs);
    if (plain)
        pw_params_null(&params);
    else
        pw_params_array(&params, &writer->tasks);
    pw_params_array(&params, &writer->millis);
    if (plain)
        pw_params_null(&params);
    else
        pw_params_array(&params, &writer->options);
    writer->commit = (struct pw_request){
        .kind = PW_REQUEST_COMMIT, .session = worker->session.id, .sent_us = now_us};
    writer->commit.deadline_us = pw_add_us(now_us, pw_ms_to_us(worker->settings.lease_ms + 5000));
    status = pw_conn_send(conn,
        pw_statement(writer->batch.one_by_one ? PW_STMT_COMMIT_EACH : PW_STMT_COMMIT), &params,
        &writer->commit, err);
    writer->commit.sent = status == PAWL_OK;
    return status;
}

/* Parks an item that could not be applied now, to be sent again later. Items that its run posts in the meantime wait after it. */
static void
park(pawl_worker *worker, struct pw_item *item, int64_t cap_us, int64_t now_us)
{
    struct pw_task *task = item->task;

    if (pw_list_empty(&task->items)) {
        task->parked_tries++;
        task->parked_until_us = pw_add_us(
            now_us, pw_backoff_us(&worker->rand, task->parked_tries, busy_base_us, cap_us));
        pw_list_add_tail(&worker->parked, &task->parked_link);
    }
    pw_list_add_tail(&task->items, &item->link);
}

/*
 * Sends a permanent failure in place of a refused last item, so that the run is not held forever. The engine refuses that failure only if
 * the run is gone. Returns false if the item is not replaced.
 */
static bool
fail_instead(pawl_worker *worker, struct pw_item *item, const char *reason, int64_t now_us)
{
    if (item != &item->task->last || strcmp(reason, "drift") == 0 || item->task->failed_instead)
        return false;
    if (item->kind != PW_KIND_COMPLETE && item->kind != PW_KIND_SUSPEND &&
        item->kind != PW_KIND_FAIL)
        return false;
    pw_task_fail_instead(item->task, reason);
    pw_writer_add(worker, item, now_us);
    return true;
}

static const char *
keep_reason(struct pw_item *item, const char *reason)
{
    const char *copy;

    if (reason == NULL)
        return "";
    if (item->branch == NULL)
        return reason;
    copy = pw_arena_copy(pw_run_arena(item->branch), reason, strlen(reason));
    return copy == NULL ? "out of memory" : copy;
}

/* Stores when a sleep or a retry that was just recorded is due, so that the worker claims at that time. */
static void
note_due(pawl_worker *worker, const struct pw_item *item, int64_t now_us)
{
    int64_t delay_ms = item->delay_ms;

    if (item->kind == PW_KIND_SLEEP && item->state == PW_STATE_PAUSED)
        (void)pw_json_to_int(
            pw_json_member((struct pw_json){item->option.data, item->option.size}, "ms"),
            &delay_ms);
    if (delay_ms > 0 && delay_ms < due_max_ms)
        pw_heap_add(&worker->claimer.dues, pw_add_us(now_us, pw_ms_to_us(delay_ms)));
}

static void
refuse(pawl_worker *worker, struct pw_item *item, const char *reason, int64_t now_us)
{
    if (!fail_instead(worker, item, reason, now_us))
        pw_item_answer(worker, item, PW_ANSWER_REFUSED, keep_reason(item, reason));
}

static void
answer_item(
    pawl_worker *worker, struct pw_item *item, const struct pw_rows *rows, int row, int64_t now_us)
{
    const char *answer = pw_rows_text(rows, row, 1);
    const char *reason = pw_rows_text(rows, row, 2);
    const char *data;
    size_t size;

    /* Another transaction has locked the run, or an earlier item of the run was not applied. */
    if (answer == NULL || strcmp(answer, "busy") == 0) {
        pw_worker_add(worker, PW_COUNT_BUSY, 1);
        park(worker, item, busy_cap_us, now_us);
        return;
    }
    item->task->parked_tries = 0;
    if (pw_rows_bytes(rows, row, 3, &data, &size) &&
        !pw_item_read(item, item->branch == NULL ? NULL : pw_run_arena(item->branch), data, size)) {
        pw_item_answer(worker, item, PW_ANSWER_FAILED, "out of memory");
        return;
    }
    if (strcmp(answer, "ok") == 0 || strcmp(answer, "already") == 0) {
        note_due(worker, item, now_us);
        pw_item_answer(worker, item, answer[0] == 'o' ? PW_ANSWER_OK : PW_ANSWER_ALREADY, NULL);
    } else if (strcmp(answer, "lease_lost") == 0) {
        pw_item_answer(worker, item, PW_ANSWER_LEASE_LOST, keep_reason(item, reason));
    } else if (strcmp(answer, "cancelled") == 0) {
        pw_item_answer(worker, item, PW_ANSWER_CANCELLED, keep_reason(item, reason));
    } else {
        refuse(worker, item, reason == NULL ? "" : reason, now_us);
    }
}

/* Returns true if the data of an item caused the error, so that the same item fails again. */
static bool
is_about_data(const struct pw_error *error)
{
    return strncmp(error->sqlstate, "22", 2) == 0 || strncmp(error->sqlstate, "23", 2) == 0 ||
        strncmp(error->sqlstate, "54", 2) == 0;
}

/*
 * A commit_each failed as a whole: it was too large for one call, or one of its items makes the server fail. Half of the batch is sent
 * again alone, and so on. In the end that item is alone, and then no other item waits for it.
 */
static void
take_apart(
    pawl_worker *worker, struct pw_writer *writer, const struct pw_error *error, int64_t now_us)
{
    struct pw_item *item = writer->batch.items[0];
    size_t half = writer->batch.count / 2;
    struct pw_list rest;

    if (writer->batch.count == 1) {
        writer->batch.count = 0;
        if (is_about_data(error))
            refuse(worker, item, error->message, now_us);
        else
            park(worker, item, again_cap_us, now_us);
        return;
    }
    pw_list_init(&rest);
    for (size_t i = half; i < writer->batch.count; i++)
        pw_list_add_tail(&rest, &writer->batch.items[i]->link);
    writer->batch.count = half;
    writer->batch_cap = half;
    pw_writer_put_back(writer, &rest, now_us);
}

/*
 * Sends a batch again after the whole call failed and had no effect. The first time at once with commit_each, where one item does not
 * affect another; then after growing pauses.
 */
static void
send_again(
    pawl_worker *worker, struct pw_writer *writer, const struct pw_error *error, int64_t now_us)
{
    bool one_by_one = writer->batch.one_by_one;

    writer->batch.one_by_one = true;
    if (!one_by_one)
        return;
    writer->batch.tries++;
    writer->batch.again_at_us = pw_add_us(
        now_us, pw_backoff_us(&worker->rand, writer->batch.tries, again_base_us, again_cap_us));
    pw_log_error(&worker->settings.logger, PAWL_LOG_WARNING, "commit_failed", NULL, error);
    if (writer->batch.tries > 1)
        take_apart(worker, writer, error, now_us);
}

/* Finds the row that answers each item. Returns false if an item has no row, or more than one. */
static bool
find_rows(struct pw_writer *writer, const struct pw_rows *rows)
{
    int count = (int)writer->batch.count;

    if (pw_rows_count(rows) != count)
        return false;
    for (int i = 0; i < count; i++)
        writer->batch.rows[i] = -1;
    for (int row = 0; row < count; row++) {
        int32_t number;

        /* guard:commit_rows */
        if (!pw_rows_int4(rows, row, 0, &number) || number < 1 || number > count ||
            writer->batch.rows[number - 1] >= 0)
            return false;
        writer->batch.rows[number - 1] = row;
    }
    return true;
}

void
pw_batch_reply(
    pawl_worker *worker, struct pw_writer *writer, struct pw_reply *reply, int64_t now_us)
{
    const struct pw_request *request = reply->tag;
    size_t count = writer->batch.count;

    assert(request->kind == PW_REQUEST_COMMIT);
    /* The session ended while the commit was in flight. Its items have been answered, and the writer has another batch now. */
    if (count == 0 || request->session != worker->session.id)
        return;
    if (reply->status != PAWL_OK) {
        if (!pw_session_check(worker, reply, now_us))
            send_again(worker, writer, &reply->error, now_us);
        return;
    }
    /* guard:commit_unreplicated */
    if (reply->unreplicated) {
        writer->batch.confirm = true;
        writer->batch.one_by_one = true;
        return;
    }
    if (!find_rows(writer, &reply->rows)) {
        pw_error_set(&reply->error, PAWL_ESCHEMA, "the answer to commit is malformed");
        send_again(worker, writer, &reply->error, now_us);
        return;
    }
    writer->batch.count = 0;
    writer->last_count = count;
    writer->batch_cap = 2 * writer->batch_cap < (size_t)worker->settings.batch_max
        ? 2 * writer->batch_cap
        : (size_t)worker->settings.batch_max;
    pw_worker_add(worker, PW_COUNT_BATCHES, 1);
    pw_worker_add(worker, PW_COUNT_COMMITTED, (int64_t)count);
    for (size_t i = 0; i < count; i++)
        answer_item(worker, writer->batch.items[i], &reply->rows, writer->batch.rows[i], now_us);
}
