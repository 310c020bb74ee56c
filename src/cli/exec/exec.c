/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/exec/exec.h"

#include "base/text.h"
#include "base/time.h"
#include "cli/command/invocation.h"
#include "cli/exec/job.h"
#include "cli/process/children.h"
#include "cli/process/signals.h"
#include "cli/process/tree.h"
#include "cli/report/exit.h"
#include "cli/sandbox/sandbox.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    TICK_MS = 50,       /* the longest time between two checks of the jobs */
    TICK_US = 20000,    /* and the shortest, however many events there are */
    GUARD_US = 1000000, /* between the starts of two guards */
    FILES_OWN = 32,     /* that this process has open, or opens for a moment */
    FILES_EACH = 5,     /* of each program: its socket, three pipes, and a call that it makes */
};

void
exec_watch(struct exec *exec, struct watch *watch, bool also_for_writing)
{
    struct epoll_event event = {
        .events = EPOLLIN | (also_for_writing ? (uint32_t)EPOLLOUT : 0), .data.ptr = watch};

    if (epoll_ctl(exec->poll_fd, EPOLL_CTL_MOD, watch->fd, &event) != 0)
        (void)epoll_ctl(exec->poll_fd, EPOLL_CTL_ADD, watch->fd, &event);
}

void
exec_unwatch(struct exec *exec, struct watch *watch)
{
    if (watch->fd < 0)
        return;
    (void)epoll_ctl(exec->poll_fd, EPOLL_CTL_DEL, watch->fd, NULL);
    (void)close(watch->fd);
    watch->fd = -1;
}

void
exec_pause(struct exec *exec, struct watch *watch)
{
    if (watch->fd >= 0)
        (void)epoll_ctl(exec->poll_fd, EPOLL_CTL_DEL, watch->fd, NULL);
}

static struct job *
find_job(const struct exec *exec, pid_t pid)
{
    for (struct pw_list *link = pw_list_first(&exec->jobs); link != NULL;
         link = pw_list_next(&exec->jobs, link)) {
        struct job *job = PW_CONTAINER(link, struct job, link);

        if (job->alive && job->process.pid == pid)
            return job;
    }
    return NULL;
}

static bool
is_ours(const void *context, pid_t child)
{
    const struct exec *exec = context;

    return child == exec->guard.pid || find_job(exec, child) != NULL;
}

/*
 * Called when a child has ended and was not waited for yet, so that no other process can have its number. The child is the reaper of job,
 * or if job is NULL a process that this worker has adopted. A reaper kills all that its program leaves running before it exits. If the
 * reaper was killed itself, this worker adopts and kills its children, one generation after the other.
 */
static void
end_orphans(const struct exec *exec, struct job *job, const siginfo_t *child)
{
    if (job != NULL) {
        (void)kill(-child->si_pid, SIGKILL);
        if (child->si_code == CLD_EXITED)
            return;
        job_signal(job, SIGKILL);
    }
    /* guard:adopted */
    if (exec->sole_parent)
        (void)children_kill(is_ours, exec);
}

/* Waits for all children that have ended: reapers of jobs, and processes that this worker has adopted. */
static void
reap(struct exec *exec)
{
    for (;;) {
        siginfo_t info = {0};
        struct job *job;
        int status = 0;

        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0)
            return;
        if (info.si_pid == exec->guard.pid) { /* the guard was killed: tick() starts another */
            guard_dismiss(&exec->guard);
            continue;
        }
        job = find_job(exec, info.si_pid);
        end_orphans(exec, job, &info);
        if (job != NULL)
            guard_remove(&exec->guard, info.si_pid);
        (void)waitpid(info.si_pid, &status, 0);
        if (job != NULL)
            job_exited(job, status);
    }
}

static void
take_signal(struct watch *watch)
{
    struct exec *exec = PW_CONTAINER(watch, struct exec, signals);
    struct signalfd_siginfo info;

    while (read(watch->fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo == SIGCHLD)
            reap(exec);
        else if (exec->one_script)
            exec_give_back(exec, exec->giving_back);
        else if (exec->draining)
            exec_give_back(exec, true);
        else
            exec_drain(exec);
    }
}

/* Takes all runs that were claimed or can continue. */
static void
take_runs(struct watch *watch)
{
    struct exec *exec = PW_CONTAINER(watch, struct exec, claims);
    pawl_error *error = NULL;
    pawl_run *run = NULL;
    pawl_status status;

    while ((status = pawl_worker_next(exec->worker, 0, &run, &error)) == PAWL_OK) {
        struct waiter *waiter = pawl_run_context(run);

        if (waiter != NULL)
            waiter->go_on(waiter);
        else
            job_start(exec, run);
    }
    if (status != PAWL_ETIMEOUT)
        exec->drained = true;
    if (status != PAWL_ETIMEOUT && status != PAWL_DRAINED)
        (void)exit_with(status, error);
}

/* Makes a directory that only this user can enter. Its name is short, because the path of a socket can have at most 107 bytes. */
static bool
make_directory(struct exec *exec)
{
    const char *place = getenv("XDG_RUNTIME_DIR");

    /* XDG_RUNTIME_DIR is for sockets; programs in a sandbox may need more space for temporary files. */
    if (exec->sandbox != NULL && exec->sandbox->on)
        place = getenv("TMPDIR");
    if (place == NULL || place[0] != '/' || strlen(place) > 40 || access(place, W_OK | X_OK) != 0)
        place = "/tmp";
    (void)snprintf(exec->directory, sizeof(exec->directory), "%s/pawl-XXXXXX", place);
    return mkdtemp(exec->directory) != NULL;
}

/* Starts a guard and passes it the process groups of all jobs. Returns false with errno. */
static bool
start_guard(struct exec *exec)
{
    exec->guard_at_us = pw_now_us() + GUARD_US;
    if (!guard_start(&exec->guard, exec->directory))
        return false;
    for (struct pw_list *link = pw_list_first(&exec->jobs); link != NULL;
         link = pw_list_next(&exec->jobs, link))
        job_tell_guard(PW_CONTAINER(link, struct job, link));
    return true;
}

bool
exec_has_directory(struct exec *exec)
{
    struct stat facts;
    bool made;
    int why;

    if (lstat(exec->directory, &facts) == 0 && S_ISDIR(facts.st_mode) && facts.st_uid == geteuid())
        return true;
    /* The new directory gets another name: another user may have taken the old name, or the parent directory may be gone. */
    guard_dismiss(&exec->guard);
    made = make_directory(exec);
    why = errno;
    (void)start_guard(exec); /* if it fails, tick() retries */
    errno = why;
    return made;
}

/* Signals arrive through a descriptor, so that they never interrupt the loop. SIGPIPE is ignored: a write to a closed pipe only fails. */
static bool
take_signals(struct exec *exec)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigset_t signals;

    (void)sigaction(SIGPIPE, &ignore, NULL);
    signals_that_end(&signals);
    (void)sigaddset(&signals, SIGCHLD);
    (void)sigprocmask(SIG_BLOCK, &signals, NULL);
    exec->signals = (struct watch){signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK), take_signal};
    exec->poll_fd = epoll_create1(EPOLL_CLOEXEC);
    return exec->signals.fd >= 0 && exec->poll_fd >= 0;
}

static int
apply(pawl_config *config, const char *name, const char *value)
{
    pawl_error *error = NULL;
    pawl_status status = pawl_config_set(config, name, value, &error);

    return exit_with(status, error);
}

int
exec_settings(const struct invocation *invocation, pawl_config *config)
{
    int code = apply(config, "runtimes", "exec");

    for (size_t i = 0; i < invocation->given_count && code == EXIT_OK; i++) {
        const char *option = invocation->given[i].option->name;
        const char *value = invocation->given[i].value;
        const char *equals = strchr(value, '=');
        char name[64];

        if (strcmp(option, "concurrency") == 0)
            code = apply(config, "concurrency", value);
        if (strcmp(option, "set") != 0)
            continue;
        if (equals == NULL || equals == value)
            return exit_saying(EXIT_USAGE, NULL, "--set takes SETTING=VALUE, not \"%s\"", value);
        (void)snprintf(name, sizeof(name), "%.*s", (int)(equals - value), value);
        code = apply(config, name, equals + 1);
    }
    /* A run is a process, which is never cheap: the number does not grow by itself. */
    if (code == EXIT_OK && strcmp(pawl_config_get(config, "concurrency"), "auto") == 0)
        code = apply(config, "concurrency", "16");
    return code;
}

/* Checks the limit of open files at the start. Otherwise programs would fail only later, when all of them run. */
static int
check_files(struct exec *exec, const pawl_config *config)
{
    int64_t files = process_raise_files(&exec->files_before);
    int64_t programs = 1;

    if (!exec->one_script)
        (void)!pw_parse_i64(pawl_config_get(config, "concurrency"), 1, INT32_MAX, &programs);
    if (files - FILES_OWN >= FILES_EACH * programs)
        return EXIT_OK;
    return exit_saying(EXIT_OTHER,
        "Lower --concurrency, or raise the limit: ulimit -n, LimitNOFILE= in a unit of systemd.",
        "%" PRId64 " programs at the same time need %" PRId64
        " open files, and this process may have %" PRId64,
        programs, FILES_EACH * programs + FILES_OWN, files);
}

int
exec_init(struct exec *exec, const pawl_config *config)
{
    pawl_error *error = NULL;
    pawl_status status;
    int code;

    pw_list_init(&exec->jobs);
    exec->claims.fd = -1;
    exec->signals.fd = -1;
    exec->poll_fd = -1;
    exec->guard.pipe = -1;
    /* The library has accepted these texts, so they can be parsed. */
    (void)!pw_parse_size(pawl_config_get(config, "payload_max"), 0, INT32_MAX, &exec->payload_max);
    (void)!pw_parse_duration_ms(
        pawl_config_get(config, "drain_timeout"), 0, INT64_MAX / 1000, &exec->drain_timeout_ms);
    code = check_files(exec, config);
    if (code != EXIT_OK)
        return code;
    /* guard:no_core */
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    /*
     * False if a child may be from elsewhere. A shell that became this worker by exec may have had children, and the first process of a
     * container adopts all orphans.
     */
    /* guard:sole_parent */
    exec->sole_parent = getpid() != 1 && !children_exist();
    if (!make_directory(exec) || !start_guard(exec) || !take_signals(exec))
        return exit_saying(EXIT_OTHER, NULL, "cannot prepare to execute programs: %m");
    exec_watch(exec, &exec->signals, false);
    status = pawl_worker_new(config, &exec->worker, &error);
    return exit_with(status, error);
}

int
exec_start(struct exec *exec)
{
    pawl_error *error = NULL;
    pawl_status status = pawl_worker_start(exec->worker, &error);

    if (status != PAWL_OK)
        return exit_with_verb(status, error, "register");
    exec->claims = (struct watch){pawl_worker_fd(exec->worker), take_runs};
    exec_watch(exec, &exec->claims, false);
    return EXIT_OK;
}

/*
 * Leaves after the last process has ended, which releases the runs. If it left earlier, another worker could begin a run while the process
 * of this worker still ends.
 */
static void
leave_early(struct exec *exec)
{
    pawl_error *error = NULL;
    struct pw_list *link;

    for (link = pw_list_first(&exec->jobs); link != NULL; link = pw_list_next(&exec->jobs, link))
        if (PW_CONTAINER(link, struct job, link)->alive)
            return;
    /* It fails because some runs are still executing, which is expected here. */
    if (pawl_worker_stop(exec->worker, 0, &error) != PAWL_OK)
        pawl_error_free(error);
    exec->left = true;
    take_runs(&exec->claims);
    while ((link = pw_list_first(&exec->jobs)) != NULL)
        job_finish(PW_CONTAINER(link, struct job, link), PAWL_ELEASE_LOST);
}

static void
tick(struct exec *exec)
{
    int64_t now_us = pw_now_us();
    struct pw_list *link = pw_list_first(&exec->jobs);

    if (now_us < exec->tick_at_us)
        return;
    exec->tick_at_us = now_us + TICK_US;
    if (exec->guard.pipe < 0 && now_us >= exec->guard_at_us)
        (void)start_guard(exec);
    while (link != NULL) {
        struct pw_list *next = pw_list_next(&exec->jobs, link);

        job_tick(PW_CONTAINER(link, struct job, link), now_us);
        link = next;
    }
    if (exec->draining && !exec->giving_back && now_us >= exec->drain_until_us)
        exec_give_back(exec, false);
    if (exec->giving_back && !exec->left)
        leave_early(exec);
}

bool
exec_turn(struct exec *exec, int timeout_ms)
{
    struct epoll_event event;
    int count;

    if (!pw_list_empty(&exec->jobs) && (timeout_ms < 0 || timeout_ms > TICK_MS))
        timeout_ms = TICK_MS;
    /* One event at a time: handling an event may free the watch of the next one. */
    count = epoll_wait(exec->poll_fd, &event, 1, timeout_ms);
    if (count > 0) {
        struct watch *watch = event.data.ptr;

        watch->ready(watch);
    }
    tick(exec);
    return !pw_list_empty(&exec->jobs) || !(exec->drained || exec->giving_back);
}

void
exec_drain(struct exec *exec)
{
    exec->draining = true;
    exec->drain_until_us = pw_add_us(pw_now_us(), pw_ms_to_us(exec->drain_timeout_ms));
    pawl_worker_drain(exec->worker);
}

void
exec_give_back(struct exec *exec, bool at_once)
{
    if (!exec->giving_back)
        pawl_worker_drain(exec->worker);
    exec->draining = true;
    exec->giving_back = true;
    for (struct pw_list *link = pw_list_first(&exec->jobs); link != NULL;
         link = pw_list_next(&exec->jobs, link)) {
        struct job *job = PW_CONTAINER(link, struct job, link);

        job_end(job, PAWL_ELEASE_LOST);
        if (at_once)
            job_signal(job, SIGKILL);
    }
}

int
exec_done(struct exec *exec)
{
    pawl_error *error = NULL;
    pawl_status status = PAWL_OK;

    /* The library needs a moment to commit the runs that have ended. Released runs need no commit. */
    if (exec->worker != NULL && exec->claims.fd >= 0 && !exec->left)
        status = pawl_worker_stop(exec->worker, 30000, &error);
    pawl_worker_free(exec->worker);
    if (exec->signals.fd >= 0)
        exec_unwatch(exec, &exec->signals);
    if (exec->poll_fd >= 0)
        (void)close(exec->poll_fd);
    if (exec->guard.pipe >= 0)
        guard_stop(&exec->guard);
    /* If there is no guard at the end, this process removes the directory. */
    if (exec->directory[0] != '\0')
        tree_remove(exec->directory);
    return exit_with(status, error);
}
