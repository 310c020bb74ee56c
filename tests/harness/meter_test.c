/* SPDX-License-Identifier: Apache-2.0 */
/* The meter sees how long a bare statement was held up, and survives the loss of its connection. */
#include "meter.h"

#include "race.h"

#include <stdio.h>
#include <time.h>

enum {
    held_ms = 600
};

struct test {
    struct race race;
    PGconn *conn;
    struct meter *meter;
};

static void
pass_ms(long ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    (void)nanosleep(&t, NULL); /* Woken early is as good. */
}

/* The process that serves the meter, other than a former one; 0 if there is none for a minute. */
static long
await_meter(struct test *test, long former)
{
    double until_s = bench_limit_s(60);
    char sql[200];
    long pid = 0;

    (void)snprintf(sql, sizeof(sql),
        "select coalesce(max(a.pid), 0) from pg_stat_activity a"
        " where a.query like 'update public.meter%%' and a.pid <> %ld",
        former);
    while ((pid = race_count(test->conn, sql)) == 0 && bench_now_s() < until_s)
        race_breathe();
    return pid;
}

static void
a_statement_that_waits_is_a_stall(struct test *test)
{
    int64_t from_us, to_us, later_us;
    long before_ms, meanwhile_ms, held, after_ms;

    bench_do(test->conn, "begin; lock table public.meter in exclusive mode");
    from_us = meter_now_us();
    pass_ms(held_ms);
    meanwhile_ms = meter_stalled_ms(test->meter, from_us, meter_now_us());
    bench_do(test->conn, "commit");
    to_us = meter_now_us();
    pass_ms(200);
    later_us = meter_now_us();
    held = (long)((to_us - from_us) / 1000);
    before_ms = meter_stalled_ms(test->meter, from_us - 1000000, from_us - 200000);
    after_ms = meter_stalled_ms(test->meter, later_us + 1000000, later_us + 2000000);
    race_ok(
        &test->race, meanwhile_ms > held_ms / 2, "it is seen while it lasts: %ld ms", meanwhile_ms);
    race_ok(&test->race,
        meter_stalled_ms(test->meter, from_us, to_us) > held - held_ms / 4 &&
            meter_stalled_ms(test->meter, from_us, to_us) <= held,
        "and afterwards: %ld of %ld ms", meter_stalled_ms(test->meter, from_us, to_us), held);
    race_ok(&test->race, meter_stalled_ms(test->meter, from_us, from_us + 100000) <= 100,
        "of a part of that time, that part");
    race_ok(&test->race, before_ms < held_ms / 2 && after_ms == 0, "and nothing of other times");
}

static void
a_lost_connection_is_made_again(struct test *test, long pid)
{
    char sql[80];

    (void)snprintf(sql, sizeof(sql), "select pg_terminate_backend(%ld)", pid);
    bench_do(test->conn, sql);
    race_ok(&test->race, await_meter(test, pid) != 0, "a meter that lost its connection goes on");
}

int
main(int argc, char **argv)
{
    struct test test = {0};
    long pid;

    race_start(&test.race, argc, argv);
    test.conn = race_connect_direct();
    test.meter = meter_start();
    pid = await_meter(&test, 0);
    a_statement_that_waits_is_a_stall(&test);
    a_lost_connection_is_made_again(&test, pid);
    meter_stop(test.meter);
    PQfinish(test.conn);
    return race_end(&test.race);
}
