/* SPDX-License-Identifier: Apache-2.0 */
/* Rows as people and programs want to see them: a table, JSON, lines of JSON, or ids alone. */
#ifndef PW_CLI_ROWS_H
#define PW_CLI_ROWS_H

#include "cli/call.h"

/* Shows rows as --output says, with the columns that the command names. Returns EXIT_OK or what to exit with. */
int rows_show(const struct call *call, const pawl_rows *rows);

/* The same for one row, whose table has a line for each column that is not empty. */
int rows_show_lines(const struct call *call, const pawl_rows *rows);

#endif
