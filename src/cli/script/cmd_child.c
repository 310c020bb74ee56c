/* SPDX-License-Identifier: Apache-2.0 */
/* pawl child: a script triggers another run, and waits for its output. */
#include "cli/command/commands.h"
#include "cli/report/exit.h"
#include "cli/script/script_client.h"

#include <stdlib.h>
#include <string.h>

static int
child(struct invocation *invocation)
{
    struct script_client client;
    char *input = NULL;
    int code = EXIT_OK;

    if (invocation_has(invocation, "input"))
        input = invocation_json(invocation_option(invocation, "input"), &code);
    if (input != NULL && !pw_json_valid((struct pw_json){input, strlen(input)})) {
        free(input);
        return exit_saying(EXIT_USAGE, NULL, "--input takes JSON");
    }
    if (code != EXIT_OK)
        return code;
    code = script_client_open(&client);
    if (code == EXIT_OK) {
        script_client_begin(&client, "child", invocation_operand(invocation, 0));
        pw_json_key(&client.writer, "workflow");
        pw_json_add_text(&client.writer, invocation_operand(invocation, 1));
        if (input != NULL) {
            pw_json_key(&client.writer, "input");
            pw_json_add_raw(&client.writer, input, strlen(input));
        }
        if (invocation_has(invocation, "detach")) {
            pw_json_key(&client.writer, "detached");
            pw_json_add_bool(&client.writer, true);
        }
        script_client_add_options(&client, invocation);
        code = script_client_ask(&client);
    }
    script_client_close(&client);
    free(input);
    return code;
}

const struct command cmd_child[] = {
    {.name = "child",
        .summary = "Trigger a run of another workflow and wait for it",
        .text = "Prints the output: JSON, but a string as its text. Exits with 6 if that run "
                "failed or was cancelled.",
        .operands =
            (const struct operand[]){
                {.kind = KIND_TEXT, .value = "NAME", .summary = "of a-z, 0-9, _, . and -"},
                {.kind = KIND_WORKFLOW, .value = "WORKFLOW", .summary = "what to trigger"},
                {.kind = KIND_END},
            },
        .options =
            (const struct option[]){
                {.kind = KIND_JSON,
                    .name = "input",
                    .value = "JSON",
                    .summary = "its input: JSON, @FILE or - for standard input"},
                {.kind = KIND_DURATION,
                    .name = "in",
                    .value = "TIME",
                    .argument = "delay_ms",
                    .summary = "not before this time has passed"},
                {.kind = KIND_FLAG,
                    .name = "detach",
                    .summary = "do not wait: print the id of the run and continue"},
                {.kind = KIND_END},
            },
        .examples =
            (const struct example[]){
                {"pawl child resize photo.resize.v1 --input '{\"id\": 7}'", "prints its output"},
                {NULL, NULL},
            },
        .act = child,
        .no_database = true},
    {0},
};
