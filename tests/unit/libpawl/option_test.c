/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the next call: which there are, how long they are kept, and who says what is wrong with one. */
#include "fake_core.h"
#include "pawl/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
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

static pawl_status
do_nothing(pawl_run *of, void *userdata, pawl_bytes *output)
{
    (void)of;
    (void)userdata;
    (void)output;
    return PAWL_OK;
}

static void
a_mistake_in_an_option_is_said_by_the_call_and_then_forgotten(void **state)
{
    static const char *const mistakes[][3] = {
        {"colour", "red", "option \"colour\" does not exist"},
        {"max_attempts", "0", "option \"max_attempts\" must be a whole number from 1"},
        {"max_attempts", "many", "option \"max_attempts\" must be a whole number from 1"},
        {"base_ms", "-1", "option \"base_ms\" must be milliseconds, at most ten years"},
        {"factor", "0.5", "option \"factor\" must be a number from 1 to 1000"},
        {"jitter", "2", "option \"jitter\" must be a number from 0 to 1"},
        {"timeout_ms", "0", "option \"timeout_ms\" must be milliseconds, from 1 to ten years"},
        {"undo", "Not A Name", "option \"undo\" must be the name of an undo handler"},
        {"undo_input", "{\"a\":1}, {", "option \"undo_input\" must be JSON of at most 60000 bytes"},
        {"undo_input", "{}", "option \"undo_input\" needs the option \"undo\""},
        {"undo_base_ms", "1", "option \"undo_base_ms\" needs the option \"undo\""},
        {"key", "k", "option \"key\" is not one of this call"},
        {"priority", "1", "option \"priority\" is not one of this call"},
        {NULL, "x", "option \"\" does not exist"},
    };

    (void)state;
    begin(NULL);
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
        pawl_run_set_option(run, mistakes[i][0], mistakes[i][1]);
        assert_int_equal(pawl_step(run, "a", do_nothing, NULL, NULL), PAWL_EINVAL);
        assert_string_equal(pawl_run_error_message(run), mistakes[i][2]);
    }
    assert_int_equal(pawl_step(run, "a", do_nothing, NULL, NULL), PAWL_OK);
    assert_string_equal(fake_core_item(0), "step a#1 null -");
}

static void
a_base_above_the_cap_is_refused(void **state)
{
    (void)state;
    begin(NULL);
    pawl_run_set_option(run, "base_ms", "2001");
    pawl_run_set_option(run, "cap_ms", "2000");
    assert_int_equal(pawl_step(run, "a", do_nothing, NULL, NULL), PAWL_EINVAL);
    assert_string_equal(pawl_run_error_message(run),
        "option \"base_ms\" must not be more than the option \"cap_ms\"");
    pawl_run_set_option(run, "base_ms", "2000");
    pawl_run_set_option(run, "cap_ms", "2000");
    assert_int_equal(pawl_step(run, "a", do_nothing, NULL, NULL), PAWL_OK);
    pawl_run_set_option(run, "cap_ms", "0");
    assert_int_equal(pawl_step(run, "b", do_nothing, NULL, NULL), PAWL_OK);
}

static void
an_option_can_be_taken_back(void **state)
{
    (void)state;
    begin(NULL);
    pawl_run_set_option(run, "undo", "u");
    pawl_run_set_option(run, "max_attempts", "2");
    pawl_run_set_option(run, "undo", NULL);
    pawl_run_set_option(run, "jitter", NULL);
    assert_int_equal(pawl_step_begin(run, "a", NULL), PAWL_EXECUTE);
    assert_int_equal(fake_core_count(), 0);
    assert_int_equal(pawl_step_finish(run, PAWL_EFAILED, (pawl_bytes){0}, NULL), PAWL_SUSPENDED);
    assert_non_null(strstr(fake_core_item(0), " {\"policy\":{\"max_attempts\":2},\"failure\":1}"));
    end(state);
    /* One that there is not cannot be, and what was a mistake stays one. */
    begin(NULL);
    pawl_run_set_option(run, "colour", NULL);
    assert_int_equal(pawl_step_begin(run, "a", NULL), PAWL_EINVAL);
    pawl_run_set_option(run, "factor", "0.5");
    pawl_run_set_option(run, "factor", NULL);
    assert_int_equal(pawl_step_begin(run, "a", NULL), PAWL_EINVAL);
    assert_int_equal(pawl_step_begin(run, "a", NULL), PAWL_EXECUTE);
}

static void
options_belong_to_the_next_call_whatever_it_answers(void **state)
{
    (void)state;
    begin("{\"steps\":[{\"name\":\"known#1\",\"kind\":\"step\",\"state\":\"SUCCESS\",\"seq\":1,"
          "\"output\":1}]}");
    pawl_run_set_option(run, "max_attempts", "3");
    assert_int_equal(pawl_step_begin(run, "known", NULL), PAWL_OK);
    pawl_run_set_option(run, "max_attempts", "4");
    assert_int_equal(pawl_step_begin(run, "BAD", NULL), PAWL_EINVAL);
    assert_int_equal(pawl_step_begin(run, "a", NULL), PAWL_EXECUTE);
    assert_int_equal(pawl_step_finish(run, PAWL_EFAILED, (pawl_bytes){0}, NULL), PAWL_SUSPENDED);
    assert_null(strstr(fake_core_item(0), "max_attempts"));
}

static void
an_option_while_a_step_is_open_is_a_mistake(void **state)
{
    (void)state;
    begin(NULL);
    assert_int_equal(pawl_step_begin(run, "a", NULL), PAWL_EXECUTE);
    pawl_run_set_option(run, "max_attempts", "2");
    assert_int_equal(pawl_step_finish(run, PAWL_OK, pawl_text("1"), NULL), PAWL_OK);
    assert_int_equal(pawl_step_begin(run, "b", NULL), PAWL_EINVAL);
    assert_int_equal(pawl_step_begin(run, "b", NULL), PAWL_EXECUTE);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(
            a_mistake_in_an_option_is_said_by_the_call_and_then_forgotten, end),
        cmocka_unit_test_teardown(a_base_above_the_cap_is_refused, end),
        cmocka_unit_test_teardown(an_option_can_be_taken_back, end),
        cmocka_unit_test_teardown(options_belong_to_the_next_call_whatever_it_answers, end),
        cmocka_unit_test_teardown(an_option_while_a_step_is_open_is_a_mistake, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
