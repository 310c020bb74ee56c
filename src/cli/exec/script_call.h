/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call of a script: pawl step, sleep, wait, child, set or get, each a connection to the socket of its job. Calls can be under way at the same
 * time, each on a duplicate of the run; names are counted over all of them, so that it does not matter in which order steps of different
 * names come. One that suspends the run is never answered: the script is ended when it has nothing else under way.
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
    struct pw_json message; /* what is asked for, in the arena */
    const char *kind;       /* "step", "sleep", ... */
    const char *name;
    pawl_run *branch;
    pid_t group; /* of the step's command; 0: none is known */
    bool timed_out;
    int64_t kill_at_us;
    int64_t retry_after_ms; /* what its command asked for, should it fail; -1: nothing */
};

/* Somebody has knocked at the door of a job, and is let in; or has to wait outside, where there is no room. */
void script_call_accept(struct job *job);

/* Whether one more call can be taken. */
bool script_call_has_room(const struct job *job);

/* Whether the library is still at it, or the script is: what holds up the end of the claim, or of the script. */
bool script_call_is_pending(const struct script_call *call);
bool script_call_is_active(const struct script_call *call);

/* Ends a step that has used up its time. */
void script_call_tick(struct script_call *call, int64_t now_us);

void script_call_free(struct script_call *call);

/* --- between the connection of a call and what it does; each of these may free the call --- */

/* Takes the first message, which says what the script calls. */
void script_call_begin(struct script_call *call, struct pw_json message);

/* The step's command has ended, or nothing more will be heard of it: then the message is {}. */
void script_call_finish_step(struct script_call *call, struct pw_json message);

/* The library has an answer. waiter is that of the call. */
void script_call_go_on(struct waiter *waiter);

/* Sends as much of the reply as the socket takes. A call that has been answered ends with that. */
void script_call_send(struct script_call *call);

#endif
