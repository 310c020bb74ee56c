/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks, and waiting for a deadline. */
#include "time.h"

#include <errno.h>
#include <limits.h>
#include <time.h>

static const int64_t SECOND_US = 1000000;
/* The longest single wait for a condition; see pw_cond_wait_until. */
static const int64_t PIECE_US = 10000000;

static int64_t
read_clock_us(clockid_t clock)
{
    struct timespec at = {0};

    (void)clock_gettime(clock, &at); /* cannot fail: Linux has all three clocks */
    return (int64_t)at.tv_sec * SECOND_US + at.tv_nsec / 1000;
}

int64_t
pw_now_us(void)
{
    return read_clock_us(CLOCK_BOOTTIME);
}

int64_t
pw_add_us(int64_t a, int64_t b)
{
    int64_t sum;

    if (__builtin_add_overflow(a, b, &sum))
        return b > 0 ? INT64_MAX : INT64_MIN;
    return sum;
}

int64_t
pw_ms_to_us(int64_t ms)
{
    int64_t us;

    if (__builtin_mul_overflow(ms, 1000, &us))
        return ms > 0 ? INT64_MAX : INT64_MIN;
    return us;
}

/* How long until the deadline; INT64_MAX if that is more than fits. */
static int64_t
time_left_us(int64_t now_us, int64_t deadline_us)
{
    int64_t left;

    if (deadline_us <= now_us)
        return 0;
    return __builtin_sub_overflow(deadline_us, now_us, &left) ? INT64_MAX : left;
}

int
pw_poll_timeout_ms(int64_t now_us, int64_t deadline_us)
{
    int64_t left_us, left_ms;

    if (deadline_us == INT64_MAX)
        return -1;
    left_us = time_left_us(now_us, deadline_us);
    left_ms = left_us / 1000 + (left_us % 1000 > 0 ? 1 : 0);
    return left_ms > INT_MAX ? INT_MAX : (int)left_ms;
}

int
pw_cond_init_clock(pthread_cond_t *cond)
{
    pthread_condattr_t attributes;
    int code = pthread_condattr_init(&attributes);

    if (code != 0)
        return code;
    code = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    if (code == 0)
        code = pthread_cond_init(cond, &attributes);
    (void)pthread_condattr_destroy(&attributes); /* cannot fail: it was initialized */
    return code;
}

bool
pw_cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t deadline_us)
{
    struct timespec until;
    int64_t left_us, until_us;

    if (deadline_us == INT64_MAX)
        return pthread_cond_wait(cond, mutex) == 0;
    left_us = time_left_us(pw_now_us(), deadline_us);
    if (left_us == 0)
        return false;
    if (left_us > PIECE_US)
        left_us = PIECE_US;
    until_us = read_clock_us(CLOCK_MONOTONIC) + left_us;
    until.tv_sec = until_us / SECOND_US;
    until.tv_nsec = (long)(until_us % SECOND_US) * 1000;
    /* The caller looks at its condition whatever woke it, so only the deadline matters here. */
    (void)pthread_cond_timedwait(cond, mutex, &until);
    return pw_now_us() < deadline_us;
}
