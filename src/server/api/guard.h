/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The form of requests: pure functions over the first line and the headers of a request, called ahead of everything else. A request that two
 * programs can read in two ways is refused, because a proxy in front might read it in the other way.
 */
#ifndef PW_SERVER_API_GUARD_H
#define PW_SERVER_API_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    GUARD_HEADERS_MAX = 100,
    GUARD_HEADER_BYTES_MAX = 16384,
    GUARD_TARGET_MAX = 8192,
    GUARD_HOSTS_MAX = 16,
    GUARD_SINGLES = 5,
};

/* The result of the checks so far. */
struct guard {
    const char *problem; /* the first one, as a part of a message; NULL: none */
    unsigned status;     /* of HTTP, of the problem */
    size_t headers;
    size_t bytes;
    size_t lengths; /* headers Content-Length */
    size_t chunked; /* headers Transfer-Encoding */
    size_t hosts;
    size_t singles[GUARD_SINGLES]; /* of other headers that may be there once */
    int64_t length;                /* Content-Length, or -1 */
    bool bodiless;                 /* the method has no body */
    const char *next;              /* where the next line must begin; NULL: that is not checked */
};

void guard_init(struct guard *guard);

/* Checks method, raw target and version ("HTTP/1.1") of a request. */
void guard_line(struct guard *guard, const char *method, const char *target, const char *version);

/*
 * Checks that the request was read as it was sent, ahead of guard_header(): libmicrohttpd before 1.0 joins folded lines, takes a bare line
 * feed for the end of a line, ends a value at a NUL, and takes a header without a name for the end of all headers. None of this shows in
 * the texts, but all of it in their places. They are parts of one buffer: method, address and version are separated by one byte, lines by
 * two. target is the address as it was received, url its place in the buffer.
 */
void guard_layout(struct guard *guard, const char *method, const char *url, const char *target,
    const char *version);

/* The same for the end: the first line and all headers have size bytes, from method on. */
void guard_layout_end(struct guard *guard, const char *method, size_t size);

/* Checks one header; its name and value as they were received. */
void guard_header(
    struct guard *guard, const char *name, size_t name_size, const char *value, size_t value_size);

/* Checks what only all headers together show. Returns true if there was no problem. */
bool guard_end(struct guard *guard);

/* Returns true if a body follows the headers. */
bool guard_has_body(const struct guard *guard);

/* The names by which a client may call this server. A browser sends the name that a page was loaded from, also one that an attacker has bound to this address. */
struct guard_hosts {
    const char *const *names; /* ends with NULL; without or with a port */
    unsigned port;            /* 0: a Unix socket */
    bool loopback;            /* listens on loopback, or on a Unix socket */
};

/* Returns true if the value of a header Host is one of ours. */
bool guard_host(const struct guard_hosts *hosts, const char *value);

#endif
