/* SPDX-License-Identifier: Apache-2.0 */
/* pawl workflow: workflows that can be triggered, their retries and limits. */
#include "base/buf.h"
#include "base/json_read.h"
#include "base/json_write.h"
#include "cli/command/commands.h"
#include "cli/command/invocation.h"
#include "cli/command/options.h"
#include "cli/command/rows.h"
#include "cli/report/exit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAME_SIZE = 256,
};

static const size_t changes_max = (size_t)1024 * 1024;

static const struct operand name_operand[] = {
    {.kind = KIND_WORKFLOW,
        .value = "NAME",
        .argument = "name",
        .summary = "the name of a workflow"},
    {.kind = KIND_END},
};

static const struct operand queue_operand[] = {
    {.kind = KIND_QUEUE,
        .value = "QUEUE",
        .argument = "name",
        .summary = "the name of a queue, as pawl queue list shows it"},
    {.kind = KIND_END},
};

static const struct option pause_options[] = {
    OPTION_WHY("a reason, for others to see"),
    OPTION_BY("who does it"),
    {.kind = KIND_END},
};
static const struct option resume_options[] = {
    OPTION_BY("who does it"),
    {.kind = KIND_END},
};

static const struct option create_options[] = {
    {.kind = KIND_TEXT,
        .name = "runtime",
        .value = "NAME",
        .argument = "runtime",
        .summary = "only workers that offer this runtime execute it"},
    {.kind = KIND_NUMBER,
        .name = "priority",
        .value = "N",
        .argument = "priority",
        .summary = "of its runs, 0 to 32767; a lower number goes first; 100 by default"},
    {.kind = KIND_NUMBER,
        .name = "max-attempts",
        .value = "N",
        .argument = "max_attempts",
        .summary = "how many tries a step or run has; 5 by default"},
    {.kind = KIND_DURATION,
        .name = "base",
        .value = "TIME",
        .argument = "base",
        .summary = "the pause after the first failure; 1s by default"},
    {.kind = KIND_REAL,
        .name = "factor",
        .value = "X",
        .argument = "factor",
        .summary = "how much longer each pause is than the last; 2 by default"},
    {.kind = KIND_DURATION,
        .name = "cap",
        .value = "TIME",
        .argument = "cap",
        .summary = "the longest pause; 10m by default"},
    {.kind = KIND_REAL,
        .name = "jitter",
        .value = "X",
        .argument = "jitter",
        .summary = "how much a pause varies, 0 to 1; 0.2 by default"},
    {.kind = KIND_DURATION,
        .name = "run-timeout",
        .value = "TIME",
        .argument = "run_timeout",
        .summary = "how long a run may take in all"},
    {.kind = KIND_DURATION,
        .name = "step-timeout",
        .value = "TIME",
        .argument = "step_timeout",
        .summary = "how long a step may take"},
    {.kind = KIND_FLAG,
        .name = "strict",
        .argument = "strict_order",
        .summary = "pause a run whose code uses its records in another order"},
    {.kind = KIND_COUNT,
        .name = "key-limit",
        .value = "N",
        .argument = "key_limit",
        .summary = "how many runs of one limit key (pawl trigger --limit-key) workers hold at a "
                   "time; without it any number"},
    {.kind = KIND_FLAG,
        .name = "fair",
        .argument = "fair",
        .summary = "tenants and limit keys take turns, so that the backlog of one keeps no other "
                   "waiting"},
    {.kind = KIND_TEXT,
        .name = "description",
        .value = "TEXT",
        .argument = "description",
        .summary = "what it is for"},
    {.kind = KIND_JSON,
        .name = "input-schema",
        .value = "JSON",
        .argument = "input_schema",
        .summary = "a JSON Schema that describes the input, for forms; the engine compares no "
                   "input with it; JSON, @FILE or -"},
    {.kind = KIND_END},
};

static const struct option alter_options[] = {
    {.kind = KIND_JSON,
        .name = "input-schema",
        .value = "JSON",
        .summary = "another JSON Schema of the input, or null for none; JSON, @FILE or -"},
    {.kind = KIND_END},
};

static int
create(struct invocation *invocation)
{
    pawl_rows *rows = NULL;
    int code = invocation_ask(invocation, &rows);

    code = invocation_show(invocation, code, rows);
    if (code == EXIT_DIFFERS)
        (void)exit_saying(code, "Change them: pawl workflow alter NAME JSON",
            "workflow \"%s\" is there with other options, which stay as they are",
            invocation_operand(invocation, 0));
    return code;
}

/* Adds the options that are given as JSON, which is an object, and the schema. Returns EXIT_OK or the exit code. */
static int
write_changes(struct pw_json_writer *json, const char *options, const char *schema)
{
    struct pw_json_walk walk;
    struct pw_json key;
    struct pw_json value;
    char name[NAME_SIZE];

    pw_json_open(json, '{');
    pw_json_walk(&walk, (struct pw_json){options, strlen(options)});
    while (pw_json_walk_next(&walk, &key, &value)) {
        if (key.size >= sizeof(name))
            return exit_saying(EXIT_USAGE, NULL, "an option has too long a name");
        (void)snprintf(name, sizeof(name), "%.*s", (int)key.size, key.data);
        pw_json_key(json, name);
        pw_json_add_raw(json, value.data, value.size);
    }
    pw_json_key(json, "input_schema");
    pw_json_add_raw(json, schema, strlen(schema));
    pw_json_close(json);
    return EXIT_OK;
}

/* Calls alter_workflow with the options of the operand, which may be NULL, and the schema. Both are JSON. */
static int
alter_with_schema(struct invocation *invocation, const char *options, const char *schema)
{
    struct pw_json_writer json;
    struct pw_buf buf;
    int code;

    if (options == NULL)
        options = "{}";
    if (options[strspn(options, " \t\r\n")] != '{')
        return exit_saying(
            EXIT_USAGE, "For example: {\"max_attempts\": 10}", "the options are not a JSON object");
    pw_buf_init(&buf, changes_max);
    pw_json_writer_init(&json, &buf);
    code = write_changes(&json, options, schema);
    if (code == EXIT_OK && !pw_json_ok(&json))
        code = exit_saying(EXIT_OTHER, NULL, "out of memory");
    if (code == EXIT_OK)
        code = invocation_verb(invocation, NULL, "alter_workflow", "name",
            invocation_operand(invocation, 0), "options", pw_buf_text(&buf), NULL);
    pw_buf_done(&buf);
    return code;
}

static int
alter(struct invocation *invocation)
{
    const char *typed = invocation_operand(invocation, 1);
    const char *typed_schema = invocation_option(invocation, "input-schema");
    char *options = NULL;
    char *schema = NULL;
    pawl_rows *rows = NULL;
    int code = EXIT_OK;

    if (typed == NULL && typed_schema == NULL)
        return exit_saying(EXIT_USAGE,
            "For example: pawl workflow alter NAME '{\"max_attempts\": 10}'", "nothing to change");
    if (typed_schema == NULL) {
        code = invocation_ask(invocation, &rows);
        return invocation_show(invocation, code, rows);
    }
    if (typed != NULL)
        options = invocation_json(typed, &code);
    if (code == EXIT_OK)
        schema = invocation_json(typed_schema, &code);
    if (code == EXIT_OK)
        code = alter_with_schema(invocation, options, schema);
    free(options);
    free(schema);
    return code;
}

/* Shows one workflow, a line for each of its options. */
static int
show(struct invocation *invocation)
{
    pawl_rows *rows = NULL;
    int code = invocation_ask(invocation, &rows);

    if (code == EXIT_OK)
        code = rows_show_lines(invocation, rows);
    pawl_rows_free(rows);
    return code;
}

const struct command cmd_workflow[] = {
    {.name = "workflow list",
        .summary = "List workflows with their live workers",
        .verb = "list_workflows",
        .columns =
            "workflow workers paused max_attempts base cap step_timeout run_timeout key_limit "
            "priority runtime description",
        .options =
            (const struct option[]){
                {.kind = KIND_WORKFLOW,
                    .letter = 'w',
                    .name = "workflow",
                    .value = "NAME",
                    .argument = "only_workflow",
                    .summary = "only those that a pattern such as billing.* names"},
                {.kind = KIND_WORKFLOW,
                    .name = "cursor",
                    .value = "NAME",
                    .argument = "cursor",
                    .summary = "list names after this one, to continue a list"},
                OPTION_LIMIT("100"),
                {.kind = KIND_END},
            }},
    {.name = "workflow show",
        .summary = "Show all settings of a workflow",
        .verb = "get_workflow",
        .operands =
            (const struct operand[]){
                {.kind = KIND_WORKFLOW,
                    .value = "NAME",
                    .argument = "name",
                    .summary = "the name of a workflow"},
                {.kind = KIND_END},
            },
        .act = show},
    {.name = "workflow create",
        .summary = "Create a workflow, so that it can be triggered",
        .text =
            "Creating it again does no harm: if it has other options they stay as they are, and "
            "this exits with 11. A worker creates what it handles by itself, if its role may.",
        .verb = "create_workflow",
        .operands = name_operand,
        .options = create_options,
        .examples =
            (const struct example[]){
                {"pawl workflow create billing.invoice.v1 --max-attempts 10 --step-timeout 30s",
                    "with ten tries, and half a minute for each step"},
                {NULL, NULL},
            },
        .act = create},
    {.name = "workflow alter",
        .summary = "Change the settings of a workflow for new runs",
        .verb = "alter_workflow",
        .operands =
            (const struct operand[]){
                {.kind = KIND_WORKFLOW,
                    .value = "NAME",
                    .argument = "name",
                    .summary = "the name of a workflow"},
                {.kind = KIND_JSON,
                    .value = "JSON",
                    .argument = "options",
                    .summary = "what to change, as {\"max_attempts\": 10}; JSON, @FILE or -",
                    .optional = true},
                {.kind = KIND_END},
            },
        .options = alter_options,
        .examples =
            (const struct example[]){
                {"pawl workflow alter news.letter.v1 '{\"key_rate\": \"10/min\", "
                 "\"key_burst\": 2}'",
                    "ten runs of one limit key may start in a minute, two of them at once"},
                {"pawl workflow alter bank.payout.v1 '{\"limit\": 5, \"limit_name\": \"bank\"}'",
                    "workers hold at most five of its runs and of those that share the limit"},
                {"pawl workflow alter billing.invoice.v1 --input-schema @invoice.schema.json",
                    "say what its input looks like"},
                {NULL, NULL},
            },
        .act = alter},
    {.name = "workflow pause",
        .summary = "Stop claiming runs of a workflow",
        .verb = "pause_workflow",
        .operands = name_operand,
        .options = pause_options},
    {.name = "workflow resume",
        .summary = "Claim runs of a paused workflow again",
        .verb = "resume_workflow",
        .operands = name_operand,
        .options = resume_options},
    {.name = "queue list",
        .summary = "List queues with backlog, oldest task and workers",
        .verb = "list_queues",
        .columns = "queue ready_shown held oldest_ready workers paused workflow"},
    {.name = "queue pause",
        .summary = "Stop claiming tasks of a queue",
        .verb = "pause_queue",
        .operands = queue_operand,
        .options = pause_options},
    {.name = "queue resume",
        .summary = "Claim tasks of a paused queue again",
        .verb = "resume_queue",
        .operands = queue_operand,
        .options = resume_options},
    {0},
};
