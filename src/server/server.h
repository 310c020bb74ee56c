/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a running server. Each file owns its part; this header only says who there is. */
#ifndef PW_SERVER_SERVER_H
#define PW_SERVER_SERVER_H

#include "base/buf.h"
#include "server/api/guard.h"

#include <stdatomic.h>
#include <stdbool.h>

struct MHD_Daemon;
struct callers;
struct limit;
struct live;
struct metrics;
struct options;
struct reaper;
struct waits;

struct server {
    const struct options *options;
    struct guard_hosts hosts;
    struct MHD_Daemon *daemon;
    struct callers *callers;
    struct limit *tokens;  /* requests of each token */
    struct limit *strange; /* tokens that were refused, of each address */
    struct reaper *reaper;
    struct waits *waits;
    struct live *live;
    struct metrics *metrics;
    struct pw_buf document;         /* OpenAPI */
    atomic_size_t bodies;           /* bytes of bodies that are in memory */
    atomic_size_t strangers_bodies; /* the same of requests whose tokens are not known */
    atomic_bool draining;
    atomic_bool asking; /* ready.c has a question in the queue */
};

#endif
