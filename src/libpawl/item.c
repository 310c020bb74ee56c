/* SPDX-License-Identifier: Apache-2.0 */
/* The words that pawl.commit has for the kinds of items. */
#include "libpawl/item.h"

const char *
pw_kind_name(enum pw_kind kind)
{
    static const char *const names[] = {
        [PW_KIND_STEP] = "step",
        [PW_KIND_BEGIN] = "begin",
        [PW_KIND_STEP_ERROR] = "step_error",
        [PW_KIND_RETRY] = "retry",
        [PW_KIND_TOOK] = "took",
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
