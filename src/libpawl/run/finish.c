/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a claim: makes the last item of the task from the status that the handler returned. */
#include "base/json_scan.h"
#include "libpawl/run/branch.h"

#include <string.h>

/* Sets the last item. Bytes must be in the trunk's arena, or constant. */
static void
set_last(
    pawl_run *trunk, enum pw_kind kind, const char *name, pawl_bytes payload, pawl_bytes option)
{
    trunk->task->last = (struct pw_item){.kind = kind,
        .name = name,
        .payload = payload,
        .option = option,
        .seq = INT32_MIN,
        .millis = INT32_MIN,
        .task = trunk->task,
        .reason = "",
        .error_code = ""};
    pw_list_init(&trunk->task->last.link);
}

static const char final_text[] = "{\"final\":true}";
static const char permanent_text[] = "{\"permanent\":true}";
static const pawl_bytes final = {final_text, sizeof(final_text) - 1};
static const pawl_bytes permanent = {permanent_text, sizeof(permanent_text) - 1};

/*
 * Returns true if a join has passed the result of a branch, or of a branch above it, to the parent. That parent has handled the failure.
 */
static bool
is_joined(const pawl_run *branch)
{
    while (branch != NULL && !branch->joined)
        branch = branch->parent;
    return branch != NULL;
}

/*
 * Returns the failure that explains a status: that of the trunk, or that of a branch without a join. The first such branch counts that
 * has set an error or failed with this status.
 */
static struct pw_failure
why_failed(pawl_run *trunk, pawl_status status)
{
    struct pw_list *link;

    if (trunk->said.error.data != NULL || trunk->said.message != NULL ||
        trunk->failure.status == status)
        return pw_branch_why(trunk, status);
    for (link = pw_list_first(&trunk->boughs); link != NULL;
         link = pw_list_next(&trunk->boughs, link)) {
        pawl_run *branch = PW_CONTAINER(link, pawl_run, bough);

        if (is_joined(branch) ||
            (branch->said.error.data == NULL && branch->said.message == NULL &&
                branch->failure.status != status))
            continue;
        if (trunk->said.retry_after_ms < 0)
            trunk->said.retry_after_ms = branch->said.retry_after_ms;
        return pw_branch_why(branch, status);
    }
    return pw_branch_why(trunk, status);
}

static void
set_failure(pawl_run *trunk, pawl_status status)
{
    struct pw_failure why = why_failed(trunk, status);
    struct pw_json_writer writer;
    struct pw_buf buf;
    pawl_bytes option = {0};

    if (status == PAWL_EPERMANENT) {
        option = permanent;
    } else if (why.final) {
        option = final;
    } else if (trunk->said.retry_after_ms >= 0) {
        pw_buf_init(&buf, 64);
        pw_json_writer_init(&writer, &buf);
        pw_json_open(&writer, '{');
        pw_json_key(&writer, "retry_after_ms");
        pw_json_add_int(&writer, trunk->said.retry_after_ms);
        pw_json_close(&writer);
        /* If out of memory, the workflow's policy decides when. */
        (void)pw_branch_keep(trunk, &writer, &option);
    }
    set_last(trunk, PW_KIND_FAIL, NULL, pw_bytes_or_null(why.error), option);
}

/* Returns the names of records that the code did not ask for, as an option; empty if there are none. A list that is too long is cut. */
static pawl_bytes
list_unused(pawl_run *trunk)
{
    const struct pw_record *record = &trunk->task->record;
    struct pw_json_writer writer;
    struct pw_buf buf;
    pawl_bytes option = {0};
    size_t count = 0;

    pw_buf_init(&buf, PW_OPTION_MAX);
    pw_json_writer_init(&writer, &buf);
    for (size_t i = 0; i < record->count && buf.size < PW_UNUSED_MAX; i++) {
        const struct pw_entry *entry = &record->entries[i];

        if (atomic_load(&entry->used) || entry->kind[0] == '\0' ||
            strncmp(entry->name, "rollback:", 9) == 0)
            continue;
        if (count == 0) {
            pw_json_open(&writer, '{');
            pw_json_key(&writer, "unused");
            pw_json_open(&writer, '[');
        }
        pw_json_add_text(&writer, entry->name);
        count++;
    }
    if (count > 0) {
        pw_json_close(&writer);
        pw_json_close(&writer);
        /* The list is for the audit only: if out of memory, the run ends without it. */
        (void)pw_branch_keep(trunk, &writer, &option);
    }
    pw_buf_done(&buf);
    return option;
}

static void
set_complete(pawl_run *trunk, pawl_bytes output)
{
    enum pw_json_problem problem;

    if (pw_branch_end(trunk, "handler") != PAWL_OK) {
        set_failure(trunk, PAWL_EINVAL);
        return;
    }
    if (trunk->task->rolling_back) {
        set_last(trunk, PW_KIND_COMPLETE, NULL, (pawl_bytes){0}, (pawl_bytes){0});
        return;
    }
    output = pw_bytes_or_null(output);
    problem =
        pw_json_scan(output.data, output.size, pw_task_payload_max(trunk->task), PW_PAYLOAD_DEPTH);
    /* guard:finish_payload */
    if (problem != PW_JSON_OK) {
        set_last(trunk, PW_KIND_FAIL, NULL,
            pw_error_make(&trunk->arena, problem == PW_JSON_TOO_LARGE ? "too_large" : "bad_payload",
                "the output of the run, %zu bytes, %s", output.size, pw_json_problem_text(problem)),
            final);
        return;
    }
    if (pw_branch_copy(trunk, output, &output) != PAWL_OK) {
        set_failure(trunk, PAWL_ENOMEM);
        return;
    }
    set_last(trunk, PW_KIND_COMPLETE, NULL, output, list_unused(trunk));
}

static void
set_drift(pawl_run *trunk)
{
    struct pw_json_writer writer;
    struct pw_buf buf;
    pawl_bytes option = {0};

    pw_buf_init(&buf, PW_OPTION_MAX);
    pw_json_writer_init(&writer, &buf);
    pw_json_open(&writer, '{');
    pw_json_key(&writer, "recorded");
    pw_json_add_text(&writer, trunk->drift_recorded);
    pw_json_key(&writer, "asked");
    pw_json_add_text(&writer, trunk->drift_asked);
    pw_json_close(&writer);
    /* If out of memory, the engine uses its own text. */
    (void)pw_branch_keep(trunk, &writer, &option);
    set_last(trunk, PW_KIND_DRIFT, trunk->drift_name, (pawl_bytes){0}, option);
}

void
pawl_run_finish(pawl_run *run, pawl_status status, pawl_bytes output)
{
    const pawl_bytes none = {0};
    pawl_run *trunk;

    if (!pw_branch_here(run))
        return;
    trunk = run->trunk;
    /*
     * 1. A call returns PAWL_SUSPENDED, because the run waits. 2. The handler does not return it, but continues and returns another
     * status. Without this, that status would end a run that waits. With duplicates the caller decides: one of several calls that it made
     * at the same time waits, and the handler may have gone on with the result of another.
     */
    /* guard:finish_suspended */
    if (trunk->stuck == PAWL_SUSPENDED && !trunk->has_dups)
        status = PAWL_SUSPENDED;
    /* guard:finish_lost */
    if (pw_branch_standing(trunk) == PAWL_ELEASE_LOST || atomic_load(&trunk->paused))
        set_last(trunk, PW_KIND_RELEASE, NULL, none, none);
    else if (trunk->drift_name != NULL)
        set_drift(trunk);
    else if (status == PAWL_OK)
        set_complete(trunk, output);
    else if (status == PAWL_SUSPENDED && pw_branch_standing(trunk) == PAWL_OK)
        set_last(trunk, PW_KIND_SUSPEND, NULL, none, none);
    else if (status == PAWL_ENOMEM && trunk->task->rolling_back)
        /* A failure would end the rollback, although no undo failed. */
        set_last(trunk, PW_KIND_RELEASE, NULL, none, none);
    else
        set_failure(trunk, status);
    trunk->task->last.busy_us = pw_run_busy_us(trunk);
    pw_task_post_last(trunk->task);
}
