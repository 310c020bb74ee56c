/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Histories must notice an engine that is wrong only when calls meet: guards of tests/mutants/list are taken out one by one,
 * and a phase has to be without an explanation for each.
 *
 *     tools/pg_tmp tests/harness/with_database build/tests/oracle_history_notices [all | GUARD]...
 *
 * Without words the first few.
 */
#include "guard.h"
#include "harness.h"
#include "history.h"
#include "match.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SEEDS_MAX = 60,
    PHASES = 40,
    FEW = 2,
    NODES_MAX = 200000,
};

static const char *const guards[] = {
    "item_lock",        /* two calls change a run that neither has locked */
    "item_fence",       /* a late item is taken */
    "sweep_fence",      /* what was swept keeps its fence */
    "kill_fence",       /* so does what was killed */
    "wait_looks_back",  /* an event that came before its wait is lost */
    "grab_lock",        /* an operator works on a run that another call has */
    "parent_lock",      /* a child ends while its parent is in other hands */
    "signal_update",    /* a signal is stored for a run that ends */
    "fence",            /* a plain result under another fence is taken */
    "flow_lock_tasks",  /* an operator works on a flow of which another call has a task */
    "flow_lock",        /* two calls let go of tasks of a flow that neither has locked */
    "child_meets_flow", /* a task starts a child that a failure of its run does not see */
};

/* What only flows show. */
static bool
needs_flows(const char *guard)
{
    static const char *const of_flows[] = {"flow_lock_tasks", "flow_lock", "child_meets_flow"};

    for (size_t i = 0; i < sizeof(of_flows) / sizeof(of_flows[0]); i++)
        if (strcmp(of_flows[i], guard) == 0)
            return true;
    return false;
}

/* The seed that has no explanation, or 0. A search that was given up shows nothing. */
static long
find_seed(struct history *history)
{
    for (long seed = 1; seed <= SEEDS_MAX; seed++)
        if (!history_seed(history, seed, PHASES) && !history->gave_up)
            return seed;
    return 0;
}

/* A seed has no explanation without the guard, and one with it. */
static bool
is_noticed(void *userdata, const char *list, const char *guard, int number)
{
    struct history *history = userdata;
    PGconn *conn = history->player->conn;
    double started_s = bench_now_s();
    char *whole = guard_take_out(conn, list, guard);
    long seed;

    (void)number;
    history->flows = needs_flows(guard);
    seed = find_seed(history);
    bench_do(conn, whole);
    free(whole);
    printf("# without %s: seed %ld, %.1f s, %ld calls so far\n", guard, seed,
        bench_now_s() - started_s, history->counts->calls);
    (void)fflush(stdout); /* for whoever waits */
    return seed > 0 && history_seed(history, seed, PHASES);
}

int
main(int argc, char **argv)
{
    struct coverage coverage = {.lines_count = 0};
    struct history_counts counts = {0};
    struct history history;
    struct player player;
    char server[64];
    int code;

    match_prepare_database(server, sizeof(server));
    player_open(&player, &coverage);
    history_open(&history, &player, &counts);
    history.nodes_max = NODES_MAX;
    code = guard_each(
        argc, argv, guards, (int)(sizeof(guards) / sizeof(guards[0])), FEW, is_noticed, &history);
    history_close(&history);
    player_close(&player);
    return code;
}
