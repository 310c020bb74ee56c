/* SPDX-License-Identifier: Apache-2.0 */
/* Steps: a step begins unless it is recorded, the caller executes it, and it is recorded once. */
#include "base/json_scan.h"
#include "base/time.h"
#include "libpawl/run/branch.h"
#include "pawl/worker.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Returns the record of a step as the result of a call. */
static pawl_status
deliver(pawl_run *run, enum pw_state state, pawl_bytes output, pawl_bytes error, pawl_bytes *out)
{
    if (state == PW_STATE_ERROR)
        return pw_branch_failed(run, PAWL_EFAILED, pw_bytes_or_null(error), NULL, true);
    if (out != NULL)
        *out = pw_bytes_or_null(output);
    return PAWL_OK;
}

/* Marks the step as executing, for the heartbeat, and sets its deadline, for pawl_run_check(). */
static void
start_clock(pawl_run *run)
{
    const struct pw_step *step = &run->step;
    pawl_run *trunk = run->trunk;
    int64_t deadline_us = pw_add_us(step->started_us, pw_ms_to_us(step->timeout_ms));

    run->phase = PW_PHASE_OPEN;
    if (step->timeout_ms >= 0)
        atomic_store(&run->deadline_us, deadline_us);
    (void)pthread_mutex_lock(&trunk->lock);
    run->executing = true;
    memcpy(run->executing_step, run->identity, sizeof(run->executing_step));
    run->executing_since_us = step->started_us;
    run->executing_timeout_ms = step->timeout_ms;
    run->late_told = false;
    (void)pthread_mutex_unlock(&trunk->lock);
    if (step->timeout_ms >= 0)
        pw_task_watch(run->task, deadline_us);
}

pawl_status
pw_step_open(pawl_run *run, int64_t limit_ms)
{
    struct pw_step *step = &run->step;

    step->said_before = run->said;
    step->failures_before = run->failures;
    run->said = (struct pw_said){.retry_after_ms = -1};
    step->timeout_ms = limit_ms;
    step->started_us = pw_now_us();
    (void)pthread_mutex_lock(&run->trunk->lock);
    run->streamed = false;
    (void)pthread_mutex_unlock(&run->trunk->lock);
    start_clock(run);
    return PAWL_EXECUTE;
}

/* Marks the step as not executing. Returns its duration in microseconds. */
static int64_t
stop_clock(pawl_run *run)
{
    int64_t taken_us = pw_now_us() - run->step.started_us;
    bool told;

    run->step.millis = taken_us / 1000 > INT32_MAX ? INT32_MAX : (int32_t)(taken_us / 1000);
    atomic_store(&run->deadline_us, INT64_MAX);
    (void)pthread_mutex_lock(&run->trunk->lock);
    run->executing = false;
    told = run->late_told;
    (void)pthread_mutex_unlock(&run->trunk->lock);
    if (told)
        pw_task_drop_notice(&run->notice, PAWL_NOTICE_STEP_TIMEOUT);
    return taken_us;
}

/* Posts the start of a step with an undo. */
static pawl_status
post_begin(pawl_run *run)
{
    struct pw_json_writer writer;
    struct pw_buf buf;
    pawl_bytes option;
    pawl_status status;

    pw_buf_init(&buf, PW_OPTION_MAX);
    pw_json_writer_init(&writer, &buf);
    pw_json_open(&writer, '{');
    pw_options_write_undo(&run->options, &writer);
    pw_json_close(&writer);
    status = pw_branch_keep(run, &writer, &option);
    if (status != PAWL_OK)
        return status;
    run->phase = PW_PHASE_BEGIN;
    pw_branch_post(run, PW_KIND_BEGIN, (pawl_bytes){0}, option);
    return PAWL_OK;
}

static int64_t
limit_of(const pawl_run *run)
{
    return pw_options_number(&run->options, PW_OPTION_TIMEOUT_MS, run->task->step_timeout_ms);
}

/*
 * Opens the step if it may start. This is checked again after the answer to its begin, because the run may have been cancelled or lost in
 * the meantime. A step that was begun and is not executed does no harm: its undo learns that the step is uncertain.
 */
static pawl_status
open_step(pawl_run *run)
{
    pawl_status status = pw_branch_may_start(run);

    run->phase = status == PAWL_PENDING ? PW_PHASE_LEASE : PW_PHASE_NONE;
    return status == PAWL_OK ? pw_step_open(run, limit_of(run)) : status;
}

/* Takes the answer to the start of a step with an undo. */
static pawl_status
take_begin(pawl_run *run, pawl_bytes *output)
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
    if (item->state == PW_STATE_SUCCESS || item->state == PW_STATE_ERROR)
        return deliver(run, item->state, item->output, item->error, output);
    run->step.begun = true;
    return open_step(run);
}

/* Starts a step that is not recorded yet. */
static pawl_status
start_step(pawl_run *run, struct pw_entry *entry, pawl_bytes *output)
{
    pawl_status status = pw_branch_may_start(run);

    run->phase = status == PAWL_PENDING ? PW_PHASE_LEASE : PW_PHASE_NONE;
    run->step = (struct pw_step){.entry = entry, .millis = INT32_MIN};
    if (status != PAWL_OK)
        return status;
    run->step.seq = pw_branch_seq(run, entry);
    if (run->options.values[PW_OPTION_UNDO] == NULL ||
        (entry != NULL && entry->state == PW_STATE_RUNNING))
        return pw_step_open(run, limit_of(run));
    status = post_begin(run);
    return status != PAWL_OK ? status : take_begin(run, output);
}

/* Begins a step. Returns PAWL_EXECUTE if the step is open now, the recorded result, or the reason why it cannot begin. */
static pawl_status
begin_step(pawl_run *run, const char *name, pawl_bytes *output)
{
    struct pw_entry *entry = NULL;
    pawl_status status;

    if (run->phase == PW_PHASE_LEASE && pw_branch_is_about(run, name))
        return run->step.begun ? open_step(run) : start_step(run, run->step.entry, output);
    if (run->phase == PW_PHASE_BEGIN && pw_branch_is_about(run, name))
        return take_begin(run, output);
    status = pw_branch_enter(run, name, PW_KIND_STEP, &entry);
    if (status != PAWL_OK)
        return status;
    if (entry != NULL && (entry->state == PW_STATE_SUCCESS || entry->state == PW_STATE_ERROR))
        return deliver(run, entry->state, entry->output, entry->error, output);
    if (entry != NULL && entry->due_us > pw_now_us())
        return PAWL_SUSPENDED;
    return start_step(run, entry, output);
}

/* Posts a failed attempt. */
static pawl_status
post_failure(pawl_run *run, bool permanent, pawl_bytes error)
{
    const struct pw_step *step = &run->step;
    struct pw_json_writer writer;
    struct pw_buf buf;
    pawl_bytes option;
    pawl_status status;

    pw_buf_init(&buf, PW_OPTION_MAX);
    pw_json_writer_init(&writer, &buf);
    pw_json_open(&writer, '{');
    if (step->policy.data != NULL) {
        pw_json_key(&writer, "policy");
        pw_json_add_raw(&writer, step->policy.data, step->policy.size);
    } else if (step->undo == NULL) {
        pw_options_write_policy(&run->options, &writer);
    }
    if (permanent) {
        pw_json_key(&writer, "permanent");
        pw_json_add_bool(&writer, true);
    } else if (run->said.retry_after_ms >= 0) {
        pw_json_key(&writer, "retry_after_ms");
        pw_json_add_int(&writer, run->said.retry_after_ms);
    }
    /* The number of the failure lets the engine count a resent item only once. */
    pw_json_key(&writer, "failure");
    pw_json_add_int(&writer, step->entry != NULL ? (int64_t)step->entry->failures + 1 : 1);
    pw_json_close(&writer);
    status = pw_branch_keep(run, &writer, &option);
    if (status == PAWL_OK)
        pw_branch_post(run, PW_KIND_RETRY, error, option);
    return status;
}

/* Posts the output of a step, or a failure if the output cannot be recorded. wanted: the caller asks for the output. */
static pawl_status
post_output(pawl_run *run, pawl_bytes output, int64_t taken_us, bool wanted)
{
    const struct pw_step *step = &run->step;
    enum pw_json_problem problem = PW_JSON_OK;

    if (step->timeout_ms >= 0 && taken_us > pw_ms_to_us(step->timeout_ms))
        return post_failure(run, false,
            pw_error_make(&run->arena, "timeout",
                "the step took %" PRId64 " ms, its limit is %" PRId64 " ms", taken_us / 1000,
                step->timeout_ms));
    output = pw_bytes_or_null(output);
    problem =
        pw_json_scan(output.data, output.size, pw_task_payload_max(run->task), PW_PAYLOAD_DEPTH);
    if (problem != PW_JSON_OK)
        return post_failure(run, true,
            pw_error_make(&run->arena, problem == PW_JSON_TOO_LARGE ? "too_large" : "bad_payload",
                "the output of the step, %zu bytes, %s", output.size,
                pw_json_problem_text(problem)));
    /*
     * A nonblocking caller returns before the answer arrives, and its bytes may end then. An output that is returned is copied before it
     * is recorded: if out of memory, nothing has happened.
     */
    if ((run->nonblocking || wanted) && pw_branch_copy(run, output, &output) != PAWL_OK)
        return PAWL_ENOMEM;
    pw_branch_post(run, PW_KIND_STEP, output, (pawl_bytes){0});
    return PAWL_OK;
}

/* The error of a step that returned this status. */
static pawl_bytes
error_of_step(pawl_run *run, pawl_status status)
{
    pawl_bytes said = pw_branch_said(run, status);

    if (said.data != NULL)
        return said;
    if (status == PAWL_SUSPENDED)
        return pw_error_make(
            &run->arena, "suspended", "the step returned PAWL_SUSPENDED, and a step cannot wait");
    if (run->failures != run->step.failures_before && run->failure.status == status)
        return run->failure.error;
    return pw_error_of_status(&run->arena, status);
}

/*
 * Returns true if a step returned this status because its run must stop, which is not a failure of the step. A step cannot be suspended.
 */
static bool
is_about_run(const pawl_run *run, pawl_status status)
{
    return (status == PAWL_ECANCELLED || status == PAWL_ELEASE_LOST) &&
        pw_branch_standing(run) != PAWL_OK;
}

/* Closes a step that ended with this status. */
static pawl_status
close_step(pawl_run *run, pawl_status status)
{
    run->phase = PW_PHASE_NONE;
    run->said = run->step.said_before;
    if (run->step.undo != NULL && status == PAWL_OK)
        run->trunk->undo_at++;
    /* No undo can follow one that failed. */
    if (run->step.undo != NULL && status == PAWL_EFAILED)
        run->stuck = PAWL_EFAILED;
    (void)pw_branch_leave(run, status);
    if (run->step.late_option) {
        run->options.about = "";
        run->options.mistake = "was given while a step was open";
    }
    return status;
}

/* Handles a lack of memory: nothing was recorded, and the step stays open, unless its function has returned. */
static pawl_status
stay_open(pawl_run *run)
{
    if (run->step.function)
        return close_step(run, PAWL_ENOMEM);
    run->step.confirmed = false;
    run->said = run->step.said;
    start_clock(run);
    return PAWL_ENOMEM;
}

/* Takes the answer to the result of a step. Returns PAWL_EXECUTE if another item was posted instead. */
static pawl_status
take_record(pawl_run *run, pawl_bytes *out)
{
    struct pw_item *item = &run->item;
    pawl_bytes error;

    if (item->answer == PW_ANSWER_REFUSED && item->kind == PW_KIND_CONFIRM) {
        error =
            pw_error_make(&run->arena, "not_recorded", "the transaction has not recorded the step");
        return post_failure(run, false, error) == PAWL_OK ? PAWL_EXECUTE : PAWL_ENOMEM;
    }
    if (item->answer == PW_ANSWER_REFUSED) {
        if (run->step.refused)
            return pw_branch_failed(run, PAWL_EFAILED, item->payload, NULL, true);
        run->step.refused = true;
        error = pw_error_make(&run->arena, "refused", "%s", item->reason);
        pw_branch_post(run, PW_KIND_STEP_ERROR, error, (pawl_bytes){0});
        return PAWL_EXECUTE;
    }
    if (item->state == PW_STATE_SUCCESS || item->state == PW_STATE_ERROR)
        return deliver(run, item->state, item->output, item->error, out);
    if (item->kind == PW_KIND_STEP_ERROR || (item->kind == PW_KIND_RETRY && item->final))
        return pw_branch_failed(run, PAWL_EFAILED, item->payload, NULL, true);
    if (item->kind == PW_KIND_RETRY)
        return pw_branch_failed(run, PAWL_SUSPENDED, item->payload, NULL, false);
    if (item->kind == PW_KIND_CONFIRM)
        return deliver(run, PW_STATE_SUCCESS, item->output, item->error, out);
    return deliver(run, PW_STATE_SUCCESS, item->payload, (pawl_bytes){0}, out);
}

/* Waits until the result of the step is recorded or rejected. */
static pawl_status
settle_step(pawl_run *run, pawl_bytes *out)
{
    pawl_status status;

    do {
        status = pw_branch_answer(run);
        if (status == PAWL_PENDING)
            return status;
        if (status == PAWL_OK)
            status = take_record(run, out);
    } while (status == PAWL_EXECUTE);
    return status == PAWL_ENOMEM ? stay_open(run) : close_step(run, status);
}

/* Ends the step that is open. */
static pawl_status
end_step(pawl_run *run, pawl_status status, pawl_bytes output, pawl_bytes *out)
{
    int64_t taken_us = stop_clock(run);

    run->step.said = run->said;
    if (is_about_run(run, status))
        return close_step(run, status);
    if (status == PAWL_OK)
        status = post_output(run, output, taken_us, out != NULL);
    else
        status = post_failure(run, status == PAWL_EPERMANENT, error_of_step(run, status));
    if (status != PAWL_OK)
        return stay_open(run);
    run->phase = PW_PHASE_RECORD;
    return settle_step(run, out);
}

void
pawl_run_set_option(pawl_run *run, const char *option, const char *value)
{
    if (run == NULL)
        return;
    if (run->phase == PW_PHASE_NONE) {
        pw_options_set(&run->options, &run->arena, option, value);
    } else if (run->phase == PW_PHASE_OPEN) {
        /* The options of the open step are in use; the next call reports the error. */
        run->step.late_option = true;
    }
    /* In the other phases the caller repeats a call, which already has its options. */
}

pawl_status
pawl_step(
    pawl_run *run, const char *name, pawl_step_fn function, void *userdata, pawl_bytes *output)
{
    pawl_bytes result = {0};
    pawl_status status;

    if (!pw_branch_here(run))
        return PAWL_EINVAL;
    if (function == NULL)
        return pw_branch_leave(run, pw_branch_mistake(run, "no function was given for the step"));
    if (run->phase == PW_PHASE_RECORD && run->step.function && !run->step.change &&
        pw_branch_is_about(run, name))
        return settle_step(run, output);
    status = begin_step(run, name, output);
    if (status != PAWL_EXECUTE)
        return pw_branch_leave(run, status);
    run->step.function = true;
    status = function(run, userdata, &result);
    return end_step(run, status, result, output);
}

pawl_status
pawl_step_begin(pawl_run *run, const char *name, pawl_bytes *output)
{
    if (!pw_branch_here(run))
        return PAWL_EINVAL;
    return pw_branch_leave(run, begin_step(run, name, output));
}

pawl_status
pawl_step_finish(pawl_run *run, pawl_status status, pawl_bytes output, pawl_bytes *recorded)
{
    if (!pw_branch_here(run))
        return PAWL_EINVAL;
    if (run->phase == PW_PHASE_RECORD && !run->step.function && !run->step.confirmed &&
        !run->step.deferred)
        return settle_step(run, recorded);
    if (run->phase != PW_PHASE_OPEN || run->step.function)
        return pw_branch_mistake(run, "no step was begun in this branch");
    if (run->step.transaction && status == PAWL_OK)
        return pw_branch_mistake(
            run, "the step is recorded by a transaction: call pawl_step_confirm()");
    return end_step(run, status, output, recorded);
}

/* Returns the token with which the caller's transaction can record the step, or NULL if out of memory. */
static const char *
make_token(pawl_run *run)
{
    const struct pw_task *task = run->task;
    char token[2 * PAWL_ID_SIZE + PW_IDENTITY_MAX + 80];
    int size = snprintf(token, sizeof(token),
        "pawl1 %s %" PRId32 " %" PRId64 " %" PRId32 " %" PRId32 " %s", task->id_text, task->number,
        task->session, task->fence, run->step.seq, run->identity);

    return size < 0 ? NULL : pw_arena_copy(&run->arena, token, (size_t)size);
}

pawl_status
pawl_step_begin_transaction(pawl_run *run, const char *name, pawl_bytes *output, const char **token)
{
    const char *made;
    pawl_status status;

    if (!pw_branch_here(run))
        return PAWL_EINVAL;
    if (token == NULL)
        return pw_branch_leave(run, pw_branch_mistake(run, "no place for the token was given"));
    status = begin_step(run, name, output);
    if (status != PAWL_EXECUTE)
        return pw_branch_leave(run, status);
    made = make_token(run);
    if (made == NULL) {
        (void)stop_clock(run);
        return close_step(run, PAWL_ENOMEM);
    }
    run->step.transaction = true;
    *token = made;
    return PAWL_EXECUTE;
}

pawl_status
pawl_step_confirm(pawl_run *run, pawl_bytes *output)
{
    if (!pw_branch_here(run))
        return PAWL_EINVAL;
    if (run->phase == PW_PHASE_RECORD && run->step.confirmed)
        return settle_step(run, output);
    if (run->phase != PW_PHASE_OPEN || !run->step.transaction)
        return pw_branch_mistake(run, "no step was begun that a transaction records");
    (void)stop_clock(run);
    run->step.said = run->said;
    run->step.confirmed = true;
    run->phase = PW_PHASE_RECORD;
    pw_branch_post(run, PW_KIND_CONFIRM, (pawl_bytes){0}, (pawl_bytes){0});
    return settle_step(run, output);
}

/* About a day: 5, 10, 20 ... seconds, and then five minutes each time. */
static const char defer_policy[] =
    "{\"max_attempts\":300,\"base_ms\":5000,\"factor\":2,\"cap_ms\":300000,\"jitter\":0.2}";

/*
 * Identities under which deferrals of a run are counted, so that they use no attempt of the run's own steps. No step of a handler has the
 * number 0.
 */
static const char no_handler[] = "no_handler#0";
static const char no_undo_handler[] = "rollback:no_undo_handler#0";

pawl_status
pawl_run_defer(pawl_run *run)
{
    struct pw_entry *entry;
    struct pw_said said;
    const char *identity;

    if (!pw_branch_here(run))
        return PAWL_EINVAL;
    if (run->phase == PW_PHASE_RECORD && run->step.deferred)
        return settle_step(run, NULL);
    if (run != run->trunk ||
        (run->phase != PW_PHASE_NONE && (run->phase != PW_PHASE_OPEN || run->step.undo == NULL)))
        return pw_branch_refuse(run);
    if (run->stuck != PAWL_OK)
        return run->stuck;
    identity = run->task->rolling_back ? no_undo_handler : no_handler;
    entry = pw_record_find(&run->task->record, identity);
    said = run->said;
    if (run->phase == PW_PHASE_OPEN)
        (void)stop_clock(run);
    (void)snprintf(run->identity, sizeof(run->identity), "%s", identity);
    run->step = (struct pw_step){.entry = entry,
        .policy = {defer_policy, sizeof(defer_policy) - 1},
        .seq = pw_branch_seq(run, entry),
        .millis = INT32_MIN,
        .deferred = true};
    run->said = (struct pw_said){.retry_after_ms = -1};
    (void)pw_step_open(run, -1);
    run->said = said;
    return end_step(run, PAWL_EFAILED, (pawl_bytes){0}, NULL);
}

int
pawl_step_attempt(const pawl_run *run)
{
    int failures;

    if (run == NULL || run->phase != PW_PHASE_OPEN)
        return 0;
    failures = run->step.entry != NULL ? run->step.entry->failures : 0;
    return failures < INT_MAX ? failures + 1 : INT_MAX;
}

const char *
pawl_step_key(pawl_run *run)
{
    char *key;

    if (run == NULL || run->phase != PW_PHASE_OPEN)
        return NULL;
    key = run->step.key;
    /* The key has enough space: all three parts are bounded. */
    if (key[0] == '\0' && run->task->number == 0)
        (void)snprintf(key, PW_KEY_MAX, "%s/%s", run->task->id_text, run->identity);
    else if (key[0] == '\0')
        (void)snprintf(key, PW_KEY_MAX, "%s/%" PRId32 "/%s", run->task->id_text, run->task->number,
            run->identity);
    return key;
}

/*
 * Returns true if an earlier execution has recorded something under this name that the code of this branch may still ask for: a step, wait
 * or child of the branch itself, or of a branch that is not made yet. Records of branches that exist are theirs.
 */
static bool
is_ahead(const pawl_run *run, const struct pw_entry *entry)
{
    const char *rest;
    const char *slash;
    const char *number;

    /* The prefix first: only a trunk looks at entries that other threads may be using. */
    if (strncmp(entry->name, run->prefix, run->prefix_size) != 0 ||
        strncmp(entry->name, "rollback:", strlen("rollback:")) == 0 || atomic_load(&entry->used))
        return false;
    rest = entry->name + run->prefix_size;
    /* Number 0 has what pawl_run_defer() counts, and failures of the handler itself have no number. */
    number = strrchr(rest, '#');
    if (number == NULL || strcmp(number, "#0") == 0)
        return false;
    slash = strchr(rest, '/');
    /* guard:changed_branches */
    return slash == NULL || !pw_names_has(&run->origin->branches, rest, (size_t)(slash - rest));
}

/* Returns true if no execution before this one has been further in this branch. */
static bool
is_new_here(const pawl_run *run)
{
    const struct pw_record *record = &run->task->record;

    for (size_t i = 0; i < record->count; i++)
        if (is_ahead(run, &record->entries[i]))
            return false;
    return true;
}

/* Decides about a change point that is not recorded, and records it. */
static pawl_status
decide_change(pawl_run *run, const char *name, pawl_bytes *output)
{
    pawl_status status;

    if (run->phase == PW_PHASE_NONE && !pw_options_fit(&run->options, 0))
        return pw_branch_leave(run,
            pw_branch_mistake(run, "option \"%s\" %s", run->options.about, run->options.mistake));
    status = begin_step(run, name, output);
    if (status != PAWL_EXECUTE)
        return pw_branch_leave(run, status);
    run->step.function = true;
    run->step.change = true;
    return end_step(run, PAWL_OK, pawl_text(is_new_here(run) ? "true" : "false"), output);
}

pawl_status
pawl_run_changed(pawl_run *run, const char *name, int *is_new)
{
    pawl_bytes output = {0};
    pawl_status status;

    if (!pw_branch_here(run))
        return PAWL_EINVAL;
    if (is_new == NULL)
        return pw_branch_leave(run, pw_branch_mistake(run, "no place for the answer was given"));
    if (run->phase == PW_PHASE_RECORD && run->step.change && pw_branch_is_about(run, name))
        status = settle_step(run, &output);
    else
        status = decide_change(run, name, &output);
    if (status != PAWL_OK)
        return status;
    *is_new = strcmp(output.data, "true") == 0;
    if (*is_new == 0 && strcmp(output.data, "false") != 0)
        return pw_branch_mistake(run, "\"%s\" is recorded as a step, not as a change", name);
    return PAWL_OK;
}
