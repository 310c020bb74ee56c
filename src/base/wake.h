/* SPDX-License-Identifier: Apache-2.0 */
/* A descriptor that one thread polls and any other makes readable: a flag, not a counter. It is closed on exec. */
#ifndef PW_BASE_WAKE_H
#define PW_BASE_WAKE_H

#include <stdbool.h>

struct pw_wake {
    int fd; /* for poll(2) with POLLIN; -1 if closed */
};

/* Returns 0, or an error number; fd is -1 then. */
int pw_wake_open(struct pw_wake *wake) __attribute__((warn_unused_result));

/* Harmless if it is closed, provided that fd is -1. No other thread may use it during the call. */
void pw_wake_close(struct pw_wake *wake);

/* Makes fd readable until the next clear, however often it is called. Never blocks; from any thread. */
void pw_wake_set(struct pw_wake *wake);

/* Makes fd unreadable; true if it was readable. Clear first, then check what other threads left for this one: that
 * way no wake-up is lost. */
bool pw_wake_clear(struct pw_wake *wake);

#endif
