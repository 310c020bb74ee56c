/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/process/children.h"

#include "base/text.h"
#include "cli/process/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

struct killing {
    bool (*spared)(const void *context, pid_t child);
    const void *context;
    size_t count;
};

bool
children_exist(void)
{
    siginfo_t info = {0};

    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

/*
 * No other process can have the number of a child until this process waits for the child. A descendant founded every session other than
 * ours, so the groups of that session contain only descendants. One signal to the group reaches them all, even those that fork at this
 * moment.
 */
static void
kill_one(struct killing *killing, pid_t child)
{
    pid_t group;

    if (killing->spared != NULL && killing->spared(killing->context, child))
        return;
    group = getpgid(child);
    if (group > 1 && getsid(child) != getsid(0))
        (void)kill(-group, SIGKILL);
    killing->count += kill(child, SIGKILL) == 0;
}

/* Reads the numbers in /proc/self/task/THREAD/children. False: this kernel has no such file. */
static bool
kill_children_of(struct killing *killing, const char *thread)
{
    char path[60];
    char text[4096];
    ssize_t size;
    int64_t number = 0;
    int fd;

    (void)snprintf(path, sizeof(path), "/proc/self/task/%.20s/children", thread);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    while ((size = read(fd, text, sizeof(text))) > 0)
        for (ssize_t i = 0; i < size; i++) {
            if (text[i] >= '0' && text[i] <= '9' && number < INT_MAX) {
                number = number * 10 + (text[i] - '0');
                continue;
            }
            if (number > 1 && number <= INT_MAX)
                kill_one(killing, (pid_t)number);
            number = 0;
        }
    (void)close(fd);
    return true;
}

/* Calls the function for each entry of a directory that is a number, until it returns false. */
static bool
for_each_number(const char *path, struct killing *killing,
    bool (*function)(struct killing *killing, const char *name))
{
    DIR *directory = opendir(path);
    const struct dirent *entry;
    bool all = directory != NULL;

    while (all && (entry = readdir(directory)) != NULL)
        if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9')
            all = function(killing, entry->d_name);
    if (directory != NULL)
        (void)closedir(directory);
    return all;
}

/* Called for every process of the machine. */
static bool
kill_if_child(struct killing *killing, const char *name)
{
    int64_t number;

    if (pw_parse_i64(name, 2, INT_MAX, &number) && process_is_child((pid_t)number, getpid()))
        kill_one(killing, (pid_t)number);
    return true;
}

size_t
children_kill(bool (*spared)(const void *context, pid_t child), const void *context)
{
    struct killing killing = {spared, context, 0};

    if (!for_each_number("/proc/self/task", &killing, kill_children_of))
        (void)for_each_number("/proc", &killing, kill_if_child);
    return killing.count;
}
