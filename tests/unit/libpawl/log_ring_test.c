/* SPDX-License-Identifier: Apache-2.0 */
/* Log lines that are kept until they are fetched. */
#include "fail_alloc.h"
#include "libpawl/common/config.h"
#include "libpawl/common/log_ring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int added;

static void
count(void *argument)
{
    assert_ptr_equal(argument, &added);
    added++;
}

static int
set_up(void **state)
{
    added = 0;
    *state = pw_log_ring_new(PAWL_LOG_INFO, count, &added);
    return *state != NULL ? 0 : -1;
}

static int
tear_down(void **state)
{
    pw_log_ring_free(*state, true);
    return 0;
}

static void
a_line_is_copied_with_its_pairs(void **state)
{
    struct pw_log_ring *ring = *state;
    struct pw_logger logger = {.level = -1, .ring = ring};
    char event[] = "thing_happened", value[] = "7";
    const pawl_log_line *line;

    assert_true(pw_log_ring_empty(ring));
    assert_null(pw_log_ring_next(ring));
    pw_log(&logger, PAWL_LOG_WARNING, event, "it happened", "session", value, "none", NULL, "what",
        "it", NULL);
    pw_log(&logger, PAWL_LOG_DEBUG, "too_small", "not kept", NULL);
    memset(event, 'x', strlen(event));
    memset(value, 'x', strlen(value));
    assert_int_equal(added, 1);
    assert_false(pw_log_ring_empty(ring));
    line = pw_log_ring_next(ring);
    assert_non_null(line);
    assert_int_equal(line->level, PAWL_LOG_WARNING);
    assert_string_equal(line->event, "thing_happened");
    assert_string_equal(line->message, "it happened");
    assert_int_equal(line->count, 2);
    assert_string_equal(line->names[0], "session");
    assert_string_equal(line->values[0], "7");
    assert_string_equal(line->names[1], "what");
    assert_string_equal(line->values[1], "it");
    assert_int_equal(line->dropped, 0);
    assert_true(line->at_us > INT64_C(1500000000) * 1000000);
    assert_null(pw_log_ring_next(ring));
    /* It lives until another one is returned. */
    assert_string_equal(line->event, "thing_happened");
}

static void
add(struct pw_log_ring *ring, int number)
{
    char message[24];

    (void)snprintf(message, sizeof(message), "%d", number);
    pw_log_ring_add(ring, &(pawl_log_line){.event = "e", .message = message});
}

static void
a_full_ring_drops_the_oldest_and_counts(void **state)
{
    struct pw_log_ring *ring = *state;
    const pawl_log_line *line;
    char wanted[24];

    for (int i = 0; i < 1500; i++)
        add(ring, i);
    assert_int_equal(added, 1500);
    for (int i = 500; i < 1500; i++) {
        line = pw_log_ring_next(ring);
        assert_non_null(line);
        (void)snprintf(wanted, sizeof(wanted), "%d", i);
        assert_string_equal(line->message, wanted);
        assert_int_equal(line->dropped, i == 500 ? 500 : 0);
    }
    assert_null(pw_log_ring_next(ring));
}

static void
a_line_without_memory_is_counted_with_the_next_one(void **state)
{
    struct pw_log_ring *ring = *state;
    const pawl_log_line *line;

    add(ring, 1);
    fail_alloc_at(1);
    add(ring, 2);
    fail_alloc_at(0);
    add(ring, 3);
    assert_int_equal(added, 2);
    line = pw_log_ring_next(ring);
    assert_string_equal(line->message, "1");
    assert_int_equal(line->dropped, 0);
    line = pw_log_ring_next(ring);
    assert_string_equal(line->message, "3");
    assert_int_equal(line->dropped, 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(a_line_is_copied_with_its_pairs),
        TEST(a_full_ring_drops_the_oldest_and_counts),
        TEST(a_line_without_memory_is_counted_with_the_next_one),
#undef TEST
    };

    return cmocka_run_group_tests_name("libpawl/log_ring", tests, NULL, NULL);
}
