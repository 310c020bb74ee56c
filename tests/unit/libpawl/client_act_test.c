/* SPDX-License-Identifier: Apache-2.0 */
/* A client that acts as a token: which requests carry it, and what is refused. */
#include "fake_conn.h"

#include <pawl/pawl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char some_id[] = "01900000-0000-7000-8000-000000000000";
static const char digest[33] = "0123456789abcdef0123456789abcdef";

static pawl_status
act(pawl_client *client, size_t size)
{
    const pawl_bytes bytes = {size > 0 ? digest : NULL, size};

    return pawl_client_act_as_token(client, bytes, NULL);
}

static void
each_request_carries_the_token_until_it_is_unset(void **state)
{
    static const char *const success[] = {"SUCCESS", "17", NULL};
    pawl_client *client = fake_conn_client("5s");
    pawl_rows *rows = NULL;

    (void)state;
    fake_conn_add((struct fake_turn){.what = FAKE_REPLY, .texts = fake_ok, .columns = 2});
    assert_int_equal(pawl_client_cancel(client, some_id, NULL, 0, NULL), PAWL_OK);
    assert_int_equal(act(client, 32), PAWL_OK);
    assert_int_equal(fake_conn.sends, 1);
    /* A wait asks three times, the second time over another connection. */
    fake_conn_add((struct fake_turn){.what = FAKE_REPLY, .columns = 3});
    fake_conn_add((struct fake_turn){.what = FAKE_LOST});
    fake_conn_add((struct fake_turn){.what = FAKE_REPLY, .texts = success, .columns = 3});
    assert_int_equal(pawl_client_wait(client, some_id, 60000, NULL, NULL), PAWL_OK);
    /* A call that the server refused for a moment is sent again. */
    fake_conn_add((struct fake_turn){
        .what = FAKE_REPLY, .status = PAWL_EBUSY, .sqlstate = "40001", .retryable = true});
    fake_conn_add((struct fake_turn){.what = FAKE_REPLY, .texts = fake_ok, .columns = 2});
    assert_int_equal(pawl_client_call(client, "pause_all", NULL, NULL, 0, &rows, NULL), PAWL_OK);
    pawl_rows_free(rows);
    assert_int_equal(act(client, 0), PAWL_OK);
    fake_conn_add((struct fake_turn){.what = FAKE_REPLY, .texts = fake_ok, .columns = 2});
    assert_int_equal(pawl_client_cancel(client, some_id, NULL, 0, NULL), PAWL_OK);
    assert_int_equal(fake_conn.sends, 7);
    for (int i = 0; i < fake_conn.sends; i++)
        assert_int_equal(fake_conn.acted[i], i > 0 && i < 6);
    pawl_client_close(client);
}

static void
the_answer_about_the_token_is_the_answer_of_the_call(void **state)
{
    const struct fake_turn refused = {
        .what = FAKE_REPLY, .status = PAWL_EFORBIDDEN, .sqlstate = "28000"};
    pawl_client *client = fake_conn_client("5s");
    pawl_error *error = NULL;

    (void)state;
    assert_int_equal(act(client, 32), PAWL_OK);
    fake_conn_add(refused);
    assert_int_equal(pawl_client_wait(client, some_id, 60000, NULL, &error), PAWL_EFORBIDDEN);
    assert_string_equal(pawl_error_sqlstate(error), "28000");
    pawl_error_free(error);
    /* After a lost reply the outcome stays unknown, although the token was revoked in the meantime. */
    fake_conn_add((struct fake_turn){.what = FAKE_LOST});
    fake_conn_add(refused);
    assert_int_equal(pawl_client_cancel(client, some_id, NULL, 0, NULL), PAWL_EUNKNOWN);
    pawl_client_close(client);
}

static void
a_digest_of_another_size_is_refused_and_changes_nothing(void **state)
{
    static const size_t sizes[] = {1, 31, 33};
    pawl_client *client = fake_conn_client("5s");

    (void)state;
    assert_int_equal(act(client, 32), PAWL_OK);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        assert_int_equal(act(client, sizes[i]), PAWL_EINVAL);
    assert_int_equal(pawl_client_act_as_token(client, (pawl_bytes){NULL, 32}, NULL), PAWL_EINVAL);
    fake_conn_add((struct fake_turn){.what = FAKE_REPLY, .texts = fake_ok, .columns = 2});
    assert_int_equal(pawl_client_cancel(client, some_id, NULL, 0, NULL), PAWL_OK);
    assert_true(fake_conn.acted[0]);
    assert_int_equal(pawl_client_act_as_token(NULL, pawl_text(digest), NULL), PAWL_EINVAL);
    pawl_client_close(client);
}

static void
a_procedure_is_not_called_as_a_token(void **state)
{
    pawl_client *client = fake_conn_client("5s");
    pawl_error *error = NULL;

    (void)state;
    assert_int_equal(act(client, 32), PAWL_OK);
    assert_int_equal(pawl_client_call(client, "tick", NULL, NULL, 0, NULL, &error), PAWL_EINVAL);
    assert_non_null(strstr(pawl_error_message(error), "token"));
    pawl_error_free(error);
    assert_int_equal(fake_conn.sends, 0);
    assert_int_equal(act(client, 0), PAWL_OK);
    fake_conn_add((struct fake_turn){.what = FAKE_REPLY, .columns = 1});
    assert_int_equal(pawl_client_call(client, "tick", NULL, NULL, 0, NULL, NULL), PAWL_OK);
    pawl_client_close(client);
}

#define TEST(function) cmocka_unit_test_setup(function, fake_conn_reset)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_request_carries_the_token_until_it_is_unset),
        TEST(the_answer_about_the_token_is_the_answer_of_the_call),
        TEST(a_digest_of_another_size_is_refused_and_changes_nothing),
        TEST(a_procedure_is_not_called_as_a_token),
    };

    return cmocka_run_group_tests_name("libpawl/client_act", tests, NULL, NULL);
}
