/* SPDX-License-Identifier: Apache-2.0 */
/* What to trigger: options, inputs and runs that are added, and what is wrong with them. */
#include "libpawl/client/trigger.h"

#include "fail_alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const pawl_bytes none = {NULL, 0};

static int
read_one(const pawl_trigger *trigger, struct pw_trigger_values *values)
{
    struct pw_error err = {0};

    return pw_trigger_read(trigger, false, values, &err);
}

static int
read_many(const pawl_trigger *trigger)
{
    struct pw_trigger_values values;
    struct pw_error err = {0};

    return pw_trigger_read(trigger, true, &values, &err);
}

static void
options_are_read_as_what_they_are(void **state)
{
    static const char *const single[] = {"replace", "debounce_ms", "debounce_max_ms"};
    pawl_trigger *trigger = pawl_trigger_new("w");
    struct pw_trigger_values values;

    (void)state;
    assert_int_equal(read_one(trigger, &values), PAWL_OK);
    assert_false(values.has_priority || values.has_delay || values.has_key_ttl ||
        values.key_while_active || values.has_id);
    pawl_trigger_set(trigger, "priority", "32767");
    pawl_trigger_set(trigger, "delay_ms", "10");
    pawl_trigger_set(trigger, "key_ttl_ms", "1");
    pawl_trigger_set(trigger, "key_while_active", "on");
    pawl_trigger_set(trigger, "expires_ms", "2");
    pawl_trigger_set(trigger, "replace", "on");
    pawl_trigger_set(trigger, "debounce_ms", "3");
    pawl_trigger_set(trigger, "debounce_max_ms", "4");
    pawl_trigger_set(trigger, "id", "01900000-0000-7000-8000-0000000000AB");
    pawl_trigger_set(trigger, "key", "k");
    pawl_trigger_set(trigger, "key", "l");
    assert_int_equal(read_one(trigger, &values), PAWL_OK);
    assert_true(values.has_priority && values.has_delay && values.has_key_ttl &&
        values.key_while_active && values.has_id);
    assert_int_equal(values.priority, 32767);
    assert_int_equal(values.expires_ms, 2);
    assert_true(values.replace);
    assert_int_equal(values.debounce_ms, 3);
    assert_int_equal(values.debounce_max_ms, 4);
    assert_int_equal(values.delay_ms, 10);
    assert_int_equal(values.key_ttl_ms, 1);
    assert_int_equal(values.id.bytes[15], 0xab);
    assert_string_equal(trigger->options[PW_TRIGGER_KEY], "l");
    assert_int_equal(read_many(trigger), PAWL_EINVAL);
    pawl_trigger_set(trigger, "key", NULL);
    assert_int_equal(read_many(trigger), PAWL_EINVAL);
    pawl_trigger_set(trigger, "id", NULL);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(read_many(trigger), PAWL_EINVAL);
        pawl_trigger_set(trigger, single[i], NULL);
    }
    assert_int_equal(read_many(trigger), PAWL_OK);
    pawl_trigger_set(trigger, "expires_ms", NULL);
    pawl_trigger_free(trigger);
}

static void
what_is_wrong_can_be_taken_back(void **state)
{
    static const char *const bad[][2] = {{"priority", "32768"}, {"priority", ""},
        {"delay_ms", "1s"}, {"key_ttl_ms", "0"}, {"key_while_active", "yes"}, {"id", "x"},
        {"expires_ms", "0"}, {"replace", "1"}, {"debounce_ms", ""}, {"debounce_max_ms", "-1"},
        {"nothing", "x"}};
    pawl_trigger *trigger = pawl_trigger_new("w");
    struct pw_trigger_values values;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        pawl_trigger_set(trigger, bad[i][0], bad[i][1]);
        assert_int_equal(read_one(trigger, &values), PAWL_EINVAL);
        pawl_trigger_set(trigger, bad[i][0], NULL);
        assert_int_equal(read_one(trigger, &values), PAWL_OK);
    }
    pawl_trigger_free(trigger);
    trigger = pawl_trigger_new(NULL);
    assert_int_equal(read_one(trigger, &values), PAWL_EINVAL);
    assert_int_equal(read_one(NULL, &values), PAWL_EINVAL);
    pawl_trigger_free(trigger);
}

static void
inputs_are_copied(void **state)
{
    pawl_trigger *trigger = pawl_trigger_new("w");
    char input[] = "[1]";

    (void)state;
    pawl_trigger_set_input(trigger, pawl_text(input));
    for (int i = 0; i < 40; i++)
        pawl_trigger_add(trigger, pawl_text(input), i % 2 ? input : NULL);
    pawl_trigger_add(trigger, none, NULL);
    memset(input, 'x', 3);
    assert_int_equal(trigger->input_size, 3);
    assert_memory_equal(trigger->input, "[1]", 3);
    assert_int_equal(trigger->item_count, 41);
    assert_string_equal(trigger->items[39].input, "[1]");
    assert_string_equal(trigger->items[39].key, "[1]");
    assert_null(trigger->items[38].key);
    assert_string_equal(trigger->items[40].input, "{}");
    pawl_trigger_set_input(trigger, none);
    assert_null(trigger->input);
    pawl_trigger_clear(trigger);
    assert_int_equal(trigger->item_count, 0);
    pawl_trigger_free(trigger);
}

static void
too_many_runs_can_be_taken_back(void **state)
{
    pawl_trigger *trigger = pawl_trigger_new("w");

    (void)state;
    for (int i = 0; i < PW_TRIGGER_ITEMS_MAX; i++)
        pawl_trigger_add(trigger, none, NULL);
    assert_int_equal(read_many(trigger), PAWL_OK);
    pawl_trigger_add(trigger, none, NULL);
    assert_int_equal(read_many(trigger), PAWL_ETOOLARGE);
    pawl_trigger_clear(trigger);
    assert_int_equal(read_many(trigger), PAWL_OK);
    pawl_trigger_free(trigger);
}

static void
too_many_bytes_are_too_large_and_not_out_of_memory(void **state)
{
    const pawl_bytes huge = {"x", SIZE_MAX};
    pawl_trigger *trigger = pawl_trigger_new("w");

    (void)state;
    pawl_trigger_add(trigger, pawl_text("12"), "k");
    assert_int_equal(trigger->item_bytes, 3);
    trigger->item_bytes = PW_TRIGGER_BYTES_MAX - 3;
    pawl_trigger_add(trigger, pawl_text("12"), "k");
    assert_int_equal(read_many(trigger), PAWL_OK);
    pawl_trigger_add(trigger, none, "k");
    assert_int_equal(read_many(trigger), PAWL_ETOOLARGE);
    pawl_trigger_clear(trigger);
    pawl_trigger_add(trigger, huge, "k");
    assert_int_equal(read_many(trigger), PAWL_ETOOLARGE);
    pawl_trigger_clear(trigger);
    assert_int_equal(read_many(trigger), PAWL_OK);
    pawl_trigger_free(trigger);
}

static void
nothing_to_set_it_on_is_harmless(void **state)
{
    (void)state;
    pawl_trigger_set(NULL, "key", "k");
    pawl_trigger_set_input(NULL, none);
    pawl_trigger_add(NULL, none, NULL);
    pawl_trigger_clear(NULL);
    pawl_trigger_free(NULL);
}

/* Whatever could not be kept is said, until it is set again or taken back. */
static void
what_there_was_no_memory_for_is_said(void **state)
{
    struct pw_trigger_values values;

    (void)state;
    for (long n = 1; fail_alloc_try(n); n++) {
        pawl_trigger *trigger = pawl_trigger_new("w");
        bool one, many;

        if (trigger == NULL)
            continue;
        pawl_trigger_set(trigger, "key", "k");
        pawl_trigger_set_input(trigger, pawl_text("1"));
        one = trigger->options[PW_TRIGGER_KEY] != NULL && trigger->input != NULL;
        assert_int_equal(read_one(trigger, &values), one ? PAWL_OK : PAWL_ENOMEM);
        pawl_trigger_set(trigger, "key", NULL);
        for (int i = 0; i < 20; i++)
            pawl_trigger_add(trigger, pawl_text("1"), "k");
        many = trigger->item_count == 20;
        assert_int_equal(read_many(trigger), many ? PAWL_OK : PAWL_ENOMEM);
        pawl_trigger_clear(trigger);
        pawl_trigger_set_input(trigger, none);
        assert_int_equal(read_one(trigger, &values), PAWL_OK);
        assert_int_equal(read_many(trigger), PAWL_OK);
        pawl_trigger_free(trigger);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_are_read_as_what_they_are),
        cmocka_unit_test(what_is_wrong_can_be_taken_back),
        cmocka_unit_test(inputs_are_copied),
        cmocka_unit_test(too_many_runs_can_be_taken_back),
        cmocka_unit_test(too_many_bytes_are_too_large_and_not_out_of_memory),
        cmocka_unit_test(nothing_to_set_it_on_is_harmless),
        cmocka_unit_test(what_there_was_no_memory_for_is_said),
    };

    return cmocka_run_group_tests_name("libpawl/trigger", tests, NULL, NULL);
}
