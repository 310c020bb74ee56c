/* SPDX-License-Identifier: Apache-2.0 */
/* The meter of stalls; see the header. */
#include "meter.h"

#include "race.h"

#include <libpq-fe.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

enum {
    stalls_max = 10000,
    processors_max = 64,
    rest_us = 20000,
    /* What a tick may take besides its rest before it is a stall. */
    patience_us = 80000
};

struct stall {
    int64_t from_us;
    int64_t to_us;
};

/* What ticks in a thread of its own: against the server, or on a processor. The meter's lock guards what comes after it. */
struct hand {
    struct meter *meter;
    pthread_t thread;
    size_t processor;
    /* When the tick under way began; 0: none is, the server is away. */
    int64_t tick_us;
    struct stall stalls[stalls_max];
    int count;
};

struct meter {
    pthread_mutex_t lock;
    bool stopping;
    /* The first ticks against the server. */
    struct hand hands[1 + processors_max];
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
begin(struct hand *hand, bool tick)
{
    bool go_on;

    lock(hand->meter);
    hand->tick_us = tick ? meter_now_us() : 0;
    go_on = !hand->meter->stopping;
    unlock(hand->meter);
    return go_on;
}

/* Notes the tick that has ended if it took too long. */
static void
end(struct hand *hand)
{
    int64_t now_us = meter_now_us();

    lock(hand->meter);
    if (now_us - hand->tick_us > rest_us + patience_us && hand->count < stalls_max)
        hand->stalls[hand->count++] = (struct stall){.from_us = hand->tick_us, .to_us = now_us};
    unlock(hand->meter);
}

static void
rest(void)
{
    const struct timespec t = {.tv_nsec = (long)rest_us * 1000};

    (void)nanosleep(&t, NULL); /* Woken early is as good. */
}

/* One after the other until the connection is lost. */
static void
update(struct hand *hand, PGconn *conn)
{
    while (begin(hand, true)) {
        PGresult *res;
        bool ok;

        rest();
        res = PQexec(conn, "update public.meter set n = n + 1");
        ok = PQresultStatus(res) == PGRES_COMMAND_OK;
        PQclear(res);
        if (!ok)
            return;
        end(hand);
    }
}

static void *
watch_server(void *argument)
{
    struct hand *hand = argument;

    while (begin(hand, false)) {
        PGconn *conn = race_try_connect_direct();

        if (PQstatus(conn) == CONNECTION_OK) {
            /* It is logged, as what is measured beside it is; there may be one from before an outage. */
            PQclear(PQexec(conn,
                "set client_min_messages to warning;"
                "create table if not exists public.meter as select 0 as n"));
            update(hand, conn);
        }
        PQfinish(conn);
        rest();
    }
    return NULL;
}

static void *
watch_processor(void *argument)
{
    struct hand *hand = argument;
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(hand->processor, &set);
    /* Where it may not be bound, it ticks on any: the less is seen. */
    (void)pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
    while (begin(hand, true)) {
        rest();
        end(hand);
    }
    return NULL;
}

static void
add_hand(struct meter *meter, size_t processor, void *(*watch)(void *))
{
    struct hand *hand = &meter->hands[meter->count++];

    hand->meter = meter;
    hand->processor = processor;
    if (pthread_create(&hand->thread, NULL, watch, hand) != 0)
        bench_die("cannot start the meter");
}

struct meter *
meter_start(void)
{
    struct meter *meter = calloc(1, sizeof(*meter));
    cpu_set_t set;

    if (meter == NULL || pthread_mutex_init(&meter->lock, NULL) != 0 ||
        sched_getaffinity(0, sizeof(set), &set) != 0)
        bench_die("cannot start the meter");
    add_hand(meter, 0, watch_server);
    for (size_t i = 0; i < CPU_SETSIZE && meter->count <= processors_max; i++) {
        if (CPU_ISSET(i, &set))
            add_hand(meter, i, watch_processor);
    }
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
    for (int i = 0; i < meter->count; i++) {
        if (pthread_join(meter->hands[i].thread, NULL) != 0)
            bench_die("cannot end the meter");
    }
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

static int64_t
stalled_us(const struct hand *hand, int64_t from_us, int64_t to_us)
{
    struct stall now = {.to_us = meter_now_us()};
    int64_t sum_us = 0;

    now.from_us = hand->tick_us == 0 ? now.to_us : hand->tick_us;
    if (now.to_us - now.from_us > rest_us + patience_us)
        sum_us += part_us(&now, from_us, to_us);
    for (int i = 0; i < hand->count; i++)
        sum_us += part_us(&hand->stalls[i], from_us, to_us);
    return sum_us;
}

long
meter_stalled_ms(struct meter *meter, int64_t from_us, int64_t to_us)
{
    int64_t most_us = 0;

    lock(meter);
    for (int i = 0; i < meter->count; i++) {
        int64_t us = stalled_us(&meter->hands[i], from_us, to_us);

        most_us = us > most_us ? us : most_us;
    }
    unlock(meter);
    return (long)(most_us / 1000);
}
