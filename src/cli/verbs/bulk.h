/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verbs for many runs that options name instead of ids. The command finds, counts and shows the runs, asks for confirmation, and then calls
 * the verb page by page.
 */
#ifndef PW_CLI_VERBS_BULK_H
#define PW_CLI_VERBS_BULK_H

#include "cli/command/invocation.h"
#include "cli/command/options.h"

/* The options that name runs. */
#define BULK_OPTIONS                                                                            \
    {.kind = KIND_WORKFLOW,                                                                     \
        .letter = 'w',                                                                          \
        .name = "workflow",                                                                     \
        .value = "NAME",                                                                        \
        .summary = "all of this workflow, or of those that a pattern such as billing.* names"}, \
        {.kind = KIND_CHOICE,                                                                   \
            .letter = 's',                                                                      \
            .name = "status",                                                                   \
            .value = "STATUS",                                                                  \
            .choices = "QUEUED RUNNING PAUSED SUCCESS ERROR CANCELLED",                         \
            .summary = "all in this state"},                                                    \
        OPTION_TENANT(NULL, "all of this tenant"), OPTION_SINCE(NULL, "triggered"),             \
        OPTION_BEFORE(NULL, "triggered"),                                                       \
    {                                                                                           \
        .kind = KIND_FLAG, .letter = 'y', .name = "yes", .summary = "do it without asking"      \
    }

/* Calls the verb for the runs whose ids were typed, or for those that the options name. */
int bulk_or_named(struct invocation *invocation);

#endif
