/* SPDX-License-Identifier: Apache-2.0 */
/* pawl set and pawl get: small values of a script that are the same each time it is executed. */
#include "cli/command/commands.h"
#include "cli/report/exit.h"
#include "cli/script/script_client.h"

#include <string.h>

static int
ask_value(struct invocation *invocation, const char *what)
{
    const char *value = invocation_operand(invocation, 1);
    struct script_client client;
    int code = script_client_open(&client);

    if (code == EXIT_OK) {
        script_client_begin(&client, what, invocation_operand(invocation, 0));
        if (value != NULL) {
            pw_json_key(&client.writer, "value");
            frame_add_output(&client.writer, value, strlen(value));
        }
        code = script_client_ask(&client);
    }
    script_client_close(&client);
    return code;
}

static int
set(struct invocation *invocation)
{
    return ask_value(invocation, "set");
}

static int
get(struct invocation *invocation)
{
    return ask_value(invocation, "get");
}

const struct command cmd_value[] = {
    {.name = "set",
        .summary = "Record a value and print the recorded one",
        .text =
            "The first time, the value is recorded; whenever the script is executed again, this "
            "prints what was recorded then. So what may differ, such as the time or a random "
            "number, is the same each time: day=$(pawl set day \"$(date +%F)\").",
        .operands =
            (const struct operand[]){
                {.kind = KIND_TEXT, .value = "NAME", .summary = "of a-z, 0-9, _, . and -"},
                {.kind = KIND_TEXT, .value = "VALUE", .summary = "a text, or any bytes"},
                {.kind = KIND_END},
            },
        .examples =
            (const struct example[]){
                {"day=$(pawl set day \"$(date +%F)\")", "the day on which the run began"},
                {NULL, NULL},
            },
        .act = set,
        .no_database = true},
    {.name = "get",
        .summary = "Print a recorded value",
        .text = "Exits with 3 if the script has not yet called pawl set with that name.",
        .operands =
            (const struct operand[]){
                {.kind = KIND_TEXT, .value = "NAME", .summary = "as pawl set was given it"},
                {.kind = KIND_END},
            },
        .act = get,
        .no_database = true},
    {0},
};
