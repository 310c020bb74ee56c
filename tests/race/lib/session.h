/* SPDX-License-Identifier: Apache-2.0 */
/* A worker session as the race programs need it: register, claim, commit a batch and send again what was busy. */
#ifndef PAWL_RACE_SESSION_H
#define PAWL_RACE_SESSION_H

#include "race.h"

struct race_session {
    PGconn *conn;
    /* As text, because it is only handed on. */
    char id[24];
    /* What happened to its calls. */
    long commits;
    long busy;
    long deadlocks;
};

/* Connects, and registers a session that handles a name or pattern. */
void race_session_open(struct race_session *session, const char *handles);

/* Registers anew on the same connection. */
void race_session_register(struct race_session *session, const char *handles, const char *lease);

/* Disconnects; the session stays until its lease is over. */
void race_session_close(struct race_session *session);

/* Columns of a claim's result: n is the n of the input; steps and waits count what the record holds. */
enum race_column {
    RACE_RUN,
    RACE_FENCE,
    RACE_N,
    RACE_STEPS,
    RACE_WAITS,
    RACE_ROLLING_BACK,
};

/* Claims; with a request number above 0 the call can be repeated. The caller clears the result. */
PGresult *race_claim(struct race_session *session, int most, int request);

/* One item of a commit and its answer. */
struct race_item {
    char run[40];
    int fence;
    int seq;
    long n;
    char kind[12];
    char name[48];
    char payload[64];
    char option[160];
    char answer[12];
    char reason[64];
    char state[12];
    /* The items of a commit that stand for the same thing to the caller. */
    int tag;
};

/* Fills an item. name, payload and option may be NULL. */
void race_item_set(struct race_item *item, const char *run, int fence, const char *kind,
    const char *name, const char *payload, const char *option);

/* One call of commit; when that raises an error that names bad items, one of commit_each. */
void race_commit(struct race_session *session, struct race_item *items, int count);

/* Commits, and sends again what was busy or stood behind it until nothing is. Dies after 30 seconds. */
void race_commit_all(struct race_session *session, struct race_item *items, int count);

#endif
