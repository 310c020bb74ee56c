/* SPDX-License-Identifier: Apache-2.0 */
/* The table of options, and how each is checked and written. */
#include "libpawl/run/option.h"

#include "base/arena.h"
#include "base/json_read.h"
#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/text.h"

#include <string.h>

/* The engine accepts at most 64 kB of options in one item; this leaves space for the other options. */
static const size_t json_max = 60000;
static const unsigned depth_max = 60;
static const size_t text_max = 500;
static const size_t handler_max = 200;
static const size_t about_max = 40;

enum form {
    FORM_INT,
    FORM_DOUBLE,
    FORM_NAME, /* of a handler */
    FORM_TEXT,
    FORM_JSON,
};

struct option {
    const char *name;
    unsigned calls;
    enum form form;
    int64_t min;
    int64_t max;
    const char *mistake; /* the text for a value that is not accepted */
};

/* Ten years in milliseconds; a constant expression. */
#define TEN_YEARS_MS INT64_C(315360000000)

static const struct option table[PW_OPTIONS] = {
    [PW_OPTION_MAX_ATTEMPTS] = {"max_attempts", PW_FOR_STEP, FORM_INT, 1, INT32_MAX,
        "must be a whole number from 1"},
    [PW_OPTION_BASE_MS] = {"base_ms", PW_FOR_STEP, FORM_INT, 0, TEN_YEARS_MS,
        "must be milliseconds, at most ten years"},
    [PW_OPTION_FACTOR] = {"factor", PW_FOR_STEP, FORM_DOUBLE, 1, 1000,
        "must be a number from 1 to 1000"},
    [PW_OPTION_CAP_MS] = {"cap_ms", PW_FOR_STEP, FORM_INT, 0, TEN_YEARS_MS,
        "must be milliseconds, at most ten years"},
    [PW_OPTION_JITTER] = {"jitter", PW_FOR_STEP, FORM_DOUBLE, 0, 1, "must be a number from 0 to 1"},
    [PW_OPTION_TIMEOUT_MS] = {"timeout_ms", PW_FOR_STEP, FORM_INT, 1, TEN_YEARS_MS,
        "must be milliseconds, from 1 to ten years"},
    [PW_OPTION_UNDO] = {"undo", PW_FOR_STEP, FORM_NAME, 0, 0,
        "must be the name of an undo handler"},
    [PW_OPTION_UNDO_INPUT] = {"undo_input", PW_FOR_STEP, FORM_JSON, 0, 0,
        "must be JSON of at most 60000 bytes"},
    [PW_OPTION_UNDO_MAX_ATTEMPTS] = {"undo_max_attempts", PW_FOR_STEP, FORM_INT, 1, INT32_MAX,
        "must be a whole number from 1"},
    [PW_OPTION_UNDO_BASE_MS] = {"undo_base_ms", PW_FOR_STEP, FORM_INT, 0, TEN_YEARS_MS,
        "must be milliseconds, at most ten years"},
    [PW_OPTION_KEY] = {"key", PW_FOR_EVENT, FORM_TEXT, 0, 0, "must be a text of at most 500 bytes"},
    [PW_OPTION_MATCH] = {"match", PW_FOR_EVENT, FORM_JSON, 0, 0,
        "must be JSON of at most 60000 bytes"},
    [PW_OPTION_PRIORITY] = {"priority", PW_FOR_CHILD, FORM_INT, 0, 32767,
        "must be a whole number from 0 to 32767"},
    [PW_OPTION_DELAY_MS] = {"delay_ms", PW_FOR_CHILD, FORM_INT, 0, TEN_YEARS_MS,
        "must be milliseconds, at most ten years"},
    [PW_OPTION_METADATA] = {"metadata", PW_FOR_CHILD, FORM_JSON, 0, 0,
        "must be JSON of at most 60000 bytes"},
    [PW_OPTION_LIMIT_KEY] = {"limit_key", PW_FOR_CHILD, FORM_TEXT, 0, 0,
        "must be a text of at most 500 bytes"},
};

static bool
has_form(const struct option *option, const char *value)
{
    size_t size = strlen(value);
    int64_t number;
    double real;

    switch (option->form) {
    case FORM_INT:
        return pw_parse_i64(value, option->min, option->max, &number);
    case FORM_DOUBLE:
        return pw_parse_double(value, (double)option->min, (double)option->max, &real);
    case FORM_NAME:
        return size > 0 && size <= handler_max &&
            strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789_.-/") == size;
    case FORM_TEXT:
        return size <= text_max;
    case FORM_JSON:
        return pw_json_scan(value, size, json_max, depth_max) == PW_JSON_OK;
    }
    return false;
}

static void
note_mistake(
    struct pw_options *options, struct pw_arena *arena, const char *name, const char *mistake)
{
    size_t size = strlen(name);

    if (options->mistake != NULL)
        return;
    options->about = pw_arena_copy(arena, name, size < about_max ? size : about_max);
    if (options->about == NULL)
        options->about = "";
    options->mistake = mistake;
}

void
pw_options_set(
    struct pw_options *options, struct pw_arena *arena, const char *name, const char *value)
{
    for (size_t i = 0; name != NULL && i < PW_OPTIONS; i++) {
        if (strcmp(table[i].name, name) != 0)
            continue;
        if (value == NULL) {
            options->values[i] = NULL;
            return;
        }
        if (!has_form(&table[i], value)) {
            note_mistake(options, arena, name, table[i].mistake);
            return;
        }
        options->values[i] = pw_arena_copy(arena, value, strlen(value));
        options->oom = options->oom || options->values[i] == NULL;
        return;
    }
    note_mistake(options, arena, name != NULL ? name : "", "does not exist");
}

bool
pw_options_fit(struct pw_options *options, unsigned call)
{
    for (size_t i = 0; options->mistake == NULL && i < PW_OPTIONS; i++) {
        if (options->values[i] != NULL && (table[i].calls & call) == 0) {
            options->about = table[i].name;
            options->mistake = "is not one of this call";
        }
    }
    for (size_t i = PW_OPTION_UNDO_INPUT; options->mistake == NULL && i <= PW_OPTION_UNDO_BASE_MS;
         i++) {
        if (options->values[i] != NULL && options->values[PW_OPTION_UNDO] == NULL) {
            options->about = table[i].name;
            options->mistake = "needs the option \"undo\"";
        }
    }
    if (options->mistake == NULL && options->values[PW_OPTION_CAP_MS] != NULL &&
        pw_options_number(options, PW_OPTION_BASE_MS, 0) >
            pw_options_number(options, PW_OPTION_CAP_MS, 0)) {
        options->about = table[PW_OPTION_BASE_MS].name;
        options->mistake = "must not be more than the option \"cap_ms\"";
    }
    return options->mistake == NULL;
}

int64_t
pw_options_number(const struct pw_options *options, enum pw_option option, int64_t default_value)
{
    int64_t number;

    if (options->values[option] == NULL ||
        !pw_parse_i64(options->values[option], INT64_MIN, INT64_MAX, &number))
        return default_value;
    return number;
}

void
pw_options_write(const struct pw_options *options, enum pw_option option, const char *key,
    struct pw_json_writer *writer)
{
    const char *value = options->values[option];
    double real;

    if (value == NULL)
        return;
    pw_json_key(writer, key);
    switch (table[option].form) {
    case FORM_INT:
        pw_json_add_int(writer, pw_options_number(options, option, 0));
        break;
    case FORM_DOUBLE:
        if (!pw_parse_double(value, (double)table[option].min, (double)table[option].max, &real))
            real = 0;
        pw_json_add_double(writer, real);
        break;
    case FORM_JSON:
        pw_json_add_raw(writer, value, strlen(value));
        break;
    case FORM_NAME:
    case FORM_TEXT:
        pw_json_add_text(writer, value);
        break;
    }
}

/* Returns true if any of the options from first to last is given. */
static bool
any_given(const struct pw_options *options, enum pw_option first, enum pw_option last)
{
    for (size_t i = first; i <= last; i++)
        if (options->values[i] != NULL)
            return true;
    return false;
}

void
pw_options_write_policy(const struct pw_options *options, struct pw_json_writer *writer)
{
    if (!any_given(options, PW_OPTION_MAX_ATTEMPTS, PW_OPTION_JITTER))
        return;
    pw_json_key(writer, "policy");
    pw_json_open(writer, '{');
    for (size_t i = PW_OPTION_MAX_ATTEMPTS; i <= PW_OPTION_JITTER; i++)
        pw_options_write(options, (enum pw_option)i, table[i].name, writer);
    pw_json_close(writer);
}

void
pw_options_write_undo(const struct pw_options *options, struct pw_json_writer *writer)
{
    pw_json_key(writer, "undo");
    pw_json_open(writer, '{');
    pw_options_write(options, PW_OPTION_UNDO, "handler", writer);
    pw_options_write(options, PW_OPTION_UNDO_INPUT, "input", writer);
    if (any_given(options, PW_OPTION_UNDO_MAX_ATTEMPTS, PW_OPTION_UNDO_BASE_MS)) {
        pw_json_key(writer, "policy");
        pw_json_open(writer, '{');
        pw_options_write(options, PW_OPTION_UNDO_MAX_ATTEMPTS, "max_attempts", writer);
        pw_options_write(options, PW_OPTION_UNDO_BASE_MS, "base_ms", writer);
        pw_json_close(writer);
    }
    pw_json_close(writer);
}
