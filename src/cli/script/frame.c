/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/script/frame.h"

#include "base/utf8.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

enum {
    HEAD = 4
};

size_t
frame_begin(struct pw_buf *buf, struct pw_json_writer *writer)
{
    size_t start = buf->size;

    pw_buf_add_be32(buf, 0);
    pw_json_writer_init(writer, buf);
    pw_json_open(writer, '{');
    return start;
}

void
frame_end(struct pw_buf *buf, struct pw_json_writer *writer, size_t start)
{
    pw_json_close(writer);
    if (pw_buf_ok(buf))
        pw_buf_put_be32(buf, start, (uint32_t)(buf->size - start - HEAD));
}

/* Returns the length of the first message that was read; 0 if the length is not complete yet. */
static size_t
length_of(const struct frame_reader *reader)
{
    const unsigned char *head = (const unsigned char *)reader->data;

    if (reader->size < HEAD)
        return 0;
    return ((size_t)head[0] << 24 | (size_t)head[1] << 16 | (size_t)head[2] << 8 | head[3]) + HEAD;
}

/* Makes space for at least one more byte. */
static bool
make_room(struct frame_reader *reader)
{
    size_t wanted = length_of(reader);
    char *larger;

    /* guard:frame_max */
    if (wanted > FRAME_MAX + HEAD) {
        errno = EMSGSIZE;
        return false;
    }
    if (wanted <= reader->size)
        wanted = reader->size + 512;
    if (wanted <= reader->room)
        return true;
    larger = realloc(reader->data, wanted);
    if (larger == NULL) {
        errno = ENOMEM;
        return false;
    }
    reader->data = larger;
    reader->room = wanted;
    return true;
}

static void
drop_taken(struct frame_reader *reader)
{
    if (reader->taken == 0)
        return;
    reader->size -= reader->taken;
    memmove(reader->data, reader->data + reader->taken, reader->size);
    reader->taken = 0;
}

ssize_t
frame_read(struct frame_reader *reader, int fd)
{
    ssize_t got;

    drop_taken(reader);
    if (!make_room(reader))
        return -1;
    do
        got = read(fd, reader->data + reader->size, reader->room - reader->size);
    while (got < 0 && errno == EINTR);
    if (got > 0)
        reader->size += (size_t)got;
    return got;
}

bool
frame_next(struct frame_reader *reader, struct pw_json *message, bool *bad)
{
    size_t length;

    drop_taken(reader);
    length = length_of(reader);
    if (length == 0 || length > reader->size)
        return false;
    reader->taken = length;
    *message = (struct pw_json){reader->data + HEAD, length - HEAD};
    *bad = message->size == 0 || message->data[0] != '{' || !pw_json_valid(*message) ||
        !pw_utf8_valid(message->data, message->size);
    return true;
}

void
frame_done(struct frame_reader *reader)
{
    free(reader->data);
    *reader = (struct frame_reader){0};
}

static void
add_base64(struct pw_buf *buf, const unsigned char *data, size_t size)
{
    pw_buf_addc(buf, '"');
    for (size_t i = 0; i < size; i += 3) {
        size_t count = size - i < 3 ? size - i : 3;
        uint32_t bits = (uint32_t)data[i] << 16;
        char quad[4];

        bits |= count > 1 ? (uint32_t)data[i + 1] << 8 : 0;
        bits |= count > 2 ? data[i + 2] : 0;
        for (unsigned d = 0; d < 4; d++)
            quad[d] = d <= count ? digits[bits >> (18 - 6 * d) & 63] : '=';
        pw_buf_add(buf, quad, 4);
    }
    pw_buf_addc(buf, '"');
}

void
frame_add_output(struct pw_json_writer *writer, const char *data, size_t size)
{
    struct pw_buf text;

    /* A NUL is valid UTF-8, but PostgreSQL cannot store it in a text. */
    if (size == 0 || (pw_utf8_valid(data, size) && memchr(data, '\0', size) == NULL)) {
        pw_json_add_string(writer, data, size);
        return;
    }
    pw_buf_init(&text, size * 2 + 16);
    add_base64(&text, (const unsigned char *)data, size);
    pw_json_open(writer, '{');
    pw_json_key(writer, "base64");
    if (pw_buf_ok(&text))
        pw_json_add_raw(writer, text.data, text.size);
    else
        pw_json_add_null(writer);
    pw_json_close(writer);
    pw_buf_done(&text);
}

static size_t
from_base64(const char *text, size_t size, char *out)
{
    uint32_t bits = 0;
    unsigned have = 0;
    size_t made = 0;

    for (size_t i = 0; i < size; i++) {
        const char *digit = memchr(digits, text[i], 64);

        if (digit == NULL)
            continue;
        bits = bits << 6 | (uint32_t)(digit - digits);
        have += 6;
        if (have >= 8) {
            have -= 8;
            out[made++] = (char)(bits >> have & 255);
        }
    }
    return made;
}

char *
frame_output_of(struct pw_json value, size_t *size)
{
    struct pw_json coded = {0};
    const char *at;
    char *text = malloc(value.size + 1);

    *size = 0;
    if (text == NULL)
        return NULL;
    if (value.size > 0 && value.data[0] == '{')
        coded = pw_json_member(value, "base64");
    if (coded.data != NULL && coded.data[0] == '"') {
        *size = from_base64(coded.data + 1, coded.size - 2, text);
    } else if (value.size >= 2 && value.data[0] == '"') {
        at = value.data + 1;
        while (at < value.data + value.size - 1)
            *size += pw_json_unescape(&at, value.data + value.size - 1, text + *size);
    } else if (pw_json_given(value)) {
        memcpy(text, value.data, value.size);
        *size = value.size;
    }
    text[*size] = '\0';
    return text;
}
