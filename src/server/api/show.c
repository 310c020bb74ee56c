/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/show.h"

#include "base/json_write.h"
#include "base/pg_text/interval.h"
#include "base/pg_text/list_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool
show_time(const char *text, char out[SHOW_TIME_SIZE])
{
    size_t size = strlen(text);

    if (size < 22 || size >= SHOW_TIME_SIZE || strcmp(text + size - 3, "+00") != 0 ||
        text[size - 1] < '0')
        return false;
    memcpy(out, text, size - 3);
    out[size - 3] = 'Z';
    out[size - 2] = '\0';
    for (char *at = out; *at != '\0'; at++)
        if (*at == ' ') {
            *at = 'T';
            return true;
        }
    return false;
}

static void
add_interval(struct pw_buf *out, const char *text)
{
    int64_t us;

    if (!pw_interval_read(text, &us))
        pw_json_string(out, text, strlen(text));
    else if (us % 1000 == 0)
        pw_json_int(out, us / 1000);
    else
        pw_json_double(out, (double)us / 1000);
}

/* A list of numbers has no type of its own: {1,2}. */
static bool
add_numbers(struct pw_buf *out, const char *column, const char *text)
{
    size_t size = strlen(text);

    if (strcmp(column, "bars") != 0 || size < 2 || strspn(text, "{},0123456789") != size)
        return false;
    pw_buf_addc(out, '[');
    pw_buf_add(out, text + 1, size - 2);
    pw_buf_addc(out, ']');
    return true;
}

static void
add_text(struct pw_buf *out, const char *column, int type, const char *text)
{
    char time[SHOW_TIME_SIZE];

    if (text == NULL) {
        pw_buf_adds(out, "null");
        return;
    }
    switch (type) {
    case PAWL_TYPE_BOOLEAN:
        pw_buf_adds(out, text[0] == 't' ? "true" : "false");
        return;
    case PAWL_TYPE_JSON:
        pw_buf_adds(out, text);
        return;
    case PAWL_TYPE_LIST:
        pw_list_text_write_json(out, text);
        return;
    case PAWL_TYPE_INTERVAL:
        add_interval(out, text);
        return;
    case PAWL_TYPE_TIME:
        if (show_time(text, time))
            text = time;
        break;
    case PAWL_TYPE_NUMBER:
        if (strpbrk(text, "nN") != NULL) /* NaN, Infinity */
            break;
        pw_buf_adds(out, text);
        return;
    default:
        if (add_numbers(out, column, text))
            return;
        break;
    }
    pw_json_string(out, text, strlen(text));
}

void
show_value(struct pw_buf *out, const pawl_rows *rows, size_t row, const char *column)
{
    add_text(out, column, pawl_rows_type(rows, column), pawl_rows_text(rows, row, column));
}

void
show_members(struct pw_buf *out, const pawl_rows *rows, size_t row, const char *without)
{
    bool first = true;

    for (size_t i = 0; i < pawl_rows_column_count(rows); i++) {
        const char *column = pawl_rows_column_name(rows, i);
        int type = pawl_rows_type(rows, column);

        if (without != NULL && strcmp(column, without) == 0)
            continue;
        pw_buf_adds(out, first ? "\"" : ",\"");
        pw_buf_adds(out, column);
        pw_buf_adds(out, type == PAWL_TYPE_INTERVAL ? "_ms\":" : "\":");
        add_text(out, column, type, pawl_rows_text(rows, row, column));
        first = false;
    }
}

void
show_row(struct pw_buf *out, const pawl_rows *rows, size_t row, const char *without)
{
    pw_buf_addc(out, '{');
    show_members(out, rows, row, without);
    pw_buf_addc(out, '}');
}
