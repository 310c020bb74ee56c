/* SPDX-License-Identifier: Apache-2.0 */
/* pawl run wait: waits until a run has ended. */
#include "cli/command/commands.h"
#include "cli/report/exit.h"
#include "cli/verbs/wait.h"

static int
wait_run(struct invocation *invocation)
{
    int code = invocation_connect(invocation);

    return code != EXIT_OK ? code : wait_for_run(invocation, invocation_operand(invocation, 0));
}

const struct command cmd_run_wait[] = {
    {.name = "run wait",
        .summary = "Wait until a run ends and print its output",
        .text = "Exits with 6 if the run failed or was cancelled, with 5 if the time is over.",
        .operands =
            (const struct operand[]){
                {.kind = KIND_RUN, .value = "RUN", .summary = "the id of a run"},
                {.kind = KIND_END},
            },
        .options =
            (const struct option[]){
                {.kind = KIND_DURATION,
                    .name = "timeout",
                    .value = "TIME",
                    .summary = "how long to wait; without it, for as long as it takes"},
                {.kind = KIND_END},
            },
        .act = wait_run},
    {0},
};
