/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/process/guard.h"

#include "cli/process/process.h"
#include "cli/process/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    GROUPS_MAX = 65536 /* 4,096 runs at most, each with a few steps at once */
};

/* A process group that has begun; a negative number is a group that has ended. */
struct word {
    int32_t group;
};

static void
note_word(int32_t *groups, size_t *count, int32_t group)
{
    if (group > 0 && *count < GROUPS_MAX) {
        groups[(*count)++] = group;
        return;
    }
    for (size_t i = 0; i < *count; i++)
        if (groups[i] == -group) {
            groups[i] = groups[--*count];
            return;
        }
}

/* The loop of the guard. It has only the pipe, the directory's name and the groups that the worker has sent. */
static void
watch(int fd, const char *directory)
{
    static int32_t groups[GROUPS_MAX];
    size_t count = 0;
    struct word word;
    ssize_t got;

    while ((got = read(fd, &word, sizeof(word))) != 0) {
        if (got == (ssize_t)sizeof(word))
            note_word(groups, &count, word.group);
        else if (errno != EINTR)
            break;
    }
    /* guard:guard_kills */
    for (size_t i = 0; i < count; i++)
        (void)kill(-groups[i], SIGKILL);
    tree_remove(directory);
    _exit(0);
}

/* Becomes the guard, which ends only when the worker ends. It keeps no terminal, pipe or directory of another process in use. */
static void
become_guard(int fd, const char *directory)
{
    sigset_t all;

    (void)sigfillset(&all);
    (void)sigprocmask(SIG_BLOCK, &all, NULL);
    (void)setsid();
    /* killall -9 pawl is meant for workers; the guard must survive it, because it cleans up after them. */
    process_take_name("pawl-guard");
    if (dup2(fd, 0) < 0 || close_range(1, ~0U, 0) != 0)
        _exit(1);
    watch(0, directory);
}

bool
guard_start(struct guard *guard, const char *directory)
{
    int ends[2];

    *guard = (struct guard){.pipe = -1, .pid = -1};
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    /*
     * The worker may have threads by now. The functions that the guard calls work after such a fork, even malloc(), for which glibc ensures
     * it.
     */
    guard->pid = fork();
    if (guard->pid == 0)
        become_guard(ends[0], directory);
    (void)close(ends[0]);
    guard->pipe = ends[1];
    if (guard->pid > 0)
        return true;
    (void)close(ends[1]);
    guard->pipe = -1;
    return false;
}

void
guard_dismiss(struct guard *guard)
{
    if (guard->pipe < 0)
        return;
    /* Kill it before the pipe is closed: at the end of the pipe the guard would kill the groups. */
    (void)kill(guard->pid, SIGKILL);
    (void)waitpid(guard->pid, NULL, 0);
    (void)close(guard->pipe);
    *guard = (struct guard){.pipe = -1, .pid = -1};
}

static void
tell(const struct guard *guard, int32_t group)
{
    struct word word = {group};

    /* If the guard was killed, no process reads the pipe. SIGPIPE is ignored by then. */
    (void)!write(guard->pipe, &word, sizeof(word));
}

void
guard_add(const struct guard *guard, pid_t group)
{
    tell(guard, group);
}

void
guard_remove(const struct guard *guard, pid_t group)
{
    tell(guard, -group);
}

void
guard_stop(struct guard *guard)
{
    (void)close(guard->pipe);
    (void)waitpid(guard->pid, NULL, 0);
}
