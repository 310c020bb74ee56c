/* SPDX-License-Identifier: Apache-2.0 */
/* The record that a claim returns: what becomes of steps, waits, tries and undos. */
#include "fail_alloc.h"
#include "libpawl/run/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t db_now_us = INT64_C(1772366400000000); /* 2026-03-01T12:00:00 */
static const int64_t now_us = 5000000;

static const char whole[] =
    "{\"steps\" : [{\"name\" : \"fetch#1\", \"kind\" : \"step\", \"state\" : \"SUCCESS\", \"seq\" "
    ": 4, "
    "\"output\" : {\"bytes\": 4}, \"error\" : null}, "
    "{\"name\" : \"book#1\", \"kind\" : \"step\", \"state\" : \"RUNNING\", \"seq\" : 2, \"output\" "
    ": null, \"error\" : null}, "
    "{\"name\" : \"pay#1\", \"kind\" : \"step\", \"state\" : \"ERROR\", \"seq\" : 3, \"output\" : "
    "null, "
    "\"error\" : {\"code\":\"card\",\"message\":\"no \\u20ac\"}}, "
    "{\"name\" : \"odd#1\", \"kind\" : \"step\", \"state\" : \"ERROR\", \"seq\" : 7, \"output\" : "
    "null, \"error\" : \"just text\"}, "
    "{\"name\" : \"ok#1\", \"kind\" : \"approval\", \"state\" : \"SUCCESS\", \"seq\" : 5, "
    "\"output\" : {\"approved\": true, \"by\": \"eve\"}, \"error\" : null}, "
    "{\"name\" : \"no#1\", \"kind\" : \"approval\", \"state\" : \"SUCCESS\", \"seq\" : 6, "
    "\"output\" : {\"approved\": false}, \"error\" : null}], "
    "\"waits\" : [{\"name\" : \"a/b/nap#2\", \"kind\" : \"sleep\", \"child\" : null}], "
    "\"retries\" : {\"book#1\": {\"n\": 2, \"of\": 5, \"due\": \"2026-03-01T12:00:01.5+00:00\", "
    "\"error\": {}}, "
    "\"store#1\": {\"n\": 1, \"due\": \"2026-03-01T11:00:00+00:00\"}, \"\": {\"n\": 3}}, "
    "\"undos\" : null, \"later\" : [1, 2]}";

static struct pw_entry *
find(const struct pw_record *record, const char *name)
{
    struct pw_entry *entry = pw_record_find(record, name);

    if (entry == NULL)
        fail_msg("no entry %s", name);
    return entry;
}

static void
every_part_of_a_record_is_found_by_name(void **state)
{
    struct pw_record record;
    struct pw_arena arena;
    struct pw_entry *entry;

    (void)state;
    pw_arena_init(&arena, 100000);
    assert_true(pw_record_read(&record, &arena, pawl_text(whole), db_now_us, now_us));
    assert_int_equal(record.count, 9);
    assert_int_equal(record.seq_max, 7);
    assert_int_equal(record.undo_count, 0);

    entry = find(&record, "fetch#1");
    assert_string_equal(entry->kind, "step");
    assert_int_equal(entry->state, PW_STATE_SUCCESS);
    assert_int_equal(entry->seq, 4);
    assert_string_equal(entry->output.data, "{\"bytes\": 4}");
    assert_null(entry->error.data);
    assert_string_equal(entry->error_code, "");
    assert_int_equal(entry->failures, 0);
    assert_false(entry->used);

    entry = find(&record, "pay#1");
    assert_int_equal(entry->state, PW_STATE_ERROR);
    assert_string_equal(entry->error_code, "card");

    entry = find(&record, "odd#1");
    assert_string_equal(entry->error_code, "");

    assert_true(find(&record, "ok#1")->approved);
    assert_false(find(&record, "no#1")->approved);
    assert_int_equal(find(&record, "a/b/nap#2")->state, PW_STATE_PAUSED);
    assert_string_equal(find(&record, "a/b/nap#2")->kind, "sleep");
    assert_null(pw_record_find(&record, "fetch#2"));
    assert_null(pw_record_find(&record, "zzz#1"));
    pw_arena_done(&arena);
}

static void
tries_are_merged_with_the_step_and_due_on_our_clock(void **state)
{
    struct pw_record record;
    struct pw_arena arena;
    struct pw_entry *entry;

    (void)state;
    pw_arena_init(&arena, 100000);
    assert_true(pw_record_read(&record, &arena, pawl_text(whole), db_now_us, now_us));
    entry = find(&record, "book#1");
    assert_int_equal(entry->state, PW_STATE_RUNNING);
    assert_int_equal(entry->failures, 2);
    assert_int_equal(entry->due_us, now_us + 1500000);
    entry = find(&record, "store#1");
    assert_int_equal(entry->state, PW_STATE_NONE);
    assert_string_equal(entry->kind, "");
    assert_int_equal(entry->due_us, now_us - INT64_C(3600000000));
    entry = find(&record, "");
    assert_int_equal(entry->failures, 3);
    assert_int_equal(entry->due_us, 0);
    pw_arena_done(&arena);
}

static void
undos_come_in_their_order_with_what_they_need(void **state)
{
    static const char json[] =
        "{\"steps\": [], \"waits\": [], \"retries\": {}, \"undos\": ["
        "{\"name\": \"b#1\", \"undo\": {\"handler\": \"unb\", \"input\": {\"x\": 1}, \"policy\": "
        "{\"max_attempts\": 2}}, "
        "\"output\": 7, \"uncertain\": false}, "
        "{\"name\": \"a#1\", \"undo\": {\"handler\": \"una\"}, \"output\": null, \"uncertain\": "
        "true}, "
        "{\"name\": \"c#1\", \"undo\": {}, \"output\": null, \"uncertain\": false}]}";
    struct pw_record record;
    struct pw_arena arena;

    (void)state;
    pw_arena_init(&arena, 100000);
    assert_true(pw_record_read(&record, &arena, pawl_text(json), db_now_us, now_us));
    assert_int_equal(record.count, 0);
    assert_int_equal(record.undo_count, 3);
    assert_string_equal(record.undos[0].name, "b#1");
    assert_string_equal(record.undos[0].handler, "unb");
    assert_string_equal(record.undos[0].input.data, "{\"x\": 1}");
    assert_string_equal(record.undos[0].policy.data, "{\"max_attempts\": 2}");
    assert_string_equal(record.undos[0].output.data, "7");
    assert_false(record.undos[0].uncertain);
    assert_true(record.undos[1].uncertain);
    assert_null(record.undos[1].output.data);
    assert_null(record.undos[1].input.data);
    assert_null(record.undos[1].policy.data);
    assert_string_equal(record.undos[2].handler, "");
    assert_string_equal(record.undos[2].output.data, "null");
    pw_arena_done(&arena);
}

static void
no_record_is_an_empty_one(void **state)
{
    struct pw_record record;
    struct pw_arena arena;

    (void)state;
    pw_arena_init(&arena, 1000);
    memset(&record, 0xff, sizeof(record));
    assert_true(pw_record_read(&record, &arena, (pawl_bytes){0}, db_now_us, now_us));
    assert_int_equal(record.count, 0);
    assert_int_equal(record.seq_max, 0);
    assert_null(pw_record_find(&record, "a#1"));
    assert_true(pw_record_read(&record, &arena, pawl_text("null"), db_now_us, now_us));
    assert_true(pw_record_read(&record, &arena, pawl_text("{}"), db_now_us, now_us));
    assert_int_equal(record.count, 0);
    pw_record_sort(&record);
    pw_arena_done(&arena);
}

static void
what_makes_no_sense_is_refused(void **state)
{
    static const char *const texts[] = {"[]", "7", "{\"steps\": 7}", "{\"steps\": {}}",
        "{\"steps\": [7]}", "{\"steps\": [{}]}",
        "{\"steps\": [{\"name\": \"a#1\", \"kind\": \"step\"}]}",
        "{\"steps\": [{\"name\": \"a#1\", \"kind\": \"step\", \"state\": \"ODD\"}]}",
        "{\"steps\":[{\"name\":\"a#1\",\"kind\":\"step\",\"state\":\"SUCCESS\",\"seq\":\"x\"}]}",
        "{\"steps\":[{\"name\":\"a#1\",\"kind\":\"step\",\"state\":\"SUCCESS\",\"seq\":-1}]}",
        "{\"steps\":[{\"name\":\"a#1\",\"kind\":\"step\",\"state\":\"ERROR\",\"seq\":2147483648}]}",
        "{\"steps\": [{\"name\": \"a#1\", \"state\": \"SUCCESS\", \"seq\": 1}]}",
        "{\"steps\": [{\"kind\": \"step\", \"state\": \"SUCCESS\", \"seq\": 1}]}",
        "{\"waits\": [{\"name\": \"a#1\"}]}", "{\"retries\": []}", "{\"retries\": {\"a#1\": {}}}",
        "{\"retries\": {\"a#1\": {\"n\": -1}}}",
        "{\"retries\": {\"a#1\": {\"n\": 1, \"due\": \"soon\"}}}", "{\"undos\": {}}",
        "{\"undos\": [{}]}", "{\"undos\": [{\"name\": \"a#1\"}]}",
        "{\"undos\": [{\"uncertain\": true}]}", "{\"steps\": []",
        "{\"retries\": {\"a#1\": {\"n\": 1}}"};
    struct pw_arena arena;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct pw_record record = {.count = 77};

        pw_arena_init(&arena, 100000);
        if (pw_record_read(&record, &arena, pawl_text(texts[i]), db_now_us, now_us))
            fail_msg("%s was taken", texts[i]);
        assert_int_equal(record.count, 77);
        pw_arena_done(&arena);
    }
}

static void
the_error_of_a_child_speaks_for_it(void **state)
{
    struct pw_arena arena;
    const char *code, *message;

    (void)state;
    pw_arena_init(&arena, 1000);
    assert_true(pw_record_read_error(pawl_text("{\"code\":\"child_failed\",\"child\":\"x\","
                                               "\"error\":{\"code\":\"y\",\"message\":\"deep\"}}"),
        &arena, &code, &message));
    assert_string_equal(code, "child_failed");
    assert_string_equal(message, "deep");
    assert_true(pw_record_read_error((pawl_bytes){0}, &arena, &code, &message));
    assert_string_equal(code, "");
    assert_string_equal(message, "");
    assert_true(pw_record_read_error(pawl_text("[1, 2]"), &arena, &code, &message));
    assert_string_equal(message, "[1, 2]");
    pw_arena_done(&arena);
}

static void
numbers_of_open_waits_count(void **state)
{
    struct pw_record record;
    struct pw_arena arena;

    (void)state;
    pw_arena_init(&arena, 100000);
    assert_true(pw_record_read(&record, &arena,
        pawl_text(
            "{\"steps\":[{\"name\":\"a#1\",\"kind\":\"step\",\"state\":\"SKIPPED\",\"seq\":1}],"
            "\"waits\":[{\"name\":\"b#1\",\"kind\":\"sleep\",\"seq\":3},{\"name\":\"c#1\","
            "\"kind\":\"event\",\"seq\":2}]}"),
        db_now_us, now_us));
    assert_int_equal(record.seq_max, 3);
    assert_int_equal(find(&record, "a#1")->state, PW_STATE_SUCCESS);
    pw_arena_done(&arena);
}

static void
any_allocation_may_fail(void **state)
{
    struct pw_record record;
    struct pw_arena arena;

    (void)state;
    for (long n = 1; fail_alloc_try(n); n++) {
        pw_arena_init(&arena, 100000);
        (void)pw_record_read(&record, &arena, pawl_text(whole), db_now_us, now_us);
        pw_arena_done(&arena);
    }
    /* A small arena fails at other places. */
    for (size_t max = 0; max < 6000; max += 16) {
        pw_arena_init(&arena, max);
        (void)pw_record_read(&record, &arena, pawl_text(whole), db_now_us, now_us);
        pw_arena_done(&arena);
    }
}

static void
ten_thousand_steps_are_found_each(void **state)
{
    size_t size = 0, room = 10000 * 100;
    char *text = malloc(room);
    struct pw_record record;
    struct pw_arena arena;
    char name[32];

    (void)state;
    assert_non_null(text);
    size += (size_t)snprintf(text, room, "{\"steps\":[");
    for (int i = 1; i <= 10000; i++)
        size += (size_t)snprintf(text + size, room - size,
            "%s{\"name\":\"page#%d\",\"kind\":\"step\",\"state\":\"SUCCESS\",\"seq\":%d,\"output\":"
            "%d}",
            i > 1 ? "," : "", i, i, i);
    (void)snprintf(text + size, room - size, "]}");
    pw_arena_init(&arena, (size_t)64 * 1024 * 1024);
    assert_true(pw_record_read(&record, &arena, pawl_text(text), db_now_us, now_us));
    assert_int_equal(record.seq_max, 10000);
    for (int i = 1; i <= 10000; i++) {
        (void)snprintf(name, sizeof(name), "page#%d", i);
        assert_int_equal(find(&record, name)->seq, i);
    }
    pw_arena_done(&arena);
    free(text);
}

static struct pw_json
json(const char *text)
{
    return (struct pw_json){text, strlen(text)};
}

static void
states_have_names(void **state)
{
    (void)state;
    assert_int_equal(pw_record_state(json("\"SUCCESS\"")), PW_STATE_SUCCESS);
    assert_int_equal(pw_record_state(json("\"SKIPPED\"")), PW_STATE_SUCCESS);
    assert_int_equal(pw_record_state(json("\"ERROR\"")), PW_STATE_ERROR);
    assert_int_equal(pw_record_state(json("\"RUNNING\"")), PW_STATE_RUNNING);
    assert_int_equal(pw_record_state(json("\"PAUSED\"")), PW_STATE_PAUSED);
    assert_int_equal(pw_record_state(json("\"paused\"")), PW_STATE_NONE);
    assert_int_equal(pw_record_state(json("null")), PW_STATE_NONE);
    assert_int_equal(pw_record_state((struct pw_json){0}), PW_STATE_NONE);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_have_names),
        cmocka_unit_test(every_part_of_a_record_is_found_by_name),
        cmocka_unit_test(tries_are_merged_with_the_step_and_due_on_our_clock),
        cmocka_unit_test(undos_come_in_their_order_with_what_they_need),
        cmocka_unit_test(no_record_is_an_empty_one),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(the_error_of_a_child_speaks_for_it),
        cmocka_unit_test(numbers_of_open_waits_count),
        cmocka_unit_test(any_allocation_may_fail),
        cmocka_unit_test(ten_thousand_steps_are_found_each),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
