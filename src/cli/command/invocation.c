/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command/invocation.h"

#include "base/buf.h"
#include "base/json_read.h"
#include "cli/command/rows.h"
#include "cli/report/answer.h"
#include "cli/report/exit.h"
#include "cli/show/term.h"
#include "cli/show/time_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    ARGUMENTS_MAX = 20, /* of one verb */
};

/* The largest size of one JSON value. The database allows 1 MB. */
static const size_t json_max = (size_t)16 * 1024 * 1024;

int
invocation_confirm(const struct invocation *invocation, const char *question, ...)
{
    char what[200];
    char answer[16] = "";
    va_list arguments;

    if (invocation_has(invocation, "yes"))
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

/* Prints the one line of the library's log that an operator must see, once. Errors of calls report everything else. */
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
invocation_config(struct invocation *invocation, pawl_config **config)
{
    const char *database = invocation_option(invocation, "database");
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
invocation_connect(struct invocation *invocation)
{
    pawl_config *config = NULL;
    pawl_error *error = NULL;
    pawl_status status;
    int code;

    if (invocation->client != NULL)
        return EXIT_OK;
    code = invocation_config(invocation, &config);
    if (code != EXIT_OK)
        return code;
    status = pawl_client_open(config, &invocation->client, &error);
    pawl_config_free(config);
    return exit_with_verb(status, error, invocation->command->verb);
}

static int
ask(struct invocation *invocation, pawl_rows **rows, const char *verb, const char *const *names,
    const char *const *values, size_t count)
{
    pawl_error *error = NULL;
    pawl_status status;
    int code = invocation_connect(invocation);

    if (code != EXIT_OK)
        return code;
    status = pawl_client_call(invocation->client, verb, names, values, count, rows, &error);
    return exit_with_verb(status, error, verb);
}

int
invocation_verb(struct invocation *invocation, pawl_rows **rows, const char *verb, ...)
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
    return ask(invocation, rows, verb, names, values, count);
}

/* Reads all of a file. It must be a text, since it ends with a NUL here, and at most as large as JSON may be. */
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
invocation_file(const char *path, int *code)
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
        return invocation_file(value[0] == '@' ? value + 1 : value, code);
    *code = EXIT_OK;
    text = strdup(value);
    if (text == NULL)
        *code = exit_saying(EXIT_OTHER, NULL, "out of memory");
    return text;
}

char *
invocation_json(const char *value, int *code)
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
invocation_now(struct invocation *invocation, int64_t *us)
{
    pawl_rows *rows = NULL;
    int code = invocation_verb(invocation, &rows, "now", NULL);

    if (code == EXIT_OK && !time_text_read_stamp(pawl_rows_text(rows, 0, "now"), us))
        code = exit_saying(EXIT_OTHER, NULL, "the database's clock cannot be read");
    pawl_rows_free(rows);
    return code;
}

char *
invocation_time(struct invocation *invocation, const char *value, int *code)
{
    char room[TIME_TEXT_SIZE];
    char *made;
    int64_t us = 0;

    *code = invocation_now(invocation, &us);
    if (*code != EXIT_OK)
        return NULL;
    (void)time_text_read(value, us, false, &us); /* invocation_read() has checked it */
    time_text_write_stamp(room, us);
    made = strdup(room);
    if (made == NULL)
        *code = exit_saying(EXIT_OTHER, NULL, "out of memory");
    return made;
}

/* Converts "250ms" to an interval of PostgreSQL. */
static char *
interval_of(const char *value)
{
    char text[60];

    (void)snprintf(text, sizeof(text), "%" PRId64 " ms", time_text_duration_ms(value));
    return strdup(text);
}

/* Returns the list of ids that a verb for many runs takes. */
static char *
list_of(const struct invocation *invocation, size_t from)
{
    struct pw_buf list;
    char *made;

    pw_buf_init(&list, json_max);
    pw_buf_addc(&list, '{');
    for (size_t i = from; i < invocation->operand_count; i++) {
        pw_buf_adds(&list, i > from ? ",\"" : "\"");
        pw_buf_adds(&list, invocation->operands[i]);
        pw_buf_addc(&list, '"');
    }
    pw_buf_addc(&list, '}');
    made = pw_buf_ok(&list) ? strdup(pw_buf_text(&list)) : NULL;
    pw_buf_done(&list);
    return made;
}

/* Returns the value of an operand or option in the form that its SQL argument takes. Malloced; NULL: an error was printed. */
static char *
value_of(struct invocation *invocation, enum kind kind, const char *value, int *code)
{
    char *made;

    if (kind == KIND_JSON)
        return invocation_json(value, code);
    if (kind == KIND_TIME)
        return invocation_time(invocation, value, code);
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
gather_arguments(struct invocation *invocation, struct arguments *arguments)
{
    const struct operand *operand = invocation->command->operands;
    int code = EXIT_OK;

    for (size_t i = 0;
         operand != NULL && operand->kind != KIND_END && i < invocation->operand_count;
         operand++, i++) {
        char *value;

        if (operand->argument == NULL)
            continue;
        value = operand->many ? list_of(invocation, i)
                              : value_of(invocation, operand->kind, invocation->operands[i], &code);
        code = add_argument(arguments, operand->argument, value, code);
        if (code != EXIT_OK)
            return code;
    }
    for (size_t i = 0; i < invocation->given_count; i++) {
        const struct given *given = &invocation->given[i];
        char *value;

        if (given->option->argument == NULL)
            continue;
        value = value_of(invocation, given->option->kind, given->value, &code);
        code = add_argument(arguments, given->option->argument, value, code);
        if (code != EXIT_OK)
            return code;
    }
    return code;
}

int
invocation_ask(struct invocation *invocation, pawl_rows **rows)
{
    return invocation_ask_with(invocation, NULL, NULL, rows);
}

int
invocation_ask_with_two(struct invocation *invocation, const char *const names[2],
    const char *const values[2], pawl_rows **rows)
{
    struct arguments arguments = {0};
    int code = gather_arguments(invocation, &arguments);

    for (size_t i = 0; i < 2 && code == EXIT_OK; i++)
        if (names[i] != NULL && values[i] != NULL)
            code = add_argument(&arguments, names[i], strdup(values[i]), EXIT_OK);
    if (code == EXIT_OK)
        code = ask(invocation, rows, invocation->command->verb, arguments.names,
            (const char *const *)arguments.values, arguments.count);
    for (size_t i = 0; i < arguments.count; i++)
        free(arguments.values[i]);
    return code;
}

int
invocation_ask_with(
    struct invocation *invocation, const char *name, const char *value, pawl_rows **rows)
{
    return invocation_ask_with_two(
        invocation, (const char *const[]){name, NULL}, (const char *const[]){value, NULL}, rows);
}

int
invocation_ask_page(
    struct invocation *invocation, const char *cursor, const char *most, pawl_rows **rows)
{
    return invocation_ask_with_two(invocation, (const char *const[]){"cursor", "max_rows"},
        (const char *const[]){cursor, most}, rows);
}

static const char *
answer_at(const pawl_rows *rows, size_t row)
{
    return pawl_rows_text(
        rows, row, pawl_rows_column_count(rows) == 1 ? pawl_rows_column_name(rows, 0) : "answer");
}

/* Prints the meaning of an answer, unless a row above has the same answer. */
static void
explain_answer(const struct invocation *invocation, const pawl_rows *rows, size_t row)
{
    const char *answer = answer_at(rows, row);
    const char *meaning = answer_meaning(invocation->command->verb, answer);
    bool said = meaning == NULL;

    for (size_t i = 0; i < row && !said; i++)
        said = answer_at(rows, i) != NULL && strcmp(answer_at(rows, i), answer) == 0;
    if (!said)
        (void)exit_saying(EXIT_OK, NULL, "%s: %s", answer, meaning);
}

/* Answers are ok, already, not_found, differs, the state that a run has ended in, and others. */
int
invocation_judge(const struct invocation *invocation, const pawl_rows *rows)
{
    int code = EXIT_OK;

    for (size_t i = 0; i < pawl_rows_count(rows); i++) {
        int own = answer_at(rows, i) == NULL ? EXIT_OK : answer_code(answer_at(rows, i));

        if (own != EXIT_OK)
            explain_answer(invocation, rows, i);
        if (own == EXIT_REFUSED || code == EXIT_OK)
            code = own;
    }
    return code;
}

int
invocation_show(const struct invocation *invocation, int code, pawl_rows *rows)
{
    if (code == EXIT_OK)
        code = rows_show(invocation, rows);
    if (code == EXIT_OK)
        code = invocation_judge(invocation, rows);
    pawl_rows_free(rows);
    return code;
}

int
invocation_described(struct invocation *invocation)
{
    pawl_rows *rows = NULL;
    int code = invocation_ask(invocation, &rows);

    return invocation_show(invocation, code, rows);
}
