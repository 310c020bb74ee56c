/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/page.h"

#include "base/text.h"
#include "server/api/show.h"

#include <stdio.h>
#include <string.h>

static const char column_of_cursor[] = "next_cursor";

/* How many rows a page has at most: as the request says, or as the function does without. */
static size_t
page_size(const struct route *route, const struct arguments *arguments)
{
    static const struct {
        const char *verb;
        int64_t rows;
    } sizes[] = {{"list_runs", 50}, {"list_events", 50}, {"list_bulks", 50}, {"list_ended", 1000}};
    const char *given = arguments_get(arguments, "max_rows");
    int64_t size = 100;

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        if (strcmp(sizes[i].verb, route->verb) == 0)
            size = sizes[i].rows;
    if (given != NULL && !pw_parse_i64(given, 0, INT64_MAX, &size))
        size = 0;
    return size < 1000 ? (size_t)size : 1000;
}

/* Whether more may follow. Groups of failures say it by their cursor; a page of waits ends between two runs, so it may be short. */
static bool
has_more(const struct route *route, const struct arguments *arguments, size_t count)
{
    return count > 0 &&
        (strcmp(route->verb, "list_failures") == 0 || strcmp(route->verb, "list_waits") == 0 ||
            count >= page_size(route, arguments));
}

/* A row that has only the cursor: the search has stopped, or there is more after a full page. */
static bool
is_cursor_alone(const pawl_rows *rows, size_t row)
{
    for (size_t i = 0; i < pawl_rows_column_count(rows); i++) {
        const char *name = pawl_rows_column_name(rows, i);

        if (strcmp(name, column_of_cursor) != 0 && pawl_rows_text(rows, row, name) != NULL)
            return false;
    }
    return true;
}

void
page_write(struct pw_buf *out, const struct route *route, const struct arguments *arguments,
    const pawl_rows *rows)
{
    bool by_column = route->cursor != NULL && strcmp(route->cursor, column_of_cursor) == 0;
    size_t count = pawl_rows_count(rows);
    bool alone = by_column && count > 0 && is_cursor_alone(rows, count - 1);
    size_t shown = count - alone;

    pw_buf_addf(out, "{\"%s\":[", route->noun);
    for (size_t i = 0; i < shown; i++) {
        if (i > 0)
            pw_buf_addc(out, ',');
        show_row(out, rows, i, by_column ? column_of_cursor : NULL);
    }
    pw_buf_addc(out, ']');
    if (route->cursor != NULL) {
        bool more = alone || has_more(route, arguments, count);

        pw_buf_adds(out, ",\"next\":");
        if (more)
            show_value(out, rows, count - 1, route->cursor);
        else
            pw_buf_adds(out, "null");
    }
    pw_buf_addc(out, '}');
}

void
page_tag(const char *mark, char tag[PAGE_TAG_SIZE])
{
    (void)snprintf(tag, PAGE_TAG_SIZE, "\"%.36s\"", mark);
}

bool
page_has_tag(const char *header, const char *tag)
{
    size_t size = strlen(tag);

    while (*header != '\0') {
        header += strspn(header, " \t,");
        if (*header == '*')
            return true;
        if (strncmp(header, "W/", 2) == 0)
            header += 2;
        if (strncmp(header, tag, size) == 0 && strchr(" \t,", header[size]) != NULL)
            return true;
        header += strcspn(header, ",");
    }
    return false;
}
