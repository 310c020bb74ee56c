/* SPDX-License-Identifier: Apache-2.0 */
/* Workers that have each a line of its own to the database, which can be made to fail without the others noticing. */
#ifndef PAWL_CRASH_LINES_H
#define PAWL_CRASH_LINES_H

#include "crash.h"
#include "proxy.h"

enum {
    lines_max = 16
};

struct lines {
    int count;
    /* That of worker number i, the killer's child i. */
    struct proxy *line[lines_max];
};

/* Opens lines, and starts a worker at the end of each; spec.count and spec.env are not looked at. The first workers of the program. */
void lines_open(
    struct lines *lines, struct crash *crash, const struct crash_workers *spec, int count);

/* Takes them away. The workers have ended. */
void lines_close(struct lines *lines);

/* Nanoseconds of the ledger's clock, and the same moment by that of the meter. */
int64_t lines_now_ns(void);
int64_t lines_wall_us(int64_t at_ns);

#endif
