/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that were made before fork() are refused in the child, whatever its parent's threads were doing at that moment, and can
 * be freed there; the parent's connections, session and runs go on as if nothing had happened.
 */
#include "race.h"

#include <pawl/pawl.h>
#include <pawl/test.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    FORKS = 1000, /* at a tenth: 100 */
    CHILD_S = 20, /* a child that takes longer hangs */
    HANG = 99,    /* its exit code then is another one than this */
    WAIT_MS = 300000,
};

static const char workflow[] = "fork.test";

static void
must(pawl_status status, pawl_error **error, const char *what)
{
    if (status != PAWL_OK)
        bench_die("%s: %s: %s", what, pawl_status_name(status), pawl_error_message(*error));
}

static pawl_config *
new_config(const char *name)
{
    pawl_config *config = pawl_config_new();
    pawl_error *error = NULL;

    if (config == NULL)
        bench_die("out of memory");
    must(pawl_config_set(config, "application_name", name, &error), &error, "application_name");
    must(pawl_config_set(config, "poll", "50ms", &error), &error, "poll");
    return config;
}

/* In the child: the number of the first check that fails is its exit code. */
static int checks;

static void
refused(pawl_status status, pawl_error *error)
{
    checks++;
    if (status != PAWL_EINVAL || pawl_error_code(error) != PAWL_EINVAL ||
        pawl_error_message(error)[0] == '\0')
        _exit(checks);
    pawl_error_free(error);
}

static void
holds(bool good)
{
    checks++;
    if (!good)
        _exit(checks);
}

/* Forks, calls body in the child, and returns the child's exit code; a signal that ended it is 1000 + its number. */
static int
in_child(void (*body)(void *), void *arg)
{
    pid_t pid;
    int status = 0;

    (void)fflush(stdout);
    pid = fork();
    if (pid < 0)
        bench_die("could not fork");
    if (pid == 0) {
        (void)alarm(CHILD_S);
        body(arg);
        _exit(0);
    }
    if (waitpid(pid, &status, 0) != pid)
        bench_die("the child is lost");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* --- clients --- */

static void
use_client(void *arg)
{
    pawl_client *client = arg;
    pawl_trigger *trigger = pawl_trigger_new(workflow);
    const char *const names[] = {"max_rows"};
    const char *const values[] = {"1"};
    char id[PAWL_ID_SIZE] = "0196f0f0-0000-7000-8000-000000000000";
    pawl_rows *rows = NULL;
    pawl_error *error = NULL;
    pawl_status status;

    pawl_trigger_add(trigger, pawl_text("{}"), NULL);
    status = pawl_client_trigger(client, trigger, id, NULL, &error);
    refused(status, error);
    status = pawl_client_trigger_many(client, trigger, NULL, NULL, &error);
    refused(status, error);
    status = pawl_client_wait(client, id, 10, NULL, &error);
    refused(status, error);
    status = pawl_client_signal(client, id, "name", pawl_text("{}"), &error);
    refused(status, error);
    status = pawl_client_emit(client, "topic", NULL, NULL, pawl_text("{}"), &error);
    refused(status, error);
    status = pawl_client_cancel(client, id, NULL, 0, &error);
    refused(status, error);
    status = pawl_client_call(client, "list_runs", names, values, 1, &rows, &error);
    refused(status, error);
    status = pawl_test_advance(client, 1000, &error);
    refused(status, error);
    /* Where nobody wants to know why, the status is the same. */
    holds(pawl_client_wait(client, id, 10, NULL, NULL) == PAWL_EINVAL);
    pawl_trigger_free(trigger);
    pawl_client_close(client);
}

/* The server's processes that a client or worker of this name is connected to. */
static char *
backends(PGconn *conn, const char *name)
{
    PGresult *result = bench_exec_params(conn,
        "select coalesce(string_agg(pid::text, ' ' order by pid), '') from pg_stat_activity where "
        "application_name = $1",
        1, &name);
    char *text = strdup(PQgetvalue(result, 0, 0));

    PQclear(result);
    return text;
}

static void
check_client(struct race *race, PGconn *conn)
{
    pawl_config *config = new_config("fork client");
    pawl_client *client = NULL;
    pawl_trigger *trigger = pawl_trigger_new(workflow);
    pawl_error *error = NULL;
    char id[PAWL_ID_SIZE];
    char *before, *after;
    int code = 0;

    must(pawl_client_open(config, &client, &error), &error, "open");
    must(pawl_client_trigger(client, trigger, id, NULL, &error), &error, "trigger");
    before = backends(conn, "fork client");
    for (int i = 0; i < 3 && code == 0; i++)
        code = in_child(use_client, client);
    race_ok(race, code == 0,
        "every call on a client is refused in a child, and the child frees it (code %d)", code);
    must(pawl_client_trigger(client, trigger, id, NULL, &error), &error, "trigger after fork");
    must(pawl_client_cancel(client, id, NULL, 0, &error), &error, "cancel after fork");
    after = backends(conn, "fork client");
    race_ok(race, before[0] != '\0' && strcmp(before, after) == 0,
        "the parent's client keeps its connection (%s, then %s)", before, after);
    free(before);
    free(after);
    pawl_trigger_free(trigger);
    pawl_client_close(client);
    pawl_config_free(config);
}

/* --- workers --- */

static pawl_status
say_hello(pawl_run *run, void *userdata, pawl_bytes *output)
{
    (void)userdata;
    return pawl_run_printf(run, output, "\"hello\"");
}

static pawl_status
handle(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_status status = pawl_step(run, "one", say_hello, NULL, output);

    (void)input;
    return status == PAWL_OK ? pawl_step(run, "two", say_hello, NULL, output) : status;
}

static pawl_status
take_back(pawl_run *run, pawl_bytes input, pawl_bytes output)
{
    (void)run;
    (void)input;
    (void)output;
    return PAWL_OK;
}

static void
use_worker(void *arg)
{
    pawl_worker *worker = arg;
    const pawl_declaration table = {sizeof(table), "fork.other", handle, NULL, {NULL}};
    pawl_error *error = NULL;
    pawl_run *run = NULL;
    pawl_status status = pawl_worker_handle(worker, "fork.more", handle, NULL, &error);

    refused(status, error);
    status = pawl_worker_undo(worker, "back", take_back, NULL, &error);
    refused(status, error);
    status = pawl_worker_handle_table(worker, &table, 1, NULL, &error);
    refused(status, error);
    status = pawl_worker_start(worker, &error);
    refused(status, error);
    status = pawl_worker_run(worker, &error);
    refused(status, error);
    status = pawl_worker_next(worker, 10, &run, &error);
    refused(status, error);
    status = pawl_worker_stop(worker, 10, &error);
    refused(status, error);
    status = pawl_test_run_until_idle(worker, 10, &error);
    refused(status, error);
    holds(pawl_worker_fd(worker) == -1);
    holds(pawl_worker_counter(worker, "claimed") == 0 && pawl_worker_counter(worker, "held") == 0);
    pawl_worker_drain(worker);
    pawl_worker_drain_on(worker, -1);
    pawl_worker_free(worker);
}

static pawl_worker *
new_worker(const char *name)
{
    pawl_config *config = new_config(name);
    pawl_worker *worker = NULL;
    pawl_error *error = NULL;

    must(pawl_worker_new(config, &worker, &error), &error, "new");
    must(pawl_worker_handle(worker, workflow, handle, NULL, &error), &error, "handle");
    pawl_config_free(config);
    return worker;
}

static void
check_unstarted(struct race *race)
{
    pawl_worker *worker = new_worker("fork unstarted");
    pawl_error *error = NULL;
    int code = in_child(use_worker, worker);

    race_ok(race, code == 0,
        "every call on a worker that was not started is refused in a child (code %d)", code);
    must(pawl_worker_start(worker, &error), &error, "start after fork");
    must(pawl_worker_stop(worker, 1000, &error), &error, "stop after fork");
    pawl_worker_free(worker);
}

static void
use_run(void *arg)
{
    pawl_run *run = arg;
    pawl_bytes bytes = {NULL, 0};
    const char *token = NULL;
    pawl_run *branch = NULL;

    /* The step that the parent has begun is the parent's. */
    holds(pawl_step_finish(run, PAWL_OK, pawl_text("\"child\""), &bytes) == PAWL_EINVAL);
    holds(pawl_step_confirm(run, &bytes) == PAWL_EINVAL);
    holds(pawl_step(run, "other", say_hello, NULL, NULL) == PAWL_EINVAL);
    holds(pawl_step_begin(run, "other", NULL) == PAWL_EINVAL);
    holds(pawl_step_begin_transaction(run, "other", NULL, &token) == PAWL_EINVAL);
    holds(pawl_sleep(run, "other", 1) == PAWL_EINVAL);
    holds(pawl_wait_event(run, "other", "topic", 1, NULL) == PAWL_EINVAL);
    holds(pawl_wait_signal(run, "other", 1, NULL) == PAWL_EINVAL);
    holds(pawl_wait_approval(run, "other", bytes, 1, NULL) == PAWL_EINVAL);
    holds(pawl_child(run, "other", workflow, bytes, NULL) == PAWL_EINVAL);
    holds(pawl_child_detached(run, "other", workflow, bytes, NULL) == PAWL_EINVAL);
    holds(pawl_run_branch(run, "other", &branch) == PAWL_EINVAL);
    holds(pawl_branches_join(run) == PAWL_EINVAL);
    holds(pawl_run_check(run) == PAWL_EINVAL);
    pawl_run_log(run, "a note of a child");
    pawl_run_progress(run, "child", "1 %%");
    /* A child that comes to the end of its parent's handler ends nothing. */
    pawl_run_finish(run, PAWL_OK, pawl_text("\"child\""));
}

static void
trigger_run(PGconn *conn, char id[PAWL_ID_SIZE])
{
    PGresult *result = bench_exec_params(
        conn, "select run_id from pawl.trigger($1)", 1, (const char *const[]){workflow});

    (void)snprintf(id, PAWL_ID_SIZE, "%s", PQgetvalue(result, 0, 0));
    PQclear(result);
}

static char *
output_of(PGconn *conn, const char *id)
{
    PGresult *result = bench_exec_params(
        conn, "select concat(status, ' ', output) from pawl.result($1::uuid)", 1, &id);
    char *text = strdup(PQntuples(result) == 0 ? "" : PQgetvalue(result, 0, 0));

    PQclear(result);
    return text;
}

/* A run that is in the middle of a step when the process forks. */
static void
check_worker(struct race *race, PGconn *conn)
{
    pawl_worker *worker = new_worker("fork worker");
    pawl_error *error = NULL;
    pawl_run *run = NULL;
    pawl_bytes output = {NULL, 0};
    char id[PAWL_ID_SIZE];
    char *before, *after, *end;
    int code;

    trigger_run(conn, id);
    must(pawl_worker_start(worker, &error), &error, "start");
    must(pawl_worker_next(worker, WAIT_MS, &run, &error), &error, "next");
    if (pawl_step_begin(run, "step", &output) != PAWL_EXECUTE)
        bench_die("the step cannot be begun");
    before = backends(conn, "fork worker");
    code = in_child(use_run, run);
    race_ok(race, code == 0, "every call on a run is refused in a child (code %d)", code);
    code = in_child(use_worker, worker);
    race_ok(race, code == 0,
        "every call on a worker is refused in a child, and the child frees it (code %d)", code);
    if (pawl_step_finish(run, PAWL_OK, pawl_text("\"parent\""), &output) != PAWL_OK)
        bench_die("the step cannot be finished");
    pawl_run_finish(run, PAWL_OK, output);
    must(pawl_worker_stop(worker, WAIT_MS, &error), &error, "stop");
    after = output_of(conn, id);
    race_ok(race, strcmp(after, "SUCCESS \"parent\"") == 0,
        "the parent finishes its step and its run (%s)", after);
    race_ok(race,
        pawl_worker_counter(worker, "reconnects") == 0 &&
            pawl_worker_counter(worker, "lease_lost") == 0 &&
            pawl_worker_counter(worker, "sessions") == 1,
        "the parent's connections and session are the same");
    end = output_of(conn, id);
    race_ok(race,
        race_count(conn, "select count(*) from pawl_data.note where body like '%child%'") == 0,
        "the child has written nothing");
    free(before);
    free(after);
    free(end);
    pawl_worker_free(worker);
}

/* --- at any moment --- */

static void *
run_worker(void *worker)
{
    pawl_error *error = NULL;

    must(pawl_worker_run(worker, &error), &error, "run");
    return NULL;
}

/* Forks while all threads of a worker are busy, so that children are born with its locks held. */
static void
check_busy(struct race *race, PGconn *conn)
{
    pawl_worker *worker = new_worker("fork busy");
    pawl_error *error = NULL;
    pthread_t thread;
    long forks = race_share(race, FORKS);
    long bad = 0;
    int code = 0;

    must(pawl_worker_start(worker, &error), &error, "start");
    if (pthread_create(&thread, NULL, run_worker, worker) != 0)
        bench_die("could not start a thread");
    for (long i = 0; i < forks && bad == 0; i++) {
        if (i % 10 == 0)
            race_trigger(conn, workflow, i, 50);
        code = in_child(use_worker, worker);
        bad += code != 0;
    }
    race_ok(race, bad == 0,
        "children of a busy worker are not held up by its locks: %ld forks (code %d)", forks, code);
    while (race_count(conn,
               "select count(*) from pawl_data.task where queue_id = (select queue_id from "
               "pawl_data.workflow where name = 'fork.test')") > 0)
        race_breathe();
    pawl_worker_drain(worker);
    (void)pthread_join(thread, NULL);
    race_ok(race,
        pawl_worker_counter(worker, "lease_lost") == 0 &&
            pawl_worker_counter(worker, "reconnects") == 0,
        "the parent has executed all runs on the same connections");
    pawl_worker_free(worker);
}

int
main(int argc, char **argv)
{
    struct race race;
    PGconn *conn;

    race_start(&race, argc, argv);
    conn = race_connect_direct();
    bench_do(conn, "select pawl.create_workflow('fork.test')");
    check_client(&race, conn);
    bench_do(
        conn, "select pawl.cancel(array_agg(run_id)) from pawl.list_runs('fork.test', 'QUEUED')");
    check_unstarted(&race);
    check_worker(&race, conn);
    check_busy(&race, conn);
    PQfinish(conn);
    return race_end(&race);
}
