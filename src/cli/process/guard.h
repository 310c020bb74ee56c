/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens to the processes of a worker that dies without a word: a small process beside it, the guard, waits for that, kills the process
 * groups that the worker had told it about, and removes the directory of its sockets and temporary files. Its name is pawl-guard.
 */
#ifndef PW_CLI_PROCESS_GUARD_H
#define PW_CLI_PROCESS_GUARD_H

#include <stdbool.h>
#include <sys/types.h>

struct guard {
    int pipe; /* it dies when this is closed; -1: there is none */
    pid_t pid;
};

/* directory is what it removes, as it is named now. False, with errno: there is no guard, and what it is told is lost. */
bool guard_start(struct guard *guard, const char *directory);

/* Ends it, or what is left of one that was killed, without its doing anything. */
void guard_dismiss(struct guard *guard);

/* A process group has begun, or has ended and was not waited for yet, so that its number is no other's. */
void guard_add(const struct guard *guard, pid_t group);
void guard_remove(const struct guard *guard, pid_t group);

/* Removes the directory, and waits for the guard to end. */
void guard_stop(struct guard *guard);

#endif
