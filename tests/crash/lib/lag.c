/* SPDX-License-Identifier: Apache-2.0 */
/* A standby that is kept behind; see pair.h. */
#include "ledger.h"
#include "pair.h"

#include <stdio.h>
#include <string.h>

enum {
    shown_max = 5
};

/* Calls that a server has kept: runs that were triggered, and steps. */
static long
count_calls(PGconn *conn)
{
    return race_count(conn,
        "select (select count(*) from pawl_data.task t where t.task_no = 0) +"
        " (select count(*) from pawl_data.run r where r.round = 1) +"
        " (select count(*) from pawl_data.step s where s.kind = 's')");
}

/*
 * Cuts the standby off. In the ledger stands from when on what is acknowledged may be lost: whatever was acknowledged before is
 * committed, so it is in the log up to the place that the standby reaches then.
 */
static void
fall_behind(struct pair *pair, long round)
{
    struct ledger_entry entry = {.kind = LEDGER_NOTE, .step = "lag", .value = round};
    PGconn *standby = cluster_connect(&pair->clusters[1 - pair->primary]);
    PGresult *res;
    const char *params[1];

    ledger_add(pair->producers.ledger, &entry);
    res = bench_exec(pair->crash.direct, "select pg_current_wal_lsn()");
    params[0] = PQgetvalue(res, 0, 0);
    for (bool reached = false; !reached; race_breathe()) {
        PGresult *seen = bench_exec_params(
            standby, "select (pg_last_wal_replay_lsn() >= $1::pg_lsn)::int", 1, params);

        reached = race_field(seen, 0, 0) == 1;
        PQclear(seen);
    }
    PQclear(res);
    pair_set(&pair->clusters[1 - pair->primary], "primary_conninfo", "''");
    while (race_count(standby, "select count(*) from pg_stat_wal_receiver") > 0)
        race_breathe();
    PQfinish(standby);
}

/* Lets producers and workers be told of so many calls that the standby will never see. */
static void
work_on(struct pair *pair)
{
    PGconn *conn = pair->crash.direct;
    long before = count_calls(conn), now;
    double until_s = bench_limit_s(120);

    atomic_fetch_add(&pair->producers.allowed, pair_lag_runs);
    while ((now = count_calls(conn)) < before + pair_lag_calls) {
        if (bench_now_s() > until_s)
            bench_die("the workers make no progress; see \"%s\"", pair->crash.output);
        race_breathe();
    }
    pair->behind += now - before;
}

/* As an operator does: nobody is let in before the epoch is raised, by the verb or by the command. */
static void
take_over(struct cluster *cluster, bool by_command)
{
    const char *const command[] = {CRASH_COMMAND, "epoch", "raise", "commits may be lost", NULL};
    PGconn *conn;

    pair_set(cluster, "default_transaction_read_only", "on");
    cluster_promote(cluster);
    conn = cluster_operate(cluster);
    if (!by_command)
        bench_do(conn, "select pawl.raise_epoch('commits may be lost')");
    else if (cluster_command(cluster, command) != 0)
        bench_die("pawl epoch raise failed");
    /* What this session sees of a file may be old; that it will be read is sure. */
    PQfinish(conn);
    pair_set(cluster, "primary_conninfo", "default");
    pair_set(cluster, "default_transaction_read_only", "off");
}

/* Waits until every worker has a session of the epoch. */
static void
await_workers(struct pair *pair)
{
    double until_s = bench_limit_s(120);

    while (race_count(pair->crash.direct,
               "select count(distinct w.name) from pawl_data.worker w join pawl_data.setting s on"
               " w.session_id >> 32 = s.epoch where w.ended_at is null and w.name like 'crash-%'") <
        pair_workers) {
        if (bench_now_s() > until_s)
            bench_die("the workers did not register again; see \"%s\"", pair->crash.output);
        crash_rest();
    }
}

/* Whether a call with a token of the time before did anything. */
static bool
is_taken(PGconn *conn, const char *sql, int count, const char *const *params)
{
    PGresult *res = race_try(conn, sql, count, params);
    bool taken = race_state(res)[0] == '\0' &&
        (PQntuples(res) == 0 || strcmp(PQgetvalue(res, 0, 0), "lease_lost") != 0);

    if (taken)
        race_note("session %s, run %s: taken by %s", params[0], count > 1 ? params[1] : "-", sql);
    PQclear(res);
    return taken;
}

/* Tries each claim that was in force on the old server, and each of its sessions, on the new one. */
static void
try_tokens(struct pair *pair, PGconn *old)
{
    static const char *const by_claim[] = {
        "select answer from pawl.commit($1::bigint, array[$2::uuid], array[$3::int], '{step}',"
        " '{late#1}', '{1}')",
        "select answer from pawl.commit($1::bigint, array[$2::uuid], array[$3::int], '{complete}',"
        " null, '{1}')",
        "select answer from pawl.commit_each($1::bigint, array[$2::uuid], array[$3::int],"
        " '{fail}', null, '{{}}')",
        "select pawl.record_step(pawl.step_token($1::bigint, $2::uuid, $3::int, 'late'))",
    };
    static const char *const by_session[] = {
        "select 1 from pawl.heartbeat($1::bigint)",
        "select 1 from pawl.claim($1::bigint, 10)",
        "select pawl.leave($1::bigint)",
    };
    PGresult *claims = bench_exec(
        old, "select t.session_id, t.run_id, t.fence from pawl_data.task t where t.place = 'h'");
    PGresult *sessions = bench_exec(old,
        "select w.session_id from pawl_data.worker w where w.ended_at is null"
        " and w.name like 'crash-%'");

    for (int i = 0; i < PQntuples(claims); i++) {
        const char *params[] = {
            PQgetvalue(claims, i, 0), PQgetvalue(claims, i, 1), PQgetvalue(claims, i, 2)};

        for (size_t j = 0; j < sizeof(by_claim) / sizeof(by_claim[0]); j++, pair->tokens++)
            pair->taken += is_taken(pair->crash.direct, by_claim[j], 3, params);
    }
    for (int i = 0; i < PQntuples(sessions); i++) {
        const char *params[] = {PQgetvalue(sessions, i, 0)};

        for (size_t j = 0; j < sizeof(by_session) / sizeof(by_session[0]); j++, pair->tokens++)
            pair->taken += is_taken(pair->crash.direct, by_session[j], 1, params);
    }
    PQclear(claims);
    PQclear(sessions);
}

/* Notes in the ledger what calls the server has kept that is gone, of those that its standby may lack. */
static void
note_kept(struct pair *pair, PGconn *old, long round)
{
    PGresult *res = bench_exec(old,
        "select t.run_id, 'trigger', 0 from pawl_data.task t where t.task_no = 0"
        " and t.triggered_at > now() - interval '5 min'"
        " union all select r.run_id, 'trigger', 0 from pawl_data.run r"
        " where r.triggered_at > now() - interval '5 min'"
        " union all select s.run_id, s.name, (s.output ->> 'v')::bigint from pawl_data.step s"
        " where s.kind = 's' and s.state = 's' and s.ended_at > now() - interval '5 min'");

    for (int i = 0; i < PQntuples(res); i++) {
        struct ledger_entry entry = {.kind = LEDGER_NOTE,
            .run = PQgetvalue(res, i, 0),
            .step = PQgetvalue(res, i, 1),
            .fence = (int)round,
            .value = race_field(res, i, 2)};

        ledger_add(pair->producers.ledger, &entry);
    }
    PQclear(res);
}

void
pair_play_lagging(struct pair *pair, enum pair_way way, long round)
{
    struct cluster *old = &pair->clusters[pair->primary];
    PGconn *conn;

    pair_follow(pair, false);
    fall_behind(pair, round);
    work_on(pair);
    pair_take_away(pair, way);
    pair->primary = 1 - pair->primary;
    take_over(&pair->clusters[pair->primary], round % 2 == 0);
    pair_await_acknowledgement(pair);
    pair_bring_back(pair, old, way);
    crash_connect(&pair->crash);
    await_workers(pair);
    /* Nobody but this program finds it so. */
    cluster_start_apart(old);
    conn = cluster_operate(old);
    try_tokens(pair, conn);
    note_kept(pair, conn, round);
    PQfinish(conn);
    cluster_stop_apart(old);
}

/* What was acknowledged and is not there, with the value that was acknowledged; and whether the server that is gone explains it. */
static void
make_lost(PGconn *conn)
{
    bench_do(conn,
        "create temporary table lost as select l.place, l.run_id, l.step, l.value, l.kind,"
        " (select min(n.fence) from pg_temp.ledger n join pg_temp.ledger f on f.kind = 'note'"
        " and f.step = 'lag' and f.run_id is null and f.value = n.fence and l.at_ns > f.at_ns"
        " where n.kind = 'note' and n.run_id = l.run_id and n.step = l.step and n.value = l.value)"
        " as round from pg_temp.ledger l where l.kind = 'acked' and not exists"
        " (select from pawl_data.run r where r.run_id = l.run_id)"
        " or l.kind = 'recorded' and not exists (select from pawl_data.step s where s.run_id = "
        "l.run_id"
        " and s.name = l.step and s.state = 's' and (s.output ->> 'v')::bigint = l.value)");
}

static void
show_lost(PGconn *conn)
{
    PGresult *res = bench_exec(conn,
        "select coalesce(round, -1), count(*) filter (where kind = 'acked'),"
        " count(*) filter (where kind = 'recorded'),"
        " (array_agg(run_id || ' ' || step order by place))[1] from pg_temp.lost group by 1"
        " order by 1");

    for (int i = 0; i < PQntuples(res); i++) {
        if (i < shown_max || race_field(res, i, 0) < 0)
            race_note("round %ld: lost %ld acknowledged triggers and %ld steps; the first is %s",
                race_field(res, i, 0), race_field(res, i, 1), race_field(res, i, 2),
                PQgetvalue(res, i, 3));
    }
    PQclear(res);
}

/* Nothing that a session wrote is later than the end of its epoch. */
static void
check_epochs(struct pair *pair)
{
    PGconn *conn = pair->crash.direct;
    struct race *race = &pair->crash.race;
    long beats, ends, held;

    bench_do(conn,
        "create temporary table ended as select (a.detail ->> 'epoch')::int - 1 as epoch, a.at"
        " from pawl_data.action a where a.what = 'raise_epoch'");
    beats = race_count(conn,
        "select count(*) from pawl_data.worker w join pg_temp.ended e on w.session_id >> 32 = "
        "e.epoch"
        " where w.lease_until - w.lease > e.at");
    ends = race_count(conn,
        "select count(*) from pawl_data.run r join pg_temp.ended e on r.session_id >> 32 = e.epoch"
        " where r.ended_at > e.at");
    held = race_count(conn,
        "select count(*) from pawl_data.task t join pg_temp.ended e on t.session_id >> 32 = e.epoch"
        " where t.place = 'h'");
    race_ok(race, pair->taken == 0 && pair->tokens > 0,
        "%ld calls with tokens of the time before, %ld taken", pair->tokens, pair->taken);
    race_ok(race, beats == 0 && ends == 0 && held == 0,
        "of sessions of older epochs %ld were heard, %ld ended a run, %ld hold one", beats, ends,
        held);
}

void
pair_check_lags(struct pair *pair)
{
    struct crash *crash = &pair->crash;
    struct race *race = &crash->race;
    PGconn *conn = crash->direct;
    struct ledger_findings found;
    long steps, naps, other, lost, unexplained;

    (void)ledger_load(crash->ledger, conn);
    ledger_join(conn, &found);
    make_lost(conn);
    show_lost(conn);
    lost = race_count(conn, "select count(*) from pg_temp.lost");
    unexplained = race_count(conn, "select count(*) from pg_temp.lost where round is null");
    race_note("the standbys were kept behind by %ld calls in all", pair->behind);
    race_ok(race, lost > 0 && unexplained == 0,
        "%ld acknowledged calls lost, %ld of them not while a standby was kept behind", lost,
        unexplained);
    steps = race_count(conn,
        "select count(*) from pawl_data.run r join pawl_data.queue q using (queue_id)"
        " where q.name = 'crash.steps.v1' and r.status = 's'");
    naps = race_count(conn,
        "select count(*) from pawl_data.run r join pawl_data.queue q using (queue_id)"
        " where q.name = 'crash.sleep.v1' and r.status = 's'");
    other = race_count(conn, "select count(*) from pawl_data.run r where r.status <> 's'");
    race_ok(race, other == 0 && found.recorded == 3 * steps + 2 * naps,
        "%ld runs are there, %ld ended otherwise than well; %ld steps are recorded, %ld were to be",
        steps + naps + other, other, found.recorded, 3 * steps + 2 * naps);
    race_ok(race, found.twice == 0, "%ld steps recorded twice", found.twice);
    race_ok(race, found.unfounded == 0, "%ld steps recorded that never started", found.unfounded);
    /* The ledger knows claims by their attempt. One that was lost is given out again, so starts after a refusal mean nothing here. */
    check_epochs(pair);
}

/* What a worker would change. */
static long
fingerprint(PGconn *conn)
{
    return race_count(conn,
        "select (select count(*) from pawl_data.run) + (select count(*) from pawl_data.step) +"
        " (select coalesce(sum(t.fence), 0) from pawl_data.task t)");
}

void
pair_check_return(struct pair *pair)
{
    struct cluster *old = &pair->clusters[1 - pair->primary];
    struct cluster *current = &pair->clusters[pair->primary];
    double until_s = bench_limit_s(120);
    long before, ready, after;
    PGconn *conn;

    cluster_start_apart(old);
    conn = cluster_operate(old);
    before = fingerprint(conn);
    PQfinish(conn);
    cluster_stop_apart(old);
    cluster_crash(current);
    cluster_start(old);
    conn = cluster_operate(old);
    ready = race_count(conn, "select count(*) from pawl_data.task t where t.place <> 'w'");
    while (race_count(conn,
               "select count(distinct w.name) from pawl_data.worker w where w.name like 'crash-%'"
               " and w.registered_at > pg_postmaster_start_time()") < pair_workers) {
        if (bench_now_s() > until_s)
            bench_die("no worker found the old server; see \"%s\"", pair->crash.output);
        crash_rest();
    }
    crash_outlast(&pair->crash);
    after = fingerprint(conn);
    PQfinish(conn);
    race_ok(&pair->crash.race, ready > 0 && after == before,
        "%ld runs could be taken on the server that came back, %ld things changed there", ready,
        after - before);
    cluster_crash(old);
    cluster_start(current);
    crash_connect(&pair->crash);
    crash_trigger(&pair->crash, "crash.steps.v1", 20);
    race_ok(&pair->crash.race, crash_wait_left(&pair->crash, 0, 60), "work goes on with the other");
}
