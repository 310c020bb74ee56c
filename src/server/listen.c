/* SPDX-License-Identifier: Apache-2.0 */
#include "server/listen.h"

#include "base/text.h"
#include "server/options.h"
#include "server/reaper.h"
#include "server/request.h"
#include "server/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    EXIT_USAGE = 2,
    THREADS = 2,
    CONNECTIONS_MAX = 20000,
    CONNECTIONS_OF_ADDRESS = 256,
    DESCRIPTORS_ASIDE = 200, /* for everything that is not a connection */
    MEMORY_OF_CONNECTION =
        16384, /* libmicrohttpd touches all of it: 14 kB of headers, and what it notes about them */
    MEMORY_STEP = 1024,
    INACTIVITY_S = 80, /* more than every deadline of the reaper */
    BACKLOG = 1024,
};

static bool
complain(const char *what, const char *address)
{
    char text[128];

    (void)fprintf(stderr, "pawl-serve: %s \"%s\": %s\n", what, address,
        strerror_r(errno, text, sizeof(text)));
    return false;
}

static bool
bind_and_listen(
    struct listener *listener, const struct sockaddr *address, socklen_t size, const char *text)
{
    int on = 1;

    listener->fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener->fd < 0)
        return complain("no socket for", text);
    if (address->sa_family != AF_UNIX)
        (void)setsockopt(listener->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(listener->fd, address, size) == 0 && listen(listener->fd, BACKLOG) == 0)
        return true;
    (void)complain("cannot listen on", text);
    (void)close(listener->fd);
    return false;
}

/* A socket that no program listens on is left from a server that was killed. */
static void
remove_stale(const struct sockaddr_un *address)
{
    struct stat status;
    int fd;

    if (lstat(address->sun_path, &status) != 0 || !S_ISSOCK(status.st_mode))
        return;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0 &&
        errno == ECONNREFUSED)
        (void)unlink(address->sun_path);
    (void)close(fd);
}

static int
open_unix(struct listener *listener, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    mode_t mask;
    bool good;

    if (strlen(path) == 0 || strlen(path) >= sizeof(address.sun_path)) {
        errno = strlen(path) == 0 ? EINVAL : ENAMETOOLONG;
        (void)complain("--listen cannot be", path);
        return EXIT_USAGE;
    }
    memcpy(address.sun_path, path, strlen(path));
    remove_stale(&address);
    /* For the user and the group of the server; there is no other thread yet. */
    mask = umask(0117);
    good = bind_and_listen(listener, (const struct sockaddr *)&address, sizeof(address), path);
    (void)umask(mask);
    if (!good)
        return EXIT_FAILURE;
    listener->path = path;
    listener->loopback = true;
    (void)snprintf(listener->name, sizeof(listener->name), "unix:%s", path);
    return 0;
}

/* Splits "127.0.0.1:80", "[::1]:80" or "localhost:80" into an address. */
static bool
read_address(const char *text, struct sockaddr_in *in, struct sockaddr_in6 *in6)
{
    const char *colon = strrchr(text, ':');
    char host[INET6_ADDRSTRLEN + 2] = "";
    int64_t port;
    size_t size;

    if (colon == NULL || !pw_parse_i64(colon + 1, 0, 65535, &port))
        return false;
    size = (size_t)(colon - text);
    if (size >= sizeof(host))
        return false;
    memcpy(host, text, size);
    if (strcmp(host, "localhost") == 0)
        memcpy(host, "127.0.0.1", sizeof("127.0.0.1"));
    in->sin_port = htons((uint16_t)port);
    in6->sin6_port = htons((uint16_t)port);
    if (host[0] == '[' && host[size - 1] == ']') {
        host[size - 1] = '\0';
        in6->sin6_family = AF_INET6;
        return inet_pton(AF_INET6, host + 1, &in6->sin6_addr) == 1;
    }
    in->sin_family = AF_INET;
    return inet_pton(AF_INET, host, &in->sin_addr) == 1;
}

static int
open_inet(struct listener *listener, const char *text, bool anywhere)
{
    struct sockaddr_in in = {.sin_family = AF_UNSPEC};
    struct sockaddr_in6 in6 = {.sin6_family = AF_UNSPEC};
    bool four;
    char host[INET6_ADDRSTRLEN];
    socklen_t size;

    if (!read_address(text, &in, &in6)) {
        errno = EINVAL;
        (void)complain("--listen must be ADDRESS:PORT or unix:PATH, not", text);
        return EXIT_USAGE;
    }
    four = in.sin_family == AF_INET;
    size = four ? sizeof(in) : sizeof(in6);
    listener->loopback =
        four ? (ntohl(in.sin_addr.s_addr) >> 24) == 127 : IN6_IS_ADDR_LOOPBACK(&in6.sin6_addr);
    if (!listener->loopback && !anywhere) {
        errno = EPERM;
        (void)complain("tokens would pass the network unencrypted: add --behind-proxy, or "
                       "--insecure, for --listen",
            text);
        return EXIT_USAGE;
    }
    if (!bind_and_listen(listener,
            four ? (const struct sockaddr *)&in : (const struct sockaddr *)&in6, size, text))
        return EXIT_FAILURE;
    if (getsockname(listener->fd, four ? (struct sockaddr *)&in : (struct sockaddr *)&in6, &size) !=
        0) {
        (void)complain("no name for", text);
        return EXIT_FAILURE;
    }
    listener->port = ntohs(four ? in.sin_port : in6.sin6_port);
    (void)inet_ntop(four ? AF_INET : AF_INET6,
        four ? (const void *)&in.sin_addr : (const void *)&in6.sin6_addr, host, sizeof(host));
    (void)snprintf(listener->name, sizeof(listener->name), four ? "http://%s:%u" : "http://[%s]:%u",
        host, listener->port);
    return 0;
}

int
listen_open(struct listener *listener, const char *address, bool anywhere)
{
    *listener = (struct listener){.fd = -1};
    if (strncmp(address, "unix:", 5) == 0)
        return open_unix(listener, address + 5);
    return open_inet(listener, address, anywhere);
}

size_t
listen_descriptors(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 1024;
    if (limit.rlim_cur < CONNECTIONS_MAX + DESCRIPTORS_ASIDE) {
        limit.rlim_cur = CONNECTIONS_MAX + DESCRIPTORS_ASIDE;
        if (limit.rlim_max != RLIM_INFINITY && limit.rlim_cur > limit.rlim_max)
            limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit); /* then there are fewer connections */
        if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
            return 1024;
    }
    return limit.rlim_cur > CONNECTIONS_MAX + DESCRIPTORS_ASIDE
        ? CONNECTIONS_MAX + DESCRIPTORS_ASIDE
        : (size_t)limit.rlim_cur;
}

bool
listen_start(struct server *server, const struct listener *listener)
{
    size_t descriptors = listen_descriptors();
    unsigned connections =
        descriptors > 2 * DESCRIPTORS_ASIDE ? (unsigned)(descriptors - DESCRIPTORS_ASIDE) : 200;
    /* Behind a proxy all connections come from one address. */
    unsigned each =
        server->options->behind_proxy || listener->port == 0 ? 0 : CONNECTIONS_OF_ADDRESS;

    server->daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC, 0, NULL, NULL,
        request_handle, server, MHD_OPTION_LISTEN_SOCKET, listener->fd, MHD_OPTION_THREAD_POOL_SIZE,
        (unsigned)THREADS, MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, each, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)INACTIVITY_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY_OF_CONNECTION,
        MHD_OPTION_CONNECTION_MEMORY_INCREMENT, (size_t)MEMORY_STEP, MHD_OPTION_URI_LOG_CALLBACK,
        request_line, server, MHD_OPTION_NOTIFY_COMPLETED, request_completed, server,
        MHD_OPTION_NOTIFY_CONNECTION, reaper_connection, server->reaper, MHD_OPTION_END);
    if (server->daemon == NULL)
        return complain("cannot serve", listener->name);
    return true;
}
