/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A producer of many runs, a thousand in a transaction, and the worker for them in the same program. Each run has a key, so that the
 * producer can be killed at any point and started again: no run is there twice.
 *
 *     bulk_producer worker &
 *     bulk_producer
 *     bulk_producer
 */
#include <pawl/pawl.h>
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

enum {
    RUNS = 2000,
    BATCH = 1000
};

/* Triggers all runs; returns the number of runs that did not exist before. */
static int
trigger_all(pawl_client *client, char (*run_ids)[PAWL_ID_SIZE])
{
    pawl_trigger *trigger = pawl_trigger_new("demo.bulk.v1");
    uint32_t flags[BATCH];
    pawl_error *error;
    char input[20], key[20];
    int created = 0;

    pawl_trigger_set(trigger, "priority", "200"); /* let what is urgent go first */
    for (int first = 0; first < RUNS; first += BATCH) {
        pawl_trigger_clear(trigger);
        for (int i = first; i < first + BATCH; i++) {
            snprintf(input, sizeof input, "{\"n\": %d}", i);
            snprintf(key, sizeof key, "n:%d", i);
            pawl_trigger_add(trigger, pawl_text(input), key);
        }
        /* All of them or none. A reply that is lost is no problem: the library asks again with the same ids. */
        check(pawl_client_trigger_many(client, trigger, run_ids[first], flags, &error), &error);
        for (int i = 0; i < BATCH; i++)
            created += (flags[i] & PAWL_CREATED) != 0;
    }
    pawl_trigger_free(trigger);
    return created;
}

static pawl_status
bulk(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)run;
    *output = input;
    return PAWL_OK;
}
PAWL_WORKFLOW("demo.bulk.v1", bulk);

int
main(int argc, char **argv)
{
    const char *names[] = {"name"}, *values[] = {"demo.bulk.v1"};
    char(*run_ids)[PAWL_ID_SIZE];
    pawl_client *client;
    pawl_error *error;

    if (argc > 1 && strcmp(argv[1], "worker") == 0)
        return pawl_worker_main(argc - 1, argv + 1);
    if ((run_ids = calloc(RUNS, sizeof *run_ids)) == NULL)
        return 1;
    check(pawl_client_open(NULL, &client, &error), &error);
    /* A workflow must exist before it can be triggered; a worker that handles it would create it, too. */
    check(pawl_client_call(client, "create_workflow", names, values, 1, NULL, &error), &error);
    printf("%d created\n", trigger_all(client, run_ids));
    for (int i = 0; i < RUNS; i++)
        check(pawl_client_wait(client, run_ids[i], 60000, NULL, &error), &error);
    printf("%d done\n", RUNS);
    pawl_client_close(client);
    free(run_ids);
    return 0;
}
