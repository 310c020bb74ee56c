/* SPDX-License-Identifier: Apache-2.0 */
/* pawl lane: the runs of a workflow with one limit key, their limit, their rate and their pause. */
#include "cli/command/commands.h"
#include "cli/command/options.h"

#define OPERAND_WORKFLOW                                                    \
    {                                                                       \
        .kind = KIND_WORKFLOW, .value = "WORKFLOW", .argument = "workflow", \
        .summary = "the name of a workflow"                                 \
    }
#define OPERAND_KEY                                                                   \
    {                                                                                 \
        .kind = KIND_TEXT, .value = "KEY", .argument = "limit_key", .optional = true, \
        .summary = "the limit key; without it: runs without a key"                    \
    }

static const struct operand lane_operands[] = {
    OPERAND_WORKFLOW,
    OPERAND_KEY,
    {.kind = KIND_END},
};

const struct command cmd_lane[] = {
    {.name = "lane list",
        .summary = "List runs of a workflow by limit key",
        .text = "A lane is all runs of a workflow with one tenant and limit key (pawl trigger "
                "--limit-key).",
        .verb = "list_lanes",
        .columns = "limit_key tenant waiting held key_limit key_rate weight oldest_waiting reason",
        .operands =
            (const struct operand[]){
                OPERAND_WORKFLOW,
                {.kind = KIND_END},
            },
        .options =
            (const struct option[]){
                {.kind = KIND_TEXT,
                    .letter = 'k',
                    .name = "key",
                    .value = "KEY",
                    .argument = "only_key",
                    .summary = "only this limit key"},
                OPTION_TENANT("only_tenant", "only of this tenant"),
                {.kind = KIND_TEXT,
                    .name = "cursor",
                    .value = "CURSOR",
                    .argument = "cursor",
                    .summary = "next_cursor of the last row, to continue a list"},
                OPTION_LIMIT("100"),
                {.kind = KIND_END},
            }},
    {.name = "lane set",
        .summary = "Set limit, rate and weight of the runs of one limit key",
        .text = "They count instead of key_limit and key_rate of the workflow, at once; runs that "
                "are held continue. Each call sets all of them: without --limit or --rate those of "
                "the workflow count again, without --weight the weight is 1.",
        .verb = "set_lane",
        .operands = lane_operands,
        .options =
            (const struct option[]){
                {.kind = KIND_NUMBER,
                    .letter = 'l',
                    .name = "limit",
                    .value = "N",
                    .argument = "key_limit",
                    .summary = "how many runs workers may hold at a time"},
                {.kind = KIND_TEXT,
                    .letter = 'r',
                    .name = "rate",
                    .value = "RATE",
                    .argument = "key_rate",
                    .summary = "how many runs may start: 5/s, 10/min, 100/h or 1/day"},
                {.kind = KIND_NUMBER,
                    .name = "burst",
                    .value = "N",
                    .argument = "key_burst",
                    .summary = "how many of these may start at once; 1 by default"},
                {.kind = KIND_NUMBER,
                    .letter = 'w',
                    .name = "weight",
                    .value = "N",
                    .argument = "weight",
                    .summary = "runs in a turn, compared with other keys; 1 by default"},
                OPTION_TENANT("tenant", "of this tenant"),
                OPTION_WHY("a reason, for others to see"),
                OPTION_BY("who does it"),
                {.kind = KIND_END},
            },
        .examples =
            (const struct example[]){
                {"pawl lane set bank.refund.v1 customer-4711 --limit 5",
                    "at most five refunds of this customer at a time"},
                {"pawl lane set bank.refund.v1 customer-4711 --rate 10/min",
                    "at most ten in any minute, one every six seconds"},
                {NULL, NULL},
            }},
    {.name = "lane pause",
        .summary = "Stop claiming runs of one limit key",
        .verb = "pause_lane",
        .operands = lane_operands,
        .options =
            (const struct option[]){
                OPTION_TENANT("tenant", "of this tenant"),
                OPTION_WHY("a reason, for others to see"),
                OPTION_BY("who does it"),
                {.kind = KIND_END},
            }},
    {.name = "lane resume",
        .summary = "Claim runs of a paused limit key again",
        .verb = "resume_lane",
        .operands = lane_operands,
        .options =
            (const struct option[]){
                OPTION_TENANT("tenant", "of this tenant"),
                OPTION_BY("who does it"),
                {.kind = KIND_END},
            }},
    {0},
};
