/* SPDX-License-Identifier: Apache-2.0 */
/* A handler or a branch of it while its body is executed. One thread uses a frame. */
#ifndef PAWL_PLAYER_FRAME_H
#define PAWL_PLAYER_FRAME_H

#include "play.h"

/* Why the last operation failed. */
struct failure {
    const char *kind; /* "failed", "timeout", "refused" or "child"; NULL: not a recorded result */
    pawl_bytes error; /* its JSON */
};

struct frame {
    struct play *play;
    pawl_run *branch; /* the run of the handler, or of the branch */
    pawl_run *calls;  /* makes the calls: branch, or a duplicate of it */
    const char *path; /* names of the branches, each followed by a slash */
    bool split;       /* the library does not see which call of duplicates or branches failed */
    struct failure failure;
};

/* body.c: executes a body, and one operation. PAWL_OK and the value, or why it did not go on. */
pawl_status body_execute(struct frame *frame, const struct value *body,
    const struct variable *variables, const struct value **value);
pawl_status body_operation(struct frame *frame, const struct value *operation,
    const struct variable *variables, const struct value **value);

/*
 * The status that a handler or a branch returns for that of its body. Where the library cannot see which failure was caught,
 * this sets the error on the run and returns PAWL_EPERMANENT.
 */
pawl_status body_end(struct frame *frame, pawl_status status);

/* Notes why a call failed. recorded is the status of a recorded result of this kind. */
pawl_status body_failed(
    struct frame *frame, pawl_status status, pawl_status recorded, const char *kind);

typedef pawl_status (*operation_fn)(struct frame *frame, const struct value *operation,
    const struct variable *variables, const struct value **value);

/* call.c: single calls. */
pawl_status call_step(struct frame *frame, const struct value *operation,
    const struct variable *variables, const struct value **value);
pawl_status call_transaction(struct frame *frame, const struct value *operation,
    const struct variable *variables, const struct value **value);
/* wait.c: calls that wait. */
pawl_status wait_sleep(struct frame *frame, const struct value *operation,
    const struct variable *variables, const struct value **value);
pawl_status wait_event(struct frame *frame, const struct value *operation,
    const struct variable *variables, const struct value **value);
pawl_status wait_signal(struct frame *frame, const struct value *operation,
    const struct variable *variables, const struct value **value);
pawl_status wait_approval(struct frame *frame, const struct value *operation,
    const struct variable *variables, const struct value **value);
pawl_status wait_child(struct frame *frame, const struct value *operation,
    const struct variable *variables, const struct value **value);

/* branch.c: several calls or bodies at the same time. */
pawl_status branch_all(struct frame *frame, const struct value *operation,
    const struct variable *variables, const struct value **value);
pawl_status branch_named(struct frame *frame, const struct value *operation,
    const struct variable *variables, const struct value **value);
pawl_status branch_each(struct frame *frame, const struct value *operation,
    const struct variable *variables, const struct value **value);
pawl_status branch_first(struct frame *frame, const struct value *operation,
    const struct variable *variables, const struct value **value);

/* do.c: what the function of a step or an undo does in call number at, from 0. */
pawl_status do_call(struct play *play, pawl_run *run, int64_t at, const struct value *what,
    const struct variable *variables, const struct value **value);
/* The element of a list for call number at; what itself if it is no list. */
const struct value *do_choose(const struct value *what, int64_t at);
/* Sets the error of a failure on run, and returns its status. */
pawl_status do_fail(struct play *play, pawl_run *run, const struct value *failure);

#endif
