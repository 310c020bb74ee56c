/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handlers of a crash worker that are not always inside of a step. Who is cut off from the database while a step executes waits for its
 * record, and asks for nothing; who is between two steps asks to start the next one.
 */
#include "../worker.h"

#include <time.h>

enum {
    /* How much longer than a step the time before it is at most. */
    linger_steps = 20
};

static void
linger(struct world *world)
{
    unsigned us = worker_dice(worker_next_number(world), linger_steps * world->step_us + 1);
    struct timespec t = {.tv_sec = us / 1000000, .tv_nsec = (long)(us % 1000000) * 1000};

    (void)nanosleep(&t, NULL); /* Woken early is as good. */
}

static pawl_status
lingering_steps(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    static const char *const names[] = {"a", "b", "c"};
    pawl_status status = PAWL_OK;

    (void)input;
    for (int i = 0; i < 3 && status == PAWL_OK; i++) {
        linger(pawl_run_userdata(run));
        status = worker_do_step(run, names[i], PAWL_OK);
    }
    *output = pawl_text("{}");
    return status;
}
PAWL_WORKFLOW("crash.linger.v1", lingering_steps);

/* Waits for the event that has its number as a key, between two steps. */
static pawl_status
steps_and_event(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_bytes key = {0}, payload = {0};
    pawl_status status = worker_do_step(run, "a", PAWL_OK);

    if (status == PAWL_OK)
        status = pawl_run_printf(run, &key, "%lu", worker_number_of(input));
    if (status == PAWL_OK) {
        pawl_run_set_option(run, "key", key.data);
        status = pawl_wait_event(run, "told", "crash.topic", -1, &payload);
    }
    if (status == PAWL_OK)
        status = worker_do_step(run, "b", PAWL_OK);
    *output = pawl_text("{}");
    return status;
}
PAWL_WORKFLOW("crash.topic.v1", steps_and_event);

/* Triggers another run, by a client of its own, once for each number. */
static pawl_status
hire(pawl_run *run, void *userdata, pawl_bytes *output)
{
    pawl_config *config = pawl_config_new();
    pawl_trigger *trigger = pawl_trigger_new("crash.steps.v1");
    pawl_client *client = NULL;
    pawl_error *error = NULL;
    pawl_status status = config == NULL ? PAWL_ENOMEM : pawl_client_open(config, &client, &error);

    worker_note(pawl_run_userdata(run), run, LEDGER_START, "hire#1", 0);
    pawl_trigger_set(trigger, "key", ((const pawl_bytes *)userdata)->data);
    if (status == PAWL_OK)
        status = pawl_client_trigger(client, trigger, NULL, NULL, &error);
    if (status != PAWL_OK)
        pawl_run_set_error(run, "hire", "%s", pawl_error_message(error));
    pawl_error_free(error);
    pawl_client_close(client);
    pawl_trigger_free(trigger);
    pawl_config_free(config);
    /* What this process takes for the time of day. */
    if (status == PAWL_OK)
        status = pawl_run_printf(run, output, "{\"time\": %ld}", (long)time(NULL));
    return status == PAWL_OK ? PAWL_OK : PAWL_EFAILED;
}

static pawl_status
hiring(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_bytes key = {0};
    pawl_status status = pawl_run_printf(run, &key, "hired-%lu", worker_number_of(input));

    *output = pawl_text("{}");
    /* The clock is read more than once, and a client may be opened when somebody is killed. */
    pawl_run_set_option(run, "max_attempts", "100");
    pawl_run_set_option(run, "base_ms", "20");
    if (status == PAWL_OK)
        status = pawl_step(run, "hire", hire, &key, output);
    return status;
}
PAWL_WORKFLOW("crash.hire.v1", hiring);
