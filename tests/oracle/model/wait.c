/* SPDX-License-Identifier: Apache-2.0 */
/* Items that wait: sleep, event, signal, approval, child. */
#include "flow.h"

#include "base/json_read.h"
#include "base/uuid.h"
#include "uuid_parts.h"

#include <string.h>

/* The value at a pointer, such as /user/id; none if it is missing. Escapes in pointers are not known here. */
static struct pw_json
value_at(struct pw_json value, const char *pointer, size_t length)
{
    while (length > 0) {
        const char *slash = memchr(pointer + 1, '/', length - 1);
        size_t part = slash == NULL ? length : (size_t)(slash - pointer);
        char name[64] = "";

        if (part > sizeof(name))
            return (struct pw_json){0};
        memcpy(name, pointer + 1, part - 1);
        value = value.size > 0 && value.data[0] == '{' ? pw_json_member(value, name)
                                                       : (struct pw_json){0};
        pointer += part;
        length -= part;
    }
    return value;
}

bool
oracle_matches(const char *match, const char *payload)
{
    struct pw_json all = {payload, strlen(payload)};
    struct pw_json_walk walk;
    struct pw_json key, wanted;

    if (match == NULL)
        return true;
    pw_json_walk(&walk, (struct pw_json){match, strlen(match)});
    while (pw_json_walk_next(&walk, &key, &wanted)) {
        struct pw_json found = value_at(all, key.data, key.size);

        /* Scalars in the form that jsonb prints: equal and of one type if their texts are the same. */
        if (found.size != wanted.size || memcmp(found.data, wanted.data, wanted.size) != 0)
            return false;
    }
    return true;
}

static struct oracle_wait *
open_wait(struct oracle *o, struct oracle_run *run, const struct oracle_item *item,
    enum oracle_kind kind, int64_t due_at)
{
    int seq = item->seq == 0 ? oracle_next_seq(run) : item->seq;
    struct oracle_wait *wait = oracle_push(&run->waits, &run->waits_count, sizeof(*wait));

    wait->name = oracle_keep(o, item->name);
    wait->kind = kind;
    wait->seq = seq;
    wait->created_at = o->now;
    wait->due_at = due_at;
    run->crashes = 0;
    run->touched = true;
    return wait;
}

/* Recorded at once, because what it waits for is there. */
static void
record_at_once(struct oracle *o, struct oracle_run *run, const struct oracle_item *item,
    enum oracle_kind kind, const char *output, const char *source)
{
    struct oracle_step *step = oracle_record(o, run, item->name, kind, ORACLE_SUCCESS, item->seq);

    step->output = oracle_keep(o, output);
    step->source = oracle_keep(o, source);
    oracle_progress(run, item->name);
}

bool
oracle_has_taken(const struct oracle_run *run, const char *event)
{
    for (const struct oracle_run *task = run; task != NULL;
         task = task == run ? run->tasks : task->next)
        for (size_t i = 0; i < task->steps_count; i++)
            if (task->steps[i].kind == ORACLE_EVENT && oracle_same(task->steps[i].source, event))
                return true;
    return false;
}

/* The earliest event since the trigger that matches and that this run has not taken; of equals, the one chosen. */
static const struct oracle_event *
find_event(struct oracle *o, const struct oracle_run *run, const struct oracle_item *item)
{
    const char *key = item->option.key == NULL ? "" : item->option.key;
    const struct oracle_event *found = NULL;
    int64_t since = o->now - ORACLE_EVENT_RETENTION_US;

    since = run->triggered_at > since ? run->triggered_at : since;
    for (size_t i = 0; i < o->events_count; i++) {
        const struct oracle_event *e = &o->events[i];

        if (strcmp(e->tenant, run->tenant) != 0 || strcmp(e->topic, item->option.topic) != 0 ||
            strcmp(e->key, key) != 0 || e->emitted_at < since ||
            oracle_has_taken(run->whole, e->id) || !oracle_matches(item->option.match, e->payload))
            continue;
        if (found == NULL || e->emitted_at < found->emitted_at ||
            (e->emitted_at == found->emitted_at && oracle_same(e->id, item->chosen_event)))
            found = e;
    }
    return found;
}

static void
wait_event(struct oracle *o, struct oracle_run *run, const struct oracle_item *item, int64_t due_at,
    const char **answer, const char **value)
{
    const struct oracle_event *event;
    struct oracle_wait *wait;

    if (item->option.topic == NULL || item->option.topic[0] == '\0' ||
        strlen(item->option.topic) > 200 ||
        (item->option.match != NULL && item->option.match[0] != '{')) {
        *answer = "refused";
        return;
    }
    if (oracle_is_held(o, oracle_keepf(o, ORACLE_TOPIC "%s", item->option.topic))) {
        *answer = "busy";
        return;
    }
    event = find_event(o, run, item);
    if (event != NULL) {
        record_at_once(o, run, item, ORACLE_EVENT, event->payload, event->id);
        *value = oracle_keepf(o, "{\"state\": \"SUCCESS\", \"output\": %s}", event->payload);
        return;
    }
    wait = open_wait(o, run, item, ORACLE_EVENT, due_at);
    wait->topic = oracle_keep(o, item->option.topic);
    wait->key = oracle_keep(o, item->option.key == NULL ? "" : item->option.key);
    wait->match = oracle_keep(o, item->option.match);
    *value = "{\"state\": \"PAUSED\"}";
}

/* The name without what marks an undo, without its branch and its number, unless another one is given. */
static const char *
signal_name(struct oracle *o, const struct oracle_item *item)
{
    const char *slash = strrchr(item->name, '/');
    const char *name = slash != NULL               ? slash + 1
        : strncmp(item->name, "rollback:", 9) == 0 ? item->name + 9
                                                   : item->name;

    if (item->option.signal != NULL)
        return item->option.signal;
    return oracle_keepf(o, "%.*s", (int)strcspn(name, "#"), name);
}

static void
wait_signal(struct oracle *o, struct oracle_run *run, const struct oracle_item *item,
    enum oracle_kind kind, int64_t due_at, const char **answer, const char **value)
{
    const char *name = signal_name(o, item);
    const char *sent = kind == ORACLE_APPROVAL ? oracle_keepf(o, "approval:%s", name) : name;
    struct oracle_run *whole = run->whole;
    struct oracle_wait *wait;

    if (name[0] == '\0' ||
        strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_.-") != strlen(name)) {
        *answer = "refused";
        return;
    }
    /* Whoever sends one comes to the run, so a task goes there, too. */
    if (run->task > 0 && oracle_locked(o, whole)) {
        *answer = "busy";
        return;
    }
    for (size_t i = 0; i < whole->signals_count; i++)
        if (strcmp(whole->signals[i].name, sent) == 0) {
            const char *payload = whole->signals[i].payload;

            oracle_drop(whole->signals, &whole->signals_count, sizeof(*whole->signals), i);
            record_at_once(o, run, item, kind, payload, NULL);
            *value = oracle_keepf(o, "{\"state\": \"SUCCESS\", \"output\": %s}", payload);
            return;
        }
    wait = open_wait(o, run, item, kind, due_at);
    wait->topic = oracle_keep(o, name);
    wait->form = oracle_keep(o, item->option.form);
    *value = "{\"state\": \"PAUSED\"}";
}

static void
start_child(struct oracle *o, struct oracle_run *run, const struct oracle_item *item,
    const char **answer, const char **value)
{
    const struct oracle_option *option = &item->option;
    struct oracle_workflow *w = oracle_find_workflow(o, option->workflow);
    const char *id = item->chosen_child;
    int64_t delay_us = option->delay_ms == ORACLE_NONE ? ORACLE_NONE : option->delay_ms * 1000;
    struct pw_uuid parent, child;
    struct oracle_run *made;

    if (w == NULL || item->not_json || (w->flow && w->steps_count == 0) ||
        (option->priority != -1 && (option->priority < 0 || option->priority > 32767))) {
        *answer = "refused";
        return;
    }
    /* A flow that has ended as it was started is not named in the answer. */
    if (id == NULL && w->flow && o->chooser != NULL)
        id =
            oracle_keep(o, o->chooser->child(o->chooser->userdata, run->id, run->task, item->name));
    if (id == NULL || !pw_uuid_parse(id, &child) || !pw_uuid_parse(run->id, &parent) ||
        uuid_slot(&child) != uuid_slot(&parent) || !oracle_is_of_now(o, &child) ||
        oracle_find_run(o, id) != NULL) {
        *answer = "not allowed: the id of the child";
        return;
    }
    if (!option->detached)
        open_wait(o, run, item, ORACLE_CHILD, ORACLE_NEVER)->child = oracle_keep(o, id);
    made = oracle_add_run(o,
        &(struct oracle_new_run){
            .workflow = w,
            .id = id,
            .tenant = run->tenant,
            .limit_key = option->limit_key,
            .priority = option->priority == -1 ? w->priority : option->priority,
            .input = item->payload == NULL ? "{}" : item->payload,
            .delay_us = delay_us,
            .parent = run->id,
            .parent_step = option->detached ? NULL : item->name,
            .parent_task = run->task,
        });
    oracle_open_flow(o, made, delay_us);
    if (option->detached) {
        const char *output = oracle_keepf(o, "{\"run_id\": \"%s\"}", id);

        record_at_once(o, run, item, ORACLE_CHILD, output, id);
        *value = oracle_keepf(o, "{\"state\": \"SUCCESS\", \"output\": %s}", output);
        return;
    }
    /* A record of an earlier round does not count while the child is waited for. */
    *value = oracle_find_wait(run, item->name) != NULL
        ? oracle_keepf(o, "{\"child\": \"%s\", \"state\": \"PAUSED\"}", id)
        : oracle_recorded(o, run, item->name);
}

void
oracle_item_wait(struct oracle *o, struct oracle_run *run, const struct oracle_item *item,
    enum oracle_kind kind, const char **answer, const char **value)
{
    static const char *const states[] = {"", "SUCCESS", "ERROR", "RUNNING", "SKIPPED"};
    const struct oracle_step *old = oracle_find_step(run, item->name);
    const struct oracle_wait *open = oracle_find_wait(run, item->name);
    int64_t due_at = item->option.timeout_ms == ORACLE_NONE
        ? ORACLE_NEVER
        : o->now + item->option.timeout_ms * 1000;

    if ((old != NULL && old->kind != kind) || (old == NULL && open != NULL && open->kind != kind)) {
        oracle_pause_for_drift(o, run);
        *answer = "refused";
    } else if (old != NULL) {
        *answer = "already";
        *value = oracle_keepf(o, "{\"error\": %s, \"state\": \"%s\", \"output\": %s}",
            old->error == NULL ? "null" : old->error, states[old->state],
            old->output == NULL ? "null" : old->output);
    } else if (open != NULL) {
        *answer = "already";
        *value = open->child == NULL
            ? "{\"child\": null, \"state\": \"PAUSED\"}"
            : oracle_keepf(o, "{\"child\": \"%s\", \"state\": \"PAUSED\"}", open->child);
    } else if (kind == ORACLE_SLEEP) {
        (void)open_wait(o, run, item, kind, o->now + item->option.ms * 1000); /* no more to say */
        *value = "{\"state\": \"PAUSED\"}";
    } else if (kind == ORACLE_EVENT) {
        wait_event(o, run, item, due_at, answer, value);
    } else if (kind == ORACLE_CHILD) {
        start_child(o, run, item, answer, value);
    } else {
        wait_signal(o, run, item, kind, due_at, answer, value);
    }
}
