/* SPDX-License-Identifier: Apache-2.0 */
/* Bulks: an action on all runs that a filter finds, newest first, each in its turn, some in each piece of housekeeping. */
#include "state.h"

#include "base/uuid.h"
#include "uuid_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000)

enum {
    PAGE = 200, /* runs that pass the filter and are looked at in one piece */
    TURNS_MAX = 60,
};

static const char *const acts[] = {"retry", "cancel", "kill", "pause", "resume", "wake", "purge"};

/* What a filter by state, or an action, is about. */
static const char *
state_of(const struct oracle *o, const struct oracle_run *run)
{
    static const char *const states[] = {"", "SUCCESS", "ERROR", "CANCELLED"};

    if (!run->living)
        return states[oracle_last_round(run)->status];
    return run->place == ORACLE_WAITING && run->due_at > o->now ? "PAUSED" : "QUEUED";
}

static bool
applies(const struct oracle *o, const char *act, const struct oracle_run *run)
{
    const char *state = state_of(o, run);

    if (strcmp(act, "retry") == 0)
        return strcmp(state, "ERROR") == 0 || strcmp(state, "CANCELLED") == 0;
    if (strcmp(act, "purge") == 0)
        return !run->living;
    if (strcmp(act, "resume") == 0 || strcmp(act, "wake") == 0)
        return strcmp(state, "PAUSED") == 0;
    return run->living;
}

static bool
passes(const struct oracle *o, const struct oracle_bulk *b, const struct oracle_run *run)
{
    const struct oracle_bulk_spec *spec = &b->spec;
    struct pw_uuid id;

    return !run->gone && pw_uuid_parse(run->id, &id) && uuid_time_ms(&id) < b->before_ms &&
        (b->position == NULL || strcmp(run->id, b->position) < 0) &&
        (spec->workflow == NULL || strcmp(run->workflow->name, spec->workflow) == 0) &&
        (spec->tenant == NULL || strcmp(run->tenant, spec->tenant) == 0) &&
        (spec->status == NULL || strcmp(state_of(o, run), spec->status) == 0);
}

static struct oracle_run *
next_run(struct oracle *o, const struct oracle_bulk *b)
{
    struct oracle_run *newest = NULL;

    for (struct oracle_run *run = o->runs; run != NULL; run = run->next)
        if (passes(o, b, run))
            newest = run; /* they are in the order of their ids */
    return newest;
}

static const char *
act_on(struct oracle *o, const struct oracle_bulk *b, const char *id)
{
    const char *by = oracle_keepf(o, "op (bulk %d)", b->number), *act = b->spec.act;

    if (strcmp(act, "retry") == 0)
        return oracle_retry(o, id, by);
    if (strcmp(act, "cancel") == 0)
        return oracle_cancel(o, id, "because", false, by);
    if (strcmp(act, "kill") == 0)
        return oracle_kill(o, id, "because", by);
    if (strcmp(act, "pause") == 0)
        return oracle_pause(o, id, "because", by);
    if (strcmp(act, "resume") == 0)
        return oracle_resume(o, id, by);
    if (strcmp(act, "wake") == 0)
        return oracle_wake(o, id, NULL, by);
    return oracle_purge(o, id);
}

static void
count_answer(struct oracle *o, struct oracle_bulk *b, const char *answer)
{
    struct oracle_bulk_answer *counted;

    for (size_t i = 0; i < b->answers_count; i++)
        if (strcmp(b->answers[i].answer, answer) == 0) {
            b->answers[i].count++;
            return;
        }
    counted = oracle_push(&b->answers, &b->answers_count, sizeof(*counted));
    *counted = (struct oracle_bulk_answer){oracle_keep(o, answer), 1};
}

/* By the keys that a retry takes again, else by their ids. */
static int
compare_turns(const void *a, const void *b)
{
    const struct oracle_bulk_turn *x = a;
    const struct oracle_bulk_turn *y = b;

    if (!oracle_same(x->key, y->key))
        return x->key == NULL ? 1 : y->key == NULL ? -1 : strcmp(x->key, y->key);
    return strcmp(x->run, y->run);
}

/* Runs that another call has get another turn. */
static void
take_turns(struct oracle *o, struct oracle_bulk *b, struct oracle_bulk_turn *turns, size_t count)
{
    if (count > 1)
        qsort(turns, count, sizeof(*turns), compare_turns);
    for (size_t i = 0; i < count; i++) {
        const char *answer = act_on(o, b, turns[i].run);

        if (strcmp(answer, "busy") == 0 && b->turns < TURNS_MAX)
            *(struct oracle_bulk_turn *)oracle_push(&b->again, &b->again_count, sizeof(*b->again)) =
                turns[i];
        else
            count_answer(o, b, answer);
    }
}

/* The next runs; true: there are more. */
static bool
find_turns(struct oracle *o, struct oracle_bulk *b, size_t most, struct oracle_bulk_turn **turns,
    size_t *count)
{
    struct oracle_run *run;
    bool retries = strcmp(b->spec.act, "retry") == 0;
    int rows = 0;

    if (b->again_count > 0 && b->turns > 0) {
        while (b->again_count > 0 && *count < most) {
            *(struct oracle_bulk_turn *)oracle_push(turns, count, sizeof(**turns)) = b->again[0];
            oracle_drop(b->again, &b->again_count, sizeof(*b->again), 0);
        }
        return b->again_count > 0;
    }
    for (; rows < PAGE && (run = next_run(o, b)) != NULL; rows++) {
        if (*count >= most)
            return true;
        b->position = run->id;
        if (applies(o, b->spec.act, run))
            *(struct oracle_bulk_turn *)oracle_push(turns, count, sizeof(**turns)) =
                (struct oracle_bulk_turn){run->id, retries ? run->key : NULL};
    }
    return rows == PAGE;
}

static void
go_on(struct oracle *o, struct oracle_bulk *b)
{
    struct oracle_bulk_turn *turns = NULL;
    size_t count = 0, most = (size_t)(b->spec.rate + 4) / 5;
    bool more = find_turns(o, b, most > PAGE ? PAGE : most, &turns, &count);

    take_turns(o, b, turns, count);
    free(turns);
    if (b->due_at < o->now - SECOND)
        b->due_at = o->now - SECOND;
    b->due_at += (int64_t)count * SECOND / b->spec.rate + (more ? 0 : SECOND);
    if (!more)
        b->turns++;
    if (!more && b->again_count == 0)
        b->ended_at = o->now;
}

static bool
has_ended_before(const struct oracle_bulk *b, int64_t at)
{
    return b->ended_at != ORACLE_NONE && b->ended_at < at;
}

void
oracle_go_on_with_bulks(struct oracle *o)
{
    for (;;) {
        struct oracle_bulk *first = NULL;

        for (size_t i = 0; i < o->bulks_count; i++) {
            struct oracle_bulk *b = &o->bulks[i];

            if (b->ended_at == ORACLE_NONE && b->due_at <= o->now &&
                (first == NULL || b->due_at < first->due_at))
                first = b;
        }
        if (first == NULL)
            break;
        go_on(o, first);
    }
    for (size_t i = 0; i < o->bulks_count; i++)
        if (has_ended_before(&o->bulks[i], o->now - ORACLE_RETENTION_US))
            o->bulks[i].gone = true;
}

/* --- the verbs --- */

const char *
oracle_begin_bulk(struct oracle *oracle, const struct oracle_bulk_spec *spec, struct pw_buf *reply)
{
    struct oracle_bulk *b;
    bool known = false;

    for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++)
        known = known || strcmp(acts[i], spec->act) == 0;
    if (!known || spec->invalid || spec->rate <= 0 || spec->rate > 1000)
        return "PW003";
    if (spec->other_digest)
        return "PW007";
    b = oracle_push(&oracle->bulks, &oracle->bulks_count, sizeof(*b));
    *b = (struct oracle_bulk){
        .spec = *spec,
        .number = (int)oracle->bulks_count,
        .before_ms = oracle->now / 1000,
        .due_at = oracle->now,
        .ended_at = ORACLE_NONE,
    };
    pw_buf_addf(reply, "%d", b->number);
    return "begun";
}

const char *
oracle_stop_bulk(struct oracle *oracle, int number)
{
    struct oracle_bulk *b;

    if (number < 1 || (size_t)number > oracle->bulks_count)
        return "not_found";
    b = &oracle->bulks[number - 1];
    if (b->gone)
        return "not_found";
    if (b->ended_at != ORACLE_NONE)
        return "already";
    b->ended_at = oracle->now;
    b->stopped = true;
    return "ok";
}

const char *
oracle_running_bulk(const struct oracle *oracle, int *number)
{
    *number = (int)oracle->bulks_count;
    return *number > 0 && oracle->bulks[*number - 1].ended_at == ORACLE_NONE
        ? oracle->bulks[*number - 1].spec.act
        : NULL;
}

/* --- looking --- */

static int
compare_answers(const void *a, const void *b)
{
    const struct oracle_bulk_answer *x = a;
    const struct oracle_bulk_answer *y = b;

    return strcmp(x->answer, y->answer);
}

void
oracle_show_bulks(struct oracle *o, struct pw_buf *out)
{
    for (size_t i = 0; i < o->bulks_count; i++) {
        struct oracle_bulk *b = &o->bulks[i];

        if (b->gone)
            continue;
        pw_buf_addf(out, "bulk %d %s %s %d %d %" PRId64, b->number, b->spec.act,
            b->ended_at == ORACLE_NONE ? "running"
                : b->stopped           ? "stopped"
                                       : "done",
            (int)b->again_count, b->turns, b->due_at);
        if (b->answers_count > 1)
            qsort(b->answers, b->answers_count, sizeof(*b->answers), compare_answers);
        for (size_t k = 0; k < b->answers_count; k++)
            pw_buf_addf(out, " %s=%d", b->answers[k].answer, b->answers[k].count);
        pw_buf_addc(out, '\n');
    }
}

void
oracle_each_bulk(struct oracle *o, void (*tell)(const char *what, const char *kind, void *userdata),
    void *userdata)
{
    for (size_t i = 0; i < o->bulks_count; i++)
        for (size_t k = 0; k < o->bulks[i].answers_count; k++)
            if (strcmp(o->bulks[i].answers[k].answer, "ok") == 0)
                tell("bulk", o->bulks[i].spec.act, userdata);
}
