/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers: a process that claims runs and executes handlers. There are three ways to use one:
 *
 * - pawl_worker_main(): the whole main() of a program that is a worker. Most programs use this.
 * - pawl_worker_run(): threads of the library call your handlers, inside a program that does more.
 * - pawl_worker_start(), then pawl_worker_next() for each run: for bindings and for programs with their
 *   own event loop.
 *
 * run.h has the calls that a handler makes on its run.
 */
#ifndef PAWL_WORKER_H
#define PAWL_WORKER_H

#include <pawl/config.h>
#include <pawl/run.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A worker. One thread of the library owns its database connections (three at most), claims runs, and
 * keeps one lease for the process. It also records the results of all handlers, in batches.
 *
 * One thread must call pawl_worker_handle(), pawl_worker_undo(), pawl_worker_handle_table(),
 * pawl_worker_drain_on() and pawl_worker_start(), before any other thread uses the worker. The other
 * functions are thread-safe unless their comment says otherwise.
 */
typedef struct pawl_worker pawl_worker;

/*
 * Makes a worker from a copy of config, which may be NULL for default settings. It does nothing until
 * it is started. The caller frees it.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_worker_new(
    const pawl_config *config, pawl_worker **worker, pawl_error **error);

/*
 * Frees worker, which may be NULL. Stops it first if necessary, with the setting drain_timeout as the
 * limit. No other call may be in flight, and every run that pawl_worker_next() returned must have been
 * finished. In a child process after fork() it only frees memory.
 */
PAWL_API void pawl_worker_free(pawl_worker *worker);

/*
 * Executes one workflow. "If it is not PAWL_OK, return it" is always right. A handler returns one of:
 *
 * - PAWL_OK and output: JSON that is still valid after it has returned. Memory of pawl_run_alloc() is,
 *   its local variables are not. No output is the JSON null.
 * - The status of a call on run. A recorded result (PAWL_EFAILED of a step, PAWL_ETIMEOUT of a wait,
 *   PAWL_EREFUSED of an approval, PAWL_ERUN of a child) ends the run ERROR. The step has had its
 *   attempts, and the run is not retried in addition. After another call has succeeded, the result
 *   counts as handled (see run.h).
 * - Its own failure, described with pawl_run_set_error(). PAWL_EPERMANENT means no retry; for
 *   PAWL_EFAILED and any other code the workflow's policy decides.
 *
 * A handler can be executed again from the start, after a crash, a sleep or a failed step. Recorded
 * steps then return their result without being executed. Everything with an effect belongs in a step.
 * So does everything that can differ next time: the time, random numbers, the content of a file.
 *
 * The library is C: no C++ exception and no longjmp() may leave this function or a function that it
 * passes to the library.
 */
typedef pawl_status (*pawl_handler_fn)(pawl_run *run, pawl_bytes input, pawl_bytes *output);

/*
 * Executes an undo. input is the argument that the step stored when it first began, even if the code
 * has changed since; empty if it stored none. output is the recorded output of the step; empty if the
 * step is uncertain (pawl_run_undo_uncertain()). It can be executed more than once.
 */
typedef pawl_status (*pawl_undo_fn)(pawl_run *run, pawl_bytes input, pawl_bytes output);

/*
 * Registers a handler for a workflow ("billing.invoice.v1") or for a prefix ("billing.*"), before the
 * worker is started. The longest pattern wins. handler may be NULL for workers that use
 * pawl_worker_next(). pawl_run_userdata() returns userdata in the handler.
 *
 * Returns PAWL_EINVAL if the name is invalid or registered already, or the worker has been started.
 *
 * A step of a flow is handled by the name "FLOW/STEP", and all steps of a flow by "FLOW/" and a star.
 * That does not create the flow. Its rollback is claimed under the flow's own name: the pattern
 * "FLOW*" matches both.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_worker_handle(pawl_worker *worker, const char *pattern,
    pawl_handler_fn handler, void *userdata, pawl_error **error);

/*
 * Registers an undo handler under the name that steps use; otherwise as pawl_worker_handle().
 * pawl_run_userdata() returns userdata in the undo handler.
 *
 * A worker claims the rollbacks of all workflows that it handles. If it lacks the undo handler, as
 * during the replacement of a program, it defers the rollback so that another worker can execute it.
 * The rollback becomes claimable after 5 s, then 10 s, up to every 5 min, for about a day. Deferrals
 * use no attempt of the undo. The same applies to a run for whose workflow the worker has no function.
 * pawl.why() reports the deferral.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_worker_undo(
    pawl_worker *worker, const char *name, pawl_undo_fn undo, void *userdata, pawl_error **error);

/*
 * A workflow or an undo handler that is declared next to its function, with PAWL_WORKFLOW or
 * PAWL_UNDO. size is the size of the structure that the program was built with, so that later releases
 * can add fields at its end. Programs do not write it by hand.
 */
typedef struct pawl_declaration {
    size_t size;
    const char *name;
    pawl_handler_fn handler;
    pawl_undo_fn undo;
    const void *unused[4];
} pawl_declaration;

/*
 * Registers count declarations from a table, one by one. After an error, the earlier ones stay
 * registered.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_worker_handle_table(pawl_worker *worker,
    const pawl_declaration *table, size_t count, void *userdata, pawl_error **error);

#if defined(__GNUC__) && defined(__ELF__)
/* Keeps a declaration that nothing refers to, in the compiler and, where supported, in the linker. */
#define PAWL_RETAIN_ __used__,
#if defined(__has_attribute)
#if __has_attribute(__retain__)
#undef PAWL_RETAIN_
#define PAWL_RETAIN_ __used__, __retain__,
#endif
#endif
#define PAWL_DECLARE_(line, text, handler_fn, undo_fn) \
    PAWL_DECLARE_AT_(line, text, handler_fn, undo_fn)
#define PAWL_DECLARE_AT_(line, text, handler_fn, undo_fn)                            \
    static const pawl_declaration pawl_declared_##line __attribute__((               \
        PAWL_RETAIN_ __section__("pawl_declared"), __aligned__(sizeof(void *)))) = { \
        sizeof(pawl_declaration), text, handler_fn, undo_fn, {NULL, NULL, NULL, NULL}}

/*
 * Declares the handler of a workflow, at file level: PAWL_WORKFLOW("photo.thumbnail.v1", thumbnail);
 * NULL for the function declares a worker that executes only rollbacks:
 * PAWL_WORKFLOW("etl.orders.v1*", NULL);
 */
#define PAWL_WORKFLOW(name, handler) PAWL_DECLARE_(__LINE__, name, handler, NULL)

/* Declares an undo handler, at file level: PAWL_UNDO("refund", refund); */
#define PAWL_UNDO(name, undo) PAWL_DECLARE_(__LINE__, name, NULL, undo)

/* The linker collects all declarations of one program or shared library and names both ends. */
extern const pawl_declaration __start_pawl_declared[]
    __attribute__((__weak__, __visibility__("hidden")));
extern const pawl_declaration __stop_pawl_declared[]
    __attribute__((__weak__, __visibility__("hidden")));

#ifdef __cplusplus
#define PAWL_DECLARED_ static_cast<size_t>(__stop_pawl_declared - __start_pawl_declared)
#else
#define PAWL_DECLARED_ ((size_t)(__stop_pawl_declared - __start_pawl_declared))
#endif

/*
 * Registers all declarations of the calling program or shared library. The linker silently omits a
 * file of a static library (.a) that nothing refers to, with its declarations. Link the library whole
 * (-Wl,--whole-archive), or name its handlers in the program.
 */
#define pawl_worker_handle_declared(worker, userdata, error) \
    pawl_worker_handle_table(worker, __start_pawl_declared, PAWL_DECLARED_, userdata, error)

/*
 * The main() of a program that is a worker for all workflows that it declares:
 *
 *     int main(int argc, char **argv) { return pawl_worker_main(argc, argv); }
 *
 * See pawl_worker_main_table().
 */
#define pawl_worker_main(argc, argv) \
    pawl_worker_main_table(argc, argv, __start_pawl_declared, PAWL_DECLARED_, NULL)
#endif

/*
 * Makes a worker, registers count declarations from a table and executes runs until SIGINT or SIGTERM.
 * Returns the exit code of the program. The main thread must call it, at most once, before the program
 * starts another thread.
 *
 * Every setting is an option, --drain-timeout=1m or --drain-timeout 1m, and a variable of the
 * environment, PAWL_DRAIN_TIMEOUT; the option wins. The variable of database is PAWL_DATABASE_URL, as
 * for the command pawl. --log-level (PAWL_LOG_LEVEL) selects the log lines that go to standard error:
 * error, warning (the default), info or debug. --help lists all. A password in argv is overwritten.
 * When the worker is registered, a line on standard error says so and names what it handles.
 *
 * After the first signal the worker drains: it claims nothing more, and executing runs continue to
 * their end, for at most the setting drain_timeout. After the second signal the worker releases these
 * runs, within a second, and the signal ends the process. A first signal that arrives before the
 * worker is registered ends the process, too.
 *
 * Returns 0 after the worker has drained.
 * Returns 1 for an error without another code.
 * Returns 2 for an invalid option or variable.
 * Returns 7 if the database cannot be reached.
 * Returns 8 if pawl is not installed in the database, or in another version.
 * Returns 9 if the role must not register a worker.
 * Exits with 5 if handlers are still executing when drain_timeout has passed; their runs are released.
 * Errors are printed to standard error. After it is registered, a worker reconnects automatically for
 * as long as it takes.
 *
 * Standard output becomes line-buffered. SIGINT and SIGTERM are blocked in all threads until it
 * returns; see pawl_worker_run() for processes that handlers start.
 */
PAWL_API PAWL_MUST_USE int pawl_worker_main_table(
    int argc, char **argv, const pawl_declaration *table, size_t count, void *userdata);

/*
 * Connects, registers the worker and starts its thread. Creates missing workflows that it handles by
 * whole name, where the role permits it. Blocks until the worker is registered. After an error it may
 * be called again.
 *
 * Returns PAWL_ECONN if there is no connection within connect_timeout.
 * Returns PAWL_EINVAL if the worker handles nothing or has been started before.
 * Returns PAWL_ESCHEMA or PAWL_EFORBIDDEN.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_worker_start(pawl_worker *worker, pawl_error **error);

/*
 * Starts the worker if necessary, and calls handlers in as many threads as the setting concurrency
 * permits. Continues until one of these drains the worker: another thread that calls
 * pawl_worker_drain(), the descriptor of pawl_worker_drain_on(), or an operator. Returns after all
 * runs are finished and durable; at once, if the worker has been stopped.
 *
 * When the setting drain_timeout has passed, the worker releases the runs that still execute. Their
 * calls return PAWL_ELEASE_LOST. A thread cannot be stopped from outside, so this call waits for its
 * handler, however long that takes.
 *
 * Returns PAWL_ETIMEOUT if drain_timeout has passed.
 * Returns PAWL_ENOMEM if no thread could be started; a worker that this call started has been stopped.
 *
 * The threads that call handlers block all signals except those of a fault of the handler itself:
 * SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS. Processes that a handler starts (posix_spawn(),
 * system()) inherit that mask, and SIGTERM cannot end them. So start them with posix_spawn() and an
 * empty mask (posix_spawnattr_setsigmask(), POSIX_SPAWN_SETSIGMASK). Or empty the mask with
 * sigprocmask() between fork() and exec().
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_worker_run(pawl_worker *worker, pawl_error **error);

/*
 * Returns the next run that can continue: a claimed run, or a run that had returned PAWL_PENDING and
 * whose answer has arrived. Blocks for at most timeout_ms (-1: no timeout). The caller ends each run
 * with pawl_run_finish().
 *
 * Returns PAWL_ETIMEOUT if there is no run yet, PAWL_DRAINED if there will be none. Neither makes an
 * error object.
 *
 * A program that does not call it for the setting start_timeout, 2 s by default, starves its runs: the
 * worker releases the claimed runs that this call has not returned, so that other workers can execute
 * them, and claims nothing until the next call. Runs that were returned are not affected.
 *
 * Tests: tests/integration/pull:runs_that_the_program_does_not_take_are_released
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_worker_next(
    pawl_worker *worker, int64_t timeout_ms, pawl_run **run, pawl_error **error);

/*
 * Returns a descriptor that is readable while one of these has something to return:
 *   pawl_worker_next(worker, 0, …)   a run, or PAWL_DRAINED
 *   pawl_worker_notice()             a notice, after the first call of that function
 *   pawl_worker_log_next()           a log line, with pawl_config_keep_log()
 * It is also readable after runs were starved, until pawl_worker_next() is called. Watch it, never read
 * it. The worker owns it and closes it; -1 before the start.
 *
 * It works with edge triggering (EPOLLET): every run, notice and log line that arrives is an edge, even
 * if the descriptor is readable already. Fetch until each of these calls returns PAWL_ETIMEOUT, then
 * wait for the next edge.
 *
 * Tests: tests/integration/notices, tests/integration/pull:every_arrival_is_an_edge
 */
PAWL_API PAWL_MUST_USE int pawl_worker_fd(pawl_worker *worker);

/* Reasons of a notice. Later releases add some: ignore a notice with an unknown reason. */
enum {
    PAWL_NOTICE_CANCELLED = 1,   /* the run was cancelled */
    PAWL_NOTICE_LEASE_LOST = 2,  /* another worker has the run, or will have it */
    PAWL_NOTICE_RUN_TIMEOUT = 3, /* the run has exceeded its time limit */
    PAWL_NOTICE_STEP_TIMEOUT = 4 /* the open step has exceeded its timeout_ms */
};

/*
 * Returns the next notice: a run whose handler should stop, and the reason. Never blocks. So a program
 * with its own event loop interrupts a handler without asking pawl_run_check() again and again.
 *
 * run is the main branch, except for PAWL_NOTICE_STEP_TIMEOUT: then it is the branch or duplicate on
 * which the step is open. A run gets each reason at most once, and a step its timeout once for each
 * attempt. A cancelled run can also be lost later. Only runs are reported that pawl_worker_next() has
 * returned and that are not finished: pawl_run_finish() drops the notices of its run, and the end of a
 * step drops its own.
 *
 * The first call switches notices on; only then does pawl_worker_fd() report them. Call it once after
 * pawl_worker_start(). It also reports what has happened before.
 *
 * A notice changes nothing by itself. Interrupt the step, finish it with a failure, and end the run with
 * the status that its calls return. A run that is cancelled or lost records nothing more.
 *
 * Returns PAWL_OK and sets run and reason.
 * Returns PAWL_ETIMEOUT if there is no notice now.
 * Returns PAWL_EINVAL if the worker has not been started or is from before a fork, or an argument is
 * NULL.
 *
 * The thread that finishes runs must call it, or must not finish a run until the caller has used run: a
 * finished run is freed.
 *
 * Tests: tests/integration/notices
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_worker_notice(
    pawl_worker *worker, pawl_run **run, int *reason);

/*
 * Returns the oldest log line that was not fetched yet. Never blocks. A worker keeps its lines after
 * pawl_config_keep_log(), at most 1,000; then each new line drops the oldest one.
 *
 * line is borrowed until this function returns another line of the same worker, or the worker is freed.
 * It may be called before the start and after the end of a worker, by one thread at a time.
 *
 * Returns PAWL_ETIMEOUT if there is no line now.
 * Returns PAWL_EINVAL if an argument is NULL, or the worker is from before a fork.
 *
 * Tests: tests/integration/logs:lines_are_kept_until_they_are_fetched
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_worker_log_next(
    pawl_worker *worker, const pawl_log_line **line);

/*
 * Claims nothing more, releases runs that were not started, and lets executing runs continue to their
 * end. Returns at once; may be called several times.
 */
PAWL_API void pawl_worker_drain(pawl_worker *worker);

/*
 * Drains, and ends the worker within timeout_ms (-1: no limit), even if the database cannot be
 * reached. Returns at once. Of several calls the earliest limit counts.
 *
 * When the limit has passed, pawl_worker_next() returns PAWL_DRAINED. Every call on a run that has not
 * ended returns PAWL_ELEASE_LOST: finish these runs as usual. The database reclaims them at once, or
 * after their lease has expired if it cannot be reached.
 *
 * The last quarter of the limit, at most 5 s, is reserved for leaving the database. The worker
 * releases runs when that quarter begins.
 */
PAWL_API void pawl_worker_drain_within(pawl_worker *worker, int64_t timeout_ms);

/*
 * Drains, and blocks until every run is finished and durable, for at most timeout_ms (-1: no timeout).
 * Then it releases the remaining runs and leaves. Every call on such a run returns PAWL_ELEASE_LOST.
 *
 * Returns PAWL_ETIMEOUT if runs were still executing, or their results are not recorded.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_worker_stop(
    pawl_worker *worker, int64_t timeout_ms, pawl_error **error);

/*
 * Makes pawl_worker_run() drain once fd is readable; -1 for none. fd belongs to the caller: a pipe, a
 * signalfd, an eventfd. So a program reacts to SIGTERM without its own thread. Must be called before
 * pawl_worker_run().
 */
PAWL_API void pawl_worker_drain_on(pawl_worker *worker, int fd);

/*
 * Returns a counter since the start, by name: claimed and finished (runs), claims (calls), committed
 * (items), batches, busy, lease_lost, reconnects, sessions, starved (runs that were released because of
 * start_timeout), held (runs, now). Returns 0 for other names.
 */
PAWL_API PAWL_MUST_USE int64_t pawl_worker_counter(pawl_worker *worker, const char *name);

#ifdef __cplusplus
}
#endif

#endif
