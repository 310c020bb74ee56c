/* SPDX-License-Identifier: Apache-2.0 */
/* What the client makes of answers, of the database's clock, and of having no memory. */
#include "fail_alloc.h"
#include "fake_conn.h"

#include <pawl/pawl.h>
#include <pawl/test.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static pawl_status
emit(pawl_client *client, pawl_error **error)
{
    return pawl_client_emit(client, "t", NULL, NULL, pawl_text("1"), error);
}

static const char some_id[] = "01900000-0000-7000-8000-000000000000";

static pawl_status
look(pawl_client *client, pawl_error **error)
{
    return pawl_client_wait(client, some_id, 0, NULL, error);
}

static void
opening_tries_once(void **state)
{
    pawl_client *client = NULL;
    pawl_error *error = NULL;
    pawl_config *config = pawl_config_new();

    (void)state;
    assert_int_equal(pawl_config_set(config, "connect_timeout", "20ms", NULL), PAWL_OK);
    fake_conn.fail_opens = 1;
    assert_int_equal(pawl_client_open(config, &client, &error), PAWL_ECONN);
    assert_string_equal(pawl_error_message(error), "refused");
    pawl_error_free(error);
    assert_int_equal(fake_conn.opens, 1);
    fake_conn.late_connect = true;
    assert_int_equal(pawl_client_open(config, &client, &error), PAWL_ECONN);
    assert_int_equal(pawl_error_retryable(error), 1);
    pawl_error_free(error);
    fake_conn.late_connect = false;
    fake_conn.open_status = PAWL_ENOMEM;
    assert_int_equal(pawl_client_open(config, &client, NULL), PAWL_ENOMEM);
    fake_conn.open_status = PAWL_OK;
    fake_conn.no_time = true;
    assert_int_equal(pawl_client_open(config, &client, NULL), PAWL_ESCHEMA);
    assert_null(client);
    pawl_config_free(config);
}

static void
a_clock_that_moved_is_asked_again_once(void **state)
{
    const struct fake_turn refused = {
        .what = FAKE_REPLY, .status = PAWL_EINVAL, .sqlstate = "PW003"};
    pawl_client *client = fake_conn_client("5s");
    pawl_trigger *trigger = pawl_trigger_new("w");

    (void)state;
    assert_int_equal(fake_conn.clocks, 1);
    fake_conn_add(refused);
    assert_int_equal(emit(client, NULL), PAWL_EINVAL);
    assert_int_equal(fake_conn.clocks, 2);
    assert_int_equal(fake_conn.sends, 1);
    fake_conn.clock_us += INT64_C(3600000000);
    fake_conn_add(refused);
    fake_conn_add(refused);
    assert_int_equal(emit(client, NULL), PAWL_EINVAL);
    assert_int_equal(fake_conn.sends, 3);
    fake_conn.clock_us -= INT64_C(7200000000);
    fake_conn_add(refused);
    fake_conn_add(refused);
    assert_int_equal(pawl_client_trigger(client, trigger, NULL, NULL, NULL), PAWL_EINVAL);
    assert_int_equal(fake_conn.sends, 5);
    fake_conn.clock_us = INT64_C(1) << 60;
    assert_int_equal(fake_conn.clocks, 4);
    pawl_client_close(client);
    pawl_trigger_free(trigger);
}

static void
a_clock_that_no_id_can_have_is_said(void **state)
{
    pawl_trigger *trigger = pawl_trigger_new("w");
    pawl_client *client;

    (void)state;
    fake_conn.clock_us = INT64_C(1) << 60;
    client = fake_conn_client("5s");
    assert_int_equal(emit(client, NULL), PAWL_EDATABASE);
    assert_int_equal(pawl_client_trigger(client, trigger, NULL, NULL, NULL), PAWL_EDATABASE);
    pawl_trigger_set(trigger, "key", "k");
    assert_int_equal(pawl_client_trigger(client, trigger, NULL, NULL, NULL), PAWL_EDATABASE);
    pawl_trigger_set(trigger, "key", NULL);
    pawl_trigger_add(trigger, pawl_text("1"), NULL);
    assert_int_equal(pawl_client_trigger_many(client, trigger, NULL, NULL, NULL), PAWL_EDATABASE);
    pawl_client_close(client);
    pawl_trigger_free(trigger);
}

static void
an_answer_of_another_shape_is_a_wrong_schema(void **state)
{
    static const char *const texts[] = {"a", "b", "c", "d"};
    pawl_client *client = fake_conn_client("5s");
    pawl_trigger *trigger = pawl_trigger_new("w");
    char run_id[PAWL_ID_SIZE] = "kept";
    uint32_t flags = 77;

    (void)state;
    for (int i = 0; i < 2; i++)
        fake_conn_add(
            (struct fake_turn){.what = FAKE_REPLY, .texts = i == 0 ? texts : NULL, .columns = 4});
    for (int i = 0; i < 2; i++)
        assert_int_equal(pawl_client_trigger(client, trigger, run_id, &flags, NULL), PAWL_ESCHEMA);
    assert_string_equal(run_id, "kept");
    assert_int_equal(flags, 77);
    pawl_trigger_add(trigger, pawl_text("1"), NULL);
    for (int i = 0; i < 2; i++) {
        fake_conn_add(
            (struct fake_turn){.what = FAKE_REPLY, .texts = i == 0 ? texts : NULL, .columns = 4});
        assert_int_equal(pawl_client_trigger_many(client, trigger, NULL, NULL, NULL), PAWL_ESCHEMA);
    }
    fake_conn_add((struct fake_turn){.what = FAKE_REPLY, .texts = NULL, .columns = 2});
    assert_int_equal(pawl_client_cancel(client, some_id, NULL, 0, NULL), PAWL_ESCHEMA);
    pawl_client_close(client);
    pawl_trigger_free(trigger);
}

static void
answers_to_a_cancel_have_their_status(void **state)
{
    static const struct {
        const char *answer;
        pawl_status status;
    } cases[] = {
        {"ok", PAWL_OK},
        {"already", PAWL_OK},
        {"CANCELLED", PAWL_OK},
        {"not_found", PAWL_ENOTFOUND},
        {"busy", PAWL_EBUSY},
        {"SUCCESS", PAWL_EREFUSED},
        {"ERROR", PAWL_EREFUSED},
    };
    pawl_client *client = fake_conn_client("5s");

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *texts[] = {cases[i].answer, NULL};

        fake_conn_add((struct fake_turn){.what = FAKE_REPLY, .texts = texts, .columns = 2});
        assert_int_equal(pawl_client_cancel(client, some_id, NULL, 0, NULL), cases[i].status);
    }
    pawl_client_close(client);
}

static void
answers_to_a_wake_have_their_status(void **state)
{
    static const struct {
        const char *texts[2];
        pawl_status status;
        const char *message;
    } cases[] = {
        {{"ok", NULL}, PAWL_OK, NULL},
        {{"already", NULL}, PAWL_OK, NULL},
        {{"not_found", NULL}, PAWL_ENOTFOUND, "no run"},
        {{"busy", NULL}, PAWL_EBUSY, "another transaction holds run"},
        {{"refused", "it is paused: resume it"}, PAWL_EREFUSED,
            "cannot be woken: it is paused: resume it"},
        {{"SUCCESS", NULL}, PAWL_EREFUSED, "has ended: SUCCESS"},
    };
    pawl_client *client = fake_conn_client("5s");
    pawl_error *error = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        fake_conn_add(
            (struct fake_turn){.what = FAKE_REPLY, .texts = cases[i].texts, .columns = 2});
        assert_int_equal(
            pawl_client_wake(client, some_id, NULL, "because", &error), cases[i].status);
        if (cases[i].message != NULL)
            assert_non_null(strstr(pawl_error_message(error), cases[i].message));
        assert_int_equal(pawl_error_retryable(error), cases[i].status == PAWL_EBUSY);
        pawl_error_free(error);
        error = NULL;
    }
    fake_conn_add((struct fake_turn){.what = FAKE_REPLY, .texts = NULL, .columns = 2});
    assert_int_equal(pawl_client_wake(client, some_id, NULL, NULL, NULL), PAWL_ESCHEMA);
    assert_int_equal(pawl_client_wake(client, "no id", NULL, NULL, NULL), PAWL_EINVAL);
    pawl_client_close(client);
}

static void
a_run_that_ended_is_told_whatever_its_error_is(void **state)
{
    static const struct {
        const char *texts[3];
        pawl_status status;
        const char *message;
    } cases[] = {
        {{"SUCCESS", NULL, NULL}, PAWL_OK, ""},
        {{"ERROR", NULL, "{\"message\": \"no\"}"}, PAWL_ERUN, "no"},
        {{"ERROR", NULL, "{\"message\": null}"}, PAWL_ERUN, "the run failed"},
        {{"ERROR", NULL, "[\"odd\"]"}, PAWL_ERUN, "the run failed"},
        {{"ERROR", NULL, NULL}, PAWL_ERUN, "the run failed"},
        {{"CANCELLED", NULL, "{}"}, PAWL_ECANCELLED, "the run was cancelled"},
        {{"RESTING", NULL, "{}"}, PAWL_ESCHEMA, "the run ended in a state that is not known here"},
    };
    pawl_client *client = fake_conn_client("5s");

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        pawl_error *error = NULL;

        fake_conn_add(
            (struct fake_turn){.what = FAKE_REPLY, .texts = cases[i].texts, .columns = 3});
        assert_int_equal(look(client, &error), cases[i].status);
        assert_string_equal(pawl_error_message(error), cases[i].message);
        pawl_error_free(error);
    }
    pawl_client_close(client);
}

static void
a_wait_asks_again_until_its_time_is_over(void **state)
{
    static const char *const success[] = {"SUCCESS", "17", NULL};
    pawl_client *client = fake_conn_client("5s");
    pawl_bytes output = {NULL, 0};

    (void)state;
    for (int i = 0; i < 3; i++)
        fake_conn_add((struct fake_turn){.what = FAKE_REPLY, .columns = 3});
    fake_conn_add((struct fake_turn){.what = FAKE_LOST});
    fake_conn_add((struct fake_turn){.what = FAKE_REPLY, .texts = success, .columns = 3});
    assert_int_equal(pawl_client_wait(client, some_id, 60000, &output, NULL), PAWL_OK);
    assert_string_equal(output.data, "17");
    /* Without end is not to be had, and to be told from "only look". */
    assert_int_equal(pawl_client_wait(client, some_id, -1, &output, NULL), PAWL_EINVAL);
    assert_int_equal(pawl_client_wait(client, some_id, INT64_MIN, &output, NULL), PAWL_EINVAL);
    assert_int_equal(fake_conn.sends, 5);
    fake_conn_add((struct fake_turn){.what = FAKE_REPLY, .texts = success, .columns = 3});
    assert_int_equal(pawl_client_wait(client, some_id, INT64_MAX, &output, NULL), PAWL_OK);
    pawl_client_close(client);
}

static void
a_test_clock_is_asked_for_after_it_was_moved(void **state)
{
    static const char *const moved[] = {"\1", NULL};
    pawl_client *client = fake_conn_client("5s");

    (void)state;
    fake_conn_add((struct fake_turn){.what = FAKE_REPLY, .texts = moved, .columns = 1});
    fake_conn_add((struct fake_turn){.what = FAKE_REPLY, .texts = moved, .columns = 1});
    assert_int_equal(pawl_test_advance(client, 1000, NULL), PAWL_OK);
    fake_conn_add((struct fake_turn){.what = FAKE_REPLY, .texts = fake_ok, .columns = 2});
    assert_int_equal(emit(client, NULL), PAWL_OK);
    assert_int_equal(fake_conn.clocks, 2);
    fake_conn_add(
        (struct fake_turn){.what = FAKE_REPLY, .status = PAWL_ESCHEMA, .sqlstate = "42883"});
    assert_int_equal(pawl_test_advance(client, 1000, NULL), PAWL_ESCHEMA);
    pawl_client_close(client);
}

static void
out_of_memory_is_an_error_like_others(void **state)
{
    static const char *const success[] = {"SUCCESS", "17", NULL};
    pawl_trigger *trigger = pawl_trigger_new("w");

    (void)state;
    pawl_trigger_add(trigger, pawl_text("1"), "k");
    for (long n = 1; fail_alloc_try(n); n++) {
        pawl_client *client = NULL;
        pawl_rows *rows = NULL;
        pawl_error *error = NULL;
        pawl_status status;
        int sends;

        (void)fake_conn_reset(NULL);
        status = pawl_client_open(NULL, &client, &error);
        assert_true(status == PAWL_OK || status == PAWL_ENOMEM);
        if (status != PAWL_OK) {
            pawl_error_free(error);
            continue;
        }
        for (int i = 0; i < 4; i++)
            fake_conn_add((struct fake_turn){.what = FAKE_REPLY, .texts = success, .columns = 3});
        status = look(client, &error);
        assert_true(status == PAWL_OK || status == PAWL_ENOMEM);
        status = pawl_client_trigger_many(client, trigger, NULL, NULL, &error);
        assert_true(status == PAWL_ESCHEMA || status == PAWL_ENOMEM);
        pawl_error_free(error);
        sends = fake_conn.sends;
        status = pawl_client_call(client, "housekeep", NULL, NULL, 0, &rows, &error);
        assert_true(status == PAWL_OK || status == PAWL_ENOMEM);
        /* Without memory nothing has happened. */
        assert_int_equal(fake_conn.sends, sends + (status == PAWL_OK));
        pawl_error_free(error);
        pawl_rows_free(rows);
        pawl_client_close(client);
    }
    pawl_trigger_free(trigger);
}

#define TEST(function) cmocka_unit_test_setup(function, fake_conn_reset)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(opening_tries_once),
        TEST(a_clock_that_moved_is_asked_again_once),
        TEST(a_clock_that_no_id_can_have_is_said),
        TEST(an_answer_of_another_shape_is_a_wrong_schema),
        TEST(answers_to_a_cancel_have_their_status),
        TEST(answers_to_a_wake_have_their_status),
        TEST(a_run_that_ended_is_told_whatever_its_error_is),
        TEST(a_wait_asks_again_until_its_time_is_over),
        TEST(a_test_clock_is_asked_for_after_it_was_moved),
        TEST(out_of_memory_is_an_error_like_others),
    };

    return cmocka_run_group_tests_name("libpawl/client", tests, NULL, NULL);
}
