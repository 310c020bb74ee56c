/* SPDX-License-Identifier: Apache-2.0 */
/* pawl bulk: an action on many runs, which the database continues in the background. */
#include "base/buf.h"
#include "base/json_write.h"
#include "base/text.h"
#include "cli/command/commands.h"
#include "cli/command/invocation.h"
#include "cli/command/options.h"
#include "cli/process/signals.h"
#include "cli/report/exit.h"
#include "cli/show/term.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    FILTER_MAX = 8192,
    NUMBER_SIZE = 24,
};

static const struct timespec look_every = {.tv_nsec = 200000000};

static const struct option begin_options[] = {
    {.kind = KIND_WORKFLOW,
        .letter = 'w',
        .name = "workflow",
        .value = "NAME",
        .summary = "all of this workflow, or of those that a pattern such as billing.* names"},
    {.kind = KIND_CHOICE,
        .letter = 's',
        .name = "status",
        .value = "STATUS",
        .choices = "QUEUED RUNNING PAUSED SUCCESS ERROR CANCELLED",
        .summary = "all in this state"},
    {.kind = KIND_TEXT, .name = "key", .value = "KEY", .summary = "all with this key"},
    OPTION_TENANT(NULL, "all of this tenant"),
    OPTION_SINCE(NULL, "triggered"),
    OPTION_BEFORE(NULL, "triggered"),
    {.kind = KIND_REAL,
        .name = "rate",
        .value = "N",
        .summary = "runs in a second, up to 1000; 100 by default"},
    {.kind = KIND_FLAG, .name = "no-wait", .summary = "print the number of the bulk, and end"},
    {.kind = KIND_FLAG, .letter = 'y', .name = "yes", .summary = "do it without asking"},
    OPTION_WHY("a reason, for others to see"),
    OPTION_BY("who does it"),
    {.kind = KIND_END},
};

/* Adds a member to the filter, if its option was given. A time is converted to one of PostgreSQL. */
static int
add_member(struct invocation *invocation, struct pw_json_writer *w, const char *name, bool is_time)
{
    const char *value = invocation_option(invocation, name);
    char *time = NULL;
    int code = EXIT_OK;

    if (value == NULL)
        return EXIT_OK;
    if (is_time) {
        time = invocation_time(invocation, value, &code);
        if (time == NULL)
            return code;
    }
    pw_json_key(w, name);
    pw_json_add_text(w, is_time ? time : value);
    free(time);
    return EXIT_OK;
}

static int
write_filter(struct invocation *invocation, struct pw_buf *filter)
{
    static const char *const texts[] = {"workflow", "status", "key", "tenant"};
    struct pw_json_writer w;
    int code = EXIT_OK;

    pw_buf_init(filter, FILTER_MAX);
    pw_json_writer_init(&w, filter);
    pw_json_open(&w, '{');
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        (void)add_member(invocation, &w, texts[i], false);
    code = add_member(invocation, &w, "since", true);
    if (code == EXIT_OK)
        code = add_member(invocation, &w, "before", true);
    pw_json_close(&w);
    if (code == EXIT_OK && !pw_buf_ok(filter))
        code = exit_saying(EXIT_USAGE, NULL, "the filter is too long");
    return code;
}

/* Counts the runs, asks, and begins the bulk whose filter was counted. */
static int
begin(struct invocation *invocation, const char *filter, char number[static NUMBER_SIZE])
{
    const char *act = invocation_operand(invocation, 0);
    pawl_rows *preview = NULL;
    pawl_rows *rows = NULL;
    int code =
        invocation_verb(invocation, &preview, "preview_bulk", "act", act, "filter", filter, NULL);

    number[0] = '\0';
    if (code == EXIT_OK && strcmp(pawl_rows_text(preview, 0, "runs_shown"), "0") != 0) {
        code = invocation_confirm(
            invocation, "%s %s runs", act, pawl_rows_text(preview, 0, "runs_shown"));
        if (code == EXIT_OK)
            code = invocation_verb(invocation, &rows, "begin_bulk", "act", act, "filter",
                pawl_rows_text(preview, 0, "full_filter"), "rate",
                invocation_option(invocation, "rate"), "why", invocation_option(invocation, "why"),
                "by", invocation_option(invocation, "by"), "digest",
                pawl_rows_text(preview, 0, "digest"), NULL);
        if (code == EXIT_OK)
            (void)snprintf(
                number, NUMBER_SIZE, "%s", pawl_rows_text(rows, 0, pawl_rows_column_name(rows, 0)));
    } else if (code == EXIT_OK) {
        (void)puts("nothing to do");
    }
    pawl_rows_free(preview);
    pawl_rows_free(rows);
    return code;
}

/* Ticks once, because no worker may be alive, and looks how far the bulk is. */
static int
look(struct invocation *invocation, const char *number, bool *done)
{
    char after[NUMBER_SIZE];
    pawl_rows *rows = NULL;
    int64_t bulk = 0;
    int code = pw_parse_i64(number, 0, INT64_MAX - 1, &bulk)
        ? invocation_verb(invocation, NULL, "tick", NULL)
        : exit_saying(EXIT_OTHER, NULL, "the database named no bulk");

    (void)snprintf(after, sizeof(after), "%" PRId64, bulk + 1);
    if (code == EXIT_OK)
        code = invocation_verb(
            invocation, &rows, "list_bulks", "cursor", after, "max_rows", "1", NULL);
    if (code == EXIT_OK && pawl_rows_count(rows) == 1) {
        const char *state = pawl_rows_text(rows, 0, "state");

        *done = strcmp(state, "running") != 0;
        if (term_is_tty(TERM_ERR))
            (void)fprintf(stderr, "\r\033[Kbulk %s: %s, %s runs%s", number, state,
                pawl_rows_text(rows, 0, "handled"), *done ? "\n" : "");
        if (*done)
            (void)printf("%s\n", pawl_rows_text(rows, 0, "answers"));
        if (*done && strcmp(state, "done") != 0)
            code = EXIT_REFUSED;
    } else {
        *done = true;
    }
    pawl_rows_free(rows);
    return code;
}

static int
follow(struct invocation *invocation, const char *number)
{
    sigset_t signals;
    bool done = false;
    int code;

    signals_that_end(&signals);
    (void)pthread_sigmask(SIG_BLOCK, &signals, NULL);
    while ((code = look(invocation, number, &done)) == EXIT_OK && !done)
        if (sigtimedwait(&signals, NULL, &look_every) > 0)
            return exit_saying(EXIT_INTERRUPTED, "pawl bulk stop ends it.",
                "interrupted: bulk %s continues in the background", number);
    return code;
}

static int
begin_and_follow(struct invocation *invocation)
{
    struct pw_buf filter;
    char number[NUMBER_SIZE] = "";
    int code = write_filter(invocation, &filter);

    if (code == EXIT_OK)
        code = begin(invocation, pw_buf_text(&filter), number);
    pw_buf_done(&filter);
    if (code != EXIT_OK || number[0] == '\0')
        return code;
    if (invocation_has(invocation, "no-wait")) {
        (void)puts(number);
        return EXIT_OK;
    }
    (void)fprintf(stderr, "bulk %s has begun; it continues if this command ends\n", number);
    return follow(invocation, number);
}

const struct command cmd_bulk[] = {
    {.name = "bulk begin",
        .summary = "Begin an action on all runs that options name",
        .text = "Counts the runs and asks. Then housekeeping acts on them at the rate, newest "
                "first, each once, whether or not this command waits. Runs that are triggered "
                "later are left alone. Without any option, all runs are meant that the action "
                "applies to. The output is how many runs gave each answer.",
        .operands =
            (const struct operand[]){
                {.kind = KIND_CHOICE,
                    .value = "ACTION",
                    .choices = "retry cancel pause resume wake purge",
                    .summary = "what is done to each run"},
                {.kind = KIND_END},
            },
        .options = begin_options,
        .examples =
            (const struct example[]){
                {"pawl bulk begin retry --workflow 'billing.*' --status ERROR --since 1d --rate 20",
                    "what failed since yesterday, 20 in a second"},
                {NULL, NULL},
            },
        .act = begin_and_follow},
    {.name = "bulk list",
        .summary = "List actions on many runs and how far they are",
        .verb = "list_bulks",
        .columns = "bulk act state handled ok waiting started_by started_at ended_at last_error",
        .options =
            (const struct option[]){
                {.kind = KIND_FLAG,
                    .name = "running",
                    .argument = "only_running",
                    .summary = "only those that have not ended"},
                OPTION_LIMIT("50"),
                {.kind = KIND_END},
            }},
    {.name = "bulk stop",
        .summary = "Stop an action on many runs",
        .verb = "stop_bulk",
        .operands =
            (const struct operand[]){
                {.kind = KIND_COUNT,
                    .value = "NUMBER",
                    .argument = "bulk",
                    .summary = "its number, as pawl bulk list shows it"},
                {.kind = KIND_END},
            },
        .options =
            (const struct option[]){
                OPTION_BY("who does it"),
                {.kind = KIND_END},
            }},
    {0},
};
