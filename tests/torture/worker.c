/* SPDX-License-Identifier: Apache-2.0 */
/* Workers without memory: they start or say that they cannot, lose nothing that they hold, and leave in order. */
#include "crew.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char workflow[] = "torture.work";
static char hello[] = "hello";

enum {
    RUNS = 12
};

static void
prepare(void)
{
    crew_workflow(workflow);
}

static pawl_status
two_steps(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_status status = pawl_step(run, "one", crew_say_hello, hello, NULL);

    (void)input;
    return status == PAWL_OK ? pawl_step(run, "two", crew_say_hello, hello, output) : status;
}

static pawl_status
take_back(pawl_run *run, pawl_bytes input, pawl_bytes output)
{
    (void)run;
    (void)input;
    (void)output;
    return PAWL_OK;
}

/* --- start and stop --- */

static bool
make_and_free(void)
{
    static const pawl_declaration table[] = {
        {sizeof(table[0]), "torture.one", two_steps, NULL, {NULL}},
        {sizeof(table[0]), "torture.two.*", two_steps, NULL, {NULL}},
        {sizeof(table[0]), "undo", NULL, take_back, {NULL}},
    };
    pawl_config *config = torture_config();
    pawl_worker *worker = NULL;
    pawl_error *error = NULL;
    bool good = config != NULL;

    if (good)
        good = torture_ok(pawl_worker_new(config, &worker, &error), &error, "pawl_worker_new");
    if (good)
        good = torture_ok(pawl_worker_handle(worker, "torture.three", two_steps, NULL, &error),
                   &error, "pawl_worker_handle") &&
            torture_ok(pawl_worker_undo(worker, "other", take_back, NULL, &error), &error,
                "pawl_worker_undo") &&
            torture_ok(pawl_worker_handle_table(worker, table, 3, NULL, &error), &error,
                "pawl_worker_handle_table") &&
            torture_is(pawl_worker_handle(worker, "torture.three", two_steps, NULL, &error),
                PAWL_EINVAL, &error, "a second handler");
    pawl_worker_free(worker);
    pawl_config_free(config);
    return good;
}

/* Starts a worker whose workflow is not there yet; it must be when the worker has started. */
static bool
start_and_stop(void)
{
    char name[40];
    const char *param = name;
    const struct duty duty = {.workflow = name, .handler = two_steps};
    pawl_error *error = NULL;
    PGresult *result;
    struct crew crew;
    bool good;

    (void)snprintf(name, sizeof(name), "torture.new-%ld", torture_trial());
    if (!crew_open(&crew, &duty, 1))
        return false;
    good = torture_ok(pawl_worker_start(crew.worker, &error), &error, "pawl_worker_start");
    if (good) {
        result = bench_exec_params(torture_database(),
            "select count(*) from pawl_data.workflow where name = $1", 1, &param);
        (void)torture_check(
            race_field(result, 0, 0) == 1, "the worker has started, and its workflow is not there");
        PQclear(result);
        good = torture_ok(pawl_worker_stop(crew.worker, 10000, &error), &error, "pawl_worker_stop");
    }
    pawl_worker_free(crew.worker);
    pawl_config_free(crew.config);
    return good;
}

static bool
start_in_vain(void)
{
    const struct duty duty = {.workflow = workflow, .handler = two_steps};
    pawl_error *error = NULL;
    struct crew crew;
    pawl_config *config = torture_config();
    bool good = config != NULL;

    crew = (struct crew){.config = config};
    if (good)
        good = torture_ok(pawl_config_set(config, "database", "host=/nowhere", &error), &error,
                   "database") &&
            torture_ok(pawl_config_set(config, "connect_timeout", "50ms", &error), &error,
                "connect_timeout") &&
            torture_ok(pawl_worker_new(config, &crew.worker, &error), &error, "pawl_worker_new") &&
            torture_ok(pawl_worker_handle(crew.worker, duty.workflow, duty.handler, NULL, &error),
                &error, "pawl_worker_handle");
    if (good)
        good = torture_is(
            pawl_worker_start(crew.worker, &error), PAWL_ECONN, &error, "pawl_worker_start");
    pawl_worker_free(crew.worker);
    pawl_config_free(config);
    return good;
}

/* --- draining --- */

static void
trigger_some(void)
{
    char sql[300];

    (void)snprintf(sql, sizeof(sql),
        "select pawl.trigger('torture.work', json_build_object('n', n), format('trial-%ld-%%s', "
        "n)) from generate_series(1, %d) n",
        torture_trial(), RUNS);
    bench_do(torture_database(), sql);
}

static void
check_given_back(void)
{
    char *held = torture_text("select coalesce(string_agg(pawl.why(run_id), '; '), '') from "
                              "pawl.list_runs('torture.work', 'RUNNING', max_rows => 50) "
                              "where key like format('trial-%s-%%', $1::text)",
        torture_trial_text());

    (void)torture_check(held[0] == '\0', "workers that have left hold runs: %s", held);
    free(held);
}

/* Drains as soon as the first has ended: the others are finished or given back, and none is lost. */
static bool
drain(void)
{
    const struct duty duty = {.workflow = workflow, .handler = two_steps};
    struct crew crew;
    bool good;

    trigger_some();
    if (!crew_open(&crew, &duty, 1))
        return false;
    crew_run(&crew);
    good = crew_await(&crew,
        "select exists (select from pawl.list_runs('torture.work', 'SUCCESS', max_rows => 50) "
        "where "
        "key like format('trial-%s-%%', $1::text))",
        torture_trial_text());
    good = crew_close(&crew) && good;
    /* What was held by a worker that left is given back at once, not when its lease is over. */
    if (good && !torture_is_cut_off())
        check_given_back();
    if (!crew_open(&crew, &duty, 1))
        return false;
    crew_run(&crew);
    if (good)
        good = crew_await(&crew,
            "select count(*) = 12 from pawl.list_runs('torture.work', 'SUCCESS', max_rows => 50) "
            "where "
            "key like format('trial-%s-%%', $1::text)",
            torture_trial_text());
    return crew_close(&crew) && good;
}

/* --- connections that break --- */

static pawl_status
cut(pawl_run *run, void *userdata, pawl_bytes *output)
{
    PGconn *conn = userdata;

    bench_do(conn,
        "select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = "
        "'torture' and datname = current_database() and pid <> pg_backend_pid()");
    return pawl_run_printf(run, output, "\"cut\"");
}

static pawl_status
step_and_cut(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_status status = pawl_step(run, "one", crew_say_hello, hello, NULL);

    (void)input;
    if (status == PAWL_OK)
        status = pawl_step(run, "cut", cut, pawl_run_userdata(run), NULL);
    return status == PAWL_OK ? pawl_step(run, "two", crew_say_hello, hello, output) : status;
}

static PGconn *handlers_own;

static void
prepare_cut(void)
{
    prepare();
    handlers_own = bench_connect();
    calls_spare(PQsocket(handlers_own));
    bench_do(handlers_own, "set client_min_messages to error");
}

static void
finish_cut(void)
{
    PQfinish(handlers_own);
}

static bool
execute_cut(void)
{
    const struct duty duty = {
        .workflow = workflow, .handler = step_and_cut, .userdata = handlers_own};

    return crew_execute(&duty, 1, NULL, NULL);
}

/* --- a long step --- */

/* Longer than a second, so that the heartbeat tells of it, and longer than the lease, so that it must be kept. */
static pawl_status
take_long(pawl_run *run, void *userdata, pawl_bytes *output)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    double until_s = bench_now_s() + 1.6;
    pawl_status status = PAWL_OK;

    (void)userdata;
    while (status == PAWL_OK && bench_now_s() < until_s) {
        (void)nanosleep(&pause, NULL);
        status = pawl_run_check(run);
    }
    return status == PAWL_OK ? pawl_run_printf(run, output, "\"long\"") : status;
}

static pawl_status
one_long_step(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)input;
    pawl_run_set_option(run, "timeout_ms", "60000");
    return pawl_step(run, "long", take_long, NULL, output);
}

static bool
execute_long(void)
{
    const struct duty duty = {.workflow = workflow, .handler = one_long_step};

    return crew_execute(&duty, 1, NULL, NULL);
}

/* --- cancelled while it executes --- */

static pawl_status
wait_for_cancel(pawl_run *run, void *userdata, pawl_bytes *output)
{
    const struct timespec pause = {.tv_nsec = 2000000};
    pawl_status status = PAWL_OK;

    (void)userdata;
    (void)output;
    while ((status = pawl_run_check(run)) == PAWL_OK)
        (void)nanosleep(&pause, NULL);
    return status;
}

static pawl_status
be_cancelled(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_status status = pawl_step(run, "one", crew_say_hello, hello, NULL);

    (void)input;
    return status == PAWL_OK ? pawl_step(run, "forever", wait_for_cancel, NULL, output) : status;
}

static bool
cancel(struct crew *crew, const char *run_id)
{
    if (!crew_await(crew,
            "select exists (select from pawl_data.step where run_id = $1::uuid) or status = "
            "'CANCELLED' "
            "from pawl.get_run($1::uuid)",
            run_id))
        return false;
    free(torture_text("select answer from pawl.cancel(array[$1::uuid])", run_id));
    return true;
}

static bool
execute_cancel(void)
{
    const struct duty duty = {.workflow = workflow, .handler = be_cancelled};

    return crew_execute(&duty, 1, NULL, cancel);
}

/* --- a loop of the caller's own --- */

/* What travels with a run: how far it has come. */
struct progress {
    int at;
    pawl_bytes output;
};

/* Goes on with a run until it must wait or has ended; true if it has ended. */
static bool
go_on(pawl_run *run)
{
    struct progress *progress = pawl_run_context(run);
    pawl_status status = PAWL_OK;

    if (progress == NULL) {
        pawl_run_set_nonblocking(run);
        progress = pawl_run_alloc(run, sizeof(*progress));
        if (progress == NULL) {
            pawl_run_finish(run, PAWL_ENOMEM, (pawl_bytes){NULL, 0});
            return true;
        }
        *progress = (struct progress){0};
        pawl_run_set_context(run, progress);
    }
    while (status == PAWL_OK && progress->at < 4) {
        if (progress->at == 0)
            status = pawl_step(run, "one", crew_say_hello, hello, NULL);
        else if (progress->at == 1)
            status = pawl_sleep(run, "nap", 1);
        else if (progress->at == 2)
            status = pawl_step_begin(run, "two", &progress->output);
        else
            status = pawl_step_finish(run, PAWL_OK, pawl_text("\"two\""), &progress->output);
        /* A step that is begun is finished next; one that is recorded is not. */
        if (status == PAWL_EXECUTE) {
            status = PAWL_OK;
            progress->at++;
        } else if (status == PAWL_OK) {
            progress->at += progress->at == 2 ? 2 : 1;
        }
    }
    if (status == PAWL_PENDING)
        return false;
    pawl_run_finish(run, status, status == PAWL_OK ? progress->output : (pawl_bytes){NULL, 0});
    return true;
}

static bool
pull(void)
{
    const struct duty duty = {.workflow = workflow, .handler = NULL};
    struct crew crew;
    char run_id[PAWL_ID_SIZE];
    pawl_error *error = NULL;
    pawl_run *run = NULL;
    pawl_status status = PAWL_OK;
    double until_s = bench_limit_s(40);
    bool ended = false;
    bool good;

    crew_trigger(workflow, NULL, run_id);
    if (!crew_open(&crew, &duty, 1))
        return false;
    good = torture_ok(pawl_worker_start(crew.worker, &error), &error, "pawl_worker_start");
    if (good)
        (void)torture_check(pawl_worker_fd(crew.worker) >= 0, "no descriptor");
    while (
        good && !ended && torture_check(bench_now_s() < until_s, "run %s does not end", run_id)) {
        status = pawl_worker_next(crew.worker, 20, &run, &error);
        pawl_error_free(error);
        if (status == PAWL_OK)
            (void)go_on(run);
        else
            (void)torture_check(
                status == PAWL_ETIMEOUT, "pawl_worker_next: %s", pawl_status_name(status));
        ended = crew_has_ended(run_id);
    }
    error = NULL;
    if (good)
        good = torture_ok(pawl_worker_stop(crew.worker, 10000, &error), &error, "pawl_worker_stop");
    pawl_worker_free(crew.worker);
    pawl_config_free(crew.config);
    if (good)
        crew_check_run(run_id);
    return good;
}

/* --- three hours in a moment --- */

static pawl_status
sleep_long(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_status status = pawl_step(run, "before", crew_say_hello, hello, NULL);

    (void)input;
    if (status == PAWL_OK)
        status = pawl_sleep(run, "nap", INT64_C(3) * 3600 * 1000);
    return status == PAWL_OK ? pawl_step(run, "after", crew_say_hello, hello, output) : status;
}

static void
stop_clock(void)
{
    prepare();
    bench_do(torture_database(), "select pawl.test_clock_set(clock_timestamp())");
}

static void
let_clock_run(void)
{
    bench_do(torture_database(), "select pawl.test_clock_set(null)");
}

static bool
sleep_three_hours(void)
{
    const struct duty duty = {.workflow = workflow, .handler = sleep_long};
    pawl_client *client = NULL;
    pawl_error *error = NULL;
    struct crew crew;
    char run_id[PAWL_ID_SIZE];
    bool good;

    crew_trigger(workflow, NULL, run_id);
    if (!crew_open(&crew, &duty, 1))
        return false;
    good = torture_ok(pawl_worker_start(crew.worker, &error), &error, "pawl_worker_start") &&
        torture_ok(pawl_client_open(crew.config, &client, &error), &error, "pawl_client_open");
    /* A try that failed without memory waits for its time, too. */
    for (int hours = 0; good && hours < 24 && !crew_has_ended(run_id); hours++) {
        good = torture_ok(pawl_test_run_until_idle(crew.worker, 20000, &error), &error,
                   "pawl_test_run_until_idle") &&
            torture_ok(pawl_test_advance(client, INT64_C(3600) * 1000, &error), &error,
                "pawl_test_advance");
    }
    if (good)
        good = torture_ok(pawl_worker_stop(crew.worker, 10000, &error), &error, "pawl_worker_stop");
    pawl_client_close(client);
    pawl_worker_free(crew.worker);
    pawl_config_free(crew.config);
    if (good)
        crew_check_run(run_id);
    return good;
}

int
main(int argc, char **argv)
{
    static const struct scenario scenarios[] = {
        {.name = "a run of two steps",
            .prepare = crew_prepare_two_steps,
            .act = crew_two_steps,
            .known = true},
        {.name = "make a worker and free it", .prepare = prepare, .act = make_and_free},
        {.name = "start and stop", .prepare = prepare, .act = start_and_stop},
        {.name = "start where nobody is", .prepare = prepare, .act = start_in_vain},
        {.name = "drain", .prepare = prepare, .act = drain},
        {.name = "connections that break",
            .prepare = prepare_cut,
            .act = execute_cut,
            .finish = finish_cut},
        {.name = "a long step", .prepare = prepare, .act = execute_long},
        {.name = "cancelled while it executes", .prepare = prepare, .act = execute_cancel},
        {.name = "a loop of the caller's own", .prepare = prepare, .act = pull, .anew = true},
        {.name = "three hours in a moment",
            .prepare = stop_clock,
            .act = sleep_three_hours,
            .finish = let_clock_run},
    };

    return torture_main(argc, argv, scenarios, sizeof(scenarios) / sizeof(scenarios[0]));
}
