/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks, deadlines, and waiting for a condition with threads. */
#include "base/time.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <time.h>

struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    bool open;
};

static void
init_gate(struct gate *gate)
{
    *gate = (struct gate){.open = false};
    assert_int_equal(pthread_mutex_init(&gate->mutex, NULL), 0);
    assert_int_equal(pw_cond_init_clock(&gate->cond), 0);
}

static void
done_gate(struct gate *gate)
{
    assert_int_equal(pthread_cond_destroy(&gate->cond), 0);
    assert_int_equal(pthread_mutex_destroy(&gate->mutex), 0);
}

static void *
open_gate(void *userdata)
{
    struct gate *gate = userdata;

    pthread_mutex_lock(&gate->mutex);
    gate->open = true;
    pthread_cond_signal(&gate->cond);
    pthread_mutex_unlock(&gate->mutex);
    return NULL;
}

/* Waits for a thread to open the gate; true if it was open before the deadline. */
static bool
wait_for_thread(int64_t deadline_us)
{
    struct gate gate;
    pthread_t thread;
    bool open;

    init_gate(&gate);
    pthread_mutex_lock(&gate.mutex);
    assert_int_equal(pthread_create(&thread, NULL, open_gate, &gate), 0);
    while (!gate.open && pw_cond_wait_until(&gate.cond, &gate.mutex, deadline_us))
        ;
    open = gate.open;
    pthread_mutex_unlock(&gate.mutex);
    assert_int_equal(pthread_join(thread, NULL), 0);
    done_gate(&gate);
    return open;
}

static void
now_goes_forward(void **state)
{
    int64_t before = pw_now_us();

    (void)state;
    assert_true(before > 0);
    assert_true(pw_now_us() >= before);
}

static void
sums_stay_at_the_ends_of_the_range(void **state)
{
    (void)state;
    assert_true(pw_add_us(2, 3) == 5);
    assert_true(pw_add_us(2, -3) == -1);
    assert_true(pw_add_us(INT64_MAX, 0) == INT64_MAX);
    assert_true(pw_add_us(INT64_MAX, 1) == INT64_MAX);
    assert_true(pw_add_us(1, INT64_MAX) == INT64_MAX);
    assert_true(pw_add_us(INT64_MIN, -1) == INT64_MIN);
    assert_true(pw_add_us(-1, INT64_MIN) == INT64_MIN);
    assert_true(pw_add_us(INT64_MAX, INT64_MIN) == -1);
    assert_true(pw_ms_to_us(3) == 3000);
    assert_true(pw_ms_to_us(-3) == -3000);
    assert_true(pw_ms_to_us(INT64_MAX / 1000) == INT64_MAX / 1000 * 1000);
    assert_true(pw_ms_to_us(INT64_MAX / 1000 + 1) == INT64_MAX);
    assert_true(pw_ms_to_us(INT64_MAX) == INT64_MAX);
    assert_true(pw_ms_to_us(INT64_MIN) == INT64_MIN);
}

static void
a_poll_is_rounded_up_and_kept_in_range(void **state)
{
    (void)state;
    assert_int_equal(pw_poll_timeout_ms(1000, 1000), 0);
    assert_int_equal(pw_poll_timeout_ms(1000, 999), 0);
    assert_int_equal(pw_poll_timeout_ms(1000, INT64_MIN), 0);
    assert_int_equal(pw_poll_timeout_ms(1000, 1001), 1);
    assert_int_equal(pw_poll_timeout_ms(1000, 2000), 1);
    assert_int_equal(pw_poll_timeout_ms(1000, 2001), 2);
    assert_int_equal(pw_poll_timeout_ms(0, INT64_MAX), -1);
    assert_int_equal(pw_poll_timeout_ms(INT64_MAX, INT64_MAX), -1);
    assert_int_equal(pw_poll_timeout_ms(0, INT64_MAX - 1), INT_MAX);
    assert_int_equal(pw_poll_timeout_ms(INT64_MIN, INT64_MAX - 1), INT_MAX);
    assert_int_equal(pw_poll_timeout_ms(0, INT64_C(1000) * INT_MAX), INT_MAX);
    assert_int_equal(pw_poll_timeout_ms(0, INT64_C(1000) * INT_MAX + 1), INT_MAX);
    assert_int_equal(pw_poll_timeout_ms(0, INT64_C(1000) * INT_MAX - 1000), INT_MAX - 1);
}

static void
a_deadline_that_has_passed_is_not_waited_for(void **state)
{
    struct gate gate;

    (void)state;
    init_gate(&gate);
    pthread_mutex_lock(&gate.mutex);
    assert_false(pw_cond_wait_until(&gate.cond, &gate.mutex, pw_now_us()));
    assert_false(pw_cond_wait_until(&gate.cond, &gate.mutex, 0));
    assert_false(pw_cond_wait_until(&gate.cond, &gate.mutex, INT64_MIN));
    pthread_mutex_unlock(&gate.mutex);
    done_gate(&gate);
}

static void
a_wait_without_signal_ends_at_its_deadline_and_not_before(void **state)
{
    struct gate gate;
    int64_t deadline_us = pw_add_us(pw_now_us(), 20000);

    (void)state;
    init_gate(&gate);
    pthread_mutex_lock(&gate.mutex);
    while (pw_cond_wait_until(&gate.cond, &gate.mutex, deadline_us))
        assert_true(pw_now_us() < deadline_us + 60000000);
    assert_true(pw_now_us() >= deadline_us);
    pthread_mutex_unlock(&gate.mutex);
    done_gate(&gate);
}

static void
a_signal_ends_a_wait_whatever_its_deadline(void **state)
{
    (void)state;
    assert_true(wait_for_thread(pw_add_us(pw_now_us(), 60000000)));
    assert_true(wait_for_thread(INT64_MAX - 1));
    assert_true(wait_for_thread(INT64_MAX));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(now_goes_forward),
        cmocka_unit_test(sums_stay_at_the_ends_of_the_range),
        cmocka_unit_test(a_poll_is_rounded_up_and_kept_in_range),
        cmocka_unit_test(a_deadline_that_has_passed_is_not_waited_for),
        cmocka_unit_test(a_wait_without_signal_ends_at_its_deadline_and_not_before),
        cmocka_unit_test(a_signal_ends_a_wait_whatever_its_deadline),
    };

    return cmocka_run_group_tests_name("base time", tests, NULL, NULL);
}
