/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of this process, in the text format of Prometheus. */
#ifndef PW_SERVER_METRICS_H
#define PW_SERVER_METRICS_H

#include "base/buf.h"

#include <stdint.h>

struct metrics;
struct route;
struct server;

/* NULL: no memory. */
struct metrics *metrics_new(void);
void metrics_free(struct metrics *metrics);

/* Counts a request. route is NULL if it was refused before one was found. Safe with threads. */
void metrics_count(
    struct metrics *metrics, const struct route *route, unsigned status, int64_t took_us);

/* Adds the lines. */
void metrics_write(struct server *server, struct pw_buf *out);

#endif
