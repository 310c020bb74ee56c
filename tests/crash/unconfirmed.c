/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every commit waits for a standby that is not there, and the wait is cancelled, or the server's process ended: then it is committed on
 * this server, and nobody knows whether it lasts. No call of a client is acknowledged, whatever it was, and no handler is told of
 * a record, until a commit waits for nobody any more.
 */
#include "ledger.h"
#include "pair.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    workers = 4,
    callers = 4,
    cancels = 200,
    runs = 150,
    lease_ms = 60000
};

static const char waiting[] = "options='-c synchronous_commit=on'";

enum verb {
    VERB_TRIGGER,
    VERB_EMIT,
    VERB_SIGNAL,
    VERB_CANCEL,
    VERB_COMMIT,
    VERB_OTHER,
    VERBS
};
static const char *const verb_names[VERBS] = {
    "trigger", "emit", "signal", "cancel", "commit", "others"};

struct field {
    struct crash crash;
    struct cluster cluster;
    int ledger;
    long total;
    atomic_bool over;
    atomic_long calls;
    atomic_long acked;
    atomic_long unknown;
    atomic_long other;
    /* What was done to calls that waited. */
    long cancelled[VERBS];
    long terminated[VERBS];
};

struct part {
    struct field *field;
    int number;
    struct race_random random;
};

/* Which verb of pawl a statement calls. */
static enum verb
verb_of(const char *sql)
{
    char call[32];

    for (int i = 0; i < VERB_OTHER; i++) {
        (void)snprintf(call, sizeof(call), "pawl.%s", verb_names[i]);
        if (strstr(sql, call) != NULL)
            return (enum verb)i;
    }
    return VERB_OTHER;
}

static long
done_to_calls(const struct field *field)
{
    long sum = 0;

    for (int i = 0; i < VERB_OTHER; i++)
        sum += field->cancelled[i] + field->terminated[i];
    return sum;
}

/*
 * Cancels the wait of one that waits, or ends it; heartbeats and claims only where nothing else waits. A worker whose commit was cancelled
 * has it confirmed by heartbeats from then on, so most of those are ended, and have to be sent again.
 */
static void
disturb_one(struct part *part, PGconn *conn)
{
    struct field *field = part->field;
    /* Nobody twice: what comes second would hit what is asked next. */
    PGresult *res = bench_exec(conn,
        "with c as (select a.pid, a.query, a.query_start from pg_stat_activity a"
        " where a.wait_event = 'SyncRep' and a.application_name = 'pawl' and not exists (select "
        "from"
        " pg_temp.disturbed d where d.pid = a.pid and d.query_start = a.query_start)"
        " order by a.query ~ 'pawl.(heartbeat|claim)', random() limit 1)"
        " insert into pg_temp.disturbed select c.pid, c.query_start from c"
        " returning pid, (select c.query from c)");

    if (PQntuples(res) > 0) {
        enum verb verb = verb_of(PQgetvalue(res, 0, 1));
        bool end = race_below(&part->random, 10) < (verb == VERB_COMMIT ? 8U : 3U);
        const char *params[] = {PQgetvalue(res, 0, 0)};

        PQclear(bench_exec_params(conn,
            end ? "select pg_terminate_backend($1::int)" : "select pg_cancel_backend($1::int)", 1,
            params));
        if (end)
            field->terminated[verb]++;
        else
            field->cancelled[verb]++;
    }
    PQclear(res);
}

static void
disturb(struct part *part)
{
    PGconn *conn = race_connect_direct();
    double until_s = bench_limit_s(60 + (double)part->field->total);

    bench_do(conn, "create temporary table disturbed (pid int, query_start timestamptz)");
    while (done_to_calls(part->field) < part->field->total) {
        disturb_one(part, conn);
        crash_rest();
        if (bench_now_s() > until_s)
            bench_die("only %ld calls waited in time", done_to_calls(part->field));
    }
    atomic_store(&part->field->over, true);
    PQfinish(conn);
}

/* One of the first runs that no worker handles, or of the last ones: what is sent a signal is not cancelled by others. */
static void
get_idle_run(PGconn *conn, long n, bool first, char *id, size_t size)
{
    char offset[24];
    const char *params[] = {offset};
    PGresult *res;

    (void)snprintf(offset, sizeof(offset), "%ld", n);
    res = bench_exec_params(conn,
        first ? "select t.run_id from pawl_data.task t join pawl_data.queue q on q.queue_id = "
                "t.queue_id"
                " where q.name = 'crash.idle.v1' order by t.run_id offset $1::int limit 1"
              : "select t.run_id from pawl_data.task t join pawl_data.queue q on q.queue_id = "
                "t.queue_id"
                " where q.name = 'crash.idle.v1' order by t.run_id desc offset $1::int limit 1",
        1, params);
    (void)snprintf(id, size, "%s", PQgetvalue(res, 0, 0));
    PQclear(res);
}

/* Makes one call, of each verb in turn. */
static pawl_status
call(struct part *part, pawl_client *client, PGconn *conn, long n, pawl_error **error)
{
    char id[PAWL_ID_SIZE], key[24];
    pawl_trigger *trigger;
    pawl_status status;

    (void)snprintf(key, sizeof(key), "k%ld", n);
    if (n % 4 == VERB_EMIT)
        return pawl_client_emit(client, "crash.topic", key, NULL, pawl_text("{}"), error);
    if (n % 4 != VERB_TRIGGER) {
        get_idle_run(conn, race_below(&part->random, 40), n % 4 == VERB_CANCEL, id, sizeof(id));
        if (n % 4 == VERB_SIGNAL)
            return pawl_client_signal(client, id, "go", pawl_text("{}"), error);
        return pawl_client_cancel(client, id, NULL, 0, error);
    }
    trigger = pawl_trigger_new("crash.idle.v1");
    if (trigger == NULL)
        bench_die("out of memory");
    /* Some of them are there already, and nobody knows whether they last. */
    pawl_trigger_set(trigger, "key", n % 8 == 0 ? key : n % 3 == 0 ? "again" : NULL);
    status = pawl_client_trigger(client, trigger, id, NULL, error);
    pawl_trigger_free(trigger);
    return status;
}

static pawl_client *
open_client(void)
{
    pawl_config *config = crash_config(waiting);
    pawl_client *client = NULL;
    pawl_error *error = NULL;

    crash_must(pawl_config_set(config, "call_timeout", "2s", &error), &error);
    crash_must(pawl_client_open(config, &client, &error), &error);
    pawl_config_free(config);
    return client;
}

static void
make_calls(struct part *part)
{
    struct field *field = part->field;
    pawl_client *client = open_client();
    PGconn *conn = race_connect_direct();

    while (!atomic_load(&field->over)) {
        pawl_error *error = NULL;
        long n = atomic_fetch_add(&field->calls, 1);
        pawl_status status = call(part, client, conn, n, &error);

        if (status == PAWL_OK)
            atomic_fetch_add(&field->acked, 1);
        else if (status == PAWL_EUNKNOWN)
            atomic_fetch_add(&field->unknown, 1);
        else
            atomic_fetch_add(&field->other, 1);
        if (status != PAWL_EUNKNOWN)
            race_note("%s: %s: %s", verb_names[n % 4], pawl_status_name(status),
                status == PAWL_OK ? "acknowledged" : pawl_error_message(error));
        pawl_error_free(error);
    }
    PQfinish(conn);
    pawl_client_close(client);
}

static void *
play(void *argument)
{
    struct part *part = argument;

    if (part->number == 0)
        disturb(part);
    else
        make_calls(part);
    return NULL;
}

static void
note(struct field *field, const char *what)
{
    const struct ledger_entry entry = {.kind = LEDGER_NOTE, .step = what};

    ledger_add(field->ledger, &entry);
}

/* Until a commit waits for the standby, those before it have not. There is work for longer than that takes. */
static void
lose_standby(struct field *field)
{
    double until_s = bench_limit_s(60);

    crash_trigger(&field->crash, "crash.linger.v1", runs);
    /* A claim that is not confirmed is not worked on, and then no step would end meanwhile. */
    while (race_count(field->crash.direct,
               "select count(*) from pawl_data.task t where t.place = 'h'") < workers) {
        if (bench_now_s() > until_s)
            bench_die("nobody claims");
        crash_rest();
    }
    pair_set(&field->cluster, "synchronous_standby_names", "'nobody'");
    while (race_count(field->crash.direct,
               "select count(*) from pg_stat_activity where wait_event = 'SyncRep'") == 0) {
        if (bench_now_s() > until_s)
            bench_die("nobody waits for a standby");
        crash_rest();
    }
    note(field, "lost");
}

/* Whoever still waits for the standby has some of them locked. */
static void
cancel_idle(struct crash *crash)
{
    double until_s = bench_limit_s(60);

    while (race_count(crash->direct,
               "select count(*) from pawl_data.task t join pawl_data.queue q on q.queue_id = "
               "t.queue_id"
               " where q.name = 'crash.idle.v1'") > 0) {
        if (bench_now_s() > until_s)
            bench_die("runs cannot be cancelled");
        bench_do(crash->direct,
            "select count(*) from pawl.cancel((select array_agg(t.run_id) from pawl_data.task t "
            "join"
            " pawl_data.queue q on q.queue_id = t.queue_id where q.name = 'crash.idle.v1'))");
        crash_rest();
    }
}

static void
prepare(struct field *field)
{
    static const char *const settings[] = {"synchronous_commit=local", NULL};
    static const char *const env[] = {"PGOPTIONS=-c synchronous_commit=on", NULL};
    const struct cluster_options options = {.pawl = true, .settings = settings};
    struct crash *crash = &field->crash;
    struct crash_workers spec = {.count = workers,
        .lease_ms = lease_ms,
        .concurrency = 16,
        .step_us = 50000,
        .env = env,
        .program = CRASH_LINGERER};

    field->total = race_share(&crash->race, cancels);
    cluster_open(&field->cluster, &options);
    cluster_use(&field->cluster);
    crash_connect(crash);
    field->ledger = ledger_open(crash->ledger);
    bench_do(crash->direct, "select pawl.create_workflow('crash.idle.v1')");
    race_trigger(crash->direct, "crash.idle.v1", 0, field->total + 100);
    crash_spawn(crash, &spec);
    crash_wait_sessions(crash, workers);
}

static void
check_told(struct field *field)
{
    struct race *race = &field->crash.race;
    PGconn *conn = field->crash.direct;
    char text[300] = "";
    long told, ended;

    for (int i = 0; i < VERBS; i++)
        (void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s %s %ld + %ld",
            i == 0 ? "" : ",", verb_names[i], field->cancelled[i], field->terminated[i]);
    race_note("waits cancelled + ended by the server:%s", text);
    race_note("calls of clients %ld, outcome unknown %ld", atomic_load(&field->calls),
        atomic_load(&field->unknown));
    race_ok(race, field->terminated[VERB_COMMIT] + field->cancelled[VERB_COMMIT] > 0,
        "workers' commits were among them");
    race_ok(race, atomic_load(&field->acked) == 0 && atomic_load(&field->other) == 0,
        "%ld calls were acknowledged, %ld said to have failed", atomic_load(&field->acked),
        atomic_load(&field->other));
    bench_do(conn,
        "create temporary table away as select (select l.place from pg_temp.ledger l where l.step ="
        " 'lost') as lost, (select l.place from pg_temp.ledger l where l.step = 'back') as back");
    ended = race_count(conn,
        "select count(*) from pg_temp.ledger l, pg_temp.away a where l.kind = 'end'"
        " and l.place between a.lost and a.back");
    told = race_count(conn,
        "select count(*) from pg_temp.ledger e, pg_temp.ledger r, pg_temp.away a"
        " where e.kind = 'end' and e.place > a.lost and r.kind = 'recorded' and r.run_id = e.run_id"
        " and r.step = e.step and r.place between e.place and a.back");
    race_ok(race, ended > 0 && told == 0,
        "%ld steps ended while nothing was confirmed, %ld were told to their handlers", ended,
        told);
}

int
main(int argc, char **argv)
{
    struct field field = {0};
    struct crash *crash = &field.crash;
    struct part parts[callers + 1];

    crash_start(crash, argc, argv);
    prepare(&field);
    lose_standby(&field);
    for (int i = 0; i <= callers; i++)
        parts[i] = (struct part){
            .field = &field, .number = i, .random = race_random(&crash->race, 300 + (unsigned)i)};
    race_threads(callers + 1, play, parts, sizeof(parts[0]));
    note(&field, "back");
    pair_set(&field.cluster, "synchronous_standby_names", "''");
    (void)close(field.ledger); /* Each entry was written by itself. */
    cancel_idle(crash);
    race_ok(&crash->race, crash_wait_left(crash, 0, 60), "all runs end");
    crash_end_workers(crash);
    crash_check_ended(crash, "crash.linger.v1", crash->triggered, 's');
    crash_check_records(crash, 3 * crash->triggered);
    check_told(&field);
    PQfinish(crash->direct);
    crash->direct = NULL;
    cluster_close(&field.cluster);
    return crash_end(crash);
}
