/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of runs or events that a search fills page by page. */
#ifndef PW_CLI_VERBS_LIST_H
#define PW_CLI_VERBS_LIST_H

#include "cli/command/invocation.h"
#include "cli/command/options.h"

/* The options of a list that list_found() reads. what: "run", "event". */
#define LIST_OPTIONS(what, WHAT)                                                  \
    {.kind = KIND_COUNT,                                                          \
        .letter = 'n',                                                            \
        .name = "limit",                                                          \
        .value = "N",                                                             \
        .summary = "maximum number of rows (50)"},                                \
        {.kind = KIND_ID,                                                         \
            .name = "cursor",                                                     \
            .value = WHAT,                                                        \
            .summary = "list " what "s older than this one, to continue a list"}, \
    {                                                                             \
        .kind = KIND_COUNT, .name = "examine", .value = "N",                      \
        .summary = "stop the search after about N " what "s (1000000)"            \
    }

#define LIST_TEXT(what)                                                                    \
    "A search that examined as many " what "s as it may, and has not found as many as it " \
    "was asked for,\n"                                                                     \
    "prints the " what "s it found, reports on standard error that it stopped and how to " \
    "continue it, and exits\n"                                                             \
    "with 12."

/*
 * Calls the verb of the description page by page, then shows the rows. It stops when it has the wanted number of rows, when there are no
 * more, or when it has examined as many as it may. Returns EXIT_STOPPED in the last case.
 */
int list_found(struct invocation *invocation);

#endif
