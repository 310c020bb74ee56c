/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The smallest worker: one workflow of two steps.
 *
 *     hello            works until SIGTERM or SIGINT, then finishes what it has begun and leaves
 *     hello demo       triggers a run, executes it, prints what it came to, and exits
 *
 * The database, with pawl.sql installed, is the one that libpq's variables name (PGHOST, PGDATABASE …). To trigger a run while it
 * works: select pawl.trigger('demo.hello.v1', '{"name": "Ada"}');
 */
#include <pawl/pawl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* A step does one thing. What it returns is recorded, and never computed again for this run. */
static pawl_status
choose_words(pawl_run *run, void *userdata, pawl_bytes *output)
{
    (void)run;
    (void)userdata;
    *output = pawl_text("\"good morning\"");
    return PAWL_OK;
}

/* The workflow. Whatever a call returns that is not PAWL_OK is returned: that is the whole rule. */
static pawl_status
hello(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_bytes words;
    pawl_status status;

    if ((status = pawl_step(run, "words", choose_words, NULL, &words)) != PAWL_OK)
        return status;

    /* The same in two halves, for steps that want their local variables. */
    status = pawl_step_begin(run, "letter", output);
    if (status != PAWL_EXECUTE)
        return status;
    status = pawl_run_printf(run, output, "{\"say\": %s, \"to\": %s}", words.data, input.data);
    return pawl_step_finish(run, status, *output, output);
}
PAWL_WORKFLOW("demo.hello.v1", hello);

/* What a producer does: trigger a run, and wait for it if it wants to know. */
static pawl_status
produce(pawl_client *client, pawl_error **error)
{
    pawl_trigger *trigger = pawl_trigger_new("demo.hello.v1");
    char run_id[PAWL_ID_SIZE];
    pawl_bytes output;
    pawl_status status;

    pawl_trigger_set_input(trigger, pawl_text("{\"name\": \"Ada\"}"));
    status = pawl_client_trigger(client, trigger, run_id, NULL, error);
    if (status == PAWL_OK)
        status = pawl_client_wait(client, run_id, 30000, &output, error);
    if (status == PAWL_OK)
        printf("%s\n", output.data);
    pawl_trigger_free(trigger);
    return status;
}

static void *
work(void *worker)
{
    pawl_error *error = NULL;

    if (pawl_worker_run(worker, &error) != PAWL_OK)
        fprintf(stderr, "hello: %s\n", pawl_error_message(error));
    pawl_error_free(error);
    return NULL;
}

int
main(int argc, char **argv)
{
    pawl_config *config = pawl_config_new();
    pawl_client *client = NULL;
    pawl_worker *worker = NULL;
    pawl_error *error = NULL;
    pawl_status status = PAWL_ENOMEM; /* where there is no error to say more */
    pthread_t thread;
    sigset_t signals;
    int fd;

    /* Signals become a descriptor before there is a second thread; none interrupts the work. */
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    fd = signalfd(-1, &signals, SFD_CLOEXEC);

    if (fd >= 0 && (status = pawl_client_open(config, &client, &error)) == PAWL_OK &&
        (status = pawl_worker_new(config, &worker, &error)) == PAWL_OK &&
        (status = pawl_worker_handle_declared(worker, NULL, &error)) == PAWL_OK &&
        (status = pawl_worker_start(worker, &error)) == PAWL_OK) {
        pawl_worker_drain_on(worker, fd);
        if (pthread_create(&thread, NULL, work, worker) != 0)
            abort();
        if (argc > 1 && strcmp(argv[1], "demo") == 0) {
            status = produce(client, &error);
            pawl_worker_drain(worker);
        }
        pthread_join(thread, NULL);
    }
    if (status != PAWL_OK)
        fprintf(stderr, "hello: %s %s\n", pawl_status_name(status), pawl_error_message(error));
    pawl_error_free(error);
    pawl_worker_free(worker);
    pawl_client_close(client);
    pawl_config_free(config);
    close(fd);
    return status == PAWL_OK ? 0 : 1;
}
