/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses: the socket that clients connect to, and the daemon that serves it. */
#ifndef PW_SERVER_LISTEN_H
#define PW_SERVER_LISTEN_H

#include <stdbool.h>
#include <stddef.h>

struct server;

enum {
    LISTEN_NAME_SIZE = 160,
};

struct listener {
    int fd;
    unsigned port;               /* 0: a Unix socket */
    bool loopback;               /* only programs of this machine can connect */
    char name[LISTEN_NAME_SIZE]; /* "http://127.0.0.1:7295", "unix:PATH" */
    const char *path;            /* of a Unix socket, to remove at the end */
};

/*
 * Opens the socket of "ADDRESS:PORT" or "unix:PATH". anywhere: another address than one of this machine is allowed. Returns 0, or an exit
 * code after a message: 2 if the address is invalid or not allowed.
 */
int listen_open(struct listener *listener, const char *address, bool anywhere);

/* Serves the socket. Returns false after a message. The daemon closes the socket. */
bool listen_start(struct server *server, const struct listener *listener);

/* How many connections the limit of descriptors allows, after it was raised as far as it may be. */
size_t listen_descriptors(void);

#endif
