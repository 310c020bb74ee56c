/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs that are named by the beginning of their id. An id begins with the time at which its run was triggered, so all ids with one
 * beginning are a range of the primary key. pawl.list_runs() reads only that range, and returns to a role only the runs that the role
 * may see. The end of an id is random, but no index finds it.
 */
#ifndef PW_CLI_COMMAND_RUN_ID_H
#define PW_CLI_COMMAND_RUN_ID_H

#include "cli/command/invocation.h"

enum {
    RUN_ID_LEAST =
        6, /* digits; they stand for four and a half hours, 8 for a minute, 12 for a millisecond */
};

/*
 * Returns true if a text can be the beginning of an id: RUN_ID_LEAST digits or more, with or without dashes at their places. It may end
 * with the ellipsis of a narrow table.
 */
bool run_id_is_beginning(const char *text);

/*
 * Calls found for up to most runs whose ids have this beginning, newest first; with an empty beginning, for the newest runs. Sets whole,
 * which may be NULL, to whether all runs with this beginning were examined, or most were found. Returns EXIT_OK, or prints why not and
 * returns the exit code.
 */
int run_id_search(struct invocation *invocation, const char *beginning, size_t most,
    void (*found)(void *context, const pawl_rows *rows, size_t row), void *context, bool *whole);

/* Replaces the beginning of an id by the id of the only run that has it. Returns EXIT_OK, or prints why not and returns the exit code. */
int run_id_complete(struct invocation *invocation, const char **text);

/* Replaces each operand and option of KIND_RUN that is only a beginning by the id. Returns EXIT_OK or the exit code. */
int run_id_complete_all(struct invocation *invocation);

#endif
