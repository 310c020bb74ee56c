/* SPDX-License-Identifier: Apache-2.0 */
/* A pair of servers; see the header. */
#include "pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    runs_each = 200,
    threads = 4
};

struct part {
    struct pair *pair;
    unsigned number;
};

/* Clients know both servers and want the one that can be written to. */
void
pair_use(struct pair *pair)
{
    const struct cluster *one = &pair->clusters[0];
    const struct cluster *other = &pair->clusters[1];
    char hosts[2 * cluster_name_bytes + 2], ports[40];

    cluster_use(one);
    (void)snprintf(hosts, sizeof(hosts), "%s,%s", one->host, other->host);
    (void)snprintf(ports, sizeof(ports), "%s,%s", one->port, other->port);
    if (setenv("PGHOST", hosts, 1) != 0 || setenv("PGPORT", ports, 1) != 0 ||
        setenv("PGTARGETSESSIONATTRS", "read-write", 1) != 0 ||
        setenv("PGCONNECT_TIMEOUT", "2", 1) != 0 || unsetenv("PAWL_DIRECT_PGHOST") != 0 ||
        unsetenv("PAWL_DIRECT_PGPORT") != 0)
        bench_die("out of memory");
}

void
pair_set(const struct cluster *cluster, const char *setting, const char *value)
{
    PGconn *conn = cluster_connect(cluster);
    char sql[100];

    (void)snprintf(sql, sizeof(sql), "alter system set %s to %s", setting, value);
    bench_do(conn, sql);
    bench_do(conn, "select pg_reload_conf()");
    PQfinish(conn);
}

void
pair_follow(struct pair *pair, bool synchronous)
{
    struct cluster *primary = &pair->clusters[pair->primary];
    struct cluster *standby = &pair->clusters[1 - pair->primary];
    PGconn *conn;
    long ended;

    cluster_follow(standby, primary, "other");
    if (synchronous)
        pair_set(primary, "synchronous_standby_names", "'other'");
    conn = cluster_connect(primary);
    while (race_count(conn,
               synchronous
                   ? "select count(*) from pg_stat_replication where sync_state = 'sync'"
                   : "select count(*) from pg_stat_replication where state = 'streaming'") == 0)
        race_breathe();
    PQfinish(conn);
    crash_connect(&pair->crash);
    ended = race_count(pair->crash.direct, "select count(*) from pawl_data.run");
    atomic_fetch_add(&pair->producers.allowed, runs_each / 2);
    producers_await_ended(&pair->producers, ended + runs_each / 4);
}

void
pair_take_away(struct pair *pair, enum pair_way way)
{
    struct cluster *primary = &pair->clusters[pair->primary];

    /* Those who wait for their turn are let in as the server goes, so that somebody is asking meanwhile. */
    atomic_fetch_add(&pair->producers.allowed, runs_each / 4);
    if (way == PAIR_KILLED)
        cluster_crash(primary);
    else if (way == PAIR_FROZEN)
        cluster_freeze(primary);
    else
        network_pull(pair->primary);
}

void
pair_bring_back(struct pair *pair, struct cluster *old, enum pair_way way)
{
    if (way == PAIR_KILLED)
        return;
    if (way == PAIR_FROZEN)
        cluster_thaw(old);
    else
        network_plug(1 - pair->primary);
    /* It has answers for those who still listen; they get the time to be wrong. */
    crash_pause(&pair->crash, 200000);
    cluster_crash(old);
}

/* How long it takes until a producer is told of a run again. */
void
pair_await_acknowledgement(struct pair *pair)
{
    long before = atomic_load(&pair->producers.acked);
    double start_s = bench_now_s(), gap_s;

    /* On a slow machine all that were let in may have been answered before the old server was gone. */
    atomic_fetch_add(&pair->producers.allowed, runs_each / 4);
    while (atomic_load(&pair->producers.acked) == before) {
        if (bench_now_s() > start_s + 120)
            bench_die("nothing was acknowledged for two minutes; see \"%s\"", pair->crash.output);
        race_breathe();
    }
    gap_s = bench_now_s() - start_s;
    pair->longest_s = gap_s > pair->longest_s ? gap_s : pair->longest_s;
    pair->sum_s += gap_s;
}

void
pair_play_synchronous(struct pair *pair, enum pair_way way)
{
    struct cluster *old = &pair->clusters[pair->primary];
    struct cluster *next = &pair->clusters[1 - pair->primary];

    pair_follow(pair, true);
    pair_take_away(pair, way);
    pair->primary = 1 - pair->primary;
    /* It waits for nobody as long as there is no other. */
    pair_set(next, "synchronous_standby_names", "''");
    cluster_promote(next);
    pair_await_acknowledgement(pair);
    pair_bring_back(pair, old, way);
    crash_connect(&pair->crash);
}

static void
play_rounds(struct pair *pair)
{
    struct producers *producers = &pair->producers;

    for (long i = 0; i < pair->rounds; i++)
        pair->play(pair, i);
    atomic_store(&producers->allowed, producers->total);
    race_note(
        "from the promotion to the next acknowledged trigger: %.2f s on average, %.2f s at most",
        pair->sum_s / (double)pair->rounds, pair->longest_s);
}

/* The producers, and the one who takes servers away, each in a thread. */
static void *
play(void *argument)
{
    struct part *part = argument;

    if (part->number == 0)
        play_rounds(part->pair);
    else
        producers_work(&part->pair->producers);
    return NULL;
}

static void
open_clusters(struct pair *pair)
{
    const struct cluster_options with_pawl = {.pawl = true};
    const struct cluster_options without = {0};

    cluster_open(&pair->clusters[0], &with_pawl);
    cluster_open(&pair->clusters[1], &without);
    (void)snprintf(pair->clusters[1].database, sizeof(pair->clusters[1].database), "%s",
        pair->clusters[0].database);
    for (int i = 0; i < 2 && pair->networked; i++)
        cluster_move(&pair->clusters[i], pair->network.pids[i], network_address(i));
    pair_use(pair);
    crash_connect(&pair->crash);
}

/* The one that was left behind would wait for the other even now, and has a database to drop. */
static void
close_clusters(struct pair *pair)
{
    struct cluster *old = &pair->clusters[1 - pair->primary];

    if (!old->running)
        cluster_start(old);
    pair_set(old, "synchronous_standby_names", "''");
    cluster_close(old);
    cluster_close(&pair->clusters[pair->primary]);
}

/* A third of the usual share: each takes seconds, and what goes wrong with one goes wrong with the first few. */
static long
rounds_of(const struct pair *pair)
{
    long share = race_share(&pair->crash.race, pair->rounds);

    if (pair->crash.race.divisor == 1)
        return share;
    return share / 3 < pair->few ? pair->few : share / 3;
}

void
pair_run(struct pair *pair, int argc, char **argv)
{
    struct crash *crash = &pair->crash;
    struct crash_workers spec = {
        .count = pair_workers, .lease_ms = 5000, .concurrency = 16, .step_us = 3000};
    struct part parts[threads + 1];

    crash_start(crash, argc, argv);
    pair->rounds = rounds_of(pair);
    open_clusters(pair);
    pair->producers = (struct producers){.crash = crash,
        .total = runs_each + pair->rounds * (runs_each + (pair->lags ? pair_lag_runs : 0)),
        .call_timeout = "3s"};
    atomic_store(&pair->producers.allowed, runs_each);
    producers_start(&pair->producers);
    crash_spawn(crash, &spec);
    crash_wait_sessions(crash, spec.count);
    for (unsigned i = 0; i <= threads; i++)
        parts[i] = (struct part){.pair = pair, .number = i};
    race_threads(threads + 1, play, parts, sizeof(parts[0]));
    race_ok(&crash->race, crash_wait_left(crash, 0, 60), "all runs end");
    race_note("failovers %ld, runs %ld, triggers whose outcome was not known at first %ld",
        pair->rounds, pair->producers.total, atomic_load(&pair->producers.unknown));
    if (pair->returns)
        pair_check_return(pair);
    crash_end_workers(crash);
}

int
pair_end(struct pair *pair)
{
    PQfinish(pair->crash.direct);
    pair->crash.direct = NULL;
    close_clusters(pair);
    if (pair->networked)
        network_close(&pair->network);
    return crash_end(&pair->crash);
}
