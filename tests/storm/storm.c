/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All at once: workers that are killed, stopped and told to end, a server that is stopped and started, connections that are cut, delayed
 * and silent, and callers that trigger, emit, signal, cancel and retry meanwhile. Then the faults end, and everything has to.
 *
 *     storm [--seed N] [--seconds N | --profile ci|hour|day] [--shape sharp|broad] [--state FILE] [--install | --journal]
 *
 * PAWL_STORM in the environment is a profile or a number of seconds, too. A long storm is a row of short ones, each with a cluster, a seed
 * and checks of its own. Those of an hour or a day are broad: more runs and kills for each second, fewer of the other faults for each run.
 * FILE gets a line of JSON for each, and what its lines add up to is printed. With --install pawl.sql is installed
 * again meanwhile.
 * With --journal storms are of 15 seconds, and the oracle has to admit all that was committed in them, event by event (lib/journal.h).
 *
 * The seed decides whether the server has a standby that takes its place, or a disk that fills, which takes root.
 */
#include "storm.h"
#include "journal.h"
#include "kinds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    ci_seconds = 180,
    journal_seconds = 15,
    hour_seconds = 3600,
    end_within_s = 60,
    remind_s = 1
};

struct settings {
    long seconds;
    const struct storm_shape *shape;
    bool disk;
    const char *state;
    bool install;
    bool journal;
    struct admitted admitted;
};

struct part {
    struct storm *storm;
    unsigned number;
};

static long
read_profile(const char *text)
{
    if (strcmp(text, "ci") == 0)
        return ci_seconds;
    if (strcmp(text, "hour") == 0)
        return hour_seconds;
    if (strcmp(text, "day") == 0)
        return 24L * hour_seconds;
    return bench_number(text, "profile", 1, 1000000);
}

/* Takes our own words out of the arguments; the rest is for race_start(). */
static struct settings
read_settings(int *argc, char **argv)
{
    const char *profile = getenv("PAWL_STORM");
    struct settings settings = {.seconds = read_profile(profile == NULL ? "ci" : profile)};
    const char *shape = NULL;
    int kept = 1;

    for (int i = 1; i < *argc; i++) {
        if ((strcmp(argv[i], "--seconds") == 0 || strcmp(argv[i], "--profile") == 0) &&
            i + 1 < *argc)
            settings.seconds = read_profile(argv[++i]);
        else if (strcmp(argv[i], "--shape") == 0 && i + 1 < *argc)
            shape = argv[++i];
        else if (strcmp(argv[i], "--state") == 0 && i + 1 < *argc)
            settings.state = argv[++i];
        else if (strcmp(argv[i], "--install") == 0)
            settings.install = true;
        else if (strcmp(argv[i], "--journal") == 0)
            settings.journal = true;
        else
            argv[kept++] = argv[i];
    }
    if (settings.install && settings.journal)
        bench_die("an install would take the journal away");
    argv[kept] = NULL;
    *argc = kept;
    if (shape == NULL)
        shape = settings.seconds >= hour_seconds ? "broad" : "sharp";
    settings.shape = strcmp(shape, "broad") == 0 ? &storm_broad : &storm_sharp;
    if (strcmp(shape, settings.shape->name) != 0)
        bench_die("no shape \"%s\"", shape);
    return settings;
}

static void *
play(void *argument)
{
    struct part *part = argument;

    if (part->number == 0)
        storm_harm(part->storm);
    else
        storm_call(part->storm, part->number - 1);
    return NULL;
}

/* Half of the workers go through the proxy. */
static void
spawn_workers(struct storm *storm)
{
    char host[300], port[40];
    const char *const env[] = {host, port, NULL};
    const char *const words[] = {"handle=" STORM_FLOW "*", storm->shape->connections, NULL};
    struct crash_workers spec = {
        .count = storm_workers / 2,
        .lease_ms = storm_lease_ms,
        .concurrency = storm->shape->concurrency,
        .step_us = storm->shape->step_us,
        .program = STORM_WORKER,
        .words = words,
    };

    (void)snprintf(host, sizeof(host), "PGHOST=%s", proxy_host(storm->proxy));
    (void)snprintf(port, sizeof(port), "PGPORT=%d", proxy_port(storm->proxy));
    (void)snprintf(storm->database, sizeof(storm->database), "host=%s port=%d",
        proxy_host(storm->proxy), proxy_port(storm->proxy));
    crash_spawn(&storm->crash, &spec);
    spec.env = env;
    crash_spawn(&storm->crash, &spec);
    crash_wait_sessions(&storm->crash, storm_workers);
}

/* Waits until all runs have ended, for as long as they may take, and as the machine stands still. */
static void
await_end(struct storm *storm)
{
    struct crash *crash = &storm->crash;
    double until_s = storm->calm_s + bench_limit_s(end_within_s) - bench_now_s(), reminded_s = 0;
    long left;

    while ((left = crash_left(crash)) > 0 &&
        bench_now_s() < until_s +
                (double)meter_stalled_ms(crash->meter, storm->calm_us, meter_now_us()) / 1e3) {
        if (bench_now_s() > reminded_s + remind_s) {
            storm_remind(storm);
            reminded_s = bench_now_s();
        }
        crash_rest();
    }
    race_note("all had ended %.1f s after the last fault", bench_now_s() - storm->calm_s);
    race_ok(&crash->race, left == 0, "seed %llu: %ld tasks stuck %d s after the last fault",
        (unsigned long long)crash->race.seed, left, end_within_s);
    if (left > 0) {
        PGresult *res = bench_exec(crash->direct,
            "select t.run_id, pawl.why(t.run_id) from pawl_data.task t where t.task_no = 0 limit "
            "10");

        for (int i = 0; i < PQntuples(res); i++)
            race_note("  %s %s", PQgetvalue(res, i, 0), PQgetvalue(res, i, 1));
        PQclear(res);
    }
}

/* What the seed decides once for a storm. A standby has a copy of the first server's files, so its log cannot be somewhere else. */
static void
open_servers(struct storm *storm, bool disk)
{
    static const char *const server[] = {"max_connections=300", "track_commit_timestamp=on",
        "max_wal_size=96MB", "min_wal_size=32MB", NULL};
    struct cluster_options options = {.pawl = true, .settings = server};

    cluster_open(&storm->cluster, &options);
    cluster_use(&storm->cluster);
    storm->with_standby = storm->crash.race.seed % 2 == 0;
    storm->with_disk = disk && !storm->with_standby;
    if (storm->with_standby)
        storm_standby_open(storm);
    else if (disk)
        disk_open(&storm->disk, &storm->cluster, storm->crash.dir);
}

static void
begin(struct storm *storm, const struct settings *settings)
{
    struct proxy_options proxy = {.seed = storm->crash.race.seed};

    storm->shape = settings->shape;
    open_servers(storm, settings->disk);
    proxy.target_dir = storm->cluster.host;
    proxy.target_port = (int)bench_number(storm->cluster.port, "port", 1, 65535);
    crash_connect(&storm->crash);
    storm_prepare(storm, settings->install);
    if (settings->journal)
        journal_install(storm->crash.direct, STORM_SOURCE_ROOT);
    storm->proxy = proxy_new(&proxy);
    atomic_store(&storm->producing, storm_producers);
    duties_init(&storm->emits);
    duties_init(&storm->signals);
    duties_init(&storm->cancels);
    duties_init(&storm->retries);
    storm->journalled = settings->journal;
    if (!storm->journalled)
        storm_plant(storm);
    spawn_workers(storm);
}

static void
end(struct storm *storm)
{
    struct crash *crash = &storm->crash;

    (void)close(storm->trace); /* Each line was written by itself. */
    (void)close(storm->ledger);
    duties_done(&storm->emits);
    duties_done(&storm->signals);
    duties_done(&storm->cancels);
    duties_done(&storm->retries);
    free(storm->install);
    proxy_free(storm->proxy);
    meter_stop(crash->meter);
    crash->meter = NULL;
    PQfinish(crash->direct);
    crash->direct = NULL;
    if (storm->with_disk)
        disk_close(&storm->disk);
    if (storm->with_standby)
        storm_standby_close(storm);
    cluster_close(&storm->cluster);
}

static void
admit(struct storm *storm, struct admitted *admitted)
{
    char path[sizeof(storm->trace_path) + 16];

    (void)snprintf(path, sizeof(path), "%s.refused", storm->trace_path);
    admit_storm(&storm->crash.race, storm->crash.direct, path, admitted);
}

/* One storm. */
static void
rage(struct storm *storm, struct settings *settings)
{
    struct crash *crash = &storm->crash;
    struct part parts[storm_callers + 1];

    begin(storm, settings);
    for (unsigned i = 0; i <= storm_callers; i++)
        parts[i] = (struct part){.storm = storm, .number = i};
    race_threads(storm_callers + 1, play, parts, sizeof(parts[0]));
    crash_connect(crash);
    await_end(storm);
    crash_end_workers(crash);
    bench_do(crash->direct, "select from pawl.housekeep()");
    if (!storm->journalled)
        storm_check_days(storm);
    storm_check(storm);
    if (settings->journal)
        admit(storm, &settings->admitted);
    storm_tell(storm, settings->state);
    end(storm);
}

/* The next one begins with nothing of the last but what was counted in checks. */
static void
renew(struct storm *storm)
{
    struct crash crash = storm->crash;

    memset(storm, 0, sizeof(*storm));
    storm->crash = crash;
    storm->crash.race.seed++;
    killer_free(storm->crash.killer);
    storm->crash.killer = killer_new(storm->crash.race.seed);
    if (truncate(storm->crash.ledger, 0) != 0)
        bench_die("cannot empty the ledger");
    race_note("seed %llu", (unsigned long long)storm->crash.race.seed);
}

int
main(int argc, char **argv)
{
    static struct storm storm;
    struct settings settings = read_settings(&argc, argv);
    long episode = settings.journal ? journal_seconds : settings.shape->episode_s;

    settings.disk = disk_allow();
    crash_start(&storm.crash, argc, argv);
    race_note("%ld seconds of faults, %s", settings.seconds, settings.shape->name);
    if (!settings.disk)
        race_note("no disk is filled: that takes root");
    for (long left = settings.seconds; left > 0; left -= episode) {
        if (left < settings.seconds)
            renew(&storm);
        storm.seconds = (double)(left < episode ? left : episode);
        rage(&storm, &settings);
        /* What the first failing one leaves is worth more than what comes after it. */
        if (storm.crash.race.failed > 0)
            break;
        (void)unlink(storm.trace_path); /* There is one. */
    }
    if (settings.journal)
        admit_tell(&settings.admitted);
    if (storm.crash.race.failed > 0)
        race_note("seed %llu failed; its trace is in %s", (unsigned long long)storm.crash.race.seed,
            storm.trace_path);
    return crash_end(&storm.crash);
}
