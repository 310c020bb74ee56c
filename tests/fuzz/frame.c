/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of scripts come in pieces of any size, and are those that one reader of the whole finds; and any output reads back as the bytes that it was. */
#include "cli/script/frame.h"
#include "base/utf8.h"
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PIPE_MAX = 60000 /* what a pipe takes at once */
};

/* The bytes of the message that stands at *at, if it is whole; moves behind it. */
static bool
next_message(const char **at, const char *end, struct pw_json *message)
{
    const unsigned char *head = (const unsigned char *)*at;
    size_t length;

    if (end - *at < 4)
        return false;
    length = (size_t)head[0] << 24 | (size_t)head[1] << 16 | (size_t)head[2] << 8 | head[3];
    if (length > (size_t)(end - *at - 4))
        return false;
    *message = (struct pw_json){*at + 4, length};
    *at += 4 + length;
    return true;
}

/* Compares what the reader has with what there should be; returns how many there were. */
static void
take_all(struct frame_reader *reader, const char **at, const char *end)
{
    struct pw_json message;
    struct pw_json right = {0};
    bool bad = false;

    while (frame_next(reader, &message, &bad)) {
        fuzz_check(next_message(at, end, &right), "a message too many");
        fuzz_check(message.size == right.size && memcmp(message.data, right.data, right.size) == 0,
            "another message");
        fuzz_check(bad ==
                !(right.size > 0 && right.data[0] == '{' && pw_json_valid(right) &&
                    pw_utf8_valid(right.data, right.size)),
            "two opinions about a message");
        if (!bad) {
            size_t size = 0;
            char *text = frame_output_of(pw_json_member(message, "output"), &size);

            fuzz_check(text != NULL && text[size] == '\0', "an output without an end");
            free(text);
        }
    }
}

static void
try_reader(const char *data, size_t size, size_t piece)
{
    struct frame_reader reader = {0};
    const char *right = data;
    const char *end = data + size;
    int ends[2];
    bool refused = false;

    fuzz_check(pipe(ends) == 0, "no pipe");
    for (size_t at = 0; at < size && !refused; at += piece) {
        size_t count = size - at < piece ? size - at : piece;

        fuzz_check(write(ends[1], data + at, count) == (ssize_t)count, "no room in the pipe");
        for (size_t left = count; left > 0 && !refused;) {
            ssize_t got = frame_read(&reader, ends[0]);

            refused = got < 0;
            left -= refused ? 0 : (size_t)got;
            take_all(&reader, &right, end);
        }
    }
    if (!refused) {
        struct pw_json more;

        fuzz_check(!next_message(&right, end, &more), "a message was not given");
    }
    frame_done(&reader);
    (void)close(ends[0]);
    (void)close(ends[1]);
}

static void
try_output(const char *data, size_t size)
{
    struct pw_json_writer writer;
    struct pw_buf buf;
    struct pw_json json;
    size_t got = 0;
    char *text;

    pw_buf_init(&buf, 8 * PIPE_MAX);
    pw_json_writer_init(&writer, &buf);
    frame_add_output(&writer, data, size);
    fuzz_check(pw_json_ok(&writer), "an output cannot be written");
    json = (struct pw_json){buf.data, buf.size};
    fuzz_check(pw_json_valid(json), "an output that is no JSON");
    text = frame_output_of(json, &got);
    fuzz_check(text != NULL && got == size && memcmp(text, data, size) == 0,
        "an output reads back as another");
    free(text);
    pw_buf_done(&buf);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input(data, size);
    size_t piece = (size_t)fuzz_byte(&input) + 1;
    size_t left = (size_t)(input.end - input.at);
    size_t plain = 0;
    char *text;

    if (left > PIPE_MAX)
        return 0;
    try_reader(input.at, left, piece);
    try_output(input.at, left);
    if (pw_json_valid((struct pw_json){input.at, left})) {
        text = frame_output_of((struct pw_json){input.at, left}, &plain);
        fuzz_check(text != NULL && plain <= left, "an output longer than its JSON");
        free(text);
    }
    return 0;
}
