/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers are stopped in the middle of their work, swept, and continued: what they still want to write is refused, all of
 * it is told to whom it concerns, and nobody starts a step after that.
 *
 * One thing cannot be helped: a thread that was stopped between the look at its lease and the first line of its step goes on
 * with that step. It is counted, and known by being the first thing the claim does.
 */
#include "crash.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    workers = 24,
    asleep_max = 12,
    zombies = 2000,
    lease_ms = 500,
    backlog = 200
};

/* A worker that was stopped. */
struct zombie {
    char session[24]; /* empty: it runs */
    int pid;
    long stopped_ns;
};

struct field {
    struct crash crash;
    struct zombie zombie[workers];
    int asleep;
    long done;
    long total;
};

static long
now_ns(void)
{
    struct timespec now;

    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
        bench_die("no monotonic clock");
    return (long)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Stops some of those that hold runs. */
static void
stop_some(struct field *field)
{
    PGresult *res = bench_exec(field->crash.direct,
        "select w.session_id, substr(w.name, 7) from pawl_data.worker w where w.ended_at is null"
        " and w.name like 'crash-%' and exists (select from pawl_data.task t"
        " where t.place = 'h' and t.session_id = w.session_id) order by random()");

    for (int i = 0; i < PQntuples(res); i++) {
        int child = (int)race_field(res, i, 1);
        struct zombie *zombie = &field->zombie[child];

        if (zombie->session[0] != '\0' || field->asleep == asleep_max ||
            field->done + field->asleep == field->total)
            continue;
        crash_pause(&field->crash, 20000);
        zombie->pid = (int)killer_pid(field->crash.killer, child);
        if (!killer_hit(field->crash.killer, child, KILLER_STOP_CONT, 0))
            bench_die("cannot stop worker %d", child);
        zombie->stopped_ns = now_ns();
        (void)snprintf(zombie->session, sizeof(zombie->session), "%s", PQgetvalue(res, i, 0));
        field->asleep++;
    }
    PQclear(res);
}

/* Notes when it was and continues it. */
static void
continue_one(struct field *field, int child)
{
    struct zombie *zombie = &field->zombie[child];
    char pid[16], stopped[24], continued[24];
    const char *params[] = {zombie->session, pid, stopped, continued};

    (void)snprintf(pid, sizeof(pid), "%d", zombie->pid);
    (void)snprintf(stopped, sizeof(stopped), "%ld", zombie->stopped_ns);
    (void)snprintf(continued, sizeof(continued), "%ld", now_ns());
    PQclear(bench_exec_params(field->crash.direct,
        "insert into pg_temp.zombie select w.session_id, $2::int, $3::bigint, $4::bigint,"
        " w.ended_at, w.ended_why from pawl_data.worker w where w.session_id = $1::bigint",
        4, params));
    killer_continue(field->crash.killer, child);
    zombie->session[0] = '\0';
    field->asleep--;
    field->done++;
}

/* Continues those that were swept. */
static void
continue_swept(struct field *field)
{
    struct bench_text list;
    const char *params[1];
    PGresult *res;

    bench_text_init(&list, workers * 32);
    bench_text_add(&list, "{0");
    for (int i = 0; i < workers; i++) {
        if (field->zombie[i].session[0] != '\0')
            bench_text_addf(&list, ",%s", field->zombie[i].session);
    }
    bench_text_add(&list, "}");
    params[0] = list.data;
    res = bench_exec_params(field->crash.direct,
        "select substr(w.name, 7) from pawl_data.worker w"
        " where w.session_id = any ($1::bigint[]) and w.ended_at is not null",
        1, params);
    for (int i = 0; i < PQntuples(res); i++)
        continue_one(field, (int)race_field(res, i, 0));
    PQclear(res);
    bench_text_done(&list);
}

static void
play(struct field *field)
{
    double until_s = bench_limit_s(20 + 0.5 * (double)field->total);

    bench_do(field->crash.direct,
        "create temporary table zombie (session bigint, pid int, stopped_ns bigint, continued_ns"
        " bigint, ended_at timestamptz, ended_why text)");
    while (field->done < field->total) {
        long left = crash_left(&field->crash);

        if (left < backlog)
            crash_trigger(&field->crash, "crash.steps.v1", 2 * backlog - left);
        stop_some(field);
        continue_swept(field);
        crash_watch(&field->crash);
        crash_pause(&field->crash, 10000);
        if (bench_now_s() > until_s)
            bench_die("only %ld of %ld zombies in time", field->done, field->total);
    }
}

/*
 * What sweeps took from zombies, as the audit tells. Fences are raised by claim and sweep in turns, and nothing is given back, unless
 * the machine stood still and a worker did not trust its lease: the attempts of such a run cannot be told, so it is left out.
 */
static void
make_lost_claims(struct field *field)
{
    bench_do(field->crash.direct,
        "create temporary table lost_claim as select z.session, z.pid, z.stopped_ns,"
        " z.continued_ns, a.run_id, pg_xact_commit_timestamp(a.xmin) as swept_at, (a.detail ->> "
        "'fence')::int as fence,"
        " ((a.detail ->> 'fence')::int + 1) / 2 as attempt"
        " from pawl_data.audit a join pg_temp.zombie z on z.session = (a.detail ->> "
        "'session')::bigint"
        " where a.what = 'lease_lost'");
    if (crash_stalled(&field->crash, lease_ms))
        bench_do(field->crash.direct,
            "delete from pg_temp.lost_claim c using pawl_data.run r where r.run_id = c.run_id"
            " and r.fence <> 2 * r.execution - 1");
    bench_do(field->crash.direct, "create index on pg_temp.lost_claim (run_id)");
    bench_do(field->crash.direct, "analyze pg_temp.lost_claim, pg_temp.zombie");
}

/*
 * A step that a claim wrote after it was lost, in the order of commits: a transaction may take its time, and the times in its rows
 * are of its beginning. A run that ended with the fence of a lost claim ended late, whatever the time.
 */
static void
check_late_writes(struct field *field)
{
    struct race *race = &field->crash.race;
    PGconn *conn = field->crash.direct;
    long steps = race_count(conn,
        "select count(*) from pg_temp.lost_claim c join pawl_data.step s on s.run_id = c.run_id"
        " and s.fence = c.fence where pg_xact_commit_timestamp(s.xmin) > c.swept_at");
    long ends = race_count(conn,
        "select count(*) from pawl_data.run r join pg_temp.lost_claim c on c.run_id = r.run_id"
        " and c.fence = r.fence");
    long other =
        race_count(conn, "select count(*) from pawl_data.run r where r.fence <> 2 * execution - 1");

    race_ok(race, steps == 0, "%ld late steps were accepted", steps);
    race_ok(race, ends == 0, "%ld late ends of runs were accepted", ends);
    race_ok(race, other == 0 || crash_stalled(&field->crash, lease_ms),
        "%ld runs whose fence does not tell the attempt", other);
}

/* The engine audits results that it refuses; a library that learns it first refuses by itself. Both are counted by the worker. */
static void
check_refusals(struct field *field)
{
    struct race *race = &field->crash.race;
    PGconn *conn = field->crash.direct;
    long claims = race_count(conn, "select count(*) from pg_temp.lost_claim");
    long audited =
        race_count(conn, "select count(*) from pawl_data.audit where what = 'late_result'");
    long untold = race_count(conn,
        "select count(*) from pawl_data.audit a where a.what = 'late_result' and a.detail ->> "
        "'kind' ="
        " 'step' and not exists (select from pg_temp.ledger l where l.kind = 'refused'"
        " and l.run_id = a.run_id and l.step = a.detail ->> 'name'"
        " and l.fence = ((a.detail ->> 'fence')::int + 1) / 2)");
    long counted =
        race_count(conn, "select sum(value)::bigint from pg_temp.ledger where step = 'lease_lost'");
    long told = race_count(conn, "select count(*) from pg_temp.ledger where kind = 'refused'");

    race_note("claims lost %ld, refused by the engine %ld, told to handlers %ld, counted %ld",
        claims, audited, told, counted);
    race_ok(race, claims > 0 && told > 0, "zombies lost claims, and handlers were told");
    race_ok(race, untold == 0, "%ld refused steps of which no handler was told", untold);
    race_ok(race, counted >= claims && counted >= audited && counted >= told,
        "workers have counted every refusal");
}

/* Steps that a lost claim started after its worker was continued. */
static void
check_starts(struct field *field)
{
    struct race *race = &field->crash.race;
    PGconn *conn = field->crash.direct;
    long starts, later;

    bench_do(conn,
        "create temporary table late_start as select l.*, exists (select from pg_temp.ledger e"
        " where e.run_id = l.run_id and e.pid = l.pid and e.attempt = l.attempt"
        " and e.at_ns > c.continued_ns and e.place < l.place) as later"
        " from pg_temp.lost_claim c join pg_temp.ledger l on l.run_id = c.run_id"
        " and l.pid = c.pid and l.attempt = c.attempt"
        " where l.kind = 'start' and l.at_ns > c.continued_ns");
    starts = race_count(conn, "select count(*) from pg_temp.late_start where not later");
    later = race_count(conn, "select count(*) from pg_temp.late_start where later");
    race_note(
        "%ld steps were between the look at the lease and their first line when stopped", starts);
    race_ok(race, later == 0, "%ld steps started by a swept session that was continued", later);
    race_ok(race, starts <= field->total / 20 + 1, "no more than a few were on the brink");
}

int
main(int argc, char **argv)
{
    struct field field = {0};
    struct crash *crash = &field.crash;
    struct crash_workers spec = {
        .count = workers, .lease_ms = lease_ms, .concurrency = 4, .step_us = 60000};
    bool ended;

    crash_start(crash, argc, argv);
    field.total = race_share(&crash->race, zombies);
    /* Of so many runs one or the other loses five workers in a row. That such a run ends is the matter of another program. */
    bench_do(crash->direct, "update pawl_data.setting set crash_max = 1000");
    crash_trigger(crash, "crash.steps.v1", backlog);
    crash_spawn(crash, &spec);
    crash_wait_sessions(crash, workers);
    play(&field);
    ended = crash_wait_left(crash, 0, 60);
    race_note("zombies %ld over %d workers, runs %ld", field.done, workers, crash->triggered);
    race_ok(&crash->race, ended, "all runs end");
    race_ok(&crash->race,
        race_count(crash->direct, "select count(*) from pg_temp.zombie where ended_why = 'lost'") ==
            field.total,
        "%ld workers were swept while they were stopped", field.total);
    crash_end_workers(crash);
    crash_check_ended(crash, "crash.steps.v1", crash->triggered, 's');
    crash_check_records(crash, 3 * crash->triggered);
    make_lost_claims(&field);
    check_late_writes(&field);
    check_refusals(&field);
    check_starts(&field);
    return crash_end(crash);
}
