/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The callers of a storm, each in a thread with a client of its own: producers trigger runs, and others emit the events that runs wait
 * for, send signals, cancel, and retry. Every other one goes through the proxy and has little patience, so that it is told "unknown".
 */
#include "kinds.h"
#include "ledger.h"
#include "storm.h"

#include <stdio.h>
#include <string.h>

enum {
    many = 25,
    many_in = 6,
    again_in = 16,
    cancel_in = 10,
    operate_ms = 250,
    block_in = 4,
    block_behind = 10,
    block_max_ms = 300,
    duty_delay_ms = 300,
    retry_delay_ms = 300
};

const struct storm_kind_spec storm_kind_specs[storm_kinds] = {
    [STORM_STEPS] = {"crash.steps.v1", 30, 's'},
    [STORM_SLEEP] = {"crash.sleep.v1", 10, 's'},
    [STORM_BAD_SAGA] = {"crash.saga.v1", 8, 'e'},
    [STORM_SAGA] = {"storm.saga.v1", 8, 's'},
    [STORM_PAY] = {"crash.pay.v1", 8, 's'},
    [STORM_EVENT] = {"storm.event.v1", 10, 's'},
    [STORM_SIGNALLED] = {"storm.signal.v1", 8, 's'},
    [STORM_PARENT] = {"storm.parent.v1", 6, 's'},
    [STORM_FAIL] = {"storm.fail.v1", 6, '\0'},
    [STORM_FLOWS] = {STORM_FLOW, 6, '\0'},
    [STORM_WIDE] = {"storm.wide.v1", 5, 's'},
};

struct caller {
    struct storm *storm;
    unsigned number;
    struct race_random random;
    pawl_client *client;
    pawl_trigger *triggers[storm_kinds];
    /* To the server itself, for looks; NULL: none now. */
    PGconn *direct;
};

static void
note(struct caller *caller, enum ledger_kind kind, const char *what, const char *run, long value)
{
    struct ledger_entry entry = {.kind = kind, .run = run, .step = what, .value = value};

    ledger_add(caller->storm->ledger, &entry);
}

/* The outcome of a call that may have to be made again: whether it has to. */
static bool
is_unsettled(struct caller *caller, const char *call, pawl_status status, const char *run,
    pawl_error **error)
{
    bool unknown = status == PAWL_EUNKNOWN;

    if (!unknown && status != PAWL_ECONN && status != PAWL_EBUSY)
        return false;
    storm_trace(caller->storm, caller->number, call, unknown ? "unknown" : "fail", run, status);
    if (unknown) {
        atomic_fetch_add(&caller->storm->told.unknown, 1);
        note(caller, LEDGER_NOTE, call, run, status);
    }
    pawl_error_free(*error);
    *error = NULL;
    return true;
}

/* An answer that no call should get. */
static void
note_failure(struct caller *caller, const char *call, pawl_status status, const char *run,
    pawl_error **error)
{
    storm_trace(caller->storm, caller->number, call, "fail", run, status);
    race_note("%s of %s: %s: %s", call, run, pawl_status_name(status),
        *error == NULL ? "" : pawl_error_message(*error));
    atomic_fetch_add(&caller->storm->told.failed, 1);
    pawl_error_free(*error);
    *error = NULL;
}

static void
note_wrong(struct caller *caller, const char *run, const char *what)
{
    race_note("run %s: %s", run, what);
    atomic_fetch_add(&caller->storm->told.wrong, 1);
}

/* A run is there: what others have to do about it. */
static void
add_duties(struct caller *caller, enum storm_kind kind, long n, const char *run)
{
    struct storm *storm = caller->storm;
    struct duty duty = {.n = n, .kind = (int)kind, .left = 1};

    (void)snprintf(duty.run, sizeof(duty.run), "%s", run);
    note(caller, LEDGER_ACKED, "trigger", run, (long)kind);
    atomic_fetch_add(&storm->told.acked[kind], 1);
    duty.due_s = bench_now_s() + race_below(&caller->random, duty_delay_ms) / 1e3;
    if (kind == STORM_EVENT) {
        duty.left = storm_events;
        duties_add(&storm->emits, &duty);
        duty.left = 1;
    } else if (kind == STORM_SIGNALLED) {
        duties_add(&storm->signals, &duty);
    }
    if (kind == STORM_FAIL)
        duties_add(&storm->retries, &duty);
    else if (race_below(&caller->random, cancel_in) == 0)
        duties_add(&storm->cancels, &duty);
}

static enum storm_kind
choose_kind(struct caller *caller)
{
    unsigned sum = caller->storm->shape->plain, at;

    for (int i = 0; i < storm_kinds; i++)
        sum += storm_kind_specs[i].weight;
    at = race_below(&caller->random, sum);
    for (int i = 0; i < storm_kinds; i++) {
        if (at < storm_kind_specs[i].weight)
            return (enum storm_kind)i;
        at -= storm_kind_specs[i].weight;
    }
    return STORM_STEPS;
}

/* The same key again finds the same run, whatever has become of it. */
static void
trigger_again(struct caller *caller, pawl_trigger *trigger, const char *run)
{
    char id[PAWL_ID_SIZE] = "";
    pawl_error *error = NULL;
    uint32_t flags = 0;
    pawl_status status;

    do {
        storm_trace(caller->storm, caller->number, "again", "invoke", run, 0);
        status = pawl_client_trigger(caller->client, trigger, id, &flags, &error);
    } while (is_unsettled(caller, "again", status, run, &error));
    if (status != PAWL_OK) {
        note_failure(caller, "again", status, run, &error);
    } else {
        storm_trace(caller->storm, caller->number, "again", "ok", run, (long)flags);
        if (strcmp(id, run) != 0 || (flags & PAWL_CREATED) != 0)
            note_wrong(caller, run, "the same key made another run");
    }
}

static void
trigger_one(struct caller *caller)
{
    enum storm_kind kind = choose_kind(caller);
    long n = atomic_fetch_add(&caller->storm->next, 1);
    pawl_trigger *trigger = caller->triggers[kind];
    char id[PAWL_ID_SIZE] = "", key[24], input[40];
    pawl_error *error = NULL;
    uint32_t flags = 0;
    pawl_status status;

    (void)snprintf(key, sizeof(key), "k%ld", n);
    (void)snprintf(input, sizeof(input), "{\"n\": %ld}", n);
    pawl_trigger_set(trigger, "key", n % 2 == 0 ? key : NULL);
    pawl_trigger_set(trigger, "priority", storm_urgent(n) ? "10" : NULL);
    pawl_trigger_set_input(trigger, pawl_text(input));
    do {
        storm_trace(
            caller->storm, caller->number, "trigger", "invoke", id[0] == '\0' ? NULL : id, n);
        pawl_trigger_set(trigger, "id", id[0] == '\0' ? NULL : id);
        status = pawl_client_trigger(caller->client, trigger, id, &flags, &error);
    } while (is_unsettled(caller, "trigger", status, id[0] == '\0' ? NULL : id, &error));
    pawl_trigger_set(trigger, "id", NULL);
    if (status != PAWL_OK) {
        note_failure(caller, "trigger", status, NULL, &error);
        return;
    }
    storm_trace(caller->storm, caller->number, "trigger", "ok", id, n);
    add_duties(caller, kind, n, id);
    if (n % 2 == 0 && race_below(&caller->random, again_in) == 0)
        trigger_again(caller, trigger, id);
}

/* All of them or none, as often as it takes: each has a key. */
static void
trigger_many(struct caller *caller)
{
    enum storm_kind kind = choose_kind(caller);
    pawl_trigger *trigger = caller->triggers[kind];
    long first = atomic_fetch_add(&caller->storm->next, many);
    char ids[many][PAWL_ID_SIZE];
    uint32_t flags[many];
    pawl_error *error = NULL;
    pawl_status status;

    pawl_trigger_set(trigger, "key", NULL);
    pawl_trigger_set(trigger, "priority", storm_urgent(first) ? "10" : NULL);
    pawl_trigger_clear(trigger);
    for (long i = 0; i < many; i++) {
        char key[24], input[40];

        (void)snprintf(key, sizeof(key), "k%ld", first + i);
        (void)snprintf(input, sizeof(input), "{\"n\": %ld}", first + i);
        pawl_trigger_add(trigger, pawl_text(input), key);
    }
    do {
        storm_trace(caller->storm, caller->number, "trigger_many", "invoke", NULL, first);
        status = pawl_client_trigger_many(caller->client, trigger, ids[0], flags, &error);
    } while (is_unsettled(caller, "trigger_many", status, NULL, &error));
    pawl_trigger_clear(trigger);
    if (status != PAWL_OK) {
        note_failure(caller, "trigger_many", status, NULL, &error);
        return;
    }
    for (long i = 0; i < many; i++) {
        storm_trace(caller->storm, caller->number, "trigger_many", "ok", ids[i], first + i);
        add_duties(caller, kind, first + i, ids[i]);
    }
}

static void
produce(struct caller *caller)
{
    struct storm *storm = caller->storm;

    while (!atomic_load(&storm->over)) {
        if (atomic_load(&storm->open) > storm->shape->open_max)
            crash_rest();
        else if (race_below(&caller->random, many_in) == 0)
            trigger_many(caller);
        else
            trigger_one(caller);
    }
    atomic_fetch_sub(&storm->producing, 1);
}

static void
emit(struct caller *caller, struct duty *duty)
{
    struct storm *storm = caller->storm;
    char key[storm_key_bytes], payload[40];
    pawl_error *error = NULL;
    pawl_status status;

    storm_event_key(duty->n, key);
    (void)snprintf(payload, sizeof(payload), "{\"n\": %ld}", duty->n);
    do {
        storm_trace(storm, caller->number, "emit", "invoke", duty->run, duty->n);
        status =
            pawl_client_emit(caller->client, STORM_TOPIC, key, NULL, pawl_text(payload), &error);
    } while (is_unsettled(caller, "emit", status, duty->run, &error));
    if (status != PAWL_OK) {
        note_failure(caller, "emit", status, duty->run, &error);
        return;
    }
    storm_trace(storm, caller->number, "emit", "ok", duty->run, duty->n);
    note(caller, LEDGER_ACKED, "emit", duty->run, duty->n);
    atomic_fetch_add(&storm->told.emits, 1);
    duty->left--;
    duty->due_s = bench_now_s() + race_below(&caller->random, duty_delay_ms) / 1e3;
    if (duty->left > 0)
        duties_add(&storm->emits, duty);
}

void
storm_remind(struct storm *storm)
{
    PGconn *conn = storm->crash.direct;
    PGresult *res = bench_exec(conn,
        "select t.run_id, t.input ->> 'n' from pawl_data.task t join pawl_data.wait w on w.run_id "
        "= t.run_id"
        " and w.kind = 'e' where exists (select from pawl_data.event v where v.topic = "
        "'" STORM_TOPIC
        "' and v.payload ->> 'n' = t.input ->> 'n' and v.emitted_at < t.triggered_at and not exists"
        " (select from pawl_data.step s where s.run_id = t.run_id and s.source_id = v.event_id))");

    for (int i = 0; i < PQntuples(res); i++) {
        struct ledger_entry entry = {.kind = LEDGER_ACKED,
            .run = PQgetvalue(res, i, 0),
            .step = "emit",
            .value = race_field(res, i, 1)};
        char key[storm_key_bytes], payload[40];
        const char *params[] = {STORM_TOPIC, payload, key};

        storm_event_key(entry.value, key);
        (void)snprintf(payload, sizeof(payload), "{\"n\": %ld}", entry.value);
        storm_trace(storm, 0, "emit", "invoke", entry.run, entry.value);
        PQclear(bench_exec_params(conn, "select from pawl.emit($1, $2::json, $3)", 3, params));
        storm_trace(storm, 0, "emit", "ok", entry.run, entry.value);
        ledger_add(storm->ledger, &entry);
        storm->faults.reminders++;
    }
    PQclear(res);
}

/* A run that was cancelled, or did not wait for long, may have ended. */
static void
send_signal(struct caller *caller, struct duty *duty)
{
    struct storm *storm = caller->storm;
    pawl_error *error = NULL;
    pawl_status status;

    do {
        storm_trace(storm, caller->number, "signal", "invoke", duty->run, duty->n);
        status =
            pawl_client_signal(caller->client, duty->run, STORM_SIGNAL, pawl_text("{}"), &error);
    } while (is_unsettled(caller, "signal", status, duty->run, &error));
    if (status != PAWL_OK && status != PAWL_EREFUSED && status != PAWL_ECANCELLED) {
        note_failure(caller, "signal", status, duty->run, &error);
        return;
    }
    storm_trace(
        storm, caller->number, "signal", status == PAWL_OK ? "ok" : "fail", duty->run, status);
    if (status == PAWL_OK) {
        note(caller, LEDGER_ACKED, "signal", duty->run, duty->n);
        atomic_fetch_add(&storm->told.signals, 1);
    }
    pawl_error_free(error);
}

/* A statement to the server itself; NULL: it failed, and the connection has gone, with what was open on it. */
static PGresult *
ask_directly(struct caller *caller, const char *sql, int count, const char *const *params)
{
    PGresult *res;

    if (caller->direct == NULL) {
        caller->direct = race_try_connect_direct();
        (void)PQsetNoticeProcessor(caller->direct, storm_ignore, NULL);
    }
    res = PQexecParams(caller->direct, sql, count, NULL, params, NULL, NULL, 0);
    if (PQresultStatus(res) == PGRES_TUPLES_OK || PQresultStatus(res) == PGRES_COMMAND_OK)
        return res;
    PQclear(res);
    PQfinish(caller->direct);
    caller->direct = NULL;
    return NULL;
}

/* How many forward records a run has that was just cancelled: no more may come. Where the server is away nobody knows. */
static void
count_records(struct caller *caller, const char *run)
{
    const char *params[] = {run};
    PGresult *res = ask_directly(caller,
        "select count(*) from pawl_data.step s where s.run_id = $1::uuid and s.kind = 's'"
        " and s.state in ('s', 'e') and s.name not like 'rollback:%'",
        1, params);

    if (res != NULL)
        note(caller, LEDGER_NOTE, "records", run, race_field(res, 0, 0));
    PQclear(res);
}

/*
 * A cancel as somebody types it, whose transaction stays open for a while: nobody may wait for that, and what others do about the run meanwhile
 * must not come after it. Returns PAWL_EBUSY if it is to be done in another way.
 */
static pawl_status
cancel_in_block(struct caller *caller, const struct duty *duty, uint32_t flags)
{
    const char *params[] = {duty->run, flags == PAWL_ROLLBACK ? "true" : "false"};
    double until_s = bench_now_s() + race_below(&caller->random, block_max_ms) / 1e3;
    PGresult *res;
    char answer;

    res = ask_directly(caller, "begin", 0, NULL);
    PQclear(res);
    res = res == NULL ? NULL
                      : ask_directly(caller,
                            "select c.answer from pawl.cancel(array[$1::uuid], 'the storm',"
                            " $2::boolean) c",
                            2, params);
    if (res == NULL)
        return PAWL_EBUSY;
    /* ok, already and CANCELLED are what is wanted. */
    answer = PQgetvalue(res, 0, 0)[0];
    PQclear(res);
    while (bench_now_s() < until_s)
        crash_rest();
    if (strchr("oaC", answer) == NULL) {
        PQclear(ask_directly(caller, "rollback", 0, NULL));
        return answer == 'b' ? PAWL_EBUSY : PAWL_EREFUSED;
    }
    res = ask_directly(caller, "commit", 0, NULL);
    PQclear(res);
    return res != NULL ? PAWL_OK : PAWL_EUNKNOWN;
}

static void
cancel(struct caller *caller, struct duty *duty)
{
    struct storm *storm = caller->storm;
    uint32_t flags = duty->n % 2 == 0 ? PAWL_ROLLBACK : 0;
    /* Not while many others are to be cancelled: they would come too late, and the last ones long after the storm. */
    bool in_block = !storm->journalled &&
        (duty->kind == STORM_PARENT ||
            (duties_count(&storm->cancels) < block_behind &&
                race_below(&caller->random, block_in) == 0));
    pawl_error *error = NULL;
    pawl_status status;

    do {
        storm_trace(storm, caller->number, "cancel", "invoke", duty->run, (long)flags);
        status = in_block
            ? cancel_in_block(caller, duty, flags)
            : pawl_client_cancel(caller->client, duty->run, "the storm", flags, &error);
        atomic_fetch_add(&storm->told.blocks, in_block && status == PAWL_OK);
        in_block = false;
    } while (is_unsettled(caller, "cancel", status, duty->run, &error));
    if (status != PAWL_OK && status != PAWL_EREFUSED) {
        note_failure(caller, "cancel", status, duty->run, &error);
        return;
    }
    storm_trace(
        storm, caller->number, "cancel", status == PAWL_OK ? "ok" : "fail", duty->run, status);
    if (status == PAWL_OK) {
        note(caller, LEDGER_ACKED, "cancel", duty->run, (long)flags);
        atomic_fetch_add(&storm->told.cancels, 1);
        count_records(caller, duty->run);
    }
    pawl_error_free(error);
}

/* Cancels parents that are held while children of theirs are about to end, until the storm is over. */
static void
operate(struct caller *caller)
{
    while (atomic_load(&caller->storm->producing) > 0) {
        double until_s = bench_now_s() + race_below(&caller->random, 2 * operate_ms) / 1e3;
        PGresult *res;

        while (bench_now_s() < until_s)
            crash_rest();
        res = ask_directly(caller,
            "select t.run_id, t.input ->> 'n' from pawl_data.task t join pawl_data.queue q on "
            "q.queue_id ="
            " t.queue_id where q.name = 'storm.parent.v1' and t.place = 'h' and t.ending is null "
            "and"
            " exists (select from pawl_data.wait w where w.run_id = t.run_id and w.kind = 'c')"
            " order by random() limit 1",
            0, NULL);
        if (res != NULL && PQntuples(res) == 1) {
            struct duty duty = {.n = race_field(res, 0, 1), .kind = STORM_PARENT};

            (void)snprintf(duty.run, sizeof(duty.run), "%s", PQgetvalue(res, 0, 0));
            cancel(caller, &duty);
        }
        PQclear(res);
    }
}

/* One call of retry; what it answered, '?' if nobody knows. */
static char
call_retry(struct caller *caller, const struct duty *duty)
{
    static const char *const names[] = {"runs"};
    char list[PAWL_ID_SIZE + 2];
    const char *const values[] = {list};
    pawl_rows *rows = NULL;
    pawl_error *error = NULL;
    pawl_status status;
    char answer = '?';

    (void)snprintf(list, sizeof(list), "{%s}", duty->run);
    storm_trace(caller->storm, caller->number, "retry", "invoke", duty->run, 0);
    status = pawl_client_call(caller->client, "retry", names, values, 1, &rows, &error);
    if (is_unsettled(caller, "retry", status, duty->run, &error))
        return answer;
    if (status != PAWL_OK) {
        note_failure(caller, "retry", status, duty->run, &error);
        return answer;
    }
    if (pawl_rows_count(rows) == 1 && pawl_rows_text(rows, 0, "answer") != NULL)
        answer = pawl_rows_text(rows, 0, "answer")[0];
    storm_trace(
        caller->storm, caller->number, "retry", answer == 'o' ? "ok" : "fail", duty->run, answer);
    pawl_rows_free(rows);
    return answer;
}

/* A run that ended ERROR goes on, until it ends well or the storm is over. */
static void
retry(struct caller *caller, struct duty *duty)
{
    struct storm *storm = caller->storm;
    pawl_error *error = NULL;
    pawl_status status = pawl_client_wait(caller->client, duty->run, 0, NULL, &error);

    duty->due_s = bench_now_s() + retry_delay_ms / 1e3;
    if (status == PAWL_OK)
        return;
    if (status == PAWL_ERUN) {
        if (call_retry(caller, duty) == 'o') {
            note(caller, LEDGER_ACKED, "retry", duty->run, 0);
            atomic_fetch_add(&storm->told.retries, 1);
        }
    } else if (status != PAWL_ETIMEOUT && status != PAWL_ECONN) {
        note_failure(caller, "wait", status, duty->run, &error);
        return;
    }
    pawl_error_free(error);
    duties_add(&storm->retries, duty);
}

/* Works a list off. What is left of retries when the storm is over stays as it is. */
static void
work_off(struct caller *caller, struct duties *duties,
    void (*act)(struct caller *caller, struct duty *duty), bool to_the_end)
{
    struct storm *storm = caller->storm;
    struct duty duty;

    for (;;) {
        bool over = atomic_load(&storm->producing) == 0;

        if (over && (!to_the_end || duties_count(duties) == 0))
            return;
        if (duties_take(duties, &caller->random, over, &duty))
            act(caller, &duty);
        else
            crash_rest();
    }
}

/* At first there may be an outage; later ones the client sees to itself. */
static void
open_client(struct caller *caller)
{
    bool proxied = caller->number % 2 == 1;
    pawl_config *config = crash_config(proxied ? caller->storm->database : NULL);
    pawl_error *error = NULL;
    pawl_status status;

    crash_must(pawl_config_set(config, "call_timeout", proxied ? "1s" : "20s", &error), &error);
    crash_must(pawl_config_set(config, "connect_timeout", "2s", &error), &error);
    while ((status = pawl_client_open(config, &caller->client, &error)) == PAWL_ECONN) {
        pawl_error_free(error);
        error = NULL;
        crash_rest();
    }
    crash_must(status, &error);
    pawl_config_free(config);
    for (int i = 0; i < storm_kinds; i++) {
        caller->triggers[i] = pawl_trigger_new(storm_kind_specs[i].workflow);
        if (caller->triggers[i] == NULL)
            bench_die("out of memory");
    }
}

void
storm_call(struct storm *storm, unsigned number)
{
    struct caller caller = {
        .storm = storm, .number = number, .random = race_random(&storm->crash.race, 200 + number)};

    open_client(&caller);
    if (number < storm_producers)
        produce(&caller);
    else if (number == storm_producers || number == storm_producers + 1)
        work_off(&caller, &storm->emits, emit, true);
    else if (number == storm_producers + 2)
        work_off(&caller, &storm->signals, send_signal, true);
    else if (number == storm_producers + 3)
        work_off(&caller, &storm->cancels, cancel, true);
    else if (number == storm_producers + 4)
        work_off(&caller, &storm->retries, retry, false);
    else
        operate(&caller);
    for (int i = 0; i < storm_kinds; i++)
        pawl_trigger_free(caller.triggers[i]);
    pawl_client_close(caller.client);
    PQfinish(caller.direct);
}
