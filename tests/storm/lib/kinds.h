/* SPDX-License-Identifier: Apache-2.0 */
/* What the storm's callers and the handlers of its workers have to agree on: names, and what the number of a run decides. */
#ifndef PAWL_STORM_KINDS_H
#define PAWL_STORM_KINDS_H

#include <stdbool.h>
#include <stdio.h>

#define STORM_FLOW "storm.flow.v1"
#define STORM_TOPIC "storm.topic"
#define STORM_SIGNAL "go"
#define STORM_CHILD "storm.child.v1"

enum {
    storm_key_bytes = 32,
    /* How many events a run waits for, one after the other. */
    storm_events = 2
};

/* Whether the events of a run come under a key that others wait for, too. */
static inline bool
storm_event_crowded(long n)
{
    return n % 4 == 0;
}

static inline void
storm_event_key(long n, char key[storm_key_bytes])
{
    if (storm_event_crowded(n))
        (void)snprintf(key, storm_key_bytes, "crowd %ld", n / 4 % 8);
    else
        (void)snprintf(key, storm_key_bytes, "%ld", n);
}

/* Whether a run waits for its signal for a short time only. */
static inline bool
storm_signal_hasty(long n)
{
    return n % 8 == 0;
}

/* Whether a run stands before the others of its queue, so that what is done about it finds it at work. */
static inline bool
storm_urgent(long n)
{
    return n % 3 == 0;
}

/* Whether a run of the flow fails in its last step, and is rolled back. */
static inline bool
storm_flow_fails(long n)
{
    return n % 8 == 0;
}

#endif
