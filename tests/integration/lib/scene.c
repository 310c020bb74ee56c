/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of the worker share; see the header. */
#include "scene.h"

#include "killer.h"
#include "race.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>

#include <cmocka.h>

int scene_patience_ms;

/* Before main(), because workers in processes of their own need it, too. */
__attribute__((constructor)) static void
set_patience(void)
{
    scene_patience_ms = (int)(1000 * (bench_limit_s(60) - bench_now_s()) + 0.5);
}

int64_t
scene_now_ms(void)
{
    struct timespec now;

    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
        bench_die("no clock");
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void
scene_breathe(void)
{
    const struct timespec moment = {.tv_nsec = 2000000};

    (void)nanosleep(&moment, NULL); /* woken early is as good */
}

/* The call must have succeeded. */
static void
expect(pawl_status status, pawl_error **error, const char *what)
{
    if (status != PAWL_OK)
        fail_msg("%s: %s: %s (%s)", what, pawl_status_name(status), pawl_error_message(*error),
            pawl_error_sqlstate(*error));
}

void
scene_set(struct scene *scene, const char *name, const char *value)
{
    pawl_error *error = NULL;

    expect(pawl_config_set(scene->config, name, value, &error), &error, name);
}

static const size_t log_max = (size_t)1024 * 1024;

/* Adds a line, if there is room. With PAWL_TEST_LOG set it is shown as well. */
static void
keep_log(void *userdata, int level, const char *event, const char *message,
    const char *const *names, const char *const *values, size_t count)
{
    struct scene *scene = userdata;
    size_t at;

    (void)pthread_mutex_lock(&scene->log_lock);
    at = scene->log_size;
    if (log_max - at > 8192) {
        scene->log_size +=
            (size_t)snprintf(scene->log + at, 4000, "%d %s: %s", level, event, message);
        for (size_t i = 0; i < count; i++)
            scene->log_size +=
                (size_t)snprintf(scene->log + scene->log_size, 1000, " %s=%s", names[i], values[i]);
        scene->log[scene->log_size++] = '\n';
        scene->log[scene->log_size] = '\0';
        if (getenv("PAWL_TEST_LOG") != NULL)
            (void)fprintf(stderr, "# %lld %s", (long long)scene_now_ms(), scene->log + at);
    }
    (void)pthread_mutex_unlock(&scene->log_lock);
}

void
scene_in_time(int64_t took_ms, int64_t at_most_ms)
{
    if (!bench_in_time(took_ms <= at_most_ms, "a bound in milliseconds"))
        fail_msg("it took %ld ms, at most %ld", (long)took_ms, (long)at_most_ms);
}

void
scene_until_logged(struct scene *scene, const char *part)
{
    int64_t deadline_ms = scene_now_ms() + scene_patience_ms;
    bool found = false;

    while (!found && scene_now_ms() < deadline_ms) {
        scene_breathe();
        (void)pthread_mutex_lock(&scene->log_lock);
        found = strstr(scene->log, part) != NULL;
        (void)pthread_mutex_unlock(&scene->log_lock);
    }
    if (!found)
        fail_msg("\"%s\" was never logged: %s", part, scene->log);
}

int
scene_set_up(void **state)
{
    struct scene *scene = calloc(1, sizeof(*scene));
    pawl_config *config = pawl_config_new();
    pawl_error *error = NULL;

    if (scene == NULL || config == NULL)
        return -1;
    *state = scene;
    scene->config = pawl_config_new();
    scene->log = calloc(1, log_max);
    if (scene->log == NULL || pthread_mutex_init(&scene->log_lock, NULL) != 0)
        return -1;
    pawl_config_set_log(scene->config, PAWL_LOG_DEBUG, keep_log, scene);
    scene_set(scene, "drain_timeout", "10s");
    scene_set(scene, "poll", "200ms");
    expect(pawl_config_set(config, "wait_poll", "10ms", &error), &error, "wait_poll");
    expect(pawl_client_open(config, &scene->client, &error), &error, "client");
    pawl_config_free(config);
    scene->conn = race_connect_direct();
    bench_do(scene->conn, "set client_min_messages to warning");
    return 0;
}

int
scene_set_up_stopped(void **state)
{
    struct scene *scene;

    if (scene_set_up(state) != 0)
        return -1;
    scene = *state;
    bench_do(scene->conn, "select t.stop_clock()");
    /* What earlier tests have emitted is older than the runs of this one. */
    scene_advance(scene, 1000);
    return 0;
}

int
scene_tear_down(void **state)
{
    struct scene *scene = *state;

    (void)scene_rest(scene); /* a test that wants to know has asked before */
    bench_do(scene->conn,
        "select pawl.kill(array_agg(r.run_id)) from unnest(array['QUEUED', 'PAUSED', 'RUNNING']) s"
        " cross join lateral pawl.list_runs(only_status => s, max_rows => 1000) r"
        " where r.run_id is not null");
    PQclear(scene->last);
    PQfinish(scene->conn);
    pawl_client_close(scene->client);
    pawl_config_free(scene->config);
    (void)pthread_mutex_destroy(&scene->log_lock);
    free(scene->log);
    free(scene);
    return 0;
}

static void
need_worker(struct scene *scene)
{
    pawl_error *error = NULL;

    if (scene->worker == NULL)
        expect(pawl_worker_new(scene->config, &scene->worker, &error), &error, "worker");
}

void
scene_handle(struct scene *scene, const char *pattern, pawl_handler_fn handler, void *userdata)
{
    pawl_error *error = NULL;

    need_worker(scene);
    expect(
        pawl_worker_handle(scene->worker, pattern, handler, userdata, &error), &error, "handler");
}

void
scene_undo(struct scene *scene, const char *name, pawl_undo_fn undo, void *userdata)
{
    pawl_error *error = NULL;

    need_worker(scene);
    expect(pawl_worker_undo(scene->worker, name, undo, userdata, &error), &error, "undo");
}

void
scene_start(struct scene *scene)
{
    pawl_error *error = NULL;

    expect(pawl_worker_start(scene->worker, &error), &error, "start");
}

static void *
work(void *argument)
{
    struct scene *scene = argument;
    pawl_error *error = NULL;

    scene->ended = pawl_worker_run(scene->worker, &error);
    pawl_error_free(error);
    return NULL;
}

void
scene_work(struct scene *scene)
{
    scene_start(scene);
    if (pthread_create(&scene->thread, NULL, work, scene) != 0)
        fail_msg("no thread");
    scene->working = true;
}

pawl_status
scene_rest(struct scene *scene)
{
    pawl_worker_drain(scene->worker);
    if (scene->working)
        (void)pthread_join(scene->thread, NULL);
    scene->working = false;
    pawl_worker_free(scene->worker);
    scene->worker = NULL;
    return scene->ended;
}

void
scene_go_on(struct scene *scene)
{
    pawl_error *error = NULL;

    expect(pawl_test_run_until_idle(scene->worker, scene_patience_ms, &error), &error, "test_work");
}

void
scene_advance(struct scene *scene, int64_t by_ms)
{
    pawl_error *error = NULL;

    expect(pawl_test_advance(scene->client, by_ms, &error), &error, "test_advance");
}

const char *
scene_trigger(struct scene *scene, const char *workflow, const char *input)
{
    pawl_trigger *trigger = pawl_trigger_new(workflow);
    pawl_error *error = NULL;

    if (trigger == NULL)
        fail_msg("out of memory");
    pawl_trigger_set_input(trigger, pawl_text(input));
    expect(pawl_client_trigger(scene->client, trigger, scene->run_id, NULL, &error), &error,
        "trigger");
    pawl_trigger_free(trigger);
    return scene->run_id;
}

const char *
scene_wait(struct scene *scene, const char *run_id, pawl_status wanted)
{
    pawl_bytes output = {NULL, 0};
    pawl_error *error = NULL;
    pawl_status status =
        pawl_client_wait(scene->client, run_id, scene_patience_ms, &output, &error);

    if (status != wanted)
        fail_msg("%s instead of %s: %s; %s", pawl_status_name(status), pawl_status_name(wanted),
            pawl_error_message(error), scene_text(scene, "select pawl.why($1)", run_id));
    pawl_error_free(error);
    if (status != PAWL_OK)
        return scene_text(scene, "select error from pawl.result($1)", run_id);
    return output.data;
}

const char *
scene_text(struct scene *scene, const char *sql, const char *parameter)
{
    const char *params[] = {parameter};
    PGresult *res =
        PQexecParams(scene->conn, sql, parameter != NULL ? 1 : 0, NULL, params, NULL, NULL, 0);

    PQclear(scene->last);
    scene->last = res;
    if (PQresultStatus(res) != PGRES_TUPLES_OK && PQresultStatus(res) != PGRES_COMMAND_OK)
        fail_msg("%s: %s", sql, PQresultErrorMessage(res));
    return PQntuples(res) > 0 ? PQgetvalue(res, 0, 0) : "";
}

long
scene_number(struct scene *scene, const char *sql, const char *parameter)
{
    const char *text = scene_text(scene, sql, parameter);

    return text[0] == '\0' ? 0 : bench_number(text, sql, 0, INT64_MAX);
}

void
scene_until(struct scene *scene, const char *sql, const char *parameter)
{
    int64_t deadline_ms = scene_now_ms() + scene_patience_ms;

    while (strcmp(scene_text(scene, sql, parameter), "t") != 0) {
        if (scene_now_ms() > deadline_ms)
            fail_msg("never true: %s", sql);
        scene_breathe();
    }
}

void
scene_do(struct scene *scene, const char *sql, const char *parameter)
{
    (void)scene_text(scene, sql, parameter);
}

const char *
scene_state(struct scene *scene, const char *run_id)
{
    return scene_text(scene, "select t.state($1)", run_id);
}

const char *
scene_steps(struct scene *scene, const char *run_id)
{
    return scene_text(scene,
        "select string_agg(concat_ws(' ', s ->> 'name', s ->> 'state', nullif((s -> "
        "'output')::text, 'null')), ', ' order by n) from pawl.get_run($1) g"
        " cross join lateral json_array_elements(g.steps) with ordinality e (s, n)",
        run_id);
}

void
scene_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", part, text);
}

void
gate_init(struct gate *gate)
{
    pthread_condattr_t attr;

    *gate = (struct gate){0};
    if (pthread_condattr_init(&attr) != 0 ||
        pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) != 0 ||
        pthread_cond_init(&gate->changed, &attr) != 0 || pthread_mutex_init(&gate->lock, NULL) != 0)
        bench_die("no gate");
    (void)pthread_condattr_destroy(&attr);
}

void
gate_done(struct gate *gate)
{
    (void)pthread_cond_destroy(&gate->changed);
    (void)pthread_mutex_destroy(&gate->lock);
}

static struct timespec
give_up_at(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time); /* there is one */
    time.tv_sec += scene_patience_ms / 1000;
    return time;
}

bool
gate_pass(struct gate *gate)
{
    const struct timespec until = give_up_at();
    bool open;

    (void)pthread_mutex_lock(&gate->lock);
    gate->arrived++;
    (void)pthread_cond_broadcast(&gate->changed);
    while (!gate->open && pthread_cond_timedwait(&gate->changed, &gate->lock, &until) == 0)
        ;
    open = gate->open;
    (void)pthread_mutex_unlock(&gate->lock);
    return open;
}

void
gate_await(struct gate *gate, int count)
{
    const struct timespec until = give_up_at();
    int arrived;

    (void)pthread_mutex_lock(&gate->lock);
    while (
        gate->arrived < count && pthread_cond_timedwait(&gate->changed, &gate->lock, &until) == 0)
        ;
    arrived = gate->arrived;
    (void)pthread_mutex_unlock(&gate->lock);
    if (arrived < count)
        fail_msg("only %d of %d arrived", arrived, count);
}

void
gate_open(struct gate *gate)
{
    (void)pthread_mutex_lock(&gate->lock);
    gate->open = true;
    (void)pthread_cond_broadcast(&gate->changed);
    (void)pthread_mutex_unlock(&gate->lock);
}

int
scene_spawn(struct killer *killer, const char *role, bool restart)
{
    const char *const argv[] = {"/proc/self/exe", role, NULL};
    const struct killer_command command = {.argv = argv, .restart = restart};

    return killer_spawn(killer, &command, 1);
}

int
scene_be_worker(
    const char *const *settings, const pawl_declaration *table, size_t count, void *userdata)
{
    pawl_config *config = pawl_config_new();
    pawl_worker *worker = NULL;
    pawl_error *error = NULL;
    pawl_status status = PAWL_OK;
    sigset_t signals;

    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGTERM);
    if (pthread_sigmask(SIG_BLOCK, &signals, NULL) != 0)
        return 1;
    for (; status == PAWL_OK && settings[0] != NULL; settings += 2)
        status = pawl_config_set(config, settings[0], settings[1], &error);
    if (status == PAWL_OK)
        status = pawl_worker_new(config, &worker, &error);
    if (status == PAWL_OK)
        status = pawl_worker_handle_table(worker, table, count, userdata, &error);
    pawl_worker_drain_on(worker, signalfd(-1, &signals, SFD_CLOEXEC));
    if (status == PAWL_OK)
        status = pawl_worker_run(worker, &error);
    if (status != PAWL_OK)
        (void)fprintf(stderr, "%s: %s\n", pawl_status_name(status), pawl_error_message(error));
    pawl_error_free(error);
    pawl_worker_free(worker);
    pawl_config_free(config);
    return status == PAWL_OK ? 0 : 1;
}
