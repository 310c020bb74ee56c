/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench/bench.h"

#include "base/time.h"
#include "cli/report/exit.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>

/* One connection with its thread. */
struct lane {
    const struct bench *bench;
    const char *script;
    pthread_t thread;
    bool started;
    int64_t time_us;
    int64_t end_us; /* 0: the first turn is not over */
    int64_t *times_us;
    size_t count;
    size_t most;
    pawl_status status;
    pawl_error *error;
};

bool
bench_interrupted(const struct bench *bench)
{
    struct pollfd ready = {.fd = bench->signals, .events = POLLIN};

    return poll(&ready, 1, 0) > 0;
}

static int
compare(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left;
    int64_t b = *(const int64_t *)right;

    return (a > b) - (a < b);
}

void
bench_percentiles(int64_t *times_us, size_t count, struct bench_figure *figure)
{
    if (count == 0)
        return;
    qsort(times_us, count, sizeof(*times_us), compare);
    figure->p50_ms = (double)times_us[count / 2] / 1000;
    figure->p99_ms = (double)times_us[count * 99 / 100] / 1000;
}

/* The first turn, in which statements are planned for the first time, does not count. */
static int
take_turn(int64_t elapsed_us, void *userdata)
{
    struct lane *lane = userdata;
    int64_t now_us = pw_now_us();

    if (lane->end_us == 0)
        lane->end_us = pw_add_us(now_us, lane->time_us);
    else
        lane->times_us[lane->count++] = elapsed_us;
    return lane->count < lane->most && (lane->count == 0 || now_us < lane->end_us) &&
        !bench_interrupted(lane->bench);
}

static void *
go(void *arg)
{
    struct lane *lane = arg;

    lane->status =
        pawl_admin_measure(lane->bench->config, lane->script, take_turn, lane, &lane->error);
    return NULL;
}

/* Waits for all. The first error is said, the others would be the same. */
static int
join(struct lane *lanes, int count)
{
    int code = EXIT_OK;

    for (int i = 0; i < count; i++) {
        if (!lanes[i].started)
            continue;
        (void)pthread_join(lanes[i].thread, NULL);
        if (code == EXIT_OK)
            code = exit_with(lanes[i].status, lanes[i].error);
        else
            pawl_error_free(lanes[i].error);
    }
    return code;
}

/* Moves the times of all lanes to the front, and adds up what they did in a second. */
static size_t
gather(const struct lane *lanes, int lane_count, int items, int64_t *times_us, double *per_s)
{
    size_t count = 0;

    *per_s = 0;
    for (int i = 0; i < lane_count; i++) {
        int64_t sum_us = 1;

        for (size_t turn = 0; turn < lanes[i].count; turn++) {
            times_us[count++] = lanes[i].times_us[turn];
            sum_us += lanes[i].times_us[turn];
        }
        *per_s += (double)lanes[i].count * items * 1e6 / (double)sum_us;
    }
    return count;
}

int
bench_script(const struct bench *bench, const char *script, int connections, int items,
    int64_t time_us, struct bench_figure *figure)
{
    struct lane lanes[BENCH_CONNECTIONS_MAX] = {0};
    size_t most = (size_t)(BENCH_ITEMS_MAX / items / connections);
    int64_t *times_us = calloc(most * (size_t)connections, sizeof(*times_us));
    int code = EXIT_OK;
    int joined;

    if (times_us == NULL)
        return exit_saying(EXIT_OTHER, NULL, "out of memory");
    for (int i = 0; i < connections; i++) {
        lanes[i] = (struct lane){.bench = bench,
            .script = script,
            .time_us = time_us,
            .times_us = times_us + (size_t)i * most,
            .most = most};
        lanes[i].started = pthread_create(&lanes[i].thread, NULL, go, &lanes[i]) == 0;
        if (!lanes[i].started)
            code = exit_saying(EXIT_OTHER, NULL, "cannot start a thread");
    }
    joined = join(lanes, connections);
    if (code == EXIT_OK)
        code = joined;
    if (code == EXIT_OK) {
        size_t count = gather(lanes, connections, items, times_us, &figure->per_s);

        bench_percentiles(times_us, count, figure);
        code = bench_interrupted(bench) ? EXIT_INTERRUPTED : EXIT_OK;
    }
    free(times_us);
    return code;
}
