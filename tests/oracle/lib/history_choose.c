/* SPDX-License-Identifier: Apache-2.0 */
/* Which call a client makes next. The generator of sequences chooses; what chance decides in the engine, or what others
 * would have to guess afterwards, is left out. */
#include "chance.h"
#include "history.h"

#include "harness.h"

#include "base/uuid.h"

#include <stdlib.h>
#include <string.h>

enum {
    LIVING_MAX = 5,
    SESSIONS_MAX = 4,
    TASK_TRIES = 60,
};

/*
 * Not among them: verbs that change definitions or pause queues, which a claim reads before it looks for tasks; rest and
 * drain_worker, which a claim under way may overlook; fork and purge.
 */
static bool
is_for_phases(enum call_verb verb)
{
    switch ((int)verb) {
    case CALL_TRIGGER:
    case CALL_REGISTER:
    case CALL_HEARTBEAT:
    case CALL_LEAVE:
    case CALL_HELD:
    case CALL_CLAIM:
    case CALL_COMMIT:
    case CALL_COMMIT_EACH:
    case CALL_RECORD_STEP:
    case CALL_HOUSEKEEP:
    case CALL_EMIT:
    case CALL_SIGNAL:
    case CALL_APPROVE:
    case CALL_REJECT:
    case CALL_CANCEL:
    case CALL_KILL:
    case CALL_PAUSE:
    case CALL_RESUME:
    case CALL_WAKE:
    case CALL_RETRY:
    case CALL_ROLLBACK_RETRY:
    case CALL_ROLLBACK_SKIP:
    case CALL_RAISE_EPOCH:
        return true;
    default:
        return call_is_one(verb);
    }
}

static bool
names_run(const struct call *call, int run)
{
    for (int i = 0; i < call->items_count; i++)
        if (call->items[i].run == run)
            return true;
    return false;
}

/*
 * Two calls that do not go together, because they meet where nothing holds them apart:
 *
 *   - A worker leaves once, when its claims are answered. What a claim takes while its session ends, a chore takes back; of
 *     two that give back a part each, none sees that it was the last.
 *   - Housekeeping that began in one epoch may sweep for the next.
 *   - Several items of a run that has ended, or is just triggered, are looked at one by one, and the end of a retry or of
 *     the trigger may come between them.
 */
static bool
do_not_go_together(const struct call *a, const struct call *b)
{
    if (a->verb == CALL_LEAVE && (b->verb == CALL_CLAIM || b->verb == CALL_LEAVE))
        return a->session == b->session;
    if (a->verb == CALL_TRIGGER)
        return b->items_count > 1 && names_run(b, a->number * CALL_NAMES_MAX);
    if (a->verb == CALL_RAISE_EPOCH)
        return b->verb == CALL_CLAIM || b->verb == CALL_HEARTBEAT || b->verb == CALL_HOUSEKEEP;
    return (a->verb == CALL_RETRY || a->verb == CALL_ROLLBACK_RETRY) && b->items_count > 1 &&
        names_run(b, a->run);
}

static bool
goes_with_others(const struct history *h, const struct call *call)
{
    for (int i = 0; i < h->calls_count; i++) {
        const struct call *other = &h->calls[i].call;

        if (other != call && h->calls[i].answered == HISTORY_UNKNOWN &&
            (do_not_go_together(call, other) || do_not_go_together(other, call)))
            return false;
    }
    return true;
}

static bool
is_wanted(struct history *h, const struct player *view, const struct call *call)
{
    struct generator *g = &h->generator;

    if (!is_for_phases(call->verb) || !goes_with_others(h, call))
        return false;
    if (call->verb == CALL_TRIGGER)
        return oracle_count_living(h->belief) < LIVING_MAX;
    if (call->verb == CALL_REGISTER)
        return chance_count_sessions(view) < SESSIONS_MAX && chance_of(g, 50);
    if (call->verb == CALL_RAISE_EPOCH)
        return chance_of(g, 20);
    return true;
}

/* Two tasks of one run may each find it held or not. */
static void
keep_one_task(struct call *call)
{
    int kept = 0;

    for (int i = 0; i < call->items_count; i++) {
        bool other = false;

        for (int k = 0; k < kept; k++)
            other = other ||
                (call->items[k].run == call->items[i].run &&
                    call->items[k].task != call->items[i].task);
        if (!other)
            call->items[kept++] = call->items[i];
    }
    call->items_count = kept;
}

/* Chance in a delay could not be asked for afterwards; and items of one run belong to one claim, as all that a worker sends
 * does: of several, the lock could be in the way of one and not of the next. */
static void
make_plain(struct call *call)
{
    call->lock = 0;
    /* Housekeeping reads the steps that a heartbeat told of without a lock, also while the next one is under way. */
    call->running_run = 0;
    for (int i = 0; i < CALL_ITEMS_MAX; i++) {
        call->items[i].policy.jitter = 0;
        for (int k = 0; k < i; k++)
            if (call->items[k].run == call->items[i].run)
                call->items[i].fence_off = call->items[k].fence_off;
    }
    keep_one_task(call);
}

/* The runs that the phase is about, and those that it made. */
static void
list_runs(const struct history *h, struct player_list *list)
{
    const struct player_list *all = &h->player->runs;

    list->made = calloc(all->count + 1, sizeof(*list->made));
    list->count = 0;
    if (list->made == NULL)
        bench_die("out of memory");
    for (size_t i = 0; i < all->count; i++) {
        bool hot =
            h->calls_count > 0 && all->made[i].maker / CALL_NAMES_MAX >= h->calls[0].call.number;

        for (int k = 0; k < h->hot_count; k++)
            hot = hot || h->hot[k] == all->made[i].maker;
        if (hot)
            list->made[list->count++] = all->made[i];
    }
}

static bool
is_about_task(const struct call *call, bool ends)
{
    const struct call_item *last =
        call->items_count == 0 ? NULL : &call->items[call->items_count - 1];

    return last != NULL && last->task > 0 && last->fence_off == 0 &&
        (!ends || strcmp(last->item.kind, "complete") == 0 ||
            (strcmp(last->item.kind, "fail") == 0 && last->item.option.final));
}

static void
generate(struct history *h, struct call *call)
{
    struct player view = *h->player;
    /* Where there are flows, calls are to meet at their tasks; and what ends one matters most to the others. */
    int task = h->flows && chance_of(&h->generator, 40) ? TASK_TRIES : 0;
    bool ends = chance_of(&h->generator, 50);

    view.oracle = h->belief;
    list_runs(h, &view.runs);
    do {
        generator_next(&h->generator, &view, ++h->number, call);
    } while (!is_wanted(h, &view, call) || (task-- > 0 && !is_about_task(call, ends)));
    free(view.runs.made);
    make_plain(call);
    /* Whoever calls an id new sends it once, and a call of a history may be sent again at once. */
    call->trigger.is_new = false;
    /* Which of several calls comes first would have to be guessed of these, too. */
    call->trigger.expires_us = call->trigger.debounce_us = call->trigger.debounce_max_us =
        ORACLE_NONE;
    call->trigger.replace = false;
    call->flag = call->flag && call->verb != CALL_TRIGGER;
    /* A claim with a number of its own is found again in the tables. */
    if (call->verb == CALL_CLAIM && call->claim.request == 0 && chance_of(&h->generator, 75))
        call->claim.request = ++h->generator.request;
}

static void
name_by_client(struct history *h, struct history_call *call)
{
    struct pw_uuid id;

    if (!pw_uuid_make_any(oracle_now(h->belief) / 1000, &id))
        bench_die("no random bytes");
    pw_uuid_format(&id, call->id);
    if (call->call.verb == CALL_TRIGGER)
        call->call.trigger.id = call->id;
    else
        call->call.event.id = call->id;
}

/* What a lost call has chosen must be known without its answer. */
static bool
can_be_lost(const struct history_call *call)
{
    if (call->call.verb == CALL_REGISTER || call->call.verb == CALL_RAISE_EPOCH)
        return false;
    if (call->call.verb == CALL_TRIGGER || call->call.verb == CALL_EMIT)
        return call->id[0] != '\0';
    for (int i = 0; i < call->call.items_count; i++)
        if (strcmp(call->call.items[i].item.kind, "child") == 0)
            return false;
    return true;
}

/* Housekeeping is not done in an open transaction, and how long that has been open would decide. */
static bool
can_be_held_open(enum call_verb verb)
{
    return verb != CALL_CLAIM && verb != CALL_HEARTBEAT && verb != CALL_HOUSEKEEP &&
        verb != CALL_REGISTER && verb != CALL_RAISE_EPOCH && verb != CALL_HELD;
}

static char *
copy_text(const char *text)
{
    char *copy = strdup(text);

    if (copy == NULL)
        bench_die("out of memory");
    return copy;
}

/* The same once more, under the same fences: as after a lost reply, or after a commit that was refused as a whole. */
static void
repeat(struct history *h, const struct history_call *old, struct history_call *call)
{
    call->call = old->call;
    call->call.number = ++h->number;
    if (call->call.verb == CALL_COMMIT)
        call->call.verb = CALL_COMMIT_EACH;
    memcpy(call->id, old->id, sizeof(call->id));
    if (call->id[0] != '\0' && call->call.verb == CALL_TRIGGER)
        call->call.trigger.id = call->id;
    else if (call->id[0] != '\0')
        call->call.event.id = call->id;
    for (int i = 0; i < call->call.items_count; i++) {
        struct call_item *item = &call->call.items[i];

        call->items[i] = old->items[i];
        call->items[i].name = item->name[0] == '\0' ? NULL : item->name;
        call->items[i].option.policy = item->has_policy ? &item->policy : NULL;
    }
    call->arguments = copy_text(old->arguments);
}

/* False: it names something that is not there. */
static bool
fill(struct history *h, struct history_call *call)
{
    struct player *p = h->player;
    struct oracle *kept = p->oracle;
    bool good;

    p->oracle = h->belief;
    pw_buf_clear(&p->sql);
    good = player_render(p, &call->call, false, &p->sql);
    for (int i = 0; good && i < call->call.items_count; i++)
        player_fill_item(p, &call->call.items[i], &call->items[i]);
    p->oracle = kept;
    call->arguments = good ? copy_text(pw_buf_text(&p->sql)) : NULL;
    return good;
}

void
history_choose(struct history *history, int client, struct history_call *call)
{
    struct history *h = history;
    struct generator *g = &h->generator;
    struct history_client *c = &h->clients[client];
    const struct history_call *old = c->again < 0 ? NULL : &h->calls[c->again];
    bool again = old != NULL && (old->answered != HISTORY_UNKNOWN || chance_of(g, 60));

    if (again && !goes_with_others(h, &old->call))
        again = false;
    if (again) {
        repeat(h, old, call);
    } else {
        do {
            generate(h, &call->call);
            if ((call->call.verb == CALL_EMIT ||
                    (call->call.verb == CALL_TRIGGER && call->call.trigger.key == NULL)) &&
                call->call.other == 0 && chance_of(g, 50))
                name_by_client(h, call);
            else
                call->id[0] = '\0';
        } while (!fill(h, call));
    }
    if (call->id[0] != '\0' && !again)
        player_remember(call->call.verb == CALL_TRIGGER ? &h->player->runs : &h->player->events,
            call->call.number * CALL_NAMES_MAX, call->id);
    call->held_open = can_be_held_open(call->call.verb) && chance_of(g, 30);
    c->wait = 1 + chance_below(g, 3);
    c->doom = HISTORY_NONE;
    if (can_be_lost(call) && chance_of(g, 3))
        c->doom = call->held_open ? (chance_of(g, 50) ? HISTORY_ENDS_OPEN : HISTORY_ENDS_COMMITTING)
                                  : (chance_of(g, 50) ? HISTORY_SERVER_ENDS : HISTORY_CLIENT_ENDS);
}

void
history_choose_hot(struct history *history)
{
    struct history *h = history;
    struct generator *g = &h->generator;
    int count = (int)h->player->runs.count, wanted = 1 + chance_below(g, 3);

    h->hot_count = 0;
    for (int try = 0; try < 60 && h->hot_count < wanted && count > 0; try++) {
        const struct player_made *made = &h->player->runs.made[chance_below(g, count)];
        struct oracle_view view;
        bool known = false;

        oracle_look(h->player->oracle, made->id, &view);
        for (int i = 0; i < h->hot_count; i++)
            known = known || h->hot[i] == made->maker;
        /* The first is a flow that lives, if a few tries find one. */
        if (h->flows && h->hot_count == 0 && try < 30 && !(view.flow && view.living))
            continue;
        if (!known && view.found && (view.living || chance_of(g, 8)))
            h->hot[h->hot_count++] = made->maker;
    }
}
