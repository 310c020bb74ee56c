/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls at the same time: what one of them notices of the others, and copies of the oracle to try orders with. What can be held is
 * a row: that of a run, by its id, or of a task of a flow, as RUN/TASK. Names that are told live as long as the oracle.
 */
#ifndef PAWL_ORACLE_MEANWHILE_H
#define PAWL_ORACLE_MEANWHILE_H

#include "oracle.h"

/* Among what is held, before a topic: that, with any key. */
#define ORACLE_TOPIC "topic "
/* And before the id of a run: late results of that. */
#define ORACLE_LATE "late "
/* Or before the number of a session: something of it that another call is giving back, too. */
#define ORACLE_STAYS "stays "

/* Housekeeping passes over what is held as it comes to it, and that can change while it is at it. */
enum oracle_moment {
    ORACLE_OWN,    /* what the call is about */
    ORACLE_SWEEP,  /* its housekeeping: due timers, sessions whose lease is over */
    ORACLE_ENDS,   /* what ends because it is taken from such a session, one after another */
    ORACLE_LIMITS, /* then time limits */
    ORACLE_MOMENTS,
};

/* What others do while the next call is made, as far as it can notice: it passes over what they hold. */
struct oracle_meanwhile {
    const char *const
        *held[ORACLE_MOMENTS]; /* rows, and sessions by their number; NULL at the end */
    bool other_tick;           /* housekeeping is due, and another call does it */
    bool other_claim;          /* a claim of the same session is under way and not seen */
    bool
        unseen_ending; /* that a run of a flow is to end is not committed yet when a task of it comes to wait */
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

/* Calls back for each row, and each session by its number, that housekeeping has something to do with, and when it comes to it. */
void oracle_each_due(struct oracle *oracle,
    void (*tell)(const char *id, enum oracle_moment moment, void *userdata), void *userdata);

/* Whether this session, by its number, lives although its lease is over. */
bool oracle_lease_is_over(struct oracle *oracle, int64_t session);

/* Calls back for each row that a session holds (0: that could be claimed). */
void oracle_each_held(struct oracle *oracle, int64_t session,
    void (*tell)(const char *row, void *userdata), void *userdata);

/* The same of tasks that could be claimed if their run were not to end, and of what a claim has to do with that finds them. */
void oracle_each_left_over(
    struct oracle *oracle, void (*tell)(const char *row, void *userdata), void *userdata);

/* The rows that are needed as well when a session lets go of what it holds, because a run is to end. */
void oracle_each_ending(struct oracle *oracle, int64_t session,
    void (*tell)(const char *row, void *userdata), void *userdata);

/* The rows without which a run cannot end: its own, that of whoever waits for it, and so on where that is a flow. */
void oracle_each_above(struct oracle *oracle, const char *run,
    void (*tell)(const char *row, void *userdata), void *userdata);

/* The tasks that live of this run and of the flows that its end may end. */
void oracle_each_part(struct oracle *oracle, const char *run,
    void (*tell)(const char *row, void *userdata), void *userdata);

/* Whether a row is of this run, or of one that its end may change; and whether it is of the same family. */
bool oracle_is_above(struct oracle *oracle, const char *run, const char *row);
bool oracle_is_of_family(struct oracle *oracle, const char *run, const char *row);

/* Of a run, what never becomes less: its fence, and how many rounds, records and audit rows it has. */
struct oracle_progressed {
    bool found;
    int fence;
    int rounds;
    int records;
    int audits;
};

void oracle_look_progress(
    struct oracle *oracle, const char *run, struct oracle_progressed *progressed);

/* Calls back for each task that a run of a flow has had. */
void oracle_each_task(struct oracle *oracle, const char *run,
    void (*tell)(const char *row, void *userdata), void *userdata);

/* The round and the fence of a row. False: it does not live. */
bool oracle_look_row(struct oracle *oracle, const char *row, int *round, int *fence);

#endif
