/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench/bench.h"

#include "base/time.h"
#include "cli/report/exit.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>

/* One connection with its thread. */
struct client {
    const struct bench *bench;
    const char *script;
    pthread_t thread;
    bool started;
    int64_t time_us;
    int64_t end_us; /* 0: the first turn has not ended */
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
    struct client *client = userdata;
    int64_t now_us = pw_now_us();

    if (client->end_us == 0)
        client->end_us = pw_add_us(now_us, client->time_us);
    else
        client->times_us[client->count++] = elapsed_us;
    return client->count < client->most && (client->count == 0 || now_us < client->end_us) &&
        !bench_interrupted(client->bench);
}

static void *
go(void *arg)
{
    struct client *client = arg;

    client->status = pawl_admin_measure(
        client->bench->config, client->script, take_turn, client, &client->error);
    return NULL;
}

/* Waits for all clients. Prints only the first error, because all errors have the same cause. */
static int
join(struct client *clients, int count)
{
    int code = EXIT_OK;

    for (int i = 0; i < count; i++) {
        if (!clients[i].started)
            continue;
        (void)pthread_join(clients[i].thread, NULL);
        if (code == EXIT_OK)
            code = exit_with(clients[i].status, clients[i].error);
        else
            pawl_error_free(clients[i].error);
    }
    return code;
}

/* Moves the times of all clients to the front, and adds up their items per second. */
static size_t
gather(const struct client *clients, int client_count, int items, int64_t *times_us, double *per_s)
{
    size_t count = 0;

    *per_s = 0;
    for (int i = 0; i < client_count; i++) {
        int64_t sum_us = 1;

        for (size_t turn = 0; turn < clients[i].count; turn++) {
            times_us[count++] = clients[i].times_us[turn];
            sum_us += clients[i].times_us[turn];
        }
        *per_s += (double)clients[i].count * items * 1e6 / (double)sum_us;
    }
    return count;
}

int
bench_script(const struct bench *bench, const char *script, int connections, int items,
    int64_t time_us, struct bench_figure *figure)
{
    struct client clients[BENCH_CONNECTIONS_MAX] = {0};
    size_t most = (size_t)(BENCH_ITEMS_MAX / items / connections);
    int64_t *times_us = calloc(most * (size_t)connections, sizeof(*times_us));
    int code = EXIT_OK;
    int joined;

    if (times_us == NULL)
        return exit_saying(EXIT_OTHER, NULL, "out of memory");
    for (int i = 0; i < connections; i++) {
        clients[i] = (struct client){.bench = bench,
            .script = script,
            .time_us = time_us,
            .times_us = times_us + (size_t)i * most,
            .most = most};
        clients[i].started = pthread_create(&clients[i].thread, NULL, go, &clients[i]) == 0;
        if (!clients[i].started)
            code = exit_saying(EXIT_OTHER, NULL, "cannot start a thread");
    }
    joined = join(clients, connections);
    if (code == EXIT_OK)
        code = joined;
    if (code == EXIT_OK) {
        size_t count = gather(clients, connections, items, times_us, &figure->per_s);

        bench_percentiles(times_us, count, figure);
        code = bench_interrupted(bench) ? EXIT_INTERRUPTED : EXIT_OK;
    }
    free(times_us);
    return code;
}
