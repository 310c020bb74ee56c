/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A caller whose driver opens a transaction for every statement calls one verb and then sleeps, once for each verb of the list
 * below, and once as a role that is bound to a tenant. Housekeeping is late at that moment, timers are due, and a day is past its
 * retention. Everybody else goes on: no call waits for the caller, no parent table is locked, and a tick does what the caller has not taken.
 * A tenth of the full size and more is all of them; less is some that the seed chooses.
 */
#include "race.h"

#include <stdio.h>
#include <string.h>

enum {
    timers = 200,
    /* What an unbound caller may do of late housekeeping, and so hold. */
    late_rows = 50,
};

/* What the caller does. Its sessions and runs stand in public.own, those of the others in public.theirs. */
static const char *const verbs[] = {
    "select run_id from pawl.trigger('race.sleep')",
    "select run_id from pawl.trigger('race.sleep', key => 'own')",
    "select run_id from pawl.trigger('race.sleep', id => pawl.make_id())",
    "select run_id from pawl.trigger('race.sleep', to_json(repeat('x', 5000)))",
    "select run_id from pawl.trigger('race.sleep', delay => '1 h')",
    "select run_id from pawl.trigger('race.limited')",
    "select run_id from pawl.trigger_many('race.sleep', array_fill('{}'::json, array[20]))",
    "select answer from pawl.emit('race.own')",
    "select pawl.signal((select waits from own), 'go')",
    "select answer from pawl.cancel(array[(select waits from own)])",
    "select answer from pawl.kill(array[(select waits from own)])",
    "select answer from pawl.pause(array[(select waits from own)])",
    "select answer from pawl.resume(array[(select waits from own)])",
    "select answer from pawl.retry(array[(select failed from own)])",
    "select answer from pawl.fork((select failed from own))",
    "select answer from pawl.purge(array[(select failed from own)])",
    "select session from pawl.register('sleeper', '{race.sleep}')",
    "select tick_due from pawl.heartbeat((select session from own))",
    "select run_id from pawl.claim((select session from own), 5)",
    "select run_id from pawl.held((select session from own))",
    "select pawl.rest((select session from own))",
    "select pawl.pass_on((select session from own))",
    "select answer from own, pawl.step(own.session, own.held, own.fence, 'one')",
    "select answer from own, pawl.complete(own.session, own.held, own.fence)",
    "select answer from own, pawl.fail(own.session, own.held, own.fence, '1')",
    "select answer from own, pawl.sleep(own.session, own.held, own.fence, 'nap', '1 h')",
    "select answer from own, pawl.wait_event(own.session, own.held, own.fence, 'w', 'race.new')",
    "select answer from own, pawl.wait_signal(own.session, own.held, own.fence, 'go')",
    "select answer from own, pawl.release(own.session, own.held, own.fence)",
    "select pawl.record_step(pawl.step_token(own.session, own.held, own.fence, 's#1')) from own",
    "select pawl.leave((select session from own))",
    "select pawl.create_workflow('race.another')",
    "select pawl.alter_workflow('race.limited', '{\"priority\": 7}')",
    ("select change from pawl.apply_flow('{\"flow\": \"race.flow\", \"steps\": [{\"step\": "
     "\"a\"}]}')"),
    "select pawl.pause_workflow('race.limited')",
    "select pawl.pause_queue('race.limited')",
    "select pawl.drain_worker((select session from own))",
    "select runs from pawl.set_retention('20 days')",
    "select pawl.create_subscription('race.new', 'race.theirs', 'race.limited')",
    "select pawl.housekeep()",
    "select pawl._tick_begins(true)",
    "select pawl._tick_piece(1)",
    "select pawl._tick_piece(2)",
    "select pawl._tick_piece(3)",
    "select pawl._tick_piece(4)",
    "select pawl._tick_piece(5)",
    "select pawl._tick_piece(6)",
    "select pawl._tick_piece(7)",
    "select status from pawl.get_run((select waits from own))",
    "select run_id from pawl.list_runs()",
    "select event_id from pawl.list_events()",
    "select queue from pawl.list_queues()",
    "select session from pawl.list_workers()",
    "select workflow from pawl.metrics()",
    "select pawl.why((select waits from own))",
    "select what from pawl.doctor()",
};

/* What everybody else does meanwhile. */
static const char *const others[] = {
    "select run_id from pawl.trigger('race.sleep')",
    "select run_id from pawl.trigger('race.sleep', key => gen_random_uuid()::text)",
    "select run_id from pawl.trigger('race.sleep', id => pawl.make_id())",
    "select run_id from pawl.trigger('race.sleep', to_json(repeat('x', 5000)))",
    "select run_id from pawl.trigger_many('race.sleep', array_fill('{}'::json, array[20]))",
    "select answer from pawl.emit('race.theirs')",
    "select pawl.signal((select waits from theirs), 'stay')",
    "select tick_due from pawl.heartbeat((select session from theirs))",
    "select run_id from pawl.claim((select session from theirs), 5)",
    "select answer from theirs, pawl.step(theirs.session, theirs.held, theirs.fence, 'one')",
    ("select c.answer from theirs, pawl.held(theirs.session) h, "
     "pawl.complete(theirs.session, h.run_id, h.fence) c where h.run_id <> theirs.held"),
    "select answer from pawl.cancel(array[(select run_id from pawl.trigger('race.sleep'))])",
    "select answer from pawl.retry(array[(select failed from theirs)])",
    "select pawl.create_workflow('race.sleep')",
    "select status from pawl.get_run((select waits from theirs))",
    "select pawl.why((select waits from theirs))",
    "select run_id from pawl.list_runs()",
    "select event_id from pawl.list_events()",
    "select queue from pawl.list_queues()",
    "select session from pawl.list_workers()",
    "select workflow from pawl.metrics()",
    "select what from pawl.doctor()",
    "call pawl.tick(true)",
};

struct scene {
    struct race race;
    PGconn *direct; /* plants, and looks */
    PGconn *caller;
    PGconn *other;
    long waited;   /* calls of others that were cancelled, because they waited */
    long failed;   /* and that failed otherwise */
    long parents;  /* parents of partitions that the caller had locked */
    long left;     /* verbs after which timers were left that the caller did not hold */
    long open;     /* transactions of the caller that were open meanwhile */
    long refused;  /* verbs that a bound role may not call */
    long in_block; /* ticks that raised in a transaction of the caller */
};

/* A session with a held run, a run that waits and one that has failed, of a tenant; as a table of one row. */
static void
plant_runs(struct scene *scene, const char *table, const char *tenant)
{
    char sql[1600];

    (void)snprintf(sql, sizeof(sql),
        "delete from %1$s; "
        "insert into %1$s (session) select session from pawl.register('%1$s', '{race.sleep}', "
        "lease => '1 h'); "
        "update pawl_data.worker w set tenant = nullif('%2$s', '') from %1$s o where w.session_id "
        "= "
        "o.session; "
        "update %1$s set failed = (select run_id from pawl.trigger('race.sleep', tenant => "
        "'%2$s', priority => 1)); "
        "update %1$s o set fence = c.fence from (select c.run_id, c.fence from %1$s x, "
        "pawl.claim(x.session, 1) c) c where c.run_id = o.failed",
        table, tenant);
    bench_do(scene->direct, sql);
    (void)snprintf(sql, sizeof(sql),
        "select answer from %1$s o, pawl.fail(o.session, o.failed, o.fence, '1', final => true); "
        "update %1$s set held = (select run_id from pawl.trigger('race.sleep', tenant => '%2$s', "
        "priority => 1)); "
        "update %1$s o set fence = c.fence from (select c.run_id, c.fence from %1$s x, "
        "pawl.claim(x.session, 1) c) c where c.run_id = o.held; "
        "update %1$s set waits = (select run_id from pawl.trigger('race.sleep', tenant => '%2$s', "
        "delay => '1 h'))",
        table, tenant);
    bench_do(scene->direct, sql);
}

/* Timers that are due, a day that is past its retention, chores that are due, and a clock that says that nobody has ticked. */
static void
plant(struct scene *scene, const char *tenant)
{
    bench_do(scene->direct,
        "delete from pawl_data.task; delete from pawl_data.wait; delete from pawl_data.worker; "
        "delete from "
        "pawl_data.worker_queue");
    plant_runs(scene, "public.own", tenant);
    plant_runs(scene, "public.theirs", "");
    bench_do(scene->direct,
        "select from pawl.trigger_many('race.timers', array_fill('{}'::json, array[200]), delay => "
        "'1 ms'); "
        "update pawl_data.task t set due_at = now() - interval '1 min' from pawl_data.queue q "
        "where q.queue_id = t.queue_id and q.name = 'race.timers'; "
        "select pawl._make_partition('note', current_date - 60), pawl._make_partition('run', "
        "current_date - 60); "
        "insert into pawl_data.note (run_id, note_no, task_no, at, kind, body) "
        "values (pawl._id_make(current_date - 60), 1, 0, now(), 'log', 'x'); "
        "update pawl_data.chore set due_at = '-infinity' where due_at < 'infinity'; "
        "select setval('pawl_data.housekeeping_clock', 0)");
}

static void
others_go_on(struct scene *scene, const char *verb, const char *who)
{
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        PGresult *res = race_try(scene->other, others[i], 0, NULL);
        bool failed = race_state(res)[0] != '\0';

        if (failed)
            race_note("beside %s of a caller that is %s: %s: %s", verb, who, others[i],
                PQresultErrorMessage(res));
        if (failed && strcmp(race_state(res), "57014") == 0)
            scene->waited++;
        else if (failed)
            scene->failed++;
        PQclear(res);
    }
}

static void
sleep_in(struct scene *scene, const char *verb, bool bound)
{
    char sql[300];
    const char *who = bound ? "bound" : "not bound";
    PGresult *res;
    int pid = PQbackendPID(scene->caller);
    long held, left;

    plant(scene, bound ? "z" : "");
    bench_do(scene->caller,
        bound ? "select set_config('role', 'sleeper_' || current_database(), false)"
              : "reset role");
    bench_do(scene->caller, "begin");
    res = race_try(scene->caller, verb, 0, NULL);
    if (race_state(res)[0] != '\0') {
        if (!bound)
            bench_die("%s: %s", verb, PQresultErrorMessage(res));
        scene->refused++;
        PQclear(res);
        bench_do(scene->caller, "rollback");
        return;
    }
    PQclear(res);
    (void)snprintf(sql, sizeof(sql),
        "select count(*) from pg_locks l join pg_class c on c.oid = l.relation where l.pid = %d "
        "and c.relkind = 'p' and l.mode in ('AccessExclusiveLock', 'ExclusiveLock', 'ShareLock')",
        pid);
    scene->parents += race_count(scene->direct, sql);
    others_go_on(scene, verb, who);
    (void)snprintf(sql, sizeof(sql),
        "select count(*) from pg_stat_activity where pid = %d and state = 'idle in transaction'",
        pid);
    scene->open += race_count(scene->direct, sql);
    left = race_count(
        scene->direct, "select count(*) from pawl_data.task where place = 'w' and due_at <= now()");
    /* What housekeep() and a piece of a tick take in the caller's transaction is what they were called for. */
    held = bound                              ? 0
        : strstr(verb, "housekeep") != NULL   ? timers
        : strstr(verb, "_tick_piece") != NULL ? 100
                                              : late_rows;
    if (left > held) {
        race_note("%ld timers are left beside %s of a caller that is %s", left, verb, who);
        scene->left++;
    }
    res = race_try(scene->caller, "call pawl.tick()", 0, NULL);
    scene->in_block += strcmp(race_state(res), "2D000") == 0;
    PQclear(res);
    bench_do(scene->caller, "rollback");
}

int
main(int argc, char **argv)
{
    static struct scene scene;
    bool done[2 * sizeof(verbs) / sizeof(verbs[0])] = {false};
    const long all = (long)(sizeof(done) / sizeof(done[0]));
    struct race_random random;
    long count;

    race_start(&scene.race, argc, argv);
    scene.direct = race_connect_direct();
    scene.caller = race_connect_direct();
    scene.other = race_connect_direct();
    bench_do(scene.direct,
        "select pawl.create_workflow('race.sleep'), pawl.create_workflow('race.timers'), "
        "pawl.create_workflow('race.limited', run_timeout => '1 h'); "
        "create table public.own (session bigint, held uuid, fence int, waits uuid, failed uuid); "
        "create table public.theirs (like public.own)");
    /* A role belongs to the whole cluster, and the name of the database to one of them. */
    bench_do(scene.direct,
        "do $$ begin execute format('create role %I', 'sleeper_' || current_database()); end $$");
    bench_do(scene.direct,
        "select pawl.grant_role('sleeper_' || current_database(), r, 'z') from unnest(array["
        "'producer', 'worker', 'operator', 'reader']) r; "
        "grant select on public.own to public");
    /* No test fails because the machine is slow: this is how long a call waits that would wait for ever. */
    bench_do(scene.other, "set statement_timeout = '60s'");
    count = race_share(&scene.race, 10 * all);
    count = count < all ? count : all;
    random = race_random(&scene.race, 0);
    for (long i = 0; i < count; i++) {
        unsigned at = race_below(&random, (unsigned)all);

        while (done[at])
            at = (at + 1) % (unsigned)all;
        done[at] = true;
        sleep_in(&scene, verbs[at / 2], at % 2 == 1);
    }
    race_ok(&scene.race, scene.waited == 0, "%ld calls of others waited for one of %ld callers",
        scene.waited, scene.open);
    race_ok(&scene.race, scene.failed == 0, "%ld failed", scene.failed);
    race_ok(
        &scene.race, scene.parents == 0, "%ld parents of partitions were locked", scene.parents);
    race_ok(
        &scene.race, scene.left == 0, "%ld times timers were left that no caller held", scene.left);
    race_ok(&scene.race, scene.open == count - scene.refused && scene.open > 0,
        "%ld transactions of callers were open meanwhile, %ld verbs were refused", scene.open,
        scene.refused);
    race_ok(
        &scene.race, scene.in_block == scene.open, "%ld ticks raised inside them", scene.in_block);
    bench_do(scene.direct,
        "do $$ begin execute format('drop owned by %1$I; drop role %1$I', 'sleeper_' || "
        "current_database()); end $$");
    PQfinish(scene.other);
    PQfinish(scene.caller);
    PQfinish(scene.direct);
    return race_end(&scene.race);
}
