/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal of a storm (journal.sql) as its database has kept it, and the checker that replays it in the oracle, one family of runs
 * after the other: a run that somebody triggered, and all its children. Every call must be one that the oracle allows where it stands,
 * with the answer that the engine gave and the state that it left, and in the end everything that is known of each run must be the same.
 */
#ifndef PAWL_STORM_JOURNAL_H
#define PAWL_STORM_JOURNAL_H

#include "race.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/json_read.h"

#include <libpq-fe.h>
#include <stdint.h>

struct oracle;

/* One line of the journal; texts belong to it, or to an arena. */
struct journal_entry {
    int64_t n;
    int64_t item;
    int64_t xid;
    const char *seen;
    int64_t at;
    const char *what;
    int64_t session;
    const char *run;
    struct pw_json args;
    /* NULL: none. */
    const char *payload;
    const char *answer;
    const char *value;
    const char *told;
    const char *image;
};

struct journal_run {
    const char *id;
    const char *root;
    const char *workflow;
    /* NULL: none. */
    const char *parent;
    /* Everything known of it in the end, as the oracle writes it. */
    const char *shown;
};

/* One call: the lines of one number that concern a family. */
struct journal_call {
    const struct journal_entry *entries;
    size_t count;
};

struct journal {
    PGresult *results[5];
    /* In the order of families and calls. */
    struct journal_entry *entries;
    size_t entries_count;
    const char **roots;
    /* In the order of sessions and calls. */
    struct journal_entry *sessions;
    size_t sessions_count;
    struct journal_entry *emits;
    size_t emits_count;
    struct journal_run *runs;
    size_t runs_count;
    int crash_max;
    int64_t grace_us;
    /* Runs of flows, which the oracle does not know. */
    long left_out;
};

/* A family and what met it, in the order of calls. */
struct family {
    const struct journal *journal;
    const struct journal_run *runs;
    size_t runs_count;
    struct journal_entry *entries;
    size_t entries_count;
    struct journal_call *calls;
    size_t calls_count;
};

/* What all storms of a program came to. */
struct admitted {
    long storms;
    long families;
    long runs;
    long calls;
    long entries;
    long busy;
    long moved;
    long rounded;
    /* Cancels passed on that a call did not see yet. */
    long unseen;
    long refused;
    long left_out;
    long by_kind[32];
    /* Of journals that were tampered with. */
    long tampered;
    long noticed;
};

/* Makes the database keep a journal, before anybody else is there. root: where the sources are. */
void journal_install(PGconn *conn, const char *root);

/* Reads all of it, when the storm is over. */
void journal_load(struct journal *journal, PGconn *conn);
void journal_done(struct journal *journal);

/* The family that begins at this entry, which is moved to the next; its calls are in order. */
void family_open(struct family *family, const struct journal *journal, size_t *at);
void family_done(struct family *family);

/* Replays a family; false: problem says which call is not allowed, and why. refused: its place, the count of calls if it is the end. */
bool family_replay(const struct family *family, struct pw_buf *problem, size_t *refused,
    struct admitted *admitted);

/* The same, and of calls that were made at the same time, the order that explains them is searched for. */
bool family_admit(struct family *family, struct pw_buf *problem, struct admitted *admitted);

/* Whether the transaction of another call had been committed when this one began. */
bool call_sees(const struct journal_call *call, const struct journal_call *other);

/* One call in the oracle: NULL, or why it is not allowed. */
struct replay {
    struct oracle *oracle;
    const struct family *family;
    struct pw_arena texts;
    struct admitted *admitted;
};
const char *replay_call(struct replay *replay, const struct journal_call *call);

/* A text that lives as long as the replay. */
const char *replay_text(struct replay *replay, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The first line in which two texts differ; NULL: none. Counts times that were rounded to a millisecond. */
const char *replay_difference(struct replay *replay, const char *wanted, const char *got);

/* Adds the family's journal to a file, for people. */
void family_list(const struct family *family, const char *problem, const char *path);

/* Admits everything, tampers with it, and checks and says what came of it. What is refused is listed in a file. */
void admit_storm(struct race *race, PGconn *conn, const char *path, struct admitted *admitted);
void admit_tell(const struct admitted *admitted);

/* Changes a family in one way of many, which its name tells; false: there is nothing in it to change so. */
enum {
    tamper_ways = 16
};
bool tamper(struct family *family, int way, struct pw_arena *arena);
const char *tamper_name(int way);

#endif
