/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for a run, with a line that tells how far it is. */
#ifndef PW_CLI_VERBS_WAIT_H
#define PW_CLI_VERBS_WAIT_H

#include "cli/command/invocation.h"

/*
 * Waits until the run has ended, or --timeout is over; on a terminal a line shows its steps meanwhile. Prints the output, or says
 * why it failed. Returns what to exit with.
 */
int wait_for_run(struct invocation *invocation, const char *run_id);

/* Only waits, however it ends. Returns EXIT_OK, or what to exit with after having said why. */
int wait_until_ended(struct invocation *invocation, const char *run_id);

#endif
