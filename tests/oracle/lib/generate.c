/* SPDX-License-Identifier: Apache-2.0 */
/* What calls are made of by chance. Percentages are such that every answer comes up; no rule of the engine is here. */
#include "generate.h"

#include <stdio.h>
#include <string.h>

enum {
    LIVING_MAX = 60,  /* one round of housekeeping takes all that is due */
    SESSIONS_MAX = 7, /* and sweeps all sessions */
};

static const char *const workflows[] = {"o.a", "o.b", "o.b.c", "p.d"};
static const char *const payloads[] = {
    "{}", "1", "\"x\"", "{\"id\": 1}", "{\"id\": 2, \"tag\": \"x\"}", "[1, 2]", "null"};
static const char *const events[] = {
    "{\"id\": 1}", "{\"id\": 2}", "{\"id\": 2, \"tag\": \"x\"}", "{\"id\": \"1\"}", "[]"};
static const char *const errors[] = {"{\"code\": \"e1\"}", "\"broken\"", "{}"};
static const char *const matches[] = {NULL, NULL, "{\"/id\": 1}", "{\"/id\": 2}",
    "{\"/id\": 2, \"/tag\": \"x\"}", "{\"/id\": \"1\"}"};
static const char *const topics[] = {"t1", "t2"};
static const char *const keys[] = {"", "", "k"};
static const char *const tenants[] = {"", "", "", "acme"};
static const char *const signals[] = {"go", "stop"};
static const char *const all[] = {"*", NULL};
static const char *const some[] = {"o.*", NULL};
static const char *const exact[] = {"o.a", "p.d", NULL};
static const char *const prefix[] = {"o.b*", NULL};
static const char *const nothing[] = {NULL};

static int
below(struct generator *g, int n)
{
    return (int)(pw_rand_next(&g->rand) % (uint64_t)n);
}

static bool
chance(struct generator *g, int percent)
{
    return below(g, 100) < percent;
}

static const char *
pick(struct generator *g, const char *const *list, size_t count)
{
    return list[below(g, (int)count)];
}

/* The same text as a constant: a call outlives the oracle that it was chosen by. */
static const char *
constant(const char *text)
{
    static const char *const words[] = {"go", "stop", "g", "p", "e", "a", "Bad", "t1", "t2", "a#1",
        "a#2", "a#3", "u#1", "u#2", "u#3", "x/b#1", "x/b#2", "x/b#3", "e#1", "e#2", "e#3"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(words[i], text) == 0)
            return words[i];
    return "u#1";
}

/* A payload over the limit, the same every time. */
static const char *
huge(void)
{
    static char text[4100];

    if (text[0] == '\0') {
        memset(text, 'x', sizeof(text) - 2);
        text[0] = text[sizeof(text) - 2] = '"';
    }
    return text;
}

/* One that is kept apart from the hot row. */
static const char *
large(void)
{
    static char text[2100];

    if (text[0] == '\0') {
        memset(text, 'y', sizeof(text) - 2);
        text[0] = text[sizeof(text) - 2] = '"';
    }
    return text;
}

void
generator_init(struct generator *generator, uint64_t seed)
{
    *generator = (struct generator){.profile = (int)(seed % 4)};
    pw_rand_init(&generator->rand, seed);
}

enum want {
    WANT_ANY,
    WANT_LIVING,
    WANT_HELD,
    WANT_ENDED,
    WANT_FAILED,
    WANT_WAITING,
    WANT_ROLLING_BACK,
    WANT_ENDING,
    WANT_PAUSED,
};

static bool
is_wanted(const struct oracle_view *view, enum want want)
{
    switch (want) {
    case WANT_LIVING:
        return view->living;
    case WANT_HELD:
        return view->living && view->place == 2;
    case WANT_ENDED:
        return view->found && !view->living;
    case WANT_FAILED:
        return view->found && !view->living && view->status != 1;
    case WANT_WAITING:
        return view->living && view->waits_for != NULL;
    case WANT_ROLLING_BACK:
        return view->rolling_back;
    case WANT_ENDING:
        return view->ending && !view->rolling_back;
    case WANT_PAUSED:
        return view->paused;
    case WANT_ANY:
    default:
        return view->found;
    }
}

/* A run of that kind if a few tries find one, mostly one of the younger ones; else any. */
static int
pick_run(struct generator *g, const struct player *p, enum want want, struct oracle_view *view)
{
    int count = (int)p->runs.count, maker = CALL_NOBODY;

    *view = (struct oracle_view){0};
    if (count == 0 || chance(g, 1))
        return CALL_NOBODY;
    for (int try = 0; try < 40; try++) {
        int back = chance(g, 90) && count > 120 ? 120 : count;

        maker = p->runs.made[count - 1 - below(g, back)].maker;
        oracle_look(p->oracle, player_find(&p->runs, maker), view);
        if (is_wanted(view, want))
            break;
    }
    return maker;
}

static int
pick_session(struct generator *g, const struct player *p)
{
    int count = (int)p->sessions.count;

    if (count == 0 || chance(g, 1))
        return CALL_NOBODY;
    for (int try = 0; try < 20; try++) {
        const struct player_made *made = &p->sessions.made[below(g, count)];
        long long id = 0;

        for (const char *at = made->id; *at != '\0'; at++)
            id = id * 10 + (*at - '0');
        if (oracle_session_lives(p->oracle, id) || chance(g, 3))
            return made->maker;
    }
    return p->sessions.made[count - 1].maker;
}

static int
session_maker(const struct player *p, int64_t session)
{
    for (size_t i = 0; i < p->sessions.count; i++) {
        long long id = 0;

        for (const char *at = p->sessions.made[i].id; *at != '\0'; at++)
            id = id * 10 + (*at - '0');
        if (id == session)
            return p->sessions.made[i].maker;
    }
    return CALL_NOBODY;
}

static int
count_sessions(const struct player *p)
{
    int count = 0;

    for (size_t i = 0; i < p->sessions.count; i++) {
        long long id = 0;

        for (const char *at = p->sessions.made[i].id; *at != '\0'; at++)
            id = id * 10 + (*at - '0');
        count += oracle_session_lives(p->oracle, id);
    }
    return count;
}

static void
make_policy(struct generator *g, struct oracle_policy *policy)
{
    policy->max_attempts = 1 + below(g, 4);
    policy->base_us = (int64_t)below(g, 3) * 500000;
    policy->factor = 1 + below(g, 3);
    policy->cap_us = INT64_C(2000000) + (int64_t)below(g, 3) * 4000000;
    policy->jitter = chance(g, 50) ? 0 : 0.25;
}

static void
make_workflow(struct generator *g, struct call *call)
{
    struct oracle_workflow_spec *w = &call->workflow;

    w->name = chance(g, 4) ? "Bad.Name" : pick(g, workflows, 4);
    w->runtime = NULL;
    w->priority = 100 - below(g, 2);
    w->run_timeout_us = w->step_timeout_us = ORACLE_NONE;
    make_policy(g, &w->policy);
    if (strcmp(w->name, "o.b.c") == 0) {
        w->run_timeout_us = INT64_C(90000123);
        w->step_timeout_us = 4000000;
    }
    if (strcmp(w->name, "p.d") == 0) {
        w->runtime = "c";
        w->strict_order = true;
    }
    if (chance(g, 5))
        w->priority = -5;
    else if (chance(g, 50))
        /* The same every time, so that it exists. */
        w->priority = 100, w->policy = (struct oracle_policy){3, 1000000, 2, 4000000, 0.25};
    call->flag = call->verb == CALL_ALTER_WORKFLOW && chance(g, 10);
    if (call->verb == CALL_ALTER_WORKFLOW && chance(g, 5))
        w->name = "none";
}

static void
make_trigger(struct generator *g, const struct player *p, struct call *call)
{
    struct oracle_trigger_spec *t = &call->trigger;
    static const char *const names[] = {"k1", "k2", "k3", "k4", "k5", "k6"};

    *t = (struct oracle_trigger_spec){
        .workflow = chance(g, 2) ? "none" : pick(g, workflows, 4),
        .input = pick(g, payloads, 7),
        .tenant = pick(g, tenants, 4),
        .priority = chance(g, 80) ? -1 : 90 + below(g, 3),
        .delay_us = chance(g, 85) ? ORACLE_NONE : (int64_t)(1 + below(g, 20)) * 1000000,
        .metadata = chance(g, 80) ? NULL : "{\"m\": 1}",
        .key_ttl_us = ORACLE_NONE,
    };
    if (chance(g, 3))
        t->input = huge();
    else if (chance(g, 3))
        t->input = large();
    if (chance(g, 30)) {
        t->key = pick(g, names, 6);
        t->input = chance(g, 90) ? "{}" : "1";
        if (chance(g, 30))
            t->key_ttl_us = INT64_C(60000000);
        else if (chance(g, 40))
            t->key_while_active = true;
        if (chance(g, 4))
            t->key_ttl_us = 0;
    }
    if (chance(g, 2))
        t->priority = 99999;
    if (chance(g, 6)) {
        struct oracle_view view;

        call->other = pick_run(g, p, WANT_ANY, &view);
    }
}

static void
make_register(struct generator *g, struct call *call)
{
    struct oracle_register_spec *w = &call->worker;

    *w = (struct oracle_register_spec){
        .name = "w",
        .handles = all,
        .runtime = "c",
        .lease_us = (int64_t)(5 + below(g, 26)) * 1000000,
        .protocol = 1,
    };
    if (chance(g, 20))
        w->handles = some;
    else if (chance(g, 20))
        w->handles = exact;
    else if (chance(g, 10))
        w->handles = prefix;
    if (chance(g, 20))
        w->runtime = NULL;
    if (chance(g, 4))
        w->protocol = 7;
    else if (chance(g, 4))
        w->lease_us = 1000;
    else if (chance(g, 4))
        w->handles = nothing;
}

static void
make_advance(struct generator *g, struct call *call)
{
    int64_t ms = 1 + below(g, 1500);

    if (chance(g, 25))
        ms = 2000 + below(g, 8000);
    if (chance(g, g->profile == 1 ? 30 : 6))
        ms = 31000 + below(g, 10000);
    if (chance(g, 1))
        ms = 120000 + below(g, 60000);
    call->advance_us = ms * 1000;
}

/* The name of a step: of its kind, so that kinds seldom meet under one name. */
static void
name_item(struct generator *g, const struct oracle_view *view, struct call_item *item)
{
    const char *kind = item->item.kind;
    const char *word = "a";

    if (view->rolling_back && view->undone != NULL && chance(g, 92)) {
        (void)snprintf(item->name, sizeof(item->name), "rollback:%s", view->undone); /* they fit */
        return;
    }
    if (strcmp(kind, "begin") == 0)
        word = "u";
    else if (strcmp(kind, "sleep") == 0)
        word = "z";
    else if (strcmp(kind, "event") == 0)
        word = "e";
    else if (strcmp(kind, "signal") == 0)
        word = "g";
    else if (strcmp(kind, "approval") == 0)
        word = "p";
    else if (strcmp(kind, "child") == 0)
        word = "x/c";
    else if (chance(g, 30))
        word = "u";
    else if (chance(g, 20))
        word = "x/b";
    if (chance(g, 1))
        word = "e";
    if (chance(g, 1))
        word = "Bad";
    (void)snprintf(item->name, sizeof(item->name), "%s#%d", word, 1 + below(g, 3)); /* they fit */
}

static void
fill_wait(struct generator *g, const struct oracle_view *view, struct oracle_item *item)
{
    struct oracle_option *o = &item->option;

    if (chance(g, 40))
        o->timeout_ms = 1000 + below(g, 30000);
    if (strcmp(item->kind, "sleep") == 0 && chance(g, 97))
        o->ms = chance(g, 10) ? 0 : below(g, 20000);
    if (strcmp(item->kind, "event") == 0) {
        o->topic = chance(g, 3) ? NULL : pick(g, topics, 2);
        o->key = pick(g, keys, 3);
        o->match = chance(g, 2) ? "7" : pick(g, matches, 6);
    }
    if (strcmp(item->kind, "signal") == 0 || strcmp(item->kind, "approval") == 0)
        o->signal = chance(g, 3)                   ? "B d"
            : chance(g, 20) && !view->rolling_back ? NULL
                                                   : pick(g, signals, 2);
    if (strcmp(item->kind, "approval") == 0 && chance(g, 50))
        o->form = "{\"ask\": 1}";
    if (strcmp(item->kind, "child") == 0) {
        o->timeout_ms = ORACLE_NONE;
        o->workflow = chance(g, 3) ? "none" : pick(g, workflows, 4);
        /* A parent and its child that reach their limits at the same moment end in any order. */
        if (view->has_timeout && strcmp(o->workflow, "o.b.c") == 0)
            o->workflow = "o.b";
        o->detached = chance(g, 20);
        o->delay_ms = chance(g, 90) ? ORACLE_NONE : below(g, 5000);
        o->priority = chance(g, 90) ? -1 : 95;
        item->payload = chance(g, 50) ? NULL : pick(g, payloads, 7);
    }
}

static void
fill_item(
    struct generator *g, const struct oracle_view *view, const char *kind, struct call_item *item)
{
    struct oracle_option *o = &item->item.option;
    bool failing = strcmp(kind, "retry") == 0 || strcmp(kind, "fail") == 0;
    bool named = strchr("bserta", kind[0]) != NULL || strcmp(kind, "child") == 0;

    item->item.kind = kind;
    o->ms = o->timeout_ms = o->delay_ms = o->retry_after_ms = ORACLE_NONE;
    o->priority = -1;
    if (named && strcmp(kind, "start") != 0 && strcmp(kind, "suspend") != 0 &&
        strcmp(kind, "release") != 0)
        name_item(g, view, item);
    item->item.seq = chance(g, 70) && item->name[0] != '\0' ? view->next_seq : 0;
    item->item.millis = chance(g, 50) ? 0 : below(g, 500);
    if (strcmp(kind, "step") == 0 || strcmp(kind, "complete") == 0)
        item->item.payload = chance(g, 10) && kind[0] == 'c' ? NULL : pick(g, payloads, 7);
    if (strcmp(kind, "step_error") == 0 || failing)
        item->item.payload = chance(g, 10) ? NULL : pick(g, errors, 3);
    if (strcmp(kind, "begin") == 0 && chance(g, 97))
        o->undo = "{\"handler\": \"h\"}";
    if (failing) {
        item->has_policy = chance(g, 25);
        make_policy(g, &item->policy);
        o->permanent = chance(g, 10);
        o->final = kind[0] == 'f' && chance(g, 30);
        o->failure = chance(g, 10) ? 1 : 0;
        o->retry_after_ms = chance(g, 85) ? ORACLE_NONE : below(g, 4000);
    }
    if (strcmp(kind, "complete") == 0 && chance(g, 6))
        o->unused = "[\"a#1\"]";
    if (strcmp(kind, "note") == 0) {
        item->item.payload = chance(g, 90) ? "\"said\"" : NULL;
        o->note = chance(g, 50) ? NULL : chance(g, 90) ? "progress" : "song";
    }
    fill_wait(g, view, &item->item);
    if (chance(g, 1) && item->item.payload != NULL && !failing) {
        item->item.payload = chance(g, 50) ? huge() : "{";
        item->item.not_json = item->item.payload[0] == '{';
    }
}

static const char *
pick_kind(struct generator *g, const struct oracle_view *view, bool last)
{
    static const char *const open[] = {"step", "step", "step", "step", "begin", "begin",
        "step_error", "retry", "retry", "took", "sleep", "event", "event", "signal", "approval",
        "child", "note", "start"};
    static const char *const closing[] = {"complete", "complete", "complete", "fail", "fail",
        "suspend", "suspend", "suspend", "release", "drift"};
    static const char *const back[] = {"step", "step", "step", "retry", "complete", "fail"};

    if (chance(g, 1))
        return "sing";
    if (view->rolling_back && chance(g, 90))
        return pick(g, back, sizeof(back) / sizeof(back[0]));
    if (last && chance(g, 40))
        return pick(g, closing, sizeof(closing) / sizeof(closing[0]) - (chance(g, 80) ? 1 : 0));
    return pick(g, open, sizeof(open) / sizeof(open[0]));
}

/* No two items of one call may be tries of the same step: what the engine chose for the first could not be asked. */
static bool
repeats(const struct call *call, const struct call_item *item)
{
    for (int i = 0; i < call->items_count; i++)
        if (call->items[i].run == item->run && strcmp(call->items[i].name, item->name) == 0 &&
            item->item.kind[0] != 'n')
            return true;
    return false;
}

static void
make_commit(struct generator *g, const struct player *p, struct call *call)
{
    struct oracle_view view;
    int count = chance(g, 60) ? 1 : 2 + below(g, 3);
    enum want want = chance(g, 85) ? WANT_HELD
        : chance(g, 40)            ? WANT_ENDING
        : chance(g, 50)            ? WANT_ENDED
                                   : WANT_ANY;
    int run = pick_run(g, p, want, &view);
    /* The claim that had the run before its rollback asks once more now and then. */
    int off = chance(g, view.rolling_back ? 15 : 3) ? -1 : chance(g, 1) ? 1 : 0;

    call->session =
        view.session != 0 && chance(g, 97) ? session_maker(p, view.session) : pick_session(g, p);
    for (int i = 0; i < count; i++) {
        struct call_item item = {.run = run, .fence_off = off};

        const char *kind = pick_kind(g, &view, i == count - 1);

        /* A try that is told before its start is forgotten by the engine; the library starts first. */
        if (strcmp(kind, "retry") == 0 && !view.started)
            kind = "start";
        fill_item(g, &view, kind, &item);
        if (item.item.seq != 0)
            item.item.seq += i;
        if (!repeats(call, &item))
            call->items[call->items_count++] = item;
        /* Another run of the same session now and then. */
        if (chance(g, 15))
            run = pick_run(g, p, WANT_HELD, &view);
    }
    g->last_commit = *call;
}

static void
make_record_step(struct generator *g, const struct player *p, struct call *call)
{
    struct oracle_view view;
    struct call_item *item = &call->items[0];

    call->items_count = 1;
    item->run = pick_run(g, p,
        chance(g, 70)       ? WANT_HELD
            : chance(g, 60) ? WANT_ENDING
                            : WANT_ANY,
        &view);
    item->fence_off = chance(g, 3) ? -1 : 0;
    call->session = view.session != 0 ? session_maker(p, view.session) : pick_session(g, p);
    item->item = (struct oracle_item){.kind = "step", .payload = pick(g, payloads, 7)};
    (void)snprintf(item->name, sizeof(item->name), "%s#%d",
        chance(g, 5)        ? "Bad"
            : chance(g, 15) ? "g"
            : chance(g, 60) ? "a"
                            : "u",
        1 + below(g, 3)); /* they fit */
}

static void
make_claim(struct generator *g, const struct player *p, struct call *call)
{
    call->session = pick_session(g, p);
    call->claim = (struct oracle_claim_spec){
        .most = 1 + below(g, 4),
        .request = chance(g, 50)              ? 0
            : chance(g, 15) && g->request > 0 ? g->request
                                              : ++g->request,
        .start = chance(g, 88),
        .quiet = chance(g, 50),
    };
}

static void
make_heartbeat(struct generator *g, const struct player *p, struct call *call)
{
    struct oracle_view view;

    call->session = pick_session(g, p);
    call->running.malformed = chance(g, 3);
    if (chance(g, 15)) {
        call->running_run = pick_run(g, p, WANT_HELD, &view);
        call->running.started_ms = below(g, 3000);
        call->running.timeout_ms = 1000 + below(g, 3000);
        if (view.session != 0 && chance(g, 90))
            call->session = session_maker(p, view.session);
    }
}

static void
make_emit(struct generator *g, const struct player *p, struct call *call)
{
    call->event = (struct oracle_event_spec){
        .topic = chance(g, 3) ? "" : pick(g, topics, 2),
        .payload = chance(g, 3) ? huge() : pick(g, events, 5),
        .key = pick(g, keys, 3),
        .tenant = pick(g, tenants, 4),
    };
    if (chance(g, 8) && p->events.count > 0)
        call->other =
            p->events.made[p->events.count - 1 - (size_t)below(g, p->events.count < 4 ? 1 : 4)]
                .maker;
}

static void
make_operation(struct generator *g, const struct player *p, struct call *call)
{
    struct oracle_view view;
    enum want want = WANT_LIVING;
    static const char *const steps[] = {"a", "a#2", "u#1", "e", "z#1", "x/c"};

    switch ((int)call->verb) {
    case CALL_RESUME:
        want = WANT_PAUSED;
        break;
    case CALL_SIGNAL:
    case CALL_APPROVE:
    case CALL_REJECT:
        want = chance(g, 60) ? WANT_WAITING : chance(g, 20) ? WANT_ENDING : WANT_LIVING;
        break;
    case CALL_ROLLBACK_SKIP:
        want = chance(g, 40) ? WANT_ROLLING_BACK : WANT_FAILED;
        break;
    case CALL_RETRY:
    case CALL_ROLLBACK_RETRY:
        want = WANT_FAILED;
        break;
    case CALL_FORK:
    case CALL_PURGE:
        want = WANT_ENDED;
        break;
    default:
        break;
    }
    call->run = pick_run(g, p, chance(g, 85) ? want : WANT_ANY, &view);
    if (chance(g, 3))
        call->run = CALL_NOBODY;
    call->text = chance(g, 50) ? NULL : "because";
    call->flag = chance(g, 50);
    if (call->verb == CALL_SIGNAL || call->verb == CALL_APPROVE || call->verb == CALL_REJECT) {
        call->name = chance(g, 4)                            ? "B d"
            : view.waits_for != NULL && view.waits_kind != 3 ? constant(view.waits_for)
                                                             : pick(g, signals, 2);
        call->text = call->verb == CALL_SIGNAL && chance(g, 5) ? huge() : pick(g, payloads, 7);
    } else if (call->verb == CALL_ROLLBACK_SKIP) {
        call->name = view.undone != NULL && chance(g, 90) ? constant(view.undone) : "u#1";
    } else if (call->verb == CALL_FORK) {
        call->name = chance(g, 20) ? NULL : pick(g, steps, 6);
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
    {CALL_TRIGGER, {120, 90, 90, 100}},
    {CALL_REGISTER, {12, 30, 10, 12}},
    {CALL_HEARTBEAT, {40, 40, 40, 40}},
    {CALL_IDLE, {5, 5, 5, 5}},
    {CALL_LEAVE, {5, 3, 4, 5}},
    {CALL_DRAIN_WORKER, {2, 2, 2, 2}},
    {CALL_HELD, {10, 5, 5, 5}},
    {CALL_CLAIM, {170, 200, 180, 160}},
    {CALL_COMMIT, {220, 120, 200, 140}},
    {CALL_COMMIT_CAREFULLY, {90, 50, 90, 70}},
    {CALL_RECORD_STEP, {15, 8, 12, 10}},
    {CALL_HOUSEKEEP, {20, 30, 20, 20}},
    {CALL_EMIT, {40, 15, 80, 20}},
    {CALL_SIGNAL, {30, 12, 60, 20}},
    {CALL_APPROVE, {10, 5, 20, 10}},
    {CALL_REJECT, {8, 4, 12, 8}},
    {CALL_CANCEL, {18, 10, 12, 40}},
    {CALL_KILL, {6, 4, 4, 12}},
    {CALL_PAUSE, {14, 8, 10, 40}},
    {CALL_RESUME, {16, 10, 12, 40}},
    {CALL_RETRY, {10, 14, 8, 25}},
    {CALL_ROLLBACK_RETRY, {5, 4, 4, 15}},
    {CALL_ROLLBACK_SKIP, {5, 4, 4, 15}},
    {CALL_FORK, {6, 4, 4, 15}},
    {CALL_PURGE, {4, 2, 2, 8}},
    {CALL_PAUSE_WORKFLOW, {1, 1, 1, 3}},
    {CALL_RESUME_WORKFLOW, {4, 4, 4, 8}},
    {CALL_PAUSE_QUEUE, {1, 1, 1, 3}},
    {CALL_RESUME_QUEUE, {4, 4, 4, 8}},
    {CALL_RAISE_EPOCH, {1, 1, 1, 1}},
};

static enum call_verb
pick_verb(struct generator *g, const struct player *p)
{
    const int count = (int)(sizeof(weights) / sizeof(weights[0]));
    int sum = 0, at;

    if (p->runs.count == 0 && chance(g, 60))
        return CALL_CREATE_WORKFLOW;
    for (int i = 0; i < count; i++)
        sum += weights[i].weight[g->profile];
    for (;;) {
        enum call_verb verb = CALL_ADVANCE;

        at = below(g, sum);
        for (int i = 0; i < count; i++) {
            at -= weights[i].weight[g->profile];
            if (at < 0) {
                verb = weights[i].verb;
                break;
            }
        }
        if (verb == CALL_TRIGGER && oracle_count_living(p->oracle) >= LIVING_MAX)
            verb = CALL_CLAIM;
        if (verb == CALL_REGISTER && count_sessions(p) >= SESSIONS_MAX)
            verb = CALL_HEARTBEAT;
        if (verb == CALL_RAISE_EPOCH && chance(g, 30))
            continue;
        return count_sessions(p) < 2 && chance(g, 60) ? CALL_REGISTER : verb;
    }
}

static void
fill_call(struct generator *g, const struct player *p, struct call *call)
{
    switch ((int)call->verb) {
    case CALL_ADVANCE:
        make_advance(g, call);
        break;
    case CALL_CREATE_WORKFLOW:
    case CALL_ALTER_WORKFLOW:
        make_workflow(g, call);
        break;
    case CALL_TRIGGER:
        make_trigger(g, p, call);
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
    case CALL_COMMIT_CAREFULLY:
        make_commit(g, p, call);
        break;
    case CALL_RECORD_STEP:
        make_record_step(g, p, call);
        break;
    case CALL_EMIT:
        make_emit(g, p, call);
        break;
    case CALL_PAUSE_WORKFLOW:
    case CALL_RESUME_WORKFLOW:
    case CALL_PAUSE_QUEUE:
    case CALL_RESUME_QUEUE:
        call->name = chance(g, 10) ? "none" : pick(g, workflows, 4);
        break;
    default:
        if (call->verb >= CALL_SIGNAL && call->verb <= CALL_PURGE)
            make_operation(g, p, call);
        else
            call->session = pick_session(g, p);
        call->flag = chance(g, 50);
    }
}

/* Sessions of an older epoch live on until housekeeping finds them. */
static void
make_call_of_old_epoch(struct generator *g, const struct player *p, struct call *call)
{
    static const enum call_verb verbs[] = {CALL_IDLE, CALL_LEAVE, CALL_HELD, CALL_CLAIM,
        CALL_HEARTBEAT, CALL_RECORD_STEP, CALL_COMMIT};
    int back = p->sessions.count > 4 ? 4 : (int)p->sessions.count;

    call->verb = verbs[below(g, sizeof(verbs) / sizeof(verbs[0]))];
    fill_call(g, p, call);
    if (back > 0 && call->verb != CALL_RECORD_STEP && call->verb != CALL_COMMIT)
        call->session = p->sessions.made[(int)p->sessions.count - 1 - below(g, back)].maker;
}

void
generator_next(
    struct generator *generator, const struct player *player, int number, struct call *call)
{
    struct generator *g = generator;
    struct oracle_view view;

    *call = (struct call){.number = number};
    if (g->last_commit.number != 0 && chance(g, 3)) {
        /* The same once more, as after a lost reply. */
        *call = g->last_commit;
        call->number = number;
        call->verb = CALL_COMMIT_CAREFULLY;
        for (int i = 0; i < call->items_count; i++)
            call->items[i].fence_off = chance(g, 25) ? -1 : 0;
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
    if (call->verb == CALL_RAISE_EPOCH)
        g->old_epoch = 5;
    if (call->verb == CALL_DRAIN_WORKER) {
        if (g->drained != 0 && chance(g, 25))
            call->session = g->drained;
        g->drained = call->session;
    }
    if ((call->verb == CALL_COMMIT || call->verb == CALL_COMMIT_CAREFULLY ||
            call->verb == CALL_CLAIM || call->verb == CALL_HEARTBEAT ||
            call->verb == CALL_HOUSEKEEP || call->verb == CALL_LEAVE) &&
        chance(g, 3)) {
        call->lock = call->items_count > 0 && chance(g, 70) ? call->items[0].run
                                                            : pick_run(g, player, WANT_HELD, &view);
        if (call->lock == CALL_NOBODY)
            call->lock = 0;
    }
}
