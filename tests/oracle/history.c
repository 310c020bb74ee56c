/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clients that call at the same time, and the oracle explains what they saw: lib/history.h.
 *
 *     tools/pg_tmp tests/harness/with_database build/tests/oracle_history [--seeds A..B] [--phases N] [--flows 0|1]
 *
 * --seeds     which histories, by their seeds. What is called is decided by the seed and by the answers; when the answers
 *             come is not, so a seed that failed need not fail again
 * --phases    how many phases each has
 * --flows     1: with flows, 0: without; else every other seed is with flows
 *
 * A phase that no order explains is printed with the longest order that was possible. The output is TAP.
 */
#include "history.h"
#include "harness.h"
#include "match.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
print_counts(const struct history_counts *c, double seconds)
{
    printf("# %ld phases, %ld calls, %.0f calls a second\n", c->phases, c->calls,
        (double)c->calls / seconds);
    printf("# %ld overlapped others, %ld held their transaction open, %ld were answered busy\n",
        c->overlapped, c->held_open, c->busy);
    printf(
        "# %ld unknown, of which %ld are explained by having been made\n", c->unknown, c->happened);
    printf(
        "# %ld about tasks of flows; %ld of flows met another call about the same run; %ld rounds "
        "of flows ended\n",
        c->tasks, c->together, c->flows);
    printf("# %ld calls passed over something that another one held; nodes of the search: %ld, the "
           "longest %ld\n",
        c->passed_over, c->nodes, c->nodes_most);
}

int
main(int argc, char **argv)
{
    struct match_plan plan = {.first_seed = 1, .last_seed = 20};
    struct coverage coverage = {.lines_count = 0};
    struct history_counts counts = {0};
    long phases = 25, flows = 2, failed = 0;
    double started_s = bench_now_s();
    struct history history;
    struct player player;
    char server[64];

    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";

        if (strcmp(argv[i], "--seeds") == 0)
            match_read_seeds(value, &plan);
        else if (strcmp(argv[i], "--phases") == 0)
            phases = bench_number(value, "--phases", 1, 1000000);
        else if (strcmp(argv[i], "--flows") == 0)
            flows = bench_number(value, "--flows", 0, 2);
        else
            bench_die("unknown option \"%s\": see the head of tests/oracle/history.c", argv[i]);
    }
    match_prepare_database(server, sizeof(server));
    printf("1..1\n# PostgreSQL %s, seeds %ld..%ld, %ld phases each\n", server, plan.first_seed,
        plan.last_seed, phases);
    player_open(&player, &coverage);
    history_open(&history, &player, &counts);
    for (long seed = plan.first_seed; seed <= plan.last_seed; seed++) {
        bool explained;

        history.flows = flows == 2 ? seed % 2 == 0 : flows == 1;
        explained = history_seed(&history, seed, phases);
        failed += !explained;
        printf("# seed %ld: %s\n", seed, explained ? "explained" : "not explained");
        (void)fflush(stdout); /* for whoever waits */
    }
    history_close(&history);
    player_close(&player);
    print_counts(&counts, bench_now_s() - started_s);
    printf("%s 1 - the oracle explains what clients saw, %ld of %ld seeds it does not\n",
        failed == 0 ? "ok" : "not ok", failed, plan.last_seed - plan.first_seed + 1);
    return failed == 0 ? 0 : 1;
}
