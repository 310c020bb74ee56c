/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must hold when a storm is over and all has ended. The ledger has what callers and handlers were told; what the tables say must fit,
 * whatever was done to whom. Statuses are 1 SUCCESS, 2 ERROR, 3 CANCELLED.
 */
#include "kinds.h"
#include "storm.h"

#include <stdio.h>

/* A check that a query finds nothing, and what it has found first. */
static void
check_none(struct storm *storm, const char *what, const char *sql)
{
    PGresult *res = bench_exec(storm->crash.direct, sql);
    int count = PQntuples(res);

    race_ok(&storm->crash.race, count == 0, "seed %llu: %d %s",
        (unsigned long long)storm->crash.race.seed, count, what);
    for (int i = 0; i < count && i < 5; i++) {
        char line[400];
        int length = 0;

        for (int j = 0; j < PQnfields(res) && length < (int)sizeof(line) - 80; j++)
            length += snprintf(line + length, sizeof(line) - (size_t)length, " %s=%.60s",
                PQfname(res, j), PQgetvalue(res, i, j));
        race_note(" %s", line);
    }
    PQclear(res);
}

/* Runs that outlived their day are kept apart, with what hangs on them. */
static void
make_unions(PGconn *conn)
{
    bench_do(conn,
        "create temporary view step as select * from pawl_data.step union all select * from"
        " pawl_data.step_kept");
    bench_do(conn,
        "create temporary view audit as select * from pawl_data.audit union all select * from"
        " pawl_data.audit_kept");
}

/* What the other checks ask: each top run with its last round, and what callers were told about it. */
static void
make_views(PGconn *conn)
{
    bench_do(conn,
        "create temporary table ended as select r.run_id, q.name as workflow, r.parent_id,"
        " r.parent_step, count(*) as rounds, max(r.round) as round, (array_agg(r.status order by"
        " r.round desc))[1] as status, bool_or(r.rolled_back) as rolled_back,"
        " (array_agg(r.input order by r.round))[1] ->> 'n' as n, min(r.triggered_at) as"
        " triggered_at, (array_agg(r.error order by r.round desc))[1] as error"
        " from (select * from pawl_data.run union all select * from pawl_data.run_kept) r join "
        "pawl_data.queue q"
        " on q.queue_id = r.queue_id group by 1, 2, 3, 4");
    bench_do(conn, "create unique index on pg_temp.ended (run_id)");
    bench_do(conn,
        "create temporary table told as select l.run_id,"
        " count(*) filter (where l.kind = 'acked' and l.step = 'trigger') as triggered,"
        " min(l.value) filter (where l.kind = 'acked' and l.step = 'trigger') as kind,"
        " count(*) filter (where l.kind = 'acked' and l.step = 'emit') as emitted,"
        " count(*) filter (where l.kind = 'note' and l.step = 'emit') as emits_unknown,"
        " count(*) filter (where l.kind = 'acked' and l.step = 'cancel') as cancelled,"
        " max(l.value) filter (where l.kind = 'acked' and l.step = 'cancel') as cancelled_how,"
        " count(*) filter (where l.kind = 'note' and l.step = 'cancel') as cancels_unknown,"
        " min(l.value) filter (where l.kind = 'note' and l.step = 'records') as records,"
        " count(*) filter (where l.kind = 'acked' and l.step = 'retry') as retried,"
        " count(*) filter (where l.kind = 'note' and l.step = 'retry') as retries_unknown"
        " from pg_temp.ledger l where l.run_id is not null group by 1");
    bench_do(conn, "create unique index on pg_temp.told (run_id)");
    bench_do(conn, "analyze pg_temp.ended");
    bench_do(conn, "analyze pg_temp.told");
}

/* Accepted = sum over states, for each kind, by what callers were told and by the tables. */
static void
check_conservation(struct storm *storm)
{
    struct race *race = &storm->crash.race;
    long wrong = 0;

    for (int i = 0; i < storm_kinds; i++) {
        const char *params[] = {storm_kind_specs[i].workflow};
        PGresult *res = bench_exec_params(storm->crash.direct,
            "select count(*) filter (where e.status = 's'), count(*) filter (where e.status = 'e'),"
            " count(*) filter (where e.status = 'c'), (select count(*) from pawl_data.task t join"
            " pawl_data.queue q on q.queue_id = t.queue_id where q.name = $1 and t.parent_id is "
            "null)"
            " from pg_temp.ended e where e.workflow = $1 and e.parent_id is null",
            1, params);
        long accepted = atomic_load(&storm->told.acked[i]);
        long sum = 0;

        for (int j = 0; j < 4; j++)
            sum += race_field(res, 0, j);
        race_note("%s: %ld accepted = %s SUCCESS + %s ERROR + %s CANCELLED + %s open", params[0],
            accepted, PQgetvalue(res, 0, 0), PQgetvalue(res, 0, 1), PQgetvalue(res, 0, 2),
            PQgetvalue(res, 0, 3));
        wrong += accepted != sum;
        PQclear(res);
    }
    race_ok(race, wrong == 0, "seed %llu: %ld kinds whose runs are not as many as were accepted",
        (unsigned long long)race->seed, wrong);
    race_ok(race, atomic_load(&storm->told.failed) == 0 && atomic_load(&storm->told.wrong) == 0,
        "%ld calls failed in a way that they must not, %ld were told something wrong",
        atomic_load(&storm->told.failed), atomic_load(&storm->told.wrong));
    check_none(storm, "acknowledged triggers lost",
        "select t.run_id from pg_temp.told t where t.triggered > 0 and not exists (select from"
        " pg_temp.ended e where e.run_id = t.run_id)");
}

/* Each run ends as its kind does, unless somebody cancelled it or its parent. */
static void
check_states(struct storm *storm)
{
    for (int i = 0; i < storm_kinds; i++) {
        char sql[700], what[120];
        const struct storm_kind_spec *spec = &storm_kind_specs[i];

        if (spec->status == '\0')
            continue;
        (void)snprintf(
            what, sizeof(what), "runs of %s ended otherwise than they are to", spec->workflow);
        (void)snprintf(sql, sizeof(sql),
            "select e.*, t.cancelled from pg_temp.ended e left join pg_temp.told t on t.run_id ="
            " e.run_id where e.workflow = '%s' and e.status <> '%c' and not (e.status = 'c' and"
            " (coalesce(t.cancelled + t.cancels_unknown, 0) > 0 or e.parent_step is not null and"
            " exists (select from pg_temp.ended p where p.run_id = e.parent_id and p.status = "
            "'c')))",
            spec->workflow, spec->status);
        check_none(storm, what, sql);
    }
    check_none(storm, "runs of the flow ended otherwise than they are to",
        "select e.* from pg_temp.ended e left join pg_temp.told t on t.run_id = e.run_id where"
        " e.workflow = '" STORM_FLOW
        "' and e.status <> case when e.n::int % 8 = 0 then 'e' else 's' end"
        " and not (e.status = 'c' and t.cancelled + t.cancels_unknown > 0)");
    /* One that had failed already, and is being rolled back, ends as it was to. */
    check_none(storm, "runs ended SUCCESS after an acknowledged cancel, or failed because of it",
        "select e.* from pg_temp.told t join pg_temp.ended e on e.run_id = t.run_id where"
        " t.cancelled > 0 and e.status <> 'c' and not (e.status = 'e' and e.rolled_back)");
    check_none(storm, "runs that were cancelled have records from after that",
        "select t.run_id, t.records, s.n from pg_temp.told t cross join lateral (select count(*) "
        "as n"
        " from pg_temp.step s where s.run_id = t.run_id and s.kind = 's' and s.state in ('s', 'e') "
        "and "
        "s.name"
        " not like 'rollback:%') s where t.cancelled > 0 and s.n > t.records and exists (select "
        "from"
        " pg_temp.ended e where e.run_id = t.run_id and e.status = 'c')");
    check_none(storm, "runs that succeeded with other than all their records",
        "select e.run_id, e.workflow, s.n from pg_temp.ended e join (values ('crash.steps.v1', 3),"
        " ('crash.sleep.v1', 2), ('storm.saga.v1', 3), ('crash.pay.v1', 1), ('storm.event.v1', 2),"
        " ('storm.signal.v1', 2), ('storm.parent.v1', 3), ('storm.fail.v1', 3),"
        " ('storm.wide.v1', 4), ('" STORM_CHILD "', 1)) w (workflow, steps)"
        " on w.workflow = e.workflow cross join lateral (select count(*) as n from pg_temp.step s "
        "where"
        " s.run_id = e.run_id and s.kind = 's' and s.state = 's') s where e.status = 's' and s.n <>"
        " w.steps");
    check_none(storm, "runs have another number of rounds than retries were acknowledged",
        "select e.* from pg_temp.ended e left join pg_temp.told t on t.run_id = e.run_id where"
        " e.rounds <> e.round or e.rounds - 1 not between coalesce(t.retried, 0) and"
        " coalesce(t.retried + t.retries_unknown, 0)");
}

/*
 * In the order of commits: a transaction may take its time, and the times in its rows are of its beginning. A sweep and a cancel lock the
 * row that every write of the run locks, so one of the two comes first.
 */
static void
check_late_writes(struct storm *storm)
{
    PGconn *conn = storm->crash.direct;

    bench_do(conn,
        "create temporary table lost as select a.run_id, a.task_no, (a.detail ->> 'fence')::int as"
        " fence, pg_xact_commit_timestamp(a.xmin) as at from pawl_data.audit a where a.what ="
        " 'lease_lost'");
    race_note("%ld claims lost, %ld results refused by the engine",
        race_count(conn, "select count(*) from pg_temp.lost"),
        race_count(conn, "select count(*) from pawl_data.audit a where a.what = 'late_result'"));
    check_none(storm, "records by a claim that was lost before",
        "select s.run_id, s.task_no, s.name, s.fence from pg_temp.lost l join pawl_data.step s on "
        "s.run_id"
        " = l.run_id and s.task_no = l.task_no and s.fence = l.fence"
        " where pg_xact_commit_timestamp(s.xmin) > l.at");
    /* An output says which process has made it. A fence is raised when a claim is lost and when the next one takes the task. */
    check_none(storm, "claims whose records are of several processes",
        "select s.run_id, s.task_no, s.fence, count(*) as records from pawl_data.step s where "
        "s.kind = 's'"
        " and s.state = 's' and strpos(s.name, '#') > 0 and s.name not like 'rollback:%' group by "
        "1, "
        "2, 3"
        " having count(distinct (s.output ->> 'v')::bigint >> 32) > 1");
    check_none(storm, "records while nobody had the task",
        "select s.run_id, s.task_no, s.name, s.fence from pg_temp.lost l join pawl_data.step s on "
        "s.run_id"
        " = l.run_id and s.task_no = l.task_no and s.fence = l.fence + 1 and s.kind = 's' and "
        "s.state ="
        " 's' and strpos(s.name, '#') > 0 and s.name not like 'rollback:%'");
    check_none(storm, "runs ended by a claim that was lost before",
        "select r.run_id, r.fence, r.status from pg_temp.lost l join pawl_data.run r on r.run_id ="
        " l.run_id and r.fence = l.fence and l.task_no = 0"
        " where pg_xact_commit_timestamp(r.xmin) > l.at");
    check_none(storm, "forward records from after a cancel",
        "select s.run_id, s.task_no, s.name from pawl_data.audit a join pawl_data.step s on "
        "s.run_id ="
        " a.run_id where a.what = 'cancel' and s.state in ('s', 'e') and s.name not like"
        " 'rollback:%' and pg_xact_commit_timestamp(s.xmin) > pg_xact_commit_timestamp(a.xmin)");
}

/* Once each and in reverse where a run was rolled back, and never otherwise. */
static void
check_undos(struct storm *storm)
{
    PGconn *conn = storm->crash.direct;

    bench_do(conn,
        "create temporary table pair as select s.run_id, s.task_no, s.name, s.seq, e.workflow,"
        " e.rolled_back, e.status, count(u.name) as undone, min(pg_xact_commit_timestamp(u.xmin)) "
        "as undone_at"
        " from pawl_data.step s join pg_temp.ended e on e.run_id = s.run_id left join "
        "pawl_data.step u"
        " on u.run_id = s.run_id and u.task_no = 0 and u.name = 'rollback:' ||"
        " pawl._task_name(s.name, s.task_no)"
        " and u.state = 's' where s.undo is not null and s.name not like 'rollback:%'"
        " group by 1, 2, 3, 4, 5, 6, 7");
    race_note("%ld steps with an undo, %ld undone",
        race_count(conn, "select count(*) from pg_temp.pair"),
        race_count(conn, "select count(*) from pg_temp.pair p where p.undone > 0"));
    check_none(storm, "steps not undone once where their run was rolled back, or undone otherwise",
        "select * from pg_temp.pair p where p.undone <> case when p.rolled_back then 1 else 0 end");
    check_none(storm, "steps undone before a later one",
        "select a.run_id, a.name, b.name as later from pg_temp.pair a join pg_temp.pair b"
        " on b.run_id = a.run_id and b.seq > a.seq and b.undone_at > a.undone_at");
    check_none(storm, "runs that failed or were cancelled for it are not rolled back",
        "select e.run_id, e.workflow, e.status from pg_temp.ended e left join pg_temp.told t on"
        " t.run_id = e.run_id where not e.rolled_back and (e.status = 'e' or e.status = 'c' and"
        " t.cancelled_how = 1) and exists (select from pg_temp.pair p where p.run_id = e.run_id)");
    check_none(storm, "rollback records of nothing, or of a failure",
        "select u.run_id, u.name, u.state from pawl_data.step u where u.name like 'rollback:%' and"
        " (u.state <> 's' or not exists (select from pg_temp.pair p where p.run_id = u.run_id and"
        " u.task_no = 0 and 'rollback:' || pawl._task_name(p.name, p.task_no) = u.name))");
    check_none(storm, "runs have another number of rows than records of a transactional step",
        "select run_id, sum(rows) as rows, sum(records) as records from (select c.run_id, 1 as "
        "rows,"
        " 0 as records from public.crash_row c union all select s.run_id, 0, 1 from pawl_data.step "
        "s"
        " where s.name = 'pay#1' and s.state = 's') x group by 1 having sum(rows) <> sum(records)");
}

/* Events, signals and children met who waited for them, once. */
static void
check_waits(struct storm *storm)
{
    bench_do(storm->crash.direct,
        "create temporary table taken as select s.run_id, s.name, s.source_id, e.n, v.key,"
        " v.payload ->> 'n' as payload_n, v.event_id from pg_temp.step s join pg_temp.ended e on"
        " e.run_id = s.run_id left join pawl_data.event v on v.event_id = s.source_id where s.kind "
        "= 'e'"
        " and s.state = 's'");
    bench_do(storm->crash.direct,
        "create temporary table emitted as select v.payload ->> 'n' as n, v.event_id, v.emitted_at"
        " from pawl_data.event v");
    bench_do(storm->crash.direct, "create index on pg_temp.emitted (n)");
    bench_do(storm->crash.direct, "analyze pg_temp.emitted");
    /* An event from before the trigger, by a clock that was set back meanwhile, is taken only by a wait that is open. */
    check_none(storm, "waits took an event that is not theirs, or none",
        "select * from pg_temp.taken t where t.event_id is null or t.payload_n is distinct from "
        "t.n");
    check_none(storm, "events taken twice by a run",
        "select t.run_id, t.event_id from pg_temp.taken t group by 1, 2 having count(*) > 1");
    check_none(storm, "runs that succeeded without their events",
        "select e.run_id from pg_temp.ended e where e.workflow = 'storm.event.v1' and e.status = "
        "'s'"
        " and (select count(*) from pg_temp.taken t where t.run_id = e.run_id) <> 2");
    check_none(storm, "acknowledged events are not there, or were taken by nobody",
        "select e.run_id, o.emitted, v.events, v.due, v.taken from pg_temp.ended e join "
        "pg_temp.told o"
        " on o.run_id = e.run_id cross join lateral (select count(*) as events, count(*) filter"
        " (where v.emitted_at >= e.triggered_at) as due, count(t.event_id) filter (where"
        " v.emitted_at >= e.triggered_at) as taken from pg_temp.emitted v left join (select"
        " distinct event_id from pg_temp.taken) t on t.event_id = v.event_id where v.n = e.n) v"
        " where e.workflow = 'storm.event.v1' and (v.events < o.emitted or v.events > o.emitted +"
        " o.emits_unknown or e.status = 's' and o.emits_unknown = 0 and v.taken <> v.due)");
    check_none(storm, "runs that succeeded without their signal",
        "select e.run_id from pg_temp.ended e where e.workflow = 'storm.signal.v1' and e.status = "
        "'s'"
        " and not exists (select from pg_temp.step s where s.run_id = e.run_id and s.kind = 'g' and"
        " (s.state = 's' or s.state = 'e' and e.n::int % 8 = 0))");
    check_none(storm, "children whose parent has another outcome of them than they have",
        "select s.run_id, s.name, s.state, c.status from pg_temp.step s join pg_temp.ended c on"
        " c.run_id = s.source_id where s.kind = 'c' and c.parent_step is not null and (s.state = "
        "'s')"
        " <> (c.status = 's')");
    check_none(storm, "children without a parent, or parents that succeeded with other than four",
        "select e.run_id from pg_temp.ended e where e.parent_id is not null and not exists (select"
        " from pg_temp.ended p where p.run_id = e.parent_id) union all select e.run_id from"
        " pg_temp.ended e where e.workflow = 'storm.parent.v1' and e.status = 's' and (select "
        "count(*)"
        " from pg_temp.ended c where c.parent_id = e.run_id) <> 4");
}

/* Joins came once, when all was there. What their input lacked, handlers have said. */
static void
check_flows(struct storm *storm)
{
    check_none(storm, "handlers found something wrong",
        "select l.run_id, l.task, l.value from pg_temp.ledger l where l.step = 'wrong'");
    check_none(storm, "tasks of the flow recorded twice",
        "select s.run_id, s.task_no from pg_temp.step s where strpos(s.name, '#') = 0 and s.name "
        "not"
        " like 'rollback:%' group by 1, 2 having count(*) > 1");
    check_none(storm, "runs of the flow without all their records",
        "select e.run_id, e.status, x.* from pg_temp.ended e cross join lateral (select"
        " max(json_array_length(s.output)) filter (where s.name = 'split') as wanted, count(*) "
        "filter"
        " (where s.name = 'each' and s.task_no % 1000000 > 0) as elements, count(*) filter (where"
        " s.name = 'join') as joins from pg_temp.step s where s.run_id = e.run_id and s.state in "
        "('s', "
        "'e'))"
        " x where e.workflow = '" STORM_FLOW
        "' and e.status in ('s', 'e') and (x.joins <> 1 or x.elements <>"
        " x.wanted)");
    race_ok(&storm->crash.race, storm->faults.gates_wrong == 0,
        "%ld gates differed from a recount in %ld looks", storm->faults.gates_wrong,
        storm->faults.looks);
}

/* Nothing is left where only what lives has rows, and what was unusual can be read back. */
static void
check_rest(struct storm *storm)
{
    check_none(storm, "hot tables have rows left",
        "select * from (select 'task' as what, count(*) as n from pawl_data.task union all select "
        "'wait',"
        " count(*) from pawl_data.wait union all select 'gate', count(*) from pawl_data.gate union "
        "all select"
        " 'signal', count(*) from pawl_data.signal union all select 'delivery', count(*) from"
        " pawl_data.delivery) x where x.n > 0");
    check_none(storm, "acknowledged cancels are not in the audit once",
        "select t.run_id, a.n from pg_temp.told t cross join lateral (select count(*) as n from"
        " pg_temp.audit a where a.run_id = t.run_id and a.what = 'cancel') a join pg_temp.ended e "
        "on"
        " e.run_id = t.run_id where t.cancelled > 0 and e.status = 'c' and a.n <> 1");
    check_none(storm, "rounds are not in the audit once each",
        "select e.run_id, e.rounds, a.n from pg_temp.ended e cross join lateral (select count(*) "
        "as n"
        " from pg_temp.audit a where a.run_id = e.run_id and a.what = 'retry') a where a.n <> "
        "e.rounds - 1");
    check_none(storm, "rollbacks are not in the audit",
        "select e.run_id, a.n from pg_temp.ended e cross join lateral (select count(*) as n from"
        " pg_temp.audit a where a.run_id = e.run_id and a.what = 'rollback_started') a where"
        " e.rolled_back and a.n = 0");
    check_none(storm, "audit rows of no run",
        "select distinct a.run_id from pg_temp.audit a where not exists (select from pg_temp.ended "
        "e"
        " where e.run_id = a.run_id)");
    race_ok(&storm->crash.race, storm->faults.installs_failed == 0, "%ld of %ld installs failed",
        storm->faults.installs_failed, storm->faults.installs + storm->faults.installs_failed);
    check_none(storm, "chores went wrong",
        "select c.chore, c.last_error from pawl_data.chore c where c.last_error is not null");
}

void
storm_check(struct storm *storm)
{
    struct crash *crash = &storm->crash;

    make_unions(crash->direct);
    crash_check_records(crash,
        race_count(crash->direct,
            "select count(*) from pg_temp.step s where s.kind = 's' and s.state = 's' and"
            " strpos(s.name, '#') > 0"));
    make_views(crash->direct);
    check_conservation(storm);
    check_states(storm);
    check_late_writes(storm);
    check_undos(storm);
    check_waits(storm);
    check_flows(storm);
    check_rest(storm);
}
