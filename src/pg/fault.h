/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of libpq and of the server as ours. */
#ifndef PW_PG_FAULT_H
#define PW_PG_FAULT_H

#include "base/error.h"

struct pg_result;

/* Sets PAWL_ECONN, retryable. text is libpq's message, which may have several lines, or a reason of our own. */
void pw_fault_lost(struct pw_error *err, const char *text);

/* Sets PAWL_ECONN, which an operator has to fix: the server can write, but a default of the role or the database forbids it. */
void pw_fault_read_only(struct pw_error *err);

/* Sets the error that the server sent. Detail and context are left out: they may show stored data of users. */
void pw_fault_server(struct pw_error *err, const struct pg_result *result);

#endif
