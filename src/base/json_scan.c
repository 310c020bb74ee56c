/* SPDX-License-Identifier: Apache-2.0 */
/* A scan over a payload for limits and bytes, then one for its syntax. */
#include "json_scan.h"

#include "json_read.h"
#include "utf8.h"

#include <stdbool.h>

struct scan {
    unsigned depth;
    unsigned depth_max;
    bool in_string;
    bool escaped; /* the byte before was a backslash inside a string */
    bool content; /* something else than blanks was seen */
};

/* Takes one ASCII character. False if the nesting is too deep. */
static bool
scan_ascii(struct scan *scan, char c)
{
    if (scan->escaped) {
        scan->escaped = false;
        return true;
    }
    if (c == '"') {
        scan->in_string = !scan->in_string;
        scan->content = true;
        return true;
    }
    if (scan->in_string) {
        scan->escaped = c == '\\';
        return true;
    }
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
        return true;
    scan->content = true;
    if (c == '{' || c == '[') {
        /* guard:scan_depth */
        if (scan->depth == scan->depth_max)
            return false;
        scan->depth++;
    } else if ((c == '}' || c == ']') && scan->depth > 0) {
        scan->depth--;
    }
    return true;
}

enum pw_json_problem
pw_json_scan(const char *data, size_t size, size_t size_max, unsigned depth_max)
{
    struct scan scan = {.depth_max = depth_max};
    size_t at = 0;

    /* guard:scan_size */
    if (size > size_max)
        return PW_JSON_TOO_LARGE;
    while (at < size) {
        unsigned char c = (unsigned char)data[at];
        size_t length = 1;

        /* guard:scan_nul */
        if (c == '\0')
            return PW_JSON_HAS_NUL;
        if (c < 0x80) {
            if (!scan_ascii(&scan, (char)c))
                return PW_JSON_TOO_DEEP;
        } else {
            length = pw_utf8_length(data + at, size - at);
            /* guard:scan_utf8 */
            if (length == 0)
                return PW_JSON_NOT_UTF8;
            scan.escaped = false;
            scan.content = true;
        }
        at += length;
    }
    if (!scan.content)
        return PW_JSON_EMPTY;
    /* guard:scan_syntax */
    return pw_json_valid((struct pw_json){data, size}) ? PW_JSON_OK : PW_JSON_INVALID;
}

const char *
pw_json_problem_text(enum pw_json_problem problem)
{
    switch (problem) {
    case PW_JSON_OK:
        return "has no problem";
    case PW_JSON_EMPTY:
        return "is empty";
    case PW_JSON_TOO_LARGE:
        return "is too large";
    case PW_JSON_TOO_DEEP:
        return "is nested too deep";
    case PW_JSON_NOT_UTF8:
        return "is not valid UTF-8";
    case PW_JSON_HAS_NUL:
        return "holds a NUL byte";
    case PW_JSON_INVALID:
        return "is not valid JSON";
    }
    return "has an unknown problem";
}
