/* SPDX-License-Identifier: Apache-2.0 */
/* The growing buffer: its maximum, its sticky error, and its numbers in network byte order. */
#include "base/buf.h"
#include "fail_alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static void
what_is_added_stands_in_order_with_a_nul_behind(void **state)
{
    struct pw_buf buf;

    (void)state;
    pw_buf_init(&buf, 1000);
    assert_null(buf.data);
    assert_string_equal(pw_buf_text(&buf), "");
    pw_buf_adds(&buf, "run ");
    pw_buf_addc(&buf, '"');
    pw_buf_add(&buf, "abc", 2);
    pw_buf_add(&buf, NULL, 0);
    pw_buf_addf(&buf, "%c %d", '"', 42);
    assert_true(pw_buf_ok(&buf));
    assert_string_equal(buf.data, "run \"ab\" 42");
    assert_int_equal(buf.size, 11);
    assert_ptr_equal(pw_buf_text(&buf), buf.data);
    pw_buf_clear(&buf);
    assert_int_equal(buf.size, 0);
    assert_string_equal(buf.data, "");
    pw_buf_done(&buf);
    assert_null(buf.data);
    pw_buf_adds(&buf, "again");
    assert_string_equal(buf.data, "again");
    pw_buf_done(&buf);
}

static void
adding_nothing_to_nothing_gives_an_empty_text(void **state)
{
    struct pw_buf buf;

    (void)state;
    pw_buf_init(&buf, 0);
    pw_buf_clear(&buf);
    pw_buf_adds(&buf, "");
    assert_true(pw_buf_ok(&buf));
    assert_string_equal(buf.data, "");
    pw_buf_addc(&buf, 'a');
    assert_int_equal(buf.failure, PW_BUF_LIMIT);
    pw_buf_done(&buf);
}

static void
the_maximum_can_be_filled_to_the_last_byte(void **state)
{
    struct pw_buf buf;

    (void)state;
    pw_buf_init(&buf, 1000);
    for (int i = 0; i < 1000; i++)
        pw_buf_addc(&buf, 'x');
    assert_true(pw_buf_ok(&buf));
    assert_int_equal(buf.size, 1000);
    assert_int_equal(buf.room, 1001);
    pw_buf_adds(&buf, "");
    assert_true(pw_buf_ok(&buf));
    pw_buf_addc(&buf, 'x');
    assert_int_equal(buf.failure, PW_BUF_LIMIT);
    assert_int_equal(buf.size, 1000);
    assert_int_equal(strlen(buf.data), 1000);
    pw_buf_done(&buf);
}

static void
an_addition_over_the_maximum_adds_nothing_and_sticks(void **state)
{
    struct pw_buf buf;

    (void)state;
    pw_buf_init(&buf, 10);
    pw_buf_adds(&buf, "12345678");
    pw_buf_adds(&buf, "abc");
    assert_false(pw_buf_ok(&buf));
    pw_buf_adds(&buf, "a");
    pw_buf_addf(&buf, "%d", 1);
    pw_buf_add_be32(&buf, 1);
    pw_buf_put_be32(&buf, 0, 0);
    assert_string_equal(buf.data, "12345678");
    assert_int_equal(buf.failure, PW_BUF_LIMIT);
    pw_buf_clear(&buf);
    assert_true(pw_buf_ok(&buf));
    pw_buf_adds(&buf, "1234567890");
    assert_true(pw_buf_ok(&buf));
    pw_buf_done(&buf);
}

static void
a_format_over_the_maximum_adds_nothing(void **state)
{
    struct pw_buf buf;

    (void)state;
    pw_buf_init(&buf, 100);
    pw_buf_adds(&buf, "before");
    pw_buf_addf(&buf, "%95d", 1);
    assert_int_equal(buf.failure, PW_BUF_LIMIT);
    assert_string_equal(buf.data, "before");
    assert_int_equal(buf.size, 6);
    pw_buf_clear(&buf);
    pw_buf_addf(&buf, "%100d", 1);
    assert_true(pw_buf_ok(&buf));
    assert_int_equal(strlen(buf.data), 100);
    pw_buf_done(&buf);
}

/* The plain locale has no bytes for this character. */
static void
a_format_that_fails_adds_nothing(void **state)
{
    struct pw_buf buf;

    (void)state;
    pw_buf_init(&buf, SIZE_MAX);
    pw_buf_adds(&buf, "before");
    pw_buf_addf(&buf, "after %ls", L"\x3b1");
    assert_false(pw_buf_ok(&buf));
    assert_string_equal(buf.data, "before");
    pw_buf_done(&buf);
}

static void
a_size_that_wraps_around_is_over_any_maximum(void **state)
{
    struct pw_buf buf;

    (void)state;
    pw_buf_init(&buf, SIZE_MAX);
    pw_buf_adds(&buf, "a");
    pw_buf_add(&buf, "b", SIZE_MAX);
    assert_int_equal(buf.failure, PW_BUF_LIMIT);
    pw_buf_clear(&buf);
    pw_buf_adds(&buf, "a");
    pw_buf_add(&buf, "b", SIZE_MAX - 1);
    assert_int_equal(buf.failure, PW_BUF_LIMIT);
    pw_buf_clear(&buf);
    fail_alloc_at(1);
    pw_buf_add(&buf, "b", SIZE_MAX - 1);
    assert_int_equal(buf.failure, PW_BUF_OOM);
    fail_alloc_at(0);
    assert_string_equal(buf.data, "");
    pw_buf_done(&buf);
}

static void
growth_is_by_doubling(void **state)
{
    struct pw_buf buf;

    (void)state;
    pw_buf_init(&buf, 1 << 20);
    fail_alloc_at(0);
    for (int i = 0; i < 1 << 20; i++)
        pw_buf_addc(&buf, 'x');
    assert_true(pw_buf_ok(&buf));
    assert_in_range(fail_alloc_count(), 10, 16);
    pw_buf_done(&buf);
}

static void
no_memory_leaves_the_content_and_sticks(void **state)
{
    struct pw_buf buf;

    (void)state;
    for (long n = 1; fail_alloc_try(n); n++) {
        pw_buf_init(&buf, 1000);
        pw_buf_adds(&buf, "0123456789");
        pw_buf_addf(&buf, "%200d", 7);
        pw_buf_addf(&buf, "%300d", 8);
        pw_buf_add(&buf, "12345678", 8);
        if (n <= 4) {
            assert_int_equal(buf.failure, PW_BUF_OOM);
            assert_int_equal(buf.size, n == 1 ? 0 : n == 2 ? 10 : n == 3 ? 210 : 510);
            assert_true(n == 1 || buf.data[buf.size] == '\0');
        } else {
            assert_true(pw_buf_ok(&buf));
            assert_int_equal(buf.size, 518);
        }
        pw_buf_done(&buf);
    }
}

static void
numbers_are_written_most_significant_byte_first(void **state)
{
    struct pw_buf buf;

    (void)state;
    pw_buf_init(&buf, 100);
    pw_buf_add_be32(&buf, 0x03040506);
    pw_buf_add_be32(&buf, (uint32_t)-1);
    pw_buf_add_be32(&buf, (uint32_t)INT32_MIN);
    assert_int_equal(buf.size, 12);
    assert_memory_equal(buf.data, "\3\4\5\6\377\377\377\377\200\0\0\0", 12);
    pw_buf_done(&buf);
}

static void
a_length_can_be_set_later_inside_the_content_only(void **state)
{
    struct pw_buf buf;

    (void)state;
    pw_buf_init(&buf, 100);
    pw_buf_add_be32(&buf, 0);
    pw_buf_adds(&buf, "abcd");
    pw_buf_put_be32(&buf, 0, 0x11223344);
    pw_buf_put_be32(&buf, 4, 0x55667788);
    assert_true(pw_buf_ok(&buf));
    assert_memory_equal(buf.data, "\x11\x22\x33\x44\x55\x66\x77\x88\0", 9);
    pw_buf_put_be32(&buf, 5, 0);
    assert_int_equal(buf.failure, PW_BUF_LIMIT);
    pw_buf_clear(&buf);
    pw_buf_adds(&buf, "abc");
    pw_buf_put_be32(&buf, 0, 0);
    assert_int_equal(buf.failure, PW_BUF_LIMIT);
    pw_buf_clear(&buf);
    pw_buf_add_be32(&buf, 0);
    pw_buf_put_be32(&buf, SIZE_MAX, 0);
    assert_int_equal(buf.failure, PW_BUF_LIMIT);
    pw_buf_done(&buf);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_added_stands_in_order_with_a_nul_behind),
        cmocka_unit_test(adding_nothing_to_nothing_gives_an_empty_text),
        cmocka_unit_test(the_maximum_can_be_filled_to_the_last_byte),
        cmocka_unit_test(an_addition_over_the_maximum_adds_nothing_and_sticks),
        cmocka_unit_test(a_format_over_the_maximum_adds_nothing),
        cmocka_unit_test(a_format_that_fails_adds_nothing),
        cmocka_unit_test(a_size_that_wraps_around_is_over_any_maximum),
        cmocka_unit_test(growth_is_by_doubling),
        cmocka_unit_test(no_memory_leaves_the_content_and_sticks),
        cmocka_unit_test(numbers_are_written_most_significant_byte_first),
        cmocka_unit_test(a_length_can_be_set_later_inside_the_content_only),
    };

    return cmocka_run_group_tests_name("base buf", tests, NULL, NULL);
}
