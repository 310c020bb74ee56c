/* SPDX-License-Identifier: Apache-2.0 */
/* pawl run show and watch: show one run, once or until it has ended. */
#include "cli/command/commands.h"
#include "cli/command/invocation.h"
#include "cli/command/rows.h"
#include "cli/command/why_text.h"
#include "cli/report/exit.h"
#include "cli/show/run_view.h"
#include "cli/show/term.h"
#include "cli/verbs/wait.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    STEPS_SHOWN = 100,
    REDRAW_US = 500000,
};

/* Asks for everything that the view of a run needs. */
static int
ask_run(struct invocation *invocation, pawl_rows **run, pawl_rows **why, int64_t *now_us)
{
    const char *id = invocation_operand(invocation, 0);
    int code = invocation_verb(invocation, run, "get_run", "run", id, NULL);

    if (code == EXIT_OK)
        code = invocation_now(invocation, now_us);
    if (code == EXIT_OK && !run_view_has_ended(*run))
        code = invocation_verb(invocation, why, "why", "run", id, NULL);
    return code;
}

static size_t
steps_max(const struct invocation *invocation)
{
    return invocation_has(invocation, "all") ? 0 : STEPS_SHOWN;
}

static void
print_view(
    struct invocation *invocation, const pawl_rows *run, const pawl_rows *why, int64_t now_us)
{
    char *text = why_text(pawl_rows_text(why, 0, "why"), invocation_operand(invocation, 0));

    run_view_print(stdout, run, now_us, text, steps_max(invocation));
    free(text);
}

static int
show(struct invocation *invocation)
{
    pawl_rows *run = NULL;
    pawl_rows *why = NULL;
    int64_t now_us = 0;
    int code;

    if (invocation->output != OUTPUT_TABLE) {
        code = invocation_verb(
            invocation, &run, "get_run", "run", invocation_operand(invocation, 0), NULL);
        return invocation_show(invocation, code, run);
    }
    code = ask_run(invocation, &run, &why, &now_us);
    if (code == EXIT_OK)
        print_view(invocation, run, why, now_us);
    pawl_rows_free(run);
    pawl_rows_free(why);
    return code;
}

/* Without a terminal, it waits and shows the run only at the end. */
static int
watch(struct invocation *invocation)
{
    bool ended = false;
    int code = EXIT_OK;

    if (!term_is_tty(TERM_OUT)) {
        code = wait_until_ended(invocation, invocation_operand(invocation, 0));
        return code != EXIT_OK ? code : show(invocation);
    }
    while (code == EXIT_OK && !ended) {
        pawl_rows *run = NULL;
        pawl_rows *why = NULL;
        int64_t now_us = 0;

        code = ask_run(invocation, &run, &why, &now_us);
        if (code == EXIT_OK) {
            ended = run_view_has_ended(run);
            (void)fputs("\033[H\033[2J", stdout);
            print_view(invocation, run, why, now_us);
            (void)fflush(stdout);
        }
        pawl_rows_free(run);
        pawl_rows_free(why);
        if (code == EXIT_OK && !ended)
            (void)usleep(REDRAW_US);
    }
    return code;
}

static const struct operand run_operand[] = {
    {.kind = KIND_RUN, .value = "RUN", .argument = "run", .summary = "the id of a run"},
    {.kind = KIND_END},
};
static const struct option all_options[] = {
    {.kind = KIND_FLAG,
        .name = "all",
        .summary = "all steps, also of a run that has more than a hundred"},
    {.kind = KIND_END},
};

const struct command cmd_run_show[] = {
    {.name = "run show",
        .summary = "Show one run: input, steps and output",
        .text = "Of each step: how many tries it took, how long, and when within the time of the "
                "run. What is still\n"
                "to be tried again says when. Of a map step of a flow with more than ten elements, "
                "how many are done,\n"
                "and the first that are executed, wait or have failed. A run that has not ended "
                "says at the end "
                "what it waits for.",
        .operands = run_operand,
        .options = all_options,
        .act = show},
    {.name = "run watch",
        .summary = "Follow a run until it ends",
        .text = "Without a terminal it waits until the run has ended, and shows it then.",
        .operands = run_operand,
        .options = all_options,
        .act = watch},
    {0},
};
