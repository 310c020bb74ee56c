/* SPDX-License-Identifier: Apache-2.0 */
/* Lists as PostgreSQL prints them, and texts that are none. */
#include "base/pg_text/list_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void
lists_are_written_for_people_and_as_json(void **state)
{
    static const struct {
        const char *list;
        const char *text;
        const char *json;
    } cases[] = {
        {"{}", "", "[]"},
        {"{shop.*}", "shop.*", "[\"shop.*\"]"},
        {"{a,b}", "a, b", "[\"a\", \"b\"]"},
        {"{\"\",\"a,b\",\"{}\"}", ", a,b, {}", "[\"\", \"a,b\", \"{}\"]"},
        {"{\"a \\\"b\\\" \\\\c\"}", "a \"b\" \\c", "[\"a \\\"b\\\" \\\\c\"]"},
        {"{NULL,\"NULL\"}", "NULL, NULL", "[null, \"NULL\"]"},
        {"", "", "\"\""},
        {"plain", "plain", "\"plain\""},
        {"{a", "{a", "\"{a\""},
        {"{\"a}", "{\"a}", "\"{\\\"a}\""},
        {"{a}b", "{a}b", "\"{a}b\""},
        {"{\"a\"b}", "{\"a\"b}", "\"{\\\"a\\\"b}\""},
        {"{{a,b},{c,d}}", "{{a,b},{c,d}}", "\"{{a,b},{c,d}}\""},
        {"{", "{", "\"{\""},
        {"{a\\", "{a\\", "\"{a\\\\\""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pw_buf out;

        pw_buf_init(&out, 1000);
        pw_list_text_write(&out, cases[i].list);
        assert_string_equal(pw_buf_text(&out), cases[i].text);
        pw_buf_clear(&out);
        pw_list_text_write_json(&out, cases[i].list);
        assert_string_equal(pw_buf_text(&out), cases[i].json);
        pw_buf_done(&out);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_written_for_people_and_as_json),
    };

    return cmocka_run_group_tests_name("base/pg_text", tests, NULL, NULL);
}
