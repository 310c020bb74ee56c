/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs that trigger runs. A child has its own retries, limits and history, and may be executed by another worker; its parent
 * waits without holding anything. A detached child, which nobody waits for, is made with pawl_child_detached().
 *
 *     child_runs            works until it is killed, which may happen at any time
 *     child_runs demo       one book of three chapters, one of which fails, and exits
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

static pawl_status
write_chapter(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    int64_t number;

    if (pawl_json_int(input, "", &number) != PAWL_OK || number == 3) {
        pawl_run_set_error(run, "empty", "the author has no idea");
        return PAWL_EPERMANENT;
    }
    return pawl_run_printf(run, output, "{\"chapter\": %s, \"pages\": 20}", input.data);
}
PAWL_WORKFLOW("demo.chapter.v1", write_chapter);

/* One branch for each chapter, so that the children are executed side by side. */
static pawl_status
order_chapter(pawl_run *branch, void *userdata, pawl_bytes *output)
{
    const char *number = userdata;
    pawl_status status;

    status = pawl_child(branch, "child", "demo.chapter.v1", pawl_text(number), output);
    if (status == PAWL_ERUN) /* what failed is the child; its parent decides what that means */
        return pawl_run_printf(branch, output, "{\"chapter\": %s, \"missing\": true}", number);
    return status;
}

static pawl_status
write_book(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    char numbers[3][2] = {"1", "2", "3"};
    pawl_bytes made[3];
    pawl_status status;

    (void)input;
    for (int i = 0; i < 3; i++) {
        status = pawl_branch(run, numbers[i], order_chapter, numbers[i], &made[i]);
        if (status != PAWL_OK)
            return status;
    }
    status = pawl_branches_join(run);
    if (status != PAWL_OK)
        return status;
    return pawl_run_printf(run, output, "[%s, %s, %s]", made[0].data, made[1].data, made[2].data);
}
PAWL_WORKFLOW("demo.book.v1", write_book);

static void
produce(const pawl_config *config)
{
    pawl_trigger *trigger = pawl_trigger_new("demo.book.v1");
    pawl_client *client;
    pawl_error *error;
    char run_id[PAWL_ID_SIZE];
    pawl_bytes output;

    check(pawl_client_open(config, &client, &error), &error);
    check(pawl_client_trigger(client, trigger, run_id, NULL, &error), &error);
    check(pawl_client_wait(client, run_id, 30000, &output, &error), &error);
    printf("%s\n", output.data);
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
