/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The oracle: what the engine's verbs do, in plain C, slowly and in one thread. It is read beside the contract, not beside
 * the SQL: no index, no batch, no flag that only saves time. It knows no database. What the engine is free to choose (ids,
 * chance in a delay, which of equals) is handed in and checked for being allowed; a choice that is not allowed shows as
 * the answer "not allowed: ...".
 *
 * Times are microseconds since 1970, durations microseconds. Ids are UUIDs as text. JSON is text in the form that jsonb
 * prints. Texts that are handed in are copied; what is handed out lives as long as the oracle. Tenants' rights are not
 * part of it. Memory that runs out ends the process: this is for tests.
 */
#ifndef PAWL_ORACLE_H
#define PAWL_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct oracle;
struct pw_buf;

#define ORACLE_NEVER INT64_MAX /* the time "infinity" */
#define ORACLE_NONE INT64_MIN  /* no time, no duration */

/* At now_us, with no workflow, no run and no session. Freed with oracle_free(). */
struct oracle *oracle_new(int64_t now_us);
void oracle_free(struct oracle *oracle);

/* Moves the clock, forwards only; housekeeping is then due at the next claim or heartbeat. */
void oracle_advance(struct oracle *oracle, int64_t by_us);
int64_t oracle_now(const struct oracle *oracle);

/* Moves the clock by days and does what retention has to do then. The reply says how many runs that live were moved out of
 * their day, and how many ended ones are gone. */
const char *oracle_retain(struct oracle *oracle, int64_t by_us, struct pw_buf *reply);

/* Another transaction holds this run from now on; NULL: none does. */
void oracle_hold_lock(struct oracle *oracle, const char *run);

/* Who is asked what the engine chose where no answer tells: NULL and false if it is not known. */
struct oracle_chooser {
    void *userdata;
    /* The id of a child run that a step of a flow, or a step of a run or task, has started just now. */
    const char *(*child)(void *userdata, const char *parent, int task, const char *step);
    /* Of two waits that are equal, whether this one is still open. */
    bool (*waits)(void *userdata, const char *run, int task, const char *name);
    /* Whether there is a record of this step of a flow in this round. */
    bool (*records)(void *userdata, const char *run, int task, const char *name, int round);
    /* The number of the n-th session that housekeeping has ended in this call, from 0; 0: there is none. */
    int64_t (*swept)(void *userdata, int n);
    /* The run that has this key, of a schedule that was fired just now, or of an event. */
    const char *(*scheduled)(
        void *userdata, const char *tenant, const char *workflow, const char *key);
};

void oracle_set_chooser(struct oracle *oracle, const struct oracle_chooser *chooser);

/* --- definitions --- */

struct oracle_policy {
    int max_attempts;
    int64_t base_us;
    double factor;
    int64_t cap_us;
    double jitter;
};

struct oracle_workflow_spec {
    const char *name;
    const char *runtime;
    int priority;
    struct oracle_policy policy;
    int64_t run_timeout_us;
    int64_t step_timeout_us;
    bool strict_order;
    bool sets_lanes; /* the next two are given, as always by create_workflow */
    int key_limit;   /* 0: none; below 0: one that is not allowed */
    bool fair;
};

/* Every verb answers with a word: that of the engine, or the SQLSTATE it raises. */
const char *oracle_create_workflow(struct oracle *oracle, const struct oracle_workflow_spec *spec);

/* The same of a flow: a workflow whose steps are declared. */
const char *oracle_create_flow(struct oracle *oracle, const struct oracle_workflow_spec *spec);

enum {
    ORACLE_DEPS_MAX = 4,
};

/* A step of a flow with its options; NULL, -1 and ORACLE_NONE: not given. Texts must live as long as the oracle. */
struct oracle_step_spec {
    const char *flow;
    const char *step;
    const char *deps[ORACLE_DEPS_MAX]; /* NULL behind the last */
    const char *map;
    const char *condition;
    const char *unmet;
    const char *failed;
    const char *workflow;
    const char *undo;
    int64_t delay_us;
    int64_t timeout_us;
    int priority;
    int max_attempts;
    int64_t base_us;
    bool unknown_option;
};

const char *oracle_add_step(struct oracle *oracle, const struct oracle_step_spec *spec);

/* Changes all options but the name; unknown_option stands for one that there is not. */
const char *oracle_alter_workflow(
    struct oracle *oracle, const struct oracle_workflow_spec *spec, bool unknown_option);

/* subject: "workflow" or "queue". */
const char *oracle_set_pause(
    struct oracle *oracle, const char *subject, const char *name, bool paused);

const char *oracle_pause_all(struct oracle *oracle, bool refuse_triggers);
const char *oracle_resume_all(struct oracle *oracle);

/* --- runs --- */

struct oracle_trigger_spec {
    const char *workflow;
    const char *input;
    const char *key;
    const char *tenant;
    int priority; /* -1: the workflow's */
    int64_t delay_us;
    const char *metadata;
    const char *id;
    int64_t key_ttl_us;
    bool key_while_active;
    int64_t expires_us;
    bool replace;
    int64_t debounce_us;
    int64_t debounce_max_us;
    bool is_new; /* the caller says that nobody has sent the id before; see oracle_may_be_new() */
    const char *limit_key;
    const char *const *tags; /* ends with NULL; NULL: none are given */
};

/*
 * Whether a caller may call this id new without making a second run of it: all but an id of the last 100 ms whose run has ended. What
 * happens to such a one is not modelled.
 */
bool oracle_may_be_new(struct oracle *oracle, const char *id);

/* made is the id that the engine made, if it made one. The answer is "RUN CREATED HANDLED" in reply. */
const char *oracle_trigger(struct oracle *oracle, const struct oracle_trigger_spec *spec,
    const char *made, struct pw_buf *reply);

/* How many runs have expired and were not ended yet. The model cannot know whether a claim comes to one of them. */
int oracle_count_expired(struct oracle *oracle);

/* Many at once: all of them, or none and the first error. made: what the engine answered for each. uneven: its lists do
 * not have the same length. A line of the reply for each: number, run, created, handled. */
const char *oracle_trigger_many(struct oracle *oracle, const struct oracle_trigger_spec *specs,
    const char *const *made, size_t count, bool uneven, struct pw_buf *reply);

/* --- workers --- */

/* handles: names and prefix patterns, as many as there are before NULL. */
struct oracle_register_spec {
    const char *name;
    const char *const *handles;
    const char *runtime;
    int64_t lease_us;
    int protocol;
};

const char *oracle_register(struct oracle *oracle, const struct oracle_register_spec *spec,
    int64_t made, struct pw_buf *reply);

/* A step that lasts, as a heartbeat tells it; run NULL: none. */
struct oracle_running {
    const char *run;
    int task;
    int64_t started_ms;
    int64_t timeout_ms;
    bool malformed;
};

const char *oracle_heartbeat(struct oracle *oracle, int64_t session,
    const struct oracle_running *running, struct pw_buf *reply);
const char *oracle_rest(struct oracle *oracle, int64_t session, bool renew, bool has_work);
const char *oracle_leave(struct oracle *oracle, int64_t session, struct pw_buf *reply);
const char *oracle_drain_worker(struct oracle *oracle, int64_t session);
const char *oracle_held(struct oracle *oracle, int64_t session, struct pw_buf *reply);
const char *oracle_raise_epoch(struct oracle *oracle, struct pw_buf *reply);
const char *oracle_housekeep(struct oracle *oracle);
const char *oracle_force_tick(struct oracle *oracle);

struct oracle_claim_spec {
    int64_t session;
    int most;
    int request; /* 0: none */
    bool start;
    bool quiet;
    /* Of a call that was observed: how many runs it took in all, also such that are not known here; 0: it was not. And that its
     * session ended when it had begun, which neither saw of the other: then what it took is given back by a chore. */
    int taken;
    bool overtaken;
};

/* chosen: the ids that the engine took, NULL at the end, with /TASK behind them if that is not 0; the reply has a line for
 * each, in the order of the ids and tasks. */
const char *oracle_claim(struct oracle *oracle, const struct oracle_claim_spec *spec,
    const char *const *chosen, struct pw_buf *reply);

/* --- progress --- */

/* What the option object of an item says; each item uses a few of these. */
struct oracle_option {
    const char *undo;                   /* begin: the undo object */
    int64_t ms;                         /* sleep; ORACLE_NONE: missing */
    int64_t timeout_ms;                 /* event, signal, approval */
    const char *topic;                  /* event */
    const char *key;                    /* event */
    const char *match;                  /* event */
    const char *signal;                 /* signal, approval */
    const char *form;                   /* approval */
    const char *workflow;               /* child */
    bool detached;                      /* child */
    int64_t delay_ms;                   /* child */
    const char *limit_key;              /* child */
    int priority;                       /* child; -1: the workflow's */
    bool final;                         /* fail */
    bool permanent;                     /* fail, retry */
    int failure;                        /* fail, retry: the caller's count; 0: none */
    int64_t retry_after_ms;             /* fail, retry */
    const struct oracle_policy *policy; /* fail, retry */
    const char *unused;                 /* complete: a list of names */
    const char *note;                   /* note: its kind */
};

struct oracle_item {
    const char *run;
    int task;
    int fence;
    const char *kind;
    const char *name;
    const char *payload;
    bool not_json;
    int seq; /* 0: none */
    int millis;
    struct oracle_option option;
    /* What the engine chose: when the next try is due, why a suspended run waits, the event taken, the child's id. */
    int64_t chosen_due_us;
    const char *chosen_reason;
    const char *chosen_event;
    const char *chosen_child;
};

/* A line of the reply for each item: number, answer, value. */
const char *oracle_commit(struct oracle *oracle, int64_t session, const struct oracle_item *items,
    size_t count, struct pw_buf *reply);

/* A commit of one item; if it has to wait and suspend is given, that follows. The reply has answer and value. */
const char *oracle_one(struct oracle *oracle, int64_t session, const struct oracle_item *item,
    const struct oracle_item *suspend, struct pw_buf *reply);

/* The transactional step: run, name, payload and seq of the item count. */
const char *oracle_record_step(
    struct oracle *oracle, int64_t session, const struct oracle_item *item);

/* --- telling runs --- */

struct oracle_event_spec {
    const char *topic;
    const char *payload;
    const char *key;
    const char *tenant;
    const char *id;
};

const char *oracle_emit(struct oracle *oracle, const struct oracle_event_spec *spec,
    const char *made, struct pw_buf *reply);
const char *oracle_signal(
    struct oracle *oracle, const char *run, const char *name, const char *payload);
const char *oracle_decide(struct oracle *oracle, const char *run, const char *name, bool approved,
    const char *by, const char *why, const char *payload);

/* --- operating --- */

const char *oracle_cancel(
    struct oracle *oracle, const char *run, const char *why, bool rollback, const char *by);
const char *oracle_kill(struct oracle *oracle, const char *run, const char *why, const char *by);
const char *oracle_pause(struct oracle *oracle, const char *run, const char *why, const char *by);
const char *oracle_resume(struct oracle *oracle, const char *run, const char *by);
const char *oracle_wake(struct oracle *oracle, const char *run, const char *step, const char *by);
const char *oracle_retry(struct oracle *oracle, const char *run, const char *by);
const char *oracle_rollback_retry(struct oracle *oracle, const char *run, const char *by);
const char *oracle_rollback_skip(
    struct oracle *oracle, const char *run, const char *step, const char *why, const char *by);
const char *oracle_fork(struct oracle *oracle, const char *run, const char *from_step,
    const char *made, struct pw_buf *reply);
const char *oracle_purge(struct oracle *oracle, const char *run);

/* --- schedules --- */

/* One of cron, every and in. Texts must live as long as the oracle; NULL, -1 and ORACLE_NONE: not given. Moments are told from now. */
struct oracle_schedule_spec {
    const char *name;
    const char *workflow;
    const char *cron;
    int64_t every_us;
    int64_t in_us;
    const char *zone; /* UTC or Asia/Kolkata */
    const char *input;
    const char *tenant;
    int priority;
    const char *metadata;
    const char *catch_up;
    int64_t within_us;
    const char *overlap;
    int64_t jitter_us;
    int64_t starts_in_us;
    int64_t ends_in_us;
    bool invalid; /* something in it is */
};

struct oracle_backfill_spec {
    const char *name;
    const char *tenant;
    int64_t since_us; /* ago */
    int64_t until_us;
    int most;
};

const char *oracle_create_schedule(struct oracle *oracle, const struct oracle_schedule_spec *spec);
const char *oracle_pause_schedule(struct oracle *oracle, const char *tenant, const char *name);
const char *oracle_resume_schedule(
    struct oracle *oracle, const char *tenant, const char *name, const char *catch_up);
const char *oracle_delete_schedule(struct oracle *oracle, const char *tenant, const char *name);

/* A line of the reply for each time: time, run, created. */
const char *oracle_backfill_schedule(
    struct oracle *oracle, const struct oracle_backfill_spec *spec, struct pw_buf *reply);

/* What schedules came to, in a word for each. */
void oracle_each_schedule_time(struct oracle *oracle,
    void (*tell)(const char *what, const char *kind, void *userdata), void *userdata);

/* --- bulks --- */

/* Texts must live as long as the oracle; NULL: any. */
struct oracle_bulk_spec {
    const char *act;
    const char *workflow;
    const char *tenant;
    const char *status;
    int rate;          /* runs in a second */
    bool invalid;      /* something in the filter is */
    bool other_digest; /* that of another filter is given */
};

/* The reply is the number of the bulk. */
const char *oracle_begin_bulk(
    struct oracle *oracle, const struct oracle_bulk_spec *spec, struct pw_buf *reply);
const char *oracle_stop_bulk(struct oracle *oracle, int number);

/* The number of the last bulk, and what it does; NULL: it has ended. */
const char *oracle_running_bulk(const struct oracle *oracle, int *number);

/* What bulks did to runs, in a word for each. */
void oracle_each_bulk(struct oracle *oracle,
    void (*tell)(const char *what, const char *kind, void *userdata), void *userdata);

/* --- lanes --- */

/* limit_key NULL: runs without one. limit and weight 0: none; below 0: one that is not allowed. */
struct oracle_lane_spec {
    const char *workflow;
    const char *tenant;
    const char *limit_key;
    int limit;
    int weight;
};

const char *oracle_set_lane(struct oracle *oracle, const struct oracle_lane_spec *spec);
const char *oracle_pause_lane(
    struct oracle *oracle, const struct oracle_lane_spec *spec, bool paused);

/* Why claims left runs, in a word for each reason. */
void oracle_each_shut_lane(struct oracle *oracle,
    void (*tell)(const char *what, const char *kind, void *userdata), void *userdata);

/* --- subscriptions --- */

/* Texts must live as long as the oracle; key and match NULL: any. */
struct oracle_subscription_spec {
    const char *name;
    const char *topic;
    const char *workflow;
    const char *key;
    const char *match;
    const char *tenant;
    bool whole_event; /* the input is the event; else its payload */
    bool invalid;     /* something in it is */
};

const char *oracle_create_subscription(
    struct oracle *oracle, const struct oracle_subscription_spec *spec);
const char *oracle_pause_subscription(struct oracle *oracle, const char *tenant, const char *name);
const char *oracle_resume_subscription(struct oracle *oracle, const char *tenant, const char *name);
const char *oracle_delete_subscription(struct oracle *oracle, const char *tenant, const char *name);

/* How many runs events may start, at most. */
int oracle_count_coming(const struct oracle *oracle);

/* What subscriptions came to, in a word for each. */
void oracle_each_subscription(struct oracle *oracle,
    void (*tell)(const char *what, const char *kind, void *userdata), void *userdata);

/* --- what was observed --- */

/*
 * For a checker of calls that others have made at the same time (tests/storm): it knows from a journal what housekeeping did, when and to
 * whom, and tells it. From oracle_observe() on nothing of that happens by itself; the time is that of each call, which need not be later
 * than the last one's; and the engine's settings are those given.
 */
void oracle_observe(struct oracle *oracle, int crash_max, int64_t grace_us);
void oracle_set_time(struct oracle *oracle, int64_t now_us);

/* A lease is renewed with oracle_heartbeat(), whoever did it. The timer of a run was over, and it got ready. */
const char *oracle_promote(struct oracle *oracle, const char *run);

/* A claim, which need not be given the run in the end, found that the time of a wait was over. */
const char *oracle_time_out(struct oracle *oracle, const char *run, const char *wait);

/* What a session held was taken back; crashed: because its lease was over, or it had ended. */
const char *oracle_take_back(struct oracle *oracle, int64_t session, const char *run, bool crashed);

/* A time limit of a run, "timeout", "grace" or "cancel", was over and enforced; busy: or was put off, because somebody held what that takes. */
const char *oracle_enforce(struct oracle *oracle, const char *run, const char *limit, bool busy);

/* A session ended: "lost" or "left". */
const char *oracle_end_session(struct oracle *oracle, int64_t session, const char *why);

/* --- looking --- */

/* What a chooser of calls must know about a run. */
struct oracle_view {
    bool found;
    bool living;
    int place; /* 0 ready, 1 waiting, 2 held, 3 suspect */
    int fence;
    int64_t session; /* 0: nobody */
    bool rolling_back;
    bool ending;
    bool paused;
    int status;         /* of the last round that ended: 1 SUCCESS, 2 ERROR, 3 CANCELLED; 0: none */
    const char *undone; /* a step that is not undone yet, or NULL */
    const char *waits_for;  /* the topic of an open wait, or NULL */
    const char *waits_name; /* of the same */
    int waits_kind;
    int next_seq;
    bool has_timeout;
    bool started;
    bool stuck; /* an undo failed in the last round that ended */
    bool flow;
    int tasks; /* of a run of a flow: how many there have been */
};

void oracle_look(struct oracle *oracle, const char *run, struct oracle_view *view);

/* The same of a task of a flow; 0: of the run itself. */
void oracle_look_task(struct oracle *oracle, const char *run, int task, struct oracle_view *view);

/* The number of the n-th task, from 0, that a run of a flow has had; 0: there is none. */
int oracle_nth_task(struct oracle *oracle, const char *run, int n);

/* How many sessions live although their leases are over. */
int oracle_count_over(struct oracle *oracle);
int oracle_count_steps(struct oracle *oracle, const char *flow);

/* Calls back for each record of a flow's task, each round that a run of a flow has ended, and each end that freed a key, with
 * the kind of it in a word. */
void oracle_each_outcome(struct oracle *oracle,
    void (*tell)(const char *what, const char *kind, void *userdata), void *userdata);

/* Two runs that descend from the same one, with a flow among them or above: what one comes to may matter to the other. */
bool oracle_are_related(struct oracle *oracle, const char *a, const char *b);
bool oracle_session_lives(struct oracle *oracle, int64_t session);
size_t oracle_count_living(const struct oracle *oracle);

/* Runs that changed since this was asked last. Calls back for each, in the order of their ids. */
void oracle_each_touched(
    struct oracle *oracle, void (*tell)(const char *run, void *userdata), void *userdata);

/* Everything known of one run, or of everything else, as text: a line for each row. */
void oracle_show_run(struct oracle *oracle, const char *run, struct pw_buf *out);
void oracle_show_rest(struct oracle *oracle, struct pw_buf *out);

/* Of a run that lives its hot row and what hangs on it, the first lines of oracle_show_run(); else nothing. */
void oracle_show_task(struct oracle *oracle, const char *run, struct pw_buf *out);

/* Calls back for every run there is, in the order of their ids. */
void oracle_each_run(
    struct oracle *oracle, void (*tell)(const char *run, void *userdata), void *userdata);

#endif
