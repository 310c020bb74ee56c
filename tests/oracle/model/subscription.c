/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Subscriptions: each event that one matches starts one run of it, at the next tick, unless the subscription is paused or its last run could
 * not be started: then the event is deferred.
 */
#include "flow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MINUTE INT64_C(60000000)

static const char nobody[] = "00000000-0000-0000-0000-000000000000";

static struct oracle_subscription *
find(struct oracle *o, const char *tenant, const char *name)
{
    for (size_t i = 0; i < o->subscriptions_count; i++)
        if (strcmp(o->subscriptions[i].spec.tenant, tenant) == 0 &&
            strcmp(o->subscriptions[i].spec.name, name) == 0)
            return &o->subscriptions[i];
    return NULL;
}

static bool
is_of_topic(const struct oracle_subscription *s, const struct oracle_event *event)
{
    return strcmp(s->spec.tenant, event->tenant) == 0 && strcmp(s->spec.topic, event->topic) == 0 &&
        (s->spec.key == NULL || strcmp(s->spec.key, event->key) == 0);
}

/* --- events --- */

void
oracle_expect_runs(struct oracle *o, const struct oracle_event *event)
{
    int last = 0;

    for (size_t i = 0; i < o->subscriptions_count; i++)
        if (is_of_topic(&o->subscriptions[i], event))
            last = o->subscriptions[i].number;
    if (last > 0)
        *(struct oracle_expected *)oracle_push(&o->expected, &o->expected_count,
            sizeof(*o->expected)) = (struct oracle_expected){event->id, last};
}

static const struct oracle_event *
find_event(const struct oracle *o, const char *id)
{
    for (size_t i = 0; i < o->events_count; i++)
        if (strcmp(o->events[i].id, id) == 0)
            return &o->events[i];
    return NULL;
}

/* The event as an object, with its members in the order of jsonb; payload NULL: without it. */
static const char *
about(struct oracle *o, const struct oracle_subscription *s, const struct oracle_event *event,
    const char *payload)
{
    time_t seconds = (time_t)(event->emitted_at / 1000000);
    struct tm tm;
    char at[40];

    (void)gmtime_r(&seconds, &tm);
    (void)strftime(at, sizeof(at), "%Y-%m-%dT%H:%M:%S", &tm); /* it fits */
    return oracle_keepf(o,
        "{\"at\": \"%s.%06dZ\", \"id\": \"%s\", \"key\": \"%s\", \"topic\": \"%s\", %s%s%s"
        "\"subscription\": \"%s\"}",
        at, (int)(event->emitted_at % 1000000), event->id, event->key, event->topic,
        payload == NULL ? "" : "\"payload\": ", payload == NULL ? "" : payload,
        payload == NULL ? "" : ", ", s->spec.name);
}

/* False: it could not be started, and the subscription tries again later. */
static bool
start_run(struct oracle *o, struct oracle_subscription *s, const struct oracle_event *event)
{
    struct oracle_workflow *w = oracle_find_workflow(o, s->spec.workflow);
    const char *key = oracle_keepf(o, "event/%s/%s", s->spec.name, event->id), *id = NULL;
    struct oracle_run *run;
    struct oracle_key *taken;

    if (w->flow && w->steps_count == 0) {
        s->retry_at = o->now + MINUTE;
        s->deferred_after = event->id;
        s->error = oracle_keepf(o, "PW003 flow \"%s\" has no steps", w->name);
        return false;
    }
    if (o->chooser != NULL && o->chooser->scheduled != NULL)
        id = o->chooser->scheduled(o->chooser->userdata, s->spec.tenant, w->name, key);
    if (id == NULL || oracle_find_run(o, id) != NULL)
        id = oracle_keepf(o, "00000000-0000-7000-8000-%012zu", o->keys_count); /* there is none */
    run = oracle_add_run(o,
        &(struct oracle_new_run){
            .workflow = w,
            .id = id,
            .tenant = s->spec.tenant,
            .key = key,
            .priority = w->priority,
            .input = s->spec.whole_event ? about(o, s, event, event->payload) : event->payload,
            .metadata = oracle_keepf(o, "{\"event\": %s}", about(o, s, event, NULL)),
            .delay_us = ORACLE_NONE,
        });
    taken = oracle_push(&o->keys, &o->keys_count, sizeof(*taken));
    *taken = (struct oracle_key){
        run->id, oracle_keep(o, s->spec.tenant), w, key, "of an event", NULL, ORACLE_NONE};
    oracle_open_flow(o, run, ORACLE_NONE);
    s->started++;
    return true;
}

static bool
may_start(const struct oracle *o, const struct oracle_subscription *s)
{
    return !s->paused && (s->retry_at == ORACLE_NONE || s->retry_at <= o->now);
}

/* The first deferred event after this one; NULL: there is none. */
static struct oracle_deferred *
next_deferred(struct oracle *o, const struct oracle_subscription *s, const char *after)
{
    struct oracle_deferred *next = NULL;

    for (size_t i = 0; i < o->deferred_count; i++) {
        struct oracle_deferred *d = &o->deferred[i];

        if (d->subscription == s->number && strcmp(d->event, after) > 0 &&
            (next == NULL || strcmp(d->event, next->event) < 0))
            next = d;
    }
    return next;
}

/* Those after the one that failed last; if there is none, all. The others come after new events. Returns whether an event was handled. */
static bool
start_deferred(struct oracle *o, struct oracle_subscription *s)
{
    const char *after = next_deferred(o, s, s->deferred_after) != NULL ? s->deferred_after : "";
    struct oracle_deferred *next;
    bool handled = false;

    while (may_start(o, s) && (next = next_deferred(o, s, after)) != NULL) {
        const struct oracle_event *event = find_event(o, next->event);

        after = next->event;
        /* What is not retained any more starts nothing. */
        if (event != NULL && !start_run(o, s, event))
            return handled;
        oracle_drop(o->deferred, &o->deferred_count, sizeof(*next), (size_t)(next - o->deferred));
        handled = true;
    }
    if (handled && s->error != NULL) {
        s->retry_at = ORACLE_NONE;
        s->error = NULL;
    }
    return handled;
}

static void
start_event(struct oracle *o, const struct oracle_expected *expected)
{
    const struct oracle_event *event = find_event(o, expected->event);

    for (size_t i = 0; event != NULL && i < o->subscriptions_count; i++) {
        struct oracle_subscription *s = &o->subscriptions[i];

        /* One that was created later does not get it. */
        if (s->number > expected->last || !is_of_topic(s, event) ||
            !oracle_matches(s->spec.match, event->payload))
            continue;
        if (!may_start(o, s) || !start_run(o, s, event))
            *(struct oracle_deferred *)oracle_push(&o->deferred, &o->deferred_count,
                sizeof(*o->deferred)) = (struct oracle_deferred){s->number, event->id};
    }
}

static int
compare_expected(const void *a, const void *b)
{
    const struct oracle_expected *x = a;
    const struct oracle_expected *y = b;

    return strcmp(x->event, y->event);
}

void
oracle_start_runs(struct oracle *o)
{
    bool handled = !o->all_paused;

    while (handled) {
        handled = o->expected_count > 0;
        for (size_t i = 0; i < o->subscriptions_count; i++)
            handled = start_deferred(o, &o->subscriptions[i]) || handled;
        if (o->expected_count > 1)
            qsort(o->expected, o->expected_count, sizeof(*o->expected), compare_expected);
        for (size_t i = 0; i < o->expected_count; i++)
            start_event(o, &o->expected[i]);
        o->expected_count = 0;
    }
}

/* --- the verbs --- */

static const char *
problem_of(const struct oracle_subscription_spec *spec)
{
    if (spec->invalid)
        return "PW003";
    return spec->match != NULL && strlen(spec->match) > ORACLE_PAYLOAD_MAX ? "PW009" : NULL;
}

const char *
oracle_create_subscription(struct oracle *o, const struct oracle_subscription_spec *spec)
{
    const struct oracle_subscription *old;
    struct oracle_subscription *made;
    const char *problem;

    if (oracle_find_workflow(o, spec->workflow) == NULL)
        return "PW002";
    problem = problem_of(spec);
    if (problem != NULL)
        return problem;
    old = find(o, spec->tenant, spec->name);
    if (old != NULL)
        return strcmp(old->spec.topic, spec->topic) == 0 && oracle_same(old->spec.key, spec->key) &&
                oracle_same(old->spec.match, spec->match) &&
                strcmp(old->spec.workflow, spec->workflow) == 0 &&
                old->spec.whole_event == spec->whole_event
            ? "exists"
            : "differs";
    made = oracle_push(&o->subscriptions, &o->subscriptions_count, sizeof(*made));
    made->spec = *spec;
    made->number = ++o->subscriptions_made;
    made->retry_at = ORACLE_NONE;
    made->deferred_after = nobody;
    return "created";
}

const char *
oracle_pause_subscription(struct oracle *o, const char *tenant, const char *name)
{
    struct oracle_subscription *s = find(o, tenant, name);

    if (s == NULL)
        return "PW001";
    if (s->paused)
        return "already";
    s->paused = true;
    return "ok";
}

const char *
oracle_resume_subscription(struct oracle *o, const char *tenant, const char *name)
{
    struct oracle_subscription *s = find(o, tenant, name);

    if (s == NULL)
        return "PW001";
    if (!s->paused)
        return "already";
    s->paused = false;
    s->retry_at = ORACLE_NONE;
    return "ok";
}

const char *
oracle_delete_subscription(struct oracle *o, const char *tenant, const char *name)
{
    struct oracle_subscription *s = find(o, tenant, name);

    if (s == NULL)
        return "PW001";
    for (size_t i = o->deferred_count; i-- > 0;)
        if (o->deferred[i].subscription == s->number)
            oracle_drop(o->deferred, &o->deferred_count, sizeof(*o->deferred), i);
    oracle_drop(
        o->subscriptions, &o->subscriptions_count, sizeof(*s), (size_t)(s - o->subscriptions));
    return "ok";
}

/* --- looking --- */

static int
compare_deferred(const void *a, const void *b)
{
    const struct oracle_deferred *x = a;
    const struct oracle_deferred *y = b;

    if (x->subscription != y->subscription)
        return x->subscription < y->subscription ? -1 : 1;
    return strcmp(x->event, y->event);
}

void
oracle_show_subscriptions(struct oracle *o, struct pw_buf *out)
{
    for (size_t i = 0; i < o->subscriptions_count; i++) {
        const struct oracle_subscription *s = &o->subscriptions[i];

        pw_buf_addf(out, "subscription %d %s '%s' %s %s", s->number, s->spec.name, s->spec.tenant,
            s->spec.workflow, s->paused ? "t" : "f");
        if (s->retry_at == ORACLE_NONE)
            pw_buf_adds(out, " -");
        else
            pw_buf_addf(out, " %" PRId64, s->retry_at);
        pw_buf_addf(out, " %s%s%s\n", s->deferred_after, s->error == NULL ? "" : " ",
            s->error == NULL ? "" : s->error);
    }
    if (o->expected_count > 1)
        qsort(o->expected, o->expected_count, sizeof(*o->expected), compare_expected);
    for (size_t i = 0; i < o->expected_count; i++)
        pw_buf_addf(out, "expected %s %d\n", o->expected[i].event, o->expected[i].last);
    if (o->deferred_count > 1)
        qsort(o->deferred, o->deferred_count, sizeof(*o->deferred), compare_deferred);
    for (size_t i = 0; i < o->deferred_count; i++)
        pw_buf_addf(out, "deferred %d %s\n", o->deferred[i].subscription, o->deferred[i].event);
}

int
oracle_count_coming(const struct oracle *oracle)
{
    return (int)(oracle->deferred_count + oracle->expected_count * oracle->subscriptions_count);
}

void
oracle_each_subscription(struct oracle *o,
    void (*tell)(const char *what, const char *kind, void *userdata), void *userdata)
{
    for (size_t i = 0; i < o->subscriptions_count; i++) {
        const struct oracle_subscription *s = &o->subscriptions[i];

        if (s->started > 0)
            tell("subscription", s->spec.whole_event ? "event" : "payload", userdata);
        if (s->error != NULL)
            tell("subscription", "failed", userdata);
    }
    if (o->deferred_count > 0)
        tell("subscription", "deferred", userdata);
}
