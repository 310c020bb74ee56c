/* SPDX-License-Identifier: Apache-2.0 */
/* Chance: what the kernel may answer is played here, and the generator is held to known numbers. */
#include "base/rand.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What the next calls of getrandom come to: 0 asks the kernel, a positive number is the most bytes it gives, else it is
 * an error number below zero. */
static long answers[4];
static size_t answered;

/* Stands for the one of the system in this program, and has its prototype. */
ssize_t
getrandom(void *buffer, size_t length, unsigned flags)
{
    long answer = answered < 4 ? answers[answered++] : 0;

    if (answer < 0) {
        errno = (int)-answer;
        return -1;
    }
    if (answer > 0 && (size_t)answer < length)
        length = (size_t)answer;
    return syscall(SYS_getrandom, buffer, length, flags);
}

static void
play(long first, long second, long third)
{
    answers[0] = first;
    answers[1] = second;
    answers[2] = third;
    answered = 0;
}

static void
random_bytes_differ_and_fill_all_of_the_room(void **state)
{
    uint8_t one[300] = {0}, two[300] = {0};
    int zeros = 0;

    (void)state;
    play(0, 0, 0);
    assert_true(pw_random(one, sizeof(one)));
    assert_true(pw_random(two, sizeof(two)));
    assert_memory_not_equal(one, two, sizeof(one));
    for (size_t i = 0; i < sizeof(one); i++)
        zeros += one[i] == 0;
    assert_true(zeros < 30);
    assert_true(pw_random(NULL, 0));
}

static void
interrupted_and_short_answers_are_continued(void **state)
{
    uint8_t bytes[64] = {0};
    uint8_t none[32] = {0};

    (void)state;
    play(-EINTR, 10, -EINTR);
    assert_true(pw_random(bytes, sizeof(bytes)));
    assert_int_equal(answered, 4);
    assert_memory_not_equal(bytes + 32, none, 32);
}

static void
a_kernel_that_refuses_is_told(void **state)
{
    uint8_t bytes[64];

    (void)state;
    play(10, -ENOSYS, 0);
    assert_false(pw_random(bytes, sizeof(bytes)));
}

/* The numbers are those of the reference implementation of splitmix64. */
static void
the_generator_gives_the_known_numbers(void **state)
{
    struct pw_rand rand;

    (void)state;
    pw_rand_init(&rand, 1234567);
    assert_true(pw_rand_next(&rand) == UINT64_C(6457827717110365317));
    assert_true(pw_rand_next(&rand) == UINT64_C(3203168211198807973));
    assert_true(pw_rand_next(&rand) == UINT64_C(9817491932198370423));
}

static void
seeds_differ_even_where_the_kernel_refuses(void **state)
{
    struct pw_rand one, two;

    (void)state;
    play(0, 0, 0);
    pw_rand_init_any(&one);
    pw_rand_init_any(&two);
    assert_true(one.state != two.state);
    play(-ENOSYS, 0, 0);
    pw_rand_init_any(&one);
    assert_true(one.state != 0);
}

static void
units_lie_between_zero_and_one(void **state)
{
    struct pw_rand rand;
    double sum = 0;

    (void)state;
    pw_rand_init(&rand, 1);
    for (int i = 0; i < 10000; i++) {
        double unit = pw_rand_unit(&rand);

        assert_true(unit >= 0 && unit < 1);
        sum += unit;
    }
    assert_true(sum > 4800 && sum < 5200);
}

static void
jitter_stays_within_its_share(void **state)
{
    struct pw_rand rand;
    int64_t least = INT64_MAX, most = 0;

    (void)state;
    pw_rand_init(&rand, 1);
    for (int i = 0; i < 10000; i++) {
        int64_t value = pw_jitter(&rand, 1000000, 0.2);

        least = value < least ? value : least;
        most = value > most ? value : most;
    }
    assert_in_range(least, 800000, 801000);
    assert_in_range(most, 1199000, 1200000);
}

static void
jitter_takes_odd_values(void **state)
{
    struct pw_rand rand;

    (void)state;
    pw_rand_init(&rand, 1);
    assert_true(pw_jitter(&rand, INT64_MAX, 0) == INT64_MAX);
    assert_true(pw_jitter(&rand, 12345, -1) == 12345);
    assert_true(pw_jitter(&rand, 12345, NAN) == 12345);
    for (int i = 0; i < 1000; i++) {
        assert_true(pw_jitter(&rand, 0, 1) == 0);
        assert_true(pw_jitter(&rand, INT64_MAX, 1) >= 0);
        assert_true(pw_jitter(&rand, INT64_MIN, INFINITY) <= 0);
        assert_in_range(pw_jitter(&rand, 100, 5), 0, 200);
    }
}

static void
backoff_doubles_up_to_the_cap(void **state)
{
    static const struct {
        unsigned tries;
        int64_t most;
    } cases[] = {{0, 100}, {1, 100}, {2, 200}, {3, 400}, {4, 800}, {5, 1000}, {63, 1000},
        {64, 1000}, {65, 1000}, {4294967295U, 1000}};
    struct pw_rand rand;

    (void)state;
    pw_rand_init(&rand, 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bool low = false, high = false;

        for (int n = 0; n < 2000; n++) {
            int64_t wait = pw_backoff_us(&rand, cases[i].tries, 100, 1000);

            assert_in_range(wait, cases[i].most / 2, cases[i].most);
            low = low || wait < cases[i].most * 6 / 10;
            high = high || wait > cases[i].most * 9 / 10;
        }
        assert_true(low && high);
    }
}

static void
backoff_takes_odd_values_and_is_never_zero(void **state)
{
    struct pw_rand rand;

    (void)state;
    pw_rand_init(&rand, 1);
    for (unsigned tries = 0; tries < 100; tries++) {
        assert_int_equal(pw_backoff_us(&rand, tries, 0, 0), 1);
        assert_int_equal(pw_backoff_us(&rand, tries, INT64_MIN, INT64_MIN), 1);
        assert_true(pw_backoff_us(&rand, tries, INT64_MAX, INT64_MAX) >= INT64_MAX / 2);
        assert_true(pw_backoff_us(&rand, tries, 1, INT64_MAX) > 0);
        assert_in_range(pw_backoff_us(&rand, tries, 500, 10), 5, 10);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_bytes_differ_and_fill_all_of_the_room),
        cmocka_unit_test(interrupted_and_short_answers_are_continued),
        cmocka_unit_test(a_kernel_that_refuses_is_told),
        cmocka_unit_test(the_generator_gives_the_known_numbers),
        cmocka_unit_test(seeds_differ_even_where_the_kernel_refuses),
        cmocka_unit_test(units_lie_between_zero_and_one),
        cmocka_unit_test(jitter_stays_within_its_share),
        cmocka_unit_test(jitter_takes_odd_values),
        cmocka_unit_test(backoff_doubles_up_to_the_cap),
        cmocka_unit_test(backoff_takes_odd_values_and_is_never_zero),
    };

    return cmocka_run_group_tests_name("base rand", tests, NULL, NULL);
}
