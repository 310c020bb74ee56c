/* SPDX-License-Identifier: Apache-2.0 */
/* Settings: what each takes, what it refuses, and what comes out. */
#include "libpawl/common/config.h"

#include "fail_alloc.h"
#include "pawl/worker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void
defaults_are_those_of_the_table(void **state)
{
    struct pw_settings settings;
    struct pw_conn_spec spec;

    (void)state;
    assert_int_equal(pw_config_settings(NULL, &settings, NULL), PAWL_OK);
    assert_string_equal(settings.database, "");
    assert_string_equal(settings.application_name, "pawl");
    assert_int_equal(settings.connect_timeout_ms, 10000);
    assert_int_equal(settings.call_timeout_ms, 30000);
    assert_int_equal(settings.wait_poll_ms, 500);
    assert_true(settings.prepared && settings.listen && settings.create_workflows);
    assert_string_equal(settings.listen_database, "");
    assert_string_equal(settings.worker_name, "");
    assert_string_equal(settings.runtimes, "c");
    assert_int_equal(settings.lease_ms, 30000);
    assert_int_equal(settings.concurrency, 0);
    assert_int_equal(settings.connections, 2);
    assert_int_equal(settings.batch_max, 1000);
    assert_int_equal(settings.batch_window_us, 1000);
    assert_int_equal(settings.poll_ms, 2000);
    assert_int_equal(settings.drain_timeout_ms, 30000);
    assert_int_equal(settings.payload_max, 1048576);
    assert_int_equal(settings.memory_max, 64 * 1048576);
    assert_int_equal(settings.thread_stack, 262144);
    assert_null(settings.logger.function);
    spec = pw_settings_spec(&settings);
    assert_string_equal(spec.conninfo, "");
    assert_false(spec.never_prepare);
    pw_settings_done(&settings);
    pw_settings_done(&settings);
}

static void
every_default_is_a_value_that_the_setting_takes(void **state)
{
    pawl_config *config = pawl_config_new();
    const char *name, *standard, *text;
    char range[96];
    size_t count = 0;

    (void)state;
    while (pawl_config_describe(count, &name, &standard, &text) == PAWL_OK) {
        assert_string_equal(pawl_config_get(config, name), standard);
        assert_int_equal(pawl_config_set(config, name, standard, NULL), PAWL_OK);
        assert_string_equal(pawl_config_get(config, name), standard);
        assert_true(text[strlen(text) - 1] == '.');
        assert_true(pw_config_range(count, range, sizeof(range)));
        assert_true(strlen(range) < sizeof(range) - 1);
        count++;
    }
    assert_int_equal(count, 24);
    assert_false(pw_config_range(count, range, sizeof(range)));
    assert_int_equal(pawl_config_describe(0, NULL, NULL, NULL), PAWL_OK);
    assert_int_equal(pawl_config_describe(count, &name, NULL, NULL), PAWL_ENOTFOUND);
    pawl_config_free(config);
}

static void
values_are_taken_or_refused(void **state)
{
    static const struct {
        const char *name, *value;
        pawl_status status;
    } cases[] = {
        {"lease", "500ms", PAWL_OK},
        {"lease", "500", PAWL_OK},
        {"lease", "499", PAWL_EINVAL},
        {"lease", "1h", PAWL_OK},
        {"lease", "61m", PAWL_EINVAL},
        {"lease", "", PAWL_EINVAL},
        {"lease", "soon", PAWL_EINVAL},
        {"lease", "5 s", PAWL_EINVAL},
        {"drain_timeout", "0", PAWL_OK},
        {"drain_timeout", "1d", PAWL_OK},
        {"drain_timeout", "-1", PAWL_EINVAL},
        {"concurrency", "4096", PAWL_OK},
        {"concurrency", "4097", PAWL_EINVAL},
        {"concurrency", "0", PAWL_EINVAL},
        {"concurrency", "auto", PAWL_OK},
        {"concurrency", "Auto", PAWL_EINVAL},
        {"concurrency", "99999999999999999999", PAWL_EINVAL},
        {"connections", "1", PAWL_OK},
        {"connections", "3", PAWL_EINVAL},
        {"memory_max", "64kB", PAWL_OK},
        {"memory_max", "16GB", PAWL_OK},
        {"memory_max", "17GB", PAWL_EINVAL},
        {"memory_max", "63kB", PAWL_EINVAL},
        {"memory_max", "kB", PAWL_EINVAL},
        {"memory_max", "1Mb", PAWL_EINVAL},
        {"memory_max", "99999999999999999999999999", PAWL_EINVAL},
        {"thread_stack", "0", PAWL_OK},
        {"thread_stack", "0kB", PAWL_OK},
        {"thread_stack", "1", PAWL_EINVAL},
        {"thread_stack", "65535", PAWL_EINVAL},
        {"thread_stack", "64kB", PAWL_OK},
        {"thread_stack", "1GB", PAWL_OK},
        {"thread_stack", "2GB", PAWL_EINVAL},
        {"payload_max", "1MB", PAWL_OK},
        {"payload_max", "1048577", PAWL_EINVAL},
        {"prepared", "off", PAWL_OK},
        {"prepared", "on", PAWL_EINVAL},
        {"listen", "auto", PAWL_OK},
        {"create_workflows", "off", PAWL_OK},
        {"create_workflows", "maybe", PAWL_EINVAL},
        {"runtimes", "", PAWL_OK},
        {"runtimes", "c,python3.12,a_b-c", PAWL_OK},
        {"runtimes", "c,", PAWL_EINVAL},
        {"runtimes", ",c", PAWL_EINVAL},
        {"runtimes", "c, d", PAWL_EINVAL},
        {"runtimes", "C", PAWL_EINVAL},
        {"database", "host=a,b", PAWL_OK},
        {"database", "postgresql:///x", PAWL_OK},
        {"database", "shop", PAWL_OK},
        {"database", "host=a port", PAWL_EINVAL},
        {"database", "me@host/shop", PAWL_EINVAL},
        {"application_name", "sixty-three bytes are what PostgreSQL keeps of a name, and no more",
            PAWL_EINVAL},
        {"worker_name", "\xff", PAWL_EINVAL},
        {"worker_name", "me", PAWL_OK},
        {"colour", "red", PAWL_EINVAL},
        {NULL, "red", PAWL_EINVAL},
        {"lease", NULL, PAWL_EINVAL},
    };
    pawl_config *config = pawl_config_new();

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        pawl_error *error = NULL;

        if (pawl_config_set(config, cases[i].name, cases[i].value, &error) != cases[i].status)
            fail_msg("%s = \"%s\"", cases[i].name, cases[i].value);
        assert_int_equal(pawl_error_code(error), cases[i].status);
        if (error != NULL)
            assert_true(strlen(pawl_error_hint(error)) > 0);
        pawl_error_free(error);
    }
    assert_string_equal(pawl_config_get(config, "lease"), "1h");
    assert_null(pawl_config_get(config, "colour"));
    assert_null(pawl_config_get(NULL, "lease"));
    assert_int_equal(pawl_config_set(NULL, "lease", "1h", NULL), PAWL_EINVAL);
    pawl_config_free(config);
    pawl_config_free(NULL);
}

static void
an_error_says_what_the_setting_can_be_and_never_the_value(void **state)
{
    pawl_config *config = pawl_config_new();
    pawl_error *error = NULL;

    (void)state;
    assert_int_equal(pawl_config_set(config, "lease", "1ms", &error), PAWL_EINVAL);
    assert_string_equal(pawl_error_hint(error), "It is a duration from 500ms to 1h.");
    pawl_error_free(error);
    assert_int_equal(
        pawl_config_set(config, "database", "password=sesame open", &error), PAWL_EINVAL);
    assert_null(strstr(pawl_error_message(error), "sesame"));
    assert_null(strstr(pawl_error_hint(error), "sesame"));
    pawl_error_free(error);
    pawl_config_free(config);
}

static void
log_nothing(void *userdata, int level, const char *event, const char *message,
    const char *const *names, const char *const *values, size_t count)
{
    (void)userdata;
    (void)level;
    (void)event;
    (void)message;
    (void)names;
    (void)values;
    (void)count;
}

static void
settings_are_a_copy(void **state)
{
    pawl_config *config = pawl_config_new();
    struct pw_settings settings;
    struct pw_error err = {0};
    const char *at, *name;
    size_t size;

    (void)state;
    assert_int_equal(pawl_config_set(config, "runtimes", "c,python", NULL), PAWL_OK);
    assert_int_equal(pawl_config_set(config, "memory_max", "2MB", NULL), PAWL_OK);
    assert_int_equal(pawl_config_set(config, "prepared", "off", NULL), PAWL_OK);
    pawl_config_set_log(config, PAWL_LOG_DEBUG, log_nothing, config);
    pawl_config_set_log(NULL, PAWL_LOG_DEBUG, log_nothing, config);
    assert_int_equal(pw_config_settings(config, &settings, &err), PAWL_OK);
    assert_ptr_equal(settings.logger.userdata, config);
    assert_int_equal(settings.log_kept, -1);
    pw_settings_done(&settings);
    pawl_config_keep_log(config, 99);
    pawl_config_keep_log(NULL, 1);
    assert_int_equal(pw_config_settings(config, &settings, &err), PAWL_OK);
    assert_int_equal(settings.log_kept, PAWL_LOG_DEBUG);
    assert_null(settings.logger.ring);
    pawl_config_free(config);
    assert_int_equal(settings.memory_max, 2 * 1048576);
    assert_int_equal(settings.logger.level, PAWL_LOG_DEBUG);
    assert_true(pw_settings_spec(&settings).never_prepare);
    at = settings.runtimes;
    assert_true(pw_settings_runtime(&at, &name, &size) && size == 1 && name[0] == 'c');
    assert_true(
        pw_settings_runtime(&at, &name, &size) && size == 6 && memcmp(name, "python", 6) == 0);
    assert_false(pw_settings_runtime(&at, &name, &size));
    pw_settings_done(&settings);
}

static void
out_of_memory_changes_nothing(void **state)
{
    struct pw_settings settings;
    pawl_config *config;
    pawl_error *error = NULL;
    int complete = 0;

    (void)state;
    for (long n = 1; fail_alloc_try(n); n++) {
        config = pawl_config_new();
        if (config == NULL)
            continue;
        if (pawl_config_set(config, "lease", "1s", &error) == PAWL_OK)
            assert_string_equal(pawl_config_get(config, "lease"), "1s");
        else
            assert_string_equal(pawl_config_get(config, "lease"), "30s");
        pawl_error_free(error);
        error = NULL;
        if (pw_config_settings(config, &settings, NULL) == PAWL_OK) {
            pw_settings_done(&settings);
            complete++;
        }
        pawl_config_free(config);
    }
    assert_true(complete >= 1);
}

static void
a_worker_without_a_configuration_has_the_defaults(void **state)
{
    pawl_worker *worker = NULL;

    (void)state;
    assert_int_equal(pawl_worker_new(NULL, &worker, NULL), PAWL_OK);
    assert_non_null(worker);
    pawl_worker_free(worker);
    assert_int_equal(pawl_worker_new(NULL, NULL, NULL), PAWL_EINVAL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_those_of_the_table),
        cmocka_unit_test(every_default_is_a_value_that_the_setting_takes),
        cmocka_unit_test(values_are_taken_or_refused),
        cmocka_unit_test(an_error_says_what_the_setting_can_be_and_never_the_value),
        cmocka_unit_test(settings_are_a_copy),
        cmocka_unit_test(a_worker_without_a_configuration_has_the_defaults),
        cmocka_unit_test(out_of_memory_changes_nothing),
    };

    return cmocka_run_group_tests_name("libpawl/config", tests, NULL, NULL);
}
