/* SPDX-License-Identifier: Apache-2.0 */
/* Journals that are not true: one thing in a family is left out, said twice, moved or changed, and the checker has to refuse it. */
#include "journal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    text_bytes = 20000
};

#define HOUR_US INT64_C(3600000000)

static bool
is_one(const struct journal_call *call, const char *what)
{
    return call->count == 1 && strcmp(call->entries->what, what) == 0;
}

/* A commit of one item of that kind, which was taken. */
static bool
is_item(const struct journal_call *call, const char *kind)
{
    struct pw_json found = pw_json_member(call->entries->args, "kind");

    return is_one(call, "item") && strcmp(call->entries->answer, "ok") == 0 &&
        found.size == strlen(kind) + 2 && memcmp(found.data + 1, kind, strlen(kind)) == 0;
}

static bool
is_undo(const struct journal_call *call)
{
    struct pw_json name = pw_json_member(call->entries->args, "name");

    return is_item(call, "step") && name.size > 10 && memcmp(name.data, "\"rollback:", 10) == 0;
}

/* The first call from here on that is as asked; the count of calls if there is none. */
static size_t
find_item(const struct family *family, size_t at, const char *kind)
{
    while (at < family->calls_count && !is_item(&family->calls[at], kind))
        at++;
    return at;
}

static size_t
find_answered(const struct family *family, const char *what, const char *answer)
{
    size_t at = 0;

    while (at < family->calls_count &&
        !(is_one(&family->calls[at], what) &&
            (answer == NULL || strcmp(family->calls[at].entries->answer, answer) == 0)))
        at++;
    return at;
}

static bool
drop(struct family *family, size_t at)
{
    if (at >= family->calls_count)
        return false;
    family->calls_count--;
    memmove(&family->calls[at], &family->calls[at + 1],
        (family->calls_count - at) * sizeof(family->calls[0]));
    return true;
}

/* There is room for one more. */
static bool
insert(struct family *family, size_t at, struct journal_call call)
{
    memmove(&family->calls[at + 1], &family->calls[at],
        (family->calls_count - at) * sizeof(family->calls[0]));
    family->calls[at] = call;
    family->calls_count++;
    return true;
}

/* A copy of a call's one entry that can be changed. */
static struct journal_entry *
own(struct journal_call *call, struct pw_arena *arena)
{
    struct journal_entry *copy = pw_arena_alloc(arena, sizeof(*copy));

    if (copy == NULL)
        bench_die("out of memory");
    *copy = *call->entries;
    call->entries = copy;
    return copy;
}

static bool
set_member(struct journal_entry *entry, const char *name, const char *value, struct pw_arena *arena)
{
    struct pw_json old = pw_json_member(entry->args, name);
    char text[text_bytes];
    int length;

    if (!pw_json_given(old))
        return false;
    length = snprintf(text, sizeof(text), "%.*s%s%s", (int)(old.data - entry->args.data),
        entry->args.data, value, old.data + old.size);
    if (length < 0 || length >= text_bytes)
        return false;
    entry->args.data = pw_arena_copy(arena, text, (size_t)length);
    entry->args.size = (size_t)length;
    return entry->args.data != NULL;
}

static bool
set_number(struct journal_entry *entry, const char *name, int64_t by, struct pw_arena *arena)
{
    char text[40];
    int64_t value;

    if (!pw_json_to_int(pw_json_member(entry->args, name), &value))
        return false;
    (void)snprintf(text, sizeof(text), "%" PRId64, value + by);
    return set_member(entry, name, text, arena);
}

static bool
step_twice(struct family *family, struct pw_arena *arena)
{
    size_t at = find_item(family, 0, "step");

    (void)arena;
    return at < family->calls_count && insert(family, at + 1, family->calls[at]);
}

static bool
step_by_older_fence(struct family *family, struct pw_arena *arena)
{
    size_t at = find_item(family, 0, "step");

    return at < family->calls_count &&
        set_number(own(&family->calls[at], arena), "fence", -1, arena);
}

/* The same claim records a step of another name behind its end. */
static bool
record_after_the_end(struct family *family, struct pw_arena *arena)
{
    size_t step = find_item(family, 0, "step"), end = find_item(family, step, "complete");
    struct journal_call late;

    if (end >= family->calls_count ||
        strcmp(family->calls[step].entries->run, family->calls[end].entries->run) != 0)
        return false;
    late = family->calls[step];
    return set_member(own(&late, arena), "name", "\"late#9\"", arena) &&
        insert(family, end + 1, late);
}

static bool
timer_before_its_time(struct family *family, struct pw_arena *arena)
{
    size_t at = find_answered(family, "promote", NULL);

    if (at >= family->calls_count)
        return false;
    own(&family->calls[at], arena)->at -= HOUR_US;
    return true;
}

static bool
wait_settled_before_its_time(struct family *family, struct pw_arena *arena)
{
    size_t at = find_answered(family, "due", NULL);

    if (at >= family->calls_count)
        return false;
    own(&family->calls[at], arena)->at -= HOUR_US;
    return true;
}

static bool
undos_in_another_order(struct family *family, struct pw_arena *arena)
{
    (void)arena;
    for (size_t i = 0; i + 1 < family->calls_count; i++)
        for (size_t k = i + 1; is_undo(&family->calls[i]) && k < family->calls_count; k++) {
            struct journal_call first = family->calls[i];

            if (!is_undo(&family->calls[k]) ||
                strcmp(first.entries->run, family->calls[k].entries->run) != 0)
                continue;
            family->calls[i] = family->calls[k];
            family->calls[k] = first;
            return true;
        }
    return false;
}

static bool
event_that_nobody_emitted(struct family *family, struct pw_arena *arena)
{
    for (size_t i = 0; i < family->calls_count; i++) {
        struct pw_json made = pw_json_member(family->calls[i].entries->args, "made");
        char id[40] = "";

        if (!is_one(&family->calls[i], "emit") || made.size < 2 || made.size > sizeof(id))
            continue;
        memcpy(id, made.data + 1, made.size - 2);
        if (strstr(family->runs[0].shown, id) != NULL)
            return drop(family, i);
    }
    (void)arena;
    return false;
}

static bool
not_taken_back(struct family *family, struct pw_arena *arena)
{
    (void)arena;
    return drop(family, find_answered(family, "take_back", NULL));
}

static bool
taken_from_a_live_session(struct family *family, struct pw_arena *arena)
{
    size_t at = find_answered(family, "take_back", NULL);

    if (at >= family->calls_count || strstr(family->calls[at].entries->args.data, "true") == NULL)
        return false;
    own(&family->calls[at], arena)->at -= HOUR_US;
    return true;
}

static bool
cancelled_by_nobody(struct family *family, struct pw_arena *arena)
{
    (void)arena;
    return drop(family, find_answered(family, "cancel", "ok"));
}

static bool
another_output(struct family *family, struct pw_arena *arena)
{
    size_t at = find_item(family, 0, "complete");

    if (at >= family->calls_count || strstr(family->runs[0].shown, "rollback_started") != NULL)
        return false;
    own(&family->calls[at], arena)->payload = "{\"another\": 1}";
    return true;
}

static bool
child_that_never_ended(struct family *family, struct pw_arena *arena)
{
    (void)arena;
    for (size_t i = 0; i < family->calls_count; i++)
        if (is_item(&family->calls[i], "complete") &&
            strcmp(family->calls[i].entries->run, family->runs[0].root) != 0)
            return drop(family, i);
    return false;
}

static bool
end_twice(struct family *family, struct pw_arena *arena)
{
    size_t at = find_item(family, 0, "complete");

    (void)arena;
    return at < family->calls_count && insert(family, at + 1, family->calls[at]);
}

static bool
delay_beside_the_policy(struct family *family, struct pw_arena *arena)
{
    for (size_t at = find_item(family, 0, "retry"); at < family->calls_count;
         at = find_item(family, at + 1, "retry"))
        if (set_number(own(&family->calls[at], arena), "due", HOUR_US, arena))
            return true;
    return false;
}

static bool
record_that_is_lost(struct family *family, struct pw_arena *arena)
{
    (void)arena;
    return drop(family, find_item(family, 0, "step"));
}

static bool
signal_that_nobody_sent(struct family *family, struct pw_arena *arena)
{
    /* The record of a signal that came in time. */
    (void)arena;
    return strstr(family->runs[0].shown, "step go#1 1 s g ") != NULL &&
        drop(family, find_answered(family, "signal", NULL));
}

static const struct {
    const char *name;
    bool (*change)(struct family *family, struct pw_arena *arena);
} ways[tamper_ways] = {
    {"a step is recorded twice", step_twice},
    {"a step comes with an older fence", step_by_older_fence},
    {"a step is recorded after the end", record_after_the_end},
    {"a timer is over before its time", timer_before_its_time},
    {"a wait is settled before its time", wait_settled_before_its_time},
    {"undos are done in another order", undos_in_another_order},
    {"an event is taken that nobody emitted", event_that_nobody_emitted},
    {"a run goes on elsewhere and was not taken back", not_taken_back},
    {"a run is taken from a session that lives", taken_from_a_live_session},
    {"a run is cancelled by nobody", cancelled_by_nobody},
    {"a run ends with another output", another_output},
    {"a child never ends and its parent goes on", child_that_never_ended},
    {"a run ends twice", end_twice},
    {"a try is due beside its policy", delay_beside_the_policy},
    {"a record is lost", record_that_is_lost},
    {"a signal is taken that nobody sent", signal_that_nobody_sent},
};

bool
tamper(struct family *family, int way, struct pw_arena *arena)
{
    return ways[way].change(family, arena);
}

const char *
tamper_name(int way)
{
    return ways[way].name;
}
