/* SPDX-License-Identifier: Apache-2.0 */
/* Worker processes of bench/runtime: started, waited for, and measured over a drain of ready runs. */
#include "runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum {
    ARGUMENTS_MAX = 2 * RUNTIME_SETTINGS_MAX + 16
};

pid_t
runtime_spawn(const char *path, const char *const *arguments)
{
    /* posix_spawn() does not change them, but its prototype is older than const. */
    union {
        const char *const *given;
        char *const *taken;
    } argv = {.given = arguments};
    pid_t pid;
    int code = posix_spawn(&pid, path, NULL, NULL, argv.taken, environ);

    if (code != 0)
        bench_die("cannot start \"%s\": error %d", path, code);
    return pid;
}

/* Descriptors that the processes inherit. */
static void
open_shared(struct runtime_crew *crew, long total)
{
    size_t size = sizeof(*crew->shared);

    crew->shared_fd = memfd_create("bench_runtime", 0);
    crew->drain_fd = eventfd(0, EFD_NONBLOCK);
    crew->tell_fd = eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK);
    if (crew->shared_fd < 0 || crew->drain_fd < 0 || crew->tell_fd < 0 ||
        ftruncate(crew->shared_fd, (off_t)size) != 0)
        bench_die("cannot make shared memory: error %d", errno);
    crew->shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, crew->shared_fd, 0);
    if (crew->shared == MAP_FAILED)
        bench_die("cannot map shared memory: error %d", errno);
    crew->shared->total = total;
}

void
runtime_crew_start(
    struct runtime_crew *crew, const struct runtime_report *report, const struct runtime_spec *spec)
{
    const char *argv[ARGUMENTS_MAX] = {"runtime", "--worker"};
    char number[16], shared[16], drain[16], tell[16], steps[16];
    size_t count = 2;

    memset(crew, 0, sizeof(*crew));
    open_shared(crew, spec->total);
    (void)snprintf(shared, sizeof(shared), "%d", crew->shared_fd); /* An int fits. */
    (void)snprintf(drain, sizeof(drain), "%d", crew->drain_fd);
    (void)snprintf(tell, sizeof(tell), "%d", crew->tell_fd);
    (void)snprintf(steps, sizeof(steps), "%d", spec->steps);
    argv[count++] = number;
    argv[count++] = shared;
    argv[count++] = drain;
    argv[count++] = tell;
    argv[count++] = steps;
    argv[count++] = spec->pull ? "pull" : "threads";
    argv[count++] = spec->tell ? "tell" : "silent";
    for (size_t i = 0; spec->settings[i] != NULL; i++)
        argv[count++] = spec->settings[i];
    for (size_t i = 0; report->settings[i] != NULL; i++)
        argv[count++] = report->settings[i];
    argv[count] = NULL;

    crew->processes = spec->processes;
    crew->started_s = bench_now_s();
    for (int i = 0; i < crew->processes; i++) {
        (void)snprintf(number, sizeof(number), "%d", i);
        crew->pids[i] = runtime_spawn("/proc/self/exe", argv);
    }
}

bool
runtime_crew_wait(struct runtime_crew *crew, double timeout_s)
{
    struct pollfd poll_fd = {.fd = crew->tell_fd, .events = POLLIN};
    uint64_t one;

    if (poll(&poll_fd, 1, (int)(timeout_s * 1000)) < 0 && errno != EINTR)
        bench_die("poll: error %d", errno);
    return read(crew->tell_fd, &one, sizeof(one)) == sizeof(one);
}

void
runtime_crew_drain(struct runtime_crew *crew)
{
    uint64_t one = 1;

    if (write(crew->drain_fd, &one, sizeof(one)) != sizeof(one))
        bench_die("cannot write to an eventfd: error %d", errno);
}

static double
seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

double
runtime_crew_join(struct runtime_crew *crew, struct runtime_used *used)
{
    double ended_s = 0;

    *used = (struct runtime_used){0};
    for (int i = 0; i < crew->processes; i++) {
        struct rusage usage;
        int status;

        if (wait4(crew->pids[i], &status, 0, &usage) != crew->pids[i])
            bench_die("cannot wait for a worker: error %d", errno);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            bench_die("a worker process failed");
        used->cpu_s += seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
        used->switches += (double)(usage.ru_nvcsw + usage.ru_nivcsw);
        if ((double)crew->shared->ended_ns[i] / 1e9 > ended_s)
            ended_s = (double)crew->shared->ended_ns[i] / 1e9;
    }
    (void)munmap(crew->shared, sizeof(*crew->shared)); /* These four cannot fail on what is ours. */
    (void)close(crew->shared_fd);
    (void)close(crew->drain_fd);
    (void)close(crew->tell_fd);
    crew->shared = NULL;
    return ended_s - crew->started_s;
}

/* A worker says itself when it is done; the tables must say the same. */
static void
check_ended(PGconn *conn, long total)
{
    double ended = bench_value(conn, "select count(*) from pawl_data.run where status = 's'");
    double left = bench_value(conn, "select count(*) from pawl_data.task");

    if ((long)ended != total || left != 0)
        bench_die("of %ld runs %.0f ended with success and %.0f are left", total, ended, left);
}

void
runtime_drain(const struct runtime_report *report, const struct runtime_spec *spec,
    struct runtime_drained *drained)
{
    struct runtime_counters before, after;
    struct runtime_crew crew;
    struct runtime_used used;
    double runs = (double)spec->total, seconds;
    PGconn *conn;

    runtime_fresh();
    runtime_fill(spec->total);
    conn = bench_connect();
    runtime_settle(conn);
    runtime_count(conn, &before);
    runtime_crew_start(&crew, report, spec);
    seconds = runtime_crew_join(&crew, &used);
    runtime_settle(conn);
    runtime_count(conn, &after);
    check_ended(conn, spec->total);
    PQfinish(conn);

    drained->per_s = runs / seconds;
    drained->commits = (after.commits - before.commits) / runs;
    drained->xids = (after.xids - before.xids) / runs;
    drained->wal_bytes = (after.wal_bytes - before.wal_bytes) / runs;
    drained->worker_cpu_s = used.cpu_s * 10000 / runs;
    drained->switches = used.switches / runs;
    drained->server_cpu_s = (after.server_cpu_s - before.server_cpu_s) * 10000 / runs;
}
