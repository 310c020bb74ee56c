/* SPDX-License-Identifier: Apache-2.0 */
/* The worker object: what it handles, its start and its end, and the queue of runs that can go on. What the thread does is in io.c. */
#include "libpawl/worker/worker.h"

#include "base/alloc.h"
#include "base/text.h"
#include "base/time.h"
#include "libpawl/common/error.h"
#include "libpawl/common/thread.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const size_t pattern_max = 301; /* a flow's name, a slash, a step's */

/* The end of a public call. */
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
init_sync(pawl_worker *worker, struct pw_error *err)
{
    int errnum = pthread_mutex_init(&worker->lock, NULL);

    if (errnum == 0 && (errnum = pw_cond_init_clock(&worker->changed)) != 0)
        (void)pthread_mutex_destroy(&worker->lock);
    if (errnum == 0 && (errnum = pw_cond_init_clock(&worker->ready_cond)) != 0) {
        (void)pthread_cond_destroy(&worker->changed);
        (void)pthread_mutex_destroy(&worker->lock);
    }
    if (errnum != 0) {
        pw_error_errno(err, PAWL_ENOMEM, errnum, "could not make a lock");
        return PAWL_ENOMEM;
    }
    return PAWL_OK;
}

static void
done_sync(pawl_worker *worker)
{
    (void)pthread_cond_destroy(&worker->ready_cond);
    (void)pthread_cond_destroy(&worker->changed);
    (void)pthread_mutex_destroy(&worker->lock);
}

static int
init_parts(pawl_worker *worker, struct pw_error *err)
{
    int errnum = pw_wake_open(&worker->wake);
    int status = PAWL_OK;

    if (errnum == 0)
        errnum = pw_wake_open(&worker->ready);
    if (errnum != 0) {
        pw_error_errno(err, PAWL_ENOMEM, errnum, "could not make a wake-up descriptor");
        return PAWL_ENOMEM;
    }
    worker->writer_count = (size_t)worker->settings.connections;
    for (size_t i = 0; i < PW_WRITERS_MAX && status == PAWL_OK; i++)
        status = pw_writer_init(&worker->writers[i], (int)i, &worker->settings, err);
    return status;
}

static void
init_lists(pawl_worker *worker)
{
    pw_list_init(&worker->posted);
    pw_list_init(&worker->new_runs);
    pw_list_init(&worker->answered);
    pw_list_init(&worker->unsure);
    pw_list_init(&worker->parked);
    pw_list_init(&worker->woken);
    pw_map_init(&worker->tasks, 100000);
    pw_heap_init(&worker->dues);
    pw_rand_init_any(&worker->rand);
    worker->held_at_us = INT64_MAX;
    worker->claim_cap = PW_CLAIM_MAX;
    worker->due_again_us = INT64_MAX;
    worker->leave_at_us = INT64_MAX;
    worker->left_by_us = INT64_MAX;
    worker->drain_fd = -1;
    worker->wake.fd = -1;
    worker->ready.fd = -1;
    for (size_t i = 0; i < PW_WRITERS_MAX; i++)
        pw_list_init(&worker->writers[i].waiting);
}

static void
free_memory(pawl_worker *worker)
{
    for (size_t i = 0; i < worker->handler_count; i++)
        pw_free(worker->handlers[i].pattern);
    for (size_t i = 0; i < worker->undo_count; i++)
        pw_free(worker->undos[i].name);
    for (size_t i = 0; i < PW_WRITERS_MAX; i++)
        pw_writer_done(&worker->writers[i]);
    pw_free(worker->handlers);
    pw_free(worker->undos);
    pw_map_done(&worker->tasks);
    pw_wake_close(&worker->wake);
    pw_wake_close(&worker->ready);
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
    if (status == PAWL_OK)
        status = init_sync(made, &err);
    if (status != PAWL_OK)
        goto out;
    *worker = made;
    made = NULL;
out:
    if (made != NULL)
        free_memory(made);
    return tell(status, &err, error);
}

static bool
is_drained(const pawl_worker *worker)
{
    return worker->stopped || (worker->draining && worker->active == 0);
}

void
pawl_worker_drain(pawl_worker *worker)
{
    if (worker == NULL || is_foreign(worker))
        return;
    (void)pthread_mutex_lock(&worker->lock);
    worker->draining = true;
    (void)pthread_cond_broadcast(&worker->ready_cond);
    if (worker->fd_wanted && is_drained(worker))
        pw_wake_set(&worker->ready);
    (void)pthread_mutex_unlock(&worker->lock);
    pw_io_wake(worker);
}

bool
pw_worker_stopped(pawl_worker *worker)
{
    bool stopped;

    (void)pthread_mutex_lock(&worker->lock);
    stopped = worker->stopped;
    (void)pthread_mutex_unlock(&worker->lock);
    return stopped;
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
    (void)pthread_mutex_lock(&worker->lock);
    if (timeout_ms >= 0 && left_by_us < worker->left_by_us) {
        worker->left_by_us = left_by_us;
        worker->leave_at_us = left_by_us - reserve_us;
    }
    (void)pthread_mutex_unlock(&worker->lock);
    pawl_worker_drain(worker);
}

/* Drains, waits, leaves; returns how many runs were still executing or not written down. The worker must have been started. */
static size_t
stop(pawl_worker *worker, int64_t timeout_ms)
{
    int64_t deadline_us =
        pw_add_us(pw_now_us(), pw_ms_to_us(timeout_ms < 0 ? INT64_MAX : timeout_ms));
    size_t left;

    pawl_worker_drain(worker);
    (void)pthread_mutex_lock(&worker->lock);
    while (worker->held > 0 && !worker->stopped &&
        pw_cond_wait_until(&worker->changed, &worker->lock, deadline_us))
        ;
    left = worker->active + worker->unwritten;
    worker->stopping = true;
    (void)pthread_mutex_unlock(&worker->lock);
    pw_io_wake(worker);
    (void)pthread_mutex_lock(&worker->lock);
    /* The thread itself has a limit for its goodbye. */
    while (!worker->stopped)
        (void)pw_cond_wait_until(&worker->changed, &worker->lock, INT64_MAX);
    (void)pthread_mutex_unlock(&worker->lock);
    return left;
}

static void
close_connections(pawl_worker *worker, void (*close_conn)(struct pw_conn *))
{
    for (size_t i = 0; i < PW_WRITERS_MAX; i++) {
        close_conn(worker->writers[i].conn);
        worker->writers[i].conn = NULL;
    }
    close_conn(worker->control);
    worker->control = NULL;
}

void
pawl_worker_free(pawl_worker *worker)
{
    if (worker == NULL)
        return;
    if (is_foreign(worker)) {
        /* The threads are the parent's, and so are its locks: they may be held for ever here. */
        close_connections(worker, pw_conn_abandon);
        free_memory(worker);
        return;
    }
    if (worker->started) {
        /* What was finished is written down; what was not is given back. */
        (void)stop(worker, worker->settings.drain_timeout_ms);
        (void)pthread_join(worker->thread, NULL);
    }
    close_connections(worker, pw_conn_close);
    done_sync(worker);
    free_memory(worker);
}

/* "a.b", or with a star at the end "a.*"; the engine has the last word. */
static bool
check_pattern(const char *pattern, bool star, struct pw_error *err)
{
    size_t size = pattern == NULL ? 0 : strlen(pattern);

    /* guard:pattern_max */
    if (size == 0 || size > pattern_max ||
        strspn(pattern, "abcdefghijklmnopqrstuvwxyz0123456789_.-/") +
                (star && pattern[size - 1] == '*') !=
            size) {
        pw_error_set(err, PAWL_EINVAL, "bad name \"%.80s\"", pattern == NULL ? "" : pattern);
        pw_error_hint(err, "Names have 1 to %zu of a-z, 0-9, _, . and -%s.", pattern_max,
            star ? "; a step of a flow is FLOW/STEP, a pattern ends in *" : "");
        return false;
    }
    return true;
}

static bool
check_not_started(pawl_worker *worker, struct pw_error *err)
{
    bool started;

    (void)pthread_mutex_lock(&worker->lock);
    started = worker->started;
    (void)pthread_mutex_unlock(&worker->lock);
    if (started)
        pw_error_set(err, PAWL_EINVAL, "the worker has been started");
    return !started;
}

static int
add_handler(pawl_worker *worker, const char *pattern, pawl_handler_fn handler, void *userdata,
    struct pw_error *err)
{
    struct pw_handler *handlers;
    size_t size = strlen(pattern);
    bool prefix = pattern[size - 1] == '*';
    char *copy;

    for (size_t i = 0; i < worker->handler_count; i++) {
        const struct pw_handler *other = &worker->handlers[i];

        if (other->prefix == prefix && strlen(other->pattern) == size - prefix &&
            strncmp(other->pattern, pattern, size - prefix) == 0) {
            pw_error_set(err, PAWL_EINVAL, "\"%s\" has a handler already", pattern);
            return PAWL_EINVAL;
        }
    }
    if (worker->handler_count == PW_HANDLERS_MAX) {
        pw_error_set(err, PAWL_ETOOLARGE, "a worker has at most %d handlers", PW_HANDLERS_MAX);
        return PAWL_ETOOLARGE;
    }
    copy = pw_memdup(pattern, size - prefix);
    handlers = copy == NULL
        ? NULL
        : pw_realloc_array(worker->handlers, worker->handler_count + 1, sizeof(*handlers));
    if (handlers == NULL) {
        pw_free(copy);
        pw_error_oom(err);
        return PAWL_ENOMEM;
    }
    worker->handlers = handlers;
    handlers[worker->handler_count] = (struct pw_handler){copy, prefix, handler, userdata};
    worker->handler_count++;
    return PAWL_OK;
}

static int
add_undo(
    pawl_worker *worker, const char *name, pawl_undo_fn undo, void *userdata, struct pw_error *err)
{
    struct pw_undo_handler *undos;
    char *copy;

    for (size_t i = 0; i < worker->undo_count; i++) {
        if (strcmp(worker->undos[i].name, name) == 0) {
            pw_error_set(err, PAWL_EINVAL, "\"%s\" has an undo handler already", name);
            return PAWL_EINVAL;
        }
    }
    if (worker->undo_count == PW_HANDLERS_MAX) {
        pw_error_set(err, PAWL_ETOOLARGE, "a worker has at most %d undo handlers", PW_HANDLERS_MAX);
        return PAWL_ETOOLARGE;
    }
    copy = pw_strdup(name);
    undos = copy == NULL ? NULL
                         : pw_realloc_array(worker->undos, worker->undo_count + 1, sizeof(*undos));
    if (undos == NULL) {
        pw_free(copy);
        pw_error_oom(err);
        return PAWL_ENOMEM;
    }
    worker->undos = undos;
    undos[worker->undo_count] = (struct pw_undo_handler){copy, undo, userdata};
    worker->undo_count++;
    return PAWL_OK;
}

pawl_status
pawl_worker_handle(pawl_worker *worker, const char *pattern, pawl_handler_fn handler,
    void *userdata, pawl_error **error)
{
    struct pw_error err = {0};
    int status = PAWL_EINVAL;

    if (pw_worker_here(worker, &err) && check_not_started(worker, &err) &&
        check_pattern(pattern, true, &err))
        status = add_handler(worker, pattern, handler, userdata, &err);
    return tell(status, &err, error);
}

pawl_status
pawl_worker_undo(
    pawl_worker *worker, const char *name, pawl_undo_fn undo, void *userdata, pawl_error **error)
{
    struct pw_error err = {0};
    int status = PAWL_EINVAL;

    if (pw_worker_here(worker, &err) && check_not_started(worker, &err) &&
        check_pattern(name, false, &err)) {
        if (undo == NULL)
            pw_error_set(&err, PAWL_EINVAL, "no function was given for \"%s\"", name);
        else
            status = add_undo(worker, name, undo, userdata, &err);
    }
    return tell(status, &err, error);
}

pawl_status
pawl_worker_handle_table(pawl_worker *worker, const pawl_declaration *table, size_t count,
    void *userdata, pawl_error **error)
{
    struct pw_error err = {0};
    const char *at = (const char *)table;
    int status = PAWL_OK;

    if (!pw_worker_here(worker, &err) || !check_not_started(worker, &err))
        return tell(PAWL_EINVAL, &err, error);
    if (table == NULL && count > 0) {
        pw_error_set(&err, PAWL_EINVAL, "no table was given");
        return tell(PAWL_EINVAL, &err, error);
    }
    for (size_t i = 0; i < count && status == PAWL_OK; i++) {
        const pawl_declaration *entry = (const pawl_declaration *)(const void *)at;

        /* As large as in the first release, whatever was added since. */
        if (entry->size < offsetof(pawl_declaration, unused) + sizeof(entry->unused)) {
            pw_error_set(&err, PAWL_EINVAL, "declaration %zu is not one", i);
            status = PAWL_EINVAL;
        } else if (!check_pattern(entry->name, entry->undo == NULL, &err)) {
            status = PAWL_EINVAL;
        } else if (entry->undo != NULL) {
            status = add_undo(worker, entry->name, entry->undo, userdata, &err);
        } else {
            status = add_handler(worker, entry->name, entry->handler, userdata, &err);
        }
        at += entry->size;
    }
    return tell(status, &err, error);
}

bool
pw_worker_find(
    pawl_worker *worker, const char *workflow, pawl_handler_fn *function, void **userdata)
{
    const struct pw_handler *best = NULL;

    for (size_t i = 0; i < worker->handler_count; i++) {
        const struct pw_handler *handler = &worker->handlers[i];
        size_t size = strlen(handler->pattern);

        if (handler->prefix ? strncmp(handler->pattern, workflow, size) != 0
                            : strcmp(handler->pattern, workflow) != 0)
            continue;
        /* A whole name wins over every prefix. */
        if (best == NULL || !handler->prefix || (best->prefix && strlen(best->pattern) < size))
            best = handler;
        if (!handler->prefix)
            break;
    }
    if (best == NULL)
        return false;
    *function = best->function;
    *userdata = best->userdata;
    return true;
}

bool
pw_worker_find_undo(pawl_worker *worker, const char *name, pawl_undo_fn *function, void **userdata)
{
    for (size_t i = 0; i < worker->undo_count; i++) {
        if (strcmp(worker->undos[i].name, name) == 0) {
            *function = worker->undos[i].function;
            *userdata = worker->undos[i].userdata;
            return true;
        }
    }
    return false;
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

/* Waits until the first registration has succeeded or failed for good. Called and returns with the lock held. */
static int
wait_registered(pawl_worker *worker, struct pw_error *err)
{
    int64_t deadline_us = pw_add_us(pw_now_us(), pw_ms_to_us(worker->settings.connect_timeout_ms));

    while (!worker->registered && !worker->stopped && !worker->start_failed &&
        pw_cond_wait_until(&worker->changed, &worker->lock, deadline_us))
        ;
    if (worker->registered)
        return PAWL_OK;
    if (worker->start_error.code != PAWL_OK)
        *err = worker->start_error;
    else
        pw_error_set(err, PAWL_ECONN, "could not register within connect_timeout");
    return err->code;
}

pawl_status
pawl_worker_start(pawl_worker *worker, pawl_error **error)
{
    struct pw_error err = {0};
    int status = PAWL_EINVAL;
    int errnum;

    if (!pw_worker_here(worker, &err) || !check_not_started(worker, &err))
        goto out;
    if (worker->handler_count == 0) {
        pw_error_set(&err, PAWL_EINVAL, "the worker handles nothing");
        pw_error_hint(&err, "Call pawl_worker_handle() first.");
        goto out;
    }
    worker->start_failed = false;
    worker->start_error = (struct pw_error){0};
    errnum = pw_thread_start(&worker->thread, 0, pw_io_main, worker);
    if (errnum != 0) {
        pw_error_errno(&err, PAWL_ENOMEM, errnum, "could not start a thread");
        status = PAWL_ENOMEM;
        goto out;
    }
    (void)pthread_mutex_lock(&worker->lock);
    worker->started = true;
    status = wait_registered(worker, &err);
    if (status != PAWL_OK)
        worker->stopping = true;
    (void)pthread_mutex_unlock(&worker->lock);
    if (status != PAWL_OK) {
        pw_io_wake(worker);
        (void)pthread_join(worker->thread, NULL);
        (void)pthread_mutex_lock(&worker->lock);
        worker->started = false;
        worker->stopping = false;
        worker->stopped = false;
        worker->registered = false;
        (void)pthread_mutex_unlock(&worker->lock);
        worker->session_state = PW_SESSION_NONE;
    }
out:
    return tell(status, &err, error);
}

/* Whether there is something to hand out. What was claimed is not started while the lease may be over. With the lock held. */
static bool
has_ready(pawl_worker *worker)
{
    return !pw_list_empty(&worker->answered) ||
        (!pw_list_empty(&worker->new_runs) && pw_now_us() < atomic_load(&worker->lease_until_us));
}

/* The next run that may be handed out, or NULL. With the lock held. */
static pawl_run *
take_ready(pawl_worker *worker)
{
    struct pw_list *link = pw_list_first(&worker->answered);

    if (!has_ready(worker))
        return NULL;
    if (link != NULL) {
        pw_list_remove(link);
        return pw_run_of_link(link);
    }
    link = pw_list_first(&worker->new_runs);
    pw_list_remove(link);
    return PW_CONTAINER(link, struct pw_task, link)->run;
}

pawl_status
pawl_worker_next(pawl_worker *worker, int64_t timeout_ms, pawl_run **run, pawl_error **error)
{
    struct pw_error err = {0};
    int64_t deadline_us =
        timeout_ms < 0 ? INT64_MAX : pw_add_us(pw_now_us(), pw_ms_to_us(timeout_ms));
    pawl_run *taken = NULL;
    bool over = timeout_ms == 0;
    int status = PAWL_OK;

    if (!pw_worker_here(worker, &err))
        return tell(PAWL_EINVAL, &err, error);
    if (run == NULL) {
        pw_error_set(&err, PAWL_EINVAL, "no place for the run was given");
        return tell(PAWL_EINVAL, &err, error);
    }
    (void)pthread_mutex_lock(&worker->lock);
    if (!worker->started)
        status = PAWL_EINVAL;
    while (status == PAWL_OK && (taken = take_ready(worker)) == NULL) {
        if (is_drained(worker))
            status = PAWL_DRAINED;
        else if (over)
            status = PAWL_ETIMEOUT;
        else
            /* Looked at once more when the time is over: we may have been signalled just then, and nobody else was. */
            over = !pw_cond_wait_until(&worker->ready_cond, &worker->lock, deadline_us);
    }
    if (worker->fd_wanted && !has_ready(worker) && !is_drained(worker))
        (void)pw_wake_clear(&worker->ready);
    (void)pthread_mutex_unlock(&worker->lock);
    if (status == PAWL_OK)
        *run = taken;
    if (status == PAWL_EINVAL) {
        pw_error_set(&err, status, "the worker has not been started");
        return tell(status, &err, error);
    }
    /* That there is no run is an answer, and asked for often: no object is made for it. */
    (void)tell(PAWL_OK, &err, error);
    return status;
}

int
pawl_worker_fd(pawl_worker *worker)
{
    int fd = -1;

    if (worker == NULL || is_foreign(worker))
        return -1;
    (void)pthread_mutex_lock(&worker->lock);
    if (worker->started) {
        fd = worker->ready.fd;
        worker->fd_wanted = true;
        if (has_ready(worker) || is_drained(worker))
            pw_wake_set(&worker->ready);
    }
    (void)pthread_mutex_unlock(&worker->lock);
    return fd;
}

pawl_status
pawl_worker_stop(pawl_worker *worker, int64_t timeout_ms, pawl_error **error)
{
    struct pw_error err = {0};
    bool started;
    size_t left = 0;

    if (!pw_worker_here(worker, &err))
        return tell(PAWL_EINVAL, &err, error);
    (void)pthread_mutex_lock(&worker->lock);
    started = worker->started;
    (void)pthread_mutex_unlock(&worker->lock);
    if (started)
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
    };
    int64_t held = 0;

    if (worker == NULL || counter == NULL || is_foreign(worker))
        return 0;
    for (int i = 0; i < PW_COUNTS; i++)
        if (strcmp(names[i], counter) == 0)
            return atomic_load_explicit(&worker->counts[i], memory_order_relaxed);
    if (strcmp(counter, "held") == 0) {
        (void)pthread_mutex_lock(&worker->lock);
        held = (int64_t)worker->held;
        (void)pthread_mutex_unlock(&worker->lock);
    }
    return held;
}

void
pw_worker_look(pawl_worker *worker)
{
    (void)pthread_mutex_lock(&worker->lock);
    worker->looks++;
    (void)pthread_mutex_unlock(&worker->lock);
    pw_io_wake(worker);
}

bool
pw_worker_quiet(pawl_worker *worker)
{
    bool quiet;

    (void)pthread_mutex_lock(&worker->lock);
    quiet = worker->stopped ||
        (worker->quiet_looks == worker->looks && worker->held == 0 &&
            pw_list_empty(&worker->posted));
    (void)pthread_mutex_unlock(&worker->lock);
    return quiet;
}
