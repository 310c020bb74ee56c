/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two servers take writes: a standby was promoted, and the epoch raised there, while its primary lives on and can be reached. Who has seen
 * the new one works with the old one no more: not a worker whose session is kept at the new one while its other connections still
 * lead to the old one, not one that is led back as a whole, and not a client. Then they change places.
 *
 * Who has not seen the new one is not kept from the old one. That is what a synchronous standby is for.
 */
#include "cluster.h"
#include "crash.h"
#include "proxy.h"

#include <stdio.h>
#include <string.h>

enum {
    workers = 4,
    rounds = 10,
    runs = 40,
    lease_ms = 1500,
    heartbeat_ms = lease_ms / 3,
    calls = 5
};

struct field {
    struct crash crash;
    struct cluster clusters[2];
    int primary;
    /* The lines of the workers' sessions, and of all else. */
    struct proxy *control;
    struct proxy *work;
    pawl_client *client;
    char conninfo[3 * cluster_name_bytes];
    long accepted;
    long changed;
    long refused;
    long slowest_ms;
    long sessions;
    long on_old;
};

static void
lead_to(struct proxy *proxy, const struct cluster *cluster, bool cut)
{
    proxy_target(proxy, cluster->host, (int)bench_number(cluster->port, "a port", 1, 65535));
    if (cut)
        proxy_cut_all(proxy);
}

/* How many sessions of workers a server has ever had. */
static long
count_sessions(PGconn *conn)
{
    return race_count(conn, "select count(*) from pawl_data.worker where name like 'crash-%'");
}

/* Waits until all workers have a session there which lives, under the server's epoch. */
static void
await_sessions(struct field *field, PGconn *conn)
{
    double until_s = bench_limit_s(60);

    while (race_count(conn,
               "select count(distinct w.name) from pawl_data.worker w where w.name like 'crash-%'"
               " and w.ended_at is null and w.session_id >> 32 = pawl.epoch()") < workers) {
        if (bench_now_s() > until_s)
            bench_die("the workers did not come; see \"%s\"", field->crash.output);
        crash_rest();
    }
}

/* What work leaves behind: whatever is done there changes it. */
static long
fingerprint(PGconn *conn)
{
    return race_count(conn,
        "select (select count(*) from pawl_data.run) + (select count(*) from pawl_data.step) +"
        " (select count(*) from pawl_data.audit) + (select count(*) from pawl_data.event) +"
        " (select coalesce(sum(t.fence), 0) + count(*) from pawl_data.task t)");
}

/* How often workers have said that a server's epoch is old. */
static long
count_old(const struct crash *crash)
{
    char line[1000];
    FILE *file = fopen(crash->output, "re");
    long count = 0;

    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        count += strstr(line, " old_epoch:") != NULL;
    if (file != NULL)
        (void)fclose(file); /* It was only read. */
    return count;
}

/* Calls of a client that has seen the new server. */
static void
call_old(struct field *field)
{
    for (int i = 0; i < calls; i++) {
        pawl_error *error = NULL;
        pawl_status status =
            pawl_client_emit(field->client, "crash.topic", NULL, NULL, pawl_text("{}"), &error);

        if (status == PAWL_OK)
            field->accepted++;
        else if (status == PAWL_ECONN)
            field->refused++;
        else
            race_note("emit: %s: %s", pawl_status_name(status), pawl_error_message(error));
        pawl_error_free(error);
    }
}

/* The sessions are kept at the new server, and the work still goes to the old one: it is refused there, and that is no busy loop. */
static void
play_half(struct field *field, PGconn *old, PGconn *next)
{
    long before, sessions;
    double from_s;

    lead_to(field->control, &field->clusters[1 - field->primary], true);
    await_sessions(field, next);
    race_trigger(old, "crash.steps.v1", 0, runs);
    before = fingerprint(old);
    sessions = count_sessions(next);
    from_s = bench_now_s();
    crash_outlast(&field->crash);
    field->changed += fingerprint(old) != before;
    sessions = (long)((double)(count_sessions(next) - sessions) / (bench_now_s() - from_s));
    field->sessions = sessions > field->sessions ? sessions : field->sessions;
}

/* All work is at the new server, and ends there. */
static void
play_new(struct field *field, PGconn *next)
{
    pawl_error *error = NULL;
    double until_s = bench_limit_s(60);

    lead_to(field->work, &field->clusters[1 - field->primary], true);
    await_sessions(field, next);
    race_trigger(next, "crash.steps.v1", 0, runs);
    while (race_count(next, "select count(*) from pawl_data.task") > 0) {
        if (bench_now_s() > until_s)
            bench_die("the new server's runs do not end; see \"%s\"", field->crash.output);
        crash_rest();
    }
    crash_must(pawl_client_emit(field->client, "crash.topic", NULL, NULL, pawl_text("{}"), &error),
        &error);
}

/* All are led back to the old one. */
static void
play_back(struct field *field, PGconn *old)
{
    long said = count_old(&field->crash), before = fingerprint(old);
    double until_s = bench_limit_s(60);
    int64_t from_us = meter_now_us(), now_us;
    long took_ms;

    lead_to(field->control, &field->clusters[field->primary], true);
    lead_to(field->work, &field->clusters[field->primary], true);
    while (count_old(&field->crash) < said + workers) {
        if (bench_now_s() > until_s)
            bench_die("the workers do not refuse the old server; see \"%s\"", field->crash.output);
        crash_rest();
    }
    now_us = meter_now_us();
    took_ms = (now_us - from_us) / 1000;
    if (meter_stalled_ms(field->crash.meter, from_us, now_us) >= lease_ms / 4)
        race_note("refused after %ld ms, on a machine that stood still", took_ms);
    else
        field->slowest_ms = took_ms > field->slowest_ms ? took_ms : field->slowest_ms;
    call_old(field);
    crash_outlast(&field->crash);
    field->on_old = race_count(old, "select count(*) from pawl_data.task t where t.place = 'r'");
    field->changed += fingerprint(old) != before;
}

static void
play_round(struct field *field)
{
    struct cluster *old = &field->clusters[field->primary];
    struct cluster *next = &field->clusters[1 - field->primary];
    PGconn *old_conn, *next_conn;

    cluster_follow(next, old, "other");
    lead_to(field->control, old, true);
    lead_to(field->work, old, true);
    old_conn = cluster_operate(old);
    await_sessions(field, old_conn);
    cluster_promote(next);
    next_conn = cluster_operate(next);
    bench_do(next_conn, "select pawl.raise_epoch('promoted')");
    play_half(field, old_conn, next_conn);
    play_new(field, next_conn);
    play_back(field, old_conn);
    lead_to(field->control, next, true);
    lead_to(field->work, next, true);
    await_sessions(field, next_conn);
    PQfinish(old_conn);
    PQfinish(next_conn);
    field->primary = 1 - field->primary;
}

static void
open_all(struct field *field)
{
    const struct cluster_options with_pawl = {.pawl = true};
    const struct cluster_options without = {0};
    struct cluster *first = &field->clusters[0];
    char host[256], port[24], listen[400];
    const char *env[] = {host, port, NULL};
    const char *const words[] = {listen, NULL};
    struct crash_workers spec = {.count = workers,
        .lease_ms = lease_ms,
        .concurrency = 8,
        .step_us = 3000,
        .env = env,
        .words = words};
    struct proxy_options options;
    pawl_config *config;
    pawl_error *error = NULL;

    cluster_open(first, &with_pawl);
    cluster_open(&field->clusters[1], &without);
    (void)snprintf(
        field->clusters[1].database, sizeof(field->clusters[1].database), "%s", first->database);
    cluster_use(first);
    crash_connect(&field->crash);
    bench_do(field->crash.direct, "select pawl.create_workflow('crash.steps.v1')");
    options = (struct proxy_options){.target_dir = first->host,
        .listen_dir = field->crash.dir,
        .target_port = (int)bench_number(first->port, "a port", 1, 65535)};
    field->control = proxy_new(&options);
    field->work = proxy_new(&options);
    (void)snprintf(host, sizeof(host), "PGHOST=%s", proxy_host(field->work));
    (void)snprintf(port, sizeof(port), "PGPORT=%d", proxy_port(field->work));
    (void)snprintf(listen, sizeof(listen), "listen_database=host=%s port=%d dbname=%s",
        proxy_host(field->control), proxy_port(field->control), first->database);
    crash_spawn(&field->crash, &spec);
    crash_wait_sessions(&field->crash, workers);
    (void)snprintf(field->conninfo, sizeof(field->conninfo), "host=%s port=%d dbname=%s",
        proxy_host(field->work), proxy_port(field->work), first->database);
    config = crash_config(field->conninfo);
    crash_must(pawl_config_set(config, "call_timeout", "300ms", &error), &error);
    crash_must(pawl_client_open(config, &field->client, &error), &error);
    pawl_config_free(config);
    PQfinish(field->crash.direct);
    field->crash.direct = NULL;
}

int
main(int argc, char **argv)
{
    struct field field = {0};
    struct crash *crash = &field.crash;
    long count;

    crash_start(crash, argc, argv);
    count = race_share(&crash->race, rounds);
    open_all(&field);
    for (long i = 0; i < count; i++)
        play_round(&field);
    race_note("rounds %ld, workers %d; %ld runs could be taken on the old server", count, workers,
        field.on_old);
    race_ok(&crash->race, field.changed == 0 && field.on_old > 0,
        "%ld times something was changed on the old server by who had seen the new one",
        field.changed);
    race_in_time(&crash->race, field.slowest_ms <= heartbeat_ms + lease_ms / 4 + 500,
        "all workers had refused the old server after %ld ms, a heartbeat is every %d ms",
        field.slowest_ms, heartbeat_ms);
    race_ok(&crash->race, field.accepted == 0 && field.refused == count * calls,
        "%ld calls of a client were acknowledged by the old server, %ld refused", field.accepted,
        field.refused);
    race_ok(&crash->race, field.sessions <= 5L * workers,
        "%ld sessions a second while work was led elsewhere", field.sessions);
    crash_end_workers(crash);
    pawl_client_close(field.client);
    proxy_free(field.control);
    proxy_free(field.work);
    cluster_close(&field.clusters[1 - field.primary]);
    cluster_close(&field.clusters[field.primary]);
    return crash_end(crash);
}
