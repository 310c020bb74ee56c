/* SPDX-License-Identifier: Apache-2.0 */
/* One run as a story: its input, each step with tries, duration and a bar of time, what went wrong, and what came out. */
#ifndef PW_CLI_STORY_H
#define PW_CLI_STORY_H

#include "cli/call.h"

#include <stdio.h>

/*
 * Prints what get_run() gave, as wide as the terminal of standard output. now_us is the database's clock; why, which may be NULL, is the sentence for a run that has not ended.
 * At most so many lines of steps are shown, the first and the last; 0 is all.
 */
void story_print(
    FILE *out, const pawl_rows *run, int64_t now_us, const char *why, size_t steps_max);

/* Whether get_run() gave a run that has ended. */
bool story_has_ended(const pawl_rows *run);

/* One line for one that has not: "RUNNING  3 steps done, in charge#1 for 12s". */
void story_print_line(FILE *out, const pawl_rows *run, int64_t now_us, size_t columns);

#endif
