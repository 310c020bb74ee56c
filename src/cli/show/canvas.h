/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A picture made of characters, on which a full-screen view draws. It is then sent to a terminal or printed as plain text. Texts from the
 * database are shown without their control characters.
 */
#ifndef PW_CLI_SHOW_CANVAS_H
#define PW_CLI_SHOW_CANVAS_H

#include "cli/show/term.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <wchar.h>

enum {
    CANVAS_REVERSE = 0x40, /* in addition to a term_style */
    CANVAS_STRONG = 0x80,  /* in addition to a term_style: bold, with its color */
    CANVAS_SIDE_MAX = 1000,
};

struct canvas_cell {
    wchar_t glyph; /* 0: the second half of a wide character */
    unsigned char style;
};

struct canvas {
    size_t width;
    size_t height;
    struct canvas_cell *cells;
};

/*
 * Makes the canvas blank and of this size, at most CANVAS_SIDE_MAX each way. A canvas of all zeros has no size. Returns false if out of
 * memory.
 */
bool canvas_resize(struct canvas *canvas, size_t width, size_t height);
void canvas_done(struct canvas *canvas);

/*
 * Writes a text at a place, in at most columns columns, with an ellipsis if it is longer. Parts outside the canvas are left out. Returns
 * the columns that the text took.
 */
size_t canvas_put(struct canvas *canvas, size_t row, size_t column, size_t columns, unsigned style,
    const char *text);

/* The same, aligned at the right end of the columns. */
void canvas_put_right(struct canvas *canvas, size_t row, size_t column, size_t columns,
    unsigned style, const char *text);

/* Adds a style to a whole row. */
void canvas_mark(struct canvas *canvas, size_t row, unsigned style);

/* Prints the canvas without styles, without blanks at the ends of lines, and without empty lines at the end. */
void canvas_print(const struct canvas *canvas, FILE *out);

#endif
