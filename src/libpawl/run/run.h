/* SPDX-License-Identifier: Apache-2.0 */
/* A branch of a claimed run, as handlers hold it: what the public run.h is about, and what the worker must know of it. */
#ifndef PW_LIBPAWL_RUN_H
#define PW_LIBPAWL_RUN_H

#include "libpawl/run/task.h"
#include "pawl/run.h"

#include <stddef.h>
#include <stdint.h>

struct pw_buf;

/* The main branch of a task, or NULL if out of memory. I/O thread. */
pawl_run *pw_run_new(struct pw_task *task);

/* Frees a main branch with all its branches; NULL is fine. I/O thread, when no handler uses it any more. */
void pw_run_free(pawl_run *run);

/* The item that this branch waits for has been answered: wakes who waits. I/O thread; the last it does with the item. */
void pw_run_answered(pawl_run *run);

/*
 * The same for many: gathers those whose threads wait, and then wakes one, which wakes two others before it goes on, and so on. To wake
 * hundreds of threads is most of the work of a large batch, and this way it is not the I/O thread's. I/O thread.
 */
void pw_run_gather(pawl_run *run, struct pw_list *woken);
void pw_run_wake(struct pw_list *woken);

/* Where the I/O thread copies what an answer brings: the branch does not use it while it waits. */
struct pw_arena *pw_run_arena(pawl_run *run);

/*
 * Link in the worker's queue of runs that can go on, and the branch whose link was taken out of it to be returned to the user: from then on
 * it takes its answer, and not before, or it could be freed while it stands in the queue.
 */
struct pw_list *pw_run_link(pawl_run *run);
pawl_run *pw_run_of_link(struct pw_list *link);

/*
 * Adds, for the heartbeat, the steps of this task that have been executing for at least min_us: objects
 * {"run", "task", "step", "started_ms", "timeout_ms"}, separated by commas; count says how many there are so far in all. I/O
 * thread, while handlers go on.
 */
void pw_run_write_running(
    pawl_run *run, int64_t now_us, int64_t min_us, struct pw_buf *json, size_t *count);

#endif
