/* SPDX-License-Identifier: Apache-2.0 */
/* Duties; see the header. */
#include "duties.h"

#include <stdlib.h>
#include <string.h>

enum {
    first_capacity = 1024,
    /* How many are looked at for one that is due. */
    looks = 8
};

static void
lock(struct duties *duties)
{
    if (pthread_mutex_lock(&duties->lock) != 0)
        bench_die("cannot lock a list of duties");
}

static void
unlock(struct duties *duties)
{
    if (pthread_mutex_unlock(&duties->lock) != 0)
        bench_die("cannot unlock a list of duties");
}

void
duties_init(struct duties *duties)
{
    memset(duties, 0, sizeof(*duties));
    if (pthread_mutex_init(&duties->lock, NULL) != 0)
        bench_die("cannot make a lock");
}

void
duties_done(struct duties *duties)
{
    free(duties->items);
    (void)pthread_mutex_destroy(&duties->lock); /* Nobody else has it. */
}

void
duties_add(struct duties *duties, const struct duty *duty)
{
    lock(duties);
    if (duties->count == duties->capacity) {
        duties->capacity = duties->capacity == 0 ? first_capacity : 2 * duties->capacity;
        duties->items = realloc(duties->items, (size_t)duties->capacity * sizeof(*duties->items));
        if (duties->items == NULL)
            bench_die("out of memory");
    }
    duties->items[duties->count++] = *duty;
    unlock(duties);
}

bool
duties_take(struct duties *duties, struct race_random *random, bool any, struct duty *duty)
{
    double now_s = bench_now_s();
    bool taken = false;

    lock(duties);
    for (int i = 0; i < looks && duties->count > 0 && !taken; i++) {
        long at = (long)race_below(random, (unsigned)duties->count);

        if (!any && duties->items[at].due_s > now_s)
            continue;
        *duty = duties->items[at];
        duties->items[at] = duties->items[--duties->count];
        taken = true;
    }
    unlock(duties);
    return taken;
}

long
duties_count(struct duties *duties)
{
    long count;

    lock(duties);
    count = duties->count;
    unlock(duties);
    return count;
}
