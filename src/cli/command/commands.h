/* SPDX-License-Identifier: Apache-2.0 */
/* The lists of commands of each cmd_*.c; each ends with a command without a name. */
#ifndef PW_CLI_COMMAND_COMMANDS_H
#define PW_CLI_COMMAND_COMMANDS_H

#include "cli/command/command.h"

extern const struct command cmd_workflow[];
extern const struct command cmd_flow[];
extern const struct command cmd_lane[];
extern const struct command cmd_schedule[];
extern const struct command cmd_schedule_import[];
extern const struct command cmd_subscription[];
extern const struct command cmd_scheduled_command[];
extern const struct command cmd_trigger[];
extern const struct command cmd_bulk[];
extern const struct command cmd_pause[];
extern const struct command cmd_run[];
extern const struct command cmd_run_show[];
extern const struct command cmd_run_wait[];
extern const struct command cmd_why[];
extern const struct command cmd_send[];
extern const struct command cmd_worker[];
extern const struct command cmd_worker_run[];
extern const struct command cmd_run_script[];
extern const struct command cmd_step[];
extern const struct command cmd_sleep[];
extern const struct command cmd_child[];
extern const struct command cmd_value[];
extern const struct command cmd_retry_after[];
extern const struct command cmd_top[];
extern const struct command cmd_admin[];
extern const struct command cmd_bench[];
extern const struct command cmd_dev[];
extern const struct command cmd_doctor[];
extern const struct command cmd_housekeep[];
extern const struct command cmd_install[];
extern const struct command cmd_serve[];
extern const struct command cmd_token[];
extern const struct command cmd_help[];

#endif
