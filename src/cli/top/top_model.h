/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What pawl top shows: one look at the database, and what is made of it: rates, an order of importance, what is failing, and where in
 * the list of runs one is. It knows neither the database nor the terminal.
 */
#ifndef PW_CLI_TOP_TOP_MODEL_H
#define PW_CLI_TOP_TOP_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TOP_FAILURES_MAX = 40, /* workflows that fail */
    TOP_TEXT_SIZE = 300,
    TOP_ID_SIZE = 40,
};

/* Which runs the list has. */
enum top_list {
    TOP_LIVE,
    TOP_FAILED,
    TOP_ALL,
    TOP_LISTS,
};

/* Texts are borrowed from what the database answered. A time that there is not is -1. */
struct top_queue {
    const char *name;
    const char *ready_shown;
    int64_t ready;
    int64_t held;
    int64_t oldest_us; /* how long the first has been due */
    int64_t workers;
    bool paused;
};

struct top_worker {
    const char *name;
    const char *state;
    int64_t held;
    int64_t lease_us; /* how much is left of it; below 0: it is over */
    const char *step; /* one that it says it is in, or NULL */
    int64_t step_us;  /* for how long */
    size_t steps;     /* how many there are */
};

struct top_run {
    const char *id;
    const char *workflow;
    const char *status;
    const char *reason;
    const char *key;
    const char *worker;
    int64_t triggered_us;
    int64_t started_us;
    int64_t ended_us;
    int64_t due_us;
    bool ending;
    bool rolling_back;
};

/* Runs for each second, of the newest runs there are. */
struct top_rates {
    double triggered;
    double started;
    double finished;
    double failed;
    int64_t window_us;
    bool
        least; /* there are live runs older than those that were looked at, whose start or end was not seen */
};

/* Ended runs within the last hour, as they are counted each minute. */
struct top_hour {
    int64_t succeeded;
    int64_t failed;
    int64_t cancelled;
    double took_s;
    double waited_s;
    int64_t counted_us; /* runs that ended after this are not counted; -1: none is */
};

/* A workflow that is failing. */
struct top_failure {
    const char *workflow;
    size_t failed;   /* runs that ended so */
    size_t retrying; /* runs that are to be tried again */
    int64_t last_us; /* when the last one ended, or else is due */
    const char *last_id;
    bool last_ended;
    char text[TOP_TEXT_SIZE]; /* of its error */
};

struct top_view {
    int64_t now_us; /* the database's clock */
    struct top_rates rates;
    struct top_hour hour;
    struct top_queue *queues;
    size_t queue_count;
    struct top_worker *workers;
    size_t worker_count;
    enum top_list list;
    struct top_run *runs;
    size_t run_count;
    struct top_failure failures[TOP_FAILURES_MAX];
    size_t failure_count;
    size_t calls; /* what this look cost the database */
    int64_t cost_us;
};

/* Which run is chosen: it stays so when others come and go, and its place does when it goes itself. */
struct top_cursor {
    char id[TOP_ID_SIZE];
    size_t index;
    size_t first; /* the first that is shown */
};

/* How long a failure counts as one of now. */
extern const int64_t top_now_us;

/* Rates of the newest runs, and of how many others that live they have not seen. full: there are older ones than these. */
void top_rate(struct top_view *view, const struct top_run *newest, size_t count, bool full);

/* What needs somebody comes first. */
void top_order_queues(struct top_queue *queues, size_t count);
void top_order_workers(struct top_worker *workers, size_t count);

/* Counts one more run among the failures of its workflow, if it has failed lately or is to be tried again. */
void top_note_failure(struct top_view *view, const struct top_run *run);
void top_order_failures(struct top_view *view);

/* Finds the chosen run again. */
void top_cursor_follow(struct top_cursor *cursor, const struct top_view *view);

/* Goes up or down; by is cut at the ends. */
void top_cursor_move(struct top_cursor *cursor, const struct top_view *view, long by);

/* Moves what is shown, so that the chosen one is among so many rows. */
void top_cursor_fit(struct top_cursor *cursor, size_t rows, size_t count);

/* The chosen run, or NULL. */
const struct top_run *top_cursor_run(const struct top_cursor *cursor, const struct top_view *view);

#endif
