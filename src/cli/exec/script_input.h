/* SPDX-License-Identifier: Apache-2.0 */
/* The script that pawl run-script executes: a file and its arguments, from the command line or from the input of a run. */
#ifndef PW_CLI_EXEC_SCRIPT_INPUT_H
#define PW_CLI_EXEC_SCRIPT_INPUT_H

#include "cli/command/invocation.h"

struct script_input {
    char *file;
    char **arguments; /* ends with NULL */
    char *workflow;   /* of the run; NULL: from the command line */
};

/*
 * Reads the command line, or the run that --run names. Refuses a run that has ended, or that pawl run-script has not started. Returns
 * EXIT_OK, or prints why not and returns the exit code. Free the input in both cases.
 */
int script_input_read(struct script_input *input, struct invocation *invocation);
void script_input_free(struct script_input *input);

#endif
