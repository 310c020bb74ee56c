/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for a run, with a line that shows its progress. */
#ifndef PW_CLI_VERBS_WAIT_H
#define PW_CLI_VERBS_WAIT_H

#include "cli/command/invocation.h"

/*
 * Waits until the run has ended, or --timeout has passed. While it waits, a line on a terminal shows the steps. Prints the output, or why
 * the run failed. Returns the exit code.
 */
int wait_for_run(struct invocation *invocation, const char *run_id);

/* Only waits, however the run ends. Returns EXIT_OK, or prints why not and returns the exit code. */
int wait_until_ended(struct invocation *invocation, const char *run_id);

#endif
