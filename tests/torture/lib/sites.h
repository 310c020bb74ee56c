/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes allocations of the library fail, one site after the other. A site is a place in the code that asks for memory, told apart by
 * who called it, some calls up: a buffer that grows is another site for each who adds to it. Threads make the n-th allocation
 * another one in each round; a site is the same in all. Starting a thread counts as an allocation, for it can fail for the same
 * reason. What libpq allocates is not seen.
 *
 * The same is done for calls that can fail, instead of allocations: those into libpq, and those into the system (calls.h). Their site is the call
 * and where in this program it comes from, through libpq or not.
 *
 * Defines pw_alloc_hook(), so a program has this or tests/harness/fail_alloc.c, not both. Safe with threads.
 */
#ifndef PAWL_TORTURE_SITES_H
#define PAWL_TORTURE_SITES_H

#include <stdbool.h>
#include <stddef.h>

enum sites_kind {
    SITES_MEMORY,
    SITES_LIBPQ,
    SITES_SYSTEM,
};

/* What kind of sites there are; memory unless something else is said, before the first of them is met. deep: more callers tell calls apart. */
void sites_choose(enum sites_kind kind, bool deep);

/* Asked by the functions that stand in for others; false if the call is to fail. */
bool sites_ask_call(enum sites_kind kind);

/* Whether several fail together. */
bool sites_in_burst(void);

/* What fails from now on; counting begins anew. */
void sites_fail_none(void);
/* The first allocation at this site, and so many that follow it anywhere; before it, what led to this site when it was seen first. */
void sites_fail_at(size_t site, long more);
/* The n-th allocation, and so many that follow it. */
void sites_fail_nth(long n, long more);

/* From now on there is memory again; what has happened is not forgotten. */
void sites_fail_no_more(void);

/* Whether something has failed since one of the first three was called. */
bool sites_failed(void);

/* How many sites were seen so far by this program. */
size_t sites_count(void);

/* Begins another scenario. With again, what has failed before outside of the I/O thread is forgotten. */
void sites_begin(bool again);

/* Whether a site was seen in this scenario, and whether it has failed. */
bool sites_seen(size_t site);
bool sites_was_failed(size_t site);

/* Takes all that was seen in this scenario for failed. */
void sites_skip_seen(void);

/* Whether only the I/O thread was seen there. */
bool sites_only_io(size_t site);

/* Writes where a site is: function and line, and those who called it. Slow. */
void sites_print(size_t site);

/* The same of what failed last. */
void sites_print_failed(void);

#endif
