/* SPDX-License-Identifier: Apache-2.0 */
/* Time for waiting and for measuring. The database decides what is due, by its own clock. INT64_MAX as a deadline
 * means "never". Include it as "base/time.h"; <time.h> is the system's. */
#ifndef PW_BASE_TIME_H
#define PW_BASE_TIME_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Microseconds on a clock that never goes backward and keeps running while the machine sleeps. Its zero has no
 * meaning. */
int64_t pw_now_us(void);

/* These stay at the ends of the range instead of wrapping around. */
int64_t pw_add_us(int64_t a, int64_t b);
int64_t pw_ms_to_us(int64_t ms);

/* Returns the timeout for poll(2) to wait for a deadline: rounded up, so that the deadline has passed when poll
 * returns. 0 if it has passed already, -1 for INT64_MAX, at most INT_MAX. poll does not count time in which the
 * machine sleeps, so a caller that must notice the end of such a sleep polls in pieces. */
int pw_poll_timeout_ms(int64_t now_us, int64_t deadline_us);

/* A condition variable that pw_cond_wait_until can wait for. Returns 0 or an error number. */
int pw_cond_init_clock(pthread_cond_t *cond);

/* Waits, with the mutex held, until cond is signalled or the deadline on the clock of pw_now_us has passed. Returns
 * false once the deadline has passed, else true. It can also return true without a signal, so call it in a loop:
 *
 *     while (!ready && pw_cond_wait_until(&cond, &mutex, deadline_us))
 *         ;
 *
 * Condition variables do not support a clock that keeps running while the machine sleeps. So the wait is done in
 * pieces: after such a sleep it ends at most ten seconds late. */
bool pw_cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t deadline_us);

#endif
