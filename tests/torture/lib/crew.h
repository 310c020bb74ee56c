/* SPDX-License-Identifier: Apache-2.0 */
/* A worker in threads of its own, and runs for it, as scenarios need them. Runs are triggered and looked at with plain SQL. */
#ifndef PAWL_TORTURE_CREW_H
#define PAWL_TORTURE_CREW_H

#include "torture.h"

#include <stdatomic.h>

/* What a worker handles. */
struct duty {
    const char *workflow;
    pawl_handler_fn handler;
    const char *undo_name; /* or NULL */
    pawl_undo_fn undo;
    void *userdata;
};

struct crew {
    pawl_config *config;
    pawl_worker *worker;
    pthread_t thread;
    bool running;
    atomic_bool ended; /* pawl_worker_run() has returned */
    pawl_status status;
    pawl_error *error;
};

/* Creates a workflow that tries again soon and often. */
void crew_workflow(const char *name);

/* Makes a worker; false if there is no memory, and then there is nothing to close. */
bool crew_open(struct crew *crew, const struct duty *duties, size_t count);

/* Lets pawl_worker_run() work in a thread. */
void crew_run(struct crew *crew);

/* Drains, waits and frees. False if a call said that there is no memory. */
bool crew_close(struct crew *crew);

/* Triggers a run, the same one if this trial has done so before. */
void crew_trigger(const char *workflow, const char *input, char run_id[PAWL_ID_SIZE]);

/* Waits until a query about a run says "t". False, with nothing said, if the worker ended before; it is wrong if it lasts too long. */
bool crew_await(struct crew *crew, const char *sql, const char *run_id);

/* Whether a run has ended; and waits until it has. */
bool crew_has_ended(const char *run_id);
bool crew_await_end(struct crew *crew, const char *run_id);

/*
 * All that is recorded about a run: its state, output and error, and each step's, in the order of their names; ids are blanked. The first call
 * of a scenario keeps it, later ones must find the same.
 */
void crew_check_run(const char *run_id);

/* The whole of most scenarios: triggers a run, lets a worker execute it, and checks it. world is what happens meanwhile, or NULL. */
bool crew_execute(const struct duty *duties, size_t count, const char *input,
    bool (*world)(struct crew *crew, const char *run_id));

/*
 * The same, but words are lost without memory where what happened is not: compares the run's status and output, and names and states of its
 * steps, with what is given, and no errors.
 */
bool crew_execute_without_words(const struct duty *duties, size_t count, const char *wanted);

/* A step that formats and quotes; its userdata is a text. */
pawl_status crew_say_hello(pawl_run *run, void *userdata, pawl_bytes *output);

/* A scenario of which every program needs the like: a run of two steps, and what comes before it. */
void crew_prepare_two_steps(void);
bool crew_two_steps(void);

#endif
