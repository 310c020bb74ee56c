/* SPDX-License-Identifier: Apache-2.0 */
/* The scan of payloads: size, UTF-8, nesting, syntax. */
#include "base/json_scan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static enum pw_json_problem
scan(const char *text)
{
    return pw_json_scan(text, strlen(text), 1000, 3);
}

static void
json_passes_and_other_texts_do_not(void **state)
{
    static const char *const good[] = {"1", "null", "\"\"", "{}", " [1, {\"a\": [2]}]\n",
        "\"\xc3\xb6\"", "\"\\u0000\"", "\"\\ud800\"", "1e999999", "-0.5E-3",
        "{\"a\": 1, \"a\": 2}"};
    static const char *const bad[] = {"{\"a\"", "]]]", "}", "]}[[[", "\xf0\x9f\x98\x80", "\\",
        "\"\\", "{\"card\": 1 oops", "1 2", "01", "+1", ".5", "1.", "nul", "'a'", "[1,]",
        "{\"a\" 1}", "{a: 1}", "\"\n\"", "\"\\x\"", "\"\\u12\"", "\v", "NaN", "\"a"};

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        if (scan(good[i]) != PW_JSON_OK)
            fail_msg("%s", good[i]);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (scan(bad[i]) != PW_JSON_INVALID)
            fail_msg("%s", bad[i]);
}

static void
blanks_alone_are_empty(void **state)
{
    (void)state;
    assert_int_equal(pw_json_scan(NULL, 0, 1000, 3), PW_JSON_EMPTY);
    assert_int_equal(scan(""), PW_JSON_EMPTY);
    assert_int_equal(scan(" \t\r\n"), PW_JSON_EMPTY);
}

static void
the_size_may_be_the_maximum_and_no_more(void **state)
{
    (void)state;
    assert_int_equal(pw_json_scan("[12]", 4, 4, 3), PW_JSON_OK);
    assert_int_equal(pw_json_scan("[12]", 4, 3, 3), PW_JSON_TOO_LARGE);
    assert_int_equal(pw_json_scan("\xff", 1, 0, 3), PW_JSON_TOO_LARGE);
    assert_int_equal(pw_json_scan(NULL, SIZE_MAX, SIZE_MAX - 1, 3), PW_JSON_TOO_LARGE);
    assert_int_equal(pw_json_scan("1", 1, SIZE_MAX, 0), PW_JSON_OK);
}

static void
nesting_counts_outside_of_strings_only(void **state)
{
    (void)state;
    assert_int_equal(scan("[[[]]]"), PW_JSON_OK);
    assert_int_equal(scan("[[[[]]]]"), PW_JSON_TOO_DEEP);
    assert_int_equal(scan("[{\"a\":[{}]}]"), PW_JSON_TOO_DEEP);
    assert_int_equal(scan("[[[]],[[]],[[]]]"), PW_JSON_OK);
    assert_int_equal(scan("[\"[[[[[[\"]"), PW_JSON_OK);
    assert_int_equal(scan("[\"\\\"[[[[[[\"]"), PW_JSON_OK);
    assert_int_equal(scan("[\"\\\\\",[[[1]]]]"), PW_JSON_TOO_DEEP);
    assert_int_equal(scan("[\"\\\xc3\xb6\",[[[1]]]]"), PW_JSON_TOO_DEEP);
    assert_int_equal(scan("]]]]]][[[[1]]]]"), PW_JSON_TOO_DEEP);
    assert_int_equal(pw_json_scan("[]", 2, 1000, 0), PW_JSON_TOO_DEEP);
}

static void
bytes_that_are_no_characters_are_found_anywhere(void **state)
{
    static const char *const bad[] = {"\xff", "\"\x80\"", "\"\xc0\xaf\"", "\"\xed\xa0\x80\"",
        "\"\xf4\x90\x80\x80\"", "\"\xe0\x80\x80\"", "\"abc\xe6\x97", "[1,\"\\\xc3\"]"};

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (scan(bad[i]) != PW_JSON_NOT_UTF8)
            fail_msg("%s", bad[i]);
    assert_int_equal(pw_json_scan("\"\xe6\x97\xa5\"", 3, 1000, 3), PW_JSON_NOT_UTF8);
}

static void
a_nul_byte_is_found_and_its_escape_is_not(void **state)
{
    (void)state;
    assert_int_equal(pw_json_scan("\"a\0\"", 4, 1000, 3), PW_JSON_HAS_NUL);
    assert_int_equal(pw_json_scan("\0", 1, 1000, 3), PW_JSON_HAS_NUL);
    assert_int_equal(pw_json_scan("1\0", 2, 1000, 3), PW_JSON_HAS_NUL);
    assert_int_equal(scan("\"\\u0000\""), PW_JSON_OK);
}

static void
every_problem_has_a_text_of_its_own(void **state)
{
    (void)state;
    for (int i = PW_JSON_OK; i <= PW_JSON_INVALID; i++)
        for (int j = i + 1; j <= PW_JSON_INVALID + 1; j++)
            assert_string_not_equal(pw_json_problem_text((enum pw_json_problem)i),
                pw_json_problem_text((enum pw_json_problem)j));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_passes_and_other_texts_do_not),
        cmocka_unit_test(blanks_alone_are_empty),
        cmocka_unit_test(the_size_may_be_the_maximum_and_no_more),
        cmocka_unit_test(nesting_counts_outside_of_strings_only),
        cmocka_unit_test(bytes_that_are_no_characters_are_found_anywhere),
        cmocka_unit_test(a_nul_byte_is_found_and_its_escape_is_not),
        cmocka_unit_test(every_problem_has_a_text_of_its_own),
    };

    return cmocka_run_group_tests_name("base json scan", tests, NULL, NULL);
}
