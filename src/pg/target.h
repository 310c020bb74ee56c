/* SPDX-License-Identifier: Apache-2.0 */
/* The connection parameters for libpq: our defaults, then the user's conninfo, then parameters that must hold. Later ones win. */
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
    /* If true, call pw_target_connected() once connected. */
    bool raise_unacked;
};

/*
 * conninfo is a URI, pairs keyword=value or the name of a database. It may be NULL; application_name must not be. Returns PAWL_EINVAL if
 * libpq cannot read conninfo, or PAWL_ENOMEM.
 */
int pw_target_init(struct pw_target *target, const char *conninfo, const char *application_name,
    struct pw_error *err);

/* Call it once connected, with the socket. With several hosts it raises the limit for unacknowledged data to PW_TARGET_UNACKED_MS. */
void pw_target_connected(bool raise_unacked, int fd);

/* Whether the server is on another host, and neither TLS nor GSSAPI has shown that it is the one that was meant. */
bool pw_target_unverified(struct pg_conn *pq);

#endif
