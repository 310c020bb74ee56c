/* SPDX-License-Identifier: Apache-2.0 */
/* Rolling back: the undos of a claim, newest first, each a step that is recorded like others. */
#include "base/time.h"
#include "libpawl/run/branch.h"

#include <stdio.h>
#include <string.h>

int
pawl_run_rolling_back(const pawl_run *run)
{
    return run != NULL && run->task->rolling_back;
}

/* Opens the step that executes an undo. Returns PAWL_OK if the undo is already recorded. */
static pawl_status
begin_undo(pawl_run *run, const struct pw_undo *undo)
{
    struct pw_entry *entry;
    pawl_status status;
    int size = snprintf(run->identity, sizeof(run->identity), "rollback:%s", undo->name);

    if (size < 0 || size > PW_IDENTITY_MAX)
        return pw_branch_mistake(
            run, "the name of the step \"%.100s\" is too long for an undo", undo->name);
    entry = pw_record_find(&run->task->record, run->identity);
    if (entry != NULL)
        atomic_store(&entry->used, true);
    if (entry != NULL && entry->state == PW_STATE_SUCCESS)
        return PAWL_OK;
    if (entry != NULL && entry->state == PW_STATE_ERROR)
        return pw_branch_failed(run, PAWL_EFAILED, pw_bytes_or_null(entry->error), NULL, true);
    if (entry != NULL && entry->due_us > pw_now_us())
        return PAWL_SUSPENDED;
    status = pw_branch_may_start(run);
    run->phase = status == PAWL_PENDING ? PW_PHASE_LEASE : PW_PHASE_NONE;
    if (status != PAWL_OK)
        return status;
    run->step = (struct pw_step){.entry = entry,
        .undo = undo,
        .policy = undo->policy,
        .seq = pw_branch_seq(run, entry),
        .millis = INT32_MIN};
    return pw_step_open(run, run->task->step_timeout_ms);
}

pawl_status
pawl_run_undo_next(pawl_run *run, const char **handler, pawl_bytes *input, pawl_bytes *output)
{
    const struct pw_record *record;
    pawl_status status = PAWL_OK;

    if (!pw_branch_here(run) || handler == NULL)
        return PAWL_EINVAL;
    record = &run->task->record;
    if (run->phase != PW_PHASE_NONE && run->phase != PW_PHASE_LEASE)
        return pw_branch_refuse(run);
    if (run->stuck != PAWL_OK)
        return run->stuck;
    if (!run->task->rolling_back || run != run->trunk)
        return pw_branch_leave(run, pw_branch_mistake(run, "the run is not rolling back"));
    while (run->undo_at < record->undo_count) {
        status = begin_undo(run, &record->undos[run->undo_at]);
        if (status != PAWL_OK)
            break;
        run->undo_at++;
    }
    if (status != PAWL_EXECUTE)
        return pw_branch_leave(run, status);
    *handler = run->step.undo->handler;
    if (input != NULL)
        *input = run->step.undo->input;
    if (output != NULL)
        *output = run->step.undo->output;
    return status;
}

int
pawl_run_undo_uncertain(const pawl_run *run)
{
    return run != NULL && run->phase == PW_PHASE_OPEN && run->step.undo != NULL &&
        run->step.undo->uncertain;
}
