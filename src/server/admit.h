/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which requests are accepted: guard, Host, route, token, rates. Reads the headers that are arguments. Sets the problem of a request. */
#ifndef PW_SERVER_ADMIT_H
#define PW_SERVER_ADMIT_H

#include <microhttpd.h>

struct request;

/* Judges the headers of a request, and finds its route. */
void admit_headers(struct request *request, const char *url, const char *version);

/* Adds the arguments that are headers: Idempotency-Key, traceparent, Prefer. */
void admit_arguments(struct request *request);

/*
 * A request has its answer. If its token was not known, and the database has refused it or was not asked, that counts against the address; a
 * token that the database has accepted is known from now on.
 */
void admit_outcome(struct request *request);

/* Adds the headers that let a page of a listed origin read the reply. */
void admit_origin(const struct request *request, struct MHD_Response *response);

#endif
