/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that a handler makes on its run.
 *
 * A pawl_run belongs to one claim of one run, and to one branch of it. One thread at a time may use
 * it. It lives until the handler returns or calls pawl_run_finish(). Calls return borrowed values:
 * they live as long as the pawl_run and end in a NUL byte that their size does not count.
 *
 * A call that writes something durable blocks until it is durable, unless
 * pawl_run_set_nonblocking() was called. A call returns PAWL_OK or one of these:
 *
 *   PAWL_SUSPENDED, PAWL_ECANCELLED, PAWL_ELEASE_LOST, PAWL_EINVAL, PAWL_ENOMEM
 *       Any call can return these. The handler cannot continue: return the status unchanged.
 *   PAWL_EFAILED of a step, PAWL_ETIMEOUT of a wait, PAWL_EREFUSED of an approval, PAWL_ERUN of a
 *   child
 *       Results. They are recorded, so the call returns the same status on every replay.
 *       A handler that returns such a status ends its run with it; the step is not retried.
 *       A handler may do something else instead. After another call on that branch has succeeded,
 *       the result counts as handled. A failure that the handler returns then is a new failure, and
 *       the workflow's policy retries it.
 *       A handler that cleans up first and then ends its run must return PAWL_EPERMANENT. To keep
 *       the error, call pawl_run_set_error_json(run, pawl_run_error(run)) before the cleanup.
 *   PAWL_ETIMEOUT of a step
 *       The run has exceeded its time limit and starts no further step: return the status.
 *   PAWL_EXECUTE
 *       Only from calls that begin a step: execute the step, then finish it.
 *   PAWL_PENDING
 *       Only after pawl_run_set_nonblocking(), which explains it.
 *
 * So "if it is not PAWL_OK, return it" is always right, except for PAWL_EXECUTE and PAWL_PENDING.
 *
 * To its handler, a task of a flow is a run. Its steps, sleeps, waits and children are recorded with
 * the task, under its name. Its output is the output of the flow's step.
 *
 * Calls on a run make no pawl_error. pawl_run_error_message() explains why the last call failed,
 * including a call that returned PAWL_EINVAL.
 *
 * Tests: tests/integration/steps, tests/integration/retries, tests/integration/mistakes,
 *   tests/integration/cancel:a_run_that_is_out_of_time_starts_no_further_step,
 *   tests/integration/flows:steps_sleeps_and_waits_inside_of_a_task
 */
#ifndef PAWL_RUN_H
#define PAWL_RUN_H

#include <pawl/error.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pawl_run pawl_run;

/* --- facts ------------------------------------------------------------------------------------------------------------- */

/*
 * Returns the run's id. Borrowed, as all texts below.
 *
 * Tests of this section: tests/integration/steps:a_handler_knows_the_facts_of_its_run
 */
PAWL_API PAWL_MUST_USE const char *pawl_run_id(const pawl_run *run);
/*
 * Returns the number of a flow's task: each step and each element of a map step has its own. Returns
 * 0 for a coded run. Id and task together identify a piece of work to an outside system.
 */
PAWL_API PAWL_MUST_USE int pawl_run_task(const pawl_run *run);
/* Returns the name of the run's workflow, or FLOW/STEP for a task of a flow. */
PAWL_API PAWL_MUST_USE const char *pawl_run_workflow(const pawl_run *run);
/* Returns the run's tenant, "" by default. */
PAWL_API PAWL_MUST_USE const char *pawl_run_tenant(const pawl_run *run);
/*
 * Returns the run's input, exactly as it was triggered. The engine makes the input of a flow's task:
 *   of a step                     {"run": input of the run, "DEP": output of that step, ...}
 *   of an element of a map step   {"run": ..., "item": the element, "index": its index from 0}
 */
PAWL_API PAWL_MUST_USE pawl_bytes pawl_run_input(const pawl_run *run);
/* Returns the run's metadata, or an empty pawl_bytes (size 0). */
PAWL_API PAWL_MUST_USE pawl_bytes pawl_run_metadata(const pawl_run *run);
/*
 * Writes the traceparent (W3C Trace Context) of the step that is being executed, or outside a step that
 * of the run. It is the remote parent of spans that your code makes. Its form is 00-TRACE-SPAN-FLAGS.
 * TRACE and FLAGS are those of the member traceparent of the run's metadata. Without a valid one, TRACE
 * is the run's id, and FLAGS are 01. SPAN follows from the records, so a program that exports them as
 * spans computes the same. It is the first 8 bytes of the SHA-256 of a text:
 *   in a step          "KEY ROUND ATTEMPT", with the step's pawl_step_key()
 *   outside a step     "RUN ROUND"; in a task of a flow "RUN/TASK ROUND"
 * ROUND counts the retries of the whole run, from 1.
 *
 * Tests: tests/unit/libpawl/run_test.c
 */
PAWL_API void pawl_run_traceparent(pawl_run *run, char traceparent[PAWL_TRACEPARENT_SIZE]);
/*
 * Returns the number of executions of the run, from 1. An execution is a claim that started the
 * handler, including claims after a wait, a failed attempt or a lost lease. The retry policy does
 * not count executions; it counts failed attempts, as pawl_step_attempt() does for a step.
 */
PAWL_API PAWL_MUST_USE int pawl_run_execution(const pawl_run *run);
/*
 * Returns the userdata that pawl_worker_handle() received for this workflow, or NULL. In an undo
 * handler it returns the userdata that pawl_worker_undo() received.
 */
PAWL_API PAWL_MUST_USE void *pawl_run_userdata(const pawl_run *run);

/*
 * Checks whether the handler should continue. Returns PAWL_OK, PAWL_ECANCELLED, PAWL_ELEASE_LOST, or
 * PAWL_ETIMEOUT if the step or the run exceeded its time limit. Does no I/O: call it inside long
 * loops, and return any other status than PAWL_OK. Thread-safe.
 *
 * Tests: tests/integration/cancel:any_thread_may_ask_whether_to_go_on,
 *   tests/integration/cancel:a_handler_that_looks_learns_of_a_cancel_by_heartbeat,
 *   tests/integration/lease:a_handler_that_only_asks_learns_that_the_lease_is_lost
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_run_check(const pawl_run *run);

/* --- memory ------------------------------------------------------------------------------------------------------------ */

/*
 * Allocates memory that lives as long as run. Returns NULL on failure.
 *
 * Tests: tests/integration/steps:the_memory_of_a_run_has_a_limit
 */
PAWL_API PAWL_MUST_USE void *pawl_run_alloc(pawl_run *run, size_t size);
/*
 * Formats a text into such memory. Returns PAWL_ENOMEM on failure. Use it for numbers and fixed words
 * only: quote texts with pawl_run_quote().
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_run_printf(
    pawl_run *run, pawl_bytes *out, const char *format, ...) PAWL_PRINTF(3, 4);
/* Makes a JSON string of text, with its quotes, in such memory. */
PAWL_API PAWL_MUST_USE pawl_status pawl_run_quote(pawl_run *run, const char *text, pawl_bytes *out);

/* --- steps ------------------------------------------------------------------------------------------------------------- */

/*
 * Sets an option of the next step, wait or child in this branch. value is copied; NULL unsets it:
 *   max_attempts, base_ms, factor, cap_ms, jitter   the step's own retry policy
 *   timeout_ms                                      time limit of one attempt; see pawl_step()
 *   undo, undo_input                                name of an undo handler, and JSON for it
 *   undo_max_attempts, undo_base_ms                 the undo's own retry policy
 *   key, match                                      for pawl_wait_event(): key of the event, and
 *                                                   JSON such as {"/id": 7}
 *   priority, delay_ms, metadata, limit_key         for a child; limit_key as in
 *                                                   pawl_trigger_set()
 *
 * The next such call uses the options and clears them, whatever it returns; PAWL_PENDING clears
 * nothing. In a loop, set them each time. That call also reports an invalid option. Must not be
 * called while a step is open.
 *
 * Tests: tests/integration/mistakes:an_option_that_cannot_be_right_is_named,
 *   tests/integration/retries
 */
PAWL_API void pawl_run_set_option(pawl_run *run, const char *option, const char *value);

/*
 * Executes a step. userdata is the argument of pawl_step(). output is set as in a handler, and must
 * live until pawl_step() returns. Return PAWL_EPERMANENT to prevent a retry; PAWL_EFAILED and any
 * other code let the policy decide. A step cannot wait: PAWL_SUSPENDED is a failure, too.
 */
typedef pawl_status (*pawl_step_fn)(pawl_run *run, void *userdata, pawl_bytes *output);

/*
 * Executes a durable step unless it is recorded, and records it once. name consists of a-z, 0-9, _,
 * . and -, at most 100 of them. A name that occurs again in the same branch, as in a loop, is
 * another step. output may be NULL.
 *
 * Returns PAWL_OK if the step is recorded; output is the recorded value.
 * Returns PAWL_EFAILED if it has failed permanently; every replay returns the same.
 * Returns PAWL_SUSPENDED if it failed and will be retried later, by executing the handler again.
 * Returns PAWL_ENOMEM if nothing is recorded; function may have been called.
 *
 * An attempt that took longer than timeout_ms counts as failed, even if function succeeded. Its
 * output is dropped, and the retry policy decides. Nothing interrupts the attempt; pawl_run_check()
 * reports it in time.
 *
 * Invalid output fails the step permanently, because a retry would not fix it. Output is invalid if
 * it is not JSON, is larger than the setting payload_max, or is nested more than 64 deep.
 *
 * Tests: tests/integration/steps, tests/integration/payloads,
 *   tests/integration/retries:a_step_that_uses_up_its_time_fails_and_is_tried_again,
 *   tests/integration/retries:a_final_failure_is_replayed_as_the_same_error
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_step(
    pawl_run *run, const char *name, pawl_step_fn function, void *userdata, pawl_bytes *output);

/*
 * Begins a step in two halves, for code that needs its local variables. Returns PAWL_OK and sets
 * output if the step is recorded. Returns PAWL_EXECUTE otherwise: execute the step, then call
 * pawl_step_finish(). In between, this branch may only make the calls under facts, memory and notes.
 *
 * Tests: tests/integration/steps:between_begin_and_finish_other_calls_are_refused
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_step_begin(
    pawl_run *run, const char *name, pawl_bytes *output);

/*
 * Ends a step that was begun: with PAWL_OK and its output, or with a failure. Returns as pawl_step()
 * does. Sets recorded to the recorded value; recorded may be NULL.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_step_finish(
    pawl_run *run, pawl_status status, pawl_bytes output, pawl_bytes *recorded);

/*
 * Begins a step that a database transaction of the caller records together with its effects. If it
 * returns PAWL_EXECUTE, token is set. In your transaction, with any driver, do the work and call
 * pawl.record_step(token, output). Then:
 *   it answers ok         commit, then call pawl_step_confirm()
 *   it answers already    the step and its effects are recorded: roll back, so that your effects do
 *                         not happen a second time, then call pawl_step_confirm(), which returns the
 *                         recorded value
 *   anything fails        roll back, then call pawl_step_finish() with the failure. record_step
 *                         raises an error if the run was cancelled or another worker holds it; then
 *                         pawl_step_finish() returns that status
 *   the commit's outcome  (its reply was lost) call pawl_step_confirm(), which asks the database
 *   is unknown            whether the step is recorded. Do not repeat the transaction, and do not
 *                         call pawl_step_finish()
 *
 * Tests: tests/integration/transaction, tests/crash/transactional
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_step_begin_transaction(
    pawl_run *run, const char *name, pawl_bytes *output, const char **token);

/*
 * Confirms a step that the caller's transaction recorded, by asking the database. Returns PAWL_OK and
 * sets output to the recorded value, however long the step took. Returns PAWL_SUSPENDED or
 * PAWL_EFAILED if nothing was recorded; that counts as a failed attempt.
 *
 * Tests: tests/integration/transaction:a_transaction_that_has_recorded_nothing_is_a_failure
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_step_confirm(pawl_run *run, pawl_bytes *output);

/*
 * Returns the number of this attempt of the step, from 1: failed attempts plus one. An attempt during
 * which the process died does not count. In an undo handler it counts attempts of the undo. Returns
 * 0 outside a step.
 *
 * Tests: tests/integration/retries, tests/integration/rollback
 */
PAWL_API PAWL_MUST_USE int pawl_step_attempt(const pawl_run *run);

/*
 * Returns a text that is identical in each attempt of this step, such as for the idempotency key of a
 * payment. Never NULL inside a step, always NULL outside a step. It lives until the next step or
 * wait of this branch.
 *
 * Tests: tests/integration/steps:a_step_has_the_same_key_at_each_try_and_another_than_others
 */
PAWL_API PAWL_MUST_USE const char *pawl_step_key(pawl_run *run);

/*
 * Sets the error of the failure that the step or the handler returns next: code, which may be NULL,
 * and a message. Both are stored with the run. Fails nothing by itself: return PAWL_EFAILED or
 * PAWL_EPERMANENT after it.
 *
 * Tests: tests/integration/retries:whatever_a_handler_says_about_its_failure_the_run_ends_with_it
 */
PAWL_API void pawl_run_set_error(pawl_run *run, const char *code, const char *format, ...)
    PAWL_PRINTF(3, 4);

/*
 * Sets the error as pawl_run_set_error() does, from a message that is not a format. The message ends at
 * its first NUL byte, if it has one.
 */
PAWL_API void pawl_run_set_error_text(pawl_run *run, const char *code, pawl_bytes message);

/* Sets the error as pawl_run_set_error() does, from a JSON object. */
PAWL_API void pawl_run_set_error_json(pawl_run *run, pawl_bytes error);

/*
 * Postpones the retry of the failure that is returned next: it starts delay_ms milliseconds later at
 * the earliest.
 *
 * Tests: tests/integration/retries:retry_after_puts_off_the_next_try_of_a_step,
 *   tests/integration/retries:retry_after_puts_off_the_next_try_of_a_handler
 */
PAWL_API void pawl_run_retry_after(pawl_run *run, int64_t delay_ms);

/*
 * Returns the JSON error of the last call that failed in this branch: a step, a wait, a child or an
 * invalid call (PAWL_EINVAL). Returns an empty pawl_bytes (size 0) if no call failed.
 *
 * Tests: tests/integration/mistakes:a_call_that_cannot_be_right_says_why,
 *   tests/integration/children:a_child_that_fails_is_an_error_that_carries_its_own
 */
PAWL_API PAWL_MUST_USE pawl_bytes pawl_run_error(const pawl_run *run);
/* Returns the human-readable message of that error, or "". */
PAWL_API PAWL_MUST_USE const char *pawl_run_error_message(const pawl_run *run);

/* --- changes of code --------------------------------------------------------------------------------------------------- */

/*
 * Decides once for each run whether it executes new or old code, at a point where the code of its
 * workflow has changed. Sets is_new to 1 or 0:
 *
 *     status = pawl_run_changed(run, "new-tax", &is_new);
 *     if (status != PAWL_OK)
 *         return status;
 *     if (is_new)
 *         … the new code
 *     else
 *         … the old code
 *
 * is_new is 1 if this branch has asked for all records that its claim brought. That is so in a run that
 * comes here for the first time. It is 0 if records are left: an earlier execution, by code without this
 * call, has been beyond this point. The answer is recorded under name, like a step, so every replay gets the
 * same. Records of branches that were made before do not count. No other call of this branch may be in
 * flight.
 *
 * Takes no options. Returns as pawl_step() does, and costs as much.
 *
 * Tests: tests/integration/drift:a_change_point_keeps_old_runs_on_old_code,
 *   tests/unit/libpawl/changed_test
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_run_changed(pawl_run *run, const char *name, int *is_new);

/* --- waiting ----------------------------------------------------------------------------------------------------------- */

/*
 * A call that has to wait returns PAWL_SUSPENDED and holds no worker: the handler returns too. The
 * handler is executed again from the start when the wait has ended. timeout_ms -1 means no timeout.
 * A wait that timed out returns PAWL_ETIMEOUT.
 *
 * Tests: tests/integration/waits:a_wait_that_timed_out_says_so_on_every_replay,
 *   tests/integration/children:a_parent_that_waits_holds_no_worker
 */

/*
 * Sleeps for duration_ms, which must not be negative.
 *
 * Tests: tests/integration/waits:a_sleep_lets_go_of_the_worker_until_its_time_has_come,
 *   tests/integration/waits:a_sleep_shorter_than_nothing_is_refused
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_sleep(pawl_run *run, const char *name, int64_t duration_ms);

/*
 * Waits for an event on a topic, including events that arrived since the run was triggered. The
 * options key and match select the event.
 *
 * Tests: tests/integration/waits:a_wait_takes_only_what_has_its_key_and_matches,
 *   tests/integration/waits:an_event_that_came_before_the_wait_is_taken_without_letting_go
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_wait_event(
    pawl_run *run, const char *name, const char *topic, int64_t timeout_ms, pawl_bytes *payload);

/*
 * Waits for a signal of this name to this run.
 *
 * Tests: tests/integration/waits:a_signal_that_comes_later_wakes_the_run_and_no_other
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_wait_signal(
    pawl_run *run, const char *name, int64_t timeout_ms, pawl_bytes *payload);

/*
 * Waits for the decision of a person. form is JSON that describes the question, or an empty
 * pawl_bytes. Returns PAWL_OK if approved, PAWL_EREFUSED if rejected. Sets decision to
 * {"approved", "by", "why", "payload"} in both cases; decision may be NULL.
 *
 * Tests: tests/integration/waits:an_approval_shows_its_form_and_gives_the_decision,
 *   tests/integration/waits:a_rejected_approval_is_refused_and_gives_the_decision
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_wait_approval(
    pawl_run *run, const char *name, pawl_bytes form, int64_t timeout_ms, pawl_bytes *decision);

/*
 * Triggers a child run and waits for its output. Returns PAWL_ERUN if the child failed or was
 * cancelled; pawl_run_error() returns its error.
 *
 * Tests: tests/integration/children
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_child(
    pawl_run *run, const char *name, const char *workflow, pawl_bytes input, pawl_bytes *output);

/*
 * Triggers a run without waiting for it. Sets output to {"run_id": …}; output may be NULL.
 *
 * Tests: tests/integration/children:a_detached_child_is_triggered_with_its_options_and_not_waited_for
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_child_detached(
    pawl_run *run, const char *name, const char *workflow, pawl_bytes input, pawl_bytes *output);

/* --- branches ---------------------------------------------------------------------------------------------------------- */

/*
 * Makes another branch of the same run. Its steps are recorded as NAME/…. It has its own order, its
 * own waits and its own pawl_run. One thread at a time may use that pawl_run, while other threads use
 * other branches. Borrowed: it lives as long as run. A name may occur once in a branch. At most 1,000.
 *
 * Most handlers use pawl_branch() and pawl_branches_join(), below: the library provides the threads
 * and combines the results. Use pawl_run_branch() with your own threads or event loop. The caller
 * then executes the branch, waits for it and combines the statuses as pawl_branches_join() does:
 * while one branch is suspended, so is the run.
 *
 * Tests: tests/integration/branches:a_branch_has_a_good_name_once_and_there_are_at_most_a_thousand,
 *   tests/integration/branches:branches_can_be_used_without_threads
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_run_branch(
    pawl_run *run, const char *name, pawl_run **branch);

/*
 * Makes a duplicate of a pawl_run: a second handle to the same branch, as dup(2) does for a file.
 * Several calls of the branch can then be in flight at the same time.
 *
 * Duplicates share one name counter, so records do not depend on which duplicate made a call. run itself
 * may be used like one of its duplicates. So make the first call on run, and a duplicate when a call is
 * in flight or has returned PAWL_SUSPENDED. A duplicate may be reused as soon as its call has returned,
 * unless that call returned PAWL_SUSPENDED. Two calls with the same name must not be in flight at the
 * same time: their order would be undefined. run and its duplicates must be used by one thread. dup is
 * borrowed and lives as long as run. It counts as one of the 1,000 branches.
 *
 * A run with duplicates is finished with the status that the caller decides on, even if a call on run
 * itself returned PAWL_SUSPENDED.
 *
 * Tests: tests/unit/libpawl/nonblocking_test, tests/integration/pull:a_run_is_used_beside_its_duplicates
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_run_dup(pawl_run *run, pawl_run **dup);

/*
 * Executes a branch. It must make its calls on branch and on no other run. Its output is JSON that is
 * copied after it has returned. Memory from pawl_run_alloc(branch, …) is still valid then; its local
 * variables are not.
 */
typedef pawl_status (*pawl_branch_fn)(pawl_run *branch, void *userdata, pawl_bytes *output);

/*
 * Adds a branch that pawl_branches_join() executes. If the branch succeeds, that call sets output to
 * a copy that lives as long as run; output may be NULL. userdata and output must be valid until then.
 * A handler or branch that succeeds without having joined its branches fails with PAWL_EINVAL.
 *
 * Tests: tests/integration/branches
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_branch(
    pawl_run *run, const char *name, pawl_branch_fn function, void *userdata, pawl_bytes *output);

/*
 * Executes the added branches at the same time, each in a thread, at most 64 at once. Returns after
 * all functions have returned:
 *   PAWL_ECANCELLED, PAWL_ELEASE_LOST   these take precedence over all others
 *   PAWL_OK                             all branches succeeded
 *   PAWL_SUSPENDED                      at least one branch waits or will retry a step, even if other
 *                                       branches have failed: its result is not known yet. Give its
 *                                       waits a timeout
 *   the first failure                   in the order in which branches were added, once all branches
 *                                       have ended. It is the same on every replay
 *
 * A branch that waits delays no other branch. It continues when its run is executed again. That is
 * after its wait has ended or its step is due, and after the functions of all other branches have
 * returned. So a step of ten minutes in one branch can delay a retry in another branch by ten
 * minutes. To avoid this, make the long step a child (pawl_child()), which releases the worker.
 *
 * Tests: tests/integration/branches:a_run_waits_only_when_none_of_its_branches_can_move,
 *   tests/integration/branches:what_a_join_comes_to_is_the_same_on_every_replay,
 *   tests/integration/branches:a_hundred_branches_are_executed_by_a_bounded_number_of_threads
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_branches_join(pawl_run *run);

/* --- notes ------------------------------------------------------------------------------------------------------------- */

/*
 * Streams a text from inside a step. It is stored while the step is executed, so a reader sees it before
 * the step ends (pawl_client_follow(), pawl.follow()). Each call stores one piece, or several of
 * at most 16 kB. The text must be whole UTF-8 characters, and ends at its first NUL byte, if it has one.
 * Never blocks and never fails. A claim streams at most 100,000 pieces and 16 MB, a run 1,000,000
 * pieces; further pieces are dropped, and so are those outside a step.
 *
 * A piece is no record: if the step is executed again, it streams again from the beginning, and its
 * first piece says so (begins). The output of the step is what counts.
 *
 * Tests: tests/integration/streams
 */
PAWL_API void pawl_step_stream(pawl_run *run, pawl_bytes text);

/*
 * Stores a log line with the run. Never blocks and never fails. A run has at most 1,000 notes of
 * 16 kB; further notes are dropped.
 *
 * Tests: tests/integration/notes
 */
PAWL_API void pawl_run_log(pawl_run *run, const char *format, ...) PAWL_PRINTF(2, 3);
/* Stores a sign of progress: a name and a text such as "40 %". */
PAWL_API void pawl_run_progress(pawl_run *run, const char *name, const char *format, ...)
    PAWL_PRINTF(3, 4);
/*
 * Store the same with a text that is not a format, for languages that cannot call functions with a
 * variable number of arguments. The text ends at its first NUL byte, if it has one.
 */
PAWL_API void pawl_run_log_text(pawl_run *run, pawl_bytes text);
PAWL_API void pawl_run_progress_text(pawl_run *run, const char *name, pawl_bytes text);

/* --- for callers of pawl_worker_next() ---------------------------------------------------------------------------------- */

/*
 * Makes later calls on this branch, and on branches made from it later, return PAWL_PENDING instead
 * of blocking. When the answer has arrived, pawl_worker_next() returns the same pawl_run. Then repeat
 * the same call with the same arguments, and no other call: it returns the answer.
 *
 * So the caller must be a state machine. It repeats only that one call, and must remember its
 * position in the meantime; pawl_run_set_context() stores it. It must not begin from the top: there,
 * the finished steps would be further steps of the same names. A repeated pawl_step() does not call
 * its function again.
 *
 * pawl_branch() is refused, so pawl_branches_join() has nothing to join. Make branches with
 * pawl_run_branch() and continue each one separately.
 *
 * Tests: tests/integration/pull:every_call_can_be_made_without_blocking_and_undos_too,
 *   tests/integration/pull:branches_that_do_not_block_come_back_one_by_one
 */
PAWL_API void pawl_run_set_nonblocking(pawl_run *run);
/* Stores a pointer of the caller with this branch. */
PAWL_API void pawl_run_set_context(pawl_run *run, void *context);
PAWL_API PAWL_MUST_USE void *pawl_run_context(const pawl_run *run);

/* Returns 1 if this claim must undo steps instead of executing the handler. */
PAWL_API PAWL_MUST_USE int pawl_run_rolling_back(const pawl_run *run);

/*
 * Begins the next undo and sets its handler's name, its argument and the output of its step.
 *
 * Returns PAWL_EXECUTE: execute the undo, then call pawl_step_finish().
 * Returns PAWL_OK if everything is undone: finish the run with PAWL_OK.
 * Otherwise returns as a step does.
 *
 * A worker without such a handler calls pawl_run_defer() instead of executing the undo.
 *
 * Tests: tests/integration/rollback
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_run_undo_next(
    pawl_run *run, const char **handler, pawl_bytes *input, pawl_bytes *output);

/*
 * Returns 1 if the step that is being undone was begun and never recorded, or failed: its effect may
 * or may not exist.
 *
 * Tests: tests/integration/rollback:undos_are_executed_newest_first_and_told_what_is_uncertain
 */
PAWL_API PAWL_MUST_USE int pawl_run_undo_uncertain(const pawl_run *run);

/*
 * Defers the run because this worker lacks something that another worker may have, such as an undo
 * handler. Call pawl_run_set_error() first to say what is missing. Uses no attempt of the run, the
 * step or the undo. The undo that pawl_run_undo_next() returned then needs no pawl_step_finish().
 * Must be called on the main branch with no other call pending.
 *
 * Returns PAWL_SUSPENDED: return it, or finish the run with it. The run becomes claimable after 5 s,
 * then 10 s, up to 5 min.
 * Returns PAWL_EFAILED after about a day of deferrals; the run then fails.
 * Otherwise returns as a step does.
 *
 * Tests: tests/integration/rollback:a_worker_without_the_undo_handler_leaves_the_rollback_to_another
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_run_defer(pawl_run *run);

/*
 * Ends this claim with the handler's status and output, and frees run and all its branches. Never
 * blocks: the library records the end afterwards. Must be called exactly once for each run that
 * pawl_worker_next() returned, on its main branch. No call on it may be in flight, and no branch may
 * be PAWL_PENDING.
 *
 * A binding knows from the exceptions of its language which failures the handler has handled, so it
 * decides itself which one ends the run. After all calls have returned, it sets that error on run with
 * pawl_run_set_error_json(). Then it finishes with PAWL_EPERMANENT, or with PAWL_EFAILED if the
 * workflow's policy may retry. If no error is set on run, the first failure with this status counts, even
 * if the handler has handled it. First means in the order in which branches and duplicates were made.
 *
 * Tests: tests/integration/pull, tests/unit/libpawl/finish_test
 */
PAWL_API void pawl_run_finish(pawl_run *run, pawl_status status, pawl_bytes output);

#ifdef __cplusplus
}
#endif

#endif
