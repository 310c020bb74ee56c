/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pawl housekeep and pawl keeper: the housekeeping that workers do, for databases without workers, or whose workers are all bound to a
 * tenant.
 */
#include "cli/command/commands.h"
#include "cli/command/invocation.h"
#include "cli/process/signals.h"
#include "cli/report/exit.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

/* The engine does housekeeping ten times a second at most. */
static const struct timespec tick_every = {.tv_nsec = 100000000};
static const struct timespec try_again_after = {.tv_sec = 2};

static int
housekeep(struct invocation *invocation)
{
    int code = invocation_verb(invocation, NULL, "tick", "force", "true", NULL);

    if (code == EXIT_OK && invocation->output == OUTPUT_TABLE)
        (void)puts("housekeeping is done");
    return code;
}

/* Returns true if a signal asks the program to end, within the time. */
static bool
is_to_end(const sigset_t *signals, const struct timespec *within)
{
    return sigtimedwait(signals, NULL, within) > 0;
}

/* Makes one tick. Returns false for an error that no later attempt can change; code is then the exit code. */
static bool
tick(struct invocation *invocation, bool *failed, int *code)
{
    pawl_error *error = NULL;
    pawl_status status = pawl_client_call(invocation->client, "tick", NULL, NULL, 0, NULL, &error);

    if (status == PAWL_OK) {
        pawl_error_free(error);
        *failed = false;
        return true;
    }
    /* A tick whose outcome is unknown, as after a failover, is repeated, which is harmless. */
    if (status != PAWL_EUNKNOWN && !pawl_error_retryable(error)) {
        *code = exit_with_verb(status, error, "tick");
        return false;
    }
    /* Printed once, until a tick succeeds again. */
    if (*failed)
        pawl_error_free(error);
    else
        (void)exit_with_verb(status, error, "tick");
    *failed = true;
    return true;
}

static int
keep(struct invocation *invocation)
{
    sigset_t signals;
    bool failed = false;
    int code;

    signals_that_end(&signals);
    (void)pthread_sigmask(SIG_BLOCK, &signals, NULL);
    code = invocation_connect(invocation);
    while (code == EXIT_OK && tick(invocation, &failed, &code) &&
        !is_to_end(&signals, failed ? &try_again_after : &tick_every))
        ;
    return code;
}

const struct command cmd_housekeep[] = {
    {.name = "housekeep",
        .summary = "Do the due housekeeping once",
        .text = "Workers do it all the time, unless they are bound to a tenant. As the owner of "
                "the schema it also "
                "removes the empty tables of days past their retention, which workers leave.",
        .act = housekeep},
    {.name = "keeper",
        .summary = "Do the due housekeeping until stopped",
        .text =
            "For databases whose workers are all bound to a tenant, or are no workers of this "
            "program or of "
            "libpawl: without a keeper no timer of another tenant comes due and no history is "
            "removed. The role "
            "needs the rights of a worker, and must not be bound to a tenant. As the owner of the "
            "schema it also "
            "removes the empty tables of days past their retention. Any number of keepers may run.",
        .examples =
            (const struct example[]){
                {"pawl keeper -d postgresql:///app", "as the role of your login"},
                {0},
            },
        .act = keep},
    {0},
};
