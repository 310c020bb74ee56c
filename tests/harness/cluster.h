/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A PostgreSQL cluster of a test's own, which can be crashed and started again. It is made by tools/pg_tmp and goes when it
 * is closed, or with this program, however that ends.
 *
 * What goes wrong ends the program.
 */
#ifndef PAWL_CLUSTER_H
#define PAWL_CLUSTER_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <sys/types.h>

enum {
    cluster_name_bytes = 256,
    cluster_settings_max = 16
};

struct cluster_options {
    /* 15 to 18. NULL: that of the cluster around us, else the usual one. */
    const char *version;
    /* Stock durability. Without it the server does not sync; a crash of the server alone loses nothing even so. */
    bool durable;
    /* With a database that has pawl in it, as every test has. */
    bool pawl;
    /* Behind PgBouncer in transaction mode. */
    bool pooled;
    /* Lines for postgresql.conf, NAME=VALUE; ends with NULL, or is NULL. */
    const char *const *settings;
};

struct cluster {
    char host[cluster_name_bytes];
    char port[16];
    char database[cluster_name_bytes];
    /* Past the pooler; without one the same. */
    char direct_host[cluster_name_bytes];
    char direct_port[16];
    /* The directory of the server's programs, and of its data. */
    char bin[cluster_name_bytes];
    char data[cluster_name_bytes];
    /* tools/pg_tmp; it ends when its input does. */
    pid_t pid;
    int input;
    bool running;
    /* A process in whose network namespace the server is started; 0: ours. */
    pid_t net;
};

/* Makes and starts it. */
void cluster_open(struct cluster *cluster, const struct cluster_options *options);

/* Stops and removes it. */
void cluster_close(struct cluster *cluster);

/* Puts it into this program's environment, so that bench_connect() and children go there. For one thread alone. */
void cluster_use(const struct cluster *cluster);

/* To the server itself, past a pooler, whatever the environment wants of a server; what is committed waits for no standby. */
PGconn *cluster_connect(const struct cluster *cluster);

/* The same to the database that has pawl in it, even while the server is set to be only read. */
PGconn *cluster_operate(const struct cluster *cluster);

/* Runs a command, whose words end with NULL, and returns its exit code; as an operator would for this server, or anywhere. */
int cluster_command(const struct cluster *cluster, const char *const *words);
int cluster_run(const char *const *words);

/* An immediate stop: what a power cut leaves, as far as the server can tell. Returns when all its processes have gone. */
void cluster_crash(struct cluster *cluster);

/* All its processes stand still, connections open, as those of a machine that is cut off; and go on. */
void cluster_freeze(const struct cluster *cluster);
void cluster_thaw(const struct cluster *cluster);

/* A fast stop, if it runs: open transactions roll back, and everything is written. */
void cluster_stop(struct cluster *cluster);

/* Starts it again and returns when it takes connections. */
void cluster_start(struct cluster *cluster);

/* Whether it runs; it may have ended by itself, or have no connection to give. */
bool cluster_lives(const struct cluster *cluster);

/* Starts it on another port of its socket, so that nobody finds it but cluster_connect(); and stops it again, as cluster_stop() does. */
void cluster_start_apart(struct cluster *cluster);
void cluster_stop_apart(struct cluster *cluster);

/* Starts it again in the network namespace of a process, at an address there; clients that cluster_use() it go to that address. */
void cluster_move(struct cluster *cluster, pid_t net, const char *address);

/*
 * Makes the server take connections to an address of its loopback, with TLS and no others: with a certificate of that name, signed by
 * ca.crt in the data directory; stranger.crt there has signed nothing. Returns false if the server knows no TLS. The address must
 * be among its listen_addresses.
 */
bool cluster_secure(const struct cluster *cluster, const char *name);

/* Makes a cluster, whose own data goes, a standby that follows another under a name; that one is started again for it. */
void cluster_follow(struct cluster *cluster, struct cluster *primary, const char *name);

/* Makes a standby a primary, if it is not one already, and returns when it is. */
void cluster_promote(const struct cluster *cluster);

/* Starts a primary again as a standby that follows nobody: it can be read, and takes no writes. */
void cluster_demote(struct cluster *cluster);

#endif
