/* SPDX-License-Identifier: Apache-2.0 */
/* The worker object: its handlers, its start and its end, and the queue of runs that can continue. io.c has the I/O thread. */
#include "libpawl/worker/worker.h"

#include "base/alloc.h"
#include "base/text.h"
#include "base/time.h"
#include "libpawl/common/error.h"
#include "libpawl/common/thread.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Ends a public call: returns the status, and makes an error object if the call failed. */
static pawl_status
tell(pawl_status status, struct pw_error *err, pawl_error **error)
{
    if (status == PAWL_OK)
        pw_error_clear(err);
    return pw_error_export(err, (pawl_bytes){NULL, 0}, error);
}

static bool
is_foreign(const pawl_worker *worker)
{
    /* guard:worker_of_this_process */
    return worker->pid != getpid();
}

bool
pw_worker_here(const pawl_worker *worker, struct pw_error *err)
{
    if (worker == NULL) {
        pw_error_set(err, PAWL_EINVAL, "no worker was given");
        return false;
    }
    if (is_foreign(worker)) {
        pw_error_set(err, PAWL_EINVAL, "the worker was made before a fork");
        pw_error_hint(err, "Make the worker in the child process.");
        return false;
    }
    return true;
}

void
pw_worker_add(pawl_worker *worker, enum pw_count count, int64_t by)
{
    atomic_fetch_add_explicit(&worker->counts[count], by, memory_order_relaxed);
}

static int
init_parts(pawl_worker *worker, struct pw_error *err)
{
    int status = PAWL_OK;

    pw_width_init(&worker->width, &worker->settings);
    worker->writer_count = (size_t)worker->settings.connections;
    worker->inbox.start_limit_us = pw_ms_to_us(worker->settings.start_timeout_ms);
    for (size_t i = 0; i < PW_WRITERS_MAX && status == PAWL_OK; i++)
        status = pw_writer_init(&worker->writers[i], (int)i, &worker->settings, err);
    if (status == PAWL_OK)
        status = pw_inbox_open(&worker->inbox, err);
    if (status != PAWL_OK || worker->settings.log_kept < 0)
        return status;
    worker->inbox.log =
        pw_log_ring_new(worker->settings.log_kept, pw_inbox_log_added, &worker->inbox);
    worker->settings.logger.ring = worker->inbox.log;
    if (worker->inbox.log != NULL)
        return PAWL_OK;
    pw_error_oom(err);
    return PAWL_ENOMEM;
}

static void
init_lists(pawl_worker *worker)
{
    pw_inbox_init(&worker->inbox);
    pw_claimer_init(&worker->claimer);
    pw_list_init(&worker->parked);
    pw_list_init(&worker->woken);
    pw_list_init(&worker->offered);
    pw_map_init(&worker->tasks, 100000);
    pw_rand_init_any(&worker->rand);
    worker->drain_fd = -1;
    for (size_t i = 0; i < PW_WRITERS_MAX; i++)
        pw_list_init(&worker->writers[i].waiting);
}

/* destroy_lock: see pw_inbox_done(). */
static void
free_memory(pawl_worker *worker, bool destroy_lock)
{
    for (size_t i = 0; i < PW_WRITERS_MAX; i++)
        pw_writer_done(&worker->writers[i]);
    pw_handlers_done(&worker->handlers);
    pw_map_done(&worker->tasks);
    pw_log_ring_free(worker->inbox.log, destroy_lock);
    pw_inbox_done(&worker->inbox, destroy_lock);
    pw_settings_done(&worker->settings);
    pw_free(worker);
}

pawl_status
pawl_worker_new(const pawl_config *config, pawl_worker **worker, pawl_error **error)
{
    struct pw_error err = {0};
    pawl_worker *made = NULL;
    int status = PAWL_EINVAL;

    if (worker == NULL) {
        pw_error_set(&err, PAWL_EINVAL, "no place for the worker was given");
        goto out;
    }
    made = pw_calloc(1, sizeof(*made));
    if (made == NULL) {
        pw_error_oom(&err);
        status = PAWL_ENOMEM;
        goto out;
    }
    init_lists(made);
    made->pid = getpid();
    status = pw_config_settings(config, &made->settings, &err);
    if (status == PAWL_OK)
        status = init_parts(made, &err);
    if (status != PAWL_OK)
        goto out;
    *worker = made;
    made = NULL;
out:
    if (made != NULL)
        free_memory(made, false);
    return tell(status, &err, error);
}

void
pawl_worker_drain(pawl_worker *worker)
{
    if (worker != NULL && !is_foreign(worker))
        pw_inbox_drain(&worker->inbox);
}

bool
pw_worker_stopped(pawl_worker *worker)
{
    return pw_inbox_stopped(&worker->inbox);
}

void
pawl_worker_drain_within(pawl_worker *worker, int64_t timeout_ms)
{
    int64_t now_us = pw_now_us();
    int64_t reserve_us = pw_ms_to_us(timeout_ms) / 4;
    int64_t left_by_us = pw_add_us(now_us, pw_ms_to_us(timeout_ms));

    if (worker == NULL || is_foreign(worker))
        return;
    if (reserve_us > PW_LEAVE_US)
        reserve_us = PW_LEAVE_US;
    if (timeout_ms >= 0)
        pw_inbox_limit(&worker->inbox, left_by_us - reserve_us, left_by_us);
    pw_inbox_drain(&worker->inbox);
}

/* Drains, waits and leaves. Returns how many runs were still executing or not recorded. The worker must have been started. */
static size_t
stop(pawl_worker *worker, int64_t timeout_ms)
{
    int64_t deadline_us =
        pw_add_us(pw_now_us(), pw_ms_to_us(timeout_ms < 0 ? INT64_MAX : timeout_ms));

    pw_inbox_drain(&worker->inbox);
    return pw_inbox_stop(&worker->inbox, deadline_us);
}

static void
close_connections(pawl_worker *worker, void (*close_conn)(struct pw_conn *))
{
    for (size_t i = 0; i < PW_WRITERS_MAX; i++) {
        close_conn(worker->writers[i].conn);
        worker->writers[i].conn = NULL;
    }
    close_conn(worker->session.conn);
    worker->session.conn = NULL;
}

void
pawl_worker_free(pawl_worker *worker)
{
    if (worker == NULL)
        return;
    if (is_foreign(worker)) {
        /* The threads and locks are those of the parent process: in this process the locks may be held forever. */
        close_connections(worker, pw_conn_abandon);
        free_memory(worker, false);
        return;
    }
    if (worker->inbox.started) {
        /* Results of finished runs are recorded; the other runs are released. */
        (void)stop(worker, worker->settings.drain_timeout_ms);
        (void)pthread_join(worker->thread, NULL);
    }
    close_connections(worker, pw_conn_close);
    free_memory(worker, true);
}

static bool
check_not_started(pawl_worker *worker, struct pw_error *err)
{
    bool started = pw_inbox_started(&worker->inbox);

    if (started)
        pw_error_set(err, PAWL_EINVAL, "the worker has been started");
    return !started;
}

pawl_status
pawl_worker_handle(pawl_worker *worker, const char *pattern, pawl_handler_fn handler,
    void *userdata, pawl_error **error)
{
    struct pw_error err = {0};
    int status = PAWL_EINVAL;

    if (pw_worker_here(worker, &err) && check_not_started(worker, &err))
        status = pw_handlers_add(&worker->handlers, pattern, handler, userdata, &err);
    return tell(status, &err, error);
}

pawl_status
pawl_worker_undo(
    pawl_worker *worker, const char *name, pawl_undo_fn undo, void *userdata, pawl_error **error)
{
    struct pw_error err = {0};
    int status = PAWL_EINVAL;

    if (pw_worker_here(worker, &err) && check_not_started(worker, &err))
        status = pw_handlers_add_undo(&worker->handlers, name, undo, userdata, &err);
    return tell(status, &err, error);
}

pawl_status
pawl_worker_handle_table(pawl_worker *worker, const pawl_declaration *table, size_t count,
    void *userdata, pawl_error **error)
{
    struct pw_error err = {0};
    int status = PAWL_EINVAL;

    if (pw_worker_here(worker, &err) && check_not_started(worker, &err))
        status = pw_handlers_add_table(&worker->handlers, table, count, userdata, &err);
    return tell(status, &err, error);
}

const struct pw_settings *
pw_worker_settings(pawl_worker *worker)
{
    return &worker->settings;
}

int
pw_worker_drain_fd(pawl_worker *worker)
{
    return worker->drain_fd;
}

pawl_status
pawl_worker_start(pawl_worker *worker, pawl_error **error)
{
    struct pw_error err = {0};
    int status = PAWL_EINVAL;
    int errnum;

    if (!pw_worker_here(worker, &err) || !check_not_started(worker, &err))
        goto out;
    if (worker->handlers.count == 0) {
        pw_error_set(&err, PAWL_EINVAL, "the worker handles nothing");
        pw_error_hint(&err, "Call pawl_worker_handle() first.");
        goto out;
    }
    worker->inbox.start_failed = false;
    worker->inbox.start_error = (struct pw_error){0};
    errnum = pw_thread_start(&worker->thread, 0, pw_io_main, worker);
    if (errnum != 0) {
        pw_error_errno(&err, PAWL_ENOMEM, errnum, "could not start a thread");
        status = PAWL_ENOMEM;
        goto out;
    }
    pw_inbox_start(&worker->inbox);
    status = pw_inbox_await_registered(&worker->inbox,
        pw_add_us(pw_now_us(), pw_ms_to_us(worker->settings.connect_timeout_ms)), &err);
    if (status != PAWL_OK) {
        (void)pthread_join(worker->thread, NULL);
        pw_inbox_start_failed(&worker->inbox);
        worker->session.state = PW_SESSION_NONE;
    }
out:
    return tell(status, &err, error);
}

pawl_status
pawl_worker_next(pawl_worker *worker, int64_t timeout_ms, pawl_run **run, pawl_error **error)
{
    struct pw_error err = {0};
    int64_t deadline_us =
        timeout_ms < 0 ? INT64_MAX : pw_add_us(pw_now_us(), pw_ms_to_us(timeout_ms));
    pawl_run *taken = NULL;
    int status;

    if (!pw_worker_here(worker, &err))
        return tell(PAWL_EINVAL, &err, error);
    if (run == NULL) {
        pw_error_set(&err, PAWL_EINVAL, "no place for the run was given");
        return tell(PAWL_EINVAL, &err, error);
    }
    status = pw_inbox_next(&worker->inbox, deadline_us, timeout_ms == 0, &taken);
    if (status == PAWL_OK)
        *run = taken;
    if (status == PAWL_EINVAL) {
        pw_error_set(&err, status, "the worker has not been started");
        return tell(status, &err, error);
    }
    /* PAWL_ETIMEOUT and PAWL_DRAINED are normal and frequent results: no error object is made for them. */
    (void)tell(PAWL_OK, &err, error);
    return status;
}

int
pawl_worker_fd(pawl_worker *worker)
{
    return worker == NULL || is_foreign(worker) ? -1 : pw_inbox_fd(&worker->inbox);
}

pawl_status
pawl_worker_stop(pawl_worker *worker, int64_t timeout_ms, pawl_error **error)
{
    struct pw_error err = {0};
    size_t left = 0;

    if (!pw_worker_here(worker, &err))
        return tell(PAWL_EINVAL, &err, error);
    if (pw_inbox_started(&worker->inbox))
        left = stop(worker, timeout_ms);
    if (left == 0)
        return tell(PAWL_OK, &err, error);
    pw_error_set(&err, PAWL_ETIMEOUT, "%zu runs were still executing, or not written down", left);
    return tell(PAWL_ETIMEOUT, &err, error);
}

void
pawl_worker_drain_on(pawl_worker *worker, int fd)
{
    if (worker != NULL && !is_foreign(worker))
        worker->drain_fd = fd;
}

int64_t
pawl_worker_counter(pawl_worker *worker, const char *counter)
{
    static const char *const names[PW_COUNTS] = {
        [PW_COUNT_CLAIMED] = "claimed",
        [PW_COUNT_CLAIMS] = "claims",
        [PW_COUNT_FINISHED] = "finished",
        [PW_COUNT_COMMITTED] = "committed",
        [PW_COUNT_BATCHES] = "batches",
        [PW_COUNT_BUSY] = "busy",
        [PW_COUNT_LEASE_LOST] = "lease_lost",
        [PW_COUNT_RECONNECTS] = "reconnects",
        [PW_COUNT_SESSIONS] = "sessions",
        [PW_COUNT_STARVED] = "starved",
    };
    if (worker == NULL || counter == NULL || is_foreign(worker))
        return 0;
    for (int i = 0; i < PW_COUNTS; i++)
        if (strcmp(names[i], counter) == 0)
            return atomic_load_explicit(&worker->counts[i], memory_order_relaxed);
    return strcmp(counter, "held") == 0 ? (int64_t)pw_inbox_load(&worker->inbox).held : 0;
}

void
pw_worker_look(pawl_worker *worker)
{
    pw_inbox_look(&worker->inbox);
}

bool
pw_worker_quiet(pawl_worker *worker)
{
    return pw_inbox_quiet(&worker->inbox);
}
