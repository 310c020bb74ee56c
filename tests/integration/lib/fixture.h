/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tests of the client share: a client of the database that libpq's variables name, a plain connection beside it, and a hand
 * that plays the worker. What goes wrong here ends the program.
 */
#ifndef PAWL_FIXTURE_H
#define PAWL_FIXTURE_H

#include "session.h"

#include <pawl/pawl.h>
#include <stdbool.h>

/* Leads this program past a pooler, if there is one: for tests that watch what a single connection does. First in main. */
void fixture_go_direct(void);

/* A client with settings, pairs of name and value that end in NULL. */
pawl_client *fixture_client(const char *const *settings);

/* The status of a call must be this one; prints the error if it is not, and frees it. */
void fixture_expect(pawl_status status, pawl_status wanted, pawl_error **error);

/* Creates a workflow. */
void fixture_workflow(PGconn *conn, const char *name);

/* Triggers a run without options and returns its id in run_id. */
void fixture_trigger(pawl_client *client, const char *workflow, char run_id[PAWL_ID_SIZE]);

/* Claims the one run that is there and ends it: kind is complete or fail, with a payload. */
void fixture_end_run(
    const char *workflow, const char *kind, const char *payload, const char *option);

/* The one text that a query returns, as a number or a truth. */
long fixture_count(PGconn *conn, const char *sql, const char *parameter);

#endif
