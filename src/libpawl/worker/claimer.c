/* SPDX-License-Identifier: Apache-2.0 */
/* Claims tasks: decides when to claim and how many, and reads the reply. One claim is in flight at a time. */
#include "libpawl/worker/claimer.h"

#include "base/alloc.h"
#include "base/time.h"
#include "libpawl/worker/worker.h"

#include <assert.h>
#include <string.h>

/* The pause after a claim that returned some tasks, but fewer than requested. By then there may be more. */
static const int64_t gap_us = 2000;
/* A tick makes a due timer's task ready, and ticks are 100 ms apart. */
static const int64_t due_slack_us = 110000;
/*
 * When to ask for tasks that the session holds and the worker does not know. After a lost reply to a claim: held_times times,
 * held_after_us apart, because the server may still execute the claim. Otherwise every held_every_us, because the server may be slower
 * than that.
 */
static const int64_t held_after_us = 1000000;
static const unsigned held_times = 4;
static const int64_t held_every_us = 60000000;
/* After this number of lost replies in a row, the reply may be the cause: libpq breaks the connection if it has no memory for it. */
static const unsigned losses_max = 3;

/*
 * Claims after a notification are at least hint_gap_us apart. A burst of hint_burst claims may return nothing; after that there is one in
 * hint_refill_us. Such a claim returns nothing because another worker was faster, or because a login sends notifications to cause load.
 */
static const int64_t hint_gap_us = 2000;
static const int64_t hint_refill_us = 32000;
static const int64_t hint_burst = 8;

/* Returns the maximum number of tasks that a worker holds, so that a slow database does not fill its memory. */
static size_t
held_max(size_t width)
{
    return 4 * width + 1000;
}

/* The free places with which a busy worker claims at once; with fewer places it claims when batch_window_us is over. */
static const size_t places_max = 64;

static size_t
enough_places(const pawl_worker *worker)
{
    size_t enough = worker->width.now / 8;

    if (enough > places_max)
        enough = places_max;
    if (enough > (size_t)worker->claimer.cap)
        enough = (size_t)worker->claimer.cap;
    return enough > 0 ? enough : 1;
}

void
pw_claimer_init(struct pw_claimer *claimer)
{
    pw_heap_init(&claimer->dues);
    claimer->held_at_us = INT64_MAX;
    claimer->cap = PW_CLAIM_MAX;
    claimer->due_again_us = INT64_MAX;
    claimer->place_since_us = INT64_MAX;
}

void
pw_claim_soon(pawl_worker *worker, int64_t at_us)
{
    /* The claim in flight may have read the queue before the task was ready, so another claim follows it. */
    worker->claimer.again = worker->claimer.claim.sent;
    if (at_us < worker->claimer.at_us)
        worker->claimer.at_us = at_us;
}

static int64_t
later_us(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Since when notifications that were of no use allow another claim. */
static int64_t
hint_paid_at(const pawl_worker *worker)
{
    /* guard:hints_in_vain */
    return worker->claimer.hint_paid_us - hint_burst * hint_refill_us;
}

/* Returns when a notification may make the worker claim. */
static int64_t
hint_at(const pawl_worker *worker, int64_t now_us)
{
    int64_t at_us = pw_add_us(worker->claimer.hinted_us, hint_gap_us);

    at_us = later_us(at_us, hint_paid_at(worker));
    return later_us(at_us, now_us);
}

void
pw_claim_hint(pawl_worker *worker, int64_t now_us)
{
    int64_t at_us = hint_at(worker, now_us);

    worker->claimer.hint_pending = true;
    /* While claims fail, a notification does not shorten the pause between them. */
    if (worker->claimer.tries == 0 && at_us < worker->claimer.at_us)
        worker->claimer.at_us = at_us;
}

bool
pw_claim_late(const pawl_worker *worker, int64_t now_us)
{
    return pw_request_late(&worker->claimer.claim, now_us) ||
        pw_request_late(&worker->claimer.rest.request, now_us) ||
        pw_request_late(&worker->claimer.held_request, now_us);
}

struct pw_request
pw_claim_request(const pawl_worker *worker, enum pw_request_kind kind, int64_t now_us)
{
    return (struct pw_request){
        .kind = kind,
        .session = worker->session.id,
        .sent_us = now_us,
        .deadline_us = pw_add_us(now_us, pw_ms_to_us(worker->settings.lease_ms + 5000)),
    };
}

/* Schedules requests for held tasks from at_us on, because the session may hold tasks that the worker does not know. */
static void
be_unsure(pawl_worker *worker, int64_t at_us)
{
    worker->claimer.held_unsure = held_times;
    worker->claimer.held_at_us = at_us;
}

/* Returns how many runs can be started now. Tasks that have finished and are not recorded yet count only toward held_max(). */
static int32_t
free_places(pawl_worker *worker, bool *none_held)
{
    size_t width = worker->width.now;
    struct pw_load load = pw_inbox_load(&worker->inbox);

    *none_held = load.held == 0;
    worker->width.full = worker->width.full || load.active >= width;
    /* guard:starved_claims */
    if (load.draining || load.starved || worker->claimer.suspect_held || load.active >= width ||
        load.held >= held_max(width))
        return 0;
    return width - load.active > (size_t)worker->claimer.cap ? worker->claimer.cap
                                                             : (int32_t)(width - load.active);
}

/* Returns true if a claim for so few runs should wait for more places: runs of one batch finish shortly after each other. */
static bool
waits_for_places(pawl_worker *worker, int32_t most, int64_t now_us)
{
    struct pw_claimer *claimer = &worker->claimer;

    if (claimer->pending || (size_t)most >= enough_places(worker)) {
        claimer->place_since_us = INT64_MAX;
        return false;
    }
    if (claimer->place_since_us == INT64_MAX)
        claimer->place_since_us = now_us;
    return now_us < pw_add_us(claimer->place_since_us, worker->settings.batch_window_us);
}

/* Returns a writer that can send a request, or NULL. The writers take turns. */
static struct pw_writer *
pick_writer(pawl_worker *worker)
{
    const struct pw_conn *conn;

    for (size_t i = 0; i < worker->writer_count; i++) {
        struct pw_writer *writer =
            &worker->writers[(worker->claimer.writer_next + i) % worker->writer_count];

        if (writer->conn != NULL && pw_conn_can_send(writer->conn)) {
            worker->claimer.writer_next =
                (worker->claimer.writer_next + i + 1) % worker->writer_count;
            return writer;
        }
    }
    /* While the writers rest, the session's connection claims, and the first writer connects when it has a run. */
    conn = worker->session.conn;
    if (worker->writers[0].resting && conn != NULL && pw_conn_can_send(conn))
        return &worker->writers[0];
    return NULL;
}

static void
send_claim(pawl_worker *worker, struct pw_writer *writer, struct pw_conn *conn, int64_t now_us)
{
    struct pw_params params;
    struct pw_error err = {0};

    pw_params_init(&params);
    pw_params_int8(&params, worker->session.id);
    pw_params_int4(&params, worker->claimer.most);
    pw_params_int4(&params, worker->claimer.number);
    pw_params_bool(&params, worker->claimer.quiet);
    worker->claimer.claim = pw_claim_request(worker, PW_REQUEST_CLAIM, now_us);
    if (pw_conn_send(conn, pw_statement(PW_STMT_CLAIM), &params, &worker->claimer.claim, &err) !=
        PAWL_OK) {
        worker->claimer.at_us = pw_add_us(now_us, 10000);
        return;
    }
    worker->claimer.claim.sent = true;
    worker->claimer.place_since_us = INT64_MAX;
    worker->claimer.again = false;
    worker->claimer.hinted = worker->claimer.hint_pending ||
        (worker->claimer.idle == PW_IDLE && worker->claimer.rest.woken);
    if (worker->claimer.hint_pending) {
        worker->claimer.hinted_us = now_us;
        pw_rest_begin(worker, true, now_us);
    }
    worker->claimer.hint_pending = false;
    pw_rest_look(worker, writer, conn, now_us);
}

static void
send_held(pawl_worker *worker, struct pw_conn *conn, int64_t now_us)
{
    struct pw_params params;
    struct pw_error err = {0};

    pw_params_init(&params);
    pw_params_int8(&params, worker->session.id);
    worker->claimer.held_request = pw_claim_request(worker, PW_REQUEST_HELD, now_us);
    worker->claimer.held_at_us = pw_add_us(now_us, held_after_us);
    worker->claimer.held_request.sent = pw_conn_send(conn, pw_statement(PW_STMT_HELD), &params,
                                            &worker->claimer.held_request, &err) == PAWL_OK;
}

/*
 * Ticks and claims when a timer that the worker knows is due. Does both again due_slack_us later, because the tick of another worker may
 * have made the task ready in the meantime.
 */
static void
look_at_dues(pawl_worker *worker, int64_t now_us)
{
    if (pw_heap_take(&worker->claimer.dues, now_us) > 0) {
        pw_tick_ahead(worker);
        pw_claim_soon(worker, now_us);
        worker->claimer.due_again_us = pw_add_us(now_us, due_slack_us);
    }
    if (worker->claimer.due_again_us <= now_us) {
        pw_tick_ahead(worker);
        pw_claim_soon(worker, now_us);
        worker->claimer.due_again_us = INT64_MAX;
    }
}

static void
look_when_asked(pawl_worker *worker, int64_t now_us)
{
    unsigned looks = pw_inbox_looks(&worker->inbox);

    if (looks != worker->claimer.looked) {
        worker->claimer.looked = looks;
        worker->claimer.at_us = now_us;
        worker->tick.at_us = now_us;
        pw_tick_ahead(worker);
    }
}

/*
 * Returns true if the worker asks with rest() whether a run is ready, instead of a claim: no claim is sent while none is. A look that was
 * asked for is a claim. 1. The look ticks first. 2. The poll interval ends. 3. The tick is answered. Without this rest() would follow, and no
 * claim would answer the look.
 */
static bool
polls(const pawl_worker *worker, int64_t now_us)
{
    /* guard:look_is_a_claim */
    return now_us >= worker->claimer.poll_at_us && !worker->claimer.hint_pending &&
        worker->claimer.answered == worker->claimer.looked;
}

/*
 * Returns true while a claim, a rest or a request for held tasks is in flight. The next one waits for it. A list of held tasks that
 * was read during a claim would contain tasks that the worker does not know yet. It would release them.
 */
static bool
is_asking(const pawl_worker *worker)
{
    return worker->claimer.claim.sent || worker->claimer.rest.request.sent ||
        worker->claimer.held_request.sent;
}

/* Sends the next request: for held tasks if most is 0, else rest or a claim of so many. */
static void
ask(pawl_worker *worker, struct pw_writer *writer, int32_t most, bool none_held, int64_t now_us)
{
    struct pw_conn *conn = writer->conn == NULL ? worker->session.conn : writer->conn;

    worker->claimer.writer = writer;
    worker->claimer.on_control = writer->conn == NULL;
    if (most == 0) {
        send_held(worker, conn, now_us);
    } else if (worker->claimer.rest.due && !worker->claimer.pending) {
        if (!pw_rest_send(worker, conn, none_held, now_us))
            worker->claimer.at_us = pw_add_us(now_us, 10000);
    } else {
        if (!worker->claimer.pending) {
            /* A claim keeps its number until it is answered: if the reply is lost, the engine returns the same tasks for the same number. */
            worker->claimer.pending = true;
            worker->claimer.losses = 0;
            worker->claimer.number =
                worker->claimer.number == INT32_MAX ? 1 : worker->claimer.number + 1;
            worker->claimer.most = most;
            worker->claimer.quiet = none_held;
            worker->claimer.looks = worker->claimer.looked;
        }
        send_claim(worker, writer, conn, now_us);
    }
    pw_conn_pump(conn);
}

/* Calls pass_on() instead of a claim: there is no place for another run. */
static void
pass_on(pawl_worker *worker, int64_t now_us)
{
    struct pw_writer *writer = pick_writer(worker);

    worker->claimer.no_writer = writer == NULL;
    if (writer != NULL)
        pw_rest_full(
            worker, writer, writer->conn == NULL ? worker->session.conn : writer->conn, now_us);
}

void
pw_claim_turn(pawl_worker *worker, int64_t now_us)
{
    struct pw_writer *writer;
    bool none_held = false;
    bool looks;
    int32_t most;

    if (worker->session.state != PW_SESSION_LIVE || is_asking(worker))
        return;
    look_at_dues(worker, now_us);
    look_when_asked(worker, now_us);
    most = worker->claimer.pending ? worker->claimer.most : free_places(worker, &none_held);
    worker->claimer.places = most;
    worker->claimer.no_place = most == 0;
    worker->claimer.no_writer = false;
    looks = now_us >= worker->claimer.held_at_us && !worker->claimer.pending;
    if (most == 0)
        worker->claimer.place_since_us = INT64_MAX;
    if (most == 0 && !looks && now_us >= pw_rest_full_us(worker)) {
        pass_on(worker, now_us);
        return;
    }
    if (!looks &&
        (most == 0 || now_us < worker->claimer.at_us || waits_for_places(worker, most, now_us)))
        return;
    writer = pick_writer(worker);
    worker->claimer.no_writer = writer == NULL;
    if (writer == NULL)
        return;
    if (polls(worker, now_us)) {
        worker->claimer.poll_at_us = INT64_MAX;
        worker->claimer.rest.due = true;
    }
    if (!looks && !worker->claimer.pending && !worker->claimer.rest.due &&
        pw_tick_first(worker, now_us))
        return;
    ask(worker, writer, looks ? 0 : most, none_held, now_us);
}

int64_t
pw_claim_next_us(const pawl_worker *worker)
{
    int64_t at = worker->claimer.at_us;

    if (worker->claimer.place_since_us != INT64_MAX)
        at = later_us(
            at, pw_add_us(worker->claimer.place_since_us, worker->settings.batch_window_us));
    if (worker->claimer.claim.sent)
        return worker->claimer.claim.deadline_us;
    if (worker->claimer.rest.request.sent)
        return worker->claimer.rest.request.deadline_us;
    if (worker->claimer.held_request.sent)
        return worker->claimer.held_request.deadline_us;
    if (worker->session.state != PW_SESSION_LIVE || worker->claimer.no_writer ||
        (worker->tick.first && worker->tick.request.sent))
        return INT64_MAX;
    if (worker->claimer.no_place) {
        at = pw_rest_full_us(worker);
        return at < worker->claimer.held_at_us ? at : worker->claimer.held_at_us;
    }
    if (worker->claimer.held_at_us < at && !worker->claimer.pending)
        at = worker->claimer.held_at_us;
    if (worker->claimer.due_again_us < at)
        at = worker->claimer.due_again_us;
    return pw_heap_first(&worker->claimer.dues) < at ? pw_heap_first(&worker->claimer.dues) : at;
}

size_t
pw_claim_worth(const pawl_worker *worker)
{
    size_t enough = enough_places(worker);
    size_t places = (size_t)worker->claimer.places;

    if (worker->session.state != PW_SESSION_LIVE || is_asking(worker) ||
        (!worker->claimer.no_place && worker->claimer.place_since_us == INT64_MAX))
        return SIZE_MAX;
    return enough > places ? enough - places : 1;
}

/*
 * Gives up a claim; the next one asks for fewer tasks under another number. A request for held tasks finds the tasks of this claim, and
 * the worker releases them.
 */
static void
give_up_claim(pawl_worker *worker, int64_t now_us)
{
    worker->claimer.pending = false;
    worker->claimer.cap = worker->claimer.most > 1 ? worker->claimer.most / 2 : 1;
    be_unsure(worker, now_us);
}

void
pw_claim_broken(pawl_worker *worker, struct pw_writer *writer, int64_t now_us)
{
    pw_rest_broken(worker, writer);
    if (worker->claimer.on_control ? writer != NULL : worker->claimer.writer != writer)
        return;
    worker->claimer.writer = NULL;
    worker->claimer.on_control = false;
    worker->claimer.rest.request.sent = false;
    worker->claimer.held_request.sent = false;
    if (worker->claimer.claim.sent) {
        worker->claimer.claim.sent = false;
        worker->claimer.at_us = now_us;
        /* The server may still execute the claim, and its reply then reaches no worker. */
        be_unsure(worker, pw_add_us(now_us, held_after_us));
        if (++worker->claimer.losses >= losses_max)
            give_up_claim(worker, now_us);
    }
}

static bool
copy_bytes(struct pw_arena *arena, const struct pw_rows *rows, int row, int column, pawl_bytes *out)
{
    const char *data;
    size_t size;

    *out = (pawl_bytes){NULL, 0};
    if (!pw_rows_bytes(rows, row, column, &data, &size))
        return true;
    out->data = pw_arena_copy(arena, data, size);
    out->size = size;
    return out->data != NULL;
}

/* Reads the columns of a row that must not be null. */
static bool
read_facts(struct pw_task *task, const struct pw_rows *rows, int row)
{
    pawl_bytes workflow;
    pawl_bytes tenant;

    if (!pw_rows_uuid(rows, row, 0, &task->id) || !pw_rows_int4(rows, row, 1, &task->number) ||
        !pw_rows_int4(rows, row, 2, &task->fence) || !pw_rows_int4(rows, row, 4, &task->round) ||
        !pw_rows_int4(rows, row, 5, &task->execution) ||
        !pw_rows_bool(rows, row, 7, &task->rolling_back) ||
        !pw_rows_bool(rows, row, 8, &task->suspect))
        return false;
    pw_uuid_format(&task->id, task->id_text);
    if (!copy_bytes(&task->arena, rows, row, 3, &workflow) ||
        !copy_bytes(&task->arena, rows, row, 6, &tenant) ||
        !copy_bytes(&task->arena, rows, row, 9, &task->input) ||
        !copy_bytes(&task->arena, rows, row, 10, &task->metadata))
        return false;
    task->workflow = workflow.data == NULL ? "" : workflow.data;
    task->tenant = tenant.data == NULL ? "" : tenant.data;
    return true;
}

static bool
read_task(struct pw_task *task, const struct pw_rows *rows, int row, int64_t now_us)
{
    pawl_bytes record = {NULL, 0};
    int64_t timeout_ms;
    int64_t db_now_us = 0;

    if (!read_facts(task, rows, row))
        return false;
    task->step_timeout_ms = pw_rows_int8(rows, row, 12, &timeout_ms) ? timeout_ms : -1;
    task->run_deadline_us = pw_rows_int8(rows, row, 13, &timeout_ms)
        ? pw_add_us(now_us, pw_ms_to_us(timeout_ms))
        : INT64_MAX;
    if (!pw_rows_bytes(rows, row, 11, &record.data, &record.size))
        return true;
    (void)pw_rows_int8(rows, row, 14, &db_now_us);
    if (!pw_record_read(&task->record, &task->arena, record, db_now_us, now_us))
        return false;
    atomic_store(&task->seq, task->record.seq_max);
    return true;
}

static struct pw_task *
new_task(pawl_worker *worker)
{
    struct pw_task *task = pw_calloc(1, sizeof(*task));

    if (task == NULL)
        return NULL;
    task->worker = worker;
    task->session = worker->session.id;
    task->last.seq = INT32_MIN;
    task->last.millis = INT32_MIN;
    /* The engine limits input, metadata and records; a run's own allocations have a separate limit. */
    pw_arena_init(&task->arena, SIZE_MAX / 4);
    pw_list_init(&task->link);
    pw_list_init(&task->parked_link);
    pw_list_init(&task->items);
    pw_list_init(&task->last.link);
    return task;
}

/*
 * Adds a task to the map. If the map has an earlier claim of the same task, the worker has lost that claim since: its handler gets a lost
 * lease.
 */
static bool
put_task(pawl_worker *worker, struct pw_task *task)
{
    struct pw_task *earlier = pw_map_get(&worker->tasks, &task->id, task->number);

    if (!pw_map_put(&worker->tasks, &task->id, task->number, task))
        return false;
    if (earlier != NULL)
        pw_task_tell(earlier, PW_LEASE_LOST);
    return true;
}

/*
 * Makes a task from a row of a claim, and adds it to the tasks of that claim. Returns false if out of memory or the row is
 * malformed.
 */
static bool
take_row(
    pawl_worker *worker, const struct pw_rows *rows, int row, int64_t now_us, struct pw_list *taken)
{
    struct pw_task *task = new_task(worker);
    pawl_handler_fn function;

    if (task == NULL)
        return false;
    task->writer = worker->claimer.writer->number;
    if (!read_task(task, rows, row, now_us) || (task->run = pw_run_new(task)) == NULL ||
        !put_task(worker, task)) {
        pw_run_free(task->run);
        pw_arena_done(&task->arena);
        pw_free(task);
        return false;
    }
    (void)pw_worker_find(worker, task->workflow, &function, &task->userdata);
    if (task->suspect)
        worker->claimer.suspect_held = true;
    worker->claimer.writer->active++;
    task->offered_us = now_us;
    pw_list_add_tail(taken, &task->link);
    pw_inbox_watch(&worker->inbox, task->run_deadline_us);
    return true;
}

void
pw_claim_wait(pawl_worker *worker, int64_t now_us)
{
    int64_t poll_us = pw_ms_to_us(worker->settings.poll_ms) * 11 / 10;
    int64_t look_us = pw_rest_look_us(worker);

    worker->claimer.poll_at_us = pw_add_us(now_us, pw_jitter(&worker->rand, poll_us, 0.09));
    if (look_us == INT64_MAX)
        worker->claimer.rest.passes = false;
    else if (worker->claimer.rest.woken)
        look_us = later_us(look_us, hint_paid_at(worker));
    worker->claimer.at_us =
        look_us < worker->claimer.poll_at_us ? look_us : worker->claimer.poll_at_us;
}

/* Decides when to claim again, after a claim that returned count tasks. */
static void
plan_next(pawl_worker *worker, int32_t count, int64_t now_us)
{
    pw_rest_claimed(worker, count, worker->claimer.idle != PW_BUSY, now_us);
    worker->claimer.poll_at_us = INT64_MAX;
    if (count >= worker->claimer.most) {
        worker->claimer.idle = PW_BUSY;
        worker->claimer.at_us = now_us;
    } else if (worker->claimer.again) {
        /* A worker that rests stays at rest: the server knows it. */
        worker->claimer.idle = count > 0 ? PW_BUSY : worker->claimer.idle;
        worker->claimer.at_us = now_us;
    } else if (count > 0) {
        worker->claimer.idle = PW_BUSY;
        worker->claimer.at_us = pw_add_us(now_us, gap_us);
    } else if (worker->claimer.idle == PW_BUSY) {
        /*
         * The session rests first, then claims again. The claim finds a run that was triggered before the mark; a later trigger sends a
         * notification.
         */
        worker->claimer.idle = PW_LOOKING;
        /* guard:rest_then_claim */
        worker->claimer.rest.due = true;
        worker->claimer.at_us = now_us;
    } else {
        worker->claimer.idle = PW_IDLE;
        pw_claim_wait(worker, now_us);
    }
    if (count == 0 && worker->claimer.hinted)
        worker->claimer.hint_paid_us =
            pw_add_us(later_us(worker->claimer.hint_paid_us, now_us), hint_refill_us);
    /* The notification may be about a run that the claim did not see. */
    if (worker->claimer.hint_pending)
        pw_claim_hint(worker, now_us);
}

/* Reports what a claim that returned count tasks proves to pawl_test_idle(). */
static void
answer_looks(pawl_worker *worker, int32_t count)
{
    /* While the session may hold tasks that the worker does not know, a claim that returned nothing proves nothing. */
    bool quiet = count == 0 && worker->claimer.held_unsure == 0;

    if (quiet)
        worker->claimer.answered = worker->claimer.looks;
    pw_inbox_claimed(&worker->inbox, quiet, worker->claimer.looks);
}

void
pw_claim_reply(pawl_worker *worker, struct pw_reply *reply, int64_t now_us)
{
    int count = pw_rows_count(&reply->rows);
    bool lost = false;
    bool tick_due = false;
    struct pw_list taken;

    assert(reply->tag == &worker->claimer.claim);
    /* These tasks were claimed for a session that has ended: other workers have them by now, or will have them soon. */
    if (worker->session.state != PW_SESSION_LIVE ||
        worker->claimer.claim.session != worker->session.id)
        return;
    if (reply->status != PAWL_OK) {
        if (pw_session_check(worker, reply, now_us))
            return;
        /* The claim may have asked for too many tasks. A failed claim has claimed nothing. */
        worker->claimer.pending = false;
        worker->claimer.cap = worker->claimer.most > 1 ? worker->claimer.most / 2 : 1;
        worker->claimer.tries++;
        worker->claimer.at_us =
            pw_add_us(now_us, pw_backoff_us(&worker->rand, worker->claimer.tries, 10000, 2000000));
        pw_log_error(
            &worker->settings.logger, PAWL_LOG_WARNING, "claim_failed", NULL, &reply->error);
        return;
    }
    worker->claimer.tries = 0;
    /* A claim that returned fewer than cap tasks proves nothing: the tasks of an earlier, larger claim may not have been released yet. */
    if (count >= worker->claimer.cap)
        worker->claimer.cap =
            worker->claimer.cap < PW_CLAIM_MAX / 2 ? 2 * worker->claimer.cap : PW_CLAIM_MAX;
    worker->claimer.pending = false;
    if (reply->unreplicated) {
        /* A failover may lose these fences, so the worker must not use them: it releases the tasks and claims again. */
        be_unsure(worker, now_us);
        worker->claimer.at_us = now_us;
        /* If the claim returned tasks, it has removed the idle mark of the session. */
        worker->claimer.idle = PW_BUSY;
        return;
    }
    pw_worker_add(worker, PW_COUNT_CLAIMS, 1);
    pw_worker_add(worker, PW_COUNT_CLAIMED, count);
    /* A claim that returned nothing has no row to report it. Then the worker rests, and that reports it. */
    if ((count == 0 && worker->claimer.rest.failed) ||
        (pw_rows_bool(&reply->rows, 0, 15, &tick_due) && tick_due))
        pw_tick_soon(worker);
    pw_list_init(&taken);
    for (int row = 0; row < count; row++)
        if (!take_row(worker, &reply->rows, row, now_us, &taken))
            lost = true;
    pw_inbox_add_tasks(&worker->inbox, &taken);
    if (lost) {
        pw_log(&worker->settings.logger, PAWL_LOG_WARNING, "claim_unread",
            "a claimed run could not be read, or there was no memory for it: it is released", NULL);
        be_unsure(worker, pw_add_us(now_us, held_after_us));
    }
    answer_looks(worker, count);
    plan_next(worker, count, now_us);
}

/* Returns true if a row of held tasks is about a task that the worker knows, or is malformed. */
static bool
is_known(pawl_worker *worker, const struct pw_rows *rows, int row)
{
    const struct pw_task *task;
    struct pw_uuid id;
    int32_t number;
    int32_t fence;

    if (!pw_rows_uuid(rows, row, 0, &id) || !pw_rows_int4(rows, row, 1, &number) ||
        !pw_rows_int4(rows, row, 2, &fence))
        return true;
    task = pw_map_get(&worker->tasks, &id, number);
    return task != NULL && task->fence == fence;
}

/*
 * Releases a task that the session holds and the worker does not know: the reply to its claim was lost or not used. Returns false if out
 * of memory.
 */
static bool
give_back_unknown(pawl_worker *worker, const struct pw_rows *rows, int row)
{
    struct pw_task *task = new_task(worker);

    if (task == NULL)
        return false;
    task->writer = worker->claimer.writer->number;
    if (!pw_rows_uuid(rows, row, 0, &task->id) || !pw_rows_int4(rows, row, 1, &task->number) ||
        !pw_rows_int4(rows, row, 2, &task->fence) || !put_task(worker, task)) {
        pw_free(task);
        return false;
    }
    worker->claimer.writer->active++;
    pw_inbox_count_task(&worker->inbox);
    pw_task_give_back(task);
    return true;
}

void
pw_held_reply(pawl_worker *worker, struct pw_reply *reply, int64_t now_us)
{
    bool whole = true;

    assert(reply->tag == &worker->claimer.held_request);
    if (pw_session_check(worker, reply, now_us) ||
        worker->claimer.held_request.session != worker->session.id)
        return;
    if (reply->status == PAWL_OK && worker->claimer.held_unsure > 0)
        worker->claimer.held_unsure--;
    for (int row = 0; row < pw_rows_count(&reply->rows); row++)
        if (!is_known(worker, &reply->rows, row) && !give_back_unknown(worker, &reply->rows, row))
            whole = false;
    if (!whole)
        be_unsure(worker, pw_add_us(now_us, held_after_us));
    else
        worker->claimer.held_at_us =
            pw_add_us(now_us, worker->claimer.held_unsure > 0 ? held_after_us : held_every_us);
}
