/* SPDX-License-Identifier: Apache-2.0 */
/* pawl_worker_run(): threads that take runs with pawl_worker_next() and call handlers. A thread is started when it is needed. */
#include "libpawl/worker/executor.h"

#include "base/alloc.h"
#include "base/wake.h"
#include "libpawl/common/error.h"
#include "libpawl/common/thread.h"
#include "libpawl/run/branch.h"
#include "libpawl/worker/worker.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>

static const int look_every_ms = 1000;

struct executor {
    pawl_worker *worker;
    size_t most;
    size_t stack;
    pthread_t *threads;
    struct pw_wake done; /* set when the last thread is about to end */

    atomic_size_t idle; /* threads that wait for a run */

    pthread_mutex_t lock;
    /* Guarded by the lock. */
    size_t count;       /* threads that were started */
    size_t ended;       /* of these, how many are about to end */
    pawl_status status; /* the first error of pawl_worker_next(), other than the end */
    pawl_error *error;
};

/* Calls the undo handler that a step has named, and records its result. */
static pawl_status
undo_step(
    pawl_worker *worker, pawl_run *run, const char *handler, pawl_bytes input, pawl_bytes output)
{
    const pawl_bytes none = {0};
    pawl_undo_fn function = NULL;
    void *userdata = NULL;

    if (!pw_worker_find_undo(worker, handler, &function, &userdata) || function == NULL) {
        pawl_run_set_error(
            run, "no_undo_handler", "the worker has no undo handler \"%s\"", handler);
        return pawl_run_defer(run);
    }
    pw_run_set_userdata(run, userdata);
    return pawl_step_finish(run, function(run, input, output), none, NULL);
}

static pawl_status
roll_back(pawl_worker *worker, pawl_run *run)
{
    const char *handler = NULL;
    pawl_bytes input = {0}, output = {0};
    pawl_status status;

    /* The loop ends, because the record has a limited number of undos. */
    do {
        status = pawl_run_undo_next(run, &handler, &input, &output);
        if (status != PAWL_EXECUTE)
            return status;
        status = undo_step(worker, run, handler, input, output);
    } while (status == PAWL_OK);
    return status;
}

void
pw_executor_execute(pawl_worker *worker, pawl_run *run)
{
    pawl_handler_fn function = NULL;
    void *userdata = NULL;
    pawl_bytes output = {0};
    pawl_status status;

    assert(worker != NULL && run != NULL);
    if (pawl_run_rolling_back(run)) {
        status = roll_back(worker, run);
    } else if (!pw_worker_find(worker, pawl_run_workflow(run), &function, &userdata) ||
        function == NULL) {
        pawl_run_set_error(
            run, "no_handler", "the worker has no function for \"%s\"", pawl_run_workflow(run));
        status = pawl_run_defer(run);
    } else {
        status = function(run, pawl_run_input(run), &output);
    }
    pawl_run_finish(run, status, output);
}

static void *execute_runs(void *argument);

/* Starts one more thread. With the lock held. Returns 0 or an error number. */
static int
add_thread(struct executor *executor)
{
    int errnum;

    /* First: the thread may take a run, and count itself as busy, before this one continues. */
    atomic_fetch_add(&executor->idle, 1);
    errnum = pw_thread_start(
        &executor->threads[executor->count], executor->stack, execute_runs, executor);
    if (errnum == 0)
        executor->count++;
    else
        atomic_fetch_sub(&executor->idle, 1);
    return errnum;
}

/* Called before a thread executes a run: another thread must wait for the next run, as long as more threads are allowed. */
static void
leave_idle(struct executor *executor)
{
    if (atomic_fetch_sub(&executor->idle, 1) > 1)
        return;
    (void)pthread_mutex_lock(&executor->lock);
    /* If no thread can be started, the existing ones do the work. */
    if (atomic_load(&executor->idle) == 0 && executor->count < executor->most &&
        executor->ended == 0)
        (void)add_thread(executor);
    (void)pthread_mutex_unlock(&executor->lock);
}

static void
end_thread(struct executor *executor, pawl_status status, pawl_error *error)
{
    bool last;

    (void)pthread_mutex_lock(&executor->lock);
    if (status != PAWL_DRAINED && executor->status == PAWL_OK) {
        executor->status = status;
        executor->error = error;
        error = NULL;
    }
    executor->ended++;
    atomic_fetch_sub(&executor->idle, 1);
    last = executor->ended == executor->count;
    (void)pthread_mutex_unlock(&executor->lock);
    pawl_error_free(error);
    if (last)
        pw_wake_set(&executor->done);
}

static void *
execute_runs(void *argument)
{
    struct executor *executor = argument;
    pawl_error *error = NULL;
    pawl_run *run = NULL;
    pawl_status status;

    while ((status = pawl_worker_next(executor->worker, -1, &run, &error)) == PAWL_OK ||
        status == PAWL_ETIMEOUT) {
        if (status == PAWL_ETIMEOUT) {
            pawl_error_free(error);
            continue;
        }
        leave_idle(executor);
        pw_executor_execute(executor->worker, run);
        atomic_fetch_add(&executor->idle, 1);
    }
    end_thread(executor, status, error);
    return NULL;
}

/* Waits until the worker must drain, or all threads are about to end. */
static void
wait_for_drain(struct executor *executor)
{
    struct pollfd fds[2] = {
        {.fd = executor->done.fd, .events = POLLIN},
        {.fd = pw_worker_drain_fd(executor->worker), .events = POLLIN},
    };

    while (!pw_inbox_draining(&executor->worker->inbox)) {
        /* Another thread, or the database, can start the drain without waking this one. */
        int count = poll(fds, 2, look_every_ms);

        if (count < 0 && errno != EINTR && errno != EAGAIN)
            return;
        if (count > 0 && fds[0].revents != 0)
            return;
        /* A closed or broken descriptor means drain, too: no program is left that could ask for it. */
        if (count > 0 && fds[1].revents != 0)
            return;
    }
}

/* Starts the first thread; more threads follow when they are needed. */
static int
open_executor(struct executor *executor, pawl_worker *worker, struct pw_error *err)
{
    const struct pw_settings *settings = pw_worker_settings(worker);
    int errnum;

    *executor = (struct executor){
        .worker = worker, .most = pw_width_most(settings), .stack = settings->thread_stack};
    errnum = pw_wake_open(&executor->done);
    executor->threads = pw_calloc(executor->most, sizeof(*executor->threads));
    if (errnum == 0 && executor->threads == NULL)
        errnum = ENOMEM;
    if (errnum == 0)
        errnum = pthread_mutex_init(&executor->lock, NULL);
    if (errnum == 0) {
        (void)pthread_mutex_lock(&executor->lock);
        errnum = add_thread(executor);
        (void)pthread_mutex_unlock(&executor->lock);
        if (errnum == 0)
            return PAWL_OK;
        (void)pthread_mutex_destroy(&executor->lock);
    }
    pw_free(executor->threads);
    pw_wake_close(&executor->done);
    pw_error_errno(err, PAWL_ENOMEM, errnum, "could not start a thread for handlers");
    return PAWL_ENOMEM;
}

static size_t
thread_count(struct executor *executor)
{
    size_t count;

    (void)pthread_mutex_lock(&executor->lock);
    count = executor->count;
    (void)pthread_mutex_unlock(&executor->lock);
    return count;
}

/* Joins all threads. Waits for threads that still execute a handler, even if the worker has released the run. */
static void
close_executor(struct executor *executor)
{
    /* A thread that is not joined yet may start another one. */
    for (size_t i = 0; i < thread_count(executor); i++)
        (void)pthread_join(executor->threads[i], NULL); /* they are ours and joinable */
    (void)pthread_mutex_destroy(&executor->lock);
    pw_free(executor->threads);
    pw_wake_close(&executor->done);
}

/* Stops a worker that has no thread to execute runs: it releases all tasks and claims no more. */
static void
stop_in_vain(pawl_worker *worker)
{
    pawl_status status = pawl_worker_stop(worker, 0, NULL);

    (void)status; /* the caller reports why there is no thread */
}

pawl_status
pawl_worker_run(pawl_worker *worker, pawl_error **error)
{
    const pawl_bytes none = {0};
    struct pw_error err = {0};
    struct executor executor;
    pawl_status status;
    bool starts;

    /* Checked first: in a child process the lock may be held forever. */
    if (!pw_worker_here(worker, &err))
        return pw_error_export(&err, none, error);
    starts = !pw_inbox_started(&worker->inbox);
    if (starts) {
        status = pawl_worker_start(worker, error);
        if (status != PAWL_OK)
            return status;
    }
    if (open_executor(&executor, worker, &err) != PAWL_OK) {
        /* A worker that the caller started may have other threads of the caller, so it keeps running. */
        if (starts)
            stop_in_vain(worker);
        return pw_error_export(&err, none, error);
    }
    wait_for_drain(&executor);
    /* Waits for handlers and for their records. Then the remaining runs are released, and their threads get a lost lease. */
    status = pawl_worker_stop(worker, pw_worker_settings(worker)->drain_timeout_ms, error);
    close_executor(&executor);
    if (executor.status == PAWL_OK)
        return status;
    /* The error that ended the threads is more useful than the result of the stop. */
    if (error == NULL) {
        pawl_error_free(executor.error);
    } else {
        pawl_error_free(*error);
        *error = executor.error;
    }
    return executor.status;
}
