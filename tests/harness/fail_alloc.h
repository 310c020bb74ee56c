/* SPDX-License-Identifier: Apache-2.0 */
/* Makes allocations of the library fail. A program that calls one of these is asked before each allocation; others are
 * left alone. The state is one for the whole program, and safe with threads.
 *
 *     for (long n = 1; fail_alloc_try(n); n++)
 *         the code under test, once with the n-th allocation failing, until it needs fewer than n
 */
#ifndef PAWL_TESTS_FAIL_ALLOC_H
#define PAWL_TESTS_FAIL_ALLOC_H

#include <stdbool.h>

/* Lets the n-th allocation from now on fail (the first is 1), and all others succeed; 0: none fails. */
void fail_alloc_at(long n);

/* Lets all allocations fail from the n-th on. */
void fail_alloc_from(long n);

/* Allocations asked for since one of the two above was called. */
long fail_alloc_count(void);

/* The head of the loop above: false, with failing switched off, if the round before came to its end without a failure. */
bool fail_alloc_try(long n);

#endif
