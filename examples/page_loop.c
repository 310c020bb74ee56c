/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop: pages are fetched one after the other until there are no more. The same name in a loop is another step each time
 * (page#1, page#2 …), so after a crash the loop runs through the pages that it has, without fetching them, and goes on.
 *
 *     page_loop            works until it is killed, which may happen at any time
 *     page_loop demo       one loop, prints the notes that it has left, and exits
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

/* In place of a remote service: records what came, and whether there is more. */
static pawl_status
fetch_page(pawl_run *run, void *userdata, pawl_bytes *output)
{
    const int *page = userdata;
    pawl_status status = pawl_run_check(run); /* cancelled, or out of time? */

    if (status != PAWL_OK)
        return status;
    printf("fetch page %d\n", *page);
    return pawl_run_printf(
        run, output, "{\"page\": %d, \"more\": %s}", *page, *page < 4 ? "true" : "false");
}

static pawl_status
fetch_all(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_bytes got = {NULL, 0};
    pawl_status status;
    int page = 0, more;

    (void)input;
    do {
        page++;
        if ((status = pawl_step(run, "page", fetch_page, &page, &got)) != PAWL_OK)
            return status;
        /* Said again when the handler is executed again; a note is for people and is not a record. */
        pawl_run_progress(run, "pages", "%d", page);
        /* Let others have a turn: a run that sleeps holds nothing. */
        if (page == 2 && (status = pawl_sleep(run, "breathe", 100)) != PAWL_OK)
            return status;
    } while (pawl_json_bool(got, "/more", &more) == PAWL_OK && more);
    return pawl_run_printf(run, output, "{\"pages\": %d}", page);
}
PAWL_WORKFLOW("demo.pages.v1", fetch_all);

static void
produce(const pawl_config *config)
{
    const char *names[] = {"run"}, *values[1];
    pawl_trigger *trigger = pawl_trigger_new("demo.pages.v1");
    pawl_client *client;
    pawl_error *error;
    pawl_rows *rows;
    char run_id[PAWL_ID_SIZE];
    pawl_bytes output;

    check(pawl_client_open(config, &client, &error), &error);
    check(pawl_client_trigger(client, trigger, run_id, NULL, &error), &error);
    check(pawl_client_wait(client, run_id, 30000, &output, &error), &error);
    printf("%s\n", output.data);
    values[0] = run_id;
    check(pawl_client_call(client, "notes", names, values, 1, &rows, &error), &error);
    if (pawl_rows_count(rows) > 0)
        printf("last note: %s %s\n", pawl_rows_text(rows, pawl_rows_count(rows) - 1, "name"),
            pawl_rows_text(rows, pawl_rows_count(rows) - 1, "body"));
    pawl_rows_free(rows);
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
