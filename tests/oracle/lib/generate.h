/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the next call: mostly one that makes sense where things stand, sometimes one that does not. */
#ifndef PAWL_ORACLE_GENERATE_H
#define PAWL_ORACLE_GENERATE_H

#include "player.h"

#include "base/rand.h"

struct generator {
    struct pw_rand rand;
    int profile; /* seeds differ in what they do most */
    bool
        days; /* days pass: a few seeds only, because every plan is made anew when partitions change */
    bool flows;      /* there are some */
    int definitions; /* so many calls define workflows and flows, before all others */
    struct call last_commit;
    struct oracle_step_spec last_step;
    bool schedules; /* there are some: in a part of the seeds */
    bool subscriptions;
    bool lanes;
    bool bulks;
    int request;
    int old_epoch; /* so many calls more of sessions whose epoch is over */
    int drained;
};

void generator_init(struct generator *generator, uint64_t seed);
void generator_next(
    struct generator *generator, const struct player *player, int number, struct call *call);

#endif
