/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker process as a user would write it: trivial handlers on the public interface. It ends when the descriptor that it was
 * given becomes readable, or by itself when all processes together have been called for as many runs as there are.
 */
#include "harness.h"
#include "runtime.h"

#include <errno.h>
#include <pawl/pawl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static const int64_t stop_ms = 60 * 1000;

static const char *const step_names[RUNTIME_STEPS] = {"step1", "step2", "step3"};

struct plan {
    struct runtime_shared *shared;
    int number;
    int drain_fd, tell_fd;
    int steps;
    bool pull;
    bool tell;
};

static int64_t
now_ns(void)
{
    struct timespec t;

    if (clock_gettime(CLOCK_MONOTONIC, &t) != 0)
        bench_die("no monotonic clock");
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void
die_of(const char *what, pawl_error *error)
{
    bench_die("%s: %s %s", what, pawl_error_message(error), pawl_error_hint(error));
}

static void
signal_fd(int fd)
{
    uint64_t one = 1;

    if (write(fd, &one, sizeof(one)) != sizeof(one))
        bench_die("cannot write to an eventfd: error %d", errno);
}

/* A handler has been called. */
static void
called(const struct plan *plan)
{
    struct runtime_shared *shared = plan->shared;
    int64_t now = plan->tell ? now_ns() : 0;
    long before = atomic_fetch_add_explicit(&shared->called, 1, memory_order_relaxed);

    if (plan->tell && before < RUNTIME_STAMPS_MAX) {
        shared->called_ns[before] = now;
        signal_fd(plan->tell_fd);
    }
    if (before + 1 == shared->total)
        signal_fd(plan->drain_fd);
}

static void
keep_step(const struct plan *plan, int64_t taken_ns)
{
    long before = atomic_fetch_add_explicit(&plan->shared->steps, 1, memory_order_relaxed);

    if (before < RUNTIME_STAMPS_MAX)
        plan->shared->steps_ns[before] = taken_ns;
}

static pawl_status
trivial_step(pawl_run *run, void *userdata, pawl_bytes *output)
{
    (void)run;
    (void)userdata;
    *output = pawl_text(runtime_payload);
    return PAWL_OK;
}

static pawl_status
handle(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    const struct plan *plan = pawl_run_userdata(run);

    (void)input;
    called(plan);
    for (int i = 0; i < plan->steps; i++) {
        int64_t start = plan->tell ? now_ns() : 0;
        pawl_bytes recorded;
        pawl_status status = pawl_step(run, step_names[i], trivial_step, NULL, &recorded);

        if (status != PAWL_OK)
            return status;
        if (plan->tell)
            keep_step(plan, now_ns() - start);
    }
    *output = pawl_text(runtime_payload);
    return PAWL_OK;
}

/* The same without blocking. The context says how many steps are done, and one more, so that a new run has none. */
static void
go_on(const struct plan *plan, pawl_run *run)
{
    const char *context = pawl_run_context(run);
    int done = 0;
    pawl_status status = PAWL_OK;

    if (context == NULL) {
        called(plan);
        pawl_run_set_nonblocking(run);
    } else {
        done = (int)(context - runtime_payload) - 1;
    }
    for (; status == PAWL_OK && done < plan->steps; done += status == PAWL_OK) {
        pawl_bytes recorded;

        status = pawl_step(run, step_names[done], trivial_step, NULL, &recorded);
    }
    if (status == PAWL_PENDING) {
        /* Any pointer will do that can be told from others and is not NULL. */
        union {
            const char *given;
            void *taken;
        } place = {.given = runtime_payload + done + 1};

        pawl_run_set_context(run, place.taken);
        return;
    }
    pawl_run_finish(run, status, pawl_text(runtime_payload));
}

static bool
is_readable(int fd)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

    return poll(&poll_fd, 1, 0) == 1;
}

static void
work_by_pulling(const struct plan *plan, pawl_worker *worker)
{
    pawl_error *error;
    pawl_status status;
    bool draining = false;

    if (pawl_worker_start(worker, &error) != PAWL_OK)
        die_of("start", error);
    do {
        pawl_run *run;

        status = pawl_worker_next(worker, 100, &run, &error);
        if (status == PAWL_OK)
            go_on(plan, run);
        else if (status == PAWL_ETIMEOUT)
            pawl_error_free(error);
        else if (status != PAWL_DRAINED)
            die_of("next", error);
        if (!draining && plan->shared->total != 0 &&
            atomic_load_explicit(&plan->shared->called, memory_order_relaxed) >=
                plan->shared->total)
            draining = true;
        else if (!draining && status == PAWL_ETIMEOUT && is_readable(plan->drain_fd))
            draining = true;
        else
            continue;
        pawl_worker_drain(worker);
    } while (status != PAWL_DRAINED);
}

static void
work(const struct plan *plan, pawl_worker *worker)
{
    pawl_error *error;

    if (plan->pull) {
        work_by_pulling(plan, worker);
    } else {
        pawl_worker_drain_on(worker, plan->drain_fd);
        if (pawl_worker_start(worker, &error) != PAWL_OK)
            die_of("start", error);
        if (plan->tell)
            signal_fd(plan->tell_fd);
        if (pawl_worker_run(worker, &error) != PAWL_OK)
            die_of("run", error);
    }
    if (pawl_worker_stop(worker, stop_ms, &error) != PAWL_OK)
        die_of("stop", error);
}

static void
configure(pawl_config *config, char **settings)
{
    pawl_error *error;

    for (; *settings != NULL; settings++) {
        char *equals = strchr(*settings, '=');

        if (equals == NULL)
            bench_die("not NAME=VALUE: \"%s\"", *settings);
        *equals = '\0';
        if (pawl_config_set(config, *settings, equals + 1, &error) != PAWL_OK)
            die_of(*settings, error);
    }
}

int
runtime_worker_main(int argc, char **argv)
{
    enum {
        NUMBER = 2,
        SHARED,
        DRAIN,
        TELL,
        STEPS,
        FORM,
        TELLS,
        SETTINGS
    };
    struct plan plan = {.number = 0};
    pawl_config *config = pawl_config_new();
    pawl_worker *worker;
    pawl_error *error;

    if (argc < SETTINGS || config == NULL)
        bench_die("not to be started by hand");
    /* It must not outlive a benchmark that was interrupted. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        bench_die("prctl: error %d", errno);
    plan.number = (int)bench_number(argv[NUMBER], "NUMBER", 0, RUNTIME_PROCESSES_MAX - 1);
    plan.drain_fd = (int)bench_number(argv[DRAIN], "DRAIN", 0, 1000000);
    plan.tell_fd = (int)bench_number(argv[TELL], "TELL", 0, 1000000);
    plan.steps = (int)bench_number(argv[STEPS], "STEPS", 0, RUNTIME_STEPS);
    plan.pull = strcmp(argv[FORM], "pull") == 0;
    plan.tell = strcmp(argv[TELLS], "tell") == 0;
    plan.shared = mmap(NULL, sizeof(*plan.shared), PROT_READ | PROT_WRITE, MAP_SHARED,
        (int)bench_number(argv[SHARED], "SHARED", 0, 1000000), 0);
    if (plan.shared == MAP_FAILED)
        bench_die("cannot map shared memory: error %d", errno);

    configure(config, argv + SETTINGS);
    if (pawl_worker_new(config, &worker, &error) != PAWL_OK)
        die_of("worker", error);
    if (pawl_worker_handle(worker, RUNTIME_WORKFLOW, handle, &plan, &error) != PAWL_OK)
        die_of("handle", error);
    work(&plan, worker);
    plan.shared->ended_ns[plan.number] = now_ns();
    pawl_worker_free(worker);
    pawl_config_free(config);
    return 0;
}
