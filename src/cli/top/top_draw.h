/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the screens of pawl top. */
#ifndef PW_CLI_TOP_TOP_DRAW_H
#define PW_CLI_TOP_TOP_DRAW_H

#include "cli/show/canvas.h"
#include "cli/top/top_model.h"

/* The parts of the screen that do not come from the database. */
struct top_face {
    struct top_cursor cursor;
    int64_t every_us;
    bool paused;
    bool plain;           /* printed once: no cursor, no keys */
    const char *question; /* that waits for y or n, or NULL */
    const char *message;  /* shown instead of the keys, or NULL */
    char trouble[400];    /* an error, shown in the title, or "" */
    size_t run_rows;      /* number of runs shown; top_draw() sets it */
};

/* Draws everything on a blank canvas. */
void top_draw(struct canvas *canvas, const struct top_view *view, struct top_face *face);

/* Draw the title and the last line of every screen of pawl top. what names the screen. */
void top_draw_title(struct canvas *canvas, const struct top_view *view, const struct top_face *face,
    const char *what);
void top_draw_foot(struct canvas *canvas, const struct top_face *face, const char *keys);

/* Draws the page of the keys and the meanings of the numbers. */
void top_draw_help(struct canvas *canvas);

#endif
