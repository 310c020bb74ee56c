/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random sequences of calls go to the engine and to the oracle; answers and touched runs are compared after each call, all
 * there is every 1,000 calls.
 *
 *     tools/pg_tmp tests/harness/with_database build/tests/oracle_compare [--seeds A..B] [--calls N] [--jobs N]
 *
 * --seeds     which sequences, by their seeds. A long comparison is done range by range: what was done is printed, and a
 *             range that was cut short goes on behind its last seeds
 * --calls     how many calls each has
 * --jobs      how many at once, each in a database of its own
 * --reduce    0: a difference is only told
 * --flows     0: without flows
 *
 * Of 100,000 calls and more every kind of answer must come; if some have not, further seeds are played, at most as many again.
 * What the engine does at random follows from the seed, too. With --jobs 1 the same seed gives the same answers again, of which a
 * digest is printed; with more, rows that are alike in all that decides may come in another order. A sequence that shows a
 * difference is made shorter as long as it still does, and printed as SQL. The output is TAP.
 */
#include "match.h"

int
main(int argc, char **argv)
{
    return match_main(argc, argv);
}
