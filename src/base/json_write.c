/* SPDX-License-Identifier: Apache-2.0 */
/* Writes JSON values, and keeps count of commas and brackets. */
#include "json_write.h"

#include "text.h"
#include "utf8.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Writes the escape of a byte that must not be in a string as it is. */
static void
add_escape(struct pw_buf *buf, char c)
{
    static const char plain[] = "\"\\\b\f\n\r\t";
    static const char letters[] = "\"\\bfnrt";
    const char *found = c != '\0' ? strchr(plain, c) : NULL;

    if (found != NULL) {
        const char escape[] = {'\\', letters[found - plain]};

        pw_buf_add(buf, escape, sizeof(escape));
    } else if ((unsigned char)c < 0x20) {
        pw_buf_addf(buf, "\\u%04x", (unsigned)c);
    } else {
        pw_buf_adds(buf, "\xef\xbf\xbd");
    }
}

void
pw_json_string(struct pw_buf *buf, const char *data, size_t size)
{
    size_t from = 0, at = 0;

    pw_buf_addc(buf, '"');
    while (at < size) {
        unsigned char c = (unsigned char)data[at];
        size_t length = 0;

        if (c >= 0x20 && c != '"' && c != '\\')
            length = c < 0x80 ? 1 : pw_utf8_length(data + at, size - at);
        if (length > 0) {
            at += length;
            continue;
        }
        pw_buf_add(buf, data + from, at - from);
        add_escape(buf, data[at]);
        from = ++at;
    }
    if (at > from)
        pw_buf_add(buf, data + from, at - from);
    pw_buf_addc(buf, '"');
}

void
pw_json_int(struct pw_buf *buf, int64_t value)
{
    pw_buf_addf(buf, "%" PRId64, value);
}

/* The decimal point of a locale may be another character, of several bytes. */
static void
make_point(char *text)
{
    char *out = text;

    for (const char *in = text; *in != '\0'; in++) {
        if (strchr("0123456789+-e", *in) != NULL)
            *out++ = *in;
        else if (out == text || out[-1] != '.')
            *out++ = '.';
    }
    *out = '\0';
}

void
pw_json_double(struct pw_buf *buf, double value)
{
    char text[64];
    double back;

    if (!isfinite(value)) {
        pw_buf_adds(buf, "null");
        return;
    }
    /* Seventeen digits always suffice. */
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, sizeof(text), "%.*g", digits, value); /* 17 digits fit */
        make_point(text);
        if (pw_parse_double(text, -DBL_MAX, DBL_MAX, &back) && back == value)
            break;
    }
    pw_buf_adds(buf, text);
}

void
pw_json_writer_init(struct pw_json_writer *w, struct pw_buf *buf)
{
    *w = (struct pw_json_writer){.buf = buf};
}

static bool
is_inside(const struct pw_json_writer *w, char kind)
{
    return w->depth > 0 && w->open[w->depth - 1] == kind;
}

/* Writes the comma before a value if one is needed. Returns false if no value is allowed here. */
static bool
begin_value(struct pw_json_writer *w)
{
    if (w->misused)
        return false;
    if ((w->depth == 0 && w->comma) || (is_inside(w, '{') && !w->keyed)) {
        w->misused = true;
        return false;
    }
    if (is_inside(w, '[') && w->comma)
        pw_buf_addc(w->buf, ',');
    w->comma = true;
    w->keyed = false;
    return true;
}

void
pw_json_open(struct pw_json_writer *w, char kind)
{
    if ((kind != '{' && kind != '[') || w->depth >= PW_JSON_WRITER_DEPTH)
        w->misused = true;
    if (!begin_value(w))
        return;
    pw_buf_addc(w->buf, kind);
    w->open[w->depth++] = kind;
    w->comma = false;
}

void
pw_json_close(struct pw_json_writer *w)
{
    if (w->depth == 0 || w->keyed)
        w->misused = true;
    if (w->misused)
        return;
    pw_buf_addc(w->buf, w->open[--w->depth] == '{' ? '}' : ']');
    w->comma = true;
}

void
pw_json_key(struct pw_json_writer *w, const char *name)
{
    if (!is_inside(w, '{') || w->keyed)
        w->misused = true;
    if (w->misused)
        return;
    if (w->comma)
        pw_buf_addc(w->buf, ',');
    pw_json_string(w->buf, name, strlen(name));
    pw_buf_addc(w->buf, ':');
    w->keyed = true;
}

void
pw_json_add_string(struct pw_json_writer *w, const char *data, size_t size)
{
    if (begin_value(w))
        pw_json_string(w->buf, data, size);
}

void
pw_json_add_text(struct pw_json_writer *w, const char *text)
{
    if (text != NULL)
        pw_json_add_string(w, text, strlen(text));
    else
        pw_json_add_null(w);
}

void
pw_json_add_int(struct pw_json_writer *w, int64_t value)
{
    if (begin_value(w))
        pw_json_int(w->buf, value);
}

void
pw_json_add_double(struct pw_json_writer *w, double value)
{
    if (begin_value(w))
        pw_json_double(w->buf, value);
}

void
pw_json_add_bool(struct pw_json_writer *w, bool value)
{
    if (begin_value(w))
        pw_buf_adds(w->buf, value ? "true" : "false");
}

void
pw_json_add_null(struct pw_json_writer *w)
{
    if (begin_value(w))
        pw_buf_adds(w->buf, "null");
}

void
pw_json_add_raw(struct pw_json_writer *w, const char *data, size_t size)
{
    if (size == 0)
        w->misused = true;
    if (begin_value(w))
        pw_buf_add(w->buf, data, size);
}

bool
pw_json_ok(const struct pw_json_writer *w)
{
    return !w->misused && w->depth == 0 && w->comma && pw_buf_ok(w->buf);
}
