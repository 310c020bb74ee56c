/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A saga: each step names an undo, stored before the step begins. If the run fails for good they are executed, last step first.
 *
 *     order_saga            works until it is killed, which may happen at any time
 *     order_saga demo       an order that goes well, one that cannot be shipped, and exits
 *
 * The database is the one that libpq's variables name (PGHOST, PGDATABASE …).
 */
#include <pawl/pawl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
check(pawl_status status, pawl_error **error)
{
    if (status != PAWL_OK) {
        fprintf(stderr, "%s: %s\n", pawl_status_name(status), pawl_error_message(*error));
        exit(1);
    }
}

/* One step, in place of a call to another service; pawl_step_key() is what that would recognise a second call by. */
static pawl_status
act(pawl_run *run, const char *name)
{
    pawl_bytes what;
    pawl_status status;

    if ((status = pawl_run_quote(run, name, &what)) != PAWL_OK)
        return status;
    pawl_run_set_option(run, "undo", "demo.take_back");
    pawl_run_set_option(run, "undo_input", what.data);
    if ((status = pawl_step_begin(run, name, NULL)) != PAWL_EXECUTE)
        return status;
    printf("    %s\n", name);
    if (strcmp(name, "ship") == 0 && pawl_json_find(pawl_run_input(run), "/by", NULL) == PAWL_OK) {
        pawl_run_set_error(run, "no_rocket", "nobody ships by rocket");
        return pawl_step_finish(run, PAWL_EPERMANENT, what, NULL);
    }
    return pawl_step_finish(run, PAWL_OK, what, NULL);
}

static pawl_status
order(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_status status;

    *output = input;
    if ((status = act(run, "reserve")) != PAWL_OK || (status = act(run, "charge")) != PAWL_OK)
        return status;
    return act(run, "ship");
}
PAWL_WORKFLOW("demo.order.v1", order);

/* Uncertain: the step has failed, or was begun and its end is not known. An undo must cope with that. */
static pawl_status
take_back(pawl_run *run, pawl_bytes input, pawl_bytes output)
{
    (void)output;
    printf("    take back %s%s\n", input.data, pawl_run_undo_uncertain(run) ? ", if need be" : "");
    return PAWL_OK;
}
PAWL_UNDO("demo.take_back", take_back);

static void
produce(const pawl_config *config)
{
    static const char *const orders[] = {"{\"to\": \"Bern\"}", "{\"by\": \"rocket\"}"};
    pawl_trigger *trigger = pawl_trigger_new("demo.order.v1");
    pawl_client *client;
    pawl_error *error;
    char run_id[PAWL_ID_SIZE];

    check(pawl_client_open(config, &client, &error), &error);
    for (int i = 0; i < 2; i++) {
        printf("order %s\n", orders[i]);
        pawl_trigger_set_input(trigger, pawl_text(orders[i]));
        check(pawl_client_trigger(client, trigger, run_id, NULL, &error), &error);
        printf("%s ", pawl_status_name(pawl_client_wait(client, run_id, 30000, NULL, &error)));
        printf("%s\n", pawl_error_message(error));
        pawl_error_free(error);
    }
    pawl_client_close(client);
    pawl_trigger_free(trigger);
}

static void *
work(void *worker)
{
    pawl_error *error;

    check(pawl_worker_run(worker, &error), &error);
    return NULL;
}

int
main(int argc, char **argv)
{
    pawl_config *config = pawl_config_new();
    pawl_worker *worker;
    pawl_error *error;
    pthread_t thread;

    check(pawl_worker_new(config, &worker, &error), &error);
    check(pawl_worker_handle_declared(worker, NULL, &error), &error);
    check(pawl_worker_start(worker, &error), &error);
    check(pthread_create(&thread, NULL, work, worker) == 0 ? PAWL_OK : PAWL_ENOMEM, &error);
    if (argc > 1 && strcmp(argv[1], "demo") == 0) {
        produce(config);
        pawl_worker_drain(worker);
    }
    pthread_join(thread, NULL);
    pawl_worker_free(worker);
    pawl_config_free(config);
    return 0;
}
