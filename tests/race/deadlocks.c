/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything against everything: eight connections call all verbs on fifty runs. Hardly a deadlock, no error that is not one
 * of ours, nothing stuck afterwards, and what is stored fits together.
 */
#include "session.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    players = 8,
    slots = 50,
    holds_max = 12,
    errors_kept = 8
};

struct shared {
    struct race race;
    long calls;
    pthread_mutex_t lock;
    char runs[slots][40];
    atomic_long done;
    atomic_long deadlocks;
    atomic_long ours;
    atomic_long others;
    atomic_long busy;
};

struct part {
    struct shared *shared;
    unsigned number;
};

struct player {
    struct shared *shared;
    struct race_random random;
    struct race_session session;
    struct race_item holds[holds_max];
    int held;
    long steps;
};

static void
lock(struct shared *shared)
{
    if (pthread_mutex_lock(&shared->lock) != 0)
        bench_die("no lock");
}

static void
unlock(struct shared *shared)
{
    if (pthread_mutex_unlock(&shared->lock) != 0)
        bench_die("no lock");
}

/* Some of the fifty, as an array parameter; not in order. */
static void
pick_runs(struct player *player, char *list, size_t size, unsigned most)
{
    unsigned count = 1 + race_below(&player->random, most);
    size_t length = 0;

    lock(player->shared);
    for (unsigned i = 0; i < count; i++)
        length += (size_t)snprintf(list + length, size - length, "%c%s", i == 0 ? '{' : ',',
            player->shared->runs[race_below(&player->random, slots)]);
    unlock(player->shared);
    (void)snprintf(list + length, size - length, "}");
}

static void
put_run(struct player *player, const char *run)
{
    lock(player->shared);
    (void)snprintf(player->shared->runs[race_below(&player->random, slots)],
        sizeof(player->shared->runs[0]), "%s", run);
    unlock(player->shared);
}

/* Runs a statement; a result is returned if there is one. */
static PGresult *
call(struct player *player, const char *sql, int count, const char *const *params)
{
    struct shared *shared = player->shared;
    PGresult *res = race_try(player->session.conn, sql, count, params);
    const char *state = race_state(res);

    atomic_fetch_add(&shared->done, 1);
    if (strcmp(state, "40P01") == 0) {
        race_note("deadlock: %s: %s", sql, PQresultErrorField(res, PG_DIAG_MESSAGE_DETAIL));
        atomic_fetch_add(&shared->deadlocks, 1);
    } else if (strncmp(state, "PW", 2) == 0) {
        atomic_fetch_add(&shared->ours, 1);
    } else if (state[0] != '\0' && atomic_fetch_add(&shared->others, 1) < errors_kept) {
        race_note("%s: %s", sql, PQresultErrorMessage(res));
    }
    if (state[0] == '\0')
        return res;
    PQclear(res);
    return NULL;
}

static void
operate(struct player *player, const char *sql, unsigned most)
{
    char list[400];
    const char *params[] = {list};

    pick_runs(player, list, sizeof(list), most);
    PQclear(call(player, sql, 1, params));
}

/* A new run for one of the fifty places, from nothing or by a fork. */
static void
renew(struct player *player, bool fork)
{
    char list[64];
    const char *params[] = {list};
    PGresult *res;

    pick_runs(player, list, sizeof(list), 1);
    res = fork ? call(player, "select run_id from pawl.fork(($1::uuid[])[1]) where answer = 'ok'",
                     1, params)
               : call(player, "select run_id from pawl.trigger('race.any')", 0, NULL);
    if (res != NULL && PQntuples(res) == 1)
        put_run(player, PQgetvalue(res, 0, 0));
    PQclear(res);
}

static void
claim(struct player *player)
{
    int room = holds_max - player->held;
    PGresult *claimed;

    if (room == 0)
        return;
    claimed = race_claim(&player->session, room < 4 ? room : 4, 0);
    atomic_fetch_add(&player->shared->done, 1);
    for (int row = 0; row < PQntuples(claimed); row++)
        race_item_set(&player->holds[player->held++], PQgetvalue(claimed, row, RACE_RUN),
            (int)race_field(claimed, row, RACE_FENCE), "", NULL, NULL, NULL);
    PQclear(claimed);
}

static bool
set_random_item(struct player *player, struct race_item *item, const struct race_item *hold)
{
    char name[32], option[160];

    (void)snprintf(name, sizeof(name), "s#%ld", ++player->steps);
    switch (race_below(&player->random, 10)) {
    case 0:
        (void)snprintf(option, sizeof(option),
            "{\"topic\": \"any\", \"key\": \"%u\", \"timeout_ms\": 20}",
            race_below(&player->random, 3));
        race_item_set(item, hold->run, hold->fence, "event", name, NULL, option);
        return false;
    case 1:
        race_item_set(item, hold->run, hold->fence, "signal", name, NULL,
            "{\"signal\": \"any\", \"timeout_ms\": 20}");
        return false;
    case 2:
        race_item_set(item, hold->run, hold->fence, "sleep", name, NULL, "{\"ms\": 2}");
        return false;
    case 3:
        race_item_set(item, hold->run, hold->fence, "child", name, "{\"n\": 1}",
            "{\"workflow\": \"race.any\"}");
        return false;
    case 4:
        race_item_set(item, hold->run, hold->fence, "complete", NULL, "1", NULL);
        return true;
    case 5:
        race_item_set(item, hold->run, hold->fence, "fail", NULL, "{\"message\": \"no\"}",
            "{\"final\": true}");
        return true;
    case 6:
        race_item_set(item, hold->run, hold->fence, "suspend", NULL, NULL, NULL);
        return true;
    case 7:
        race_item_set(item, hold->run, hold->fence, "release", NULL, NULL, NULL);
        return true;
    default:
        race_item_set(item, hold->run, hold->fence, "step", name, "1", NULL);
        return false;
    }
}

/* One item for each run that is held, not in order; lets go of those that are no longer held. */
static void
commit(struct player *player)
{
    struct race_item items[holds_max];
    bool closing[holds_max];
    int kept = 0;
    long deadlocks = player->session.deadlocks;

    if (player->held == 0)
        return;
    for (int i = 0; i < player->held; i++)
        closing[i] = set_random_item(player, &items[i], &player->holds[i]);
    race_commit(&player->session, items, player->held);
    atomic_fetch_add(&player->shared->done, 1);
    atomic_fetch_add(&player->shared->deadlocks, player->session.deadlocks - deadlocks);
    for (int i = 0; i < player->held; i++) {
        bool ok = strcmp(items[i].answer, "ok") == 0;

        if (!(ok && closing[i]) && strcmp(items[i].answer, "lease_lost") != 0 &&
            strcmp(items[i].reason, "no such run") != 0 &&
            !(strcmp(items[i].answer, "cancelled") == 0 && closing[i]))
            player->holds[kept++] = player->holds[i];
    }
    player->held = kept;
}

static void
emit(struct player *player)
{
    char key[8];
    const char *params[] = {key};

    (void)snprintf(key, sizeof(key), "%u", race_below(&player->random, 3));
    PQclear(call(player, "select from pawl.emit('any', '{}', $1)", 1, params));
}

static void
act(struct player *player)
{
    const char *session[] = {player->session.id};
    unsigned what = race_below(&player->random, 100);

    if (what < 25)
        commit(player);
    else if (what < 40)
        claim(player);
    else if (what < 50)
        emit(player);
    else if (what < 58)
        operate(player, "select pawl.signal(($1::uuid[])[1], 'any')", 1);
    else if (what < 64)
        operate(player, "select pawl.cancel($1::uuid[])", 5);
    else if (what < 66)
        operate(player, "select pawl.kill($1::uuid[])", 3);
    else if (what < 70)
        operate(player, "select pawl.pause($1::uuid[])", 5);
    else if (what < 76)
        operate(player, "select pawl.resume($1::uuid[])", 5);
    else if (what < 80)
        operate(player, "select pawl.retry($1::uuid[])", 5);
    else if (what < 83)
        renew(player, true);
    else if (what < 86)
        operate(player, "select pawl.purge($1::uuid[])", 5);
    else if (what < 92)
        renew(player, false);
    else if (what < 96)
        PQclear(call(player, "select from pawl.heartbeat($1)", 1, session));
    else
        PQclear(call(player, "select pawl.housekeep()", 0, NULL));
}

static void *
play(void *argument)
{
    struct part *part = argument;
    static const char *const leave = "select pawl.leave($1)";
    struct player *player = race_alloc(1, sizeof(*player));
    const char *session[] = {player->session.id};

    player->shared = part->shared;
    player->random = race_random(&part->shared->race, part->number);
    race_session_open(&player->session, "race.*");
    while (atomic_load(&player->shared->done) < player->shared->calls)
        act(player);
    PQclear(call(player, leave, 1, session));
    atomic_fetch_add(&player->shared->busy, player->session.busy);
    race_session_close(&player->session);
    free(player);
    return NULL;
}

/* Everything that lives is resumed and ended; what cannot be is stuck. */
static long
drain(PGconn *direct)
{
    struct race_session session;
    double until = bench_limit_s(30);
    long left;

    race_session_open(&session, "race.*");
    while ((left = race_count(direct, "select count(*) from pawl_data.task")) > 0 &&
        bench_now_s() < until) {
        struct race_item items[100];
        PGresult *claimed;
        int count;

        bench_do(direct,
            "select pawl.leave(session_id) from pawl_data.worker w where ended_at is null"
            " and exists (select from pawl_data.task t where t.session_id = w.session_id)");
        bench_do(direct,
            "select pawl.resume(array(select run_id from pawl_data.task where paused is not null "
            "limit "
            "1000))");
        bench_do(direct, "select pawl.housekeep()");
        race_session_register(&session, "race.*", "1 h");
        claimed = race_claim(&session, 100, 0);
        count = PQntuples(claimed);
        for (int i = 0; i < count; i++)
            race_item_set(&items[i], PQgetvalue(claimed, i, RACE_RUN),
                (int)race_field(claimed, i, RACE_FENCE), "complete", NULL, "1", NULL);
        PQclear(claimed);
        race_commit_all(&session, items, count);
        if (count == 0)
            race_breathe();
    }
    bench_do(direct, "select pawl.housekeep()");
    race_session_close(&session);
    return left;
}

static void
check_all(struct shared *shared, PGconn *direct)
{
    static const struct {
        const char *sql;
        const char *what;
    } checks[] = {
        {"select count(*) from pawl_data.task t join pawl_data.run r on r.run_id = t.run_id and "
         "r.round >= "
         "t.round",
            "runs that live and have ended"},
        {"select count(*) from (select run_id from pawl_data.run group by 1 having max(round) <> "
         "count(*)) d",
            "runs with a round missing"},
        {"select count(*) from pawl_data.wait", "waits of runs that have ended"},
        {"select count(*) from pawl_data.signal", "signals of runs that have ended"},
        {"select count(*) from pawl_data.step s where not exists (select from pawl_data.run r "
         "where r.run_id "
         "= s.run_id)",
            "steps of no run"},
        {"select count(*) from pawl_data.run r where r.status = 's' and r.round > 1 and exists"
         " (select from pawl_data.run e where e.run_id = r.run_id and e.round < r.round and "
         "e.status = "
         "'s')",
            "runs that ended well twice"},
    };
    struct race *race = &shared->race;
    long done = atomic_load(&shared->done), deadlocks = atomic_load(&shared->deadlocks);
    long left = drain(direct);

    race_note("%ld calls, %ld errors of ours, %ld busy answers, %ld deadlocks", done,
        atomic_load(&shared->ours), atomic_load(&shared->busy), deadlocks);
    race_ok(race, deadlocks <= done / 100000, "%ld deadlocks in %ld calls", deadlocks, done);
    race_ok(race, atomic_load(&shared->others) == 0, "%ld errors that are not ours",
        atomic_load(&shared->others));
    race_ok(race, left == 0, "%ld runs stuck", left);
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        long count = race_count(direct, checks[i].sql);

        race_ok(race, count == 0, "%ld %s", count, checks[i].what);
    }
}

int
main(int argc, char **argv)
{
    static struct shared shared;
    struct part parts[players];
    PGconn *direct;

    race_start(&shared.race, argc, argv);
    direct = race_connect_direct();
    shared.calls = race_share(&shared.race, 100000);
    if (pthread_mutex_init(&shared.lock, NULL) != 0)
        bench_die("no lock");
    bench_do(direct, "select pawl.create_workflow('race.any')");
    for (int i = 0; i < slots; i++) {
        PGresult *res = bench_exec(direct, "select run_id from pawl.trigger('race.any')");

        (void)snprintf(shared.runs[i], sizeof(shared.runs[0]), "%s", PQgetvalue(res, 0, 0));
        PQclear(res);
    }
    for (unsigned i = 0; i < players; i++)
        parts[i] = (struct part){.shared = &shared, .number = i};
    race_threads(players, play, parts, sizeof(parts[0]));
    check_all(&shared, direct);
    PQfinish(direct);
    return race_end(&shared.race);
}
