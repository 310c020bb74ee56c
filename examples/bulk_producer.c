/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Triggers many runs at once, a thousand in a transaction. Each has a key, so that the program can be killed at any point
 * and started again: no run is there twice.
 *
 *     bulk_producer            triggers 2,000 runs of demo.bulk.v1 and exits; workers may come later
 *     bulk_producer demo       does so twice, executes them, and exits
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

enum {
    RUNS = 2000,
    BATCH = 1000
};

/* Triggers all runs; returns how many were not there before. */
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

static void *
work(void *worker)
{
    pawl_error *error;

    check(pawl_worker_run(worker, &error), &error);
    return NULL;
}

/* The demo's consumer: waits until a worker has done them all. */
static void
consume(const pawl_config *config, pawl_client *client, char (*run_ids)[PAWL_ID_SIZE])
{
    pawl_worker *worker;
    pawl_error *error;
    pthread_t thread;

    check(pawl_worker_new(config, &worker, &error), &error);
    check(pawl_worker_handle(worker, "demo.bulk.v1", bulk, NULL, &error), &error);
    check(pthread_create(&thread, NULL, work, worker) == 0 ? PAWL_OK : PAWL_ENOMEM, &error);
    for (int i = 0; i < RUNS; i++)
        check(pawl_client_wait(client, run_ids[i], 60000, NULL, &error), &error);
    pawl_worker_drain(worker);
    pthread_join(thread, NULL);
    pawl_worker_free(worker);
    printf("%d done\n", RUNS);
}

int
main(int argc, char **argv)
{
    const char *names[] = {"name"}, *values[] = {"demo.bulk.v1"};
    pawl_config *config = pawl_config_new();
    char(*run_ids)[PAWL_ID_SIZE] = calloc(RUNS, sizeof *run_ids);
    pawl_client *client;
    pawl_error *error;

    if (run_ids == NULL)
        return 1;
    check(pawl_client_open(config, &client, &error), &error);
    /* A workflow must exist before it can be triggered; a worker that handles it would create it, too. */
    check(pawl_client_call(client, "create_workflow", names, values, 1, NULL, &error), &error);
    printf("%d created\n", trigger_all(client, run_ids));
    if (argc > 1 && strcmp(argv[1], "demo") == 0) {
        printf("%d created the second time\n", trigger_all(client, run_ids));
        consume(config, client, run_ids);
    }
    pawl_client_close(client);
    pawl_config_free(config);
    free(run_ids);
    return 0;
}
