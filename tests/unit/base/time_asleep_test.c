/* SPDX-License-Identifier: Apache-2.0 */
/* A machine that sleeps while somebody waits: the clocks and the wait of the system are played here. */
#include "base/time.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <time.h>

/* Both clocks in microseconds; while the machine sleeps only the first goes on. */
static int64_t boot_us, monotonic_us;
static int64_t asleep_us; /* how long the machine is to sleep during the next wait */
static int waits;
static bool signalled;

/* Stands for the one of the system in this program, and has its prototype. */
int
clock_gettime(clockid_t clock, struct timespec *out)
{
    int64_t now_us = clock == CLOCK_BOOTTIME ? boot_us : monotonic_us;

    out->tv_sec = now_us / 1000000;
    out->tv_nsec = now_us % 1000000 * 1000;
    return 0;
}

/* The same: it waits in no time, moving both clocks to the end of the wait. */
int
pthread_cond_timedwait(
    pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex, const struct timespec *until)
{
    int64_t waited_us = until->tv_sec * 1000000 + until->tv_nsec / 1000 - monotonic_us;

    (void)cond;
    (void)mutex;
    waits++;
    boot_us += asleep_us;
    asleep_us = 0;
    if (signalled)
        return 0;
    assert_true(waited_us > 0 && waited_us <= 10000000);
    boot_us += waited_us;
    monotonic_us += waited_us;
    return ETIMEDOUT;
}

static int
start_clocks(void **state)
{
    (void)state;
    boot_us = 5000000000;
    monotonic_us = 1000000;
    asleep_us = 0;
    waits = 0;
    signalled = false;
    return 0;
}

/* Waits for a deadline so far ahead and returns how late the wait ended. */
static int64_t
wait_for(int64_t ahead_us)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
    int64_t deadline_us = pw_now_us() + ahead_us;

    while (pw_cond_wait_until(&cond, &mutex, deadline_us))
        assert_true(waits < 1000);
    return pw_now_us() - deadline_us;
}

static void
a_machine_that_stays_awake_ends_its_waits_in_time(void **state)
{
    (void)state;
    assert_int_equal(wait_for(1), 0);
    assert_int_equal(wait_for(999999), 0);
    assert_int_equal(waits, 2);
    assert_int_equal(wait_for(10000000), 0);
    assert_int_equal(waits, 3);
    assert_int_equal(wait_for(25000001), 0);
    assert_int_equal(waits, 6);
}

static void
after_a_sleep_a_wait_ends_at_most_a_piece_late(void **state)
{
    (void)state;
    asleep_us = 3600000000;
    assert_int_equal(wait_for(3600000000), 10000000);
    asleep_us = 7;
    assert_int_equal(wait_for(1000), 7);
    asleep_us = 500;
    assert_int_equal(wait_for(60000000), 0);
}

static void
a_signal_that_comes_with_the_end_of_the_time_counts_as_the_end(void **state)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

    (void)state;
    signalled = true;
    assert_true(pw_cond_wait_until(&cond, &mutex, boot_us + 1));
    asleep_us = 1;
    assert_false(pw_cond_wait_until(&cond, &mutex, boot_us + 1));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_machine_that_stays_awake_ends_its_waits_in_time, start_clocks),
        cmocka_unit_test_setup(after_a_sleep_a_wait_ends_at_most_a_piece_late, start_clocks),
        cmocka_unit_test_setup(
            a_signal_that_comes_with_the_end_of_the_time_counts_as_the_end, start_clocks),
    };

    return cmocka_run_group_tests_name("base time asleep", tests, NULL, NULL);
}
