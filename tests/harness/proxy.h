/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A proxy between clients and PostgreSQL that breaks connections on purpose: before a request reaches the server, or after
 * the server has answered it and before the client hears of it. It runs in a thread of the test program and listens on
 * a unix socket, so that libpq gets to it with host and port.
 *
 * A request is the execution of a statement: a simple query, or a Bind. It is known by the name of its prepared
 * statement or by a word of its text, whichever way it was sent. An answer ends with ReadyForQuery, so a pipeline is
 * answered up to its Sync as a whole. When the answer is there, a transaction that was not opened by hand is committed.
 *
 * All calls may be made from any thread. What goes wrong in the proxy itself ends the program. Memory is bounded:
 * 256 connections with about 200 kB each; more of them wait to be accepted.
 */
#ifndef PAWL_PROXY_H
#define PAWL_PROXY_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

struct proxy;

struct proxy_options {
    /* Where to listen. NULL: in the target's directory, which goes with its cluster; 0: the first free port from 20000. */
    const char *listen_dir;
    int listen_port;
    /* The socket to connect to. NULL and 0: PGHOST and PGPORT. */
    const char *target_dir;
    int target_port;
    uint64_t seed;
};

enum proxy_when {
    /* The request does not reach the server. What was sent before it on the same connection does. */
    PROXY_BEFORE,
    /* The server has answered, and no byte of that answer gets to the client. */
    PROXY_AFTER,
};

enum {
    proxy_rules_max = 32,
    proxy_text_bytes = 128
};

struct proxy_rule {
    /* The name of a prepared statement or a word of a statement's text; "" is in every request. */
    const char *text;
    enum proxy_when when;
    /* Which matching requests to cut at: the n-th alone; else one in so many, by the seed; else all. */
    long nth;
    unsigned one_in;
    /* The rule rests after so many cuts; 0: never. */
    long cuts_max;
};

struct proxy_rule_counts {
    long matches;
    long cuts;
    /* Cuts after an answer that was an error: nothing was committed there. */
    long errors;
};

enum proxy_mode {
    PROXY_NORMAL,
    /* All bytes disappear, of new connections too. Those that lost some are cut when it is over. */
    PROXY_BLACKHOLE,
    /* Nothing moves, and nothing is lost: when it is over all of it arrives, late. */
    PROXY_HOLD,
    /* New connections are refused; those there are go on. */
    PROXY_REFUSE,
};

struct proxy_counts {
    long open;        /* connections now */
    long connections; /* accepted */
    long unreachable; /* closed because the server could not be reached */
    long requests;
    long answers;
    long cuts_before;
    long cuts_after;
    long cuts_by_hand; /* proxy_cut_all() and the end of a blackhole */
    long swallowed_bytes;
};

/* Listens when it returns. */
struct proxy *proxy_new(const struct proxy_options *options);

/* Cuts all connections and takes the socket away. */
void proxy_free(struct proxy *proxy);

/* What a client connects to. The directory is the proxy's own. */
const char *proxy_host(const struct proxy *proxy);
int proxy_port(const struct proxy *proxy);

/* A connection through the proxy, otherwise from libpq's environment variables. The second may have failed. */
PGconn *proxy_connect(const struct proxy *proxy);
PGconn *proxy_try_connect(const struct proxy *proxy);

/* Puts the proxy into PGHOST and PGPORT of this program. PAWL_DIRECT_PGHOST and PAWL_DIRECT_PGPORT lead past it. */
void proxy_use(const struct proxy *proxy);

/* Adds a rule and returns its number. Where several would cut at a request, the first does. */
int proxy_rule_add(struct proxy *proxy, const struct proxy_rule *rule);

/* Takes all rules and their counts away; numbers begin at 0 again. Answers that are withheld already still end in a cut. */
void proxy_rules_clear(struct proxy *proxy);

struct proxy_rule_counts proxy_rule_counts(struct proxy *proxy, int number);

/* Each answer arrives so much later than it was sent; 0 for no delay. */
void proxy_delay(struct proxy *proxy, int delay_ms);

/* New connections go to another server from now on; those there are stay where they are. */
void proxy_target(struct proxy *proxy, const char *target_dir, int target_port);

/* Changes the mode; back to normal by itself after for_ms, unless that is 0. */
void proxy_mode(struct proxy *proxy, enum proxy_mode mode, int for_ms);

/* Cuts every connection now. */
void proxy_cut_all(struct proxy *proxy);

struct proxy_counts proxy_counts(struct proxy *proxy);

/* Does what a line says; the lines are listed in proxy_command.c. A line that makes no sense ends the program. */
void proxy_command(struct proxy *proxy, const char *line);

#endif
