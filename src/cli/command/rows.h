/* SPDX-License-Identifier: Apache-2.0 */
/* Shows rows to users and programs: as a table, as JSON, as lines of JSON, or only the ids. */
#ifndef PW_CLI_COMMAND_ROWS_H
#define PW_CLI_COMMAND_ROWS_H

#include "cli/command/invocation.h"

/* Shows rows as --output says, with the columns that the command names. Returns EXIT_OK or the exit code. */
int rows_show(const struct invocation *invocation, const pawl_rows *rows);

/* A row of one of several results. */
struct rows_place {
    const pawl_rows *rows;
    size_t row;
};

/* The same for rows of several results, which have the columns of form. */
int rows_show_places(const struct invocation *invocation, const pawl_rows *form,
    const struct rows_place *places, size_t count);

/* Shows one row; its table has a line for each column that is not empty. */
int rows_show_lines(const struct invocation *invocation, const pawl_rows *rows);

#endif
