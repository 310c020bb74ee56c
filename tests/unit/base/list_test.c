/* SPDX-License-Identifier: Apache-2.0 */
/* The linked list. */
#include "base/list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

struct thing {
    char name;
    struct pw_list link;
};

/* Holds the names of a list, forwards and backwards, against a text. */
static void
check_list(struct pw_list *list, const char *expected)
{
    size_t count = 0;

    for (struct pw_list *at = pw_list_first(list); at != NULL; at = pw_list_next(list, at)) {
        assert_true(count < strlen(expected));
        assert_int_equal(PW_CONTAINER(at, struct thing, link)->name, expected[count++]);
        assert_ptr_equal(at->prev->next, at);
        assert_ptr_equal(at->next->prev, at);
    }
    assert_int_equal(count, strlen(expected));
    assert_int_equal(pw_list_empty(list), count == 0);
}

static void
make_things(struct thing *things, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        things[i].name = (char)('a' + i);
        pw_list_init(&things[i].link);
    }
}

static void
elements_are_added_at_both_ends(void **state)
{
    struct thing things[4];
    struct pw_list list;

    (void)state;
    make_things(things, 4);
    pw_list_init(&list);
    check_list(&list, "");
    assert_null(pw_list_first(&list));
    pw_list_add_tail(&list, &things[0].link);
    check_list(&list, "a");
    pw_list_add_tail(&list, &things[1].link);
    pw_list_add_head(&list, &things[2].link);
    pw_list_add_head(&list, &things[3].link);
    check_list(&list, "dcab");
}

static void
elements_are_removed_anywhere_and_more_than_once(void **state)
{
    struct thing things[4];
    struct pw_list list;

    (void)state;
    make_things(things, 4);
    pw_list_init(&list);
    for (int i = 0; i < 4; i++)
        pw_list_add_tail(&list, &things[i].link);
    pw_list_remove(&things[1].link);
    check_list(&list, "acd");
    assert_true(pw_list_empty(&things[1].link));
    pw_list_remove(&things[1].link);
    check_list(&list, "acd");
    pw_list_remove(&things[0].link);
    pw_list_remove(&things[3].link);
    check_list(&list, "c");
    pw_list_add_tail(&list, &things[1].link);
    check_list(&list, "cb");
    pw_list_remove(&things[1].link);
    pw_list_remove(&things[2].link);
    check_list(&list, "");
}

static void
all_elements_move_to_another_list_in_order(void **state)
{
    struct thing things[4];
    struct pw_list list, from;

    (void)state;
    make_things(things, 4);
    pw_list_init(&list);
    pw_list_init(&from);
    pw_list_move_all(&list, &from);
    check_list(&list, "");
    pw_list_add_tail(&from, &things[0].link);
    pw_list_add_tail(&from, &things[1].link);
    pw_list_move_all(&list, &from);
    check_list(&list, "ab");
    check_list(&from, "");
    pw_list_add_tail(&from, &things[2].link);
    pw_list_add_tail(&from, &things[3].link);
    pw_list_move_all(&list, &from);
    check_list(&list, "abcd");
    check_list(&from, "");
    pw_list_move_all(&list, &from);
    check_list(&list, "abcd");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_are_added_at_both_ends),
        cmocka_unit_test(elements_are_removed_anywhere_and_more_than_once),
        cmocka_unit_test(all_elements_move_to_another_list_in_order),
    };

    return cmocka_run_group_tests_name("base list", tests, NULL, NULL);
}
