/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pipeline of files: fetch a picture, make a small one of it, publish that. Each step runs a command and records a fact about its
 * file, not the file: records are small, and data stays where it is. The first download fails, and is tried again.
 *
 *     image_pipeline            works until it is killed, which may happen at any time
 *     image_pipeline demo       one picture, and exits
 *
 * The database is the one that libpq's variables name (PGHOST, PGDATABASE …). Pictures go to the current directory.
 */
#include <pawl/pawl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void
check(pawl_status status, pawl_error **error)
{
    if (status != PAWL_OK) {
        fprintf(stderr, "%s: %s\n", pawl_status_name(status), pawl_error_message(*error));
        exit(1);
    }
}

/* One command. $1 is the run's id and part of each file's name: a step that is done twice overwrites its own file. */
static pawl_status
run_command(pawl_run *run, void *userdata, pawl_bytes *output)
{
    const char **stage = userdata, *id = pawl_run_id(run);
    sigset_t none;
    int code = -1;
    pid_t pid;

    sigemptyset(&none);
    if ((pid = fork()) == 0) {
        /* Not system(): handlers have all signals blocked, and so would the command, which nothing could end then. */
        sigprocmask(SIG_SETMASK, &none, NULL);
        execl("/bin/sh", "sh", "-c", stage[1], "sh", id, (char *)NULL);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &code, 0) != pid || code != 0) {
        pawl_run_set_error(run, "command", "the command of %s failed", stage[0]);
        return PAWL_EFAILED; /* the retry policy decides whether and when it is tried again */
    }
    return pawl_run_printf(run, output, "{\"done\": \"%s\"}", stage[0]);
}

static pawl_status
process_picture(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    const char *stages[][2] = {
        {"download", "test -e asked-$1 && seq 16 >original-$1 || ! touch asked-$1"},
        {"resize", "awk 'NR % 2 == 0' original-$1 >small-$1"},
        /* If the small picture is gone, an earlier try has moved it and died before that was recorded. */
        {"publish", "test ! -e small-$1 || mv small-$1 published-$1"},
    };
    pawl_status status = PAWL_OK;

    (void)input;
    for (int i = 0; i < 3 && status == PAWL_OK; i++) {
        pawl_run_set_option(run, "max_attempts", "4");
        pawl_run_set_option(run, "base_ms", "100");
        status = pawl_step(run, stages[i][0], run_command, stages[i], output);
    }
    return status;
}
PAWL_WORKFLOW("demo.picture.v1", process_picture);

static void
produce(const pawl_config *config)
{
    pawl_trigger *trigger = pawl_trigger_new("demo.picture.v1");
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
