/* SPDX-License-Identifier: Apache-2.0 */
#include "timetable.h"

#include "chance.h"

static const char *const names[] = {"n1", "n1", "n2", "n.3"};
static const char *const tenants[] = {"", "", "", "", "acme"};

enum call_verb
subscription_verb(struct generator *g)
{
    static const enum call_verb verbs[] = {CALL_CREATE_SUBSCRIPTION, CALL_CREATE_SUBSCRIPTION,
        CALL_CREATE_SUBSCRIPTION, CALL_PAUSE_SUBSCRIPTION, CALL_RESUME_SUBSCRIPTION,
        CALL_RESUME_SUBSCRIPTION, CALL_DELETE_SUBSCRIPTION, CALL_TICK, CALL_TICK, CALL_HOUSEKEEP};

    return verbs[chance_below(g, sizeof(verbs) / sizeof(verbs[0]))];
}

static void
make_invalid(struct generator *g, struct oracle_subscription_spec *s)
{
    s->invalid = true;
    switch (chance_below(g, 4)) {
    case 0:
        s->name = "Bad Name";
        break;
    case 1:
        s->topic = "";
        break;
    case 2:
        s->match = "[]";
        break;
    default:
        s->match = "{\"/id\": {}}";
    }
}

static void
pick(struct generator *g, struct oracle_subscription_spec *s)
{
    static const char *const topics[] = {"t1", "t2"};
    static const char *const keys[] = {NULL, NULL, "", "k"};
    static const char *const matches[] = {
        NULL, NULL, NULL, "{\"/id\": 1}", "{\"/id\": 2}", "{\"/tag\": \"x\"}"};

    *s = (struct oracle_subscription_spec){
        .name = s->name,
        .tenant = s->tenant,
        .workflow = "o.a",
        .topic = "t1",
    };
    /* The same every time, so that it exists. */
    if (chance_of(g, 30))
        return;
    s->topic = chance_pick(g, topics, 2);
    s->key = chance_pick(g, keys, 4);
    s->match = chance_pick(g, matches, 6);
    s->whole_event = chance_of(g, 40);
    s->workflow = chance_of(g, 5) ? "none" : chance_workflow(g);
    if (chance_of(g, 8))
        make_invalid(g, s);
}

void
subscription_call(struct generator *g, struct call *call)
{
    call->subscription.name = chance_pick(g, names, 4);
    call->subscription.tenant = chance_pick(g, tenants, 5);
    if (call->verb == CALL_CREATE_SUBSCRIPTION)
        pick(g, &call->subscription);
    else if (chance_of(g, 10))
        call->subscription.name = "none";
}
