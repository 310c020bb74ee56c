/* SPDX-License-Identifier: Apache-2.0 */
/* Connections of the proxy; see the header. */
#include "proxy_pair.h"

#include "race.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

struct proxy_pair *
proxy_pair_new(int client, int server)
{
    struct proxy_pair *pair = race_alloc(1, sizeof(*pair));

    wire_init(&pair->wire);
    pair->client = client;
    pair->server = server;
    pair->swallowed = server < 0;
    pair->rule = -1;
    return pair;
}

static void
close_fd(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd); /* Whatever it says, it is closed. */
    *fd = -1;
}

void
proxy_pair_free(struct proxy_pair *pair)
{
    close_fd(&pair->client);
    close_fd(&pair->server);
    wire_done(&pair->wire);
    free(pair);
}

/* A socket that nothing is wanted of is left out, because poll would tell of its end again and again. */
static struct pollfd
poll_for(int fd, bool in, bool out)
{
    short events = (short)((in ? POLLIN : 0) | (out ? POLLOUT : 0));

    return (struct pollfd){.fd = events != 0 ? fd : -1, .events = events};
}

static bool
has_room(const struct wire_flow *flow)
{
    return flow->end - flow->start < wire_flow_bytes;
}

void
proxy_pair_poll(const struct proxy_pair *pair, struct pollfd *both)
{
    const struct wire_flow *up = &pair->wire.up;
    const struct wire_flow *down = &pair->wire.down;

    both[0] = poll_for(
        pair->client, !pair->client_ended && has_room(up), proxy_pair_pending(pair) > pair->marked);
    both[1] = poll_for(pair->server, !pair->server_ended && has_room(down),
        !pair->server_deaf && up->parsed > up->start);
}

/* Reads once; returns false when the other side has ended. */
static bool
read_some(int fd, struct wire_flow *flow)
{
    size_t room;
    char *at = wire_room(flow, &room);
    ssize_t count;

    if (room == 0)
        return true;
    count = recv(fd, at, room, 0);
    if (count > 0)
        flow->end += (size_t)count;
    return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
}

void
proxy_pair_read_client(struct proxy_pair *pair)
{
    pair->client_ended = !read_some(pair->client, &pair->wire.up);
}

void
proxy_pair_read_server(struct proxy_pair *pair)
{
    pair->server_ended = !read_some(pair->server, &pair->wire.down);
}

size_t
proxy_pair_pending(const struct proxy_pair *pair)
{
    return pair->wire.down.parsed - pair->wire.down.start;
}

void
proxy_pair_delay(struct proxy_pair *pair, size_t bytes, double due_s)
{
    struct proxy_mark *mark;

    if (bytes == 0)
        return;
    if (pair->mark_count == proxy_marks_max) {
        /* Without room for one more they join the last one, and it goes when they do. */
        mark = &pair->marks[(pair->first_mark + proxy_marks_max - 1) % proxy_marks_max];
    } else {
        mark = &pair->marks[(pair->first_mark + pair->mark_count) % proxy_marks_max];
        mark->bytes = 0;
        pair->mark_count++;
    }
    mark->bytes += bytes;
    mark->due_s = due_s;
    pair->marked += bytes;
}

void
proxy_pair_hurry(struct proxy_pair *pair)
{
    pair->mark_count = 0;
    pair->marked = 0;
}

double
proxy_pair_due_s(const struct proxy_pair *pair)
{
    return pair->mark_count > 0 ? pair->marks[pair->first_mark].due_s : 0;
}

static void
pass_marks(struct proxy_pair *pair, double now_s)
{
    while (pair->mark_count > 0 && pair->marks[pair->first_mark].due_s <= now_s) {
        pair->marked -= pair->marks[pair->first_mark].bytes;
        pair->first_mark = (pair->first_mark + 1) % proxy_marks_max;
        pair->mark_count--;
    }
}

/* Sends the first `bytes` of the flow as far as possible; returns false when the other side takes nothing any more. */
static bool
send_some(int fd, struct wire_flow *flow, size_t bytes)
{
    ssize_t count;

    if (bytes == 0)
        return true;
    count = send(fd, flow->data + flow->start, bytes, MSG_NOSIGNAL);
    if (count > 0)
        flow->start += (size_t)count;
    return count >= 0 || errno == EAGAIN || errno == EINTR;
}

void
proxy_pair_send(struct proxy_pair *pair, double now_s)
{
    struct wire_flow *up = &pair->wire.up;
    struct wire_flow *down = &pair->wire.down;

    pass_marks(pair, now_s);
    if (!pair->server_deaf && !send_some(pair->server, up, up->parsed - up->start))
        pair->server_deaf = true;
    /* Nothing that comes for it is kept, so that the client is still read until it notices. */
    if (pair->server_deaf)
        up->start = up->parsed;
    if (!send_some(pair->client, down, proxy_pair_pending(pair) - pair->marked))
        pair->over = true;
    if (pair->client_ended && !pair->server_deaf && up->start == up->parsed)
        pair->over = true;
    if (pair->server_ended && down->start == down->parsed)
        pair->over = true;
}

long
proxy_pair_swallow(struct proxy_pair *pair, bool client_ready, bool server_ready)
{
    int *fds[] = {client_ready ? &pair->client : NULL, server_ready ? &pair->server : NULL};
    struct wire_flow *flows[] = {&pair->wire.up, &pair->wire.down};
    long swallowed = 0;

    for (int i = 0; i < 2; i++) {
        bool open = fds[i] == NULL || read_some(*fds[i], flows[i]);

        swallowed += (long)(flows[i]->end - flows[i]->start);
        wire_drop(flows[i]);
        if (open)
            continue;
        close_fd(fds[i]);
        pair->swallowed = true;
    }
    if (swallowed > 0)
        pair->swallowed = true;
    proxy_pair_hurry(pair);
    return swallowed;
}
