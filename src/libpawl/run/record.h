/* SPDX-License-Identifier: Apache-2.0 */
/* The record of a run that was executed before: its steps, open waits, failed attempts and undos, found by name. */
#ifndef PW_LIBPAWL_RECORD_H
#define PW_LIBPAWL_RECORD_H

#include "base/arena.h"
#include "base/json_read.h"
#include "libpawl/run/item.h"
#include "pawl/api.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One thing recorded under a step's identity. */
struct pw_entry {
    const char *name;    /* BRANCH/NAME#n */
    const char *kind;    /* step, sleep, event, signal, approval, child; "": only failed attempts */
    enum pw_state state; /* PAUSED: an open wait; NONE: only failed attempts */
    int32_t seq;
    pawl_bytes output;
    pawl_bytes error;
    const char *error_code; /* "" if it has none */
    bool approved;
    int32_t failures; /* failed attempts so far */
    int64_t due_us;   /* when the next attempt may start, on the clock of pw_now_us(); 0: now */
    atomic_bool used; /* the code has asked for it; its branch writes, a trunk reads at any time */
};

/* One step to be undone. */
struct pw_undo {
    const char *name; /* the step's identity; the undo's is rollback: and this */
    const char *handler;
    pawl_bytes input;
    pawl_bytes policy; /* JSON, or empty */
    pawl_bytes output;
    bool uncertain;
};

/* Entries are sorted by name. All memory is in the arena of the task. */
struct pw_record {
    struct pw_entry *entries;
    size_t count;
    struct pw_undo *undos;
    size_t undo_count;
    int32_t seq_max;
};

/*
 * Reads the record that a claim returned. db_now_us and now_us are the clocks of the database and of this process at that moment. Copies
 * everything into the arena, so json may be freed. Returns false if out of memory or the record is malformed.
 */
bool pw_record_read(struct pw_record *record, struct pw_arena *arena, pawl_bytes json,
    int64_t db_now_us, int64_t now_us);

/* Returns the state that a JSON string names; SKIPPED counts as a success. Returns PW_STATE_NONE if it names no state. */
enum pw_state pw_record_state(struct pw_json value);

/*
 * Reads the code and the message of a JSON error, "" if it has none; either pointer may be NULL. An error that is not an object is the
 * message. The error of a child has the message of its run. Returns false if out of memory.
 */
bool pw_record_read_error(
    pawl_bytes error, struct pw_arena *arena, const char **code, const char **message);

/* Sorts the entries when all have been read, and merges entries of the same name. */
void pw_record_sort(struct pw_record *record);

/* The entry of this name, or NULL. */
struct pw_entry *pw_record_find(const struct pw_record *record, const char *name);

#endif
