/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A flow with a map step: each page is a task of its own, with tries of its own, on whichever worker is free. If the last step finds that
 * something is missing, what was loaded is taken out again: each page by the undo handler that flow/etl.json names.
 *
 *     pawl flow apply flow/etl.json
 *     flow_etl          works until it is killed, which may happen at any time
 *     flow_etl demo     two runs, of which one is rolled back, and exits
 *
 * The database is the one that libpq's variables name (PGHOST, PGDATABASE …).
 */
#include <pawl/pawl.h>
#include <pthread.h>
#include <stdbool.h>
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

static pawl_status
list_pages(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)input;
    return pawl_run_printf(run, output, "[{\"rows\": 10}, {\"rows\": 20}, {\"rows\": 5}]");
}
PAWL_WORKFLOW("etl.orders.v1/list_pages", list_pages);

/* {"run": ..., "item": {"rows": 10}, "index": 0} */
static pawl_status
load_page(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    int64_t rows;

    if (pawl_json_int(input, "/item/rows", &rows) != PAWL_OK)
        return PAWL_EPERMANENT;
    if (rows == 20 && pawl_run_execution(run) == 1)
        return PAWL_EFAILED; /* tried again, by itself: the other pages do not wait for it */
    return pawl_run_printf(run, output, "{\"loaded\": %d}", (int)rows);
}
PAWL_WORKFLOW("etl.orders.v1/load_page", load_page);

static pawl_status
unload_page(pawl_run *run, pawl_bytes input, pawl_bytes output)
{
    (void)run, (void)input;
    printf("taken out again: %.*s\n", (int)output.size, output.data);
    return PAWL_OK;
}
PAWL_UNDO("unload_page", unload_page);

/* "load_page" has the outputs of all its tasks, in order. */
static pawl_status
check_sum(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    int64_t expected = 0;
    int64_t sum = 0;
    int64_t rows;
    char pointer[60] = "/load_page/0/loaded";

    for (int i = 1; pawl_json_int(input, pointer, &rows) == PAWL_OK; i++, sum += rows)
        (void)snprintf(pointer, sizeof(pointer), "/load_page/%d/loaded", i);
    if (pawl_json_int(input, "/run/expected", &expected) == PAWL_OK && sum == expected)
        return pawl_run_printf(run, output, "%d", (int)sum);
    pawl_run_set_error(run, "sum", "%d rows instead of %d", (int)sum, (int)expected);
    return PAWL_EPERMANENT;
}
PAWL_WORKFLOW("etl.orders.v1/check_sum", check_sum);

static void *
produce(void *worker)
{
    static const char *const inputs[] = {"{\"expected\": 35}", "{\"expected\": 36}"};
    pawl_trigger *trigger = pawl_trigger_new("etl.orders.v1");
    pawl_client *client;
    pawl_error *error;
    char run_id[PAWL_ID_SIZE];
    pawl_bytes output;

    check(pawl_client_open(NULL, &client, &error), &error);
    for (int i = 0; i < 2; i++) {
        pawl_trigger_set_input(trigger, pawl_text(inputs[i]));
        check(pawl_client_trigger(client, trigger, run_id, NULL, &error), &error);
        bool good = pawl_client_wait(client, run_id, 30000, &output, &error) == PAWL_OK;
        printf("%s -> %s\n", inputs[i], good ? output.data : pawl_error_message(error));
    }
    pawl_client_close(client);
    pawl_trigger_free(trigger);
    pawl_worker_drain(worker);
    return NULL;
}

int
main(int argc, char **argv)
{
    bool demo = argc > 1 && strcmp(argv[1], "demo") == 0;
    pawl_worker *worker;
    pawl_error *error;
    pthread_t thread;

    check(pawl_worker_new(NULL, &worker, &error), &error);
    check(pawl_worker_handle_declared(worker, NULL, &error), &error);
    /* Rollbacks are claimed under the flow's own name. */
    check(pawl_worker_handle(worker, "etl.orders.v1*", NULL, NULL, &error), &error);
    if (demo)
        check(pthread_create(&thread, NULL, produce, worker) == 0 ? PAWL_OK : PAWL_ENOMEM, &error);
    check(pawl_worker_run(worker, &error), &error);
    if (demo)
        pthread_join(thread, NULL);
    pawl_worker_free(worker);
    return 0;
}
