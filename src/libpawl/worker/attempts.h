/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of attempts that fail in the same way. A worker tries to reach its database every second or two, for as long as it cannot: hours,
 * if the settings are wrong. One line each would hide everything else, so the same failure is logged once a minute.
 */
#ifndef PW_LIBPAWL_WORKER_ATTEMPTS_H
#define PW_LIBPAWL_WORKER_ATTEMPTS_H

#include "base/error.h"
#include "pawl/worker.h"

#include <stdint.h>

enum {
    PW_TOLD_MAX = 4, /* failures that are remembered */
};

/* Used by the I/O thread only. */
struct pw_attempts {
    struct pw_told {
        const char *event; /* NULL: nothing was logged */
        char message[sizeof(((struct pw_error *)NULL)->message)];
        int64_t again_us;
    } told[PW_TOLD_MAX];
    size_t next;
};

/* Logs a failure, unless the same was logged less than a minute ago. event must be a constant. */
void pw_attempt_failed(pawl_worker *worker, int level, const char *event, const char *what,
    const struct pw_error *error, int64_t now_us);

/* The server has accepted the session: the next failure is logged at once. */
void pw_attempts_over(pawl_worker *worker);

#endif
