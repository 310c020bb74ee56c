/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inbox: everything that handlers, the program and the I/O thread share, and the one lock that guards it. The lock is held for a
 * few instructions only, never across SQL or a callback. Order of locks: that of a main branch, this one, that of the log's ring.
 */
#ifndef PW_LIBPAWL_WORKER_INBOX_H
#define PW_LIBPAWL_WORKER_INBOX_H

#include "base/error.h"
#include "base/list.h"
#include "base/wake.h"
#include "libpawl/common/log_ring.h"
#include "libpawl/run/run.h"
#include "libpawl/run/task.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many posted items, and how many last items among them, are worth waking the I/O thread. */
struct pw_worth {
    size_t posts;
    size_t ends;
};

struct pw_inbox {
    /* Any thread, without the lock. */
    struct pw_wake wake;         /* wakes the I/O thread */
    struct pw_wake ready;        /* what pawl_worker_fd() returns */
    atomic_llong lease_until_us; /* until when the lease holds, as far as we know */
    atomic_bool sleeping; /* the I/O thread is in poll, or about to be, and no post has woken it */
    atomic_bool notices_wanted; /* pawl_worker_notice() was called */
    struct pw_log_ring *
        log; /* lines to be fetched; NULL: none are kept. Does not change after the worker is made */
    /* When a time limit of a run or a step passes; INT64_MAX: none. Lowered with the lock held, raised by the I/O thread. */
    atomic_llong watch_at_us;

    pthread_mutex_t lock;
    /* All below is guarded by the lock. */
    pthread_cond_t changed;    /* of the states below, and of the lease */
    pthread_cond_t ready_cond; /* runs that can continue */
    struct pw_list posted;     /* items from handlers */
    size_t posted_count;       /* how many */
    int64_t posted_since_us;   /* when the first of them was posted */
    struct pw_worth worth;     /* what wakes the I/O thread */
    size_t posted_ends;        /* of the posted items, how many are the last of their tasks */
    struct pw_list new_runs;   /* tasks that were claimed and that no handler has yet */
    struct pw_list answered;   /* nonblocking runs that have their answer */
    struct pw_list unsure; /* nonblocking runs that wait until the lease is known to hold or not */
    size_t new_count, answered_count, unsure_count; /* how many are in each of the three */
    size_t sleepers;        /* threads in pawl_worker_next() that wait for a run */
    size_t woken;           /* of these, at most so many have been signalled and not returned yet */
    size_t active;          /* tasks whose handler has not finished */
    size_t held;            /* tasks that exist, finished or not */
    int64_t busy_us;        /* how long handlers have executed before they posted, all together */
    int64_t ended;          /* how many have finished */
    size_t unwritten;       /* tasks that have finished and whose result is not recorded yet */
    struct pw_list notices; /* struct pw_notice of tasks that a handler has */
    bool started;
    bool stopped; /* the I/O thread is gone, or about to be */
    bool draining;
    bool stopping;       /* leave now */
    int64_t leave_at_us; /* leave then, whatever executes; INT64_MAX: no limit */
    int64_t left_by_us;  /* by when the worker must have left */
    bool registered;
    bool start_failed; /* start_error is permanent */
    bool fd_wanted;
    bool starved; /* no caller took the new runs; nothing is claimed until one calls */
    int64_t
        start_limit_us;    /* how long a new run waits for a caller; 0: no limit. Does not change */
    int64_t sure_since_us; /* since when the lease is known to hold */
    unsigned looks;        /* how often a caller asked to look for work */
    unsigned quiet_looks;  /* the number of looks before the last claim that returned nothing */
    struct pw_error start_error; /* why the first registration failed */
};

/* How busy a worker is. */
struct pw_load {
    size_t active;
    size_t held;
    bool draining;
    int64_t busy_us; /* how long handlers have executed so far, all together */
    int64_t ended;   /* how many have finished so far */
    bool starved;
};

/*
 * pw_inbox_init() makes no descriptor and no lock: pw_inbox_open() does, after it. pw_inbox_done() closes the descriptors that exist and
 * frees nothing else. destroy_lock: pw_inbox_open() has succeeded, in this process.
 */
void pw_inbox_init(struct pw_inbox *inbox);
int pw_inbox_open(struct pw_inbox *inbox, struct pw_error *err);
void pw_inbox_done(struct pw_inbox *inbox, bool destroy_lock);

/* --- any thread --------------------------------------------------------------------------------------------------------- */

/* Wakes the I/O thread if it sleeps. */
void pw_inbox_wake(struct pw_inbox *inbox);

bool pw_inbox_started(struct pw_inbox *inbox);
bool pw_inbox_draining(struct pw_inbox *inbox);
bool pw_inbox_stopped(struct pw_inbox *inbox);
struct pw_load pw_inbox_load(struct pw_inbox *inbox);

/* The start of the I/O thread, by the thread that starts it. failed() forgets that it was started; the thread must have ended. */
void pw_inbox_start(struct pw_inbox *inbox);
void pw_inbox_start_failed(struct pw_inbox *inbox);
/* Waits until the first registration has succeeded, has failed permanently, or the deadline has passed; then makes the thread stop. */
int pw_inbox_await_registered(struct pw_inbox *inbox, int64_t deadline_us, struct pw_error *err);

/* Claims nothing more; with a limit, leaves at leave_at_us and must have left by left_by_us. Of several limits the earliest counts. */
void pw_inbox_drain(struct pw_inbox *inbox);
void pw_inbox_limit(struct pw_inbox *inbox, int64_t leave_at_us, int64_t left_by_us);
/* Waits until no task is held, or the deadline has passed; then makes the thread leave and waits for that. Returns the number of
 * tasks that were executing or whose result was not recorded. */
size_t pw_inbox_stop(struct pw_inbox *inbox, int64_t deadline_us);

/* pawl_worker_next(): PAWL_OK and a run, PAWL_ETIMEOUT, PAWL_DRAINED, or PAWL_EINVAL before the start. */
int pw_inbox_next(struct pw_inbox *inbox, int64_t deadline_us, bool no_wait, pawl_run **run);
/* pawl_worker_fd(): -1 before the start. */
int pw_inbox_fd(struct pw_inbox *inbox);

/* pawl_worker_notice(): PAWL_OK and a notice, PAWL_ETIMEOUT, or PAWL_EINVAL before the start. */
int pw_inbox_notice(struct pw_inbox *inbox, pawl_run **run, int *reason);
/* Reports a reason, unless it was reported before or its task has no handler any more. Any thread. */
void pw_inbox_notify(struct pw_inbox *inbox, struct pw_notice *notice, int reason);
/* Forgets a reason, so that it can be reported again. Any thread. */
void pw_inbox_drop_notice(struct pw_inbox *inbox, struct pw_notice *notice, int reason);
/* Wakes the I/O thread at at_us, if pawl_worker_notice() was called. Any thread. */
void pw_inbox_watch(struct pw_inbox *inbox, int64_t at_us);

/* pawl_worker_log_next(): a line, or NULL. */
const pawl_log_line *pw_inbox_log_next(struct pw_inbox *inbox);
/* A line was added to the log. Any thread that holds no lock. */
void pw_inbox_log_added(void *inbox);

/* Asks for a claim now. pw_inbox_quiet() returns true when a later claim returned nothing and no task is held. */
void pw_inbox_look(struct pw_inbox *inbox);
bool pw_inbox_quiet(struct pw_inbox *inbox);

/* --- handlers' threads -------------------------------------------------------------------------------------------------- */

/*
 * Puts an item on the list for the I/O thread, and wakes that thread if it sleeps and enough was posted to be worth it. Returns false if
 * that thread is gone. last: it is its task's last item.
 */
bool pw_inbox_post(struct pw_inbox *inbox, struct pw_item *item, bool last);
/* Waits until it is known whether the lease holds. If the worker has stopped, sets the standing of the task to PW_LEASE_LOST. */
void pw_inbox_await_lease(struct pw_inbox *inbox, struct pw_task *task);
/* The same without waiting: returns true if it is not known, and offers the branch when it is. */
bool pw_inbox_unsure(struct pw_inbox *inbox, struct pw_task *task, struct pw_list *branch_link);

/* --- the I/O thread ----------------------------------------------------------------------------------------------------- */

/* Moves the posted items to a list. Returns when the first was posted; now_us if there is none. */
int64_t pw_inbox_take_posted(struct pw_inbox *inbox, struct pw_list *items, int64_t now_us);
/* The same at the end: returns false if nothing was posted, and then the worker counts as stopped. */
bool pw_inbox_take_rest(struct pw_inbox *inbox, struct pw_list *items);
/*
 * Moves the tasks that no handler has to a list: on drain, and when no caller has taken the oldest one within start_limit_us. Returns
 * true in the second case; then nothing is claimed until pawl_worker_next() is called.
 */
bool pw_inbox_take_undone(struct pw_inbox *inbox, int64_t now_us, struct pw_list *tasks);
/* The session has ended: the same, drain or not, and runs that wait for the lease continue. */
void pw_inbox_lose(struct pw_inbox *inbox, struct pw_list *tasks);
/* Counts tasks that were claimed, and offers them to handlers; the list is empty then. */
void pw_inbox_add_tasks(struct pw_inbox *inbox, struct pw_list *tasks);
/* Counts one that no handler is to have. */
void pw_inbox_count_task(struct pw_inbox *inbox);
/* Counts a task as gone. unwritten: its result was to be recorded. */
void pw_inbox_drop_task(struct pw_inbox *inbox, bool unwritten);
/* Offers nonblocking branches that have their answers; the list is empty then. */
void pw_inbox_offer(struct pw_inbox *inbox, struct pw_list *branches);
/* The lease holds until then; runs that wait for it continue. */
void pw_inbox_set_lease(struct pw_inbox *inbox, int64_t until_us);
void pw_inbox_set_registered(struct pw_inbox *inbox);
/* Why the worker is not registered. permanent: no later attempt can change it. */
void pw_inbox_set_start_error(struct pw_inbox *inbox, const struct pw_error *error, bool permanent);
/*
 * pw_inbox_looks() returns how often a look was requested. pw_inbox_claimed() reports the end of a claim that was sent after this number
 * of looks; quiet: it returned nothing.
 */
unsigned pw_inbox_looks(struct pw_inbox *inbox);
void pw_inbox_claimed(struct pw_inbox *inbox, bool quiet, unsigned looks);
/*
 * Before poll: marks the thread as sleeping until this is worth waking it. Returns true if so much is posted already; lowers *until_us
 * to the time to leave. pw_inbox_awake(): poll has returned.
 */
bool pw_inbox_sleep(struct pw_inbox *inbox, struct pw_worth worth, int64_t *until_us);
void pw_inbox_awake(struct pw_inbox *inbox);
/* Returns true if a time limit may have passed: the caller checks all of them, and calls pw_inbox_watch() with the next one. */
bool pw_inbox_limits_due(struct pw_inbox *inbox, int64_t now_us);
bool pw_inbox_must_leave(struct pw_inbox *inbox, int64_t now_us);
int64_t pw_inbox_left_by(struct pw_inbox *inbox);
/* The end of the thread: wakes every waiting thread. */
void pw_inbox_end(struct pw_inbox *inbox);

#endif
