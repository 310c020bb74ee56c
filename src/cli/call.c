/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/call.h"

#include "base/buf.h"
#include "base/json_read.h"
#include "cli/answer.h"
#include "cli/check.h"
#include "cli/exit.h"
#include "cli/rows.h"
#include "cli/secret.h"
#include "cli/term.h"
#include "cli/when.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    ARGUMENTS_MAX = 16, /* of one verb */
    OPTIONS_MAX = 64,   /* of one command */
};

/* What one JSON value may have; the database allows 1 MB. */
static const size_t json_max = (size_t)16 * 1024 * 1024;

static const struct option *
find_option(const struct option *options, const char *name, size_t size, char letter)
{
    for (; options != NULL && options->kind != KIND_END; options++)
        if (name != NULL ? strlen(options->name) == size && strncmp(options->name, name, size) == 0
                         : options->letter != 0 && options->letter == letter)
            return options;
    return NULL;
}

static int
add_given(struct call *call, const struct option *option, const char *value)
{
    if (!option->many && call_has(call, option->name))
        return exit_saying(EXIT_USAGE, NULL, "--%s was given twice", option->name);
    call->given[call->given_count].option = option;
    call->given[call->given_count].value = value;
    call->given_count++;
    return check_option(option, value);
}

/* Whether the command passes operands on to another program, whose options are not ours. */
static bool
passes_on(const struct command *command)
{
    for (const struct operand *operand = command->operands;
         operand != NULL && operand->kind != KIND_END; operand++)
        if (strcmp(operand->value, "ARGUMENT") == 0)
            return true;
    return false;
}

static int
unknown_option(const struct call *call, const char *word)
{
    const struct option *lists[] = {call->command->options, common_options};
    const char *names[OPTIONS_MAX] = {NULL};
    const char *nearest = NULL;
    size_t count = 0;
    char hint[200];

    for (size_t i = 0; i < 2; i++)
        for (const struct option *option = lists[i];
             option != NULL && option->kind != KIND_END && count + 1 < OPTIONS_MAX; option++)
            names[count++] = option->name;
    if (strncmp(word, "--", 2) == 0)
        nearest = check_nearest(word + 2, names);
    if (nearest != NULL)
        (void)snprintf(hint, sizeof(hint), "Did you mean --%s?", nearest);
    else if (call->operand_count > 0 && passes_on(call->command))
        (void)snprintf(
            hint, sizeof(hint), "If it is for %s, write -- before it.", call->operands[0]);
    else
        (void)snprintf(hint, sizeof(hint), "See: pawl %s --help", call->command->name);
    return exit_saying(EXIT_USAGE, hint, "there is no option \"%s\"", word);
}

/* Takes a password out of the command line. words[0] is the option, or has its value, too. Returns EXIT_OK or what to exit with. */
static int
hide_secret(struct call *call, char **words, int used)
{
    struct given *given = &call->given[call->given_count - 1];
    char *word = words[used - 1];

    /* guard:secret_hidden */
    if ((strcmp(given->option->name, "database") != 0 &&
            (strcmp(given->option->name, "set") != 0 ||
                strncmp(given->value, "database=", 9) != 0)) ||
        !secret_in(given->value))
        return EXIT_OK;
    word += given->value - word;
    given->secret = secret_take(word);
    given->value = given->secret;
    return given->secret != NULL ? EXIT_OK : exit_saying(EXIT_OTHER, NULL, "out of memory");
}

/* Reads one word that begins with a dash; words[1] may be its value. used: how many words that was. */
static int
read_option(struct call *call, char **words, int *used)
{
    const char *word = words[0];
    bool is_long = word[1] == '-';
    const char *name = is_long ? word + 2 : NULL;
    const char *equals = is_long ? strchr(name, '=') : NULL;
    size_t size = name == NULL ? 0 : equals != NULL ? (size_t)(equals - name) : strlen(name);
    const struct option *option = find_option(call->command->options, name, size, word[1]);
    const char *value = equals != NULL ? equals + 1 : NULL;
    int code;

    if (option == NULL)
        option = find_option(common_options, name, size, word[1]);
    if (option == NULL || (!is_long && word[2] != '\0' && option->kind == KIND_FLAG))
        return unknown_option(call, word);
    *used = 1;
    if (option->kind == KIND_FLAG) {
        if (value != NULL)
            return exit_saying(EXIT_USAGE, NULL, "--%s takes no value", option->name);
        return add_given(call, option, "on");
    }
    if (!is_long && word[2] != '\0')
        value = word + 2;
    if (value == NULL) {
        value = words[1];
        *used = 2;
    }
    if (value == NULL)
        return exit_saying(EXIT_USAGE, NULL, "--%s needs a value: %s", option->name, option->value);
    code = add_given(call, option, value);
    return code != EXIT_OK ? code : hide_secret(call, words, *used);
}

/* Each is what it should be. */
static int
check_each(const struct call *call)
{
    const struct operand *operand = call->command->operands;
    int code = EXIT_OK;

    for (size_t i = 0; i < call->operand_count && code == EXIT_OK; i++) {
        code = check_operand(operand, call->operands[i]);
        if (!operand->many)
            operand++;
    }
    return code;
}

/* "Write: pawl sleep NAME TIME" */
static void
make_usage(const struct command *command, char *text, size_t size)
{
    int used = snprintf(text, size, "Write: pawl %s", command->name);

    if (command->operands == NULL || command->operands->kind == KIND_END) {
        (void)snprintf(text, size, "See: pawl %s --help", command->name);
        return;
    }
    for (const struct operand *operand = command->operands;
         operand->kind != KIND_END && used > 0 && (size_t)used < size; operand++)
        used += snprintf(text + used, size - (size_t)used, operand->optional ? " [%s%s]" : " %s%s",
            operand->value, operand->many ? "..." : "");
    if (used > 0 && (size_t)used < size)
        (void)snprintf(text + used, size - (size_t)used, "; see: pawl %s --help", command->name);
}

/* Too few, or too many. */
static int
check_operands(const struct call *call)
{
    size_t least = 0;
    size_t most = 0;
    char hint[300];

    make_usage(call->command, hint, sizeof(hint));
    for (const struct operand *operand = call->command->operands;
         operand != NULL && operand->kind != KIND_END; operand++) {
        if (!operand->optional) {
            if (call->operand_count == least)
                return exit_saying(EXIT_USAGE, hint, "%s is missing", operand->value);
            least++;
        }
        most = operand->many ? CALL_WORDS_MAX : most + 1;
    }
    if (call->operand_count == most + 1 && strchr("{[", call->operands[most][0]) != NULL &&
        find_option(call->command->options, "input", 5, '\0') != NULL)
        (void)snprintf(hint, sizeof(hint), "JSON stands behind its option: --input '%.100s'",
            call->operands[most]);
    if (call->operand_count > most)
        return exit_saying(EXIT_USAGE, hint, "\"%s\" is too much",
            call->operands[most < CALL_WORDS_MAX ? most : 0]);
    return check_each(call);
}

static void
set_output(struct call *call)
{
    static const char *const names[] = {[OUTPUT_TABLE] = "table",
        [OUTPUT_JSON] = "json",
        [OUTPUT_JSONL] = "jsonl",
        [OUTPUT_IDS] = "ids"};
    const char *wanted = call_option(call, "output");

    for (size_t i = 0; wanted != NULL && i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(wanted, names[i]) == 0)
            call->output = (enum call_output)i;
}

int
call_read(struct call *call, const struct command *command, int count, char **words)
{
    int used = 1;

    *call = (struct call){.command = command};
    call->given = calloc((size_t)count + 1, sizeof(*call->given));
    call->operands = calloc((size_t)count + 1, sizeof(*call->operands));
    if (call->given == NULL || call->operands == NULL)
        return exit_saying(EXIT_OTHER, NULL, "out of memory");
    if (count > CALL_WORDS_MAX)
        return exit_saying(EXIT_USAGE, NULL, "more than %d words", CALL_WORDS_MAX);
    for (int i = 0; i < count; i += used) {
        int code = EXIT_OK;

        used = 1;
        if (strcmp(words[i], "--") == 0) {
            call->rest = &words[i + 1];
            /* Where the command itself makes nothing of them, they are operands that may begin with a dash. */
            for (i++; command->act == NULL && i < count; i++)
                call->operands[call->operand_count++] = words[i];
            break;
        }
        if (words[i][0] == '-' && words[i][1] != '\0')
            code = read_option(call, &words[i], &used);
        else
            call->operands[call->operand_count++] = words[i];
        if (code != EXIT_OK)
            return code;
    }
    set_output(call);
    return call_has(call, "help") ? EXIT_OK : check_operands(call);
}

void
call_done(struct call *call)
{
    pawl_client_close(call->client);
    for (size_t i = 0; i < call->given_count; i++)
        free(call->given[i].secret);
    free(call->given);
    free(call->operands);
}

const char *
call_option(const struct call *call, const char *name)
{
    for (size_t i = call->given_count; i > 0; i--)
        if (strcmp(call->given[i - 1].option->name, name) == 0)
            return call->given[i - 1].value;
    return NULL;
}

bool
call_has(const struct call *call, const char *name)
{
    return call_option(call, name) != NULL;
}

const char *
call_operand(const struct call *call, size_t index)
{
    return index < call->operand_count ? call->operands[index] : NULL;
}

int
call_confirm(const struct call *call, const char *question, ...)
{
    char what[200];
    char answer[16] = "";
    va_list arguments;

    if (call_has(call, "yes"))
        return EXIT_OK;
    va_start(arguments, question);
    (void)vsnprintf(what, sizeof(what), question, arguments);
    va_end(arguments);
    if (isatty(STDIN_FILENO) != 1 || !term_is_tty(TERM_ERR))
        return exit_saying(EXIT_USAGE, "Say --yes if you mean it.", "this would %s", what);
    (void)fprintf(stderr, "Type \"yes\" to %s: ", what);
    (void)fflush(stderr);
    if (fgets(answer, sizeof(answer), stdin) == NULL || strcmp(answer, "yes\n") != 0)
        return exit_saying(EXIT_REFUSED, NULL, "nothing was done");
    return EXIT_OK;
}

/* Prints the one line of the library's log that an operator must see, once. The error of a call says the rest. */
static void
warn(void *userdata, int level, const char *event, const char *message, const char *const *names,
    const char *const *values, size_t count)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;

    (void)userdata;
    (void)level;
    (void)names;
    (void)values;
    (void)count;
    if (strcmp(event, "connection_unverified") == 0 && !atomic_flag_test_and_set(&told))
        (void)fprintf(stderr, "pawl: warning: %s\n", message);
}

int
call_config(struct call *call, pawl_config **config)
{
    const char *database = call_option(call, "database");
    pawl_error *error = NULL;
    pawl_status status = PAWL_OK;

    *config = pawl_config_new();
    if (*config == NULL)
        return exit_saying(EXIT_OTHER, NULL, "out of memory");
    pawl_config_set_log(*config, PAWL_LOG_WARNING, warn, NULL);
    if (database == NULL)
        database = getenv("PAWL_DATABASE_URL");
    if (database != NULL && database[0] != '\0')
        status = pawl_config_set(*config, "database", database, &error);
    if (status == PAWL_OK)
        return EXIT_OK;
    pawl_config_free(*config);
    *config = NULL;
    return exit_with(status, error);
}

int
call_connect(struct call *call)
{
    pawl_config *config = NULL;
    pawl_error *error = NULL;
    pawl_status status;
    int code;

    if (call->client != NULL)
        return EXIT_OK;
    code = call_config(call, &config);
    if (code != EXIT_OK)
        return code;
    status = pawl_client_open(config, &call->client, &error);
    pawl_config_free(config);
    return exit_with_verb(status, error, call->command->verb);
}

static int
ask(struct call *call, pawl_rows **rows, const char *verb, const char *const *names,
    const char *const *values, size_t count)
{
    pawl_error *error = NULL;
    pawl_status status;
    int code = call_connect(call);

    if (code != EXIT_OK)
        return code;
    status = pawl_client_call(call->client, verb, names, values, count, rows, &error);
    return exit_with_verb(status, error, verb);
}

int
call_verb(struct call *call, pawl_rows **rows, const char *verb, ...)
{
    const char *names[ARGUMENTS_MAX];
    const char *values[ARGUMENTS_MAX];
    size_t count = 0;
    const char *name;
    va_list arguments;

    va_start(arguments, verb);
    while ((name = va_arg(arguments, const char *)) != NULL && count < ARGUMENTS_MAX) {
        names[count] = name;
        values[count] = va_arg(arguments, const char *);
        if (values[count] != NULL)
            count++;
    }
    va_end(arguments);
    return ask(call, rows, verb, names, values, count);
}

/* Reads all of a file, which must be a text, since it ends with a NUL here, and not larger than JSON may be. */
static char *
read_all(FILE *file, const char *name, int *code)
{
    size_t room = 65536;
    size_t size = 0;
    char *text = malloc(room + 1);

    while (text != NULL && size <= json_max) {
        size_t got = fread(text + size, 1, room - size, file);

        size += got;
        if (got == 0)
            break;
        if (size == room) {
            char *larger = realloc(text, 2 * room + 1);

            if (larger == NULL)
                break;
            text = larger;
            room *= 2;
        }
    }
    if (text != NULL && ferror(file) == 0 && size <= json_max && feof(file) != 0) {
        text[size] = '\0';
        if (strlen(text) == size)
            return text;
        *code = exit_saying(EXIT_USAGE, NULL, "\"%s\" is no text: there is a NUL in it", name);
    } else {
        *code = exit_saying(
            EXIT_OTHER, NULL, "cannot read \"%s\", or it is larger than %zu bytes", name, json_max);
    }
    free(text);
    return NULL;
}

char *
call_file(const char *path, int *code)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    char *text;

    *code = EXIT_OK;
    if (file == NULL) {
        *code = exit_saying(EXIT_OTHER, NULL, "cannot open \"%s\": %m", path);
        return NULL;
    }
    text = read_all(file, path, code);
    if (file != stdin)
        (void)fclose(file);
    return text;
}

static char *
read_json(const char *value, int *code)
{
    char *text;

    if (value[0] == '@' || strcmp(value, "-") == 0)
        return call_file(value[0] == '@' ? value + 1 : value, code);
    *code = EXIT_OK;
    text = strdup(value);
    if (text == NULL)
        *code = exit_saying(EXIT_OTHER, NULL, "out of memory");
    return text;
}

char *
call_json(const char *value, int *code)
{
    char *text = read_json(value, code);

    if (text == NULL || pw_json_valid((struct pw_json){text, strlen(text)}))
        return text;
    *code = exit_saying(EXIT_USAGE,
        "A text needs its quotes, too: '\"text\"'. @FILE reads a file, - standard input.",
        "this is not JSON: %s", value);
    free(text);
    return NULL;
}

int
call_now(struct call *call, int64_t *us)
{
    pawl_rows *rows = NULL;
    int code = call_verb(call, &rows, "now", NULL);

    if (code == EXIT_OK && !when_read_stamp(pawl_rows_text(rows, 0, "now"), us))
        code = exit_saying(EXIT_OTHER, NULL, "the database's clock cannot be read");
    pawl_rows_free(rows);
    return code;
}

char *
call_time(struct call *call, const char *value, int *code)
{
    char room[WHEN_SIZE];
    char *made;
    int64_t us = 0;

    *code = call_now(call, &us);
    if (*code != EXIT_OK)
        return NULL;
    (void)when_read(value, us, false, &us); /* it was checked when it was read */
    when_write_stamp(room, us);
    made = strdup(room);
    if (made == NULL)
        *code = exit_saying(EXIT_OTHER, NULL, "out of memory");
    return made;
}

/* "250ms" as PostgreSQL reads intervals. */
static char *
interval_of(const char *value)
{
    char text[60];

    (void)snprintf(text, sizeof(text), "%" PRId64 " ms", when_duration_ms(value));
    return strdup(text);
}

/* The list of ids that a verb for many runs takes. */
static char *
list_of(const struct call *call, size_t from)
{
    struct pw_buf list;
    char *made;

    pw_buf_init(&list, json_max);
    pw_buf_addc(&list, '{');
    for (size_t i = from; i < call->operand_count; i++) {
        pw_buf_adds(&list, i > from ? ",\"" : "\"");
        pw_buf_adds(&list, call->operands[i]);
        pw_buf_addc(&list, '"');
    }
    pw_buf_addc(&list, '}');
    made = pw_buf_ok(&list) ? strdup(pw_buf_text(&list)) : NULL;
    pw_buf_done(&list);
    return made;
}

/* The value of an operand or option in the form that its SQL argument takes. Malloced; NULL: it was said why. */
static char *
value_of(struct call *call, enum kind kind, const char *value, int *code)
{
    char *made;

    if (kind == KIND_JSON)
        return call_json(value, code);
    if (kind == KIND_TIME)
        return call_time(call, value, code);
    made = kind == KIND_DURATION ? interval_of(value) : strdup(value);
    if (made == NULL)
        *code = exit_saying(EXIT_OTHER, NULL, "out of memory");
    return made;
}

struct arguments {
    const char *names[ARGUMENTS_MAX];
    char *values[ARGUMENTS_MAX];
    size_t count;
};

static int
add_argument(struct arguments *arguments, const char *name, char *value, int code)
{
    if (value == NULL)
        return code != EXIT_OK ? code : exit_saying(EXIT_OTHER, NULL, "out of memory");
    if (arguments->count == ARGUMENTS_MAX) {
        free(value);
        return exit_saying(EXIT_USAGE, NULL, "too many arguments");
    }
    arguments->names[arguments->count] = name;
    arguments->values[arguments->count] = value;
    arguments->count++;
    return EXIT_OK;
}

static int
gather_arguments(struct call *call, struct arguments *arguments)
{
    const struct operand *operand = call->command->operands;
    int code = EXIT_OK;

    for (size_t i = 0; operand != NULL && operand->kind != KIND_END && i < call->operand_count;
         operand++, i++) {
        char *value = operand->many ? list_of(call, i)
                                    : value_of(call, operand->kind, call->operands[i], &code);

        code = add_argument(arguments, operand->argument, value, code);
        if (code != EXIT_OK)
            return code;
    }
    for (size_t i = 0; i < call->given_count; i++) {
        const struct given *given = &call->given[i];
        char *value;

        if (given->option->argument == NULL)
            continue;
        value = value_of(call, given->option->kind, given->value, &code);
        code = add_argument(arguments, given->option->argument, value, code);
        if (code != EXIT_OK)
            return code;
    }
    return code;
}

int
call_ask(struct call *call, pawl_rows **rows)
{
    return call_ask_with(call, NULL, NULL, rows);
}

/* The same with two more arguments; one without a name or value is left out. */
static int
ask_with(
    struct call *call, const char *const names[2], const char *const values[2], pawl_rows **rows)
{
    struct arguments arguments = {0};
    int code = gather_arguments(call, &arguments);

    for (size_t i = 0; i < 2 && code == EXIT_OK; i++)
        if (names[i] != NULL && values[i] != NULL)
            code = add_argument(&arguments, names[i], strdup(values[i]), EXIT_OK);
    if (code == EXIT_OK)
        code = ask(call, rows, call->command->verb, arguments.names,
            (const char *const *)arguments.values, arguments.count);
    for (size_t i = 0; i < arguments.count; i++)
        free(arguments.values[i]);
    return code;
}

int
call_ask_with(struct call *call, const char *name, const char *value, pawl_rows **rows)
{
    return ask_with(
        call, (const char *const[]){name, NULL}, (const char *const[]){value, NULL}, rows);
}

int
call_ask_page(struct call *call, const char *cursor, const char *most, pawl_rows **rows)
{
    return ask_with(
        call, (const char *const[]){"cursor", "most"}, (const char *const[]){cursor, most}, rows);
}

static const char *
answer_at(const pawl_rows *rows, size_t row)
{
    return pawl_rows_text(
        rows, row, pawl_rows_width(rows) == 1 ? pawl_rows_column(rows, 0) : "answer");
}

/* Says what an answer means, unless a row above has the same. */
static void
explain_answer(const struct call *call, const pawl_rows *rows, size_t row)
{
    const char *answer = answer_at(rows, row);
    const char *meaning = answer_meaning(call->command->verb, answer);
    bool said = meaning == NULL;

    for (size_t i = 0; i < row && !said; i++)
        said = answer_at(rows, i) != NULL && strcmp(answer_at(rows, i), answer) == 0;
    if (!said)
        (void)exit_saying(EXIT_OK, NULL, "%s: %s", answer, meaning);
}

/* Answers are ok, already, not_found, differs, the state that a run has ended in, and others. */
int
call_judge(const struct call *call, const pawl_rows *rows)
{
    int code = EXIT_OK;

    for (size_t i = 0; i < pawl_rows_count(rows); i++) {
        int own = answer_at(rows, i) == NULL ? EXIT_OK : answer_code(answer_at(rows, i));

        if (own != EXIT_OK)
            explain_answer(call, rows, i);
        if (own == EXIT_REFUSED || code == EXIT_OK)
            code = own;
    }
    return code;
}

int
call_show(const struct call *call, int code, pawl_rows *rows)
{
    if (code == EXIT_OK)
        code = rows_show(call, rows);
    if (code == EXIT_OK)
        code = call_judge(call, rows);
    pawl_rows_free(rows);
    return code;
}

int
call_described(struct call *call)
{
    pawl_rows *rows = NULL;
    int code = call_ask(call, &rows);

    return call_show(call, code, rows);
}
