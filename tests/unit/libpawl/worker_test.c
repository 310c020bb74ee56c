/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker says to mistakes of its caller, without a database. */
#include "libpawl/worker/worker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int
set_up(void **state)
{
    pawl_config *config = pawl_config_new();
    pawl_worker *worker = NULL;

    if (config == NULL || pawl_worker_new(config, &worker, NULL) != PAWL_OK)
        return -1;
    pawl_config_free(config);
    *state = worker;
    return 0;
}

static int
tear_down(void **state)
{
    pawl_worker_free(*state);
    return 0;
}

/* The call has said this, with words. */
static void
expect(pawl_status status, pawl_status wanted, pawl_error **error, const char *words)
{
    assert_int_equal(status, wanted);
    assert_int_equal(pawl_error_code(*error), wanted);
    if (strstr(pawl_error_message(*error), words) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", words, pawl_error_message(*error));
    pawl_error_free(*error);
    *error = NULL;
}

static pawl_status
handle(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)run;
    (void)input;
    (void)output;
    return PAWL_OK;
}

static pawl_status
undo(pawl_run *run, pawl_bytes input, pawl_bytes output)
{
    (void)run;
    (void)input;
    (void)output;
    return PAWL_OK;
}

static void
without_a_worker_every_call_says_so(void **state)
{
    static const char words[] = "no worker was given";
    pawl_error *error = NULL;
    pawl_run *run = NULL;

    (void)state;
    expect(pawl_worker_handle(NULL, "a", handle, NULL, &error), PAWL_EINVAL, &error, words);
    expect(pawl_worker_undo(NULL, "a", undo, NULL, &error), PAWL_EINVAL, &error, words);
    expect(pawl_worker_handle_table(NULL, NULL, 0, NULL, &error), PAWL_EINVAL, &error, words);
    expect(pawl_worker_start(NULL, &error), PAWL_EINVAL, &error, words);
    expect(pawl_worker_run(NULL, &error), PAWL_EINVAL, &error, words);
    expect(pawl_worker_next(NULL, 0, &run, &error), PAWL_EINVAL, &error, words);
    expect(pawl_worker_stop(NULL, 0, &error), PAWL_EINVAL, &error, words);
    assert_int_equal(pawl_worker_fd(NULL), -1);
    assert_int_equal(pawl_worker_counter(NULL, "claims"), 0);
    pawl_worker_drain(NULL);
    pawl_worker_drain_on(NULL, 0);
    pawl_worker_free(NULL);
}

static void
without_a_place_for_what_it_returns_a_call_says_so(void **state)
{
    pawl_error *error = NULL;
    pawl_config *config = pawl_config_new();

    expect(pawl_worker_new(config, NULL, &error), PAWL_EINVAL, &error, "no place");
    expect(pawl_worker_next(*state, 0, NULL, &error), PAWL_EINVAL, &error, "no place");
    pawl_config_free(config);
}

static void
names_are_checked(void **state)
{
    static const char *const bad[] = {NULL, "", "Upper", "two words", "a*b", "a;b"};
    char large[400];
    pawl_error *error = NULL;

    memset(large, 'x', sizeof(large) - 1);
    large[sizeof(large) - 1] = '\0';
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        expect(pawl_worker_handle(*state, bad[i], handle, NULL, &error), PAWL_EINVAL, &error,
            "bad name");
        expect(
            pawl_worker_undo(*state, bad[i], undo, NULL, &error), PAWL_EINVAL, &error, "bad name");
    }
    expect(
        pawl_worker_handle(*state, large, handle, NULL, &error), PAWL_EINVAL, &error, "bad name");
    /* Only handlers know patterns. */
    expect(pawl_worker_undo(*state, "a*", undo, NULL, &error), PAWL_EINVAL, &error, "bad name");
    assert_int_equal(pawl_worker_handle(*state, "a*", handle, NULL, &error), PAWL_OK);
}

static void
a_name_has_one_handler(void **state)
{
    pawl_error *error = NULL;

    assert_int_equal(pawl_worker_handle(*state, "a", handle, NULL, &error), PAWL_OK);
    assert_int_equal(pawl_worker_handle(*state, "a*", handle, NULL, &error), PAWL_OK);
    expect(pawl_worker_handle(*state, "a", handle, NULL, &error), PAWL_EINVAL, &error,
        "\"a\" has a handler already");
    expect(pawl_worker_handle(*state, "a*", handle, NULL, &error), PAWL_EINVAL, &error,
        "\"a*\" has a handler already");
    assert_int_equal(pawl_worker_undo(*state, "a", undo, NULL, &error), PAWL_OK);
    expect(pawl_worker_undo(*state, "a", undo, NULL, &error), PAWL_EINVAL, &error,
        "\"a\" has an undo handler already");
}

static void
handlers_are_bounded(void **state)
{
    pawl_error *error = NULL;
    char name[24];

    for (int i = 0; i < PW_HANDLERS_MAX; i++) {
        (void)snprintf(name, sizeof(name), "h%d", i);
        assert_int_equal(pawl_worker_handle(*state, name, handle, NULL, &error), PAWL_OK);
        assert_int_equal(pawl_worker_undo(*state, name, undo, NULL, &error), PAWL_OK);
    }
    expect(pawl_worker_handle(*state, "more", handle, NULL, &error), PAWL_ETOOLARGE, &error,
        "at most 1000 handlers");
    expect(pawl_worker_undo(*state, "more", undo, NULL, &error), PAWL_ETOOLARGE, &error,
        "at most 1000 undo handlers");
}

static void
a_table_is_checked(void **state)
{
    const pawl_declaration small = {.size = 8, .name = "a", .handler = handle};
    const pawl_declaration bad = {.size = sizeof(bad), .name = "A", .handler = handle};
    pawl_error *error = NULL;

    expect(
        pawl_worker_handle_table(*state, NULL, 1, NULL, &error), PAWL_EINVAL, &error, "no table");
    expect(pawl_worker_handle_table(*state, &small, 1, NULL, &error), PAWL_EINVAL, &error,
        "is invalid: its size");
    expect(
        pawl_worker_handle_table(*state, &bad, 1, NULL, &error), PAWL_EINVAL, &error, "bad name");
    expect(pawl_worker_start(*state, &error), PAWL_EINVAL, &error, "handles nothing");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(without_a_worker_every_call_says_so),
        TEST(without_a_place_for_what_it_returns_a_call_says_so),
        TEST(names_are_checked),
        TEST(a_name_has_one_handler),
        TEST(handlers_are_bounded),
        TEST(a_table_is_checked),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
