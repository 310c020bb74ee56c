/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reaper: the parent of one program that a worker executes, in a separate process. It adopts every process that the program leaves
 * running, even in another process group or session, and ends it with the program. It supervises the calls of a program in a sandbox
 * (sandbox_supervisor.h). Its name is pawl-reaper.
 */
#ifndef PW_CLI_PROCESS_REAPER_H
#define PW_CLI_PROCESS_REAPER_H

#include <signal.h>
#include <sys/types.h>

enum {
    /* Signals to a reaper: it passes SIGTERM on to the program and its process group; with this one it kills all that it has adopted. */
    REAPER_KILL = SIGUSR1
};

struct sandbox;

struct reaper_task {
    pid_t worker; /* when it dies, the reaper kills everything */
    int ready; /* a pipe that gets 0 when the program has begun, or the errno of what failed; no descriptor above it is open. The reaper
                * closes it when the program has ended, before it kills the processes that the program has left running. */
    const struct sandbox *sandbox;
    const char *temporary; /* the directory of a program in a sandbox */
    /* Called in the new process of the program; does not return. supervisor is the socket for sandbox_enter(), or -1. */
    void (*become)(const void *program, int supervisor);
    const void *program;
};

/*
 * Called in a new process with all signals blocked and only descriptors 0, 1 and 2 of the program and those that become needs. Exits as the
 * program does. The program's process group has the number of the reaper.
 */
_Noreturn void reaper_run(const struct reaper_task *task);

#endif
