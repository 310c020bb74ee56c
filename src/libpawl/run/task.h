/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A claimed task: what the claim said about it, and its standing with the worker. Made by the I/O thread from a row of a claim,
 * used by the threads of its handler, given back to the I/O thread when the handler has finished, freed there.
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

/* Why a handler should stop. Never goes back to what is before it here. */
enum pw_standing {
    PW_GOES_ON,
    PW_PAUSED, /* by an operator: nothing new is started */
    PW_CANCELLED,
    PW_LEASE_LOST,
};

struct pw_task {
    struct pawl_worker *worker;
    struct pw_arena
        arena; /* what the claim said; written before handlers see the task, read only after */

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
    struct pawl_run *run; /* the main branch, which owns the others */

    atomic_int standing; /* enum pw_standing; written by the I/O thread */
    atomic_int seq;      /* the last that was given out */

    /* Of the I/O thread alone. */
    int writer;
    struct pw_list
        link; /* in the queue of runs that were claimed and not handed out; guarded by the worker's lock */
    struct pw_list parked_link; /* in the list of tasks with parked items */
    struct pw_list items;       /* parked: busy, or behind a busy one */
    int64_t parked_until_us;
    unsigned parked_tries;
    size_t pending;      /* items that are not answered */
    bool finished;       /* its last item was posted */
    bool ended;          /* and answered */
    bool unwritten;      /* and says what the handler came to; guarded by the worker's lock */
    bool failed_instead; /* its last item was refused once, and is a failure now */
    struct pw_item last; /* complete, fail, suspend, release or drift */
};

/*
 * Below: what the handlers' side calls of the worker's.
 */

/*
 * Posts an item; item->task must be set. If item->branch is set, pw_run_answered(branch) will be called from the I/O thread when it is
 * answered: always, whatever breaks, but not before it is decided. Any thread; never blocks.
 */
void pw_task_post(struct pw_item *item);

/*
 * Posts task->last, after which the task belongs to the I/O thread: it calls pw_run_free(task->run) and frees the task when that
 * is decided.
 */
void pw_task_post_last(struct pw_task *task);

/*
 * Whether the process was forked after the worker was made: then its thread is not here, its locks may be held for ever, and nothing
 * may be posted. Any thread.
 */
bool pw_task_foreign(const struct pw_task *task);

/*
 * Whether something new may be started: waits, for a moment, while the worker does not know whether its lease still holds, and
 * then tells the task's standing. Fast in the common case.
 */
enum pw_standing pw_task_may_start(struct pw_task *task);

/*
 * The same for a caller that does not wait: true if the worker does not know, and then pawl_worker_next() returns the branch when it
 * does.
 */
bool pw_task_await_lease(struct pw_task *task, struct pawl_run *branch);

/* The largest payload, and the most memory of one branch, in bytes. Any thread. */
size_t pw_task_payload_max(const struct pw_task *task);
size_t pw_task_memory_max(const struct pw_task *task);

/* The size of a thread's stack, 0 for the system's default. Any thread. */
size_t pw_task_thread_stack(const struct pw_task *task);

/* Called when the branch of a nonblocking user can go on: pawl_worker_next() will return it. I/O thread. */
void pw_worker_ready(struct pawl_worker *worker, struct pawl_run *branch);

#endif
