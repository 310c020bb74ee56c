/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tests of the worker share: a database that libpq's variables name, a client and a plain connection to look at it, and a
 * worker whose handlers execute in threads of the library or, with the clock stopped, on the test's own thread.
 *
 * A check that fails here fails the test. Handlers execute in other threads, where nothing can be checked: they write down what
 * they see.
 */
#ifndef PAWL_SCENE_H
#define PAWL_SCENE_H

#include <libpq-fe.h>
#include <pawl/pawl.h>
#include <pawl/test.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* How long anything that must happen is waited for: a minute, which PAWL_PATIENCE multiplies. */
extern int scene_patience_ms;

struct scene {
    pawl_client *client;
    PGconn *conn;        /* a superuser, past any pooler */
    pawl_config *config; /* of the worker that is made next */
    pawl_worker *worker; /* NULL: none yet */
    bool working;        /* a thread is in pawl_worker_run() */
    pthread_t thread;
    pawl_status ended; /* what that returned */
    PGresult *last;    /* what scene_text() has returned a text of */
    pthread_mutex_t log_lock;
    char *log; /* what the worker's log said, a line each; guarded by the lock */
    size_t log_size;
    char run_id[PAWL_ID_SIZE];
};

/* For cmocka: state is a struct scene. The second one stops the clock of the database. */
int scene_set_up(void **state);
int scene_set_up_stopped(void **state);

/* Ends the worker, and every run that has not ended, so that nothing is left for the next test. */
int scene_tear_down(void **state);

/* A setting of the worker; before its first handler. */
void scene_set(struct scene *scene, const char *name, const char *value);

/* Handlers of the worker, which is made by the first one. Functions may be NULL for pawl_worker_next(). */
void scene_handle(
    struct scene *scene, const char *pattern, pawl_handler_fn handler, void *userdata);
void scene_undo(struct scene *scene, const char *name, pawl_undo_fn undo, void *userdata);

/* Starts the worker, and no thread for handlers. */
void scene_start(struct scene *scene);

/* Starts the worker, and executes handlers in threads from now on. */
void scene_work(struct scene *scene);

/* Drains the worker, waits for its end and frees it. Returns what pawl_worker_run() did. */
pawl_status scene_rest(struct scene *scene);

/* Executes what can be executed, on this thread, with a worker that was started and has no threads. */
void scene_go_on(struct scene *scene);

/* Moves the clock that was stopped. */
void scene_advance(struct scene *scene, int64_t by_ms);

/* Triggers a run; its id is in scene->run_id, and returned. */
const char *scene_trigger(struct scene *scene, const char *workflow, const char *input);

/*
 * Waits until a run has ended with this status: PAWL_OK, PAWL_ERUN or PAWL_ECANCELLED. Returns its output, or the JSON of its
 * error, borrowed until the next call on the client.
 */
const char *scene_wait(struct scene *scene, const char *run_id, pawl_status wanted);

/* The one text that a query returns, "" for null or no row; valid until the next call. $1 is parameter, which may be NULL. */
const char *scene_text(struct scene *scene, const char *sql, const char *parameter);
long scene_number(struct scene *scene, const char *sql, const char *parameter);

/* Waits until a query returns true. */
void scene_until(struct scene *scene, const char *sql, const char *parameter);

/* Runs statements for their effect. */
void scene_do(struct scene *scene, const char *sql, const char *parameter);

/* "PAUSED sleep", "SUCCESS" … */
const char *scene_state(struct scene *scene, const char *run_id);

/* The steps of a run: "one#1 SUCCESS 7, two#1 PAUSED". */
const char *scene_steps(struct scene *scene, const char *run_id);

/* A bound in time: see bench_in_time(). */
void scene_in_time(int64_t took_ms, int64_t at_most_ms);

/* Waits until the worker's log holds this text. */
void scene_until_logged(struct scene *scene, const char *part);

/* Fails if text does not hold part, with both in the message. */
void scene_has(const char *text, const char *part);

/* --- between a test and its handlers ------------------------------------------------------------------------------------ */

/* A place where handlers wait until the test lets them go on. */
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int arrived;
    bool open;
};

void gate_init(struct gate *gate);
void gate_done(struct gate *gate);

/* For handlers: arrives, and waits until the gate is open. False if it never was. */
bool gate_pass(struct gate *gate);

/* For tests: waits until so many have arrived; lets all go on, now and later. */
void gate_await(struct gate *gate, int count);
void gate_open(struct gate *gate);

/* --- workers in processes of their own ----------------------------------------------------------------------------------- */

struct killer;

/*
 * Starts this program once more, with one argument that its main() knows a role by; it is started again when it ends if so
 * asked. Returns its number.
 */
int scene_spawn(struct killer *killer, const char *role, bool restart);

/* The main() of such a process: a worker that lives until SIGTERM. Settings are pairs of name and value that end in NULL. */
int scene_be_worker(
    const char *const *settings, const pawl_declaration *table, size_t count, void *userdata);

/* The time in milliseconds, from any starting point. */
int64_t scene_now_ms(void);

/* Lets others move while something is waited for. */
void scene_breathe(void);

#endif
