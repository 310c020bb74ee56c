/* SPDX-License-Identifier: Apache-2.0 */
/* The names that pawl.commit has for the kinds of items, and how the value of an answer is read. */
#include "libpawl/run/item.h"
#include "base/arena.h"
#include "base/json_read.h"
#include "libpawl/run/record.h"

const char *
pw_kind_name(enum pw_kind kind)
{
    static const char *const names[] = {
        [PW_KIND_STEP] = "step",
        [PW_KIND_BEGIN] = "begin",
        [PW_KIND_STEP_ERROR] = "step_error",
        [PW_KIND_RETRY] = "retry",
        [PW_KIND_CONFIRM] = "confirm",
        [PW_KIND_SLEEP] = "sleep",
        [PW_KIND_EVENT] = "event",
        [PW_KIND_SIGNAL] = "signal",
        [PW_KIND_APPROVAL] = "approval",
        [PW_KIND_CHILD] = "child",
        [PW_KIND_COMPLETE] = "complete",
        [PW_KIND_FAIL] = "fail",
        [PW_KIND_SUSPEND] = "suspend",
        [PW_KIND_RELEASE] = "release",
        [PW_KIND_DRIFT] = "drift",
        [PW_KIND_NOTE] = "note",
    };

    return names[kind];
}

/* Copies a value of an answer to the arena, where the handler finds it. Returns false if out of memory. */
static bool
keep(struct pw_arena *arena, struct pw_json value, pawl_bytes *out)
{
    if (!pw_json_given(value) && value.data == NULL)
        return true;
    out->data = pw_arena_copy(arena, value.data, value.size);
    out->size = out->data == NULL ? 0 : value.size;
    return out->data != NULL;
}

static bool
keep_text(struct pw_arena *arena, struct pw_json value, const char **out)
{
    if (!pw_json_given(value))
        return true;
    *out = pw_json_text(value, arena);
    return *out != NULL;
}

bool
pw_item_read(struct pw_item *item, struct pw_arena *arena, const char *data, size_t size)
{
    struct pw_json_walk walk;
    struct pw_json key;
    struct pw_json value;
    bool ok = true;

    pw_json_walk(&walk, (struct pw_json){data, size});
    while (ok && pw_json_walk_next(&walk, &key, &value)) {
        if (pw_json_is(key, "final")) {
            ok = pw_json_to_bool(value, &item->final);
        } else if (pw_json_is(key, "delay_ms")) {
            ok = pw_json_to_int(value, &item->delay_ms);
        } else if (arena == NULL) {
            continue;
        } else if (pw_json_is(key, "state")) {
            item->state = pw_record_state(value);
        } else if (pw_json_is(key, "output")) {
            ok = keep(arena, value, &item->output);
            if (item->kind == PW_KIND_APPROVAL && pw_json_given(value))
                (void)pw_json_to_bool(pw_json_member(value, "approved"), &item->approved);
        } else if (pw_json_is(key, "error") && pw_json_given(value)) {
            ok = keep(arena, value, &item->error) &&
                (value.data[0] != '{' ||
                    keep_text(arena, pw_json_member(value, "code"), &item->error_code));
        }
    }
    return ok && !walk.bad;
}
