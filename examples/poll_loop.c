/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker inside a loop that is not pawl's: one thread, poll(2), any number of runs in flight. It watches the worker's descriptor
 * together with its own (here: signals). Calls on runs never block: they return PAWL_PENDING, and the run comes back later.
 *
 *     poll_loop demo
 *
 * With demo it triggers 20 runs, executes them and exits; without, it works until SIGTERM and leaves within 10 s.
 */
#include <pawl/pawl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>

static void
check(pawl_status status, pawl_error **error)
{
    if (status != PAWL_OK) {
        fprintf(stderr, "%s: %s\n", pawl_status_name(status), pawl_error_message(*error));
        exit(1);
    }
}

static pawl_status
count_up(pawl_run *run, void *userdata, pawl_bytes *output)
{
    (void)userdata;
    return pawl_run_printf(run, output, "%d", (int)(intptr_t)pawl_run_context(run) + 1);
}

/*
 * Continues a run until it must wait. Its position is stored with the run, because a function cannot be left in its middle and
 * resumed there. The call that was PAWL_PENDING is simply made again.
 */
static pawl_status
advance(pawl_run *run, pawl_bytes *output)
{
    static const char *const steps[] = {"one", "two", "three"};
    pawl_status status = PAWL_OK;

    for (intptr_t i = (intptr_t)pawl_run_context(run); i < 3 && status == PAWL_OK; i++) {
        pawl_run_set_context(run, (void *)i);
        status = pawl_step(run, steps[i], count_up, NULL, output);
    }
    return status;
}

/* Takes all runs that can continue. Returns 1 when the worker is drained. */
static int
take_runs(pawl_worker *worker, int *finished)
{
    pawl_bytes output = {NULL, 0};
    pawl_error *error;
    pawl_status status;
    pawl_run *run;

    while ((status = pawl_worker_next(worker, 0, &run, &error)) == PAWL_OK) {
        pawl_run_set_nonblocking(run);
        /* Check this first: a claim to undo steps is not for the handler. No step here has an undo, so nothing is to be done. */
        status = pawl_run_rolling_back(run) ? PAWL_OK : advance(run, &output);
        if (status == PAWL_PENDING)
            continue; /* it will come back */
        *finished += status == PAWL_OK;
        pawl_run_finish(run, status, output);
    }
    check(status == PAWL_ETIMEOUT || status == PAWL_DRAINED ? PAWL_OK : status, &error);
    pawl_error_free(error);
    return status == PAWL_DRAINED;
}

int
main(int argc, char **argv)
{
    int demo = argc > 1 && strcmp(argv[1], "demo") == 0, finished = 0;
    pawl_config *config = pawl_config_new();
    pawl_trigger *trigger = pawl_trigger_new("demo.count.v1");
    struct pollfd fds[2] = {{-1, POLLIN, 0}, {-1, POLLIN, 0}};
    pawl_client *client;
    pawl_worker *worker;
    pawl_error *error;
    sigset_t signals;

    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    if ((fds[0].fd = signalfd(-1, &signals, SFD_CLOEXEC)) < 0)
        return 1;
    check(pawl_worker_new(config, &worker, &error), &error);
    check(pawl_worker_handle(worker, "demo.count.v1", NULL, NULL, &error), &error);
    check(pawl_worker_start(worker, &error), &error);
    fds[1].fd = pawl_worker_fd(worker);
    check(pawl_client_open(config, &client, &error), &error);
    for (int i = 0; i < 20; i++)
        pawl_trigger_add(trigger, pawl_text("{}"), NULL);
    if (demo)
        check(pawl_client_trigger_many(client, trigger, NULL, NULL, &error), &error);
    while (!take_runs(worker, &finished)) {
        if (demo && finished == 20)
            pawl_worker_drain(worker);
        if (poll(fds, 2, -1) > 0 && fds[0].revents != 0) {
            pawl_worker_drain_within(worker, 10000); /* even if the database has gone */
            fds[0].fd = -1; /* once is enough: it is not read, so it would stay readable */
        }
    }
    check(pawl_worker_stop(worker, 30000, &error), &error); /* until all is written down */
    printf("%d finished\n", finished);
    pawl_worker_free(worker);
    pawl_client_close(client);
    pawl_trigger_free(trigger);
    pawl_config_free(config);
    return 0;
}
