/* SPDX-License-Identifier: Apache-2.0 */
/* Times and durations as people type and read them. Times of the database are told apart from those of this machine. */
#ifndef PW_CLI_SHOW_TIME_TEXT_H
#define PW_CLI_SHOW_TIME_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TIME_TEXT_SIZE = 40, /* room for every text that is made here */
    /* Ended runs are counted up to two minutes late, or a little more; if it is this much, no worker counts them. */
    TIME_TEXT_COUNTED_LATE_US = 240000000,
};

/* A duration such as 250ms, 30s, 1h30m or 7d, in milliseconds; -1 if it makes no sense. */
int64_t time_text_duration_ms(const char *text);

/* A point in time as PostgreSQL prints it, with its offset, in microseconds since 1970. */
bool time_text_read_stamp(const char *text, int64_t *us);

/*
 * A point in time as a person types it: "2026-02-03 04:05" and "04:05" of this machine's time zone, or with Z or an offset behind
 * it; now, today, tomorrow, yesterday; or a duration, which is counted from now_us: back, or ahead.
 */
bool time_text_read(const char *text, int64_t now_us, bool ahead, int64_t *us);

/* As PostgreSQL reads it. */
void time_text_write_stamp(char room[static TIME_TEXT_SIZE], int64_t us);

/* "2026-02-03 04:05:06" in this machine's time zone. */
void time_text_write_local(char room[static TIME_TEXT_SIZE], int64_t us);

/* "12s", "1h30m", "250ms": the two largest units. */
void time_text_write_span(char room[static TIME_TEXT_SIZE], int64_t us);

/* An interval as PostgreSQL prints it ("1 day 02:03:04.5"), in microseconds; a month has 30 days. False if it is none, or longer
 * than these can say. */
bool time_text_read_interval(const char *text, int64_t *us);

#endif
