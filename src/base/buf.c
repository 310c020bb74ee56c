/* SPDX-License-Identifier: Apache-2.0 */
/* A growing buffer with a maximum and a sticky error. */
#include "buf.h"

#include "alloc.h"
#include "size.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const size_t ROOM_FIRST = 64;

/* Makes room for extra bytes and the NUL. False, with the failure set, if that cannot be. */
static bool
reserve(struct pw_buf *buf, size_t extra)
{
    size_t needed, room, most;
    char *data;
    char *old;

    if (buf->failure != PW_BUF_NONE)
        return false;
    if (!pw_size_add(buf->size, extra, &needed) || needed > buf->max ||
        !pw_size_add(needed, 1, &needed)) {
        buf->failure = PW_BUF_LIMIT;
        return false;
    }
    if (needed <= buf->room)
        return true;
    if (!pw_size_add(buf->max, 1, &most))
        most = buf->max;
    room = buf->room > 0 ? buf->room : ROOM_FIRST;
    while (room < needed && room <= most / 2)
        room *= 2;
    if (room < needed || room > most)
        room = most;
    data = pw_alloc(room);
    if (data == NULL) {
        buf->failure = PW_BUF_OOM;
        return false;
    }
    /* The old bytes are freed last: a child that another thread forks now frees what buf->data points to. */
    if (buf->size > 0)
        memcpy(data, buf->data, buf->size);
    data[buf->size] = '\0';
    old = buf->data;
    buf->data = data;
    buf->room = room;
    pw_free(old);
    return true;
}

void
pw_buf_init(struct pw_buf *buf, size_t max)
{
    *buf = (struct pw_buf){.max = max};
}

void
pw_buf_done(struct pw_buf *buf)
{
    pw_free(buf->data);
    pw_buf_init(buf, buf->max);
}

void
pw_buf_clear(struct pw_buf *buf)
{
    buf->size = 0;
    buf->failure = PW_BUF_NONE;
    if (buf->data != NULL)
        buf->data[0] = '\0';
}

void
pw_buf_add(struct pw_buf *buf, const void *data, size_t size)
{
    if (!reserve(buf, size))
        return;
    if (size > 0)
        memcpy(buf->data + buf->size, data, size);
    buf->size += size;
    buf->data[buf->size] = '\0';
}

void
pw_buf_adds(struct pw_buf *buf, const char *text)
{
    pw_buf_add(buf, text, strlen(text));
}

void
pw_buf_addc(struct pw_buf *buf, char c)
{
    pw_buf_add(buf, &c, 1);
}

void
pw_buf_addf(struct pw_buf *buf, const char *format, ...)
{
    va_list args;
    size_t room;
    int length;

    if (!reserve(buf, 0))
        return;
    room = buf->room - buf->size;
    va_start(args, format);
    length = vsnprintf(buf->data + buf->size, room, format, args);
    va_end(args);
    if (length < 0) {
        buf->failure = errno == ENOMEM ? PW_BUF_OOM : PW_BUF_LIMIT;
        length = 0;
    } else if ((size_t)length >= room) {
        if (reserve(buf, (size_t)length)) {
            va_start(args, format);
            length = vsnprintf(buf->data + buf->size, (size_t)length + 1, format, args);
            va_end(args);
        } else {
            length = 0;
        }
    }
    buf->size += (size_t)length;
    buf->data[buf->size] = '\0';
}

static void
write_be32(uint8_t out[4], uint32_t value)
{
    for (int i = 0; i < 4; i++)
        out[i] = (uint8_t)(value >> (24 - 8 * i));
}

void
pw_buf_add_be32(struct pw_buf *buf, uint32_t value)
{
    uint8_t bytes[4];

    write_be32(bytes, value);
    pw_buf_add(buf, bytes, sizeof(bytes));
}

void
pw_buf_put_be32(struct pw_buf *buf, size_t offset, uint32_t value)
{
    if (buf->failure != PW_BUF_NONE)
        return;
    if (buf->size < 4 || offset > buf->size - 4) {
        buf->failure = PW_BUF_LIMIT;
        return;
    }
    write_be32((uint8_t *)buf->data + offset, value);
}

bool
pw_buf_ok(const struct pw_buf *buf)
{
    return buf->failure == PW_BUF_NONE;
}

const char *
pw_buf_text(const struct pw_buf *buf)
{
    return buf->data != NULL ? buf->data : "";
}
