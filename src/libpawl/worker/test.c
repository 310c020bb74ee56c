/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: executes all runs that can be executed now, on the calling thread. */
#include "pawl/test.h"
#include "base/time.h"
#include "libpawl/common/error.h"
#include "libpawl/worker/executor.h"
#include "libpawl/worker/worker.h"

/* How long one call waits for a run. */
static const int64_t look_ms = 2;

/*
 * A claim that returns nothing counts only if it began when no task was held. A run that just ended may have made its parent or child
 * ready, which only a later claim finds. Two in a row are needed, because the first may be the one that makes due tasks ready.
 */
enum {
    LOOKS = 2
};

/* Returns true if nothing can run, as far as the looks so far show; otherwise looks again when it is time. */
static bool
is_idle(pawl_worker *worker)
{
    int64_t claimed = pawl_worker_counter(worker, "claimed");
    bool held = pawl_worker_counter(worker, "held") > 0;

    /* A run that was claimed since the first look may have made others ready, which only a later claim finds. */
    if (held || claimed != worker->idle_claimed)
        worker->idle_looks = 0;
    worker->idle_claimed = claimed;
    if (held || (worker->idle_looks > 0 && !pw_worker_quiet(worker)))
        return false;
    if (worker->idle_looks == LOOKS) {
        worker->idle_looks = 0;
        return true;
    }
    pw_worker_look(worker);
    worker->idle_looks++;
    return false;
}

int
pawl_test_idle(pawl_worker *worker)
{
    struct pw_error err = {0};

    return !pw_worker_here(worker, &err) || is_idle(worker);
}

pawl_status
pawl_test_run_until_idle(pawl_worker *worker, int64_t timeout_ms, pawl_error **error)
{
    const pawl_bytes none = {0};
    struct pw_error err = {0};
    int64_t deadline_us =
        timeout_ms < 0 ? INT64_MAX : pw_add_us(pw_now_us(), pw_ms_to_us(timeout_ms));

    if (worker != NULL)
        worker->idle_looks = 0;
    for (;;) {
        pawl_run *run = NULL;
        pawl_status status = pawl_worker_next(worker, look_ms, &run, error);

        if (status != PAWL_OK && status != PAWL_ETIMEOUT)
            return status;
        if (status == PAWL_ETIMEOUT && error != NULL)
            pawl_error_free(*error);
        if (status == PAWL_OK)
            pw_executor_execute(worker, run);
        else if (is_idle(worker))
            return pw_error_export(&err, none, error);
        if (pw_now_us() >= deadline_us) {
            pw_error_set(&err, PAWL_ETIMEOUT, "timeout: runs can still continue");
            return pw_error_export(&err, none, error);
        }
    }
}
