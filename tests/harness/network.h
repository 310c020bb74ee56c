/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Network namespaces of a test's own: this program in one, two servers in one each, joined by cables that can be pulled. Who is at the
 * other end of a pulled cable is silent: no connection is refused, none is closed. All of it goes with this program.
 *
 * What goes wrong ends the program, but for network_open().
 */
#ifndef PAWL_NETWORK_H
#define PAWL_NETWORK_H

#include <stdbool.h>
#include <sys/types.h>

enum {
    network_places = 2
};

struct network {
    /* Processes that do nothing but keep a namespace. */
    pid_t pids[network_places];
};

/* Moves this program into a network of its own; false if it may not. To be called before there are threads. */
bool network_open(struct network *network);

/* What a place has for an address. */
const char *network_address(int place);

/* Pulls the cable to a place, and puts it back. */
void network_pull(int place);
void network_plug(int place);

/* Ends the processes; the namespaces go with the last that is in them. */
void network_close(struct network *network);

#endif
