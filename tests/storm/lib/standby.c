/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The storm's second server. It follows the first one for a while, which waits for it with each commit; then that one is killed, and it takes
 * its place for the rest of the storm. Clients know both and want the one that can be written to; the proxy is told.
 */
#include "pair.h"
#include "storm.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    synchronous_within_s = 60
};

void
storm_standby_open(struct storm *storm)
{
    static const char *const server[] = {"max_connections=300", "track_commit_timestamp=on", NULL};
    struct cluster_options options = {.settings = server};
    char hosts[2 * cluster_name_bytes + 2], ports[40];

    cluster_open(&storm->standby, &options);
    (void)snprintf(hosts, sizeof(hosts), "%s,%s", storm->cluster.host, storm->standby.host);
    (void)snprintf(ports, sizeof(ports), "%s,%s", storm->cluster.port, storm->standby.port);
    if (setenv("PGHOST", hosts, 1) != 0 || setenv("PGPORT", ports, 1) != 0 ||
        setenv("PGTARGETSESSIONATTRS", "read-write", 1) != 0 ||
        setenv("PGCONNECT_TIMEOUT", "2", 1) != 0)
        bench_die("out of memory");
    /* Until then it is nobody's, and must not be found. */
    cluster_stop(&storm->standby);
}

void
storm_standby_follow(struct storm *storm)
{
    double until_s = bench_limit_s(synchronous_within_s);
    PGconn *conn;

    cluster_follow(&storm->standby, &storm->cluster, "other");
    storm->faults.stops++;
    pair_set(&storm->cluster, "synchronous_standby_names", "'other'");
    conn = cluster_connect(&storm->cluster);
    while (race_count(conn, "select count(*) from pg_stat_replication where sync_state = 'sync'") ==
        0) {
        if (bench_now_s() > until_s)
            bench_die("the standby does not follow");
        crash_rest();
    }
    PQfinish(conn);
}

void
storm_standby_promote(struct storm *storm)
{
    double start_s = bench_now_s();

    cluster_crash(&storm->cluster);
    storm->failed_over = true;
    proxy_target(storm->proxy, storm->standby.host,
        (int)bench_number(storm->standby.port, "port", 1, 65535));
    /* It waits for nobody, as there is no other. */
    pair_set(&storm->standby, "synchronous_standby_names", "''");
    cluster_promote(&storm->standby);
    storm->faults.failover_s = bench_now_s() - start_s;
    storm->faults.failovers++;
}

/* The one that was left behind would wait for the other even now, and has a database to drop. */
void
storm_standby_close(struct storm *storm)
{
    if (storm->failed_over) {
        cluster_start(&storm->cluster);
        pair_set(&storm->cluster, "synchronous_standby_names", "''");
    }
    cluster_close(&storm->standby);
    /* One host again: what starts the next cluster goes by it. */
    cluster_use(&storm->cluster);
    if (unsetenv("PGTARGETSESSIONATTRS") != 0 || unsetenv("PGCONNECT_TIMEOUT") != 0)
        bench_die("cannot change the environment");
}
