/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command/rows.h"

#include "base/buf.h"
#include "base/json_write.h"
#include "base/pg_text/interval.h"
#include "base/pg_text/list_text.h"
#include "base/text.h"
#include "cli/report/exit.h"
#include "cli/show/term.h"
#include "cli/show/time_text.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    COLUMNS_MAX = 32,
    GAP = 2,
    KEEP = 16, /* columns that a cell keeps while a later column can be left out instead */
    LEAST = 6,
    NAME_LEAST = 14, /* columns of the names of a single row */
    ID_SIZE = 36,
};

static const size_t line_max = (size_t)64 * 1024 * 1024;

struct table {
    const pawl_rows *form; /* has the columns and their types */
    const struct rows_place *places;
    size_t row_count;
    const char *names[COLUMNS_MAX];
    size_t wanted[COLUMNS_MAX];
    size_t widths[COLUMNS_MAX];
    size_t count;
    struct pw_buf list; /* the text of the last list that cell() returned */
};

/* Chooses the columns that the command names, or all columns. */
static void
choose_columns(struct table *table, const struct invocation *invocation, char *names)
{
    table->count = 0;
    if (names != NULL && invocation->command->columns != NULL) {
        while (*names != '\0' && table->count < COLUMNS_MAX) {
            size_t size = strcspn(names, " ");

            table->names[table->count++] = names;
            names += size;
            if (*names == ' ')
                *names++ = '\0';
        }
        return;
    }
    for (size_t i = 0; i < pawl_rows_column_count(table->form) && i < COLUMNS_MAX; i++)
        table->names[table->count++] = pawl_rows_column_name(table->form, i);
}

/* On a terminal, writes a short form: only the time for today, and no year and no seconds for another day of this year. */
static void
write_time(char room[static TIME_TEXT_SIZE], const char *text)
{
    char today[TIME_TEXT_SIZE];
    int64_t us = 0;

    if (!time_text_read_stamp(text, &us)) {
        (void)snprintf(room, TIME_TEXT_SIZE, "%s", text); /* infinity */
        return;
    }
    time_text_write_local(room, us);
    if (!term_is_tty(TERM_OUT))
        return;
    time_text_write_local(today, (int64_t)time(NULL) * 1000000);
    if (strncmp(room, today, 10) == 0)
        (void)memmove(room, room + 11, 9);
    else if (strncmp(room, today, 4) == 0)
        (void)memmove(room, room + 5, strlen(room + 5) + 1);
    if (room[2] == '-')
        room[11] = '\0';
}

static void
write_number(char room[static TIME_TEXT_SIZE], const char *text)
{
    double number;

    if (strpbrk(text, ".e") == NULL || !pw_parse_double(text, -DBL_MAX, DBL_MAX, &number))
        (void)snprintf(room, TIME_TEXT_SIZE, "%s", text);
    else if (number >= 100 || number <= -100)
        (void)snprintf(room, TIME_TEXT_SIZE, "%.0f", number);
    else
        (void)snprintf(room, TIME_TEXT_SIZE, "%.3g", number);
}

/* Returns the human-readable text of a cell, until the next call; in room, or in the table, if the text had to be converted. */
static const char *
cell(struct table *table, size_t row, size_t column, char room[static TIME_TEXT_SIZE])
{
    const char *name = table->names[column];
    const char *text = pawl_rows_text(table->places[row].rows, table->places[row].row, name);
    int64_t us = 0;

    if (text == NULL)
        return "";
    switch (pawl_rows_type(table->form, name)) {
    case PAWL_TYPE_BOOLEAN:
        return text[0] == 't' ? "yes" : "no";
    case PAWL_TYPE_TIME:
        write_time(room, text);
        return room;
    case PAWL_TYPE_INTERVAL:
        if (!pw_interval_read(text, &us))
            return text;
        time_text_write_span(room, us);
        return room;
    case PAWL_TYPE_NUMBER:
        write_number(room, text);
        return room;
    case PAWL_TYPE_LIST:
        pw_buf_clear(&table->list);
        pw_list_text_write(&table->list, text);
        return pw_buf_text(&table->list);
    default:
        return text;
    }
}

static size_t
sum_of_widths(const struct table *table)
{
    size_t sum = 0;

    for (size_t i = 0; i < table->count; i++)
        sum += table->widths[i] + (i > 0 ? GAP : 0);
    return sum;
}

/* Narrows the widest columns, one column at a time, but not below keep. Ids are narrowed only if keep is LEAST. */
static void
narrow(struct table *table, size_t room, size_t keep)
{
    while (sum_of_widths(table) > room) {
        size_t widest = COLUMNS_MAX;

        for (size_t i = 0; i < table->count; i++)
            if ((table->wanted[i] != ID_SIZE || keep == LEAST) &&
                (widest == COLUMNS_MAX || table->widths[i] > table->widths[widest]))
                widest = i;
        if (widest == COLUMNS_MAX || table->widths[widest] <= keep)
            return;
        table->widths[widest]--;
    }
}

/* Leaves out the last columns while the table is wider than room, and then narrows the other columns. */
static void
fit(struct table *table, size_t room)
{
    for (;;) {
        memcpy(table->widths, table->wanted, sizeof(table->widths));
        narrow(table, room, KEEP);
        if (sum_of_widths(table) <= room || table->count <= 2)
            break;
        table->count--;
    }
    narrow(table, room, LEAST);
}

/* "triggered_at" is TRIGGERED, and "ready_shown" READY. */
static void
write_title(char room[static TIME_TEXT_SIZE], const char *name)
{
    size_t size = strlen(name);

    if (size > 3 && strcmp(name + size - 3, "_at") == 0)
        size -= 3;
    else if (size > 6 && strcmp(name + size - 6, "_shown") == 0)
        size -= 6;
    if (size >= TIME_TEXT_SIZE)
        size = TIME_TEXT_SIZE - 1;
    for (size_t i = 0; i < size; i++)
        room[i] = name[i] == '_'               ? ' '
            : name[i] >= 'a' && name[i] <= 'z' ? (char)(name[i] - 'a' + 'A')
                                               : name[i];
    room[size] = '\0';
}

static void
measure(struct table *table)
{
    char room[TIME_TEXT_SIZE];

    for (size_t i = 0; i < table->count; i++) {
        write_title(room, table->names[i]);
        table->wanted[i] = term_columns(room);
        for (size_t row = 0; row < table->row_count; row++) {
            size_t width = term_columns(cell(table, row, i, room));

            if (width > table->wanted[i])
                table->wanted[i] = width;
        }
    }
    memcpy(table->widths, table->wanted, sizeof(table->widths));
    if (term_width() > 0)
        fit(table, term_width());
}

static void
print_cell(const struct table *table, size_t column, const char *text, enum term_style style)
{
    bool last = column + 1 == table->count;
    size_t printed;

    (void)fputs(style == TERM_PLAIN ? "" : term_style(TERM_OUT, style), stdout);
    printed = term_print_cut(stdout, text, table->widths[column]);
    (void)fputs(style == TERM_PLAIN ? "" : term_style(TERM_OUT, TERM_PLAIN), stdout);
    for (; !last && printed < table->widths[column] + GAP; printed++)
        (void)fputc(' ', stdout);
}

static void
show_table(struct table *table)
{
    char room[TIME_TEXT_SIZE];

    measure(table);
    for (size_t i = 0; i < table->count; i++) {
        write_title(room, table->names[i]);
        print_cell(table, i, room, TERM_DIM);
    }
    (void)fputc('\n', stdout);
    for (size_t row = 0; row < table->row_count; row++) {
        for (size_t i = 0; i < table->count; i++) {
            const char *text = cell(table, row, i, room);
            bool state =
                strcmp(table->names[i], "state") == 0 || strcmp(table->names[i], "status") == 0;

            print_cell(table, i, text, state ? term_style_of(text) : TERM_PLAIN);
        }
        (void)fputc('\n', stdout);
    }
}

/* Adds a JSON text unchanged, but in one line. Line breaks occur only outside strings, where they are white space. */
static void
add_raw(struct pw_buf *json, const char *text)
{
    for (; *text != '\0'; text++)
        pw_buf_addc(json, *text == '\n' || *text == '\r' || *text == '\t' ? ' ' : *text);
}

/* One row as an object, with all its columns. */
static void
add_object(struct pw_buf *json, const pawl_rows *rows, size_t row)
{
    pw_buf_addc(json, '{');
    for (size_t i = 0; i < pawl_rows_column_count(rows); i++) {
        const char *name = pawl_rows_column_name(rows, i);
        const char *text = pawl_rows_text(rows, row, name);
        int type = pawl_rows_type(rows, name);

        if (i > 0)
            pw_buf_adds(json, ", ");
        pw_json_string(json, name, strlen(name));
        pw_buf_adds(json, ": ");
        if (text == NULL)
            pw_buf_adds(json, "null");
        else if (type == PAWL_TYPE_BOOLEAN)
            pw_buf_adds(json, text[0] == 't' ? "true" : "false");
        else if (type == PAWL_TYPE_JSON)
            add_raw(json, text);
        else if (type == PAWL_TYPE_LIST)
            pw_list_text_write_json(json, text);
        else if (type == PAWL_TYPE_NUMBER && strpbrk(text, "nN") == NULL) /* NaN, Infinity */
            pw_buf_adds(json, text);
        else
            pw_json_string(json, text, strlen(text));
    }
    pw_buf_addc(json, '}');
}

static int
show_json(const struct rows_place *places, size_t count, bool lines)
{
    struct pw_buf json;
    int code = EXIT_OK;

    if (!lines)
        (void)puts("[");
    for (size_t i = 0; i < count && code == EXIT_OK; i++) {
        pw_buf_init(&json, line_max);
        add_object(&json, places[i].rows, places[i].row);
        pw_buf_addc(&json, '\0');
        if (pw_buf_ok(&json)) {
            if (term_is_tty(TERM_OUT))
                term_print(stdout, json.data);
            else
                (void)fputs(json.data, stdout);
            (void)puts(lines || i + 1 == count ? "" : ",");
        } else {
            code = exit_saying(EXIT_OTHER, NULL, "out of memory");
        }
        pw_buf_done(&json);
    }
    if (!lines)
        (void)puts("]");
    return code;
}

static void
show_values(const struct rows_place *places, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        const char *text = pawl_rows_text(places[i].rows, places[i].row, name);

        if (text != NULL && text[0] != '\0') {
            term_print(stdout, text);
            (void)fputc('\n', stdout);
        }
    }
}

int
rows_show_places(const struct invocation *invocation, const pawl_rows *form,
    const struct rows_place *places, size_t count)
{
    const char *first = pawl_rows_column_name(form, 0);
    struct table table = {.form = form, .places = places, .row_count = count};
    char *names = NULL;

    switch (invocation->output) {
    case OUTPUT_JSON:
        return show_json(places, count, false);
    case OUTPUT_JSONL:
        return show_json(places, count, true);
    case OUTPUT_IDS:
        show_values(places, count, first);
        return EXIT_OK;
    case OUTPUT_TABLE:
        break;
    }
    if (pawl_rows_column_count(form) == 1) {
        show_values(places, count, first);
        return EXIT_OK;
    }
    if (invocation->command->columns != NULL) {
        names = strdup(invocation->command->columns);
        if (names == NULL)
            return exit_saying(EXIT_OTHER, NULL, "out of memory");
    }
    choose_columns(&table, invocation, names);
    pw_buf_init(&table.list, line_max);
    show_table(&table);
    pw_buf_done(&table.list);
    free(names);
    return EXIT_OK;
}

int
rows_show(const struct invocation *invocation, const pawl_rows *rows)
{
    size_t count = pawl_rows_count(rows);
    struct rows_place *places = calloc(count + 1, sizeof(*places));
    int code;

    if (places == NULL)
        return exit_saying(EXIT_OTHER, NULL, "out of memory");
    for (size_t i = 0; i < count; i++)
        places[i] = (struct rows_place){rows, i};
    code = rows_show_places(invocation, rows, places, count);
    free(places);
    return code;
}

int
rows_show_lines(const struct invocation *invocation, const pawl_rows *rows)
{
    const struct rows_place only = {rows, 0};
    struct table table = {.form = rows, .places = &only, .row_count = 1};
    char room[TIME_TEXT_SIZE];
    int width = NAME_LEAST;

    if (invocation->output != OUTPUT_TABLE)
        return rows_show(invocation, rows);
    pw_buf_init(&table.list, line_max);
    for (size_t i = 0; i < pawl_rows_column_count(rows) && i < COLUMNS_MAX; i++) {
        table.names[i] = pawl_rows_column_name(rows, i);
        if ((int)strlen(table.names[i]) > width && cell(&table, 0, i, room)[0] != '\0')
            width = (int)strlen(table.names[i]);
    }
    for (size_t i = 0; i < pawl_rows_column_count(rows) && i < COLUMNS_MAX; i++) {
        const char *text = cell(&table, 0, i, room);

        /* The cursor continues a list; this is not one. */
        if (text[0] == '\0' || strcmp(table.names[i], "next_cursor") == 0)
            continue;
        (void)printf("%s%-*s%s ", term_style(TERM_OUT, TERM_DIM), width, table.names[i],
            term_style(TERM_OUT, TERM_PLAIN));
        term_print(stdout, text);
        (void)fputc('\n', stdout);
    }
    pw_buf_done(&table.list);
    return EXIT_OK;
}
