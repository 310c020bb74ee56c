/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams of events (SSE): states and notes of runs as they change. The streams of one token are asked for together, as that token, so
 * that the database decides at each question what it may see. The cost grows with distinct runs, not with streams.
 */
#ifndef PW_SERVER_LIVE_H
#define PW_SERVER_LIVE_H

#include <microhttpd.h>
#include <pawl/pawl.h>
#include <stddef.h>
#include <stdint.h>

struct live;
struct request;
struct server;
struct stream;

/* NULL: no memory. */
struct live *live_new(struct server *server);
void live_free(struct live *live);

/* Begins the stream of a request: sets its stream, or its problem. */
pawl_status live_begin(struct request *request, pawl_client *client);

/* Begins to send: the reply is about to be queued. */
struct MHD_Response *live_response(
    struct stream *stream, struct MHD_Connection *connection, int fd);

/* Ends a stream: its connection has ended, or was never begun. Takes NULL. */
void live_end(struct live *live, struct stream *stream);

/* The client has hung up. */
void live_gone(struct live *live, struct stream *stream);

/* Asks for what is due. Returns when to call it again, on the clock of pw_now_us(). */
int64_t live_tick(struct live *live, int64_t now_us);

/* Ends all streams after what they have still to send, and those that begin later. */
void live_drain(struct live *live);

size_t live_count(struct live *live);

#endif
