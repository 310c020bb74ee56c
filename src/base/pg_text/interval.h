/* SPDX-License-Identifier: Apache-2.0 */
/* Intervals as PostgreSQL prints them. */
#ifndef PW_BASE_PG_TEXT_INTERVAL_H
#define PW_BASE_PG_TEXT_INTERVAL_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Reads an interval ("1 day 02:03:04.5") in microseconds; a month has 30 days, a year 365. Returns false if the text is not an interval,
 * or is too long for microseconds; *us is then unchanged.
 */
bool pw_interval_read(const char *text, int64_t *us);

#endif
