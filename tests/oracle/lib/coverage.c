/* SPDX-License-Identifier: Apache-2.0 */
/* Counts answers; the table of what there must be is here. */
#include "coverage.h"

#include <stdio.h>
#include <string.h>

/* What each verb, and each kind of item, can answer to one caller after another. */
static const char *const wanted[] = {
    "create_workflow: created exists differs PW003",
    "alter_workflow: ok PW002 PW003",
    "create_flow: created exists differs PW003",
    "add_step: created exists differs PW002 PW003",
    "trigger: created existing replaced PW002 PW003 PW004 PW009 PW013 23505",
    "trigger_many: created existing PW002 PW003 PW004 PW009 PW013",
    "register: ok PW003 PW011",
    "heartbeat: nothing cancelled paused drain PW003 PW005 PW012",
    "rest: ok PW005 PW012",
    "leave: ok gave_back PW005 PW012",
    "drain_worker: ok already PW001",
    "held: none some PW005 PW012",
    "claim: some nothing suspect repeated draining PW005 PW012",
    "step: ok already busy lease_lost cancelled refused",
    "begin: ok already busy lease_lost cancelled refused",
    "step_error: ok already busy lease_lost cancelled refused",
    "retry item: ok already busy lease_lost cancelled refused",
    "confirm: already busy lease_lost cancelled refused",
    "sleep: ok already busy lease_lost cancelled refused",
    "event: ok already busy lease_lost cancelled refused",
    "signal item: ok already busy lease_lost cancelled refused",
    "approval: ok already busy lease_lost cancelled refused",
    "child: ok already busy lease_lost cancelled refused",
    "complete: ok already busy lease_lost cancelled refused",
    "fail: ok already busy lease_lost cancelled refused",
    "suspend: ok already busy lease_lost cancelled refused",
    "release: ok already busy lease_lost cancelled",
    "drift: ok already busy lease_lost cancelled",
    "start: ok already busy lease_lost cancelled",
    "note: ok already busy lease_lost cancelled refused",
    "pawl.step: ok already busy lease_lost cancelled refused 22P02",
    "pawl.complete: ok already busy lease_lost cancelled refused 22P02",
    "pawl.fail: ok already busy lease_lost cancelled refused 22P02",
    "pawl.sleep: ok already busy lease_lost cancelled refused",
    "pawl.wait_event: ok already busy lease_lost cancelled refused",
    "pawl.wait_signal: ok already busy lease_lost cancelled refused",
    "pawl.release: ok already busy lease_lost cancelled",
    "record_step: ok already PW003 PW005 PW006 PW007 PW012",
    "task step: ok already busy lease_lost cancelled refused",
    "task begin: ok already busy lease_lost cancelled refused",
    "task step_error: ok already busy lease_lost cancelled refused",
    "task retry item: ok already busy lease_lost cancelled refused",
    "task confirm: already busy lease_lost cancelled refused",
    "task sleep: ok already busy lease_lost cancelled refused",
    "task event: ok already busy lease_lost cancelled refused",
    "task signal item: ok already busy lease_lost cancelled refused",
    "task approval: ok already busy lease_lost cancelled refused",
    "task child: ok already busy lease_lost cancelled refused",
    "task complete: ok already busy lease_lost cancelled refused",
    "task fail: ok already busy lease_lost cancelled",
    "task suspend: ok already busy lease_lost cancelled refused",
    "task release: ok already busy lease_lost cancelled",
    "task drift: ok already busy lease_lost cancelled",
    "task start: ok already busy lease_lost cancelled",
    "task note: ok already busy lease_lost cancelled refused",
    "task pawl.step: ok already busy lease_lost cancelled refused 22P02",
    "task pawl.complete: ok already busy lease_lost cancelled refused 22P02",
    "task pawl.fail: ok already busy lease_lost cancelled refused 22P02",
    "task pawl.sleep: ok already busy lease_lost cancelled refused",
    "task pawl.wait_event: ok already busy lease_lost cancelled refused",
    "task pawl.wait_signal: ok already busy lease_lost cancelled refused",
    "task pawl.release: ok already busy lease_lost cancelled",
    "task record_step: ok already PW003 PW005 PW006 PW007 PW012",
    /* Not answers, but what keys, tasks and runs of flows came to. */
    "key freed: once again",
    "run round: expired expired_flow replaced replaced_flow",
    "flow record: success error uncertain skipped failed_alone failed_all element child_or_copy "
    "child_with_undo",
    "flow undo: task step",
    "flow round: SUCCESS ERROR CANCELLED rolled_back again child",
    "emit: ok woke already PW003 PW009",
    "signal: taken stored PW001 PW003 PW006 PW007 PW009",
    "approve: taken stored PW001 PW003 PW006 PW007",
    "reject: taken stored PW001 PW003 PW006 PW007",
    "cancel: ok already not_found SUCCESS ERROR",
    "kill: ok already not_found SUCCESS ERROR",
    "pause: ok already not_found SUCCESS ERROR CANCELLED",
    "resume: ok already not_found SUCCESS ERROR CANCELLED",
    "wake: ok already refused not_found SUCCESS ERROR CANCELLED",
    "retry: ok already refused not_found",
    "rollback_retry: ok already refused not_found",
    "rollback_skip: ok already refused not_found",
    "fork: ok refused no_such_step not_found",
    "purge: ok refused not_found",
    "pause_workflow: ok already PW001",
    "resume_workflow: ok already PW001",
    "pause_queue: ok already PW001",
    "resume_queue: ok already PW001",
    "pause_all: ok already",
    "resume_all: ok already",
    "raise_epoch: ok",
    "create_schedule: created exists differs PW002 PW003 PW009",
    "pause_schedule: ok already PW001",
    "resume_schedule: ok already PW001 PW003",
    "delete_schedule: ok PW001",
    "backfill_schedule: created fired nothing PW001 PW003",
    "schedule time: fired allow queue cancel waits missed paused overlap",
    "begin_bulk: begun PW003 PW007",
    "stop_bulk: ok already not_found",
    "bulk: retry cancel pause resume wake purge",
    "set_lane: ok already PW002 PW003",
    "pause_lane: ok already PW002 PW003",
    "resume_lane: ok already PW002 PW003",
    "lane: full own_limit paused",
    "create_subscription: created exists differs PW002 PW003",
    "pause_subscription: ok already PW001",
    "resume_subscription: ok already PW001",
    "delete_subscription: ok PW001",
    "subscription: payload event failed deferred",
    "housekeep: ok",
    "tick: ok",
    "retain: kept gone nothing",
    "advance: ok",
};

static struct coverage_line *
find_line(struct coverage *coverage, const char *verb, const char *answer)
{
    struct coverage_line *line;

    for (int i = 0; i < coverage->lines_count; i++) {
        line = &coverage->lines[i];
        if (strcmp(line->verb, verb) == 0 && strcmp(line->answer, answer) == 0)
            return line;
    }
    if (coverage->lines_count == COVERAGE_ANSWERS_MAX)
        return NULL;
    line = &coverage->lines[coverage->lines_count++];
    (void)snprintf(line->verb, sizeof(line->verb), "%s", verb); /* long ones are cut */
    (void)snprintf(line->answer, sizeof(line->answer), "%s", answer);
    line->count = 0;
    return line;
}

void
coverage_count(struct coverage *coverage, const char *verb, const char *answer)
{
    struct coverage_line *line = find_line(coverage, verb, answer);

    if (line != NULL)
        line->count++;
}

void
coverage_add(struct coverage *sum, const struct coverage *part)
{
    sum->calls += part->calls;
    for (int i = 0; i < part->lines_count; i++) {
        struct coverage_line *line = find_line(sum, part->lines[i].verb, part->lines[i].answer);

        if (line != NULL)
            line->count += part->lines[i].count;
    }
}

static long
count_of(const struct coverage *coverage, const char *verb, size_t verb_length, const char *answer,
    size_t answer_length)
{
    for (int i = 0; i < coverage->lines_count; i++) {
        const struct coverage_line *line = &coverage->lines[i];

        if (strlen(line->verb) == verb_length && strlen(line->answer) == answer_length &&
            memcmp(line->verb, verb, verb_length) == 0 &&
            memcmp(line->answer, answer, answer_length) == 0)
            return line->count;
    }
    return 0;
}

/* Counts the kinds of answers that are wanted, and those that have not come. */
static int
walk(const struct coverage *coverage, bool print, int *kinds)
{
    int missing = 0;

    *kinds = 0;
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        size_t verb = strcspn(wanted[i], ":");
        const char *answer = wanted[i] + verb + 1;

        if (print)
            printf("# %-21.*s", (int)verb, wanted[i]);
        while (*answer == ' ') {
            size_t length = strcspn(++answer, " ");
            long count = count_of(coverage, wanted[i], verb, answer, length);

            if (print)
                printf(" %.*s %ld", (int)length, answer, count);
            missing += count == 0;
            ++*kinds;
            answer += length;
        }
        if (print)
            printf("\n");
    }
    return missing;
}

int
coverage_missing(const struct coverage *coverage)
{
    int kinds;

    return walk(coverage, false, &kinds);
}

void
coverage_print(const struct coverage *coverage)
{
    int kinds, missing = walk(coverage, true, &kinds);

    printf("# %ld calls, %d of %d kinds of answers\n", coverage->calls, kinds - missing, kinds);
}
