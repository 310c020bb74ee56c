/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A branch, as its own files see it. branch.c has its life, and how items are posted and answered; run.c has facts and memory. The others
 * are failure.c, step.c, wait.c, rollback.c, note.c, join.c and finish.c.
 *
 * Every durable call is a small state machine: it searches the record, posts an item, and takes the answer. Its state is phase, so that a
 * nonblocking caller can return and call again. A blocking caller waits for a semaphore instead.
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
#include "libpawl/run/task.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

enum {
    PW_IDENTITY_MAX = 240,                  /* bytes of BRANCH/NAME#n, as the engine takes them */
    PW_OPTION_MAX = 65536,                  /* bytes of an item's option */
    PW_PAYLOAD_DEPTH = 64,                  /* objects and arrays inside each other */
    PW_BRANCHES_MAX = 1000,                 /* of one run */
    PW_NOTES_MAX = 1000,                    /* of one claim */
    PW_NOTE_MAX = 16384,                    /* bytes of a note */
    PW_NOTE_NAME_MAX = 200,                 /* bytes of its name */
    PW_STREAM_MAX = 100000,                 /* pieces that one claim streams */
    PW_STREAM_BYTES_MAX = 16 * 1024 * 1024, /* bytes of them */
    PW_MESSAGE_MAX = 8192,                  /* bytes of an error's message */
    PW_UNUSED_MAX = 50000, /* bytes of the names of records that were not asked for */
    PW_KEY_MAX = PAWL_ID_SIZE + PW_IDENTITY_MAX + 16, /* bytes of a step's key */
};

/* The state of the durable call that is in progress in a branch. */
enum pw_phase {
    PW_PHASE_NONE,
    PW_PHASE_LEASE,  /* a step waits until the lease is known to hold */
    PW_PHASE_BEGIN,  /* the start of a step with an undo is posted */
    PW_PHASE_OPEN,   /* a step is being executed */
    PW_PHASE_RECORD, /* the result of a step is posted */
    PW_PHASE_WAIT,   /* a wait is posted */
};

/* Why a call failed. Bytes and texts are in the arena of a branch, or constant. */
struct pw_failure {
    pawl_status status; /* that the call returned; PAWL_OK: none has failed */
    pawl_bytes error;   /* JSON */
    const char *message;
    bool final; /* recorded, and no call has succeeded since: executing again is useless */
};

/* The error detail that a step or a handler has set for the failure that it is about to return. */
struct pw_said {
    pawl_bytes error;       /* JSON, or empty */
    const char *message;    /* the message, if it was set without a code, or NULL */
    int64_t retry_after_ms; /* -1: not set */
};

/* The step that is open or being recorded. */
struct pw_step {
    struct pw_entry *entry;     /* what was recorded about it before, or NULL */
    const struct pw_undo *undo; /* the undo that this step executes, or NULL */
    int32_t seq;
    int64_t started_us;
    int32_t millis;
    int64_t timeout_ms;         /* -1: none */
    bool begun;                 /* its begin is recorded; it may not be open yet */
    bool transaction;           /* recorded by the caller's own transaction */
    bool function;              /* begun by pawl_step(), which will end it */
    bool confirmed;             /* ended by pawl_step_confirm() */
    bool deferred;              /* not a step, but pawl_run_defer() */
    bool change;                /* not a step, but pawl_run_changed() */
    bool refused;               /* an item was refused, and that error was posted */
    bool late_option;           /* an option was given while it was open */
    pawl_bytes policy;          /* its retry policy, JSON; empty: the options of the call */
    char key[PW_KEY_MAX];       /* "" until it is asked for; not in the arena, which may be full */
    struct pw_said said;        /* the error detail at its end */
    struct pw_said said_before; /* the error detail before the step, which is not about it */
    unsigned failures_before;   /* of calls on this branch */
};

/* Branches that wait to be joined; see join.c. */
struct pw_joins;

struct pawl_run {
    struct pw_task *task;
    pawl_run *trunk;    /* the main branch, or this one if it is the main branch */
    const char *prefix; /* BRANCH/, or "" */
    size_t prefix_size;
    struct pw_arena arena;
    /*
     * Values of answers, which the I/O thread copies there. 1. A call on this branch is in flight. 2. A duplicate counts its name in the
     * arena of this branch. 3. The I/O thread copies the answer. With one arena, 2 and 3 would be a data race.
     */
    struct pw_arena answers;
    struct pw_list link;  /* in the worker's queue */
    struct pw_list bough; /* in the trunk's list of branches; unused in the trunk */
    pawl_run *parent;     /* the branch that it was made from; NULL: it is the trunk */
    pawl_run *origin;     /* whose names it counts: its own, unless it is a duplicate */
    bool has_dups;
    bool joined; /* a join has passed its result to its parent */
    bool nonblocking;
    void *context;

    struct pw_names names;    /* of steps, waits and children */
    struct pw_names branches; /* made from this one */
    struct pw_options options;
    struct pw_joins *joins;

    enum pw_phase phase;
    char identity[PW_IDENTITY_MAX + 1]; /* of the call in progress */
    uint32_t *counted;                  /* how often its name was used; NULL: not counted */
    struct pw_item item;
    struct pw_step step;
    struct pawl_run *wakes[PW_WAKES]; /* branches that this one wakes; NULL: none */
    sem_t answered; /* posted by the I/O thread when the item has its answer, unless nonblocking */
    bool returned;  /* by pawl_worker_next() since it posted: a nonblocking branch has its answer */
    int64_t resumed_us;          /* since when the branch executes; 0: not known */
    _Atomic int64_t deadline_us; /* of the step that is open, for any thread that asks */

    /* SUSPENDED, ECANCELLED or ELEASE_LOST, once a call has returned it: then all later calls return it, too. */
    pawl_status stuck;
    struct pw_failure failure; /* of the call that failed last */
    unsigned failures;         /* calls that failed so far */
    struct pw_said said;

    struct pw_notice notice;

    /* Guarded by the trunk's lock: read by the I/O thread for the heartbeat and for notices. */
    bool executing;
    char executing_step[PW_IDENTITY_MAX + 1];
    int64_t executing_since_us;
    int64_t executing_timeout_ms;
    bool late_told; /* its time limit was reported */
    bool streamed;  /* the step has streamed a piece */

    /* Used in the trunk only. */
    pthread_mutex_t lock;
    struct pw_list boughs;      /* guarded by the lock */
    size_t bough_count;         /* the same */
    const char *drift_name;     /* the same; NULL: the code matches the records */
    const char *drift_recorded; /* the same */
    const char *drift_asked;    /* the same */
    /* An operator or, because of drift, the engine has paused the run: the worker releases it as it is. */
    atomic_bool paused;
    atomic_bool lost; /* an item was answered with a lost lease, or not sent */
    atomic_int notes;
    atomic_int notes_dropped;
    int stream_count;    /* pieces that were posted; guarded by the lock */
    size_t stream_bytes; /* the same: their size */
    size_t undo_at;
    bool has_userdata; /* another one than the workflow's */
    void *userdata;
};

/* --- branch.c --- */

/*
 * Begins a durable call. Refuses it if another call is in progress or the branch may start nothing. Checks the options, makes the
 * identity and looks it up in the record. PAWL_OK: *entry is the record, which is of this kind, or NULL. run->options are those of this
 * call until pw_branch_leave(). Otherwise returns the status that the call must return.
 */
pawl_status pw_branch_enter(
    pawl_run *run, const char *name, enum pw_kind kind, struct pw_entry **entry);

/*
 * Ends a durable call that returns status, and returns it. Forgets the options, and stores a status after which the branch cannot
 * continue. After PAWL_ENOMEM nothing has happened: the name is not counted, and the call can be repeated. Its options stay, unless one
 * of them had no memory.
 */
pawl_status pw_branch_leave(pawl_run *run, pawl_status status);

/* Returns true if the call in progress has this name: a nonblocking caller repeats it. */
bool pw_branch_is_about(const pawl_run *run, const char *name);

/* Returns true if a caller may use a branch: it is not NULL, and the process was not forked since the worker was made. Any thread. */
bool pw_branch_here(const pawl_run *run);

/* Returns PAWL_OK, PAWL_ECANCELLED or PAWL_ELEASE_LOST, as far as the worker knows. Any thread. */
pawl_status pw_branch_standing(const pawl_run *run);

/*
 * Checks whether a branch may start something: asks the worker, and checks the time limit of the run. Returns PAWL_OK, or the status that
 * the call must return.
 */
pawl_status pw_branch_may_start(pawl_run *run);

/* Returns the number of a step, wait or child in the order of first starts: that of its record, or the next one. */
int32_t pw_branch_seq(pawl_run *run, const struct pw_entry *entry);

/* Posts an item of the call in progress. Bytes must live until it is answered. */
void pw_branch_post(pawl_run *run, enum pw_kind kind, pawl_bytes payload, pawl_bytes option);

/*
 * Waits for the answer to the item. PAWL_OK: the item was applied now or before, or was refused; see run->item. PAWL_PENDING: there is no
 * answer yet, and the branch is nonblocking. Otherwise returns the status that the call must return.
 */
pawl_status pw_branch_answer(pawl_run *run);

/* Stores that the code asks for another kind than the one recorded under this identity. Returns the status that the call must return. */
pawl_status pw_branch_drift(pawl_run *run, const char *recorded, enum pw_kind asked);

/* Refuses a call because another call is in progress in this branch. */
pawl_status pw_branch_refuse(pawl_run *run);

/* Makes a branch of a run. Returns NULL if out of memory. */
pawl_run *pw_branch_new(
    struct pw_task *task, pawl_run *trunk, const char *prefix, const char *name);
void pw_branch_free(pawl_run *run);

/* --- bytes, in branch.c --- */

/* Copies bytes to the branch's arena. Returns PAWL_OK or PAWL_ENOMEM. */
pawl_status pw_branch_copy(pawl_run *run, pawl_bytes bytes, pawl_bytes *out);

/* Copies the text of a JSON writer to the branch's arena, and frees the buffer. Returns PAWL_OK, PAWL_ENOMEM or PAWL_ETOOLARGE. */
pawl_status pw_branch_keep(pawl_run *run, struct pw_json_writer *writer, pawl_bytes *out);

/* Returns the bytes, or the JSON null if their data is NULL. */
pawl_bytes pw_bytes_or_null(pawl_bytes bytes);

/* --- failure.c --- */

/* Stores that a call was invalid, with a text for pawl_run_error_message(), and returns PAWL_EINVAL. */
pawl_status pw_branch_mistake(pawl_run *run, const char *format, ...) PAWL_PRINTF(2, 3);

/* Stores that a call failed, with its JSON error, and returns status. */
pawl_status pw_branch_failed(
    pawl_run *run, pawl_status status, pawl_bytes error, const char *message, bool final);

/* Makes {"code", "message"} in the arena. If out of memory, returns a constant error, never empty bytes. */
pawl_bytes pw_error_make(struct pw_arena *arena, const char *code, const char *format, ...)
    PAWL_PRINTF(3, 4);

/* Makes {"code", "message"} for a status that was returned without an error detail. */
pawl_bytes pw_error_of_status(struct pw_arena *arena, pawl_status status);

/* Takes the error that a step or a handler has set for this status. Returns empty bytes if none was set. */
pawl_bytes pw_branch_said(pawl_run *run, pawl_status status);

/*
 * Returns the failure of a branch that returns this status. It is the error that the branch set, else that of its last failed call, else
 * a text for the status.
 */
struct pw_failure pw_branch_why(pawl_run *run, pawl_status status);

/* --- join.c --- */

/* Checks that a function, which who names, has left no step open and no branch unjoined. Returns PAWL_OK or PAWL_EINVAL. */
pawl_status pw_branch_end(pawl_run *run, const char *who);

/* --- step.c --- */

/* Opens the step whose identity is set, and starts its clock; limit_ms is its time limit, -1 for none. Returns PAWL_EXECUTE. */
pawl_status pw_step_open(pawl_run *run, int64_t limit_ms);

/* --- run.c --- */

/* Sets the pointer that pawl_run_userdata() returns for this run from now on. */
void pw_run_set_userdata(pawl_run *run, void *userdata);

#endif
