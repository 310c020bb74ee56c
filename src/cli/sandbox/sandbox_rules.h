/* SPDX-License-Identifier: Apache-2.0 */
/* Landlock: which files a program in a sandbox may read, execute and change, and whether it may signal other processes. */
#ifndef PW_CLI_SANDBOX_SANDBOX_RULES_H
#define PW_CLI_SANDBOX_SANDBOX_RULES_H

#include <stdbool.h>

struct sandbox;

/* The version of the kernel's Landlock; negative if there is none. */
int rules_version(void);

/* Returns true if that version is enough for what --sandbox promises. */
bool rules_suffice(int version);

/* Makes the rules of one program that may change files in its directory temporary. Returns a descriptor; -1 with errno. */
int rules_open(const struct sandbox *sandbox, const char *temporary);

/* Enters the rules: from here on they hold for this process and all processes that it starts. Returns false with errno. */
bool rules_enter(int rules);

#endif
