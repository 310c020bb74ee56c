/* SPDX-License-Identifier: Apache-2.0 */
/* The earliest of many points in time. */
#include "base/heap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void
an_empty_heap_has_no_first(void **state)
{
    struct pw_heap heap;

    (void)state;
    pw_heap_init(&heap);
    assert_true(pw_heap_first(&heap) == INT64_MAX);
    assert_int_equal(pw_heap_take(&heap, INT64_MAX), 0);
}

static void
points_come_out_in_their_order(void **state)
{
    struct pw_heap heap;
    int64_t last = -1;

    (void)state;
    pw_heap_init(&heap);
    for (int64_t i = 0; i < 1000; i++)
        pw_heap_add(&heap, i * 7919 % 1000);
    for (int i = 0; i < 1000; i++) {
        int64_t first = pw_heap_first(&heap);

        assert_true(first > last);
        last = first;
        assert_int_equal(pw_heap_take(&heap, first), 1);
    }
    assert_true(pw_heap_first(&heap) == INT64_MAX);
}

static void
all_that_is_over_is_taken_at_once(void **state)
{
    struct pw_heap heap;

    (void)state;
    pw_heap_init(&heap);
    for (int64_t i = 100; i > 0; i--)
        pw_heap_add(&heap, i);
    assert_int_equal(pw_heap_take(&heap, 60), 60);
    assert_true(pw_heap_first(&heap) == 61);
}

static void
a_full_heap_keeps_its_earliest(void **state)
{
    struct pw_heap heap;

    (void)state;
    pw_heap_init(&heap);
    for (int64_t i = 0; i < PW_HEAP_MAX; i++)
        pw_heap_add(&heap, 1000 + i);
    pw_heap_add(&heap, 5);
    pw_heap_add(&heap, INT64_MAX - 1);
    assert_true(pw_heap_first(&heap) == 5);
    assert_int_equal(pw_heap_take(&heap, INT64_MAX), PW_HEAP_MAX);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_heap_has_no_first),
        cmocka_unit_test(points_come_out_in_their_order),
        cmocka_unit_test(all_that_is_over_is_taken_at_once),
        cmocka_unit_test(a_full_heap_keeps_its_earliest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
