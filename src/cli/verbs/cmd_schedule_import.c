/* SPDX-License-Identifier: Apache-2.0 */
/* pawl schedule import: makes schedules of the lines of a crontab, and tells for each what it does differently. */
#include "base/buf.h"
#include "base/json_write.h"
#include "cli/command/commands.h"
#include "cli/command/invocation.h"
#include "cli/command/options.h"
#include "cli/report/exit.h"
#include "cli/show/term.h"
#include "cli/verbs/crontab.h"

#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const size_t input_max = (size_t)1024 * 1024;
static const size_t names_max = (size_t)64 * 1024 * 1024;

/* A crontab that is imported: the settings so far, and what became of the lines. */
struct import {
    struct invocation *invocation;
    const char *zone;
    bool system;
    bool only_check;
    struct crontab_line settings[CRONTAB_SETTINGS_MAX];
    size_t setting_count;
    struct pw_buf names; /* those of the lines above, each after a newline and before one */
    size_t made;
    size_t refused;
};

/* The zone of this machine, as Debian has it: a link into the zone files, or a file with the name. Returns NULL if neither tells. */
static const char *
zone_of_machine(char *buffer, size_t size)
{
    static const char before[] = "/zoneinfo/";
    ssize_t length = readlink("/etc/localtime", buffer, size - 1);
    FILE *file;
    char *found;

    if (length > 0) {
        buffer[length] = '\0';
        found = strstr(buffer, before);
        if (found != NULL)
            return strcmp(found + strlen(before), "Etc/UTC") == 0 ? "UTC" : found + strlen(before);
    }
    file = fopen("/etc/timezone", "re");
    if (file == NULL)
        return NULL;
    found = fgets(buffer, (int)size, file);
    (void)fclose(file);
    if (found == NULL)
        return NULL;
    buffer[strcspn(buffer, "\r\n")] = '\0';
    return strcmp(buffer, "Etc/UTC") == 0 ? "UTC" : buffer;
}

static const char *
setting_of(const struct import *import, const char *name)
{
    const char *value = NULL;

    for (size_t i = 0; i < import->setting_count; i++)
        if (strcmp(import->settings[i].name, name) == 0)
            value = import->settings[i].command;
    return value;
}

static const char *
zone_of(const struct import *import)
{
    const char *own = setting_of(import, "CRON_TZ");

    return own != NULL ? own : import->zone;
}

/* {"command": ["/bin/sh", "-c", LINE], "directory": HOME, "environment": {...}, "stdin": ...} */
static void
write_input(struct pw_buf *buf, const struct import *import, const struct crontab_line *line)
{
    const char *shell = setting_of(import, "SHELL");
    const char *home = setting_of(import, "HOME");
    struct pw_json_writer writer;

    pw_json_writer_init(&writer, buf);
    pw_json_open(&writer, '{');
    pw_json_key(&writer, "command");
    pw_json_open(&writer, '[');
    pw_json_add_text(&writer, shell != NULL ? shell : "/bin/sh");
    pw_json_add_text(&writer, "-c");
    pw_json_add_text(&writer, line->command);
    pw_json_close(&writer);
    pw_json_key(&writer, "directory");
    if (home == NULL)
        home = getenv("HOME");
    pw_json_add_text(&writer, home != NULL ? home : "/");
    pw_json_key(&writer, "environment");
    pw_json_open(&writer, '{');
    for (size_t i = 0; i < import->setting_count; i++) {
        pw_json_key(&writer, import->settings[i].name);
        pw_json_add_text(&writer, import->settings[i].command);
    }
    pw_json_close(&writer);
    if (line->input != NULL) {
        pw_json_key(&writer, "stdin");
        pw_json_add_text(&writer, line->input);
    }
    pw_json_close(&writer);
}

static void
print_line(const char *before, const char *text)
{
    (void)fputs(before, stdout);
    term_print(stdout, text);
    (void)fputc('\n', stdout);
}

/* Prints what the schedule does otherwise than cron would. */
static void
print_differences(const struct import *import, const struct crontab_line *line)
{
    const struct passwd *me = getpwuid(geteuid());
    const char *mail = setting_of(import, "MAILTO");

    if (line->user != NULL && (me == NULL || strcmp(me->pw_name, line->user) != 0))
        print_line("  differs: runs as the user of its worker, not as ", line->user);
    if (mail != NULL && mail[0] != '\0')
        print_line("  differs: the output is kept with the run and not mailed to ", mail);
    if (strncmp(line->cron, "* ", 2) == 0 || strncmp(line->cron, "*/", 2) == 0)
        print_line("  differs: ", "a time is skipped while the run before it has not ended");
}

/* Whether a line above has this name; if none has, a line below will find it. */
static bool
is_second(struct import *import, const char *name)
{
    char key[CRONTAB_WORD_SIZE + 2];

    (void)snprintf(key, sizeof(key), "\n%s\n", name);
    if (pw_buf_ok(&import->names) && strstr(pw_buf_text(&import->names), key) != NULL)
        return true;
    pw_buf_adds(&import->names, key);
    return false;
}

/* Prints what has become of the schedule. Returns false if one with other options has the name, and stays as it is. */
static bool
print_answer(const char *name, const char *answer)
{
    print_line("  ", answer);
    if (strcmp(answer, "differs") != 0)
        return true;
    (void)printf("not imported: %s has other options or settings, such as PATH; delete it, then "
                 "import again: pawl schedule delete %s\n",
        name, name);
    return false;
}

/* Creates the workflow and the schedule of a line, or only asks the database for its first time. */
static int
make_schedule(struct import *import, const char *name, const struct crontab_line *line)
{
    char workflow[CRONTAB_WORD_SIZE + 20];
    struct pw_buf input;
    pawl_rows *rows = NULL;
    int code;

    code = invocation_verb(import->invocation, &rows, "preview_schedule", "cron", line->cron,
        "zone", zone_of(import), "max_rows", "1", NULL);
    if (code == EXIT_OK)
        print_line("  fires next at ", pawl_rows_text(rows, 0, "at"));
    pawl_rows_free(rows);
    if (code != EXIT_OK || import->only_check)
        return code;
    (void)snprintf(workflow, sizeof(workflow), "crontab.%s", name);
    pw_buf_init(&input, input_max);
    write_input(&input, import, line);
    code = pw_buf_ok(&input)
        ? invocation_verb(import->invocation, NULL, "create_workflow", "name", workflow, NULL)
        : exit_saying(EXIT_OTHER, NULL, "the line is too long, or memory is short");
    if (code == EXIT_OK)
        code = invocation_verb(import->invocation, &rows, "create_schedule", "name", name,
            "workflow", workflow, "cron", line->cron, "zone", zone_of(import), "input",
            pw_buf_text(&input), NULL);
    if (code == EXIT_OK && !print_answer(name, pawl_rows_text(rows, 0, "create_schedule")))
        code = EXIT_REFUSED;
    pawl_rows_free(rows);
    pw_buf_done(&input);
    return code;
}

/* Returns EXIT_OK for a line that was refused, too: only a lost database ends the import. */
static int
import_line(struct import *import, char *text)
{
    struct crontab_line line;
    char name[CRONTAB_WORD_SIZE];
    int code;

    crontab_read(&line, text, import->system);
    if (line.kind == CRONTAB_SETTING && import->setting_count < CRONTAB_SETTINGS_MAX)
        import->settings[import->setting_count++] = line;
    if (line.kind == CRONTAB_REFUSED) {
        import->refused++;
        print_line("not imported: ", line.problem);
    }
    if (line.kind != CRONTAB_JOB)
        return EXIT_OK;
    crontab_name(&line, setting_of(import, "CRON_TZ"), name);
    (void)printf("%s: %s ", name, line.cron);
    print_line("", line.command);
    if (is_second(import, name)) {
        import->refused++;
        print_line("not imported: ",
            "the same line is above; settings between them make no second schedule");
        return EXIT_OK;
    }
    (void)fflush(stdout);
    code = make_schedule(import, name, &line);
    if (code == EXIT_NO_DATABASE || code == EXIT_FORBIDDEN || code == EXIT_SCHEMA)
        return code;
    if (code == EXIT_OK) {
        import->made++;
        print_differences(import, &line);
    } else
        import->refused++;
    return EXIT_OK;
}

static int
import_file(struct invocation *invocation)
{
    static char buffer[PATH_MAX];
    struct import import = {.invocation = invocation,
        .zone = invocation_option(invocation, "zone"),
        .only_check = invocation_has(invocation, "check")};
    const char *path = invocation_operand(invocation, 0);
    char *rest = NULL;
    int code = EXIT_OK;
    char *text = invocation_file(path, &code);

    if (text == NULL)
        return code;
    import.system = invocation_has(invocation, "system") || strncmp(path, "/etc/cron", 9) == 0;
    if (import.zone == NULL)
        import.zone = zone_of_machine(buffer, sizeof(buffer));
    if (import.zone == NULL)
        code = exit_saying(EXIT_USAGE, "Give it: --zone Europe/Berlin",
            "the time zone of this machine is not known");
    pw_buf_init(&import.names, names_max);
    for (char *line = strtok_r(text, "\n", &rest); line != NULL && code == EXIT_OK;
         line = strtok_r(NULL, "\n", &rest))
        code = import_line(&import, line);
    (void)printf("%zu imported, %zu not; zone %s\n", import.made, import.refused,
        import.zone != NULL ? import.zone : "unknown");
    if (code == EXIT_OK && !pw_buf_ok(&import.names))
        code = exit_saying(EXIT_OTHER, NULL, "the file has too many lines, or memory is short");
    pw_buf_done(&import.names);
    free(text);
    return code != EXIT_OK ? code : import.refused > 0 ? EXIT_REFUSED : EXIT_OK;
}

const struct command cmd_schedule_import[] = {
    {.name = "schedule import",
        .summary = "Make schedules of the lines of a crontab",
        .text =
            "Each line becomes a schedule, whose command pawl worker --crontab executes, or is "
            "not imported for a reason that is printed. Settings such as PATH hold for the lines "
            "below them; CRON_TZ is a time zone. A % in a command begins its standard input, as "
            "in "
            "cron. Importing a file again changes nothing: a line has always the same name. A line "
            "is not imported if a schedule with other options has the name.\n\n"
            "Exits with 4 if a line was not imported.",
        .operands =
            (const struct operand[]){
                {.kind = KIND_FILE,
                    .value = "FILE",
                    .summary = "a crontab; - for standard input, as in crontab -l | ..."},
                {.kind = KIND_END},
            },
        .options =
            (const struct option[]){
                {.kind = KIND_TEXT,
                    .name = "zone",
                    .value = "ZONE",
                    .summary = "the time zone, as Europe/Berlin; by default that of this machine"},
                {.kind = KIND_FLAG,
                    .name = "system",
                    .summary = "lines name a user, as in /etc/crontab; by default of files there"},
                {.kind = KIND_FLAG,
                    .name = "check",
                    .summary = "create nothing, only tell what would be done"},
                {.kind = KIND_END},
            },
        .examples =
            (const struct example[]){
                {"crontab -l | pawl schedule import - --check", "what would become of each line"},
                {NULL, NULL},
            },
        .act = import_file},
    {0},
};
