/* SPDX-License-Identifier: Apache-2.0 */
/* The hash map, beside a plain table that does the same slowly. */
#include "base/map.h"
#include "base/rand.h"
#include "fail_alloc.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct pw_uuid
make_run(unsigned number)
{
    struct pw_uuid run = {{0}};

    run.bytes[0] = (uint8_t)(number >> 8);
    run.bytes[15] = (uint8_t)number;
    return run;
}

static void
what_is_put_is_found_by_run_and_task(void **state)
{
    struct pw_uuid one = make_run(1), two = make_run(2);
    struct pw_map map;
    int a, b, c;

    (void)state;
    pw_map_init(&map, 10);
    assert_null(pw_map_get(&map, &one, 0));
    assert_null(pw_map_remove(&map, &one, 0));
    assert_int_equal(pw_map_count(&map), 0);
    assert_true(pw_map_put(&map, &one, 0, &a));
    assert_true(pw_map_put(&map, &one, 1, &b));
    assert_true(pw_map_put(&map, &two, INT_MIN, &c));
    assert_false(pw_map_put(&map, &two, 1, NULL));
    assert_int_equal(pw_map_count(&map), 3);
    assert_ptr_equal(pw_map_get(&map, &one, 0), &a);
    assert_ptr_equal(pw_map_get(&map, &one, 1), &b);
    assert_ptr_equal(pw_map_get(&map, &two, INT_MIN), &c);
    assert_null(pw_map_get(&map, &two, 0));
    assert_true(pw_map_put(&map, &one, 0, &c));
    assert_ptr_equal(pw_map_get(&map, &one, 0), &c);
    assert_int_equal(pw_map_count(&map), 3);
    assert_ptr_equal(pw_map_remove(&map, &one, 0), &c);
    assert_null(pw_map_remove(&map, &one, 0));
    assert_null(pw_map_get(&map, &one, 0));
    assert_int_equal(pw_map_count(&map), 2);
    pw_map_done(&map);
    assert_int_equal(pw_map_count(&map), 0);
    assert_null(pw_map_get(&map, &one, 1));
    assert_true(pw_map_put(&map, &one, 0, &a));
    pw_map_done(&map);
}

static void
a_full_map_takes_no_more_but_other_values(void **state)
{
    struct pw_uuid run = make_run(7);
    struct pw_map map;
    int a, b;

    (void)state;
    pw_map_init(&map, 100);
    for (int task = 0; task < 100; task++)
        assert_true(pw_map_put(&map, &run, task, &a));
    assert_false(pw_map_put(&map, &run, 100, &a));
    assert_true(pw_map_put(&map, &run, 50, &b));
    assert_ptr_equal(pw_map_get(&map, &run, 50), &b);
    assert_ptr_equal(pw_map_remove(&map, &run, 0), &a);
    assert_true(pw_map_put(&map, &run, 100, &a));
    assert_int_equal(pw_map_count(&map), 100);
    pw_map_done(&map);
    pw_map_init(&map, 0);
    assert_false(pw_map_put(&map, &run, 0, &a));
    assert_null(pw_map_get(&map, &run, 0));
    pw_map_done(&map);
}

/* The keys are few and the changes many, so that entries are moved in every way, also over the end of the table. */
static void
random_changes_agree_with_a_plain_table(void **state)
{
    enum {
        KEYS = 600
    };
    void *table[KEYS] = {NULL};
    static int values[KEYS];
    struct pw_rand rand;
    struct pw_map map;
    size_t count = 0;

    (void)state;
    pw_rand_init(&rand, 42);
    pw_map_init(&map, KEYS);
    for (int n = 0; n < 200000; n++) {
        unsigned key = (unsigned)(pw_rand_next(&rand) % KEYS);
        struct pw_uuid run = make_run(key / 3);
        int task = (int)(key % 3);

        /* Fills in one half of the time and empties in the other. */
        if (pw_rand_next(&rand) % 8 < (n / 20000 % 2 == 0 ? 5 : 2)) {
            count += table[key] == NULL;
            table[key] = &values[pw_rand_next(&rand) % KEYS];
            assert_true(pw_map_put(&map, &run, task, table[key]));
        } else {
            count -= table[key] != NULL;
            assert_ptr_equal(pw_map_remove(&map, &run, task), table[key]);
            table[key] = NULL;
        }
        assert_int_equal(pw_map_count(&map), count);
        if (n % 1000 == 0)
            for (key = 0; key < KEYS; key++) {
                run = make_run(key / 3);
                assert_ptr_equal(pw_map_get(&map, &run, (int)(key % 3)), table[key]);
            }
    }
    pw_map_done(&map);
}

static void
a_walk_meets_every_entry_once(void **state)
{
    const struct pw_map_entry *entry;
    int values[50] = {0};
    struct pw_map map;
    size_t at = 0;
    int met = 0;

    (void)state;
    pw_map_init(&map, 100);
    assert_null(pw_map_next(&map, &at));
    for (int i = 0; i < 50; i++) {
        struct pw_uuid run = make_run((unsigned)i);

        assert_true(pw_map_put(&map, &run, i, &values[i]));
    }
    for (at = 0; (entry = pw_map_next(&map, &at)) != NULL; met++) {
        struct pw_uuid run = make_run((unsigned)entry->task);

        assert_true(pw_uuid_equal(&entry->run, &run));
        assert_ptr_equal(entry->value, &values[entry->task]);
        values[entry->task]++;
    }
    assert_int_equal(met, 50);
    for (int i = 0; i < 50; i++)
        assert_int_equal(values[i], 1);
    assert_null(pw_map_next(&map, &at));
    pw_map_done(&map);
}

static void
no_memory_leaves_the_map_as_it_was(void **state)
{
    struct pw_map map;
    int value;

    (void)state;
    for (long n = 1; fail_alloc_try(n); n++) {
        size_t failed = 0;

        pw_map_init(&map, 1000);
        for (unsigned i = 0; i < 500; i++) {
            struct pw_uuid run = make_run(i);

            if (!pw_map_put(&map, &run, 1, &value)) {
                failed++;
                assert_int_equal(pw_map_count(&map), i);
                assert_null(pw_map_get(&map, &run, 1));
                assert_true(pw_map_put(&map, &run, 1, &value));
            }
        }
        assert_int_equal(pw_map_count(&map), 500);
        for (unsigned i = 0; i < 500; i++) {
            struct pw_uuid run = make_run(i);

            assert_ptr_equal(pw_map_get(&map, &run, 1), &value);
        }
        assert_true(failed == 1 || fail_alloc_count() < n);
        pw_map_done(&map);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_put_is_found_by_run_and_task),
        cmocka_unit_test(a_full_map_takes_no_more_but_other_values),
        cmocka_unit_test(random_changes_agree_with_a_plain_table),
        cmocka_unit_test(a_walk_meets_every_entry_once),
        cmocka_unit_test(no_memory_leaves_the_map_as_it_was),
    };

    return cmocka_run_group_tests_name("base map", tests, NULL, NULL);
}
