/* SPDX-License-Identifier: Apache-2.0 */
/* The proxy: its thread, its listener, its rules; see the header. Connections are in proxy_pair.c, the protocol in proxy_wire.c. */
#include "proxy.h"

#include "proxy_pair.h"
#include "race.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    pairs_max = 256,
    accepts_max = 16,
    first_port = 20000,
    last_port = 29999,
    path_bytes = sizeof(((struct sockaddr_un *)NULL)->sun_path),
    /* The wake-up and the listener come before the two sockets of each pair. */
    fixed_fds = 2
};

struct rule {
    char text[proxy_text_bytes];
    struct proxy_rule rule;
    struct proxy_rule_counts counts;
    /* Cuts and answers that are withheld for one. */
    long chosen;
};

/*
 * The lock guards all that comes after it. The thread lets it go only while it polls, and it alone opens and closes
 * sockets, so that what it polls does not change under it; others leave a wish and wait until it is done.
 */
struct proxy {
    struct sockaddr_un listen;
    char host[path_bytes];
    int port;
    int wake;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t done;
    long wishes;
    long wishes_done;
    struct sockaddr_un target;
    int listener;
    bool stopping;
    enum proxy_mode mode;
    enum proxy_mode mode_done;
    double mode_until_s; /* 0: for good */
    int delay_ms;
    struct race_random random;
    struct rule rules[proxy_rules_max];
    int rule_count;
    struct proxy_counts counts;
    struct proxy_pair *pairs[pairs_max];
    int pair_count;
};

static void
lock(struct proxy *proxy)
{
    if (pthread_mutex_lock(&proxy->lock) != 0)
        bench_die("cannot lock the proxy");
}

static void
unlock(struct proxy *proxy)
{
    if (pthread_mutex_unlock(&proxy->lock) != 0)
        bench_die("cannot unlock the proxy");
}

static void
wake(struct proxy *proxy)
{
    uint64_t one = 1;

    if (write(proxy->wake, &one, sizeof(one)) != (ssize_t)sizeof(one))
        bench_die("cannot wake the proxy: error %d", errno);
}

/* Waits until the thread has seen what was changed under the lock, then unlocks. */
static void
unlock_when_done(struct proxy *proxy)
{
    long mine = ++proxy->wishes;

    wake(proxy);
    while (proxy->wishes_done < mine) {
        if (pthread_cond_wait(&proxy->done, &proxy->lock) != 0)
            bench_die("cannot wait for the proxy");
    }
    unlock(proxy);
}

static void
set_address(struct sockaddr_un *address, const char *dir, int port, const char *suffix)
{
    int length;

    memset(address, 0, sizeof(*address));
    address->sun_family = AF_UNIX;
    length = snprintf(
        address->sun_path, sizeof(address->sun_path), "%s/.s.PGSQL.%d%s", dir, port, suffix);
    if (length < 0 || (size_t)length >= sizeof(address->sun_path))
        bench_die("the name of a socket in \"%s\" is too long", dir);
}

/* Returns a socket that listens, or -1 if the address is taken. */
static int
open_listener(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        bench_die("cannot make a socket: error %d", errno);
    if (bind(fd, (const struct sockaddr *)address, sizeof(*address)) != 0) {
        if (errno != EADDRINUSE)
            bench_die("cannot listen at \"%s\": error %d", address->sun_path, errno);
        (void)close(fd); /* Nothing was done with it. */
        return -1;
    }
    if (listen(fd, 128) != 0)
        bench_die("cannot listen at \"%s\": error %d", address->sun_path, errno);
    return fd;
}

/* Opens the listener again at its old place, which is never empty meanwhile. */
static void
reopen_listener(struct proxy *proxy)
{
    struct sockaddr_un address;

    set_address(&address, proxy->host, proxy->port, ".new");
    proxy->listener = open_listener(&address);
    if (proxy->listener < 0 || rename(address.sun_path, proxy->listen.sun_path) != 0)
        bench_die("cannot listen at \"%s\" again", proxy->listen.sun_path);
}

static void
close_listener(struct proxy *proxy)
{
    if (proxy->listener >= 0)
        (void)close(proxy->listener); /* Whatever it says, it is closed. */
    proxy->listener = -1;
}

static int
connect_target(const struct proxy *proxy)
{
    /* A server whose queue is full makes us wait; that must not be for ever. */
    struct timeval patience = {.tv_sec = 1};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        bench_die("cannot make a socket: error %d", errno);
    if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) != 0 ||
        connect(fd, (const struct sockaddr *)&proxy->target, sizeof(proxy->target)) != 0 ||
        fcntl(fd, F_SETFL, O_NONBLOCK) != 0) {
        (void)close(fd); /* It leads nowhere. */
        return -1;
    }
    return fd;
}

static void
accept_client(struct proxy *proxy)
{
    int client = accept4(proxy->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    int server = -1;

    if (client < 0)
        return;
    proxy->counts.connections++;
    if (proxy->mode != PROXY_BLACKHOLE) {
        server = connect_target(proxy);
        if (server < 0) {
            proxy->counts.unreachable++;
            (void)close(client); /* That is what the client is to see. */
            return;
        }
    }
    proxy->pairs[proxy->pair_count++] = proxy_pair_new(client, server);
}

/* Whether the rule cuts at its newest match. */
static bool
fires(struct proxy *proxy, const struct rule *rule)
{
    if (rule->rule.cuts_max > 0 && rule->chosen >= rule->rule.cuts_max)
        return false;
    if (rule->rule.nth > 0)
        return rule->counts.matches == rule->rule.nth;
    return rule->rule.one_in < 2 || race_below(&proxy->random, rule->rule.one_in) == 0;
}

/* Looks which rule cuts at a request, and begins to. */
static void
judge(struct proxy *proxy, struct proxy_pair *pair, const struct wire_request *request)
{
    struct rule *chosen = NULL;

    for (int i = 0; i < proxy->rule_count; i++) {
        struct rule *rule = &proxy->rules[i];

        if (!wire_matches(request, rule->text))
            continue;
        rule->counts.matches++;
        /* A connection that is to be cut is not judged again. */
        if (chosen == NULL && pair->wire.withheld == 0 && fires(proxy, rule))
            chosen = rule;
    }
    if (chosen == NULL)
        return;
    chosen->chosen++;
    if (chosen->rule.when == PROXY_BEFORE) {
        chosen->counts.cuts++;
        proxy->counts.cuts_before++;
        pair->over = true;
    } else {
        pair->rule = (int)(chosen - proxy->rules);
        wire_withhold(&pair->wire);
    }
}

static void
look_up(struct proxy *proxy, struct proxy_pair *pair)
{
    struct wire_request request;

    while (wire_look_up(&pair->wire, &request) == WIRE_REQUEST) {
        proxy->counts.requests++;
        judge(proxy, pair, &request);
        if (pair->over)
            return;
        wire_pass(&pair->wire);
    }
}

static void
look_down(struct proxy *proxy, struct proxy_pair *pair)
{
    enum wire_event event;
    bool failed = false;

    while ((event = wire_look_down(&pair->wire, &failed)) != WIRE_MORE) {
        proxy->counts.answers++;
        if (event == WIRE_ANSWER)
            continue;
        proxy->counts.cuts_after++;
        if (pair->rule >= 0) {
            struct rule *rule = &proxy->rules[pair->rule];

            rule->counts.cuts++;
            rule->counts.errors += failed ? 1 : 0;
            pair->rule = -1;
        }
        pair->over = true;
        return;
    }
}

static void
serve_pair(struct proxy *proxy, struct proxy_pair *pair, bool client_ready, bool server_ready)
{
    double now_s = bench_now_s();
    size_t before;

    if (proxy->mode == PROXY_BLACKHOLE) {
        proxy->counts.swallowed_bytes += proxy_pair_swallow(pair, client_ready, server_ready);
        return;
    }
    if (proxy->mode == PROXY_HOLD || pair->over || pair->swallowed)
        return;
    if (client_ready)
        proxy_pair_read_client(pair);
    look_up(proxy, pair);
    before = proxy_pair_pending(pair);
    if (server_ready)
        proxy_pair_read_server(pair);
    look_down(proxy, pair);
    if (proxy->delay_ms > 0)
        proxy_pair_delay(pair, proxy_pair_pending(pair) - before, now_s + proxy->delay_ms / 1e3);
    /* At a cut too: what came before it is not to be lost. */
    proxy_pair_send(pair, now_s);
}

static void
close_pairs(struct proxy *proxy)
{
    for (int i = proxy->pair_count - 1; i >= 0; i--) {
        struct proxy_pair *pair = proxy->pairs[i];

        if (!pair->over)
            continue;
        /* It ended before the answer came, so this was no cut of that rule. */
        if (pair->rule >= 0)
            proxy->rules[pair->rule].chosen--;
        proxy_pair_free(pair);
        proxy->pairs[i] = proxy->pairs[--proxy->pair_count];
    }
}

/* Brings sockets in line with the mode. */
static void
apply_mode(struct proxy *proxy)
{
    if (proxy->mode_until_s > 0 && bench_now_s() >= proxy->mode_until_s) {
        proxy->mode = PROXY_NORMAL;
        proxy->mode_until_s = 0;
    }
    if (proxy->mode == proxy->mode_done)
        return;
    if (proxy->mode_done == PROXY_REFUSE)
        reopen_listener(proxy);
    for (int i = 0; i < proxy->pair_count && proxy->mode_done == PROXY_BLACKHOLE; i++) {
        if (proxy->pairs[i]->swallowed && !proxy->pairs[i]->over) {
            proxy->pairs[i]->over = true;
            proxy->counts.cuts_by_hand++;
        }
    }
    if (proxy->mode == PROXY_REFUSE)
        close_listener(proxy);
    proxy->mode_done = proxy->mode;
}

static int
timeout_ms(const struct proxy *proxy)
{
    double due_s = proxy->mode_until_s, left_s;

    for (int i = 0; i < proxy->pair_count && proxy->mode != PROXY_HOLD; i++) {
        double pair_s = proxy_pair_due_s(proxy->pairs[i]);

        if (pair_s > 0 && (due_s <= 0 || pair_s < due_s))
            due_s = pair_s;
    }
    if (due_s <= 0)
        return -1;
    left_s = due_s - bench_now_s();
    return left_s <= 0 ? 0 : left_s > 3600 ? 3600000 : (int)(left_s * 1e3) + 1;
}

/* Returns how many there are. While everything is held only the wake-up is waited for. */
static nfds_t
fill_poll(const struct proxy *proxy, struct pollfd *fds)
{
    bool held = proxy->mode == PROXY_HOLD;

    fds[0] = (struct pollfd){.fd = proxy->wake, .events = POLLIN};
    fds[1] = (struct pollfd){.fd = -1, .events = POLLIN};
    if (!held && proxy->pair_count < pairs_max)
        fds[1].fd = proxy->listener;
    for (int i = 0; i < proxy->pair_count; i++) {
        struct pollfd *both = fds + fixed_fds + 2 * i;

        proxy_pair_poll(proxy->pairs[i], both);
        if (held)
            both[0].fd = both[1].fd = -1;
    }
    return (nfds_t)(fixed_fds + 2 * proxy->pair_count);
}

static void
serve_round(struct proxy *proxy, const struct pollfd *fds)
{
    int count = proxy->pair_count;
    uint64_t woken;

    if (fds[0].revents != 0 && read(proxy->wake, &woken, sizeof(woken)) < 0 && errno != EAGAIN)
        bench_die("cannot read the wake-up of the proxy: error %d", errno);
    for (int i = 0; i < count; i++) {
        const struct pollfd *both = fds + fixed_fds + 2 * i;

        serve_pair(proxy, proxy->pairs[i], (both[0].revents & ~POLLOUT) != 0,
            (both[1].revents & ~POLLOUT) != 0);
    }
    if (fds[1].revents != 0 && (proxy->mode == PROXY_NORMAL || proxy->mode == PROXY_BLACKHOLE)) {
        for (int i = 0; i < accepts_max && proxy->pair_count < pairs_max; i++)
            accept_client(proxy);
    }
}

static void *
serve(void *argument)
{
    struct proxy *proxy = argument;
    struct pollfd *fds = race_alloc(fixed_fds + 2 * pairs_max, sizeof(*fds));

    lock(proxy);
    while (!proxy->stopping) {
        nfds_t count;
        int timeout;

        apply_mode(proxy);
        close_pairs(proxy);
        proxy->wishes_done = proxy->wishes;
        if (pthread_cond_broadcast(&proxy->done) != 0)
            bench_die("cannot tell that the proxy is done");
        count = fill_poll(proxy, fds);
        timeout = timeout_ms(proxy);
        unlock(proxy);
        if (poll(fds, count, timeout) < 0 && errno != EINTR)
            bench_die("the proxy cannot poll: error %d", errno);
        lock(proxy);
        serve_round(proxy, fds);
    }
    for (int i = 0; i < proxy->pair_count; i++)
        proxy->pairs[i]->over = true;
    close_pairs(proxy);
    unlock(proxy);
    free(fds);
    return NULL;
}

/* Signals are the business of the program's own threads. */
static void
start_thread(struct proxy *proxy)
{
    sigset_t all, old;

    if (sigfillset(&all) != 0 || pthread_sigmask(SIG_SETMASK, &all, &old) != 0 ||
        pthread_create(&proxy->thread, NULL, serve, proxy) != 0 ||
        pthread_sigmask(SIG_SETMASK, &old, NULL) != 0)
        bench_die("cannot start the proxy's thread");
}

/* Listens at the port given, or at the first that is free. */
static void
start_listening(struct proxy *proxy, const char *dir, int port)
{
    int last = port != 0 ? port : last_port;

    set_address(&proxy->listen, dir, last_port, ".new"); /* Dies if any of our names is too long. */
    (void)snprintf(proxy->host, sizeof(proxy->host), "%s", dir);
    proxy->port = port != 0 ? port : first_port;
    for (;; proxy->port++) {
        if (proxy->port > last)
            bench_die("no free port for the proxy in \"%s\"", dir);
        set_address(&proxy->listen, dir, proxy->port, "");
        proxy->listener = open_listener(&proxy->listen);
        if (proxy->listener >= 0)
            return;
    }
}

struct proxy *
proxy_new(const struct proxy_options *options)
{
    struct proxy *proxy = race_alloc(1, sizeof(*proxy));
    const char *target = options->target_dir != NULL ? options->target_dir : getenv("PGHOST");
    const char *port = getenv("PGPORT");
    struct race race = {.seed = options->seed};
    int target_port = options->target_port;

    if (target == NULL || target[0] != '/')
        bench_die("the proxy needs the directory of a server's unix socket");
    if (target_port == 0)
        target_port = (int)bench_number(port != NULL ? port : "5432", "PGPORT", 1, 65535);
    set_address(&proxy->target, target, target_port, "");
    proxy->random = race_random(&race, 0);
    start_listening(
        proxy, options->listen_dir != NULL ? options->listen_dir : target, options->listen_port);
    proxy->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (proxy->wake < 0 || pthread_mutex_init(&proxy->lock, NULL) != 0 ||
        pthread_cond_init(&proxy->done, NULL) != 0)
        bench_die("cannot make the proxy's lock");
    start_thread(proxy);
    return proxy;
}

void
proxy_free(struct proxy *proxy)
{
    if (proxy == NULL)
        return;
    lock(proxy);
    proxy->stopping = true;
    wake(proxy);
    unlock(proxy);
    if (pthread_join(proxy->thread, NULL) != 0)
        bench_die("cannot join the proxy's thread");
    close_listener(proxy);
    (void)close(proxy->wake);
    (void)unlink(proxy->listen.sun_path); /* Its directory may have gone with the cluster. */
    (void)pthread_cond_destroy(&proxy->done);
    (void)pthread_mutex_destroy(&proxy->lock);
    free(proxy);
}

const char *
proxy_host(const struct proxy *proxy)
{
    return proxy->host;
}

int
proxy_port(const struct proxy *proxy)
{
    return proxy->port;
}

PGconn *
proxy_connect(const struct proxy *proxy)
{
    PGconn *conn = proxy_try_connect(proxy);

    if (PQstatus(conn) != CONNECTION_OK)
        bench_die("through the proxy: %s", PQerrorMessage(conn));
    return conn;
}

PGconn *
proxy_try_connect(const struct proxy *proxy)
{
    char port[12];
    const char *const names[] = {"host", "port", NULL};
    const char *const values[] = {proxy->host, port, NULL};

    (void)snprintf(port, sizeof(port), "%d", proxy->port);
    return PQconnectdbParams(names, values, 0);
}

void
proxy_use(const struct proxy *proxy)
{
    const char *port = strrchr(proxy->target.sun_path, '.') + 1;
    char dir[path_bytes], number[12];

    (void)snprintf(dir, sizeof(dir), "%s", proxy->target.sun_path);
    *strrchr(dir, '/') = '\0';
    (void)snprintf(number, sizeof(number), "%d", proxy->port);
    /* Behind a pooler these lead past the pooler already. */
    if (setenv("PAWL_DIRECT_PGHOST", dir, 0) != 0 || setenv("PAWL_DIRECT_PGPORT", port, 0) != 0 ||
        setenv("PGHOST", proxy->host, 1) != 0 || setenv("PGPORT", number, 1) != 0)
        bench_die("out of memory");
}

int
proxy_rule_add(struct proxy *proxy, const struct proxy_rule *rule)
{
    struct rule *new;
    int number;

    lock(proxy);
    number = proxy->rule_count;
    if (number == proxy_rules_max || strlen(rule->text) >= proxy_text_bytes)
        bench_die("too many rules, or a text too long: \"%s\"", rule->text);
    new = &proxy->rules[number];
    memset(new, 0, sizeof(*new));
    new->rule = *rule;
    (void)snprintf(new->text, sizeof(new->text), "%s", rule->text);
    new->rule.text = new->text;
    proxy->rule_count++;
    unlock(proxy);
    return number;
}

void
proxy_rules_clear(struct proxy *proxy)
{
    lock(proxy);
    for (int i = 0; i < proxy->pair_count; i++)
        proxy->pairs[i]->rule = -1;
    proxy->rule_count = 0;
    unlock(proxy);
}

struct proxy_rule_counts
proxy_rule_counts(struct proxy *proxy, int number)
{
    struct proxy_rule_counts counts;

    lock(proxy);
    if (number < 0 || number >= proxy->rule_count)
        bench_die("the proxy has no rule %d", number);
    counts = proxy->rules[number].counts;
    unlock(proxy);
    return counts;
}

void
proxy_delay(struct proxy *proxy, int delay_ms)
{
    lock(proxy);
    proxy->delay_ms = delay_ms;
    for (int i = 0; i < proxy->pair_count && delay_ms == 0; i++)
        proxy_pair_hurry(proxy->pairs[i]);
    unlock_when_done(proxy);
}

void
proxy_target(struct proxy *proxy, const char *target_dir, int target_port)
{
    lock(proxy);
    set_address(&proxy->target, target_dir, target_port, "");
    unlock_when_done(proxy);
}

void
proxy_mode(struct proxy *proxy, enum proxy_mode mode, int for_ms)
{
    lock(proxy);
    proxy->mode = mode;
    proxy->mode_until_s = for_ms > 0 ? bench_now_s() + for_ms / 1e3 : 0;
    unlock_when_done(proxy);
}

void
proxy_cut_all(struct proxy *proxy)
{
    lock(proxy);
    for (int i = 0; i < proxy->pair_count; i++) {
        proxy->pairs[i]->over = true;
        proxy->counts.cuts_by_hand++;
    }
    unlock_when_done(proxy);
}

struct proxy_counts
proxy_counts(struct proxy *proxy)
{
    struct proxy_counts counts;

    lock(proxy);
    counts = proxy->counts;
    counts.open = proxy->pair_count;
    unlock(proxy);
    return counts;
}
