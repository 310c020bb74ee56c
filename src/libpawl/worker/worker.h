/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker, as its own files see it: worker.c (the object and what users call), io.c (the thread and its loop), session.c
 * (register, heartbeat, lease), tick.c (housekeeping), claim.c, batch.c and writer.c (what goes over the work connections), task.c (the seam to handlers).
 *
 * One lock, held for a few instructions only, never across SQL or a callback. What it guards is said below; all else in the
 * structure belongs to the I/O thread once that is started, or is not changed after the start.
 */
#ifndef PW_LIBPAWL_WORKER_H
#define PW_LIBPAWL_WORKER_H

#include "base/heap.h"
#include "base/list.h"
#include "base/map.h"
#include "base/rand.h"
#include "base/wake.h"
#include "libpawl/common/config.h"
#include "libpawl/common/statements.h"
#include "libpawl/run/run.h"
#include "libpawl/run/task.h"
#include "pawl/worker.h"
#include "pg/conn.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

enum {
    PW_WRITERS_MAX = 2,
    PW_CLAIM_MAX = 1000,    /* the engine gives no more at once */
    PW_HANDLERS_MAX = 1000, /* as many as the engine takes of one session */
    PW_LEAVE_US = 5000000,  /* how long the I/O thread tries to say goodbye */
};

/* What a request on a connection is about: the tag of its reply. */
enum pw_request_kind {
    PW_REQUEST_NONE,
    PW_REQUEST_COMMIT,
    PW_REQUEST_CLAIM,
    PW_REQUEST_IDLE,
    PW_REQUEST_HELD,
    PW_REQUEST_LEAVE,
    PW_REQUEST_CREATE,
    PW_REQUEST_REGISTER,
    PW_REQUEST_LISTEN,
    PW_REQUEST_HEARTBEAT,
    PW_REQUEST_TICK,
    PW_REQUEST_CONFIRM, /* a heartbeat on a work connection: whatever was committed before it is replicated when it is */
};

struct pw_request {
    enum pw_request_kind kind;
    bool sent;           /* no reply yet */
    int64_t session;     /* of whom it is: what is said about another one does not concern us */
    int64_t deadline_us; /* by when there must be a reply */
    int64_t sent_us;
};

/* Items that are committed together. */
struct pw_batch {
    struct pw_item **items;
    int *rows; /* which row of the reply is about each */
    size_t count;
    bool one_by_one; /* to be sent with commit_each: it was sent before, or may have a bad item */
    bool confirm;    /* the commit may not have reached the standby: to be confirmed first */
    int64_t again_at_us; /* not to be sent before */
    unsigned tries;
};

/* A connection that claims and commits. One commit is under way at a time, so that what one run posts stays in order. */
struct pw_writer {
    int number;
    struct pw_conn *conn; /* NULL: to be opened at open_at_us */
    int64_t open_at_us;
    unsigned open_tries;
    bool was_up;
    bool is_up; /* and was seen to be */
    int64_t down_since_us;
    int64_t session;  /* for which this connection has done something; 0: for none yet */
    unsigned strange; /* how often in a row it led to a server that does not know the session */

    struct pw_list waiting; /* items to be sent */
    size_t waiting_count;
    int64_t waiting_since_us;
    size_t active; /* tasks of this writer whose handlers execute */
    size_t last_count;

    struct pw_batch batch;
    size_t batch_cap; /* not more at once, because a batch of more has failed */
    struct pw_request commit;
    struct pw_request confirm;
    struct pw_array runs, fences, kinds, names, payloads, seqs, tasks, millis, options;
};

struct pw_handler {
    char *pattern; /* without the final '*' */
    bool prefix;
    pawl_handler_fn function;
    void *userdata;
};

struct pw_undo_handler {
    char *name;
    pawl_undo_fn function;
    void *userdata;
};

enum pw_session_state {
    PW_SESSION_NONE, /* to be registered */
    PW_SESSION_REGISTERING,
    PW_SESSION_LIVE,
    PW_SESSION_LEFT,
};

enum pw_idle {
    PW_BUSY,    /* the last claim gave something */
    PW_LOOKING, /* it gave nothing: the session is marked idle and looks once more */
    PW_IDLE,    /* that gave nothing either: a notification or the poll interval comes next */
};

/* Numbers that pawl_worker_counter() tells. */
enum pw_count {
    PW_COUNT_CLAIMED,
    PW_COUNT_CLAIMS,
    PW_COUNT_FINISHED,
    PW_COUNT_COMMITTED,
    PW_COUNT_BATCHES,
    PW_COUNT_BUSY,
    PW_COUNT_LEASE_LOST,
    PW_COUNT_RECONNECTS,
    PW_COUNT_SESSIONS,
    PW_COUNTS,
};

struct pawl_worker {
    /* Not changed after the start. */
    pid_t pid;
    struct pw_settings settings;
    struct pw_handler *handlers;
    size_t handler_count;
    struct pw_undo_handler *undos;
    size_t undo_count;
    int drain_fd;
    struct pw_wake wake;  /* wakes the I/O thread */
    struct pw_wake ready; /* what pawl_worker_fd() returns */
    pthread_t thread;

    /* Any thread. */
    atomic_llong counts[PW_COUNTS];
    atomic_llong lease_until_us; /* until when the lease holds, as far as we know */
    atomic_bool sleeping;        /* the I/O thread is in poll, or about to be */

    pthread_mutex_t lock;
    /* Guarded by the lock. */
    pthread_cond_t changed;    /* of the states below, and of the lease */
    pthread_cond_t ready_cond; /* runs that can go on */
    struct pw_list posted;     /* items from handlers */
    struct pw_list new_runs;   /* tasks that were claimed and not handed out yet */
    struct pw_list answered;   /* nonblocking runs that have their answer */
    struct pw_list
        unsure;       /* nonblocking runs that wait until the lease is known to hold, or not to */
    size_t active;    /* claimed and not finished by their handler */
    size_t held;      /* tasks that exist, finished or not */
    size_t unwritten; /* of these, what was finished and is not written down yet */
    bool started;
    bool stopped; /* the I/O thread is gone, or about to be */
    bool draining;
    bool stopping;       /* leave now */
    int64_t leave_at_us; /* leave then, whatever executes; INT64_MAX: no limit */
    int64_t left_by_us;  /* by when the worker must have left */
    bool registered;
    bool start_failed; /* start_error will not go away by itself */
    bool fd_wanted;
    unsigned looks;              /* how often somebody asked to look for work */
    unsigned quiet_looks;        /* of these, what was asked for before a claim that gave nothing */
    struct pw_error start_error; /* why the first registration failed */

    /* Of the I/O thread. */
    struct pw_rand rand;
    struct pw_writer writers[PW_WRITERS_MAX];
    size_t writer_count;
    size_t writer_next;
    struct pw_map tasks;
    struct pw_list parked; /* tasks with items that were busy */
    struct pw_list woken;  /* branches that are answered, to be woken at the next turn */

    struct pw_conn *control;
    int64_t control_open_at_us;
    unsigned control_tries;
    struct pw_request control_request; /* register, create or listen */
    struct pw_request heartbeat;
    int64_t heartbeat_at_us;
    int64_t heartbeat_every_us;
    int64_t notice_asked_us; /* when a notification last made the worker send a heartbeat */
    size_t create_next;      /* handler whose workflow is to be created next */
    enum pw_session_state session_state;
    int64_t session;
    int32_t epoch; /* the highest that was seen */
    int64_t register_at_us;
    unsigned register_tries;
    bool listening;
    bool listen_refused; /* the server does not want it: polling is enough */
    bool unverified_told;
    struct pw_request tick;
    int64_t tick_at_us; /* not before */
    bool tick_wanted;
    bool tick_first;  /* the next claim waits for the tick, which makes due timers ready */
    bool tick_failed; /* the last one, and that is logged */

    enum pw_idle idle;
    struct pw_request claim;
    struct pw_request idle_request;
    struct pw_writer *claim_writer;
    int32_t claim_most;
    int32_t claim_cap;     /* not more at once, because a claim of more has failed */
    int32_t claim_number;  /* the request's number: the same until it is answered */
    unsigned claim_losses; /* how often its reply was lost */
    bool claim_quiet;
    unsigned claim_looks;
    bool claim_pending;   /* asked for, perhaps not sent */
    bool claim_again;     /* there may be more than the claim in flight has seen */
    bool hint_pending;    /* a notification came, and no claim was sent since */
    bool claim_hinted;    /* the claim in flight was sent because of one */
    int64_t hinted_us;    /* when the last such claim was sent */
    int64_t hint_paid_us; /* grows with each such claim that gave nothing; see hint_at() */
    int64_t claim_at_us;
    int64_t poll_at_us; /* when an idle worker looks although nothing has notified it */
    unsigned claim_tries;
    unsigned looked;
    bool no_writer;   /* no connection can take a claim: whichever can again wakes the thread */
    bool idle_marked; /* for the claim that comes next */
    bool no_place;    /* as many runs execute as may: whoever finishes one wakes the thread */
    bool suspect_held;
    int64_t due_again_us;
    struct pw_heap dues; /* when runs that we let go are due */
    struct pw_request held_request;
    int64_t held_at_us;   /* when to look for tasks that we hold and do not know */
    unsigned held_unsure; /* how often to look soon, because there may be some */
    struct pw_request leave;
};

/* worker.c */
/* Whether a call may go on: there is a worker, and it belongs to this process. */
bool pw_worker_here(const pawl_worker *worker, struct pw_error *err);
bool pw_worker_find(
    pawl_worker *worker, const char *workflow, pawl_handler_fn *function, void **userdata);
bool pw_worker_find_undo(
    pawl_worker *worker, const char *name, pawl_undo_fn *function, void **userdata);
const struct pw_settings *pw_worker_settings(pawl_worker *worker);
int pw_worker_drain_fd(pawl_worker *worker);
/* Returns true if the worker has left: runs that still execute are not its own any more. Any thread. */
bool pw_worker_stopped(pawl_worker *worker);
/* Asks for a claim now; pw_worker_quiet() is true when one that began later gave nothing and nothing is held. Any thread. */
void pw_worker_look(pawl_worker *worker);
bool pw_worker_quiet(pawl_worker *worker);
void pw_worker_add(pawl_worker *worker, enum pw_count count, int64_t by);

/* io.c */
void *pw_io_main(void *worker);
/* Wakes the I/O thread if it sleeps. Any thread. */
void pw_io_wake(pawl_worker *worker);

/* session.c: what happens on the control connection. */
void pw_session_turn(pawl_worker *worker, int64_t now_us);
void pw_session_reply(pawl_worker *worker, struct pw_reply *reply, int64_t now_us);
int64_t pw_session_next_us(const pawl_worker *worker);
/* The session has ended: everything it held belongs to others. */
void pw_session_lost(pawl_worker *worker, const char *why, int64_t now_us);
/* Asks now whether the session lives; with a new connection, if the one it has may lead to a server that others have left. */
void pw_session_ask(pawl_worker *worker, bool anew, int64_t now_us);
/* Whether a reply says that a session has ended, or belongs to another epoch. */
bool pw_session_over(const struct pw_reply *reply);
/* Whether a reply says that the session of its request has ended; if it is the present one, it does so here. */
bool pw_session_check(pawl_worker *worker, const struct pw_reply *reply, int64_t now_us);

/* tick.c */
/* Calls pawl.tick() when the control connection is free. */
void pw_tick_soon(pawl_worker *worker);
void pw_tick_turn(pawl_worker *worker, int64_t now_us);
void pw_tick_reply(pawl_worker *worker, struct pw_reply *reply, int64_t now_us);
int64_t pw_tick_next_us(const pawl_worker *worker);
/* Whether a claim waits for the tick, because timers may be due. */
bool pw_tick_first(pawl_worker *worker, int64_t now_us);

/* writer.c: what happens on the work connections. */
int pw_writer_init(
    struct pw_writer *writer, int number, const struct pw_settings *settings, struct pw_error *err);
void pw_writer_done(struct pw_writer *writer);
void pw_writer_turn(pawl_worker *worker, struct pw_writer *writer, int64_t now_us);
/* Answers everything that waits on this writer, because the session has ended. */
void pw_writer_lose(pawl_worker *worker, struct pw_writer *writer);
void pw_writer_broken(
    pawl_worker *worker, struct pw_writer *writer, const struct pw_error *error, int64_t now_us);
/* Whether a request has waited too long for its reply. */
bool pw_request_late(const struct pw_request *request, int64_t now_us);
/* Gives what a writer has to one that works, if it has been without a connection for a while. */
void pw_writer_rescue(pawl_worker *worker, struct pw_writer *writer, int64_t now_us);
void pw_writer_reply(
    pawl_worker *worker, struct pw_writer *writer, struct pw_reply *reply, int64_t now_us);
int64_t pw_writer_next_us(const pawl_worker *worker, const struct pw_writer *writer);
/* Puts an item at the end of what its task has to send. */
void pw_writer_add(pawl_worker *worker, struct pw_item *item, int64_t now_us);
/* Puts a list of items back before everything else, in its order. */
void pw_writer_put_back(struct pw_writer *writer, struct pw_list *items, int64_t now_us);

/* batch.c */
int pw_batch_send(
    pawl_worker *worker, struct pw_writer *writer, int64_t now_us, struct pw_error *err);
void pw_batch_reply(
    pawl_worker *worker, struct pw_writer *writer, struct pw_reply *reply, int64_t now_us);

/* claim.c */
void pw_claim_turn(pawl_worker *worker, int64_t now_us);
void pw_claim_reply(pawl_worker *worker, struct pw_reply *reply, int64_t now_us);
void pw_claim_broken(pawl_worker *worker, struct pw_writer *writer, int64_t now_us);
/* Whether one of the requests about claims has waited too long. */
bool pw_claim_late(const pawl_worker *worker, int64_t now_us);
void pw_claim_soon(pawl_worker *worker, int64_t at_us);
/* Claims because of a notification: at once, or a little later if those before it were of no use. */
void pw_claim_hint(pawl_worker *worker, int64_t now_us);
int64_t pw_claim_next_us(const pawl_worker *worker);
void pw_held_reply(pawl_worker *worker, struct pw_reply *reply, int64_t now_us);
void pw_idle_reply(pawl_worker *worker, struct pw_reply *reply, int64_t now_us);

/* task.c */
/* Whether the lease holds is known again, one way or the other: who waits for that goes on. With the lock held. */
void pw_worker_sure(pawl_worker *worker);
/* Takes note of an item that was posted: its task stays until all are answered. I/O thread. */
void pw_item_take(struct pw_item *item);
/* Answers an item that was taken: wakes its branch, frees a note, ends a task. The item is not to be used after. I/O thread. */
void pw_item_answer(
    pawl_worker *worker, struct pw_item *item, enum pw_answer answer, const char *reason);
/* Tells a task why it should stop, unless it knows of something worse. I/O thread. */
void pw_task_tell(struct pw_task *task, enum pw_standing standing);
/* Answers all items of a task that wait, and says that the lease is lost. */
void pw_task_lose(pawl_worker *worker, struct pw_task *task);
/* Turns the last item of a task, which was refused for this reason, into a failure that is final and says so. */
void pw_task_fail_instead(struct pw_task *task, const char *reason);
/* Gives a task back that was claimed and not handed out. */
void pw_task_give_back(struct pw_task *task);
#endif
