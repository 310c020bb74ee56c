/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guard: a small process that cleans up after a worker that was killed. When the worker ends, the guard kills the process groups that
 * the worker had sent it. It then removes the directory of the worker's sockets and temporary files. Its name is pawl-guard.
 */
#ifndef PW_CLI_PROCESS_GUARD_H
#define PW_CLI_PROCESS_GUARD_H

#include <stdbool.h>
#include <sys/types.h>

struct guard {
    int pipe; /* the guard ends when this is closed; -1: there is no guard */
    pid_t pid;
};

/*
 * Starts a guard, which removes directory under its current name. Returns false with errno if there is no guard; groups that are added then
 * are lost.
 */
bool guard_start(struct guard *guard, const char *directory);

/* Ends the guard without its cleanup, or waits for a guard that was killed. */
void guard_dismiss(struct guard *guard);

/*
 * Reports to the guard that a process group has begun, or has ended. Call guard_remove() before waiting for the process, while no other
 * process can have its number.
 */
void guard_add(const struct guard *guard, pid_t group);
void guard_remove(const struct guard *guard, pid_t group);

/* Closes the pipe, so that the guard removes the directory, and waits for its end. */
void guard_stop(struct guard *guard);

#endif
