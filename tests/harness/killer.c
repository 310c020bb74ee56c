/* SPDX-License-Identifier: Apache-2.0 */
/* The killer: a thread that owns child processes; see the header. */
#include "killer.h"

#include "killer_program.h"
#include "race.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    programs_max = 16,
    failures_told = 20,
    /* With it a program ends that a checker of the compiler has found something in; see tools/sanitize. */
    report_code = 99,
    term_default_ms = 10000
};

static const double restart_s = 0.1;
static const double stop_patience_s = 10;

struct child {
    struct killer_program *program;
    char **env;
    pid_t pid; /* 0: does not run */
    int pidfd;
    double started_s;
    /* To be started, and not before start_s. */
    bool wanted;
    double start_s;
    /* What was done to it since its last start. */
    bool killed;
    bool termed;
    bool stopped;
    /* When to continue it, and when to kill it after SIGTERM; 0: never. */
    double continue_s;
    double kill_s;
};

/*
 * The lock guards all that comes after it. Only the thread starts children: the system ties their life to the thread that
 * made them, and this one lives as long as the killer. Only the thread waits for them, so a pid that is not 0 is theirs.
 */
struct killer {
    int wake;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool stopping;
    struct race_random random;
    struct killer_program programs[programs_max];
    int program_count;
    struct child children[killer_children_max];
    int child_count;
    bool scheduled;
    struct killer_schedule schedule;
    double act_s;
    struct killer_counts counts;
};

static void
lock(struct killer *killer)
{
    if (pthread_mutex_lock(&killer->lock) != 0)
        bench_die("cannot lock the killer");
}

static void
unlock(struct killer *killer)
{
    if (pthread_mutex_unlock(&killer->lock) != 0)
        bench_die("cannot unlock the killer");
}

static void
wake(struct killer *killer)
{
    uint64_t one = 1;

    if (write(killer->wake, &one, sizeof(one)) != (ssize_t)sizeof(one))
        bench_die("cannot wake the killer: error %d", errno);
}

/* Waits for the thread to change something; returns false at the time given, unless that is 0. */
static bool
wait_change(struct killer *killer, double until_s)
{
    struct timespec until = {.tv_sec = (time_t)until_s};
    int error;

    if (until_s <= 0)
        return pthread_cond_wait(&killer->changed, &killer->lock) == 0;
    until.tv_nsec = (long)((until_s - (double)until.tv_sec) * 1e9);
    error = pthread_cond_timedwait(&killer->changed, &killer->lock, &until);
    if (error != 0 && error != ETIMEDOUT)
        bench_die("cannot wait for the killer: error %d", error);
    return error == 0;
}

static struct child *
child_of(struct killer *killer, int number)
{
    if (number < 0 || number >= killer->child_count)
        bench_die("the killer has no child %d", number);
    return &killer->children[number];
}

static void
send_signal(const struct child *child, int signal)
{
    if (child->pid > 0 && kill(child->pid, signal) != 0)
        bench_die("cannot send signal %d to process %d: error %d", signal, (int)child->pid, errno);
}

/* Between fork and exec, so only with calls that are safe there. `told` is closed by a success. */
static void
become(const struct child *child, pid_t parent, int told)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int output = child->program->output >= 0 ? child->program->output : STDERR_FILENO;
    sigset_t none;

    /* The parent may have gone before the first call had its effect. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
        _exit(126);
    if (sigemptyset(&none) == 0 && sigprocmask(SIG_SETMASK, &none, NULL) == 0 && null >= 0 &&
        dup2(null, STDIN_FILENO) >= 0 && dup2(output, STDERR_FILENO) >= 0 &&
        dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
        (void)execve(child->program->argv[0], child->program->argv, child->env);
    (void)!write(told, "!", 1); /* There is nobody else to tell. */
    _exit(127);
}

/*
 * Returns when the child has become its program. A child that was stopped before would not yet die with us, and one that
 * was told to end would still be a copy of us.
 */
static void
start_child(struct killer *killer, struct child *child)
{
    pid_t self = getpid();
    int ends[2];
    ssize_t told;
    char mark;

    if (pipe2(ends, O_CLOEXEC) != 0)
        bench_die("cannot make a pipe: error %d", errno);
    child->pid = fork();
    if (child->pid == 0)
        become(child, self, ends[1]);
    if (child->pid < 0)
        bench_die("cannot fork: error %d", errno);
    (void)close(ends[1]);
    do
        told = read(ends[0], &mark, 1);
    while (told < 0 && errno == EINTR);
    (void)close(ends[0]);
    if (told != 0)
        bench_die("cannot start \"%s\"", child->program->argv[0]);
    child->pidfd = pidfd_open(child->pid, 0);
    if (child->pidfd < 0)
        bench_die("cannot watch process %d: error %d", (int)child->pid, errno);
    child->started_s = bench_now_s();
    child->killed = child->termed = child->stopped = false;
    child->continue_s = child->kill_s = 0;
    child->wanted = false;
    killer->counts.spawned++;
}

static void
count_end(struct killer *killer, const struct child *child, int status)
{
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

    if (child->killed && signal == SIGKILL) {
        if (child->termed)
            killer->counts.overdue++;
        else
            killer->counts.killed++;
    } else if (child->termed && (code == 0 || signal == SIGTERM)) {
        killer->counts.termed++;
    } else if (code == 0) {
        killer->counts.finished++;
    } else if (++killer->counts.failed <= failures_told) {
        (void)fprintf(stderr, "killer: child %d, process %d, ended by itself: %s %d\n",
            (int)(child - killer->children), (int)child->pid, signal != 0 ? "signal" : "code",
            signal != 0 ? signal : code);
    }
    /* Where the report has gone to a file, its reader tells. */
    if (code == report_code && child->program->output < 0)
        bench_die("the report above is of a child");
}

/* Waits for children that have ended. */
static void
reap(struct killer *killer)
{
    for (int i = 0; i < killer->child_count; i++) {
        struct child *child = &killer->children[i];
        int status;
        pid_t pid;

        if (child->pid == 0)
            continue;
        pid = waitpid(child->pid, &status, WNOHANG);
        if (pid < 0)
            bench_die("cannot wait for process %d: error %d", (int)child->pid, errno);
        if (pid == 0)
            continue;
        count_end(killer, child, status);
        (void)close(child->pidfd); /* Of a process that is gone. */
        child->wanted = child->program->restart && !killer->stopping;
        child->start_s = child->killed || child->termed ? 0 : child->started_s + restart_s;
        child->continue_s = child->kill_s = 0;
        child->stopped = false;
        child->pid = 0;
    }
}

static void
continue_child(struct killer *killer, struct child *child)
{
    if (child->pid == 0 || !child->stopped)
        return;
    send_signal(child, SIGCONT);
    child->stopped = false;
    child->continue_s = 0;
    killer->counts.continued++;
}

static void
kill_child(struct child *child)
{
    child->killed = true;
    child->kill_s = 0;
    send_signal(child, SIGKILL);
}

static void
term_child(struct child *child, double now_s, int grace_ms)
{
    child->termed = true;
    child->kill_s = now_s + (grace_ms > 0 ? grace_ms : term_default_ms) / 1e3;
    send_signal(child, SIGTERM);
}

/* Returns whether the child has stopped; it may have ended instead. */
static bool
stop_child(struct killer *killer, struct child *child, int time_ms)
{
    double until_s = bench_limit_s(stop_patience_s);

    send_signal(child, SIGSTOP);
    for (;;) {
        siginfo_t stopped = {0}, ended = {0};

        if (waitid(P_PID, (id_t)child->pid, &stopped, WSTOPPED | WNOHANG) == 0 &&
            stopped.si_pid == child->pid)
            break;
        if (waitid(P_PID, (id_t)child->pid, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            ended.si_pid == child->pid)
            return false;
        if (bench_now_s() > until_s)
            bench_die("process %d does not stop", (int)child->pid);
        race_breathe();
    }
    child->stopped = true;
    child->continue_s = time_ms > 0 ? bench_now_s() + time_ms / 1e3 : 0;
    killer->counts.stopped++;
    return true;
}

static bool
is_fit(const struct child *child)
{
    return child->pid > 0 && !child->killed && !child->termed && !child->stopped;
}

/* A child at random that runs for so long already, or NULL. */
static struct child *
choose(struct killer *killer, int age_min_ms)
{
    double born_s = bench_now_s() - age_min_ms / 1e3;
    struct child *fit[killer_children_max];
    unsigned count = 0;

    for (int i = 0; i < killer->child_count; i++) {
        struct child *child = &killer->children[i];

        if (is_fit(child) && child->started_s <= born_s)
            fit[count++] = child;
    }
    return count > 0 ? fit[race_below(&killer->random, count)] : NULL;
}

static int
between(struct killer *killer, int min, int max)
{
    return max > min ? min + (int)race_below(&killer->random, (unsigned)(max - min + 1)) : min;
}

/* One act of the schedule, if it is time for one and there is somebody to hurt. */
static void
act(struct killer *killer, double now_s)
{
    const struct killer_schedule *schedule = &killer->schedule;
    unsigned kinds = schedule->kill + schedule->stop_cont + schedule->term;
    struct child *child;
    unsigned chosen;

    if (!killer->scheduled || now_s < killer->act_s || kinds == 0)
        return;
    if (schedule->acts_max > 0 && killer->counts.acts >= schedule->acts_max)
        return;
    child = choose(killer, schedule->age_min_ms);
    if (child == NULL) {
        killer->act_s = now_s + 0.002;
        return;
    }
    chosen = race_below(&killer->random, kinds);
    if (chosen < schedule->kill)
        kill_child(child);
    else if (chosen < schedule->kill + schedule->stop_cont)
        (void)stop_child(
            killer, child, between(killer, schedule->stop_min_ms, schedule->stop_max_ms));
    else
        term_child(child, now_s, schedule->term_grace_ms);
    killer->counts.acts++;
    killer->act_s = now_s + between(killer, schedule->pause_min_ms, schedule->pause_max_ms) / 1e3;
}

/* Does to the children what is due. */
static void
tend(struct killer *killer)
{
    double now_s = bench_now_s();

    for (int i = 0; i < killer->child_count; i++) {
        struct child *child = &killer->children[i];

        if (killer->stopping && child->pid > 0 && !child->killed)
            kill_child(child);
        if (child->continue_s > 0 && now_s >= child->continue_s)
            continue_child(killer, child);
        if (child->kill_s > 0 && now_s >= child->kill_s)
            kill_child(child);
        if (child->pid == 0 && child->wanted && now_s >= child->start_s && !killer->stopping)
            start_child(killer, child);
    }
    if (!killer->stopping)
        act(killer, now_s);
}

static void
keep_earlier(double *due_s, double s)
{
    if (s > 0 && (*due_s <= 0 || s < *due_s))
        *due_s = s;
}

/* How long to wait for an end or a wake-up. */
static int
poll_ms(const struct killer *killer)
{
    double due_s = 0, left_s;

    for (int i = 0; i < killer->child_count; i++) {
        const struct child *child = &killer->children[i];

        if (child->pid > 0) {
            keep_earlier(&due_s, child->continue_s);
            keep_earlier(&due_s, child->kill_s);
        } else if (child->wanted) {
            keep_earlier(&due_s, child->start_s > 0 ? child->start_s : bench_now_s());
        }
    }
    if (killer->scheduled &&
        (killer->schedule.acts_max == 0 || killer->counts.acts < killer->schedule.acts_max))
        keep_earlier(&due_s, killer->act_s);
    if (due_s <= 0)
        return -1;
    left_s = due_s - bench_now_s();
    return left_s <= 0 ? 0 : left_s > 3600 ? 3600000 : (int)(left_s * 1e3) + 1;
}

static nfds_t
fill_poll(const struct killer *killer, struct pollfd *fds)
{
    nfds_t count = 1;

    fds[0] = (struct pollfd){.fd = killer->wake, .events = POLLIN};
    for (int i = 0; i < killer->child_count; i++) {
        if (killer->children[i].pid > 0)
            fds[count++] = (struct pollfd){.fd = killer->children[i].pidfd, .events = POLLIN};
    }
    return count;
}

static bool
anybody_runs(const struct killer *killer)
{
    for (int i = 0; i < killer->child_count; i++) {
        if (killer->children[i].pid > 0)
            return true;
    }
    return false;
}

static void *
watch(void *argument)
{
    struct killer *killer = argument;
    struct pollfd fds[killer_children_max + 1];

    lock(killer);
    for (;;) {
        uint64_t woken;
        nfds_t count;
        int timeout;

        reap(killer);
        tend(killer);
        if (pthread_cond_broadcast(&killer->changed) != 0)
            bench_die("cannot tell what the killer did");
        if (killer->stopping && !anybody_runs(killer))
            break;
        count = fill_poll(killer, fds);
        timeout = poll_ms(killer);
        unlock(killer);
        if (poll(fds, count, timeout) < 0 && errno != EINTR)
            bench_die("the killer cannot poll: error %d", errno);
        if (read(killer->wake, &woken, sizeof(woken)) < 0 && errno != EAGAIN)
            bench_die("cannot read the wake-up of the killer: error %d", errno);
        lock(killer);
    }
    unlock(killer);
    return NULL;
}

struct killer *
killer_new(uint64_t seed)
{
    struct killer *killer = race_alloc(1, sizeof(*killer));
    struct race race = {.seed = seed};
    pthread_condattr_t monotonic;
    sigset_t all, old;

    killer->random = race_random(&race, 1);
    killer->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (killer->wake < 0 || pthread_mutex_init(&killer->lock, NULL) != 0 ||
        pthread_condattr_init(&monotonic) != 0 ||
        pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) != 0 ||
        pthread_cond_init(&killer->changed, &monotonic) != 0)
        bench_die("cannot make the killer's lock");
    (void)pthread_condattr_destroy(&monotonic);
    if (sigfillset(&all) != 0 || pthread_sigmask(SIG_SETMASK, &all, &old) != 0 ||
        pthread_create(&killer->thread, NULL, watch, killer) != 0 ||
        pthread_sigmask(SIG_SETMASK, &old, NULL) != 0)
        bench_die("cannot start the killer's thread");
    return killer;
}

void
killer_free(struct killer *killer)
{
    if (killer == NULL)
        return;
    lock(killer);
    killer->stopping = true;
    wake(killer);
    unlock(killer);
    if (pthread_join(killer->thread, NULL) != 0)
        bench_die("cannot join the killer's thread");
    for (int i = 0; i < killer->child_count; i++)
        killer_env_free(killer->children[i].env);
    for (int i = 0; i < killer->program_count; i++)
        killer_program_done(&killer->programs[i]);
    (void)close(killer->wake);
    (void)pthread_cond_destroy(&killer->changed);
    (void)pthread_mutex_destroy(&killer->lock);
    free(killer);
}

int
killer_spawn(struct killer *killer, const struct killer_command *command, int count)
{
    struct killer_program *program;
    int first;

    lock(killer);
    if (count < 1 || count > killer_children_max - killer->child_count ||
        killer->program_count == programs_max)
        bench_die("too many children or commands for the killer");
    program = &killer->programs[killer->program_count++];
    killer_program_init(program, command);
    first = killer->child_count;
    for (int i = first; i < first + count; i++) {
        killer->children[i].program = program;
        killer->children[i].env = killer_env_new(command->env, i);
        killer->children[i].wanted = true;
    }
    killer->child_count += count;
    wake(killer);
    for (int i = first; i < first + count; i++) {
        while (killer->children[i].started_s <= 0)
            (void)wait_change(killer, 0);
    }
    unlock(killer);
    return first;
}

pid_t
killer_pid(struct killer *killer, int child)
{
    pid_t pid;

    lock(killer);
    pid = child_of(killer, child)->pid;
    unlock(killer);
    return pid;
}

/* The lock is held. Waits until the process that the child is now has ended. */
static void
wait_end(struct killer *killer, const struct child *child)
{
    pid_t pid = child->pid;
    double started_s = child->started_s;

    wake(killer);
    while (child->pid == pid && child->started_s <= started_s)
        (void)wait_change(killer, 0);
}

/* The lock is held. */
static bool
hit(struct killer *killer, struct child *child, enum killer_act kind, int time_ms)
{
    if (child == NULL || !is_fit(child))
        return false;
    switch (kind) {
    case KILLER_STOP_CONT:
        if (!stop_child(killer, child, time_ms))
            return false;
        wake(killer);
        return true;
    case KILLER_TERM:
        term_child(child, bench_now_s(), time_ms);
        break;
    case KILLER_KILL:
        kill_child(child);
        break;
    }
    wait_end(killer, child);
    return true;
}

bool
killer_hit(struct killer *killer, int child, enum killer_act kind, int time_ms)
{
    bool done;

    lock(killer);
    done = hit(killer, child_of(killer, child), kind, time_ms);
    unlock(killer);
    return done;
}

int
killer_kill_random(struct killer *killer, enum killer_act kind, int time_ms)
{
    struct child *child;
    bool done;

    lock(killer);
    child = choose(killer, 0);
    done = hit(killer, child, kind, time_ms);
    unlock(killer);
    return done ? (int)(child - killer->children) : -1;
}

void
killer_continue(struct killer *killer, int child)
{
    lock(killer);
    continue_child(killer, child_of(killer, child));
    unlock(killer);
}

long
killer_roll(struct killer *killer, int time_ms)
{
    long overdue;

    lock(killer);
    overdue = killer->counts.overdue;
    for (int i = 0; i < killer->child_count; i++) {
        struct child *child = &killer->children[i];

        if (!hit(killer, child, KILLER_TERM, time_ms))
            continue;
        while (child->wanted && child->pid == 0)
            (void)wait_change(killer, 0);
    }
    overdue = killer->counts.overdue - overdue;
    unlock(killer);
    return overdue;
}

void
killer_start(struct killer *killer, const struct killer_schedule *schedule)
{
    lock(killer);
    killer->schedule = *schedule;
    killer->scheduled = true;
    killer->counts.acts = 0;
    killer->act_s =
        bench_now_s() + between(killer, schedule->pause_min_ms, schedule->pause_max_ms) / 1e3;
    wake(killer);
    unlock(killer);
}

void
killer_stop(struct killer *killer)
{
    lock(killer);
    killer->scheduled = false;
    for (int i = 0; i < killer->child_count; i++)
        continue_child(killer, &killer->children[i]);
    unlock(killer);
}

/* The lock is held. Nothing is started any more. */
static void
end_restarts(struct killer *killer)
{
    killer->scheduled = false;
    for (int i = 0; i < killer->program_count; i++)
        killer->programs[i].restart = false;
    for (int i = 0; i < killer->child_count; i++)
        killer->children[i].wanted = false;
}

bool
killer_wait_all(struct killer *killer, int timeout_ms)
{
    double until_s = bench_now_s() + timeout_ms / 1e3;
    bool ended;

    lock(killer);
    end_restarts(killer);
    for (int i = 0; i < killer->child_count; i++)
        continue_child(killer, &killer->children[i]);
    while (anybody_runs(killer) && wait_change(killer, until_s))
        continue;
    ended = !anybody_runs(killer);
    unlock(killer);
    return ended;
}

long
killer_end_all(struct killer *killer, int time_ms)
{
    double now_s = bench_now_s();
    long overdue;

    lock(killer);
    end_restarts(killer);
    overdue = killer->counts.overdue;
    for (int i = 0; i < killer->child_count; i++) {
        struct child *child = &killer->children[i];

        if (child->pid > 0 && !child->killed && !child->termed)
            term_child(child, now_s, time_ms);
        continue_child(killer, child);
    }
    wake(killer);
    while (anybody_runs(killer))
        (void)wait_change(killer, 0);
    overdue = killer->counts.overdue - overdue;
    unlock(killer);
    return overdue;
}

struct killer_counts
killer_counts(struct killer *killer)
{
    struct killer_counts counts;

    lock(killer);
    counts = killer->counts;
    unlock(killer);
    return counts;
}
