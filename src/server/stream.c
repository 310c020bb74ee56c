/* SPDX-License-Identifier: Apache-2.0 */
#include "server/stream.h"

#include "base/alloc.h"
#include "server/api/show.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum {
    BLOCK = 4096,
    TEXT_SIZE = 4096,
};

struct stream *
stream_new(const char *runs)
{
    size_t size = PAWL_ID_SIZE - 1;
    bool list = runs[0] == '{';
    size_t count = list ? (strlen(runs) - 1) / (size + 1) : 1;
    struct stream *stream = NULL;

    if (count >= 1 && count <= STREAM_RUNS_MAX)
        stream = pw_calloc(1, sizeof(*stream) + count * sizeof(struct watch));
    if (stream == NULL)
        return NULL;
    pw_list_init(&stream->link);
    pw_buf_init(&stream->out, STREAM_UNSENT_MAX);
    stream->count = count;
    for (size_t i = 0; i < count; i++)
        memcpy(stream->watches[i].run, runs + list + i * (size + 1), size);
    return stream;
}

void
stream_free(struct stream *stream)
{
    if (stream == NULL)
        return;
    pw_buf_done(&stream->out);
    pw_free(stream);
}

/* Gives libmicrohttpd what there is, or suspends the connection until there is more. */
static ssize_t
read_more(void *argument, uint64_t position, char *room, size_t size)
{
    struct stream *stream = argument;
    size_t left;
    ssize_t result = 0;

    (void)position;
    (void)pthread_mutex_lock(stream->mutex);
    left = stream->out.size - stream->sent;
    if (left > 0) {
        if (left > size)
            left = size;
        memcpy(room, stream->out.data + stream->sent, left);
        stream->sent += left;
        if (stream->sent == stream->out.size) {
            pw_buf_clear(&stream->out);
            stream->sent = 0;
        }
        result = (ssize_t)left;
    } else if (stream->ending) {
        result = MHD_CONTENT_READER_END_OF_STREAM;
    } else {
        stream->suspended = true;
        MHD_suspend_connection(stream->connection);
    }
    (void)pthread_mutex_unlock(stream->mutex);
    return result;
}

struct MHD_Response *
stream_response(struct stream *stream, struct MHD_Connection *connection, int fd)
{
    (void)pthread_mutex_lock(stream->mutex);
    stream->connection = connection;
    stream->fd = fd;
    stream->begun = true;
    (void)pthread_mutex_unlock(stream->mutex);
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, read_more, stream, NULL);
}

/* Makes room for more by removing what was sent. */
static void
shift(struct stream *stream)
{
    size_t left = stream->out.size - stream->sent;

    if (stream->sent == 0)
        return;
    memmove(stream->out.data, stream->out.data + stream->sent, left);
    stream->out.size = left;
    stream->out.data[left] = '\0';
    stream->sent = 0;
}

void
stream_event(
    struct stream *stream, const char *event, const char *id, const pawl_rows *rows, size_t row)
{
    shift(stream);
    if (id != NULL)
        pw_buf_addf(&stream->out, "id: %s\n", id);
    pw_buf_addf(&stream->out, "event: %s\ndata: ", event);
    show_row(&stream->out, rows, row, NULL);
    pw_buf_adds(&stream->out, "\n\n");
}

void
stream_text(struct stream *stream, const char *event, const char *format, ...)
{
    char text[TEXT_SIZE];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    shift(stream);
    pw_buf_addf(&stream->out, "event: %s\ndata: %s\n\n", event, text);
}

void
stream_comment(struct stream *stream)
{
    shift(stream);
    pw_buf_adds(&stream->out, ":\n\n");
    stream_flush(stream);
}

size_t
stream_unsent(const struct stream *stream)
{
    return stream->out.size - stream->sent;
}

void
stream_flush(struct stream *stream)
{
    if (!stream->begun)
        return;
    if (!pw_buf_ok(&stream->out)) {
        stream->ending = true;
        /* The descriptor is open as long as the stream is in its group. */
        (void)shutdown(stream->fd, SHUT_RDWR);
    }
    if (!stream->suspended || (stream->out.size == stream->sent && !stream->ending))
        return;
    stream->suspended = false;
    MHD_resume_connection(stream->connection);
}
