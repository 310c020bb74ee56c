/* SPDX-License-Identifier: Apache-2.0 */
/* Notices of runs that must stop, and log lines: programs with their own event loop fetch them besides runs. */
#include "base/time.h"
#include "libpawl/worker/worker.h"

void
pw_task_notify(struct pw_notice *notice, int reason)
{
    pw_inbox_notify(&notice->task->worker->inbox, notice, reason);
}

void
pw_task_drop_notice(struct pw_notice *notice, int reason)
{
    pw_inbox_drop_notice(&notice->task->worker->inbox, notice, reason);
}

void
pw_task_watch(struct pw_task *task, int64_t deadline_us)
{
    pw_inbox_watch(&task->worker->inbox, deadline_us);
}

void
pw_notice_turn(pawl_worker *worker, int64_t now_us)
{
    const struct pw_map_entry *entry;
    int64_t next_us = INT64_MAX;
    size_t at = 0;

    if (!pw_inbox_limits_due(&worker->inbox, now_us))
        return;
    while ((entry = pw_map_next(&worker->tasks, &at)) != NULL) {
        struct pw_task *task = entry->value;
        int64_t at_us;

        if (task->run == NULL || task->finished)
            continue;
        at_us = pw_run_notify_late(task->run, now_us);
        if (at_us < next_us)
            next_us = at_us;
        if (now_us >= task->run_deadline_us)
            pw_task_notify(pw_run_notice(task->run), PAWL_NOTICE_RUN_TIMEOUT);
        else if (task->run_deadline_us < next_us)
            next_us = task->run_deadline_us;
    }
    pw_inbox_watch(&worker->inbox, next_us);
}

pawl_status
pawl_worker_notice(pawl_worker *worker, pawl_run **run, int *reason)
{
    struct pw_error err = {0};

    if (!pw_worker_here(worker, &err) || run == NULL || reason == NULL)
        return PAWL_EINVAL;
    return pw_inbox_notice(&worker->inbox, run, reason);
}

pawl_status
pawl_worker_log_next(pawl_worker *worker, const pawl_log_line **line)
{
    struct pw_error err = {0};

    if (!pw_worker_here(worker, &err) || line == NULL)
        return PAWL_EINVAL;
    *line = pw_inbox_log_next(&worker->inbox);
    return *line != NULL ? PAWL_OK : PAWL_ETIMEOUT;
}
