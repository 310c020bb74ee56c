/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A meter of how long the machine itself stood still. Bounds in time are promises about pawl, not about the machine a test
 * happens to run on: what a bare statement on the same server had to wait for is taken off before one is judged.
 */
#ifndef PAWL_METER_H
#define PAWL_METER_H

#include <stdint.h>

struct meter;

/*
 * Starts a thread that runs one small update after the other against the server that the environment names at the time, past a pooler,
 * with rests of 20 ms between them, and notes those that took far longer than they should. An outage of the server is not a stall: the
 * meter connects again when it can. Another thread on each processor only rests, and notes when it was woken far too late: the machine
 * may take away one processor and whoever waits for it, while the server has the other.
 */
struct meter *meter_start(void);

/* Ends the threads. */
void meter_stop(struct meter *meter);

/* Milliseconds of stalls within a span of time (microseconds of the wall clock) where they were longest, one that has not ended yet included. */
long meter_stalled_ms(struct meter *meter, int64_t from_us, int64_t to_us);

/* The wall clock. */
int64_t meter_now_us(void);

#endif
