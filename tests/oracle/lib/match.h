/* SPDX-License-Identifier: Apache-2.0 */
/* The engine against the oracle: plays seeds, and makes a sequence that shows a difference short. */
#ifndef PAWL_ORACLE_MATCH_H
#define PAWL_ORACLE_MATCH_H

#include "player.h"

struct match_plan {
    long first_seed;
    long last_seed;
    long calls;
    long jobs;
    bool reduce; /* else a difference is only told */
    bool whole;  /* every kind of answer must be given */
    bool flows;  /* there are some among the workflows */
};

/* Plays one seed. True: no difference. False: it is in player->problem, and printed. */
bool match_seed(struct player *player, long seed, const struct match_plan *plan);

/* The program: options, jobs, coverage, TAP. */
int match_main(int argc, char **argv);

/* A..B of --seeds. */
void match_read_seeds(const char *text, struct match_plan *plan);

/* Installs the test clock and lib/oracle.sql in the database that the environment names, and says of which version its
 * server is. */
void match_prepare_database(char *server, size_t size);

#endif
