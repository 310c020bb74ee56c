/* SPDX-License-Identifier: Apache-2.0 */
/* The measurements that have a worker of the library in this process. */
#include "base/time.h"
#include "cli/bench/bench.h"
#include "cli/report/exit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    BATCH = 500,  /* runs that are triggered at once */
    AHEAD = 4000, /* runs that are triggered and have not ended, so that the worker never waits */
    PAD = 230,    /* makes 240 bytes of JSON, as bench.pad() does */
    PICKUPS_MAX = 2000,
    PICKUP_WAIT_MS = 30000, /* after this time something is wrong */
};

/* A worker in a thread, and a client that triggers its runs. */
struct crew {
    const struct bench *bench;
    pawl_worker *worker;
    pawl_client *client;
    pawl_trigger *trigger;
    pthread_t thread;
    bool started;
    pawl_status status; /* of the worker */
    pawl_error *error;
    char payload[PAD + 16];
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int64_t began_us; /* when the last handler began; 0: it has not. Under lock */
};

static pawl_status
do_nothing(pawl_run *run, void *userdata, pawl_bytes *output)
{
    const struct crew *crew = userdata;

    (void)run;
    *output = (pawl_bytes){crew->payload, strlen(crew->payload)};
    return PAWL_OK;
}

static pawl_status
three_steps(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    void *crew = pawl_run_userdata(run);
    pawl_status status;

    (void)input;
    if ((status = pawl_step(run, "step1", do_nothing, crew, NULL)) != PAWL_OK ||
        (status = pawl_step(run, "step2", do_nothing, crew, NULL)) != PAWL_OK)
        return status;
    return pawl_step(run, "step3", do_nothing, crew, output);
}

static pawl_status
tell_begin(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct crew *crew = pawl_run_userdata(run);

    (void)input;
    (void)output;
    (void)pthread_mutex_lock(&crew->lock);
    crew->began_us = pw_now_us();
    (void)pthread_cond_signal(&crew->changed);
    (void)pthread_mutex_unlock(&crew->lock);
    return PAWL_OK;
}

static void *
work(void *arg)
{
    struct crew *crew = arg;

    crew->status = pawl_worker_run(crew->worker, &crew->error);
    return NULL;
}

static void
init_crew(struct crew *crew, const struct bench *bench, const char *workflow)
{
    *crew = (struct crew){.bench = bench, .trigger = pawl_trigger_new(workflow)};
    (void)memcpy(crew->payload, "{\"pad\":\"", 8);
    (void)memset(crew->payload + 8, 'x', PAD);
    (void)memcpy(crew->payload + 8 + PAD, "\"}", 3);
    (void)pthread_mutex_init(&crew->lock, NULL);
    (void)pw_cond_init_clock(&crew->changed);
}

static int
start_crew(struct crew *crew, const char *workflow, pawl_handler_fn handler)
{
    pawl_error *error = NULL;
    pawl_status status = pawl_client_open(crew->bench->config, &crew->client, &error);

    if (crew->trigger == NULL)
        status = PAWL_ENOMEM;
    if (status == PAWL_OK)
        status = pawl_worker_new(crew->bench->config, &crew->worker, &error);
    if (status == PAWL_OK)
        status = pawl_worker_handle(crew->worker, workflow, handler, crew, &error);
    if (status == PAWL_OK)
        status = pawl_worker_start(crew->worker, &error);
    if (status != PAWL_OK)
        return exit_with(status, error);
    crew->started = pthread_create(&crew->thread, NULL, work, crew) == 0;
    return crew->started ? EXIT_OK : exit_saying(EXIT_OTHER, NULL, "cannot start a thread");
}

/* Stops the worker. Runs that it has not executed are dropped with their database. */
static int
stop_crew(struct crew *crew, int code)
{
    if (crew->started) {
        pawl_worker_drain(crew->worker);
        (void)pthread_join(crew->thread, NULL);
        if (code == EXIT_OK && crew->status != PAWL_ETIMEOUT)
            code = exit_with(crew->status, crew->error);
        else
            pawl_error_free(crew->error);
    }
    pawl_worker_free(crew->worker);
    pawl_client_close(crew->client);
    pawl_trigger_free(crew->trigger);
    (void)pthread_cond_destroy(&crew->changed);
    (void)pthread_mutex_destroy(&crew->lock);
    return code == EXIT_OK && bench_interrupted(crew->bench) ? EXIT_INTERRUPTED : code;
}

static void
pause_ms(int64_t time_ms)
{
    struct timespec pause = {.tv_sec = time_ms / 1000, .tv_nsec = time_ms % 1000 * 1000000};

    (void)nanosleep(&pause, NULL);
}

/* Triggers ahead of the worker until the time has passed. The time begins when the first runs have ended. */
static int
drive(struct crew *crew, int64_t time_us, struct bench_figure *figure)
{
    int64_t began_us = 0, before = 0, done = 0, triggered = 0;
    int64_t now_us = 0;

    for (int i = 0; i < BATCH; i++)
        pawl_trigger_add(crew->trigger, (pawl_bytes){crew->payload, strlen(crew->payload)}, NULL);
    while (!bench_interrupted(crew->bench)) {
        pawl_error *error = NULL;
        pawl_status status = PAWL_OK;

        done = pawl_worker_counter(crew->worker, "finished");
        now_us = pw_now_us();
        if (began_us == 0 && done > 0) {
            began_us = now_us;
            before = done;
        }
        if (began_us != 0 && done > before &&
            (now_us - began_us >= time_us || done - before >= BENCH_ITEMS_MAX))
            break;
        if (triggered - done >= AHEAD) {
            pause_ms(1);
            continue;
        }
        status = pawl_client_trigger_many(crew->client, crew->trigger, NULL, NULL, &error);
        if (status != PAWL_OK)
            return exit_with(status, error);
        triggered += BATCH;
    }
    figure->per_s =
        now_us > began_us ? (double)(done - before) * 1e6 / (double)(now_us - began_us) : 0;
    return EXIT_OK;
}

int
bench_runtime(const struct bench *bench, int64_t time_us, struct bench_figure *figure)
{
    struct crew crew;
    int code;

    init_crew(&crew, bench, "bench.runtime");
    code = start_crew(&crew, "bench.runtime", three_steps);
    if (code == EXIT_OK)
        code = drive(&crew, time_us, figure);
    return stop_crew(&crew, code);
}

/* Triggers one run, waits until its handler has begun, and sets took_us to that time. */
static int
pick_up(struct crew *crew, int64_t *took_us)
{
    pawl_error *error = NULL;
    int64_t asked_us = pw_now_us();
    int64_t end_us = asked_us + pw_ms_to_us(PICKUP_WAIT_MS);
    pawl_status status = pawl_client_trigger(crew->client, crew->trigger, NULL, NULL, &error);
    int64_t began_us;

    if (status != PAWL_OK)
        return exit_with(status, error);
    (void)pthread_mutex_lock(&crew->lock);
    while (crew->began_us == 0 && pw_cond_wait_until(&crew->changed, &crew->lock, end_us))
        ;
    began_us = crew->began_us;
    crew->began_us = 0;
    (void)pthread_mutex_unlock(&crew->lock);
    if (began_us == 0)
        return exit_saying(EXIT_TIMEOUT, "pawl doctor tells what may be wrong.",
            "a run was not begun within %d s", PICKUP_WAIT_MS / 1000);
    *took_us = began_us - asked_us;
    return EXIT_OK;
}

int
bench_pickup(const struct bench *bench, int64_t time_us, struct bench_figure *figure)
{
    int64_t *times_us = calloc(PICKUPS_MAX, sizeof(*times_us));
    int64_t end_us = pw_add_us(pw_now_us(), time_us);
    size_t count = 0;
    struct crew crew;
    int code;

    if (times_us == NULL)
        return exit_saying(EXIT_OTHER, NULL, "out of memory");
    init_crew(&crew, bench, "bench.pickup");
    code = start_crew(&crew, "bench.pickup", tell_begin);
    while (code == EXIT_OK && count < PICKUPS_MAX && (count == 0 || pw_now_us() < end_us) &&
        !bench_interrupted(bench)) {
        pause_ms(20); /* until the worker is idle again */
        code = pick_up(&crew, &times_us[count]);
        if (code == EXIT_OK)
            count++;
    }
    code = stop_crew(&crew, code);
    bench_percentiles(times_us, count, figure);
    free(times_us);
    return code;
}
