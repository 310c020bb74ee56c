/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nothing that a worker sends arrives, and nothing is answered, for three leases, while others can be heard and take its runs. It starts
 * no step after its own lease is over, and works again soon after it is heard again.
 *
 * As in zombies.c, a thread that the machine keeps from running between the look at its lease and the first line of its step begins
 * that step late. Such a start is told from others by the meter, and only there.
 */
#include "lines.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

enum {
    workers = 8,
    silences = 200,
    lease_ms = 500,
    silent_ms = 3 * lease_ms,
    back_ms = 5000,
    backlog = 48
};

struct field;

/* One worker, and who cuts it off. */
struct part {
    struct field *field;
    int number;
    PGconn *conn;
    long rounds;
    struct race_random random;
};

struct field {
    struct crash crash;
    struct lines lines;
    struct part parts[workers + 1];
    atomic_int playing;
    atomic_long done;
    atomic_long slowest_ms;
    atomic_long late;
};

static void
pass_ms(long ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    (void)nanosleep(&t, NULL); /* Woken early, the silence is a little shorter. */
}

/* Waits until the worker holds a run, by a session that was heard after a time of the database. */
static void
await_work(struct part *part, const char *since)
{
    char name[24];
    const char *params[] = {name, since};
    double until_s = bench_limit_s(60);
    long held;

    (void)snprintf(name, sizeof(name), "crash-%d", part->number);
    do {
        PGresult *res = bench_exec_params(part->conn,
            "select count(*) from pawl_data.worker w join pawl_data.task t on t.session_id = "
            "w.session_id and"
            " t.place = 'h' where w.name = $1 and w.ended_at is null"
            " and w.lease_until - w.lease > $2::timestamptz",
            2, params);

        held = race_field(res, 0, 0);
        PQclear(res);
        if (bench_now_s() > until_s)
            bench_die("worker %d did not work for a minute; see \"%s\"", part->number,
                part->field->crash.output);
        if (held == 0)
            crash_rest();
    } while (held == 0);
}

/* Cuts it off, and waits until it works again. */
static void
cut_off(struct part *part)
{
    struct field *field = part->field;
    struct proxy *line = field->lines.line[part->number];
    char pid[16], from[24], to[24];
    const char *params[] = {pid, from, to};
    int64_t began_us;
    PGresult *res;
    long took_ms, best_ms;

    await_work(part, "-infinity");
    pass_ms(race_below(&part->random, 800));
    (void)snprintf(pid, sizeof(pid), "%d", (int)killer_pid(field->crash.killer, part->number));
    proxy_mode(line, PROXY_BLACKHOLE, 0);
    (void)snprintf(from, sizeof(from), "%" PRId64, lines_now_ns());
    pass_ms(silent_ms);
    res = bench_exec(part->conn, "select pawl.now()");
    (void)snprintf(to, sizeof(to), "%" PRId64, lines_now_ns());
    began_us = meter_now_us();
    proxy_mode(line, PROXY_NORMAL, 0);
    await_work(part, PQgetvalue(res, 0, 0));
    PQclear(res);
    took_ms = (meter_now_us() - began_us) / 1000 -
        meter_stalled_ms(field->crash.meter, began_us, meter_now_us());
    if (took_ms > back_ms)
        atomic_fetch_add(&field->late, 1);
    best_ms = atomic_load(&field->slowest_ms);
    while (
        took_ms > best_ms && !atomic_compare_exchange_weak(&field->slowest_ms, &best_ms, took_ms))
        continue;
    PQclear(bench_exec_params(part->conn,
        "insert into public.silence values ($1::int, $2::bigint, $3::bigint)", 3, params));
    atomic_fetch_add(&field->done, 1);
}

/* There is always something to do. */
static void
feed(struct field *field)
{
    while (atomic_load(&field->playing) > 0) {
        long left = crash_left(&field->crash);

        if (left < backlog)
            crash_trigger(&field->crash, "crash.linger.v1", backlog + backlog / 2 - left);
        crash_rest();
    }
}

static void *
play(void *argument)
{
    struct part *part = argument;

    if (part->number == workers) {
        feed(part->field);
        return NULL;
    }
    part->conn = race_connect_direct();
    for (long i = 0; i < part->rounds; i++)
        cut_off(part);
    PQfinish(part->conn);
    atomic_fetch_sub(&part->field->playing, 1);
    return NULL;
}

/* Of moments that rows of the ledger tell, those at which the machine did not stand still. */
static long
count_by_machine(struct field *field, const char *sql)
{
    PGresult *res = bench_exec(field->crash.direct, sql);
    long count = 0;

    for (int i = 0; i < PQntuples(res); i++) {
        int64_t at_us = lines_wall_us(race_field(res, i, 0));

        count += meter_stalled_ms(field->crash.meter, at_us - 1000 * (int64_t)lease_ms, at_us) == 0;
    }
    if (PQntuples(res) > count)
        race_note("%ld starts were late on a machine that stood still", PQntuples(res) - count);
    PQclear(res);
    return count;
}

static void
check_starts(struct field *field)
{
    struct race *race = &field->crash.race;
    PGconn *conn = field->crash.direct;
    long before, late, behind, told;

    bench_do(conn, "analyze public.silence");
    before = race_count(conn,
        "select count(*) from public.silence s join pg_temp.ledger l on l.pid = s.pid and"
        " l.kind = 'start' and l.at_ns between s.from_ns and s.from_ns + 500000000");
    late = count_by_machine(field,
        "select l.at_ns from public.silence s join pg_temp.ledger l on l.pid = s.pid and"
        " l.kind = 'start' and l.at_ns > s.from_ns + 500000000 and l.at_ns < s.to_ns");
    behind = count_by_machine(field,
        "select l.at_ns from pg_temp.ledger l where l.kind = 'start' and exists (select from"
        " pg_temp.ledger o where o.run_id = l.run_id and o.kind = 'start' and o.place < l.place"
        " and o.attempt > l.attempt)");
    told = race_count(conn, "select count(*) from pg_temp.ledger where kind = 'refused'");
    race_note("%ld steps were started in silence while the lease lasted; %ld times handlers were"
              " told afterwards that it was lost",
        before, told);
    race_ok(race, before > 0 && told > 0, "handlers wanted to start steps in silence");
    race_ok(race, late == 0, "%ld steps were started after the worker's own lease", late);
    race_ok(race, behind == 0, "%ld steps were started after another's claim had begun", behind);
}

static void
prepare(struct field *field)
{
    struct crash *crash = &field->crash;
    struct crash_workers spec = {
        .lease_ms = lease_ms, .concurrency = 4, .step_us = 60000, .program = CRASH_LINGERER};
    long total = race_share(&crash->race, silences);

    /* Workers are lost all the time, and no run is to blame: none ends for it, and none has to be alone. */
    bench_do(crash->direct, "update pawl_data.setting set crash_max = 1000, suspect_at = 1000");
    bench_do(crash->direct, "create table public.silence (pid int, from_ns bigint, to_ns bigint)");
    crash_trigger(crash, "crash.linger.v1", backlog);
    lines_open(&field->lines, crash, &spec, workers);
    crash_wait_sessions(crash, workers);
    atomic_store(&field->playing, workers);
    for (int i = 0; i <= workers; i++)
        field->parts[i] = (struct part){.field = field,
            .number = i,
            .rounds = total * (i + 1) / workers - total * i / workers,
            .random = race_random(&crash->race, 200 + (unsigned)i)};
}

int
main(int argc, char **argv)
{
    struct field field = {0};
    struct crash *crash = &field.crash;

    crash_start(crash, argc, argv);
    prepare(&field);
    race_threads(workers + 1, play, field.parts, sizeof(field.parts[0]));
    race_ok(&crash->race, crash_wait_left(crash, 0, 60), "all runs end");
    race_note("silences of %d ms %ld over %d workers, runs %ld", silent_ms,
        atomic_load(&field.done), workers, crash->triggered);
    race_in_time(&crash->race, atomic_load(&field.late) == 0,
        "a worker that was heard again had a run after %ld ms at most",
        atomic_load(&field.slowest_ms));
    crash_end_workers(crash);
    crash_check_ended(crash, "crash.linger.v1", crash->triggered, 's');
    crash_check_records(crash, 3 * crash->triggered);
    check_starts(&field);
    lines_close(&field.lines);
    return crash_end(crash);
}
