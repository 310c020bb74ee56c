/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two servers, of which one follows the other, under load: the first is taken away, the second is promoted, and clients and workers,
 * which know both, find it. Then they change places, and so on. Or the second is kept behind before, and lacks what was acknowledged
 * meanwhile: then the epoch is raised before anybody is let in.
 */
#ifndef PAWL_CRASH_PAIR_H
#define PAWL_CRASH_PAIR_H

#include "cluster.h"
#include "network.h"
#include "producers.h"

/* How a primary goes. */
enum pair_way {
    PAIR_KILLED,
    PAIR_FROZEN,   /* stopped, connections open, and continued when the other has taken over */
    PAIR_UNPLUGGED /* goes on working, but nobody hears of it; only in a network */
};

enum {
    pair_workers = 4,
    /* Runs that are triggered while a standby is kept behind, and calls that must be acknowledged then. */
    pair_lag_runs = 300,
    pair_lag_calls = 1000
};

struct pair {
    struct crash crash;
    struct cluster clusters[2];
    /* Which of them is the primary. */
    int primary;
    struct producers producers;
    /* How often, in full, and at least. */
    long rounds;
    long few;
    /* Plays a round: one that loses nothing, or one that does. */
    void (*play)(struct pair *pair, long round);
    /* The servers are in namespaces of their own. */
    bool networked;
    struct network network;
    /* Between promotion and the first acknowledged trigger. */
    double longest_s;
    double sum_s;
    /* There are rounds that lose something. Of those: the calls that the standby lacked, tokens that were tried, and were taken. */
    bool lags;
    long behind;
    long tokens;
    long taken;
    /* In the end the server with the older epoch comes back while the other is away. */
    bool returns;
};

/* Opens servers, producers and workers, plays all rounds, and returns when all runs have ended and the workers are gone. */
void pair_run(struct pair *pair, int argc, char **argv);

/* Closes all; returns what main returns. */
int pair_end(struct pair *pair);

/* A round with a standby for which each commit waits. */
void pair_play_synchronous(struct pair *pair, enum pair_way way);

/* A round with a standby that is kept behind. */
void pair_play_lagging(struct pair *pair, enum pair_way way, long round);

/*
 * Checks what the callers were told against what is there: what is lost was acknowledged while a standby was kept behind, and the
 * server that it was acknowledged by has it. All runs that are there have ended, each step is recorded once.
 */
void pair_check_lags(struct pair *pair);

/* For pair_play_lagging() and its checks alone. */
void pair_use(struct pair *pair);
void pair_set(const struct cluster *cluster, const char *setting, const char *value);
void pair_follow(struct pair *pair, bool synchronous);
void pair_take_away(struct pair *pair, enum pair_way way);
void pair_bring_back(struct pair *pair, struct cluster *old, enum pair_way way);
void pair_await_acknowledgement(struct pair *pair);
void pair_check_return(struct pair *pair);

#endif
