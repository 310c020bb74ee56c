/* SPDX-License-Identifier: Apache-2.0 */
/* The terminal: whether there is one, its width, its colors, and how to print an untrusted text safely. */
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
    TERM_WAIT, /* waiting or in progress */
};

/* Reads the environment. Call it once, before any other function of this file. */
void term_init(void);

bool term_is_tty(enum term_stream stream);

/* Columns; 0 if there is no terminal: then nothing is cut. */
size_t term_width(void);

/* Returns true if the locale is UTF-8. */
bool term_is_utf8(void);

/* Returns a sequence to print, or "". */
const char *term_style(enum term_stream stream, enum term_style style);

/* Returns the style of a run's state. */
enum term_style term_style_of(const char *state);

/* Prints an untrusted text: control characters, including those that change its direction, are shown as a dot. */
void term_print(FILE *out, const char *text);

/*
 * Reads the next character of an untrusted text: control characters and invalid bytes become a dot. Returns its size in bytes, and sets
 * columns to its width, which may be 0.
 */
size_t term_next(const char *text, wchar_t *glyph, size_t *columns);

/* Returns the number of columns that a text takes. */
size_t term_columns(const char *text);

/* Prints at most columns columns of a text, with an ellipsis if it is longer. Returns the number of columns printed. */
size_t term_print_cut(FILE *out, const char *text, size_t columns);

#endif
