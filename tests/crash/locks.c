/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Others lock what workers and callers need: rows of runs, of workers and of topics, and whole tables. Their role bounds how long a
 * statement waits for a lock, or lasts at all. Every wait ends in time, what was turned away is tried again, and nothing is lost.
 */
#include "crash.h"

#include <stdatomic.h>
#include <stdio.h>

enum {
    workers = 4,
    lockers = 2,
    callers = 4,
    waits = 1000,
    backlog = 200,
    lease_ms = 5000,
    /* The bounds of the role; half of the workers have the other one. */
    lock_timeout_ms = 100,
    statement_timeout_ms = 300,
    slack_ms = 400,
    held_ms = 400
};

struct lock_kind {
    const char *name;
    const char *sql;
};

static const struct lock_kind kinds[] = {
    {"rows of runs",
        "select from pawl_data.task where task_no = 0 order by random() limit 50 for update"},
    {"rows of workers", "select from pawl_data.worker where ended_at is null for update"},
    {"rows of topics", "select from pawl_data.topic for update"},
    {"rows of queues", "select from pawl_data.queue for update"},
    {"table of runs", "lock table pawl_data.task in access exclusive mode"},
    {"table of workers", "lock table pawl_data.worker in access exclusive mode"},
    {"table of steps", "lock table pawl_data.step in access exclusive mode"},
    {"table of topics", "lock table pawl_data.topic in access exclusive mode"},
};
enum {
    kind_count = sizeof(kinds) / sizeof(kinds[0])
};

struct field {
    struct crash crash;
    long total;
    atomic_long n;
    atomic_long left;
    atomic_long waited;
    atomic_long locked[kind_count];
    atomic_long waited_for[kind_count];
    atomic_long longest_ms;
    atomic_long late;
    atomic_long calls;
    atomic_long again;
    atomic_long failed;
    atomic_long steps;
    atomic_long events;
    atomic_int locking;
};

struct part {
    struct field *field;
    int number;
    struct race_random random;
};

/* How many wait for the lock of this connection; notes how long the one that waits longest has. */
static long
look_at_waits(struct field *field, PGconn *conn)
{
    PGresult *res = bench_exec(conn,
        "select count(*), (1000 * extract(epoch from max(clock_timestamp() - l.waitstart)))::bigint"
        " from pg_locks l join pg_stat_activity a on a.pid = l.pid and a.application_name = 'pawl'"
        " where not l.granted and pg_backend_pid() = any (pg_blocking_pids(l.pid))");
    long count = race_field(res, 0, 0);
    long ms = race_field(res, 0, 1);
    long longest_ms = atomic_load(&field->longest_ms);
    int64_t now_us = meter_now_us();

    PQclear(res);
    if (ms > statement_timeout_ms + slack_ms) {
        ms -= meter_stalled_ms(field->crash.meter, now_us - 1000 * ms, now_us);
        if (ms > statement_timeout_ms + slack_ms)
            atomic_fetch_add(&field->late, 1);
    }
    while (ms > longest_ms && !atomic_compare_exchange_weak(&field->longest_ms, &longest_ms, ms))
        continue;
    return count;
}

/* Takes a lock until somebody waits for it, and a little longer. */
static void
lock_once(struct part *part, PGconn *conn)
{
    struct field *field = part->field;
    unsigned kind = race_below(&part->random, kind_count);
    double from_s = bench_now_s();
    double until_s = from_s + race_below(&part->random, held_ms) / 1e3;
    PGresult *res;
    long seen = 0;

    bench_do(conn, "begin");
    res = race_try(conn, kinds[kind].sql, 0, NULL);
    if (race_state(res)[0] == '\0') {
        atomic_fetch_add(&field->locked[kind], 1);
        do {
            long count = look_at_waits(field, conn);

            seen = count > seen ? count : seen;
            crash_rest();
        } while (bench_now_s() < (seen > 0 ? until_s : from_s + held_ms / 1e3));
        atomic_fetch_add(&field->waited_for[kind], seen);
        atomic_fetch_add(&field->waited, seen);
    }
    PQclear(res);
    bench_do(conn, "rollback");
}

static void
lock_things(struct part *part)
{
    struct field *field = part->field;
    PGconn *conn = race_connect_direct();
    double end_s = bench_limit_s(120 + (double)field->total);

    bench_do(conn, "set lock_timeout to '1s'");
    bench_do(conn, "set statement_timeout to 0");
    while (atomic_load(&field->waited) < field->total) {
        lock_once(part, conn);
        /* In between there is time for everybody to get on. */
        race_stagger(&part->random, 150000);
        if (bench_now_s() > end_s)
            bench_die("only %ld waits in time", atomic_load(&field->waited));
    }
    PQfinish(conn);
    atomic_fetch_sub(&field->locking, 1);
}

/* A call is made until it is done: what can be repeated is repeated. Returns whether it was. */
static bool
is_done(struct field *field, pawl_status status, pawl_error **error, const char *what)
{
    bool again = status == PAWL_EUNKNOWN || (status != PAWL_OK && pawl_error_retryable(*error));

    atomic_fetch_add(&field->calls, 1);
    if (again)
        atomic_fetch_add(&field->again, 1);
    else if (status != PAWL_OK) {
        race_note("%s: %s: %s", what, pawl_status_name(status), pawl_error_message(*error));
        atomic_fetch_add(&field->failed, 1);
    }
    pawl_error_free(*error);
    *error = NULL;
    return !again;
}

static void
trigger_one(struct field *field, pawl_client *client, pawl_trigger *trigger, long n)
{
    char id[PAWL_ID_SIZE] = "", input[40];
    pawl_error *error = NULL;
    pawl_status status;

    (void)snprintf(input, sizeof(input), "{\"n\": %ld}", n);
    pawl_trigger_set_input(trigger, pawl_text(input));
    pawl_trigger_set(trigger, "id", NULL);
    do {
        status = pawl_client_trigger(client, trigger, id, NULL, &error);
        if (status == PAWL_EUNKNOWN)
            pawl_trigger_set(trigger, "id", id);
    } while (!is_done(field, status, &error, "trigger"));
}

static void
emit_one(struct field *field, pawl_client *client, long n)
{
    char key[24];
    pawl_error *error = NULL;
    pawl_status status;

    (void)snprintf(key, sizeof(key), "%ld", n);
    do
        status = pawl_client_emit(client, "crash.topic", key, NULL, pawl_text("{}"), &error);
    while (!is_done(field, status, &error, "emit"));
}

/* Every other run waits for an event, which comes at about the same time. */
static void
make_calls(struct part *part)
{
    struct field *field = part->field;
    pawl_config *config = crash_config(NULL);
    pawl_trigger *steps = pawl_trigger_new("crash.steps.v1");
    pawl_trigger *topic = pawl_trigger_new("crash.topic.v1");
    pawl_client *client = NULL;
    pawl_error *error = NULL;

    if (steps == NULL || topic == NULL)
        bench_die("out of memory");
    crash_must(pawl_client_open(config, &client, &error), &error);
    while (atomic_load(&field->locking) > 0) {
        long n = atomic_fetch_add(&field->n, 1);

        while (atomic_load(&field->left) > backlog && atomic_load(&field->locking) > 0)
            crash_rest();
        if (n % 2 == 0) {
            trigger_one(field, client, steps, n);
            atomic_fetch_add(&field->steps, 1);
        } else {
            trigger_one(field, client, topic, n);
            emit_one(field, client, n);
            atomic_fetch_add(&field->events, 1);
        }
    }
    pawl_client_close(client);
    pawl_trigger_free(steps);
    pawl_trigger_free(topic);
    pawl_config_free(config);
}

static void *
play(void *argument)
{
    struct part *part = argument;
    struct field *field = part->field;

    if (part->number < lockers)
        lock_things(part);
    else if (part->number < lockers + callers)
        make_calls(part);
    else
        while (atomic_load(&field->locking) > 0) {
            atomic_store(&field->left, crash_left(&field->crash));
            crash_rest();
        }
    return NULL;
}

/* The role is bound in this database alone. */
static void
bind_role(struct crash *crash)
{
    char sql[200];

    (void)snprintf(sql, sizeof(sql),
        "do $$ begin execute format('alter role %%I in database %%I set lock_timeout to %%L',"
        " current_user, current_database(), '%dms'); end $$",
        lock_timeout_ms);
    bench_do(crash->direct, sql);
}

static void
spawn(struct crash *crash)
{
    char options[80];
    const char *env[] = {options, NULL};
    struct crash_workers spec = {.count = workers / 2,
        .lease_ms = lease_ms,
        .concurrency = 16,
        .step_us = 3000,
        .program = CRASH_LINGERER};

    (void)snprintf(options, sizeof(options), "PGOPTIONS=-c lock_timeout=0 -c statement_timeout=%d",
        statement_timeout_ms);
    crash_spawn(crash, &spec);
    /* A pooler lets nobody choose. */
    spec.env = crash->race.pooled ? NULL : env;
    crash_spawn(crash, &spec);
    crash_wait_sessions(crash, workers);
}

static void
tell(struct field *field)
{
    struct race *race = &field->crash.race;

    for (int i = 0; i < kind_count; i++)
        race_note("%s: locked %ld times, waited for %ld times", kinds[i].name,
            atomic_load(&field->locked[i]), atomic_load(&field->waited_for[i]));
    race_note("calls of clients %ld, made again %ld", atomic_load(&field->calls),
        atomic_load(&field->again));
    race_ok(race, atomic_load(&field->waited) >= field->total, "%ld waits for a lock",
        atomic_load(&field->waited));
    race_in_time(race, atomic_load(&field->late) == 0, "the longest was %ld ms",
        atomic_load(&field->longest_ms));
    race_ok(race, atomic_load(&field->failed) == 0, "%ld calls failed for good",
        atomic_load(&field->failed));
}

int
main(int argc, char **argv)
{
    struct field field = {0};
    struct crash *crash = &field.crash;
    struct part parts[lockers + callers + 1];

    crash_start(crash, argc, argv);
    field.total = race_share(&crash->race, waits);
    bench_do(crash->direct, "select pawl.create_workflow('crash.steps.v1')");
    bench_do(crash->direct, "select pawl.create_workflow('crash.topic.v1')");
    bind_role(crash);
    spawn(crash);
    atomic_store(&field.locking, lockers);
    for (int i = 0; i <= lockers + callers; i++)
        parts[i] = (struct part){
            .field = &field, .number = i, .random = race_random(&crash->race, 400 + (unsigned)i)};
    race_threads(lockers + callers + 1, play, parts, sizeof(parts[0]));
    race_ok(&crash->race, crash_wait_left(crash, 0, 60), "all runs end");
    tell(&field);
    crash_end_workers(crash);
    crash_check_ended(crash, "crash.steps.v1", atomic_load(&field.steps), 's');
    crash_check_ended(crash, "crash.topic.v1", atomic_load(&field.events), 's');
    crash_check_records(crash, 3 * atomic_load(&field.steps) + 2 * atomic_load(&field.events));
    crash_check_attempts(crash);
    return crash_end(crash);
}
