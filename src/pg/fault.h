/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of libpq and of the server as ours. */
#ifndef PW_PG_FAULT_H
#define PW_PG_FAULT_H

#include "base/error.h"

struct pg_result;

/* PAWL_ECONN, to be tried again: what libpq said, which may have several lines, or a reason of our own. */
void pw_fault_lost(struct pw_error *err, const char *text);

/* PAWL_ECONN, which an operator has to end: the server can write, and the role or the database has a default that says no. */
void pw_fault_read_only(struct pw_error *err);

/* What the server said in an error. Detail and context are left out: they may show what users have stored. */
void pw_fault_server(struct pw_error *err, const struct pg_result *result);

#endif
