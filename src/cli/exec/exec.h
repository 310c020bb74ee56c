/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker whose handlers are programs. One thread, one loop: it takes runs from the library, starts a process for each, listens to what the
 * processes write and to what the scripts among them ask for (script_call.h), waits for their end, and reacts to signals. A run that is being
 * executed is a job (job.h).
 */
#ifndef PW_CLI_EXEC_EXEC_H
#define PW_CLI_EXEC_EXEC_H

#include "base/list.h"
#include "cli/process/guard.h"

#include <pawl/pawl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A descriptor that the loop watches. ready may free what the watch is part of. */
struct watch {
    int fd; /* -1: none */
    void (*ready)(struct watch *watch);
};

/* What a branch that was PAWL_PENDING belongs to: the context of each branch points to one. */
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
    int64_t guard_at_us; /* before that no other is started */
    int poll_fd;
    struct watch signals;
    struct watch claims;
    struct pw_list jobs;
    char directory[EXEC_DIRECTORY_SIZE]; /* of sockets; nobody else may look into it */
    const struct sandbox *sandbox;       /* NULL: none */
    char **undos; /* handlers: name, command, ...; ends with NULL. NULL: none */
    int64_t payload_max;
    int64_t files_before;   /* how many its programs may have open */
    bool sole_parent;       /* every child that is not known was adopted from a reaper that died */
    bool one_script;        /* pawl run-script: output is text, and people look on */
    bool draining;          /* a signal has come, or the library says so */
    bool drained;           /* there will be no more runs */
    bool giving_back;       /* nothing is waited for any more */
    bool left;              /* what was held has been given back */
    int64_t drain_until_us; /* then what is left is given back */
    int64_t drain_timeout_ms;
    int64_t tick_at_us; /* when jobs are looked at again */
    unsigned ended;     /* jobs so far */
    unsigned failed;    /* of these, tries that failed and may be followed by another */
};

struct invocation;

/* Takes over the options --concurrency N and --set SETTING=VALUE. Returns what to exit with, after having said why. */
int exec_settings(const struct invocation *invocation, pawl_config *config);

/*
 * Makes a worker with these settings and blocks the signals that end programs. Whoever calls it adds what it handles, then calls
 * exec_start(). Both return what to exit with, after having said why.
 */
int exec_init(struct exec *exec, const pawl_config *config);
int exec_start(struct exec *exec);

/* One turn of the loop, of at most so many milliseconds. False: the worker is drained, and nothing is executed any more. */
bool exec_turn(struct exec *exec, int timeout_ms);

/* No more runs; what is executed goes on to its end. */
void exec_drain(struct exec *exec);

/* Ends what is executed: at once, or with five seconds to clean up. The runs are given back. */
void exec_give_back(struct exec *exec, bool at_once);

/* Leaves. Frees everything, also after an exec_init() that failed. Returns what to exit with. */
int exec_done(struct exec *exec);

/* --- for jobs and calls --- */

void exec_watch(struct exec *exec, struct watch *watch, bool also_for_writing);
void exec_unwatch(struct exec *exec, struct watch *watch); /* and closes it */
void exec_pause(struct exec *exec, struct watch *watch);   /* until it is watched again */

/* Makes sure that the directory is there, and ours: cleaners of temporary files remove what looks unused. False, with errno. */
bool exec_has_directory(struct exec *exec);

#endif
