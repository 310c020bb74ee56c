/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connection is cut after the server has committed and before the reply gets through, for each call that writes. The library
 * asks again by itself: nothing is done twice, nothing that was done is called a failure, and nothing stays held.
 */
#include "crash.h"
#include "ledger.h"
#include "proxy.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    cuts = 5000,
    callers = 8,
    idlers = 16,
    idler_lease_ms = 1000,
    many = 10,
    backlog = 100
};

struct field {
    struct crash crash;
    struct proxy *proxy;
    char database[400];
    int ledger;
    /* How many cuts of each call. */
    long target;
    /* Of the call that is being cut. */
    atomic_long calls;
    atomic_long unknown;
    atomic_long failed;
    atomic_long wrong;
    /* Runs for it, and how many calls can be made at most. */
    char (*runs)[PAWL_ID_SIZE];
    long calls_max;
};

/* A thread with a client of its own. */
struct caller {
    struct field *field;
    const struct call *call;
    pawl_client *client;
    pawl_trigger *trigger;
    unsigned number;
};

struct call {
    const char *name;
    /* A word of its statement. */
    const char *text;
    pawl_status (*once)(struct caller *caller, long n, pawl_error **error);
    /* How many of it there are in the database now. */
    const char *count;
    long each;
    /* A lost reply is not asked for again, because a second call would be a second one; the caller is told that nobody knows. */
    bool sent_once;
};

static void
note_acked(struct field *field, const char *run)
{
    struct ledger_entry entry = {.kind = LEDGER_ACKED, .run = run, .step = "trigger"};

    ledger_add(field->ledger, &entry);
}

static pawl_status
trigger_one(struct caller *caller, long n, pawl_error **error)
{
    char id[PAWL_ID_SIZE], key[24];
    uint32_t flags = 0;
    pawl_status status;

    (void)snprintf(key, sizeof(key), "one %ld", n);
    pawl_trigger_set(caller->trigger, "key", n % 2 == 0 ? key : NULL);
    status = pawl_client_trigger(caller->client, caller->trigger, id, &flags, error);
    if (status == PAWL_OK) {
        note_acked(caller->field, id);
        if ((flags & PAWL_CREATED) == 0)
            atomic_fetch_add(&caller->field->wrong, 1);
    }
    return status;
}

static pawl_status
trigger_some(struct caller *caller, long n, pawl_error **error)
{
    char ids[many][PAWL_ID_SIZE];
    uint32_t flags[many] = {0};
    pawl_status status;

    pawl_trigger_set(caller->trigger, "key", NULL);
    pawl_trigger_clear(caller->trigger);
    for (long i = 0; i < many; i++) {
        char key[24];

        (void)snprintf(key, sizeof(key), "many %ld %ld", n, i);
        pawl_trigger_add(caller->trigger, pawl_text("{}"), i % 2 == 0 ? key : NULL);
    }
    status = pawl_client_trigger_many(caller->client, caller->trigger, ids[0], flags, error);
    for (int i = 0; i < many && status == PAWL_OK; i++) {
        note_acked(caller->field, ids[i]);
        if ((flags[i] & PAWL_CREATED) == 0)
            atomic_fetch_add(&caller->field->wrong, 1);
    }
    return status;
}

static pawl_status
emit(struct caller *caller, long n, pawl_error **error)
{
    (void)n;
    return pawl_client_emit(
        caller->client, "crash.cut", NULL, NULL, pawl_text("{\"cut\": true}"), error);
}

static pawl_status
signal_run(struct caller *caller, long n, pawl_error **error)
{
    return pawl_client_signal(
        caller->client, caller->field->runs[n], "cut", pawl_text("{}"), error);
}

static pawl_status
cancel_run(struct caller *caller, long n, pawl_error **error)
{
    return pawl_client_cancel(caller->client, caller->field->runs[n], "cut", 0, error);
}

static pawl_status
approve_run(struct caller *caller, long n, pawl_error **error)
{
    static const char *const names[] = {"run", "name"};
    const char *values[] = {caller->field->runs[n], "cut"};

    return pawl_client_call(caller->client, "approve", names, values, 2, NULL, error);
}

/* Sent again by whoever called, because of this verb the second is harmless: it answers that the run is paused already. */
static pawl_status
pause_run(struct caller *caller, long n, pawl_error **error)
{
    static const char *const names[] = {"runs"};
    char runs[PAWL_ID_SIZE + 2];
    const char *values[] = {runs};
    const char *wanted = "ok";
    pawl_rows *rows = NULL;
    pawl_status status;

    (void)snprintf(runs, sizeof(runs), "{%s}", caller->field->runs[n]);
    while ((status = pawl_client_call(caller->client, "pause", names, values, 1, &rows, error)) ==
        PAWL_EUNKNOWN) {
        atomic_fetch_add(&caller->field->unknown, 1);
        pawl_error_free(*error);
        *error = NULL;
        wanted = "already";
    }
    if (status == PAWL_OK && strcmp(pawl_rows_text(rows, 0, "answer"), wanted) != 0)
        atomic_fetch_add(&caller->field->wrong, 1);
    pawl_rows_free(rows);
    return status;
}

static const struct call client_calls[] = {
    {"trigger", "pawl.trigger", trigger_one,
        "select count(*) from pawl_data.task t where t.key is null or t.key like 'one %'", 1,
        false},
    {"trigger_many", "pawl.trigger_many", trigger_some, "select count(*) from pawl_data.task", many,
        false},
    {"emit", "pawl.emit", emit,
        "select count(*) from pawl_data.event e where e.topic = 'crash.cut'", 1, false},
    {"signal", "pawl.signal", signal_run,
        "select count(*) from pawl_data.signal s where s.name = 'cut'", 1, true},
    {"approve", "pawl.approve", approve_run,
        "select count(*) from pawl_data.signal s where s.name = 'approval:cut'", 1, true},
    {"pause", "pawl.pause", pause_run,
        "select count(*) from pawl_data.audit a where a.what = 'pause'", 1, true},
    {"cancel", "pawl.cancel", cancel_run,
        "select count(*) from pawl_data.audit a where a.what = 'cancel'", 1, false},
};

static void *
make_calls(void *argument)
{
    struct caller *caller = argument;
    struct field *field = caller->field;
    pawl_config *config = crash_config(field->database);
    pawl_error *error = NULL;
    long n;

    caller->trigger = pawl_trigger_new("crash.cut.v1");
    if (caller->trigger == NULL)
        bench_die("out of memory");
    crash_must(pawl_client_open(config, &caller->client, &error), &error);
    while (proxy_rule_counts(field->proxy, 0).cuts < field->target &&
        (n = atomic_fetch_add(&field->calls, 1)) < field->calls_max) {
        pawl_status status = caller->call->once(caller, n, &error);

        if (status == PAWL_EUNKNOWN)
            atomic_fetch_add(&field->unknown, 1);
        else if (status != PAWL_OK && atomic_fetch_add(&field->failed, 1) < 10)
            race_note("%s: %s: %s", caller->call->name, pawl_status_name(status),
                pawl_error_message(error));
        pawl_error_free(error);
        error = NULL;
    }
    pawl_client_close(caller->client);
    pawl_trigger_free(caller->trigger);
    pawl_config_free(config);
    return NULL;
}

/* Runs that wait for nobody, for signals, approvals, pauses and cancels, past the proxy. */
static void
make_runs(struct field *field)
{
    PGresult *res;

    crash_trigger(&field->crash, "crash.cut.v1", field->calls_max);
    res = bench_exec(field->crash.direct, "select run_id from pawl_data.task");
    if (PQntuples(res) < field->calls_max)
        bench_die("there are too few runs");
    for (int i = 0; i < (int)field->calls_max; i++)
        (void)snprintf(field->runs[i], PAWL_ID_SIZE, "%s", PQgetvalue(res, i, 0));
    PQclear(res);
}

static void
check_calls(struct field *field, const struct call *call, long calls, long before)
{
    struct race *race = &field->crash.race;
    struct proxy_rule_counts counts = proxy_rule_counts(field->proxy, 0);
    long done = race_count(field->crash.direct, call->count) - before;
    long unknown = atomic_load(&field->unknown);
    long failed = atomic_load(&field->failed) + atomic_load(&field->wrong);

    race_note("%s: cuts %ld, calls %ld, done %ld", call->name, counts.cuts, calls, done);
    race_ok(race, counts.cuts >= field->target && counts.errors == 0,
        "%s: the connection was cut after %ld commits", call->name, counts.cuts);
    race_ok(race, done == calls * call->each, "%s: done twice or not at all %ld times", call->name,
        labs(done - calls * call->each));
    race_ok(race, failed == 0 && unknown == (call->sent_once ? counts.cuts : 0),
        "%s: %ld false failures, %ld times nobody knew", call->name, failed, unknown);
}

static void
cut_client_call(struct field *field, const struct call *call)
{
    struct caller parts[callers];
    struct proxy_rule rule = {
        .text = call->text, .when = PROXY_AFTER, .one_in = 2, .cuts_max = field->target};
    long before = race_count(field->crash.direct, call->count);
    long calls;

    proxy_rules_clear(field->proxy);
    (void)proxy_rule_add(field->proxy, &rule);
    atomic_store(&field->calls, 0);
    atomic_store(&field->unknown, 0);
    for (unsigned i = 0; i < callers; i++)
        parts[i] = (struct caller){.field = field, .call = call, .number = i};
    race_threads(callers, make_calls, parts, sizeof(parts[0]));
    calls = atomic_load(&field->calls);
    check_calls(field, call, calls < field->calls_max ? calls : field->calls_max, before);
}

static void
cut_client(struct field *field)
{
    struct crash *crash = &field->crash;
    long lost;

    bench_do(crash->direct, "select pawl.create_workflow('crash.cut.v1')");
    for (size_t i = 0; i < sizeof(client_calls) / sizeof(client_calls[0]); i++) {
        if (i == 3)
            make_runs(field);
        cut_client_call(field, &client_calls[i]);
    }
    (void)ledger_load(crash->ledger, crash->direct);
    lost = race_count(crash->direct,
        "select count(*) from pg_temp.ledger l where l.kind = 'acked' and not exists (select from"
        " pawl_data.task t where t.run_id = l.run_id) and not exists (select from pawl_data.run r"
        " where r.run_id = l.run_id)");
    race_ok(&crash->race, lost == 0, "%ld acknowledged runs lost", lost);
    /* They have served their purpose; what follows is about others. */
    bench_do(crash->direct, "truncate pawl_data.task, pawl_data.run, pawl_data.signal");
}

/* A worker that handles nothing that there is. */
static pawl_worker *
open_idler(struct field *field, unsigned number, pawl_config **config)
{
    pawl_worker *worker = NULL;
    pawl_error *error = NULL;
    char name[24], lease[24];

    *config = crash_config(field->database);
    (void)snprintf(name, sizeof(name), "cut-%u", number);
    crash_must(pawl_config_set(*config, "worker_name", name, &error), &error);
    (void)snprintf(lease, sizeof(lease), "%dms", idler_lease_ms);
    crash_must(pawl_config_set(*config, "lease", lease, &error), &error);
    crash_must(pawl_worker_new(*config, &worker, &error), &error);
    crash_must(pawl_worker_handle(worker, "crash.idle.*", NULL, NULL, &error), &error);
    return worker;
}

static void
close_idler(struct field *field, pawl_worker *worker, pawl_config *config)
{
    pawl_error *error = NULL;

    if (pawl_worker_stop(worker, 1000, &error) != PAWL_OK)
        atomic_fetch_add(&field->failed, 1);
    pawl_error_free(error);
    pawl_worker_free(worker);
    pawl_config_free(config);
}

static void *
start_and_stop(void *argument)
{
    struct caller *caller = argument;
    struct field *field = caller->field;

    while (proxy_rule_counts(field->proxy, 0).cuts < field->target &&
        atomic_fetch_add(&field->calls, 1) < field->calls_max) {
        pawl_config *config;
        pawl_worker *worker = open_idler(field, caller->number, &config);
        pawl_error *error = NULL;

        if (pawl_worker_start(worker, &error) != PAWL_OK) {
            race_note("start: %s", pawl_error_message(error));
            atomic_fetch_add(&field->failed, 1);
            pawl_error_free(error);
        }
        close_idler(field, worker, config);
    }
    return NULL;
}

static void *
stay_alive(void *argument)
{
    struct caller *caller = argument;
    struct field *field = caller->field;
    double until_s = bench_limit_s(60 + (double)field->target / 10);
    pawl_config *config;
    pawl_worker *worker = open_idler(field, caller->number, &config);
    pawl_error *error = NULL;

    crash_must(pawl_worker_start(worker, &error), &error);
    while (proxy_rule_counts(field->proxy, 0).cuts < field->target && bench_now_s() < until_s)
        crash_rest();
    /* The first one, and no other. */
    if (pawl_worker_counter(worker, "sessions") != 1)
        atomic_fetch_add(&field->wrong, 1);
    close_idler(field, worker, config);
    return NULL;
}

static void
cut_sessions(
    struct field *field, const char *name, const char *text, int count, void *(*body)(void *))
{
    struct race *race = &field->crash.race;
    struct caller parts[idlers];
    struct proxy_rule rule = {
        .text = text, .when = PROXY_AFTER, .one_in = 2, .cuts_max = field->target};
    struct proxy_rule_counts counts;
    bool stalled;

    proxy_rules_clear(field->proxy);
    (void)proxy_rule_add(field->proxy, &rule);
    atomic_store(&field->calls, 0);
    atomic_store(&field->failed, 0);
    atomic_store(&field->wrong, 0);
    for (unsigned i = 0; i < (unsigned)count; i++)
        parts[i] = (struct caller){.field = field, .number = i};
    race_threads(count, body, parts, sizeof(parts[0]));
    counts = proxy_rule_counts(field->proxy, 0);
    race_note("%s: cuts %ld", name, counts.cuts);
    stalled = crash_stalled(&field->crash, idler_lease_ms);
    race_ok(race, counts.cuts >= field->target && (counts.errors == 0 || stalled),
        "%s: the connection was cut after %ld commits", name, counts.cuts);
    race_ok(race, atomic_load(&field->failed) == 0 && (atomic_load(&field->wrong) == 0 || stalled),
        "%s: %ld workers failed, %ld lost their session", name, atomic_load(&field->failed),
        atomic_load(&field->wrong));
}

/* Keeps workers busy until all rules have done their worst. */
static void
feed_workers(struct field *field, int rules)
{
    struct crash *crash = &field->crash;
    double until_s = bench_limit_s(60 + (double)field->target);
    bool more = true;

    while (more) {
        if (bench_now_s() > until_s)
            bench_die("the workers make no progress; see \"%s\"", crash->output);
        if (crash_left(crash) < backlog) {
            crash_trigger(crash, "crash.steps.v1", backlog);
            crash_trigger(crash, "crash.sleep.v1", backlog / 4);
            crash_trigger(crash, "crash.saga.v1", backlog / 4);
        }
        crash_watch(crash);
        crash_rest();
        more = false;
        for (int i = 0; i < rules; i++)
            more = more || proxy_rule_counts(field->proxy, i).cuts < field->target;
    }
}

/* Each cut register left a session behind that nobody knows; it ends when its lease does. */
static void
check_sessions(struct crash *crash, long workers)
{
    double until_s = bench_limit_s(60);
    long live;

    while ((live = race_count(crash->direct,
                "select count(*) from pawl_data.worker w where w.ended_at is null")) > workers &&
        bench_now_s() < until_s)
        crash_rest();
    race_ok(&crash->race, live == workers, "%ld sessions of %ld workers are live", live, workers);
}

static void
check_workers(struct field *field, long workers)
{
    struct crash *crash = &field->crash;
    long each = crash->triggered - field->calls_max; /* Without those for signals and cancels. */

    check_sessions(crash, workers);
    crash_check_silence(crash);
    crash_end_workers(crash);
    crash_check_ended(crash, "crash.steps.v1", each / 6 * 4, 's');
    crash_check_ended(crash, "crash.sleep.v1", each / 6, 's');
    crash_check_ended(crash, "crash.saga.v1", each / 6, 'e');
    crash_check_attempts(crash);
    crash_check_undos(crash);
    crash_check_records(crash,
        race_count(
            crash->direct, "select count(*) from pawl_data.step where kind = 's' and state = 's'"));
}

static void
cut_workers(struct field *field)
{
    static const char *const texts[] = {
        "pawl.commit", "pawl.commit_each", "pawl.claim", "pawl.heartbeat"};
    static const unsigned one_in[] = {5, 2, 5, 4};
    struct crash *crash = &field->crash;
    char host[300], port[32];
    const char *const env[] = {host, port, NULL};
    struct crash_workers spec = {
        .count = 6, .lease_ms = 3000, .concurrency = 8, .step_us = 2000, .env = env};

    (void)snprintf(host, sizeof(host), "PGHOST=%s", proxy_host(field->proxy));
    (void)snprintf(port, sizeof(port), "PGPORT=%d", proxy_port(field->proxy));
    proxy_rules_clear(field->proxy);
    for (int i = 0; i < 4; i++) {
        struct proxy_rule rule = {.text = texts[i], .when = PROXY_AFTER, .one_in = one_in[i]};

        /* A commit_each follows one that was cut, so that rule never rests. */
        if (i > 0)
            rule.cuts_max = field->target;
        (void)proxy_rule_add(field->proxy, &rule);
    }
    crash_spawn(crash, &spec);
    feed_workers(field, 3);
    for (int i = 0; i < 4; i++) {
        struct proxy_rule_counts counts = proxy_rule_counts(field->proxy, i);

        race_note("%s: cuts %ld of %ld, %ld after an error", texts[i], counts.cuts, counts.matches,
            counts.errors);
    }
    proxy_rules_clear(field->proxy);
    race_ok(&crash->race, crash_wait_left(crash, 0, 60), "all runs end");
    check_workers(field, spec.count);
}

int
main(int argc, char **argv)
{
    struct field field = {0};
    struct crash *crash = &field.crash;
    struct proxy_options options = {0};

    crash_start(crash, argc, argv);
    options.seed = crash->race.seed;
    field.proxy = proxy_new(&options);
    (void)snprintf(field.database, sizeof(field.database), "host=%s port=%d",
        proxy_host(field.proxy), proxy_port(field.proxy));
    field.ledger = ledger_open(crash->ledger);
    /* Five times less than of others where it is not in full: what a lost reply can do wrong shows in a few. */
    field.target = crash->race.divisor == 1 ? cuts : race_share(&crash->race, cuts / 5);
    field.calls_max = 4 * field.target + 100;
    field.runs = race_alloc(field.calls_max, sizeof(field.runs[0]));
    cut_client(&field);
    crash_measure(crash);
    cut_sessions(&field, "register", "pawl.register", callers, start_and_stop);
    cut_sessions(&field, "heartbeat", "pawl.heartbeat", idlers, stay_alive);
    cut_workers(&field);
    proxy_free(field.proxy);
    free(field.runs);
    return crash_end(crash);
}
