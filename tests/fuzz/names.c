/* SPDX-License-Identifier: Apache-2.0 */
/* Each line is a name that comes up: their counts are those that a plain list has. */
#include "libpawl/run/names.h"
#include "base/arena.h"
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

enum {
    LINES_MAX = 400
};

static bool
second_opinion(const char *text)
{
    size_t size = strlen(text);

    return size >= 1 && size <= 100 &&
        strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_.-") == size;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input(data, size);
    struct pw_names names = {0};
    struct pw_arena arena;
    char *lines[LINES_MAX];
    size_t count = 0;

    pw_arena_init(&arena, (size_t)16 * 1024 * 1024);
    while (count < LINES_MAX && (lines[count] = fuzz_line(&input)) != NULL) {
        uint32_t *counted = pw_names_count(&names, &arena, lines[count]);
        uint32_t right = 0;

        for (size_t i = 0; i < count; i++)
            right += strcmp(lines[i], lines[count]) == 0;
        fuzz_check(counted != NULL && *counted == right, "a name was counted wrong");
        (*counted)++;
        fuzz_check(pw_name_valid(lines[count]) == second_opinion(lines[count]), "what is a name");
        count++;
    }
    fuzz_check(names.used <= count && names.used <= names.size, "more names than there were");
    while (count > 0)
        free(lines[--count]);
    pw_arena_done(&arena);
    return 0;
}
