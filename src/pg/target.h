/* SPDX-License-Identifier: Apache-2.0 */
/* What libpq is told to connect to: the user's words, our defaults before them, and what must be so behind them. */
#ifndef PW_PG_TARGET_H
#define PW_PG_TARGET_H

#include "base/error.h"

#include <stdbool.h>

struct pg_conn;

enum {
    PW_TARGET_MAX = 12,
    /* How long sent data may stay unacknowledged before the connection counts as broken. */
    PW_TARGET_UNACKED_MS = 20000,
};

/* Keywords and values for libpq; they end in a NULL. Values are constants or borrowed. */
struct pw_target {
    const char *keywords[PW_TARGET_MAX + 1];
    const char *values[PW_TARGET_MAX + 1];
    /* Once connected, pw_target_connected() is to be told. */
    bool raise_unacked;
};

/*
 * conninfo: a URI, pairs keyword=value or the name of a database; it may be NULL, application_name not. PAWL_EINVAL: libpq cannot read
 * conninfo. PAWL_ENOMEM.
 */
int pw_target_init(struct pw_target *target, const char *conninfo, const char *application_name,
    struct pw_error *err);

/* The connection is there, at this descriptor: with several hosts, the limit for unacknowledged data becomes PW_TARGET_UNACKED_MS. */
void pw_target_connected(bool raise_unacked, int fd);

/* Whether the server is on another host, and neither TLS nor GSSAPI has shown that it is the one that was meant. */
bool pw_target_unverified(struct pg_conn *pq);

#endif
