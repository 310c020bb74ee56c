/* SPDX-License-Identifier: Apache-2.0 */
/* pawl top, whose questions are answered by what was found: no answer may harm it. Stands in for the call of the library. */
#include "base/time.h"
#include "cli/top/top_look.h"
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

static struct fuzz_input answers;

static const char *const runs_columns[] = {"run_id", "workflow", "status", "reason", "key",
    "worker", "triggered_at", "started_at", "ended_at", "due_at", "ending", "rolling_back", NULL};
static const char *const queues_columns[] = {
    "queue", "ready_shown", "ready", "held", "workers", "paused", "oldest_ready", NULL};
static const char *const workers_columns[] = {
    "worker", "state", "held", "lease_until", "running", NULL};
static const char *const metrics_columns[] = {
    "succeeded", "failed", "cancelled", "mean_seconds", "mean_wait_seconds", "minute", NULL};
static const char *const pauses_columns[] = {
    "subject", "paused_by", "why", "refuses_triggers", NULL};
static const char *const run_columns[] = {"error", NULL};
static const char *const now_columns[] = {"now", NULL};

static const struct {
    const char *verb;
    const char *const *columns;
} verbs[] = {{"list_runs", runs_columns}, {"list_queues", queues_columns},
    {"list_workers", workers_columns}, {"metrics", metrics_columns}, {"now", now_columns},
    {"list_pauses", pauses_columns}, {"get_run", run_columns}, {"result", run_columns}};

pawl_status
pawl_client_call(pawl_client *client, const char *verb, const char *const *names,
    const char *const *values, size_t count, pawl_rows **rows, pawl_error **error)
{
    (void)client;
    (void)names;
    (void)values;
    (void)count;
    (void)error;
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        if (strcmp(verbs[i].verb, verb) == 0) {
            *rows = fuzz_rows(&answers, verbs[i].columns);
            return PAWL_OK;
        }
    }
    fuzz_check(false, "a verb that nobody knows");
    return PAWL_EINVAL;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct top_look *look = top_look_new(NULL, 1000000);
    const struct top_view *view;
    pawl_error *error = NULL;
    enum top_list list;

    fuzz_check(look != NULL, "out of memory");
    answers = fuzz_input(data, size);
    list = (enum top_list)(fuzz_byte(&answers) % TOP_LISTS);
    for (int turn = 0; turn < 2; turn++) {
        fuzz_check(top_look_ask(look, list, &error) == PAWL_OK, "no answer");
        fuzz_check(top_look_take(look), "out of memory");
        fuzz_check(top_look_ask_texts(look, &error) == PAWL_OK, "no answer");
        top_look_take_texts(look);
        top_look_hurry(look);
    }
    view = top_look_view(look);
    fuzz_check(view->failure_count <= TOP_FAILURES_MAX, "more failures than there is room for");
    top_look_free(look);
    return 0;
}
