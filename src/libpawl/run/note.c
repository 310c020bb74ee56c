/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notes: log lines and progress reports that are stored with the run, and the pieces of text that a step streams. No handler waits for
 * them. Notes over the limit, or without memory, are dropped.
 */
#include "base/alloc.h"
#include "base/utf8.h"
#include "libpawl/run/branch.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char progress[] = "{\"kind\":\"progress\"}";

/* One bad byte in a text would break the whole batch, so it becomes a question mark. */
static void
mend_text(char *text)
{
    size_t size = strlen(text);

    for (size_t at = 0; at < size;) {
        size_t length = pw_utf8_length(text + at, size - at);

        if (length == 0)
            text[at] = '?';
        at += length > 0 ? length : 1;
    }
}

/* Returns the length of a text that is cut to at most max bytes. */
static size_t
cut_length(const char *text, size_t max)
{
    size_t size = strnlen(text, max + 1);

    return size <= max ? size : pw_utf8_cut(text, max);
}

/* A note in one block, so that it can be freed as one: the item, then its text, then its name. */
static PAWL_PRINTF(2, 0) struct pw_item *make_note(
    const char *name, const char *format, va_list args)
{
    size_t name_size = name != NULL ? cut_length(name, PW_NOTE_NAME_MAX) : 0;
    struct pw_item *item;
    va_list again;
    size_t size;
    char *text;
    int length;

    va_copy(again, args);
    length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0)
        return NULL;
    /* guard:note_max */
    size = length > PW_NOTE_MAX ? PW_NOTE_MAX : (size_t)length;
    item = pw_alloc(sizeof(*item) + size + 1 + name_size + 1);
    if (item == NULL)
        return NULL;
    text = (char *)(item + 1);
    (void)vsnprintf(text, size + 1, format, args); /* its length is known */
    text[pw_utf8_cut(text, strlen(text))] = '\0';
    mend_text(text);
    *item = (struct pw_item){.kind = PW_KIND_NOTE,
        .payload = {text, strlen(text)},
        .seq = INT32_MIN,
        .millis = INT32_MIN};
    if (name != NULL) {
        char *copy = text + size + 1;

        memcpy(copy, name, name_size);
        copy[name_size] = '\0';
        mend_text(copy);
        item->name = copy;
    }
    pw_list_init(&item->link);
    return item;
}

static PAWL_PRINTF(4, 0) void add_note(
    pawl_run *run, const char *name, pawl_bytes option, const char *format, va_list args)
{
    pawl_run *trunk = run->trunk;
    struct pw_item *item = NULL;

    /* The counter is read first, so that it cannot grow without limit, and then raised, so that it is exact. */
    if (pw_branch_standing(run) == PAWL_OK && atomic_load(&trunk->notes) < PW_NOTES_MAX &&
        atomic_fetch_add(&trunk->notes, 1) < PW_NOTES_MAX)
        item = make_note(name, format, args);
    if (item == NULL) {
        atomic_fetch_add(&trunk->notes_dropped, 1);
        return;
    }
    item->option = option;
    item->task = run->task;
    pw_task_post(item);
}

void
pawl_run_log(pawl_run *run, const char *format, ...)
{
    va_list args;

    if (!pw_branch_here(run) || format == NULL)
        return;
    va_start(args, format);
    add_note(run, NULL, (pawl_bytes){0}, format, args);
    va_end(args);
}

void
pawl_run_progress(pawl_run *run, const char *name, const char *format, ...)
{
    va_list args;

    if (!pw_branch_here(run) || format == NULL)
        return;
    va_start(args, format);
    add_note(run, name, (pawl_bytes){progress, sizeof(progress) - 1}, format, args);
    va_end(args);
}

/* The size of a text for %.*s, which ends at a NUL byte. A longer text is cut by the functions above. */
static int
size_of(pawl_bytes text)
{
    return text.size > PW_NOTE_MAX ? PW_NOTE_MAX + 1 : (int)text.size;
}

void
pawl_run_log_text(pawl_run *run, pawl_bytes text)
{
    pawl_run_log(run, "%.*s", size_of(text), text.data != NULL ? text.data : "");
}

void
pawl_run_progress_text(pawl_run *run, const char *name, pawl_bytes text)
{
    pawl_run_progress(run, name, "%.*s", size_of(text), text.data != NULL ? text.data : "");
}

/* Makes a piece of a stream in one block: the item, its option, its name, its text. */
static struct pw_item *
make_piece(const pawl_run *run, int seq, bool begins, const char *text, size_t size)
{
    enum {
        OPTION_MAX = 64
    };
    size_t name_size = strlen(run->executing_step) + 1;
    struct pw_item *item = pw_alloc(sizeof(*item) + OPTION_MAX + name_size + size + 1);
    char *option;
    char *name;
    char *copy;

    if (item == NULL)
        return NULL;
    option = (char *)(item + 1);
    name = option + OPTION_MAX;
    copy = name + name_size;
    memcpy(name, run->executing_step, name_size);
    memcpy(copy, text, size);
    copy[size] = '\0';
    mend_text(copy);
    *item = (struct pw_item){.kind = PW_KIND_NOTE,
        .name = name,
        .payload = {copy, size},
        .option = {option,
            (size_t)snprintf(option, OPTION_MAX, "{\"kind\":\"stream\",\"seq\":%d%s}", seq,
                begins ? ",\"begins\":true" : "")},
        .seq = INT32_MIN,
        .millis = INT32_MIN,
        .task = run->task};
    pw_list_init(&item->link);
    return item;
}

/*
 * Posts a piece. The trunk's lock covers its number and its post. 1. Branch A takes number 5. 2. Branch B takes number 6 and posts it. 3. A
 * posts 5. The engine, which takes a number that is not above the last one for a repeated piece, would drop 5.
 */
static void
post_piece(pawl_run *run, const char *text, size_t size)
{
    pawl_run *trunk = run->trunk;
    struct pw_item *item = NULL;

    (void)pthread_mutex_lock(&trunk->lock);
    /* guard:stream_in_step */
    if (run->executing && pw_branch_standing(run) == PAWL_OK &&
        trunk->stream_count < PW_STREAM_MAX && trunk->stream_bytes + size <= PW_STREAM_BYTES_MAX)
        item = make_piece(run, trunk->stream_count + 1, !run->streamed, text, size);
    if (item != NULL) {
        run->streamed = true;
        trunk->stream_count++;
        trunk->stream_bytes += size;
        pw_task_post(item);
    } else {
        atomic_fetch_add(&trunk->notes_dropped, 1);
    }
    (void)pthread_mutex_unlock(&trunk->lock);
}

void
pawl_step_stream(pawl_run *run, pawl_bytes text)
{
    size_t size;

    if (!pw_branch_here(run) || text.data == NULL)
        return;
    size = strnlen(text.data, text.size);
    while (size > 0) {
        size_t piece = size <= PW_NOTE_MAX ? size : pw_utf8_cut(text.data, PW_NOTE_MAX);

        post_piece(run, text.data, piece);
        text.data += piece;
        size -= piece;
    }
}
