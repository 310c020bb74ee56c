/* SPDX-License-Identifier: Apache-2.0 */
/* Calls at the same time: what one of them notices of the others, and copies of the oracle to try orders with. */
#ifndef PAWL_ORACLE_MEANWHILE_H
#define PAWL_ORACLE_MEANWHILE_H

#include "oracle.h"

/* Among what is held: whatever topic the call comes to. */
#define ORACLE_TOPIC "topic"
/* And before the id of a run: late results of that. */
#define ORACLE_LATE "late "

/* Housekeeping passes over what is held as it comes to it, and that can change while it is at it. */
enum oracle_moment {
    ORACLE_OWN,    /* what the call is about */
    ORACLE_SWEEP,  /* its housekeeping: due timers, sessions whose lease is over */
    ORACLE_LIMITS, /* then time limits */
    ORACLE_MOMENTS,
};

/* What others do while the next call is made, as far as it can notice: it passes over what they hold. */
struct oracle_meanwhile {
    const char *const
        *held[ORACLE_MOMENTS]; /* runs, and sessions by their number; NULL at the end */
    bool other_tick;           /* housekeeping is due, and another call does it */
    bool other_claim;          /* a claim of the same session is under way and not seen */
};

/* From now on; NULL: nobody does anything. It must live as long as it counts. */
void oracle_set_meanwhile(struct oracle *oracle, const struct oracle_meanwhile *meanwhile);

/* The same once more, to try something with. It must not outlive the one that it is of: they share texts. */
struct oracle *oracle_copy(const struct oracle *oracle);

/* A number of all that matters for later calls: what differs has another one, but for a chance in 2^64. */
uint64_t oracle_digest(struct oracle *oracle);

/* Housekeeping would be done by the next claim or heartbeat; and it is done by a call that came to nothing else. */
bool oracle_tick_is_due(const struct oracle *oracle);
void oracle_lose_tick(struct oracle *oracle);

/* Calls back for each run, and each session by its number, that housekeeping has something to do with. */
void oracle_each_due(
    struct oracle *oracle, void (*tell)(const char *id, void *userdata), void *userdata);

/* Whether this session, by its number, lives although its lease is over. */
bool oracle_lease_is_over(struct oracle *oracle, int64_t session);

/* Calls back for each run that a session holds (0: that could be claimed). */
void oracle_each_held(struct oracle *oracle, int64_t session,
    void (*tell)(const char *run, void *userdata), void *userdata);

/* Of a run, what never becomes less: its fence, and how many rounds and audit rows it has. */
struct oracle_progressed {
    int fence;
    int rounds;
    int audits;
};

void oracle_look_progress(
    struct oracle *oracle, const char *run, struct oracle_progressed *progressed);

/* The run whose child it is and that waits for it, or NULL. */
const char *oracle_parent_of(struct oracle *oracle, const char *run);

#endif
