/* SPDX-License-Identifier: Apache-2.0 */
/* Log lines that are kept until they are fetched. */
#include "libpawl/common/log_ring.h"

#include "base/alloc.h"

#include <string.h>

struct pw_log_ring *
pw_log_ring_new(int level, void (*added)(void *argument), void *argument)
{
    struct pw_log_ring *ring = pw_calloc(1, sizeof(*ring));

    if (ring == NULL)
        return NULL;
    if (pthread_mutex_init(&ring->lock, NULL) != 0) {
        pw_free(ring);
        return NULL;
    }
    ring->level = level;
    ring->added = added;
    ring->argument = argument;
    return ring;
}

void
pw_log_ring_free(struct pw_log_ring *ring, bool destroy_lock)
{
    if (ring == NULL)
        return;
    for (size_t i = 0; i < ring->count; i++)
        pw_free(ring->lines[(ring->first + i) % PW_LOG_RING_MAX]);
    pw_free(ring->fetched);
    if (destroy_lock)
        (void)pthread_mutex_destroy(&ring->lock); /* no thread holds it */
    pw_free(ring);
}

static size_t
size_of(const char *text)
{
    return text != NULL ? strlen(text) + 1 : 1;
}

/* Copies a text to *at, which moves to its end. */
static const char *
put_text(char **at, const char *text)
{
    char *start = *at;
    size_t size = size_of(text);

    memcpy(start, text != NULL ? text : "", size);
    *at += size;
    return start;
}

/* Copies a line in one block: the structure, its two tables, then all texts. Returns NULL if out of memory. */
static pawl_log_line *
copy_line(const pawl_log_line *line)
{
    size_t tables = 2 * line->count * sizeof(char *);
    size_t size = sizeof(*line) + tables + size_of(line->event) + size_of(line->message);
    const char **names;
    pawl_log_line *copy;
    char *at;

    for (size_t i = 0; i < line->count; i++)
        size += size_of(line->names[i]) + size_of(line->values[i]);
    copy = pw_alloc(size);
    if (copy == NULL)
        return NULL;
    *copy = *line;
    names = (const char **)(void *)(copy + 1);
    at = (char *)(copy + 1) + tables;
    copy->event = put_text(&at, line->event);
    copy->message = put_text(&at, line->message);
    for (size_t i = 0; i < line->count; i++) {
        names[i] = put_text(&at, line->names[i]);
        names[line->count + i] = put_text(&at, line->values[i]);
    }
    copy->names = names;
    copy->values = names + line->count;
    return copy;
}

/* Takes the oldest line out of the ring. With the lock held. */
static pawl_log_line *
take_first(struct pw_log_ring *ring)
{
    pawl_log_line *line = ring->lines[ring->first];

    ring->first = (ring->first + 1) % PW_LOG_RING_MAX;
    ring->count--;
    return line;
}

void
pw_log_ring_add(struct pw_log_ring *ring, const pawl_log_line *line)
{
    pawl_log_line *copy = copy_line(line);
    pawl_log_line *oldest = NULL;

    (void)pthread_mutex_lock(&ring->lock);
    if (copy == NULL) {
        ring->lost++;
    } else {
        if (ring->count == PW_LOG_RING_MAX) {
            oldest = take_first(ring);
            ring->dropped += oldest->dropped + 1;
        }
        copy->dropped = ring->lost;
        ring->lost = 0;
        ring->lines[(ring->first + ring->count) % PW_LOG_RING_MAX] = copy;
        ring->count++;
    }
    (void)pthread_mutex_unlock(&ring->lock);
    pw_free(oldest);
    if (copy != NULL && ring->added != NULL)
        ring->added(ring->argument);
}

const pawl_log_line *
pw_log_ring_next(struct pw_log_ring *ring)
{
    pawl_log_line *line = NULL;

    (void)pthread_mutex_lock(&ring->lock);
    if (ring->count > 0) {
        line = take_first(ring);
        line->dropped += ring->dropped;
        ring->dropped = 0;
        pw_free(ring->fetched);
        ring->fetched = line;
    }
    (void)pthread_mutex_unlock(&ring->lock);
    return line;
}

bool
pw_log_ring_empty(struct pw_log_ring *ring)
{
    bool empty;

    (void)pthread_mutex_lock(&ring->lock);
    empty = ring->count == 0;
    (void)pthread_mutex_unlock(&ring->lock);
    return empty;
}
