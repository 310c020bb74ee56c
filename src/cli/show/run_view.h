/* SPDX-License-Identifier: Apache-2.0 */
/* One run as people read it: its input, each step with tries, duration and a bar of time, what went wrong, and what came out. */
#ifndef PW_CLI_SHOW_RUN_VIEW_H
#define PW_CLI_SHOW_RUN_VIEW_H

#include <pawl/pawl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Prints what get_run() gave, as wide as the terminal of standard output. now_us is the database's clock; why, which may be NULL, is the sentence for a run that has not ended.
 * At most so many lines of steps are shown, the first and the last; 0 is all.
 */
void run_view_print(
    FILE *out, const pawl_rows *run, int64_t now_us, const char *why, size_t steps_max);

/* Whether get_run() gave a run that has ended. */
bool run_view_has_ended(const pawl_rows *run);

/* One line for one that has not: "RUNNING  3 steps done, in charge#1 for 12s". */
void run_view_print_line(FILE *out, const pawl_rows *run, int64_t now_us, size_t columns);

#endif
