/* SPDX-License-Identifier: Apache-2.0 */
/* One stream of events: what it watches, and the bytes that its client has not taken yet. */
#ifndef PW_SERVER_STREAM_H
#define PW_SERVER_STREAM_H

#include "base/buf.h"
#include "base/list.h"

#include <microhttpd.h>
#include <pawl/pawl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct group;

enum {
    STREAM_RUNS_MAX = 100,
    STREAM_MARK_SIZE = 100,
    STREAM_UNSENT_MAX = 262144, /* then it is closed; a client continues by Last-Event-ID */
};

struct watch {
    char run[PAWL_ID_SIZE];
    char mark[STREAM_MARK_SIZE]; /* of the state that was sent; "": none */
    bool ended;
};

/* All of it is guarded by the mutex. */
struct stream {
    struct pw_list link;
    struct group *owner;
    pthread_mutex_t *mutex;
    struct MHD_Connection *connection;
    int fd;
    bool begun;     /* the connection sends it */
    bool suspended; /* the connection waits for more */
    bool ending;    /* after what is in out, there is nothing more */
    bool with_notes;
    bool behind;  /* there are notes that its client had no room for */
    int64_t note; /* the last one that was sent */
    int64_t comment_us;
    struct pw_buf out;
    size_t sent; /* of out */
    size_t count;
    struct watch watches[];
};

/* Makes a stream of one id, or of a list {id,id}. NULL: more than STREAM_RUNS_MAX, or no memory. */
struct stream *stream_new(const char *runs);
void stream_free(struct stream *stream);

/* Returns the reply of a connection, or NULL. */
struct MHD_Response *stream_response(
    struct stream *stream, struct MHD_Connection *connection, int fd);

/* Add an event, with the mutex held: a row as an object, or a text. id may be NULL. stream_flush() sends it. */
void stream_event(
    struct stream *stream, const char *event, const char *id, const pawl_rows *rows, size_t row);
void stream_text(struct stream *stream, const char *event, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds and sends a comment, so that no proxy takes the stream for dead. */
void stream_comment(struct stream *stream);

/* How many bytes the client has not taken yet. */
size_t stream_unsent(const struct stream *stream);

/* Wakes the connection. Closes it if its client takes nothing any more. */
void stream_flush(struct stream *stream);

#endif
