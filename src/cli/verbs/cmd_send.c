/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that send what runs wait for: signals, events and approvals. */
#include "base/buf.h"
#include "cli/command/commands.h"
#include "cli/command/invocation.h"
#include "cli/command/options.h"
#include "cli/report/exit.h"
#include "cli/verbs/list.h"

#include <string.h>

enum {
    WAITS_MAX = 600, /* of a run, in words */
};

static const struct operand decision_operands[] = {
    OPERAND_RUN,
    {.kind = KIND_APPROVAL,
        .value = "NAME",
        .argument = "name",
        .summary = "the name of the approval it waits for"},
    {.kind = KIND_END},
};
static const struct option decision_options[] = {
    OPTION_WHY("a reason"),
    OPTION_BY("who decides"),
    {.kind = KIND_JSON,
        .letter = 'p',
        .name = "payload",
        .value = "JSON",
        .argument = "payload",
        .summary = "a payload for the run; JSON, @FILE or -"},
    {.kind = KIND_END},
};
static const struct option wait_options[] = {
    {.kind = KIND_RUN,
        .name = "run",
        .value = "RUN",
        .argument = "only_run",
        .summary = "only of this run"},
    OPTION_TENANT("only_tenant", "only of this tenant"),
    OPTION_LIMIT("100"),
    {.kind = KIND_END},
};

static int
list_approvals(struct invocation *invocation)
{
    pawl_rows *rows = NULL;
    int code = invocation_verb(invocation, &rows, "list_waits", "only_approvals", "true",
        "only_run", invocation_option(invocation, "run"), "only_tenant",
        invocation_option(invocation, "tenant"), "max_rows", invocation_option(invocation, "limit"),
        NULL);

    return invocation_show(invocation, code, rows);
}

/* Lists the open waits of the run: "approval ok, signal go". Lists nothing if the role may not ask. */
static void
list_open_waits(const struct invocation *invocation, struct pw_buf *list)
{
    const char *names[] = {"only_run"};
    const char *values[] = {invocation_operand(invocation, 0)};
    pawl_rows *rows = NULL;

    if (pawl_client_call(invocation->client, "list_waits", names, values, 1, &rows, NULL) !=
        PAWL_OK)
        return;
    for (size_t i = 0; i < pawl_rows_count(rows); i++) {
        const char *topic = pawl_rows_text(rows, i, "topic");

        pw_buf_adds(list, i == 0 ? "; it waits for: " : ", ");
        pw_buf_adds(list, pawl_rows_text(rows, i, "kind"));
        pw_buf_adds(list, " ");
        pw_buf_adds(list, topic != NULL ? topic : pawl_rows_text(rows, i, "name"));
    }
    pawl_rows_free(rows);
}

/*
 * Sends a signal or a decision. If no wait of the run takes it, it is stored until one does. That is right if it comes early, and wrong if
 * the name is misspelt, so the user is notified.
 */
static int
send_to_run(struct invocation *invocation)
{
    pawl_rows *rows = NULL;
    int code = invocation_ask(invocation, &rows);
    const char *answer =
        code == EXIT_OK ? pawl_rows_text(rows, 0, pawl_rows_column_name(rows, 0)) : NULL;
    bool stored = answer != NULL && strcmp(answer, "stored") == 0;
    struct pw_buf waits;

    code = invocation_show(invocation, code, rows);
    if (!stored)
        return code;
    pw_buf_init(&waits, WAITS_MAX);
    list_open_waits(invocation, &waits);
    (void)exit_saying(EXIT_OK, NULL,
        "the run does not wait for %s \"%s\" now, so it is kept until it does%s",
        strcmp(invocation->command->verb, "signal") == 0 ? "signal" : "approval",
        invocation_operand(invocation, 1),
        pw_buf_ok(&waits) && waits.size > 0 ? pw_buf_text(&waits) : "");
    pw_buf_done(&waits);
    return code;
}

const struct command cmd_send[] = {
    {.name = "signal",
        .summary = "Send a signal to a run",
        .verb = "signal",
        .operands =
            (const struct operand[]){
                OPERAND_RUN,
                {.kind = KIND_SIGNAL,
                    .value = "NAME",
                    .argument = "name",
                    .summary = "the name of the signal"},
                {.kind = KIND_JSON,
                    .value = "JSON",
                    .argument = "payload",
                    .summary = "what it says; JSON, @FILE or -",
                    .optional = true},
                {.kind = KIND_END},
            },
        .act = send_to_run},
    {.name = "emit",
        .summary = "Emit an event to all runs that wait for it",
        .verb = "emit",
        .operands =
            (const struct operand[]){
                {.kind = KIND_TEXT, .value = "TOPIC", .argument = "topic", .summary = "its topic"},
                {.kind = KIND_JSON,
                    .value = "JSON",
                    .argument = "payload",
                    .summary = "what it says; JSON, @FILE or -",
                    .optional = true},
                {.kind = KIND_END},
            },
        .options =
            (const struct option[]){
                {.kind = KIND_TEXT,
                    .letter = 'k',
                    .name = "key",
                    .value = "KEY",
                    .argument = "key",
                    .summary = "its key"},
                OPTION_TENANT("tenant", "for runs of this tenant"),
                {.kind = KIND_END},
            }},
    {.name = "event list",
        .summary = "List retained events, newest first",
        .text = LIST_TEXT("event"),
        .verb = "list_events",
        .columns = "event_id emitted_at topic key payload tenant",
        .options =
            (const struct option[]){
                {.kind = KIND_TEXT,
                    .letter = 't',
                    .name = "topic",
                    .value = "TOPIC",
                    .argument = "only_topic",
                    .summary = "only of this topic, or of all that a pattern such as shop.* names"},
                {.kind = KIND_TEXT,
                    .letter = 'k',
                    .name = "key",
                    .value = "KEY",
                    .argument = "only_key",
                    .summary = "only with this key"},
                OPTION_TENANT("only_tenant", "only of this tenant"),
                OPTION_SINCE("since", "emitted"),
                OPTION_BEFORE("before", "emitted"),
                LIST_OPTIONS("event", "EVENT"),
                {.kind = KIND_END},
            },
        .act = list_found},
    {.name = "approval list",
        .summary = "List pending approvals",
        .text = "TOPIC is the name that pawl approve and pawl reject take.",
        .columns = "run_id topic form since until",
        .options = wait_options,
        .act = list_approvals},
    {.name = "approve",
        .summary = "Approve a pending approval of a run",
        .verb = "approve",
        .operands = decision_operands,
        .options = decision_options,
        .act = send_to_run},
    {.name = "reject",
        .summary = "Reject a pending approval of a run",
        .verb = "reject",
        .operands = decision_operands,
        .options = decision_options,
        .act = send_to_run},
    {.name = "wait list",
        .summary = "List open waits of runs",
        .verb = "list_waits",
        .columns = "run_id name kind topic key since until",
        .options = wait_options},
    {0},
};
