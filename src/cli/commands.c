/* SPDX-License-Identifier: Apache-2.0 */
/* All commands, in the order of help. */
#include "cli/command/commands.h"

static const struct command *const lists[] = {
    cmd_trigger,
    cmd_why,
    cmd_run,
    cmd_run_show,
    cmd_run_wait,
    cmd_send,
    cmd_workflow,
    cmd_flow,
    cmd_worker,
    cmd_worker_run,
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
