/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command/help.h"

#include "cli/report/exit.h"
#include "cli/show/term.h"

#include <string.h>

enum {
    LEFT = 26, /* columns of the names, at the left of their summaries */
};

/* "-o, --output FORMAT" */
static int
print_option_name(FILE *out, const struct option *option)
{
    int size = 0;

    size += option->letter != 0 ? fprintf(out, "-%c, ", option->letter) : fprintf(out, "    ");
    size += fprintf(out, "--%s", option->name);
    if (option->kind != KIND_FLAG)
        size += fprintf(out, " %s", option->value);
    return size;
}

static void
print_operands(FILE *out, const struct command *command)
{
    for (const struct operand *operand = command->operands;
         operand != NULL && operand->kind != KIND_END; operand++)
        (void)fprintf(out, operand->optional ? " [%s%s]" : " %s%s", operand->value,
            operand->many ? "..." : "");
}

static void
print_left(FILE *out, int size)
{
    if (size >= LEFT) {
        (void)fputc('\n', out);
        size = 0;
    }
    (void)fprintf(out, "%*s", LEFT - size, "");
}

/* Prints the words of one paragraph, in lines as wide as the terminal; each line begins at column. Returns the text after the paragraph. */
static const char *
print_words(FILE *out, const char *text, size_t column, size_t width)
{
    size_t used = 0;

    while (*text != '\0' && strncmp(text, "\n\n", 2) != 0) {
        size_t size;

        text += strspn(text, " \n");
        size = strcspn(text, " \n");
        if (used > 0 && column + used + 1 + size > width) {
            (void)fprintf(out, "\n%*s", (int)column, "");
            used = 0;
        }
        used += (size_t)fprintf(out, "%s%.*s", used > 0 ? " " : "", (int)size, text);
        text += size;
    }
    return text;
}

/* Prints the text at the right of LEFT. On a terminal, further lines begin at that column, too. */
static void
print_right(FILE *out, const char *text)
{
    size_t width = out == stdout ? term_width() : 0;

    if (width > (size_t)2 * LEFT)
        (void)print_words(out, text, LEFT, width);
    else
        (void)fputs(text, out);
}

/* Prints paragraphs. On a terminal they are wrapped to its width, unless the text has a line that begins with a blank. */
static void
print_text(FILE *out, const char *text)
{
    size_t width = out == stdout ? term_width() : 0;

    if (width == 0 || strstr(text, "\n ") != NULL) {
        (void)fputs(text, out);
        return;
    }
    while (*text != '\0') {
        text = print_words(out, text, 0, width);
        if (*text != '\0') {
            (void)fputs("\n\n", out);
            text += strspn(text, "\n");
        }
    }
}

/* Prints the options, except those that command without replaces. */
static void
print_options(FILE *out, const struct option *options, const struct command *without)
{
    char text[400];

    for (; options != NULL && options->kind != KIND_END; options++) {
        if (without != NULL && command_replaces(without, options))
            continue;
        (void)fputs("  ", out);
        print_left(out, 2 + print_option_name(out, options));
        (void)snprintf(text, sizeof(text), options->kind == KIND_CHOICE ? "%s (%s)" : "%s",
            options->summary, options->choices);
        print_right(out, text);
        (void)fputc('\n', out);
    }
}

static void
print_line(FILE *out, const char *name, const struct command *command)
{
    print_left(out, fprintf(out, "  %s", name));
    print_right(out, command->summary);
    (void)fputc('\n', out);
}

/* The command that a line such as "run show RUN" begins with. */
static const struct command *
find_of_line(const char *line)
{
    char name[60];
    size_t size = strcspn(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

    while (size > 0 && line[size - 1] == ' ')
        size--;
    (void)snprintf(name, sizeof(name), "%.*s", (int)size, line);
    return command_named(name);
}

static void
print_most_used(FILE *out)
{
    (void)fputs("Durable workflows on PostgreSQL.\n\n"
                "usage: pawl [OPTION]... COMMAND [OPTION]... [ARGUMENT]...\n\nMost used\n",
        out);
    for (const char *const *line = commands_most_used; *line != NULL; line++)
        print_line(out, *line, find_of_line(*line));
}

void
help_short(FILE *out)
{
    print_most_used(out);
    (void)fputs("\nRun 'pawl --help' for all commands, 'pawl COMMAND --help' for details.\n", out);
}

void
help_program(FILE *out, bool plumbing)
{
    print_most_used(out);
    for (const struct command_group *group = command_groups;
         group->title != NULL && (plumbing || group[1].title != NULL); group++) {
        (void)fprintf(out, "\n%s\n", group->title);
        for (const char *const *name = group->names; *name != NULL; name++)
            print_line(out, *name, command_named(*name));
    }
    (void)fputs("\nOptions of every command, before or after its name\n", out);
    print_options(out, common_options, NULL);
    (void)fputs("\nRun 'pawl COMMAND --help' for details", out);
    (void)fputs(plumbing ? ".\n" : ", 'pawl help --all' for plumbing as well.\n", out);
}

void
help_list(FILE *out, const char *word)
{
    const struct command *command;
    size_t size = strlen(word);

    for (size_t i = 0; (command = command_at(i)) != NULL; i++)
        if (strncmp(command->name, word, size) == 0 && command->name[size] == ' ')
            print_line(out, command->name, command);
}

void
help_command(FILE *out, const struct command *command)
{
    (void)fprintf(out, "usage: pawl %s [OPTION]...", command->name);
    print_operands(out, command);
    (void)fprintf(out, "\n\n%s.\n", command->summary);
    if (command->text != NULL) {
        (void)fputc('\n', out);
        print_text(out, command->text);
        (void)fputc('\n', out);
    }
    if (command->operands != NULL && command->operands->kind != KIND_END) {
        (void)fputc('\n', out);
        for (const struct operand *operand = command->operands; operand->kind != KIND_END;
             operand++) {
            print_left(out, fprintf(out, "  %s", operand->value));
            print_right(out, operand->summary);
            (void)fputc('\n', out);
        }
    }
    (void)fputs("\nOptions:\n", out);
    print_options(out, command->options, NULL);
    print_options(out, common_options, command);
    if (command->examples != NULL)
        (void)fputs("\nExamples:\n", out);
    for (const struct example *example = command->examples;
         example != NULL && example->line != NULL; example++)
        (void)fprintf(out, "  %s\n      %s\n", example->line, example->summary);
}

/* Prints a text for scdoc: escapes its markup, and drops blanks at the beginning of a line, which scdoc rejects. */
static void
print_plain(FILE *out, const char *text)
{
    for (bool begins = true; text != NULL && *text != '\0'; text++) {
        if (begins && *text == ' ')
            continue;
        begins = *text == '\n';
        if (strchr("\\*_#<>[]`~", *text) != NULL)
            (void)fputc('\\', out);
        (void)fputc(*text, out);
    }
}

static void
manual_options(FILE *out, const struct option *options, const struct command *without)
{
    for (; options != NULL && options->kind != KIND_END; options++) {
        if (without != NULL && command_replaces(without, options))
            continue;
        (void)fputs("*", out);
        if (options->letter != 0)
            (void)fprintf(out, "-%c*, *", options->letter);
        (void)fprintf(out, "--%s*", options->name);
        if (options->kind != KIND_FLAG)
            (void)fprintf(out, " _%s_", options->value);
        (void)fputs("\n\t", out);
        print_plain(out, options->summary);
        if (options->kind == KIND_CHOICE)
            (void)fprintf(out, ": %s", options->choices);
        (void)fputs(".\n\n", out);
    }
}

/* Prints the name of a page, which is one word, so that whatis and apropos find it: pawl-run-list. */
static void
page_name(FILE *out, const struct command *command)
{
    (void)fputs("pawl", out);
    for (const char *at = command == NULL ? "" : command->name; *at != '\0'; at++) {
        if (at == command->name)
            (void)fputc('-', out);
        (void)fputc(*at == ' ' ? '-' : *at, out);
    }
}

static void
manual_title(FILE *out, const struct command *command)
{
    page_name(out, command);
    (void)fputs("(1)\n\n# NAME\n\n", out);
    page_name(out, command);
    (void)fputs(" - ", out);
}

static void
manual_codes(FILE *out)
{
    (void)fputs("# EXIT STATUS\n\n", out);
    for (int code = 0; code <= 255; code++)
        if (exit_summary(code) != NULL)
            (void)fprintf(out, "*%d*\n\t%s.\n\n", code, exit_summary(code));
}

static void
manual_program(FILE *out)
{
    manual_title(out, NULL);
    (void)fputs("durable workflows on PostgreSQL\n\n# SYNOPSIS\n\n*pawl* "
                "\\[_OPTION_...\\] _COMMAND_ \\[_OPTION_...\\] "
                "\\[_ARGUMENT_...\\]\n\n# COMMANDS\n\n",
        out);
    for (const struct command_group *group = command_groups; group->title != NULL; group++) {
        (void)fprintf(out, "## %s\n\n", group->title);
        for (const char *const *name = group->names; *name != NULL; name++) {
            (void)fprintf(out, "*pawl %s*\n\t", *name);
            print_plain(out, command_named(*name)->summary);
            (void)fputs(".\n\n", out);
        }
    }
    (void)fputs("# OPTIONS\n\nEvery command has these options, before or after its name.\n\n", out);
    manual_options(out, common_options, NULL);
    (void)fputs("# RUN IDS\n\nA run is named by its id, or by the beginning of its id: at least 6 "
                "hexadecimal digits that no other run's id begins with. An id begins with the time "
                "at which the run was triggered, so runs of the same minute can share 8 digits and "
                "runs of the same millisecond 12. If the beginning is ambiguous, *pawl* lists "
                "candidates and does nothing. It looks the id up as *pawl run list* does, so the "
                "role must be allowed to list runs (privilege set reader or operator), and a role "
                "that is bound to a tenant finds only the runs of that tenant.\n\n",
        out);
    manual_codes(out);
    (void)fputs(
        "# ENVIRONMENT\n\n*PAWL_DATABASE_URL*\n\tWhere the database is, unless "
        "*--database* says so. Without either, the "
        "variables of libpq count: *PGHOST*, *PGDATABASE* and so on. For a database on another "
        "host, use sslmode=verify-full: *pawl* warns if nothing has verified the "
        "server.\n\n*NO_COLOR*\n\tIf "
        "it is set and not empty, nothing is "
        "coloured.\n",
        out);
}

void
help_manual(FILE *out, const struct command *command)
{
    if (command == NULL) {
        manual_program(out);
        return;
    }
    manual_title(out, command);
    print_plain(out, command->summary);
    (void)fprintf(out, "\n\n# SYNOPSIS\n\n*pawl %s* \\[_OPTION_...\\]", command->name);
    for (const struct operand *operand = command->operands;
         operand != NULL && operand->kind != KIND_END; operand++)
        (void)fprintf(out, operand->optional ? " \\[_%s_%s\\]" : " _%s_%s", operand->value,
            operand->many ? "..." : "");
    if (command->text != NULL) {
        (void)fputs("\n\n# DESCRIPTION\n\n", out);
        print_plain(out, command->text);
    }
    (void)fputs("\n\n# OPTIONS\n\n", out);
    for (const struct operand *operand = command->operands;
         operand != NULL && operand->kind != KIND_END; operand++) {
        (void)fprintf(out, "_%s_\n\t", operand->value);
        print_plain(out, operand->summary);
        (void)fputs(".\n\n", out);
    }
    manual_options(out, command->options, NULL);
    manual_options(out, common_options, command);
    if (command->examples != NULL)
        (void)fputs("# EXAMPLES\n\n", out);
    for (const struct example *example = command->examples;
         example != NULL && example->line != NULL; example++)
        (void)fprintf(out, "```\n%s\n```\n\n%s\n\n", example->line, example->summary);
    (void)fputs("# SEE ALSO\n\n*pawl*(1), which has the exit codes, too\n", out);
}
