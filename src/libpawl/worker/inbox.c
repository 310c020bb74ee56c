/* SPDX-License-Identifier: Apache-2.0 */
#include "libpawl/worker/inbox.h"

#include "base/time.h"
#include "pawl/error.h"

#include <assert.h>

void
pw_inbox_init(struct pw_inbox *inbox)
{
    pw_list_init(&inbox->posted);
    pw_list_init(&inbox->new_runs);
    pw_list_init(&inbox->answered);
    pw_list_init(&inbox->unsure);
    inbox->leave_at_us = INT64_MAX;
    inbox->left_by_us = INT64_MAX;
    inbox->wake.fd = -1;
    inbox->ready.fd = -1;
}

static int
open_lock(struct pw_inbox *inbox)
{
    int errnum = pthread_mutex_init(&inbox->lock, NULL);

    if (errnum == 0 && (errnum = pw_cond_init_clock(&inbox->changed)) != 0)
        (void)pthread_mutex_destroy(&inbox->lock);
    if (errnum == 0 && (errnum = pw_cond_init_clock(&inbox->ready_cond)) != 0) {
        (void)pthread_cond_destroy(&inbox->changed);
        (void)pthread_mutex_destroy(&inbox->lock);
    }
    return errnum;
}

int
pw_inbox_open(struct pw_inbox *inbox, struct pw_error *err)
{
    int errnum = pw_wake_open(&inbox->wake);

    if (errnum == 0)
        errnum = pw_wake_open(&inbox->ready);
    if (errnum != 0) {
        pw_error_errno(err, PAWL_ENOMEM, errnum, "could not make a wake-up descriptor");
        return PAWL_ENOMEM;
    }
    errnum = open_lock(inbox);
    if (errnum != 0) {
        pw_error_errno(err, PAWL_ENOMEM, errnum, "could not make a lock");
        return PAWL_ENOMEM;
    }
    return PAWL_OK;
}

void
pw_inbox_done(struct pw_inbox *inbox, bool destroy_lock)
{
    if (destroy_lock) {
        (void)pthread_cond_destroy(&inbox->ready_cond);
        (void)pthread_cond_destroy(&inbox->changed);
        (void)pthread_mutex_destroy(&inbox->lock);
    }
    pw_wake_close(&inbox->wake);
    pw_wake_close(&inbox->ready);
}

static void
lock(struct pw_inbox *inbox)
{
    (void)pthread_mutex_lock(&inbox->lock);
}

static void
unlock(struct pw_inbox *inbox)
{
    (void)pthread_mutex_unlock(&inbox->lock);
}

/* One value, read with the lock held. */
static bool
read_flag(struct pw_inbox *inbox, const bool *flag)
{
    bool value;

    lock(inbox);
    value = *flag;
    unlock(inbox);
    return value;
}

/* --- any thread --------------------------------------------------------------------------------------------------------- */

void
pw_inbox_wake(struct pw_inbox *inbox)
{
    pw_wake_set(&inbox->wake);
}

bool
pw_inbox_started(struct pw_inbox *inbox)
{
    return read_flag(inbox, &inbox->started);
}

bool
pw_inbox_draining(struct pw_inbox *inbox)
{
    return read_flag(inbox, &inbox->draining);
}

bool
pw_inbox_stopped(struct pw_inbox *inbox)
{
    return read_flag(inbox, &inbox->stopped);
}

struct pw_load
pw_inbox_load(struct pw_inbox *inbox)
{
    struct pw_load load;

    lock(inbox);
    load = (struct pw_load){inbox->active, inbox->held, inbox->draining};
    unlock(inbox);
    return load;
}

void
pw_inbox_start(struct pw_inbox *inbox)
{
    lock(inbox);
    inbox->started = true;
    unlock(inbox);
}

void
pw_inbox_start_failed(struct pw_inbox *inbox)
{
    lock(inbox);
    inbox->started = false;
    inbox->stopping = false;
    inbox->stopped = false;
    inbox->registered = false;
    unlock(inbox);
}

int
pw_inbox_await_registered(struct pw_inbox *inbox, int64_t deadline_us, struct pw_error *err)
{
    int status = PAWL_OK;

    lock(inbox);
    while (!inbox->registered && !inbox->stopped && !inbox->start_failed &&
        pw_cond_wait_until(&inbox->changed, &inbox->lock, deadline_us))
        ;
    if (!inbox->registered) {
        if (inbox->start_error.code != PAWL_OK)
            *err = inbox->start_error;
        else
            pw_error_set(err, PAWL_ECONN, "could not register within connect_timeout");
        inbox->stopping = true;
        status = err->code;
    }
    unlock(inbox);
    if (status != PAWL_OK)
        pw_inbox_wake(inbox);
    return status;
}

/* With the lock held. */
static bool
is_drained(const struct pw_inbox *inbox)
{
    return inbox->stopped || (inbox->draining && inbox->active == 0);
}

void
pw_inbox_drain(struct pw_inbox *inbox)
{
    lock(inbox);
    inbox->draining = true;
    (void)pthread_cond_broadcast(&inbox->ready_cond);
    if (inbox->fd_wanted && is_drained(inbox))
        pw_wake_set(&inbox->ready);
    unlock(inbox);
    pw_inbox_wake(inbox);
}

void
pw_inbox_limit(struct pw_inbox *inbox, int64_t leave_at_us, int64_t left_by_us)
{
    lock(inbox);
    if (left_by_us < inbox->left_by_us) {
        inbox->left_by_us = left_by_us;
        inbox->leave_at_us = leave_at_us;
    }
    unlock(inbox);
}

size_t
pw_inbox_stop(struct pw_inbox *inbox, int64_t deadline_us)
{
    size_t left;

    lock(inbox);
    while (inbox->held > 0 && !inbox->stopped &&
        pw_cond_wait_until(&inbox->changed, &inbox->lock, deadline_us))
        ;
    left = inbox->active + inbox->unwritten;
    inbox->stopping = true;
    unlock(inbox);
    pw_inbox_wake(inbox);
    lock(inbox);
    /* The I/O thread limits the time of its goodbye itself. */
    while (!inbox->stopped)
        (void)pw_cond_wait_until(&inbox->changed, &inbox->lock, INT64_MAX);
    unlock(inbox);
    return left;
}

/* Returns true if there is a run for a caller. A claimed task is not started while the lease may have expired. With the lock held. */
static bool
has_ready(struct pw_inbox *inbox)
{
    return !pw_list_empty(&inbox->answered) ||
        (!pw_list_empty(&inbox->new_runs) && pw_now_us() < atomic_load(&inbox->lease_until_us));
}

/* Takes the next run for a caller, or returns NULL. With the lock held. */
static pawl_run *
take_ready(struct pw_inbox *inbox)
{
    struct pw_list *link = pw_list_first(&inbox->answered);

    if (!has_ready(inbox))
        return NULL;
    if (link != NULL) {
        pw_list_remove(link);
        return pw_run_of_link(link);
    }
    link = pw_list_first(&inbox->new_runs);
    pw_list_remove(link);
    return PW_CONTAINER(link, struct pw_task, link)->run;
}

int
pw_inbox_next(struct pw_inbox *inbox, int64_t deadline_us, bool no_wait, pawl_run **run)
{
    bool over = no_wait;
    int status = PAWL_OK;

    lock(inbox);
    *run = NULL;
    if (!inbox->started)
        status = PAWL_EINVAL;
    while (status == PAWL_OK && (*run = take_ready(inbox)) == NULL) {
        if (is_drained(inbox))
            status = PAWL_DRAINED;
        else if (over)
            status = PAWL_ETIMEOUT;
        else
            /* Check the lists again after a timeout: the condition may have been signalled for this thread at the same moment, and it
             * wakes only one. */
            over = !pw_cond_wait_until(&inbox->ready_cond, &inbox->lock, deadline_us);
    }
    if (inbox->fd_wanted && !has_ready(inbox) && !is_drained(inbox))
        (void)pw_wake_clear(&inbox->ready);
    unlock(inbox);
    return status;
}

int
pw_inbox_fd(struct pw_inbox *inbox)
{
    int fd = -1;

    lock(inbox);
    if (inbox->started) {
        fd = inbox->ready.fd;
        inbox->fd_wanted = true;
        if (has_ready(inbox) || is_drained(inbox))
            pw_wake_set(&inbox->ready);
    }
    unlock(inbox);
    return fd;
}

void
pw_inbox_look(struct pw_inbox *inbox)
{
    lock(inbox);
    inbox->looks++;
    unlock(inbox);
    pw_inbox_wake(inbox);
}

bool
pw_inbox_quiet(struct pw_inbox *inbox)
{
    bool quiet;

    lock(inbox);
    quiet = inbox->stopped ||
        (inbox->quiet_looks == inbox->looks && inbox->held == 0 && pw_list_empty(&inbox->posted));
    unlock(inbox);
    return quiet;
}

/* --- handlers' threads -------------------------------------------------------------------------------------------------- */

bool
pw_inbox_post(struct pw_inbox *inbox, struct pw_item *item, bool last)
{
    bool stopped;

    assert(item->task != NULL && item->answer == PW_ANSWER_NONE);
    assert(last == (item == &item->task->last));
    lock(inbox);
    stopped = inbox->stopped;
    if (!stopped)
        pw_list_add_tail(&inbox->posted, &item->link);
    if (last && !stopped && item->kind != PW_KIND_RELEASE) {
        item->task->unwritten = true;
        inbox->unwritten++;
    }
    if (last) {
        assert(inbox->active > 0);
        inbox->active--;
        if (inbox->draining && inbox->active == 0) {
            (void)pthread_cond_broadcast(&inbox->ready_cond);
            if (inbox->fd_wanted)
                pw_wake_set(&inbox->ready);
        }
    }
    unlock(inbox);
    if (!stopped && atomic_load(&inbox->sleeping))
        pw_inbox_wake(inbox);
    return !stopped;
}

/* With the lock held. */
static bool
is_unsure(struct pw_inbox *inbox, struct pw_task *task)
{
    return !inbox->stopped && atomic_load(&task->standing) == PW_GOES_ON &&
        pw_now_us() >= atomic_load(&inbox->lease_until_us);
}

void
pw_inbox_await_lease(struct pw_inbox *inbox, struct pw_task *task)
{
    lock(inbox);
    while (is_unsure(inbox, task))
        (void)pw_cond_wait_until(&inbox->changed, &inbox->lock, INT64_MAX);
    if (inbox->stopped)
        atomic_store(&task->standing, PW_LEASE_LOST);
    unlock(inbox);
}

bool
pw_inbox_unsure(struct pw_inbox *inbox, struct pw_task *task, struct pw_list *branch_link)
{
    bool unsure;

    lock(inbox);
    unsure = is_unsure(inbox, task);
    if (unsure)
        pw_list_add_tail(&inbox->unsure, branch_link);
    unlock(inbox);
    return unsure;
}

/* --- the I/O thread ----------------------------------------------------------------------------------------------------- */

/* Runs that wait for the lease continue, because it is known to hold or to be lost. With the lock held. */
static void
be_sure(struct pw_inbox *inbox)
{
    pw_list_move_all(&inbox->answered, &inbox->unsure);
    (void)pthread_cond_broadcast(&inbox->changed);
    /* Callers may now take runs that waited for the lease. */
    if (pw_list_empty(&inbox->answered) && pw_list_empty(&inbox->new_runs))
        return;
    (void)pthread_cond_broadcast(&inbox->ready_cond);
    if (inbox->fd_wanted)
        pw_wake_set(&inbox->ready);
}

void
pw_inbox_take_posted(struct pw_inbox *inbox, struct pw_list *items)
{
    lock(inbox);
    pw_list_move_all(items, &inbox->posted);
    unlock(inbox);
}

bool
pw_inbox_take_rest(struct pw_inbox *inbox, struct pw_list *items)
{
    lock(inbox);
    pw_list_move_all(items, &inbox->posted);
    inbox->stopped = pw_list_empty(items);
    unlock(inbox);
    return !pw_list_empty(items);
}

void
pw_inbox_take_undone(struct pw_inbox *inbox, struct pw_list *tasks)
{
    lock(inbox);
    if (inbox->draining)
        pw_list_move_all(tasks, &inbox->new_runs);
    unlock(inbox);
}

void
pw_inbox_lose(struct pw_inbox *inbox, struct pw_list *tasks)
{
    lock(inbox);
    pw_list_move_all(tasks, &inbox->new_runs);
    be_sure(inbox);
    unlock(inbox);
}

void
pw_inbox_add_task(struct pw_inbox *inbox, struct pw_task *task, bool hand_out)
{
    assert(!hand_out || task->run != NULL);
    lock(inbox);
    inbox->active++;
    inbox->held++;
    if (hand_out) {
        pw_list_add_tail(&inbox->new_runs, &task->link);
        (void)pthread_cond_signal(&inbox->ready_cond);
    }
    unlock(inbox);
}

void
pw_inbox_drop_task(struct pw_inbox *inbox, bool unwritten)
{
    lock(inbox);
    assert(inbox->held > 0 && inbox->unwritten >= unwritten);
    inbox->held--;
    if (unwritten)
        inbox->unwritten--;
    if (inbox->held == 0)
        (void)pthread_cond_broadcast(&inbox->changed);
    unlock(inbox);
}

void
pw_inbox_offer(struct pw_inbox *inbox, struct pw_list *branch_link)
{
    lock(inbox);
    pw_list_add_tail(&inbox->answered, branch_link);
    (void)pthread_cond_signal(&inbox->ready_cond);
    if (inbox->fd_wanted)
        pw_wake_set(&inbox->ready);
    unlock(inbox);
}

void
pw_inbox_set_lease(struct pw_inbox *inbox, int64_t until_us)
{
    lock(inbox);
    atomic_store(&inbox->lease_until_us, until_us);
    be_sure(inbox);
    unlock(inbox);
}

void
pw_inbox_set_registered(struct pw_inbox *inbox)
{
    lock(inbox);
    inbox->registered = true;
    (void)pthread_cond_broadcast(&inbox->changed);
    unlock(inbox);
}

void
pw_inbox_set_start_error(struct pw_inbox *inbox, const struct pw_error *error, bool permanent)
{
    assert(error->code != PAWL_OK);
    lock(inbox);
    inbox->start_error = *error;
    inbox->start_failed = permanent;
    (void)pthread_cond_broadcast(&inbox->changed);
    unlock(inbox);
}

unsigned
pw_inbox_looks(struct pw_inbox *inbox)
{
    unsigned looks;

    lock(inbox);
    looks = inbox->looks;
    unlock(inbox);
    return looks;
}

void
pw_inbox_claimed(struct pw_inbox *inbox, bool quiet, unsigned looks)
{
    lock(inbox);
    if (quiet)
        inbox->quiet_looks = looks;
    if (!pw_list_empty(&inbox->new_runs) && inbox->fd_wanted)
        pw_wake_set(&inbox->ready);
    unlock(inbox);
}

bool
pw_inbox_sleep(struct pw_inbox *inbox, int64_t *until_us)
{
    bool posted;

    /* Handlers check this flag after they have posted; so check their list after it is set. */
    atomic_store(&inbox->sleeping, true);
    lock(inbox);
    posted = !pw_list_empty(&inbox->posted);
    if (inbox->leave_at_us < *until_us)
        *until_us = inbox->leave_at_us;
    unlock(inbox);
    return posted;
}

bool
pw_inbox_must_leave(struct pw_inbox *inbox, int64_t now_us)
{
    bool must;

    lock(inbox);
    /* guard:drain_within */
    must = inbox->stopping || now_us >= inbox->leave_at_us;
    unlock(inbox);
    return must;
}

int64_t
pw_inbox_left_by(struct pw_inbox *inbox)
{
    int64_t left_by_us;

    lock(inbox);
    left_by_us = inbox->left_by_us;
    unlock(inbox);
    return left_by_us;
}

void
pw_inbox_end(struct pw_inbox *inbox)
{
    lock(inbox);
    be_sure(inbox);
    (void)pthread_cond_broadcast(&inbox->ready_cond);
    if (inbox->fd_wanted)
        pw_wake_set(&inbox->ready);
    unlock(inbox);
}
