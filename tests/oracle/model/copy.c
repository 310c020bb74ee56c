/* SPDX-License-Identifier: Apache-2.0 */
/* A copy of the oracle, and a number that tells two states of it apart. */
#include "state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *
copy_memory(const void *from, size_t size)
{
    void *memory;

    if (size == 0)
        return NULL;
    memory = malloc(size);
    if (memory == NULL) {
        (void)fputs("oracle: out of memory\n", stderr); /* nothing is left to do */
        abort();
    }
    return memcpy(memory, from, size);
}

#define COPY_LIST(of, list) \
    (of)->list = copy_memory((of)->list, (of)->list##_count * sizeof(*(of)->list))

static struct oracle_workflow *
moved(struct oracle *to, const struct oracle *from, const struct oracle_workflow *workflow)
{
    return &to->workflows[workflow - from->workflows];
}

static struct oracle_run *
copy_run(struct oracle *to, const struct oracle *from, const struct oracle_run *of)
{
    struct oracle_run *run = copy_memory(of, sizeof(*run));

    run->workflow = moved(to, from, run->workflow);
    COPY_LIST(run, steps);
    COPY_LIST(run, waits);
    COPY_LIST(run, tries);
    return run;
}

struct oracle *
oracle_copy(const struct oracle *oracle)
{
    struct oracle *copy = copy_memory(oracle, sizeof(*oracle));

    pw_arena_init(&copy->texts, (size_t)1 << 30);
    copy->meanwhile = NULL;
    COPY_LIST(copy, sessions);
    COPY_LIST(copy, keys);
    COPY_LIST(copy, events);
    COPY_LIST(copy, schedules);
    COPY_LIST(copy, skips);
    COPY_LIST(copy, bulks);
    for (size_t i = 0; i < copy->bulks_count; i++) {
        COPY_LIST(&copy->bulks[i], again);
        COPY_LIST(&copy->bulks[i], answers);
    }
    COPY_LIST(copy, lanes);
    COPY_LIST(copy, subscriptions);
    COPY_LIST(copy, expected);
    COPY_LIST(copy, deferred);
    for (size_t i = 0; i < copy->keys_count; i++)
        copy->keys[i].workflow = moved(copy, oracle, oracle->keys[i].workflow);
    for (struct oracle_run **at = &copy->runs; *at != NULL; at = &(*at)->next) {
        struct oracle_run *run = copy_run(copy, oracle, *at);

        run->whole = run;
        COPY_LIST(run, signals);
        COPY_LIST(run, audits);
        COPY_LIST(run, rounds);
        for (struct oracle_run **task = &run->tasks; *task != NULL; task = &(*task)->next) {
            *task = copy_run(copy, oracle, *task);
            (*task)->whole = run;
        }
        *at = run;
    }
    return copy;
}

static void
add_text(uint64_t *sum, const char *text)
{
    for (; *text != '\0'; text++)
        *sum = (*sum ^ (unsigned char)*text) * UINT64_C(1099511628211);
}

/* What the shown state does not tell. */
static void
add_hidden(uint64_t *sum, struct oracle *o)
{
    char text[160];

    (void)snprintf(text, sizeof(text), "%" PRId64 " ", o->housekeeping_at); /* numbers fit */
    add_text(sum, text);
    for (const struct oracle_run *run = o->runs; run != NULL; run = run->next) {
        (void)snprintf(text, sizeof(text), "%d %d %d %d %d ", run->woken, run->ending_fence,
            run->gone, run->notes, run->ending_rollback);
        add_text(sum, text);
        for (size_t i = 0; i < run->audits_count; i++)
            add_text(sum, run->audits[i].detail == NULL ? "-" : run->audits[i].detail);
        for (const struct oracle_run *task = run->tasks; task != NULL; task = task->next) {
            (void)snprintf(text, sizeof(text), "%d ", task->living && task->woken);
            if (task->was_task)
                add_text(sum, text);
        }
    }
    for (size_t i = 0; i < o->sessions_count; i++) {
        const struct oracle_session *s = &o->sessions[i];

        (void)snprintf(text, sizeof(text), "%" PRId64 " %s %" PRId64 " %" PRId64 " %" PRId64 " ",
            s->reported_at, s->running.run == NULL ? "-" : s->running.run, s->running.started_ms,
            s->running.timeout_ms, s->next_limit_at);
        add_text(sum, text);
    }
}

uint64_t
oracle_digest(struct oracle *oracle)
{
    uint64_t sum = UINT64_C(14695981039346656037);
    struct pw_buf text;

    pw_buf_init(&text, (size_t)1 << 26);
    for (const struct oracle_run *run = oracle->runs; run != NULL; run = run->next)
        if (!run->gone)
            oracle_show_run(oracle, run->id, &text);
    oracle_show_rest(oracle, &text);
    add_text(&sum, pw_buf_text(&text));
    add_hidden(&sum, oracle);
    pw_buf_done(&text);
    return sum;
}
