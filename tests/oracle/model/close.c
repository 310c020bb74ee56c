/* SPDX-License-Identifier: Apache-2.0 */
/* Items about a claim as a whole: complete, fail, suspend, release, drift, start, note; and what a failure means. */
#include "flow.h"

#include <math.h>
#include <string.h>

void
oracle_pause_for_drift(struct oracle *o, struct oracle_run *run)
{
    run->place = ORACLE_WAITING;
    run->session = 0;
    run->request = 0;
    run->started = false;
    run->fence++;
    run->due_at = ORACLE_NEVER;
    run->reason = "drift";
    run->woken = true;
    run->paused = true;
    run->paused_by = "pawl";
    run->paused_why = "drift";
    run->paused_due = ORACLE_NONE;
    run->paused_reason = NULL;
    oracle_audit(o, run, "drift", NULL);
}

void
oracle_let_go(struct oracle *o, struct oracle_run *run, int64_t due_at, const char *reason)
{
    bool later = due_at > o->now;

    run->place = run->paused || later ? ORACLE_WAITING : oracle_ready_place(run->crashes);
    run->due_at = run->paused ? ORACLE_NEVER : due_at;
    run->reason = run->paused ? "operator" : later ? oracle_keep(o, reason) : NULL;
    run->session = 0;
    run->request = 0;
    run->started = false;
    run->woken = run->paused && !later;
    if (run->paused) {
        run->paused_due = due_at;
        run->paused_reason = oracle_keep(o, reason);
    }
    run->touched = true;
}

/* min(cap, base * factor ^ (n - 1)) */
static double
middle_delay(const struct oracle_policy *policy, int n)
{
    double base = policy->base_us < 1 ? 1 : (double)policy->base_us;

    return fmin((double)policy->cap_us, base * pow(policy->factor, n - 1));
}

static int64_t
delay_without_chance(const struct oracle_policy *policy, int n)
{
    return policy->jitter > 0 ? 0 : (int64_t)(middle_delay(policy, n) + 0.5);
}

/* That times (1 +- jitter), within a few microseconds of rounding. */
static bool
delay_is_allowed(const struct oracle_policy *policy, int n, int64_t delay_us)
{
    double middle = middle_delay(policy, n);

    return (double)delay_us >= middle * (1 - policy->jitter) - 3 &&
        (double)delay_us <= middle * (1 + policy->jitter) + 3;
}

bool
oracle_count_failure(struct oracle *o, struct oracle_run *run, const struct oracle_item *item,
    const char *name, const char **answer, int *failures, int64_t *due_at)
{
    const struct oracle_option *option = &item->option;
    const struct oracle_policy own = oracle_policy_of(run);
    const struct oracle_policy *policy = option->policy == NULL ? &own : option->policy;
    struct oracle_try *failed = oracle_find_try(run, name);
    int n = 1 + (failed == NULL ? 0 : failed->n);

    if (option->failure != 0 && option->failure < n) {
        /* The caller counts its failures, and this one is counted: the reply was lost. */
        *failures = n - 1;
        *due_at = failed == NULL ? o->now : failed->due_at;
        return false;
    }
    *failures = n;
    if (option->permanent || n >= policy->max_attempts)
        return true;
    /* With chance in it, not known when a later item of the same call has ended the run; then it does not matter either. */
    *due_at = option->retry_after_ms != ORACLE_NONE ? o->now + option->retry_after_ms * 1000
        : item->chosen_due_us != ORACLE_NONE        ? item->chosen_due_us
                                                    : o->now + delay_without_chance(policy, n);
    if (option->retry_after_ms == ORACLE_NONE && item->chosen_due_us != ORACLE_NONE &&
        !delay_is_allowed(policy, n, item->chosen_due_us - o->now))
        *answer = oracle_keepf(o, "not allowed: failure %d is tried again after %lld us", n,
            (long long)(item->chosen_due_us - o->now));
    if (failed == NULL)
        failed = oracle_push(&run->tries, &run->tries_count, sizeof(*failed));
    failed->name = oracle_keep(o, name);
    failed->n = n;
    failed->of = policy->max_attempts;
    failed->due_at = *due_at;
    failed->error = oracle_keep(o, item->payload == NULL ? "{}" : item->payload);
    oracle_audit(o, run, "attempt_failed", NULL);
    return false;
}

static void
complete(
    struct oracle *o, struct oracle_run *run, const struct oracle_item *item, const char **answer)
{
    if (run->rolling_back) {
        *answer = oracle_first_undone(run) != NULL
            ? "refused"
            : oracle_end_run(o, run, run->ending_status, NULL, run->ending_error, run->fence);
        return;
    }
    if (item->option.unused != NULL && run->workflow->strict_order) {
        oracle_audit(o, run, "unused_records", NULL);
        oracle_pause_for_drift(o, run);
        *answer = "refused";
        return;
    }
    *answer = item->not_json
        ? "refused"
        : oracle_end_run(o, run, ORACLE_SUCCESS, item->payload == NULL ? "null" : item->payload,
              NULL, run->fence);
    if (item->option.unused != NULL && strcmp(*answer, "ok") == 0)
        oracle_audit(o, run, "unused_records", NULL);
}

static void
fail(struct oracle *o, struct oracle_run *run, const struct oracle_item *item, const char **answer,
    const char **value)
{
    const char *error = item->payload == NULL ? "{}" : item->payload;
    int failures;
    int64_t due_at;

    if (item->not_json) {
        *answer = "refused";
        return;
    }
    if (run->rolling_back) {
        *answer = oracle_end_run(o, run, ORACLE_ERROR, NULL,
            oracle_keepf(o,
                "{\"code\": \"rollback_failed\", \"cause\": %s, \"error\": %s, \"status\": \"%s\", "
                "\"not_undone\": %s}",
                run->ending_error == NULL ? "null" : run->ending_error, error,
                run->ending_status == ORACLE_ERROR ? "ERROR" : "CANCELLED",
                oracle_undone(o, run, NULL)),
            run->fence);
        return;
    }
    if (!item->option.final &&
        !oracle_count_failure(o, run, item, "", answer, &failures, &due_at)) {
        oracle_let_go(o, run, due_at, "retry");
        *value = oracle_keepf(o, "{\"final\": false, \"failures\": %d}", failures);
        return;
    }
    *answer = oracle_end_or_roll_back(o, run, ORACLE_ERROR, error, true, true);
    *value = "{\"final\": true}";
}

static const char *
reason_of(const struct oracle_wait *wait)
{
    static const char *const reasons[] = {
        "", "step", "sleep", "event", "signal", "child", "signal"};

    return reasons[wait->kind];
}

/* No branch can move: due when the first wait or try is. A try that was due at the claim already, and that the handler
 * has not made again, comes last. Of equals the engine chooses whose reason is told. */
static void
suspend(
    struct oracle *o, struct oracle_run *run, const struct oracle_item *item, const char **answer)
{
    const char *reason = NULL;
    int64_t due_at = ORACLE_NEVER;
    bool found = false, old = true;

    if (run->woken) {
        oracle_let_go(o, run, o->now, NULL);
        return;
    }
    for (size_t i = 0; i < run->waits_count + run->tries_count; i++) {
        bool is_try = i >= run->waits_count;
        const struct oracle_try *failed = is_try ? &run->tries[i - run->waits_count] : NULL;
        int64_t due = is_try ? failed->due_at : run->waits[i].due_at;
        const char *why = is_try ? "retry" : reason_of(&run->waits[i]);
        bool is_old = is_try && due <= run->claimed_at;

        if (is_try && failed->name[0] == '\0')
            continue;
        if (!found || (old && !is_old) || (old == is_old && due < due_at) ||
            (old == is_old && due == due_at && oracle_same(why, item->chosen_reason))) {
            reason = why;
            due_at = due;
            old = is_old;
            found = true;
        }
    }
    if (found)
        oracle_let_go(o, run, due_at, reason);
    else
        *answer = "refused";
}

static void
release(struct oracle_run *run)
{
    run->place = run->paused ? ORACLE_WAITING : oracle_ready_place(run->crashes);
    run->due_at = run->paused ? ORACLE_NEVER : run->due_at;
    run->reason = run->paused ? "operator" : NULL;
    run->session = 0;
    run->request = 0;
    run->attempt -= run->started ? 1 : 0;
    run->started = false;
    run->woken = run->paused;
    run->touched = true;
}

static void
start(struct oracle *o, struct oracle_run *run, const char **answer)
{
    if (run->started) {
        *answer = "already";
        return;
    }
    run->started = true;
    run->attempt++;
    if (run->started_at == ORACLE_NONE)
        run->started_at = o->now;
    run->touched = true;
}

void
oracle_item_close(struct oracle *o, struct oracle_run *run, const struct oracle_item *item,
    const char **answer, const char **value)
{
    if (strcmp(item->kind, "complete") == 0) {
        complete(o, run, item, answer);
    } else if (strcmp(item->kind, "fail") == 0) {
        fail(o, run, item, answer, value);
    } else if (strcmp(item->kind, "suspend") == 0) {
        suspend(o, run, item, answer);
    } else if (strcmp(item->kind, "release") == 0) {
        release(run);
    } else if (strcmp(item->kind, "drift") == 0) {
        oracle_pause_for_drift(o, run);
    } else if (strcmp(item->kind, "start") == 0) {
        start(o, run, answer);
    } else if (item->payload == NULL ||
        (item->option.note != NULL && strcmp(item->option.note, "log") != 0 &&
            strcmp(item->option.note, "progress") != 0 &&
            strcmp(item->option.note, "value") != 0) ||
        run->whole->notes >= 1000) {
        *answer = "refused";
    } else {
        run->whole->notes++;
        run->touched = true;
    }
}
