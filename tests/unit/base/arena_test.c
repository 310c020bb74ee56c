/* SPDX-License-Identifier: Apache-2.0 */
/* The arena: alignment, its maximum, and no memory. */
#include "base/arena.h"
#include "fail_alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static void
pieces_are_aligned_and_do_not_overlap(void **state)
{
    unsigned char *pieces[300];
    struct pw_arena arena;

    (void)state;
    pw_arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < 300; i++) {
        pieces[i] = pw_arena_alloc(&arena, i);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
        memset(pieces[i], (int)i, i);
    }
    for (size_t i = 0; i < 300; i++)
        for (size_t j = 0; j < i; j++)
            assert_int_equal(pieces[i][j], i & 0xff);
    assert_true(arena.total >= 300 * 299 / 2 && arena.total <= 4 * 300 * 299 / 2);
    pw_arena_done(&arena);
    assert_int_equal(arena.total, 0);
    assert_non_null(pw_arena_alloc(&arena, 10));
    pw_arena_done(&arena);
    pw_arena_done(&arena);
}

static void
a_large_piece_does_not_waste_the_block_at_hand(void **state)
{
    struct pw_arena arena;
    char *small, *large, *next;

    (void)state;
    pw_arena_init(&arena, 1 << 20);
    small = pw_arena_alloc(&arena, 16);
    large = pw_arena_alloc(&arena, 100000);
    next = pw_arena_alloc(&arena, 16);
    assert_non_null(small);
    assert_non_null(large);
    assert_ptr_equal(next, small + 16);
    memset(large, 1, 100000);
    pw_arena_done(&arena);
}

static void
small_pieces_cost_few_allocations(void **state)
{
    struct pw_arena arena;

    (void)state;
    pw_arena_init(&arena, 4 << 20);
    fail_alloc_at(0);
    for (int i = 0; i < 65536; i++)
        assert_non_null(pw_arena_alloc(&arena, 16));
    assert_in_range(fail_alloc_count(), 10, 30);
    pw_arena_done(&arena);
}

static void
copies_end_with_a_nul(void **state)
{
    struct pw_arena arena;

    (void)state;
    pw_arena_init(&arena, 4096);
    assert_string_equal(pw_arena_copy(&arena, "pawl", 4), "pawl");
    assert_string_equal(pw_arena_copy(&arena, NULL, 0), "");
    assert_memory_equal(pw_arena_copy(&arena, "a\0bc", 3), "a\0b\0", 4);
    assert_null(pw_arena_copy(&arena, "a", SIZE_MAX));
    assert_null(pw_arena_copy(&arena, "a", 4096));
    pw_arena_done(&arena);
}

/* Whatever the maximum is, all of it but the heads of blocks can be used, and no more is taken. */
static void
the_maximum_holds_for_what_is_taken_from_the_system(void **state)
{
    struct pw_arena arena;

    (void)state;
    for (size_t max = 0; max < 5000; max += 7) {
        size_t pieces = 0;
        char *piece;

        pw_arena_init(&arena, max);
        while ((piece = pw_arena_alloc(&arena, 16)) != NULL) {
            memset(piece, 1, 16);
            pieces++;
        }
        assert_true(arena.total <= max);
        assert_true(max < 100 || pieces * 16 > max / 2);
        pw_arena_done(&arena);
    }
    pw_arena_init(&arena, 100);
    assert_null(pw_arena_alloc(&arena, 100));
    assert_null(pw_arena_alloc(&arena, SIZE_MAX));
    assert_null(pw_arena_alloc(&arena, SIZE_MAX - 15));
    assert_null(pw_arena_alloc(&arena, SIZE_MAX - 40));
    assert_non_null(pw_arena_alloc(&arena, 61));
    pw_arena_done(&arena);
}

static void
no_memory_leaves_the_arena_good(void **state)
{
    struct pw_arena arena;
    char *first, *again;

    (void)state;
    pw_arena_init(&arena, 1 << 20);
    fail_alloc_at(1);
    assert_null(pw_arena_alloc(&arena, 10));
    first = pw_arena_copy(&arena, "first", 5);
    assert_non_null(first);
    fail_alloc_at(1);
    assert_null(pw_arena_alloc(&arena, 5000));
    fail_alloc_at(1);
    assert_null(pw_arena_copy(&arena, first, 2000));
    again = pw_arena_alloc(&arena, 5000);
    assert_non_null(again);
    assert_string_equal(first, "first");
    pw_arena_done(&arena);
    fail_alloc_at(0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_aligned_and_do_not_overlap),
        cmocka_unit_test(a_large_piece_does_not_waste_the_block_at_hand),
        cmocka_unit_test(small_pieces_cost_few_allocations),
        cmocka_unit_test(copies_end_with_a_nul),
        cmocka_unit_test(the_maximum_holds_for_what_is_taken_from_the_system),
        cmocka_unit_test(no_memory_leaves_the_arena_good),
    };

    return cmocka_run_group_tests_name("base arena", tests, NULL, NULL);
}
