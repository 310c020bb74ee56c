/* SPDX-License-Identifier: Apache-2.0 */
/* pawl worker: the processes that execute runs. */
#include "cli/command/commands.h"
#include "cli/command/invocation.h"
#include "cli/command/options.h"

const struct command cmd_worker[] = {
    {.name = "worker list",
        .summary = "List live workers, or with --ended the ended ones",
        .verb = "list_workers",
        .columns = "session worker state client version held handles lease_until ended_why",
        .options =
            (const struct option[]){
                {.kind = KIND_FLAG,
                    .name = "ended",
                    .argument = "ended",
                    .summary = "also those that have ended"},
                OPTION_LIMIT("1,000"),
                {.kind = KIND_END},
            }},
    {.name = "worker drain",
        .summary = "Tell a worker to finish its runs and stop",
        .verb = "drain_worker",
        .operands =
            (const struct operand[]){
                {.kind = KIND_NUMBER,
                    .value = "SESSION",
                    .argument = "session",
                    .summary = "its session, as pawl worker list shows it"},
                {.kind = KIND_END},
            },
        .options =
            (const struct option[]){
                OPTION_BY("who does it"),
                {.kind = KIND_END},
            }},
    {.name = "worker limit",
        .summary = "Set or show the limit on a tenant's sessions",
        .verb = "set_session_limit",
        .options =
            (const struct option[]){
                {.kind = KIND_NUMBER,
                    .name = "sessions",
                    .value = "COUNT",
                    .argument = "sessions",
                    .summary = "maximum number of sessions; 1,000 at first"},
                OPTION_BY("who does it"),
                {.kind = KIND_END},
            }},
    {0},
};
