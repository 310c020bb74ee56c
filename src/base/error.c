/* SPDX-License-Identifier: Apache-2.0 */
/* Fills struct pw_error without ever allocating. */
#include "error.h"

#include "utf8.h"

#include <pawl/error.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The text is formatted in a separate buffer and copied at the end, because arguments may point into out. */
__attribute__((format(printf, 3, 0))) static void
format_text(char *out, size_t room, const char *format, va_list args)
{
    char text[sizeof(((struct pw_error *)NULL)->message)];
    int length = vsnprintf(text, room, format, args);
    size_t size;

    /* If the C library cannot format the text, the format itself is shown: better than nothing. */
    if (length < 0)
        length = snprintf(text, room, "%s", format);
    size = strlen(text);
    if ((size_t)length >= room)
        size = pw_utf8_cut(text, size);
    memcpy(out, text, size);
    out[size] = '\0';
}

void
pw_error_set(struct pw_error *err, int code, const char *format, ...)
{
    struct pw_error made = {.code = code};
    va_list args;

    if (err == NULL)
        return;
    va_start(args, format);
    format_text(made.message, sizeof(made.message), format, args);
    va_end(args);
    *err = made;
}

void
pw_error_hint(struct pw_error *err, const char *format, ...)
{
    va_list args;

    if (err == NULL)
        return;
    va_start(args, format);
    format_text(err->hint, sizeof(err->hint), format, args);
    va_end(args);
}

void
pw_error_errno(struct pw_error *err, int code, int errnum, const char *what)
{
    char room[128];

    pw_error_set(err, code, "%s: %s", what, strerror_r(errnum, room, sizeof(room)));
}

void
pw_error_oom(struct pw_error *err)
{
    pw_error_set(err, PAWL_ENOMEM, "out of memory");
    if (err != NULL)
        err->retryable = true;
}

void
pw_error_clear(struct pw_error *err)
{
    if (err != NULL)
        *err = (struct pw_error){0};
}
