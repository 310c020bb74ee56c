/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clocks that are wrong. Those of the workers' processes differ by up to an hour to either side, and another one with every start: workers
 * are killed, and it comes to the same as with good clocks; the clients among them give runs ids of the database's time. Then the
 * clock of the database is set back by ten minutes, again and again, as a worker dies: its runs do not wait for the time to come again.
 */
#include "crash.h"

enum {
    workers = 8,
    kills = 200,
    runs = 10000,
    hired_in = 50,
    steps_back = 10,
    runs_back = 40,
    lease_ms = 1000,
    patience_ms = lease_ms + 10000
};

static const char clock_sql[] =
    "create or replace function pawl.now() returns timestamptz language plpgsql volatile security"
    " definer set search_path to pg_catalog, pg_temp as $$ begin return clock_timestamp() + (select"
    " c.moved from public.crash_clock c); end $$";

static void
check_ids(struct crash *crash, long hired)
{
    long off = race_count(crash->direct,
        "select count(*) from pawl_data.run r where abs(('x' || left(replace(r.run_id::text, '-', "
        "''),"
        " 12))::bit(48)::bigint - 1000 * extract(epoch from r.triggered_at)) > 60000");
    long skewed = race_count(crash->direct,
        "select count(*) from pawl_data.step s where s.name = 'hire#1' and s.state = 's'"
        " and abs((s.output ->> 'time')::bigint - extract(epoch from s.ended_at)) > 30");

    race_ok(&crash->race, 2 * skewed > hired && off == 0,
        "%ld of %ld runs were triggered by processes that were off by more than 30 s, %ld ids are",
        skewed, hired, off);
}

/* The worker that holds most runs now, or -1. */
static int
find_holder(struct crash *crash)
{
    PGresult *res = bench_exec(crash->direct,
        "select substr(w.name, 7) from pawl_data.worker w join pawl_data.task t on t.session_id ="
        " w.session_id and t.place = 'h' where w.ended_at is null group by w.session_id, w.name"
        " order by count(*) desc limit 1");
    int child = PQntuples(res) == 0 ? -1 : (int)race_field(res, 0, 0);

    PQclear(res);
    return child;
}

/* Kills a worker that holds something and sets the clock back at that moment; returns how long the runs took then. */
static long
set_back(struct crash *crash)
{
    int64_t from_us, now_us;
    double until_s = bench_limit_s(60);
    int child;

    crash_trigger(crash, "crash.linger.v1", runs_back);
    while ((child = find_holder(crash)) < 0 || !killer_hit(crash->killer, child, KILLER_KILL, 0)) {
        if (bench_now_s() > until_s)
            bench_die("the workers take nothing; see \"%s\"", crash->output);
        crash_rest();
    }
    bench_do(crash->direct, "update public.crash_clock set moved = moved - interval '10 min'");
    from_us = meter_now_us();
    if (!crash_wait_left(crash, 0, 60))
        race_ok(&crash->race, false, "%ld runs are stuck", crash_left(crash));
    now_us = meter_now_us();
    /* Nothing is under way, so nobody loses anything by this. */
    bench_do(crash->direct, "update public.crash_clock set moved = moved + interval '10 min'");
    return (now_us - from_us) / 1000 - meter_stalled_ms(crash->meter, from_us, now_us);
}

static long
count_lost(struct crash *crash)
{
    return race_count(
        crash->direct, "select count(*) from pawl_data.audit where what = 'lease_lost'");
}

int
main(int argc, char **argv)
{
    struct crash crash;
    struct crash_workers spec = {.count = workers,
        .lease_ms = lease_ms,
        .concurrency = 16,
        .step_us = 4000,
        .program = CRASH_SKEWED};
    long total, hired, lost, longest_ms = 0;

    crash_start(&crash, argc, argv);
    total = race_share(&crash.race, runs);
    hired = total / hired_in;
    bench_do(crash.direct, "create table public.crash_clock as select interval '0' as moved");
    bench_do(crash.direct, "grant select on public.crash_clock to pawl_owner");
    bench_do(crash.direct, clock_sql);
    bench_do(crash.direct, "update pawl_data.setting set crash_max = 1000");
    crash_spawn(&crash, &spec);
    crash_trigger(&crash, "crash.hire.v1", hired);
    crash_under_kills(&crash, "crash.steps.v1", total, race_share(&crash.race, kills));
    crash_check_ended(&crash, "crash.hire.v1", hired, 's');
    crash_check_ended(&crash, "crash.steps.v1", total + hired, 's');
    check_ids(&crash, hired);
    lost = count_lost(&crash);
    for (long i = 0; i < race_share(&crash.race, steps_back) + 1; i++) {
        long took_ms = set_back(&crash);

        longest_ms = took_ms > longest_ms ? took_ms : longest_ms;
    }
    lost = count_lost(&crash) - lost;
    race_ok(&crash.race, lost > 0, "%ld runs of workers that died as the clock was set back", lost);
    race_in_time(
        &crash.race, longest_ms <= patience_ms, "all had ended after %ld ms at most", longest_ms);
    crash_end_workers(&crash);
    crash_check_ended(
        &crash, "crash.linger.v1", runs_back * (race_share(&crash.race, steps_back) + 1), 's');
    crash_check_records(&crash,
        3 * (total + hired) + hired + 3 * runs_back * (race_share(&crash.race, steps_back) + 1));
    return crash_end(&crash);
}
