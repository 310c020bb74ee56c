/* SPDX-License-Identifier: Apache-2.0 */
/* Scripts of administrators: the engine is installed, installed again and removed, and what is wrong is told. */
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static pawl_config *
config_of(const char *database)
{
    pawl_config *config = pawl_config_new();
    pawl_error *error = NULL;

    assert_non_null(config);
    fixture_expect(pawl_config_set(config, "database", database, &error), PAWL_OK, &error);
    return config;
}

/* The text of a file, which the build has made. */
static char *
read_file(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = calloc(1, 2000000);

    assert_non_null(file);
    assert_non_null(text);
    assert_true(fread(text, 1, 1999999, file) > 0);
    (void)fclose(file);
    return text;
}

static void
the_engine_is_installed_once_however_often_and_removed(void **state)
{
    PGconn *owner = bench_connect();
    pawl_config *config = config_of("dbname=integration_admin");
    char *script = read_file(getenv("PAWL_SQL"));
    pawl_client *client = NULL;
    pawl_error *error = NULL;

    (void)state;
    bench_do(owner, "create database integration_admin encoding 'UTF8' template template0");
    for (int i = 0; i < 2; i++)
        fixture_expect(pawl_admin_script(config, script, &error), PAWL_OK, &error);
    fixture_expect(pawl_client_open(config, &client, &error), PAWL_OK, &error);
    fixture_expect(pawl_client_call(client, "now", NULL, NULL, 0, NULL, &error), PAWL_OK, &error);
    fixture_expect(
        pawl_admin_script(config, "begin; drop schema pawl, pawl_data cascade; commit;", &error),
        PAWL_OK, &error);
    fixture_expect(
        pawl_client_call(client, "now", NULL, NULL, 0, NULL, &error), PAWL_ESCHEMA, &error);
    pawl_client_close(client);
    bench_do(owner, "drop database integration_admin");
    pawl_config_free(config);
    free(script);
    PQfinish(owner);
}

static void
a_script_that_fails_says_why(void **state)
{
    pawl_config *config = config_of("");
    pawl_config *nowhere = config_of("dbname=nobody_made_this");
    pawl_config *nobody = config_of("host=/nowhere port=1");
    pawl_error *error = NULL;

    (void)state;
    assert_int_equal(pawl_admin_script(config,
                         "do $$ begin raise exception 'no' using hint = 'Look.'; end $$", &error),
        PAWL_EDATABASE);
    assert_string_equal(pawl_error_message(error), "no");
    assert_string_equal(pawl_error_hint(error), "Look.");
    assert_string_equal(pawl_error_sqlstate(error), "P0001");
    pawl_error_free(error);
    fixture_expect(pawl_admin_script(config, "select 1; nonsense", &error), PAWL_EDATABASE, &error);
    /* It may be done, and to do it again may be to do it twice; what was not sent can be sent again. */
    assert_int_equal(
        pawl_admin_script(config, "select pg_terminate_backend(pg_backend_pid())", &error),
        PAWL_ECONN);
    assert_int_equal(pawl_error_retryable(error), 0);
    pawl_error_free(error);
    assert_int_equal(pawl_admin_script(nowhere, "select 1", &error), PAWL_ECONN);
    assert_int_equal(pawl_error_retryable(error), 1);
    pawl_error_free(error);
    fixture_expect(pawl_admin_script(nobody, "select 1", &error), PAWL_ECONN, &error);
    fixture_expect(pawl_admin_script(config, NULL, &error), PAWL_EINVAL, &error);
    pawl_config_free(config);
    pawl_config_free(nowhere);
    pawl_config_free(nobody);
}

static int
never(int64_t took_us, void *userdata)
{
    (void)took_us;
    (void)userdata;
    return 0;
}

static void
a_script_that_copies_is_refused_and_does_not_hang(void **state)
{
    static const char *const scripts[] = {
        "copy (select 1) to stdout", "begin; create temp table t (n int); copy t from stdin"};
    pawl_config *config = config_of("");
    pawl_error *error = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
        assert_int_equal(pawl_admin_script(config, scripts[i], &error), PAWL_EINVAL);
        assert_non_null(strstr(pawl_error_message(error), "copy"));
        assert_non_null(strstr(pawl_error_hint(error), "psql"));
        pawl_error_free(error);
        error = NULL;
    }
    fixture_expect(
        pawl_admin_measure(config, scripts[0], never, NULL, &error), PAWL_EINVAL, &error);
    pawl_config_free(config);
}

/* Counts turns; the third is the last. */
static int
count_turn(int64_t took_us, void *userdata)
{
    int *turns = userdata;

    assert_true(took_us >= 0);
    return ++*turns < 3;
}

static void
a_script_is_repeated_as_long_as_it_is_wanted(void **state)
{
    PGconn *owner = bench_connect();
    pawl_config *config = config_of("");
    pawl_error *error = NULL;
    int turns = 0;

    (void)state;
    bench_do(owner, "create table public.integration_turns (made xid8, part int)");
    fixture_expect(pawl_admin_measure(config,
                       "insert into public.integration_turns select pg_current_xact_id(), 1;\n"
                       "insert into public.integration_turns select pg_current_xact_id(), 2;\n",
                       count_turn, &turns, &error),
        PAWL_OK, &error);
    assert_int_equal(turns, 3);
    /* Each statement was a transaction of its own. */
    assert_int_equal(
        (int)bench_value(owner, "select count(distinct made) from public.integration_turns"), 6);
    bench_do(owner, "drop table public.integration_turns");
    turns = 0;
    fixture_expect(pawl_admin_measure(config, "select 1;\nnonsense;\n", count_turn, &turns, &error),
        PAWL_EDATABASE, &error);
    fixture_expect(
        pawl_admin_measure(config, "select 1;\nselect 1/0;\n", count_turn, &turns, &error),
        PAWL_EINVAL, &error);
    assert_int_equal(pawl_admin_measure(config, "select pg_terminate_backend(pg_backend_pid());\n",
                         count_turn, &turns, &error),
        PAWL_ECONN);
    assert_int_equal(pawl_error_retryable(error), 0);
    pawl_error_free(error);
    fixture_expect(
        pawl_admin_measure(config, NULL, count_turn, &turns, &error), PAWL_EINVAL, &error);
    fixture_expect(pawl_admin_measure(config, "select 1", NULL, NULL, &error), PAWL_EINVAL, &error);
    assert_int_equal(turns, 0);
    pawl_config_free(config);
    PQfinish(owner);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_engine_is_installed_once_however_often_and_removed),
        cmocka_unit_test(a_script_that_fails_says_why),
        cmocka_unit_test(a_script_that_copies_is_refused_and_does_not_hang),
        cmocka_unit_test(a_script_is_repeated_as_long_as_it_is_wanted),
    };

    fixture_go_direct();
    return cmocka_run_group_tests_name("admin", tests, NULL, NULL);
}
