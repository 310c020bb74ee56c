/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deadlines and hang-ups of connections. libmicrohttpd counts only inactivity, so a client that sends a byte now and then would stay; and
 * it does not watch suspended connections, so a client that hangs up while it waits would stay, too. The thread here sees both. It is also
 * the clock of everything that is due: waits, streams and the question whether the database is there.
 */
#ifndef PW_SERVER_REAPER_H
#define PW_SERVER_REAPER_H

#include "base/list.h"

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reaper;
struct request;
struct server;

enum phase {
    PHASE_NEW,     /* nothing came yet: 5 s */
    PHASE_HEADERS, /* the first line came: 5 s */
    PHASE_BODY,    /* 30 s */
    PHASE_CALL,    /* the database decides how long */
    PHASE_REPLY,   /* 60 s */
    PHASE_STREAM,  /* as long as it lasts */
    PHASE_IDLE,    /* between two requests: 75 s */
};

enum {
    ADDRESS_SIZE = 16,
};

/* A connection. It lives until libmicrohttpd has closed it. */
struct conn {
    struct pw_list link;
    struct reaper *reaper;
    int fd;
    uint32_t generation; /* tells two connections with one descriptor apart */
    enum phase phase;
    int64_t deadline_us;
    struct request *request; /* that waits or streams; NULL: none */
    uint8_t address[ADDRESS_SIZE];
};

/* NULL: no memory, or no thread. */
struct reaper *reaper_new(struct server *server, size_t descriptors);
void reaper_free(struct reaper *reaper);

/* A callback of libmicrohttpd: a connection begins or ends. */
void reaper_connection(void *reaper, struct MHD_Connection *connection, void **context,
    enum MHD_ConnectionNotificationCode what);

/* Begins a phase of a connection, with its deadline. */
void reaper_phase(struct conn *conn, enum phase phase);

/* Watches for the hang-up of a client whose request waits or streams; NULL ends that. */
void reaper_watch(struct conn *conn, struct request *request);

/* Makes the thread look at once what is due. */
void reaper_wake(struct reaper *reaper);

/* Closes connections without a request, from now on also those that become so. */
void reaper_drain(struct reaper *reaper);

/* How many connections are open, and how many of them have a request. */
size_t reaper_open(struct reaper *reaper);
size_t reaper_busy(struct reaper *reaper);

#endif
