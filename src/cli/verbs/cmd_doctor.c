/* SPDX-License-Identifier: Apache-2.0 */
/* pawl doctor: reports present and future problems of a database, and what to do about them. */
#include "cli/command/commands.h"
#include "cli/command/invocation.h"
#include "cli/report/exit.h"
#include "cli/show/term.h"

#include <stdio.h>
#include <string.h>

static enum term_style
style_of(const char *level)
{
    if (strcmp(level, "error") == 0)
        return TERM_BAD;
    return strcmp(level, "ok") == 0 ? TERM_GOOD : TERM_WAIT;
}

static const char *
text_of(const pawl_rows *rows, size_t row, const char *column)
{
    const char *text = pawl_rows_text(rows, row, column);

    return text == NULL ? "" : text;
}

/* Prints one finding in a line, and its remedy below it. */
static void
show_finding(const pawl_rows *rows, size_t row)
{
    const char *level = text_of(rows, row, "level");
    const char *cure = text_of(rows, row, "cure");

    (void)printf("%s%-7s%s  ", term_style(TERM_OUT, style_of(level)), level,
        term_style(TERM_OUT, TERM_PLAIN));
    term_print(stdout, text_of(rows, row, "what"));
    (void)fputs(": ", stdout);
    term_print(stdout, text_of(rows, row, "found"));
    (void)fputc('\n', stdout);
    if (cure[0] != '\0') {
        (void)fputs("         ", stdout);
        term_print(stdout, cure);
        (void)fputc('\n', stdout);
    }
}

static int
doctor(struct invocation *invocation)
{
    pawl_rows *rows = NULL;
    int code = invocation_ask(invocation, &rows);
    size_t errors = 0;

    if (code != EXIT_OK)
        return code;
    for (size_t row = 0; row < pawl_rows_count(rows); row++)
        errors += strcmp(text_of(rows, row, "level"), "error") == 0;
    if (invocation->output != OUTPUT_TABLE) {
        code = invocation_show(invocation, EXIT_OK, rows);
        return code == EXIT_OK && errors > 0 ? EXIT_OTHER : code;
    }
    for (size_t row = 0; row < pawl_rows_count(rows); row++)
        show_finding(rows, row);
    pawl_rows_free(rows);
    return errors > 0 ? EXIT_OTHER : EXIT_OK;
}

const struct command cmd_doctor[] = {
    {.name = "doctor",
        .summary = "Check the database and say how to fix problems",
        .text = "Exits with 1 if there is an error. Warnings do no harm yet.",
        .verb = "doctor",
        .act = doctor},
    {0},
};
