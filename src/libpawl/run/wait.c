/* SPDX-License-Identifier: Apache-2.0 */
/* Waits: sleeps, events, signals, approvals, children. */
#include "base/json_read.h"
#include "base/json_scan.h"
#include "libpawl/run/branch.h"

#include <string.h>

/* The engine accepts at most 64 kB of options in one item. */
static const size_t form_max = 60000;

/* The request of a wait. */
struct ask {
    enum pw_kind kind;
    int64_t ms; /* the duration of a sleep, or the time limit of a wait; -1: none */
    const char *topic;
    pawl_bytes form;
    const char *workflow;
    bool detached;
    pawl_bytes input;
};

static void
write_number(struct pw_json_writer *writer, const char *key, int64_t value)
{
    pw_json_key(writer, key);
    pw_json_add_int(writer, value);
}

static void
write_event(pawl_run *run, const struct ask *ask, struct pw_json_writer *writer)
{
    pw_json_key(writer, "topic");
    pw_json_add_text(writer, ask->topic);
    pw_options_write(&run->options, PW_OPTION_KEY, "key", writer);
    pw_options_write(&run->options, PW_OPTION_MATCH, "match", writer);
}

static void
write_child(pawl_run *run, const struct ask *ask, struct pw_json_writer *writer)
{
    pw_json_key(writer, "workflow");
    pw_json_add_text(writer, ask->workflow);
    if (ask->detached) {
        pw_json_key(writer, "detached");
        pw_json_add_bool(writer, true);
    }
    pw_options_write(&run->options, PW_OPTION_PRIORITY, "priority", writer);
    pw_options_write(&run->options, PW_OPTION_DELAY_MS, "delay_ms", writer);
    pw_options_write(&run->options, PW_OPTION_METADATA, "metadata", writer);
    pw_options_write(&run->options, PW_OPTION_LIMIT_KEY, "limit_key", writer);
}

/* Makes the option of the item; empty if it needs none. */
static pawl_status
make_option(pawl_run *run, const struct ask *ask, pawl_bytes *option)
{
    struct pw_json_writer writer;
    struct pw_buf buf;

    *option = (pawl_bytes){0};
    if (ask->kind == PW_KIND_SIGNAL && ask->ms < 0)
        return PAWL_OK;
    if (ask->kind == PW_KIND_APPROVAL && ask->ms < 0 && ask->form.data == NULL)
        return PAWL_OK;
    pw_buf_init(&buf, PW_OPTION_MAX);
    pw_json_writer_init(&writer, &buf);
    pw_json_open(&writer, '{');
    if (ask->kind == PW_KIND_EVENT)
        write_event(run, ask, &writer);
    if (ask->kind == PW_KIND_CHILD)
        write_child(run, ask, &writer);
    if (ask->form.data != NULL) {
        pw_json_key(&writer, "form");
        pw_json_add_raw(&writer, ask->form.data, ask->form.size);
    }
    if (ask->kind == PW_KIND_SLEEP)
        write_number(&writer, "ms", ask->ms);
    else if (ask->ms >= 0)
        write_number(&writer, "timeout_ms", ask->ms);
    pw_json_close(&writer);
    return pw_branch_keep(run, &writer, option);
}

/* Returns the record of a wait, ended or open, as the result of a call. */
static pawl_status
deliver(pawl_run *run, const struct ask *ask, const struct pw_entry *end, pawl_bytes *out)
{
    pawl_status status = PAWL_EFAILED;

    if (end->state == PW_STATE_SUCCESS) {
        if (out != NULL)
            *out = pw_bytes_or_null(end->output);
        if (ask->kind != PW_KIND_APPROVAL || end->approved)
            return PAWL_OK;
        return pw_branch_failed(run, PAWL_EREFUSED,
            pw_error_make(&run->arena, "rejected", "\"%s\" was rejected", run->identity), NULL,
            true);
    }
    if (end->state != PW_STATE_ERROR)
        return PAWL_SUSPENDED;
    if (ask->kind == PW_KIND_CHILD)
        status = PAWL_ERUN;
    else if (end->error_code != NULL && strcmp(end->error_code, "timeout") == 0)
        status = PAWL_ETIMEOUT;
    return pw_branch_failed(run, status, pw_bytes_or_null(end->error), NULL, true);
}

static pawl_status
take_wait(pawl_run *run, const struct ask *ask, pawl_bytes *out)
{
    const struct pw_item *item = &run->item;
    pawl_status status = pw_branch_answer(run);

    if (status == PAWL_PENDING)
        return status;
    run->phase = PW_PHASE_NONE;
    if (status != PAWL_OK)
        return status;
    if (item->answer == PW_ANSWER_REFUSED)
        return pw_branch_failed(run, PAWL_EINVAL,
            pw_error_make(&run->arena, "refused", "%s", item->reason), NULL, false);
    return deliver(run, ask,
        &(struct pw_entry){.state = item->state,
            .output = item->output,
            .error = item->error,
            .error_code = item->error_code,
            .approved = item->approved},
        out);
}

static pawl_status
begin_wait(pawl_run *run, const char *name, const struct ask *ask, pawl_bytes *out)
{
    struct pw_entry *entry = NULL;
    pawl_bytes option, input = ask->input;
    pawl_status status;

    if (run->phase == PW_PHASE_WAIT && run->item.kind == ask->kind && pw_branch_is_about(run, name))
        return take_wait(run, ask, out);
    status = pw_branch_enter(run, name, ask->kind, &entry);
    if (status != PAWL_OK)
        return status;
    if (entry != NULL && entry->state != PW_STATE_NONE)
        return deliver(run, ask, entry, out);
    status = pw_branch_standing(run);
    if (status == PAWL_OK)
        status = make_option(run, ask, &option);
    if (status == PAWL_ETOOLARGE)
        return pw_branch_mistake(
            run, "\"%s\": what is waited for, and its options, are too large", name);
    /* A nonblocking caller returns before the answer arrives, and its bytes may end then. */
    if (status == PAWL_OK && run->nonblocking && input.data != NULL)
        status = pw_branch_copy(run, input, &input);
    if (status != PAWL_OK)
        return status;
    run->step = (struct pw_step){.seq = pw_branch_seq(run, entry), .millis = INT32_MIN};
    run->phase = PW_PHASE_WAIT;
    pw_branch_post(run, ask->kind, input, option);
    return take_wait(run, ask, out);
}

static pawl_status
wait_for(pawl_run *run, const char *name, const struct ask *ask, pawl_bytes *out)
{
    return pw_branch_leave(run, begin_wait(run, name, ask, out));
}

/* Reports an invalid argument of a call. */
static pawl_status
refuse(pawl_run *run, const char *name, const char *what)
{
    return pw_branch_leave(
        run, pw_branch_mistake(run, "\"%.110s\": %s", name != NULL ? name : "", what));
}

pawl_status
pawl_sleep(pawl_run *run, const char *name, int64_t duration_ms)
{
    if (!pw_branch_here(run))
        return PAWL_EINVAL;
    if (duration_ms < 0)
        return refuse(run, name, "sleep duration must not be negative");
    return wait_for(run, name, &(struct ask){.kind = PW_KIND_SLEEP, .ms = duration_ms}, NULL);
}

/* Returns true if a time limit is valid. */
static bool
is_limit(int64_t timeout_ms)
{
    return timeout_ms >= -1;
}

static const char bad_limit[] = "timeout_ms must be -1 or more";

pawl_status
pawl_wait_event(
    pawl_run *run, const char *name, const char *topic, int64_t timeout_ms, pawl_bytes *payload)
{
    if (!pw_branch_here(run))
        return PAWL_EINVAL;
    if (!is_limit(timeout_ms))
        return refuse(run, name, bad_limit);
    if (topic == NULL || topic[0] == '\0')
        return refuse(run, name, "a wait for an event needs a topic");
    return wait_for(
        run, name, &(struct ask){.kind = PW_KIND_EVENT, .ms = timeout_ms, .topic = topic}, payload);
}

pawl_status
pawl_wait_signal(pawl_run *run, const char *name, int64_t timeout_ms, pawl_bytes *payload)
{
    if (!pw_branch_here(run))
        return PAWL_EINVAL;
    if (!is_limit(timeout_ms))
        return refuse(run, name, bad_limit);
    return wait_for(run, name, &(struct ask){.kind = PW_KIND_SIGNAL, .ms = timeout_ms}, payload);
}

pawl_status
pawl_wait_approval(
    pawl_run *run, const char *name, pawl_bytes form, int64_t timeout_ms, pawl_bytes *decision)
{
    if (!pw_branch_here(run))
        return PAWL_EINVAL;
    if (!is_limit(timeout_ms))
        return refuse(run, name, bad_limit);
    if (form.data != NULL &&
        pw_json_scan(form.data, form.size, form_max, PW_PAYLOAD_DEPTH) != PW_JSON_OK)
        return refuse(run, name, "the form must be JSON of at most 60000 bytes");
    return wait_for(run, name,
        &(struct ask){.kind = PW_KIND_APPROVAL, .ms = timeout_ms, .form = form}, decision);
}

static pawl_status
start_child(pawl_run *run, const char *name, const char *workflow, pawl_bytes input, bool detached,
    pawl_bytes *output)
{
    enum pw_json_problem problem = PW_JSON_OK;

    if (!pw_branch_here(run))
        return PAWL_EINVAL;
    if (workflow == NULL || workflow[0] == '\0')
        return refuse(run, name, "a child needs the name of its workflow");
    if (input.data != NULL)
        problem =
            pw_json_scan(input.data, input.size, pw_task_payload_max(run->task), PW_PAYLOAD_DEPTH);
    if (problem != PW_JSON_OK)
        return pw_branch_leave(run,
            pw_branch_mistake(run, "the input of the child \"%.110s\" %s", name != NULL ? name : "",
                pw_json_problem_text(problem)));
    return wait_for(run, name,
        &(struct ask){.kind = PW_KIND_CHILD,
            .ms = -1,
            .workflow = workflow,
            .detached = detached,
            .input = input},
        output);
}

pawl_status
pawl_child(
    pawl_run *run, const char *name, const char *workflow, pawl_bytes input, pawl_bytes *output)
{
    return start_child(run, name, workflow, input, false, output);
}

pawl_status
pawl_child_detached(
    pawl_run *run, const char *name, const char *workflow, pawl_bytes input, pawl_bytes *output)
{
    return start_child(run, name, workflow, input, true, output);
}
