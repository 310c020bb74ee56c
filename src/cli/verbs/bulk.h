/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Actions on many runs that options name instead of ids. The command counts and shows the runs, asks for confirmation, and begins a bulk.
 * Housekeeping acts on the runs, in the background; the command ticks and shows how far it is.
 */
#ifndef PW_CLI_VERBS_BULK_H
#define PW_CLI_VERBS_BULK_H

#include "cli/command/invocation.h"
#include "cli/command/options.h"

/* The options that name runs, and those of every bulk. by_default is the rate. */
#define BULK_OPTIONS(by_default)                                                                \
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
        {.kind = KIND_TEXT, .name = "key", .value = "KEY", .summary = "all with this key"},     \
        OPTION_TENANT(NULL, "all of this tenant"), OPTION_SINCE(NULL, "triggered"),             \
        OPTION_BEFORE(NULL, "triggered"),                                                       \
        {.kind = KIND_REAL,                                                                     \
            .name = "rate",                                                                     \
            .value = "N",                                                                       \
            .summary = "runs in a second, up to 1000 (" by_default ")"},                        \
        {.kind = KIND_FLAG, .name = "dry-run", .summary = "show the runs, and do nothing"},     \
    {                                                                                           \
        .kind = KIND_FLAG, .letter = 'y', .name = "yes", .summary = "do it without asking"      \
    }

enum {
    BULK_TEXT_SIZE = 32,
};

/* A bulk that this command has begun. Initialize with {0}; bulk_done() frees it. */
struct bulk {
    char number[BULK_TEXT_SIZE]; /* "" if there was nothing to do */
    char found[BULK_TEXT_SIZE];  /* how many runs the preview found: 2300, or 10k+ */
    pawl_rows *last; /* its row of list_bulks() as this command has read it last; NULL: not yet */
};

/*
 * Counts the runs that the options name, asks for confirmation, and begins the bulk whose filter was counted. With --dry-run, shows the runs
 * and begins nothing. rate applies without --rate. Returns EXIT_OK, or prints why not and returns the exit code.
 */
int bulk_begin(struct invocation *invocation, const char *act, const char *rate, struct bulk *bulk);

/*
 * Ticks and shows progress until the bulk has ended. Returns EXIT_OK, or prints why not and returns the exit code; the bulk then continues
 * without this command.
 */
int bulk_follow(struct invocation *invocation, struct bulk *bulk);
void bulk_done(struct bulk *bulk);

/* Calls the verb for the runs whose ids were typed, or begins and follows a bulk for those that the options name. */
int bulk_or_named(struct invocation *invocation);

#endif
