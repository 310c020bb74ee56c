/* SPDX-License-Identifier: Apache-2.0 */
/* Times and durations as users type and read them. Times of the database are distinguished from times of this machine. */
#ifndef PW_CLI_SHOW_TIME_TEXT_H
#define PW_CLI_SHOW_TIME_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TIME_TEXT_SIZE = 40, /* enough for every text that is made here */
    /* Ended runs are counted up to two minutes late, or a little more. If it is this much, no worker counts them. */
    TIME_TEXT_COUNTED_LATE_US = 240000000,
};

/* Returns a duration such as 250ms, 30s, 1h30m or 7d in milliseconds; -1 if it is malformed. */
int64_t time_text_duration_ms(const char *text);

/* Reads a point in time as PostgreSQL prints it, with its offset, into microseconds since 1970. */
bool time_text_read_stamp(const char *text, int64_t *us);

/*
 * Reads a point in time as a user types it. "2026-02-03 04:05" and "04:05" are of this machine's time zone, unless Z or an offset follows
 * the first. Also now, today, tomorrow, yesterday, and a duration, which is counted from now_us: ahead if ahead is true, else back.
 */
bool time_text_read(const char *text, int64_t now_us, bool ahead, int64_t *us);

/* Writes a point in time in a form that PostgreSQL reads. */
void time_text_write_stamp(char room[static TIME_TEXT_SIZE], int64_t us);

/* Writes "2026-02-03 04:05:06" in this machine's time zone. */
void time_text_write_local(char room[static TIME_TEXT_SIZE], int64_t us);

/* Writes a duration with its two largest units: "12s", "1h30m", "250ms". */
void time_text_write_span(char room[static TIME_TEXT_SIZE], int64_t us);

#endif
