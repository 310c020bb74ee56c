/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the record of a run that a claim returned, and finds entries in it. */
#include "libpawl/run/record.h"

#include "base/alloc.h"
#include "base/time.h"

#include <stdlib.h>
#include <string.h>

/* Entries while they are gathered: their number is known at the end only. */
struct gathering {
    struct pw_arena *arena;
    struct pw_entry *entries;
    size_t count;
    size_t room;
    int64_t db_now_us;
    int64_t now_us;
};

static struct pw_entry *
add_entry(struct gathering *gathering)
{
    struct pw_entry *entry;

    if (gathering->count == gathering->room) {
        size_t room = gathering->room > 0 ? gathering->room * 2 : 16;

        entry = pw_realloc_array(gathering->entries, room, sizeof(*entry));
        if (entry == NULL)
            return NULL;
        gathering->entries = entry;
        gathering->room = room;
    }
    entry = &gathering->entries[gathering->count++];
    *entry = (struct pw_entry){.kind = "", .error_code = ""};
    return entry;
}

/* Copies a value into the arena. A value that is null or missing leaves *out unchanged. Returns false if out of memory. */
static bool
keep_bytes(struct pw_json value, struct pw_arena *arena, pawl_bytes *out)
{
    if (!pw_json_given(value))
        return true;
    out->data = pw_arena_copy(arena, value.data, value.size);
    out->size = out->data != NULL ? value.size : 0;
    return out->data != NULL;
}

/* The same for a text. out may be NULL. */
static bool
keep_text(struct pw_json value, struct pw_arena *arena, const char **out)
{
    const char *text;

    if (out == NULL || !pw_json_given(value))
        return true;
    text = pw_json_text(value, arena);
    if (text != NULL)
        *out = text;
    return text != NULL;
}

bool
pw_record_read_error(
    pawl_bytes error, struct pw_arena *arena, const char **code, const char **message)
{
    struct pw_json value = {error.data, error.size};
    struct pw_json said, inner;

    if (code != NULL)
        *code = "";
    if (message != NULL)
        *message = "";
    if (!pw_json_given(value))
        return true;
    if (value.data[0] != '{')
        return keep_text(value, arena, message);
    said = pw_json_member(value, "message");
    inner = pw_json_member(value, "error");
    if (!pw_json_given(said) && pw_json_given(inner) && inner.data[0] == '{')
        said = pw_json_member(inner, "message");
    return keep_text(pw_json_member(value, "code"), arena, code) && keep_text(said, arena, message);
}

enum pw_state
pw_record_state(struct pw_json value)
{
    if (pw_json_is(value, "\"SUCCESS\"") || pw_json_is(value, "\"SKIPPED\""))
        return PW_STATE_SUCCESS;
    if (pw_json_is(value, "\"ERROR\""))
        return PW_STATE_ERROR;
    if (pw_json_is(value, "\"RUNNING\""))
        return PW_STATE_RUNNING;
    return pw_json_is(value, "\"PAUSED\"") ? PW_STATE_PAUSED : PW_STATE_NONE;
}

/* Reads one member of a step or an open wait. */
static bool
read_member(
    struct pw_entry *entry, struct pw_arena *arena, struct pw_json key, struct pw_json value)
{
    int64_t seq;

    if (pw_json_is(key, "name"))
        return keep_text(value, arena, &entry->name);
    if (pw_json_is(key, "kind"))
        return keep_text(value, arena, &entry->kind);
    if (pw_json_is(key, "state"))
        return (entry->state = pw_record_state(value)) != PW_STATE_NONE;
    if (pw_json_is(key, "seq")) {
        /* guard:record_seq */
        if (!pw_json_to_int(value, &seq) || seq < 0 || seq > INT32_MAX)
            return false;
        entry->seq = (int32_t)seq;
        return true;
    }
    if (pw_json_is(key, "output"))
        return keep_bytes(value, arena, &entry->output);
    if (pw_json_is(key, "error"))
        return keep_bytes(value, arena, &entry->error) &&
            pw_record_read_error(entry->error, arena, &entry->error_code, NULL);
    return true;
}

/* Reads a list of steps, or of open waits, whose elements have no state. */
static bool
read_list(struct gathering *gathering, struct pw_json list, enum pw_state state)
{
    struct pw_json_walk elements, members;
    struct pw_json none, element, key, value;
    bool ok = true;

    if (!pw_json_given(list))
        return true;
    pw_json_walk(&elements, list);
    while (ok && pw_json_walk_next(&elements, &none, &element)) {
        struct pw_entry *entry = add_entry(gathering);

        if (entry == NULL)
            return false;
        entry->state = state;
        pw_json_walk(&members, element);
        while (ok && pw_json_walk_next(&members, &key, &value))
            ok = read_member(entry, gathering->arena, key, value);
        ok = ok && !members.bad && entry->name != NULL && entry->kind[0] != '\0' &&
            entry->state != PW_STATE_NONE;
        if (ok && strcmp(entry->kind, "approval") == 0 && entry->output.data != NULL) {
            element = (struct pw_json){entry->output.data, entry->output.size};
            /* Any value except true counts as not approved. */
            (void)pw_json_to_bool(pw_json_member(element, "approved"), &entry->approved);
        }
    }
    return ok && !elements.bad && !elements.object;
}

/* Reads failed attempts, by the names of their steps. */
static bool
read_tries(struct gathering *gathering, struct pw_json tries)
{
    struct pw_json_walk walk;
    struct pw_json key, value, due;

    if (!pw_json_given(tries))
        return true;
    pw_json_walk(&walk, tries);
    while (pw_json_walk_next(&walk, &key, &value)) {
        struct pw_entry *entry = add_entry(gathering);
        int64_t failures, due_us;

        /* guard:record_tries */
        if (entry == NULL || !pw_json_to_int(pw_json_member(value, "n"), &failures) ||
            failures < 0 || failures > INT32_MAX)
            return false;
        entry->failures = (int32_t)failures;
        entry->name = pw_json_text(key, gathering->arena);
        if (entry->name == NULL)
            return false;
        due = pw_json_member(value, "due");
        if (!pw_json_given(due))
            continue;
        if (!pw_json_to_time_us(due, &due_us))
            return false;
        entry->due_us = pw_add_us(gathering->now_us, due_us - gathering->db_now_us);
    }
    return !walk.bad && walk.object;
}

static bool
read_undo(struct pw_undo *undo, struct pw_arena *arena, struct pw_json element)
{
    struct pw_json how = pw_json_member(element, "undo");
    struct pw_json output = pw_json_member(element, "output");

    *undo = (struct pw_undo){.handler = ""};
    if (!pw_json_to_bool(pw_json_member(element, "uncertain"), &undo->uncertain))
        return false;
    /* A recorded null is an output, too. */
    if (!undo->uncertain && !pw_json_given(output))
        output = (struct pw_json){"null", 4};
    return keep_text(pw_json_member(element, "name"), arena, &undo->name) && undo->name != NULL &&
        keep_text(pw_json_member(how, "handler"), arena, &undo->handler) &&
        keep_bytes(pw_json_member(how, "input"), arena, &undo->input) &&
        keep_bytes(pw_json_member(how, "policy"), arena, &undo->policy) &&
        (undo->uncertain ||
            ((undo->output.data = pw_arena_copy(arena, output.data, output.size)) != NULL &&
                (undo->output.size = output.size) > 0));
}

static bool
read_undos(struct pw_record *record, struct pw_arena *arena, struct pw_json list)
{
    struct pw_json_walk walk;
    struct pw_json none, element;
    size_t count = 0;

    if (!pw_json_given(list))
        return true;
    for (pw_json_walk(&walk, list); pw_json_walk_next(&walk, &none, &element);)
        count++;
    if (walk.bad || walk.object)
        return false;
    record->undos = pw_arena_alloc(arena, count * sizeof(*record->undos));
    record->undo_count = 0; /* of two lists the later one counts, as of all members */
    if (record->undos == NULL)
        return false;
    for (pw_json_walk(&walk, list); pw_json_walk_next(&walk, &none, &element);) {
        if (!read_undo(&record->undos[record->undo_count], arena, element))
            return false;
        record->undo_count++;
    }
    return true;
}

/* Returns the highest sequence number of all entries. */
static int32_t
highest_seq(const struct gathering *gathering)
{
    int32_t highest = 0;

    for (size_t i = 0; i < gathering->count; i++)
        if (gathering->entries[i].seq > highest)
            highest = gathering->entries[i].seq;
    return highest;
}

bool
pw_record_read(struct pw_record *record, struct pw_arena *arena, pawl_bytes json, int64_t db_now_us,
    int64_t now_us)
{
    struct gathering gathering = {.arena = arena, .db_now_us = db_now_us, .now_us = now_us};
    struct pw_record read = {0};
    struct pw_json_walk walk;
    struct pw_json key, value;
    bool ok = true;

    if (!pw_json_given((struct pw_json){json.data, json.size})) {
        *record = read;
        return true;
    }
    pw_json_walk(&walk, (struct pw_json){json.data, json.size});
    while (ok && pw_json_walk_next(&walk, &key, &value)) {
        if (pw_json_is(key, "steps"))
            ok = read_list(&gathering, value, PW_STATE_NONE);
        else if (pw_json_is(key, "waits"))
            ok = read_list(&gathering, value, PW_STATE_PAUSED);
        else if (pw_json_is(key, "retries"))
            ok = read_tries(&gathering, value);
        else if (pw_json_is(key, "undos"))
            ok = read_undos(&read, arena, value);
    }
    ok = ok && !walk.bad && walk.object;
    if (ok && gathering.count > 0) {
        read.count = gathering.count;
        read.seq_max = highest_seq(&gathering);
        read.entries = pw_arena_alloc(arena, gathering.count * sizeof(*read.entries));
        ok = read.entries != NULL;
    }
    if (ok) {
        if (gathering.count > 0)
            memcpy(read.entries, gathering.entries, gathering.count * sizeof(*read.entries));
        pw_record_sort(&read);
        *record = read;
    }
    pw_free(gathering.entries);
    return ok;
}

/* Orders entries by name. An entry with a record precedes an entry of the same name that has only failed attempts. */
static int
compare_entries(const void *a, const void *b)
{
    const struct pw_entry *one = a, *two = b;
    int order = strcmp(one->name, two->name);

    if (order != 0)
        return order;
    return (one->state == PW_STATE_NONE) - (two->state == PW_STATE_NONE);
}

void
pw_record_sort(struct pw_record *record)
{
    size_t kept = 0;

    if (record->count == 0)
        return;
    qsort(record->entries, record->count, sizeof(*record->entries), compare_entries);
    for (size_t i = 1; i < record->count; i++) {
        struct pw_entry *last = &record->entries[kept];
        const struct pw_entry *entry = &record->entries[i];

        if (strcmp(last->name, entry->name) != 0) {
            record->entries[++kept] = *entry;
        } else if (entry->failures > 0) {
            last->failures = entry->failures;
            last->due_us = entry->due_us;
        }
    }
    record->count = kept + 1;
}

struct pw_entry *
pw_record_find(const struct pw_record *record, const char *name)
{
    size_t low = 0, high = record->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(name, record->entries[middle].name);

        if (order == 0)
            return &record->entries[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}
