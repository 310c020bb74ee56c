/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker whose handlers are programs. One thread and one loop do everything. The loop takes runs from the library and starts a process
 * for each. It reads what the processes write, and answers the calls of scripts among them (script_call.h). It waits for their end, and
 * handles signals. A run that is being executed is a job (job.h).
 */
#ifndef PW_CLI_EXEC_EXEC_H
#define PW_CLI_EXEC_EXEC_H

#include "base/list.h"
#include "cli/process/guard.h"

#include <pawl/pawl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A descriptor that the loop watches. ready may free the object that contains the watch. */
struct watch {
    int fd; /* -1: none */
    void (*ready)(struct watch *watch);
};

/* The owner of a branch whose call returned PAWL_PENDING: the context of each branch points to a waiter. */
struct waiter {
    void (*go_on)(struct waiter *waiter);
};

enum {
    EXEC_DIRECTORY_SIZE = 80
};

struct sandbox;

struct exec {
    pawl_worker *worker;
    struct guard guard;
    int64_t guard_at_us; /* no other guard is started before that */
    int poll_fd;
    struct watch signals;
    struct watch claims;
    struct pw_list jobs;
    char directory[EXEC_DIRECTORY_SIZE]; /* of sockets; no other user can enter it */
    const struct sandbox *sandbox;       /* NULL: none */
    char **undos; /* handlers: name, command, ...; ends with NULL. NULL: none */
    int64_t payload_max;
    int64_t files_before;   /* how many files its programs may have open */
    bool sole_parent;       /* this worker adopted every child that it did not start */
    bool one_script;        /* pawl run-script: the output is text, and a user watches it */
    bool undoing;           /* an undo was started */
    bool draining;          /* a signal has asked for it, or the run of the script has ended */
    bool drained;           /* the library returns no more runs */
    bool giving_back;       /* processes are ended, and their runs released */
    bool left;              /* the worker has left; all its runs are released */
    int64_t drain_until_us; /* then the remaining runs are released */
    int64_t drain_timeout_ms;
    int64_t tick_at_us; /* when jobs are checked again */
    unsigned ended;     /* number of jobs so far */
    unsigned failed;    /* failed attempts and deferrals among them */
};

struct invocation;

/* Applies the options --concurrency N and --set SETTING=VALUE. Returns EXIT_OK, or prints why not and returns the exit code. */
int exec_settings(const struct invocation *invocation, pawl_config *config);

/*
 * Makes a worker with these settings and blocks the signals that end programs. The caller adds handlers, then calls exec_start(). Both
 * return EXIT_OK, or print why not and return the exit code.
 */
int exec_init(struct exec *exec, const pawl_config *config);
int exec_start(struct exec *exec);

/* Executes one turn of the loop, of at most timeout_ms. Returns false if the worker is drained and no job is left. */
bool exec_turn(struct exec *exec, int timeout_ms);

/* Claims no more runs. The programs that run continue to their end, for at most drain_timeout. */
void exec_drain(struct exec *exec);

/* Ends the programs that run, at once or with five seconds to clean up, and releases their runs. */
void exec_give_back(struct exec *exec, bool at_once);

/* Leaves. Frees everything, even after an exec_init() that failed. Returns the exit code. */
int exec_done(struct exec *exec);

/* --- for jobs and calls --- */

void exec_watch(struct exec *exec, struct watch *watch, bool also_for_writing);
void exec_unwatch(struct exec *exec, struct watch *watch); /* closes it, too */
void exec_pause(struct exec *exec, struct watch *watch);   /* until exec_watch() is called again */

/*
 * Makes sure that the directory exists and belongs to this user: cleaners of temporary files remove what looks unused. Returns false with
 * errno.
 */
bool exec_has_directory(struct exec *exec);

#endif
