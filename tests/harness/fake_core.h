/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker core for unit tests of what handlers hold: it takes the items that handlers post, keeps them as texts, and answers them from a
 * script, without a database. A program that calls fake_core_reset() has this one instead of the real core.
 */
#ifndef PAWL_TESTS_FAKE_CORE_H
#define PAWL_TESTS_FAKE_CORE_H

#include "libpawl/run/run.h"
#include "libpawl/run/task.h"
#include "pawl/worker.h"

#include <stdbool.h>
#include <stddef.h>

/* One answer of the script. Empty texts and NULL are "not said". */
struct fake_answer {
    enum pw_answer answer; /* NONE is taken as OK */
    const char *reason;
    enum pw_state state;
    const char *output;
    const char *error;
    const char *error_code;
    bool final;
    bool approved;
};

/* Forgets everything: no script, no items; limits as by default. Answers come at once, in the posting thread. */
void fake_core_reset(void);

/* Frees what it keeps. */
void fake_core_done(void);

/* Adds an answer; the n-th item that somebody waits for gets the n-th one, and OK when there is none left. */
void fake_core_answer(struct fake_answer answer);

/* Answers come from a thread of their own from now on, as from the I/O thread. fake_core_done() ends it. */
void fake_core_threaded(void);

/* Answers to items of nonblocking branches are kept until fake_core_next() is called. */
pawl_run *fake_core_next(void);

/* How many items were posted, notes and the last one included. */
size_t fake_core_count(void);

/* The n-th item, from 0, as "kind name payload option", with - for what is null. "" beyond the last. */
const char *fake_core_item(size_t n);

/* The number in the order of first starts that the n-th item had; INT32_MIN for null. */
int fake_core_seq(size_t n);

/* The last item of the task, in the same form; "" if there is none yet. */
const char *fake_core_last(void);

/* What pw_task_may_start() answers, and tells the task, from the n-th call on; 1 is the next one. */
void fake_core_stand(enum pw_standing standing, int from);

/* The lease may be over for the next so many calls of nonblocking branches: they wait for it, and fake_core_next() returns them. */
void fake_core_unsure(int calls);

/* Limits. */
void fake_core_limits(size_t payload_max, size_t memory_max);

/*
 * A task of workflow "demo.v1" with input {"n":1}, and the record that a claim would return, or NULL. The database's clock says
 * 2026-03-01T12:00:00 at that moment. fake_core_end() frees it if it was not finished.
 */
struct pw_task *fake_core_task(const char *record);
void fake_core_end(struct pw_task *task);

/* The worker of these tasks, with what it handles; it is started and knows nothing else. */
pawl_worker *fake_core_worker(void);
void fake_core_handle(pawl_handler_fn handler, void *userdata);
void fake_core_undo(const char *name, pawl_undo_fn undo, void *userdata);

/* Gives a task to whoever calls pawl_worker_next(). At most 1,000. */
void fake_core_claim(struct pw_task *task);

/* pawl_worker_next() fails with this status when nothing is left, instead of waiting. */
void fake_core_break(pawl_status status);

/* A descriptor for pawl_worker_drain_on(), and how many threads were in pawl_worker_next() at most. */
void fake_core_drain_on(int fd);
int fake_core_waiting_max(void);

/* How often pawl_worker_start() and pw_worker_look() were called. */
int fake_core_starts(void);
int fake_core_looks(void);

#endif
