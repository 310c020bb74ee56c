/* SPDX-License-Identifier: Apache-2.0 */
/* The options and variables of a program that calls pawl_worker_main(), and what is wrong with them; without a database. */
#include "libpawl/worker/main_options.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum {
    WORDS_MAX = 8,
    WORD_SIZE = 100,
};

/* A command line in memory that may be written to, as a program's is. */
struct words {
    char text[WORDS_MAX][WORD_SIZE];
    char *argv[WORDS_MAX + 1];
    int argc;
};

static struct words
words_of(const char *const *texts)
{
    struct words words = {0};

    for (; texts[words.argc] != NULL; words.argc++)
        memcpy(words.text[words.argc], texts[words.argc], strlen(texts[words.argc]) + 1);
    return words;
}

#define WORDS(...) words_of((const char *const[]){"bin/shop", __VA_ARGS__, NULL})

static int
read_words(struct pw_main_options *options, struct words *words, struct pw_error *err)
{
    for (int i = 0; i < words->argc; i++)
        words->argv[i] = words->text[i];
    *err = (struct pw_error){0};
    return pw_main_options_read(options, words->argc, words->argv, err);
}

static void
assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", part, text);
}

static void
refuse(struct words words, const char *message, const char *hint)
{
    struct pw_main_options options;
    struct pw_error err;

    assert_int_equal(read_words(&options, &words, &err), PAWL_EINVAL);
    assert_string_equal(options.program, "shop");
    assert_string_equal(err.message, message);
    assert_has(err.hint, hint);
    pw_main_options_done(&options);
}

static void
options_have_the_names_of_settings(void **state)
{
    struct words words =
        WORDS("--concurrency", "3", "--drain-timeout=5s", "--batch_max=7", "--log-level", "debug");
    struct pw_main_options options;
    struct pw_error err;

    (void)state;
    assert_int_equal(read_words(&options, &words, &err), PAWL_OK);
    assert_string_equal(pawl_config_get(options.config, "concurrency"), "3");
    assert_string_equal(pawl_config_get(options.config, "drain_timeout"), "5s");
    assert_string_equal(pawl_config_get(options.config, "batch_max"), "7");
    assert_string_equal(pawl_config_get(options.config, "lease"), "30s");
    assert_int_equal(options.log_level, PAWL_LOG_DEBUG);
    assert_false(options.help || options.version);
    pw_main_options_done(&options);
}

static void
variables_are_read_and_options_win(void **state)
{
    struct words words = WORDS("--lease=3s");
    struct pw_main_options options;
    struct pw_error err;

    (void)state;
    (void)setenv("PAWL_DATABASE_URL", "postgresql:///shop", 1);
    (void)setenv("PAWL_LEASE", "2s", 1);
    (void)setenv("PAWL_DRAIN_TIMEOUT", "7s", 1);
    (void)setenv("PAWL_CONCURRENCY", "", 1);
    (void)setenv("PAWL_LOG_LEVEL", "info", 1);
    (void)setenv("PAWL_UNHEARD_OF", "1", 1);
    assert_int_equal(read_words(&options, &words, &err), PAWL_OK);
    assert_string_equal(pawl_config_get(options.config, "database"), "postgresql:///shop");
    assert_string_equal(pawl_config_get(options.config, "lease"), "3s");
    assert_string_equal(pawl_config_get(options.config, "drain_timeout"), "7s");
    assert_string_equal(pawl_config_get(options.config, "concurrency"), "auto");
    assert_int_equal(options.log_level, PAWL_LOG_INFO);
    pw_main_options_done(&options);

    (void)setenv("PAWL_LEASE", "soon", 1);
    refuse(WORDS("--lease=3s"), "PAWL_LEASE: setting \"lease\" cannot have this value",
        "a duration from 500ms to 1h");
    (void)unsetenv("PAWL_DATABASE_URL");
    (void)unsetenv("PAWL_LEASE");
    (void)unsetenv("PAWL_DRAIN_TIMEOUT");
    (void)unsetenv("PAWL_CONCURRENCY");
    (void)unsetenv("PAWL_LOG_LEVEL");
    (void)unsetenv("PAWL_UNHEARD_OF");
}

static void
wrong_command_lines_are_refused(void **state)
{
    (void)state;
    refuse(WORDS("--leese", "3s"), "unknown option \"--leese\"", "Run \"shop --help\"");
    refuse(WORDS("--"), "unknown option \"--\"", "--help");
    refuse(WORDS("-v"), "unknown option \"-v\"", "--help");
    refuse(WORDS("work"), "unexpected argument \"work\"", "--help");
    refuse(WORDS("--lease"), "a value is missing after \"--lease\"", "--help");
    refuse(WORDS("--lease", "soon"), "--lease: setting \"lease\" cannot have this value",
        "a duration from 500ms to 1h");
    refuse(WORDS("--log-level=loud"), "--log-level cannot have this value", "error, warning");
}

static void
passwords_do_not_stay_in_sight(void **state)
{
    struct words words = WORDS("--database=postgresql://u:secret@h/db", "--listen-database",
        "host=h password=secret", "--application-name=open");
    struct pw_main_options options;
    struct pw_error err;

    (void)state;
    assert_int_equal(read_words(&options, &words, &err), PAWL_OK);
    assert_string_equal(pawl_config_get(options.config, "database"), "postgresql://u:secret@h/db");
    for (int i = 0; i < words.argc; i++)
        assert_null(strstr(words.text[i], "secret"));
    assert_string_equal(words.text[4], "--application-name=open");
    pw_main_options_done(&options);
    refuse(WORDS("--databse=postgresql://u:secret@h"), "unknown option \"--databse\"", "--help");
    refuse(WORDS("password=secret"), "unexpected argument \"xxxxxxxxxxxxxxx\"", "--help");
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

static const pawl_declaration table[] = {
    {.size = sizeof(pawl_declaration), .name = "shop.order.v1", .handler = handle},
    {.size = sizeof(pawl_declaration), .name = "shop.refund", .undo = undo},
};

static void
the_help_names_workflows_options_and_variables(void **state)
{
    struct words words = WORDS("--help");
    struct pw_main_options options;
    struct pw_error err;
    struct pw_buf help;
    const char *name;

    (void)state;
    assert_int_equal(read_words(&options, &words, &err), PAWL_OK);
    assert_true(options.help);
    pw_buf_init(&help, 100000);
    pw_main_options_help(&options, table, 2, &help);
    assert_true(pw_buf_ok(&help));
    assert_has(help.data, "Usage: shop [OPTION]...");
    assert_has(help.data, "\n  shop.order.v1\n");
    assert_null(strstr(help.data, "shop.refund"));
    assert_has(help.data, "\n  --database=VALUE, PAWL_DATABASE_URL\n");
    assert_has(help.data, "\n  --drain-timeout=VALUE, PAWL_DRAIN_TIMEOUT (default: 30s)\n");
    assert_has(help.data, "\n  --log-level=VALUE, PAWL_LOG_LEVEL (default: warning)\n");
    for (const char *line = help.data; line != NULL && *line != '\0';) {
        assert_true(strcspn(line, "\n") < 80);
        line = strchr(line, '\n');
        line = line == NULL ? NULL : line + 1;
    }
    for (size_t i = 0; pawl_config_describe(i, &name, NULL, NULL) == PAWL_OK; i++) {
        char option[80] = "\n  --";
        size_t at = strlen(option);

        for (const char *c = name; *c != '\0'; c++)
            option[at++] = *c == '_' ? '-' : *c;
        memcpy(option + at, "=VALUE", 7);
        assert_has(help.data, option);
    }
    pw_buf_done(&help);
    pw_main_options_done(&options);
}

/* Returns the exit code. What is printed to standard output goes nowhere, because a TAP reader reads ours. */
static int
call_main(struct words words)
{
    int before = dup(STDOUT_FILENO);
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    int code;

    for (int i = 0; i < words.argc; i++)
        words.argv[i] = words.text[i];
    (void)fflush(stdout);
    assert_int_equal(dup2(nowhere, STDOUT_FILENO), STDOUT_FILENO);
    code = pawl_worker_main_table(words.argc, words.argv, table, 2, NULL);
    assert_int_equal(dup2(before, STDOUT_FILENO), STDOUT_FILENO);
    (void)close(nowhere);
    (void)close(before);
    return code;
}

static void
the_exit_code_says_what_was_wrong(void **state)
{
    static const pawl_declaration bad = {
        .size = sizeof(bad), .name = "Not A Name", .handler = handle};
    char name[] = "shop";
    char *argv[] = {name, NULL};

    (void)state;
    assert_int_equal(call_main(WORDS("--leese=3s")), 2);
    assert_int_equal(call_main(WORDS("--concurrency=none")), 2);
    assert_int_equal(call_main(WORDS("--version")), 0);
    assert_int_equal(call_main(WORDS("--lease=1s", "--help")), 0);
    assert_int_equal(pawl_worker_main_table(1, argv, &bad, 1, NULL), 1);
    assert_int_equal(pawl_worker_main_table(1, argv, NULL, 0, NULL), 1);
    assert_int_equal(pawl_worker_main_table(0, NULL, NULL, 0, NULL), 1);
    assert_int_equal(call_main(WORDS("--database=host=/nowhere", "--connect-timeout=200ms")), 7);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_have_the_names_of_settings),
        cmocka_unit_test(variables_are_read_and_options_win),
        cmocka_unit_test(wrong_command_lines_are_refused),
        cmocka_unit_test(passwords_do_not_stay_in_sight),
        cmocka_unit_test(the_help_names_workflows_options_and_variables),
        cmocka_unit_test(the_exit_code_says_what_was_wrong),
    };

    return cmocka_run_group_tests_name("libpawl/main_options", tests, NULL, NULL);
}
