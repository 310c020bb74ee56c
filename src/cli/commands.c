/* SPDX-License-Identifier: Apache-2.0 */
/* All commands, and the groups in which help shows them. */
#include "cli/command/commands.h"

static const struct command *const lists[] = {
    cmd_trigger,
    cmd_why,
    cmd_run,
    cmd_run_show,
    cmd_run_wait,
    cmd_send,
    cmd_workflow,
    cmd_lane,
    cmd_flow,
    cmd_bulk,
    cmd_pause,
    cmd_schedule,
    cmd_schedule_import,
    cmd_subscription,
    cmd_worker,
    cmd_worker_run,
    cmd_scheduled_command,
    cmd_run_script,
    cmd_step,
    cmd_sleep,
    cmd_child,
    cmd_value,
    cmd_retry_after,
    cmd_top,
    cmd_admin,
    cmd_housekeep,
    cmd_install,
    cmd_serve,
    cmd_token,
    cmd_dev,
    cmd_doctor,
    cmd_bench,
    cmd_help,
};

const struct command *
command_at(size_t index)
{
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        for (const struct command *command = lists[i]; command->name != NULL; command++)
            if (index-- == 0)
                return command;
    return NULL;
}

const char *const commands_most_used[] = {
    "trigger NAME",
    "run list",
    "run show RUN",
    "why RUN",
    "top",
    NULL,
};

static const char *const start[] = {"trigger", "run-script", "worker", "serve", NULL};
static const char *const inspect[] = {"run list", "run show", "why", "top", "run watch", "run wait",
    "run logs", "run history", "run children", "run failures", "run count", "find", "stats",
    "metrics", "queue list", "lane list", "worker list", "wait list", "approval list", "event list",
    "schedule list", "schedule show", "schedule why", "schedule skips", "subscription list",
    "role list", "token list", "action list", NULL};
static const char *const act[] = {"approve", "reject", "signal", "emit", "run cancel", "run retry",
    "run pause", "run resume", "run wake", "run fork", "run kill", "run purge",
    "run rollback retry", "run rollback skip", "bulk begin", "bulk list", "bulk stop", NULL};
static const char *const define[] = {"workflow list", "workflow show", "workflow create",
    "workflow alter", "flow list", "flow show", "flow graph", "flow apply", "flow delete",
    "schedule create", "schedule import", "schedule preview", "schedule delete",
    "subscription create", "subscription delete", NULL};
static const char *const operate[] = {"doctor", "pause", "resume", "workflow pause",
    "workflow resume", "queue pause", "queue resume", "lane set", "lane pause", "lane resume",
    "schedule pause", "schedule resume", "schedule backfill", "subscription pause",
    "subscription resume", "worker drain", "worker limit", "retention", "notify", "housekeep",
    "keeper", "epoch raise", NULL};
static const char *const in_scripts[] = {
    "step", "sleep", "wait", "child", "set", "get", "retry-after", NULL};
static const char *const set_up[] = {"dev", "install", "migrate", "uninstall", "grant", "revoke",
    "token create", "token revoke", "bench", "completion", NULL};
static const char *const plumbing[] = {"complete", "manual", "scheduled-command", NULL};

const struct command_group command_groups[] = {
    {"Start", start},
    {"Inspect", inspect},
    {"Act", act},
    {"Define", define},
    {"Operate", operate},
    {"In scripts", in_scripts},
    {"Set up", set_up},
    {"Plumbing", plumbing},
    {NULL, NULL},
};
