/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handlers of the storm's worker besides those of tests/crash/worker.c, which has its program: sagas that succeed, events, signals,
 * children, runs that an operator has to retry, and a flow. What they find wrong is a note "wrong" in the ledger.
 */
#include "worker.h"

#include "kinds.h"

#include <stdio.h>
#include <string.h>

enum {
    saga_steps = 3,
    nap_ms = 15,
    signal_timeout_ms = 300,
    long_min_ms = 300,
    long_max_ms = 1500,
    meanwhile_min_ms = 50,
    meanwhile_max_ms = 400,
    elements_max = 6
};

static void
note_wrong(pawl_run *run, long value)
{
    worker_note(pawl_run_userdata(run), run, LEDGER_NOTE, "wrong", value);
}

/* A saga that ends well, unless somebody cancels it: its sleep gives him time. */
static pawl_status
good_saga(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_status status = PAWL_OK;

    (void)input;
    for (int i = 1; i <= saga_steps && status == PAWL_OK; i++) {
        status = worker_do_saga_step(run, i, PAWL_OK);
        if (status == PAWL_OK)
            status = pawl_sleep(run, "nap", nap_ms);
    }
    *output = pawl_text("{}");
    return status;
}
PAWL_WORKFLOW("storm.saga.v1", good_saga);

/* Two events, of a topic with a key of its own or by a match among those of a crowd. */
static pawl_status
wait_events(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    unsigned long n = worker_number_of(input);
    pawl_status status = worker_do_step(run, "a", PAWL_OK);
    char key[storm_key_bytes], match[40];

    storm_event_key((long)n, key);
    (void)snprintf(match, sizeof(match), "{\"/n\": %lu}", n);
    for (int i = 0; i < storm_events && status == PAWL_OK; i++) {
        pawl_bytes payload = {0};
        int64_t found = -1;

        pawl_run_set_option(run, "key", key);
        if (storm_event_crowded((long)n))
            pawl_run_set_option(run, "match", match);
        status = pawl_wait_event(run, "w", STORM_TOPIC, -1, &payload);
        if (status == PAWL_OK &&
            (pawl_json_int(payload, "/n", &found) != PAWL_OK || found != (int64_t)n))
            note_wrong(run, found);
    }
    if (status == PAWL_OK)
        status = worker_do_step(run, "b", PAWL_OK);
    *output = pawl_text("{}");
    return status;
}
PAWL_WORKFLOW("storm.event.v1", wait_events);

/* Some wait for a time only, and may or may not get their signal. */
static pawl_status
wait_signal(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    bool hasty = storm_signal_hasty((long)worker_number_of(input));
    pawl_status status = worker_do_step(run, "a", PAWL_OK);

    if (status == PAWL_OK)
        status = pawl_wait_signal(run, STORM_SIGNAL, hasty ? signal_timeout_ms : -1, NULL);
    if (status == PAWL_OK)
        status = worker_do_step(run, "told", PAWL_OK);
    else if (status == PAWL_ETIMEOUT && hasty)
        status = worker_do_step(run, "late", PAWL_OK);
    *output = pawl_text("{}");
    return status;
}
PAWL_WORKFLOW("storm.signal.v1", wait_signal);

/* A step that lasts, so that its run is held while something else is done about it. */
static pawl_status
last(pawl_run *branch, const char *of, unsigned min_ms, unsigned max_ms)
{
    struct world *world = pawl_run_userdata(branch);
    unsigned ms = min_ms + worker_dice(worker_next_number(world), max_ms - min_ms + 1);

    return worker_do_branch_step(branch, of, "last", 1000 * ms);
}

static pawl_status
branch_quick(pawl_run *branch, void *userdata, pawl_bytes *output)
{
    static const char *const names[] = {"a", "b", "c"};
    pawl_status status = PAWL_OK;

    (void)userdata;
    for (int i = 0; i < 3 && status == PAWL_OK; i++)
        status = worker_do_branch_step(branch, "quick", names[i], 0);
    *output = pawl_text("{}");
    return status;
}

static pawl_status
branch_long(pawl_run *branch, void *userdata, pawl_bytes *output)
{
    (void)userdata;
    *output = pawl_text("{}");
    return last(branch, "long", long_min_ms, long_max_ms);
}

/*
 * One branch has recorded something by the time that the other's only step ends. Of a claim that was lost meanwhile, that step's record is new to a
 * run on which nothing shows of the loss any more: a record has set the count of crashes to zero.
 */
static pawl_status
run_wide(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_status status = pawl_branch(run, "long", branch_long, NULL, NULL);

    (void)input;
    if (status == PAWL_OK)
        status = pawl_branch(run, "quick", branch_quick, NULL, NULL);
    if (status == PAWL_OK)
        status = pawl_branches_join(run);
    *output = pawl_text("{}");
    return status;
}
PAWL_WORKFLOW("storm.wide.v1", run_wide);

static pawl_status
be_child(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)input;
    *output = pawl_text("{}");
    return worker_do_step(run, "a", PAWL_OK);
}
PAWL_WORKFLOW(STORM_CHILD, be_child);

static pawl_status
branch_child(pawl_run *branch, void *userdata, pawl_bytes *output)
{
    return pawl_child(branch, "c", STORM_CHILD, *(const pawl_bytes *)userdata, output);
}

static pawl_status
branch_meanwhile(pawl_run *branch, void *userdata, pawl_bytes *output)
{
    (void)userdata;
    *output = pawl_text("{}");
    return last(branch, "m", meanwhile_min_ms, meanwhile_max_ms);
}

/* Two children at the same time, which end while their parent is held; one after them, and one that nobody waits for. */
static pawl_status
have_children(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_status status = worker_do_step(run, "a", PAWL_OK);

    if (status == PAWL_OK)
        status = pawl_branch(run, "l", branch_child, &input, NULL);
    if (status == PAWL_OK)
        status = pawl_branch(run, "r", branch_child, &input, NULL);
    if (status == PAWL_OK)
        status = pawl_branch(run, "m", branch_meanwhile, NULL, NULL);
    if (status == PAWL_OK)
        status = pawl_branches_join(run);
    if (status == PAWL_OK)
        status = pawl_child_detached(run, "d", "crash.sleep.v1", input, NULL);
    if (status == PAWL_OK)
        status = pawl_child(run, "c", "crash.sleep.v1", input, NULL);
    if (status == PAWL_OK)
        status = worker_do_step(run, "b", PAWL_OK);
    *output = pawl_text("{}");
    return status;
}
PAWL_WORKFLOW("storm.parent.v1", have_children);

/* Ends ERROR every other time, for good, so that it takes an operator to go on. A step's tries fail now and then, too. */
static pawl_status
fail_at_times(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    struct world *world = pawl_run_userdata(run);
    pawl_status status;

    (void)input;
    pawl_run_set_option(run, "max_attempts", "100");
    pawl_run_set_option(run, "base_ms", "5");
    pawl_run_set_option(run, "cap_ms", "20");
    status = worker_do_step(
        run, "a", worker_dice(worker_next_number(world), 3) == 0 ? PAWL_EFAILED : PAWL_OK);
    if (status == PAWL_OK)
        status = worker_do_step(run, "gate",
            worker_dice(worker_next_number(world), 2) == 0 ? PAWL_EPERMANENT : PAWL_OK);
    if (status == PAWL_OK)
        status = worker_do_step(run, "b", PAWL_OK);
    *output = pawl_text("{}");
    return status;
}
PAWL_WORKFLOW("storm.fail.v1", fail_at_times);

/* The flow: split yields an array, each has a task for every element, side goes on beside, join adds up. */

static long
run_number(pawl_bytes input)
{
    int64_t n = 0;

    return pawl_json_int(input, "/run/n", &n) == PAWL_OK ? (long)n : -1;
}

static long
elements_of(long n)
{
    return 1 + (long)worker_dice((unsigned long)n, elements_max);
}

static pawl_status
flow_split(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    long n = run_number(input);
    char text[elements_max * 24];
    int length = 0;

    for (long i = 0; i < elements_of(n); i++)
        length += snprintf(
            text + length, sizeof(text) - (size_t)length, "%s%ld", i == 0 ? "" : ", ", n + i);
    return pawl_run_printf(run, output, "[%s]", text);
}
PAWL_WORKFLOW(STORM_FLOW "/split", flow_split);

static pawl_status
flow_each(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_status status = worker_do_step(run, "e", PAWL_OK);
    int64_t item = 0;

    if (status != PAWL_OK)
        return status;
    if (pawl_json_int(input, "/item", &item) != PAWL_OK)
        note_wrong(run, 0);
    return pawl_run_printf(run, output, "%ld", 2 * (long)item);
}
PAWL_WORKFLOW(STORM_FLOW "/each", flow_each);

static pawl_status
flow_side(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    pawl_status status = pawl_sleep(run, "nap", nap_ms);

    (void)input;
    if (status == PAWL_OK)
        status = worker_do_step(run, "s", PAWL_OK);
    *output = pawl_text("1");
    return status;
}
PAWL_WORKFLOW(STORM_FLOW "/side", flow_side);

/* A join that comes early lacks elements. */
static pawl_status
flow_join(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    long n = run_number(input), count = 0, sum = 0;
    pawl_status status = worker_do_step(run, "j", PAWL_OK);
    char pointer[40] = "/each/0";
    int64_t value;

    if (status != PAWL_OK)
        return status;
    while (pawl_json_int(input, pointer, &value) == PAWL_OK) {
        sum += (long)value;
        (void)snprintf(pointer, sizeof(pointer), "/each/%ld", ++count);
    }
    if (count != elements_of(n) || sum != 2 * count * n + count * (count - 1) ||
        pawl_json_int(input, "/side", &value) != PAWL_OK || value != 1)
        note_wrong(run, count);
    if (storm_flow_fails(n)) {
        pawl_run_set_error(run, "wanted", "this flow is to fail");
        return PAWL_EPERMANENT;
    }
    return pawl_run_printf(run, output, "%ld", sum);
}
PAWL_WORKFLOW(STORM_FLOW "/join", flow_join);

static pawl_status
undo_each(pawl_run *run, pawl_bytes input, pawl_bytes output)
{
    /* RUN/rollback:NAME */
    const char *key = pawl_step_key(run);

    (void)input;
    (void)output;
    worker_note(pawl_run_userdata(run), run, LEDGER_UNDO, strchr(key, '/') + 1, 0);
    return PAWL_OK;
}
PAWL_UNDO("storm.undo", undo_each);
