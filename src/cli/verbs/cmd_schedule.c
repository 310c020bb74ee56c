/* SPDX-License-Identifier: Apache-2.0 */
/* pawl schedule: runs that are triggered by a calendar, at an interval, or once. */
#include "base/buf.h"
#include "base/json_write.h"
#include "cli/command/commands.h"
#include "cli/command/invocation.h"
#include "cli/command/options.h"
#include "cli/command/rows.h"
#include "cli/command/why_text.h"
#include "cli/report/exit.h"
#include "cli/show/term.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct operand name_operand[] = {
    {.kind = KIND_TEXT, .value = "NAME", .argument = "name", .summary = "the name of a schedule"},
    {.kind = KIND_END},
};

static const struct option create_options[] = {
    {.kind = KIND_WORKFLOW,
        .letter = 'w',
        .name = "workflow",
        .value = "NAME",
        .argument = "workflow",
        .summary = "the workflow to trigger; by default the one with the name of the schedule"},
    {.kind = KIND_TEXT,
        .name = "cron",
        .value = "EXPRESSION",
        .argument = "cron",
        .summary = "minute, hour, day of the month, month, day of the week; or @daily and others"},
    {.kind = KIND_TEXT,
        .name = "zone",
        .value = "ZONE",
        .argument = "zone",
        .summary = "the time zone of --cron, as Europe/Berlin; UTC by default"},
    {.kind = KIND_DURATION,
        .name = "every",
        .value = "TIME",
        .argument = "every",
        .summary = "the interval, instead of --cron; exact"},
    {.kind = KIND_TIME,
        .name = "at",
        .value = "TIME",
        .argument = "at",
        .summary = "once, instead of --cron, as \"2026-12-24 18:00\""},
    {.kind = KIND_JSON,
        .letter = 'i',
        .name = "input",
        .value = "JSON",
        .argument = "input",
        .summary = "the input of each run, an object; JSON, @FILE or -"},
    {.kind = KIND_CHOICE,
        .name = "catch-up",
        .value = "WHICH",
        .choices = "none last all",
        .argument = "catch_up",
        .summary = "which of the times that are over a minute late are made up for; last by "
                   "default"},
    {.kind = KIND_DURATION,
        .name = "catch-up-within",
        .value = "TIME",
        .argument = "catch_up_within",
        .summary = "how old these may be; 1d by default"},
    {.kind = KIND_CHOICE,
        .name = "overlap",
        .value = "HOW",
        .choices = "skip queue cancel allow",
        .argument = "overlap",
        .summary = "what happens while the run of an earlier time lives; skip by default"},
    {.kind = KIND_DURATION,
        .name = "jitter",
        .value = "TIME",
        .argument = "jitter",
        .summary = "fire up to this much later, always as much for one name and time"},
    {.kind = KIND_TIME,
        .name = "starts",
        .value = "TIME",
        .argument = "starts_at",
        .summary = "no time before this one"},
    {.kind = KIND_TIME,
        .name = "ends",
        .value = "TIME",
        .argument = "ends_at",
        .summary = "no time at or after this one"},
    {.kind = KIND_NUMBER,
        .name = "priority",
        .value = "N",
        .argument = "priority",
        .summary = "of its runs, instead of that of the workflow"},
    OPTION_TENANT("tenant", "in this tenant"),
    {.kind = KIND_END},
};

/* {"command": [...], "directory": ...}; a file that is not executable is a script for sh, as in pawl run-script. */
static void
write_command(struct pw_buf *input, char *const *words)
{
    struct pw_json_writer writer;
    char directory[PATH_MAX];

    pw_json_writer_init(&writer, input);
    pw_json_open(&writer, '{');
    pw_json_key(&writer, "command");
    pw_json_open(&writer, '[');
    if (strchr(words[0], '/') != NULL && access(words[0], F_OK) == 0 && access(words[0], X_OK) != 0)
        pw_json_add_text(&writer, "sh");
    for (size_t i = 0; words[i] != NULL; i++)
        pw_json_add_text(&writer, words[i]);
    pw_json_close(&writer);
    pw_json_key(&writer, "directory");
    pw_json_add_text(&writer, getcwd(directory, sizeof(directory)) != NULL ? directory : "/");
    pw_json_close(&writer);
}

/* A schedule of a command: the workflow crontab.NAME, whose runs pawl worker --crontab executes. */
static int
create_command(struct invocation *invocation, const char *name, pawl_rows **rows)
{
    char workflow[300];
    struct pw_buf input;
    int code;

    if (invocation->rest[0] == NULL || invocation_has(invocation, "workflow") ||
        invocation_has(invocation, "input"))
        return exit_saying(EXIT_USAGE, "Write: pawl schedule create NAME --cron '...' -- COMMAND",
            "a COMMAND goes without --workflow and --input, and must not be empty");
    (void)snprintf(workflow, sizeof(workflow), "crontab.%s", name);
    pw_buf_init(&input, (size_t)1024 * 1024);
    write_command(&input, invocation->rest);
    code = pw_buf_ok(&input)
        ? invocation_verb(invocation, NULL, "create_workflow", "name", workflow, NULL)
        : exit_saying(EXIT_OTHER, NULL, "the command is too long, or memory is short");
    if (code == EXIT_OK)
        code = invocation_ask_with_two(invocation, (const char *const[]){"workflow", "input"},
            (const char *const[]){workflow, pw_buf_text(&input)}, rows);
    pw_buf_done(&input);
    return code;
}

/* Without --workflow and COMMAND the schedule triggers the workflow of its own name. */
static int
create(struct invocation *invocation)
{
    const char *name = invocation_operand(invocation, 0);
    pawl_rows *rows = NULL;
    int code;

    if (invocation->rest != NULL)
        code = create_command(invocation, name, &rows);
    else if (invocation_has(invocation, "workflow"))
        code = invocation_ask(invocation, &rows);
    else
        code = invocation_ask_with(invocation, "workflow", name, &rows);
    code = invocation_show(invocation, code, rows);
    if (code == EXIT_DIFFERS)
        (void)exit_saying(code, "Delete it first: pawl schedule delete NAME",
            "schedule \"%s\" is there with other options, which stay as they are", name);
    return code;
}

/* Shows one schedule, a line for each of its options. */
static int
show(struct invocation *invocation)
{
    pawl_rows *rows = NULL;
    int code = invocation_ask(invocation, &rows);

    if (code == EXIT_OK && pawl_rows_count(rows) == 0)
        code = exit_saying(EXIT_NOT_FOUND, "pawl schedule list shows all there are.",
            "unknown schedule \"%s\"", invocation_operand(invocation, 0));
    else if (code == EXIT_OK)
        code = rows_show_lines(invocation, rows);
    pawl_rows_free(rows);
    return code;
}

/* In JSON the sentence is unchanged, with the names of SQL functions. */
static int
why(struct invocation *invocation)
{
    pawl_rows *rows = NULL;
    int code = invocation_ask(invocation, &rows);
    char *text;

    if (code != EXIT_OK || invocation->output != OUTPUT_TABLE)
        return invocation_show(invocation, code, rows);
    text = why_text(pawl_rows_text(rows, 0, "why_schedule"), invocation_operand(invocation, 0));
    if (text == NULL)
        code = exit_saying(EXIT_OTHER, NULL, "out of memory");
    else {
        term_print(stdout, text);
        (void)fputc('\n', stdout);
    }
    free(text);
    pawl_rows_free(rows);
    return code;
}

/* The operand is an expression, which has spaces or begins with @, or the name of a schedule. */
static int
preview(struct invocation *invocation)
{
    const char *what = invocation_operand(invocation, 0);
    bool is_cron = strchr(what, ' ') != NULL || what[0] == '@';
    pawl_rows *rows = NULL;
    int code = invocation_ask_with(invocation, is_cron ? "cron" : "name", what, &rows);

    return invocation_show(invocation, code, rows);
}

const struct command cmd_schedule[] = {
    {.name = "schedule list",
        .summary = "List schedules with their next and last time",
        .verb = "list_schedules",
        .columns = "schedule workflow cron every at zone next_at paused last_at last_run fired "
                   "skipped missed last_error tenant",
        .options =
            (const struct option[]){
                {.kind = KIND_TEXT,
                    .name = "name",
                    .value = "NAME",
                    .argument = "only_schedule",
                    .summary = "only those that a pattern such as billing.* names"},
                {.kind = KIND_WORKFLOW,
                    .letter = 'w',
                    .name = "workflow",
                    .value = "NAME",
                    .argument = "only_workflow",
                    .summary = "only of this workflow"},
                OPTION_TENANT("only_tenant", "only of this tenant"),
                {.kind = KIND_NUMBER,
                    .name = "cursor",
                    .value = "N",
                    .argument = "cursor",
                    .summary = "list schedules after this next_cursor, to continue a list"},
                OPTION_LIMIT("100"),
                {.kind = KIND_END},
            }},
    {.name = "schedule show",
        .summary = "Show all settings of a schedule",
        .verb = "list_schedules",
        .operands =
            (const struct operand[]){
                {.kind = KIND_TEXT,
                    .value = "NAME",
                    .argument = "only_schedule",
                    .summary = "the name of a schedule"},
                {.kind = KIND_END},
            },
        .options =
            (const struct option[]){
                OPTION_TENANT("only_tenant", "of this tenant"),
                {.kind = KIND_END},
            },
        .act = show},
    {.name = "schedule create",
        .summary = "Create a schedule that triggers runs",
        .text =
            "Give one of --cron, --every and --at. Housekeeping fires it, so a worker or pawl "
            "keeper must run. The input of each run has a member \"scheduled\": by, at, local and "
            "zone.\n\n"
            "Where the clock of the zone changes: a wall time that does not exist is fired as much "
            "later as the clock jumps, one that exists twice the first time; an hour with a star "
            "or "
            "a range counts real hours. pawl schedule preview shows it.\n\n"
            "With -- COMMAND a run executes that command, a durable script if it calls pawl step, "
            "in "
            "this directory: pawl worker --crontab does it, on a machine that has the command.\n\n"
            "Creating it again does no harm: if it has other options they stay as they are, and "
            "this exits with 11.",
        .verb = "create_schedule",
        .operands = name_operand,
        .options = create_options,
        .examples =
            (const struct example[]){
                {"pawl schedule create billing.close --cron '30 2 1 * *' --zone Europe/Berlin",
                    "at half past two on the first of each month, by the clocks of Berlin"},
                {"pawl schedule create poll --workflow mail.fetch --every 5m --overlap queue",
                    "every five minutes; a time waits until the run before it has ended"},
                {"pawl schedule create nightly --cron '30 2 * * *' --zone Europe/Berlin -- "
                 "./backup.sh /srv",
                    "a command; pawl worker --crontab executes it"},
                {NULL, NULL},
            },
        .act = create},
    {.name = "schedule preview",
        .summary = "Show the next times of an expression or a schedule",
        .verb = "preview_schedule",
        .operands =
            (const struct operand[]){
                {.kind = KIND_TEXT,
                    .value = "EXPRESSION|NAME",
                    .summary = "a cron expression, or the name of a schedule"},
                {.kind = KIND_END},
            },
        .options =
            (const struct option[]){
                {.kind = KIND_TEXT,
                    .name = "zone",
                    .value = "ZONE",
                    .argument = "zone",
                    .summary = "the time zone of the expression, as Europe/Berlin; UTC by default"},
                {.kind = KIND_TIME,
                    .name = "since",
                    .value = "TIME",
                    .argument = "since",
                    .summary = "times after this one; by default now"},
                OPTION_LIMIT("10"),
                OPTION_TENANT("tenant", "of this tenant"),
                {.kind = KIND_END},
            },
        .examples =
            (const struct example[]){
                {"pawl schedule preview '30 2 * * *' --zone Europe/Berlin --since 2026-03-27",
                    "what happens in the night in which the clock jumps over that hour"},
                {NULL, NULL},
            },
        .act = preview},
    {.name = "schedule why",
        .summary = "Explain when a schedule fires, or why it did not",
        .verb = "why_schedule",
        .operands = name_operand,
        .options =
            (const struct option[]){
                OPTION_TENANT("tenant", "of this tenant"),
                {.kind = KIND_END},
            },
        .act = why},
    {.name = "schedule skips",
        .summary = "List times at which a schedule triggered no run",
        .verb = "list_skips",
        .operands = name_operand,
        .options =
            (const struct option[]){
                OPTION_BEFORE("before", "only times"),
                OPTION_LIMIT("100"),
                OPTION_TENANT("tenant", "of this tenant"),
                {.kind = KIND_END},
            }},
    {.name = "schedule pause",
        .summary = "Pause a schedule",
        .verb = "pause_schedule",
        .operands = name_operand,
        .options =
            (const struct option[]){
                OPTION_WHY("a reason, for others to see"),
                OPTION_BY("who does it"),
                OPTION_TENANT("tenant", "of this tenant"),
                {.kind = KIND_END},
            }},
    {.name = "schedule resume",
        .summary = "Resume a paused schedule",
        .verb = "resume_schedule",
        .operands = name_operand,
        .options =
            (const struct option[]){
                {.kind = KIND_CHOICE,
                    .name = "catch-up",
                    .value = "WHICH",
                    .choices = "none last all",
                    .argument = "catch_up",
                    .summary = "which of the times in the pause are made up for; by default as "
                               "the schedule has it"},
                OPTION_BY("who does it"),
                OPTION_TENANT("tenant", "of this tenant"),
                {.kind = KIND_END},
            }},
    {.name = "schedule backfill",
        .summary = "Trigger the runs of times that have passed",
        .text = "A time that has its run already gets no second one: created is false then.",
        .verb = "backfill_schedule",
        .operands = name_operand,
        .options =
            (const struct option[]){
                {.kind = KIND_TIME,
                    .name = "since",
                    .value = "TIME",
                    .argument = "since",
                    .summary = "the first time"},
                {.kind = KIND_TIME,
                    .name = "until",
                    .value = "TIME",
                    .argument = "until",
                    .summary = "the last time"},
                OPTION_LIMIT("100"),
                OPTION_BY("who does it"),
                OPTION_TENANT("tenant", "of this tenant"),
                {.kind = KIND_END},
            }},
    {.name = "schedule delete",
        .summary = "Delete a schedule; its runs stay",
        .verb = "delete_schedule",
        .operands = name_operand,
        .options =
            (const struct option[]){
                OPTION_BY("who does it"),
                OPTION_TENANT("tenant", "of this tenant"),
                {.kind = KIND_END},
            }},
    {0},
};
