/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers: a process that claims runs and executes handlers. There are three ways to use one:
 *
 * - pawl_worker_main(): the whole main() of a program that is a worker. Most programs want this.
 * - pawl_worker_run(): threads of the library call your handlers, inside a program that does more.
 * - pawl_worker_start(), then pawl_worker_next() for each run: for bindings and for programs with a loop of their own.
 *
 * Everything a handler may do with its run is in run.h.
 */
#ifndef PAWL_WORKER_H
#define PAWL_WORKER_H

#include <pawl/config.h>
#include <pawl/run.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * One thread of the library owns the database connections (three at most), claims runs, writes down what handlers record, all
 * runs together, and keeps one lease for the process. pawl_worker_handle(), pawl_worker_undo(), pawl_worker_handle_table(),
 * pawl_worker_drain_on() and pawl_worker_start() are called by one thread, before any other uses the worker. The other
 * functions may be called from any thread unless they say otherwise.
 */
typedef struct pawl_worker pawl_worker;

/*
 * Makes a worker from a copy of config, which may be NULL: all settings have their defaults then. It does nothing until it is
 * started. The caller frees it.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_worker_new(
    const pawl_config *config, pawl_worker **worker, pawl_error **error);

/*
 * Stops the worker if that was not done, with the setting drain_timeout as its limit, and frees it; NULL is fine. No other call
 * may be under way, and every run that pawl_worker_next() returned must have been finished. In a child process after fork() it
 * only frees memory.
 */
PAWL_API void pawl_worker_free(pawl_worker *worker);

/*
 * Executes one workflow's work. Returns PAWL_OK and output, JSON that is still there when it has returned (memory of
 * pawl_run_alloc() is, its local variables are not); no output is the JSON null. Or what a call on run returned: "if not
 * PAWL_OK, return it" is always right. Or a failure of its own, said with pawl_run_set_error(): PAWL_EFAILED and any other code mean
 * "try again as the workflow's policy says", PAWL_EPERMANENT means never.
 *
 * The two are not the same. An answer that is recorded (PAWL_EFAILED of a step, PAWL_ETIMEOUT of a wait, PAWL_EREFUSED of an
 * approval, PAWL_ERUN of a child) ends the run ERROR when it is returned: the step was tried as often as its policy says, and
 * the run is not tried again on top of that. Once another call has succeeded after it, it counts as dealt with (see run.h).
 *
 * It may be executed again from the start after a crash, a sleep or a failed step: what steps have recorded is returned by them
 * without being done again. Everything with an effect, and everything that may differ next time (time, random numbers, reading
 * a file), belongs into a step. The library is C: no exception of C++ and no longjmp() may leave this function, nor any other
 * that it calls.
 */
typedef pawl_status (*pawl_handler_fn)(pawl_run *run, pawl_bytes input, pawl_bytes *output);

/*
 * Executes an undo: input is the argument that the step stored when it was begun for the first time, also if the code says
 * something else by now (no bytes if it stored none); output is what the step recorded, no bytes if it is uncertain
 * (pawl_run_undo_uncertain()). May be executed more than once.
 */
typedef pawl_status (*pawl_undo_fn)(pawl_run *run, pawl_bytes input, pawl_bytes output);

/*
 * Says, before the worker is started, that it handles a workflow ("billing.invoice.v1") or all with a prefix ("billing.*"),
 * and with which function; the longest pattern wins. handler may be NULL for workers that use pawl_worker_next(). userdata is
 * what pawl_run_userdata() returns in the handler. PAWL_EINVAL: a bad name, one given twice, or the worker has been started.
 *
 * A step of a flow is handled by the name "FLOW/STEP", and all steps of one by the prefix "FLOW/" and a star; that does not create the
 * flow. Its rollback is claimed under the flow's own name: the pattern "FLOW*" is for both.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_worker_handle(pawl_worker *worker, const char *pattern,
    pawl_handler_fn handler, void *userdata, pawl_error **error);

/*
 * Registers an undo handler under the name that steps use; otherwise like pawl_worker_handle(). userdata is what
 * pawl_run_userdata() returns in the undo handler. A worker claims the rollbacks of all workflows that it handles. One that
 * lacks the undo handler, as while a program is being replaced, leaves the rollback to another: it is tried again 5 s later, then
 * 10, up to every 5 minutes, for about a day, and takes nothing from the tries of the undo. It is the same with a run whose
 * workflow the worker has no function for. pawl.why() tells it meanwhile.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_worker_undo(
    pawl_worker *worker, const char *name, pawl_undo_fn undo, void *userdata, pawl_error **error);

/*
 * A workflow or an undo handler that is declared beside its function, with PAWL_WORKFLOW or PAWL_UNDO. size is that of the
 * structure the program was built with, so that fields can be added at its end. Programs do not write it by hand.
 */
typedef struct pawl_declaration {
    size_t size;
    const char *name;
    pawl_handler_fn handler;
    pawl_undo_fn undo;
    const void *unused[4];
} pawl_declaration;

/* Registers count declarations from a table of them, one by one: after an error those before it stay registered. */
PAWL_API PAWL_MUST_USE pawl_status pawl_worker_handle_table(pawl_worker *worker,
    const pawl_declaration *table, size_t count, void *userdata, pawl_error **error);

#if defined(__GNUC__) && defined(__ELF__)
/* Kept although nothing refers to it: by the compiler and, where it can be told so, by a linker that collects garbage. */
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
 * Declares that a function is the handler of a workflow: PAWL_WORKFLOW("photo.thumbnail.v1", thumbnail); at file level. NULL for
 * the function declares a worker that executes only rollbacks: PAWL_WORKFLOW("etl.orders.v1*", NULL);
 */
#define PAWL_WORKFLOW(name, handler) PAWL_DECLARE_(__LINE__, name, handler, NULL)

/* Declares that a function is an undo handler: PAWL_UNDO("refund", refund); at file level. */
#define PAWL_UNDO(name, undo) PAWL_DECLARE_(__LINE__, name, NULL, undo)

/* The linker puts all declarations of one program, or of one shared library, side by side and names both ends. */
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
 * Registers all that the calling program, or shared library, declares. A file of a static library (.a) that nothing refers to
 * is not linked, and its declarations are missing without a word: link it whole (-Wl,--whole-archive), or name its handlers in
 * the program.
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
 * Makes a worker, registers count declarations from a table, executes runs until SIGINT or SIGTERM, and returns the exit code of
 * the program. Must be called by the main thread before the program starts another one, and at most once.
 *
 * Every setting is an option, --drain-timeout=1m or --drain-timeout 1m, and a variable of the environment, PAWL_DRAIN_TIMEOUT; the
 * option wins. The variable of database is PAWL_DATABASE_URL, as for the command pawl. --log-level (PAWL_LOG_LEVEL) chooses the
 * lines of the log that go to standard error: error, warning (the default), info or debug. --help lists all. A password in argv is
 * overwritten.
 *
 * After the first signal the worker drains: it claims nothing more, and runs that execute continue to their end, for at most the
 * setting drain_timeout. After the second one the worker releases these runs, within a second, and the signal ends the process. So does
 * a first signal that arrives before the worker is registered.
 *
 * Returns 0 after the worker has drained, 1 for an error that has no other code, 2 for a wrong option or variable, 7 if the
 * database cannot be reached, 8 if pawl is not installed there or has another version, 9 if the role must not register a worker.
 * Exits with 5 if handlers are still executing when drain_timeout has passed; their runs are released. Errors are printed to
 * standard error. Once it is registered, a worker reconnects automatically for as long as it takes.
 *
 * Standard output becomes line-buffered. SIGINT and SIGTERM are blocked in all threads until it returns; see pawl_worker_run() for
 * processes that handlers start.
 */
PAWL_API PAWL_MUST_USE int pawl_worker_main_table(
    int argc, char **argv, const pawl_declaration *table, size_t count, void *userdata);

/*
 * Connects, registers the worker, creates workflows that it handles by whole name and that do not exist (where the role may),
 * starts the thread. Returns when the worker is registered, or with an error when that cannot be (PAWL_ESCHEMA,
 * PAWL_EFORBIDDEN, PAWL_ECONN within connect_timeout, PAWL_EINVAL if it handles nothing or has been started before).
 * After an error it may be called again.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_worker_start(pawl_worker *worker, pawl_error **error);

/*
 * Starts the worker if that was not done, and calls handlers in as many threads as the setting concurrency says, until somebody
 * calls pawl_worker_drain() from another thread, the descriptor of pawl_worker_drain_on() becomes readable, or an operator
 * drains the worker. Returns when all is finished and durable; at once, if the worker has been stopped.
 *
 * When the setting drain_timeout is over, what still executes is given back, and its calls answer PAWL_ELEASE_LOST; but a
 * thread cannot be stopped from outside, so this waits for its handler to return, however long that takes, and answers
 * PAWL_ETIMEOUT. PAWL_ENOMEM: no thread could be started, and a worker that this call had started has been stopped.
 *
 * All signals are blocked in the threads that call handlers, but for those that a fault of the handler itself raises (SIGSEGV,
 * SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS). So they are in processes that a handler starts (posix_spawn(), system()), which then
 * cannot be ended by SIGTERM: start them with posix_spawn() and an empty mask (posix_spawnattr_setsigmask(),
 * POSIX_SPAWN_SETSIGMASK), or empty it with sigprocmask() between fork() and exec().
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_worker_run(pawl_worker *worker, pawl_error **error);

/*
 * The next run that can go on: one that was claimed, or one that had answered PAWL_PENDING and whose answer is there. Waits for
 * at most timeout_ms (-1: without end). PAWL_ETIMEOUT: none yet. PAWL_DRAINED: there will be none. Neither makes an error
 * object. The caller ends each run with pawl_run_finish().
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_worker_next(
    pawl_worker *worker, int64_t timeout_ms, pawl_run **run, pawl_error **error);

/*
 * A descriptor that is readable while pawl_worker_next(worker, 0, …) has something to say. Watch it, never read it. It is the
 * worker's and is closed with it; -1 before the start.
 */
PAWL_API PAWL_MUST_USE int pawl_worker_fd(pawl_worker *worker);

/*
 * Claims nothing more, gives back what was not started, and lets what runs go on to its end. Returns at once; safe to call
 * several times.
 */
PAWL_API void pawl_worker_drain(pawl_worker *worker);

/*
 * Drains, and ends the worker within timeout_ms (-1: no limit), even if the database cannot be reached. Returns at once. When the limit
 * has passed, pawl_worker_next() returns PAWL_DRAINED, and every call on a run that has not ended answers PAWL_ELEASE_LOST: finish these
 * runs as usual. The database reclaims them at once, or when their lease has expired if it cannot be reached. The last quarter of the
 * limit, at most 5 s, is reserved for leaving the database; runs are released when it begins. Of several calls the earliest limit counts.
 */
PAWL_API void pawl_worker_drain_within(pawl_worker *worker, int64_t timeout_ms);

/*
 * Drains, waits for at most timeout_ms (-1: without end) until every run is finished and durable, gives back the rest and
 * leaves. A run that is still executing then answers PAWL_ELEASE_LOST to everything. PAWL_ETIMEOUT: some were still executing,
 * or what they came to is not written down.
 */
PAWL_API PAWL_MUST_USE pawl_status pawl_worker_stop(
    pawl_worker *worker, int64_t timeout_ms, pawl_error **error);

/*
 * A descriptor of the caller's (of a pipe, a signalfd, an eventfd) which, once it is readable, makes pawl_worker_run() drain.
 * It is how a program reacts to SIGTERM without a thread of its own. Before pawl_worker_run(); -1 for none.
 */
PAWL_API void pawl_worker_drain_on(pawl_worker *worker, int fd);

/*
 * Counters since the start, by name: claimed and finished (runs), claims (calls), committed (items), batches, busy, lease_lost,
 * reconnects, sessions, held (runs, now); 0 for others.
 */
PAWL_API PAWL_MUST_USE int64_t pawl_worker_counter(pawl_worker *worker, const char *name);

#ifdef __cplusplus
}
#endif

#endif
