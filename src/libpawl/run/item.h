/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One item of a commit: something that a handler records about its run. Handlers' threads post items, and the I/O thread sends items of
 * all runs together. Each item is answered once.
 */
#ifndef PW_LIBPAWL_ITEM_H
#define PW_LIBPAWL_ITEM_H

#include "base/list.h"
#include "pawl/api.h"

#include <stdbool.h>
#include <stdint.h>

/* Kinds of items, as pawl.commit names them; the order is that of the table of names in item.c. */
enum pw_kind {
    PW_KIND_STEP,
    PW_KIND_BEGIN,
    PW_KIND_STEP_ERROR,
    PW_KIND_RETRY,
    PW_KIND_CONFIRM,
    PW_KIND_SLEEP,
    PW_KIND_EVENT,
    PW_KIND_SIGNAL,
    PW_KIND_APPROVAL,
    PW_KIND_CHILD,
    PW_KIND_COMPLETE,
    PW_KIND_FAIL,
    PW_KIND_SUSPEND,
    PW_KIND_RELEASE,
    PW_KIND_DRIFT,
    PW_KIND_NOTE,
};

const char *pw_kind_name(enum pw_kind kind);

enum pw_answer {
    PW_ANSWER_NONE, /* not answered yet */
    PW_ANSWER_OK,
    PW_ANSWER_ALREADY,
    PW_ANSWER_LEASE_LOST,
    PW_ANSWER_CANCELLED,
    PW_ANSWER_REFUSED,
    PW_ANSWER_FAILED, /* never sent or not understood: out of memory, or the worker has stopped; treated as a lost lease */
};

/* States of a step or wait in an answer or a record. */
enum pw_state {
    PW_STATE_NONE,
    PW_STATE_SUCCESS,
    PW_STATE_ERROR,
    PW_STATE_RUNNING,
    PW_STATE_PAUSED,
};

struct pw_arena;
struct pw_task;
struct pawl_run;

struct pw_item {
    /* Set by the thread that posts the item; texts and bytes live until it is answered. NULL data and INT32_MIN mean null. */
    enum pw_kind kind;
    const char *name;
    pawl_bytes payload;
    pawl_bytes option;
    int32_t seq;
    int32_t millis;
    int64_t busy_us; /* how long the branch has executed since it was handed out or answered */

    struct pw_task *task;
    /* The branch that waits for the answer. NULL for a note, which is freed when it is answered, and for a task's last item. */
    struct pawl_run *branch;
    struct pw_list link;

    /* The answer, written by the I/O thread before it wakes the branch. Bytes are copies in the branch's arena. */
    enum pw_answer answer;
    const char *reason;
    enum pw_state state; /* of the step or wait, where the answer has a value */
    pawl_bytes output;
    pawl_bytes error;
    const char *error_code;
    bool final;       /* a failure is final */
    int64_t delay_ms; /* otherwise: the time until the next attempt */
    bool approved;    /* output is the decision of an approval: approved */
};

/*
 * Reads the value of an answer into the item, and copies bytes to the arena. Without an arena, reads only final and delay_ms. Returns
 * false if out of memory or the value is malformed.
 */
bool pw_item_read(struct pw_item *item, struct pw_arena *arena, const char *data, size_t size);

#endif
