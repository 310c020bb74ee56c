/* SPDX-License-Identifier: Apache-2.0 */
/* pawl run list, and the verbs of operators on runs, with an answer for each run. */
#include "cli/command/commands.h"
#include "cli/command/invocation.h"
#include "cli/command/options.h"
#include "cli/report/exit.h"
#include "cli/verbs/bulk.h"
#include "cli/verbs/list.h"

#include <stdio.h>

static const struct operand runs_operand[] = {
    {.kind = KIND_RUN, .value = "RUN", .argument = "runs", .summary = "ids of runs", .many = true},
    {.kind = KIND_END},
};
/* Ids of runs; without any, the options name the runs. */
static const struct operand any_runs_operand[] = {
    {.kind = KIND_RUN,
        .value = "RUN",
        .argument = "runs",
        .summary = "ids of runs; without them, all that the options name",
        .optional = true,
        .many = true},
    {.kind = KIND_END},
};
static const struct operand run_operand[] = {
    OPERAND_RUN,
    {.kind = KIND_END},
};

#define WHY_OPTION OPTION_WHY("a reason, kept in the run's history")
#define BY_OPTION OPTION_BY("who does it")

static const struct option why_options[] = {WHY_OPTION, BY_OPTION, {.kind = KIND_END}};
static const struct option by_options[] = {BY_OPTION, {.kind = KIND_END}};
static const struct option bulk_why_options[] = {
    BULK_OPTIONS("1000"), WHY_OPTION, BY_OPTION, {.kind = KIND_END}};
static const struct option bulk_by_options[] = {
    BULK_OPTIONS("1000"), BY_OPTION, {.kind = KIND_END}};

#define BULK_TEXT                                                                             \
    "Instead of ids, options may name runs: they are counted and shown, and then asked "      \
    "about;\n"                                                                                \
    "a script says --yes. They become a bulk: housekeeping acts on them, newest first, each " \
    "once, and continues if this command ends (pawl bulk list, pawl bulk stop). The output "  \
    "is how many were changed, skipped and failed."

/* Prints the id of the new run, as pawl trigger does, and nothing if there is none. */
static int
fork_run(struct invocation *invocation)
{
    pawl_rows *rows = NULL;
    int code = invocation_ask(invocation, &rows);
    const char *id = code == EXIT_OK ? pawl_rows_text(rows, 0, "run_id") : NULL;

    if (code != EXIT_OK || invocation->output != OUTPUT_TABLE)
        return invocation_show(invocation, code, rows);
    if (id != NULL) {
        const char *copied = pawl_rows_text(rows, 0, "copied");

        (void)puts(id);
        (void)fprintf(stderr, "pawl: %s records were copied\n", copied != NULL ? copied : "0");
    }
    code = invocation_judge(invocation, rows);
    pawl_rows_free(rows);
    return code;
}

/* Nothing found is an empty list for programs, and the exit code of what there is not. */
static int
find(struct invocation *invocation)
{
    pawl_rows *rows = NULL;
    int code = invocation_ask(invocation, &rows);
    bool none = code == EXIT_OK && pawl_rows_count(rows) == 0;

    if (none && invocation->output == OUTPUT_TABLE)
        pawl_rows_free(rows);
    else
        code = invocation_show(invocation, code, rows);
    if (none)
        code = exit_saying(EXIT_NOT_FOUND,
            "It finds whole keys, tags and topics, and the beginnings of ids (8 digits or more) "
            "and of names.",
            "\"%s\" stands for nothing", invocation_operand(invocation, 0));
    return code;
}

const struct command cmd_run[] = {
    {.name = "run failures",
        .summary = "List failed runs in groups, the largest first",
        .text =
            "Runs of one workflow whose errors have the same code, and the same message but for "
            "numbers, ids and texts in quotes, are one group.",
        .verb = "list_failures",
        .columns = "workflow runs error_code error_line first_at last_at last_run fingerprint",
        .options =
            (const struct option[]){
                {.kind = KIND_WORKFLOW,
                    .letter = 'w',
                    .name = "workflow",
                    .value = "NAME",
                    .argument = "only_workflow",
                    .summary = "only of this workflow, or of all that a pattern names"},
                OPTION_SINCE("since", "ended"),
                OPTION_TENANT("only_tenant", "only of this tenant"),
                OPTION_LIMIT("100"),
                {.kind = KIND_END},
            },
        .examples =
            (const struct example[]){
                {"pawl run failures --since yesterday", "what is broken, and since when"},
                {NULL, NULL},
            }},
    {.name = "run count",
        .summary = "Count runs by workflow and state",
        .text = "Living runs are counted now, up to 10,000 in each state; ended runs as "
                "housekeeping has "
                "counted them. A last line without a workflow says that some may be left out, "
                "because others took part of that limit.",
        .verb = "count_runs",
        .columns = "workflow status runs more",
        .options =
            (const struct option[]){
                {.kind = KIND_WORKFLOW,
                    .letter = 'w',
                    .name = "workflow",
                    .value = "NAME",
                    .argument = "only_workflow",
                    .summary = "only of this workflow, or of all that a pattern names"},
                {.kind = KIND_DURATION,
                    .name = "since",
                    .value = "TIME",
                    .argument = "since",
                    .summary = "ended runs of this time until now; 1d by default"},
                OPTION_TENANT("only_tenant", "only of this tenant"),
                {.kind = KIND_END},
            }},
    {.name = "find",
        .summary = "Find what a word stands for",
        .text = "Runs by their id or its beginning (8 or more digits), by their key and by their "
                "tags, workflows and workers by the beginning of their name, topics by their "
                "name. Exits with 3 if it finds nothing.",
        .verb = "find",
        .columns = "what name run_id workflow status at",
        .operands =
            (const struct operand[]){
                {.kind = KIND_TEXT,
                    .value = "WORD",
                    .argument = "word",
                    .summary = "an id or its beginning, a key or a name"},
                {.kind = KIND_END},
            },
        .options =
            (const struct option[]){
                OPTION_TENANT("only_tenant", "only of this tenant"),
                OPTION_LIMIT("20"),
                {.kind = KIND_END},
            },
        .act = find},
    {.name = "run list",
        .summary = "List runs, newest first",
        .text = "A key finds the runs that it stands for, whatever else there is. If it stands for "
                "none, or "
                "for one only\n"
                "for a time (--key-ttl, --key-while-active), runs that had it before are searched "
                "for as well.\n\n" LIST_TEXT("run"),
        .verb = "list_runs",
        .columns = "run_id workflow status triggered_at reason ended_at key execution",
        .options =
            (const struct option[]){
                {.kind = KIND_WORKFLOW,
                    .letter = 'w',
                    .name = "workflow",
                    .value = "NAME",
                    .argument = "only_workflow",
                    .summary =
                        "only of this workflow, or of all that a pattern such as billing.* names"},
                {.kind = KIND_CHOICE,
                    .letter = 's',
                    .name = "status",
                    .value = "STATUS",
                    .choices = "QUEUED RUNNING PAUSED SUCCESS ERROR CANCELLED",
                    .argument = "only_status",
                    .summary = "only those in this state"},
                OPTION_TENANT("only_tenant", "only of this tenant"),
                {.kind = KIND_TEXT,
                    .letter = 'k',
                    .name = "key",
                    .value = "KEY",
                    .argument = "only_key",
                    .summary = "only with this idempotency key"},
                {.kind = KIND_TEXT,
                    .name = "tag",
                    .value = "TAG",
                    .argument = "only_tag",
                    .summary = "only with this tag"},
                OPTION_SINCE("since", "triggered"),
                OPTION_BEFORE("before", "triggered"),
                LIST_OPTIONS("run", "RUN"),
                {.kind = KIND_END},
            },
        .examples =
            (const struct example[]){
                {"pawl run list --status ERROR --since yesterday",
                    "what has failed since yesterday"},
                {"pawl run list -w 'billing.*' -n 10000 -o jsonl | jq -r .key",
                    "the keys of the newest 10,000 runs of billing"},
                {NULL, NULL},
            },
        .act = list_found},
    {.name = "run cancel",
        .summary = "Cancel runs (final)",
        .text =
            "A run that no worker holds ends at once. Otherwise its worker is notified, and has "
            "30\n"
            "seconds to release it.\n\n" BULK_TEXT,
        .verb = "cancel",
        .operands = any_runs_operand,
        .options =
            (const struct option[]){
                BULK_OPTIONS("1000"),
                {.kind = KIND_FLAG,
                    .name = "rollback",
                    .argument = "rollback",
                    .summary = "undo what their steps did first"},
                WHY_OPTION,
                BY_OPTION,
                {.kind = KIND_END},
            },
        .examples =
            (const struct example[]){
                {"pawl run cancel --workflow 'shop.*' --status QUEUED --since 2h --why 'bad "
                 "deploy'",
                    "all of shop that were triggered in the last two hours and wait"},
                {NULL, NULL},
            },
        .act = bulk_or_named},
    {.name = "run kill",
        .summary = "End runs now without notifying their workers",
        .text = BULK_TEXT,
        .verb = "kill",
        .operands = any_runs_operand,
        .options = bulk_why_options,
        .act = bulk_or_named},
    {.name = "run pause",
        .summary = "Pause runs after their current step",
        .text = BULK_TEXT,
        .verb = "pause",
        .operands = any_runs_operand,
        .options = bulk_why_options,
        .act = bulk_or_named},
    {.name = "run resume",
        .summary = "Resume paused runs",
        .text = BULK_TEXT,
        .verb = "resume",
        .operands = any_runs_operand,
        .options = bulk_by_options,
        .act = bulk_or_named},
    {.name = "run wake",
        .summary = "End the backoff, delay or sleep of runs now",
        .text = "A sleep is recorded as slept. Other waits are not ended: emit the event, send the "
                "signal, or decide "
                "the approval.\n\n" BULK_TEXT,
        .verb = "wake",
        .operands = any_runs_operand,
        .options =
            (const struct option[]){
                BULK_OPTIONS("1000"),
                {.kind = KIND_STEP,
                    .name = "step",
                    .value = "STEP",
                    .argument = "step",
                    .summary = "only the backoff or sleep of this step"},
                WHY_OPTION,
                BY_OPTION,
                {.kind = KIND_END},
            },
        .examples =
            (const struct example[]){
                {"pawl run wake --workflow 'billing.*' --status PAUSED --why 'the bank is back'",
                    "retry now what waits for its next attempt"},
                {NULL, NULL},
            },
        .act = bulk_or_named},
    {.name = "run retry",
        .summary = "Retry failed runs from the failed step",
        .text = BULK_TEXT,
        .verb = "retry",
        .operands = any_runs_operand,
        .options = bulk_by_options,
        .act = bulk_or_named},
    {.name = "run fork",
        .summary = "Start a new run from a step of another run",
        .verb = "fork",
        .operands = run_operand,
        .options =
            (const struct option[]){
                {.kind = KIND_STEP,
                    .name = "from-step",
                    .value = "STEP",
                    .argument = "from_step",
                    .summary = "the first step to execute again (default: all)"},
                {.kind = KIND_JSON,
                    .letter = 'i',
                    .name = "input",
                    .value = "JSON",
                    .argument = "input",
                    .summary = "another input; JSON, @FILE or -"},
                BY_OPTION,
                {.kind = KIND_END},
            },
        .examples =
            (const struct example[]){
                {"new=$(pawl run fork 01a1eb22-f60c-7350-9883-4376c8597225 --from-step ship)",
                    "the id of the new run, which begins with the step ship"},
                {NULL, NULL},
            },
        .act = fork_run},
    {.name = "run rollback retry",
        .summary = "Retry a rollback whose undo failed",
        .verb = "rollback_retry",
        .operands = runs_operand,
        .options = by_options},
    {.name = "run rollback skip",
        .summary = "Skip one undo of a stuck rollback",
        .verb = "rollback_skip",
        .operands =
            (const struct operand[]){
                OPERAND_RUN,
                {.kind = KIND_STEP,
                    .value = "STEP",
                    .argument = "step",
                    .summary = "the step whose undo is left out"},
                {.kind = KIND_END},
            },
        .options = why_options},
    {.name = "run purge",
        .summary = "Delete ended runs and their history",
        .text = BULK_TEXT,
        .verb = "purge",
        .operands = any_runs_operand,
        .options = bulk_why_options,
        .act = bulk_or_named},
    {.name = "run history",
        .summary = "Show the events of a run in order",
        .verb = "history",
        .operands = run_operand},
    {.name = "run children",
        .summary = "List the runs that a run started",
        .verb = "list_children",
        .columns = "run_id step workflow status triggered_at ended_at",
        .operands = run_operand,
        .options =
            (const struct option[]){
                OPTION_LIMIT("100, at most 1,000"),
                {.kind = KIND_RUN,
                    .name = "cursor",
                    .value = "RUN",
                    .argument = "cursor",
                    .summary = "children after this one, to continue where a list ended"},
                {.kind = KIND_END},
            }},
    {.name = "run logs",
        .summary = "Show the log lines and progress of a run",
        .verb = "notes",
        .columns = "at kind name body",
        .operands = run_operand,
        .options =
            (const struct option[]){
                OPTION_AFTER,
                OPTION_LIMIT("1,000"),
                {.kind = KIND_END},
            }},
    {0},
};
