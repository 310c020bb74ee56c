/* SPDX-License-Identifier: Apache-2.0 */
/* What a scan says of a payload is what is simply counted: bytes, NULs, characters, depth. It passes exactly the JSON that has none of these problems. */
#include "base/json_scan.h"
#include "base/json_read.h"
#include "base/utf8.h"
#include "fuzz.h"

#include <string.h>

enum {
    DEPTH_MAX = 5,
    SIZE_MAX_BYTES = 4000
};

/* The deepest that brackets outside of strings are nested. */
static size_t
depth_of(const char *data, size_t size)
{
    size_t depth = 0;
    size_t deepest = 0;

    for (size_t i = 0; i < size; i++) {
        if (data[i] == '"') {
            for (i++; i < size && data[i] != '"'; i++)
                i += data[i] == '\\';
        } else if (data[i] == '[' || data[i] == '{') {
            depth++;
            deepest = depth > deepest ? depth : deepest;
        } else if (data[i] == ']' || data[i] == '}') {
            depth -= depth > 0;
        }
    }
    return deepest;
}

static bool
is_blank(const char *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (strchr(" \t\r\n", data[i]) == NULL)
            return false;
    return true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input(data, size);
    enum pw_json_problem problem = pw_json_scan(input.at, size, SIZE_MAX_BYTES, DEPTH_MAX);
    bool has_nul = memchr(input.at, '\0', size) != NULL;
    bool utf8 = pw_utf8_valid(input.at, size);

    fuzz_check((problem == PW_JSON_TOO_LARGE) == (size > SIZE_MAX_BYTES), "its size");
    fuzz_check(pw_json_problem_text(problem) != NULL, "a problem without words");
    if (problem == PW_JSON_OK) {
        fuzz_check(
            utf8 && !has_nul && !is_blank(input.at, size), "a payload that is none is taken");
        fuzz_check(depth_of(input.at, size) <= DEPTH_MAX, "deeper than it may be");
        fuzz_check(pw_json_valid((struct pw_json){input.at, size}), "a text that is not JSON");
    } else if (problem == PW_JSON_INVALID) {
        fuzz_check(!pw_json_valid((struct pw_json){input.at, size}) && !is_blank(input.at, size) &&
                depth_of(input.at, size) <= DEPTH_MAX,
            "JSON is refused");
    } else if (utf8 && !has_nul && size <= SIZE_MAX_BYTES) {
        fuzz_check(is_blank(input.at, size)
                ? problem == PW_JSON_EMPTY
                : problem == PW_JSON_TOO_DEEP && depth_of(input.at, size) > DEPTH_MAX,
            "a payload is refused for nothing");
    }
    /* What is JSON and within the limits of both passes both. */
    if (problem == PW_JSON_EMPTY)
        fuzz_check(!pw_json_valid((struct pw_json){input.at, size}), "nothing is no JSON");
    return 0;
}
