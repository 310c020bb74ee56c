/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scenarios, executed again and again with another allocation failing each time, or another call. A scenario may be told that there is no memory
 * wherever the interface says so, or, where calls fail, that there is no connection or that nobody knows; called again with nothing failing it must
 * come to the same end as if nothing had happened.
 */
#ifndef PAWL_TORTURE_H
#define PAWL_TORTURE_H

#include "calls.h"
#include "harness.h"
#include "race.h"
#include "sites.h"

#include <pawl/pawl.h>
#include <pawl/test.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct scenario {
    const char *name;
    /* Once before all trials, with memory; may be NULL. */
    void (*prepare)(void);
    /* All of it. False: a call has said that there is no memory, everything that was made is freed, and it can be called again. */
    bool (*act)(void);
    /* Once after all trials; may be NULL. */
    void (*finish)(void);
    /* Sites outside of the I/O thread that have failed in other scenarios fail in this one, too. */
    bool anew;
    /* Another program does this one: it is executed once, and what it comes to is not tried again here. */
    bool known;
};

/*
 * Executes all scenarios, or those whose names contain one of the arguments, and returns what main returns.
 *
 *   without an option    every site fails once, and once more with some allocations behind it; with PAWL_SITES=N in the environment
 *                        one site of N, and PAWL_SEED says which
 *   --full               every single allocation of every scenario fails
 *   --list               prints all sites in the end
 *   --missed             prints sites that were seen and did not come up again
 *   --fail libpq         instead of allocations, calls into libpq fail; --full with it: every single call
 *   --fail system        the same for calls into the system
 *   --deep               a call is told from another by eight callers instead of four, and each fails alone and with more
 *   --fail interrupt     calls into the system are interrupted and cut short, all of them, once in every scenario: it must not be noticed
 */
int torture_main(int argc, char **argv, const struct scenario *scenarios, size_t count);

/* A number that is another one in each trial, and the same when act is called again. */
long torture_trial(void);

/* The same as text. */
const char *torture_trial_text(void);

/* The name of the scenario that is being tried. */
const char *torture_scenario(void);

/* Says that something is wrong, if it is. Any thread. Returns good. */
bool torture_check(bool good, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Looks at what a call came to, and frees its error: true if it is PAWL_OK, false if there was no memory; anything else is wrong. */
bool torture_ok(pawl_status status, pawl_error **error, const char *what);

/* The same where another status than PAWL_OK is right. */
bool torture_is(pawl_status status, pawl_status right, pawl_error **error, const char *what);

/* Whether all calls of this trial have said what they came to; else one has said that nobody knows. */
bool torture_is_sure(void);

/* Whether connections broke again and again in this trial: who left meanwhile may not have been able to say so. */
bool torture_is_cut_off(void);

/* A connection that nothing happens to, of the main thread. */
PGconn *torture_database(void);

/* The one text that a query returns, in memory of the caller; "" for null or no row. */
char *torture_text(const char *sql, const char *param);

/* A configuration for workers and clients that finds out quickly what is lost, or NULL if there is no memory. */
pawl_config *torture_config(void);

/* Starts a thread that is no part of what is tested. */
void torture_thread(pthread_t *thread, void *(*start)(void *), void *arg);

#endif
