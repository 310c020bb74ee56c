/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens to the processes of a worker that dies without a word: a small process beside it, the guard, waits for that, kills the process
 * groups that the worker had told it about, and removes the directory of its sockets and temporary files.
 */
#ifndef PW_CLI_GUARD_H
#define PW_CLI_GUARD_H

#include <stdbool.h>
#include <sys/types.h>

struct guard {
    int pipe; /* it dies when this is closed */
    pid_t pid;
};

/* Before there are threads or connections. directory is kept. False, with errno. */
bool guard_start(struct guard *guard, const char *directory);

/* A process group has begun, or has ended and was not waited for yet, so that its number is no other's. */
void guard_add(const struct guard *guard, pid_t group);
void guard_remove(const struct guard *guard, pid_t group);

/* Removes the directory, and waits for the guard to end. */
void guard_stop(struct guard *guard);

#endif
