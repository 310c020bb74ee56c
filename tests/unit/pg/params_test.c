/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters and arrays, byte by byte. */
#include "fail_alloc.h"
#include "pg/params.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void
expect(const struct pw_params *params, int index, const char *bytes, int size)
{
    assert_int_equal(params->formats[index], 1);
    assert_int_equal(params->sizes[index], size);
    assert_memory_equal(params->values[index], bytes, (size_t)size);
}

static void
numbers_are_in_network_order(void **state)
{
    struct pw_params params;

    (void)state;
    pw_params_init(&params);
    pw_params_bool(&params, true);
    pw_params_bool(&params, false);
    pw_params_int4(&params, -2);
    pw_params_int4(&params, 0x01020304);
    pw_params_int8(&params, INT64_C(0x0102030405060708));
    pw_params_int8(&params, -1);
    assert_int_equal(params.count, 6);
    expect(&params, 0, "\1", 1);
    expect(&params, 1, "\0", 1);
    expect(&params, 2, "\xff\xff\xff\xfe", 4);
    expect(&params, 3, "\1\2\3\4", 4);
    expect(&params, 4, "\1\2\3\4\5\6\7\10", 8);
    expect(&params, 5, "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
}

static void
texts_are_borrowed_and_null_is_null(void **state)
{
    static const char text[] = "text";
    struct pw_params params;

    (void)state;
    pw_params_init(&params);
    pw_params_text(&params, text);
    pw_params_text(&params, NULL);
    pw_params_bytes(&params, text, 2);
    pw_params_bytes(&params, NULL, 2);
    pw_params_bytes(&params, text, 0);
    pw_params_literal(&params, text);
    pw_params_literal(&params, NULL);
    pw_params_null(&params);
    assert_ptr_equal(params.values[0], text);
    assert_int_equal(params.sizes[0], 4);
    assert_null(params.values[1]);
    assert_int_equal(params.sizes[2], 2);
    assert_null(params.values[3]);
    assert_non_null(params.values[4]);
    assert_int_equal(params.sizes[4], 0);
    assert_int_equal(params.formats[5], 0);
    assert_ptr_equal(params.values[5], text);
    assert_null(params.values[6]);
    assert_null(params.values[7]);
}

static void
an_array_has_a_head_and_a_size_before_each_element(void **state)
{
    struct pw_array array;
    struct pw_params params;

    (void)state;
    pw_array_init(&array, 100);
    for (int round = 0; round < 2; round++) {
        pw_array_begin(&array, PW_TYPE_TEXT);
        pw_array_bytes(&array, "ab", 2);
        pw_array_bytes(&array, NULL, 9);
        assert_true(pw_array_ok(&array));
        pw_params_init(&params);
        pw_params_array(&params, &array);
        expect(&params, 0,
            "\0\0\0\1\0\0\0\1\0\0\0\x19\0\0\0\2\0\0\0\1"
            "\0\0\0\2"
            "ab\xff\xff\xff\xff",
            30);
    }
    pw_array_begin(&array, PW_TYPE_INT4);
    pw_params_init(&params);
    pw_params_array(&params, &array);
    expect(&params, 0, "\0\0\0\1\0\0\0\0\0\0\0\x17\0\0\0\0\0\0\0\1", 20);
    pw_array_done(&array);
}

static void
an_array_over_its_limit_says_so_and_can_be_begun_again(void **state)
{
    struct pw_array array;

    (void)state;
    pw_array_init(&array, 40);
    pw_array_begin(&array, PW_TYPE_INT4);
    for (int i = 0; i < 3; i++)
        pw_array_int4(&array, i);
    assert_false(pw_array_ok(&array));
    pw_array_begin(&array, PW_TYPE_INT4);
    pw_array_int4(&array, 1);
    assert_true(pw_array_ok(&array));
    pw_array_done(&array);
    fail_alloc_at(1);
    pw_array_begin(&array, PW_TYPE_INT4);
    assert_false(pw_array_ok(&array));
    fail_alloc_at(0);
    pw_array_done(&array);
}

static void
bytes_are_counted_also_where_they_are_too_many(void **state)
{
    struct pw_params params;

    (void)state;
    pw_params_init(&params);
    pw_params_int8(&params, 1);
    pw_params_literal(&params, "text");
    pw_params_null(&params);
    pw_params_text(&params, "text");
    assert_int_equal(params.bytes, 16);
    pw_params_bytes(&params, "", (size_t)3 << 30);
    assert_true(params.bytes == ((size_t)3 << 30) + 16);
    pw_params_bytes(&params, "", SIZE_MAX);
    assert_true(params.bytes == SIZE_MAX);
    pw_params_init(&params);
    assert_int_equal(params.bytes, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_in_network_order),
        cmocka_unit_test(texts_are_borrowed_and_null_is_null),
        cmocka_unit_test(bytes_are_counted_also_where_they_are_too_many),
        cmocka_unit_test(an_array_has_a_head_and_a_size_before_each_element),
        cmocka_unit_test(an_array_over_its_limit_says_so_and_can_be_begun_again),
    };

    return cmocka_run_group_tests_name("pg/params", tests, NULL, NULL);
}
