/* SPDX-License-Identifier: Apache-2.0 */
/* Log lines that are kept until they are fetched. Any thread adds lines; one thread at a time fetches them. */
#ifndef PW_LIBPAWL_LOG_RING_H
#define PW_LIBPAWL_LOG_RING_H

#include "pawl/log.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PW_LOG_RING_MAX = 1000
};

struct pw_log_ring {
    int level; /* the least important level that is kept; does not change */
    /* Called after a line was added, without the lock; does not change. */
    void (*added)(void *argument);
    void *argument;

    pthread_mutex_t lock;
    /* All below is guarded by the lock. */
    pawl_log_line *lines[PW_LOG_RING_MAX];
    size_t first; /* the oldest one */
    size_t count;
    int64_t dropped;        /* ahead of the oldest one */
    int64_t lost;           /* after the newest one, because there was no memory */
    pawl_log_line *fetched; /* the caller has it until the next call */
};

/* Makes an empty ring, or returns NULL. */
struct pw_log_ring *pw_log_ring_new(int level, void (*added)(void *argument), void *argument);

/* Frees a ring, which may be NULL. destroy_lock: in the process that made it. No other thread may use it. */
void pw_log_ring_free(struct pw_log_ring *ring, bool destroy_lock);

/* Adds a copy of a line. If the ring is full, drops the oldest one. */
void pw_log_ring_add(struct pw_log_ring *ring, const pawl_log_line *line);

/* Returns the oldest line, borrowed until the next call; NULL: none. */
const pawl_log_line *pw_log_ring_next(struct pw_log_ring *ring);

/* Returns true if it has no line. Any thread. */
bool pw_log_ring_empty(struct pw_log_ring *ring);

#endif
