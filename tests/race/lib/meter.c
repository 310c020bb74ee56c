/* SPDX-License-Identifier: Apache-2.0 */
/* The meter of stalls; see the header. */
#include "meter.h"

#include "race.h"

#include <libpq-fe.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

enum {
    stalls_max = 10000,
    rest_us = 20000,
    /* What a tick may take besides its rest before it is a stall. */
    patience_us = 80000
};

struct stall {
    int64_t from_us;
    int64_t to_us;
};

/* The lock guards what comes after it. */
struct meter {
    pthread_t thread;
    pthread_mutex_t lock;
    bool stopping;
    /* When the tick under way began; 0: none is, the server is away. */
    int64_t tick_us;
    struct stall stalls[stalls_max];
    int count;
};

int64_t
meter_now_us(void)
{
    struct timespec now;

    if (clock_gettime(CLOCK_REALTIME, &now) != 0)
        bench_die("no clock");
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void
lock(struct meter *meter)
{
    if (pthread_mutex_lock(&meter->lock) != 0)
        bench_die("cannot lock the meter");
}

static void
unlock(struct meter *meter)
{
    if (pthread_mutex_unlock(&meter->lock) != 0)
        bench_die("cannot unlock the meter");
}

/* Begins a tick, or says that none is under way. False: the meter is to stop. */
static bool
begin(struct meter *meter, bool tick)
{
    bool go_on;

    lock(meter);
    meter->tick_us = tick ? meter_now_us() : 0;
    go_on = !meter->stopping;
    unlock(meter);
    return go_on;
}

/* Notes the tick that has ended if it took too long. */
static void
end(struct meter *meter)
{
    int64_t now_us = meter_now_us();

    lock(meter);
    if (now_us - meter->tick_us > rest_us + patience_us && meter->count < stalls_max)
        meter->stalls[meter->count++] = (struct stall){.from_us = meter->tick_us, .to_us = now_us};
    unlock(meter);
}

/* One after the other until the connection is lost. */
static void
tick_on(struct meter *meter, PGconn *conn)
{
    const struct timespec rest = {.tv_nsec = (long)rest_us * 1000};

    while (begin(meter, true)) {
        PGresult *res;
        bool ok;

        (void)nanosleep(&rest, NULL); /* Woken early is as good. */
        res = PQexec(conn, "update public.meter set n = n + 1");
        ok = PQresultStatus(res) == PGRES_COMMAND_OK;
        PQclear(res);
        if (!ok)
            return;
        end(meter);
    }
}

static void *
run(void *argument)
{
    struct meter *meter = argument;
    const struct timespec rest = {.tv_nsec = (long)rest_us * 1000};

    while (begin(meter, false)) {
        PGconn *conn = race_try_connect_direct();

        if (PQstatus(conn) == CONNECTION_OK) {
            /* It is logged, as what is measured beside it is; there may be one from before an outage. */
            PQclear(PQexec(conn,
                "set client_min_messages to warning;"
                "create table if not exists public.meter as select 0 as n"));
            tick_on(meter, conn);
        }
        PQfinish(conn);
        (void)nanosleep(&rest, NULL); /* Woken early is as good. */
    }
    return NULL;
}

struct meter *
meter_start(void)
{
    struct meter *meter = calloc(1, sizeof(*meter));

    if (meter == NULL || pthread_mutex_init(&meter->lock, NULL) != 0 ||
        pthread_create(&meter->thread, NULL, run, meter) != 0)
        bench_die("cannot start the meter");
    return meter;
}

void
meter_stop(struct meter *meter)
{
    if (meter == NULL)
        return;
    lock(meter);
    meter->stopping = true;
    unlock(meter);
    if (pthread_join(meter->thread, NULL) != 0)
        bench_die("cannot end the meter");
    (void)pthread_mutex_destroy(&meter->lock); /* Nobody else has it. */
    free(meter);
}

/* The part of a stall that lies in a span. */
static int64_t
part_us(const struct stall *stall, int64_t from_us, int64_t to_us)
{
    int64_t from = stall->from_us > from_us ? stall->from_us : from_us;
    int64_t to = stall->to_us < to_us ? stall->to_us : to_us;

    return to > from ? to - from : 0;
}

long
meter_stalled_ms(struct meter *meter, int64_t from_us, int64_t to_us)
{
    struct stall now = {.to_us = meter_now_us()};
    int64_t sum_us = 0;

    lock(meter);
    now.from_us = meter->tick_us == 0 ? now.to_us : meter->tick_us;
    if (now.to_us - now.from_us > rest_us + patience_us)
        sum_us += part_us(&now, from_us, to_us);
    for (int i = 0; i < meter->count; i++)
        sum_us += part_us(&meter->stalls[i], from_us, to_us);
    unlock(meter);
    return (long)(sum_us / 1000);
}
