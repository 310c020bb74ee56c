/* SPDX-License-Identifier: Apache-2.0 */
/* Times, tags, problems, and the document of the interface. */
#include "base/json_read.h"
#include "server/api/openapi.h"
#include "server/api/page.h"
#include "server/api/problem.h"
#include "server/api/show.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void
times_are_shown_in_rfc_3339(void **state)
{
    char out[SHOW_TIME_SIZE];

    (void)state;
    assert_true(show_time("2026-02-03 04:05:06.789+00", out));
    assert_string_equal(out, "2026-02-03T04:05:06.789Z");
    assert_true(show_time("2026-02-03 04:05:06+00", out));
    assert_string_equal(out, "2026-02-03T04:05:06Z");
    assert_false(show_time("infinity", out));
    assert_false(show_time("2026-02-03 04:05:06+01", out));
    assert_false(show_time("", out));
}

static void
a_header_has_one_tag_or_many(void **state)
{
    char tag[PAGE_TAG_SIZE];

    (void)state;
    page_tag("0a1b", tag);
    assert_string_equal(tag, "\"0a1b\"");
    assert_true(page_has_tag("\"0a1b\"", tag));
    assert_true(page_has_tag("\"x\", W/\"0a1b\" , \"y\"", tag));
    assert_true(page_has_tag("*", tag));
    assert_false(page_has_tag("\"0a1\"", tag));
    assert_false(page_has_tag("0a1b", tag));
    assert_false(page_has_tag("\"0a1b\"x", tag));
    assert_false(page_has_tag("", tag));
}

static void
answers_that_refuse_are_problems(void **state)
{
    static const struct {
        const char *answer;
        unsigned status; /* 0: none */
        const char *code;
    } cases[] = {{"ok", 0, NULL}, {"already", 0, NULL}, {"created", 0, NULL}, {"exists", 0, NULL},
        {"not_found", 404, "not_found"}, {"busy", 503, "busy"}, {"refused", 409, "refused"},
        {"differs", 409, "differs"}, {"no_such_step", 409, "no_such_step"},
        {"SUCCESS", 409, "refused"}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct problem problem = {0};
        struct pw_buf out;

        assert_int_equal(problem_set_answer(&problem, cases[i].answer, NULL), cases[i].status != 0);
        assert_int_equal(problem.status, cases[i].status);
        if (cases[i].status == 0)
            continue;
        assert_string_equal(problem.code, cases[i].code);
        pw_buf_init(&out, 10000);
        problem_write(&problem, &out);
        assert_true(pw_json_valid((struct pw_json){out.data, out.size}));
        pw_buf_done(&out);
    }
}

static void
the_document_of_the_interface_is_json(void **state)
{
    struct pw_buf out;

    (void)state;
    pw_buf_init(&out, 1 << 20);
    assert_true(openapi_write(&out));
    assert_true(pw_json_valid((struct pw_json){out.data, out.size}));
    pw_buf_done(&out);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_shown_in_rfc_3339),
        cmocka_unit_test(a_header_has_one_tag_or_many),
        cmocka_unit_test(answers_that_refuse_are_problems),
        cmocka_unit_test(the_document_of_the_interface_is_json),
    };

    return cmocka_run_group_tests_name("server/show", tests, NULL, NULL);
}
