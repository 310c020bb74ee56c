/* SPDX-License-Identifier: Apache-2.0 */
/* The seccomp filter: which system calls a program in a sandbox may make, where Landlock does not decide. */
#ifndef PW_CLI_SANDBOX_SANDBOX_FILTER_H
#define PW_CLI_SANDBOX_SANDBOX_FILTER_H

#include <stdbool.h>

/* Whether this architecture has a filter. */
bool filter_exists(void);

/*
 * From here on the filter holds for this process and all that it starts. Returns the descriptor that a supervisor receives calls from
 * (sandbox_supervisor.h); -1 with errno: there is no filter. Needs no_new_privs.
 */
int filter_enter(bool network);

#endif
