/* SPDX-License-Identifier: Apache-2.0 */
/* pawl trigger: triggers one run, or a run for each line of a file. */
#include "base/buf.h"
#include "base/json_read.h"
#include "base/json_write.h"
#include "cli/command/commands.h"
#include "cli/command/invocation.h"
#include "cli/report/exit.h"
#include "cli/show/term.h"
#include "cli/show/time_text.h"
#include "cli/verbs/line.h"
#include "cli/verbs/wait.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    MANY = 1000,     /* runs that are triggered together */
    KEY_SIZE = 2001, /* a key of 500 characters and their end */
    TAGS_SIZE = 65536,
};

/* Computes the delay until --at, by the database's clock. */
static int
delay_until(struct invocation *invocation, int64_t *delay_ms)
{
    const char *at = invocation_option(invocation, "at");
    int64_t now_us = 0;
    int64_t at_us = 0;
    int code = invocation_now(invocation, &now_us);

    if (code != EXIT_OK)
        return code;
    (void)time_text_read(at, now_us, true, &at_us); /* invocation_read() has checked it */
    if (at_us < now_us)
        return exit_saying(
            EXIT_USAGE, "Omit --at to start the run now.", "--at \"%s\" is in the past", at);
    *delay_ms =
        (at_us - now_us + 999) / 1000; /* rounded up, so that the run does not start early */
    return EXIT_OK;
}

/* Sets the tags: --tag may be given more than once. */
static int
set_tags(const struct invocation *invocation, pawl_trigger *trigger)
{
    struct pw_buf text;
    struct pw_json_writer writer;
    int code = EXIT_OK;

    if (!invocation_has(invocation, "tag"))
        return EXIT_OK;
    pw_buf_init(&text, TAGS_SIZE);
    pw_json_writer_init(&writer, &text);
    pw_json_open(&writer, '[');
    for (size_t i = 0; i < invocation->given_count; i++)
        if (strcmp(invocation->given[i].option->name, "tag") == 0)
            pw_json_add_text(&writer, invocation->given[i].value);
    pw_json_close(&writer);
    if (pw_json_ok(&writer) && pw_buf_text(&text) != NULL)
        pawl_trigger_set(trigger, "tags", pw_buf_text(&text));
    else
        code = exit_saying(EXIT_USAGE, NULL, "the tags are too large");
    pw_buf_done(&text);
    return code;
}

/* Sets the options that are durations, and those that go with them. */
static int
set_durations(const struct invocation *invocation, pawl_trigger *trigger)
{
    static const char *const names[][2] = {{"expires", "expires_ms"}, {"debounce", "debounce_ms"},
        {"debounce-max", "debounce_max_ms"}};
    char text[32];

    if (invocation_has(invocation, "debounce") &&
        (invocation_has(invocation, "at") || invocation_has(invocation, "in")))
        return exit_saying(EXIT_USAGE, NULL, "--debounce and --%s do not go together",
            invocation_has(invocation, "at") ? "at" : "in");
    if ((invocation_has(invocation, "debounce") || invocation_has(invocation, "replace")) &&
        !invocation_has(invocation, "key"))
        return exit_saying(EXIT_USAGE, NULL, "--%s needs --key",
            invocation_has(invocation, "debounce") ? "debounce" : "replace");
    if (invocation_has(invocation, "debounce-max") && !invocation_has(invocation, "debounce"))
        return exit_saying(EXIT_USAGE, NULL, "--debounce-max needs --debounce");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (invocation_has(invocation, names[i][0])) {
            int64_t millis = time_text_duration_ms(invocation_option(invocation, names[i][0]));

            if (millis <= 0)
                return exit_saying(EXIT_USAGE, NULL, "--%s must be longer than 0", names[i][0]);
            (void)snprintf(text, sizeof(text), "%" PRId64, millis);
            pawl_trigger_set(trigger, names[i][1], text);
        }
    if (invocation_has(invocation, "replace"))
        pawl_trigger_set(trigger, "replace", "on");
    return EXIT_OK;
}

/* Sets the options that pawl_trigger_set() takes. */
static int
set_options(struct invocation *invocation, pawl_trigger *trigger)
{
    static const char *const names[][2] = {
        {"key", "key"}, {"limit-key", "limit_key"}, {"tenant", "tenant"}, {"priority", "priority"}};
    char delay[32];
    int64_t delay_ms = 0;
    int code = set_durations(invocation, trigger);

    if (code != EXIT_OK)
        return code;
    if (invocation_has(invocation, "at") && invocation_has(invocation, "in"))
        return exit_saying(EXIT_USAGE, NULL, "--at and --in say the same: give one of them");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (invocation_has(invocation, names[i][0]))
            pawl_trigger_set(trigger, names[i][1], invocation_option(invocation, names[i][0]));
    if (invocation_has(invocation, "metadata")) {
        char *metadata = invocation_json(invocation_option(invocation, "metadata"), &code);

        if (metadata == NULL)
            return code;
        pawl_trigger_set(trigger, "metadata", metadata);
        free(metadata);
    }
    code = set_tags(invocation, trigger);
    if (code != EXIT_OK)
        return code;
    if (invocation_has(invocation, "in"))
        delay_ms = time_text_duration_ms(invocation_option(invocation, "in"));
    if (invocation_has(invocation, "at"))
        code = delay_until(invocation, &delay_ms);
    if (code == EXIT_OK && delay_ms > 0) {
        (void)snprintf(delay, sizeof(delay), "%" PRId64, delay_ms);
        pawl_trigger_set(trigger, "delay_ms", delay);
    }
    return code;
}

static void
say_triggered(const struct invocation *invocation, const char *run_id, uint32_t flags)
{
    const char *workflow = invocation_operand(invocation, 0);

    if (invocation->output == OUTPUT_JSON || invocation->output == OUTPUT_JSONL) {
        (void)printf("{\"run_id\": \"%s\", \"created\": %s, \"handled\": %s}\n", run_id,
            (flags & PAWL_CREATED) != 0 ? "true" : "false",
            (flags & PAWL_HANDLED) != 0 ? "true" : "false");
        return;
    }
    (void)puts(run_id);
    if ((flags & PAWL_CREATED) == 0)
        (void)fprintf(stderr, "pawl: a run with this key was there before%s\n",
            invocation_has(invocation, "replace") || invocation_has(invocation, "debounce")
                ? ": it has this input now"
                : "");
    else if ((flags & PAWL_HANDLED) == 0)
        (void)fprintf(stderr, "pawl: no worker handles %s yet: the run waits for one\n", workflow);
}

static int
trigger_one(struct invocation *invocation, pawl_trigger *trigger)
{
    const char *input = invocation_option(invocation, "input");
    char run_id[PAWL_ID_SIZE];
    pawl_error *error = NULL;
    pawl_status status;
    uint32_t flags = 0;
    int code = EXIT_OK;

    if (input != NULL) {
        char *text = invocation_json(input, &code);

        if (text == NULL)
            return code;
        pawl_trigger_set_input(trigger, pawl_text(text));
        free(text);
    }
    status = pawl_client_trigger(invocation->client, trigger, run_id, &flags, &error);
    if (status == PAWL_EUNKNOWN)
        (void)fprintf(stderr, "pawl: if it was made, it is run %s\n", run_id);
    if (status != PAWL_OK)
        return exit_with_verb(status, error, "trigger");
    pawl_error_free(error);
    if (!invocation_has(invocation, "wait")) {
        say_triggered(invocation, run_id, flags);
        return EXIT_OK;
    }
    return wait_for_run(invocation, run_id);
}

/* A file of inputs that is being triggered. */
struct import {
    struct invocation *invocation;
    pawl_trigger *trigger;
    off_t size; /* of the file; 0: unknown */
    off_t read;
    size_t line;
    size_t first_line; /* of the gathered lines; there may be empty lines between it and line */
    size_t gathered;
    size_t sent;
};

static const char hint_again[] = "With --key-field the whole file can be triggered again.";

/* Draws "12000 triggered  [=====     ]  45%", if the size of the file is known. */
static void
draw_progress(const struct import *import)
{
    int tenths = 0;

    if (!term_is_tty(TERM_ERR))
        return;
    (void)fprintf(stderr, "\r\033[K%zu triggered", import->sent);
    if (import->size > 0) {
        tenths = (int)((double)import->read / (double)import->size * 20);
        (void)fprintf(stderr, "  [%.*s%*s]  %d%%", tenths > 20 ? 20 : tenths,
            "====================", tenths > 20 ? 0 : 20 - tenths, "",
            (int)((double)import->read / (double)import->size * 100));
    }
    (void)fflush(stderr);
}

static void
print_ids(const struct import *import, const char *ids)
{
    bool json =
        import->invocation->output == OUTPUT_JSON || import->invocation->output == OUTPUT_JSONL;

    /* On a terminal the ids would only scroll by. */
    for (size_t i = 0; !term_is_tty(TERM_OUT) && i < import->gathered; i++)
        (void)printf(json ? "{\"run_id\": \"%s\"}\n" : "%s\n", ids + i * PAWL_ID_SIZE);
}

/*
 * Reports what happened to the gathered lines. If the outcome is unknown, ids are the run ids that the lines have if they were triggered.
 */
static int
say_stopped(const struct import *import, pawl_status status, pawl_error *error, const char *ids)
{
    int code;

    if (term_is_tty(TERM_ERR))
        (void)fputc('\n', stderr);
    code = exit_with_verb(status, error, "trigger_many");
    if (status != PAWL_EUNKNOWN)
        return exit_saying(code, hint_again, "%zu runs were triggered; lines %zu to %zu were not",
            import->sent, import->first_line, import->line);
    (void)exit_saying(code, hint_again,
        "%zu runs were triggered; the outcome of lines %zu to %zu is unknown (all of them or "
        "none)",
        import->sent, import->first_line, import->line);
    (void)fputs(
        "pawl: if they were triggered, these are their run ids, in the order of the lines:\n",
        stderr);
    for (size_t i = 0; i < import->gathered; i++)
        (void)fprintf(stderr, "      %s\n", ids + i * PAWL_ID_SIZE);
    return code;
}

/* Triggers the gathered lines, and prints the ids. */
static int
flush_many(struct import *import)
{
    char *ids = calloc(import->gathered, PAWL_ID_SIZE);
    pawl_error *error = NULL;
    pawl_status status;
    int code = EXIT_OK;

    if (ids == NULL)
        return exit_saying(EXIT_OTHER, NULL, "out of memory");
    status =
        pawl_client_trigger_many(import->invocation->client, import->trigger, ids, NULL, &error);
    pawl_trigger_clear(import->trigger);
    if (status == PAWL_OK) {
        print_ids(import, ids);
        import->sent += import->gathered;
        import->gathered = 0;
        pawl_error_free(error);
        draw_progress(import);
    } else {
        code = say_stopped(import, status, error, ids);
    }
    free(ids);
    return code;
}

/* Reads the key that --key-field names in a line. */
static int
read_key(const struct import *import, pawl_bytes line, char *key, size_t size)
{
    const char *field = invocation_option(import->invocation, "key-field");

    if (line_key(line, field, key, size))
        return EXIT_OK;
    return exit_saying(EXIT_USAGE, NULL, "line %zu has no text or number at \"%s\" for its key",
        import->line, field);
}

/* Adds the number of runs that were triggered before an error. The error has been printed. */
static int
say_before(const struct import *import, int code)
{
    return import->sent == 0
        ? code
        : exit_saying(code, hint_again, "%zu runs were triggered before that", import->sent);
}

static int
add_line(struct import *import, pawl_bytes line)
{
    char key[KEY_SIZE];
    bool keyed = invocation_has(import->invocation, "key-field");
    int code = EXIT_OK;

    if (!pw_json_valid((struct pw_json){line.data, line.size}))
        code = exit_saying(EXIT_USAGE, NULL, "line %zu is not JSON", import->line);
    else if (keyed)
        code = read_key(import, line, key, sizeof(key));
    if (code != EXIT_OK)
        return say_before(import, code);
    if (import->gathered == 0)
        import->first_line = import->line;
    pawl_trigger_add(import->trigger, line, keyed ? key : NULL);
    return ++import->gathered == MANY ? flush_many(import) : EXIT_OK;
}

/* Triggers one run for each line; a thousand lines are one transaction. */
static int
trigger_many(struct invocation *invocation, pawl_trigger *trigger, FILE *file)
{
    struct import import = {.invocation = invocation, .trigger = trigger};
    struct stat about;
    char *line = NULL;
    size_t room = 0;
    ssize_t size;
    int code = EXIT_OK;

    if (fstat(fileno(file), &about) == 0 && S_ISREG(about.st_mode))
        import.size = about.st_size;
    /* A line that a read error has cut off looks like the last line of the file. */
    while (code == EXIT_OK && (size = getline(&line, &room, file)) > 0 && ferror(file) == 0) {
        import.read += size;
        import.line++;
        while (size > 0 && (line[size - 1] == '\n' || line[size - 1] == '\r'))
            size--;
        if (size > 0)
            code = add_line(&import, (pawl_bytes){line, (size_t)size});
    }
    if (code == EXIT_OK && feof(file) == 0)
        code = say_before(
            &import, exit_saying(EXIT_OTHER, NULL, "cannot read beyond line %zu: %m", import.line));
    if (code == EXIT_OK && import.gathered > 0)
        code = flush_many(&import);
    if (code == EXIT_OK && term_is_tty(TERM_ERR))
        (void)fputc('\n', stderr);
    free(line);
    return code;
}

static int
check_options(const struct invocation *invocation)
{
    static const char *const alone[] = {"key", "input", "wait", "replace", "debounce"};

    for (size_t i = 0; i < sizeof(alone) / sizeof(alone[0]); i++)
        if (invocation_has(invocation, "file") && invocation_has(invocation, alone[i]))
            return exit_saying(EXIT_USAGE, NULL, "--file and --%s do not go together", alone[i]);
    if (invocation_has(invocation, "key-field") && !invocation_has(invocation, "file"))
        return exit_saying(EXIT_USAGE, NULL, "--key-field needs --file");
    return EXIT_OK;
}

static int
trigger(struct invocation *invocation)
{
    const char *name = invocation_option(invocation, "file");
    pawl_trigger *trigger;
    FILE *file = NULL;
    int code = check_options(invocation);

    if (code == EXIT_OK)
        code = invocation_connect(invocation);
    if (code != EXIT_OK)
        return code;
    trigger = pawl_trigger_new(invocation_operand(invocation, 0));
    if (trigger == NULL)
        return exit_saying(EXIT_OTHER, NULL, "out of memory");
    code = set_options(invocation, trigger);
    if (code == EXIT_OK && name == NULL) {
        code = trigger_one(invocation, trigger);
    } else if (code == EXIT_OK) {
        file = strcmp(name, "-") == 0 ? stdin : fopen(name, "re");
        code = file == NULL ? exit_saying(EXIT_OTHER, NULL, "cannot open \"%s\": %m", name)
                            : trigger_many(invocation, trigger, file);
        if (file != NULL && file != stdin)
            (void)fclose(file);
    }
    pawl_trigger_free(trigger);
    return code;
}

const struct command cmd_trigger[] = {
    {.name = "trigger",
        .summary = "Trigger a run of a workflow",
        .text = "Prints the run's id. With --wait it waits for the end, shows the steps as they "
                "are done, prints the\n"
                "output, and exits with 6 if the run failed.",
        .verb = "trigger",
        .operands =
            (const struct operand[]){
                {.kind = KIND_WORKFLOW, .value = "NAME", .summary = "the name of a workflow"},
                {.kind = KIND_END},
            },
        .options =
            (const struct option[]){
                {.kind = KIND_JSON,
                    .letter = 'i',
                    .name = "input",
                    .value = "JSON",
                    .summary = "its input; JSON, @FILE or -; {} by default"},
                {.kind = KIND_TEXT,
                    .letter = 'k',
                    .name = "key",
                    .value = "KEY",
                    .summary = "an idempotency key: the same key again is the same run"},
                {.kind = KIND_TEXT,
                    .name = "limit-key",
                    .value = "KEY",
                    .summary = "the key that a key_limit of the workflow counts by"},
                {.kind = KIND_DURATION,
                    .name = "in",
                    .value = "TIME",
                    .summary = "delay the start, such as 2h"},
                {.kind = KIND_TIME,
                    .name = "at",
                    .value = "TIME",
                    .summary = "start at this time: \"2026-02-03 04:05\", 04:05, tomorrow"},
                {.kind = KIND_DURATION,
                    .name = "expires",
                    .value = "TIME",
                    .summary = "end it if no worker claims it within this time, such as 1h"},
                {.kind = KIND_FLAG,
                    .name = "replace",
                    .summary = "with --key: a run that has not begun gets this input; one that "
                               "has is cancelled"},
                {.kind = KIND_DURATION,
                    .name = "debounce",
                    .value = "TIME",
                    .summary = "with --key: start this long after the last trigger with the key, "
                               "with its input"},
                {.kind = KIND_DURATION,
                    .name = "debounce-max",
                    .value = "TIME",
                    .summary = "with --debounce: start at the latest this long after the first"},
                {.kind = KIND_TEXT,
                    .name = "tenant",
                    .value = "TENANT",
                    .summary = "for this tenant"},
                {.kind = KIND_NUMBER,
                    .name = "priority",
                    .value = "N",
                    .summary = "0 to 32767; a lower number goes first"},
                {.kind = KIND_JSON,
                    .name = "metadata",
                    .value = "JSON",
                    .summary = "facts that are kept with it"},
                {.kind = KIND_TEXT,
                    .name = "tag",
                    .value = "TAG",
                    .summary = "a text it is found by, such as order=42; may be given 8 times",
                    .many = true},
                {.kind = KIND_FILE,
                    .letter = 'f',
                    .name = "file",
                    .value = "FILE",
                    .summary = "one run for each line of a file, which is its input; - for "
                               "standard input"},
                {.kind = KIND_TEXT,
                    .name = "key-field",
                    .value = "POINTER",
                    .summary = "with --file: where in each input its key is, as /order/id"},
                {.kind = KIND_FLAG, .name = "wait", .summary = "wait until it has ended"},
                {.kind = KIND_DURATION,
                    .name = "timeout",
                    .value = "TIME",
                    .summary = "how long to wait; without it, for as long as it takes"},
                {.kind = KIND_END},
            },
        .examples =
            (const struct example[]){
                {"pawl trigger billing.invoice.v1 --input '{\"order\": 7}' --key order-7",
                    "once, however often it is typed"},
                {"pawl trigger report.nightly --wait", "and wait for what comes out"},
                {"pawl trigger search.index -i '{\"doc\": 7}' -k doc-7 --debounce 10s",
                    "once, 10 seconds after the last change of many"},
                {"pawl trigger shop.import -f orders.jsonl --key-field /id",
                    "a run for each line, and no second one if it is typed again"},
                {NULL, NULL},
            },
        .act = trigger},
    {0},
};
