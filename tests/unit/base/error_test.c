/* SPDX-License-Identifier: Apache-2.0 */
/* The error on the stack: texts that fit, and texts that do not. */
#include "base/error.h"
#include "base/utf8.h"

#include <errno.h>
#include <pawl/error.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static void
setting_clears_what_was_before(void **state)
{
    struct pw_error err = {.code = 9, .sqlstate = "40001", .retryable = true, .hint = "Wait."};

    (void)state;
    pw_error_set(&err, PAWL_EINVAL, "queue \"%s\" has %d names", "a", 3);
    assert_int_equal(err.code, PAWL_EINVAL);
    assert_string_equal(err.message, "queue \"a\" has 3 names");
    assert_string_equal(err.sqlstate, "");
    assert_string_equal(err.hint, "");
    assert_false(err.retryable);
    pw_error_hint(&err, "Give %d.", 2);
    assert_string_equal(err.hint, "Give 2.");
    assert_string_equal(err.message, "queue \"a\" has 3 names");
    pw_error_clear(&err);
    assert_int_equal(err.code, PAWL_OK);
    assert_string_equal(err.message, "");
    assert_string_equal(err.hint, "");
}

static void
nobody_needs_to_want_the_error(void **state)
{
    (void)state;
    pw_error_set(NULL, PAWL_EINVAL, "%s", "a");
    pw_error_hint(NULL, "%s", "a");
    pw_error_errno(NULL, PAWL_ECONN, ENOENT, "a");
    pw_error_oom(NULL);
    pw_error_clear(NULL);
}

static void
a_text_is_cut_where_the_room_ends(void **state)
{
    struct pw_error err;
    char text[600];

    (void)state;
    memset(text, 'x', sizeof(text));
    text[511] = '\0';
    pw_error_set(&err, PAWL_EINVAL, "%s", text);
    assert_string_equal(err.message, text);
    text[511] = 'x';
    text[599] = '\0';
    pw_error_set(&err, PAWL_EINVAL, "%s", text);
    assert_int_equal(strlen(err.message), 511);
    pw_error_hint(&err, "%s", text);
    assert_int_equal(strlen(err.hint), 255);
    assert_int_equal(strlen(err.message), 511);
}

/* Whatever stands before a character of several bytes, it is there as a whole or not at all. */
static void
a_text_is_cut_between_two_characters(void **state)
{
    static const char *const characters[] = {"\xc3\xb6", "\xe6\x97\xa5", "\xf0\x9f\x98\x80"};
    struct pw_error err;
    char text[600];

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        size_t length = strlen(characters[i]);

        for (size_t before = 505; before <= 512; before++) {
            memset(text, 'x', before);
            memcpy(text + before, characters[i], length);
            memset(text + before + length, 'y', 20);
            text[before + length + 20] = '\0';
            pw_error_set(&err, PAWL_EINVAL, "%s", text);
            assert_true(pw_utf8_valid(err.message, strlen(err.message)));
            if (before <= 511 && before + length > 511)
                assert_int_equal(strlen(err.message), before);
            else
                assert_int_equal(strlen(err.message), 511);
        }
    }
}

/* Bytes that are no UTF-8 come from servers with another encoding; only the end of a cut text is looked at. */
static void
a_text_that_fits_is_left_as_it_is(void **state)
{
    struct pw_error err;

    (void)state;
    pw_error_set(&err, PAWL_EDATABASE, "%s", "bad \xc3");
    assert_string_equal(err.message, "bad \xc3");
}

static void
an_error_can_be_put_into_other_words(void **state)
{
    struct pw_error err;

    (void)state;
    pw_error_set(&err, PAWL_ECONN, "no route");
    pw_error_hint(&err, "Look at the cable.");
    pw_error_set(&err, err.code, "connecting: %s", err.message);
    assert_string_equal(err.message, "connecting: no route");
    assert_int_equal(err.code, PAWL_ECONN);
    pw_error_hint(&err, "a");
    pw_error_hint(&err, "%s%s", err.hint, err.hint);
    assert_string_equal(err.hint, "aa");
}

/* The plain locale has no bytes for this character. */
static void
a_text_that_cannot_be_made_is_told_by_its_format(void **state)
{
    struct pw_error err;

    (void)state;
    pw_error_set(&err, PAWL_EINVAL, "name \"%ls\"", L"\x3b1");
    assert_string_equal(err.message, "name \"%ls\"");
    assert_int_equal(err.code, PAWL_EINVAL);
}

static void
an_error_number_is_told_in_words(void **state)
{
    struct pw_error err;

    (void)state;
    pw_error_errno(&err, PAWL_ECONN, ENOENT, "socket");
    assert_string_equal(err.message, "socket: No such file or directory");
    assert_int_equal(err.code, PAWL_ECONN);
    pw_error_errno(&err, PAWL_ECONN, 99999, "socket");
    assert_string_equal(err.message, "socket: Unknown error 99999");
}

static void
out_of_memory_is_worth_another_try(void **state)
{
    struct pw_error err;

    (void)state;
    pw_error_oom(&err);
    assert_int_equal(err.code, PAWL_ENOMEM);
    assert_true(err.retryable);
    assert_string_equal(err.message, "out of memory");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(setting_clears_what_was_before),
        cmocka_unit_test(nobody_needs_to_want_the_error),
        cmocka_unit_test(a_text_is_cut_where_the_room_ends),
        cmocka_unit_test(a_text_is_cut_between_two_characters),
        cmocka_unit_test(a_text_that_fits_is_left_as_it_is),
        cmocka_unit_test(an_error_can_be_put_into_other_words),
        cmocka_unit_test(a_text_that_cannot_be_made_is_told_by_its_format),
        cmocka_unit_test(an_error_number_is_told_in_words),
        cmocka_unit_test(out_of_memory_is_worth_another_try),
    };

    return cmocka_run_group_tests_name("base error", tests, NULL, NULL);
}
