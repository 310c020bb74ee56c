/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Histories of clients that call at the same time. A history is made of phases in which the clock stands still: a few
 * clients, each with a connection of its own, make a few calls on a few runs. When a call was sent and when its answer was
 * there is noted, and for some calls nobody knows whether they were made. Then there must be an order of the calls in which
 * the oracle gives every answer that was given and ends in the state that the tables have. The order keeps that of calls of
 * which one was answered before the other was sent.
 */
#ifndef PAWL_ORACLE_HISTORY_H
#define PAWL_ORACLE_HISTORY_H

#include "generate.h"
#include "meanwhile.h"

#include <limits.h>

enum {
    HISTORY_CLIENTS_MAX = 4,
    HISTORY_CALLS_MAX = 16,
    HISTORY_HELD_MAX = 32,
    HISTORY_ID_SIZE = 48,
};

#define HISTORY_UNKNOWN LONG_MAX

/* One call, from the moment that it was sent to the moment that its answer was seen. */
struct history_call {
    struct call call;
    int client;
    long sent;
    long answered;  /* HISTORY_UNKNOWN: nobody knows whether it was made */
    bool held_open; /* in a transaction that stayed open for a while */
    char *arguments;
    char *got;
    char *chosen;
    char id[HISTORY_ID_SIZE]; /* of a run or an event that the client named */
    struct oracle_item items[CALL_ITEMS_MAX];
    struct player_choice choices[CALL_ITEMS_MAX];
};

/* How one call took its place in the order: which of the others it noticed. */
struct history_way {
    int at; /* in history.calls */
    bool
        nothing; /* it changed nothing: a lock was in the way, or the call was refused as a whole */
    bool impossible; /* it is not tried */
    bool lost_tick;  /* of an unknown call only that the clock of housekeeping went on */
    bool other_tick;
    bool other_claim;
    bool unseen_ending;
    struct {
        char id[HISTORY_ID_SIZE];
        enum oracle_moment moment;
    } held[HISTORY_HELD_MAX];
    int held_count;
    char chosen[4 * HISTORY_ID_SIZE]; /* what an unknown claim took */
};

enum history_doing {
    HISTORY_READY,
    HISTORY_CALLING,
    HISTORY_HOLDING, /* the call is answered, its transaction is open */
    HISTORY_ENDING,
};

/* Nobody learns what became of a call whose connection ends. */
enum history_doom {
    HISTORY_NONE,
    HISTORY_SERVER_ENDS, /* the server ends it, soon after the call was sent */
    HISTORY_CLIENT_ENDS, /* the client closes it without waiting */
    HISTORY_ENDS_OPEN,   /* the server ends it while its transaction is open */
    HISTORY_ENDS_COMMITTING,
};

struct history_client {
    PGconn *conn;
    enum history_doing doing;
    int at;                 /* the call under way */
    int left;               /* calls to make */
    int wait;               /* holding: for so many answers of others */
    enum history_doom doom; /* how its connection ends; history_client.c */
    int again;              /* a call to send once more, or -1 */
    PGresult *result;
};

struct history_counts {
    long phases;
    long calls;
    long overlapped; /* with another call on their way */
    long held_open;
    long unknown;
    long happened; /* of those */
    long busy;
    long tasks;       /* calls about tasks of flows */
    long together;    /* of those, while another one was about the same run */
    long flows;       /* rounds of flows that ended */
    long passed_over; /* calls that are explained by something that another one held */
    long nodes;
    long nodes_most;
};

struct history {
    struct player *player;
    struct generator generator;
    struct oracle *base;   /* before the phase */
    struct oracle *belief; /* the calls in the order of their answers: to choose the next ones by */
    struct history_client clients[HISTORY_CLIENTS_MAX];
    int clients_count;
    struct history_call calls[HISTORY_CALLS_MAX];
    int calls_count;
    struct history_way
        ways[HISTORY_CALLS_MAX]; /* the order that was found, or the longest that was tried */
    int ways_count;
    int hot[4]; /* the runs that a phase is about */
    int hot_count;
    int lost_pids[HISTORY_CALLS_MAX];
    int lost_count;
    long clock;
    int number;
    bool flows; /* there are some */
    struct oracle_chooser chooser;
    PGresult *children;  /* all that there are, with parent, task and step */
    PGresult *swept;     /* sessions that housekeeping has ended */
    bool explaining;     /* the two are those of the end of the phase */
    struct pw_buf state; /* what the tables hold after the phase */
    bool tick_is_due;    /* and whether housekeeping is so late then that a claim does it */
    long
        nodes_max; /* a search is given up then; history_open() sets what is enough for all but a few */
    bool gave_up; /* the last one was */
    struct history_counts *counts;
};

/* Opens and closes the clients' connections; the player is the caller's, and is silent afterwards. */
void history_open(struct history *history, struct player *player, struct history_counts *counts);
void history_close(struct history *history);

/* Plays a seed of so many phases. False: one could not be explained, and is printed. */
bool history_seed(struct history *history, long seed, long phases);

/* Lets all clients make their calls, and waits until nothing of them is under way any more; history_client.c. */
void history_play_phase(struct history *history);
void history_connect(struct history_client *client);
void history_silence(PGconn *conn); /* connections that end say so, and it is meant */

/* The next call of a client, chosen by what is believed; history_choose.c. */
void history_choose(struct history *history, int client, struct history_call *call);
void history_choose_hot(struct history *history);

/* Looks for an order. True: the player's oracle is where it leads to; history_search.c. */
bool history_explain(struct history *history);

/* Makes a call in an oracle that stands for the player's. True: the answer is the one that was given; history_way.c. */
bool history_apply(struct history *history, struct oracle *oracle, const struct history_way *way);

/* The n-th way in which a call can come next. False: there are no more. done: the calls that come before it. */
bool history_way(struct history *history, struct oracle *oracle, int at, unsigned done, int n,
    struct history_way *way);

/* The oracle asks what the engine chose; and what can be asked for is read from the tables. history_ask.c */
void history_answer_oracle(struct history *history);
void history_ask(struct history *history);
void history_ask_children(struct history *history);

/*
 * What the tables hold after a phase, as text; history_state.c. Audit rows of a flow are numbered when they are written, under the lock of
 * the task or run that they are of, and a late result of a task that is gone locks nothing. So what calls that meet write about different
 * rows stands in any order; those of one moment are put in that of the tasks, late results last.
 */
void history_put_in_order(struct pw_buf *text);

/* The same of an oracle, in player->wanted; whether the two are alike; and whether something has gone further here than there. */
void history_show(struct history *history, struct oracle *oracle);
bool history_is_state(struct history *history, struct oracle *oracle);
bool history_is_past(struct history *history, struct oracle *oracle);

/* Whether a line of a run begins with this. */
bool history_has_line(const struct history *history, const char *run, const char *head);

/* How far the tables show a run to have gone. */
void history_read_progress(
    const struct history *history, const char *run, struct oracle_progressed *progressed);

/* The line that tells of a row, or NULL. */
const char *history_find_row(const struct history *history, const char *row);

/* Whether this row can be claimed yet, by what the tables show. */
bool history_can_be_taken(const struct history *history, struct oracle *oracle, const char *row);

/* Whether the tables show this row (NULL: any) as held by this claim. */
bool history_shows_claim(const struct history *history, int at, const char *row);

/* Two calls were under way at the same time; and a verb does housekeeping. history_meet.c */
bool history_overlap(const struct history_call *a, const struct history_call *b);
bool history_ticks(enum call_verb verb);

/* Whether this kind of item ends a claim, and perhaps a run; and the row that an item is about. */
bool history_lets_go(const char *kind);
void history_write_row(char row[HISTORY_ID_SIZE], const struct oracle_item *item);

/* Whether another call can have held this row or session, or made this row, while the call was under way. */
bool history_can_be_held(struct history *history, struct oracle *oracle, int at, const char *id);

/* The same of the topic of an event, of the right to send late results, and of a part of what a session has. */
bool history_can_meet_at_topic(const struct history *history, int at);
bool history_can_meet_late(const struct history *history, int at);
bool history_can_share(const struct history *history, int at, int64_t session);

/* A phase without an explanation, for people; history_tell.c. */
void history_tell(struct history *history, long seed, long phase);

#endif
