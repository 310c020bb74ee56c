/* SPDX-License-Identifier: Apache-2.0 */
/* The children of this process, including those that it adopted: a subreaper is the next parent of the orphans among its descendants. */
#ifndef PW_CLI_PROCESS_CHILDREN_H
#define PW_CLI_PROCESS_CHILDREN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Sends SIGKILL to every child except those for which spared returns true, and to the process groups that they have founded in other
 * sessions. spared may be NULL. Returns the number of children that were signalled. This process adopts their own children when they have
 * ended, so call it again until no child is left.
 */
size_t children_kill(bool (*spared)(const void *context, pid_t child), const void *context);

/* Whether this process has a child, alive or not waited for yet. */
bool children_exist(void);

#endif
