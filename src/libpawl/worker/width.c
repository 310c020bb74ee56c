/* SPDX-License-Identifier: Apache-2.0 */
#include "libpawl/worker/width.h"

#include "libpawl/worker/worker.h"

/* A period is at least that long. It ends after the second time even if fewer runs ended than are in flight. */
static const int64_t period_us = 20000;
static const int64_t period_max_us = 1000000;
/* A step that has been executing for this long is slow. */
static const int64_t slow_us = 10000;

size_t
pw_width_most(const struct pw_settings *settings)
{
    return settings->concurrency > 0 ? (size_t)settings->concurrency : PW_WIDTH_MOST;
}

void
pw_width_init(struct pw_width *width, const struct pw_settings *settings)
{
    *width = (struct pw_width){.most = pw_width_most(settings)};
    width->now = settings->concurrency > 0 ? width->most : PW_WIDTH_BASE;
}

/*
 * On average busy_us / us handlers executed at the same time. While that is less than half of PW_WIDTH_BASE, twice the runs in flight
 * mean less than PW_WIDTH_BASE. As many runs as are in flight must have ended: the first step of a run may be short, and the
 * second one long.
 */
bool
pw_width_decide(struct pw_width *width, const struct pw_width_seen *seen)
{
    int64_t busy = seen->us > 0 ? 2 * seen->busy_us / seen->us : 0;

    if (busy > 2 * PW_WIDTH_BASE || seen->slow > PW_WIDTH_BASE) {
        if (width->now > PW_WIDTH_BASE)
            width->now /= 2;
        return true;
    }
    if (seen->ended < width->now)
        return seen->us >= period_max_us;
    /* guard:width_of_slow_handlers */
    if (width->full && busy < PW_WIDTH_BASE && seen->slow < PW_WIDTH_BASE / 2)
        width->now = 2 * width->now < width->most ? 2 * width->now : width->most;
    return true;
}

static size_t
count_slow(const pawl_worker *worker, int64_t now_us)
{
    const struct pw_map_entry *entry;
    size_t count = 0;
    size_t at = 0;

    while ((entry = pw_map_next(&worker->tasks, &at)) != NULL) {
        const struct pw_task *task = entry->value;

        if (!task->finished && task->run != NULL)
            count += pw_run_count_running(task->run, now_us, slow_us);
    }
    return count;
}

void
pw_width_turn(pawl_worker *worker, int64_t now_us)
{
    struct pw_width *width = &worker->width;
    struct pw_width_seen seen = {.us = now_us - width->since_us};
    struct pw_load load;

    if (worker->settings.concurrency > 0 || seen.us < period_us ||
        now_us - width->looked_us < period_us)
        return;
    width->looked_us = now_us;
    load = pw_inbox_load(&worker->inbox);
    seen.busy_us = load.busy_us - width->busy_us;
    seen.ended = (size_t)(load.ended - width->ended);
    seen.slow = count_slow(worker, now_us);
    if (!pw_width_decide(width, &seen))
        return;
    width->full = false;
    width->since_us = now_us;
    width->busy_us = load.busy_us;
    width->ended = load.ended;
}
