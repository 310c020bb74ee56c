/* SPDX-License-Identifier: Apache-2.0 */
/* Producers; see the header. */
#include "producers.h"

#include "ledger.h"

#include <stdio.h>

enum {
    naps_in = 8
};

void
producers_start(struct producers *producers)
{
    bench_do(producers->crash->direct, "select pawl.create_workflow('crash.steps.v1')");
    bench_do(producers->crash->direct, "select pawl.create_workflow('crash.sleep.v1')");
    producers->ledger = ledger_open(producers->crash->ledger);
}

/* Notes what it was told. */
static void
note_answer(struct producers *producers, pawl_status status, const char *id, uint32_t flags,
    pawl_error *error)
{
    struct ledger_entry entry = {.kind = LEDGER_ACKED, .run = id, .step = "trigger"};

    if (status == PAWL_OK) {
        ledger_add(producers->ledger, &entry);
        atomic_fetch_add(&producers->acked, 1);
        if ((flags & PAWL_CREATED) == 0)
            atomic_fetch_add(&producers->not_created, 1);
    } else {
        race_note("trigger: %s: %s", pawl_status_name(status), pawl_error_message(error));
        atomic_fetch_add(&producers->failed, 1);
        pawl_error_free(error);
    }
}

/*
 * With a short time for a call, it may be over while there is no server. What may have been done or not is said again, then, with the
 * same id, and may be there already.
 */
static void
trigger_one(struct producers *producers, pawl_client *client, pawl_trigger *trigger, long n)
{
    char id[PAWL_ID_SIZE] = "", key[24];
    pawl_error *error = NULL;
    uint32_t flags = 0;
    pawl_status status;

    (void)snprintf(key, sizeof(key), "k%ld", n);
    pawl_trigger_set(trigger, "key", n % 2 == 0 ? key : NULL);
    status = pawl_client_trigger(client, trigger, id, &flags, &error);
    while (producers->call_timeout != NULL && (status == PAWL_EUNKNOWN || status == PAWL_ECONN)) {
        atomic_fetch_add(&producers->unknown, 1);
        pawl_error_free(error);
        error = NULL;
        pawl_trigger_set(trigger, "id", id[0] == '\0' ? NULL : id);
        status = pawl_client_trigger(client, trigger, id, &flags, &error);
        flags |= PAWL_CREATED;
    }
    pawl_trigger_set(trigger, "id", NULL);
    note_answer(producers, status, id, flags, error);
}

void
producers_work(struct producers *producers)
{
    pawl_config *config = crash_config(NULL);
    pawl_trigger *steps = pawl_trigger_new("crash.steps.v1");
    pawl_trigger *naps = pawl_trigger_new("crash.sleep.v1");
    pawl_client *client = NULL;
    pawl_error *error = NULL;
    long n;

    if (steps == NULL || naps == NULL)
        bench_die("out of memory");
    if (producers->call_timeout != NULL)
        crash_must(
            pawl_config_set(config, "call_timeout", producers->call_timeout, &error), &error);
    crash_must(pawl_client_open(config, &client, &error), &error);
    while ((n = atomic_fetch_add(&producers->triggered, 1)) < producers->total) {
        while (n >= atomic_load(&producers->allowed))
            crash_rest();
        trigger_one(producers, client, n % naps_in == 0 ? naps : steps, n);
    }
    pawl_client_close(client);
    pawl_trigger_free(steps);
    pawl_trigger_free(naps);
    pawl_config_free(config);
}

void
producers_await_ended(struct producers *producers, long count)
{
    struct crash *crash = producers->crash;
    double until_s = bench_limit_s(120);

    while (race_count(crash->direct, "select count(*) from pawl_data.run") < count) {
        if (bench_now_s() > until_s)
            bench_die("the workers make no progress; see \"%s\"", crash->output);
        crash_rest();
    }
}

static void
check_acknowledged(struct producers *producers)
{
    struct crash *crash = producers->crash;
    long acked = race_count(crash->direct,
        "select count(distinct l.run_id) from pg_temp.ledger l where l.kind = 'acked'");
    long lost = race_count(crash->direct,
        "select count(*) from pg_temp.ledger l where l.kind = 'acked' and not exists"
        " (select from pawl_data.run r where r.run_id = l.run_id and r.status = 's')");

    race_ok(&crash->race,
        atomic_load(&producers->failed) == 0 && atomic_load(&producers->not_created) == 0 &&
            acked == producers->total,
        "%ld triggers acknowledged, %ld failed, %ld found that somebody else had made the run",
        acked, atomic_load(&producers->failed), atomic_load(&producers->not_created));
    race_ok(&crash->race, lost == 0, "%ld acknowledged runs lost", lost);
}

void
producers_check(struct producers *producers)
{
    struct crash *crash = producers->crash;
    long naps = (producers->total + naps_in - 1) / naps_in;

    crash_check_ended(crash, "crash.steps.v1", producers->total - naps, 's');
    crash_check_ended(crash, "crash.sleep.v1", naps, 's');
    crash_check_records(crash, 3 * (producers->total - naps) + 2 * naps);
    check_acknowledged(producers);
}
