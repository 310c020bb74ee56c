/* SPDX-License-Identifier: Apache-2.0 */
/* The record of a run, as a claim returns it: read or refused; what is read is in order, whole, and each entry is found by its name. */
#include "libpawl/run/record.h"
#include "base/arena.h"
#include "fuzz.h"

#include <string.h>

static bool
is_whole(const struct pw_entry *entry)
{
    return entry->name != NULL && entry->kind != NULL && entry->error_code != NULL &&
        entry->seq >= 0 && entry->failures >= 0 &&
        (entry->output.data != NULL || entry->output.size == 0) &&
        (entry->error.data != NULL || entry->error.size == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input(data, size);
    pawl_bytes json = {input.at, size};
    struct pw_record record = {0};
    struct pw_arena arena;
    const char *code;
    const char *message;

    pw_arena_init(&arena, (size_t)64 * 1024 * 1024);
    if (pw_record_read(&record, &arena, json, INT64_C(1772366400000000), 1000)) {
        for (size_t i = 0; i < record.count; i++) {
            const struct pw_entry *entry = &record.entries[i];

            fuzz_check(is_whole(entry), "half an entry");
            fuzz_check(entry->seq <= record.seq_max, "a number beyond the highest");
            fuzz_check(i == 0 || strcmp(entry[-1].name, entry->name) < 0, "out of order");
            fuzz_check(pw_record_find(&record, entry->name) == entry, "an entry is not found");
        }
        for (size_t i = 0; i < record.undo_count; i++)
            fuzz_check(record.undos[i].name != NULL && record.undos[i].handler != NULL &&
                    (record.undos[i].uncertain || record.undos[i].output.size > 0),
                "half an undo");
    }
    if (pw_record_read_error(json, &arena, &code, &message))
        fuzz_check(code != NULL && message != NULL, "an error without words");
    pw_arena_done(&arena);
    return 0;
}
