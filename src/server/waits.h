/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that wait for the end of a run (Prefer: wait). One query asks for all runs of the requests of one token. */
#ifndef PW_SERVER_WAITS_H
#define PW_SERVER_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct request;
struct server;
struct waits;

/* NULL: no memory. */
struct waits *waits_new(struct server *server);
void waits_free(struct waits *waits);

/* Adds a request whose run is set; the caller no longer has it. now: asks for the first time at once. Safe with threads, as are all here. */
void waits_add(struct waits *waits, struct request *request, bool now);

/* Gives the requests that are due to the pool. Returns when to call it again, on the clock of pw_now_us(). */
int64_t waits_tick(struct waits *waits, int64_t now_us);

/* The client of a request has hung up: if it is here and not being asked for, ends it. */
void waits_gone(struct waits *waits, struct request *request);

/* Answers all requests with what is so now, and those that come later, too. */
void waits_drain(struct waits *waits);

size_t waits_count(struct waits *waits);

#endif
