/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Children that end together: parents start 2 to 50 children each, which end from many connections at once, well or with
 * an error. No parent goes on before its last child has ended, and each one does.
 */
#include "session.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    workers = 4,
    children_max = 50,
    batch_max = 20
};

struct shared {
    struct race race;
    long parents;
    atomic_long joined;
    atomic_long ended;
    atomic_long failed;
    atomic_long resumed;
    atomic_long wrong;
    atomic_long busy;
    atomic_long deadlocks;
    atomic_bool late;
};

struct part {
    struct shared *shared;
    unsigned number;
};

static int
children_of(long n)
{
    return 2 + (int)(n * 7919 % (children_max - 1));
}

static void
expect_ok(struct shared *shared, const struct race_item *item)
{
    if (strcmp(item->answer, "ok") != 0 && atomic_fetch_add(&shared->wrong, 1) < 10)
        race_note("%s %s of run %s answers %s: %s", item->kind, item->name, item->run, item->answer,
            item->reason);
}

static void
start_children(
    struct shared *shared, struct race_session *session, const char *run, int fence, long n)
{
    struct race_item items[children_max + 2];
    int count = children_of(n);

    for (int i = 0; i < count; i++) {
        char name[24], input[40];

        (void)snprintf(name, sizeof(name), "child#%d", i + 1);
        (void)snprintf(input, sizeof(input), "{\"n\": %ld}", shared->parents + n);
        race_item_set(
            &items[i], run, fence, "child", name, input, "{\"workflow\": \"race.child\"}");
        items[i].seq = i + 1;
    }
    race_item_set(&items[count], run, fence, "suspend", NULL, NULL, NULL);
    race_commit_all(session, items, count + 1);
    for (int i = 0; i <= count; i++)
        expect_ok(shared, &items[i]);
}

/* What is to be done with a claimed run, unless it starts its children. */
static void
set_next(struct shared *shared, struct race_item *item, const PGresult *claimed, int row,
    struct race_random *random)
{
    const char *run = PQgetvalue(claimed, row, RACE_RUN);
    int fence = (int)race_field(claimed, row, RACE_FENCE);
    long n = race_field(claimed, row, RACE_N);

    if (n >= shared->parents && race_below(random, 10) == 0) {
        race_item_set(item, run, fence, "fail", NULL, "{\"message\": \"no\"}", "{\"final\": true}");
        atomic_fetch_add(&shared->failed, 1);
    } else if (n >= shared->parents) {
        race_item_set(item, run, fence, "complete", NULL, "1", NULL);
    } else if (race_field(claimed, row, RACE_STEPS) == children_of(n)) {
        race_item_set(item, run, fence, "complete", NULL, "2", NULL);
    } else {
        race_item_set(item, run, fence, "suspend", NULL, NULL, NULL);
        atomic_fetch_add(&shared->resumed, 1);
    }
    item->n = n;
}

static void *
work(void *argument)
{
    struct part *part = argument;
    struct shared *shared = part->shared;
    struct race_random random = race_random(&shared->race, part->number);
    struct race_session session;
    double until = bench_limit_s((shared->race.divisor == 1 ? 600 : 90));

    race_session_open(&session, "race.*");
    while (atomic_load(&shared->joined) < shared->parents && bench_now_s() < until) {
        PGresult *claimed = race_claim(&session, 1 + (int)race_below(&random, batch_max), 0);
        struct race_item items[batch_max];
        int count = 0;

        for (int row = 0; row < PQntuples(claimed); row++) {
            long n = race_field(claimed, row, RACE_N);

            if (n < shared->parents &&
                race_field(claimed, row, RACE_STEPS) + race_field(claimed, row, RACE_WAITS) == 0)
                start_children(shared, &session, PQgetvalue(claimed, row, RACE_RUN),
                    (int)race_field(claimed, row, RACE_FENCE), n);
            else
                set_next(shared, &items[count++], claimed, row, &random);
        }
        if (PQntuples(claimed) == 0)
            race_breathe();
        PQclear(claimed);
        race_commit_all(&session, items, count);
        for (int i = 0; i < count; i++) {
            expect_ok(shared, &items[i]);
            if (items[i].n >= shared->parents)
                atomic_fetch_add(&shared->ended, 1);
            else if (items[i].kind[0] == 'c')
                atomic_fetch_add(&shared->joined, 1);
        }
    }
    if (bench_now_s() >= until)
        atomic_store(&shared->late, true);
    atomic_fetch_add(&shared->busy, session.busy);
    atomic_fetch_add(&shared->deadlocks, session.deadlocks);
    race_session_close(&session);
    return NULL;
}

int
main(int argc, char **argv)
{
    struct shared shared = {0};
    struct part parts[workers];
    struct race *race = &shared.race;
    PGconn *direct;
    long count;

    race_start(race, argc, argv);
    direct = race_connect_direct();
    shared.parents = race_share(race, 2000);
    bench_do(direct, "select pawl.create_workflow('race.parent')");
    bench_do(direct, "select pawl.create_workflow('race.child')");
    race_trigger(direct, "race.parent", 0, shared.parents);
    for (unsigned i = 0; i < workers; i++)
        parts[i] = (struct part){.shared = &shared, .number = i};
    race_threads(workers, work, parts, sizeof(parts[0]));
    race_note("%ld parents, %ld children ended, %ld of them with an error; %ld went back to wait, "
              "%ld busy, %ld deadlocks",
        shared.parents, atomic_load(&shared.ended), atomic_load(&shared.failed),
        atomic_load(&shared.resumed), atomic_load(&shared.busy), atomic_load(&shared.deadlocks));
    count = race_count(direct, "select count(*) from pawl_data.task");
    race_ok(race, count == 0 && !atomic_load(&shared.late), "%ld runs that never joined or ended",
        count);
    race_ok(race, atomic_load(&shared.wrong) == 0, "%ld unexpected answers",
        atomic_load(&shared.wrong));
    count = race_count(direct,
        "select count(*) from pawl_data.run c join pawl_data.run p on p.run_id = c.parent_id where "
        "c.ended_at > p.ended_at");
    race_ok(race, count == 0, "%ld children ended after their parent", count);
    count = race_count(direct,
        "select count(*) from pawl_data.run c join pawl_data.step s on s.run_id = c.parent_id and "
        "s.source_id = c.run_id"
        " where (c.status = 's') <> (s.state = 's')");
    race_ok(race, count == 0, "%ld outcomes told otherwise to the parent", count);
    count = race_count(direct,
        "select count(*) from pawl_data.run c where c.parent_id is not null and not exists"
        " (select from pawl_data.step s where s.run_id = c.parent_id and s.source_id = c.run_id)");
    race_ok(race, count == 0, "%ld outcomes not told to the parent", count);
    PQfinish(direct);
    return race_end(race);
}
