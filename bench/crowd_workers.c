/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Worker processes of bench/crowd. Each has many workers of libpawl, which one thread serves through their descriptors; what the server has
 * to do for each is the same as for a process of its own.
 */
#include "crowd.h"

#include <errno.h>
#include <pawl/pawl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct crowd_shared *crowd_shared;

static int shared_fd = -1;

static const int64_t stop_ms = 60 * 1000;
static const double start_limit_s = 300;

static const char *const step_names[] = {"step1", "step2", "step3"};
static const char payload[] = "{\"done\":true}";

/* --- the program that starts them --- */

static void
map_shared(void)
{
    crowd_shared =
        mmap(NULL, sizeof(*crowd_shared), PROT_READ | PROT_WRITE, MAP_SHARED, shared_fd, 0);
    if (crowd_shared == MAP_FAILED)
        bench_die("cannot map shared memory: error %d", errno);
}

void
crowd_stamps_clear(void)
{
    if (crowd_shared != NULL) {
        (void)munmap(
            crowd_shared, sizeof(*crowd_shared)); /* These two cannot fail on what is ours. */
        (void)close(shared_fd);
    }
    shared_fd = memfd_create("bench_crowd", 0);
    if (shared_fd < 0 || ftruncate(shared_fd, (off_t)sizeof(*crowd_shared)) != 0)
        bench_die("cannot make shared memory: error %d", errno);
    map_shared();
}

static long
missing_of(long first, long count)
{
    long missing = 0;

    for (long i = first; i < first + count && i < CROWD_STAMPS_MAX; i++)
        missing += crowd_shared->sent_ns[i] != 0 && crowd_shared->called_ns[i] == 0;
    return missing;
}

long
crowd_await(long first, long count, double limit_s)
{
    double limit = bench_limit_s(limit_s);
    long missing;

    while ((missing = missing_of(first, count)) > 0 && bench_now_s() < limit)
        crowd_sleep_ms(10);
    return missing;
}

size_t
crowd_waited(long first, long count, double *values)
{
    size_t kept = 0;

    for (long i = first; i < first + count && i < CROWD_STAMPS_MAX; i++) {
        if (crowd_shared->sent_ns[i] != 0 && crowd_shared->called_ns[i] != 0)
            values[kept++] = (double)(crowd_shared->called_ns[i] - crowd_shared->sent_ns[i]) / 1e6;
    }
    return kept;
}

static pid_t
spawn_worker(const char *const *arguments)
{
    /* posix_spawn() does not change them, but its prototype is older than const. */
    union {
        const char *const *given;
        char *const *taken;
    } argv = {.given = arguments};
    pid_t pid;
    int code = posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv.taken, environ);

    if (code != 0)
        bench_die("cannot start a worker process: error %d", code);
    return pid;
}

void
crowd_crew_start(struct crowd_crew *crew, const struct crowd_crew_spec *spec)
{
    const char *argv[CROWD_SETTINGS_MAX + 9] = {"crowd", "--worker"};
    char shared[16], drain[16], count[16], first[16], steps[16];
    double limit = bench_limit_s(start_limit_s);
    long wanted;

    if (crowd_shared == NULL)
        crowd_stamps_clear();
    memset(crew, 0, sizeof(*crew));
    crew->drain_fd = eventfd(0, EFD_NONBLOCK);
    if (crew->drain_fd < 0)
        bench_die("cannot make an eventfd: error %d", errno);
    wanted = atomic_load(&crowd_shared->started) + spec->workers;
    (void)snprintf(shared, sizeof(shared), "%d", shared_fd); /* An int fits. */
    (void)snprintf(drain, sizeof(drain), "%d", crew->drain_fd);
    (void)snprintf(steps, sizeof(steps), "%d", spec->steps);
    argv[2] = shared;
    argv[3] = drain;
    argv[4] = count;
    argv[5] = first;
    argv[6] = spec->handles;
    argv[7] = steps;
    for (size_t i = 0; spec->settings[i] != NULL; i++)
        argv[8 + i] = spec->settings[i];
    for (int made = 0; made < spec->workers; made += spec->per_process) {
        int left = spec->workers - made;

        if (crew->processes == CROWD_PROCESSES_MAX)
            bench_die("too many worker processes");
        (void)snprintf(
            count, sizeof(count), "%d", left < spec->per_process ? left : spec->per_process);
        (void)snprintf(first, sizeof(first), "%d", made);
        crew->pids[crew->processes++] = spawn_worker(argv);
    }
    while (atomic_load(&crowd_shared->started) < wanted) {
        if (bench_now_s() > limit || waitpid(-1, NULL, WNOHANG) > 0)
            bench_die("workers did not start");
        crowd_sleep_ms(5);
    }
}

static void
join(struct crowd_crew *crew, bool killed)
{
    for (int i = 0; i < crew->processes; i++) {
        int status;

        if (waitpid(crew->pids[i], &status, 0) != crew->pids[i])
            bench_die("cannot wait for a worker process: error %d", errno);
        if (!killed && (!WIFEXITED(status) || WEXITSTATUS(status) != 0))
            bench_die("a worker process failed");
    }
    (void)close(crew->drain_fd); /* It cannot fail on an eventfd. */
    crew->processes = 0;
}

void
crowd_crew_stop(struct crowd_crew *crew)
{
    uint64_t one = 1;

    if (write(crew->drain_fd, &one, sizeof(one)) != sizeof(one))
        bench_die("cannot write to an eventfd: error %d", errno);
    join(crew, false);
}

void
crowd_crew_kill(struct crowd_crew *crew)
{
    for (int i = 0; i < crew->processes; i++) {
        if (kill(crew->pids[i], SIGKILL) != 0)
            bench_die("cannot kill a worker process: error %d", errno);
    }
    join(crew, true);
}

/* --- a worker process --- */

struct crew_worker {
    pawl_worker *worker;
    bool drained;
};

static void
die_of(const char *what, pawl_error *error)
{
    bench_die("%s: %s %s", what, pawl_error_message(error), pawl_error_hint(error));
}

/* The number in an input {"n":NUMBER,...}. */
static long
number_of(pawl_bytes input)
{
    const char *text = input.data;
    long number = 0;

    for (size_t i = 5; i < input.size && text[i] >= '0' && text[i] <= '9'; i++)
        number = number * 10 + (text[i] - '0');
    return number;
}

static pawl_status
trivial_step(pawl_run *run, void *userdata, pawl_bytes *output)
{
    (void)run;
    (void)userdata;
    *output = pawl_text(payload);
    return PAWL_OK;
}

/* The context says how many steps are done, and one more, so that a new run has none. */
static void
go_on(pawl_run *run, int steps)
{
    const char *context = pawl_run_context(run);
    pawl_status status = PAWL_OK;
    int done = 0;

    if (context == NULL) {
        long number = number_of(pawl_run_input(run));

        if (number > 0 && number < CROWD_STAMPS_MAX)
            crowd_shared->called_ns[number] = crowd_now_ns();
        (void)atomic_fetch_add_explicit(&crowd_shared->called, 1, memory_order_relaxed);
        pawl_run_set_nonblocking(run);
    } else {
        done = (int)(context - payload) - 1;
    }
    for (; status == PAWL_OK && done < steps; done += status == PAWL_OK) {
        pawl_bytes recorded;

        status = pawl_step(run, step_names[done], trivial_step, NULL, &recorded);
    }
    if (status == PAWL_PENDING) {
        /* Any pointer will do that can be told from others and is not NULL. */
        union {
            const char *given;
            void *taken;
        } place = {.given = payload + done + 1};

        pawl_run_set_context(run, place.taken);
        return;
    }
    pawl_run_finish(run, status, pawl_text(payload));
}

static pawl_config *
configure(char **settings)
{
    pawl_config *config = pawl_config_new();
    pawl_error *error;

    if (config == NULL)
        bench_die("out of memory");
    for (; *settings != NULL; settings++) {
        char *equals = strchr(*settings, '=');

        if (equals == NULL)
            bench_die("not NAME=VALUE: \"%s\"", *settings);
        *equals = '\0';
        if (pawl_config_set(config, *settings, equals + 1, &error) != PAWL_OK)
            die_of(*settings, error);
    }
    return config;
}

static void
start_one(struct crew_worker *one, const pawl_config *config, const char *handles, int number,
    int epoll_fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = one};
    struct bench_text name;
    pawl_error *error;

    bench_text_init(&name, 200);
    bench_text_add(&name, handles);
    if (name.length > 0 && name.data[name.length - 1] == '#') {
        name.length--;
        bench_text_addf(&name, "%d", number);
    }
    if (pawl_worker_new(config, &one->worker, &error) != PAWL_OK)
        die_of("worker", error);
    if (pawl_worker_handle(one->worker, name.data, NULL, NULL, &error) != PAWL_OK)
        die_of("handle", error);
    if (pawl_worker_start(one->worker, &error) != PAWL_OK)
        die_of("start", error);
    if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, pawl_worker_fd(one->worker), &event) != 0)
        bench_die("epoll: error %d", errno);
    bench_text_done(&name);
    (void)atomic_fetch_add(&crowd_shared->started, 1);
}

/* Continues all runs of one worker that are ready. Returns whether the worker has drained. */
static bool
take_ready(struct crew_worker *one, int steps)
{
    pawl_status status = PAWL_OK;

    while (status == PAWL_OK) {
        pawl_error *error = NULL;
        pawl_run *run;

        status = pawl_worker_next(one->worker, 0, &run, &error);
        if (status == PAWL_OK)
            go_on(run, steps);
        else if (status != PAWL_ETIMEOUT && status != PAWL_DRAINED)
            die_of("next", error);
    }
    return status == PAWL_DRAINED;
}

static void
serve(struct crew_worker *list, int count, int steps, int epoll_fd, int drain_fd)
{
    struct epoll_event drain = {.events = EPOLLIN, .data.ptr = NULL};
    int left = count;

    if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, drain_fd, &drain) != 0)
        bench_die("epoll: error %d", errno);
    while (left > 0) {
        struct epoll_event events[64];
        int ready = epoll_wait(epoll_fd, events, 64, -1);

        for (int i = 0; i < ready; i++) {
            struct crew_worker *one = events[i].data.ptr;

            if (one == NULL) {
                if (epoll_ctl(epoll_fd, EPOLL_CTL_DEL, drain_fd, NULL) != 0)
                    bench_die("epoll: error %d", errno);
                for (int k = 0; k < count; k++)
                    pawl_worker_drain(list[k].worker);
            } else if (!one->drained && take_ready(one, steps)) {
                one->drained = true;
                if (epoll_ctl(epoll_fd, EPOLL_CTL_DEL, pawl_worker_fd(one->worker), NULL) != 0)
                    bench_die("epoll: error %d", errno);
                left--;
            }
        }
    }
}

int
crowd_worker_main(int argc, char **argv)
{
    enum {
        SHARED = 2,
        DRAIN,
        COUNT,
        FIRST,
        HANDLES,
        STEPS,
        SETTINGS
    };
    struct crew_worker *list;
    pawl_config *config;
    int count, first, steps, drain_fd, epoll_fd = epoll_create1(EPOLL_CLOEXEC);

    if (argc < SETTINGS || epoll_fd < 0)
        bench_die("not to be started by hand");
    /* It must not outlive a benchmark that was interrupted. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        bench_die("prctl: error %d", errno);
    shared_fd = (int)bench_number(argv[SHARED], "SHARED", 0, 1000000);
    drain_fd = (int)bench_number(argv[DRAIN], "DRAIN", 0, 1000000);
    count = (int)bench_number(argv[COUNT], "COUNT", 1, 10000);
    first = (int)bench_number(argv[FIRST], "FIRST", 0, 1000000);
    steps = (int)bench_number(argv[STEPS], "STEPS", 0, 3);
    map_shared();
    config = configure(argv + SETTINGS);
    list = calloc((size_t)count, sizeof(*list));
    if (list == NULL)
        bench_die("out of memory");
    for (int i = 0; i < count; i++)
        start_one(&list[i], config, argv[HANDLES], first + i, epoll_fd);
    serve(list, count, steps, epoll_fd, drain_fd);
    for (int i = 0; i < count; i++) {
        pawl_error *error;

        if (pawl_worker_stop(list[i].worker, stop_ms, &error) != PAWL_OK)
            die_of("stop", error);
        pawl_worker_free(list[i].worker);
    }
    pawl_config_free(config);
    free(list);
    return 0;
}
