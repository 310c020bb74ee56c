/* SPDX-License-Identifier: Apache-2.0 */
/* Commit: what one item after another comes to. Steps are here, waits in wait.c, what lets go of a claim in close.c. */
#include "flow.h"
#include "meanwhile.h"

#include <inttypes.h>
#include <string.h>

static bool
one_of(const char *word, const char *const *words)
{
    for (; *words != NULL; words++)
        if (word != NULL && strcmp(word, *words) == 0)
            return true;
    return false;
}

static const char *const step_kinds[] = {"step", "begin", "step_error", "retry", "confirm", NULL};
static const char *const wait_kinds[] = {
    "", "step", "sleep", "event", "signal", "child", "approval", NULL};
static const char *const closing_kinds[] = {
    "complete", "fail", "suspend", "release", "drift", NULL};
static const char *const other_kinds[] = {"start", "note", NULL};
static const char *const late_kinds[] = {"step", "complete", "fail", "step_error", NULL};

const char *
oracle_value_of(struct oracle *o, const struct oracle_step *step)
{
    static const char *const states[] = {"", "SUCCESS", "ERROR", "RUNNING", "SKIPPED"};

    return oracle_keepf(o, "{\"error\": %s, \"state\": \"%s\", \"output\": %s}",
        step->error == NULL ? "null" : step->error, states[step->state],
        step->output == NULL ? "null" : step->output);
}

/* What this name came to in any round, or NULL: for a claim that is over and asks again. */
const char *
oracle_recorded(struct oracle *o, struct oracle_run *run, const char *name)
{
    const struct oracle_step *found = NULL;
    const struct oracle_wait *wait;

    if (name == NULL)
        return NULL;
    /* First, because a record of that name is of an earlier round. */
    wait = oracle_find_wait(run, name);
    if (wait != NULL)
        return wait->child == NULL
            ? oracle_keep(o, "{\"child\": null, \"state\": \"PAUSED\"}")
            : oracle_keepf(o, "{\"child\": \"%s\", \"state\": \"PAUSED\"}", wait->child);
    for (size_t i = 0; i < run->steps_count; i++)
        if (strcmp(run->steps[i].name, name) == 0 &&
            (found == NULL || run->steps[i].round > found->round))
            found = &run->steps[i];
    return found == NULL ? NULL : oracle_value_of(o, found);
}

static bool
word_is_good(const char *word, size_t length)
{
    return length >= 1 && length <= 100 &&
        strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_.-") >= length;
}

/* BRANCH/NAME#n */
static bool
name_is_good(const char *name)
{
    const char *hash, *slash;
    size_t digits;

    if (name == NULL || strlen(name) > 240)
        return false;
    name += strncmp(name, "rollback:", 9) == 0 ? 9 : 0;
    while ((slash = strchr(name, '/')) != NULL) {
        if (!word_is_good(name, (size_t)(slash - name)))
            return false;
        name = slash + 1;
    }
    hash = strchr(name, '#');
    if (hash == NULL || !word_is_good(name, (size_t)(hash - name)))
        return false;
    digits = strspn(hash + 1, "0123456789");
    return digits >= 1 && digits <= 9 && hash[1 + digits] == '\0';
}

/* Steps inside of tasks may have the same names, so those of their undos begin with the task. NULL: it is none. */
static const char *
undo_name_in_task(struct oracle *o, const struct oracle_run *run, const char *name)
{
    int place = run->task % ORACLE_STEP_SPAN;

    if (run->task == 0)
        return NULL;
    return oracle_keepf(
        o, "%s/%d/%s", oracle_step_of(run, run->task)->name, place == 0 ? 1 : place, name);
}

static bool
item_is_good(const struct oracle_run *run, const struct oracle_item *item)
{
    bool named = one_of(item->kind, step_kinds) || one_of(item->kind, wait_kinds);

    if (!named && !one_of(item->kind, closing_kinds) && !one_of(item->kind, other_kinds))
        return false;
    if (named &&
        (!name_is_good(item->name) ||
            (strncmp(item->name, "rollback:", 9) == 0) != run->rolling_back))
        return false;
    if (strcmp(item->kind, "begin") == 0 && (item->option.undo == NULL || run->rolling_back))
        return false;
    if (strcmp(item->kind, "sleep") == 0 && item->option.ms == ORACLE_NONE)
        return false;
    return item->payload == NULL || strlen(item->payload) <= ORACLE_PAYLOAD_MAX;
}

/*
 * Noted once for each claim, kind and name: whoever sends it again has not done it again. Who finds another call of the session at it is to
 * come again.
 */
static const char *
answer_late(
    struct oracle *o, int64_t session, struct oracle_run *run, const struct oracle_item *item)
{
    if (!one_of(item->kind, late_kinds))
        return "lease_lost";
    if (oracle_is_held(o, oracle_keepf(o, ORACLE_LATE "%s", item->run)))
        return "busy";
    oracle_audit_once(o, run, "late_result",
        oracle_keepf(o, "%" PRId64 " %d %s %s", session, item->fence, item->kind,
            item->name == NULL ? "" : item->name));
    return "lease_lost";
}

/* A task that does not live, of a run that is there: its claim has ended it and asks again, or lost it. NULL: it did not end it. */
static const char *
answer_done(
    struct oracle *o, struct oracle_run *task, const struct oracle_item *item, const char **value)
{
    static const char *const recording[] = {"step", "begin", "step_error", "confirm", NULL};

    for (size_t i = 0; i < task->steps_count; i++) {
        const struct oracle_step *record = &task->steps[i];

        if (record->full_name == NULL || record->fence != item->fence ||
            (record->state != ORACLE_SUCCESS && record->state != ORACLE_ERROR))
            continue;
        *value = strcmp(item->kind, "complete") == 0 || strcmp(item->kind, "fail") == 0
            ? oracle_value_of(o, record)
            : oracle_recorded(o, task, item->name);
        return *value != NULL || !one_of(item->kind, recording) ? "already" : NULL;
    }
    return NULL;
}

/* Whether a run of this workflow can have a task of this number. */
static bool
can_have_task(const struct oracle_workflow *w, int task)
{
    int step = task / ORACLE_STEP_SPAN;

    return w->flow && step >= 1 && step <= w->steps_count &&
        (w->steps[step - 1].map_from == -1) == (task % ORACLE_STEP_SPAN == 0);
}

/* The run does not live. */
static const char *
answer_ended(struct oracle *o, int64_t session, struct oracle_run *run,
    const struct oracle_item *item, const char **value)
{
    const struct oracle_round *last = run == NULL ? NULL : oracle_last_round(run);
    static const char *const recording[] = {"step", "begin", "step_error", "confirm", NULL};

    if (last == NULL)
        return "refused";
    if (item->task > 0) {
        struct oracle_run *task = oracle_task(run, item->task);
        const char *answer = answer_done(o, task, item, value);

        if (answer != NULL)
            return answer;
        if (!can_have_task(run->workflow, item->task))
            return "refused";
        if (last->status == 3)
            return "cancelled";
        return answer_late(o, session, task, item);
    }
    /* The claim that ended it asks again; a cancelled run answers as it did the first time. */
    if (last->session == session && last->fence == item->fence &&
        (last->status != 3 || last->rolled_back)) {
        *value = oracle_recorded(o, run, item->name);
        if (strcmp(item->kind, "complete") == 0 && last->status == 2 && !last->rolled_back)
            return "refused";
        if (*value != NULL || !one_of(item->kind, recording))
            return "already";
    }
    if (last->status == 3)
        return "cancelled";
    return answer_late(o, session, run, item);
}

/* Writes the end of a step: a new record, or the one that its start wrote. */
static void
put_step(struct oracle *o, struct oracle_run *run, struct oracle_step *old,
    const struct oracle_item *item, enum oracle_state state, int failures)
{
    const struct oracle_try *failed = oracle_find_try(run, item->name);
    int attempt = failures > 0 ? failures : 1 + (failed == NULL ? 0 : failed->n);

    if (old == NULL) {
        old = oracle_record(o, run, item->name, ORACLE_STEP, state, item->seq);
        old->started_at = o->now - (int64_t)item->millis * 1000;
    }
    old->round = run->round;
    old->fence = run->fence;
    old->state = state;
    old->ended_at = o->now;
    old->attempt = attempt;
    old->output = state == ORACLE_SUCCESS ? oracle_keep(o, item->payload) : NULL;
    old->error =
        state != ORACLE_ERROR ? NULL : oracle_keep(o, item->payload == NULL ? "{}" : item->payload);
    run->touched = true;
    oracle_progress(run, item->name);
}

static const char *
fail_try(struct oracle *o, struct oracle_run *run, struct oracle_step *old,
    const struct oracle_item *item, const char **value)
{
    const char *answer = "ok";
    int failures;
    int64_t due_at;

    if (oracle_count_failure(o, run, item, item->name, &answer, &failures, &due_at)) {
        put_step(o, run, old, item, ORACLE_ERROR, failures);
        *value = oracle_keepf(o, "{\"final\": true, \"failures\": %d}", failures);
    } else {
        *value = oracle_keepf(o, "{\"final\": false, \"failures\": %d}", failures);
    }
    return answer;
}

static const char *
item_step(
    struct oracle *o, struct oracle_run *run, const struct oracle_item *item, const char **value)
{
    struct oracle_step *old = oracle_find_step(run, item->name);
    const struct oracle_wait *open = oracle_find_wait(run, item->name);

    if (old == NULL ? open != NULL : old->kind != ORACLE_STEP) {
        oracle_pause_for_drift(o, run);
        return "refused";
    }
    if (old != NULL && old->state != ORACLE_RUNNING) {
        *value = oracle_value_of(o, old);
        return "already";
    }
    if (strcmp(item->kind, "confirm") == 0)
        return "refused";
    if (strcmp(item->kind, "begin") == 0) {
        struct oracle_step *step;

        if (old != NULL)
            return "already";
        step = oracle_record(o, run, item->name, ORACLE_STEP, ORACLE_RUNNING, item->seq);
        step->undo = oracle_keep(o, item->option.undo);
        step->undo_name = undo_name_in_task(o, run, item->name);
        run->crashes = 0;
        return "ok";
    }
    if (item->not_json)
        return "refused";
    if (strcmp(item->kind, "retry") == 0)
        return fail_try(o, run, old, item, value);
    put_step(o, run, old, item, strcmp(item->kind, "step") == 0 ? ORACLE_SUCCESS : ORACLE_ERROR, 0);
    return "ok";
}

/* The claim whose fence this is has let go of the run, and nobody has claimed it since. */
static bool
let_go_before(
    struct oracle *o, struct oracle_run *run, const struct oracle_item *item, const char **value)
{
    static const char *const kinds[] = {"suspend", "release", "fail", "start", "note", NULL};

    if (run->session != 0)
        return false;
    if (run->fence == item->fence) {
        *value = oracle_recorded(o, run, item->name);
        return one_of(item->kind, kinds) || *value != NULL ||
            (strcmp(item->kind, "retry") == 0 && oracle_find_try(run, item->name) != NULL);
    }
    /* Its own failure has started the rollback, and that raised the fence. */
    return run->rolling_back && run->fence == item->fence + 1 &&
        one_of(item->kind, closing_kinds) && run->ending_fence == item->fence;
}

/* A task waits for something when its run is about to fail: what it waits for goes with it. */
static bool
does_not_see_ending(
    const struct oracle *o, const struct oracle_run *task, const struct oracle_item *item)
{
    return o->meanwhile != NULL && o->meanwhile->unseen_ending && !task->ending &&
        strcmp(item->kind, "child") != 0;
}

static const char *
row_of(struct oracle *o, const struct oracle_item *item)
{
    return item->task == 0 ? item->run : oracle_keepf(o, "%s/%d", item->run, item->task);
}

static const char *
commit_one(struct oracle *o, int64_t session, const struct oracle_item *item, const char **value)
{
    struct oracle_run *run = oracle_find_run(o, item->run);
    const char *answer = "ok";
    enum oracle_kind kind = ORACLE_STEP;

    if (session >> 32 != o->epoch)
        return "lease_lost";
    /* Also if it has ended since. */
    if (o->meanwhile != NULL && oracle_is_held(o, row_of(o, item)))
        return "busy";
    if (run == NULL || !run->living)
        return answer_ended(o, session, run, item, value);
    if (item->task > 0 && !run->workflow->flow)
        return oracle_last_round(run) == NULL ? "refused"
                                              : answer_ended(o, session, run, item, value);
    run = oracle_task(run, item->task);
    if (oracle_locked(o, run))
        return "busy";
    if (!run->living) {
        const char *done = answer_done(o, run, item, value);

        if (done == NULL && !can_have_task(run->workflow, item->task))
            return "refused";
        return done == NULL ? answer_late(o, session, run, item) : done;
    }
    if (let_go_before(o, run, item, value))
        return "already";
    if (run->session != session || run->fence != item->fence)
        return answer_late(o, session, run, item);
    if (item->task > 0 && one_of(item->kind, closing_kinds)) {
        /* What lets go of a task concerns the whole run. */
        if (oracle_flow_is_locked(o, run->whole))
            return "busy";
        if (!item_is_good(run, item))
            return "refused";
        oracle_item_task(o, run, item, &answer, value);
        return answer;
    }
    /* A child that a failure at the same time does not see would never be cancelled. */
    if (item->task > 0 && strcmp(item->kind, "child") == 0 && oracle_locked(o, run->whole))
        return "busy";
    if (item->task > 0 && run->whole->ending && run->whole->ending_status == ORACLE_ERROR) {
        /* A flow that has failed takes what its tasks record, but there is nothing to wait for any more. */
        if (one_of(item->kind, wait_kinds) && strcmp(item->kind, "step") != 0 &&
            !does_not_see_ending(o, run, item))
            return "cancelled";
    } else if (run->ending && !run->rolling_back) {
        if (one_of(item->kind, closing_kinds) &&
            strcmp(oracle_end_or_roll_back(o, run, 3,
                       oracle_error(
                           o, "cancelled", run->ending_why == NULL ? "cancelled" : run->ending_why),
                       run->ending_rollback, true),
                "busy") == 0)
            return "busy";
        return "cancelled";
    }
    if (!item_is_good(run, item))
        return "refused";
    if (one_of(item->kind, step_kinds))
        return item_step(o, run, item, value);
    while (wait_kinds[kind] != NULL && strcmp(wait_kinds[kind], item->kind) != 0)
        kind++;
    if (wait_kinds[kind] != NULL)
        oracle_item_wait(o, run, item, kind, &answer, value);
    else
        oracle_item_close(o, run, item, &answer, value);
    return answer;
}

/* Whether an earlier item of the same claim was not taken; then this one is not looked at. */
static const char *
stopped(const struct oracle_item *items, const char *const *answers, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (strcmp(items[i].run, items[at].run) != 0 || items[i].task != items[at].task ||
            items[i].fence != items[at].fence)
            continue;
        if (strcmp(answers[i], "lease_lost") == 0)
            return "lease_lost";
        if (strcmp(answers[i], "busy") == 0 ||
            (strcmp(answers[i], "refused") == 0 && !oracle_same(items[i].kind, "note")))
            return "busy";
    }
    return NULL;
}

const char *
oracle_commit(struct oracle *oracle, int64_t session, const struct oracle_item *items, size_t count,
    struct pw_buf *reply)
{
    const char *answers[16] = {"ok"};

    for (size_t i = 0; i < count && i < 16; i++) {
        const char *value = NULL;

        answers[i] = stopped(items, answers, i);
        if (answers[i] == NULL)
            answers[i] = commit_one(oracle, session, &items[i], &value);
        pw_buf_addf(reply, "%zu %s %s\n", i + 1, answers[i], value == NULL ? "-" : value);
    }
    return answers[0];
}

const char *
oracle_one(struct oracle *oracle, int64_t session, const struct oracle_item *item,
    const struct oracle_item *suspend, struct pw_buf *reply)
{
    const char *value = NULL, *none = NULL, *answer;

    if (item->not_json)
        return "22P02";
    answer = commit_one(oracle, session, item, &value);
    if (suspend != NULL && value != NULL && strstr(value, "\"state\": \"PAUSED\"") != NULL)
        answer = commit_one(oracle, session, suspend, &none);
    pw_buf_addf(reply, "%s %s", answer, value == NULL ? "-" : value);
    return answer;
}

const char *
oracle_record_step(struct oracle *oracle, int64_t session, const struct oracle_item *item)
{
    struct oracle_run *run = oracle_find_run(oracle, item->run);
    struct oracle_item step = *item;
    struct oracle_step *old;

    run = run == NULL ? NULL : oracle_find_task(run, item->task);
    if (run == NULL || !run->living || run->session != session || run->fence != item->fence)
        return "PW005";
    if (session >> 32 != oracle->epoch)
        return "PW012";
    /* A flow that has failed takes what its tasks record; what was cancelled does not. */
    if (run->ending && !run->rolling_back && (run->task == 0 || run->ending_status == 3))
        return "PW006";
    step.kind = "step";
    if (!item_is_good(run, &step))
        return "PW003";
    old = oracle_find_step(run, item->name);
    if ((old != NULL && old->kind != ORACLE_STEP) ||
        (old == NULL && oracle_find_wait(run, item->name) != NULL))
        return "PW007";
    if (old != NULL && old->state != ORACLE_RUNNING)
        return "already";
    put_step(oracle, run, old, &step, ORACLE_SUCCESS, 0);
    return "ok";
}
