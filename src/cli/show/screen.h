/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole terminal, for a view that is drawn repeatedly: only changes are sent. It uses ncurses, which is loaded here and not at the
 * start of the program, because no other command needs it.
 */
#ifndef PW_CLI_SHOW_SCREEN_H
#define PW_CLI_SHOW_SCREEN_H

#include "cli/show/canvas.h"

enum screen_key {
    SCREEN_NONE = -1, /* nothing was pressed */
    SCREEN_GONE = -2, /* the terminal is gone */
    /* A character is its own number. */
    SCREEN_UP = 0x110000,
    SCREEN_DOWN,
    SCREEN_PAGE_UP,
    SCREEN_PAGE_DOWN,
    SCREEN_HOME,
    SCREEN_END,
    SCREEN_OTHER,
};

struct screen;

/* Takes the terminal of standard input and output. Returns NULL if it cannot; why is then the reason, static or borrowed. */
struct screen *screen_open(const char **why);

/* Restores the terminal as it was, even if it is gone. */
void screen_close(struct screen *screen);

/* Releases the terminal for a while, and takes it again. */
void screen_leave(struct screen *screen);
void screen_return(struct screen *screen);

/* Sets width and height to the current size. The next canvas must have this size. */
void screen_measure(struct screen *screen, size_t *width, size_t *height);

/* Makes the next canvas send everything again, whatever the terminal shows now. */
void screen_forget(struct screen *screen);

void screen_show(struct screen *screen, const struct canvas *canvas);

/* Returns the next key that was pressed. Never waits. */
int screen_key(struct screen *screen);

#endif
