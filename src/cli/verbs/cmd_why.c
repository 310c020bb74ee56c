/* SPDX-License-Identifier: Apache-2.0 */
/* pawl why: what a run waits for, in one sentence. */
#include "cli/command/commands.h"
#include "cli/command/invocation.h"

const struct command cmd_why[] = {
    {.name = "why",
        .summary = "Say in one sentence what a run waits for, and what to do",
        .verb = "why",
        .operands =
            (const struct operand[]){
                {.kind = KIND_RUN, .value = "RUN", .argument = "run", .summary = "the id of a run"},
                {.kind = KIND_END},
            }},
    {0},
};
