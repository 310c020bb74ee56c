/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pair of servers in network namespaces, each at the end of a cable. The cable of the primary is pulled under load: it goes on, but
 * nobody hears of it, and no connection is closed or refused. In turns the standby has everything, because each commit waits for it,
 * or is kept behind. What was acknowledged is there in the end, but for what a standby that was kept behind had not seen.
 *
 * Only root may make namespaces; otherwise the program is skipped.
 */
#include "pair.h"

#include <stdio.h>

static void
play(struct pair *pair, long round)
{
    if (round % 2 == 0)
        pair_play_synchronous(pair, PAIR_UNPLUGGED);
    else
        pair_play_lagging(pair, PAIR_UNPLUGGED, round);
}

int
main(int argc, char **argv)
{
    struct pair pair = {.rounds = 100, .few = 2, .play = play, .lags = true, .networked = true};

    if (!network_open(&pair.network)) {
        (void)puts("1..0 # SKIP network namespaces may not be made here");
        return 77;
    }
    pair_run(&pair, argc, argv);
    pair_check_lags(&pair);
    return pair_end(&pair);
}
