/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A claimed task: the data that the claim returned, and its standing with the worker. The I/O thread makes it from a row of a claim, and
 * the threads of its handler use it. After the handler has finished, the I/O thread takes it back and frees it.
 */
#ifndef PW_LIBPAWL_TASK_H
#define PW_LIBPAWL_TASK_H

#include "base/arena.h"
#include "base/list.h"
#include "base/uuid.h"
#include "libpawl/run/item.h"
#include "libpawl/run/record.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct pawl_worker;

/* Why a handler should stop. The standing of a task moves only down this list, never up. */
enum pw_standing {
    PW_GOES_ON,
    PW_PAUSED, /* by an operator: nothing new is started */
    PW_CANCELLED,
    PW_LEASE_LOST,
};

/*
 * The reasons that pawl_worker_notice() returns about one branch: reasons of its whole run if it is the main branch, and the time limit of
 * the step that is open on it. Guarded by the inbox's lock, except run and task, which do not change.
 */
struct pw_notice {
    struct pw_list link; /* in the inbox's list of notices */
    struct pawl_run *run;
    struct pw_task *task;
    unsigned pending; /* reasons that were not fetched yet; bit PAWL_NOTICE_... */
    unsigned given;   /* reasons that are not reported again */
};

struct pw_task {
    struct pawl_worker *worker;
    struct pw_arena arena; /* data of the claim; read-only once handlers see the task */

    struct pw_uuid id;
    char id_text[PAWL_ID_SIZE];
    int32_t number; /* of the task in its run, 0 for the run itself */
    int32_t fence;
    int32_t round;
    int32_t execution;
    int64_t session;
    bool rolling_back;
    bool suspect;
    const char *workflow;
    const char *tenant;
    pawl_bytes input;
    pawl_bytes metadata;
    int64_t step_timeout_ms; /* -1: none */
    int64_t run_deadline_us; /* INT64_MAX: none */
    struct pw_record record;

    void *userdata;       /* of the handler that the worker has for this workflow */
    struct pawl_run *run; /* the main branch, which owns all other branches */

    /* enum pw_standing; the I/O thread writes it, and handlers' threads do once the worker has stopped. */
    atomic_int standing;
    atomic_int seq; /* the last number that was assigned */

    /* Used by the I/O thread only. */
    int writer;
    struct pw_list link;        /* in the inbox's list of new runs; guarded by its lock */
    int64_t offered_us;         /* since when it is in that list; the same */
    struct pw_list parked_link; /* in the list of tasks with parked items */
    struct pw_list items;       /* parked items: busy, or after a busy item */
    int64_t parked_until_us;
    unsigned parked_tries;
    size_t pending;      /* items that are not answered */
    bool finished;       /* its last item was posted */
    bool ended;          /* its last item was answered */
    bool unwritten;      /* its last item is a result, not a release; guarded by the inbox's lock */
    bool handed;         /* pawl_worker_next() has returned it; the same */
    bool closed;         /* its last item was posted, so it has no notices any more; the same */
    bool noticed;        /* a notice of it was listed; the same */
    bool failed_instead; /* its last item was refused once, and is a failure now */
    struct pw_item last; /* complete, fail, suspend, release or drift */
};

/* Functions of the worker that the handlers' side calls. */

/*
 * Posts an item; item->task must be set. If item->branch is set, pw_run_answered(branch) is called when the item is answered: always,
 * whatever breaks, but not before it is decided. The I/O thread calls it, or this call does if the worker has stopped. Any thread; never
 * blocks.
 */
void pw_task_post(struct pw_item *item);

/*
 * Posts task->last, after which the task belongs to the I/O thread. That thread calls pw_run_free(task->run) and frees the task when all
 * its items are answered. If the worker has stopped, this call does both.
 */
void pw_task_post_last(struct pw_task *task);

/*
 * Returns true if the process was forked after the worker was made. Then the I/O thread does not exist here, its locks may be held
 * forever, and nothing must be posted. Any thread.
 */
bool pw_task_foreign(const struct pw_task *task);

/*
 * Returns the task's standing before something new is started. First waits while the worker does not know whether its lease still holds.
 * Fast in the common case.
 */
enum pw_standing pw_task_may_start(struct pw_task *task);

/*
 * The same for a nonblocking branch: returns true if the worker does not know whether its lease holds. pawl_worker_next() returns the
 * branch when the worker knows.
 */
bool pw_task_await_lease(struct pw_task *task, struct pawl_run *branch);

/*
 * Notices. pw_task_notify() reports a reason, once. pw_task_drop_notice() forgets a reason that does not apply any more, so that it can be
 * reported again. pw_task_watch() arranges that the I/O thread calls pw_run_notify_late() at deadline_us. Any thread; the caller may hold
 * the lock of the main branch.
 */
void pw_task_notify(struct pw_notice *notice, int reason);
void pw_task_drop_notice(struct pw_notice *notice, int reason);
void pw_task_watch(struct pw_task *task, int64_t deadline_us);

/* The largest payload, and the most memory of one branch, in bytes. Any thread. */
size_t pw_task_payload_max(const struct pw_task *task);
size_t pw_task_memory_max(const struct pw_task *task);

/* The size of a thread's stack, 0 for the system's default. Any thread. */
size_t pw_task_thread_stack(const struct pw_task *task);

/* Offers a nonblocking branch that can continue: pawl_worker_next() will return it. Any thread. */
void pw_worker_ready(struct pawl_worker *worker, struct pawl_run *branch);

#endif
