/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/top/top_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const int64_t top_now_us = (int64_t)15 * 60 * 1000000;

/* The time over which rates are counted, if the known runs reach back that far. */
static const int64_t rate_window_us = (int64_t)10 * 1000000;

static bool
is_state(const struct top_run *run, const char *state)
{
    return strcmp(run->status, state) == 0;
}

/*
 * Returns true if there are live runs that are not among the newest. A few are ignored, because the two were not counted at the same
 * instant.
 */
static bool
has_older_live(const struct top_view *view, const struct top_run *newest, size_t count)
{
    int64_t live = 0;
    int64_t seen = 0;

    for (size_t i = 0; i < view->queue_count; i++)
        live += view->queues[i].ready + view->queues[i].held;
    for (size_t i = 0; i < count; i++)
        if (is_state(&newest[i], "RUNNING") || is_state(&newest[i], "QUEUED"))
            seen++;
    return live > seen + seen / 10 + 10;
}

void
top_rate(struct top_view *view, const struct top_run *newest, size_t count, bool full)
{
    struct top_rates *rates = &view->rates;
    int64_t since_us = view->now_us - rate_window_us;
    double seconds;

    if (full && count > 0 && newest[count - 1].triggered_us > since_us)
        since_us = newest[count - 1].triggered_us;
    if (since_us > view->now_us - 1000)
        since_us = view->now_us - 1000;
    *rates = (struct top_rates){
        .window_us = view->now_us - since_us, .least = full && has_older_live(view, newest, count)};
    for (size_t i = 0; i < count; i++) {
        const struct top_run *run = &newest[i];

        if (run->triggered_us >= since_us)
            rates->triggered++;
        if (run->started_us >= since_us)
            rates->started++;
        if (run->ended_us >= since_us)
            rates->finished++;
        if (run->ended_us >= since_us && is_state(run, "ERROR"))
            rates->failed++;
    }
    seconds = (double)rates->window_us / 1e6;
    rates->triggered /= seconds;
    rates->started /= seconds;
    rates->finished /= seconds;
    rates->failed /= seconds;
}

/* Returns -1, 0 or 1; the larger number comes first. */
static int
by_size(int64_t a, int64_t b)
{
    return a > b ? -1 : a < b;
}

static int
compare_queues(const void *left, const void *right)
{
    const struct top_queue *a = left;
    const struct top_queue *b = right;
    int order = by_size(a->ready > 0 && a->workers == 0, b->ready > 0 && b->workers == 0);

    if (order == 0)
        order = by_size(a->ready, b->ready);
    if (order == 0)
        order = by_size(a->held, b->held);
    return order != 0 ? order : strcmp(a->name, b->name);
}

void
top_order_queues(struct top_queue *queues, size_t count)
{
    if (count > 1)
        qsort(queues, count, sizeof(*queues), compare_queues);
}

static int
rank_of_worker(const struct top_worker *worker)
{
    return strcmp(worker->state, "lost") == 0 ? 2 : strcmp(worker->state, "draining") == 0;
}

static int
compare_workers(const void *left, const void *right)
{
    const struct top_worker *a = left;
    const struct top_worker *b = right;
    int order = by_size(rank_of_worker(a), rank_of_worker(b));

    if (order == 0)
        order = by_size(a->held, b->held);
    return order != 0 ? order : strcmp(a->name, b->name);
}

void
top_order_workers(struct top_worker *workers, size_t count)
{
    if (count > 1)
        qsort(workers, count, sizeof(*workers), compare_workers);
}

static struct top_failure *
failure_of(struct top_view *view, const char *workflow)
{
    struct top_failure *failure;

    for (size_t i = 0; i < view->failure_count; i++)
        if (strcmp(view->failures[i].workflow, workflow) == 0)
            return &view->failures[i];
    if (view->failure_count == TOP_FAILURES_MAX)
        return NULL;
    failure = &view->failures[view->failure_count++];
    *failure = (struct top_failure){.workflow = workflow, .last_us = -1};
    return failure;
}

void
top_note_failure(struct top_view *view, const struct top_run *run)
{
    bool ended = is_state(run, "ERROR") && run->ended_us >= view->now_us - top_now_us;
    bool retrying = is_state(run, "PAUSED") && strcmp(run->reason, "retry") == 0;
    struct top_failure *failure;
    int64_t at_us = ended ? run->ended_us : run->due_us;

    if (!ended && !retrying)
        return;
    failure = failure_of(view, run->workflow);
    if (failure == NULL)
        return;
    if (ended)
        failure->failed++;
    else
        failure->retrying++;
    /* The end of a run matters more than a failed attempt. */
    if (failure->last_id == NULL || (ended && !failure->last_ended) ||
        (ended == failure->last_ended && at_us > failure->last_us)) {
        failure->last_us = at_us;
        failure->last_id = run->id;
        failure->last_ended = ended;
    }
}

static int
compare_failures(const void *left, const void *right)
{
    const struct top_failure *a = left;
    const struct top_failure *b = right;
    int order = by_size((int64_t)(a->failed + a->retrying), (int64_t)(b->failed + b->retrying));

    return order != 0 ? order : strcmp(a->workflow, b->workflow);
}

void
top_order_failures(struct top_view *view)
{
    qsort(view->failures, view->failure_count, sizeof(view->failures[0]), compare_failures);
}

static void
choose(struct top_cursor *cursor, const struct top_view *view, size_t index)
{
    cursor->index = index;
    (void)snprintf(
        cursor->id, sizeof(cursor->id), "%s", view->run_count > 0 ? view->runs[index].id : "");
}

void
top_cursor_follow(struct top_cursor *cursor, const struct top_view *view)
{
    for (size_t i = 0; cursor->id[0] != '\0' && i < view->run_count; i++)
        if (strcmp(view->runs[i].id, cursor->id) == 0) {
            cursor->index = i;
            return;
        }
    if (cursor->index >= view->run_count)
        cursor->index = view->run_count > 0 ? view->run_count - 1 : 0;
    choose(cursor, view, cursor->index);
}

void
top_cursor_move(struct top_cursor *cursor, const struct top_view *view, long by)
{
    size_t last = view->run_count > 0 ? view->run_count - 1 : 0;
    size_t far = by < 0 ? 0UL - (size_t)by : (size_t)by;

    if (by < 0)
        choose(cursor, view, far > cursor->index ? 0 : cursor->index - far);
    else
        choose(cursor, view, far > last - cursor->index ? last : cursor->index + far);
}

void
top_cursor_fit(struct top_cursor *cursor, size_t rows, size_t count)
{
    if (rows == 0)
        return;
    if (cursor->index < cursor->first)
        cursor->first = cursor->index;
    if (cursor->index >= cursor->first + rows)
        cursor->first = cursor->index - rows + 1;
    if (cursor->first + rows > count)
        cursor->first = count > rows ? count - rows : 0;
}

const struct top_run *
top_cursor_run(const struct top_cursor *cursor, const struct top_view *view)
{
    return cursor->index < view->run_count ? &view->runs[cursor->index] : NULL;
}
