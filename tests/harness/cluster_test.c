/* SPDX-License-Identifier: Apache-2.0 */
/* A cluster of a test's own can be crashed and started again, loses nothing that was acknowledged, and leaves nothing. */
#include "cluster.h"

#include "proxy.h"
#include "race.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct test {
    struct race race;
    struct cluster cluster;
};

static bool
works(PGconn *conn, const char *sql)
{
    PGresult *res = PQexec(conn, sql);
    bool done = PQresultStatus(res) == PGRES_COMMAND_OK || PQresultStatus(res) == PGRES_TUPLES_OK;

    PQclear(res);
    return done;
}

static void
a_crash_loses_nothing_that_was_acknowledged(struct test *test)
{
    struct proxy_options options = {.seed = test->race.seed};
    struct proxy *proxy;
    PGconn *conn, *through;
    long rows;

    cluster_use(&test->cluster);
    conn = bench_connect();
    proxy = proxy_new(&options);
    proxy_use(proxy);
    through = bench_connect();
    bench_do(through, "create table t (n int)");
    for (int i = 0; i < 3; i++) {
        bench_do(conn, "insert into t values (1)");
        bench_do(conn, "begin");
        bench_do(conn, "insert into t values (2)");
        cluster_crash(&test->cluster);
        race_ok(&test->race, !works(conn, "commit") && !works(through, "select 1"),
            "a crashed server answers nobody");
        PQreset(through);
        race_ok(&test->race,
            PQstatus(through) == CONNECTION_BAD && proxy_counts(proxy).unreachable > i,
            "nobody can connect to it");
        cluster_start(&test->cluster);
        PQreset(conn);
        PQreset(through);
        race_ok(&test->race, works(conn, "select 1") && works(through, "select 1"),
            "when it is started again, everybody can");
    }
    rows = race_count(conn, "select count(*) from t");
    race_ok(&test->race, rows == 3, "%ld acknowledged rows are there, and no other", rows);
    PQfinish(conn);
    PQfinish(through);
    proxy_free(proxy);
}

static void
it_has_pawl_in_it(struct test *test)
{
    PGconn *conn;

    cluster_use(&test->cluster);
    conn = bench_connect();
    race_ok(&test->race, race_count(conn, "select current_setting('max_connections')::int") == 33,
        "it has the settings that were asked for");
    race_ok(&test->race,
        works(conn, "select pawl.create_workflow('cluster.test')") &&
            works(conn, "select pawl.trigger('cluster.test')"),
        "it has a database with pawl in it");
    PQfinish(conn);
    cluster_stop(&test->cluster);
    cluster_start(&test->cluster);
    conn = bench_connect();
    race_ok(&test->race, works(conn, "select pawl.trigger('cluster.test')"),
        "it can be stopped and started in good order too");
    PQfinish(conn);
}

static void
it_may_stand_behind_a_pooler(struct test *test)
{
    struct cluster_options options = {.pooled = true};
    struct cluster cluster;
    PGconn *conn, *direct;

    cluster_open(&cluster, &options);
    cluster_use(&cluster);
    conn = bench_connect();
    direct = race_connect_direct();
    race_ok(&test->race,
        strcmp(PQhost(conn), PQhost(direct)) != 0 && works(conn, "select 1") &&
            works(direct, "select 1"),
        "it may stand behind a pooler, and there is a way past that");
    PQfinish(conn);
    PQfinish(direct);
    cluster_close(&cluster);
}

int
main(int argc, char **argv)
{
    const char *const settings[] = {"max_connections=33", NULL};
    struct cluster_options options = {.pawl = true, .settings = settings};
    struct test test = {0};
    char data[cluster_name_bytes];

    race_start(&test.race, argc, argv);
    cluster_open(&test.cluster, &options);
    (void)snprintf(data, sizeof(data), "%s", test.cluster.data);
    it_has_pawl_in_it(&test);
    a_crash_loses_nothing_that_was_acknowledged(&test);
    cluster_close(&test.cluster);
    race_ok(&test.race, access(data, F_OK) != 0, "nothing is left of it");
    it_may_stand_behind_a_pooler(&test);
    return race_end(&test.race);
}
