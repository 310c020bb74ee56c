/* SPDX-License-Identifier: Apache-2.0 */
/* Log lines on their way to the user's callback. docs/logging.md lists the events. Any thread. */
#ifndef PW_LIBPAWL_LOG_H
#define PW_LIBPAWL_LOG_H

#include "pawl/log.h"

#include <stdbool.h>
#include <stdint.h>

struct pw_conn;
struct pw_error;

/* The most pairs of name and value in one line. */
enum {
    PW_LOG_PAIRS_MAX = 8
};

/* Where log lines go. A copy of the configuration's. */
struct pw_logger {
    int level;            /* the least important that is wanted */
    pawl_log_fn function; /* NULL: nobody listens */
    void *userdata;
};

/*
 * Says something: an event's stable name, a sentence, and pairs of name and value, both const char *, ended by a NULL name. A pair whose
 * value is NULL is left out. Numbers are written into a char[PW_LOG_NUMBER_SIZE] of the caller with pw_log_number().
 *
 *     pw_log(logger, PAWL_LOG_INFO, "worker_registered", "the worker is registered", "session", pw_log_number(session, text), NULL);
 *
 * Never a payload or a password. No lock may be held: the callback is the user's.
 */
void pw_log(const struct pw_logger *logger, int level, const char *event, const char *message, ...)
    __attribute__((sentinel));

/* An error as a line: its message, with code, sqlstate and what (which may be NULL) as values. */
void pw_log_error(const struct pw_logger *logger, int level, const char *event, const char *what,
    const struct pw_error *err);

/* Says, if *told is false, that a connection which has just become ready leads to another host and is not verified. Sets *told then. */
void pw_log_unverified(const struct pw_logger *logger, const struct pw_conn *conn, bool *told);

enum {
    PW_LOG_NUMBER_SIZE = 24
};

/* The number as text, in the room given. */
const char *pw_log_number(int64_t number, char text[PW_LOG_NUMBER_SIZE]);

#endif
