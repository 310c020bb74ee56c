/* SPDX-License-Identifier: Apache-2.0 */
/* pawl subscription: runs that events start. */
#include "cli/command/commands.h"
#include "cli/command/invocation.h"
#include "cli/command/options.h"
#include "cli/report/exit.h"

#include <stddef.h>

static const struct operand name_operand[] = {
    {.kind = KIND_TEXT,
        .value = "NAME",
        .argument = "name",
        .summary = "the name of a subscription"},
    {.kind = KIND_END},
};

static const struct option create_options[] = {
    {.kind = KIND_TEXT,
        .name = "topic",
        .value = "TOPIC",
        .argument = "topic",
        .summary = "the topic of the events; by default the name of the subscription"},
    {.kind = KIND_WORKFLOW,
        .letter = 'w',
        .name = "workflow",
        .value = "NAME",
        .argument = "workflow",
        .summary = "the workflow to start; by default the one with the name of the subscription"},
    {.kind = KIND_TEXT,
        .letter = 'k',
        .name = "key",
        .value = "KEY",
        .argument = "key",
        .summary = "only events with this key"},
    {.kind = KIND_JSON,
        .name = "match",
        .value = "JSON",
        .argument = "match",
        .summary = "only payloads with these values, as {\"/user/id\": 42}; JSON, @FILE or -"},
    {.kind = KIND_CHOICE,
        .name = "input",
        .value = "WHICH",
        .choices = "payload event",
        .argument = "input",
        .summary = "the input of a run: the payload of its event, or all of the event; payload by "
                   "default"},
    OPTION_TENANT("tenant", "in this tenant"),
    {.kind = KIND_END},
};

/* Without --topic and --workflow these have the name of the subscription. */
static int
create(struct invocation *invocation)
{
    const char *name = invocation_operand(invocation, 0);
    bool has_topic = invocation_has(invocation, "topic");
    bool has_workflow = invocation_has(invocation, "workflow");
    pawl_rows *rows = NULL;
    int code;

    if (has_topic && has_workflow)
        code = invocation_ask(invocation, &rows);
    else if (has_topic || has_workflow)
        code = invocation_ask_with(invocation, has_topic ? "workflow" : "topic", name, &rows);
    else
        code = invocation_ask_with_two(invocation, (const char *const[]){"topic", "workflow"},
            (const char *const[]){name, name}, &rows);
    code = invocation_show(invocation, code, rows);
    if (code == EXIT_DIFFERS)
        (void)exit_saying(code, "Delete it first: pawl subscription delete NAME",
            "subscription \"%s\" is there with other options, which stay as they are", name);
    return code;
}

const struct command cmd_subscription[] = {
    {.name = "subscription list",
        .summary = "List subscriptions, which start a run for each event",
        .verb = "list_subscriptions",
        .columns = "subscription topic key match workflow input paused deferred last_error tenant",
        .options =
            (const struct option[]){
                {.kind = KIND_TEXT,
                    .name = "name",
                    .value = "NAME",
                    .argument = "only_subscription",
                    .summary = "only those that a pattern such as billing.* names"},
                {.kind = KIND_TEXT,
                    .name = "topic",
                    .value = "TOPIC",
                    .argument = "only_topic",
                    .summary = "only of this topic"},
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
                    .summary = "list subscriptions after this next_cursor, to continue a list"},
                OPTION_LIMIT("100"),
                {.kind = KIND_END},
            }},
    {.name = "subscription create",
        .summary = "Create a subscription: each event starts a run",
        .text =
            "Each event of the topic that is emitted from now on starts one run of the workflow. "
            "Housekeeping starts it, so a worker or pawl keeper must run.\n\n"
            "Creating it again does no harm: if it has other options they stay as they are, and "
            "this exits with 11.",
        .verb = "create_subscription",
        .operands = name_operand,
        .options = create_options,
        .examples =
            (const struct example[]){
                {"pawl subscription create billing.paid --topic order.paid --workflow billing.book",
                    "each order.paid starts a run of billing.book"},
                {"pawl subscription create vip --topic order.paid --match '{\"/tier\": \"gold\"}'",
                    "some of them start a run of the workflow vip, too"},
                {NULL, NULL},
            },
        .act = create},
    {.name = "subscription pause",
        .summary = "Pause a subscription; events are kept for it",
        .verb = "pause_subscription",
        .operands = name_operand,
        .options =
            (const struct option[]){
                OPTION_WHY("a reason, for others to see"),
                OPTION_BY("who does it"),
                OPTION_TENANT("tenant", "of this tenant"),
                {.kind = KIND_END},
            }},
    {.name = "subscription resume",
        .summary = "Resume a paused subscription",
        .verb = "resume_subscription",
        .operands = name_operand,
        .options =
            (const struct option[]){
                OPTION_BY("who does it"),
                OPTION_TENANT("tenant", "of this tenant"),
                {.kind = KIND_END},
            }},
    {.name = "subscription delete",
        .summary = "Delete a subscription; its runs stay",
        .verb = "delete_subscription",
        .operands = name_operand,
        .options =
            (const struct option[]){
                OPTION_BY("who does it"),
                OPTION_TENANT("tenant", "of this tenant"),
                {.kind = KIND_END},
            }},
    {0},
};
