/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call of a script: pawl step, sleep, wait, child, set or get, each a connection to the socket of its job. Calls can be under way at the same
 * time, each on a twin of the run; names are counted over all of them, so that it does not matter in which order steps of different
 * names come. One that suspends the run is never answered: the script is ended when it has nothing else under way.
 */
#ifndef PW_CLI_ASK_H
#define PW_CLI_ASK_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/json_read.h"
#include "base/list.h"
#include "cli/frame.h"
#include "cli/job.h"

enum ask_stage {
    ASK_READING,
    ASK_CALLING,   /* the library has not answered yet */
    ASK_EXECUTING, /* the script executes the step */
    ASK_RECORDING, /* the library has not answered yet */
    ASK_WAITING,   /* the run is suspended here: no answer, ever */
    ASK_ANSWERED,
};

struct ask {
    struct waiter waiter; /* of its twin */
    struct pw_list link;
    struct job *job;
    struct watch socket;
    enum ask_stage stage;
    struct frame_reader reader;
    struct pw_buf reply;
    size_t sent;
    struct pw_arena arena;
    struct pw_json message; /* what is asked for, in the arena */
    const char *call;
    const char *name;
    pawl_run *branch;
    pid_t group; /* of the step's command; 0: none is known */
    bool timed_out;
    int64_t kill_at_us;
    int64_t retry_after_ms; /* what its command asked for, should it fail; -1: nothing */
};

/* Somebody has knocked at the door of a job, and is let in; or has to wait outside, where there is no room. */
void ask_accept(struct job *job);

/* Whether one more call can be taken. */
bool ask_has_room(const struct job *job);

/* Whether the library is still at it, or the script is: what holds up the end of the claim, or of the script. */
bool ask_is_pending(const struct ask *ask);
bool ask_is_active(const struct ask *ask);

/* Ends a step that has used up its time. */
void ask_tick(struct ask *ask, int64_t now_us);

void ask_free(struct ask *ask);

#endif
