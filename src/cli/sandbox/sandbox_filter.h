/* SPDX-License-Identifier: Apache-2.0 */
/* The seccomp filter: which system calls a program in a sandbox may make, where Landlock does not decide. */
#ifndef PW_CLI_SANDBOX_SANDBOX_FILTER_H
#define PW_CLI_SANDBOX_SANDBOX_FILTER_H

#include <stdbool.h>

/* Returns true if this architecture has a filter. */
bool filter_exists(void);

/*
 * Enters the filter: from here on it holds for this process and all processes that it starts. Returns the descriptor from which a
 * supervisor receives calls (sandbox_supervisor.h). Returns -1 with errno if there is no filter. Needs no_new_privs.
 */
int filter_enter(bool network);

#endif
