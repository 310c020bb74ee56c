/* SPDX-License-Identifier: Apache-2.0 */
/* Which verb is called next, and with what. */
#include "generate.h"

#include "chance.h"
#include "timetable.h"

#include <string.h>

enum {
    LIVING_MAX = 24,  /* a claim does all that late housekeeping has to do: 50 rows */
    SESSIONS_MAX = 7, /* and sweeps all sessions */
};

static const char *const events[] = {
    "{\"id\": 1}", "{\"id\": 2}", "{\"id\": 2, \"tag\": \"x\"}", "{\"id\": \"1\"}", "[]"};
static const char *const topics[] = {"t1", "t2"};
static const char *const keys[] = {"", "", "k"};
static const char *const tenants[] = {"", "", "", "acme"};
static const char *const all[] = {"*", NULL};
static const char *const some[] = {"o.*", NULL};
static const char *const exact[] = {"o.a", "p.d", NULL};
static const char *const prefix[] = {"o.b*", NULL};
static const char *const nothing[] = {NULL};
static const char *const flows[] = {"f.*", "o.*", NULL};
static const char *const parts[] = {"f.a/s1", "f.a/s2", "f.b*", "o.a", NULL};

void
generator_init(struct generator *generator, uint64_t seed)
{
    *generator = (struct generator){
        .profile = (int)(seed % 4),
        .days = seed / 4 % 5 == 0,
        .schedules = seed % 7 < 3,
        .subscriptions = seed % 5 < 2,
        .lanes = seed % 9 < 4,
        .bulks = seed % 11 < 4,
    };
    pw_rand_init(&generator->rand, seed);
}

static void
make_workflow(struct generator *g, struct call *call)
{
    struct oracle_workflow_spec *w = &call->workflow;

    w->name = chance_of(g, 4)               ? "Bad.Name"
        : call->verb == CALL_ALTER_WORKFLOW ? chance_workflow(g)
                                            : chance_pick(g, chance_workflows, 4);
    w->runtime = NULL;
    w->priority = 100 - chance_below(g, 2);
    w->run_timeout_us = w->step_timeout_us = ORACLE_NONE;
    chance_policy(g, &w->policy);
    if (strcmp(w->name, "o.b.c") == 0) {
        w->run_timeout_us = INT64_C(90000123);
        w->step_timeout_us = 4000000;
    }
    if (strcmp(w->name, "p.d") == 0) {
        w->runtime = "c";
        w->strict_order = true;
    }
    if (chance_of(g, 5))
        w->priority = -5;
    else if (chance_of(g, 50))
        /* The same every time, so that it exists. */
        w->priority = 100, w->policy = (struct oracle_policy){3, 1000000, 2, 4000000, 0.25};
    call->flag = call->verb == CALL_ALTER_WORKFLOW && chance_of(g, 10);
    if (g->lanes && (call->verb == CALL_ALTER_WORKFLOW || chance_of(g, 20)))
        lane_options(g, w);
    if (call->verb == CALL_ALTER_WORKFLOW && chance_of(g, 5))
        w->name = "none";
}

/* Of one that is refused nothing else is wrong: which of several problems comes first is not the contract's. */
static void
pick_tags(struct generator *g, struct call *call, bool plain)
{
    static char long_tag[102];
    static const char *const one[] = {"order=1", NULL};
    static const char *const two[] = {"b", "a", NULL};
    static const char *const again[] = {"a", "c", "a", NULL};
    static const char *const eight[] = {"h", "g", "f", "e", "d", "c", "b", "a", NULL};
    static const char *const none[] = {NULL};
    static const char *const nine[] = {"1", "2", "3", "4", "5", "6", "7", "8", "9", NULL};
    static const char *const empty[] = {"a", "", NULL};
    static const char *const over[] = {long_tag, NULL};
    static const char *const *const good[] = {one, one, two, again, eight, none};
    static const char *const *const bad[] = {nine, empty, over};

    memset(long_tag, 't', sizeof(long_tag) - 1);
    call->trigger.tags = chance_of(g, 80) ? NULL
        : plain && chance_of(g, 10)       ? bad[chance_below(g, 3)]
                                          : good[chance_below(g, 6)];
}

/* With replace, or debounce, or both. */
static void
make_replacing(struct generator *g, struct oracle_trigger_spec *t)
{
    t->replace = chance_of(g, 60);
    if (!t->replace || chance_of(g, 30))
        t->debounce_us = (int64_t)(1 + chance_below(g, 5)) * 1000000;
    if (t->debounce_us != ORACLE_NONE && chance_of(g, 50))
        t->debounce_max_us = (int64_t)(1 + chance_below(g, 10)) * 1000000;
    if (chance_of(g, 90)) {
        t->key_ttl_us = ORACLE_NONE;
        t->key_while_active = false;
        if (t->debounce_us != ORACLE_NONE)
            t->delay_us = ORACLE_NONE;
    }
}

static void
make_trigger(struct generator *g, const struct player *p, struct call *call)
{
    struct oracle_trigger_spec *t = &call->trigger;
    static const char *const names[] = {"k1", "k2", "k3", "k4", "k5", "k6"};
    static const char *const inputs[] = {"[1, 2]", "[{\"id\": 1}]", "[]", "{\"id\": 1}",
        "{\"id\": 2, \"tag\": \"x\"}", "[1]", "[[1], \"x\", {}]"};

    *t = (struct oracle_trigger_spec){
        .workflow = chance_of(g, 2) ? "none" : chance_workflow(g),
        .input = chance_pick(g, chance_payloads, 7),
        .tenant = chance_pick(g, tenants, 4),
        .priority = chance_of(g, 80) ? -1 : 90 + chance_below(g, 3),
        .delay_us = chance_of(g, 85) ? ORACLE_NONE : (int64_t)(1 + chance_below(g, 20)) * 1000000,
        .metadata = chance_of(g, 80) ? NULL : "{\"m\": 1}",
        .key_ttl_us = ORACLE_NONE,
        .expires_us = chance_of(g, 12) ? (int64_t)(1 + chance_below(g, 20)) * 1000000 : ORACLE_NONE,
        .debounce_us = ORACLE_NONE,
        .debounce_max_us = ORACLE_NONE,
    };
    if (g->lanes)
        t->limit_key = lane_key(g, t->tenant);
    if (t->workflow[0] == 'f')
        t->input = chance_pick(g, inputs, 7);
    if (chance_of(g, 3))
        t->input = chance_huge();
    else if (chance_of(g, 3))
        t->input = chance_large();
    if (chance_of(g, 30)) {
        t->key = chance_pick(g, names, 6);
        t->input = chance_of(g, 90) ? "{}" : "1";
        if (chance_of(g, 30))
            t->key_ttl_us = INT64_C(60000000);
        else if (chance_of(g, 40))
            t->key_while_active = true;
        if (chance_of(g, 4))
            t->key_ttl_us = 0;
        if (chance_of(g, 35))
            make_replacing(g, t);
    }
    if (chance_of(g, 2))
        t->priority = 99999;
    if (chance_of(g, 6)) {
        struct oracle_view view;

        call->other = chance_run(g, p, WANT_ANY, &view);
        t->is_new = chance_of(g, 50);
    } else if (chance_of(g, 10)) {
        call->flag = true;
        t->is_new = chance_of(g, 80);
    }
    pick_tags(g, call, t->key == NULL && call->other == 0 && !call->flag);
}

/* All of one workflow, and what else a trigger says holds for all of them. */
static void
make_many(struct generator *g, const struct player *p, struct call *call)
{
    static const char *const names[] = {"k1", "k2", "k3", "k4", "k5", "k6"};
    struct oracle_trigger_spec *t = &call->trigger;
    bool keyed, named = chance_of(g, 15);

    make_trigger(g, p, call);
    call->other = 0;
    t->replace = false;
    t->debounce_us = t->debounce_max_us = ORACLE_NONE;
    keyed = t->key != NULL;
    /* Which of several problems comes first depends on the keys. */
    t->is_new = named && !keyed && chance_of(g, 30);
    call->many_count = 1 + chance_below(g, CALL_ITEMS_MAX);
    for (int i = 0; i < call->many_count; i++) {
        struct call_many *m = &call->many[i];
        struct oracle_view view;

        m->input = keyed || chance_of(g, 30) ? t->input : chance_pick(g, chance_payloads, 7);
        if (chance_of(g, 2))
            m->input = chance_of(g, 50) ? chance_huge() : chance_large();
        if (keyed && chance_of(g, 80))
            m->key = chance_pick(g, names, 6);
        if (g->lanes)
            m->limit_key = lane_key(g, t->tenant);
        if (named)
            m->other = chance_run(g, p, WANT_ANY, &view);
    }
    t->key = t->input = NULL;
    if (chance_of(g, 2))
        t->key_ttl_us = 0;
    call->flag = chance_of(g, 3);
    pick_tags(g, call, !keyed && !named && !call->flag);
}

static void
make_register(struct generator *g, struct call *call)
{
    struct oracle_register_spec *w = &call->worker;

    *w = (struct oracle_register_spec){
        .name = "w",
        .handles = all,
        .runtime = "c",
        .lease_us = (int64_t)(5 + chance_below(g, 26)) * 1000000,
        .protocol = 1,
    };
    if (chance_of(g, 20))
        w->handles = some;
    else if (chance_of(g, 20))
        w->handles = exact;
    else if (chance_of(g, 10))
        w->handles = prefix;
    else if (g->flows && chance_of(g, 30))
        w->handles = chance_of(g, 60) ? flows : parts;
    if (chance_of(g, 20))
        w->runtime = NULL;
    if (chance_of(g, 4))
        w->protocol = 7;
    else if (chance_of(g, 4))
        w->lease_us = 1000;
    else if (chance_of(g, 4))
        w->handles = nothing;
}

static void
make_advance(struct generator *g, struct call *call)
{
    int64_t ms = 1 + chance_below(g, 1500);

    if (chance_of(g, 25))
        ms = 2000 + chance_below(g, 8000);
    if (chance_of(g, g->profile == 1 ? 30 : 6))
        ms = 31000 + chance_below(g, 10000);
    if (chance_of(g, 1))
        ms = 120000 + chance_below(g, 60000);
    call->advance_us = ms * 1000;
}

static void
make_claim(struct generator *g, const struct player *p, struct call *call)
{
    call->session = chance_session(g, p);
    call->claim = (struct oracle_claim_spec){
        .most = 1 + chance_below(g, 4),
        .request = chance_of(g, 50)              ? 0
            : chance_of(g, 15) && g->request > 0 ? g->request
                                                 : ++g->request,
        .start = chance_of(g, 88),
        .quiet = chance_of(g, 50),
    };
}

static void
make_heartbeat(struct generator *g, const struct player *p, struct call *call)
{
    struct oracle_view view;

    call->session = chance_session(g, p);
    call->running.malformed = chance_of(g, 3);
    if (chance_of(g, 15)) {
        call->running_run = chance_task(g, p, WANT_HELD, &view, &call->running.task);
        call->running.started_ms = chance_below(g, 3000);
        call->running.timeout_ms = 1000 + chance_below(g, 3000);
        if (view.session != 0 && chance_of(g, 90))
            call->session = chance_session_maker(p, view.session);
    }
}

static void
make_emit(struct generator *g, const struct player *p, struct call *call)
{
    call->event = (struct oracle_event_spec){
        .topic = chance_of(g, 3) ? "" : chance_pick(g, topics, 2),
        .payload = chance_of(g, 3) ? chance_huge() : chance_pick(g, events, 5),
        .key = chance_pick(g, keys, 3),
        .tenant = chance_pick(g, tenants, 4),
    };
    if (chance_of(g, 8) && p->events.count > 0)
        call->other =
            p->events
                .made[p->events.count - 1 - (size_t)chance_below(g, p->events.count < 4 ? 1 : 4)]
                .maker;
}

static void
make_operation(struct generator *g, const struct player *p, struct call *call)
{
    struct oracle_view view;
    enum want want = WANT_LIVING;
    static const char *const steps[] = {"a", "a#2", "u#1", "e", "z#1", "x/c"};
    static const char *const flow_steps[] = {"s1", "s2", "s3", "s4", "zz"};
    int task;

    switch ((int)call->verb) {
    case CALL_RESUME:
        want = WANT_PAUSED;
        break;
    case CALL_WAKE:
        want = chance_of(g, 80) ? WANT_TIMED : WANT_LIVING;
        break;
    case CALL_SIGNAL:
    case CALL_APPROVE:
    case CALL_REJECT:
        want = chance_of(g, 60) ? WANT_WAITING : chance_of(g, 20) ? WANT_ENDING : WANT_LIVING;
        break;
    case CALL_ROLLBACK_SKIP:
        want = chance_of(g, 20) ? WANT_ROLLING_BACK : WANT_STUCK;
        break;
    case CALL_ROLLBACK_RETRY:
        want = chance_of(g, 70) ? WANT_STUCK : WANT_FAILED;
        break;
    case CALL_RETRY:
        want = WANT_FAILED;
        break;
    case CALL_FORK:
    case CALL_PURGE:
        want = WANT_ENDED;
        break;
    default:
        break;
    }
    want = chance_of(g, 85) ? want : WANT_ANY;
    call->run = want == WANT_WAITING || want == WANT_PAUSED || want == WANT_TIMED
        ? chance_task(g, p, want, &view, &task)
        : chance_run(g, p, want, &view);
    if (chance_of(g, 3))
        call->run = CALL_NOBODY;
    call->text = chance_of(g, 50) ? NULL : "because";
    call->flag = chance_of(g, 50);
    if (call->verb == CALL_SIGNAL || call->verb == CALL_APPROVE || call->verb == CALL_REJECT) {
        call->name = chance_of(g, 4)                         ? "B d"
            : view.waits_for != NULL && view.waits_kind != 3 ? chance_constant(view.waits_for)
                                                             : chance_pick(g, chance_signals, 2);
        call->text = call->verb == CALL_SIGNAL && chance_of(g, 5)
            ? chance_huge()
            : chance_pick(g, chance_payloads, 7);
    } else if (call->verb == CALL_ROLLBACK_SKIP) {
        call->name = view.undone != NULL && chance_of(g, 90) ? chance_constant(view.undone) : "u#1";
    } else if (call->verb == CALL_FORK || call->verb == CALL_WAKE) {
        call->name = chance_of(g, call->verb == CALL_FORK ? 20 : 70) ? NULL
            : view.flow                                              ? chance_pick(g, flow_steps, 5)
                                                                     : chance_pick(g, steps, 6);
    }
}

/* Per thousand, by profile: usual, crashing, waiting, operating. */
static const struct weight {
    enum call_verb verb;
    int weight[4];
} weights[] = {
    {CALL_ADVANCE, {90, 130, 90, 80}},
    {CALL_ALTER_WORKFLOW, {3, 3, 3, 5}},
    {CALL_CREATE_WORKFLOW, {4, 4, 4, 6}},
    {CALL_CREATE_FLOW, {4, 4, 4, 6}},
    {CALL_ADD_STEP, {8, 8, 8, 10}},
    {CALL_TRIGGER, {120, 90, 90, 100}},
    {CALL_TRIGGER_MANY, {30, 20, 25, 30}},
    {CALL_REGISTER, {12, 30, 10, 12}},
    {CALL_HEARTBEAT, {40, 40, 40, 40}},
    {CALL_REST, {5, 5, 5, 5}},
    {CALL_LEAVE, {5, 3, 4, 5}},
    {CALL_DRAIN_WORKER, {2, 2, 2, 2}},
    {CALL_HELD, {10, 5, 5, 5}},
    {CALL_CLAIM, {170, 200, 180, 160}},
    {CALL_COMMIT, {220, 120, 200, 140}},
    {CALL_COMMIT_EACH, {90, 50, 90, 70}},
    {CALL_STEP, {30, 15, 20, 20}},
    {CALL_COMPLETE, {15, 10, 12, 15}},
    {CALL_FAIL, {12, 10, 10, 15}},
    {CALL_SLEEP, {12, 8, 15, 10}},
    {CALL_WAIT_EVENT, {12, 8, 20, 10}},
    {CALL_WAIT_SIGNAL, {12, 8, 20, 10}},
    {CALL_RELEASE, {10, 8, 8, 10}},
    {CALL_RECORD_STEP, {15, 8, 12, 10}},
    {CALL_HOUSEKEEP, {10, 15, 10, 10}},
    {CALL_TICK, {10, 15, 10, 10}},
    {CALL_RETAIN, {4, 4, 4, 4}},
    {CALL_EMIT, {40, 15, 80, 20}},
    {CALL_SIGNAL, {30, 12, 60, 20}},
    {CALL_APPROVE, {10, 5, 20, 10}},
    {CALL_REJECT, {8, 4, 12, 8}},
    {CALL_CANCEL, {18, 10, 12, 40}},
    {CALL_KILL, {6, 4, 4, 12}},
    {CALL_PAUSE, {14, 8, 10, 40}},
    {CALL_RESUME, {16, 10, 12, 40}},
    {CALL_WAKE, {16, 10, 25, 30}},
    {CALL_RETRY, {10, 14, 8, 25}},
    {CALL_ROLLBACK_RETRY, {5, 4, 4, 15}},
    {CALL_ROLLBACK_SKIP, {5, 4, 4, 15}},
    {CALL_FORK, {6, 4, 4, 15}},
    {CALL_PURGE, {4, 2, 2, 8}},
    {CALL_PAUSE_WORKFLOW, {1, 1, 1, 3}},
    {CALL_RESUME_WORKFLOW, {4, 4, 4, 8}},
    {CALL_PAUSE_QUEUE, {1, 1, 1, 3}},
    {CALL_RESUME_QUEUE, {4, 4, 4, 8}},
    {CALL_PAUSE_ALL, {2, 1, 1, 2}},
    {CALL_RESUME_ALL, {10, 8, 8, 14}},
    {CALL_RAISE_EPOCH, {1, 1, 1, 1}},
};

static enum call_verb
pick_verb(struct generator *g, const struct player *p)
{
    const int count = (int)(sizeof(weights) / sizeof(weights[0]));
    int sum = 0, at;

    if (p->runs.count == 0 && chance_of(g, 60))
        return CALL_CREATE_WORKFLOW;
    if (g->schedules && chance_of(g, 8))
        return schedule_verb(g);
    if (g->bulks && chance_of(g, 3))
        return bulk_verb(g, p);
    if (g->lanes && chance_of(g, 7))
        return lane_verb(g);
    if (g->subscriptions && chance_of(g, 6))
        return subscription_verb(g);
    for (int i = 0; i < count; i++)
        sum += weights[i].weight[g->profile];
    for (;;) {
        enum call_verb verb = CALL_ADVANCE;

        at = chance_below(g, sum);
        for (int i = 0; i < count; i++) {
            at -= weights[i].weight[g->profile];
            if (at < 0) {
                verb = weights[i].verb;
                break;
            }
        }
        if ((verb == CALL_TRIGGER || verb == CALL_TRIGGER_MANY) &&
            oracle_count_living(p->oracle) >= LIVING_MAX)
            verb = CALL_CLAIM;
        /* A retry of many would make more than a claim looks at. */
        if ((verb == CALL_TICK || verb == CALL_HOUSEKEEP) && bulk_goes_on(p) &&
            oracle_count_living(p->oracle) >= LIVING_MAX)
            verb = CALL_CLAIM;
        /* Each event may start runs. */
        if (verb == CALL_EMIT && oracle_count_coming(p->oracle) >= LIVING_MAX)
            verb = CALL_TICK;
        if (verb == CALL_REGISTER && chance_count_sessions(p) >= SESSIONS_MAX)
            verb = CALL_HEARTBEAT;
        /* A claim that comes to a run that has expired would end it, and the model cannot know whether one does. */
        if (verb == CALL_CLAIM && oracle_count_expired(p->oracle) > 0)
            verb = CALL_HOUSEKEEP;
        if ((verb == CALL_RETAIN && !g->days) ||
            ((verb == CALL_CREATE_FLOW || verb == CALL_ADD_STEP) && !g->flows))
            continue;
        if (verb == CALL_RAISE_EPOCH && chance_of(g, 30))
            continue;
        return chance_count_sessions(p) < 2 && chance_of(g, 60) ? CALL_REGISTER : verb;
    }
}

/* Around the limits: a day, the retention of events, that of runs. */
static int
pick_days(struct generator *g)
{
    static const int days[] = {1, 2, 8, 14, 15, 16, 17};

    return days[chance_below(g, sizeof(days) / sizeof(days[0]))];
}

static void
fill_call(struct generator *g, const struct player *p, struct call *call)
{
    static const char *const queues[] = {"f.a/s1", "f.b/s1", "f.c/s2"};

    switch ((int)call->verb) {
    case CALL_ADVANCE:
        make_advance(g, call);
        break;
    case CALL_RETAIN:
        call->advance_us = pick_days(g) * INT64_C(86400000000);
        break;
    case CALL_CREATE_WORKFLOW:
    case CALL_ALTER_WORKFLOW:
        make_workflow(g, call);
        break;
    case CALL_CREATE_FLOW:
        shape_flow(g, call);
        break;
    case CALL_ADD_STEP:
        shape_step(g, p, call);
        break;
    case CALL_TRIGGER:
        make_trigger(g, p, call);
        break;
    case CALL_TRIGGER_MANY:
        make_many(g, p, call);
        break;
    case CALL_REGISTER:
        make_register(g, call);
        break;
    case CALL_HEARTBEAT:
        make_heartbeat(g, p, call);
        break;
    case CALL_CLAIM:
        make_claim(g, p, call);
        break;
    case CALL_COMMIT:
    case CALL_COMMIT_EACH:
        progress_commit(g, p, call);
        break;
    case CALL_RECORD_STEP:
        progress_record_step(g, p, call);
        break;
    case CALL_EMIT:
        make_emit(g, p, call);
        break;
    case CALL_CREATE_SCHEDULE:
        schedule_create(g, call);
        break;
    case CALL_PAUSE_SCHEDULE:
    case CALL_RESUME_SCHEDULE:
    case CALL_DELETE_SCHEDULE:
    case CALL_BACKFILL_SCHEDULE:
        schedule_call(g, call);
        break;
    case CALL_BEGIN_BULK:
    case CALL_STOP_BULK:
        bulk_call(g, p, call);
        break;
    case CALL_SET_LANE:
    case CALL_PAUSE_LANE:
    case CALL_RESUME_LANE:
        lane_call(g, call);
        break;
    case CALL_CREATE_SUBSCRIPTION:
    case CALL_PAUSE_SUBSCRIPTION:
    case CALL_RESUME_SUBSCRIPTION:
    case CALL_DELETE_SUBSCRIPTION:
        subscription_call(g, call);
        break;
    case CALL_PAUSE_WORKFLOW:
    case CALL_RESUME_WORKFLOW:
    case CALL_PAUSE_QUEUE:
    case CALL_RESUME_QUEUE:
        call->name = chance_of(g, 10) ? "none" : chance_workflow(g);
        if (g->flows && call->name[0] == 'f' && chance_of(g, 60) &&
            (call->verb == CALL_PAUSE_QUEUE || call->verb == CALL_RESUME_QUEUE))
            call->name = chance_pick(g, queues, 3);
        break;
    case CALL_PAUSE_ALL:
        call->flag = chance_of(g, 50);
        break;
    case CALL_RESUME_ALL:
        break;
    default:
        if (call_is_one(call->verb)) {
            progress_one(g, p, call);
            break;
        }
        if (call->verb >= CALL_SIGNAL && call->verb <= CALL_PURGE)
            make_operation(g, p, call);
        else
            call->session = chance_session(g, p);
        call->flag = chance_of(g, 50);
    }
}

/* Sessions of an older epoch live on until housekeeping finds them. */
static void
make_call_of_old_epoch(struct generator *g, const struct player *p, struct call *call)
{
    static const enum call_verb verbs[] = {CALL_REST, CALL_LEAVE, CALL_HELD, CALL_CLAIM,
        CALL_HEARTBEAT, CALL_RECORD_STEP, CALL_COMMIT};
    int back = p->sessions.count > 4 ? 4 : (int)p->sessions.count;

    call->verb = verbs[chance_below(g, sizeof(verbs) / sizeof(verbs[0]))];
    fill_call(g, p, call);
    if (back > 0 && call->verb != CALL_RECORD_STEP && call->verb != CALL_COMMIT)
        call->session = p->sessions.made[(int)p->sessions.count - 1 - chance_below(g, back)].maker;
}

/* What is triggered first stands before that; a flow keeps the steps that it has then. */
static void
make_definition(struct generator *g, const struct player *p, struct call *call)
{
    int number = call->number;
    const char *name = number <= 4 ? chance_workflows[number - 1]
        : number <= 8              ? chance_flows[number - 5]
                                   : NULL;

    do {
        *call = (struct call){.number = number,
            .verb = number <= 4 ? CALL_CREATE_WORKFLOW
                : number <= 8   ? CALL_CREATE_FLOW
                                : CALL_ADD_STEP};
        fill_call(g, p, call);
    } while (name != NULL &&
        (strcmp(call->workflow.name, name) != 0 || call->workflow.priority < 0 ||
            call->workflow.key_limit < 0));
}

void
generator_next(
    struct generator *generator, const struct player *player, int number, struct call *call)
{
    struct generator *g = generator;
    struct oracle_view view;

    *call = (struct call){.number = number};
    if (g->last_commit.number != 0 && chance_of(g, 3)) {
        /* The same once more, as after a lost reply. */
        *call = g->last_commit;
        call->number = number;
        call->verb = CALL_COMMIT_EACH;
        for (int i = 0; i < call->items_count; i++)
            call->items[i].fence_off = chance_of(g, 25) ? -1 : 0;
        g->last_commit.number = 0;
        return;
    }
    if (g->old_epoch > 0) {
        g->old_epoch--;
        make_call_of_old_epoch(g, player, call);
        return;
    }
    call->verb = pick_verb(g, player);
    fill_call(g, player, call);
    if (number <= g->definitions)
        make_definition(g, player, call);
    if (call->verb == CALL_RAISE_EPOCH)
        g->old_epoch = 5;
    if (call->verb == CALL_DRAIN_WORKER) {
        if (g->drained != 0 && chance_of(g, 60))
            call->session = g->drained;
        g->drained = call->session;
    }
    if ((call->verb == CALL_COMMIT || call->verb == CALL_COMMIT_EACH || call->verb == CALL_CLAIM ||
            call->verb == CALL_HEARTBEAT || call->verb == CALL_HOUSEKEEP ||
            call->verb == CALL_TICK || call->verb == CALL_LEAVE || call_is_one(call->verb)) &&
        chance_of(g, 3)) {
        /* In which order sessions are swept is not known when one of them stays. */
        if (g->flows && oracle_count_over(player->oracle) > 1)
            return;
        call->lock = call->items_count > 0 && chance_of(g, 70)
            ? call->items[0].run
            : chance_run(g, player, WANT_HELD, &view);
        if (call->lock == CALL_NOBODY)
            call->lock = 0;
    }
}
