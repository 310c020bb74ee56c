/* SPDX-License-Identifier: Apache-2.0 */
/* A run that was claimed, and the process that executes it; or, of a run that is rolling back, the process that executes one undo after another. */
#ifndef PW_CLI_EXEC_JOB_H
#define PW_CLI_EXEC_JOB_H

#include "base/buf.h"
#include "base/list.h"
#include "cli/exec/exec.h"
#include "cli/process/process.h"

enum {
    JOB_PATH_SIZE = 108, /* of a socket */
    JOB_LINE_MAX = 4096, /* of a note; what is longer becomes two */
    JOB_LAST_MAX = 200,  /* of the line that a failure quotes */
    JOB_CODES = 256,     /* that a process can exit with */
};

enum job_stage {
    JOB_EXECUTING,
    JOB_UNDO_NEXT,   /* asks for the next undo */
    JOB_UNDO_RECORD, /* records what it came to */
    JOB_DEFERRED,    /* leaves the run to another worker, or to this one later */
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
    int code;       /* that the process exited with */
    bool signalled; /* it did not exit: a signal has ended it */
    struct watch out;
    struct watch err;
    struct watch door; /* where scripts knock */
    bool door_shut;    /* for a moment nobody is let in */
    char path[JOB_PATH_SIZE];
    char temporary[JOB_PATH_SIZE]; /* a directory, of a program in a sandbox */
    struct pw_buf output;          /* its failure says that it was too much */
    char line[JOB_LINE_MAX + 1];
    size_t line_size;
    char last_line[JOB_LAST_MAX + 1];

    struct pw_list calls;
    pawl_run **idle; /* duplicates that can make the next call */
    size_t idle_count;
    struct value *values;
    bool suspended; /* a call of the script waits: the run goes on later */
    bool failed_with
        [JOB_CODES]; /* since the last success, calls have answered with this code that they failed for good */
    bool mistaken;          /* the last call made no sense, and will not next time */
    pawl_status verdict;    /* why we end it; PAWL_OK: we do not, and its exit code decides */
    int64_t quiet_since_us; /* when the script was last answered */
    int64_t kill_at_us;     /* INT64_MAX: not yet */
    int64_t retry_after_ms; /* what the program asked for, should it fail; -1: nothing */
};

/* The only undo handler of a worker that executes programs: its argument is a command line. */
extern const char job_undo_handler[];

/* A value that a script has set. */
struct value {
    struct value *next;
    char *name;
    char *text;
};

/* Takes over a run that was claimed. */
void job_start(struct exec *exec, pawl_run *run);

/* Its process has ended and can be waited for. */
void job_exited(struct job *job, int status);

/* Ends the process with a signal that it can catch, and later with one that it cannot; the run ends with verdict. */
void job_end(struct job *job, pawl_status verdict);

/* Looks at the clock and at whether the run goes on. May free the job. */
void job_tick(struct job *job, int64_t now_us);

/* Tells a new guard what process groups it has. */
void job_tell_guard(const struct job *job);

/*
 * Should the command of the step with this key fail, or the program if key is NULL, the next attempt is made after so long. False: no such
 * step is being executed.
 */
bool job_retry_after(struct job *job, const char *key, int64_t ms);

/* Sends a signal to all its process groups. */
void job_signal(struct job *job, int number);

/* Finishes the run, if nothing is under way any more. May free the job. */
void job_settle(struct job *job);

/* Finishes the run, and frees the job. */
void job_finish(struct job *job, pawl_status status);

#endif
