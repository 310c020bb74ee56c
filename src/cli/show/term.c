/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show/term.h"
#include "base/utf8.h"

#include "base/text.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

static struct {
    bool tty[2];
    bool colour[2];
} term;

void
term_init(void)
{
    const char *no_colour = getenv("NO_COLOR");
    const char *name = getenv("TERM");
    bool may =
        (no_colour == NULL || no_colour[0] == '\0') && name != NULL && strcmp(name, "dumb") != 0;

    term.tty[TERM_OUT] = isatty(STDOUT_FILENO) == 1;
    term.tty[TERM_ERR] = isatty(STDERR_FILENO) == 1;
    term.colour[TERM_OUT] = may && term.tty[TERM_OUT];
    term.colour[TERM_ERR] = may && term.tty[TERM_ERR];
}

bool
term_is_tty(enum term_stream stream)
{
    return term.tty[stream];
}

size_t
term_width(void)
{
    struct winsize size = {0};
    const char *columns = getenv("COLUMNS");
    int64_t wide;

    if (!term.tty[TERM_OUT])
        return 0;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20)
        return size.ws_col;
    if (pw_parse_i64(columns, 20, 10000, &wide))
        return (size_t)wide;
    return 80;
}

bool
term_is_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *locale = NULL;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && (locale == NULL || *locale == '\0');
         i++)
        locale = getenv(names[i]);
    return locale != NULL &&
        (strcasestr(locale, "utf-8") != NULL || strcasestr(locale, "utf8") != NULL);
}

const char *
term_style(enum term_stream stream, enum term_style style)
{
    static const char *const sequences[] = {
        [TERM_PLAIN] = "\033[0m",
        [TERM_BOLD] = "\033[1m",
        [TERM_DIM] = "\033[2m",
        [TERM_GOOD] = "\033[32m",
        [TERM_BAD] = "\033[31m",
        [TERM_WAIT] = "\033[33m",
    };

    return term.colour[stream] ? sequences[style] : "";
}

enum term_style
term_style_of(const char *state)
{
    static const struct {
        const char *state;
        enum term_style style;
    } styles[] = {
        {"SUCCESS", TERM_GOOD},
        {"ERROR", TERM_BAD},
        {"CANCELLED", TERM_DIM},
        {"RUNNING", TERM_BOLD},
        {"PAUSED", TERM_WAIT},
    };

    for (size_t i = 0; i < sizeof(styles) / sizeof(styles[0]); i++)
        if (strncmp(state, styles[i].state, strlen(styles[i].state)) == 0)
            return styles[i].style;
    return TERM_PLAIN;
}

/* Reads the next character of UTF-8. Returns its bytes and sets its columns; an invalid byte is one byte and one column. */
static size_t
next(const char *text, size_t *columns)
{
    mbstate_t state = {0};
    wchar_t wide;
    /* Look only MB_LEN_MAX bytes ahead: the end of the text may be a megabyte away. */
    size_t size = mbrtowc(&wide, text, strnlen(text, MB_LEN_MAX), &state);
    int width;

    *columns = 1;
    if (size == (size_t)-1 || size == (size_t)-2 || size == 0)
        return 1;
    width = wcwidth(wide);
    if (width >= 0 && !pw_utf8_is_control(text, size))
        *columns = (size_t)width;
    return size;
}

static void
print_one(FILE *out, const char *text, size_t size)
{
    if (pw_utf8_is_control(text, size))
        (void)fputc(text[0] == '\n' || text[0] == '\t' ? ' ' : '.', out);
    else
        (void)fwrite(text, 1, size, out);
}

size_t
term_next(const char *text, wchar_t *glyph, size_t *columns)
{
    size_t size = next(text, columns);
    mbstate_t state = {0};

    if (pw_utf8_is_control(text, size))
        *glyph = text[0] == '\n' || text[0] == '\t' ? L' ' : L'.';
    else if (mbrtowc(glyph, text, size, &state) != size)
        *glyph = L'.';
    return size;
}

void
term_print(FILE *out, const char *text)
{
    size_t columns;

    while (text != NULL && *text != '\0') {
        size_t size = next(text, &columns);

        print_one(out, text, size);
        text += size;
    }
}

size_t
term_columns(const char *text)
{
    size_t sum = 0;
    size_t columns;

    while (text != NULL && *text != '\0') {
        text += next(text, &columns);
        sum += columns;
    }
    return sum;
}

size_t
term_print_cut(FILE *out, const char *text, size_t columns)
{
    size_t printed = 0;
    bool cut = term_columns(text) > columns;
    size_t room = cut && columns > 0 ? columns - 1 : columns;

    while (text != NULL && *text != '\0') {
        size_t width;
        size_t size = next(text, &width);

        if (printed + width > room)
            break;
        print_one(out, text, size);
        printed += width;
        text += size;
    }
    if (cut && columns > 0) {
        (void)fputs("…", out);
        printed++;
    }
    return printed;
}
