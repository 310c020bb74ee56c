/* SPDX-License-Identifier: Apache-2.0 */
/* A run that was claimed, and the process that executes it. For a run that is rolling back, the processes that execute its undos. */
#ifndef PW_CLI_EXEC_JOB_H
#define PW_CLI_EXEC_JOB_H

#include "base/buf.h"
#include "base/list.h"
#include "cli/exec/exec.h"
#include "cli/process/process.h"

enum {
    JOB_PATH_SIZE = 108, /* of a socket */
    JOB_LINE_MAX = 4096, /* of a note; a longer line becomes two */
    JOB_LAST_MAX = 200,  /* of the line that a failure quotes */
    JOB_CODES = 256,     /* number of exit codes of a process */
};

enum job_stage {
    JOB_EXECUTING,
    JOB_UNDO_NEXT,   /* asks for the next undo */
    JOB_UNDO_RECORD, /* records the outcome of the undo */
    JOB_DEFERRED,    /* leaves the run to another worker, or to this worker later */
};

struct job {
    struct waiter waiter; /* of the main branch */
    struct pw_list link;
    struct exec *exec;
    pawl_run *run;
    enum job_stage stage;

    struct process process;
    bool alive;
    bool undoing;
    int code;       /* the exit code of the process */
    bool signalled; /* it did not exit: a signal has ended it */
    struct watch out;
    struct watch err;
    struct watch door; /* the socket to which calls of the script connect */
    bool door_shut;    /* no calls are accepted for the moment */
    char path[JOB_PATH_SIZE];
    char temporary[JOB_PATH_SIZE]; /* a directory, for a program in a sandbox */
    struct pw_buf output;          /* its failure shows that the output is too large */
    char line[JOB_LINE_MAX + 1];
    size_t line_size;
    char last_line[JOB_LAST_MAX + 1];

    struct pw_list calls;
    pawl_run **idle; /* duplicates of the run handle that the next call can use */
    size_t idle_count;
    struct value *values;
    bool suspended; /* a call of the script waits: the run continues later */
    /* Since the last success, a call was answered with a permanent failure and this exit code. */
    bool failed_with[JOB_CODES];
    bool mistaken;          /* the last call was invalid, and is so each time */
    pawl_status verdict;    /* why the worker ends the process; PAWL_OK: its exit code decides */
    int64_t quiet_since_us; /* when the script was last answered */
    int64_t kill_at_us;     /* INT64_MAX: not yet */
    int64_t retry_after_ms; /* that the program asked for, if it fails; -1: none */
};

/* The undo handler that every worker with programs has: its argument is a command line. --undo adds other handlers. */
extern const char job_undo_handler[];

/* A value that a script has set. */
struct value {
    struct value *next;
    char *name;
    char *text;
};

/* Takes over a run that was claimed, and starts its process. */
void job_start(struct exec *exec, pawl_run *run);

/* Handles the end of the process. status is that of waitpid(). */
void job_exited(struct job *job, int status);

/* Ends the process with SIGTERM, and five seconds later with SIGKILL. The run ends with verdict. */
void job_end(struct job *job, pawl_status verdict);

/* Enforces the time limits of the job and its steps, and checks whether the run continues. May free the job. */
void job_tick(struct job *job, int64_t now_us);

/* Passes the process groups of the job to a new guard. */
void job_tell_guard(const struct job *job);

/*
 * Sets the delay of the next attempt, in case the command of the step with this key fails, or the program if key is NULL. Returns false if
 * no such step is being executed.
 */
bool job_retry_after(struct job *job, const char *key, int64_t ms);

/* Sends a signal to all process groups of the job. */
void job_signal(struct job *job, int number);

/* Finishes the run if its process has ended and no call is pending. May free the job. */
void job_settle(struct job *job);

/* Finishes the run, and frees the job. */
void job_finish(struct job *job, pawl_status status);

#endif
