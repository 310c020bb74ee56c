/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that report progress: commits, and steps that their callers record. */
#include "chance.h"
#include "timetable.h"

#include <stdio.h>
#include <string.h>

static const char *const errors[] = {"{\"code\": \"e1\"}", "\"broken\"", "{}"};
static const char *const matches[] = {NULL, NULL, "{\"/id\": 1}", "{\"/id\": 2}",
    "{\"/id\": 2, \"/tag\": \"x\"}", "{\"/id\": \"1\"}"};
static const char *const topics[] = {"t1", "t2"};
static const char *const keys[] = {"", "", "k"};

/* The name of a step: of its kind, so that kinds seldom meet under one name. */
static void
name_item(struct generator *g, const struct oracle_view *view, struct call_item *item)
{
    const char *kind = item->item.kind;
    const char *word = "a";

    if (view->rolling_back && view->undone != NULL && chance_of(g, 92)) {
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
    else if (chance_of(g, 30))
        word = "u";
    else if (chance_of(g, 20))
        word = "x/b";
    if (chance_of(g, 1))
        word = "e";
    if (chance_of(g, 1))
        word = "Bad";
    (void)snprintf(
        item->name, sizeof(item->name), "%s#%d", word, 1 + chance_below(g, 3)); /* they fit */
}

static void
fill_wait(struct generator *g, const struct oracle_view *view, struct oracle_item *item)
{
    struct oracle_option *o = &item->option;

    if (chance_of(g, 40))
        o->timeout_ms = 1000 + chance_below(g, 30000);
    if (strcmp(item->kind, "sleep") == 0 && chance_of(g, 97))
        o->ms = chance_of(g, 10) ? 0 : chance_below(g, 20000);
    if (strcmp(item->kind, "event") == 0) {
        o->topic = chance_of(g, 3) ? NULL : chance_pick(g, topics, 2);
        o->key = chance_pick(g, keys, 3);
        o->match = chance_of(g, 2) ? "7" : chance_pick(g, matches, 6);
    }
    if (strcmp(item->kind, "signal") == 0 || strcmp(item->kind, "approval") == 0)
        o->signal = chance_of(g, 3) ? "B d"
            : chance_of(g, 20)      ? NULL
                                    : chance_pick(g, chance_signals, 2);
    if (strcmp(item->kind, "approval") == 0 && chance_of(g, 50))
        o->form = "{\"ask\": 1}";
    if (strcmp(item->kind, "child") == 0) {
        o->timeout_ms = ORACLE_NONE;
        o->workflow = chance_of(g, 3) ? "none" : chance_workflow(g);
        /* A parent and its child that reach their limits at the same moment end in any order. */
        if (view->has_timeout &&
            (strcmp(o->workflow, "o.b.c") == 0 || strcmp(o->workflow, "f.c") == 0))
            o->workflow = "o.b";
        o->detached = chance_of(g, 20);
        if (g->lanes && chance_of(g, 30))
            o->limit_key = lane_key(g, "");
        o->delay_ms = chance_of(g, 90) ? ORACLE_NONE : chance_below(g, 5000);
        o->priority = chance_of(g, 90) ? -1 : 95;
        item->payload = chance_of(g, 50) ? NULL : chance_pick(g, chance_payloads, 7);
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
    item->item.seq = chance_of(g, 70) && item->name[0] != '\0' ? view->next_seq : 0;
    item->item.millis = chance_of(g, 50) ? 0 : chance_below(g, 500);
    if (strcmp(kind, "step") == 0 || strcmp(kind, "complete") == 0)
        item->item.payload =
            chance_of(g, 10) && kind[0] == 'c' ? NULL : chance_pick(g, chance_payloads, 7);
    if (strcmp(kind, "step_error") == 0 || failing)
        item->item.payload = chance_of(g, 10) ? NULL : chance_pick(g, errors, 3);
    if (strcmp(kind, "begin") == 0 && chance_of(g, 97))
        o->undo = "{\"handler\": \"h\"}";
    if (failing) {
        item->has_policy = chance_of(g, 25);
        chance_policy(g, &item->policy);
        o->permanent = chance_of(g, 10);
        o->final = kind[0] == 'f' && chance_of(g, 30);
        o->failure = chance_of(g, 10) ? 1 : 0;
        o->retry_after_ms = chance_of(g, 85) ? ORACLE_NONE : chance_below(g, 4000);
    }
    if (strcmp(kind, "complete") == 0 && chance_of(g, 6))
        o->unused = "[\"a#1\"]";
    if (strcmp(kind, "note") == 0) {
        item->item.payload = chance_of(g, 90) ? "\"said\"" : NULL;
        o->note = chance_of(g, 50) ? NULL : chance_of(g, 90) ? "progress" : "song";
    }
    fill_wait(g, view, &item->item);
    if (chance_of(g, 1) && item->item.payload != NULL && !failing) {
        item->item.payload = chance_of(g, 50) ? chance_huge() : "{";
        item->item.not_json = item->item.payload[0] == '{';
    }
}

static const char *
pick_kind(struct generator *g, const struct oracle_view *view, int task, bool last)
{
    static const char *const open[] = {"step", "step", "step", "step", "begin", "begin",
        "step_error", "retry", "retry", "confirm", "sleep", "event", "event", "signal", "approval",
        "child", "note", "start"};
    static const char *const closing[] = {"complete", "complete", "complete", "fail", "fail",
        "suspend", "suspend", "suspend", "release", "drift"};
    static const char *const back[] = {"step", "step", "step", "retry", "complete", "fail"};

    if (chance_of(g, 1))
        return "sing";
    if (view->rolling_back && chance_of(g, 90))
        return chance_pick(g, back, sizeof(back) / sizeof(back[0]));
    if (task > 0 && view->ending && chance_of(g, 8))
        return "drift";
    /* A flow comes to something only if most of its tasks do. */
    if (last && task > 0 && chance_of(g, 35))
        return "complete";
    if (last && chance_of(g, 40))
        return chance_pick(
            g, closing, sizeof(closing) / sizeof(closing[0]) - (chance_of(g, 60) ? 1 : 0));
    return chance_pick(g, open, sizeof(open) / sizeof(open[0]));
}

/* No two items of one call may be tries of the same step: what the engine chose for the first could not be asked. */
static bool
repeats(const struct call *call, const struct call_item *item)
{
    for (int i = 0; i < call->items_count; i++)
        if (call->items[i].run == item->run && call->items[i].task == item->task &&
            strcmp(call->items[i].name, item->name) == 0 && item->item.kind[0] != 'n')
            return true;
    return false;
}

/* Of a flow one task is done by a call: which of two the engine takes together decides what starts in between. */
static bool
ends_too(const struct call *call, const struct call_item *item)
{
    for (int i = 0; i < call->items_count; i++)
        if (item->task > 0 && call->items[i].task > 0 && call->items[i].run == item->run &&
            strcmp(item->item.kind, "complete") == 0 &&
            strcmp(call->items[i].item.kind, "complete") == 0)
            return true;
    return false;
}

/* Nor are runs of one family in one call, if there are flows among them: there is no order between items of two runs. */
static bool
is_related(const struct player *p, const struct call *call, int run)
{
    const char *id = player_find(&p->runs, run);

    for (int i = 0; i < call->items_count; i++) {
        const char *other = player_find(&p->runs, call->items[i].run);

        if (id != NULL && other != NULL && oracle_are_related(p->oracle, id, other))
            return true;
    }
    return false;
}

void
progress_commit(struct generator *g, const struct player *p, struct call *call)
{
    struct oracle_view view;
    int count = chance_of(g, 60) ? 1 : 2 + chance_below(g, 3);
    enum want want = chance_of(g, 85) ? WANT_HELD
        : chance_of(g, 40)            ? WANT_ENDING
        : chance_of(g, 50)            ? WANT_ENDED
                                      : WANT_ANY;
    int task, run = chance_task(g, p, want, &view, &task);
    /* The claim that had the run before its rollback asks once more now and then. */
    int off = chance_of(g, view.rolling_back ? 15 : 3) ? -1 : chance_of(g, 1) ? 1 : 0;

    call->session = view.session != 0 && chance_of(g, 97) ? chance_session_maker(p, view.session)
                                                          : chance_session(g, p);
    for (int i = 0; i < count; i++) {
        struct call_item item = {.run = run, .task = task, .fence_off = off};

        /* Mostly the last one lets go; now and then something stands behind that. */
        fill_item(g, &view, pick_kind(g, &view, task, i == count - 1 || chance_of(g, 5)), &item);
        if (item.item.seq != 0)
            item.item.seq += i;
        if (!repeats(call, &item) && !ends_too(call, &item))
            call->items[call->items_count++] = item;
        /* Another run of the same session now and then. */
        if (chance_of(g, 15)) {
            run = chance_task(g, p, WANT_HELD, &view, &task);
            if (is_related(p, call, run))
                break;
        }
    }
    g->last_commit = *call;
}

void
progress_record_step(struct generator *g, const struct player *p, struct call *call)
{
    struct oracle_view view;
    struct call_item *item = &call->items[0];

    call->items_count = 1;
    item->run = chance_task(g, p,
        chance_of(g, 70)       ? WANT_HELD
            : chance_of(g, 60) ? WANT_ENDING
                               : WANT_ANY,
        &view, &item->task);
    item->fence_off = chance_of(g, 3) ? -1 : 0;
    call->session =
        view.session != 0 ? chance_session_maker(p, view.session) : chance_session(g, p);
    item->item =
        (struct oracle_item){.kind = "step", .payload = chance_pick(g, chance_payloads, 7)};
    (void)snprintf(item->name, sizeof(item->name), "%s#%d",
        chance_of(g, 10)       ? "Bad"
            : chance_of(g, 15) ? "g"
            : chance_of(g, 60) ? "a"
                               : "u",
        1 + chance_below(g, 3)); /* they fit */
    /* The name of a wait is no name for a step. */
    if (view.waits_name != NULL && strchr(view.waits_name, '#') != NULL && chance_of(g, 30))
        (void)snprintf(item->name, sizeof(item->name), "%s", view.waits_name);
}

/* A verb of one item says less than an item of a commit can. */
void
progress_one(struct generator *g, const struct player *p, struct call *call)
{
    static const char *const kinds[] = {
        "step", "complete", "fail", "sleep", "event", "signal", "release"};
    const char *kind = kinds[call->verb - CALL_STEP];
    struct call_item *item = &call->items[0];
    struct oracle_option *o = &item->item.option;
    struct oracle_view view;

    item->run = chance_task(g, p,
        chance_of(g, 80)       ? WANT_HELD
            : chance_of(g, 50) ? WANT_ENDING
                               : WANT_ENDED,
        &view, &item->task);
    item->fence_off = chance_of(g, 5) ? -1 : 0;
    call->session = view.session != 0 && chance_of(g, 95) ? chance_session_maker(p, view.session)
                                                          : chance_session(g, p);
    fill_item(g, &view, kind, item);
    item->item.seq = item->item.millis = 0;
    item->has_policy = false;
    o->permanent = false;
    o->failure = 0;
    o->retry_after_ms = ORACLE_NONE;
    o->signal = o->unused = NULL;
    if (call->verb < CALL_SLEEP && chance_of(g, 5)) {
        item->item.payload = chance_of(g, 50) ? chance_huge() : "{";
        item->item.not_json = item->item.payload[0] == '{';
    }
    call->items_count = 1;
    if (call->verb < CALL_SLEEP || call->verb == CALL_RELEASE)
        return;
    /* What may follow; it is not in the call itself, but what was chosen for it is asked for. */
    call->items[1] = (struct call_item){.run = item->run,
        .task = item->task,
        .fence_off = item->fence_off,
        .item = {.kind = "suspend"}};
    call->items_count = 2;
}
