/* SPDX-License-Identifier: Apache-2.0 */
/* A character is what, decoded and encoded again in the shortest form, is the same bytes. */
#include "base/utf8.h"
#include "fuzz.h"

#include <string.h>

/* The second opinion: decodes by the first byte's bits, and looks whether the number is one that has this length. 0: no character. */
static size_t
decode(const unsigned char *bytes, size_t size)
{
    static const struct {
        unsigned mask, lead;
        uint32_t least;
    } forms[] = {{0x80, 0, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};

    for (size_t length = 1; length <= 4 && length <= size; length++) {
        uint32_t code = bytes[0] & ~forms[length - 1].mask;
        bool whole = true;

        if ((bytes[0] & forms[length - 1].mask) != forms[length - 1].lead)
            continue;
        for (size_t i = 1; i < length; i++) {
            whole = whole && (bytes[i] & 0xc0) == 0x80;
            code = code << 6 | (bytes[i] & 0x3f);
        }
        return whole && code >= forms[length - 1].least && code <= 0x10ffff &&
                (code < 0xd800 || code > 0xdfff)
            ? length
            : 0;
    }
    return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input(data, size);
    bool valid = true;
    size_t cut = pw_utf8_cut(input.at, size);

    for (size_t i = 0; i < size; i++)
        fuzz_check(pw_utf8_length(input.at + i, size - i) == decode(data + i, size - i),
            "two opinions about the length of a character");
    for (size_t i = 0; valid && i < size;) {
        size_t length = decode(data + i, size - i);

        valid = length > 0;
        i += length;
    }
    fuzz_check(pw_utf8_valid(input.at, size) == valid, "two opinions about what is UTF-8");
    fuzz_check(cut <= size && size - cut < 4, "more is cut off than one character");
    fuzz_check(!valid || cut == size, "whole characters are cut");
    for (size_t less = 1; valid && less < 4 && less < size; less++)
        fuzz_check(pw_utf8_valid(input.at, pw_utf8_cut(input.at, size - less)),
            "what is cut ends inside of a character");
    return 0;
}
