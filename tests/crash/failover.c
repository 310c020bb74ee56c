/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pair of servers, one of which waits for the other with each commit. The first is taken away under load, the second is promoted,
 * and clients and workers, which know both, find it. Every other time the old one is not killed but stopped, connections open, and
 * goes on when the other has taken over: what it still says must be worth nothing. Then it becomes the standby, and so on.
 * What was acknowledged is there in the end.
 */
#include "cluster.h"
#include "producers.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    failovers = 100,
    runs_each = 200,
    threads = 4
};

struct field {
    struct crash crash;
    struct cluster clusters[2];
    /* Which of them is the primary. */
    int primary;
    struct producers producers;
    long count;
};

struct part {
    struct field *field;
    unsigned number;
};

/* Clients know both servers and want the one that can be written to. */
static void
use_both(struct field *field)
{
    const struct cluster *one = &field->clusters[0];
    const struct cluster *other = &field->clusters[1];
    char hosts[2 * cluster_name_bytes + 2], ports[40];

    cluster_use(one);
    (void)snprintf(hosts, sizeof(hosts), "%s,%s", one->host, other->host);
    (void)snprintf(ports, sizeof(ports), "%s,%s", one->port, other->port);
    if (setenv("PGHOST", hosts, 1) != 0 || setenv("PGPORT", ports, 1) != 0 ||
        setenv("PGTARGETSESSIONATTRS", "read-write", 1) != 0 ||
        setenv("PGCONNECT_TIMEOUT", "2", 1) != 0)
        bench_die("out of memory");
}

/* Whom a server waits for with each commit; nobody: "". */
static PGconn *
set_other(const struct cluster *cluster, const char *name)
{
    PGconn *conn = cluster_connect(cluster);
    char sql[100];

    (void)snprintf(sql, sizeof(sql), "alter system set synchronous_standby_names to '%s'", name);
    bench_do(conn, sql);
    bench_do(conn, "select pg_reload_conf()");
    return conn;
}

/* Makes the other server the standby, and returns when commits wait for it. */
static void
pair_up(struct field *field)
{
    struct cluster *primary = &field->clusters[field->primary];
    struct cluster *standby = &field->clusters[1 - field->primary];
    PGconn *conn;

    cluster_follow(standby, primary, "other");
    conn = set_other(primary, "other");
    while (race_count(
               conn, "select count(*) from pg_stat_replication r where r.sync_state = 'sync'") == 0)
        race_breathe();
    PQfinish(conn);
    crash_connect(&field->crash);
}

/* The standby takes over, and waits for nobody as long as there is no other. */
static void
promote(struct field *field)
{
    field->primary = 1 - field->primary;
    PQfinish(set_other(&field->clusters[field->primary], ""));
    cluster_promote(&field->clusters[field->primary]);
}

/* How long it takes until a producer is told of a run again. */
static double
await_acknowledgement(struct field *field)
{
    long before = atomic_load(&field->producers.acked);
    double start_s = bench_now_s();

    while (atomic_load(&field->producers.acked) == before) {
        if (bench_now_s() > start_s + 120)
            bench_die("nothing was acknowledged for two minutes; see \"%s\"", field->crash.output);
        race_breathe();
    }
    return bench_now_s() - start_s;
}

static double
fail_over(struct field *field, bool silently)
{
    struct cluster *old = &field->clusters[field->primary];
    double gap_s;

    if (silently)
        cluster_freeze(old);
    else
        cluster_crash(old);
    promote(field);
    gap_s = await_acknowledgement(field);
    if (silently) {
        cluster_thaw(old);
        /* It has answers for those who still listen; they get the time to be wrong. */
        crash_pause(&field->crash, 200000);
        cluster_crash(old);
    }
    crash_connect(&field->crash);
    return gap_s;
}

/* Each time when a part of what was allowed last has ended, so that the rest is under way, and is left for afterwards. */
static void
fail_over_often(struct field *field)
{
    struct producers *producers = &field->producers;
    double longest_s = 0, sum_s = 0;

    for (long i = 0; i < field->count; i++) {
        double gap_s;

        pair_up(field);
        producers_await_ended(producers, i * runs_each + runs_each / 4);
        /* Those who wait for their turn are let in as the server goes, so that somebody asks the next one. */
        atomic_store(&producers->allowed, (i + 2) * runs_each);
        gap_s = fail_over(field, i % 2 == 1);
        longest_s = gap_s > longest_s ? gap_s : longest_s;
        sum_s += gap_s;
    }
    atomic_store(&producers->allowed, producers->total);
    race_note(
        "from the promotion to the next acknowledged trigger: %.2f s on average, %.2f s at most",
        sum_s / (double)field->count, longest_s);
}

/* The producers, and the one who takes servers away, each in a thread. */
static void *
play(void *argument)
{
    struct part *part = argument;

    if (part->number == 0)
        fail_over_often(part->field);
    else
        producers_work(&part->field->producers);
    return NULL;
}

static void
open_clusters(struct field *field)
{
    const struct cluster_options with_pawl = {.pawl = true};
    const struct cluster_options without = {0};

    cluster_open(&field->clusters[0], &with_pawl);
    cluster_open(&field->clusters[1], &without);
    (void)snprintf(field->clusters[1].database, sizeof(field->clusters[1].database), "%s",
        field->clusters[0].database);
    use_both(field);
    crash_connect(&field->crash);
}

/* The one that was left behind would wait for the other even now, and has a database to drop. */
static void
close_clusters(struct field *field)
{
    struct cluster *old = &field->clusters[1 - field->primary];

    cluster_start(old);
    PQfinish(set_other(old, ""));
    cluster_close(old);
    cluster_close(&field->clusters[field->primary]);
}

/* A third of the usual share: each takes seconds, and what goes wrong with one goes wrong with the first few. */
static long
failovers_of(const struct race *race)
{
    long share = race_share(race, failovers);

    if (race->divisor == 1)
        return share;
    return share < 3 ? 1 : share / 3;
}

int
main(int argc, char **argv)
{
    struct field field = {0};
    struct crash *crash = &field.crash;
    struct crash_workers spec = {.count = 4, .lease_ms = 5000, .concurrency = 16, .step_us = 3000};
    struct part parts[threads + 1];

    crash_start(crash, argc, argv);
    open_clusters(&field);
    field.count = failovers_of(&crash->race);
    field.producers = (struct producers){
        .crash = crash, .total = (field.count + 1) * runs_each, .call_timeout = "3s"};
    atomic_store(&field.producers.allowed, runs_each);
    producers_start(&field.producers);
    crash_spawn(crash, &spec);
    crash_wait_sessions(crash, spec.count);
    for (unsigned i = 0; i <= threads; i++)
        parts[i] = (struct part){.field = &field, .number = i};
    race_threads(threads + 1, play, parts, sizeof(parts[0]));
    race_ok(&crash->race, crash_wait_left(crash, 0, 60), "all runs end");
    race_note("failovers %ld, runs %ld, triggers whose outcome was not known at first %ld",
        field.count, field.producers.total, atomic_load(&field.producers.unknown));
    crash_end_workers(crash);
    producers_check(&field.producers);
    PQfinish(crash->direct);
    crash->direct = NULL;
    close_clusters(&field);
    return crash_end(crash);
}
