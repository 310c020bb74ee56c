/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker, as its own files see it. Handlers' threads and the I/O thread exchange work only through the inbox (inbox.h). All other parts
 * belong to the I/O thread (io.c) once it is started. They are the session (session.h) with its housekeeping (tick.h), the claimer
 * (claimer.h), the writers (writer.h, batch.c), and the tasks that they work on (task.c).
 *
 * The contract of turn, reply, broken and next_us, which session, tick, claimer and writers keep:
 *
 * - The I/O thread calls turn() of each part once in each turn of its loop, in the order session (which calls tick), claimer, writers.
 *   turn() does what is due at now_us: it opens a connection, sends a request, or gives up one whose reply is late. It never blocks
 *   and never waits for a reply. It must also be called when nothing is due, and then does nothing.
 * - A request that was sent has sent = true and a deadline. It stays so until exactly one of these happens: reply() is called with
 *   it as the tag; or its connection breaks, and broken() is called (for the session: close_control()). After broken(), no
 *   reply of that connection arrives any more.
 * - reply() is called for each reply in the order of the requests of one connection. A reply about an earlier session (its
 *   request's session is not the present one) changes only the request. reply() may end the session (pw_session_check()). Then every
 *   item has been answered when it returns, and its caller must not touch the items of its own batch.
 * - broken() forgets the requests of that connection, and arranges that each of them is made again: the server may have executed
 *   them or not, so they are repeated in a form in which a second execution does no harm.
 * - next_us() returns the earliest time at which turn() has something to do although nothing arrives, INT64_MAX for never. Time passes
 *   only between turns. If turn() could not do something because of X, next_us() must name the time when X ends. Otherwise the end
 *   of X must wake the thread (a reply, pw_inbox_wake()). A part that forgets this sleeps forever.
 */
#ifndef PW_LIBPAWL_WORKER_WORKER_H
#define PW_LIBPAWL_WORKER_WORKER_H

#include "base/list.h"
#include "base/map.h"
#include "base/rand.h"
#include "libpawl/common/config.h"
#include "libpawl/common/statements.h"
#include "libpawl/run/run.h"
#include "libpawl/run/task.h"
#include "libpawl/worker/attempts.h"
#include "libpawl/worker/claimer.h"
#include "libpawl/worker/handlers.h"
#include "libpawl/worker/inbox.h"
#include "libpawl/worker/session.h"
#include "libpawl/worker/tick.h"
#include "libpawl/worker/width.h"
#include "libpawl/worker/writer.h"
#include "pawl/worker.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

enum {
    PW_LEAVE_US = 5000000, /* how long the I/O thread tries to leave the database cleanly */
};

/* Numbers that pawl_worker_counter() returns. */
enum pw_count {
    PW_COUNT_CLAIMED,
    PW_COUNT_CLAIMS,
    PW_COUNT_FINISHED,
    PW_COUNT_COMMITTED,
    PW_COUNT_BATCHES,
    PW_COUNT_BUSY,
    PW_COUNT_LEASE_LOST,
    PW_COUNT_RECONNECTS,
    PW_COUNT_SESSIONS,
    PW_COUNT_STARVED,
    PW_COUNTS,
};

struct pawl_worker {
    /* Not changed after the start. */
    pid_t pid;
    struct pw_settings settings;
    struct pw_handlers handlers;
    int drain_fd;
    pthread_t thread;

    /* Any thread. */
    atomic_llong counts[PW_COUNTS];
    struct pw_inbox inbox;

    /* Used by the thread that calls the functions of pawl/test.h. */
    int idle_looks;       /* looks that have found nothing, the last one perhaps still in flight */
    int64_t idle_claimed; /* runs that had been claimed when the first one began */

    /* Used by the I/O thread only. */
    struct pw_session session;
    struct pw_attempts attempts;
    struct pw_tick tick;
    struct pw_width width;
    struct pw_claimer claimer;
    struct pw_writer writers[PW_WRITERS_MAX];
    size_t writer_count;
    struct pw_map tasks;
    struct pw_list parked;  /* tasks with items that were busy */
    struct pw_list woken;   /* branches that are answered, to be woken at the next turn */
    struct pw_list offered; /* the same, nonblocking ones */
    struct pw_rand rand;
    bool unverified_told;
};

/* worker.c */
/* Returns true if a call may continue: there is a worker, and it belongs to this process. */
bool pw_worker_here(const pawl_worker *worker, struct pw_error *err);
bool pw_worker_find(
    pawl_worker *worker, const char *workflow, pawl_handler_fn *function, void **userdata);
bool pw_worker_find_undo(
    pawl_worker *worker, const char *name, pawl_undo_fn *function, void **userdata);
const struct pw_settings *pw_worker_settings(pawl_worker *worker);
int pw_worker_drain_fd(pawl_worker *worker);
/* Returns true if the worker has left: it no longer holds runs that still execute. Any thread. */
bool pw_worker_stopped(pawl_worker *worker);
/* Asks for a claim now. pw_worker_quiet() returns true when a later claim returned nothing and no task is held. Any thread. */
void pw_worker_look(pawl_worker *worker);
bool pw_worker_quiet(pawl_worker *worker);
void pw_worker_add(pawl_worker *worker, enum pw_count count, int64_t by);

/* io.c */
void *pw_io_main(void *worker);

/*
 * check.c: asserts the invariants of a worker between two turns. The I/O thread calls it in each turn of builds that define
 * PW_CHECKED: those for debugging and with sanitizers, and all with -Dinvariants=true. Takes the lock.
 */
void pw_worker_check(pawl_worker *worker);

/* notice.c */
/* Reports the runs and steps whose time limit has passed. I/O thread, in each turn. */
void pw_notice_turn(pawl_worker *worker, int64_t now_us);

/* task.c */
/* Counts an item that was posted: its task stays until all its items are answered. I/O thread. */
void pw_item_take(struct pw_item *item);
/* Answers an item that was taken: wakes its branch, frees a note, ends a task. The item must not be used afterwards. I/O thread. */
void pw_item_answer(
    pawl_worker *worker, struct pw_item *item, enum pw_answer answer, const char *reason);
/* Sets the standing of a task, unless its standing is already worse, and makes a notice of it. I/O thread. */
void pw_task_tell(struct pw_task *task, enum pw_standing standing);
/* Answers all parked items of a task with a lost lease. */
void pw_task_lose(pawl_worker *worker, struct pw_task *task);
/* Turns the last item of a task, which was refused for this reason, into a permanent failure with that reason. */
void pw_task_fail_instead(struct pw_task *task, const char *reason);
/* Releases a task that was claimed and that no handler has. */
void pw_task_give_back(struct pw_task *task);
#endif
