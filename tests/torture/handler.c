/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of handlers, without memory: the run goes on when there is some, and comes to the same end. */
#include "crew.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char workflow[] = "torture.run";

static void
prepare(void)
{
    crew_workflow(workflow);
}

/* A handler's own connection, for what it does outside. */
static PGconn *handlers_own;

/* --- steps --- */

/* A run that is replayed with many records, in a loop. */
static pawl_status
loop(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    static char name[] = "loop";
    char step[20];
    pawl_status status = PAWL_OK;

    (void)input;
    for (int i = 0; i < 40 && status == PAWL_OK; i++) {
        (void)snprintf(step, sizeof(step), "step-%d", i % 20);
        status = pawl_step(run, step, crew_say_hello, name, NULL);
        if (status == PAWL_OK && i == 30)
            status = pawl_sleep(run, "nap", 1);
    }
    *output = pawl_text("\"done\"");
    return status;
}

static bool
execute_loop(void)
{
    const struct duty duty = {.workflow = workflow, .handler = loop};

    return crew_execute(&duty, 1, NULL, NULL);
}

/* --- failing --- */

static pawl_status
fail_twice(pawl_run *run, void *userdata, pawl_bytes *output)
{
    int *tries = userdata;

    (void)output;
    pawl_run_set_error(run, "flaky", "try %d of \"%s\" failed", ++*tries, pawl_run_workflow(run));
    pawl_run_retry_after(run, 1);
    return PAWL_EFAILED;
}

static pawl_status
fail_for_good(pawl_run *run, void *userdata, pawl_bytes *output)
{
    (void)userdata;
    (void)output;
    pawl_run_set_error_json(
        run, pawl_text("{\"code\": \"broken\", \"message\": \"it is broken\", \"part\": 7}"));
    return PAWL_EPERMANENT;
}

static pawl_status
failing(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_status status;

    (void)input;
    pawl_run_set_option(run, "max_attempts", "3");
    pawl_run_set_option(run, "base_ms", "1");
    pawl_run_set_option(run, "factor", "1");
    pawl_run_set_option(run, "jitter", "0");
    pawl_run_set_option(run, "timeout_ms", "60000");
    status = pawl_step(run, "flaky", fail_twice, pawl_run_userdata(run), NULL);
    /* A try that failed without memory for its error counts like others, so the number of tries in the message is not the same. */
    if (status != PAWL_EFAILED)
        return status;
    status = pawl_step(run, "broken", fail_for_good, NULL, NULL);
    if (status != PAWL_EFAILED)
        return status;
    (void)torture_check(pawl_run_error(run).size > 0, "no error of the step that failed");
    return pawl_run_printf(
        run, output, "%s", pawl_run_error_message(run)[0] != '\0' ? "true" : "false");
}

static bool
execute_failing(void)
{
    static int tries;
    const struct duty duty = {.workflow = workflow, .handler = failing, .userdata = &tries};

    return crew_execute_without_words(&duty, 1, "SUCCESS true broken#1 e flaky#1 e");
}

static pawl_status
bad_output(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_status status = pawl_step_begin(run, "bad", NULL);

    (void)input;
    if (status == PAWL_EXECUTE)
        status = pawl_step_finish(run, PAWL_OK, pawl_text("{\"a\": }"), NULL);
    if (status != PAWL_EFAILED)
        return status;
    *output = pawl_text("\"refused\"");
    return PAWL_OK;
}

static bool
execute_bad_output(void)
{
    const struct duty duty = {.workflow = workflow, .handler = bad_output};

    return crew_execute_without_words(&duty, 1, "SUCCESS \"refused\" bad#1 e");
}

static pawl_status
fail_run(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)input;
    (void)output;
    pawl_run_set_error(run, "no_idea", "nobody knows %s", "why");
    return PAWL_EPERMANENT;
}

static bool
execute_fail_run(void)
{
    const struct duty duty = {.workflow = workflow, .handler = fail_run};

    return crew_execute_without_words(&duty, 1, "ERROR");
}

/* --- undo --- */

static pawl_status
take_back(pawl_run *run, pawl_bytes input, pawl_bytes output)
{
    (void)torture_check(input.data != NULL && strcmp(input.data, "{\"seat\": 12}") == 0,
        "the undo got another input");
    (void)torture_check(
        pawl_run_undo_uncertain(run) || output.data != NULL, "the undo got no output");
    return PAWL_OK;
}

static pawl_status
reserve_seat(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    static char name[] = "seat";
    pawl_status status;

    (void)input;
    (void)output;
    pawl_run_set_option(run, "undo", "release");
    pawl_run_set_option(run, "undo_input", "{\"seat\": 12}");
    pawl_run_set_option(run, "undo_max_attempts", "1000");
    pawl_run_set_option(run, "undo_base_ms", "1");
    status = pawl_step(run, "reserve", crew_say_hello, name, NULL);
    if (status != PAWL_OK)
        return status;
    status = pawl_step(run, "pay", fail_for_good, NULL, NULL);
    return status;
}

static bool
execute_undo(void)
{
    const struct duty duty = {
        .workflow = workflow, .handler = reserve_seat, .undo_name = "release", .undo = take_back};

    return crew_execute_without_words(&duty, 1, "ERROR pay#1 e reserve#1 s rollback:reserve#1 s");
}

/* --- transactional step --- */

static pawl_status
transact(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    const char *token = NULL;
    const char *params[2];
    pawl_status status = pawl_step_begin_transaction(run, "insert", output, &token);

    (void)input;
    if (status != PAWL_EXECUTE)
        return status;
    params[0] = token;
    params[1] = pawl_run_id(run);
    bench_do(handlers_own, "begin");
    PQclear(bench_exec_params(
        handlers_own, "insert into torture_effect values ($1::uuid)", 1, &params[1]));
    PQclear(bench_exec_params(
        handlers_own, "select pawl.record_step($1, '{\"inserted\": 1}')", 1, params));
    bench_do(handlers_own, "commit");
    return pawl_step_confirm(run, output);
}

static void
prepare_transaction(void)
{
    prepare();
    bench_do(torture_database(), "create table if not exists torture_effect (run_id uuid)");
    handlers_own = bench_connect();
    calls_spare(PQsocket(handlers_own));
}

static void
finish_transaction(void)
{
    PQfinish(handlers_own);
}

static bool
execute_transaction(void)
{
    const struct duty duty = {.workflow = workflow, .handler = transact};
    char run_id[PAWL_ID_SIZE];
    char *rows;

    if (!crew_execute(&duty, 1, NULL, NULL))
        return false;
    crew_trigger(workflow, NULL, run_id);
    rows = torture_text("select count(*) from torture_effect where run_id = $1::uuid", run_id);
    (void)torture_check(strcmp(rows, "1") == 0, "run %s has %s rows", run_id, rows);
    free(rows);
    return true;
}

/* --- trying again at once --- */

/* Without memory a call has done nothing; so it can be repeated where it stands, under the same name. */
static pawl_status
insist(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    static char name[] = "insist";
    pawl_status status;

    (void)input;
    for (int i = 0; i < 3; i++) {
        do
            status = pawl_step(run, "same", crew_say_hello, name, output);
        while (status == PAWL_ENOMEM);
        if (status != PAWL_OK)
            return status;
    }
    return PAWL_OK;
}

static bool
execute_insist(void)
{
    const struct duty duty = {.workflow = workflow, .handler = insist};

    return crew_execute(&duty, 1, NULL, NULL);
}

int
main(int argc, char **argv)
{
    static const struct scenario scenarios[] = {
        {.name = "a run of two steps", .prepare = crew_prepare_two_steps, .act = crew_two_steps},
        {.name = "a loop that is replayed", .prepare = prepare, .act = execute_loop},
        {.name = "steps that fail and are tried again", .prepare = prepare, .act = execute_failing},
        {.name = "an output that is no JSON", .prepare = prepare, .act = execute_bad_output},
        {.name = "a run that fails", .prepare = prepare, .act = execute_fail_run},
        {.name = "an undo", .prepare = prepare, .act = execute_undo},
        {.name = "a transactional step",
            .prepare = prepare_transaction,
            .act = execute_transaction,
            .finish = finish_transaction},
        {.name = "a handler that tries again at once",
            .prepare = prepare,
            .act = execute_insist,
            .anew = true},
    };

    return torture_main(argc, argv, scenarios, sizeof(scenarios) / sizeof(scenarios[0]));
}
