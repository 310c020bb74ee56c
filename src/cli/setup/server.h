/* SPDX-License-Identifier: Apache-2.0 */
/* A private PostgreSQL server that runs as long as this program. It is created in a temporary directory, and removed with it. */
#ifndef PW_CLI_SETUP_SERVER_H
#define PW_CLI_SETUP_SERVER_H

#include <sys/types.h>

struct server {
    char bin[400];      /* where its programs are */
    char dir[200];      /* data, socket and log; "": none */
    char database[700]; /* a URI; each byte of dir may take three */
    pid_t pid;          /* 0: not started */
};

/* Finds the programs, creates a cluster and starts it. Returns EXIT_OK, or prints why not and returns the exit code. */
int server_start(struct server *server);

/* Stops the server and removes everything. Does nothing if it was not started. */
void server_stop(struct server *server);

#endif
