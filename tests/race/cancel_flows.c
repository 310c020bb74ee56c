/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cancel and kill against the tasks of flows: workers record steps, by commit and in transactions of their own that they
 * leave open for a while, and end tasks or fail them, while runs are cancelled at a random point of their lives. What a run
 * has recorded is counted in the transaction of the cancel; once that is acknowledged, it must never be more.
 */
#include "session.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    workers = 4,
    cancellers = 2,
    held_max = 6,
    /* Three tasks with four acts each. */
    acts_max = 12
};

struct shared {
    struct race race;
    long runs;
    char (*ids)[race_id_bytes];
    atomic_int *acts;
    /* The act before which each run is to be cancelled. */
    signed char *points;
    atomic_bool *pointed;
    /* Runs to be cancelled now, in order; each is stored as n + 1. */
    atomic_long *orders;
    atomic_long ordered;
    atomic_long next;
    /* What a run had recorded when its cancel was acknowledged; -1: it was not. */
    atomic_long *recorded;
    atomic_long oks;
    atomic_long ended;
    atomic_long busy;
    atomic_long refused;
    atomic_long wrong;
    atomic_long deadlocks;
    atomic_bool done;
};

struct part {
    struct shared *shared;
    unsigned number;
};

/* A task that a worker holds. */
struct hold {
    char run[40];
    char task[16];
    char fence[16];
    long n;
};

static void
complain(struct shared *shared, const struct hold *hold, const char *what, const char *answer)
{
    if (atomic_fetch_add(&shared->wrong, 1) < 10)
        race_note("%s of task %s of run %s answers %s", what, hold->task, hold->run, answer);
}

/* Every act may be the one at which the run is to be cancelled: then that is under way when the act is. */
static void
count_act(struct shared *shared, long n)
{
    if (atomic_fetch_add(&shared->acts[n], 1) == shared->points[n] &&
        !atomic_exchange(&shared->pointed[n], true))
        atomic_store(&shared->orders[atomic_fetch_add(&shared->ordered, 1)], n + 1);
}

/* Commits one item until it is not busy. True: it was taken. */
static bool
commit_item(struct shared *shared, struct race_session *session, const struct hold *hold,
    const char *kind, const char *name)
{
    static const char *const sql =
        "select answer from pawl.commit($1, array[$2::uuid], array[$3::int], array[$4], "
        "array[$5], array['1'], array[1], array[$6::int])";
    const char *params[] = {session->id, hold->run, hold->fence, kind, name, hold->task};
    char answer[16] = "busy";

    while (strcmp(answer, "busy") == 0) {
        PGresult *res = race_try(session->conn, sql, 6, params);

        if (strcmp(race_state(res), "40P01") == 0)
            session->deadlocks++;
        else if (race_state(res)[0] != '\0')
            bench_die("commit: %s", PQresultErrorMessage(res));
        else
            (void)snprintf(answer, sizeof(answer), "%s", PQgetvalue(res, 0, 0));
        PQclear(res);
        if (strcmp(answer, "busy") == 0)
            race_breathe();
    }
    if (strcmp(answer, "ok") != 0 && strcmp(answer, "cancelled") != 0 &&
        strcmp(answer, "lease_lost") != 0)
        complain(shared, hold, kind, answer);
    return strcmp(answer, "ok") == 0;
}

/* The transactional step, in a transaction that stays open for a moment. True: it was taken. */
static bool
record_step(struct shared *shared, struct race_session *session, const struct hold *hold,
    struct race_random *random)
{
    const char *params[] = {session->id, hold->run, hold->fence, hold->task};
    PGresult *res;
    bool ok;

    bench_do(session->conn, "begin");
    res = race_try(session->conn,
        "select pawl.record_step(pawl.step_token($1, $2, $3, 't', 2, $4), '1')", 4, params);
    ok = race_state(res)[0] == '\0';
    if (ok && strcmp(PQgetvalue(res, 0, 0), "ok") != 0)
        complain(shared, hold, "record_step", PQgetvalue(res, 0, 0));
    if (strcmp(race_state(res), "40P01") == 0)
        session->deadlocks++;
    else if (!ok && strcmp(race_state(res), "PW005") != 0 && strcmp(race_state(res), "PW006") != 0)
        complain(shared, hold, "record_step", race_state(res));
    PQclear(res);
    race_stagger(random, 3000);
    bench_do(session->conn, ok ? "commit" : "rollback");
    return ok;
}

/* A task from its first step to its end. */
static void
work_off(struct shared *shared, struct race_session *session, const struct hold *hold,
    struct race_random *random)
{
    bool fails = race_below(random, 12) == 0;
    bool taken;

    count_act(shared, hold->n);
    race_stagger(random, 2000);
    taken = commit_item(shared, session, hold, "step", "s#1");
    if (taken) {
        count_act(shared, hold->n);
        taken = record_step(shared, session, hold, random);
    }
    if (taken) {
        count_act(shared, hold->n);
        taken = commit_item(shared, session, hold, "step", "u#1");
    }
    count_act(shared, hold->n);
    if (!taken)
        atomic_fetch_add(&shared->refused, 1);
    /* Whoever was refused lets go, and the others end the task; a cancelled run takes either as that. */
    (void)commit_item(shared, session, hold,
        !taken      ? "release"
            : fails ? "fail"
                    : "complete",
        NULL);
}

static void *
work(struct part *part)
{
    struct shared *shared = part->shared;
    struct race_random random = race_random(&shared->race, part->number);
    struct race_session session;

    race_session_open(&session, "race.flow/*");
    while (!atomic_load(&shared->done)) {
        struct hold holds[held_max];
        char most[16];
        const char *params[] = {session.id, most};
        PGresult *claimed;
        int count;

        (void)snprintf(most, sizeof(most), "%u", 1 + race_below(&random, held_max));
        claimed = bench_exec_params(session.conn,
            "select run_id, task, fence, input -> 'run' ->> 'n' from pawl.claim($1, $2)", 2,
            params);
        count = PQntuples(claimed);
        for (int row = 0; row < count; row++) {
            (void)snprintf(
                holds[row].run, sizeof(holds[row].run), "%s", PQgetvalue(claimed, row, 0));
            (void)snprintf(
                holds[row].task, sizeof(holds[row].task), "%s", PQgetvalue(claimed, row, 1));
            (void)snprintf(
                holds[row].fence, sizeof(holds[row].fence), "%s", PQgetvalue(claimed, row, 2));
            holds[row].n = race_field(claimed, row, 3);
        }
        PQclear(claimed);
        for (int i = 0; i < count; i++)
            work_off(shared, &session, &holds[i], &random);
        if (count == 0)
            race_breathe();
    }
    atomic_fetch_add(&shared->deadlocks, session.deadlocks);
    race_session_close(&session);
    return NULL;
}

/* Cancels or kills one run, and counts what it has recorded in the same transaction. */
static void
cancel(struct shared *shared, PGconn *conn, long n, bool kill)
{
    const char *params[] = {shared->ids[n]};
    bool busy = true;

    while (busy) {
        PGresult *res, *count;
        const char *answer;

        bench_do(conn, "begin");
        res = bench_exec_params(conn,
            kill ? "select answer from pawl.kill(array[$1::uuid])"
                 : "select answer from pawl.cancel(array[$1::uuid])",
            1, params);
        answer = PQgetvalue(res, 0, 0);
        count = bench_exec_params(
            conn, "select count(*) from pawl_data.step where run_id = $1", 1, params);
        bench_do(conn, "commit");
        busy = strcmp(answer, "busy") == 0;
        if (busy) {
            atomic_fetch_add(&shared->busy, 1);
        } else if (strcmp(answer, "ok") == 0) {
            atomic_store(&shared->recorded[n], race_field(count, 0, 0));
            atomic_fetch_add(&shared->oks, 1);
        } else {
            /* It has ended, or is failing. */
            atomic_fetch_add(&shared->ended, 1);
        }
        PQclear(count);
        PQclear(res);
    }
}

static void *
cancel_runs(struct part *part)
{
    struct shared *shared = part->shared;
    struct race_random random = race_random(&shared->race, part->number);
    PGconn *conn = bench_connect();

    while (!atomic_load(&shared->done)) {
        long place = atomic_load(&shared->next);
        long n = place < shared->runs ? atomic_load(&shared->orders[place]) - 1 : -1;

        if (n < 0) {
            race_breathe();
        } else if (atomic_compare_exchange_strong(&shared->next, &place, place + 1)) {
            race_stagger(&random, 3000);
            cancel(shared, conn, n, race_below(&random, 3) == 0);
        }
    }
    PQfinish(conn);
    return NULL;
}

/* Waits until nothing lives any more. */
static void *
wait_for_end(struct shared *shared)
{
    PGconn *direct = race_connect_direct();
    double until = bench_limit_s(60 + 0.2 * (double)shared->runs);

    while (race_count(direct, "select count(*) from pawl_data.task") > 0 && bench_now_s() < until)
        for (int i = 0; i < 100; i++)
            race_breathe();
    atomic_store(&shared->done, true);
    PQfinish(direct);
    return NULL;
}

static void *
play(void *argument)
{
    struct part *part = argument;

    if (part->number < workers)
        return work(part);
    if (part->number < workers + cancellers)
        return cancel_runs(part);
    return wait_for_end(part->shared);
}

/* How many runs have recorded something, or ended otherwise, after their cancel was acknowledged. */
static void
check_cancelled(struct shared *shared, PGconn *direct)
{
    long more = 0, other = 0;

    for (long n = 0; n < shared->runs; n++) {
        const char *params[] = {shared->ids[n]};
        long told = atomic_load(&shared->recorded[n]);
        PGresult *res;

        if (told < 0)
            continue;
        res = bench_exec_params(direct,
            "select (select count(*) from pawl_data.step s where s.run_id = $1),"
            " (select count(*) from pawl_data.run r where r.run_id = $1 and r.status = 'c')",
            1, params);
        if (race_field(res, 0, 0) != told && more++ < 10)
            race_note("run %s had %ld records when it was cancelled, and has %ld", shared->ids[n],
                told, race_field(res, 0, 0));
        other += race_field(res, 0, 1) != 1;
        PQclear(res);
    }
    race_ok(&shared->race, more == 0,
        "%ld runs with forward records after an acknowledged cancel or kill", more);
    race_ok(&shared->race, other == 0,
        "%ld runs not CANCELLED after an acknowledged cancel or kill", other);
}

static void
check_all(struct shared *shared, PGconn *direct)
{
    static const struct {
        const char *sql;
        const char *what;
    } checks[] = {
        {"select count(*) from pawl_data.task", "tasks of runs that have not ended"},
        {"select (select count(*) from pawl_data.wait) + (select count(*) from pawl_data.gate)",
            "waits and gates of runs that have ended"},
        {"select count(*) from (select run_id from pawl_data.run group by 1 having count(*) > 1) d",
            "runs with more than one outcome"},
        {"select count(*) from (select run_id, task_no, name from pawl_data.step group by 1, 2, 3 "
         "having count(*) > 1) d",
            "steps recorded twice"},
    };
    struct race *race = &shared->race;
    long ended = race_count(direct, "select count(*) from pawl_data.run");

    race_note("%ld of %ld runs cancelled or killed in time, %ld had ended or were failing; "
              "%ld tasks were refused, %ld busy answers",
        atomic_load(&shared->oks), shared->runs, atomic_load(&shared->ended),
        atomic_load(&shared->refused), atomic_load(&shared->busy));
    race_ok(race, ended == shared->runs, "%ld of %ld runs have ended", ended, shared->runs);
    race_ok(race, atomic_load(&shared->oks) > 0, "some were cancelled");
    check_cancelled(shared, direct);
    race_ok(race, atomic_load(&shared->wrong) == 0, "%ld unexpected answers",
        atomic_load(&shared->wrong));
    race_ok(race, atomic_load(&shared->deadlocks) == 0, "%ld deadlocks",
        atomic_load(&shared->deadlocks));
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        long count = race_count(direct, checks[i].sql);

        race_ok(race, count == 0, "%ld %s", count, checks[i].what);
    }
    race_note("outcomes: %ld SUCCESS, %ld ERROR, %ld CANCELLED",
        race_count(direct, "select count(*) from pawl_data.run where status = 's'"),
        race_count(direct, "select count(*) from pawl_data.run where status = 'e'"),
        race_count(direct, "select count(*) from pawl_data.run where status = 'c'"));
}

int
main(int argc, char **argv)
{
    struct shared shared = {0};
    struct race_random random;
    struct part parts[workers + cancellers + 1];
    PGconn *direct;

    race_start(&shared.race, argc, argv);
    direct = race_connect_direct();
    shared.runs = race_share(&shared.race, 10000);
    shared.ids = race_alloc(shared.runs, sizeof(*shared.ids));
    shared.acts = race_alloc(shared.runs, sizeof(*shared.acts));
    shared.points = race_alloc(shared.runs, sizeof(*shared.points));
    shared.pointed = race_alloc(shared.runs, sizeof(*shared.pointed));
    shared.orders = race_alloc(shared.runs, sizeof(*shared.orders));
    shared.recorded = race_alloc(shared.runs, sizeof(*shared.recorded));
    bench_do(direct, "select pawl.create_flow('race.flow', max_attempts => 1)");
    bench_do(direct, "select pawl.add_step('race.flow', 'a'), pawl.add_step('race.flow', 'b')");
    bench_do(direct, "select pawl.add_step('race.flow', 'c', '{a,b}')");
    race_trigger(direct, "race.flow", 0, shared.runs);
    race_load_ids(direct, shared.ids);
    random = race_random(&shared.race, 1000);
    for (long n = 0; n < shared.runs; n++) {
        shared.points[n] = (signed char)race_below(&random, acts_max);
        atomic_store(&shared.recorded[n], -1);
    }
    for (unsigned i = 0; i < workers + cancellers + 1; i++)
        parts[i] = (struct part){.shared = &shared, .number = i};
    race_threads(workers + cancellers + 1, play, parts, sizeof(parts[0]));
    check_all(&shared, direct);
    PQfinish(direct);
    free(shared.ids);
    free(shared.acts);
    free(shared.points);
    free(shared.pointed);
    free(shared.orders);
    free(shared.recorded);
    return race_end(&shared.race);
}
