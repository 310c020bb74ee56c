/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that a worker executes: started in a separate process group, with an environment that does not lead to the database. Its parent
 * is its reaper (reaper.h), which is a child of the worker.
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

/* The variables that are added to the program's environment, and its limits. */
struct process_environment {
    const char *names[PROCESS_NAMES_MAX];
    const char *values[PROCESS_NAMES_MAX];
    size_t count;
    int64_t files;                 /* that the program may have open; 0: as many as this process */
    const struct sandbox *sandbox; /* its other limits; NULL: none */
    int rules;                     /* the descriptor of sandbox_open(), or -1 */
    const char *temporary;         /* the program's own directory in a sandbox */
};

void process_set(struct process_environment *environment, const char *name, const char *value);

struct process {
    pid_t
        pid; /* of its reaper, and the number of its process group; it exits as the program does */
    int out; /* its output and its errors; both descriptors do not block */
    int err;
    int ended; /* a pipe that the reaper closes when the program has ended, before it kills the other processes; -1: none */
};

/*
 * Starts words, of which the first is looked for in PATH. input is its standard input; NULL data: /dev/null. PG*, PAWL_DATABASE_URL and old
 * values of PAWL_* do not reach it. PATH gets the directory of this program at its end, so that scripts find pawl. Returns false with errno
 * if the program was not started.
 */
bool process_start(struct process *process, char *const *words, pawl_bytes input,
    const struct process_environment *environment);

/* Returns true if the program has ended, even if its reaper still kills what the program has left running. */
bool process_has_ended(const struct process *process);

/* Closes the remaining descriptor of a process that was waited for. The caller closes out and err. */
void process_done(struct process *process);

/* Sends SIGTERM to the program and its process group. With SIGKILL, ends the program and everything that it has started. */
void process_signal(const struct process *process, int number);

/*
 * Raises the limit of open files of this process as far as it may, and returns the new limit. Sets before to the old limit, with which to
 * start programs. Some programs rely on a low limit, such as those that close all possible descriptors.
 */
int64_t process_raise_files(int64_t *before);

/* Returns true if a process is a child of another. Returns false if that is unknown: there is no such process, or no /proc. */
bool process_is_child(pid_t child, pid_t parent);
/* The same for its children, their children and so on. */
bool process_descends(pid_t child, pid_t ancestor);

/* Returns the exit code as shells count it: 128 plus its number for a signal. status is that of waitpid(). */
int process_code(int status);

/* Gives this process another name, in place of its command line. */
void process_take_name(const char *name);

/*
 * Returns the PATH for programs: that of this process, followed by the directory of this program, so that they find it. Malloced; NULL: out
 * of memory.
 */
char *process_path(void);

#endif
