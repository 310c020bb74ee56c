/* SPDX-License-Identifier: Apache-2.0 */
/* The options of pawl worker that say what its programs may do: --sandbox, --allow, --env and --limit. */
#ifndef PW_CLI_EXEC_SANDBOX_OPTIONS_H
#define PW_CLI_EXEC_SANDBOX_OPTIONS_H

#include "cli/command/invocation.h"
#include "cli/sandbox/sandbox.h"

/*
 * Reads the options. The texts stay those of the invocation; the caller frees the rest with sandbox_done(), even after an error. Returns
 * EXIT_OK, or prints why not and returns the exit code.
 */
int sandbox_options_read(struct sandbox *sandbox, const struct invocation *invocation);

#endif
