/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pair of servers, one of which waits for the other with each commit. The first is taken away under load, the second is promoted,
 * and clients and workers, which know both, find it. Every other time the old one is not killed but stopped, connections open, and
 * goes on when the other has taken over: what it still says must be worth nothing. Then it becomes the standby, and so on.
 * What was acknowledged is there in the end.
 */
#include "pair.h"

static void
play(struct pair *pair, long round)
{
    pair_play_synchronous(pair, round % 2 == 1 ? PAIR_FROZEN : PAIR_KILLED);
}

int
main(int argc, char **argv)
{
    struct pair pair = {.rounds = 100, .few = 1, .play = play};

    pair_run(&pair, argc, argv);
    producers_check(&pair.producers);
    return pair_end(&pair);
}
