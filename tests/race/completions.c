/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completion against completion: two connections of one session end the same runs at the same time, as complete or as a
 * final failure, through the set-wise path and item by item, while a stranger tries it with the same fence. Now and then the
 * session leaves instead. Every run must have exactly one terminal transition.
 */
#include "session.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a team, the first claims; the second acts for the same session; the third is a stranger. */
enum {
    teams = 2,
    members = 3,
    batch_max = 50
};

struct shared {
    struct race race;
    long runs;
    atomic_long ended;
    atomic_long completed;
    atomic_long failed;
    atomic_long answers;
    atomic_long already;
    atomic_long lost;
    atomic_long given_back;
    atomic_long busy;
    atomic_long deadlocks;
    atomic_long wrong;
};

struct team {
    struct shared *shared;
    pthread_barrier_t barrier;
    char session[24];
    int count;
    bool leaves;
    bool over;
    struct race_item claimed[batch_max];
    /* How often each claimed run was ended. */
    atomic_int wins[batch_max];
};

struct part {
    struct team *team;
    unsigned number;
};

static void
meet(struct team *team)
{
    int rc = pthread_barrier_wait(&team->barrier);

    if (rc != 0 && rc != PTHREAD_BARRIER_SERIAL_THREAD)
        bench_die("no barrier");
}

static void
claim_batch(struct team *team, struct race_session *session, struct race_random *random)
{
    PGresult *claimed = race_claim(session, 1 + (int)race_below(random, batch_max), 0);

    team->count = PQntuples(claimed);
    team->leaves = race_below(random, 10) == 0;
    for (int row = 0; row < team->count; row++) {
        race_item_set(&team->claimed[row], PQgetvalue(claimed, row, RACE_RUN),
            (int)race_field(claimed, row, RACE_FENCE), "complete", NULL, "1", NULL);
        team->claimed[row].n = row;
        atomic_store(&team->wins[row], 0);
    }
    (void)snprintf(team->session, sizeof(team->session), "%s", session->id);
    team->over = atomic_load(&team->shared->ended) >= team->shared->runs;
    PQclear(claimed);
}

/* The claimed runs in an order and with ends of this member's own. */
static void
make_batch(
    const struct team *team, struct race_item *items, struct race_random *random, bool stranger)
{
    memcpy(items, team->claimed, sizeof(items[0]) * (size_t)team->count);
    for (int i = team->count - 1; i > 0; i--) {
        int other = (int)race_below(random, (unsigned)i + 1);
        struct race_item swap = items[i];

        items[i] = items[other];
        items[other] = swap;
    }
    for (int i = 0; i < team->count; i++) {
        unsigned end = stranger ? 0 : race_below(random, 4);
        long n = items[i].n;
        char run[40];

        (void)snprintf(run, sizeof(run), "%s", items[i].run);
        if (end == 1)
            race_item_set(&items[i], run, items[i].fence, "fail", NULL, "{\"message\": \"no\"}",
                "{\"final\": true}");
        else if (end == 2)
            race_item_set(&items[i], run, items[i].fence, "complete", NULL, "2", "{}");
        items[i].n = n;
    }
}

static void
count_answers(struct team *team, const struct race_item *items, bool stranger)
{
    struct shared *shared = team->shared;

    for (int i = 0; i < team->count; i++) {
        const char *answer = items[i].answer;
        bool ok = strcmp(answer, "ok") == 0;

        atomic_fetch_add(&shared->answers, 1);
        if (ok && !stranger) {
            atomic_fetch_add(&team->wins[items[i].n], 1);
            atomic_fetch_add(
                strcmp(items[i].kind, "fail") == 0 ? &shared->failed : &shared->completed, 1);
        } else if (strcmp(answer, "already") == 0 && !stranger) {
            atomic_fetch_add(&shared->already, 1);
        } else if (strcmp(answer, "refused") == 0 && strcmp(items[i].kind, "complete") == 0 &&
            !stranger) {
            /* The same claim has failed the run before. */
            atomic_fetch_add(&shared->already, 1);
        } else if (strcmp(answer, "lease_lost") == 0 && (stranger || team->leaves)) {
            atomic_fetch_add(&shared->lost, 1);
        } else if (atomic_fetch_add(&shared->wrong, 1) < 10) {
            race_note("%s of run %s by %s answers %s: %s", items[i].kind, items[i].run,
                stranger ? "a stranger" : "its session", answer, items[i].reason);
        }
    }
}

/* Ends the session in the middle of its commits; it stays as long as one of its runs is locked. */
static void
leave(struct team *team, PGconn *conn)
{
    const char *params[] = {team->session};
    bool left = false;

    while (!left) {
        PGresult *res = race_try(conn, "select pawl.leave($1)", 1, params);

        left = strcmp(race_state(res), "PW005") == 0;
        if (!left && PQresultStatus(res) != PGRES_TUPLES_OK)
            bench_die("leave: %s", PQresultErrorMessage(res));
        if (!left)
            atomic_fetch_add(&team->shared->given_back, race_field(res, 0, 0));
        PQclear(res);
    }
}

static void
judge(struct team *team, struct race_session *session)
{
    struct shared *shared = team->shared;

    for (int i = 0; i < team->count; i++) {
        int wins = atomic_load(&team->wins[i]);

        atomic_fetch_add(&shared->ended, wins);
        if (wins > 1 || (wins == 0 && !team->leaves)) {
            race_note("run %s was ended %d times", team->claimed[i].run, wins);
            atomic_fetch_add(&shared->wrong, 1);
        }
    }
    if (team->leaves)
        race_session_register(session, "race.complete", "1 h");
}

static void *
play(void *argument)
{
    struct part *part = argument;
    struct team *team = part->team;
    struct shared *shared = team->shared;
    unsigned role = part->number % members;
    struct race_random random = race_random(&shared->race, part->number);
    struct race_session session;
    struct race_item items[batch_max];

    race_session_open(&session, "race.complete");
    for (;;) {
        if (role == 0)
            claim_batch(team, &session, &random);
        meet(team);
        if (team->over)
            break;
        if (role == 1)
            (void)snprintf(session.id, sizeof(session.id), "%s", team->session);
        race_stagger(&random, 500);
        if (role == 1 && team->leaves) {
            leave(team, session.conn);
        } else {
            make_batch(team, items, &random, role == 2);
            race_commit_all(&session, items, team->count);
            count_answers(team, items, role == 2);
        }
        meet(team);
        if (role == 0)
            judge(team, &session);
    }
    atomic_fetch_add(&shared->busy, session.busy);
    atomic_fetch_add(&shared->deadlocks, session.deadlocks);
    race_session_close(&session);
    return NULL;
}

static void
check_all(struct shared *shared, PGconn *direct)
{
    struct race *race = &shared->race;
    long count;

    race_note("%ld runs, %ld answers: %ld completed, %ld failed, %ld already, %ld lease_lost",
        shared->runs, atomic_load(&shared->answers), atomic_load(&shared->completed),
        atomic_load(&shared->failed), atomic_load(&shared->already), atomic_load(&shared->lost));
    race_note("%ld busy answers, %ld given back, %ld deadlocks", atomic_load(&shared->busy),
        atomic_load(&shared->given_back), atomic_load(&shared->deadlocks));
    race_ok(race, atomic_load(&shared->wrong) == 0, "%ld unexpected answers",
        atomic_load(&shared->wrong));
    count = race_count(direct, "select count(*) from pawl_data.task");
    race_ok(race, count == 0, "%ld runs that have not ended", count);
    count = race_count(direct, "select count(*) from pawl_data.run");
    race_ok(
        race, count == shared->runs, "%ld terminal transitions of %ld runs", count, shared->runs);
    count = race_count(direct, "select count(distinct run_id) from pawl_data.run");
    race_ok(race, count == shared->runs, "%ld runs have one", count);
    count = race_count(direct, "select count(*) from pawl_data.run where status = 's'");
    race_ok(race, count == atomic_load(&shared->completed),
        "%ld ended SUCCESS, and %ld were told so", count, atomic_load(&shared->completed));
    count = race_count(direct, "select count(*) from pawl_data.run where status = 'e'");
    race_ok(race, count == atomic_load(&shared->failed), "%ld ended ERROR, and %ld were told so",
        count, atomic_load(&shared->failed));
}

int
main(int argc, char **argv)
{
    static struct team all[teams];
    struct shared shared = {0};
    struct part parts[teams * members];
    PGconn *direct;

    race_start(&shared.race, argc, argv);
    direct = race_connect_direct();
    shared.runs = race_share(&shared.race, 100000);
    bench_do(direct, "select pawl.create_workflow('race.complete')");
    race_trigger(direct, "race.complete", 0, shared.runs);
    for (unsigned i = 0; i < teams; i++) {
        all[i].shared = &shared;
        if (pthread_barrier_init(&all[i].barrier, NULL, members) != 0)
            bench_die("no barrier");
    }
    for (unsigned i = 0; i < teams * members; i++)
        parts[i] = (struct part){.team = &all[i / members], .number = i};
    race_threads(teams * members, play, parts, sizeof(parts[0]));
    check_all(&shared, direct);
    PQfinish(direct);
    return race_end(&shared.race);
}
