/* SPDX-License-Identifier: Apache-2.0 */
#include "server/reaper.h"

#include "base/alloc.h"
#include "base/time.h"
#include "base/wake.h"
#include "server/live.h"
#include "server/ready.h"
#include "server/request.h"
#include "server/server.h"
#include "server/waits.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    EVENTS = 64,
};

static const int64_t second_us = 1000000;
static const int64_t scan_every_us = 250000;

struct reaper {
    struct server *server;
    pthread_mutex_t mutex;
    struct pw_list conns;
    struct conn **by_descriptor;
    size_t descriptors;
    size_t open;
    uint32_t generation;
    bool draining;
    int epoll;
    struct pw_wake wake;
    atomic_bool ending;
    bool started;
    pthread_t thread;
};

static int64_t
time_of(enum phase phase)
{
    switch (phase) {
    case PHASE_NEW:
    case PHASE_HEADERS:
        return 5 * second_us;
    case PHASE_BODY:
        return 30 * second_us;
    case PHASE_REPLY:
        return 60 * second_us;
    case PHASE_IDLE:
        return 75 * second_us;
    case PHASE_CALL:
    case PHASE_STREAM:
        break;
    }
    return INT64_MAX;
}

static bool
is_quiet(enum phase phase)
{
    return phase == PHASE_NEW || phase == PHASE_IDLE;
}

/* Addresses of IPv4 and of the first 64 bits of IPv6 are those of one client; a Unix socket has one address for all. */
static void
read_address(const struct sockaddr *address, uint8_t out[ADDRESS_SIZE])
{
    if (address != NULL && address->sa_family == AF_INET) {
        struct sockaddr_in in;

        memcpy(&in, address, sizeof(in));
        out[0] = 4;
        memcpy(out + 1, &in.sin_addr, sizeof(in.sin_addr));
    } else if (address != NULL && address->sa_family == AF_INET6) {
        struct sockaddr_in6 in6;

        memcpy(&in6, address, sizeof(in6));
        out[0] = 6;
        memcpy(out + 1, &in6.sin6_addr, 8);
    }
}

static void
begin_connection(struct reaper *reaper, struct MHD_Connection *connection, void **context)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct conn *conn = pw_calloc(1, sizeof(*conn));

    *context = conn;
    if (conn == NULL)
        return;
    conn->reaper = reaper;
    conn->fd = info->connect_fd;
    info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    read_address(info != NULL ? info->client_addr : NULL, conn->address);
    conn->deadline_us = pw_now_us() + time_of(PHASE_NEW);
    (void)pthread_mutex_lock(&reaper->mutex);
    conn->generation = ++reaper->generation;
    reaper->open++;
    pw_list_add_tail(&reaper->conns, &conn->link);
    if ((size_t)conn->fd < reaper->descriptors)
        reaper->by_descriptor[conn->fd] = conn;
    (void)pthread_mutex_unlock(&reaper->mutex);
}

static void
end_connection(struct reaper *reaper, struct conn *conn)
{
    (void)pthread_mutex_lock(&reaper->mutex);
    pw_list_remove(&conn->link);
    reaper->open--;
    if ((size_t)conn->fd < reaper->descriptors && reaper->by_descriptor[conn->fd] == conn)
        reaper->by_descriptor[conn->fd] = NULL;
    (void)pthread_mutex_unlock(&reaper->mutex);
    (void)epoll_ctl(reaper->epoll, EPOLL_CTL_DEL, conn->fd, NULL); /* it may not be in the set */
    pw_free(conn);
}

void
reaper_connection(void *reaper, struct MHD_Connection *connection, void **context,
    enum MHD_ConnectionNotificationCode what)
{
    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        begin_connection(reaper, connection, context);
    else if (*context != NULL)
        end_connection(reaper, *context);
}

void
reaper_phase(struct conn *conn, enum phase phase)
{
    struct reaper *reaper = conn->reaper;
    int64_t now = pw_now_us();

    (void)pthread_mutex_lock(&reaper->mutex);
    conn->phase = phase;
    conn->deadline_us = pw_add_us(now, time_of(phase));
    if (reaper->draining && is_quiet(phase))
        conn->deadline_us = now;
    (void)pthread_mutex_unlock(&reaper->mutex);
}

void
reaper_watch(struct conn *conn, struct request *request)
{
    struct reaper *reaper = conn->reaper;
    struct epoll_event event = {.events = EPOLLRDHUP | EPOLLONESHOT,
        .data.u64 = (uint64_t)conn->generation << 32 | (uint32_t)conn->fd};

    (void)pthread_mutex_lock(&reaper->mutex);
    conn->request = request;
    (void)pthread_mutex_unlock(&reaper->mutex);
    /* Without memory for the watch, the hang-up is seen at the next write. */
    if (request == NULL)
        (void)epoll_ctl(reaper->epoll, EPOLL_CTL_DEL, conn->fd, NULL);
    else if (epoll_ctl(reaper->epoll, EPOLL_CTL_ADD, conn->fd, &event) != 0)
        (void)epoll_ctl(reaper->epoll, EPOLL_CTL_MOD, conn->fd, &event);
}

/* A client has hung up. The event may be older than the connection that has its descriptor now. */
static void
hang_up(struct reaper *reaper, uint64_t data)
{
    size_t fd = (uint32_t)data;
    struct conn *conn;

    (void)pthread_mutex_lock(&reaper->mutex);
    conn = fd < reaper->descriptors ? reaper->by_descriptor[fd] : NULL;
    if (conn != NULL && conn->generation == data >> 32 && conn->request != NULL)
        request_gone(conn->request);
    (void)pthread_mutex_unlock(&reaper->mutex);
}

/* Shuts connections down whose time is over; libmicrohttpd then closes them. */
static void
scan(struct reaper *reaper, int64_t now)
{
    (void)pthread_mutex_lock(&reaper->mutex);
    for (struct pw_list *at = pw_list_first(&reaper->conns); at != NULL;
         at = pw_list_next(&reaper->conns, at)) {
        struct conn *conn = PW_CONTAINER(at, struct conn, link);

        if (now < conn->deadline_us)
            continue;
        (void)shutdown(conn->fd, SHUT_RDWR); /* it may be so already */
        conn->deadline_us = INT64_MAX;
    }
    (void)pthread_mutex_unlock(&reaper->mutex);
}

static int64_t
earliest(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void *
watch(void *argument)
{
    struct reaper *reaper = argument;
    struct server *server = reaper->server;
    int64_t scan_us = 0;
    int64_t next_us = 0;

    while (!atomic_load(&reaper->ending)) {
        struct epoll_event events[EVENTS];
        int count =
            epoll_wait(reaper->epoll, events, EVENTS, pw_poll_timeout_ms(pw_now_us(), next_us));
        int64_t now;

        for (int i = 0; i < count; i++) {
            if (events[i].data.u64 == UINT64_MAX)
                (void)pw_wake_clear(&reaper->wake);
            else
                hang_up(reaper, events[i].data.u64);
        }
        now = pw_now_us();
        if (now >= scan_us) {
            scan(reaper, now);
            scan_us = now + scan_every_us;
        }
        next_us = earliest(scan_us, waits_tick(server->waits, now));
        next_us = earliest(next_us, live_tick(server->live, now));
        ready_tick(server, now);
    }
    return NULL;
}

struct reaper *
reaper_new(struct server *server, size_t descriptors)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = UINT64_MAX};
    struct reaper *reaper = pw_calloc(1, sizeof(*reaper));

    if (reaper == NULL)
        return NULL;
    reaper->server = server;
    reaper->descriptors = descriptors;
    reaper->by_descriptor = pw_calloc(descriptors, sizeof(struct conn *));
    pw_list_init(&reaper->conns);
    (void)pthread_mutex_init(&reaper->mutex, NULL); /* cannot fail for a plain mutex */
    reaper->wake.fd = -1;
    reaper->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (reaper->by_descriptor == NULL || reaper->epoll < 0 || pw_wake_open(&reaper->wake) != 0 ||
        epoll_ctl(reaper->epoll, EPOLL_CTL_ADD, reaper->wake.fd, &event) != 0 ||
        pthread_create(&reaper->thread, NULL, watch, reaper) != 0) {
        reaper_free(reaper);
        return NULL;
    }
    reaper->started = true;
    return reaper;
}

void
reaper_free(struct reaper *reaper)
{
    if (reaper == NULL)
        return;
    atomic_store(&reaper->ending, true);
    if (reaper->started) {
        pw_wake_set(&reaper->wake);
        (void)pthread_join(reaper->thread, NULL);
    }
    pw_wake_close(&reaper->wake);
    if (reaper->epoll >= 0)
        (void)close(reaper->epoll);
    (void)pthread_mutex_destroy(&reaper->mutex);
    pw_free(reaper->by_descriptor);
    pw_free(reaper);
}

void
reaper_wake(struct reaper *reaper)
{
    pw_wake_set(&reaper->wake);
}

void
reaper_drain(struct reaper *reaper)
{
    (void)pthread_mutex_lock(&reaper->mutex);
    reaper->draining = true;
    for (struct pw_list *at = pw_list_first(&reaper->conns); at != NULL;
         at = pw_list_next(&reaper->conns, at)) {
        struct conn *conn = PW_CONTAINER(at, struct conn, link);

        if (is_quiet(conn->phase))
            conn->deadline_us = 0;
    }
    (void)pthread_mutex_unlock(&reaper->mutex);
    reaper_wake(reaper);
}

size_t
reaper_open(struct reaper *reaper)
{
    size_t open;

    (void)pthread_mutex_lock(&reaper->mutex);
    open = reaper->open;
    (void)pthread_mutex_unlock(&reaper->mutex);
    return open;
}

size_t
reaper_busy(struct reaper *reaper)
{
    size_t busy = 0;

    (void)pthread_mutex_lock(&reaper->mutex);
    for (struct pw_list *at = pw_list_first(&reaper->conns); at != NULL;
         at = pw_list_next(&reaper->conns, at))
        busy += !is_quiet(PW_CONTAINER(at, struct conn, link)->phase);
    (void)pthread_mutex_unlock(&reaper->mutex);
    return busy;
}
