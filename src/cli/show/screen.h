/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole terminal, for a view that is drawn again and again: what has changed is all that is sent. It is ncurses, which is loaded
 * here and not at the start of the program, because no other command needs it.
 */
#ifndef PW_CLI_SHOW_SCREEN_H
#define PW_CLI_SHOW_SCREEN_H

#include "cli/show/canvas.h"

enum screen_key {
    SCREEN_NONE = -1, /* nothing was pressed */
    SCREEN_GONE = -2, /* the terminal is gone */
    /* Characters are themselves. */
    SCREEN_UP = 0x110000,
    SCREEN_DOWN,
    SCREEN_PAGE_UP,
    SCREEN_PAGE_DOWN,
    SCREEN_HOME,
    SCREEN_END,
    SCREEN_OTHER,
};

struct screen;

/* Takes the terminal of standard input and output. NULL: it cannot, and why, which is static or borrowed, says the reason. */
struct screen *screen_open(const char **why);

/* Gives the terminal back as it was, also if it is gone. */
void screen_close(struct screen *screen);

/* Gives it back for a while, and takes it again. */
void screen_leave(struct screen *screen);
void screen_return(struct screen *screen);

/* How large it is now; the next canvas is to be of this size. */
void screen_measure(struct screen *screen, size_t *width, size_t *height);

/* Everything is sent again with the next canvas, whatever the terminal shows now. */
void screen_forget(struct screen *screen);

void screen_show(struct screen *screen, const struct canvas *canvas);

/* The next key that was pressed. Never waits. */
int screen_key(struct screen *screen);

#endif
