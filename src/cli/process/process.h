/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that a worker executes: started in a process group of its own, with an environment that has no way to the database. Its parent is
 * its reaper (reaper.h), which is the child of the worker.
 */
#ifndef PW_CLI_PROCESS_PROCESS_H
#define PW_CLI_PROCESS_PROCESS_H

#include <pawl/pawl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    PROCESS_NAMES_MAX = 16
};

struct sandbox;

/* What is added to the environment, and what else is special. */
struct process_environment {
    const char *names[PROCESS_NAMES_MAX];
    const char *values[PROCESS_NAMES_MAX];
    size_t count;
    int64_t files;                 /* that the program may have open; 0: as many as we may */
    const struct sandbox *sandbox; /* what else it may not have or do; NULL: nothing */
    int rules;                     /* what sandbox_open() has made of it, or -1 */
    const char *temporary;         /* the program's own directory in a sandbox */
};

void process_set(struct process_environment *environment, const char *name, const char *value);

struct process {
    pid_t
        pid; /* of its reaper, and the number of its process group; it exits as the program does */
    int out; /* what it writes; both do not block */
    int err;
    int ended; /* a pipe that the reaper closes when the program has ended, before it kills the other processes; -1: none */
};

/*
 * Starts words, of which the first is looked for in PATH. input is what it reads; NULL data: nothing. PG*, PAWL_DATABASE_URL and old values of
 * PAWL_* do not reach it; PATH gets the directory of this program at its end, so that scripts find pawl. False, with errno: the program was
 * not started.
 */
bool process_start(struct process *process, char *const *words, pawl_bytes input,
    const struct process_environment *environment);

/* Returns true if the program has ended, even if its reaper still kills what the program has left running. */
bool process_has_ended(const struct process *process);

/* Closes what is left of a process that was waited for. out and err are the caller's to close. */
void process_done(struct process *process);

/* Sends SIGTERM to the program and its process group, or with SIGKILL ends it and everything that it has started. */
void process_signal(const struct process *process, int number);

/*
 * Lets this process open as many files as it is allowed to, and returns how many that is. before gets how many it was, which is what to start
 * programs with: some count on few, as those do that close all that they could have open.
 */
int64_t process_raise_files(int64_t *before);

/* Whether a process was started by another. False if that cannot be known: there is none, or no /proc. */
bool process_is_child(pid_t child, pid_t parent);
/* The same of its children, their children and so on. */
bool process_descends(pid_t child, pid_t ancestor);

/* The exit code, as shells count: 128 and the number for a signal. status is that of waitpid(). */
int process_code(int status);

/* Gives this process another name, in place of its command line. */
void process_take_name(const char *name);

/* PATH for programs that are started: ours, and behind it where this program is, so that they find it. Malloced; NULL: out of memory. */
char *process_path(void);

#endif
