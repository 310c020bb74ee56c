/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One client of the proxy and its connection to the server: reading, sending, delaying, losing. When to cut is not
 * decided here.
 */
#ifndef PAWL_PROXY_PAIR_H
#define PAWL_PROXY_PAIR_H

#include "proxy_wire.h"

#include <poll.h>

enum {
    proxy_marks_max = 64
};

/* Bytes of a delayed answer and when they may go. */
struct proxy_mark {
    size_t bytes;
    double due_s;
};

/* A side that is closed is -1. */
struct proxy_pair {
    int client;
    int server;
    bool client_ended;
    bool server_ended;
    /* The server takes nothing any more, but may have said why. */
    bool server_deaf;
    /* Bytes were lost, so the connection cannot be used any more. */
    bool swallowed;
    /* To be closed by the proxy's thread. */
    bool over;
    /* The rule that withholds an answer, or -1. */
    int rule;
    struct wire wire;
    /* The last bytes of wire.down, in order; what stands before them may go. */
    struct proxy_mark marks[proxy_marks_max];
    int first_mark;
    int mark_count;
    size_t marked;
};

/* Takes both sockets. Without a server (-1) all that the client says is lost. */
struct proxy_pair *proxy_pair_new(int client, int server);

/* Closes the sockets. */
void proxy_pair_free(struct proxy_pair *pair);

/* What to poll for: the client first, then the server. */
void proxy_pair_poll(const struct proxy_pair *pair, struct pollfd *both);

/* Each reads once and notices when that side has ended. */
void proxy_pair_read_client(struct proxy_pair *pair);
void proxy_pair_read_server(struct proxy_pair *pair);

/* How many bytes have been looked at and wait to go to the client, those of the marks included. */
size_t proxy_pair_pending(const struct proxy_pair *pair);

/* The last `bytes` of them may not go before due_s. */
void proxy_pair_delay(struct proxy_pair *pair, size_t bytes, double due_s);

/* All of them may go. */
void proxy_pair_hurry(struct proxy_pair *pair);

/* When the next of them may go, or 0. */
double proxy_pair_due_s(const struct proxy_pair *pair);

/* Sends what may go, as far as the sides take it, and notices when nothing is left to do for a side that has ended. */
void proxy_pair_send(struct proxy_pair *pair, double now_s);

/* Loses all that has come and comes; returns how many bytes. Neither side learns that the other has gone. */
long proxy_pair_swallow(struct proxy_pair *pair, bool client_ready, bool server_ready);

#endif
