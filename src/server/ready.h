/* SPDX-License-Identifier: Apache-2.0 */
/* Whether this server can serve: the database has answered within the last seconds, and the server is not draining. */
#ifndef PW_SERVER_READY_H
#define PW_SERVER_READY_H

#include <stdbool.h>
#include <stdint.h>

struct server;

/* Asks the database, if it has not answered anything for a while. */
void ready_tick(struct server *server, int64_t now_us);

bool ready_now(struct server *server);

#endif
