/* SPDX-License-Identifier: Apache-2.0 */
/* pawl retry-after: a program that is about to fail says when another attempt makes sense. */
#include "cli/command/commands.h"
#include "cli/report/exit.h"
#include "cli/script/script_client.h"
#include "cli/show/time_text.h"

#include <stdlib.h>

static int
retry_after(struct invocation *invocation)
{
    /* Set in the command of a step: identifies that step. */
    const char *key = getenv("PAWL_STEP_KEY");
    struct script_client client;
    int code = script_client_open(&client);

    if (code == EXIT_OK) {
        script_client_begin(&client, "retry_after", "retry-after");
        pw_json_key(&client.writer, "ms");
        pw_json_add_int(&client.writer, time_text_duration_ms(invocation_operand(invocation, 0)));
        if (key != NULL) {
            pw_json_key(&client.writer, "key");
            pw_json_add_text(&client.writer, key);
        }
        code = script_client_ask(&client);
    }
    script_client_close(&client);
    return code;
}

const struct command cmd_retry_after[] = {
    {.name = "retry-after",
        .summary = "Set the earliest time of the next attempt",
        .text = "In the command of a pawl step it is about that step, else about the whole "
                "program. It counts once: for this attempt, and only if it fails. The backoff of "
                "the step or of the workflow is not added, and the number of attempts stays what "
                "it is.\n\n"
                "A program of pawl worker --exec in any language calls it as well, before it exits "
                "with a code that is tried again.",
        .operands =
            (const struct operand[]){
                {.kind = KIND_DURATION,
                    .value = "TIME",
                    .summary = "how long to wait, such as 90s"},
                {.kind = KIND_END},
            },
        .examples =
            (const struct example[]){
                {"pawl step call -- sh -c 'curl -sf api/pay || { pawl retry-after 2m; exit 1; }'",
                    "two minutes after a failure, whatever the backoff is"},
                {NULL, NULL},
            },
        .act = retry_after,
        .no_database = true},
    {0},
};
