/* SPDX-License-Identifier: Apache-2.0 */
/* The engine's script is half a megabyte, so the program has it packed. */
#ifndef PW_CLI_UNPACK_H
#define PW_CLI_UNPACK_H

#include "cli/scripts.h"

/* Returns the text, to be freed, or NULL: then why tells. */
char *unpack(const struct packed *packed, const char **why);

/* The script that installs the engine, to be freed. NULL: it has been said why not. */
char *unpack_install(void);

#endif
