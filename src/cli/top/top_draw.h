/* SPDX-License-Identifier: Apache-2.0 */
/* The frame of pawl top: where on the screen what stands. */
#ifndef PW_CLI_TOP_TOP_DRAW_H
#define PW_CLI_TOP_TOP_DRAW_H

#include "cli/show/canvas.h"
#include "cli/top/top_model.h"

/* What one sees that does not come from the database. */
struct top_face {
    struct top_cursor cursor;
    int64_t every_us;
    bool paused;
    bool plain;           /* printed once: no cursor, no keys */
    const char *question; /* that waits for y or n, or NULL */
    const char *message;  /* in place of the keys, or NULL */
    char trouble[400];    /* in the title, or "" */
    size_t run_rows;      /* how many runs were shown, written by draw */
};

/* Draws everything on a canvas that is blank. */
void top_draw(struct canvas *canvas, const struct top_view *view, struct top_face *face);

/* The title, and what stands in the last line, of every screen of pawl top. what: which screen it is. */
void top_draw_title(struct canvas *canvas, const struct top_view *view, const struct top_face *face,
    const char *what);
void top_draw_foot(struct canvas *canvas, const struct top_face *face, const char *keys);

/* The keys and what the figures mean. */
void top_draw_help(struct canvas *canvas);

#endif
