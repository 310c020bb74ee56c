/* SPDX-License-Identifier: Apache-2.0 */
/* What is recorded about a run that ran before: its steps, open waits, failed tries and undos, found by name. */
#ifndef PW_LIBPAWL_RECORD_H
#define PW_LIBPAWL_RECORD_H

#include "base/arena.h"
#include "base/json_read.h"
#include "libpawl/run/item.h"
#include "pawl/api.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One thing recorded under a step's identity. */
struct pw_entry {
    const char *name;    /* BRANCH/NAME#n */
    const char *kind;    /* step, sleep, event, signal, approval, child; "" for a try alone */
    enum pw_state state; /* PAUSED: an open wait; NONE: only tries */
    int32_t seq;
    pawl_bytes output;
    pawl_bytes error;
    const char *error_code; /* "" if it has none */
    bool approved;
    int32_t failures; /* tries that failed so far */
    int64_t due_us;   /* when the next may be made, on the clock of pw_now_us(); 0: now */
    bool used;        /* the code has asked for it */
};

/* One step to be undone. */
struct pw_undo {
    const char *name; /* the step's identity; the undo's is rollback: and this */
    const char *handler;
    pawl_bytes input;
    pawl_bytes policy; /* JSON, or no bytes */
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
 * Reads what a claim returned as record, with the clock of the database and ours at that moment. Everything that is kept is copied into
 * the arena, json may go. False: out of memory, or it makes no sense.
 */
bool pw_record_read(struct pw_record *record, struct pw_arena *arena, pawl_bytes json,
    int64_t db_now_us, int64_t now_us);

/* The state that a JSON string names: one that was skipped counts as a success. NONE for what is no state. */
enum pw_state pw_record_state(struct pw_json value);

/*
 * The code and the message of a JSON error, "" where it has none; either may be NULL. One that is no object is all message; the error of a child is that of
 * the run that it tells of. False: out of memory.
 */
bool pw_record_read_error(
    pawl_bytes error, struct pw_arena *arena, const char **code, const char **message);

/* Sorts the entries once they are all there, and makes one of those with the same name. */
void pw_record_sort(struct pw_record *record);

/* The entry of this name, or NULL. */
struct pw_entry *pw_record_find(const struct pw_record *record, const char *name);

#endif
