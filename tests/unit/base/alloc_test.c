/* SPDX-License-Identifier: Apache-2.0 */
/* Memory: copies, sizes that wrap around, and failing on demand. */
#include "base/alloc.h"
#include "base/size.h"
#include "fail_alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static void
zeroed_memory_is_zero_and_nothing_is_one_byte(void **state)
{
    unsigned char *bytes = pw_calloc(3, 100);
    void *none = pw_alloc(0);
    void *empty = pw_calloc(0, 8);

    (void)state;
    assert_non_null(bytes);
    for (int i = 0; i < 300; i++)
        assert_int_equal(bytes[i], 0);
    assert_non_null(none);
    assert_non_null(empty);
    pw_free(bytes);
    pw_free(none);
    pw_free(empty);
    pw_free(NULL);
}

static void
an_array_grows_and_keeps_its_content(void **state)
{
    int *numbers = pw_realloc_array(NULL, 2, sizeof(int));
    int *more;

    (void)state;
    assert_non_null(numbers);
    numbers[0] = 7;
    numbers[1] = 8;
    more = pw_realloc_array(numbers, 1000, sizeof(int));
    assert_non_null(more);
    more[999] = 9;
    assert_int_equal(more[0], 7);
    assert_int_equal(more[1], 8);
    more = pw_realloc_array(more, 0, sizeof(int));
    assert_non_null(more);
    pw_free(more);
}

static void
a_size_that_wraps_around_is_out_of_memory(void **state)
{
    char *p = pw_strdup("still here");

    (void)state;
    fail_alloc_at(0);
    assert_non_null(p);
    assert_null(pw_calloc(SIZE_MAX / 2 + 1, 2));
    assert_null(pw_realloc_array(p, SIZE_MAX / 8 + 1, 8));
    assert_null(pw_memdup(p, SIZE_MAX));
    assert_string_equal(p, "still here");
    assert_int_equal(fail_alloc_count(), 0);
    pw_free(p);
}

static void
copies_end_with_a_nul(void **state)
{
    char *text = pw_strdup("pawl");
    char *bytes = pw_memdup("a\0bc", 3);
    char *none = pw_memdup(NULL, 0);

    (void)state;
    assert_string_equal(text, "pawl");
    assert_memory_equal(bytes, "a\0b\0", 4);
    assert_string_equal(none, "");
    pw_free(text);
    pw_free(bytes);
    pw_free(none);
}

static void
every_kind_of_allocation_can_be_made_to_fail(void **state)
{
    char *p = pw_strdup("kept");

    (void)state;
    assert_non_null(p);
    fail_alloc_from(1);
    assert_null(pw_alloc(1));
    assert_null(pw_calloc(1, 1));
    assert_null(pw_realloc_array(NULL, 1, 1));
    assert_null(pw_realloc_array(p, 100, 1));
    assert_null(pw_strdup("a"));
    assert_null(pw_memdup("a", 1));
    assert_int_equal(fail_alloc_count(), 6);
    fail_alloc_at(0);
    assert_string_equal(p, "kept");
    pw_free(p);
}

static void
the_nth_allocation_fails_and_no_other(void **state)
{
    (void)state;
    fail_alloc_at(2);
    for (int i = 1; i <= 4; i++) {
        void *p = pw_alloc(8);

        assert_true((p == NULL) == (i == 2));
        pw_free(p);
    }
    fail_alloc_at(0);
}

static void
a_loop_of_failures_ends_after_the_last_allocation(void **state)
{
    int rounds = 0, whole = 0;

    (void)state;
    for (long n = 1; fail_alloc_try(n); n++) {
        void *one = pw_alloc(1);
        void *two = pw_alloc(1);

        rounds++;
        whole += one != NULL && two != NULL;
        pw_free(one);
        pw_free(two);
    }
    assert_int_equal(rounds, 3);
    assert_int_equal(whole, 1);
}

static void
sizes_are_added_and_multiplied_up_to_the_end_of_the_range(void **state)
{
    size_t out = 5;

    (void)state;
    assert_true(pw_size_add(SIZE_MAX - 1, 1, &out));
    assert_true(out == SIZE_MAX);
    assert_true(pw_size_add(0, 0, &out));
    assert_int_equal(out, 0);
    assert_true(pw_size_mul(SIZE_MAX / 3, 3, &out));
    assert_true(out == SIZE_MAX / 3 * 3);
    assert_true(pw_size_mul(SIZE_MAX, 0, &out));
    assert_int_equal(out, 0);
    out = 5;
    assert_false(pw_size_add(SIZE_MAX, 1, &out));
    assert_false(pw_size_add(SIZE_MAX, SIZE_MAX, &out));
    assert_false(pw_size_mul(SIZE_MAX, 2, &out));
    assert_false(pw_size_mul(SIZE_MAX / 2 + 1, 2, &out));
    assert_int_equal(out, 5);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeroed_memory_is_zero_and_nothing_is_one_byte),
        cmocka_unit_test(an_array_grows_and_keeps_its_content),
        cmocka_unit_test(a_size_that_wraps_around_is_out_of_memory),
        cmocka_unit_test(copies_end_with_a_nul),
        cmocka_unit_test(every_kind_of_allocation_can_be_made_to_fail),
        cmocka_unit_test(the_nth_allocation_fails_and_no_other),
        cmocka_unit_test(a_loop_of_failures_ends_after_the_last_allocation),
        cmocka_unit_test(sizes_are_added_and_multiplied_up_to_the_end_of_the_range),
    };

    return cmocka_run_group_tests_name("base alloc", tests, NULL, NULL);
}
