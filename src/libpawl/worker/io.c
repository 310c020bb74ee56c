/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The I/O thread: owns every connection. In each turn it takes the items that handlers posted, sends requests, waits, and handles
 * replies.
 */
#include "base/time.h"
#include "libpawl/worker/worker.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

enum {
    FDS = PW_WRITERS_MAX + 2
};

/* Wakes the branches that were answered since the last call: all branches of a batch at once. */
static void
wake_answered(pawl_worker *worker)
{
    if (!pw_list_empty(&worker->offered))
        pw_inbox_offer(&worker->inbox, &worker->offered);
    pw_run_wake(&worker->woken);
}

/* Moves the items that handlers posted to the writers of their tasks. */
static void
gather(pawl_worker *worker, int64_t now_us)
{
    struct pw_list posted;
    struct pw_list *link;
    int64_t since_us;

    pw_list_init(&posted);
    since_us = pw_inbox_take_posted(&worker->inbox, &posted, now_us);
    while ((link = pw_list_first(&posted)) != NULL) {
        struct pw_item *item = PW_CONTAINER(link, struct pw_item, link);
        struct pw_task *task = item->task;

        pw_list_remove(link);
        pw_item_take(item);
        if (item == &task->last) {
            task->finished = true;
            worker->writers[task->writer].active--;
        }
        if (atomic_load(&task->standing) == PW_LEASE_LOST)
            pw_item_answer(worker, item, PW_ANSWER_LEASE_LOST, "the lease was lost");
        else
            pw_writer_add(worker, item, since_us);
    }
}

/* Moves parked items back to their writers when their pause has passed. */
static void
unpark(pawl_worker *worker, int64_t now_us)
{
    struct pw_list *next;

    for (struct pw_list *link = pw_list_first(&worker->parked); link != NULL; link = next) {
        struct pw_task *task = PW_CONTAINER(link, struct pw_task, parked_link);
        struct pw_writer *writer = &worker->writers[task->writer];

        next = pw_list_next(&worker->parked, link);
        if (task->parked_until_us > now_us)
            continue;
        pw_list_remove(link);
        /* Ahead of items that the run may have posted since. */
        pw_writer_put_back(writer, &task->items, now_us);
    }
}

static int64_t
unpark_at(const pawl_worker *worker)
{
    int64_t at = INT64_MAX;

    for (struct pw_list *link = pw_list_first(&worker->parked); link != NULL;
         link = pw_list_next(&worker->parked, link)) {
        const struct pw_task *task = PW_CONTAINER(link, struct pw_task, parked_link);

        if (task->parked_until_us < at)
            at = task->parked_until_us;
    }
    return at;
}

/* Logs that the program does not take its runs, and reports it with a heartbeat. */
static void
tell_starved(pawl_worker *worker, int64_t count, int64_t now_us)
{
    char number[PW_LOG_NUMBER_SIZE];

    pw_worker_add(worker, PW_COUNT_STARVED, count);
    pw_log(&worker->settings.logger, PAWL_LOG_WARNING, "runs_starved",
        "the program has not called pawl_worker_next() within start_timeout: the worker releases "
        "claimed runs",
        "runs", pw_log_number(count, number), NULL);
    if (worker->session.state == PW_SESSION_LIVE)
        pw_session_ask(worker, false, now_us);
}

/*
 * Releases the tasks that were claimed and that no handler has: on drain, or if the program does not take them. 1. A blocks its event
 * loop. 2. The worker of A keeps the lease. Without this the runs that it has claimed would wait for A, and B, an idle worker, could not
 * execute them.
 */
static void
give_back(pawl_worker *worker, int64_t now_us)
{
    struct pw_list fresh;
    struct pw_list *link;
    int64_t count = 0;
    bool starved;

    pw_list_init(&fresh);
    /* guard:start_timeout */
    starved = pw_inbox_take_undone(&worker->inbox, now_us, &fresh);
    for (; (link = pw_list_first(&fresh)) != NULL; count++) {
        pw_list_remove(link);
        pw_task_give_back(PW_CONTAINER(link, struct pw_task, link));
    }
    if (starved)
        tell_starved(worker, count, now_us);
}

/* Returns the earliest time at which there is something to do even if nothing wakes the thread. */
static int64_t
next_turn(const pawl_worker *worker)
{
    int64_t at = unpark_at(worker);
    int64_t other = pw_session_next_us(worker);

    if (other < at)
        at = other;
    other = pw_writers_rest_us(worker);
    if (other < at)
        at = other;
    other = pw_claim_next_us(worker);
    if (other < at)
        at = other;
    for (size_t i = 0; i < worker->writer_count; i++) {
        other = pw_writer_next_us(worker, &worker->writers[i]);
        if (other < at)
            at = other;
    }
    return at;
}

/*
 * Returns the number of posts that is worth a turn. Without it the first of a thousand items would wake the thread, and so would most of
 * the others, before their batch is complete. No item waits for long: the thread wakes when the window of the first item ends, or
 * when the reply arrives that its writer waits for.
 */
static struct pw_worth
worth_a_turn(const pawl_worker *worker)
{
    struct pw_worth worth = {.posts = SIZE_MAX, .ends = pw_claim_worth(worker)};

    for (size_t i = 0; i < worker->writer_count; i++) {
        size_t posts = pw_writer_worth(worker, &worker->writers[i]);

        if (posts < worth.posts)
            worth.posts = posts;
    }
    return worth;
}

/* Data may wait inside the TLS library, where poll does not see it: while a reply is due, the thread reads again after this time. */
static const int64_t look_again_us = 1000000;

static void
watch(struct pollfd *fd, const struct pw_conn *conn, int64_t now_us, int64_t *until_us)
{
    if (conn == NULL)
        return;
    fd->fd = pw_conn_fd(conn);
    fd->events = pw_conn_events(conn);
    if (pw_conn_in_flight(conn) > 0 && *until_us > now_us + look_again_us)
        *until_us = now_us + look_again_us;
    /* The connection broke while a request was being sent. */
    if (pw_conn_state(conn) == PW_CONN_BROKEN)
        *until_us = now_us;
}

/* Waits for the connections, for a wake-up, or for the next thing that is due. fds: the wake-up, control, then the writers. */
static void
wait_for_work(pawl_worker *worker, struct pollfd *fds, int64_t now_us)
{
    int64_t until_us = next_turn(worker);
    struct timespec time = {0};
    bool posted;

    for (size_t i = 0; i < FDS; i++)
        fds[i] = (struct pollfd){.fd = -1};
    fds[0] = (struct pollfd){.fd = worker->inbox.wake.fd, .events = POLLIN};
    watch(&fds[1], worker->session.conn, now_us, &until_us);
    for (size_t i = 0; i < worker->writer_count; i++)
        watch(&fds[2 + i], worker->writers[i].conn, now_us, &until_us);
    posted = pw_inbox_sleep(&worker->inbox, worth_a_turn(worker), &until_us);
    if (posted || until_us < now_us)
        until_us = now_us;
    if (until_us != INT64_MAX) {
        time.tv_sec = (until_us - now_us) / 1000000;
        time.tv_nsec = (until_us - now_us) % 1000000 * 1000;
    }
    /* After a timeout, or if poll fails, every connection is read. */
    if (ppoll(fds, FDS, until_us == INT64_MAX ? NULL : &time, NULL) <= 0 && !posted)
        for (size_t i = 1; i < FDS; i++)
            fds[i].revents = POLLIN;
    pw_inbox_awake(&worker->inbox);
    if ((fds[0].revents & POLLIN) != 0)
        (void)pw_wake_clear(&worker->inbox.wake);
}

/* Handles the replies that have been read. Returns true if there were any. */
static bool
take_replies(pawl_worker *worker)
{
    struct pw_reply reply;
    bool taken = false;

    while (worker->session.conn != NULL && pw_conn_take(worker->session.conn, &reply)) {
        pw_session_reply(worker, &reply, pw_now_us());
        pw_reply_done(&reply);
        taken = true;
    }
    for (size_t i = 0; i < worker->writer_count; i++) {
        struct pw_writer *writer = &worker->writers[i];

        while (writer->conn != NULL && pw_conn_take(writer->conn, &reply)) {
            pw_writer_reply(worker, writer, &reply, pw_now_us());
            pw_reply_done(&reply);
            taken = true;
        }
    }
    return taken;
}

/* Reads and writes, and handles replies. */
static void
pump(pawl_worker *worker, const struct pollfd *fds)
{
    if (worker->session.conn != NULL && fds[1].revents != 0)
        pw_conn_pump(worker->session.conn);
    for (size_t i = 0; i < worker->writer_count; i++)
        if (worker->writers[i].conn != NULL && fds[2 + i].revents != 0)
            pw_conn_pump(worker->writers[i].conn);
    (void)take_replies(worker);
    for (size_t i = 0; i < worker->writer_count; i++) {
        struct pw_writer *writer = &worker->writers[i];

        if (writer->conn != NULL && pw_conn_state(writer->conn) == PW_CONN_BROKEN)
            pw_writer_broken(worker, writer, pw_conn_error(writer->conn), pw_now_us());
    }
}

/* Waits for the requests in flight on the writers' connections: tasks that a claim takes after the goodbye would have no worker. */
static void
settle_writers(pawl_worker *worker, int64_t until_us)
{
    struct pw_reply reply;
    struct pw_error err = {0};

    /* The first writer has a commit in flight on the session's connection while it rests. */
    while (pw_writer_borrows(worker) &&
        pw_conn_wait(worker->session.conn, until_us, &err) == PAWL_OK &&
        pw_conn_take(worker->session.conn, &reply)) {
        if (((struct pw_request *)reply.tag)->kind != PW_REQUEST_CLAIM)
            pw_session_reply(worker, &reply, pw_now_us());
        pw_reply_done(&reply);
        wake_answered(worker);
    }
    for (size_t i = 0; i < worker->writer_count; i++) {
        struct pw_writer *writer = &worker->writers[i];

        while (writer->conn != NULL && pw_conn_in_flight(writer->conn) > 0 &&
            pw_conn_wait(writer->conn, until_us, &err) == PAWL_OK &&
            pw_conn_take(writer->conn, &reply)) {
            /* No handler gets the tasks of this claim any more; the goodbye releases them. */
            if (((struct pw_request *)reply.tag)->kind != PW_REQUEST_CLAIM)
                pw_writer_reply(worker, writer, &reply, pw_now_us());
            pw_reply_done(&reply);
            wake_answered(worker);
        }
    }
}

/* Returns the connection for the goodbye: the session's own or, while that is being opened again, that of a writer. NULL: none. */
static struct pw_conn *
find_conn(const pawl_worker *worker)
{
    if (worker->session.conn != NULL && pw_conn_state(worker->session.conn) == PW_CONN_READY)
        return worker->session.conn;
    for (size_t i = 0; i < worker->writer_count; i++)
        if (worker->writers[i].conn != NULL &&
            pw_conn_state(worker->writers[i].conn) == PW_CONN_READY)
            return worker->writers[i].conn;
    return NULL;
}

/*
 * Sends the goodbye, pawl.leave(), once. Returns false if it must be sent again: the call succeeded, and the session may still exist; or
 * memory or the connection was lost.
 */
static bool
say_goodbye(pawl_worker *worker, struct pw_conn *conn, int64_t until_us)
{
    struct pw_params params;
    struct pw_reply reply;
    struct pw_error err = {0};
    int status;

    /* A heartbeat may be in flight, and the connection may not take a second request. */
    while (!pw_conn_can_send(conn) && pw_conn_wait(conn, until_us, &err) == PAWL_OK &&
        pw_conn_take(conn, &reply))
        pw_reply_done(&reply);
    pw_params_init(&params);
    pw_params_int8(&params, worker->session.id);
    worker->session.leave.kind = PW_REQUEST_LEAVE;
    status = pw_conn_send(conn, pw_statement(PW_STMT_LEAVE), &params, &worker->session.leave, &err);
    /* There may be memory in a moment, or another connection if this one has broken. */
    if (status != PAWL_OK)
        return status != PAWL_ENOMEM && pw_conn_state(conn) == PW_CONN_READY;
    while (pw_conn_wait(conn, until_us, &err) == PAWL_OK && pw_conn_take(conn, &reply)) {
        bool heard = reply.tag == &worker->session.leave;
        bool ended = reply.status != PAWL_OK;

        pw_reply_done(&reply);
        if (heard)
            return ended;
    }
    return pw_conn_state(conn) == PW_CONN_READY;
}

/*
 * Leaves, so that held tasks are released at once; if that fails, they are swept later. The session remains while another transaction has
 * locked one of its tasks, even if only to read it. So the goodbye is repeated until the server does not find the session any more.
 */
static void
leave(pawl_worker *worker)
{
    int64_t until_us = pw_add_us(pw_now_us(), PW_LEAVE_US);
    struct pw_conn *conn;
    int pause_ms = 0;

    if (worker->session.state != PW_SESSION_LIVE)
        return;
    if (pw_inbox_left_by(&worker->inbox) < until_us)
        until_us = pw_inbox_left_by(&worker->inbox);
    settle_writers(worker, until_us);
    /*
     * 1. The goodbye releases a task. 2. Another worker claims it before the goodbye is answered. 3. A handler here wants to start a
     * step. It waits until end() sets its standing, because the lease counts as expired. Without this, two workers would execute the
     * step.
     */
    atomic_store(&worker->inbox.lease_until_us, 0);
    while ((conn = find_conn(worker)) != NULL && !say_goodbye(worker, conn, until_us) &&
        pw_now_us() < until_us) {
        (void)poll(NULL, 0, pause_ms);
        pause_ms = 2;
    }
    worker->session.state = PW_SESSION_LEFT;
}

/*
 * Answers the items that handlers have posted. Returns false if there were none: from then on each post fails, because the worker has
 * stopped.
 */
static bool
answer_posted(pawl_worker *worker)
{
    struct pw_list posted;
    struct pw_list *link;

    pw_list_init(&posted);
    if (!pw_inbox_take_rest(&worker->inbox, &posted))
        return false;
    while ((link = pw_list_first(&posted)) != NULL) {
        struct pw_item *item = PW_CONTAINER(link, struct pw_item, link);

        pw_list_remove(link);
        pw_item_take(item);
        pw_item_answer(worker, item, PW_ANSWER_LEASE_LOST, "the worker has stopped");
    }
    wake_answered(worker);
    return true;
}

/*
 * Ends the thread. The database answers no item any more, so this answers all of them with a lost lease. Once stopped is set, handlers
 * free their tasks themselves. So by then no list of this thread may contain a task, and the map of tasks is not read any more. The loop
 * ends: a handler whose lease is lost posts no note and starts nothing. So each branch waits for at most one more answer, and each task
 * posts only its last item.
 */
static void
end(pawl_worker *worker)
{
    leave(worker);
    /* This also drops the tasks that were claimed and that no handler has. */
    pw_session_lost(worker, "the worker has stopped", pw_now_us());
    wake_answered(worker);
    while (answer_posted(worker))
        ;
    pw_inbox_end(&worker->inbox);
}

void *
pw_io_main(void *arg)
{
    pawl_worker *worker = arg;
    struct pollfd fds[FDS];
    bool stopping = false;

    while (!stopping) {
        int64_t now_us = pw_now_us();

        wake_answered(worker);
#ifdef PW_CHECKED
        pw_worker_check(worker);
#endif
        give_back(worker, now_us);
        gather(worker, now_us);
        pw_width_turn(worker, now_us);
        unpark(worker, now_us);
        pw_notice_turn(worker, now_us);
        pw_writers_rest(worker, now_us);
        pw_session_turn(worker, now_us);
        pw_claim_turn(worker, now_us);
        for (size_t i = 0; i < worker->writer_count; i++)
            pw_writer_rescue(worker, &worker->writers[i], now_us);
        for (size_t i = 0; i < worker->writer_count; i++)
            pw_writer_turn(worker, &worker->writers[i], now_us);
        /* A fast reply is read while its request is still being sent; then poll would not report it. */
        if (!take_replies(worker)) {
            wake_answered(worker);
            wait_for_work(worker, fds, now_us);
            pump(worker, fds);
        }
        stopping = pw_inbox_must_leave(&worker->inbox, pw_now_us());
    }
    end(worker);
    return NULL;
}
