/* SPDX-License-Identifier: Apache-2.0 */
/* What the oracle remembers, for its own files only. Lists are short and searched from the beginning. */
#ifndef PAWL_ORACLE_STATE_H
#define PAWL_ORACLE_STATE_H

#include "meanwhile.h"
#include "oracle.h"

#include "base/arena.h"
#include "base/buf.h"

struct pw_uuid;

enum {
    ORACLE_WORKFLOWS_MAX = 32,
    ORACLE_QUEUES_MAX = 64,
    ORACLE_STEPS_MAX = 10,      /* of one flow */
    ORACLE_STEP_SPAN = 1000000, /* numbers of tasks between one step of a flow and the next */
    ORACLE_CRASH_MAX = 5,
    ORACLE_SUSPECT_AT = 2,
    ORACLE_PAUSES_MAX = 101,   /* of a schedule: one more than the engine keeps */
    ORACLE_PAYLOAD_MAX = 4000, /* the comparison sets the engine's limit to this */
};

#define ORACLE_GRACE_US INT64_C(30000000)
#define ORACLE_DAY_US INT64_C(86400000000)
#define ORACLE_RETENTION_US (14 * ORACLE_DAY_US)
#define ORACLE_EVENT_RETENTION_US (7 * ORACLE_DAY_US)

enum oracle_place {
    ORACLE_READY = 0,
    ORACLE_WAITING = 1,
    ORACLE_HELD = 2,
    ORACLE_SUSPECT = 3,
    ORACLE_OPEN = 4, /* the run of a flow, which its tasks carry out */
};

enum oracle_state {
    ORACLE_SUCCESS = 1,
    ORACLE_ERROR = 2,
    ORACLE_RUNNING = 3, /* of a step; of a round: CANCELLED */
    ORACLE_SKIPPED = 4,
};

enum oracle_kind {
    ORACLE_STEP = 1,
    ORACLE_SLEEP = 2,
    ORACLE_EVENT = 3,
    ORACLE_SIGNAL = 4,
    ORACLE_CHILD = 5,
    ORACLE_APPROVAL = 6,
};

/* Where tasks wait: one of each workflow, and one of each step of a flow that is no child run. */
struct oracle_queue {
    const char *name;
    int workflow;
    int64_t step_timeout_us;
    bool own_timeout;
    bool paused;
    bool laned;    /* it has lanes, or had */
    int key_limit; /* of each lane; 0: none */
};

/* What an operator has set for one lane. */
struct oracle_lane {
    int queue;
    const char *tenant;
    const char *limit_key;
    int limit;  /* 0: that of the queue */
    int weight; /* 0: none is set */
    bool paused;
};

/* A step of a flow; number n stands at n - 1. */
struct oracle_flow_step {
    const char *name;
    int no;
    int deps[ORACLE_DEPS_MAX];
    int deps_count;
    int queue;    /* -1: it is a child run */
    int child;    /* the workflow of that, or -1 */
    int map_from; /* 0: the run's input; -1: it is no map */
    bool spreads; /* its skip, or that of one before it, skips what depends on it */
    struct oracle_step_spec spec;
};

struct oracle_workflow {
    const char *name;
    const char *runtime;
    int priority;
    struct oracle_policy policy;
    int64_t run_timeout_us;
    int64_t step_timeout_us;
    bool strict_order;
    bool fair;
    bool workflow_paused;
    int queue;
    bool flow;
    bool frozen; /* it was triggered: its steps do not change any more */
    struct oracle_flow_step steps[ORACLE_STEPS_MAX];
    int steps_count;
};

struct oracle_session {
    int64_t id;
    const char *name;
    const char *const *handles;
    const char *runtime;
    int64_t lease_us;
    int64_t lease_until;
    int64_t reported_at;
    struct oracle_running running;
    int64_t next_limit_at; /* before it housekeeping does not look at the step that runs */
    uint64_t queues;       /* one bit for each queue, as of the last look */
    int queues_seen;
    bool idle;
    bool draining;
    const char *ended; /* why, or NULL */
};

struct oracle_step {
    const char *name;
    const char *full_name; /* NAME#n of what a task of a flow came to; else NULL */
    const char *undo_name; /* STEP/n/NAME#n of a step with an undo inside of a task; else NULL */
    int round;
    enum oracle_state state;
    enum oracle_kind kind;
    int seq;
    int attempt;
    int fence;
    int64_t started_at;
    int64_t ended_at;
    const char *output;
    const char *error;
    const char *undo;
    const char *source;
};

struct oracle_wait {
    const char *name;
    enum oracle_kind kind;
    int seq;
    const char *topic;
    const char *key;
    const char *match;
    const char *form;
    const char *child;
    int64_t created_at;
    int64_t due_at;
};

struct oracle_try {
    const char *name;
    int n;
    int of;
    int64_t due_at;
    const char *error;
};

struct oracle_sent {
    const char *name;
    const char *payload;
};

struct oracle_audit {
    const char *what;
    int64_t at;
    const char *who;
    const char *detail; /* of what is said once only */
    int task;
};

struct oracle_round {
    int round;
    int status;
    int fence;
    int attempt;
    int64_t session;
    int64_t started_at;
    int64_t ended_at;
    bool rolled_back;
    bool key_freed;
    const char *parent_step;
    int parent_task;
    const char *output;
    const char *error;
};

/*
 * A run, or a task of a flow's run: both are claimed, wait and are committed alike. Of a task the run it is of has what
 * concerns all: audit, signals, notes, rounds, limits. What a task recorded stays with it when it does not live, for the
 * next round; a step of a flow that never was a task (skipped, a child run, a map as a whole) has one, too, for its record.
 */
struct oracle_run {
    const char *id;
    struct oracle_workflow *workflow;
    int queue;
    struct oracle_run *whole; /* of a task its run, of a run itself */
    int task;                 /* 0: the run */
    bool was_task;            /* it has been one that could be claimed */
    struct oracle_run *tasks; /* by their numbers */
    const char *tenant;
    const char *key;
    int priority;
    const char *input;
    const char *metadata;
    const char *limit_key;
    const char *tags; /* each once, in order: {a,b}; NULL: none */
    int64_t triggered_at;
    const char *parent;
    const char *parent_step;
    int parent_task; /* 0: the run itself */

    /* Of the round in force; nothing of it counts when the run does not live. */
    bool living;
    enum oracle_place place;
    int round;
    int crashes;
    int fence;
    int attempt;
    bool started;
    bool counted; /* it was claimed out of a lane */
    bool in_line; /* while it is ready: it is in its lane, and no claim has to move it there */
    bool woken;   /* something was settled that the claim in force has not seen */
    bool rolling_back;
    const char *reason;
    int64_t session; /* 0: nobody */
    int request;
    int64_t due_at;
    int64_t started_at;
    int64_t claimed_at;

    /* It is to end. fence: of the claim whose own doing that is, or -1. */
    bool ending;
    int ending_status;
    int ending_fence;
    bool ending_rollback;
    const char *ending_by;
    const char *ending_why;
    const char *ending_error;

    bool paused;
    const char *paused_by;
    const char *paused_why;
    int64_t paused_due;
    const char *paused_reason;

    /* Time limits; ORACLE_NONE: there is none. The last is until a worker must have claimed it. */
    int64_t timeout_at;
    int64_t grace_at;
    int64_t cancel_at;
    const char *cancel_why; /* NULL: its parent was cancelled */
    int64_t expires_at;
    bool expires_put_off; /* it is over, and could not be enforced then */

    /* Of a flow: how many more must come before a step can start, or a map that has started is done; 0: none has come yet,
     * or it has begun. Step 0 is the end. */
    int missing[ORACLE_STEPS_MAX + 1];

    struct oracle_step *steps;
    size_t steps_count;
    struct oracle_wait *waits;
    size_t waits_count;
    struct oracle_try *tries;
    size_t tries_count;
    struct oracle_sent *signals;
    size_t signals_count;
    struct oracle_audit *audits;
    size_t audits_count;
    struct oracle_round *rounds;
    size_t rounds_count;
    int notes;

    bool kept; /* it outlived the day of its trigger */
    bool touched;
    bool gone;               /* purged; only children still name it */
    struct oracle_run *next; /* in the order of the ids, or of the tasks */
};

struct oracle_key {
    const char *run;
    const char *tenant;
    struct oracle_workflow *workflow;
    const char *key;
    const char *input;
    const char *last_id; /* of the last call with replace or debounce; NULL: there was none */
    int64_t expires_at;  /* ORACLE_NONE: with the run; ORACLE_NEVER: when the run ends */
};

struct oracle_event {
    const char *id;
    int64_t emitted_at;
    const char *tenant;
    const char *topic;
    const char *key;
    const char *payload;
};

/* A pause that has ended. Its catch_up decides about the times in it. */
struct oracle_schedule_pause {
    int64_t paused_at;
    int64_t resumed_at;
    const char *catch_up;
};

struct oracle_schedule {
    struct oracle_schedule_spec spec;
    int number;
    int64_t once_at;
    int64_t starts_at;
    int64_t ends_at;
    int64_t anchor_at;
    int64_t handled_at;
    int64_t next_at;
    int64_t fire_at;
    int64_t waiting_at; /* a time that waits until the run of an earlier one has ended */
    bool paused;
    int64_t paused_at;
    int64_t resumed_at;
    const char *resumed_catch_up;
    struct oracle_schedule_pause earlier_pauses[ORACLE_PAUSES_MAX];
    int earlier_pauses_count;
    bool refused; /* its flow had no steps when it was to be fired last */
    int64_t last_at;
    const char *last_run;
    int fired;
    int skipped;
    int missed;
    int64_t skip_at; /* of the row that a further time of the same kind continues */
};

/* Times of a schedule that triggered no run. */
struct oracle_skip {
    int schedule;
    int64_t first_at;
    int64_t last_at;
    int times;
    const char *reason;
    const char *run;
};

struct oracle_subscription {
    struct oracle_subscription_spec spec;
    int number;
    bool paused;
    int64_t retry_at;           /* ORACLE_NONE: its last run could be started */
    const char *deferred_after; /* deferred events after this one come first */
    const char *error;
    int started;
};

/* An event that is to start runs: of subscriptions up to this number. */
struct oracle_expected {
    const char *event;
    int last;
};

/* An event that one subscription gets later. */
struct oracle_deferred {
    int subscription;
    const char *event;
};

struct oracle_bulk_answer {
    const char *answer;
    int count;
};

/* A run that has its turn in a bulk. key: that a retry takes again. */
struct oracle_bulk_turn {
    const char *run;
    const char *key;
};

struct oracle_bulk {
    struct oracle_bulk_spec spec;
    int number;
    int64_t before_ms;
    const char *position; /* the last run that was looked at */
    struct oracle_bulk_turn *again;
    size_t again_count;
    int turns;
    struct oracle_bulk_answer *answers;
    size_t answers_count;
    int64_t due_at;
    int64_t ended_at;
    bool stopped;
    bool gone; /* it ended long ago */
};

struct oracle {
    struct pw_arena texts;
    int64_t now;
    int64_t housekeeping_at;
    int epoch;
    int queues_version;
    bool all_paused;
    bool refuses_triggers;
    const char *locked;
    const struct oracle_meanwhile *meanwhile; /* NULL: nobody else does anything */
    enum oracle_moment moment;                /* of the call that is being made */
    bool observing;
    const struct oracle_chooser *chooser; /* NULL: nobody is asked */
    int crash_max;
    int64_t grace_us;
    struct oracle_workflow workflows[ORACLE_WORKFLOWS_MAX];
    size_t workflows_count;
    struct oracle_queue queues[ORACLE_QUEUES_MAX];
    int queues_count;
    struct oracle_session *sessions;
    size_t sessions_count;
    struct oracle_run *runs;
    struct oracle_key *keys;
    size_t keys_count;
    struct oracle_event *events;
    size_t events_count;
    struct oracle_schedule *schedules;
    size_t schedules_count;
    int schedules_made;
    struct oracle_skip *skips;
    size_t skips_count;
    struct oracle_bulk *bulks;
    size_t bulks_count;
    struct oracle_lane *lanes;
    size_t lanes_count;
    int shut_full;
    int shut_own;
    int shut_paused;
    struct oracle_subscription *subscriptions;
    size_t subscriptions_count;
    int subscriptions_made;
    struct oracle_expected *expected;
    size_t expected_count;
    struct oracle_deferred *deferred;
    size_t deferred_count;
};

/* --- memory --- */

/* A copy that lives as long as the oracle; NULL stays NULL. */
const char *oracle_keep(struct oracle *o, const char *text);
const char *oracle_keepf(struct oracle *o, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Makes room for one more at the end of a list and returns it, all zero. */
void *oracle_push(void *list_pointer, size_t *count, size_t size);

/* Takes one out of a list and keeps the order of the others. */
void oracle_drop(void *list, size_t *count, size_t size, size_t at);

bool oracle_same(const char *a, const char *b); /* both NULL counts as the same */

/* --- finding --- */

struct oracle_workflow *oracle_find_workflow(struct oracle *o, const char *name);
struct oracle_run *oracle_find_run(struct oracle *o, const char *id);    /* living or ended */
struct oracle_run *oracle_find_living(struct oracle *o, const char *id); /* and not locked */
struct oracle_session *oracle_find_session(struct oracle *o, int64_t id);
bool oracle_locked(const struct oracle *o, const struct oracle_run *run);
bool oracle_session_locked(const struct oracle *o, const struct oracle_session *session);
bool oracle_still_holds(struct oracle *o, const struct oracle_session *session);

/* NULL if the session may act, else the SQLSTATE. */
const char *oracle_session_problem(struct oracle *o, int64_t id);
uint64_t oracle_queues_of(struct oracle *o, const struct oracle_session *session);
bool oracle_handled(struct oracle *o, const struct oracle_workflow *workflow);
int oracle_add_queue(struct oracle *o, const char *name, const struct oracle_workflow *workflow,
    int64_t step_timeout_us, bool own_timeout);

/* The run itself or a task of it, NULL if there is none; and the same, made if there is none, which then does not live. */
struct oracle_run *oracle_find_task(struct oracle_run *run, int task);
struct oracle_run *oracle_task(struct oracle_run *run, int task);

/* Runs and their tasks, one after another; NULL at the end. */
struct oracle_run *oracle_next_task(struct oracle_run *task);
void oracle_free_tasks(struct oracle_run *run);

/* The record of a step that counts in the round in force, or NULL. */
struct oracle_step *oracle_find_step(struct oracle_run *run, const char *name);
struct oracle_wait *oracle_find_wait(struct oracle_run *run, const char *name);
struct oracle_try *oracle_find_try(struct oracle_run *run, const char *name);
const struct oracle_round *oracle_last_round(const struct oracle_run *run);

/* Waits and tries by name, as they are shown. */
void oracle_sort_lists(struct oracle_run *run);

/* --- what the verbs share --- */

/* An id that the engine made tells the time of its call, to the nearest millisecond. */
bool oracle_is_of_now(const struct oracle *o, const struct pw_uuid *id);

/* An id that a client made is more than an hour off the clock, or of another form. */
bool oracle_is_off(const struct oracle *o, const struct pw_uuid *id);

struct oracle_new_run {
    struct oracle_workflow *workflow;
    const char *id;
    const char *tenant;
    const char *key;
    int priority;
    const char *input;
    const char *metadata;
    const char *limit_key;
    const char *tags;
    int64_t delay_us;
    const char *parent;
    const char *parent_step;
    int parent_task;
};

/* Of a flow the caller opens it then. */
struct oracle_run *oracle_add_run(struct oracle *o, const struct oracle_new_run *made);

void oracle_audit(struct oracle *o, struct oracle_run *run, const char *what, const char *who);
void oracle_audit_once(
    struct oracle *o, struct oracle_run *run, const char *what, const char *detail);
int oracle_next_seq(const struct oracle_run *run);
enum oracle_place oracle_ready_place(int crashes);

/* Writes a record of the round in force; everything of it but name, kind, state and ended_at may be changed after. */
struct oracle_step *oracle_record(struct oracle *o, struct oracle_run *run, const char *name,
    enum oracle_kind kind, enum oracle_state state, int seq);

/* A new record was made: crashes and failed tries of that step are forgotten. */
void oracle_progress(struct oracle_run *run, const char *name);

/* Something happened that the run's code should see. */
void oracle_make_ready(struct oracle *o, struct oracle_run *run);

/* Ends a wait with a record and lets the run go on. */
void oracle_settle(struct oracle *o, struct oracle_run *run, const char *wait,
    enum oracle_state state, const char *output, const char *error, const char *source);

/* The time of a wait is over: a sleep ends well, any other wait has timed out. */
void oracle_settle_due(struct oracle *o, struct oracle_run *run, size_t wait);

/* The key of a workflow in a tenant, or NULL; and whether its time is over, so that it is anybody's. */
struct oracle_key *oracle_find_key(
    struct oracle *o, const char *tenant, const struct oracle_workflow *workflow, const char *key);
bool oracle_key_is_over(const struct oracle *o, const struct oracle_key *key);

/* An undo failed and ended this round. */
bool oracle_rollback_is_stuck(const struct oracle_round *round);

/* "ok", or "busy" if the parent is locked. status as in oracle_view. */
const char *oracle_end_run(struct oracle *o, struct oracle_run *run, int status, const char *output,
    const char *error, int fence);

/* The same, or the start of a rollback. own: it is the doing of the claim in force. */
const char *oracle_end_or_roll_back(struct oracle *o, struct oracle_run *run, int status,
    const char *error, bool rollback, bool own);

/* What rollback: stands before in the name of its undo. */
const char *oracle_undo_name(const struct oracle_step *step);

/* ["b#1", "a#1"]: what is not undone yet, newest first; count may be NULL. */
const char *oracle_undone(struct oracle *o, const struct oracle_run *run, size_t *count);
const char *oracle_first_undone(const struct oracle_run *run);

/* Takes back what a session holds and returns how many; crashed: its worker was lost. */
int oracle_release_held(struct oracle *o, struct oracle_session *session, bool crashed);

/* The piece of housekeeping that fires schedules, and what is known of these. */
void oracle_fire(struct oracle *o);
void oracle_show_schedules(struct oracle *o, struct pw_buf *out);

/* The pieces of housekeeping that continue bulks. */
void oracle_go_on_with_bulks(struct oracle *o);
void oracle_show_bulks(struct oracle *o, struct pw_buf *out);

/* How many more runs of its lane may be held; INT_MAX: any number. */
int oracle_room_of(struct oracle *o, const struct oracle_run *run);
bool oracle_same_lane(const struct oracle_run *a, const struct oracle_run *b);
void oracle_count_shut(struct oracle *o, const struct oracle_run *run);
void oracle_show_lanes(struct oracle *o, struct pw_buf *out);

/* An event was emitted; and the piece of housekeeping that starts runs of events. */
void oracle_expect_runs(struct oracle *o, const struct oracle_event *event);
void oracle_start_runs(struct oracle *o);
void oracle_show_subscriptions(struct oracle *o, struct pw_buf *out);

/* Housekeeping, if it is due. */
void oracle_tick(struct oracle *o);

/* Another call has this run, or this session, by its id as text; meanwhile.c. */
bool oracle_is_held(const struct oracle *o, const char *id);
bool oracle_row_is_held(const struct oracle *o, const struct oracle_run *run);
/* Pieces of it: a run gets ready; it is taken back from its holder; a limit, one of the run's three, is enforced, "busy": not now. */
void oracle_make_due(struct oracle *o, struct oracle_run *run);
void oracle_free_held(struct oracle *o, struct oracle_run *run, bool crashed, bool started);
bool oracle_was_claimed(const struct oracle_run *run);
bool oracle_has_expired(const struct oracle *o, const struct oracle_run *task);
void oracle_expire(struct oracle *o, struct oracle_run *run);
int64_t oracle_limit_of_step(struct oracle *o, const struct oracle_session *s);
const char *oracle_enforce_limit(struct oracle *o, struct oracle_run *run, int64_t *limit);
const char *oracle_defer_limit(struct oracle *o, struct oracle_run *run, int64_t *limit);

const char *oracle_cancel_run(
    struct oracle *o, struct oracle_run *run, const char *by, const char *why, bool rollback);

/* {"code": CODE, "message": MESSAGE} */
const char *oracle_error(struct oracle *o, const char *code, const char *message);

/* A run, or a task of it, has taken this event. */
bool oracle_has_taken(const struct oracle_run *run, const char *event);

/* Whether an event matches; match NULL does not ask. */
bool oracle_matches(const char *match, const char *payload);

/* What an item that waits comes to; see item.c. */
/* What one name came to, as a commit answers with it. */
const char *oracle_value_of(struct oracle *o, const struct oracle_step *step);
const char *oracle_recorded(struct oracle *o, struct oracle_run *task, const char *name);
void oracle_item_wait(struct oracle *o, struct oracle_run *run, const struct oracle_item *item,
    enum oracle_kind kind, const char **answer, const char **value);
void oracle_item_close(struct oracle *o, struct oracle_run *run, const struct oracle_item *item,
    const char **answer, const char **value);

/* Counts a failed try: its value, and whether it was the last. */
bool oracle_count_failure(struct oracle *o, struct oracle_run *run, const struct oracle_item *item,
    const char *name, const char **answer, int *failures, int64_t *due_at);

void oracle_pause_for_drift(struct oracle *o, struct oracle_run *run);
void oracle_let_go(struct oracle *o, struct oracle_run *run, int64_t due_at, const char *reason);

#endif
