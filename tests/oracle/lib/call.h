/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call of a verb, as the generator decides it. It names runs, sessions and events by the call that made them, so that
 * the same calls can be made again in another database, and some of them left out. All texts in it are constants.
 */
#ifndef PAWL_ORACLE_CALL_H
#define PAWL_ORACLE_CALL_H

#include "oracle.h"

enum call_verb {
    CALL_ADVANCE,
    CALL_CREATE_WORKFLOW,
    CALL_ALTER_WORKFLOW,
    CALL_CREATE_FLOW,
    CALL_ADD_STEP,
    CALL_TRIGGER,
    CALL_TRIGGER_MANY,
    CALL_REGISTER,
    CALL_HEARTBEAT,
    CALL_REST,
    CALL_LEAVE,
    CALL_DRAIN_WORKER,
    CALL_HELD,
    CALL_CLAIM,
    CALL_COMMIT,
    CALL_COMMIT_EACH,
    CALL_STEP, /* from here to release: one item */
    CALL_COMPLETE,
    CALL_FAIL,
    CALL_SLEEP,
    CALL_WAIT_EVENT,
    CALL_WAIT_SIGNAL,
    CALL_RELEASE,
    CALL_RECORD_STEP,
    CALL_HOUSEKEEP,
    CALL_TICK,
    CALL_RETAIN, /* days pass */
    CALL_EMIT,
    CALL_SIGNAL,
    CALL_APPROVE,
    CALL_REJECT,
    CALL_CANCEL,
    CALL_KILL,
    CALL_PAUSE,
    CALL_RESUME,
    CALL_WAKE,
    CALL_RETRY,
    CALL_ROLLBACK_RETRY,
    CALL_ROLLBACK_SKIP,
    CALL_FORK,
    CALL_PURGE,
    CALL_PAUSE_WORKFLOW,
    CALL_RESUME_WORKFLOW,
    CALL_PAUSE_QUEUE,
    CALL_RESUME_QUEUE,
    CALL_PAUSE_ALL,
    CALL_RESUME_ALL,
    CALL_RAISE_EPOCH,
    CALL_CREATE_SCHEDULE,
    CALL_PAUSE_SCHEDULE,
    CALL_RESUME_SCHEDULE,
    CALL_DELETE_SCHEDULE,
    CALL_BACKFILL_SCHEDULE,
    CALL_BEGIN_BULK,
    CALL_STOP_BULK,
    CALL_SET_LANE,
    CALL_PAUSE_LANE,
    CALL_RESUME_LANE,
    CALL_CREATE_SUBSCRIPTION,
    CALL_PAUSE_SUBSCRIPTION,
    CALL_RESUME_SUBSCRIPTION,
    CALL_DELETE_SUBSCRIPTION,
    CALL_VERBS,
};

enum {
    CALL_ITEMS_MAX = 4,
    CALL_NAMES_MAX =
        16, /* of what one call makes: by its items first, then children that flows start */
    CALL_NOBODY = -1, /* a run, session or event that there is not */
};

struct call_item {
    int run;
    int task;
    int fence_off; /* added to the fence that the run has */
    char name[48];
    struct oracle_item item;
    struct oracle_policy policy;
    bool has_policy;
};

/* One run of many that are triggered at once. */
struct call_many {
    const char *input;
    const char *key;
    const char *limit_key;
    int other; /* a run whose id is given as this one's; 0: none */
};

struct call {
    int number; /* from 1; what it makes is named number * CALL_NAMES_MAX + the place of the item */
    enum call_verb verb;
    int run;
    int session;
    int other; /* a run or event whose id is given as a new one's; 0: none */
    int lock;  /* a run that another transaction holds meanwhile; 0: none */
    int64_t advance_us;
    bool
        flag; /* idle, rollback, refused triggers, an unknown option, an id that the client makes */
    const char *name;
    const char *text;
    struct oracle_workflow_spec workflow;
    struct oracle_step_spec step;
    struct oracle_trigger_spec trigger;
    struct call_many many[CALL_ITEMS_MAX];
    int many_count;
    struct oracle_register_spec worker;
    struct oracle_event_spec event;
    struct oracle_schedule_spec schedule; /* also the name and tenant of one that is there */
    struct oracle_backfill_spec backfill;
    struct oracle_bulk_spec bulk;
    int bulk_number; /* of one that is there, or is not */
    struct oracle_lane_spec lane;
    struct oracle_subscription_spec
        subscription; /* also the name and tenant of one that is there */
    struct oracle_claim_spec claim;
    struct oracle_running running;
    int running_run;
    struct call_item items[CALL_ITEMS_MAX];
    int items_count;
};

/* Whether the verb is a commit of one item. */
bool call_is_one(enum call_verb verb);

/* The verb's name, as in SQL. */
const char *call_verb_name(enum call_verb verb);

#endif
