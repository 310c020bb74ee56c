/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of flows: how their steps start and end, and what is made of that. For the oracle's own files only. */
#ifndef PAWL_ORACLE_FLOW_H
#define PAWL_ORACLE_FLOW_H

#include "state.h"

/* A run of a flow starts its first steps, after a delay or ORACLE_NONE; it may have ended then. */
void oracle_open_flow(struct oracle *o, struct oracle_run *run, int64_t delay_us);

/* It goes on from what is recorded. */
void oracle_reopen_flow(struct oracle *o, struct oracle_run *run);

/* What a task came to: the record, and what follows for the run. started_at: ORACLE_NONE is now. source: the child run. */
struct oracle_outcome {
    enum oracle_state state;
    const char *output;
    const char *error;
    int attempt;
    int fence;
    int64_t started_at;
    const char *source;
};

void oracle_finish_task(
    struct oracle *o, struct oracle_run *run, int task, const struct oracle_outcome *how);

/* A step that fails does not fail its run, and the error of its record then. */
bool oracle_skips_failure(const struct oracle_flow_step *step);
const char *oracle_skipped_failure(
    struct oracle *o, const struct oracle_flow_step *step, int task, const char *error);
void oracle_record_task(struct oracle *o, struct oracle_run *run, int task,
    const struct oracle_outcome *outcome, const char *undo);

/* This task is done and recorded: what may start now starts, and the run ends if nothing is left. */
void oracle_go_on(struct oracle *o, struct oracle_run *run, int task);

/* Housekeeping is to cancel the children of a run and of its tasks. */
void oracle_cancel_children(struct oracle *o, const struct oracle_run *run);

/* The run is to end; it does, or starts its rollback, when nobody holds a task of it. */
void oracle_begin_ending(struct oracle *o, struct oracle_run *run, int status, const char *error,
    bool rollback, const char *by);
void oracle_let_end(struct oracle *o, struct oracle_run *run);

/* Its time is over, whoever holds a task of it. "busy": not now. */
const char *oracle_force_end(
    struct oracle *o, struct oracle_run *run, int status, const char *error, bool rollback);

/* Takes away one task; all that nobody holds, or all. What had started and has an undo leaves a record. */
void oracle_drop_task(struct oracle *o, struct oracle_run *task);
void oracle_drop_tasks(struct oracle *o, struct oracle_run *run, bool held);

/* Where the end of a run meets whoever waits for it: a run, which may have ended, or a task of it; a step of a flow has no task, so there
 * it is the run. NULL: nobody waited. */
struct oracle_run *oracle_row_above(struct oracle *o, const struct oracle_run *run);

/* Another call has the run of a flow, or a flow that its end may end; or one of its tasks. */
bool oracle_flow_is_locked(struct oracle *o, const struct oracle_run *run);
bool oracle_tasks_are_locked(const struct oracle *o, const struct oracle_run *run);

/* A task that could be claimed, if its run were not to end: whoever let that happen could not have it. */
bool oracle_is_left_over(const struct oracle_run *task);

/* An item that lets go of a task. */
void oracle_item_task(struct oracle *o, struct oracle_run *task, const struct oracle_item *item,
    const char **answer, const char **value);

/* A task is taken from its holder. False: it does not end with that. */
bool oracle_end_lost_task(struct oracle *o, struct oracle_run *task, bool crashed, bool started);

/* Whether it would. */
bool oracle_ends_lost(
    const struct oracle *o, const struct oracle_run *task, bool crashed, bool started);

const struct oracle_flow_step *oracle_step_of(const struct oracle_run *run, int task);

/* What a step or element came to, if it is done; else NULL. */
const struct oracle_step *oracle_task_record(const struct oracle_run *run, int task);

/* What a step as a whole is given, what a run comes to, and what a task is given. */
const char *oracle_step_input(
    struct oracle *o, const struct oracle_run *run, const struct oracle_flow_step *step);
const char *oracle_flow_output(struct oracle *o, const struct oracle_run *run);
const char *oracle_task_input(struct oracle *o, const struct oracle_run *task);

/* Nothing depends on this step. */
bool oracle_is_leaf(const struct oracle_workflow *flow, int step);

/* The array that a map goes over, or NULL and why not. */
const char *oracle_map_array(struct oracle *o, const struct oracle_run *run,
    const struct oracle_flow_step *step, const char **error);

/* How much time a run has left; -1: it has no limit. */
int64_t oracle_left_ms(const struct oracle *o, const struct oracle_run *run);

/* By which a failure of a task, or of a run, is judged. */
struct oracle_policy oracle_policy_of(const struct oracle_run *task);

/* A text as a JSON string. */
const char *oracle_quote(struct oracle *o, const char *text);

#endif
