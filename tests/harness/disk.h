/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A disk for the log of a test's cluster that can be filled: a small file system in memory, in a mount namespace of this program's own, so that it goes
 * with the last process that is in it. That takes root.
 *
 * What goes wrong ends the program, but for disk_allow().
 */
#ifndef PAWL_DISK_H
#define PAWL_DISK_H

#include "cluster.h"

struct disk {
    struct cluster *cluster;
    char path[cluster_name_bytes];
};

/* Moves this program into a mount namespace; false if it may not. To be called once, before there are threads and clusters. */
bool disk_allow(void);

/* Puts the log of a cluster there; its server is started again for it. `dir` is a directory of this program's own, which others may enter from now on. */
void disk_open(struct disk *disk, struct cluster *cluster, const char *dir);

/* Takes all room, and uses up what the server has laid up, as far as it can be reached. It ends when it cannot write its log. */
void disk_fill(const struct disk *disk);

/* Gives the room back and returns when the server takes connections, which is started if it has ended. Whether it could not be reached before. */
bool disk_free(const struct disk *disk);

/* How often the server has said that the disk is full. */
long disk_complaints(const struct disk *disk);

/* Puts the log back; the server has stopped then. */
void disk_close(struct disk *disk);

#endif
