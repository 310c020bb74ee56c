/* SPDX-License-Identifier: Apache-2.0 */
/* What stands in the place of functions of libpq and of the system; see the header. */
#include "calls.h"

#include "harness.h"
#include "sites.h"

#include <dlfcn.h>
#include <errno.h>
#include <libpq-fe.h>
#include <poll.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    SPARED_MAX = 8,
    PIECE = 5 /* bytes that are received or sent at once where calls are cut short */
};

static atomic_int spared[SPARED_MAX]; /* + 1; 0: none */
static atomic_bool interrupts;
static atomic_long interrupted;

void
calls_spare(int fd)
{
    for (size_t i = 0; i < SPARED_MAX; i++) {
        int none = 0;

        if (atomic_compare_exchange_strong(&spared[i], &none, fd + 1))
            return;
    }
    bench_die("more than %d connections look on", SPARED_MAX);
}

void
calls_interrupt(bool on)
{
    atomic_store(&interrupted, 0);
    atomic_store(&interrupts, on);
}

long
calls_interrupted(void)
{
    return atomic_load(&interrupted);
}

static bool
is_spared(int fd)
{
    for (size_t i = 0; i < SPARED_MAX; i++)
        if (atomic_load(&spared[i]) == fd + 1)
            return true;
    return false;
}

/* Whether this call is interrupted: every second one is, in no regular order, for two loops could go on for ever in the same step. */
static bool
is_interrupted(void)
{
    uint64_t number;

    if (!atomic_load(&interrupts))
        return false;
    number = (uint64_t)atomic_fetch_add(&interrupted, 1);
    return (number * UINT64_C(0x9e3779b97f4a7c15) >> 40) % 2 == 0;
}

/* How much of so many bytes is received or sent. */
static size_t
piece_of(size_t size)
{
    return atomic_load(&interrupts) && size > PIECE ? PIECE : size;
}

/* Sets errno if the call is to fail; what comes back from everywhere is interrupted, too. */
static __attribute__((noinline)) bool
fails(int errnum)
{
    if (is_interrupted()) {
        errno = EINTR;
        return true;
    }
    if (sites_ask_call(SITES_SYSTEM))
        return false;
    errno = errnum;
    return true;
}

/* --- libpq --- */

/* The connection is gone, as if a cable had been pulled; what libpq makes of that is its own. */
static void
cut(const PGconn *conn)
{
    int fd = conn == NULL ? -1 : PQsocket(conn);

    if (fd >= 0)
        (void)shutdown(fd, SHUT_RDWR);
}

/* Whether a call with a connection fails by itself; it may find its connection cut instead. */
static __attribute__((noinline)) bool
fails_in_libpq(const PGconn *conn)
{
    if (sites_ask_call(SITES_LIBPQ))
        return false;
    if (!sites_in_burst())
        return true;
    cut(conn);
    return false;
}

/* What the linker calls the function, and the one in its place; both have names that it chooses. */
#define IN_PLACE(type, name, parameters, arguments, conn, failure) \
    type __real_##name parameters;                                 \
    type __wrap_##name parameters;                                 \
    type __wrap_##name parameters                                  \
    {                                                              \
        if (fails_in_libpq(conn))                                  \
            return failure;                                        \
        return __real_##name arguments;                            \
    }

IN_PLACE(PGconn *, PQconnectStartParams,
    (const char *const *names, const char *const *values, int expand), (names, values, expand),
    NULL, NULL)
IN_PLACE(
    PostgresPollingStatusType, PQconnectPoll, (PGconn * conn), (conn), conn, PGRES_POLLING_FAILED)
IN_PLACE(PQconninfoOption *, PQconndefaults, (void), (), NULL, NULL)
IN_PLACE(PQconninfoOption *, PQconninfoParse, (const char *text, char **error), (text, error), NULL,
    NULL)
IN_PLACE(int, PQsetnonblocking, (PGconn * conn, int on), (conn, on), conn, -1)
IN_PLACE(int, PQenterPipelineMode, (PGconn * conn), (conn), conn, 0)
IN_PLACE(int, PQpipelineSync, (PGconn * conn), (conn), conn, 0)
IN_PLACE(int, PQflush, (PGconn * conn), (conn), conn, -1)
IN_PLACE(int, PQconsumeInput, (PGconn * conn), (conn), conn, 0)
IN_PLACE(int, PQsendQuery, (PGconn * conn, const char *query), (conn, query), conn, 0)
IN_PLACE(int, PQsendPrepare,
    (PGconn * conn, const char *name, const char *query, int count, const Oid *types),
    (conn, name, query, count, types), conn, 0)
IN_PLACE(int, PQsendQueryParams,
    (PGconn * conn, const char *query, int count, const Oid *types, const char *const *values,
        const int *lengths, const int *formats, int format),
    (conn, query, count, types, values, lengths, formats, format), conn, 0)
IN_PLACE(int, PQsendQueryPrepared,
    (PGconn * conn, const char *name, int count, const char *const *values, const int *lengths,
        const int *formats, int format),
    (conn, name, count, values, lengths, formats, format), conn, 0)

/* --- the system --- */

/* The function that has the name behind us: the system's, or the one of a sanitizer. */
static void *
behind(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);

    if (found == NULL)
        bench_die("there is no %s", name);
    return found;
}

ssize_t
recv(int fd, void *data, size_t size, int flags)
{
    static _Atomic(void *) found;
    ssize_t (*real)(int, void *, size_t, int);

    if (found == NULL)
        found = behind("recv");
    *(void **)&real = found;
    if (is_spared(fd))
        return real(fd, data, size, flags);
    return fails(ECONNRESET) ? -1 : real(fd, data, piece_of(size), flags);
}

ssize_t
send(int fd, const void *data, size_t size, int flags)
{
    static _Atomic(void *) found;
    ssize_t (*real)(int, const void *, size_t, int);

    if (found == NULL)
        found = behind("send");
    *(void **)&real = found;
    if (is_spared(fd))
        return real(fd, data, size, flags);
    return fails(ECONNRESET) ? -1 : real(fd, data, piece_of(size), flags);
}

int
poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
    static _Atomic(void *) found;
    int (*real)(struct pollfd *, nfds_t, int);

    if (found == NULL)
        found = behind("poll");
    *(void **)&real = found;
    if (count == 1 && is_spared(fds[0].fd))
        return real(fds, count, timeout_ms);
    return fails(ENOMEM) ? -1 : real(fds, count, timeout_ms);
}

int
ppoll(struct pollfd *fds, nfds_t count, const struct timespec *time, const sigset_t *mask)
{
    static _Atomic(void *) found;
    int (*real)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);

    if (found == NULL)
        found = behind("ppoll");
    *(void **)&real = found;
    return fails(ENOMEM) ? -1 : real(fds, count, time, mask);
}

int
socket(int domain, int type, int protocol)
{
    static _Atomic(void *) found;
    int (*real)(int, int, int);

    if (found == NULL)
        found = behind("socket");
    *(void **)&real = found;
    if (!atomic_load(&interrupts) && fails(EMFILE))
        return -1;
    return real(domain, type, protocol);
}

/* One that is interrupted goes on by itself. */
int
connect(int fd, const struct sockaddr *address, socklen_t size)
{
    static _Atomic(void *) found;
    int (*real)(int, const struct sockaddr *, socklen_t);

    if (found == NULL)
        found = behind("connect");
    *(void **)&real = found;
    if (is_interrupted()) {
        if (real(fd, address, size) != 0)
            return -1;
        errno = EINTR;
        return -1;
    }
    return fails(ECONNREFUSED) ? -1 : real(fd, address, size);
}

int
eventfd(unsigned count, int flags)
{
    static _Atomic(void *) found;
    int (*real)(unsigned, int);

    if (found == NULL)
        found = behind("eventfd");
    *(void **)&real = found;
    if (!atomic_load(&interrupts) && fails(EMFILE))
        return -1;
    return real(count, flags);
}

ssize_t
getrandom(void *data, size_t size, unsigned flags)
{
    static _Atomic(void *) found;
    ssize_t (*real)(void *, size_t, unsigned);

    if (found == NULL)
        found = behind("getrandom");
    *(void **)&real = found;
    return fails(ENOSYS) ? -1 : real(data, piece_of(size), flags);
}
