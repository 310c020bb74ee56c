/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A standby for which no commit waits is kept behind, then the primary dies, every other time without a word, with a thousand
 * acknowledged calls that the standby has never seen. The standby is promoted, an operator raises the epoch before anybody is let in,
 * and workers and clients find it. No token of the time before is taken; what is lost is just what the standby lacked, and is
 * printed; all else goes on. In the end the last primary that was lost comes back while the other is away, and nobody works with it.
 */
#include "pair.h"

static void
play(struct pair *pair, long round)
{
    pair_play_lagging(pair, round % 2 == 1 ? PAIR_FROZEN : PAIR_KILLED, round);
}

int
main(int argc, char **argv)
{
    struct pair pair = {.rounds = 50, .few = 3, .play = play, .lags = true, .returns = true};

    pair_run(&pair, argc, argv);
    pair_check_lags(&pair);
    return pair_end(&pair);
}
