/* SPDX-License-Identifier: Apache-2.0 */
/* The border between handlers and the I/O thread: how items are posted and answered, and how a task ends. */
#include "libpawl/run/task.h"

#include "base/alloc.h"
#include "base/json_write.h"
#include "base/time.h"
#include "libpawl/worker/worker.h"

#include <assert.h>
#include <string.h>
#include <unistd.h>

size_t
pw_task_payload_max(const struct pw_task *task)
{
    return (size_t)task->worker->settings.payload_max;
}

size_t
pw_task_memory_max(const struct pw_task *task)
{
    return (size_t)task->worker->settings.memory_max;
}

size_t
pw_task_thread_stack(const struct pw_task *task)
{
    return task->worker->settings.thread_stack;
}

/* Frees a task to which the I/O thread has no pointer any more. */
static void
free_task(pawl_worker *worker, struct pw_task *task)
{
    bool unwritten = task->unwritten;

    pw_run_free(task->run);
    pw_arena_done(&task->arena);
    pw_free(task);
    pw_inbox_drop_task(&worker->inbox, unwritten);
}

void
pw_task_post(struct pw_item *item)
{
    assert(item->task != NULL);
    item->answer = PW_ANSWER_NONE;
    if (!pw_inbox_post(&item->task->worker->inbox, item, false)) {
        item->answer = PW_ANSWER_FAILED;
        item->reason = "the worker has stopped";
        if (item->branch != NULL)
            pw_run_answered(item->branch);
        else
            pw_free(item);
    }
}

void
pw_task_post_last(struct pw_task *task)
{
    pawl_worker *worker = task->worker;

    task->last.task = task;
    task->last.branch = NULL;
    task->last.answer = PW_ANSWER_NONE;
    if (!pw_inbox_post(&worker->inbox, &task->last, true))
        free_task(worker, task);
}

void
pw_task_give_back(struct pw_task *task)
{
    assert(!task->finished);
    task->last.kind = PW_KIND_RELEASE;
    pw_task_post_last(task);
}

bool
pw_task_foreign(const struct pw_task *task)
{
    /* guard:task_of_this_process */
    return task->worker->pid != getpid();
}

enum pw_standing
pw_task_may_start(struct pw_task *task)
{
    pawl_worker *worker = task->worker;
    enum pw_standing standing = (enum pw_standing)atomic_load(&task->standing);

    /* guard:lease_before_start */
    if (standing != PW_GOES_ON || pw_now_us() < atomic_load(&worker->inbox.lease_until_us))
        return standing;
    /* The process was stopped, or the database is unreachable. The reply to a heartbeat shows whether the lease was lost. */
    pw_inbox_await_lease(&worker->inbox, task);
    return (enum pw_standing)atomic_load(&task->standing);
}

bool
pw_task_await_lease(struct pw_task *task, pawl_run *branch)
{
    pawl_worker *worker = task->worker;

    /* guard:lease_before_return */
    if (atomic_load(&task->standing) != PW_GOES_ON ||
        pw_now_us() < atomic_load(&worker->inbox.lease_until_us))
        return false;
    return pw_inbox_unsure(&worker->inbox, task, pw_run_link(branch));
}

void
pw_worker_ready(pawl_worker *worker, pawl_run *branch)
{
    struct pw_list offered;

    pw_list_init(&offered);
    pw_list_add_tail(&offered, pw_run_link(branch));
    pw_inbox_offer(&worker->inbox, &offered);
}

void
pw_task_tell(struct pw_task *task, enum pw_standing standing)
{
    int known = atomic_load(&task->standing);

    /* A handler's thread may set PW_LEASE_LOST at the same time. */
    while (known < (int)standing &&
        !atomic_compare_exchange_weak(&task->standing, &known, (int)standing))
        ;
    /* A paused run continues to its next step, and a lost one is not also cancelled. */
    if (task->run != NULL && standing > PW_PAUSED && atomic_load(&task->standing) == (int)standing)
        pw_task_notify(pw_run_notice(task->run),
            standing == PW_CANCELLED ? PAWL_NOTICE_CANCELLED : PAWL_NOTICE_LEASE_LOST);
}

void
pw_item_take(struct pw_item *item)
{
    assert(item->task != NULL && item->answer == PW_ANSWER_NONE);
    item->task->pending++;
}

/* Forgets and frees a task that no handler uses any more. The map may have a later claim of the same task. */
static void
forget_task(pawl_worker *worker, struct pw_task *task)
{
    if (pw_map_get(&worker->tasks, &task->id, task->number) == task)
        (void)pw_map_remove(&worker->tasks, &task->id, task->number);
    pw_list_remove(&task->parked_link);
    if (task->suspect)
        worker->claimer.suspect_held = false;
    pw_worker_add(worker, PW_COUNT_FINISHED, 1);
    free_task(worker, task);
}

void
pw_item_answer(pawl_worker *worker, struct pw_item *item, enum pw_answer answer, const char *reason)
{
    struct pw_task *task = item->task;

    assert(answer != PW_ANSWER_NONE && task->pending > 0);
    item->answer = answer;
    item->reason = reason;
    if (answer == PW_ANSWER_LEASE_LOST) {
        pw_task_tell(task, PW_LEASE_LOST);
        pw_worker_add(worker, PW_COUNT_LEASE_LOST, 1);
    } else if (answer == PW_ANSWER_CANCELLED) {
        pw_task_tell(task, PW_CANCELLED);
    }
    task->pending--;
    task->ended = task->ended || item == &task->last;
    if (item->branch != NULL)
        pw_run_gather(item->branch, &worker->woken, &worker->offered);
    else if (item != &task->last)
        pw_free(item);
    /* Notes may be in flight when the last item is answered: the item that is answered last frees the task. */
    if (task->ended && task->pending == 0)
        forget_task(worker, task);
}

void
pw_task_fail_instead(struct pw_task *task, const char *reason)
{
    struct pw_item *item = &task->last;
    struct pw_buf json;

    assert(reason != NULL && !task->ended);
    task->failed_instead = true;
    pw_buf_init(&json, 8192);
    pw_buf_adds(&json,
        item->kind == PW_KIND_SUSPEND ? "{\"code\": \"waits_for_nothing\", \"message\": "
                                      : "{\"code\": \"refused\", \"message\": ");
    pw_json_string(&json, reason, strlen(reason));
    pw_buf_addc(&json, '}');
    item->kind = PW_KIND_FAIL;
    item->name = NULL;
    item->answer = PW_ANSWER_NONE;
    item->option = pawl_text("{\"final\": true}");
    item->payload = pawl_text("{\"code\": \"refused\"}");
    if (pw_buf_ok(&json)) {
        const char *copy = pw_arena_copy(&task->arena, json.data, json.size);

        if (copy != NULL)
            item->payload = (pawl_bytes){copy, json.size};
    }
    pw_buf_done(&json);
}

void
pw_task_lose(pawl_worker *worker, struct pw_task *task)
{
    struct pw_list items;
    struct pw_list *link;

    pw_task_tell(task, PW_LEASE_LOST);
    pw_list_init(&items);
    pw_list_move_all(&items, &task->items);
    /* The answer to the last item may free the task. */
    while ((link = pw_list_first(&items)) != NULL) {
        pw_list_remove(link);
        pw_item_answer(worker, PW_CONTAINER(link, struct pw_item, link), PW_ANSWER_LEASE_LOST,
            "the session has ended");
    }
}
