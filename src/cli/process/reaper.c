/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/process/reaper.h"

#include "base/time.h"
#include "cli/process/children.h"
#include "cli/process/process.h"
#include "cli/sandbox/sandbox.h"
#include "cli/sandbox/sandbox_supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    /* A process that has not ended this long after SIGKILL hangs in the kernel. */
    ENDING_US = 5000000,
    PAUSE_NS = 5000000,
};

struct reaper {
    pid_t program;
    bool ended; /* then status is that of waitpid() */
    int status;
    int signals;
    int ready; /* of struct reaper_task */
    struct supervisor supervisor;
};

/* Waits for all children that have ended. Returns false if no child is left. */
static bool
reap(struct reaper *reaper)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid != reaper->program)
            continue;
        reaper->ended = true;
        reaper->status = status;
    }
    return pid == 0;
}

/* Kills everything, generation after generation, until no child is left that the reaper may signal. */
static void
end_all(struct reaper *reaper)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    int64_t until_us = pw_now_us() + ENDING_US;
    size_t killed = 1;

    (void)close(reaper->ready);
    (void)kill(-getpid(), SIGKILL); /* the group of the program; the reaper has left it */
    while (reap(reaper) && killed > 0 && pw_now_us() < until_us) {
        sigset_t child;

        /* guard:survivors */
        killed = children_kill(NULL, NULL);
        (void)sigemptyset(&child);
        (void)sigaddset(&child, SIGCHLD);
        (void)sigtimedwait(&child, NULL, &pause);
    }
}

/* Exits as the program did; the worker sees this status. */
static _Noreturn void
exit_like(const struct reaper *reaper)
{
    const struct sigaction by_default = {.sa_handler = SIG_DFL};
    int number = !reaper->ended       ? SIGKILL
        : WIFSIGNALED(reaper->status) ? WTERMSIG(reaper->status)
                                      : 0;
    sigset_t none;

    if (number == 0)
        _exit(WEXITSTATUS(reaper->status));
    (void)sigemptyset(&none);
    (void)sigaction(number, &by_default, NULL);
    (void)kill(getpid(), number);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    _exit(128 + number);
}

/* Returns true if the worker wants everything killed, or is dead. */
static bool
take_signal(struct reaper *reaper)
{
    struct signalfd_siginfo info;

    if (read(reaper->signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
        return false;
    if (info.ssi_signo == SIGCHLD)
        (void)reap(reaper);
    if (info.ssi_signo == SIGTERM) {
        (void)kill(-getpid(), SIGTERM);
        /* The program may have left its group. No other process can have its number before the reaper waits for it. */
        if (!reaper->ended && getpgid(reaper->program) != getpid())
            (void)kill(reaper->program, SIGTERM);
    }
    return info.ssi_signo == (uint32_t)REAPER_KILL;
}

/* Waits until the program has ended, or the worker wants everything killed. */
static void
watch(struct reaper *reaper)
{
    bool kill_all = false;

    while (!reaper->ended && !kill_all) {
        struct pollfd fds[] = {{.fd = reaper->signals, .events = POLLIN},
            {.fd = reaper->supervisor.listener, .events = POLLIN}};

        if (poll(fds, 2, -1) < 0)
            continue;
        if (fds[0].revents != 0)
            kill_all = take_signal(reaper);
        else if ((fds[1].revents & POLLIN) != 0)
            supervisor_answer(&reaper->supervisor);
        else if (fds[1].revents != 0)
            supervisor_close(&reaper->supervisor);
    }
}

static _Noreturn void
fail(const struct reaper_task *task, pid_t program)
{
    int why = errno;

    (void)!write(task->ready, &why, sizeof(why));
    if (program > 0)
        (void)kill(program, SIGKILL);
    _exit(127);
}

/* Opens a descriptor for the signals that the reaper handles. All signals that can be blocked are blocked already. */
static bool
open_signals(struct reaper *reaper)
{
    sigset_t wanted;

    (void)sigemptyset(&wanted);
    (void)sigaddset(&wanted, SIGCHLD);
    (void)sigaddset(&wanted, SIGTERM);
    (void)sigaddset(&wanted, REAPER_KILL);
    reaper->signals = signalfd(-1, &wanted, SFD_CLOEXEC);
    return reaper->signals >= 0;
}

/* Closes what only the program needs, such as its pipes. last is the highest of its descriptors. */
static bool
leave_descriptors(int last)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    return null >= 0 && dup2(null, 0) == 0 && dup2(null, 1) == 1 && dup2(null, 2) == 2 &&
        close(null) == 0 && close_range(3, (unsigned)last, 0) == 0;
}

_Noreturn void
reaper_run(const struct reaper_task *task)
{
    const bool on = task->sandbox != NULL && task->sandbox->on;
    struct reaper reaper = {.ready = task->ready, .supervisor = {.listener = -1}};
    int pair[2] = {-1, -1};
    const int no_errno = 0;

    /* This must be first: the options of the sandbox are words of the command line, which is overwritten next. */
    if (on)
        supervisor_init(&reaper.supervisor, task->sandbox, task->temporary);
    process_take_name("pawl-reaper");
    (void)prctl(PR_SET_PDEATHSIG, REAPER_KILL);
    if (getppid() != task->worker)
        _exit(127);
    /* guard:sandbox_reaper */
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0 || setpgid(0, 0) != 0 ||
        (on &&
            (!sandbox_drop_capabilities() ||
                socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)))
        fail(task, -1);
    reaper.program = fork();
    if (reaper.program == 0) {
        if (pair[0] >= 0)
            (void)close(pair[0]);
        task->become(task->program, pair[1]);
    }
    /* From here on a signal to the group reaches the program and not the reaper. */
    if (reaper.program < 0 || setpgid(0, getpgid(task->worker)) != 0)
        fail(task, reaper.program);
    (void)!write(task->ready, &no_errno, sizeof(no_errno));
    if (pair[1] >= 0)
        (void)close(pair[1]);
    if (leave_descriptors(task->ready - 1) && open_signals(&reaper)) {
        if (on)
            supervisor_receive(&reaper.supervisor, pair[0]);
        watch(&reaper);
    }
    end_all(&reaper);
    exit_like(&reaper);
}
