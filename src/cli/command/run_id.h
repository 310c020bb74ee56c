/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs that are named by the beginning of their id. An id begins with the time at which its run was triggered, so all ids with one
 * beginning are a range of the primary key: pawl.list_runs() reads that range and nothing else, and it returns to a role only the runs
 * that the role may see. The end of an id is random, but no index finds it.
 */
#ifndef PW_CLI_COMMAND_RUN_ID_H
#define PW_CLI_COMMAND_RUN_ID_H

#include "cli/command/invocation.h"

enum {
    RUN_ID_LEAST =
        6, /* digits; they stand for four and a half hours, 8 for a minute, 12 for a millisecond */
};

/*
 * Whether it can be the beginning of an id: RUN_ID_LEAST digits or more, with or without dashes at their places, and with or without the
 * ellipsis that a narrow table ends it with.
 */
bool run_id_is_beginning(const char *text);

/*
 * Calls found for up to most runs whose ids begin so, newest first; with an empty beginning, for the newest runs. whole, which may
 * be NULL: whether all runs that begin so were examined, or most found. Returns EXIT_OK, or what to exit with after having said why.
 */
int run_id_search(struct invocation *invocation, const char *beginning, size_t most,
    void (*found)(void *context, const pawl_rows *rows, size_t row), void *context, bool *whole);

/* Replaces each operand and option of KIND_RUN that is only a beginning by the id. Returns EXIT_OK, or what to exit with. */
int run_id_complete_all(struct invocation *invocation);

#endif
