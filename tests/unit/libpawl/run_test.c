/* SPDX-License-Identifier: Apache-2.0 */
/* What a handler can ask about its run, its memory, its notes, and what the heartbeat tells. */
#include "base/buf.h"
#include "base/time.h"
#include "fail_alloc.h"
#include "fake_core.h"
#include "libpawl/run/branch.h"
#include "pawl/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static struct pw_task *task;
static pawl_run *run;

static void
begin(const char *record)
{
    fake_core_reset();
    task = fake_core_task(record);
    assert_non_null(task);
    run = task->run;
}

static int
end(void **state)
{
    (void)state;
    if (task != NULL)
        fake_core_end(task);
    task = NULL;
    fake_core_done();
    return 0;
}

static void
facts_are_those_of_the_claim(void **state)
{
    int mine = 0;

    (void)state;
    begin(NULL);
    task->userdata = &mine;
    task->tenant = "acme";
    task->execution = 3;
    task->metadata = pawl_text("{\"m\":1}");
    assert_string_equal(pawl_run_id(run), "019ab000-0000-7000-8000-000000000001");
    assert_string_equal(pawl_run_workflow(run), "demo.v1");
    assert_string_equal(pawl_run_tenant(run), "acme");
    assert_string_equal(pawl_run_input(run).data, "{\"n\":1}");
    assert_string_equal(pawl_run_metadata(run).data, "{\"m\":1}");
    assert_int_equal(pawl_run_execution(run), 3);
    assert_ptr_equal(pawl_run_userdata(run), &mine);
    assert_int_equal(pawl_run_rolling_back(run), 0);
    assert_int_equal(pawl_run_undo_uncertain(run), 0);
    assert_int_equal(pawl_run_check(run), PAWL_OK);
    assert_null(pawl_run_error(run).data);
    assert_string_equal(pawl_run_error_message(run), "");
    assert_null(pawl_run_context(run));
    pawl_run_set_context(run, &mine);
    assert_ptr_equal(pawl_run_context(run), &mine);
}

static void
nothing_is_asked_of_no_run(void **state)
{
    pawl_bytes bytes;

    (void)state;
    assert_string_equal(pawl_run_id(NULL), "");
    assert_string_equal(pawl_run_workflow(NULL), "");
    assert_string_equal(pawl_run_tenant(NULL), "");
    assert_null(pawl_run_input(NULL).data);
    assert_null(pawl_run_metadata(NULL).data);
    assert_int_equal(pawl_run_execution(NULL), 0);
    assert_null(pawl_run_userdata(NULL));
    assert_int_equal(pawl_run_check(NULL), PAWL_EINVAL);
    assert_null(pawl_run_alloc(NULL, 1));
    assert_int_equal(pawl_run_printf(NULL, &bytes, "x"), PAWL_EINVAL);
    assert_int_equal(pawl_run_quote(NULL, "x", &bytes), PAWL_EINVAL);
    assert_null(pawl_run_error(NULL).data);
    assert_string_equal(pawl_run_error_message(NULL), "");
    assert_null(pawl_run_context(NULL));
    assert_int_equal(pawl_run_rolling_back(NULL), 0);
    assert_int_equal(pawl_run_undo_uncertain(NULL), 0);
    pawl_run_set_context(NULL, NULL);
    pawl_run_set_nonblocking(NULL);
    pawl_run_set_error(NULL, "c", "m");
    pawl_run_set_error_json(NULL, bytes);
    pawl_run_retry_after(NULL, 1);
    pawl_run_log(NULL, "x");
    pawl_run_progress(NULL, "x", "y");
    pawl_run_log_text(NULL, pawl_text("x"));
    pawl_run_progress_text(NULL, "x", pawl_text("y"));
    pawl_run_set_error_text(NULL, "x", pawl_text("y"));
    pawl_run_finish(NULL, PAWL_OK, (pawl_bytes){0});
    pw_run_free(NULL);
}

static void
texts_are_formatted_and_quoted_into_memory_of_the_run(void **state)
{
    pawl_bytes bytes = {0};

    (void)state;
    begin(NULL);
    assert_int_equal(pawl_run_printf(run, &bytes, "{\"n\":%d}", 42), PAWL_OK);
    assert_string_equal(bytes.data, "{\"n\":42}");
    assert_int_equal(bytes.size, 8);
    assert_int_equal(pawl_run_quote(run, "a \"b\" \n \xff", &bytes), PAWL_OK);
    assert_string_equal(bytes.data, "\"a \\\"b\\\" \\n \xef\xbf\xbd\"");
    assert_int_equal(pawl_run_quote(run, NULL, &bytes), PAWL_EINVAL);
}

static void
memory_of_a_branch_has_a_limit(void **state)
{
    pawl_bytes bytes;

    (void)state;
    fake_core_reset();
    fake_core_limits(1000, 65536);
    task = fake_core_task(NULL);
    run = task->run;
    assert_non_null(pawl_run_alloc(run, 10000));
    assert_null(pawl_run_alloc(run, 65536));
    assert_int_equal(pawl_run_printf(run, &bytes, "%65536s", "x"), PAWL_ENOMEM);
    assert_non_null(pawl_run_alloc(run, 100));
}

static void
notes_are_posted_and_nobody_waits(void **state)
{
    (void)state;
    begin(NULL);
    pawl_run_log(run, "line %d", 1);
    pawl_run_progress(run, "pages", "%d %%", 40);
    pawl_run_progress(run, NULL, "half");
    pawl_run_log(run, "%s", "");
    assert_string_equal(fake_core_item(0), "note - line 1 -");
    assert_string_equal(fake_core_item(1), "note pages 40 % {\"kind\":\"progress\"}");
    assert_string_equal(fake_core_item(2), "note - half {\"kind\":\"progress\"}");
    assert_string_equal(fake_core_item(3), "note -  -");
    assert_int_equal(fake_core_seq(0), INT32_MIN);
    /* Texts that are no formats; a NUL byte ends them. */
    pawl_run_log_text(run, pawl_text("100 %s"));
    pawl_run_log_text(run, (pawl_bytes){"a\0b", 3});
    pawl_run_log_text(run, (pawl_bytes){"abc", 2});
    pawl_run_progress_text(run, "p", pawl_text("%d"));
    pawl_run_progress_text(run, NULL, (pawl_bytes){NULL, 0});
    assert_string_equal(fake_core_item(4), "note - 100 %s -");
    assert_string_equal(fake_core_item(5), "note - a -");
    assert_string_equal(fake_core_item(6), "note - ab -");
    assert_string_equal(fake_core_item(7), "note p %d {\"kind\":\"progress\"}");
    assert_string_equal(fake_core_item(8), "note -  {\"kind\":\"progress\"}");
}

static void
long_and_broken_notes_are_cut_and_mended(void **state)
{
    char *text = malloc(20001);
    char name[301];

    (void)state;
    begin(NULL);
    assert_non_null(text);
    memset(text, 'x', 20000);
    text[20000] = '\0';
    memcpy(text + 16383, "\xc3\xa4", 2);
    memset(name, 'n', 300);
    name[300] = '\0';
    pawl_run_progress(run, name, "%s", text);
    assert_int_equal(strlen(fake_core_item(0)),
        strlen("note ") + 200 + 1 + 16383 + strlen(" {\"kind\":\"progress\"}"));
    pawl_run_log(run, "a\xff\xc3z");
    assert_string_equal(fake_core_item(1), "note - a??z -");
    pawl_run_progress(run, "\x80", "1");
    assert_string_equal(fake_core_item(2), "note ? 1 {\"kind\":\"progress\"}");
    pawl_run_progress_text(run, name, (pawl_bytes){text, 20000});
    assert_string_equal(fake_core_item(3), fake_core_item(0));
    free(text);
}

static void
pieces_of_a_stream_are_numbered_and_say_where_a_step_begins(void **state)
{
    (void)state;
    begin(NULL);
    pawl_step_stream(run, pawl_text("outside"));
    assert_int_equal(fake_core_count(), 0);
    assert_int_equal(atomic_load(&run->notes_dropped), 1);
    assert_int_equal(pawl_step_begin(run, "ask", NULL), PAWL_EXECUTE);
    pawl_step_stream(run, pawl_text("a\xff"));
    pawl_step_stream(run, (pawl_bytes){NULL, 0});
    pawl_step_stream(run, (pawl_bytes){"bc", 1});
    assert_string_equal(
        fake_core_item(0), "note ask#1 a? {\"kind\":\"stream\",\"seq\":1,\"begins\":true}");
    assert_string_equal(fake_core_item(1), "note ask#1 b {\"kind\":\"stream\",\"seq\":2}");
    assert_int_equal(fake_core_count(), 2);
    assert_int_equal(pawl_step_finish(run, PAWL_OK, pawl_text("1"), NULL), PAWL_OK);
    pawl_step_stream(run, pawl_text("outside"));
    assert_int_equal(pawl_step_begin(run, "ask", NULL), PAWL_EXECUTE);
    fail_alloc_at(1);
    pawl_step_stream(run, pawl_text("no memory"));
    fail_alloc_at(0);
    pawl_step_stream(run, pawl_text("c"));
    assert_string_equal(
        fake_core_item(3), "note ask#2 c {\"kind\":\"stream\",\"seq\":3,\"begins\":true}");
    run->stream_bytes = PW_STREAM_BYTES_MAX - 1;
    pawl_step_stream(run, pawl_text("dd"));
    pawl_step_stream(run, pawl_text("d"));
    assert_int_equal(fake_core_count(), 5);
    run->stream_bytes = 0;
    run->stream_count = PW_STREAM_MAX;
    pawl_step_stream(run, pawl_text("e"));
    assert_int_equal(fake_core_count(), 5);
    assert_int_equal(pawl_step_finish(run, PAWL_OK, pawl_text("1"), NULL), PAWL_OK);
}

static void
expect_traceparent(const char *metadata, const char *expected)
{
    char found[PAWL_TRACEPARENT_SIZE];

    task->metadata = pawl_text(metadata);
    pawl_run_traceparent(run, found);
    assert_string_equal(found, expected);
}

static void
a_traceparent_follows_from_the_records(void **state)
{
#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define GIVEN(text) "{\"traceparent\":\"" text "\"}"
    char found[PAWL_TRACEPARENT_SIZE] = "x";

    (void)state;
    begin(NULL);
    task->round = 1;
    expect_traceparent(NULL, "00-019ab000000070008000000000000001-35d61127ed61703f-01");
    expect_traceparent(
        GIVEN("00-" TRACE "-00f067aa0ba902b7-00"), "00-" TRACE "-35d61127ed61703f-00");
    expect_traceparent("{\"a\":1,\"traceparent\":\"42-" TRACE "-00f067aa0ba902b7-03-later\"}",
        "00-" TRACE "-35d61127ed61703f-03");
    assert_int_equal(pawl_step_begin(run, "ask", NULL), PAWL_EXECUTE);
    expect_traceparent(
        GIVEN("00-" TRACE "-00f067aa0ba902b7-01"), "00-" TRACE "-7d2be90a36dbaced-01");
    assert_int_equal(pawl_step_finish(run, PAWL_OK, pawl_text("1"), NULL), PAWL_OK);
    task->round = 2;
    task->number = 7;
    expect_traceparent(NULL, "00-019ab000000070008000000000000001-36108c3840408b7c-01");
    task->number = 0;
    pawl_run_traceparent(NULL, found);
    assert_string_equal(found, "");
}

static void
a_traceparent_that_is_not_valid_is_ignored(void **state)
{
    static const char *const bad[] = {"", "[]", "{}", "{\"traceparent\":1}", GIVEN("00-1"),
        GIVEN("ff-" TRACE "-00f067aa0ba902b7-01"), GIVEN("0x-" TRACE "-00f067aa0ba902b7-01"),
        GIVEN("00-00000000000000000000000000000000-00f067aa0ba902b7-01"),
        GIVEN("00-" TRACE "-00f067aa0ba902b7-01-more"),
        GIVEN("01-" TRACE "-00f067aa0ba902b7-01more"), GIVEN("00-" TRACE "X00f067aa0ba902b7-01"),
        GIVEN("00_" TRACE "-00f067aa0ba902b7-01"), GIVEN("00-" TRACE "-00f067aa0ba902bX-01"),
        GIVEN("00-" TRACE "-00f067aa0ba902b7X01"), GIVEN("00-" TRACE "-00f067aa0ba902b7-X1"),
        GIVEN("00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01")};

    (void)state;
    begin(NULL);
    task->round = 1;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        expect_traceparent(bad[i], "00-019ab000000070008000000000000001-35d61127ed61703f-01");
#undef GIVEN
#undef TRACE
}

static void
more_than_a_thousand_notes_are_dropped(void **state)
{
    (void)state;
    begin(NULL);
    for (int i = 0; i < 1100; i++)
        pawl_run_log(run, "%d", i);
    assert_int_equal(fake_core_count(), 1000);
    assert_int_equal(atomic_load(&run->notes_dropped), 100);
    end(state);
    begin(NULL);
    fail_alloc_at(1);
    pawl_run_log(run, "no memory");
    fail_alloc_at(0);
    atomic_store(&task->standing, PW_LEASE_LOST);
    pawl_run_log(run, "too late");
    assert_int_equal(fake_core_count(), 0);
    assert_int_equal(atomic_load(&run->notes_dropped), 2);
}

/* Puts an N in the place of every time that a step has taken. */
static void
mask_times(char *text)
{
    static const char key[] = "\"started_ms\":";
    char *at = text;

    while ((at = strstr(at, key)) != NULL) {
        size_t digits;

        at += strlen(key);
        digits = strspn(at, "0123456789");
        assert_true(digits == 4);
        *at = 'N';
        memmove(at + 1, at + digits, strlen(at + digits) + 1);
    }
}

static void
a_heartbeat_tells_of_steps_that_last(void **state)
{
    pawl_run *branch;
    struct pw_buf json;
    size_t count = 0;

    (void)state;
    begin(NULL);
    pw_buf_init(&json, 65536);
    assert_int_equal(pawl_run_branch(run, "side", &branch), PAWL_OK);
    pw_run_write_running(run, pw_now_us(), 0, &json, &count);
    assert_int_equal(count, 0);
    assert_int_equal(pawl_step_begin(run, "a", NULL), PAWL_EXECUTE);
    pawl_run_set_option(branch, "timeout_ms", "9000");
    assert_int_equal(pawl_step_begin(branch, "b", NULL), PAWL_EXECUTE);
    pw_run_write_running(run, pw_now_us(), 1000000, &json, &count);
    assert_int_equal(count, 0);
    pw_run_write_running(run, pw_now_us() + 2000000, 1000000, &json, &count);
    assert_int_equal(count, 2);
    mask_times(json.data);
    assert_string_equal(pw_buf_text(&json),
        "{\"run\":\"019ab000-0000-7000-8000-000000000001\",\"task\":0,"
        "\"step\":\"a#1\",\"started_ms\":N},"
        "{\"run\":\"019ab000-0000-7000-8000-000000000001\",\"task\":0,"
        "\"step\":\"side/b#1\",\"started_ms\":N,\"timeout_ms\":9000}");
    assert_int_equal(pawl_step_finish(run, PAWL_OK, pawl_text("1"), NULL), PAWL_OK);
    assert_int_equal(pawl_step_finish(branch, PAWL_EFAILED, pawl_text("1"), NULL), PAWL_SUSPENDED);
    pw_buf_clear(&json);
    count = 0;
    pw_run_write_running(run, pw_now_us() + 1999999, 1000000, &json, &count);
    assert_int_equal(count, 0);
    pw_buf_done(&json);
    /* One that does not fit is left out. */
    pw_buf_init(&json, 300);
    assert_int_equal(pawl_step_begin(run, "c", NULL), PAWL_EXECUTE);
    pw_run_write_running(run, pw_now_us(), 0, &json, &count);
    assert_int_equal(count, 0);
    assert_true(pw_buf_ok(&json));
    pw_buf_done(&json);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(facts_are_those_of_the_claim, end),
        cmocka_unit_test(nothing_is_asked_of_no_run),
        cmocka_unit_test_teardown(texts_are_formatted_and_quoted_into_memory_of_the_run, end),
        cmocka_unit_test_teardown(memory_of_a_branch_has_a_limit, end),
        cmocka_unit_test_teardown(notes_are_posted_and_nobody_waits, end),
        cmocka_unit_test_teardown(long_and_broken_notes_are_cut_and_mended, end),
        cmocka_unit_test_teardown(pieces_of_a_stream_are_numbered_and_say_where_a_step_begins, end),
        cmocka_unit_test_teardown(a_traceparent_follows_from_the_records, end),
        cmocka_unit_test_teardown(a_traceparent_that_is_not_valid_is_ignored, end),
        cmocka_unit_test_teardown(more_than_a_thousand_notes_are_dropped, end),
        cmocka_unit_test_teardown(a_heartbeat_tells_of_steps_that_last, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
