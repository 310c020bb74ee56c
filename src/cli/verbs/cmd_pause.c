/* SPDX-License-Identifier: Apache-2.0 */
/* Pausing and resuming everything. */
#include "cli/command/commands.h"
#include "cli/command/invocation.h"
#include "cli/command/options.h"
#include "cli/report/exit.h"

#include <string.h>

/* Without --all a forgotten word, as in "pawl pause RUN", would stop everything. */
static int
with_all(struct invocation *invocation)
{
    if (!invocation_has(invocation, "all"))
        return exit_saying(EXIT_USAGE,
            "Everything is --all; for less there are run, workflow, queue and schedule, as in pawl "
            "run pause.",
            "what is to be %sd?", invocation->command->name);
    return invocation_described(invocation);
}

const struct command cmd_pause[] = {
    {.name = "pause",
        .summary = "Pause everything: no claims, no schedules",
        .text =
            "No worker is given a run, and no schedule fires, until pawl resume --all. Runs that "
            "workers hold continue and end. Triggers, events and signals are stored; with "
            "--refuse-triggers, triggers fail with PW013 (maintenance).\n"
            "\n"
            "When the command ends with ok or already, no claim is in progress any more. The "
            "answer is pausing if a transaction that writes runs has been open for two seconds, "
            "such as one of a producer: everything is paused, but that transaction may have "
            "claimed before. Repeat the command to wait for it.",
        .verb = "pause_all",
        .options =
            (const struct option[]){
                {.kind = KIND_FLAG, .name = "all", .summary = "everything; must be given"},
                {.kind = KIND_FLAG,
                    .name = "refuse-triggers",
                    .argument = "refuse_triggers",
                    .summary = "refuse triggers, too, until everything is resumed"},
                OPTION_WHY("a reason, for others to see"),
                OPTION_BY("who does it"),
                {.kind = KIND_END},
            },
        .examples =
            (const struct example[]){
                {"pawl pause --all --why 'moving to new disks'", "for a moment without work"},
                {NULL, NULL},
            },
        .act = with_all},
    {.name = "resume",
        .summary = "Resume everything after pawl pause --all",
        .verb = "resume_all",
        .options =
            (const struct option[]){
                {.kind = KIND_FLAG, .name = "all", .summary = "everything; must be given"},
                OPTION_BY("who does it"),
                {.kind = KIND_END},
            },
        .act = with_all},
    {0},
};
