/* SPDX-License-Identifier: Apache-2.0 */
#include "libpawl/worker/main_options.h"

#include "base/secret.h"

#include <stdlib.h>
#include <string.h>

enum {
    VARIABLE_SIZE = 64,
    COLUMNS = 79, /* of the help */
    INDENT = 8,
};

static const char *const levels[] = {
    [PAWL_LOG_ERROR] = "error",
    [PAWL_LOG_WARNING] = "warning",
    [PAWL_LOG_INFO] = "info",
    [PAWL_LOG_DEBUG] = "debug",
};

static const char *
program_name(int argc, char **argv)
{
    const char *path = argc > 0 && argv != NULL && argv[0] != NULL ? argv[0] : "worker";
    const char *slash = strrchr(path, '/');

    return slash == NULL ? path : slash + 1;
}

/* Returns true if an option has this name, in which '-' stands for '_'. */
static bool
is_named(const char *option, size_t size, const char *name)
{
    if (strlen(name) != size)
        return false;
    for (size_t i = 0; i < size; i++)
        if (option[i] != name[i] && (option[i] != '-' || name[i] != '_'))
            return false;
    return true;
}

/* Returns the name of the setting that an option stands for, or NULL. */
static const char *
find_setting(const char *option, size_t size)
{
    const char *name;

    for (size_t i = 0; pawl_config_describe(i, &name, NULL, NULL) == PAWL_OK; i++)
        if (is_named(option, size, name))
            return name;
    return NULL;
}

/* Writes the name of a setting's variable. The command pawl reads PAWL_DATABASE_URL, so that a worker does, too. */
static void
name_variable(const char *setting, char out[VARIABLE_SIZE])
{
    size_t at = 5;

    memcpy(out, "PAWL_", at);
    for (size_t i = 0; setting[i] != '\0' && at < VARIABLE_SIZE - 5; i++, at++)
        out[at] =
            (char)(setting[i] >= 'a' && setting[i] <= 'z' ? setting[i] - 'a' + 'A' : setting[i]);
    out[at] = '\0';
    if (strcmp(setting, "database") == 0)
        memcpy(out + at, "_URL", 5);
}

/* Sets a setting, or the level of the log. source is the variable or the option that has the value. */
static int
set_value(struct pw_main_options *options, const char *setting, const char *value,
    const char *source, struct pw_error *err)
{
    pawl_error *error = NULL;
    pawl_status status;

    if (strcmp(setting, "log_level") == 0) {
        for (int i = 0; i <= PAWL_LOG_DEBUG; i++)
            if (strcmp(levels[i], value) == 0) {
                options->log_level = i;
                return PAWL_OK;
            }
        pw_error_set(err, PAWL_EINVAL, "%s cannot have this value", source);
        pw_error_hint(err, "It is error, warning, info or debug.");
        return PAWL_EINVAL;
    }
    status = pawl_config_set(options->config, setting, value, &error);
    if (status != PAWL_OK) {
        pw_error_set(err, (int)status, "%s: %s", source, pawl_error_message(error));
        pw_error_hint(err, "%s", pawl_error_hint(error));
    }
    pawl_error_free(error);
    return (int)status;
}

/* Takes one setting from the environment. An empty variable is the same as none. */
static int
read_variable(struct pw_main_options *options, const char *setting, struct pw_error *err)
{
    char variable[VARIABLE_SIZE];
    const char *value;

    name_variable(setting, variable);
    value = getenv(variable);
    if (value == NULL || value[0] == '\0')
        return PAWL_OK;
    return set_value(options, setting, value, variable, err);
}

static int
read_environment(struct pw_main_options *options, struct pw_error *err)
{
    int status = read_variable(options, "log_level", err);
    const char *name;

    for (size_t i = 0; status == PAWL_OK && pawl_config_describe(i, &name, NULL, NULL) == PAWL_OK;
         i++)
        status = read_variable(options, name, err);
    return status;
}

static int
refuse(
    const struct pw_main_options *options, const char *what, const char *word, struct pw_error *err)
{
    pw_error_set(err, PAWL_EINVAL, "%s \"%.80s\"", what, word);
    pw_error_hint(err, "Run \"%.80s --help\" for a list of options.", options->program);
    return PAWL_EINVAL;
}

/* Reads one argument; argv[*at] may be followed by its value. */
static int
read_argument(struct pw_main_options *options, int argc, char **argv, int *at, struct pw_error *err)
{
    char *word = argv[*at];
    size_t size = strcspn(word, "=");
    const char *setting = NULL;
    char source[VARIABLE_SIZE];
    char *value = NULL;
    int status;

    if (strcmp(word, "--help") == 0 || strcmp(word, "--version") == 0) {
        options->help = options->help || word[2] == 'h';
        options->version = options->version || word[2] == 'v';
        return PAWL_OK;
    }
    if (word[0] != '-' && pw_secret_in(word))
        pw_secret_hide(word);
    if (word[0] != '-')
        return refuse(options, "unexpected argument", word, err);
    if (strncmp(word, "--", 2) == 0)
        setting = is_named(word + 2, size - 2, "log_level") ? "log_level"
                                                            : find_setting(word + 2, size - 2);
    if (setting == NULL) {
        word[size] = '\0'; /* what follows may be a secret */
        return refuse(options, "unknown option", word, err);
    }
    if (word[size] == '=')
        value = word + size + 1;
    else if (*at + 1 < argc)
        value = argv[++*at];
    else
        return refuse(options, "a value is missing after", word, err);
    (void)memcpy(source, word, size);
    source[size] = '\0';
    status = set_value(options, setting, value, source, err);
    /* guard:main_hides_secrets */
    if (pw_secret_in(value))
        pw_secret_hide(value);
    return status;
}

int
pw_main_options_read(struct pw_main_options *options, int argc, char **argv, struct pw_error *err)
{
    int status;

    *options = (struct pw_main_options){
        .program = program_name(argc, argv),
        .config = pawl_config_new(),
        .log_level = PAWL_LOG_WARNING,
    };
    if (options->config == NULL) {
        pw_error_oom(err);
        return PAWL_ENOMEM;
    }
    status = read_environment(options, err);
    for (int at = 1; at < argc && status == PAWL_OK; at++)
        status = read_argument(options, argc, argv, &at, err);
    return status;
}

void
pw_main_options_done(struct pw_main_options *options)
{
    pawl_config_free(options->config);
    options->config = NULL;
}

/* Adds a text in lines that end before the last column. */
static void
add_wrapped(struct pw_buf *out, const char *text)
{
    size_t column = 0;

    while (*text != '\0') {
        size_t size = strcspn(text, " ");

        if (column > 0 && column + 1 + size > COLUMNS) {
            pw_buf_addc(out, '\n');
            column = 0;
        }
        if (column == 0) {
            pw_buf_addf(out, "%*s", INDENT, "");
            column = INDENT;
        } else {
            pw_buf_addc(out, ' ');
            column++;
        }
        pw_buf_add(out, text, size);
        column += size;
        text += size;
        text += strspn(text, " ");
    }
    pw_buf_addc(out, '\n');
}

static void
add_option(struct pw_buf *out, const char *setting, const char *default_value, const char *text)
{
    char variable[VARIABLE_SIZE];

    name_variable(setting, variable);
    pw_buf_adds(out, "  --");
    for (const char *c = setting; *c != '\0'; c++)
        pw_buf_addc(out, *c == '_' ? '-' : *c);
    pw_buf_addf(out, "=VALUE, %s", variable);
    if (default_value[0] != '\0')
        pw_buf_addf(out, " (default: %s)", default_value);
    pw_buf_addc(out, '\n');
    add_wrapped(out, text);
}

void
pw_main_options_help(const struct pw_main_options *options, const pawl_declaration *table,
    size_t count, struct pw_buf *out)
{
    const char *at = (const char *)table;
    const char *name, *default_value, *text;

    pw_buf_addf(out, "Usage: %s [OPTION]...\n\n", options->program);
    pw_buf_adds(out, "Executes runs of these workflows until SIGINT or SIGTERM:\n");
    for (size_t i = 0; i < count; i++) {
        const pawl_declaration *entry = (const pawl_declaration *)(const void *)at;

        if (entry->undo == NULL && entry->name != NULL)
            pw_buf_addf(out, "  %s\n", entry->name);
        at += entry->size;
    }
    pw_buf_adds(out,
        "\nThe first signal lets runs that execute continue to their end, for at most\n"
        "--drain-timeout. The second one ends the program at once.\n"
        "\nSettings, as an option or as a variable of the environment; the option wins:\n");
    for (size_t i = 0; pawl_config_describe(i, &name, &default_value, &text) == PAWL_OK; i++)
        add_option(out, name, default_value, text);
    add_option(out, "log_level", levels[PAWL_LOG_WARNING],
        "Which lines of the log go to standard error: error, warning, info or debug.");
    pw_buf_adds(out,
        "\n  --help\n        Print this text.\n"
        "  --version\n        Print the version of libpawl.\n");
}
