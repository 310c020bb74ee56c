/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Triggers against workers that rest: no wake-up is lost. Producers trigger runs in transactions of random length, one statement or a block,
 * of queues that workers share or have alone, with pauses in which workers come to rest. A run starts at most a poll interval after the
 * commit of its trigger; most start at once, because a worker was notified.
 */
#include "race.h"

#include <pawl/pawl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    workers = 7,
    producers = 8,
    poll_ms = 2000,
    ahead_max = 20,
    full_count = 100000
};

/* Workflow 0 is everybody's; the others have a worker each. */
static const char *const workflows[] = {"wakeups.all", "wakeups.one", "wakeups.two"};

struct shared {
    struct race race;
    long count;
    atomic_long next;
    atomic_long started;
    atomic_long twice;
    /* Microseconds of bench_now_s() at the commit and at the start. */
    atomic_llong *committed_us;
    atomic_llong *started_us;
    pawl_worker *workers[workers];
    pthread_t threads[workers];
};

struct part {
    struct shared *shared;
    unsigned number;
};

static struct shared shared;

static long long
now_us(void)
{
    return (long long)(bench_now_s() * 1e6);
}

static pawl_status
start(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    long long none = 0;
    long n = 0;

    (void)run;
    for (size_t i = 0; i < input.size; i++)
        if (input.data[i] >= '0' && input.data[i] <= '9')
            n = 10 * n + input.data[i] - '0';
    if (atomic_compare_exchange_strong(&shared.started_us[n], &none, now_us()))
        atomic_fetch_add(&shared.started, 1);
    else
        atomic_fetch_add(&shared.twice, 1);
    *output = input;
    return PAWL_OK;
}

static void
expect(pawl_status status, pawl_error *error)
{
    if (status != PAWL_OK)
        bench_die("%s: %s", pawl_status_name(status), pawl_error_message(error));
}

static void *
work(void *argument)
{
    pawl_error *error = NULL;

    expect(pawl_worker_run(argument, &error), error);
    return NULL;
}

static void
start_workers(void)
{
    pawl_config *config = pawl_config_new();
    pawl_error *error = NULL;
    char poll[16];

    (void)snprintf(poll, sizeof(poll), "%dms", poll_ms);
    expect(pawl_config_set(config, "concurrency", "2", &error), error);
    expect(pawl_config_set(config, "poll", poll, &error), error);
    for (int i = 0; i < workers; i++) {
        pawl_worker **worker = &shared.workers[i];

        expect(pawl_worker_new(config, worker, &error), error);
        expect(pawl_worker_handle(*worker, workflows[0], start, NULL, &error), error);
        if (i < 2)
            expect(pawl_worker_handle(*worker, workflows[1 + i], start, NULL, &error), error);
        expect(pawl_worker_start(*worker, &error), error);
        if (pthread_create(&shared.threads[i], NULL, work, *worker) != 0)
            bench_die("no thread");
    }
    pawl_config_free(config);
}

static void
stop_workers(void)
{
    for (int i = 0; i < workers; i++)
        pawl_worker_drain(shared.workers[i]);
    for (int i = 0; i < workers; i++) {
        (void)pthread_join(shared.threads[i], NULL);
        pawl_worker_free(shared.workers[i]);
    }
}

static void
sleep_us(unsigned us)
{
    const struct timespec pause = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};

    (void)nanosleep(&pause, NULL); /* woken early is as good */
}

static void
trigger(PGconn *conn, struct race_random *random, long n)
{
    char input[32];
    const char *params[] = {workflows[race_below(random, 3)], input};
    unsigned kind = race_below(random, 10);
    PGresult *res;

    (void)snprintf(input, sizeof(input), "{\"n\": %ld}", n);
    if (kind < 2)
        bench_do(conn, "begin");
    if (kind == 0)
        sleep_us(race_below(random, 5000));
    res = bench_exec_params(conn, "select handled from pawl.trigger($1, $2)", 2, params);
    PQclear(res);
    if (kind < 2) {
        /* Some stay open for longer than any worker looks again. */
        sleep_us(race_below(random, race_below(random, 20) == 0 ? 400000 : 10000));
        atomic_store(&shared.committed_us[n], now_us());
        bench_do(conn, "commit");
    }
    atomic_store(&shared.committed_us[n], now_us());
}

static void *
produce(void *argument)
{
    const struct part *part = argument;
    struct race_random random = race_random(&shared.race, part->number);
    PGconn *conn = bench_connect();
    long n;

    while ((n = atomic_fetch_add(&shared.next, 1)) < shared.count) {
        /* What waits for a worker that is free says nothing about wake-ups. */
        while (n - atomic_load(&shared.started) > ahead_max)
            race_breathe();
        trigger(conn, &random, n);
        /* Bursts, and pauses in which the workers rest. */
        if (race_below(&random, 4) == 0)
            sleep_us(race_below(&random, race_below(&random, 50) == 0 ? 200000 : 10000));
    }
    PQfinish(conn);
    return NULL;
}

static int
compare(const void *a, const void *b)
{
    long long x = *(const long long *)a, y = *(const long long *)b;

    return (x > y) - (x < y);
}

static void
judge(void)
{
    long long *took_us = race_alloc(shared.count, sizeof(*took_us));
    long late = 0, slow = 0;

    for (long n = 0; n < shared.count; n++) {
        took_us[n] = atomic_load(&shared.started_us[n]) - atomic_load(&shared.committed_us[n]);
        late += took_us[n] > (long long)poll_ms * 1300;
        slow += took_us[n] > 500000;
    }
    qsort(took_us, (size_t)shared.count, sizeof(*took_us), compare);
    race_note("from commit to start: p50 %.2f ms, p99 %.2f ms, longest %.2f ms; %ld over 500 ms",
        (double)took_us[shared.count / 2] / 1e3, (double)took_us[shared.count * 99 / 100] / 1e3,
        (double)took_us[shared.count - 1] / 1e3, slow);
    race_in_time(&shared.race, late == 0,
        "%ld of %ld runs start later than a poll interval after their commit", late, shared.count);
    free(took_us);
}

int
main(int argc, char **argv)
{
    struct part parts[producers];
    double until_s;
    PGconn *conn;

    race_start(&shared.race, argc, argv);
    shared.count = race_share(&shared.race, full_count);
    shared.committed_us = race_alloc(shared.count, sizeof(*shared.committed_us));
    shared.started_us = race_alloc(shared.count, sizeof(*shared.started_us));
    conn = race_connect_direct();
    start_workers();
    for (unsigned i = 0; i < producers; i++)
        parts[i] = (struct part){&shared, i};
    race_threads(producers, produce, parts, sizeof(parts[0]));
    until_s = bench_limit_s(120);
    while (atomic_load(&shared.started) < shared.count && bench_now_s() < until_s)
        race_breathe();
    race_ok(&shared.race, atomic_load(&shared.started) == shared.count,
        "%ld of %ld runs have started", atomic_load(&shared.started), shared.count);
    race_note("%ld executions more than one", atomic_load(&shared.twice));
    stop_workers();
    if (atomic_load(&shared.started) == shared.count)
        judge();
    PQfinish(conn);
    free(shared.committed_us);
    free(shared.started_us);
    return race_end(&shared.race);
}
