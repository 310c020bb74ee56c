/* SPDX-License-Identifier: Apache-2.0 */
/* pawl-serve: the SQL API over HTTP. Starts the parts, waits for SIGTERM, and ends them in order. */
#include "base/time.h"
#include "server/api/openapi.h"
#include "server/api/route.h"
#include "server/callers.h"
#include "server/limit.h"
#include "server/listen.h"
#include "server/live.h"
#include "server/login.h"
#include "server/metrics.h"
#include "server/options.h"
#include "server/reaper.h"
#include "server/server.h"
#include "server/waits.h"

#include <microhttpd.h>
#include <pawl/pawl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    STRANGERS_RATE = 10, /* refused tokens in a second of each address */
    STRANGERS_BURST = 100,
    DOCUMENT_MAX = 1048576,
};

static const int64_t drain_us = 10000000;

static int
complain(const char *what, const char *why)
{
    (void)fprintf(stderr, "pawl-serve: %s%s%s\n", what, why[0] != '\0' ? ": " : "", why);
    return 1;
}

/* Signals are waited for by the first thread; no other gets one. A client that has gone is seen by the failing write. */
static void
block_signals(sigset_t *set)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};

    (void)sigemptyset(set);
    (void)sigaddset(set, SIGTERM);
    (void)sigaddset(set, SIGINT);
    (void)sigaddset(set, SIGHUP);
    (void)pthread_sigmask(SIG_BLOCK, set, NULL);
    (void)sigaction(SIGPIPE, &ignore, NULL);
}

static bool
set(pawl_config *config, const char *name, const char *value)
{
    pawl_error *error = NULL;

    if (pawl_config_set(config, name, value, &error) == PAWL_OK)
        return true;
    (void)complain(pawl_error_message(error), pawl_error_hint(error));
    pawl_error_free(error);
    return false;
}

/* A caller must not wait for the database as long as a program would: other requests wait for the same thread. */
static pawl_config *
make_config(const struct options *options)
{
    pawl_config *config = pawl_config_new();

    if (config == NULL) {
        (void)complain("out of memory", "");
        return NULL;
    }
    if (set(config, "application_name", "pawl-serve") && set(config, "call_timeout", "15s") &&
        set(config, "connect_timeout", "5s") &&
        (options->database == NULL || options->database[0] == '\0' ||
            set(config, "database", options->database)))
        return config;
    pawl_config_free(config);
    return NULL;
}

static bool
start(struct server *server, const pawl_config *config, const struct listener *listener)
{
    const struct options *options = server->options;

    server->hosts = (struct guard_hosts){options->hosts, listener->port, listener->loopback};
    pw_buf_init(&server->document, DOCUMENT_MAX);
    server->tokens = limit_new((double)options->rate, 2 * (double)options->rate);
    server->strange = limit_new(STRANGERS_RATE, STRANGERS_BURST);
    server->metrics = metrics_new();
    server->waits = waits_new(server);
    server->live = live_new(server);
    if (server->tokens == NULL || server->strange == NULL || server->metrics == NULL ||
        server->waits == NULL || server->live == NULL || !openapi_write(&server->document))
        return complain("out of memory", ""), false;
    server->callers = callers_new(config, (unsigned)options->callers);
    if (server->callers != NULL)
        server->reaper = reaper_new(server, listen_descriptors());
    if (server->reaper == NULL)
        return complain("no memory or no threads", ""), false;
    return listen_start(server, listener);
}

/* Finishes what is in flight, for ten seconds at most. */
static void
drain(struct server *server, const struct listener *listener)
{
    int64_t end = pw_now_us() + drain_us;

    atomic_store(&server->draining, true);
    (void)MHD_quiesce_daemon(server->daemon);
    (void)close(listener->fd);
    waits_drain(server->waits);
    live_drain(server->live);
    reaper_drain(server->reaper);
    while (pw_now_us() < end && reaper_busy(server->reaper) > 0)
        (void)poll(NULL, 0, 20);
}

/* Ends all parts. Requests that are still in the hands of the pool are answered before their connections are closed. */
static void
stop(struct server *server)
{
    int64_t end = pw_now_us() + drain_us;

    while (server->daemon != NULL &&
        (callers_busy(server->callers) || waits_count(server->waits) > 0)) {
        /* A call that does not return holds a connection that libmicrohttpd cannot close. */
        if (pw_now_us() >= end)
            _exit(0);
        (void)poll(NULL, 0, 20);
    }
    if (server->daemon != NULL)
        MHD_stop_daemon(server->daemon);
    reaper_free(server->reaper);
    callers_free(server->callers);
    live_free(server->live);
    waits_free(server->waits);
    metrics_free(server->metrics);
    limit_free(server->tokens);
    limit_free(server->strange);
    pw_buf_done(&server->document);
}

static int
serve(const struct options *options, const pawl_config *config, const sigset_t *signals)
{
    struct server server = {.options = options};
    struct listener listener;
    int signal;
    int code = listen_open(&listener, options->listen, options->behind_proxy || options->insecure);

    if (code != 0)
        return code;
    code = 1;
    if (login_is_gateway(config) && start(&server, config, &listener)) {
        (void)printf("pawl-serve listens on %s\n", listener.name);
        (void)fflush(stdout);
        while (sigwait(signals, &signal) != 0 || signal == SIGHUP)
            ;
        drain(&server, &listener);
        code = 0;
    }
    stop(&server);
    if (listener.path != NULL)
        (void)unlink(listener.path);
    return code;
}

int
main(int count, char **words)
{
    struct options options;
    pawl_config *config;
    sigset_t signals;
    int code = options_read(&options, count, words);

    if (code < 0 && options.print_routes)
        code = route_print() ? 0 : complain("the output could not be written", "");
    if (code < 0) {
        block_signals(&signals);
        config = make_config(&options);
        code = config != NULL ? serve(&options, config, &signals) : 2;
        pawl_config_free(config);
    }
    options_done(&options);
    return code;
}
