/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP server of pawl dev: it ends with this program, and has one token. */
#ifndef PW_CLI_SETUP_DEV_SERVE_H
#define PW_CLI_SETUP_DEV_SERVE_H

#include "cli/setup/new_token.h"
#include "cli/setup/server.h"

#include <pawl/pawl.h>
#include <sys/types.h>

struct dev_serve {
    pid_t pid; /* 0: it is not started */
    int out;   /* its standard output, which stays open while it runs */
    char url[100];
    struct new_token token;
};

/*
 * Creates a role and a token, starts the server on a free port, and waits until it listens. Does nothing, and returns EXIT_OK, if the program is
 * not installed. Otherwise returns EXIT_OK, or prints why not and returns the exit code.
 */
int dev_serve_start(
    struct dev_serve *serve, const pawl_config *config, const struct server *server);

/* Ends the server. Does nothing if it was not started. */
void dev_serve_stop(struct dev_serve *serve);

#endif
