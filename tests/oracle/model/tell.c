/* SPDX-License-Identifier: Apache-2.0 */
/* Telling runs something: events, signals, decisions. */
#include "state.h"

#include "base/uuid.h"

#include <string.h>

/* The first wait of a run, in the order of its steps, that the event matches. */
static const struct oracle_wait *
find_match(const struct oracle_run *run, const struct oracle_event *event)
{
    const struct oracle_wait *found = NULL;

    for (size_t i = 0; i < run->waits_count; i++) {
        const struct oracle_wait *wait = &run->waits[i];

        if (wait->kind == ORACLE_EVENT && strcmp(wait->topic, event->topic) == 0 &&
            strcmp(wait->key, event->key) == 0 && oracle_matches(wait->match, event->payload) &&
            (found == NULL || wait->seq < found->seq))
            found = wait;
    }
    return found;
}

const char *
oracle_emit(struct oracle *oracle, const struct oracle_event_spec *spec, const char *made,
    struct pw_buf *reply)
{
    const char *id = spec->id == NULL ? made : spec->id;
    struct oracle_event *event;
    struct pw_uuid uuid;
    int woken = 0;

    if (spec->topic[0] == '\0' || strlen(spec->topic) > 200 || spec->key == NULL)
        return "PW003";
    if (strlen(spec->payload) > ORACLE_PAYLOAD_MAX)
        return "PW009";
    if (id == NULL || !pw_uuid_parse(id, &uuid))
        return "not allowed: the id of the event";
    if (spec->id != NULL && oracle_is_off(oracle, &uuid))
        return "PW003";
    for (size_t i = 0; i < oracle->events_count; i++)
        if (strcmp(oracle->events[i].id, id) == 0) {
            if (strcmp(oracle->events[i].tenant, spec->tenant) != 0)
                return "PW001";
            pw_buf_addf(reply, "%s already 0", id);
            return spec->id == NULL ? "not allowed: the id is in use" : "already";
        }
    event = oracle_push(&oracle->events, &oracle->events_count, sizeof(*event));
    event->id = oracle_keep(oracle, id);
    event->emitted_at = oracle->now;
    event->tenant = oracle_keep(oracle, spec->tenant);
    event->topic = oracle_keep(oracle, spec->topic);
    event->key = oracle_keep(oracle, spec->key);
    event->payload = oracle_keep(oracle, spec->payload);
    oracle_expect_runs(oracle, event);
    /* A run takes it once; of its tasks, the first. */
    for (struct oracle_run *run = oracle->runs; run != NULL; run = oracle_next_task(run)) {
        const struct oracle_wait *wait;

        if (!run->living || strcmp(run->tenant, spec->tenant) != 0)
            continue;
        wait = find_match(run, event);
        /* A run that is to end takes nothing more. */
        if (wait == NULL || oracle_has_taken(run->whole, id) || (run->ending && !run->rolling_back))
            continue;
        oracle_settle(oracle, run, wait->name, ORACLE_SUCCESS, spec->payload, NULL, id);
        woken++;
    }
    pw_buf_addf(reply, "%s ok %d", id, woken);
    return woken > 0 ? "woke" : "ok";
}

/* Of two waits with the same place among the steps of their tasks, the engine chooses. */
static bool
is_open(struct oracle *o, const struct oracle_run *task, const struct oracle_wait *wait)
{
    return o->chooser == NULL ||
        o->chooser->waits(o->chooser->userdata, task->id, task->task, wait->name);
}

static const char *
send(struct oracle *o, const char *id, const char *name, const char *payload, enum oracle_kind kind)
{
    struct oracle_run *run = oracle_find_run(o, id);
    const struct oracle_wait *found = NULL;
    struct oracle_run *waiter = NULL;
    struct oracle_sent *sent;

    if (name[0] == '\0' || strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_.-") != strlen(name))
        return "PW003";
    if (strlen(payload) > ORACLE_PAYLOAD_MAX)
        return "PW009";
    if (run == NULL)
        return "PW001";
    if (!run->living)
        return "PW007";
    if (run->ending && !run->rolling_back)
        return "PW006";
    for (struct oracle_run *task = run; task != NULL; task = task == run ? run->tasks : task->next)
        for (size_t i = 0; i < task->waits_count; i++) {
            const struct oracle_wait *wait = &task->waits[i];

            if (wait->kind == kind && strcmp(wait->topic, name) == 0 &&
                (found == NULL || wait->seq < found->seq ||
                    (wait->seq == found->seq && !is_open(o, task, wait)))) {
                found = wait;
                waiter = task;
            }
        }
    if (found != NULL) {
        oracle_settle(o, waiter, found->name, ORACLE_SUCCESS, payload, NULL, NULL);
        return "taken";
    }
    if (run->signals_count >= 1000)
        return "PW009";
    sent = oracle_push(&run->signals, &run->signals_count, sizeof(*sent));
    sent->name =
        kind == ORACLE_APPROVAL ? oracle_keepf(o, "approval:%s", name) : oracle_keep(o, name);
    sent->payload = oracle_keep(o, payload);
    run->touched = true;
    return "stored";
}

const char *
oracle_signal(struct oracle *oracle, const char *run, const char *name, const char *payload)
{
    return send(oracle, run, name, payload, ORACLE_SIGNAL);
}

const char *
oracle_decide(struct oracle *oracle, const char *run, const char *name, bool approved,
    const char *by, const char *why, const char *payload)
{
    const char *decision =
        oracle_keepf(oracle, "{\"by\": \"%s\", \"why\": %s%s%s, \"payload\": %s, \"approved\": %s}",
            by, why == NULL ? "" : "\"", why == NULL ? "null" : why, why == NULL ? "" : "\"",
            payload, approved ? "true" : "false");
    const char *answer = send(oracle, run, name, decision, ORACLE_APPROVAL);

    if (answer[0] != 'P')
        oracle_audit(oracle, oracle_find_run(oracle, run), approved ? "approved" : "rejected", by);
    return answer;
}
