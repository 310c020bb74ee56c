/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a handler can do with its run.
 *
 * A pawl_run belongs to one claim of one run, and to one branch of it. It is used by one thread at a time and lives until the
 * handler returns (or pawl_run_finish() is called). What calls return is borrowed, lives as long, and ends in a NUL byte, which
 * its size does not count.
 *
 * Calls that write something durable block until it is durable, unless pawl_run_set_nonblocking() was called. What is not PAWL_OK
 * is one of these:
 *
 *   PAWL_SUSPENDED, PAWL_ECANCELLED, PAWL_ELEASE_LOST, PAWL_EINVAL, PAWL_ENOMEM
 *       Every call may say so. The handler cannot go on: return it as it is.
 *   PAWL_EFAILED of a step, PAWL_ETIMEOUT of a wait, PAWL_EREFUSED of an approval, PAWL_ERUN of a child
 *       Answers. They are recorded, so the call says the same on every replay. A handler that returns one ends its run with it,
 *       for good: the step has had its tries. Or it does something else instead. Once another call on that branch has succeeded
 *       the answer counts as dealt with, and what the handler returns then is a failure of its own, which is tried again as the
 *       workflow's policy says. One that cleans up first and then ends its run returns PAWL_EPERMANENT;
 *       pawl_run_set_error_json(run, pawl_run_error(run)), before the cleaning up, keeps the words.
 *   PAWL_ETIMEOUT of a step
 *       The run has used up its time, and starts nothing any more: return it.
 *   PAWL_EXECUTE
 *       Only of calls that begin a step: do it, then finish it.
 *   PAWL_PENDING
 *       Only after pawl_run_set_nonblocking(), which tells what to do.
 *
 * A task of a flow is a run to its handler: steps, sleeps, waits and children inside of it are recorded with the task, under its name, and its
 * output is that of the step.
 *
 * So "if it is not PAWL_OK, return it" is always right, but for the last two. Calls on a run make no pawl_error:
 * pawl_run_error_message() says in words why the last one failed, also what was wrong about a call that answered PAWL_EINVAL.
 */
#ifndef PAWL_RUN_H
#define PAWL_RUN_H

#include <pawl/error.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pawl_run pawl_run;

/* --- facts ------------------------------------------------------------------------------------------------------------- */

/* The run's id. Borrowed, like all texts below. */
PAWL_API PAWL_MUST_USE const char *pawl_run_id(const pawl_run *run);
/*
 * Which task of a flow's run this is: a number of its own for each step, and for each element of a map step. 0: the run itself, which is
 * all there is of a coded one. Id and task together name a piece of work, for a system outside that wants to know it again.
 */
PAWL_API PAWL_MUST_USE int pawl_run_task(const pawl_run *run);
/* The name of its workflow; of a flow's task FLOW/STEP. */
PAWL_API PAWL_MUST_USE const char *pawl_run_workflow(const pawl_run *run);
/* Its tenant, "" by default. */
PAWL_API PAWL_MUST_USE const char *pawl_run_tenant(const pawl_run *run);
/*
 * Its input, as it was triggered. Of a flow's task what the engine made for it: {"run": input of the run, "DEP": output of that step, ...},
 * of an element of a map step {"run": ..., "item": the element, "index": its place from 0}.
 */
PAWL_API PAWL_MUST_USE pawl_bytes pawl_run_input(const pawl_run *run);
/* Its metadata, or no bytes. */
PAWL_API PAWL_MUST_USE pawl_bytes pawl_run_metadata(const pawl_run *run);
/*
 * How many executions the run has had, from 1: claims that started its handler, including those after a wait, a failed attempt or a
 * lost lease. The retry policy does not count them; it counts failed attempts, as pawl_step_attempt() does for a step.
 */
PAWL_API PAWL_MUST_USE int pawl_run_execution(const pawl_run *run);
/* What pawl_worker_handle() was given for this workflow; in an undo handler what pawl_worker_undo() was given for that; or NULL. */
PAWL_API PAWL_MUST_USE void *pawl_run_userdata(const pawl_run *run);

/*
 * Whether to go on: PAWL_OK, or PAWL_ECANCELLED, PAWL_ELEASE_LOST, or PAWL_ETIMEOUT if the step or the run has used up its
 * time. Costs next to nothing: long steps call it in their loop, and return what it says. Any thread.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_run_check(const pawl_run *run);

/* --- memory ------------------------------------------------------------------------------------------------------------ */

/* Memory that lives as long as run, or NULL. */
PAWL_API PAWL_MUST_USE void *pawl_run_alloc(pawl_run *run, size_t size);
/* Formats a text into such memory. PAWL_ENOMEM. Numbers and fixed words only: quote texts with pawl_run_quote(). */
PAWL_API PAWL_MUST_USE pawl_status pawl_run_printf(
    pawl_run *run, pawl_bytes *out, const char *format, ...) PAWL_PRINTF(3, 4);
/* A text as a JSON string, with its quotes, in such memory. */
PAWL_API PAWL_MUST_USE pawl_status pawl_run_quote(pawl_run *run, const char *text, pawl_bytes *out);

/* --- steps ------------------------------------------------------------------------------------------------------------- */

/*
 * Sets an option of the next step, wait or child in this branch, from text, copied; NULL takes it back:
 *   max_attempts, base_ms, factor, cap_ms, jitter   the step's own retry policy
 *   timeout_ms                                      how long one try of the step may take; see pawl_step()
 *   undo, undo_input                                name of an undo handler, and JSON for it
 *   undo_max_attempts, undo_base_ms                 the undo's own retry policy
 *   key, match                                      of pawl_wait_event(): key of the event; JSON such as {"/id": 7}
 *   priority, delay_ms, metadata, limit_key         of a child (limit_key is stored and has no effect yet)
 * Options belong to the next such call and are forgotten with it, whatever it answers (PAWL_PENDING is no answer yet); in a loop
 * they are set each time. A mistake is said by the call that it was meant for. Not while a step is open.
 */
PAWL_API void pawl_run_set_option(pawl_run *run, const char *option, const char *value);

/*
 * The work of a step. userdata is what pawl_step() was given; output is set like a handler's, and must live until pawl_step()
 * returns. PAWL_EFAILED and other codes: try again as the policy says; PAWL_EPERMANENT: do not. A step cannot wait: PAWL_SUSPENDED
 * is a failure, too.
 */
typedef pawl_status (*pawl_step_fn)(pawl_run *run, void *userdata, pawl_bytes *output);

/*
 * A durable step: executed unless it is recorded, and recorded once. name is of a-z, 0-9, _, . and -, at most 100 of them; a
 * name that comes up again in the same branch (a loop) is another step. output may be NULL.
 *
 * PAWL_OK: it is recorded, and output is what is recorded. PAWL_EFAILED: it has failed for good; so it will say on every
 * replay. PAWL_SUSPENDED: it failed and will be tried again later, by executing the handler again. PAWL_ENOMEM: nothing is
 * recorded, but function may have been called.
 *
 * A try that took longer than timeout_ms counts as failed, even if the function succeeded: its output is dropped, and the
 * retry policy decides. Nothing interrupts it; pawl_run_check() tells it in time. An output that is no JSON, is over the setting
 * payload_max or is nested more than 64 deep fails the step for good, for another try would not mend it.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_step(
    pawl_run *run, const char *name, pawl_step_fn function, void *userdata, pawl_bytes *output);

/*
 * The same in two halves, for code that wants its local variables. PAWL_OK: recorded, and output is set. PAWL_EXECUTE: do it, then
 * call pawl_step_finish(). In between no other call on this branch but those under facts, memory and notes.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_step_begin(
    pawl_run *run, const char *name, pawl_bytes *output);

/*
 * Ends a step that was begun: with PAWL_OK and its output, or with a failure. Returns as pawl_step() does. recorded may be
 * NULL; else it gets what is recorded.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_step_finish(
    pawl_run *run, pawl_status status, pawl_bytes output, pawl_bytes *recorded);

/*
 * A step that is recorded by a database transaction of the caller's, together with its effects. PAWL_EXECUTE: token is set; in
 * your transaction, with any driver, do the work and call pawl.record_step(token, output). Then:
 *   it answers ok         commit, then pawl_step_confirm()
 *   it answers already    the step is recorded, with its effects: roll back, so that yours are not a second time, then
 *                         pawl_step_confirm(), which gives what is recorded
 *   anything fails        roll back, then pawl_step_finish() with the failure. record_step itself raises an error if the run was
 *                         cancelled or is somebody else's by now; then pawl_step_finish() says so
 *   the commit's outcome  (its reply was lost) pawl_step_confirm(): it asks the database whether the step is recorded. Do not
 *   is unknown            repeat the transaction, and do not call pawl_step_finish()
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_step_begin_transaction(
    pawl_run *run, const char *name, pawl_bytes *output, const char **token);

/*
 * Confirms a step that the caller's transaction recorded, by asking the database. Returns PAWL_OK and sets output to the recorded
 * value, however long the step took. Returns PAWL_SUSPENDED or PAWL_EFAILED if nothing was recorded; that counts as a failed attempt.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_step_confirm(pawl_run *run, pawl_bytes *output);

/*
 * Which try of the step this is, from 1: one more than have failed. A try during which the process died is not counted. In an
 * undo handler, of the undo; 0 outside of a step.
 */
PAWL_API PAWL_MUST_USE int pawl_step_attempt(const pawl_run *run);

/*
 * A text that is the same each time this step is tried, for a payment's idempotency key and the like. Never NULL inside of a step,
 * always NULL outside of one. It lives until the next step or wait of this branch.
 */
PAWL_API PAWL_MUST_USE const char *pawl_step_key(pawl_run *run);

/*
 * Sets the error that the step or the handler is about to fail with: a code, which may be NULL, and a message, both kept with the run.
 * Fails nothing by itself: return PAWL_EFAILED or PAWL_EPERMANENT after it.
 */
PAWL_API void pawl_run_set_error(pawl_run *run, const char *code, const char *format, ...)
    PAWL_PRINTF(3, 4);

/* Sets the error as pawl_run_set_error() does, from a JSON object. */
PAWL_API void pawl_run_set_error_json(pawl_run *run, pawl_bytes error);

/* The failure that is about to be returned is not to be tried again before so many milliseconds have passed. */
PAWL_API void pawl_run_retry_after(pawl_run *run, int64_t delay_ms);

/* The JSON error of the call that failed last in this branch, a step, a wait, a child or a mistake (PAWL_EINVAL), or no bytes. */
PAWL_API PAWL_MUST_USE pawl_bytes pawl_run_error(const pawl_run *run);
/* Its message, for people, or "". */
PAWL_API PAWL_MUST_USE const char *pawl_run_error_message(const pawl_run *run);

/* --- waiting ----------------------------------------------------------------------------------------------------------- */

/*
 * All of these let go of the worker when they have to wait: they return PAWL_SUSPENDED, the handler returns, and is executed
 * again from the start when the wait is over. timeout_ms -1 means without end; a wait that timed out returns PAWL_ETIMEOUT.
 */

/* Sleeps. */
PAWL_API PAWL_MUST_USE pawl_status pawl_sleep(pawl_run *run, const char *name, int64_t duration_ms);

/* Waits for an event on a topic. Options key and match say which one; also one that came since the run was triggered. */
PAWL_API PAWL_MUST_USE pawl_status pawl_wait_event(
    pawl_run *run, const char *name, const char *topic, int64_t timeout_ms, pawl_bytes *payload);

/* Waits for a signal of this name to this run. */
PAWL_API PAWL_MUST_USE pawl_status pawl_wait_signal(
    pawl_run *run, const char *name, int64_t timeout_ms, pawl_bytes *payload);

/*
 * Waits for the decision of a person; form is JSON that tells what is asked, or no bytes. PAWL_OK: approved. PAWL_EREFUSED:
 * rejected. decision, which may be NULL, gets {"approved", "by", "why", "payload"} in both cases.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_wait_approval(
    pawl_run *run, const char *name, pawl_bytes form, int64_t timeout_ms, pawl_bytes *decision);

/* Triggers a child run and waits for its output. PAWL_ERUN: the child failed or was cancelled; pawl_run_error() has its error. */
PAWL_API PAWL_MUST_USE pawl_status pawl_child(
    pawl_run *run, const char *name, const char *workflow, pawl_bytes input, pawl_bytes *output);

/* Triggers a run that is not waited for; output, which may be NULL, gets {"run_id": …}. */
PAWL_API PAWL_MUST_USE pawl_status pawl_child_detached(
    pawl_run *run, const char *name, const char *workflow, pawl_bytes input, pawl_bytes *output);

/* --- branches ---------------------------------------------------------------------------------------------------------- */

/*
 * Another branch of the same run, with steps of its own: what it does is named NAME/…. It has its own order, its own waits and
 * its own pawl_run, used by one thread at a time, beside those of other branches. Borrowed: it lives as long as run. A name
 * once only in a branch. At most 1,000.
 *
 * Handlers want pawl_branch() and pawl_branches_join(), below, where the library has the threads and decides what all of them
 * came to. This call only makes a branch: for those with threads or a loop of their own, who execute it, wait for it and put
 * the statuses together themselves, like pawl_branches_join() does: while one is suspended, so is the run.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_run_branch(
    pawl_run *run, const char *name, pawl_run **branch);

/*
 * Makes a duplicate of a pawl_run: a second handle to the same branch, as dup(2) makes one to the same file, so that several calls of
 * the branch can be in flight at the same time. Duplicates share one name counter, so records do not depend on which of them made a
 * call. A duplicate may be reused as soon as its call has returned, unless that returned PAWL_SUSPENDED. Two calls with the same name
 * must not be in flight at the same time: their order would be undefined. From then on run itself must make no calls; run and its
 * duplicates must be used by one thread. dup is borrowed and lives as long as run. It counts as one of the 1,000 branches.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_run_dup(pawl_run *run, pawl_run **dup);

/*
 * The work of a branch. It makes its calls on branch and on no other run. Its output is JSON that is still there when it has
 * returned (memory of pawl_run_alloc(branch, …) is, its local variables are not); then it is copied.
 */
typedef pawl_status (*pawl_branch_fn)(pawl_run *branch, void *userdata, pawl_bytes *output);

/*
 * Adds a branch that pawl_branches_join() executes. output, which may be NULL, is set by that call if the branch succeeds, to a
 * copy that lives as long as run. userdata and what output points to are used until then. A handler, or a branch, that succeeds
 * without having joined what it added fails with PAWL_EINVAL.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_branch(
    pawl_run *run, const char *name, pawl_branch_fn function, void *userdata, pawl_bytes *output);

/*
 * Executes the branches that were added, at the same time, each in a thread, at most 64 at once, and returns when all functions
 * have. PAWL_OK: all succeeded. PAWL_SUSPENDED: at least one waits, or will try a step again; also if others have failed, for it
 * is not known yet what this one comes to (give its waits a limit). When all have ended: the first failure in the order in which
 * they were added, which is the same on every replay. PAWL_ECANCELLED and PAWL_ELEASE_LOST come before all of these.
 *
 * A branch that has to wait delays no other. It goes on itself when its run is executed again: at the earliest when its wait is
 * over, or its step due, and not before the functions of all the other branches have returned. So a step of ten minutes in one
 * branch can delay a retry that is due in a second in another by ten minutes; who minds makes a child of the long one
 * (pawl_child()), which releases the worker.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_branches_join(pawl_run *run);

/* --- notes ------------------------------------------------------------------------------------------------------------- */

/* Keeps a log line with the run. Never blocks and never fails; a run has room for 1,000 notes of 16 kB, what is more is dropped. */
PAWL_API void pawl_run_log(pawl_run *run, const char *format, ...) PAWL_PRINTF(2, 3);
/* Keeps a sign of progress: a name and a text such as "40 %". */
PAWL_API void pawl_run_progress(pawl_run *run, const char *name, const char *format, ...)
    PAWL_PRINTF(3, 4);

/* --- for those who use pawl_worker_next() ------------------------------------------------------------------------------- */

/*
 * From now on calls on this branch, and on branches made from it later, return PAWL_PENDING instead of blocking.
 * pawl_worker_next() returns the same pawl_run when the answer is there; then the same call with the same arguments, and no
 * other, gives it.
 *
 * So whoever uses this writes a state machine. Nothing but that one call is repeated: the caller must know where it stands
 * (pawl_run_set_context() keeps that) when the run comes back, and not begin from the top, where the steps that are done would
 * be further steps of the same names. The function of a pawl_step() that is repeated is not called again. pawl_branch() is refused, so there is nothing for pawl_branches_join():
 * make branches with pawl_run_branch() and go on with each by itself.
 */
PAWL_API void pawl_run_set_nonblocking(pawl_run *run);
/* A pointer of the caller's that travels with this branch. */
PAWL_API void pawl_run_set_context(pawl_run *run, void *context);
PAWL_API PAWL_MUST_USE void *pawl_run_context(const pawl_run *run);

/* 1 if this claim is to undo steps instead of executing the handler. */
PAWL_API PAWL_MUST_USE int pawl_run_rolling_back(const pawl_run *run);

/*
 * The next undo to do: its handler's name, argument and the output of its step. PAWL_EXECUTE: do it, then pawl_step_finish().
 * PAWL_OK: all is undone; finish the run with PAWL_OK. Else as a step. Who has no such handler calls pawl_run_defer() instead.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_run_undo_next(
    pawl_run *run, const char **handler, pawl_bytes *input, pawl_bytes *output);

/* 1 if the step that is being undone was begun and never recorded, or failed: its effect may or may not be there. */
PAWL_API PAWL_MUST_USE int pawl_run_undo_uncertain(const pawl_run *run);

/*
 * Defers the run because this worker lacks something that another worker may have, such as an undo handler. Call
 * pawl_run_set_error() first to say what is missing. Uses no attempt of the run, the step or the undo that pawl_run_undo_next()
 * returned, which then needs no pawl_step_finish(). Must be called on the main branch with no other call pending.
 *
 * Returns PAWL_SUSPENDED: return it, or finish the run with it; the run becomes claimable after 5 s, then 10 s, up to 5 min.
 * Returns PAWL_EFAILED after about a day of deferrals; the run then fails.
 * Otherwise returns as a step does.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_run_defer(pawl_run *run);

/*
 * Ends this claim with what the handler returned, frees run and all its branches. Never blocks: the library goes on to write
 * it down. Exactly once for each run that pawl_worker_next() returned, on its main branch, when no call on it is under way and
 * no branch is PAWL_PENDING.
 */
PAWL_API void pawl_run_finish(pawl_run *run, pawl_status status, pawl_bytes output);

#ifdef __cplusplus
}
#endif

#endif
