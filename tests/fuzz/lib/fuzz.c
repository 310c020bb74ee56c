/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of fuzz targets; see the header. */
#include "fuzz.h"

#include "libpawl/client/rows.h"

#include <libpq-fe.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    COLUMNS_MAX = 40,
    ROWS_MAX = 200,
    TYPE_TEXT = 25,
};

int LLVMFuzzerInitialize(int *argc, char ***argv);

/* The same surroundings everywhere: characters are UTF-8, a terminal has 60 columns and no colours, and no database is meant. */
int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const char *const none[] = {"PGHOST", "PGHOSTADDR", "PGSERVICE", "PGTARGETSESSIONATTRS",
        "PAWL_DATABASE_URL", "PAWL_SOCKET"};

    (void)argc;
    (void)argv;
    fuzz_check(setlocale(LC_ALL, "C.UTF-8") != NULL, "no locale");
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        (void)unsetenv(none[i]);
    (void)setenv("COLUMNS", "60", 1);
    (void)setenv("NO_COLOR", "1", 1);
    (void)setenv("TERM", "dumb", 1);
    return 0;
}

void
fuzz_check(bool good, const char *what)
{
    if (good)
        return;
    /* Not by stderr: a target may have turned that away. */
    (void)!write(STDERR_FILENO, "fuzz: ", 6);
    (void)!write(STDERR_FILENO, what, strlen(what));
    (void)!write(STDERR_FILENO, "\n", 1);
    abort();
}

struct fuzz_input
fuzz_input(const uint8_t *data, size_t size)
{
    /* libFuzzer may hand over NULL for nothing. */
    static const char nothing[] = "";
    const char *at = size > 0 ? (const char *)data : nothing;

    return (struct fuzz_input){at, at + size};
}

unsigned char
fuzz_byte(struct fuzz_input *input)
{
    return input->at < input->end ? (unsigned char)*input->at++ : 0;
}

static char *
copy(const char *data, size_t size)
{
    char *text = malloc(size + 1);

    fuzz_check(text != NULL, "out of memory");
    memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

char *
fuzz_line(struct fuzz_input *input)
{
    size_t left = (size_t)(input->end - input->at);
    const char *end = left > 0 ? memchr(input->at, '\n', left) : NULL;
    char *line;

    if (left == 0)
        return NULL;
    line = copy(input->at, end != NULL ? (size_t)(end - input->at) : left);
    input->at = end != NULL ? end + 1 : input->end;
    return line;
}

char *
fuzz_rest(struct fuzz_input *input)
{
    char *rest = copy(input->at, (size_t)(input->end - input->at));

    input->at = input->end;
    return rest;
}

/* Fills the rows from the lines; columns has been set. */
static pawl_rows *
read_rows(struct fuzz_input *input, PGresAttDesc *columns, int width)
{
    struct pw_rows rows = {PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK)};
    struct pw_error err = {0};
    pawl_rows *made = pw_rows_make(&err);
    char *line = NULL;

    fuzz_check(rows.result != NULL && made != NULL, "out of memory");
    fuzz_check(width == 0 || PQsetResultAttrs(rows.result, width, columns) != 0, "no attributes");
    for (int i = 0; width > 0 && i < width * ROWS_MAX; i++) {
        bool null;

        line = fuzz_line(input);
        if (line == NULL || strcmp(line, ".") == 0)
            break;
        null = strcmp(line, "\\N") == 0;
        fuzz_check(PQsetvalue(rows.result, i / width, i % width, null ? NULL : line,
                       null ? -1 : (int)strlen(line)) != 0,
            "no value");
        free(line);
        line = NULL;
    }
    free(line);
    pw_rows_fill(made, &rows);
    return made;
}

pawl_rows *
fuzz_rows(struct fuzz_input *input, const char *const *names)
{
    PGresAttDesc columns[COLUMNS_MAX] = {{0}};
    int width = 0;
    pawl_rows *made;

    for (; names[width] != NULL && width < COLUMNS_MAX; width++) {
        columns[width].name = copy(names[width], strlen(names[width]));
        columns[width].typid = TYPE_TEXT;
    }
    made = read_rows(input, columns, width);
    for (int i = 0; i < width; i++)
        free(columns[i].name); /* libpq has copied it */
    return made;
}

pawl_rows *
fuzz_typed_rows(struct fuzz_input *input)
{
    PGresAttDesc columns[COLUMNS_MAX] = {{0}};
    char *head = fuzz_line(input);
    char *rest = NULL;
    int width = 0;
    pawl_rows *made;

    for (char *word = head == NULL ? NULL : strtok_r(head, " ", &rest);
         word != NULL && width < COLUMNS_MAX; word = strtok_r(NULL, " ", &rest)) {
        char *colon = strchr(word, ':');

        columns[width].typid = TYPE_TEXT;
        if (colon != NULL) {
            *colon = '\0';
            columns[width].typid = 0;
            for (const char *at = colon + 1; *at >= '0' && *at <= '9' && at < colon + 6; at++)
                columns[width].typid = columns[width].typid * 10 + (Oid)(*at - '0');
        }
        /* Names are those of our own functions. */
        for (char *at = word; *at != '\0'; at++)
            *at = (char)(*at >= 'a' && *at <= 'z' ? *at : '_');
        columns[width++].name = word;
    }
    made = read_rows(input, columns, width);
    free(head);
    return made;
}

void
fuzz_print_begin(struct fuzz_printed *printed)
{
    *printed = (struct fuzz_printed){.was_out = stdout, .was_err = stderr};
    printed->out = open_memstream(&printed->text, &printed->size);
    fuzz_check(printed->out != NULL, "out of memory");
    stdout = printed->out;
    stderr = printed->out;
}

void
fuzz_print_drop(struct fuzz_printed *printed)
{
    stdout = printed->was_out;
    stderr = printed->was_err;
    (void)fclose(printed->out);
    free(printed->text);
}

void
fuzz_print_end(struct fuzz_printed *printed)
{
    (void)fflush(printed->out);
    fuzz_check_printable(printed->text, printed->size);
    fuzz_print_drop(printed);
}

void
fuzz_check_printable(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];

        fuzz_check((c >= 0x20 && c != 0x7f) || c == '\n', "a control character is printed");
    }
}
