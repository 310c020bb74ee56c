/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the oracle, and how things in it are found. No rule of the engine is here. */
#include "state.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *
need(void *memory)
{
    if (memory == NULL) {
        (void)fputs("oracle: out of memory\n", stderr); /* nothing is left to do */
        abort();
    }
    return memory;
}

const char *
oracle_keep(struct oracle *o, const char *text)
{
    return text == NULL ? NULL : need(pw_arena_copy(&o->texts, text, strlen(text)));
}

const char *
oracle_keepf(struct oracle *o, const char *format, ...)
{
    char text[512], *large;
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (length < 0)
        abort();
    if ((size_t)length < sizeof(text))
        return oracle_keep(o, text);
    large = need(pw_arena_alloc(&o->texts, (size_t)length + 1));
    va_start(arguments, format);
    (void)vsnprintf(large, (size_t)length + 1, format, arguments); /* as long as before */
    va_end(arguments);
    return large;
}

void *
oracle_push(void *list_pointer, size_t *count, size_t size)
{
    void **list = list_pointer;
    char *place;

    *list = need(realloc(*list, (*count + 1) * size));
    place = (char *)*list + *count * size;
    memset(place, 0, size);
    *count += 1;
    return place;
}

void
oracle_drop(void *list, size_t *count, size_t size, size_t at)
{
    char *place = (char *)list + at * size;

    memmove(place, place + size, (*count - at - 1) * size);
    *count -= 1;
}

bool
oracle_same(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

struct oracle *
oracle_new(int64_t now_us)
{
    struct oracle *o = need(calloc(1, sizeof(*o)));

    pw_arena_init(&o->texts, (size_t)1 << 30);
    o->now = now_us;
    o->epoch = 1;
    o->crash_max = ORACLE_CRASH_MAX;
    o->grace_us = ORACLE_GRACE_US;
    return o;
}

static void
free_run(struct oracle_run *run)
{
    oracle_free_tasks(run);
    free(run->steps);
    free(run->waits);
    free(run->tries);
    free(run->signals);
    free(run->audits);
    free(run->rounds);
    free(run);
}

void
oracle_free(struct oracle *oracle)
{
    struct oracle_run *run;

    if (oracle == NULL)
        return;
    while ((run = oracle->runs) != NULL) {
        oracle->runs = run->next;
        free_run(run);
    }
    free(oracle->sessions);
    free(oracle->keys);
    free(oracle->events);
    free(oracle->schedules);
    free(oracle->skips);
    for (size_t i = 0; i < oracle->bulks_count; i++) {
        free(oracle->bulks[i].again);
        free(oracle->bulks[i].answers);
    }
    free(oracle->bulks);
    free(oracle->lanes);
    free(oracle->subscriptions);
    free(oracle->expected);
    free(oracle->deferred);
    pw_arena_done(&oracle->texts);
    free(oracle);
}

void
oracle_advance(struct oracle *oracle, int64_t by_us)
{
    oracle->now += by_us;
    oracle->housekeeping_at = 0;
}

int64_t
oracle_now(const struct oracle *oracle)
{
    return oracle->now;
}

void
oracle_hold_lock(struct oracle *oracle, const char *run)
{
    oracle->locked = oracle_keep(oracle, run);
}

bool
oracle_locked(const struct oracle *o, const struct oracle_run *run)
{
    return run->living &&
        ((o->locked != NULL && strcmp(o->locked, run->id) == 0) || oracle_row_is_held(o, run));
}

void
oracle_set_chooser(struct oracle *oracle, const struct oracle_chooser *chooser)
{
    oracle->chooser = chooser;
}

struct oracle_workflow *
oracle_find_workflow(struct oracle *o, const char *name)
{
    for (size_t i = 0; i < o->workflows_count; i++)
        if (oracle_same(o->workflows[i].name, name))
            return &o->workflows[i];
    return NULL;
}

struct oracle_run *
oracle_find_run(struct oracle *o, const char *id)
{
    for (struct oracle_run *run = o->runs; run != NULL; run = run->next)
        if (!run->gone && strcmp(run->id, id) == 0)
            return run;
    return NULL;
}

struct oracle_run *
oracle_find_living(struct oracle *o, const char *id)
{
    struct oracle_run *run = oracle_find_run(o, id);

    return run == NULL || !run->living || oracle_locked(o, run) ? NULL : run;
}

struct oracle_session *
oracle_find_session(struct oracle *o, int64_t id)
{
    for (size_t i = 0; i < o->sessions_count; i++)
        if (o->sessions[i].id == id)
            return &o->sessions[i];
    return NULL;
}

struct oracle_step *
oracle_find_step(struct oracle_run *run, const char *name)
{
    struct oracle_step *found = NULL;

    /* A final failure counts in its own round only. */
    for (size_t i = 0; i < run->steps_count; i++) {
        struct oracle_step *step = &run->steps[i];

        if (oracle_same(step->name, name) &&
            (step->state != ORACLE_ERROR || step->round == run->round) &&
            (found == NULL || step->round > found->round))
            found = step;
    }
    return found;
}

struct oracle_wait *
oracle_find_wait(struct oracle_run *run, const char *name)
{
    for (size_t i = 0; i < run->waits_count; i++)
        if (oracle_same(run->waits[i].name, name))
            return &run->waits[i];
    return NULL;
}

struct oracle_try *
oracle_find_try(struct oracle_run *run, const char *name)
{
    for (size_t i = 0; i < run->tries_count; i++)
        if (oracle_same(run->tries[i].name, name))
            return &run->tries[i];
    return NULL;
}

const struct oracle_round *
oracle_last_round(const struct oracle_run *run)
{
    return run->rounds_count == 0 ? NULL : &run->rounds[run->rounds_count - 1];
}

struct oracle_run *
oracle_add_run(struct oracle *o, const struct oracle_new_run *made)
{
    struct oracle_run *run = need(calloc(1, sizeof(*run)));
    struct oracle_run **at = &o->runs;
    bool delayed = made->delay_us != ORACLE_NONE && made->delay_us > 0;

    run->id = oracle_keep(o, made->id);
    run->workflow = made->workflow;
    run->queue = made->workflow->queue;
    run->whole = run;
    run->tenant = oracle_keep(o, made->tenant);
    run->key = oracle_keep(o, made->key);
    run->priority = made->priority;
    run->input = oracle_keep(o, made->input);
    run->metadata = oracle_keep(o, made->metadata);
    run->limit_key = oracle_keep(o, made->limit_key);
    run->tags = made->tags;
    run->parent = made->parent;
    run->parent_step = oracle_keep(o, made->parent_step);
    run->parent_task = made->parent_task;
    run->triggered_at = o->now;
    run->started_at = run->claimed_at = ORACLE_NONE;
    run->timeout_at = run->grace_at = run->cancel_at = run->expires_at = ORACLE_NONE;
    run->living = run->touched = true;
    run->round = 1;
    run->place = delayed ? ORACLE_WAITING : ORACLE_READY;
    run->reason = delayed ? "delay" : NULL;
    run->due_at = delayed ? o->now + made->delay_us : o->now;
    if (made->workflow->flow) {
        run->place = ORACLE_OPEN;
        run->reason = NULL;
        run->paused_due = ORACLE_NONE;
    }
    run->in_line = run->place == ORACLE_READY && o->queues[run->queue].laned;
    if (made->workflow->run_timeout_us != ORACLE_NONE)
        run->timeout_at = run->due_at + made->workflow->run_timeout_us;
    while (*at != NULL && strcmp((*at)->id, run->id) < 0)
        at = &(*at)->next;
    run->next = *at;
    *at = run;
    return run;
}

void
oracle_audit(struct oracle *o, struct oracle_run *run, const char *what, const char *who)
{
    struct oracle_run *whole = run->whole;
    struct oracle_audit *audit = oracle_push(&whole->audits, &whole->audits_count, sizeof(*audit));

    audit->what = what;
    audit->task = run->task;
    audit->at = o->now;
    audit->who = oracle_keep(o, who);
    run->touched = true;
}

void
oracle_audit_once(struct oracle *o, struct oracle_run *run, const char *what, const char *detail)
{
    struct oracle_run *whole = run->whole;

    for (size_t i = 0; i < whole->audits_count; i++)
        if (strcmp(whole->audits[i].what, what) == 0 && whole->audits[i].task == run->task &&
            oracle_same(whole->audits[i].detail, detail))
            return;
    oracle_audit(o, run, what, NULL);
    whole->audits[whole->audits_count - 1].detail = oracle_keep(o, detail);
}

int
oracle_next_seq(const struct oracle_run *run)
{
    int seq = 0;

    for (size_t i = 0; i < run->steps_count; i++)
        seq = run->steps[i].seq > seq ? run->steps[i].seq : seq;
    for (size_t i = 0; i < run->waits_count; i++)
        seq = run->waits[i].seq > seq ? run->waits[i].seq : seq;
    return seq + 1;
}

enum oracle_place
oracle_ready_place(int crashes)
{
    return crashes >= ORACLE_SUSPECT_AT ? ORACLE_SUSPECT : ORACLE_READY;
}

const char *
oracle_error(struct oracle *o, const char *code, const char *message)
{
    return oracle_keepf(o, "{\"code\": \"%s\", \"message\": \"%s\"}", code, message);
}
