/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One scenario while it is played. The main thread executes the actions of play in order; handlers are executed by the action
 * work, on the same thread or, in branches, on threads of the library.
 */
#ifndef PAWL_PLAYER_PLAY_H
#define PAWL_PLAYER_PLAY_H

#include "ledger.h"
#include "value.h"

#include <pawl/pawl.h>
#include <pthread.h>

/* A run that the scenario has named. */
struct label {
    const char *name;
    char run_id[PAWL_ID_SIZE];
    struct label *next;
};

struct play {
    const char *scenario;     /* its name */
    const struct value *file; /* all of it */
    struct pool *pool;
    struct ledger *ledger;
    pawl_client *client;
    pawl_worker *worker;
    const char *version;         /* of the bodies; "" for does */
    const struct value *without; /* names that the worker does not handle, or NULL */
    bool drained;
    bool is_process; /* a step may end this process */
    struct label *labels;
    /* Guards client and labels, because steps in several threads may do actions. */
    pthread_mutex_t lock;
};

/* Plays one scenario. The reason of a failure is in the ledger afterwards. */
void play_scenario(struct play *play);

/* Keeps the first problem of the scenario, which has failed by it. */
void play_problem(struct play *play, const char *format, ...) PAWL_PRINTF(2, 3);

/* A call of libpawl must have succeeded. Frees the error. */
bool play_good(struct play *play, const char *what, pawl_status status, pawl_error *error);

/* Names a run, and returns the id of a named one; "" with a problem if there is none. */
void play_name_run(struct play *play, const char *name, const char *run_id);
const char *play_run_id(struct play *play, const char *name);

/* The name of a workflow in the database. */
const char *play_workflow(struct play *play, const char *name);

/* Reads JSON that came from the database; null with a problem if it is none. */
const struct value *play_read(struct play *play, pawl_bytes json);

/* --- variables and templates ---------------------------------------------------------------------------------------------- */

/* A variable and those before it. Lists share their ends, so a branch that adds one changes no other. */
struct variable {
    const char *name;
    const struct value *value;
    const struct variable *before;
};

const struct variable *variable_add(
    struct play *play, const struct variable *before, const char *name, const struct value *value);

/* Fills a template. */
const struct value *play_fill(
    struct play *play, const struct variable *variables, const struct value *form);

/* The JSON of a member that is a template; empty if there is no such member. */
pawl_bytes play_fill_member(struct play *play, const struct variable *variables,
    const struct value *object, const char *name);

/* --- parts ----------------------------------------------------------------------------------------------------------------- */

/* form.c: finds members that the format does not have. */
void form_check(struct play *play);

/* worker.c: creates the workflows; makes a worker, and ends it. */
void worker_create_workflows(struct play *play);
void worker_make(struct play *play);
void worker_end(struct play *play);
/* Executes what can be executed. */
void worker_work(struct play *play);
/* The same in a process of its own. */
void worker_work_in_process(struct play *play);

/* action.c: does a list of actions. */
void action_list(struct play *play, const struct value *actions);

/* follow.c: reads the notes of a run as they are stored, and compares them. */
void follow_check(struct play *play, const struct value *action);

/* script.c: statements in a connection of their own; false if one failed, with its message. */
bool script_run(struct play *play, const char *script, const char **message);
/* A text as a literal of SQL. */
const char *script_quote(struct play *play, const char *text);

/* expect.c: compares what is expected with what is. */
void expect_all(struct play *play, const struct value *expected);

/* A row that get_run returned, as values: JSON where a column is JSON, else text. */
const struct value *expect_run(struct play *play, const char *run_id);

#endif
