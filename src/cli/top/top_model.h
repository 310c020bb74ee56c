/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The content of pawl top: one look at the database, the rates, order and failures in it, and the position in the list of runs. It depends
 * neither on the database nor on the terminal.
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

/* The runs in the list. */
enum top_list {
    TOP_LIVE,
    TOP_FAILED,
    TOP_ALL,
    TOP_LISTS,
};

/* Texts are borrowed from answers of the database. An unknown time is -1. */
struct top_queue {
    const char *name;
    const char *ready_shown;
    int64_t ready;
    int64_t held;
    int64_t oldest_us; /* how long the first task has been due */
    int64_t workers;
    bool paused;
};

struct top_worker {
    const char *name;
    const char *state;
    int64_t held;
    int64_t lease_us; /* the time until it expires; below 0: it has expired */
    const char *step; /* a step that the worker reports, or NULL */
    int64_t step_us;  /* how long it has executed that step */
    size_t steps;     /* number of steps that it reports */
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

/* Runs per second, computed from the newest runs. */
struct top_rates {
    double triggered;
    double started;
    double finished;
    double failed;
    int64_t window_us;
    /* The rates are lower bounds: there are older live runs, whose start or end was not seen. */
    bool least;
};

/* Ended runs of the last hour, which the engine counts each minute. */
struct top_hour {
    int64_t succeeded;
    int64_t failed;
    int64_t cancelled;
    double took_s;
    double waited_s;
    int64_t counted_us; /* runs that ended later are not counted yet; -1: none is counted */
};

/* A workflow that is failing. */
struct top_failure {
    const char *workflow;
    size_t failed;   /* runs that ended with an error */
    size_t retrying; /* runs that wait for another attempt */
    int64_t last_us; /* when the last of them ended, or else is due */
    const char *last_id;
    bool last_ended;
    char text[TOP_TEXT_SIZE]; /* of its error */
};

struct top_view {
    int64_t now_us;       /* the database's clock */
    const char *pause_by; /* who has paused everything, or NULL */
    const char *pause_why;
    bool refuses_triggers;
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
    size_t calls; /* number of calls of this look */
    int64_t cost_us;
};

/* The chosen run. It stays chosen when other runs come and go; if it goes itself, the run at its place is chosen. */
struct top_cursor {
    char id[TOP_ID_SIZE];
    size_t index;
    size_t first; /* the first run that is shown */
};

/* How long a failure counts as recent. */
extern const int64_t top_now_us;

/* Computes rates from the newest runs, and whether older live runs are missing in them. full: older runs exist. */
void top_rate(struct top_view *view, const struct top_run *newest, size_t count, bool full);

/* Sort the entries so that those that need an operator come first. */
void top_order_queues(struct top_queue *queues, size_t count);
void top_order_workers(struct top_worker *workers, size_t count);

/* Counts a run among the failures of its workflow, if it has failed recently or waits for another attempt. */
void top_note_failure(struct top_view *view, const struct top_run *run);
void top_order_failures(struct top_view *view);

/* Finds the chosen run again in a new view. */
void top_cursor_follow(struct top_cursor *cursor, const struct top_view *view);

/* Moves the cursor up or down by this many runs, but not beyond the ends. */
void top_cursor_move(struct top_cursor *cursor, const struct top_view *view, long by);

/* Scrolls the list, so that the chosen run is among the rows shown. */
void top_cursor_fit(struct top_cursor *cursor, size_t rows, size_t count);

/* Returns the chosen run, or NULL. */
const struct top_run *top_cursor_run(const struct top_cursor *cursor, const struct top_view *view);

#endif
