/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A branch, as the files see it that make up what a handler holds: branch.c (its life, and how items are posted and answered), run.c
 * (facts and memory), failure.c, step.c, wait.c, rollback.c, note.c, join.c and finish.c.
 *
 * Every durable call is a small state machine: it looks into the record, posts an item, and takes the answer. What is under way stands
 * in phase, so that a nonblocking caller can leave in between and call again; a blocking one waits for a semaphore there.
 */
#ifndef PW_LIBPAWL_BRANCH_H
#define PW_LIBPAWL_BRANCH_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/json_write.h"
#include "base/list.h"
#include "libpawl/run/item.h"
#include "libpawl/run/names.h"
#include "libpawl/run/option.h"
#include "libpawl/run/record.h"
#include "libpawl/run/run.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

enum {
    PW_IDENTITY_MAX = 240,  /* bytes of BRANCH/NAME#n, as the engine takes them */
    PW_OPTION_MAX = 65536,  /* bytes of an item's option */
    PW_PAYLOAD_DEPTH = 64,  /* objects and arrays inside each other */
    PW_BRANCHES_MAX = 1000, /* of one run */
    PW_NOTES_MAX = 1000,    /* of one claim */
    PW_NOTE_MAX = 16384,    /* bytes of a note */
    PW_NOTE_NAME_MAX = 200, /* bytes of its name */
    PW_MESSAGE_MAX = 8192,  /* bytes of an error's message */
    PW_UNUSED_MAX = 50000,  /* bytes of the names of records that were not asked for */
    PW_WAKES = 2,
    PW_KEY_MAX = PAWL_ID_SIZE + PW_IDENTITY_MAX + 16, /* bytes of a step's key */
};

/* What is under way in a branch. */
enum pw_phase {
    PW_PHASE_NONE,
    PW_PHASE_LEASE,  /* a step may not be begun before the lease is known to hold */
    PW_PHASE_BEGIN,  /* the start of a step with an undo is posted */
    PW_PHASE_OPEN,   /* a step is being executed */
    PW_PHASE_RECORD, /* what it came to is posted */
    PW_PHASE_WAIT,   /* a wait is posted */
};

/* Why a call failed. Bytes and texts are in the arena of a branch, or constant. */
struct pw_failure {
    pawl_status status; /* that the call returned; PAWL_OK: none has failed */
    pawl_bytes error;   /* JSON */
    const char *message;
    bool final; /* it is recorded, and no call has succeeded since: to execute again is no use */
};

/* What a step or a handler says about the failure that it is about to return. */
struct pw_said {
    pawl_bytes error;       /* JSON, or no bytes */
    const char *message;    /* the same in words, without a code of its own, or NULL */
    int64_t retry_after_ms; /* -1: not said */
};

/* The step that is open or being recorded. */
struct pw_step {
    struct pw_entry *entry;     /* what was recorded about it before, or NULL */
    const struct pw_undo *undo; /* it is the undo of this one, or NULL */
    int32_t seq;
    int64_t started_us;
    int32_t millis;
    int64_t timeout_ms; /* -1: none */
    bool begun;         /* that it begins is recorded, and it may not be open yet */
    bool transaction;   /* recorded by the caller's own transaction */
    bool function;      /* begun by pawl_step(), which will end it */
    bool confirmed;     /* ended by pawl_step_confirm() */
    bool deferred;      /* no step at all, but pawl_run_defer() */
    bool refused;       /* a refused item was followed by one that says so */
    bool late_option;   /* an option was given while it was open */
    pawl_bytes policy;  /* how it is tried again, JSON; no bytes: as the options of the call say */
    char key[PW_KEY_MAX];       /* "" until it is asked for; not in the arena, which may be full */
    struct pw_said said;        /* about how it ended */
    struct pw_said said_before; /* by the handler, before the step; not about the step */
    unsigned failures_before;   /* of calls on this branch */
};

/* Branches that wait to be joined; see join.c. */
struct pw_joins;

struct pawl_run {
    struct pw_task *task;
    pawl_run *trunk;    /* the main branch; of that one itself */
    const char *prefix; /* BRANCH/, or "" */
    size_t prefix_size;
    struct pw_arena arena;
    struct pw_list link;  /* in the worker's queue */
    struct pw_list bough; /* in the trunk's list of branches; the trunk's is in none */
    pawl_run *parent;     /* the branch that it was made from; NULL: it is the trunk */
    pawl_run *origin;     /* whose names it counts: its own, unless it is a duplicate */
    bool
        has_dups; /* they make the calls: the I/O thread must not write to its arena, where they count */
    bool joined; /* what it came to was handed to its parent by a join */
    bool nonblocking;
    void *context;

    struct pw_names names;    /* of steps, waits and children */
    struct pw_names branches; /* made from this one */
    struct pw_options options;
    struct pw_joins *joins;

    enum pw_phase phase;
    char identity[PW_IDENTITY_MAX + 1]; /* of what is under way */
    uint32_t *counted;                  /* how often its name came up; NULL: not counted */
    struct pw_item item;
    struct pw_step step;
    struct pawl_run *wakes[PW_WAKES]; /* others to wake when this one is; NULL: none */
    sem_t answered; /* posted by the I/O thread when the item has its answer, unless nonblocking */
    bool returned;  /* by pawl_worker_next(), since it posted; so nonblocking ones learn it */
    _Atomic int64_t deadline_us; /* of the step that is open, for any thread that asks */

    /* SUSPENDED, ECANCELLED or ELEASE_LOST, once a call has returned it: then all others do. */
    pawl_status stuck;
    struct pw_failure failure; /* of the call that failed last */
    unsigned failures;         /* calls that failed so far */
    struct pw_said said;

    /* Guarded by the trunk's lock: read by the I/O thread for the heartbeat. */
    bool executing;
    char executing_step[PW_IDENTITY_MAX + 1];
    int64_t executing_since_us;
    int64_t executing_timeout_ms;

    /* Of the trunk alone. */
    pthread_mutex_t lock;
    struct pw_list boughs;      /* guarded by the lock */
    size_t bough_count;         /* the same */
    const char *drift_name;     /* the same; NULL: the code fits the records */
    const char *drift_recorded; /* the same */
    const char *drift_asked;    /* the same */
    atomic_bool
        paused; /* by an operator, or by the engine for drift: the run is given back as it is */
    atomic_bool lost; /* an item was answered with a lost lease, or not sent */
    atomic_int notes;
    atomic_int notes_dropped;
    size_t undo_at;
    bool has_userdata; /* another one than the workflow's */
    void *userdata;
};

/* --- branch.c --- */

/*
 * Begins a durable call: refuses it if something is under way or nothing may be done, takes the options, makes the identity and looks
 * for it in the record. PAWL_OK: *entry is what is recorded, or NULL, and fits this kind; run->options are those of this call until
 * pw_branch_leave(). Else what to return.
 */
pawl_status pw_branch_enter(
    pawl_run *run, const char *name, enum pw_kind kind, struct pw_entry **entry);

/*
 * Ends a durable call that returns status, and returns it: forgets the options, and remembers that the branch can go no further. Without memory
 * nothing has happened: the name was not counted, the options stand, and the call can be repeated.
 */
pawl_status pw_branch_leave(pawl_run *run, pawl_status status);

/* Whether the call that is under way has this name; a nonblocking caller repeats it. */
bool pw_branch_is_about(const pawl_run *run, const char *name);

/* Whether a caller may do anything with a branch: there is one, and the process was not forked since it was made. Any thread. */
bool pw_branch_here(const pawl_run *run);

/* PAWL_OK, PAWL_ECANCELLED or PAWL_ELEASE_LOST, as far as is known. Any thread. */
pawl_status pw_branch_standing(const pawl_run *run);

/* PAWL_OK, or what a branch must return that may start nothing: asks the worker, and looks at the time of the run. */
pawl_status pw_branch_may_start(pawl_run *run);

/* The place of what is asked for in the order of first starts: that of its record, or the next. */
int32_t pw_branch_seq(pawl_run *run, const struct pw_entry *entry);

/* Posts an item about what is under way. Bytes must live until it is answered. */
void pw_branch_post(pawl_run *run, enum pw_kind kind, pawl_bytes payload, pawl_bytes option);

/*
 * Waits for the answer. PAWL_OK: it is taken, refused or known already, and run->item tells. PAWL_PENDING: it is not there, and the
 * caller does not want to wait. Else what the call must return.
 */
pawl_status pw_branch_answer(pawl_run *run);

/* The code asks for something else than what is recorded under this identity; returns what the call must return. */
pawl_status pw_branch_drift(pawl_run *run, const char *recorded, enum pw_kind asked);

/* Refuses a call because something is under way in this branch. */
pawl_status pw_branch_refuse(pawl_run *run);

/* A branch of a run, or NULL if out of memory. */
pawl_run *pw_branch_new(
    struct pw_task *task, pawl_run *trunk, const char *prefix, const char *name);
void pw_branch_free(pawl_run *run);

/* --- bytes, in branch.c --- */

/* A copy in the branch's arena. PAWL_ENOMEM. */
pawl_status pw_branch_copy(pawl_run *run, pawl_bytes bytes, pawl_bytes *out);

/* What was written, as bytes in the branch's arena; frees the buffer. PAWL_ENOMEM, PAWL_ETOOLARGE. */
pawl_status pw_branch_keep(pawl_run *run, struct pw_json_writer *writer, pawl_bytes *out);

/* The bytes, or the JSON null if there are none. */
pawl_bytes pw_bytes_or_null(pawl_bytes bytes);

/* --- failure.c --- */

/* Notes that a call failed because of the caller, with a text for pawl_run_error_message(), and returns PAWL_EINVAL. */
pawl_status pw_branch_mistake(pawl_run *run, const char *format, ...) PAWL_PRINTF(2, 3);

/* Notes that a call failed, with its JSON error, and returns status. */
pawl_status pw_branch_failed(
    pawl_run *run, pawl_status status, pawl_bytes error, const char *message, bool final);

/* {"code", "message"} in the arena; a constant error if there is no memory. Never no bytes. */
pawl_bytes pw_error_make(struct pw_arena *arena, const char *code, const char *format, ...)
    PAWL_PRINTF(3, 4);

/* {"code", "message"} for a status that was returned without a word. */
pawl_bytes pw_error_of_status(struct pw_arena *arena, pawl_status status);

/* Takes the error that a step or a handler gave for this status, or no bytes. */
pawl_bytes pw_branch_said(pawl_run *run, pawl_status status);

/* What a branch that returns this status failed with: what it said, what a call of it said, or a word about the status. */
struct pw_failure pw_branch_why(pawl_run *run, pawl_status status);

/* --- join.c --- */

/* Whether the function of a branch, which who names, may have succeeded: PAWL_OK, or PAWL_EINVAL if it has left something undone. */
pawl_status pw_branch_end(pawl_run *run, const char *who);

/* --- step.c --- */

/* Opens the step whose identity is set, and starts its clock; limit_ms is how long it may take, -1 without end. Returns PAWL_EXECUTE. */
pawl_status pw_step_open(pawl_run *run, int64_t limit_ms);

/* --- run.c --- */

/* What pawl_run_userdata() returns from now on, for a main branch. */
void pw_run_set_userdata(pawl_run *run, void *userdata);

#endif
