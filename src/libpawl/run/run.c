/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about a run, memory that lives as long as it does, and what the worker does with its branches. */
#include "libpawl/run/run.h"

#include "base/time.h"
#include "libpawl/run/branch.h"
#include "pawl/worker.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Maximum size of one step in the heartbeat, in bytes: names need no escapes. */
static const size_t running_max = 200 + PW_IDENTITY_MAX;

pawl_run *
pw_run_new(struct pw_task *task)
{
    pawl_run *run = pw_branch_new(task, NULL, "", "");

    if (run == NULL)
        return NULL;
    if (pthread_mutex_init(&run->lock, NULL) != 0) {
        pw_branch_free(run);
        return NULL;
    }
    atomic_store(&task->seq, task->record.seq_max);
    return run;
}

void
pw_run_free(pawl_run *run)
{
    struct pw_list *link;

    if (run == NULL)
        return;
    while ((link = pw_list_first(&run->boughs)) != NULL) {
        pw_list_remove(link);
        pw_branch_free(PW_CONTAINER(link, pawl_run, bough));
    }
    (void)pthread_mutex_destroy(&run->lock); /* no thread holds it */
    pw_branch_free(run);
}

void
pw_run_answered(pawl_run *run)
{
    if (!run->nonblocking) {
        (void)sem_post(&run->answered); /* never more than one, so it cannot overflow */
        return;
    }
    pw_worker_ready(run->task->worker, run);
}

void
pw_run_gather(pawl_run *run, struct pw_list *woken, struct pw_list *offered)
{
    pw_list_add_tail(run->nonblocking ? offered : woken, &run->link);
}

void
pw_run_wake(struct pw_list *woken)
{
    struct pw_list *first = pw_list_first(woken);
    struct pw_list *parent = first;
    struct pw_list *child = first == NULL ? NULL : pw_list_next(woken, first);
    struct pw_list *link;

    while (child != NULL) {
        pawl_run *run = PW_CONTAINER(parent, pawl_run, link);

        for (size_t i = 0; i < PW_WAKES && child != NULL; i++) {
            run->wakes[i] = PW_CONTAINER(child, pawl_run, link);
            child = pw_list_next(woken, child);
        }
        parent = pw_list_next(woken, parent);
    }
    /* Once the first branch is awake, all of them can continue and be freed. */
    while ((link = pw_list_first(woken)) != NULL)
        pw_list_remove(link);
    if (first != NULL)
        pw_run_answered(PW_CONTAINER(first, pawl_run, link));
}

struct pw_arena *
pw_run_arena(pawl_run *run)
{
    return &run->answers;
}

struct pw_list *
pw_run_link(pawl_run *run)
{
    return &run->link;
}

pawl_run *
pw_run_of_link(struct pw_list *link)
{
    pawl_run *run = PW_CONTAINER(link, pawl_run, link);

    run->returned = true;
    pw_run_resume(run);
    return run;
}

void
pw_run_resume(pawl_run *run)
{
    run->resumed_us = pw_now_us();
}

int64_t
pw_run_busy_us(const pawl_run *run)
{
    int64_t busy_us = run->resumed_us > 0 ? pw_now_us() - run->resumed_us : 0;

    return busy_us > 0 ? busy_us : 0;
}

void
pw_run_set_userdata(pawl_run *run, void *userdata)
{
    run->trunk->userdata = userdata;
    run->trunk->has_userdata = true;
}

/* With the lock held. */
static void
write_running(
    const pawl_run *run, int64_t now_us, int64_t min_us, struct pw_buf *json, size_t *count)
{
    int64_t since_us = now_us - run->executing_since_us;

    if (!run->executing || since_us < min_us || json->max - json->size < running_max)
        return;
    pw_buf_addf(json,
        "%s{\"run\":\"%s\",\"task\":%" PRId32 ",\"step\":\"%s\",\"started_ms\":%" PRId64,
        *count > 0 ? "," : "", run->task->id_text, run->task->number, run->executing_step,
        since_us > 0 ? since_us / 1000 : 0);
    if (run->executing_timeout_ms >= 0)
        pw_buf_addf(json, ",\"timeout_ms\":%" PRId64, run->executing_timeout_ms);
    pw_buf_addc(json, '}');
    ++*count;
}

void
pw_run_write_running(
    pawl_run *run, int64_t now_us, int64_t min_us, struct pw_buf *json, size_t *count)
{
    struct pw_list *link;

    (void)pthread_mutex_lock(&run->lock);
    write_running(run, now_us, min_us, json, count);
    for (link = pw_list_first(&run->boughs); link != NULL; link = pw_list_next(&run->boughs, link))
        write_running(PW_CONTAINER(link, pawl_run, bough), now_us, min_us, json, count);
    (void)pthread_mutex_unlock(&run->lock);
}

size_t
pw_run_count_running(pawl_run *run, int64_t now_us, int64_t min_us)
{
    struct pw_list *link;
    size_t count;

    (void)pthread_mutex_lock(&run->lock);
    count = run->executing && now_us - run->executing_since_us >= min_us;
    for (link = pw_list_first(&run->boughs); link != NULL;
         link = pw_list_next(&run->boughs, link)) {
        const pawl_run *branch = PW_CONTAINER(link, pawl_run, bough);

        count += branch->executing && now_us - branch->executing_since_us >= min_us;
    }
    (void)pthread_mutex_unlock(&run->lock);
    return count;
}

struct pw_notice *
pw_run_notice(pawl_run *run)
{
    return &run->notice;
}

/* Reports the open step of a branch if it is late. Returns when it will be. With the trunk's lock held. */
static int64_t
notify_late(pawl_run *run, int64_t now_us)
{
    int64_t deadline_us =
        pw_add_us(run->executing_since_us, pw_ms_to_us(run->executing_timeout_ms));

    if (!run->executing || run->executing_timeout_ms < 0 || run->late_told)
        return INT64_MAX;
    if (now_us < deadline_us)
        return deadline_us;
    /*
     * 1. The step's thread ends the step, and waits for this lock. 2. This thread reports the step and unlocks. 3. The step's thread sees
     * late_told, and drops the notice. Without the lock around both, the notice could be about the next step of the branch.
     */
    run->late_told = true;
    pw_task_notify(&run->notice, PAWL_NOTICE_STEP_TIMEOUT);
    return INT64_MAX;
}

int64_t
pw_run_notify_late(pawl_run *run, int64_t now_us)
{
    struct pw_list *link;
    int64_t next_us;

    (void)pthread_mutex_lock(&run->lock);
    next_us = notify_late(run, now_us);
    for (link = pw_list_first(&run->boughs); link != NULL;
         link = pw_list_next(&run->boughs, link)) {
        int64_t at_us = notify_late(PW_CONTAINER(link, pawl_run, bough), now_us);

        if (at_us < next_us)
            next_us = at_us;
    }
    (void)pthread_mutex_unlock(&run->lock);
    return next_us;
}

const char *
pawl_run_id(const pawl_run *run)
{
    return run != NULL ? run->task->id_text : "";
}

const char *
pawl_run_workflow(const pawl_run *run)
{
    return run != NULL ? run->task->workflow : "";
}

const char *
pawl_run_tenant(const pawl_run *run)
{
    return run != NULL ? run->task->tenant : "";
}

pawl_bytes
pawl_run_input(const pawl_run *run)
{
    return run != NULL ? run->task->input : (pawl_bytes){0};
}

pawl_bytes
pawl_run_metadata(const pawl_run *run)
{
    return run != NULL ? run->task->metadata : (pawl_bytes){0};
}

int
pawl_run_task(const pawl_run *run)
{
    return run != NULL ? run->task->number : 0;
}

int
pawl_run_execution(const pawl_run *run)
{
    return run != NULL ? run->task->execution : 0;
}

void *
pawl_run_userdata(const pawl_run *run)
{
    if (run == NULL)
        return NULL;
    return run->trunk->has_userdata ? run->trunk->userdata : run->task->userdata;
}

pawl_status
pawl_run_check(const pawl_run *run)
{
    int64_t deadline_us;
    pawl_status status;

    if (!pw_branch_here(run))
        return PAWL_EINVAL;
    status = pw_branch_standing(run);
    if (status != PAWL_OK)
        return status;
    deadline_us = atomic_load(&run->deadline_us);
    if (run->task->run_deadline_us < deadline_us)
        deadline_us = run->task->run_deadline_us;
    return deadline_us != INT64_MAX && pw_now_us() >= deadline_us ? PAWL_ETIMEOUT : PAWL_OK;
}

void *
pawl_run_alloc(pawl_run *run, size_t size)
{
    return run != NULL ? pw_arena_alloc(&run->arena, size) : NULL;
}

pawl_status
pawl_run_printf(pawl_run *run, pawl_bytes *out, const char *format, ...)
{
    va_list args;
    char *text;
    int size;

    if (run == NULL || out == NULL || format == NULL)
        return PAWL_EINVAL;
    va_start(args, format);
    size = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (size < 0)
        return PAWL_EINVAL;
    text = pw_arena_alloc(&run->arena, (size_t)size + 1);
    if (text == NULL)
        return PAWL_ENOMEM;
    va_start(args, format);
    size = vsnprintf(text, (size_t)size + 1, format, args);
    va_end(args);
    *out = (pawl_bytes){text, (size_t)size};
    return PAWL_OK;
}

pawl_status
pawl_run_quote(pawl_run *run, const char *text, pawl_bytes *out)
{
    struct pw_buf buf;
    pawl_status status;

    if (run == NULL || text == NULL || out == NULL)
        return PAWL_EINVAL;
    pw_buf_init(&buf, pw_task_memory_max(run->task));
    pw_json_string(&buf, text, strlen(text));
    status =
        pw_buf_ok(&buf) ? pw_branch_copy(run, (pawl_bytes){buf.data, buf.size}, out) : PAWL_ENOMEM;
    pw_buf_done(&buf);
    return status;
}

void
pawl_run_set_nonblocking(pawl_run *run)
{
    if (run != NULL)
        run->nonblocking = true;
}

void
pawl_run_set_context(pawl_run *run, void *context)
{
    if (run != NULL)
        run->context = context;
}

void *
pawl_run_context(const pawl_run *run)
{
    return run != NULL ? run->context : NULL;
}
