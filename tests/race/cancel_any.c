/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cancel against everything else: workers drive runs through steps, sleeps, retries, children, events and steps with an
 * undo, while every run is cancelled at a random point of its life. Each must end exactly once, and after an acknowledged
 * cancel nothing is recorded but undos.
 */
#include "session.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Workers do not run ahead of the cancellers by more than this many runs. */
enum {
    workers = 3,
    cancellers = 2,
    held_max = 16,
    ahead_max = 20
};

/*
 * What a run does, one letter for each stage: step, sleep (Z), retry, child (K), event, emit that event and suspend (X),
 * begin of a step with an undo, its result (U), complete.
 */
static const char *const scripts[] = {"SSSC", "SZSC", "SRSC", "SKSC", "SEXSC", "BUSC"};
enum {
    variants = sizeof(scripts) / sizeof(scripts[0])
};

struct shared {
    struct race race;
    long runs;
    char (*ids)[race_id_bytes];
    /* Stages sent; a child's are at runs + its parent's number. */
    atomic_int *stages;
    /* When the database's clock stood after the cancel was acknowledged; 0: not yet. -1, -2: it had ended SUCCESS, ERROR. */
    _Atomic int64_t *acked;
    /* The stage at which each run is to be cancelled, -1 at once, and whether that was ordered. */
    signed char *points;
    atomic_bool *pointed;
    /* Runs to be cancelled now, in order; each is stored as n + 1. */
    atomic_long *orders;
    atomic_long ordered;
    atomic_long next;
    atomic_long settled;
    atomic_long oks;
    atomic_long ended;
    atomic_long busy;
    atomic_long forward;
    atomic_long wrong;
    atomic_bool done;
    atomic_long deadlocks;
};

struct part {
    struct shared *shared;
    unsigned number;
};

struct hold {
    long n;
    int fence;
    bool rolling_back;
    char run[40];
};

static char
stage_of(const struct shared *shared, long n, int stage)
{
    const char *script = n < shared->runs ? scripts[n % variants] : "SC";

    return script[stage];
}

static void
order_cancel(struct shared *shared, long n)
{
    if (!atomic_exchange(&shared->pointed[n], true))
        atomic_store(&shared->orders[atomic_fetch_add(&shared->ordered, 1)], n + 1);
}

static void
set_item(struct race_item *item, const struct hold *hold, const char *kind, const char *name,
    const char *payload, const char *option)
{
    race_item_set(item, hold->run, hold->fence, kind, name, payload, option);
    item->n = hold->n;
}

/* The items of the next stage of a run. */
static int
add_stage(struct shared *shared, struct race_item *items, const struct hold *hold, PGconn *conn)
{
    int stage = atomic_load(&shared->stages[hold->n]);
    char what = stage_of(shared, hold->n, stage);
    char name[32], key[24], option[160];
    const char *params[] = {key};

    (void)snprintf(name, sizeof(name), "s%d#1", what == 'U' ? stage - 1 : stage);
    if (stage > 0 && stage_of(shared, hold->n, stage - 1) == 'R')
        (void)snprintf(name, sizeof(name), "s%d#1", stage - 1);
    (void)snprintf(key, sizeof(key), "%ld", hold->n);
    switch (what) {
    case 'S':
    case 'U':
        set_item(items, hold, "step", name, "{\"a\": 1}", NULL);
        return 1;
    case 'C':
        set_item(items, hold, "complete", NULL, "{\"a\": 1}", NULL);
        return 1;
    case 'B':
        set_item(
            items, hold, "begin", name, NULL, "{\"undo\": {\"handler\": \"u\", \"input\": 1}}");
        return 1;
    case 'E':
        (void)snprintf(option, sizeof(option), "{\"topic\": \"go\", \"key\": \"%s\"}", key);
        set_item(items, hold, "event", name, NULL, option);
        return 1;
    case 'X':
        PQclear(bench_exec_params(conn, "select from pawl.emit('go', '{}', $1)", 1, params));
        set_item(items, hold, "suspend", NULL, NULL, NULL);
        return 1;
    case 'Z':
        set_item(items, hold, "sleep", name, NULL, "{\"ms\": 1}");
        break;
    case 'R':
        set_item(items, hold, "retry", name, "{\"message\": \"no\"}",
            "{\"policy\": {\"max_attempts\": 3, \"base_ms\": 1, \"factor\": 1}}");
        break;
    default:
        (void)snprintf(option, sizeof(option), "{\"workflow\": \"race.cancel\"}");
        (void)snprintf(key, sizeof(key), "{\"n\": %ld}", shared->runs + hold->n);
        set_item(items, hold, "child", name, key, option);
        break;
    }
    set_item(&items[1], hold, "suspend", NULL, NULL, NULL);
    return 2;
}

static int
add_rollback(struct race_item *items, const struct hold *hold)
{
    set_item(items, hold, "step", "rollback:s0#1", "{\"a\": 1}", NULL);
    set_item(&items[1], hold, "complete", NULL, "null", NULL);
    return 2;
}

static void
complain(struct shared *shared, const struct race_item *item)
{
    if (atomic_fetch_add(&shared->wrong, 1) < 10)
        race_note("%s %s of run %s answers %s: %s", item->kind, item->name, item->run, item->answer,
            item->reason);
}

/* What the answers to a run's items mean for it. True: it is still held. */
static bool
take_answers(
    struct shared *shared, const struct hold *hold, const struct race_item *items, int count)
{
    const struct race_item *last = &items[count - 1];
    bool suspends = strcmp(last->kind, "suspend") == 0;

    for (int i = 0; i < count; i++) {
        /* The tag says that the cancel was acknowledged before this was sent. */
        if (strcmp(items[i].answer, "ok") == 0 && items[i].tag != 0 && !hold->rolling_back) {
            race_note("forward record: %s %s of run %s", items[i].kind, items[i].name, hold->run);
            atomic_fetch_add(&shared->forward, 1);
        }
    }
    if (strcmp(items[0].answer, "lease_lost") == 0)
        return false;
    if (strcmp(items[0].answer, "cancelled") == 0)
        return strcmp(items[0].kind, "complete") != 0 && strcmp(items[0].kind, "suspend") != 0;
    if (strcmp(last->answer, "cancelled") == 0)
        return false;
    if (hold->rolling_back) {
        if (strcmp(last->answer, "ok") != 0)
            complain(shared, last);
        return false;
    }
    if (suspends && strncmp(last->reason, "the run waits for nothing", 25) == 0) {
        atomic_fetch_add(&shared->stages[hold->n], 1);
        return true;
    }
    if (strcmp(items[0].answer, "ok") != 0 || strcmp(last->answer, "ok") != 0) {
        complain(shared, strcmp(items[0].answer, "ok") != 0 ? &items[0] : last);
        return false;
    }
    if (strcmp(items[0].kind, "complete") == 0)
        return false;
    /* A suspended run may be claimed by another worker before this line: stages were counted when they were sent. */
    if (!suspends)
        atomic_fetch_add(&shared->stages[hold->n], 1);
    return !suspends;
}

/* Lets go of a run whose cancel was learnt by a step. */
static void
let_go(struct shared *shared, struct race_session *session, const struct hold *hold)
{
    struct race_item item;

    race_item_set(&item, hold->run, hold->fence, "release", NULL, NULL, NULL);
    race_commit_all(session, &item, 1);
    if (strcmp(item.answer, "cancelled") != 0 && strcmp(item.answer, "already") != 0 &&
        strcmp(item.answer, "lease_lost") != 0)
        complain(shared, &item);
}

/* One stage of every run that the worker holds; keeps those that it holds after it. */
static int
advance(struct shared *shared, struct race_session *session, struct hold *holds, int held)
{
    struct race_item items[2 * held_max];
    int starts[held_max + 1];
    int count = 0, kept = 0;

    for (int i = 0; i < held; i++) {
        long n = holds[i].n;
        int added;

        starts[i] = count;
        if (n < shared->runs && atomic_load(&shared->stages[n]) == shared->points[n])
            order_cancel(shared, n);
        added = holds[i].rolling_back ? add_rollback(&items[count], &holds[i])
                                      : add_stage(shared, &items[count], &holds[i], session->conn);
        for (int k = 0; k < added; k++)
            items[count + k].tag = n < shared->runs && atomic_load(&shared->acked[n]) > 0;
        count += added;
        if (!holds[i].rolling_back && strcmp(items[count - 1].kind, "suspend") == 0)
            atomic_fetch_add(&shared->stages[n], 1);
    }
    starts[held] = count;
    race_commit_all(session, items, count);
    for (int i = 0; i < held; i++) {
        const struct race_item *first = &items[starts[i]];
        bool suspends = strcmp(items[starts[i + 1] - 1].kind, "suspend") == 0;
        bool nothing =
            strncmp(items[starts[i + 1] - 1].reason, "the run waits for nothing", 25) == 0;

        /* It was counted when it was sent, and goes on. */
        if (suspends && nothing)
            atomic_fetch_sub(&shared->stages[holds[i].n], 1);
        if (!take_answers(shared, &holds[i], first, starts[i + 1] - starts[i]))
            continue;
        if (strcmp(first->answer, "cancelled") == 0)
            let_go(shared, session, &holds[i]);
        else
            holds[kept++] = holds[i];
    }
    return kept;
}

static void *
work(void *argument)
{
    struct part *part = argument;
    struct shared *shared = part->shared;
    struct race_random random = race_random(&shared->race, part->number);
    struct race_session session;
    struct hold holds[held_max];
    int held = 0;

    race_session_open(&session, "race.cancel");
    while (!atomic_load(&shared->done) || held > 0) {
        int room = held_max - held;
        PGresult *claimed;

        while (atomic_load(&shared->ordered) > atomic_load(&shared->settled) + ahead_max)
            race_breathe();
        claimed =
            race_claim(&session, room > 0 ? 1 + (int)race_below(&random, (unsigned)room) : 0, 0);
        for (int row = 0; row < PQntuples(claimed); row++) {
            struct hold *hold = &holds[held++];

            memset(hold, 0, sizeof(*hold));
            (void)snprintf(hold->run, sizeof(hold->run), "%s", PQgetvalue(claimed, row, RACE_RUN));
            hold->n = race_field(claimed, row, RACE_N);
            hold->fence = (int)race_field(claimed, row, RACE_FENCE);
            hold->rolling_back = race_field(claimed, row, RACE_ROLLING_BACK) != 0;
        }
        PQclear(claimed);
        if (held == 0)
            race_breathe();
        held = advance(shared, &session, holds, held);
    }
    atomic_fetch_add(&shared->deadlocks, session.deadlocks);
    race_session_close(&session);
    return NULL;
}

/* Cancels one run. True: that is settled. */
static bool
cancel(struct shared *shared, PGconn *conn, long n, bool rollback)
{
    const char *params[] = {shared->ids[n], rollback ? "true" : "false"};
    PGresult *res = bench_exec_params(
        conn, "select answer from pawl.cancel(array[$1::uuid], 'race', $2::boolean)", 2, params);
    const char *answer = PQgetvalue(res, 0, 0);
    bool settled = true;

    if (strcmp(answer, "ok") == 0) {
        PGresult *clock = bench_exec(conn, "select pawl._micros(clock_timestamp())");

        atomic_store(&shared->acked[n], race_field(clock, 0, 0));
        atomic_fetch_add(&shared->oks, 1);
        PQclear(clock);
    } else if (strcmp(answer, "SUCCESS") == 0 || strcmp(answer, "ERROR") == 0) {
        atomic_store(&shared->acked[n], answer[0] == 'S' ? -1 : -2);
        atomic_fetch_add(&shared->ended, 1);
    } else if (strcmp(answer, "busy") == 0) {
        atomic_fetch_add(&shared->busy, 1);
        settled = false;
    } else {
        race_note("cancel of run %s answers %s", shared->ids[n], answer);
        atomic_fetch_add(&shared->wrong, 1);
    }
    PQclear(res);
    return settled;
}

static void *
cancel_runs(void *argument)
{
    struct part *part = argument;
    struct shared *shared = part->shared;
    struct race_random random = race_random(&shared->race, part->number);
    PGconn *conn = bench_connect();
    long place;

    while ((place = atomic_fetch_add(&shared->next, 1)) < shared->runs) {
        bool rollback = race_below(&random, 2) == 0;
        long n;

        while ((n = atomic_load(&shared->orders[place]) - 1) < 0)
            race_breathe();
        race_stagger(&random, 4000);
        while (!cancel(shared, conn, n, rollback))
            race_breathe();
        atomic_fetch_add(&shared->settled, 1);
    }
    PQfinish(conn);
    return NULL;
}

/* Waits until nothing lives any more. */
static void *
wait_for_end(void *argument)
{
    struct part *part = argument;
    struct shared *shared = part->shared;
    PGconn *direct = race_connect_direct();
    double until = 0;

    for (;;) {
        bool over = atomic_load(&shared->settled) == shared->runs;

        if (over && until == 0)
            until = bench_limit_s(60);
        if (over &&
            (race_count(direct, "select count(*) from pawl_data.task") == 0 ||
                bench_now_s() > until))
            break;
        for (int i = 0; i < 100; i++)
            race_breathe();
    }
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
    return wait_for_end(part);
}

/* Tells the database what the cancellers were told. */
static void
store_answers(struct shared *shared, PGconn *direct)
{
    struct bench_text lists[2];
    const char *params[] = {NULL, NULL};

    bench_do(direct, "create temp table told (run_id uuid primary key, at bigint)");
    for (int i = 0; i < 2; i++)
        bench_text_init(&lists[i], (size_t)shared->runs * 40 + 16);
    for (long n = 0; n < shared->runs; n++) {
        bench_text_addf(&lists[0], "%s%s", n == 0 ? "{" : ",", shared->ids[n]);
        bench_text_addf(
            &lists[1], "%s%" PRId64, n == 0 ? "{" : ",", atomic_load(&shared->acked[n]));
    }
    for (int i = 0; i < 2; i++) {
        bench_text_add(&lists[i], "}");
        params[i] = lists[i].data;
    }
    PQclear(bench_exec_params(
        direct, "insert into told select * from unnest($1::uuid[], $2::bigint[])", 2, params));
    for (int i = 0; i < 2; i++)
        bench_text_done(&lists[i]);
}

static void
check_all(struct shared *shared, PGconn *direct)
{
    static const struct {
        const char *sql;
        const char *what;
    } checks[] = {
        {"select count(*) from pawl_data.task", "runs that have not ended"},
        {"select (select count(*) from pawl_data.wait) + (select count(*) from pawl_data.signal)",
            "waits and signals of runs that have ended"},
        {"select count(*) from (select run_id from pawl_data.run group by 1 having count(*) > 1) d",
            "runs with more than one outcome"},
        {"select count(*) from told t where not exists (select from pawl_data.run r where r.run_id "
         "= "
         "t.run_id)",
            "runs with no outcome"},
        {"select count(*) from told t join pawl_data.run r using (run_id) where t.at > 0 and "
         "r.status "
         "<> 'c'",
            "runs not CANCELLED after an acknowledged cancel"},
        {"select count(*) from told t join pawl_data.run r using (run_id)"
         " where t.at < 0 and r.status <> case t.at when -1 then 's' else 'e' end",
            "runs with another outcome than the cancel was told"},
        {"select count(*) from told t join pawl_data.step s using (run_id) where t.at > 0"
         " and s.name not like 'rollback:%' and pawl._micros(s.ended_at) > t.at",
            "forward records after an acknowledged cancel, by the clock"},
        {"select count(*) from pawl_data.run r join pawl_data.run p on p.run_id = r.parent_id"
         " where p.status = 'c' and r.status = 's' and r.ended_at > p.ended_at + interval '5 s'",
            "children that ended well long after their parent was cancelled"},
    };
    struct race *race = &shared->race;

    race_note("%ld runs cancelled: %ld in time, %ld had ended; %ld busy answers, %ld deadlocks",
        shared->runs, atomic_load(&shared->oks), atomic_load(&shared->ended),
        atomic_load(&shared->busy), atomic_load(&shared->deadlocks));
    store_answers(shared, direct);
    race_ok(race, atomic_load(&shared->forward) == 0,
        "%ld forward records after an acknowledged cancel", atomic_load(&shared->forward));
    race_ok(race, atomic_load(&shared->wrong) == 0, "%ld unexpected answers",
        atomic_load(&shared->wrong));
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
    shared.runs = race_share(&shared.race, 50000);
    shared.ids = race_alloc(shared.runs, sizeof(*shared.ids));
    shared.stages = race_alloc(2 * shared.runs, sizeof(*shared.stages));
    shared.acked = race_alloc(shared.runs, sizeof(*shared.acked));
    shared.points = race_alloc(shared.runs, sizeof(*shared.points));
    shared.pointed = race_alloc(shared.runs, sizeof(*shared.pointed));
    shared.orders = race_alloc(shared.runs, sizeof(*shared.orders));
    bench_do(direct, "select pawl.create_workflow('race.cancel')");
    race_trigger(direct, "race.cancel", 0, shared.runs);
    race_load_ids(direct, shared.ids);
    random = race_random(&shared.race, 1000);
    for (long n = 0; n < shared.runs; n++) {
        /* A tenth before anybody has claimed it. */
        unsigned stages = (unsigned)strlen(scripts[n % variants]);

        shared.points[n] =
            (signed char)(race_below(&random, 10) == 0 ? -1 : (int)race_below(&random, stages));
        if (shared.points[n] < 0)
            order_cancel(&shared, n);
    }
    for (unsigned i = 0; i < workers + cancellers + 1; i++)
        parts[i] = (struct part){.shared = &shared, .number = i};
    race_threads(workers + cancellers + 1, play, parts, sizeof(parts[0]));
    check_all(&shared, direct);
    PQfinish(direct);
    free(shared.ids);
    free(shared.stages);
    free(shared.acked);
    free(shared.points);
    free(shared.pointed);
    free(shared.orders);
    return race_end(&shared.race);
}
