/* SPDX-License-Identifier: Apache-2.0 */
/* Which privilege sets of pawl.grant_role() a function of the SQL interface is in. */
#ifndef PW_CLI_REPORT_PRIVILEGE_H
#define PW_CLI_REPORT_PRIVILEGE_H

#include <stdbool.h>

enum {
    PRIVILEGE_SIZE = 48,
};

/*
 * Writes the sets that have the function, "reader, producer or operator", and the smallest of them. Returns false if none has it:
 * then only the owner of the schema may call it.
 */
bool privilege_sets(
    const char *verb, char sets[static PRIVILEGE_SIZE], char smallest[static PRIVILEGE_SIZE]);

#endif
