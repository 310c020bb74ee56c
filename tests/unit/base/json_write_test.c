/* SPDX-License-Identifier: Apache-2.0 */
/* Writing JSON: escapes, numbers, commas and brackets. */
#include "base/json_write.h"
#include "fail_alloc.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
check_string(const char *data, size_t size, const char *expected)
{
    struct pw_buf buf;

    pw_buf_init(&buf, 10000);
    pw_json_string(&buf, data, size);
    assert_true(pw_buf_ok(&buf));
    assert_string_equal(buf.data, expected);
    pw_buf_done(&buf);
}

static void
strings_are_escaped_where_json_asks_for_it(void **state)
{
    (void)state;
    check_string("", 0, "\"\"");
    check_string(NULL, 0, "\"\"");
    check_string("plain /\x7f", 8, "\"plain /\x7f\"");
    check_string("\"\\\b\f\n\r\t", 7, "\"\\\"\\\\\\b\\f\\n\\r\\t\"");
    check_string("a\0b\x01\x1f", 5, "\"a\\u0000b\\u0001\\u001f\"");
    check_string("\n", 1, "\"\\n\"");
    check_string("x\ny", 3, "\"x\\ny\"");
}

static void
characters_stay_and_bytes_that_are_none_become_replacements(void **state)
{
    (void)state;
    check_string(
        "\xc3\xb6\xe6\x97\xa5\xf0\x9f\x98\x80", 9, "\"\xc3\xb6\xe6\x97\xa5\xf0\x9f\x98\x80\"");
    check_string("a\xff"
                 "b",
        3,
        "\"a\xef\xbf\xbd"
        "b\"");
    check_string("\xe6\x97", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\"");
    check_string("\xed\xa0\x80", 3, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
    check_string("\xc0\x80", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\"");
    check_string("\xc3\"", 2, "\"\xef\xbf\xbd\\\"\"");
}

static void
whole_numbers_are_written_to_the_ends_of_the_range(void **state)
{
    struct pw_buf buf;

    (void)state;
    pw_buf_init(&buf, 100);
    pw_json_int(&buf, INT64_MIN);
    pw_buf_addc(&buf, ' ');
    pw_json_int(&buf, INT64_MAX);
    pw_buf_addc(&buf, ' ');
    pw_json_int(&buf, 0);
    assert_string_equal(buf.data, "-9223372036854775808 9223372036854775807 0");
    pw_buf_done(&buf);
}

static void
check_double(double value, const char *expected)
{
    struct pw_buf buf;

    pw_buf_init(&buf, 100);
    pw_json_double(&buf, value);
    assert_string_equal(pw_buf_text(&buf), expected);
    pw_buf_done(&buf);
}

static void
numbers_are_written_as_short_as_they_read_back(void **state)
{
    (void)state;
    check_double(0, "0");
    check_double(-0.0, "-0");
    check_double(0.2, "0.2");
    check_double(2, "2");
    check_double(0.1 + 0.2, "0.30000000000000004");
    check_double(1e300, "1e+300");
    check_double(-1.5e-7, "-1.5e-07");
    check_double(DBL_MAX, "1.7976931348623157e+308");
    check_double(DBL_TRUE_MIN, "4.94065645841247e-324");
    check_double(INFINITY, "null");
    check_double(-INFINITY, "null");
    check_double(NAN, "null");
}

/* In the locale made here the decimal point is a character of two bytes. */
static void
numbers_have_a_point_in_every_locale(void **state)
{
    char folder[] = "/tmp/pawl_locale_XXXXXX";
    char command[200];
    bool made;

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof(command),
        "localedef --no-archive -i ps_AF -f UTF-8 %s/ps_AF.UTF-8 >/dev/null 2>&1", folder);
    made = system(command) != -1 && setenv("LOCPATH", folder, 1) == 0 &&
        setlocale(LC_ALL, "ps_AF.UTF-8") != NULL;
    if (made) {
        snprintf(command, sizeof(command), "%g", 0.5);
        assert_string_equal(command,
            "0\xd9\xab"
            "5");
        check_double(0.1 + 0.2, "0.30000000000000004");
        check_double(-1.5e-7, "-1.5e-07");
        assert_non_null(setlocale(LC_ALL, "C"));
    }
    snprintf(command, sizeof(command), "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    if (!made)
        skip();
}

static void
the_writer_sets_commas_and_brackets(void **state)
{
    struct pw_json_writer w;
    struct pw_buf buf;

    (void)state;
    pw_buf_init(&buf, 1000);
    pw_json_writer_init(&w, &buf);
    pw_json_open(&w, '{');
    pw_json_key(&w, "na\"me");
    pw_json_add_text(&w, "a");
    pw_json_key(&w, "list");
    pw_json_open(&w, '[');
    pw_json_add_int(&w, -1);
    pw_json_add_double(&w, 0.5);
    pw_json_open(&w, '{');
    pw_json_close(&w);
    pw_json_open(&w, '[');
    pw_json_close(&w);
    pw_json_add_bool(&w, true);
    pw_json_add_bool(&w, false);
    pw_json_add_null(&w);
    pw_json_add_text(&w, NULL);
    pw_json_add_string(&w, "b\0", 2);
    pw_json_add_raw(&w, "{\"x\": 1}", 8);
    pw_json_close(&w);
    pw_json_key(&w, "end");
    pw_json_add_raw(&w, "[]", 2);
    assert_false(pw_json_ok(&w));
    pw_json_close(&w);
    assert_true(pw_json_ok(&w));
    assert_string_equal(buf.data,
        "{\"na\\\"me\":\"a\",\"list\":[-1,0.5,{},[],true,false,null,null,\"b\\u0000\",{\"x\": 1}],"
        "\"end\":[]}");
    pw_buf_done(&buf);
}

static void
a_single_value_is_json_too(void **state)
{
    struct pw_json_writer w;
    struct pw_buf buf;

    (void)state;
    pw_buf_init(&buf, 1000);
    pw_json_writer_init(&w, &buf);
    assert_false(pw_json_ok(&w));
    pw_json_add_int(&w, 3);
    assert_true(pw_json_ok(&w));
    pw_json_add_int(&w, 4);
    assert_false(pw_json_ok(&w));
    assert_string_equal(buf.data, "3");
    pw_buf_done(&buf);
}

/* Each letter is a call; the buffer and the writer start anew. */
static bool
write_calls(const char *calls)
{
    struct pw_json_writer w;
    struct pw_buf buf;
    bool ok;

    pw_buf_init(&buf, 1000);
    pw_json_writer_init(&w, &buf);
    for (; *calls != '\0'; calls++) {
        if (strchr("{[(", *calls) != NULL)
            pw_json_open(&w, *calls);
        else if (*calls == '.')
            pw_json_close(&w);
        else if (*calls == 'k')
            pw_json_key(&w, "k");
        else if (*calls == 'e')
            pw_json_add_raw(&w, "", 0);
        else
            pw_json_add_int(&w, 1);
    }
    ok = pw_json_ok(&w);
    pw_buf_done(&buf);
    return ok;
}

static void
what_would_not_be_json_is_refused_for_good(void **state)
{
    static const char *const bad[] = {"", "{", "[", ".", "{1.", "{kk", "{k.", "{k1", "[k", "k", "(",
        "1{.", "{.{.", "{.1", "[1..", "{[..", "e", "[e.", "{k1.k", "[[[[[[[[[[[[[[[[[", "{k1k.."};
    static const char *const good[] = {"1", "{.", "[.", "{k1.", "{k1k1.", "[11.", "[[.[1.{k[...",
        "[[[[[[[[[[[[[[[[................"};

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (write_calls(bad[i]))
            fail_msg("%s", bad[i]);
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        if (!write_calls(good[i]))
            fail_msg("%s", good[i]);
}

static void
a_full_buffer_or_no_memory_is_not_ok(void **state)
{
    struct pw_json_writer w;
    struct pw_buf buf;

    (void)state;
    pw_buf_init(&buf, 9);
    pw_json_writer_init(&w, &buf);
    pw_json_open(&w, '{');
    pw_json_key(&w, "abcd");
    pw_json_add_int(&w, 1);
    pw_json_close(&w);
    assert_false(pw_json_ok(&w));
    assert_int_equal(buf.failure, PW_BUF_LIMIT);
    pw_buf_done(&buf);
    fail_alloc_at(1);
    pw_json_writer_init(&w, &buf);
    pw_json_add_null(&w);
    assert_false(pw_json_ok(&w));
    assert_int_equal(buf.failure, PW_BUF_OOM);
    fail_alloc_at(0);
    pw_buf_done(&buf);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_are_escaped_where_json_asks_for_it),
        cmocka_unit_test(characters_stay_and_bytes_that_are_none_become_replacements),
        cmocka_unit_test(whole_numbers_are_written_to_the_ends_of_the_range),
        cmocka_unit_test(numbers_are_written_as_short_as_they_read_back),
        cmocka_unit_test(numbers_have_a_point_in_every_locale),
        cmocka_unit_test(the_writer_sets_commas_and_brackets),
        cmocka_unit_test(a_single_value_is_json_too),
        cmocka_unit_test(what_would_not_be_json_is_refused_for_good),
        cmocka_unit_test(a_full_buffer_or_no_memory_is_not_ok),
    };

    return cmocka_run_group_tests_name("base json write", tests, NULL, NULL);
}
