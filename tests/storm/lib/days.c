/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Old days of a storm. Their runs are triggered with the clock set back by weeks, before anybody works, and wait for events and signals that
 * come during the storm; so they outlive the partitions of their days, which retention drops meanwhile.
 */
#include "kinds.h"
#include "ledger.h"
#include "storm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    oldest_days = 20,
    runs_each = 12,
    gone_within_s = 60
};

/* A run of an old day is there, as if a caller had been told of it. */
static void
adopt(struct storm *storm, enum storm_kind kind, const char *run, long n)
{
    struct ledger_entry entry = {
        .kind = LEDGER_ACKED, .run = run, .step = "trigger", .value = (long)kind};
    struct duty duty = {.n = n, .kind = (int)kind, .left = 1};

    ledger_add(storm->ledger, &entry);
    atomic_fetch_add(&storm->told.acked[kind], 1);
    storm_trace(storm, 0, "trigger", "invoke", NULL, n);
    storm_trace(storm, 0, "trigger", "ok", run, n);
    (void)snprintf(duty.run, sizeof(duty.run), "%s", run);
    duty.due_s = bench_now_s() + storm->seconds * (double)(n % 97) / 97;
    duty.left = kind == STORM_EVENT ? storm_events : 1;
    duties_add(kind == STORM_EVENT ? &storm->emits : &storm->signals, &duty);
}

static void
plant_kind(struct storm *storm, enum storm_kind kind)
{
    PGconn *conn = storm->crash.direct;
    long first = atomic_fetch_add(&storm->next, runs_each);
    char sql[300];
    PGresult *res;

    race_trigger(conn, storm_kind_specs[kind].workflow, first, runs_each);
    (void)snprintf(sql, sizeof(sql),
        "select t.run_id, (t.input ->> 'n')::bigint from pawl_data.task t where t.task_no = 0 and"
        " (t.input ->> 'n')::bigint >= %ld",
        first);
    res = bench_exec(conn, sql);
    if (PQntuples(res) != runs_each)
        bench_die("%d runs of an old day instead of %d", PQntuples(res), runs_each);
    for (int i = 0; i < runs_each; i++)
        adopt(storm, kind, PQgetvalue(res, i, 0), race_field(res, i, 1));
    PQclear(res);
}

static void
set_clock_back(PGconn *conn, int days)
{
    char sql[100];

    (void)snprintf(
        sql, sizeof(sql), "update public.storm_clock set moved = %d * interval '-1 day'", days);
    bench_do(conn, sql);
}

/* Housekeeping acts as the owner of the schema, and the partitions above are made by whoever plays the storm. */
static void
give_to_owner(PGconn *conn)
{
    bench_do(conn,
        "do $$ declare sql text; begin"
        " for sql in select format('alter table %s owner to %I', c.oid::regclass, "
        "pg_get_userbyid(n.nspowner))"
        " from pg_class c join pg_namespace n on n.oid = c.relnamespace"
        " where n.nspname = 'pawl_data' and c.relkind = 'r' and c.relowner <> n.nspowner"
        " loop execute sql; end loop; end $$");
}

void
storm_plant(struct storm *storm)
{
    PGconn *conn = storm->crash.direct;

    bench_do(conn, "update pawl_data.setting set retention = '30 days'");
    for (int i = 0; i < storm_days; i++) {
        set_clock_back(conn, oldest_days - i);
        if (i == 0)
            bench_do(conn,
                "create table public.storm_first_day as select (pawl.now() at time zone "
                "'UTC')::date as"
                " day");
        bench_do(conn,
            "select pawl._make_partition(t, (pawl.now() at time zone 'UTC')::date)"
            " from unnest(array['run', 'input', 'step', 'audit', 'note', 'tag']) t");
        give_to_owner(conn);
        plant_kind(storm, STORM_EVENT);
        plant_kind(storm, STORM_SIGNALLED);
    }
    /* It can be set back from now on, and be ahead still. */
    bench_do(conn, "update public.storm_clock set moved = interval '20 s'");
}

/* The statements that let the retention of the next day be over, or NULL. Whoever ticks next empties it, and takes its tables away. */
const char *
storm_next_day(struct storm *storm)
{
    static const char *const days[storm_days] = {
        "update pawl_data.setting set retention = '18 days'; update pawl_data.chore set due_at = "
        "'-infinity'"
        " where chore in ('retention', 'tables')",
        "update pawl_data.setting set retention = '17 days'; update pawl_data.chore set due_at = "
        "'-infinity'"
        " where chore in ('retention', 'tables')",
        "update pawl_data.setting set retention = '16 days'; update pawl_data.chore set due_at = "
        "'-infinity'"
        " where chore in ('retention', 'tables')",
    };

    return !storm->journalled && storm->faults.days < storm_days ? days[storm->faults.days] : NULL;
}

/* A day whose runs were locked, or that was read, is left for the next round of housekeeping. */
void
storm_check_days(struct storm *storm)
{
    PGconn *conn = storm->crash.direct;
    double until_s = bench_limit_s(gone_within_s);
    long left, wanted = storm_days - storm->faults.days;

    /* A clock that is set back by weeks makes partitions of other days, too. */
    while ((left = race_count(conn,
                "select count(*) from public.storm_first_day f, pawl._partitions('{run}') o"
                " where o.day between f.day and f.day + 2")) > wanted &&
        bench_now_s() < until_s) {
        bench_do(conn,
            "update pawl_data.chore set due_at = '-infinity' where chore in ('retention', "
            "'tables')");
        bench_do(conn, "call pawl.tick(true)");
        crash_rest();
    }
    race_note("%ld old days dropped, %ld runs outlived theirs", storm_days - left,
        race_count(conn, "select count(*) from pawl_data.run_kept"));
    race_ok(&storm->crash.race, left == wanted, "seed %llu: %ld old days are there, %ld are to be",
        (unsigned long long)storm->crash.race.seed, left, wanted);
}
