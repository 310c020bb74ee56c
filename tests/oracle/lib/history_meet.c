/* SPDX-License-Identifier: Apache-2.0 */
/* Whether calls can meet, and at what: which rows and sessions one of them can have held while another was under way. */
#include "history.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

bool
history_overlap(const struct history_call *a, const struct history_call *b)
{
    return a->sent < b->answered && b->sent < a->answered;
}

bool
history_ticks(enum call_verb verb)
{
    return verb == CALL_CLAIM || verb == CALL_HEARTBEAT;
}

void
history_write_row(char row[HISTORY_ID_SIZE], const struct oracle_item *item)
{
    if (item->task > 0)
        (void)snprintf(row, HISTORY_ID_SIZE, "%s/%d", item->run, item->task); /* they fit */
    else
        (void)snprintf(row, HISTORY_ID_SIZE, "%s", item->run);
}

/* What ends a claim, and perhaps a run. */
bool
history_lets_go(const char *kind)
{
    static const char *const kinds[] = {"complete", "fail", "suspend", "release", "drift"};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kinds[i], kind) == 0)
            return true;
    return false;
}

/* The row is of a run that the phase has made, from this one or from what it is of. */
static bool
may_make(const struct history *h, struct oracle *o, const char *run, const char *row)
{
    struct oracle_progressed before;
    char id[HISTORY_ID_SIZE];

    (void)snprintf(id, sizeof(id), "%.*s", (int)strcspn(row, "/"), row); /* an id */
    oracle_look_progress(h->base, id, &before);
    return !before.found && oracle_is_of_family(o, run, row);
}

/* What is done to a run as a whole comes to all of its tasks, and to the flow that it is a step of. */
static bool
may_concern(const struct history *h, struct oracle *o, const char *run, const char *row)
{
    return run != NULL && (oracle_is_above(o, run, row) || may_make(h, o, run, row));
}

/* An item comes to its own row; one that waits for a signal or starts a child also to that of its run; and one that lets go to all of
 * that. */
static bool
may_be_of_item(
    const struct history *h, struct oracle *o, const struct oracle_item *item, const char *row)
{
    char own[HISTORY_ID_SIZE];

    if (history_lets_go(item->kind))
        return may_concern(h, o, item->run, row);
    history_write_row(own, item);
    return strcmp(own, row) == 0 ||
        ((strcmp(item->kind, "signal") == 0 || strcmp(item->kind, "approval") == 0 ||
             strcmp(item->kind, "child") == 0) &&
            strcmp(item->run, row) == 0) ||
        may_make(h, o, item->run, row);
}

/* Whether the call can have held this row or session, or made this row. */
static bool
may_hold(struct history *h, struct oracle *o, const struct history_call *call, const char *id)
{
    const struct call *c = &call->call;

    if (history_ticks(c->verb) || c->verb == CALL_HOUSEKEEP || c->verb == CALL_LEAVE ||
        c->verb == CALL_EMIT)
        return true;
    if (c->verb == CALL_TRIGGER)
        return may_concern(h, o, call->id[0] != '\0' ? call->id : call->chosen, id);
    /* Its session was not over while it had something that this call let go of. */
    if (c->items_count > 0 && c->session != CALL_NOBODY) {
        const char *session = player_find(&h->player->sessions, c->session);

        if (session != NULL && strcmp(session, id) == 0)
            return true;
    }
    for (int i = 0; i < c->items_count; i++)
        if (may_be_of_item(h, o, &call->items[i], id))
            return true;
    return c->run != 0 && may_concern(h, o, player_find(&h->player->runs, c->run), id);
}

bool
history_can_be_held(struct history *h, struct oracle *o, int at, const char *id)
{
    for (int i = 0; i < h->calls_count; i++)
        if (i != at && history_overlap(&h->calls[i], &h->calls[at]) &&
            may_hold(h, o, &h->calls[i], id))
            return true;
    return false;
}

static bool
has_event_item(const struct history_call *call)
{
    for (int i = 0; i < call->call.items_count; i++)
        if (strcmp(call->call.items[i].item.kind, "event") == 0)
            return true;
    return call->call.verb == CALL_EMIT;
}

/* A wait for an event is also busy while another call is at its topic. */
bool
history_can_meet_at_topic(const struct history *h, int at)
{
    for (int i = 0; has_event_item(&h->calls[at]) && i < h->calls_count; i++)
        if (i != at && history_overlap(&h->calls[i], &h->calls[at]) && has_event_item(&h->calls[i]))
            return true;
    return false;
}

static void
count_one(const char *row, void *userdata)
{
    (void)row;
    ++*(int *)userdata;
}

static bool
is_of_session(const struct history *h, const struct call *call, int64_t session)
{
    const char *id = player_find(&h->player->sessions, call->session);
    int64_t number = 0;

    return id != NULL && pw_parse_i64(id, 1, INT64_MAX, &number) && number == session;
}

/* A sweep and a call that leaves, or lets go of something, each give back a part of what a session has. That it was the last one sees
 * neither. */
bool
history_can_share(const struct history *h, int at, int64_t session)
{
    bool leaves = h->calls[at].call.verb == CALL_LEAVE;
    int held = 0;

    oracle_each_held(h->base, session, count_one, &held);
    for (int i = 0; held > 1 && i < h->calls_count; i++) {
        const struct call *call = &h->calls[i].call;

        if (i == at || !history_overlap(&h->calls[i], &h->calls[at]))
            continue;
        if (leaves && (history_ticks(call->verb) || call->verb == CALL_HOUSEKEEP))
            return oracle_lease_is_over(h->base, session);
        if (!leaves && is_of_session(h, call, session) &&
            (call->verb == CALL_LEAVE || call->items_count > 0))
            return true;
    }
    return false;
}

/* Whether the call can have had a late result of this session. */
static bool
may_be_late(const struct history_call *call, int session)
{
    static const char *const kinds[] = {"step", "complete", "fail", "step_error"};

    for (int i = 0; call->call.session == session && i < call->call.items_count; i++)
        for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
            if (strcmp(call->items[i].kind, kinds[k]) == 0)
                return true;
    return false;
}

bool
history_can_meet_late(const struct history *h, int at)
{
    for (int i = 0; i < h->calls_count; i++)
        if (i != at && history_overlap(&h->calls[i], &h->calls[at]) &&
            (may_be_late(&h->calls[i], h->calls[at].call.session) ||
                history_ticks(h->calls[i].call.verb) || h->calls[i].call.verb == CALL_HOUSEKEEP ||
                h->calls[i].call.verb == CALL_LEAVE))
            return true;
    return false;
}
