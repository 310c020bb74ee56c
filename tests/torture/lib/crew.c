/* SPDX-License-Identifier: Apache-2.0 */
/* A worker and its runs; see the header. */
#include "crew.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double patience_s = 40;

/* What the first trial of a scenario has found, and which scenario that was. */
static char *right;
static const char *right_scenario;

void
crew_workflow(const char *name)
{
    PQclear(bench_exec_params(torture_database(),
        "select pawl.create_workflow($1, base => '1 ms', factor => 1, jitter => 0, max_attempts => "
        "1000)",
        1, &name));
}

static bool
take_duties(pawl_worker *worker, const struct duty *duties, size_t count)
{
    pawl_error *error = NULL;

    for (size_t i = 0; i < count; i++) {
        const struct duty *duty = &duties[i];

        if (duty->workflow != NULL &&
            !torture_ok(
                pawl_worker_handle(worker, duty->workflow, duty->handler, duty->userdata, &error),
                &error, "pawl_worker_handle"))
            return false;
        if (duty->undo_name != NULL &&
            !torture_ok(
                pawl_worker_undo(worker, duty->undo_name, duty->undo, duty->userdata, &error),
                &error, "pawl_worker_undo"))
            return false;
    }
    return true;
}

bool
crew_open(struct crew *crew, const struct duty *duties, size_t count)
{
    pawl_error *error = NULL;

    *crew = (struct crew){.config = torture_config()};
    if (crew->config == NULL)
        return false;
    if (!torture_ok(
            pawl_worker_new(crew->config, &crew->worker, &error), &error, "pawl_worker_new"))
        crew->worker = NULL;
    if (crew->worker != NULL && take_duties(crew->worker, duties, count))
        return true;
    pawl_worker_free(crew->worker);
    pawl_config_free(crew->config);
    return false;
}

static void *
run_worker(void *arg)
{
    struct crew *crew = arg;

    crew->status = pawl_worker_run(crew->worker, &crew->error);
    atomic_store(&crew->ended, true);
    return NULL;
}

void
crew_run(struct crew *crew)
{
    crew->running = true;
    torture_thread(&crew->thread, run_worker, crew);
}

bool
crew_close(struct crew *crew)
{
    bool good = true;

    if (crew->running) {
        pawl_worker_drain(crew->worker);
        (void)pthread_join(crew->thread, NULL);
        good = torture_ok(crew->status, &crew->error, "pawl_worker_run");
    }
    pawl_worker_free(crew->worker);
    pawl_config_free(crew->config);
    return good;
}

void
crew_trigger(const char *workflow, const char *input, char run_id[PAWL_ID_SIZE])
{
    char key[40];
    const char *params[] = {workflow, input == NULL ? "{}" : input, key};
    PGresult *result;

    (void)snprintf(key, sizeof(key), "trial-%ld", torture_trial());
    result = bench_exec_params(
        torture_database(), "select run_id from pawl.trigger($1, $2::json, $3)", 3, params);
    (void)snprintf(run_id, PAWL_ID_SIZE, "%s", PQgetvalue(result, 0, 0));
    PQclear(result);
}

bool
crew_await(struct crew *crew, const char *sql, const char *run_id)
{
    double until_s = bench_limit_s(patience_s);
    const struct timespec pause = {.tv_nsec = 2000000};
    bool there = false;

    while (!there && !atomic_load(&crew->ended)) {
        char *text = torture_text(sql, run_id);

        there = strcmp(text, "t") == 0;
        free(text);
        if (there ||
            !torture_check(bench_now_s() < until_s, "run %s: waited in vain for %s", run_id, sql))
            break;
        (void)nanosleep(&pause, NULL);
    }
    return there;
}

static const char end_sql[] = "select count(*) > 0 from pawl.result($1::uuid)";

bool
crew_has_ended(const char *run_id)
{
    char *text = torture_text(end_sql, run_id);
    bool ended = strcmp(text, "t") == 0;

    free(text);
    return ended;
}

bool
crew_await_end(struct crew *crew, const char *run_id)
{
    return crew_await(crew, end_sql, run_id);
}

void
crew_check_run(const char *run_id)
{
    char *found =
        torture_text("select regexp_replace(concat_ws(' ', g.status, g.output, g.error, "
                     "(select string_agg(format(E'\\n%s kind %s state %s %s %s', s.name, s.kind, "
                     "s.state, s.output, s.error), '' order by s.name) "
                     "from pawl_data.step s where s.run_id = g.run_id)), "
                     "'[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}', 'ID', 'g') "
                     "from pawl.get_run($1::uuid) g",
            run_id);

    if (right == NULL || right_scenario != torture_scenario()) {
        free(right);
        right = found;
        right_scenario = torture_scenario();
        return;
    }
    (void)torture_check(
        strcmp(found, right) == 0, "run %s came to\n%s\ninstead of\n%s", run_id, found, right);
    free(found);
}

bool
crew_execute(const struct duty *duties, size_t count, const char *input,
    bool (*world)(struct crew *crew, const char *run_id))
{
    struct crew crew;
    char run_id[PAWL_ID_SIZE];
    bool good;

    crew_trigger(duties[0].workflow, input, run_id);
    if (!crew_open(&crew, duties, count))
        return false;
    crew_run(&crew);
    good = (world == NULL || world(&crew, run_id)) && crew_await_end(&crew, run_id);
    good = crew_close(&crew) && good;
    if (good)
        crew_check_run(run_id);
    return good;
}

bool
crew_execute_without_words(const struct duty *duties, size_t count, const char *wanted)
{
    struct crew crew;
    char run_id[PAWL_ID_SIZE];
    char *found;
    bool good;

    crew_trigger(duties[0].workflow, NULL, run_id);
    if (!crew_open(&crew, duties, count))
        return false;
    crew_run(&crew);
    good = crew_await_end(&crew, run_id);
    good = crew_close(&crew) && good;
    if (!good)
        return false;
    found = torture_text(
        "select concat_ws(' ', r.status, r.output, (select string_agg(s.name || ' ' "
        "|| s.state::text, ' ' order by s.name) "
        "from pawl_data.step s where s.run_id = r.run_id)) from pawl.get_run($1::uuid) r",
        run_id);
    (void)torture_check(
        strcmp(found, wanted) == 0, "run %s is \"%s\" instead of \"%s\"", run_id, found, wanted);
    free(found);
    return true;
}

pawl_status
crew_say_hello(pawl_run *run, void *userdata, pawl_bytes *output)
{
    pawl_bytes name;
    pawl_status status = pawl_run_quote(run, userdata, &name);

    if (status != PAWL_OK)
        return status;
    if (pawl_step_key(run) == NULL)
        return PAWL_ENOMEM;
    return pawl_run_printf(run, output, "{\"hello\": %s}", name.data);
}

void
crew_prepare_two_steps(void)
{
    crew_workflow("torture.two-steps");
}

static pawl_status
two_steps(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    static char name[] = "W\xc3\xb6rld \"1\"";
    pawl_bytes first, second;
    pawl_status status = pawl_step(run, "first", crew_say_hello, name, &first);

    (void)input;
    if (status != PAWL_OK)
        return status;
    status = pawl_step_begin(run, "second", &second);
    if (status == PAWL_EXECUTE) {
        void *room = pawl_run_alloc(run, 100000);

        if (room != NULL)
            memset(room, 0, 100000);
        status =
            pawl_step_finish(run, room == NULL ? PAWL_ENOMEM : PAWL_OK, pawl_text("[2]"), &second);
    }
    if (status != PAWL_OK)
        return status;
    return pawl_run_printf(run, output, "[%s, %s]", first.data, second.data);
}

bool
crew_two_steps(void)
{
    const struct duty duty = {.workflow = "torture.two-steps", .handler = two_steps};

    return crew_execute(&duty, 1, "{\"n\": 1}", NULL);
}
