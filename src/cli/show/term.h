/* SPDX-License-Identifier: Apache-2.0 */
/* The terminal: whether there is one, how wide it is, whether it has colours, and how to print a text from outside without harm. */
#ifndef PW_CLI_SHOW_TERM_H
#define PW_CLI_SHOW_TERM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <wchar.h>

enum term_stream {
    TERM_OUT,
    TERM_ERR,
};

enum term_style {
    TERM_PLAIN,
    TERM_BOLD,
    TERM_DIM,
    TERM_GOOD,
    TERM_BAD,
    TERM_WAIT, /* it is under way */
};

/* Looks at the environment, once, before anything else here. */
void term_init(void);

bool term_is_tty(enum term_stream stream);

/* Columns; 0 if there is no terminal: then nothing is cut. */
size_t term_width(void);

/* Whether the locale says that it shows UTF-8. */
bool term_is_utf8(void);

/* A sequence to print, or "". */
const char *term_style(enum term_stream stream, enum term_style style);

/* The style of a run's state. */
enum term_style term_style_of(const char *state);

/* Prints a text from outside: control characters, including those that change its direction, are shown as a dot. */
void term_print(FILE *out, const char *text);

/*
 * The next character of a text of somebody else's as it may be shown: control characters and what is no character are a dot. Returns
 * its bytes, and writes its columns, which may be 0.
 */
size_t term_next(const char *text, wchar_t *glyph, size_t *columns);

/* How many columns a text takes. */
size_t term_columns(const char *text);

/* Prints at most so many columns of a text, with an ellipsis if it is longer; returns how many. */
size_t term_print_cut(FILE *out, const char *text, size_t columns);

#endif
