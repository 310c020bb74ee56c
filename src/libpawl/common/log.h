/* SPDX-License-Identifier: Apache-2.0 */
/* Log lines on their way to the user's callback, and to the ring where they are kept. docs/logging.md lists the events. Any thread. */
#ifndef PW_LIBPAWL_LOG_H
#define PW_LIBPAWL_LOG_H

#include "pawl/log.h"

#include <stdbool.h>
#include <stdint.h>

struct pw_conn;
struct pw_error;
struct pw_log_ring;

/* The most pairs of name and value in one line. */
enum {
    PW_LOG_PAIRS_MAX = 8
};

/* Where log lines go. A copy of the configuration's. */
struct pw_logger {
    int level;            /* the least important that is wanted */
    pawl_log_fn function; /* NULL: no log */
    void *userdata;
    struct pw_log_ring *ring; /* where lines are kept; NULL: they are not */
};

/*
 * Writes a log line: the stable name of an event, a sentence, and pairs of name and value. Both are const char *, and a NULL name ends
 * the list. A pair whose value is NULL is omitted. Numbers are written into a char[PW_LOG_NUMBER_SIZE] of the caller with
 * pw_log_number().
 *
 *     pw_log(logger, PAWL_LOG_INFO, "worker_registered", "the worker is registered", "session", pw_log_number(session, text), NULL);
 *
 * Never a payload or a password. The caller must hold no lock: the callback is the user's, and the ring wakes a user of the worker.
 */
void pw_log(const struct pw_logger *logger, int level, const char *event, const char *message, ...)
    __attribute__((sentinel));

/* Writes an error as a log line: its message, with code, sqlstate and what (which may be NULL) as values. */
void pw_log_error(const struct pw_logger *logger, int level, const char *event, const char *what,
    const struct pw_error *err);

/*
 * Logs a warning, and sets *told, if a connection that has just become ready leads to another host and is not verified. Does nothing if
 * *told is true.
 */
void pw_log_unverified(const struct pw_logger *logger, const struct pw_conn *conn, bool *told);

enum {
    PW_LOG_NUMBER_SIZE = 24
};

/* Writes the number as text to the buffer, and returns it. */
const char *pw_log_number(int64_t number, char text[PW_LOG_NUMBER_SIZE]);

#endif
