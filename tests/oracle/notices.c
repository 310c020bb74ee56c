/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The comparison must notice an engine that is wrong: guards of tests/mutants/list are taken out one by one, and a seed has
 * to show a difference for each. One of them is reduced, to see that a short script comes of it.
 *
 *     tools/pg_tmp tests/harness/with_database build/tests/oracle_notices [all | GUARD]...
 *
 * Without words the first few.
 */
#include "guard.h"
#include "harness.h"
#include "match.h"
#include "reduce.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SEEDS_MAX = 60,
    CALLS_MAX = 1500,
    FEW = 3,
};

static const char *const guards[] = {
    "item_fence",      /* a late item is taken */
    "sweep_fence",     /* what was swept keeps its fence */
    "backoff_cap",     /* a delay has no upper bound */
    "quiet",           /* a suspect is given to a worker that has other work */
    "wait_looks_back", /* an event that came before its wait is lost */
    "suspend_woken",   /* so is what was settled while a worker had the run */
    "retry_status",    /* a run that ended well is opened again */
    "gate_counts",    /* a step of a flow never starts, because what it depends on is not counted */
    "flow_condition", /* a step starts although its condition is not met */
    "round_fence",    /* a task of an earlier round has the fence of a later one */
    "catch_up",       /* times of a schedule that are too old are fired */
    "task_repeated",  /* a commit that ended a task of a flow, sent again, has lost its lease */
};

/* The seed that shows a difference, or 0. */
static long
find_seed(struct player *player, bool reduce)
{
    struct match_plan plan = {.calls = CALLS_MAX, .reduce = reduce, .flows = true};

    for (long seed = 1; seed <= SEEDS_MAX; seed++)
        if (!match_seed(player, seed, &plan))
            return seed;
    return 0;
}

/* A seed shows a difference without the guard, and none with it. The first one's is reduced. */
static bool
is_noticed(void *userdata, const char *list, const char *guard, int number)
{
    struct player *player = userdata;
    struct match_plan plan = {.calls = CALLS_MAX, .flows = true};
    char *whole = guard_take_out(player->conn, list, guard);
    long seed = find_seed(player, number == 0);

    bench_do(player->conn, whole);
    free(whole);
    return seed > 0 && match_seed(player, seed, &plan);
}

int
main(int argc, char **argv)
{
    struct coverage coverage = {.lines_count = 0};
    struct player player;
    char server[64];
    int code;

    match_prepare_database(server, sizeof(server));
    player_open(&player, &coverage);
    code = guard_each(
        argc, argv, guards, (int)(sizeof(guards) / sizeof(guards[0])), FEW, is_noticed, &player);
    player_close(&player);
    return code;
}
