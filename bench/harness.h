/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every benchmark and race program needs: a cluster, a connection, a clock, ids, text built for array parameters, and
 * the one line of JSON per figure. All of it exits with a message on failure, because a benchmark that goes on after
 * an error prints a wrong figure. Nothing in the product uses this.
 */
#ifndef PAWL_BENCH_HARNESS_H
#define PAWL_BENCH_HARNESS_H

#include <libpq-fe.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Prints "bench: " and the text to standard error, then exits 1. */
void bench_die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Seconds on the monotonic clock. */
double bench_now_s(void);

/*
 * The moment at which a test stops waiting for something that must happen: `seconds` from now on a quiet machine. PAWL_PATIENCE
 * in the environment multiplies it, for machines that are shared or slow; such a limit finds hangs, it measures nothing.
 */
double bench_limit_s(double seconds);

/*
 * Whether a bound in time counts as kept: it does, or it is late and bounds in time are warnings here. They are checks where PAWL_TIMES=gate is in
 * the environment, as .ci/full has it; elsewhere a late one prints a warning, because this may be a slow machine.
 */
bool bench_in_time(bool kept, const char *what);

/* Sorts `count` values, of which there is at least one, and returns the one above the share `part` of them: 0.5 for the median, 1 for the largest. */
double bench_percentile(double *values, size_t count, double part);

/* Waits until all threads of a barrier are there. */
void bench_meet(pthread_barrier_t *barrier);

/* Parses a whole decimal number between min and max, or exits 2 naming `what`. */
long bench_number(const char *text, const char *what, long min, long max);

/*
 * If PGHOST is not set, starts this program again under tools/pg_tmp --durable with the same arguments and does not
 * return. Call it first in main.
 */
void bench_need_cluster(char **argv);

/* The same with further options of tools/pg_tmp, which end with NULL. */
void bench_need_cluster_with(char **argv, const char *const *options);

/* A connection from libpq's environment variables. The caller finishes it with PQfinish. */
PGconn *bench_connect(void);

/* Each runs one statement and returns its result, which the caller clears. */
PGresult *bench_exec(PGconn *conn, const char *sql);
PGresult *bench_exec_params(PGconn *conn, const char *sql, int count, const char *const *params);
PGresult *bench_exec_prepared(PGconn *conn, const char *name, int count, const char *const *params);

/* Runs a statement for its effect alone. */
void bench_do(PGconn *conn, const char *sql);

/* Runs a statement and returns the first column of its first row as a number; null counts as 0. */
double bench_value(PGconn *conn, const char *sql);

void bench_prepare(PGconn *conn, const char *name, const char *sql, int count);

/* Runs a file of SQL, named relative to the root of the sources or absolutely, as one string. */
void bench_do_file(PGconn *conn, const char *path);

/*
 * Makes an empty database of that name, dropping an older one, and names it in the environment, so that bench_connect()
 * goes there. For the main thread, while no other runs.
 */
void bench_fresh_database(const char *name);

/* The same with the contents of database `from`, to which no session may be connected. */
void bench_copy_database(const char *name, const char *from);

/* Names a database in the environment, as bench_fresh_database() does, but leaves it as it is. For the main thread, as all of these. */
void bench_go_to(const char *name);

/* Whether there is such a database. Names database postgres in the environment. */
bool bench_has_database(const char *name);

/*
 * bench_fresh_database(), and pawl installed in it: the SQL file that PAWL_SQL names, or the one of this build. Returns a
 * connection to it that prints no notices; the caller finishes it with PQfinish.
 */
PGconn *bench_install(const char *name);

/* Text of a fixed capacity; running over it is a mistake in the benchmark and exits. */
struct bench_text {
    char *data;
    size_t length;
    size_t capacity;
};

void bench_text_init(struct bench_text *text, size_t capacity);
void bench_text_done(struct bench_text *text);
void bench_text_clear(struct bench_text *text);
void bench_text_add(struct bench_text *text, const char *string);
void bench_text_addf(struct bench_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds a fresh UUIDv7 in 32 hexadecimal digits, time-ordered to the millisecond. */
void bench_text_add_uuid(struct bench_text *text);

enum bench_bound {
    BENCH_NO_BOUND,
    BENCH_AT_LEAST,
    BENCH_AT_MOST,
};

struct bench_figure {
    const char *name;
    double value;
    const char *unit;
    enum bench_bound bound_kind;
    double bound;
    /* Printed when not zero. */
    int batch;
    int connections;
    int rounds;
    double low, high; /* the spread over the rounds */
    double goal;
    /* Where there is one, the figure is printed as not ok past its bound, but fails past this only. */
    double gate;
    /* Printed when there is one. Without quotes and backslashes. */
    const char *note;
};

/*
 * The gate of a ratio of speeds: continuous integration, which asks for quick figures, may have a slow and shared machine, so that a figure
 * fails there only below half of its floor, or above twice its ceiling. Zero, which is no gate, in the full form.
 */
double bench_ratio_gate(bool quick, enum bench_bound kind, double bound);

/* The gate of a time that has nothing to be compared with: in continuous integration it fails nothing. Zero in the full form. */
double bench_time_gate(bool quick);

/* Whether the figure keeps its bound; one without a bound does. */
bool bench_figure_ok(const struct bench_figure *figure);

/* Whether it passes: as bench_figure_ok(), or by its gate where it has one. */
bool bench_figure_passes(const struct bench_figure *figure);

/* Sets the figure to the median of the values of some rounds, with their spread. Sorts the values. */
void bench_figure_median(struct bench_figure *figure, double *values, int rounds);

/* Adds {"name": ..., "value": ..., "unit": ...}, with "bound" and "ok" where there is a bound. */
void bench_figure_write(const struct bench_figure *figure, struct bench_text *text);

/* Prints that as a line of standard output and returns bench_figure_passes(). */
bool bench_figure_print(const struct bench_figure *figure);

/* What was asked for, and how many figures are out of bounds so far. */
struct bench_report {
    bool quick;
    int failed;
};

/* Prints a figure and counts it if it is out of bounds. */
void bench_say(struct bench_report *report, const struct bench_figure *figure);

/* The same for a figure that has nothing else to say. */
void bench_say_plain(struct bench_report *report, const char *name, double value, const char *unit,
    enum bench_bound kind, double bound);

/* A part of a benchmark that an option selects. */
struct bench_section {
    const char *option;
    void (*run)(struct bench_report *report);
};

/*
 * The main function of a benchmark that has sections and no other option but --quick: plays those that are asked for, or all, and returns its exit
 * code. `usage` is printed for any other argument.
 */
int bench_play(
    int argc, char **argv, const char *usage, const struct bench_section *sections, size_t count);

/* Sleeps, or less after a signal. */
void bench_pause_ms(long ms);

#endif
