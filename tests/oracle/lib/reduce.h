/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a sequence of calls that shows a difference short, and prints it as SQL. */
#ifndef PAWL_ORACLE_REDUCE_H
#define PAWL_ORACLE_REDUCE_H

#include "player.h"

/* Leaves out calls as long as the rest still differs, and returns how many are left. The last one differs. 0: all of them,
 * played again, did not. */
size_t reduce_calls(struct player *player, struct call *calls, size_t count);

/* Prints the calls as a script for psql, with the answers that differ behind it. */
void reduce_print(struct player *player, const struct call *calls, size_t count);

/* Text for people, each line as a comment of TAP. */
void reduce_print_comment(const char *text);

#endif
