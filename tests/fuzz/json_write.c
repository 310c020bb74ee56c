/* SPDX-License-Identifier: Apache-2.0 */
/* What is written is valid and reads back: strings byte by byte, except what is no character; numbers as the same number; and whatever the writer calls well is JSON. */
#include "base/json_write.h"
#include "base/buf.h"
#include "base/json_read.h"
#include "base/text.h"
#include "base/utf8.h"
#include "fuzz.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUF_MAX = 1024 * 1024
};

/* Reads the string in json back and compares it with what was to be written. */
static void
check_string(struct pw_json json, const char *data, size_t size)
{
    static const char replacement[] = "\xef\xbf\xbd";
    const char *at = json.data + 1;
    const char *end = json.data + json.size - 1;
    size_t i = 0;

    while (i < size) {
        size_t length = pw_utf8_length(data + i, size - i);
        /* Half a character is written as one replacement for each byte; a NUL reads back as one. */
        const char *wanted = length == 0 || data[i] == '\0' ? replacement : data + i;
        size_t wanted_size = length == 0 || data[i] == '\0' ? 3 : length;
        char got[8];
        size_t got_size = 0;

        while (got_size < wanted_size && at < end)
            got_size += pw_json_unescape(&at, end, got + got_size);
        fuzz_check(got_size == wanted_size && memcmp(got, wanted, got_size) == 0,
            "a string reads back as another");
        i += length > 0 ? length : 1;
    }
    fuzz_check(at == end, "a string reads back longer");
}

static void
try_string(const char *data, size_t size)
{
    struct pw_buf buf;
    struct pw_json json;

    pw_buf_init(&buf, BUF_MAX);
    pw_json_string(&buf, data, size);
    if (pw_buf_ok(&buf)) {
        json = (struct pw_json){buf.data, buf.size};
        fuzz_check(pw_json_valid(json), "a string that is no JSON");
        fuzz_check(pw_utf8_valid(buf.data, buf.size), "a string that is not UTF-8");
        check_string(json, data, size);
    }
    pw_buf_done(&buf);
}

static void
try_numbers(const char *data, size_t size)
{
    struct pw_buf buf;
    double real = 0;
    double again;
    int64_t number = 0;
    int64_t number_again;

    memcpy(&real, data, size < sizeof(real) ? size : sizeof(real));
    memcpy(&number, data, size < sizeof(number) ? size : sizeof(number));
    pw_buf_init(&buf, BUF_MAX);
    pw_json_double(&buf, real);
    fuzz_check(pw_json_valid((struct pw_json){buf.data, buf.size}), "a number that is no JSON");
    if (isfinite(real))
        fuzz_check(pw_parse_double(pw_buf_text(&buf), -DBL_MAX, DBL_MAX, &again) &&
                memcmp(&again, &real, sizeof(real)) == 0,
            "a number reads back as another");
    pw_buf_clear(&buf);
    pw_json_int(&buf, number);
    fuzz_check(pw_json_to_int((struct pw_json){buf.data, buf.size}, &number_again) &&
            number_again == number,
        "a whole number reads back as another");
    pw_buf_done(&buf);
}

/* Each byte is something that the writer is told to do, sensible or not. */
static void
try_writer(const char *data, size_t size)
{
    struct pw_json_writer writer;
    struct pw_buf buf;

    pw_buf_init(&buf, BUF_MAX);
    pw_json_writer_init(&writer, &buf);
    for (size_t i = 0; i < size; i++) {
        switch (data[i]) {
        case '{':
        case '[':
            pw_json_open(&writer, data[i]);
            break;
        case '}':
        case ']':
            pw_json_close(&writer);
            break;
        case 'k':
            pw_json_key(&writer, "key");
            break;
        case 'i':
            pw_json_add_int(&writer, (int64_t)i);
            break;
        case 'd':
            pw_json_add_double(&writer, (double)i / 7);
            break;
        case 'n':
            pw_json_add_null(&writer);
            break;
        case 'b':
            pw_json_add_bool(&writer, true);
            break;
        case 'r':
            pw_json_add_raw(&writer, "[1]", 3);
            break;
        case 't':
            pw_json_add_text(&writer, NULL);
            break;
        default:
            pw_json_add_string(&writer, data + i, size - i < 3 ? size - i : 3);
        }
    }
    if (pw_json_ok(&writer))
        fuzz_check(pw_json_valid((struct pw_json){buf.data, buf.size}), "it is well, and no JSON");
    pw_buf_done(&buf);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input(data, size);

    try_string(input.at, size);
    try_numbers(input.at, size);
    try_writer(input.at, size);
    return 0;
}
