/* SPDX-License-Identifier: Apache-2.0 */
/* The hook that src/base/alloc.c asks before each allocation. */
#include "fail_alloc.h"

#include "base/alloc.h"

#include <stdatomic.h>

/* Which allocations fail: those numbered first to last; 0 is none. Only the program's tests write them. */
static atomic_long first, last;
static atomic_long count;

bool
pw_alloc_hook(void)
{
    long number = atomic_fetch_add(&count, 1) + 1;

    return number < atomic_load(&first) || number > atomic_load(&last);
}

static void
set_range(long from, long to)
{
    atomic_store(&first, from);
    atomic_store(&last, to);
    atomic_store(&count, 0);
}

void
fail_alloc_at(long n)
{
    set_range(n, n);
}

void
fail_alloc_from(long n)
{
    set_range(n, 0x7fffffff);
}

long
fail_alloc_count(void)
{
    return atomic_load(&count);
}

bool
fail_alloc_try(long n)
{
    bool more = n == 1 || fail_alloc_count() >= n - 1;

    fail_alloc_at(more ? n : 0);
    return more;
}
