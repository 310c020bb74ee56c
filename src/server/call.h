/* SPDX-License-Identifier: Apache-2.0 */
/* A request becomes a call of a SQL function, and its rows become the answer. In a thread that has a client. */
#ifndef PW_SERVER_CALL_H
#define PW_SERVER_CALL_H

#include <pawl/pawl.h>

struct job;
struct request;

/* The job of a request: calls its verb, and finishes it or lets it wait. */
pawl_status call_act(struct job *job, pawl_client *client);

/* Calls the verb of a request and sets its reply or its problem. Does not finish it. */
pawl_status call_verb(struct request *request, pawl_client *client);

/* Makes a client call for the token of this digest. client may be NULL: the problem is then that the database is away. */
pawl_status call_act_as(struct request *request, pawl_client *client);

/* Sets the answer of a request that has waited for a run: rows has how it ended, or is NULL if it has not. */
pawl_status call_waited(
    struct request *request, pawl_client *client, const pawl_rows *rows, size_t row);

#endif
