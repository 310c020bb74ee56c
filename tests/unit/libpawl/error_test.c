/* SPDX-License-Identifier: Apache-2.0 */
/* The public error object, the names of codes, log lines, the version. */
#include "libpawl/common/error.h"

#include "fail_alloc.h"
#include "libpawl/common/log.h"

#include <pawl/pawl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const pawl_bytes none = {NULL, 0};

static void
an_error_object_says_what_the_error_inside_said(void **state)
{
    struct pw_error err = {
        .code = PAWL_ERUN, .sqlstate = "PW007", .retryable = true, .message = "no", .hint = "Go."};
    pawl_error *error = NULL;
    pawl_bytes detail;

    (void)state;
    assert_int_equal(pw_error_export(&err, pawl_text("{\"a\": 1}"), &error), PAWL_ERUN);
    memset(&err, 0, sizeof(err));
    assert_int_equal(pawl_error_code(error), PAWL_ERUN);
    assert_string_equal(pawl_error_message(error), "no");
    assert_string_equal(pawl_error_hint(error), "Go.");
    assert_string_equal(pawl_error_sqlstate(error), "PW007");
    assert_int_equal(pawl_error_retryable(error), 1);
    detail = pawl_error_detail(error);
    assert_int_equal(detail.size, 8);
    assert_string_equal(detail.data, "{\"a\": 1}");
    pawl_error_free(error);
}

static void
success_has_no_error_object(void **state)
{
    const struct pw_error err = {0};
    pawl_error *error = (pawl_error *)(uintptr_t)1;

    (void)state;
    assert_int_equal(pw_error_export(&err, none, &error), PAWL_OK);
    assert_null(error);
    assert_int_equal(pawl_error_code(NULL), PAWL_OK);
    assert_string_equal(pawl_error_message(NULL), "");
    assert_string_equal(pawl_error_hint(NULL), "");
    assert_string_equal(pawl_error_sqlstate(NULL), "");
    assert_int_equal(pawl_error_retryable(NULL), 0);
    assert_null(pawl_error_detail(NULL).data);
    pawl_error_free(NULL);
}

static void
nobody_needs_to_want_the_object(void **state)
{
    struct pw_error err = {.code = PAWL_EBUSY};

    (void)state;
    assert_int_equal(pw_error_export(&err, none, NULL), PAWL_EBUSY);
}

static void
without_memory_there_is_still_an_object(void **state)
{
    struct pw_error err = {.code = PAWL_ECONN, .message = "away"};
    pawl_error *error = NULL;

    (void)state;
    fail_alloc_at(1);
    assert_int_equal(pw_error_export(&err, none, &error), PAWL_ECONN);
    fail_alloc_at(0);
    assert_int_equal(pawl_error_code(error), PAWL_ENOMEM);
    assert_string_equal(pawl_error_message(error), "out of memory");
    pawl_error_free(error);
    assert_int_equal(pw_error_export(&err, (pawl_bytes){"x", SIZE_MAX}, &error), PAWL_ECONN);
    assert_int_equal(pawl_error_code(error), PAWL_ENOMEM);
    pawl_error_free(error);
}

static void
every_code_has_a_name_and_a_text(void **state)
{
    int named = 0;

    (void)state;
    for (int code = -1; code < 40; code++) {
        int known = strcmp(pawl_status_name(code), "unknown") != 0;

        assert_true(strlen(pawl_status_text(code)) > 0);
        assert_true(!known || strncmp(pawl_status_name(code), "PAWL_", 5) == 0);
        named += known;
    }
    assert_int_equal(named, 23);
    assert_string_equal(pawl_status_name(PAWL_EINVAL), "PAWL_EINVAL");
    assert_string_equal(pawl_status_name(PAWL_DRAINED), "PAWL_DRAINED");
    assert_string_equal(pawl_status_name(17), "unknown");
}

struct line {
    int count;
    int level;
    char text[256];
};

static void
keep_line(void *userdata, int level, const char *event, const char *message,
    const char *const *names, const char *const *values, size_t count)
{
    struct line *line = userdata;
    size_t used;

    line->count++;
    line->level = level;
    (void)snprintf(line->text, sizeof(line->text), "%s: %s", event, message);
    for (size_t i = 0; i < count; i++) {
        used = strlen(line->text);
        (void)snprintf(line->text + used, sizeof(line->text) - used, " %s=%s", names[i], values[i]);
    }
}

static void
a_log_line_has_its_pairs_and_only_wanted_ones_are_told(void **state)
{
    struct line line = {0};
    struct pw_logger logger = {.level = PAWL_LOG_INFO, .function = keep_line, .userdata = &line};
    struct pw_error err = {.code = PAWL_EBUSY, .message = "held"};
    char number[PW_LOG_NUMBER_SIZE];

    (void)state;
    pw_log(&logger, PAWL_LOG_INFO, "e", "m", "a", "1", "b", NULL, "n",
        pw_log_number(INT64_MIN, number), NULL);
    assert_int_equal(line.count, 1);
    assert_int_equal(line.level, PAWL_LOG_INFO);
    assert_string_equal(line.text, "e: m a=1 n=-9223372036854775808");
    pw_log(&logger, PAWL_LOG_DEBUG, "e", "m", NULL);
    assert_int_equal(line.count, 1);
    pw_log_error(&logger, PAWL_LOG_ERROR, "oops", "trigger", &err);
    assert_string_equal(line.text, "oops: held status=PAWL_EBUSY what=trigger");
    pw_log(&logger, PAWL_LOG_INFO, "e", "m", "1", "1", "2", "2", "3", "3", "4", "4", "5", "5", "6",
        "6", "7", "7", "8", "8", "9", "9", NULL);
    assert_non_null(strstr(line.text, " 8=8"));
    assert_null(strstr(line.text, " 9=9"));
    logger.function = NULL;
    pw_log(&logger, PAWL_LOG_ERROR, "e", "m", NULL);
    pw_log(NULL, PAWL_LOG_ERROR, "e", "m", NULL);
    assert_int_equal(line.count, 3);
}

static void
the_version_is_that_of_the_header(void **state)
{
    char text[32];

    (void)state;
    (void)snprintf(
        text, sizeof(text), "%d.%d.%d", PAWL_VERSION_MAJOR, PAWL_VERSION_MINOR, PAWL_VERSION_PATCH);
    assert_string_equal(pawl_version_text(), text);
    assert_int_equal(pawl_version(), PAWL_VERSION);
}

static void
a_text_becomes_bytes(void **state)
{
    (void)state;
    assert_int_equal(pawl_text("abc").size, 3);
    assert_int_equal(pawl_text("").size, 0);
    assert_non_null(pawl_text("").data);
    assert_null(pawl_text(NULL).data);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_object_says_what_the_error_inside_said),
        cmocka_unit_test(success_has_no_error_object),
        cmocka_unit_test(nobody_needs_to_want_the_object),
        cmocka_unit_test(without_memory_there_is_still_an_object),
        cmocka_unit_test(every_code_has_a_name_and_a_text),
        cmocka_unit_test(a_log_line_has_its_pairs_and_only_wanted_ones_are_told),
        cmocka_unit_test(the_version_is_that_of_the_header),
        cmocka_unit_test(a_text_becomes_bytes),
    };

    return cmocka_run_group_tests_name("libpawl/error", tests, NULL, NULL);
}
