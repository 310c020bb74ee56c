/* SPDX-License-Identifier: Apache-2.0 */
/* What is still to be done about runs by somebody: a list from which any thread takes one at random, when it is due. */
#ifndef PAWL_STORM_DUTIES_H
#define PAWL_STORM_DUTIES_H

#include "race.h"

#include <pawl/pawl.h>
#include <pthread.h>

struct duty {
    char run[PAWL_ID_SIZE];
    long n;
    int kind;
    /* How often it is still to be done. */
    int left;
    double due_s;
};

struct duties {
    pthread_mutex_t lock;
    struct duty *items;
    long count;
    long capacity;
};

void duties_init(struct duties *duties);
void duties_done(struct duties *duties);

void duties_add(struct duties *duties, const struct duty *duty);

/* Takes one that is due; false: there is none now. `any` takes also what is not due. */
bool duties_take(struct duties *duties, struct race_random *random, bool any, struct duty *duty);

long duties_count(struct duties *duties);

#endif
