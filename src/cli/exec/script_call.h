/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call of a script: pawl step, sleep, wait, child, set or get, each a connection to the socket of its job. Calls can be in flight at the
 * same time, each on a duplicate of the run. All duplicates share one count of names, so the order of steps with different names does not
 * matter. A call that suspends the run is never answered: the worker ends the script when it has no other call in flight.
 */
#ifndef PW_CLI_EXEC_SCRIPT_CALL_H
#define PW_CLI_EXEC_SCRIPT_CALL_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/json_read.h"
#include "base/list.h"
#include "cli/exec/job.h"
#include "cli/script/frame.h"

enum script_call_stage {
    SCRIPT_CALL_READING,
    SCRIPT_CALL_CALLING,   /* the library has not answered yet */
    SCRIPT_CALL_EXECUTING, /* the script executes the step */
    SCRIPT_CALL_RECORDING, /* the library has not answered yet */
    SCRIPT_CALL_WAITING,   /* the run is suspended here: no answer, ever */
    SCRIPT_CALL_ANSWERED,
};

struct script_call {
    struct waiter waiter; /* of its duplicate */
    struct pw_list link;
    struct job *job;
    struct watch socket;
    enum script_call_stage stage;
    struct frame_reader reader;
    struct pw_buf reply;
    size_t sent;
    struct pw_arena arena;
    struct pw_json message; /* the request, in the arena */
    const char *kind;       /* "step", "sleep", ... */
    const char *name;
    pawl_run *branch;
    int attempt; /* of the step, from 1 */
    bool failed; /* the attempt */
    pid_t group; /* of the step's command; 0: unknown */
    bool timed_out;
    int64_t kill_at_us;
    int64_t retry_after_ms; /* that its command asked for, if it fails; -1: none */
};

/* Accepts a connection to the socket of a job. If the job has too many calls, the connection waits. */
void script_call_accept(struct job *job);

/* Returns true if the job can accept one more call. */
bool script_call_has_room(const struct job *job);

/*
 * Pending: the library has not answered yet, so the claim cannot end. Active: the library or the script is busy with the call, so the
 * script must not be ended.
 */
bool script_call_is_pending(const struct script_call *call);
bool script_call_is_active(const struct script_call *call);

/* Ends the command of a step that has exceeded its time limit. */
void script_call_tick(struct script_call *call, int64_t now_us);

void script_call_free(struct script_call *call);

/* --- between the connection of a call and its work; each of these may free the call --- */

/* Handles the first message, which names the call. */
void script_call_begin(struct script_call *call, struct pw_json message);

/* Handles the end of the step's command. message is {} if its outcome will never arrive. */
void script_call_finish_step(struct script_call *call, struct pw_json message);

/* Handles an answer of the library. waiter is that of the call. */
void script_call_go_on(struct waiter *waiter);

/* Sends as much of the reply as the socket accepts. Frees a call after its whole answer was sent. */
void script_call_send(struct script_call *call);

#endif
