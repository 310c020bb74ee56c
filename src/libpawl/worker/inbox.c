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
    pw_list_init(&inbox->notices);
    atomic_init(&inbox->watch_at_us, INT64_MAX);
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
    load = (struct pw_load){
        inbox->active, inbox->held, inbox->draining, inbox->busy_us, inbox->ended, inbox->starved};
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

/* Returns the number of runs that may be handed out. With the lock held. */
static size_t
count_ready(struct pw_inbox *inbox)
{
    size_t count = inbox->answered_count;

    if (inbox->new_count > 0 && pw_now_us() < atomic_load(&inbox->lease_until_us))
        count += inbox->new_count;
    return count;
}

/*
 * Counts the threads to signal, after the lock is released, because runs can be handed out. At most two: each signalled thread does the same
 * after it has taken a run. None for a run that a signalled thread will take. So a claim of a thousand runs does not delay the I/O
 * thread, a thread that is awake takes a run before a sleeping one does, and no thread sleeps while a run is left:
 *
 * 1. The thread that offers runs, and each thread that takes a run, adds one to woken for each signal that it will send.
 * 2. Each thread that returns from its sleep, signalled or not, subtracts one from woken.
 * 3. So at least as many threads as woken will look at the lists again, and each of them that takes a run does 1.
 *
 * With the lock held.
 */
static size_t
count_wakes(struct pw_inbox *inbox)
{
    size_t wakes = 0;
    size_t most = inbox->sleepers > inbox->woken ? count_ready(inbox) : 0;

    if (most > inbox->sleepers)
        most = inbox->sleepers;
    for (; wakes < PW_WAKES && inbox->woken < most; wakes++)
        inbox->woken++;
    return wakes;
}

/* Signals sleeping threads. Without the lock, because each of them takes it first. */
static void
wake_sleepers(struct pw_inbox *inbox, size_t wakes)
{
    for (; wakes > 0; wakes--)
        (void)pthread_cond_signal(&inbox->ready_cond);
}

/* Waits until a run may be ready. Returns false once the deadline has passed. With the lock held. */
static bool
sleep_until(struct pw_inbox *inbox, int64_t deadline_us)
{
    bool in_time;

    inbox->sleepers++;
    in_time = pw_cond_wait_until(&inbox->ready_cond, &inbox->lock, deadline_us);
    inbox->sleepers--;
    if (inbox->woken > 0)
        inbox->woken--;
    return in_time;
}

/* Returns true if the descriptor has to be readable. With the lock held. */
static bool
has_something(struct pw_inbox *inbox)
{
    /* A program that starves its runs must call pawl_worker_next(), although there is no run for it. */
    return has_ready(inbox) || is_drained(inbox) || inbox->starved ||
        (inbox->log != NULL && !pw_log_ring_empty(inbox->log)) ||
        (atomic_load(&inbox->notices_wanted) && !pw_list_empty(&inbox->notices));
}

/* Makes the descriptor unreadable when there is nothing to return. With the lock held. */
static void
settle_fd(struct pw_inbox *inbox)
{
    if (inbox->fd_wanted && !has_something(inbox))
        (void)pw_wake_clear(&inbox->ready);
}

/* Adds a notice to the list, for pawl_worker_notice(). With the lock held. */
static void
list_notice(struct pw_inbox *inbox, struct pw_notice *notice)
{
    if (pw_list_empty(&notice->link))
        pw_list_add_tail(&inbox->notices, &notice->link);
    notice->task->noticed = true;
    if (inbox->fd_wanted && atomic_load(&inbox->notices_wanted))
        pw_wake_set(&inbox->ready);
}

/* Takes the next run for a caller, or returns NULL. With the lock held. */
static pawl_run *
take_ready(struct pw_inbox *inbox)
{
    struct pw_list *link = pw_list_first(&inbox->answered);
    struct pw_task *task;

    if (!has_ready(inbox))
        return NULL;
    if (link != NULL) {
        inbox->answered_count--;
        pw_list_remove(link);
        return pw_run_of_link(link);
    }
    link = pw_list_first(&inbox->new_runs);
    inbox->new_count--;
    pw_list_remove(link);
    task = PW_CONTAINER(link, struct pw_task, link);
    task->handed = true;
    pw_run_resume(task->run);
    /* The run was cancelled before a handler had it. */
    if (pw_run_notice(task->run)->pending != 0)
        list_notice(inbox, pw_run_notice(task->run));
    return task->run;
}

int
pw_inbox_next(struct pw_inbox *inbox, int64_t deadline_us, bool no_wait, pawl_run **run)
{
    bool over = no_wait;
    int status = PAWL_OK;
    size_t wakes;

    lock(inbox);
    *run = NULL;
    if (inbox->starved) {
        /* The worker claims again. */
        inbox->starved = false;
        pw_inbox_wake(inbox);
    }
    if (!inbox->started)
        status = PAWL_EINVAL;
    while (status == PAWL_OK && (*run = take_ready(inbox)) == NULL) {
        if (is_drained(inbox)) {
            status = PAWL_DRAINED;
        } else if (over) {
            status = PAWL_ETIMEOUT;
        } else {
            /* Check the lists again after a timeout: the condition may have been signalled for this thread at the same moment, and it
             * wakes only one. */
            over = !sleep_until(inbox, deadline_us);
        }
    }
    settle_fd(inbox);
    /* guard:wakes_passed_on */
    wakes = count_wakes(inbox);
    unlock(inbox);
    wake_sleepers(inbox, wakes);
    return status;
}

int
pw_inbox_notice(struct pw_inbox *inbox, pawl_run **run, int *reason)
{
    struct pw_list *link;
    int status = PAWL_ETIMEOUT;
    bool first;

    lock(inbox);
    if (!inbox->started) {
        unlock(inbox);
        return PAWL_EINVAL;
    }
    first = !atomic_exchange(&inbox->notices_wanted, true);
    /* The time limits of runs and steps that execute already were not watched. */
    if (first)
        atomic_store(&inbox->watch_at_us, 0);
    link = pw_list_first(&inbox->notices);
    if (link != NULL) {
        struct pw_notice *notice = PW_CONTAINER(link, struct pw_notice, link);

        *reason = 0;
        while ((notice->pending >> *reason & 1) == 0)
            ++*reason;
        notice->pending &= ~(1U << *reason);
        if (notice->pending == 0)
            pw_list_remove(link);
        *run = notice->run;
        status = PAWL_OK;
    }
    settle_fd(inbox);
    unlock(inbox);
    if (first)
        pw_inbox_wake(inbox);
    return status;
}

void
pw_inbox_notify(struct pw_inbox *inbox, struct pw_notice *notice, int reason)
{
    unsigned bit = 1U << reason;

    lock(inbox);
    /*
     * 1. A handler finishes its run, which removes its notices from the list. 2. The I/O thread, which has not seen the last item yet,
     * reports a reason. 3. The run is freed. Without this its notice would stay in the list.
     */
    /* guard:notice_closed */
    if (!notice->task->closed && (notice->given & bit) == 0) {
        notice->given |= bit;
        notice->pending |= bit;
        if (notice->task->handed)
            list_notice(inbox, notice);
    }
    unlock(inbox);
}

void
pw_inbox_drop_notice(struct pw_inbox *inbox, struct pw_notice *notice, int reason)
{
    unsigned bit = 1U << reason;

    lock(inbox);
    notice->given &= ~bit;
    notice->pending &= ~bit;
    if (notice->pending == 0)
        pw_list_remove(&notice->link);
    settle_fd(inbox);
    unlock(inbox);
}

void
pw_inbox_watch(struct pw_inbox *inbox, int64_t at_us)
{
    bool earlier;

    if (!atomic_load(&inbox->notices_wanted) || at_us >= atomic_load(&inbox->watch_at_us))
        return;
    lock(inbox);
    earlier = at_us < atomic_load(&inbox->watch_at_us);
    if (earlier)
        atomic_store(&inbox->watch_at_us, at_us);
    unlock(inbox);
    if (earlier && atomic_load(&inbox->sleeping))
        pw_inbox_wake(inbox);
}

const pawl_log_line *
pw_inbox_log_next(struct pw_inbox *inbox)
{
    const pawl_log_line *line = inbox->log != NULL ? pw_log_ring_next(inbox->log) : NULL;

    lock(inbox);
    settle_fd(inbox);
    unlock(inbox);
    return line;
}

void
pw_inbox_log_added(void *argument)
{
    struct pw_inbox *inbox = argument;

    /*
     * 1. A, a caller of pawl_worker_next(), finds no line, with the lock held. 2. B adds a line. 3. A makes the descriptor unreadable, and
     * unlocks. 4. B locks, and makes it readable again. Without the lock, A could undo what B did, and no caller would fetch the line.
     */
    lock(inbox);
    if (inbox->fd_wanted)
        pw_wake_set(&inbox->ready);
    unlock(inbox);
}

int
pw_inbox_fd(struct pw_inbox *inbox)
{
    int fd = -1;

    lock(inbox);
    if (inbox->started) {
        fd = inbox->ready.fd;
        inbox->fd_wanted = true;
        if (has_something(inbox))
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

/* With the lock held. */
static void
add_posted(struct pw_inbox *inbox, struct pw_item *item, bool last)
{
    if (inbox->posted_count == 0)
        inbox->posted_since_us = pw_now_us();
    inbox->posted_count++;
    inbox->posted_ends += last;
    inbox->busy_us += item->busy_us;
    inbox->ended += last;
    pw_list_add_tail(&inbox->posted, &item->link);
}

/* With the lock held. */
static bool
is_worth_waking(const struct pw_inbox *inbox)
{
    /* guard:worth_waking */
    return inbox->posted_count >= inbox->worth.posts || inbox->posted_ends >= inbox->worth.ends;
}

/* Removes the notices of a task whose handler has finished. With the lock held. */
static void
close_notices(struct pw_inbox *inbox, struct pw_task *task)
{
    struct pw_list *next;

    task->closed = true;
    if (!task->noticed)
        return;
    for (struct pw_list *link = pw_list_first(&inbox->notices); link != NULL; link = next) {
        next = pw_list_next(&inbox->notices, link);
        if (PW_CONTAINER(link, struct pw_notice, link)->task == task)
            pw_list_remove(link);
    }
    settle_fd(inbox);
}

bool
pw_inbox_post(struct pw_inbox *inbox, struct pw_item *item, bool last)
{
    bool stopped;
    bool worth;

    assert(item->task != NULL && item->answer == PW_ANSWER_NONE);
    assert(last == (item == &item->task->last));
    lock(inbox);
    stopped = inbox->stopped;
    if (!stopped)
        add_posted(inbox, item, last);
    if (last && !stopped && item->kind != PW_KIND_RELEASE) {
        item->task->unwritten = true;
        inbox->unwritten++;
    }
    if (last) {
        assert(inbox->active > 0);
        inbox->active--;
        close_notices(inbox, item->task);
        if (inbox->draining && inbox->active == 0) {
            (void)pthread_cond_broadcast(&inbox->ready_cond);
            if (inbox->fd_wanted)
                pw_wake_set(&inbox->ready);
        }
    }
    worth = !stopped && is_worth_waking(inbox);
    unlock(inbox);
    /* One post wakes the thread; later posts find it woken. */
    if (worth && atomic_exchange(&inbox->sleeping, false))
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
    if (unsure) {
        inbox->unsure_count++;
        pw_list_add_tail(&inbox->unsure, branch_link);
    }
    unlock(inbox);
    return unsure;
}

/* --- the I/O thread ----------------------------------------------------------------------------------------------------- */

/* Runs that wait for the lease continue, because it is known to hold or to be lost. With the lock held. */
static void
be_sure(struct pw_inbox *inbox)
{
    pw_list_move_all(&inbox->answered, &inbox->unsure);
    inbox->answered_count += inbox->unsure_count;
    inbox->unsure_count = 0;
    (void)pthread_cond_broadcast(&inbox->changed);
    /* Callers may now take runs that waited for the lease. */
    if (pw_list_empty(&inbox->answered) && pw_list_empty(&inbox->new_runs))
        return;
    (void)pthread_cond_broadcast(&inbox->ready_cond);
    if (inbox->fd_wanted)
        pw_wake_set(&inbox->ready);
}

/* With the lock held. */
static void
move_posted(struct pw_inbox *inbox, struct pw_list *items)
{
    pw_list_move_all(items, &inbox->posted);
    inbox->posted_count = 0;
    inbox->posted_ends = 0;
}

int64_t
pw_inbox_take_posted(struct pw_inbox *inbox, struct pw_list *items, int64_t now_us)
{
    int64_t since_us = now_us;

    lock(inbox);
    if (inbox->posted_count > 0 && inbox->posted_since_us < now_us)
        since_us = inbox->posted_since_us;
    move_posted(inbox, items);
    unlock(inbox);
    return since_us;
}

bool
pw_inbox_take_rest(struct pw_inbox *inbox, struct pw_list *items)
{
    lock(inbox);
    move_posted(inbox, items);
    inbox->stopped = pw_list_empty(items);
    unlock(inbox);
    return !pw_list_empty(items);
}

/* Returns when the program has starved its new runs, unless it calls pawl_worker_next(); INT64_MAX: never. With the lock held. */
static int64_t
starves_at(struct pw_inbox *inbox)
{
    struct pw_list *link = pw_list_first(&inbox->new_runs);
    int64_t at_us;

    if (inbox->start_limit_us == 0 || link == NULL || inbox->sleepers > 0)
        return INT64_MAX;
    at_us = PW_CONTAINER(link, struct pw_task, link)->offered_us;
    if (at_us < inbox->sure_since_us)
        at_us = inbox->sure_since_us;
    at_us = pw_add_us(at_us, inbox->start_limit_us);
    /* While the lease may have expired, no caller can take a run. The reply that renews it wakes the thread. */
    return at_us < atomic_load(&inbox->lease_until_us) ? at_us : INT64_MAX;
}

bool
pw_inbox_take_undone(struct pw_inbox *inbox, int64_t now_us, struct pw_list *tasks)
{
    bool starved;

    lock(inbox);
    starved = !inbox->draining && now_us >= starves_at(inbox);
    if (starved)
        inbox->starved = true;
    if (starved || inbox->draining) {
        pw_list_move_all(tasks, &inbox->new_runs);
        inbox->new_count = 0;
    }
    unlock(inbox);
    return starved;
}

void
pw_inbox_lose(struct pw_inbox *inbox, struct pw_list *tasks)
{
    lock(inbox);
    pw_list_move_all(tasks, &inbox->new_runs);
    inbox->new_count = 0;
    be_sure(inbox);
    unlock(inbox);
}

static size_t
count_links(const struct pw_list *list)
{
    size_t count = 0;

    for (struct pw_list *link = pw_list_first(list); link != NULL; link = pw_list_next(list, link))
        count++;
    return count;
}

void
pw_inbox_add_tasks(struct pw_inbox *inbox, struct pw_list *tasks)
{
    size_t count = count_links(tasks);
    size_t wakes;

    lock(inbox);
    inbox->active += count;
    inbox->held += count;
    inbox->new_count += count;
    pw_list_move_all(&inbox->new_runs, tasks);
    wakes = count_wakes(inbox);
    unlock(inbox);
    wake_sleepers(inbox, wakes);
}

void
pw_inbox_count_task(struct pw_inbox *inbox)
{
    lock(inbox);
    inbox->active++;
    inbox->held++;
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
pw_inbox_offer(struct pw_inbox *inbox, struct pw_list *branches)
{
    size_t count = count_links(branches);
    size_t wakes;

    lock(inbox);
    inbox->answered_count += count;
    pw_list_move_all(&inbox->answered, branches);
    wakes = count_wakes(inbox);
    if (inbox->fd_wanted)
        pw_wake_set(&inbox->ready);
    unlock(inbox);
    wake_sleepers(inbox, wakes);
}

void
pw_inbox_set_lease(struct pw_inbox *inbox, int64_t until_us)
{
    lock(inbox);
    if (pw_now_us() >= atomic_load(&inbox->lease_until_us))
        inbox->sure_since_us = pw_now_us();
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
pw_inbox_limits_due(struct pw_inbox *inbox, int64_t now_us)
{
    if (!atomic_load(&inbox->notices_wanted) || now_us < atomic_load(&inbox->watch_at_us))
        return false;
    /* First, so that a limit which a handler's thread adds during the check is not lost. */
    atomic_store(&inbox->watch_at_us, INT64_MAX);
    return true;
}

bool
pw_inbox_sleep(struct pw_inbox *inbox, struct pw_worth worth, int64_t *until_us)
{
    bool posted;

    /* Handlers check this flag after they have posted; so check what they posted after it is set. */
    atomic_store(&inbox->sleeping, true);
    lock(inbox);
    inbox->worth = worth;
    posted = is_worth_waking(inbox);
    if (inbox->leave_at_us < *until_us)
        *until_us = inbox->leave_at_us;
    if (starves_at(inbox) < *until_us)
        *until_us = starves_at(inbox);
    if (atomic_load(&inbox->notices_wanted) && atomic_load(&inbox->watch_at_us) < *until_us)
        *until_us = atomic_load(&inbox->watch_at_us);
    unlock(inbox);
    return posted;
}

void
pw_inbox_awake(struct pw_inbox *inbox)
{
    atomic_store(&inbox->sleeping, false);
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
