/* SPDX-License-Identifier: Apache-2.0 */
/* The view of one run, for users: its input, each step with attempts, duration and a bar of time, its errors, and its output. */
#ifndef PW_CLI_SHOW_RUN_VIEW_H
#define PW_CLI_SHOW_RUN_VIEW_H

#include <pawl/pawl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Prints the answer of get_run(), as wide as the terminal of standard output. now_us is the database's clock. why, which may be NULL, is
 * the sentence of pawl.why() for a run that has not ended. Shows at most steps_max lines of steps, the first and the last; 0 is all.
 */
void run_view_print(
    FILE *out, const pawl_rows *run, int64_t now_us, const char *why, size_t steps_max);

/* Returns true if the answer of get_run() is about a run that has ended. */
bool run_view_has_ended(const pawl_rows *run);

/* Prints one line for a run that has not ended: "RUNNING  3 steps done, in charge#1 for 12s". */
void run_view_print_line(FILE *out, const pawl_rows *run, int64_t now_us, size_t columns);

#endif
