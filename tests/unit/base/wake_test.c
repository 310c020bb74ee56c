/* SPDX-License-Identifier: Apache-2.0 */
/* The wake-up descriptor. */
#include "base/wake.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/resource.h>
#include <unistd.h>

static bool
is_readable(const struct pw_wake *wake)
{
    struct pollfd poller = {.fd = wake->fd, .events = POLLIN};
    int ready = poll(&poller, 1, 0);

    assert_true(ready >= 0);
    return ready == 1 && (poller.revents & POLLIN) != 0;
}

static void
it_is_readable_between_set_and_clear(void **state)
{
    struct pw_wake wake;

    (void)state;
    assert_int_equal(pw_wake_open(&wake), 0);
    assert_false(is_readable(&wake));
    assert_false(pw_wake_clear(&wake));
    pw_wake_set(&wake);
    pw_wake_set(&wake);
    assert_true(is_readable(&wake));
    assert_true(pw_wake_clear(&wake));
    assert_false(is_readable(&wake));
    assert_false(pw_wake_clear(&wake));
    pw_wake_close(&wake);
    assert_int_equal(wake.fd, -1);
    pw_wake_close(&wake);
}

static void
it_never_blocks_and_is_not_inherited(void **state)
{
    struct pw_wake wake;

    (void)state;
    assert_int_equal(pw_wake_open(&wake), 0);
    assert_true((fcntl(wake.fd, F_GETFL) & O_NONBLOCK) != 0);
    assert_true((fcntl(wake.fd, F_GETFD) & FD_CLOEXEC) != 0);
    pw_wake_close(&wake);
}

static void
a_set_does_not_block_where_the_counter_is_full(void **state)
{
    const uint64_t full = UINT64_MAX - 1;
    struct pw_wake wake;

    (void)state;
    assert_int_equal(pw_wake_open(&wake), 0);
    assert_int_equal(write(wake.fd, &full, sizeof(full)), sizeof(full));
    pw_wake_set(&wake);
    assert_true(pw_wake_clear(&wake));
    assert_false(is_readable(&wake));
    pw_wake_close(&wake);
}

static void *
set_wake(void *userdata)
{
    pw_wake_set(userdata);
    return NULL;
}

static void
another_thread_wakes_a_poll(void **state)
{
    struct pw_wake wake;
    struct pollfd poller = {.events = POLLIN};
    pthread_t thread;

    (void)state;
    assert_int_equal(pw_wake_open(&wake), 0);
    poller.fd = wake.fd;
    assert_int_equal(pthread_create(&thread, NULL, set_wake, &wake), 0);
    assert_int_equal(poll(&poller, 1, 60000), 1);
    assert_true(pw_wake_clear(&wake));
    assert_int_equal(pthread_join(thread, NULL), 0);
    pw_wake_close(&wake);
}

static void
too_many_open_files_are_told(void **state)
{
    struct rlimit before, none;
    struct pw_wake wake = {.fd = 7};
    int code;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    code = pw_wake_open(&wake);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(code, EMFILE);
    assert_int_equal(wake.fd, -1);
    pw_wake_close(&wake);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_readable_between_set_and_clear),
        cmocka_unit_test(it_never_blocks_and_is_not_inherited),
        cmocka_unit_test(a_set_does_not_block_where_the_counter_is_full),
        cmocka_unit_test(another_thread_wakes_a_poll),
        cmocka_unit_test(too_many_open_files_are_told),
    };

    return cmocka_run_group_tests_name("base wake", tests, NULL, NULL);
}
