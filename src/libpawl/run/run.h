/* SPDX-License-Identifier: Apache-2.0 */
/* A branch of a claimed run, which handlers hold as a pawl_run: the functions that the worker needs. */
#ifndef PW_LIBPAWL_RUN_H
#define PW_LIBPAWL_RUN_H

#include "libpawl/run/task.h"
#include "pawl/run.h"

#include <stddef.h>
#include <stdint.h>

struct pw_buf;

enum {
    PW_WAKES = 2, /* how many others a thread wakes that was woken */
};

/* Makes the main branch of a task. Returns NULL if out of memory. I/O thread. */
pawl_run *pw_run_new(struct pw_task *task);

/* Frees a main branch with all its branches; NULL is fine. I/O thread, when no handler uses it any more. */
void pw_run_free(pawl_run *run);

/*
 * Wakes the thread of a branch whose item has been answered, or offers the branch if it is nonblocking. The caller must not use the item
 * afterwards. I/O thread, a branch that passes the wake-up on, or a thread that posts after the worker has stopped.
 */
void pw_run_answered(pawl_run *run);

/*
 * The same for many branches. pw_run_gather() collects the branches whose threads wait. pw_run_wake() wakes one of them, which wakes two
 * others before it continues, and so on. Waking hundreds of threads is most of the work of a large batch; this way the I/O thread does
 * not do it. pw_run_gather() collects nonblocking branches in offered, for pawl_worker_next(). I/O thread.
 */
void pw_run_gather(pawl_run *run, struct pw_list *woken, struct pw_list *offered);
void pw_run_wake(struct pw_list *woken);

/* Counts the steps of this task that have been executing for at least min_us. I/O thread, while handlers continue. */
size_t pw_run_count_running(pawl_run *run, int64_t now_us, int64_t min_us);

/* Returns the arena to which the I/O thread copies the values of an answer. Nothing else is allocated there. */
struct pw_arena *pw_run_arena(pawl_run *run);

/*
 * pw_run_link() returns the link of a branch in the worker's queue of runs that can continue. pw_run_of_link() returns the branch whose
 * link was taken out of that queue, to be returned to the user. Only from then on does the branch take its answer. Otherwise it could be
 * freed while it is still in the queue.
 */
struct pw_list *pw_run_link(pawl_run *run);
pawl_run *pw_run_of_link(struct pw_list *link);
/* Notes that the branch executes from now on; and returns how long it has executed since then. The thread of the branch. */
void pw_run_resume(pawl_run *run);
int64_t pw_run_busy_us(const pawl_run *run);

/* Returns the notice of a branch. Any thread. */
struct pw_notice *pw_run_notice(pawl_run *run);

/*
 * Reports the open steps of this task, of all its branches, that have exceeded their time limit. Returns when the next one will; INT64_MAX:
 * none. I/O thread, while handlers execute.
 */
int64_t pw_run_notify_late(pawl_run *run, int64_t now_us);

/*
 * Adds, for the heartbeat, the steps of this task that have been executing for at least min_us. They are objects {"run", "task", "step",
 * "started_ms", "timeout_ms"}, separated by commas; *count is the number of objects so far. I/O thread, while handlers execute.
 */
void pw_run_write_running(
    pawl_run *run, int64_t now_us, int64_t min_us, struct pw_buf *json, size_t *count);

#endif
