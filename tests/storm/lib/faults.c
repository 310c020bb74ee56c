/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The faults of a storm, chosen by its seed: the killer's schedule does harm to workers, the rest is done here, one after the other. In
 * between it looks how many runs are open, so that producers do not run away, and whether gates equal a recount.
 */
#include "storm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    look_ms = 100,
    long_in = 6,
    setback_max_ms = 4000,
    clock_min_ms = 1500,
    clock_max_ms = 5000,
    full_min_ms = 1000,
    full_max_ms = 5000,
    follow_min_ms = 1000,
    follow_max_ms = 4000,
    term_grace_ms = 20000
};

struct harm {
    struct storm *storm;
    struct race_random random;
    /* For looks; NULL while there is none. */
    PGconn *conn;
    double look_s;
    double gates_s;
    double fault_s;
    double restart_s;
    /* When the standby takes over, and when a day of history may go and the disk may be full next. */
    double failover_s;
    double day_s;
    double full_s;
    double clock_s;
};

static int
between(struct harm *harm, int min, int max)
{
    return min + (int)race_below(&harm->random, (unsigned)(max - min + 1));
}

/* A query on the connection for looks, which is made again when it has to be. NULL: not now. */
static PGresult *
try_query(struct harm *harm, const char *sql)
{
    PGresult *res;

    if (harm->conn == NULL) {
        harm->conn = race_try_connect_direct();
        (void)PQsetNoticeProcessor(harm->conn, storm_ignore, NULL);
    }
    res = PQexec(harm->conn, sql);
    if (PQresultStatus(res) == PGRES_TUPLES_OK || PQresultStatus(res) == PGRES_COMMAND_OK)
        return res;
    if (race_state(res)[0] != '\0' && strncmp(race_state(res), "57", 2) != 0)
        race_note("a look failed: %s", PQresultErrorMessage(res));
    PQclear(res);
    PQfinish(harm->conn);
    harm->conn = NULL;
    return NULL;
}

static void
look_at_gates(struct harm *harm)
{
    struct storm_faults *faults = &harm->storm->faults;
    PGresult *res = try_query(harm, harm->storm->gates);

    if (res == NULL)
        return;
    faults->looks++;
    faults->gates_wrong += PQntuples(res);
    for (int i = 0; i < PQntuples(res); i++)
        race_note("gate of run %s, step %s: %s, counted %s", PQgetvalue(res, i, 0),
            PQgetvalue(res, i, 1), PQgetvalue(res, i, 2), PQgetvalue(res, i, 5));
    PQclear(res);
}

static void
note_open(struct storm *storm, long open)
{
    atomic_store(&storm->open, open);
    storm->faults.counts++;
    storm->faults.open += open;
}

static void
look(struct harm *harm)
{
    double now_s = bench_now_s();
    PGresult *res;

    if (now_s < harm->look_s)
        return;
    harm->look_s = now_s + look_ms / 1e3;
    res = try_query(harm, "select count(*) from pawl_data.task t where t.task_no = 0");
    if (res != NULL)
        note_open(harm->storm, race_field(res, 0, 0));
    PQclear(res);
    if (now_s < harm->gates_s)
        return;
    harm->gates_s = now_s + 1;
    look_at_gates(harm);
}

/* Time passes, and somebody looks meanwhile. */
static void
pass(struct harm *harm, int ms)
{
    double until_s = bench_now_s() + ms / 1e3;

    while (bench_now_s() < until_s) {
        look(harm);
        crash_rest();
    }
}

static void
restart_server(struct harm *harm)
{
    struct storm *storm = harm->storm;
    struct cluster *server = storm_server(storm);

    if (race_below(&harm->random, 4) == 0) {
        cluster_stop(server);
        storm->faults.stops++;
    } else {
        cluster_crash(server);
        storm->faults.crashes++;
    }
    if (race_below(&harm->random, long_in) == 0)
        crash_outlast(&storm->crash);
    cluster_start(server);
}

static void
freeze_server(struct harm *harm)
{
    double until_s = bench_now_s() + between(harm, 100, storm_lease_ms * 3 / 2) / 1e3;

    cluster_freeze(storm_server(harm->storm));
    while (bench_now_s() < until_s)
        crash_rest();
    cluster_thaw(storm_server(harm->storm));
    harm->storm->faults.freezes++;
}

static void
cut_requests(struct harm *harm)
{
    static const char *const texts[] = {
        "commit", "claim", "trigger", "emit", "signal", "cancel", "heartbeat", ""};
    struct proxy *proxy = harm->storm->proxy;

    for (int i = 0; i < 3; i++) {
        struct proxy_rule rule = {
            .text = texts[race_below(&harm->random, sizeof(texts) / sizeof(texts[0]))],
            .when = race_below(&harm->random, 2) == 0 ? PROXY_BEFORE : PROXY_AFTER,
            .one_in = 2 + race_below(&harm->random, 20),
        };

        (void)proxy_rule_add(proxy, &rule);
    }
    pass(harm, between(harm, 200, 1500));
    proxy_rules_clear(proxy);
    harm->storm->faults.rules++;
}

static void
delay_answers(struct harm *harm)
{
    proxy_delay(harm->storm->proxy, between(harm, 5, 200));
    pass(harm, between(harm, 200, 1500));
    proxy_delay(harm->storm->proxy, 0);
    harm->storm->faults.delays++;
}

static void
silence(struct harm *harm)
{
    static const enum proxy_mode modes[] = {PROXY_BLACKHOLE, PROXY_HOLD, PROXY_REFUSE};
    int ms = between(harm, 100, 2 * storm_lease_ms);

    proxy_mode(harm->storm->proxy, modes[race_below(&harm->random, 3)], ms);
    pass(harm, ms);
    harm->storm->faults.silences++;
}

/* Sessions of clients, ours for looks included if it comes to that. */
static void
terminate_sessions(struct harm *harm)
{
    PGresult *res = try_query(harm,
        "select pg_terminate_backend(a.pid) from (select a.pid from pg_stat_activity a where"
        " a.backend_type = 'client backend' and a.pid <> pg_backend_pid() order by random()"
        " limit 4) a");

    if (res != NULL)
        harm->storm->faults.terminated += PQntuples(res);
    PQclear(res);
}

static void
housekeep(struct harm *harm)
{
    PGresult *res = try_query(harm, "select from pawl.housekeep()");

    if (res != NULL)
        harm->storm->faults.housekeeps++;
    PQclear(res);
}

/*
 * For everybody at once: forward, so that leases end that are not over, and sleeps; or back, so that what was is still to come. In all it is
 * never set back: a server whose clock says that it has not started yet sweeps nobody.
 */
static void
move_clock(struct harm *harm)
{
    bool back = race_below(&harm->random, 2) == 0;
    char sql[160];
    PGresult *res;

    if (back)
        (void)snprintf(sql, sizeof(sql),
            "update public.storm_clock set moved = moved - %d * interval '1 ms' where moved >"
            " interval '%d ms'",
            between(harm, 100, setback_max_ms), setback_max_ms);
    else
        (void)snprintf(sql, sizeof(sql),
            "update public.storm_clock set moved = moved + %d * interval '1 ms'",
            between(harm, 100, 3 * storm_lease_ms));
    res = try_query(harm, sql);
    if (res != NULL && !back)
        harm->storm->faults.moves++;
    if (res != NULL && back && strcmp(PQcmdTuples(res), "1") == 0)
        harm->storm->faults.setbacks++;
    PQclear(res);
}

/* A day of history has been there for long enough. */
static void
drop_day(struct harm *harm)
{
    const char *sql = storm_next_day(harm->storm);
    PGresult *res = sql == NULL ? NULL : try_query(harm, sql);

    if (res != NULL)
        harm->storm->faults.days++;
    PQclear(res);
}

/* For a while there is no room for the server's log. */
static void
fill_disk(struct harm *harm)
{
    struct storm *storm = harm->storm;

    if (!storm->with_disk)
        return;
    disk_fill(&storm->disk);
    pass(harm, between(harm, full_min_ms, full_max_ms));
    storm->faults.full++;
    storm->faults.full_down += disk_free(&storm->disk);
}

/* Installs pawl again, which is how it is upgraded; nobody has to stop for that. */
static void
install(struct harm *harm)
{
    struct storm_faults *faults = &harm->storm->faults;
    PGresult *res;

    if (harm->storm->install == NULL)
        return;
    res = try_query(harm, "set role pawl_owner");
    PQclear(res);
    if (res == NULL)
        return;
    res = PQexec(harm->conn, harm->storm->install);
    if (PQresultStatus(res) == PGRES_COMMAND_OK) {
        faults->installs++;
    } else if (PQstatus(harm->conn) == CONNECTION_OK) {
        faults->installs_failed++;
        race_note("an install failed: %s", PQresultErrorMessage(res));
    }
    PQclear(res);
    PQfinish(harm->conn);
    harm->conn = NULL;
}

static void
do_fault(struct harm *harm)
{
    switch (race_below(&harm->random, 12)) {
    case 0:
    case 8:
        proxy_cut_all(harm->storm->proxy);
        harm->storm->faults.cuts++;
        break;
    case 1:
    case 9:
    case 10:
        cut_requests(harm);
        break;
    case 2:
        delay_answers(harm);
        break;
    case 3:
        silence(harm);
        break;
    case 4:
    case 5:
        terminate_sessions(harm);
        break;
    case 6:
        freeze_server(harm);
        break;
    case 7:
        install(harm);
        break;
    default:
        housekeep(harm);
        break;
    }
}

static void
start_killing(struct storm *storm)
{
    struct killer_schedule schedule = {
        .pause_min_ms = storm->shape->kill_min_ms,
        .pause_max_ms = storm->shape->kill_max_ms,
        .kill = 16,
        .stop_cont = 3,
        .term = 2,
        .stop_min_ms = storm_lease_ms + storm_lease_ms / 4,
        .stop_max_ms = 3 * storm_lease_ms,
        .term_grace_ms = term_grace_ms,
        .age_min_ms = 200,
    };

    killer_start(storm->crash.killer, &schedule);
}

/* What happens a few times in a storm only, each at its time. Whether one of them did. */
static bool
do_rare_fault(struct harm *harm)
{
    struct storm *storm = harm->storm;
    double now_s = bench_now_s();

    if (storm->with_standby && !storm->failed_over && now_s >= harm->failover_s) {
        storm_standby_follow(storm);
        pass(harm, between(harm, follow_min_ms, follow_max_ms));
        storm_standby_promote(storm);
    } else if (now_s >= harm->restart_s) {
        restart_server(harm);
        harm->restart_s =
            now_s + between(harm, storm->shape->restart_min_ms, storm->shape->restart_max_ms) / 1e3;
    } else if (now_s >= harm->full_s) {
        fill_disk(harm);
        harm->full_s = now_s + storm->seconds / 3;
    } else if (now_s >= harm->clock_s) {
        move_clock(harm);
        harm->clock_s = now_s + between(harm, clock_min_ms, clock_max_ms) / 1e3;
    } else if (now_s >= harm->day_s) {
        drop_day(harm);
        harm->day_s = now_s + storm->seconds / (storm_days + 1);
    } else {
        return false;
    }
    return true;
}

/* When which of them comes first. */
static struct harm
begin_harm(struct storm *storm)
{
    struct harm harm = {.storm = storm, .random = race_random(&storm->crash.race, 300)};
    double now_s = bench_now_s();

    harm.restart_s = now_s +
        between(&harm, storm->shape->restart_min_ms / 2, storm->shape->restart_max_ms / 2) / 1e3;
    harm.failover_s = now_s + storm->seconds * between(&harm, 20, 50) / 100;
    harm.full_s = now_s + storm->seconds * between(&harm, 10, 40) / 100;
    harm.clock_s = now_s + between(&harm, clock_min_ms, clock_max_ms) / 1e3;
    harm.day_s = now_s + storm->seconds * between(&harm, 5, 25) / 100;
    return harm;
}

void
storm_harm(struct storm *storm)
{
    struct harm harm = begin_harm(storm);
    double until_s = bench_now_s() + storm->seconds;

    start_killing(storm);
    while (bench_now_s() < until_s) {
        look(&harm);
        if (!do_rare_fault(&harm) && bench_now_s() >= harm.fault_s) {
            do_fault(&harm);
            harm.fault_s = bench_now_s() +
                between(&harm, storm->shape->fault_min_ms, storm->shape->fault_max_ms) / 1e3;
        }
        crash_rest();
    }
    killer_stop(storm->crash.killer);
    proxy_rules_clear(storm->proxy);
    proxy_delay(storm->proxy, 0);
    proxy_mode(storm->proxy, PROXY_NORMAL, 0);
    storm->calm_s = bench_now_s();
    storm->calm_us = meter_now_us();
    atomic_store(&storm->over, true);
    PQfinish(harm.conn);
}
