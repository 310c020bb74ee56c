/* SPDX-License-Identifier: Apache-2.0 */
/* pawl bulk: an action on many runs, which the database continues in the background. */
#include "cli/command/commands.h"
#include "cli/command/invocation.h"
#include "cli/command/options.h"
#include "cli/report/exit.h"
#include "cli/verbs/bulk.h"

#include <stdio.h>
#include <string.h>

static const struct option begin_options[] = {
    BULK_OPTIONS("100"),
    {.kind = KIND_FLAG, .name = "no-wait", .summary = "print the number of the bulk, and end"},
    {.kind = KIND_FLAG,
        .name = "rollback",
        .summary = "of cancel: undo what their steps did first"},
    {.kind = KIND_STEP,
        .name = "step",
        .value = "STEP",
        .summary = "of wake: only the backoff or sleep of this step"},
    OPTION_WHY("a reason, for others to see"),
    OPTION_BY("who does it"),
    {.kind = KIND_END},
};

static int
begin_and_follow(struct invocation *invocation)
{
    struct bulk bulk = {0};
    int code = bulk_begin(invocation, invocation_operand(invocation, 0), "100", &bulk);

    if (code == EXIT_OK && bulk.number[0] == '\0') {
        if (!invocation_has(invocation, "dry-run"))
            (void)puts("nothing to do");
    } else if (code == EXIT_OK && invocation_has(invocation, "no-wait")) {
        (void)puts(bulk.number);
    } else if (code == EXIT_OK) {
        code = bulk_follow(invocation, &bulk);
        if (code == EXIT_OK) {
            (void)puts(pawl_rows_text(bulk.last, 0, "answers"));
            if (strcmp(pawl_rows_text(bulk.last, 0, "state"), "done") != 0)
                code = EXIT_REFUSED;
        }
    }
    bulk_done(&bulk);
    return code;
}

const struct command cmd_bulk[] = {
    {.name = "bulk begin",
        .summary = "Begin an action on all runs that options name",
        .text = "Counts the runs and asks. Then housekeeping acts on them at the rate, newest "
                "first, each once, whether or not this command waits. Runs that are triggered "
                "later are left alone. Without any option, all runs are meant that the action "
                "applies to. The output is how many runs gave each answer.",
        .operands =
            (const struct operand[]){
                {.kind = KIND_CHOICE,
                    .value = "ACTION",
                    .choices = "retry cancel kill pause resume wake purge",
                    .summary = "what is done to each run"},
                {.kind = KIND_END},
            },
        .options = begin_options,
        .examples =
            (const struct example[]){
                {"pawl bulk begin retry --workflow 'billing.*' --status ERROR --since 1d --rate 20",
                    "what failed since yesterday, 20 in a second"},
                {NULL, NULL},
            },
        .act = begin_and_follow},
    {.name = "bulk list",
        .summary = "List actions on many runs and how far they are",
        .verb = "list_bulks",
        .columns = "bulk act state handled ok waiting started_by started_at ended_at last_error",
        .options =
            (const struct option[]){
                {.kind = KIND_FLAG,
                    .name = "running",
                    .argument = "only_running",
                    .summary = "only those that have not ended"},
                OPTION_LIMIT("50"),
                {.kind = KIND_END},
            }},
    {.name = "bulk stop",
        .summary = "Stop an action on many runs",
        .verb = "stop_bulk",
        .operands =
            (const struct operand[]){
                {.kind = KIND_COUNT,
                    .value = "NUMBER",
                    .argument = "bulk",
                    .summary = "its number, as pawl bulk list shows it"},
                {.kind = KIND_END},
            },
        .options =
            (const struct option[]){
                OPTION_BY("who does it"),
                {.kind = KIND_END},
            }},
    {0},
};
