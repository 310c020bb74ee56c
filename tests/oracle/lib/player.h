/* SPDX-License-Identifier: Apache-2.0 */
/* Makes calls in a database and in the oracle, and compares what comes of them. */
#ifndef PAWL_ORACLE_PLAYER_H
#define PAWL_ORACLE_PLAYER_H

#include "call.h"
#include "coverage.h"

#include "base/buf.h"

#include <libpq-fe.h>

/* Something that a call made, by its name. */
struct player_made {
    int maker;
    char *id;
};

struct player_list {
    struct player_made *made;
    size_t count;
};

/* What the engine chose for one item of a commit. */
struct player_choice {
    char reason[16];
    char event[40];
};

struct player {
    PGconn *conn;
    PGconn *blocker;
    struct oracle *oracle;
    struct player_list runs;
    struct player_list sessions;
    struct player_list events;
    struct coverage *coverage;
    struct player_choice choices[CALL_ITEMS_MAX];
    struct oracle_chooser chooser;
    void (*put_in_order)(struct pw_buf *shown); /* what may stand in any order; NULL: nothing may */
    long seed;                                  /* of what is random in the engine; 0: none */
    int number;                                 /* of the call that is being made */
    int children;                               /* that flows have started in it */
    PGresult *swept;                            /* sessions that housekeeping has ended */
    uint64_t digest;                            /* of all answers since the beginning */
    char before[48];                            /* goes with the next statement, ahead of it */
    struct pw_buf sql;                          /* the arguments of the last call */
    struct pw_buf got;                          /* what the engine answered, or holds */
    struct pw_buf wanted;                       /* the same of the oracle */
    struct pw_buf problem;                      /* what differs, for people */
};

enum player_outcome {
    PLAYER_SAME,
    PLAYER_SKIPPED, /* it names something that is not there */
    PLAYER_DIFFERS,
};

/* Connects and prepares statements. The database has pawl, the test clock and lib/oracle.sql. */
void player_open(struct player *player, struct coverage *coverage);
void player_close(struct player *player);

/* Both begin anew: no workflow, no run. */
void player_reset(struct player *player);

/* One call and the runs it touches. */
enum player_outcome player_play(struct player *player, const struct call *call);

/* Everything there is. */
enum player_outcome player_compare_all(struct player *player);

/* The id of something by its name, or NULL. */
const char *player_find(const struct player_list *list, int maker);

bool player_knows(const struct player_list *list, const char *id);

/* A call has made this. */
void player_remember(struct player_list *list, int maker, const char *id);

/* The statements of all verbs, and one of them executed; the value of a column of the first row, of an error its code. */
void player_prepare(PGconn *conn);
PGresult *player_call(struct player *player, const char *statement, const char *arguments);
const char *player_column(const PGresult *result, int at);

/* The oracle asks what the engine chose; choose.c. */
void player_answer_oracle(struct player *player);

/* An item for the oracle; and what the engine chose where it may, read from the run, because answers do not say it. */
void player_fill_item(
    struct player *player, const struct call_item *from, struct oracle_item *item);
void player_learn_choice(struct player *player, const struct call_item *from,
    struct player_choice *choice, struct oracle_item *item);

/* Makes the call in the oracle. Its reply is in player->wanted; it returns the answer in one word. */
const char *player_follow(struct player *player, const struct call *call, char *chosen,
    const struct oracle_item *choices);

/* What player_follow() has left in player->wanted becomes the text that the engine's statement answers with. */
void player_finish_reply(struct player *player, const struct call *call, const char *answer);

/* Ids that a call has made get their names. */
void player_remember_made(
    struct player *player, const struct call *call, const char *answer, const char *chosen);

/* The id that a trigger is given, of another run or made by the caller, in a buffer of 40 bytes; NULL: none. */
const char *player_trigger_id(struct player *player, const struct call *call, char *buffer);

/* Whether a trigger, or many, calls its ids new. */
bool player_is_new(struct player *player, const struct call *call);

/* The arguments of a call as SQL. As a script, names stand for ids: :'r12', :s4, :'e9'. False: it names something that is
 * not there. */
bool player_render(struct player *player, const struct call *call, bool script, struct pw_buf *out);

#endif
