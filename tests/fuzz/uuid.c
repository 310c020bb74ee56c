/* SPDX-License-Identifier: Apache-2.0 */
/* An id that is read is written as it was, in lower case; others are refused. */
#include "base/uuid.h"
#include "fuzz.h"
#include "uuid_parts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool
second_opinion(const char *text)
{
    if (strlen(text) != 36)
        return false;
    for (int i = 0; i < 36; i++)
        if (i == 8 || i == 13 || i == 18 || i == 23 ? text[i] != '-'
                                                    : !isxdigit((unsigned char)text[i]))
            return false;
    return true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input(data, size);
    char *text = fuzz_rest(&input);
    char again[PW_UUID_TEXT_SIZE];
    struct pw_uuid uuid;
    struct pw_uuid same;
    bool read = pw_uuid_parse(text, &uuid);

    fuzz_check(read == second_opinion(text), "two opinions about what is an id");
    if (read) {
        pw_uuid_format(&uuid, again);
        fuzz_check(strcasecmp(text, again) == 0, "an id is written as another");
        fuzz_check(
            pw_uuid_parse(again, &same) && pw_uuid_equal(&uuid, &same), "and read as another");
        fuzz_check(
            pw_uuid_hash(&uuid) == pw_uuid_hash(&same), "equal ids, and their hashes are not");
        fuzz_check(uuid_slot(&uuid) < PW_SLOT_COUNT, "a slot that is none");
        fuzz_check(uuid_time_ms(&uuid) >= 0, "a time before 1970");
    }
    (void)pw_key_slot("", "workflow", text);
    free(text);
    return 0;
}
