/* SPDX-License-Identifier: Apache-2.0 */
/* pawl why: what a run waits for, in one sentence. */
#include "cli/command/commands.h"
#include "cli/command/invocation.h"
#include "cli/command/options.h"
#include "cli/command/why_text.h"
#include "cli/report/exit.h"
#include "cli/show/term.h"

#include <stdio.h>
#include <stdlib.h>

/* In JSON the sentence is unchanged, with the names of SQL functions. */
static int
why(struct invocation *invocation)
{
    pawl_rows *rows = NULL;
    int code = invocation_ask(invocation, &rows);
    char *text;

    if (code != EXIT_OK || invocation->output != OUTPUT_TABLE)
        return invocation_show(invocation, code, rows);
    text = why_text(pawl_rows_text(rows, 0, "why"), invocation_operand(invocation, 0));
    if (text == NULL)
        code = exit_saying(EXIT_OTHER, NULL, "out of memory");
    else {
        term_print(stdout, text);
        (void)fputc('\n', stdout);
    }
    free(text);
    pawl_rows_free(rows);
    return code;
}

const struct command cmd_why[] = {
    {.name = "why",
        .summary = "Explain what a run is waiting for and what to do",
        .verb = "why",
        .operands =
            (const struct operand[]){
                OPERAND_RUN,
                {.kind = KIND_END},
            },
        .act = why},
    {0},
};
