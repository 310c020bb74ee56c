/* SPDX-License-Identifier: Apache-2.0 */
/* What the crash programs share; see the header. */
#include "crash.h"

#include "ledger.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    told_lines = 40,
    words_max = 4
};

static const double watch_every_s = 0.1;
static const unsigned look_us = 3000;

static void
rest(unsigned us)
{
    struct timespec t = {.tv_sec = us / 1000000, .tv_nsec = (long)(us % 1000000) * 1000};

    (void)nanosleep(&t, NULL); /* Woken early is as good. */
}

void
crash_rest(void)
{
    rest(look_us);
}

void
crash_connect(struct crash *crash)
{
    PQfinish(crash->direct);
    crash->direct = race_connect_direct();
    if (race_count(
            crash->direct, "select count(*) from pg_proc p where p.proname = 'test_clock_set'") > 0)
        bench_do(crash->direct, "select pawl.test_clock_set(null)");
}

void
crash_start(struct crash *crash, int argc, char **argv)
{
    const char *tmp = getenv("TMPDIR");

    memset(crash, 0, sizeof(*crash));
    race_start(&crash->race, argc, argv);
    crash->random = race_random(&crash->race, 100);
    crash_connect(crash);
    if ((size_t)snprintf(crash->dir, sizeof(crash->dir), "%s/pawl-crash.XXXXXX",
            tmp == NULL ? "/tmp" : tmp) >= sizeof(crash->dir) ||
        mkdtemp(crash->dir) == NULL)
        bench_die("cannot make a directory in \"%s\"", tmp == NULL ? "/tmp" : tmp);
    (void)snprintf(crash->ledger, sizeof(crash->ledger), "%s/ledger", crash->dir);
    (void)snprintf(crash->output, sizeof(crash->output), "%s/output", crash->dir);
    (void)close(ledger_open(crash->ledger)); /* Nothing was written. */
    crash->killer = killer_new(crash->race.seed);
}

/* The end of what the workers printed. */
static void
show_output(const struct crash *crash)
{
    char lines[told_lines][200];
    FILE *file = fopen(crash->output, "re");
    long count = 0;

    if (file == NULL)
        return;
    while (fgets(lines[count % told_lines], sizeof(lines[0]), file) != NULL)
        count++;
    (void)fclose(file); /* It was only read. */
    race_note("the workers said %ld lines, at last:", count);
    for (long i = count > told_lines ? count - told_lines : 0; i < count; i++) {
        lines[i % told_lines][strcspn(lines[i % told_lines], "\n")] = '\0';
        race_note("  %s", lines[i % told_lines]);
    }
}

/* What a sanitizer has to say is said before a worker is killed, whatever its exit code would have been. */
static long
count_reports(const struct crash *crash)
{
    char line[1000];
    FILE *file = fopen(crash->output, "re");
    long count = 0;

    if (file == NULL)
        return 0;
    while (fgets(line, sizeof(line), file) != NULL)
        count += strstr(line, "Sanitizer") != NULL || strstr(line, "runtime error") != NULL;
    (void)fclose(file); /* It was only read. */
    return count;
}

int
crash_end(struct crash *crash)
{
    long reports;

    killer_free(crash->killer);
    meter_stop(crash->meter);
    PQfinish(crash->direct);
    reports = count_reports(crash);
    race_ok(&crash->race, reports == 0, "%ld lines of the workers are about mistakes", reports);
    if (crash->race.failed > 0) {
        show_output(crash);
        race_note("ledger and output are kept in %s", crash->dir);
    } else {
        /* If there is nothing to remove, that is fine; if something is left, the last one says so. */
        (void)unlink(crash->ledger);
        (void)unlink(crash->output);
        if (rmdir(crash->dir) != 0)
            race_note("cannot remove \"%s\": error %d", crash->dir, errno);
    }
    return race_end(&crash->race);
}

void
crash_spawn(struct crash *crash, const struct crash_workers *workers)
{
    char lease[32], concurrency[32], step[32];
    const char *argv[5 + words_max + 1] = {
        workers->program != NULL ? workers->program : CRASH_WORKER, crash->ledger, lease,
        concurrency, step};
    struct killer_command command = {
        .argv = argv, .env = workers->env, .output = crash->output, .restart = true};

    (void)snprintf(lease, sizeof(lease), "lease=%ld", workers->lease_ms);
    (void)snprintf(concurrency, sizeof(concurrency), "concurrency=%d", workers->concurrency);
    (void)snprintf(step, sizeof(step), "step_us=%d", workers->step_us);
    for (int i = 0; workers->words != NULL && workers->words[i] != NULL; i++) {
        if (i == words_max)
            bench_die("too many words for a worker");
        argv[5 + i] = workers->words[i];
    }
    crash->lease_ms = workers->lease_ms;
    crash_measure(crash);
    (void)killer_spawn(crash->killer, &command, workers->count);
}

void
crash_measure(struct crash *crash)
{
    if (crash->meter != NULL)
        return;
    crash->measured_us = meter_now_us();
    crash->meter = meter_start();
}

bool
crash_stalled(struct crash *crash, long lease_ms)
{
    long stalled_ms = meter_stalled_ms(crash->meter, crash->measured_us, meter_now_us());

    if (stalled_ms < lease_ms / 4)
        return false;
    race_note("the machine stood still for %ld ms", stalled_ms);
    return true;
}

void
crash_wait_sessions(struct crash *crash, int count)
{
    double until_s = bench_limit_s(60);

    while (race_count(crash->direct,
               "select count(distinct w.name) from pawl_data.worker w where w.ended_at is null"
               " and w.name like 'crash-%'") < count) {
        if (bench_now_s() > until_s)
            bench_die("the workers did not register within a minute; see \"%s\"", crash->output);
        crash_rest();
    }
}

void
crash_trigger(struct crash *crash, const char *workflow, long count)
{
    const char *params[] = {workflow};

    PQclear(bench_exec_params(crash->direct, "select pawl.create_workflow($1)", 1, params));
    race_trigger(crash->direct, workflow, crash->triggered, count);
    crash->triggered += count;
}

long
crash_left(struct crash *crash)
{
    return race_count(crash->direct, "select count(*) from pawl_data.task");
}

bool
crash_wait_left(struct crash *crash, long most, double timeout_s)
{
    double until_s = bench_limit_s(timeout_s);

    while (crash_left(crash) > most) {
        crash_watch(crash);
        if (bench_now_s() > until_s)
            return false;
        crash_rest();
    }
    return true;
}

void
crash_wait_ready(struct crash *crash, long most)
{
    double until_s = bench_limit_s(120);

    while (race_count(crash->direct, "select count(*) from pawl_data.task t where t.place = 'r'") >
        most) {
        crash_watch(crash);
        if (bench_now_s() > until_s)
            bench_die("the workers make no progress; see \"%s\"", crash->output);
        crash_rest();
    }
}

void
crash_watch(struct crash *crash)
{
    double now_s = bench_now_s();
    int64_t now_us;
    long silent_ms;

    if (now_s < crash->watched_s + watch_every_s)
        return;
    crash->watched_s = now_s;
    silent_ms = race_count(crash->direct,
        "select greatest(0, max(1000 * extract(epoch from pawl.now() - (w.lease_until -"
        " w.lease))))::bigint from (select distinct t.session_id from pawl_data.task t"
        " where t.place = 'h') t join pawl_data.worker w on w.session_id = t.session_id");
    now_us = meter_now_us();
    /* When the machine stands still, all leases end, and all workers have to come back at once: that is not this bound's matter. */
    if (silent_ms > crash->silent_ms &&
        meter_stalled_ms(crash->meter, now_us - 1000 * silent_ms, now_us) < crash->lease_ms / 4)
        crash->silent_ms = silent_ms;
}

void
crash_pause(struct crash *crash, unsigned most_us)
{
    rest(race_below(&crash->random, most_us + 1));
}

void
crash_outlast(const struct crash *crash)
{
    rest((unsigned)(1000 * crash->lease_ms + 500000));
}

void
crash_kill(struct crash *crash)
{
    double until_s = bench_limit_s(60);

    while (killer_kill_random(crash->killer, KILLER_KILL, 0) < 0) {
        if (bench_now_s() > until_s)
            bench_die("no worker could be started for a minute; see \"%s\"", crash->output);
        crash_rest();
    }
}

void
crash_under_kills(struct crash *crash, const char *workflow, long runs, long kills)
{
    long first = crash->triggered;
    double last_s;
    bool ended;

    for (long i = 0; i < kills; i++) {
        crash_trigger(crash, workflow, first + runs * (i + 1) / kills - crash->triggered);
        crash_pause(crash, 60000);
        crash_kill(crash);
        crash_wait_ready(crash, runs / kills);
    }
    last_s = bench_now_s();
    ended = crash_wait_left(crash, 0, 60);
    race_note("kills %ld, runs %ld; all had ended %.1f s after the last kill",
        killer_counts(crash->killer).killed, runs, bench_now_s() - last_s);
    race_ok(&crash->race, ended, "all runs end");
    crash_check_silence(crash);
}

void
crash_end_workers(struct crash *crash)
{
    long overdue = killer_end_all(crash->killer, 30000);
    struct killer_counts counts = killer_counts(crash->killer);

    race_ok(&crash->race, overdue == 0 && counts.failed == 0 && counts.finished == 0,
        "%ld workers did not end when they were told to, %ld failed, %ld ended unasked", overdue,
        counts.failed, counts.finished);
}

void
crash_check_ended(struct crash *crash, const char *workflow, long count, char status)
{
    const char letter[] = {status, '\0'};
    const char *params[] = {workflow, letter};
    PGresult *res;
    long ended, other, left;

    res = bench_exec_params(crash->direct,
        "select count(*) filter (where r.status = $2::\"char\"), count(*) filter (where r.status <>"
        " $2::\"char\"), (select count(*) from pawl_data.task t where t.queue_id = min(q.queue_id))"
        " from pawl_data.queue q left join pawl_data.run r on r.queue_id = q.queue_id where q.name "
        "= $1",
        2, params);
    ended = race_field(res, 0, 0);
    other = race_field(res, 0, 1);
    left = race_field(res, 0, 2);
    PQclear(res);
    race_ok(&crash->race, ended == count && other == 0 && left == 0,
        "%s: %ld runs, %ld ended %s, %ld otherwise, %ld not at all, %ld lost", workflow, count,
        ended, status == 's' ? "SUCCESS" : "ERROR", other, left, count - ended - other - left);
}

void
crash_check_records(struct crash *crash, long steps)
{
    struct ledger_findings found;
    struct race *race = &crash->race;
    long changed;

    (void)ledger_load(crash->ledger, crash->direct);
    ledger_join(crash->direct, &found);
    changed = race_count(crash->direct,
        "select count(*) from (select l.run_id, l.task, l.step from pg_temp.ledger l join "
        "pawl_data.step"
        " s on s.run_id = l.run_id and s.task_no = l.task and s.name = l.step"
        " where l.kind = 'recorded' group by 1, 2, 3 having count(distinct l.value) > 1"
        " or bool_or(l.value <> (s.output ->> 'v')::bigint)) c");
    race_note("%ld steps recorded, %ld started more than once, %ld had an effect and no record",
        found.recorded, found.repeated, found.unrecorded);
    race_ok(race, found.recorded == steps, "%ld steps are recorded, %ld were to be", found.recorded,
        steps);
    race_ok(race, found.twice == 0, "%ld steps recorded twice", found.twice);
    race_ok(race, changed == 0, "%ld steps of which a handler was told another value", changed);
    race_ok(race, found.unfounded == 0, "%ld steps recorded that never started", found.unfounded);
    race_ok(race, found.lost == 0, "%ld acknowledged steps lost", found.lost);
    race_ok(race, found.after_record == 0, "%ld steps started again after they were recorded",
        found.after_record);
    race_ok(
        race, found.after_refusal == 0, "%ld steps started after a refusal", found.after_refusal);
}

void
crash_check_silence(struct crash *crash)
{
    race_in_time(&crash->race, crash->silent_ms <= 2 * crash->lease_ms,
        "a session that held runs was silent for %ld ms at most, twice the lease is %ld ms",
        crash->silent_ms, 2 * crash->lease_ms);
}

/* Runs whose lease was lost while the machine stood still for so long that heartbeats could not be in time. */
static long
make_stalled(struct crash *crash)
{
    PGresult *res;
    long count = 0;

    bench_do(crash->direct, "create temporary table stalled (run_id uuid)");
    res = bench_exec(crash->direct,
        "select a.run_id, (1000000 * extract(epoch from a.at))::bigint from pawl_data.audit a"
        " where a.what = 'lease_lost'");
    for (int i = 0; i < PQntuples(res); i++) {
        int64_t at_us = race_field(res, i, 1);
        const char *params[] = {PQgetvalue(res, i, 0)};

        if (meter_stalled_ms(crash->meter, at_us - 2000 * crash->lease_ms, at_us) <
            crash->lease_ms / 4)
            continue;
        PQclear(bench_exec_params(
            crash->direct, "insert into pg_temp.stalled values ($1::uuid)", 1, params));
        count++;
    }
    PQclear(res);
    return count;
}

void
crash_check_attempts(struct crash *crash)
{
    long stalled = make_stalled(crash);
    PGresult *res = bench_exec(crash->direct,
        "select count(*) filter (where q.name = 'crash.steps.v1' and r.execution > 1 and not exists"
        " (select from pg_temp.stalled s where s.run_id = r.run_id)),"
        " count(*) filter (where q.name = 'crash.sleep.v1' and r.execution > 2),"
        " count(*) filter (where q.name = 'crash.sleep.v1')"
        " from pawl_data.run r join pawl_data.queue q on q.queue_id = r.queue_id");
    long consumed = race_field(res, 0, 0);
    long lost = race_count(crash->direct,
                    "select count(*) from pawl_data.audit where what = 'lease_lost'") -
        stalled;

    race_note("%ld of %ld runs that slept were claimed once more than they had to be",
        race_field(res, 0, 1), race_field(res, 0, 2));
    if (stalled > 0)
        race_note("%ld leases were lost while the machine stood still", stalled);
    PQclear(res);
    race_ok(&crash->race, consumed == 0, "%ld runs consumed an attempt", consumed);
    race_ok(&crash->race, lost == 0, "%ld leases were lost", lost);
}

void
crash_check_undos(struct crash *crash)
{
    struct race *race = &crash->race;
    PGconn *conn = crash->direct;
    long steps, undone, strange, order;

    bench_do(conn,
        "create temporary table pair as select s.run_id, s.name, s.seq, count(u.name) as undone,"
        " min(u.ended_at) as undone_at from pawl_data.step s left join pawl_data.step u"
        " on u.run_id = s.run_id and u.name = 'rollback:' || s.name and u.state = 's'"
        " where s.undo is not null and s.name not like 'rollback:%' group by 1, 2, 3");
    steps = race_count(conn, "select count(*) from pg_temp.pair");
    undone = race_count(conn, "select count(*) from pg_temp.pair where undone = 1");
    strange = race_count(conn,
        "select count(*) from pawl_data.step u where u.name like 'rollback:%' and (u.state <> 's' "
        "or "
        "not"
        " exists (select from pg_temp.pair p where 'rollback:' || p.name = u.name"
        " and p.run_id = u.run_id))");
    order = race_count(conn,
        "select count(*) from pg_temp.pair a join pg_temp.pair b on b.run_id = a.run_id"
        " and b.seq > a.seq and b.undone_at > a.undone_at");
    race_ok(race, steps > 0 && undone == steps,
        "%ld steps with an undo had started, %ld have one rollback record", steps, undone);
    race_ok(race, strange == 0, "%ld rollback records of nothing, or of a failure", strange);
    race_ok(race, order == 0, "%ld steps undone before a later one", order);
}

pawl_config *
crash_config(const char *database)
{
    pawl_config *config = pawl_config_new();
    pawl_error *error = NULL;

    if (config == NULL)
        bench_die("out of memory");
    if (database != NULL)
        crash_must(pawl_config_set(config, "database", database, &error), &error);
    return config;
}

void
crash_must(pawl_status status, pawl_error **error)
{
    if (status != PAWL_OK)
        bench_die("%s: %s", pawl_status_name(status), pawl_error_message(*error));
}
