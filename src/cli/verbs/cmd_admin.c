/* SPDX-License-Identifier: Apache-2.0 */
/* Commands for the whole installation: metrics, privileges, retention, epoch. */
#include "cli/command/commands.h"
#include "cli/command/invocation.h"
#include "cli/command/options.h"
#include "cli/report/exit.h"
#include "cli/show/term.h"
#include "cli/show/time_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option by_options[] = {
    OPTION_BY("who does it"),
    {.kind = KIND_END},
};

/* Ended runs are counted about two minutes late, so 0 does not mean that no run has ended. If it is much later, no worker counts them. */
static void
say_counted_until(struct invocation *invocation, const char *stamp)
{
    char until[TIME_TEXT_SIZE];
    char ago[TIME_TEXT_SIZE];
    int64_t until_us = 0;
    int64_t now_us = 0;

    if (invocation_now(invocation, &now_us) != EXIT_OK)
        return;
    if (stamp == NULL || !time_text_read_stamp(stamp, &until_us)) {
        (void)exit_saying(EXIT_OK, "Live workers count them.", "no ended run has been counted yet");
        return;
    }
    time_text_write_local(until, until_us);
    time_text_write_span(ago, (now_us - until_us) / 1000000 * 1000000);
    if (now_us - until_us < TIME_TEXT_COUNTED_LATE_US) {
        if (invocation->output == OUTPUT_TABLE)
            (void)exit_saying(
                EXIT_OK, NULL, "runs that ended until %s (%s ago) are counted", until, ago);
        return;
    }
    (void)exit_saying(EXIT_OK, "Live workers count them; none has since then.",
        "runs that ended after %s (%s ago) are not counted yet", until, ago);
}

static int
stats(struct invocation *invocation)
{
    pawl_rows *rows = NULL;
    int code = invocation_ask(invocation, &rows);

    if (code == EXIT_OK && pawl_rows_count(rows) > 0)
        say_counted_until(invocation, pawl_rows_text(rows, 0, "counted_until"));
    return invocation_show(invocation, code, rows);
}

/* Line by line: a terminal is given no control character but the line feed. */
static void
print_lines(const char *text)
{
    for (const char *end; text != NULL && (end = strchr(text, '\n')) != NULL; text = end + 1) {
        char *line = strndup(text, (size_t)(end - text));

        term_print(stdout, line);
        (void)fputc('\n', stdout);
        free(line);
    }
}

static int
metrics(struct invocation *invocation)
{
    pawl_rows *rows = NULL;
    int code = invocation_ask(invocation, &rows);

    if (code != EXIT_OK || invocation->output != OUTPUT_TABLE)
        return invocation_show(invocation, code, rows);
    print_lines(pawl_rows_text(rows, 0, "prometheus"));
    pawl_rows_free(rows);
    return EXIT_OK;
}

const struct command cmd_admin[] = {
    {.name = "stats",
        .summary = "Show rates and durations by workflow",
        .verb = "metrics",
        .columns =
            "workflow succeeded failed cancelled per_second mean_seconds max_seconds "
            "success_share p50_seconds p95_seconds p99_seconds mean_wait_seconds oldest_ready",
        .options =
            (const struct option[]){
                {.kind = KIND_WORKFLOW,
                    .letter = 'w',
                    .name = "workflow",
                    .value = "NAME",
                    .argument = "only_workflow",
                    .summary = "only of this workflow"},
                {.kind = KIND_DURATION,
                    .name = "since",
                    .value = "TIME",
                    .argument = "since",
                    .summary = "over this time until now; 1h by default"},
                {.kind = KIND_END},
            },
        .act = stats},
    {.name = "metrics",
        .summary = "Print all metrics for Prometheus",
        .text =
            "Prints what pawl.prometheus() returns: text in the exposition format of Prometheus, "
            "version 0.0.4. Any program that sends this one query can serve it to a scraper. "
            "Counters are "
            "stored in the database and do not fall when a worker or the server is restarted.",
        .verb = "prometheus",
        .examples =
            (const struct example[]){
                {"pawl metrics >/var/lib/prometheus/node-exporter/pawl.prom.new",
                    "write a file for the textfile collector of the node exporter; rename it then"},
                {NULL, NULL},
            },
        .act = metrics},
    {.name = "grant",
        .summary = "Grant a database role a privilege set",
        .verb = "grant_role",
        .operands =
            (const struct operand[]){
                {.kind = KIND_TEXT,
                    .value = "ROLE",
                    .argument = "role_name",
                    .summary = "a role of the database"},
                {.kind = KIND_CHOICE,
                    .value = "SET",
                    .choices = "producer worker operator reader",
                    .argument = "privilege_set",
                    .summary = "producer, worker, operator, reader or gateway"},
                {.kind = KIND_END},
            },
        .options =
            (const struct option[]){
                OPTION_TENANT("tenant", "only for this tenant"),
                {.kind = KIND_END},
            }},
    {.name = "revoke",
        .summary = "Revoke a privilege set from a database role",
        .verb = "revoke_role",
        .operands =
            (const struct operand[]){
                {.kind = KIND_TEXT,
                    .value = "ROLE",
                    .argument = "role_name",
                    .summary = "a role of the database"},
                {.kind = KIND_CHOICE,
                    .value = "SET",
                    .choices = "producer worker operator reader",
                    .argument = "privilege_set",
                    .summary = "producer, worker, operator, reader or gateway"},
                {.kind = KIND_END},
            }},
    {.name = "role list",
        .summary = "List roles with the privilege sets that they were granted",
        .text = "TENANT is the tenant that a role is bound to. A role that does not exist any more "
                "was dropped or renamed: revoke what it has, and grant its new name.",
        .verb = "list_grants",
        .columns = "role_name privilege_set tenant role_exists"},
    {.name = "retention",
        .summary = "Set how long ended runs and events are kept",
        .verb = "set_retention",
        .options =
            (const struct option[]){
                {.kind = KIND_DURATION,
                    .name = "runs",
                    .value = "TIME",
                    .argument = "run_retention",
                    .summary = "ended runs, with all that belongs to them"},
                {.kind = KIND_DURATION,
                    .name = "events",
                    .value = "TIME",
                    .argument = "event_retention",
                    .summary = "events"},
                OPTION_BY("who does it"),
                {.kind = KIND_END},
            }},
    {.name = "notify",
        .summary = "Set whether calls notify idle workers",
        .text =
            "Shows the values in force if VALUE is omitted. Turn it off for roles that use PREPARE "
            "TRANSACTION, which fails after a notification; workers then find work by polling.",
        .verb = "set_notify",
        .operands =
            (const struct operand[]){
                {.kind = KIND_CHOICE,
                    .value = "VALUE",
                    .choices = "on off default",
                    .argument = "notify",
                    .summary = "default, for a role only: as the database",
                    .optional = true},
                {.kind = KIND_END},
            },
        .options =
            (const struct option[]){
                {.kind = KIND_TEXT,
                    .name = "role",
                    .value = "ROLE",
                    .argument = "role_name",
                    .summary = "for calls of this role only"},
                OPTION_BY("who does it"),
                {.kind = KIND_END},
            }},
    {.name = "epoch raise",
        .summary = "Invalidate all sessions after a failover that lost commits",
        .verb = "raise_epoch",
        .operands =
            (const struct operand[]){
                {.kind = KIND_TEXT,
                    .value = "WHY",
                    .argument = "why",
                    .summary = "the reason, which is kept"},
                {.kind = KIND_END},
            },
        .options = by_options},
    {.name = "action list",
        .summary = "List operator actions, in order",
        .verb = "list_actions",
        .options =
            (const struct option[]){
                OPTION_AFTER,
                OPTION_LIMIT("100"),
                {.kind = KIND_END},
            }},
    {0},
};
