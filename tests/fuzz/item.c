/* SPDX-License-Identifier: Apache-2.0 */
/* The value of an answer to an item, as a commit returns it: what is read is whole, and without somebody who waits nothing is kept. */
#include "libpawl/run/item.h"
#include "base/arena.h"
#include "base/json_read.h"
#include "fuzz.h"

#include <string.h>

static void
check_bytes(pawl_bytes bytes)
{
    fuzz_check((bytes.data != NULL) == (bytes.size > 0), "half of some bytes");
    fuzz_check(bytes.size == 0 || pw_json_valid((struct pw_json){bytes.data, bytes.size}),
        "bytes that are no value");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input(data, size);
    struct pw_item item = {.kind = (enum pw_kind)(fuzz_byte(&input) % (PW_KIND_NOTE + 1))};
    struct pw_item silent = item;
    size_t left = (size_t)(input.end - input.at);
    bool whole = pw_json_valid((struct pw_json){input.at, left});
    struct pw_arena arena;
    bool read;

    pw_arena_init(&arena, (size_t)64 * 1024 * 1024);
    read = pw_item_read(&item, &arena, input.at, left);
    /* The database sends JSON, and nothing else. */
    if (whole) {
        check_bytes(item.output);
        check_bytes(item.error);
        fuzz_check(item.error_code == NULL || item.error.size > 0, "a code without an error");
        fuzz_check(!item.approved || (item.kind == PW_KIND_APPROVAL && item.output.size > 0),
            "approved by nobody");
        fuzz_check(!read || pw_item_read(&silent, NULL, input.at, left),
            "read for somebody and not for nobody");
        fuzz_check(silent.output.data == NULL && silent.error.data == NULL &&
                silent.error_code == NULL && silent.state == PW_STATE_NONE,
            "kept for nobody");
        fuzz_check(!read || (silent.final == item.final && silent.delay_ms == item.delay_ms),
            "another answer for nobody");
    }
    pw_arena_done(&arena);
    return 0;
}
