/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notes: log lines and progress reports that are stored with the run. No handler waits for them. Notes over the limit, or without memory,
 * are dropped.
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
