/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A random half of the workers are clogged one after the other, and freed in another order, again and again: what they send arrives
 * late, when others have their runs, or not at all. Nothing is lost, recorded twice or stuck.
 */
#include "lines.h"

enum {
    workers = 16,
    half = workers / 2,
    rounds = 500,
    lease_ms = 1000,
    backlog = 60
};

struct field {
    struct crash crash;
    struct lines lines;
    long holds;
    long blackholes;
};

/* The first `count` of the workers' numbers in a random order. */
static void
shuffle(struct field *field, int *numbers, int count)
{
    for (int i = 0; i < count - 1; i++) {
        int other = i + (int)race_below(&field->crash.random, (unsigned)(count - i));
        int number = numbers[i];

        numbers[i] = numbers[other];
        numbers[other] = number;
    }
}

/* Now and then what they sent does not arrive at all. */
static void
clog_line(struct field *field, int number)
{
    bool gone = race_below(&field->crash.random, 4) == 0;

    proxy_mode(field->lines.line[number], gone ? PROXY_BLACKHOLE : PROXY_HOLD, 0);
    if (gone)
        field->blackholes++;
    else
        field->holds++;
}

static void
feed(struct field *field)
{
    long left = crash_left(&field->crash);

    if (left < backlog)
        crash_trigger(&field->crash, "crash.steps.v1", 2 * backlog - left);
}

static void
play_round(struct field *field)
{
    int numbers[workers];

    for (int i = 0; i < workers; i++)
        numbers[i] = i;
    feed(field);
    shuffle(field, numbers, workers);
    for (int i = 0; i < half; i++) {
        crash_pause(&field->crash, 40000);
        clog_line(field, numbers[i]);
        feed(field);
    }
    shuffle(field, numbers, half);
    for (int i = 0; i < half; i++) {
        crash_pause(&field->crash, 250000);
        feed(field);
        proxy_mode(field->lines.line[numbers[i]], PROXY_NORMAL, 0);
    }
}

/* A seventh of the usual share: each takes more than a second. */
static long
rounds_of(const struct crash *crash)
{
    long share = race_share(&crash->race, rounds);

    return crash->race.divisor == 1 ? share : (share + 6) / 7;
}

int
main(int argc, char **argv)
{
    struct field field = {0};
    struct crash *crash = &field.crash;
    struct crash_workers spec = {.lease_ms = lease_ms, .concurrency = 4, .step_us = 20000};
    int64_t freed_us;
    long count, took_ms, stalled_ms;

    crash_start(crash, argc, argv);
    count = rounds_of(crash);
    /* Workers are lost all the time, and no run is to blame: none ends for it, and none has to be alone. */
    bench_do(crash->direct, "update pawl_data.setting set crash_max = 1000, suspect_at = 1000");
    crash_trigger(crash, "crash.steps.v1", backlog);
    lines_open(&field.lines, crash, &spec, workers);
    crash_wait_sessions(crash, workers);
    for (long i = 0; i < count; i++)
        play_round(&field);
    freed_us = meter_now_us();
    race_ok(&crash->race, crash_wait_left(crash, 0, 60), "all runs end");
    took_ms = (meter_now_us() - freed_us) / 1000;
    stalled_ms = meter_stalled_ms(crash->meter, freed_us, meter_now_us());
    race_note("rounds %ld over %d workers: held %ld, swallowed %ld; runs %ld", count, workers,
        field.holds, field.blackholes, crash->triggered);
    /* Where the machine takes leases away, too, nobody can say when that is over. */
    if (stalled_ms >= lease_ms / 4)
        race_note("the machine stood still for %ld ms since then", stalled_ms);
    race_in_time(&crash->race, took_ms <= 3 * lease_ms || stalled_ms >= lease_ms / 4,
        "all had ended %ld ms after the last was freed; three leases are %d ms", took_ms,
        3 * lease_ms);
    crash_end_workers(crash);
    crash_check_ended(crash, "crash.steps.v1", crash->triggered, 's');
    crash_check_records(crash, 3 * crash->triggered);
    race_note("%ld leases were lost",
        race_count(
            crash->direct, "select count(*) from pawl_data.audit where what = 'lease_lost'"));
    lines_close(&field.lines);
    return crash_end(crash);
}
