/* SPDX-License-Identifier: Apache-2.0 */
/* Macros would bypass the functions that are loaded at run time. */
#define NCURSES_NOMACROS 1
#define NCURSES_WIDECHAR 1

#include "cli/show/screen.h"

#include <curses.h>
#include <dlfcn.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <unistd.h>

static const char library[] = "libncursesw.so.6";

/* How long an Esc waits for the rest of a key's sequence, which arrives in parts over a slow line. */
static const int escape_ms = 100;

#define FUNCTIONS(X)      \
    X(cbreak)             \
    X(clearok)            \
    X(curs_set)           \
    X(del_curterm)        \
    X(delscreen)          \
    X(delwin)             \
    X(endwin)             \
    X(has_colors)         \
    X(init_pair)          \
    X(keypad)             \
    X(newterm)            \
    X(newwin)             \
    X(nodelay)            \
    X(noecho)             \
    X(nonl)               \
    X(resize_term)        \
    X(set_curterm)        \
    X(set_escdelay)       \
    X(setupterm)          \
    X(start_color)        \
    X(typeahead)          \
    X(use_default_colors) \
    X(waddnwstr)          \
    X(wattr_set)          \
    X(wget_wch)           \
    X(wmove)              \
    X(wrefresh)           \
    X(wresize)

#define MEMBER(name) __typeof__(name) *name;
struct curses {
    FUNCTIONS(MEMBER)
};

struct screen {
    void *library;
    struct curses curses;
    SCREEN *terminal;
    WINDOW *window;
    size_t width;
    size_t height;
    bool colours;
};

/* The place of one function of the library. */
struct entry {
    const char *name;
    void *place;
};

static bool
load(struct screen *screen)
{
#define ENTRY(name) {#name, &screen->curses.name},
    const struct entry entries[] = {FUNCTIONS(ENTRY)};

    screen->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (screen->library == NULL)
        return false;
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        void *found = dlsym(screen->library, entries[i].name);

        if (found == NULL)
            return false;
        memcpy(entries[i].place, &found, sizeof(found));
    }
    return true;
}

static void
set_colours(struct screen *screen)
{
    static const short colours[] = {
        [TERM_GOOD] = COLOR_GREEN, [TERM_BAD] = COLOR_RED, [TERM_WAIT] = COLOR_YELLOW};
    const char *none = getenv("NO_COLOR");

    if ((none != NULL && none[0] != '\0') || !screen->curses.has_colors() ||
        screen->curses.start_color() == ERR)
        return;
    screen->colours = true;
    (void)screen->curses.use_default_colors();
    for (short i = TERM_GOOD; i <= TERM_WAIT; i++)
        (void)screen->curses.init_pair(i, colours[i], -1);
}

struct screen *
screen_open(const char **why)
{
    struct screen *screen = calloc(1, sizeof(*screen));
    int found = 0;

    *why = "out of memory";
    if (screen == NULL)
        return NULL;
    *why = "libncursesw6 is not installed";
    if (!load(screen))
        goto bad;
    *why = "TERM names no terminal that is known";
    /* Ask first, because newterm() leaks memory if it fails. Forget the answer, because newterm() asks again. */
    if (screen->curses.setupterm(NULL, STDOUT_FILENO, &found) == ERR)
        goto bad;
    (void)screen->curses.del_curterm(screen->curses.set_curterm(NULL));
    screen->terminal = screen->curses.newterm(NULL, stdout, stdin);
    if (screen->terminal == NULL)
        goto bad;
    *why = "out of memory";
    screen->window = screen->curses.newwin(0, 0, 0, 0);
    if (screen->window == NULL)
        goto bad;
    /* A terminal that lacks one of these features works without it. */
    set_colours(screen);
    (void)screen->curses.cbreak();
    (void)screen->curses.noecho();
    (void)screen->curses.nonl();
    (void)screen->curses.curs_set(0);
    (void)screen->curses.keypad(screen->window, TRUE);
    (void)screen->curses.nodelay(screen->window, TRUE);
    (void)screen->curses.set_escdelay(escape_ms);
    (void)screen->curses.typeahead(-1);
    return screen;
bad:
    screen_close(screen);
    return NULL;
}

void
screen_close(struct screen *screen)
{
    if (screen == NULL)
        return;
    if (screen->window != NULL)
        (void)screen->curses.delwin(screen->window);
    if (screen->terminal != NULL) {
        (void)screen->curses.endwin();
        screen->curses.delscreen(screen->terminal);
    }
    /* The library is not unloaded: it keeps memory until the program ends. */
    free(screen);
}

void
screen_leave(struct screen *screen)
{
    (void)screen->curses.endwin();
}

void
screen_return(struct screen *screen)
{
    screen_forget(screen);
}

void
screen_forget(struct screen *screen)
{
    (void)screen->curses.clearok(screen->window, TRUE);
}

void
screen_measure(struct screen *screen, size_t *width, size_t *height)
{
    struct winsize size = {0};

    *width = 80;
    *height = 24;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
        *width = size.ws_col;
        *height = size.ws_row;
    }
    if (*width > CANVAS_SIDE_MAX)
        *width = CANVAS_SIDE_MAX;
    if (*height > CANVAS_SIDE_MAX)
        *height = CANVAS_SIDE_MAX;
    if (*width == screen->width && *height == screen->height)
        return;
    screen->width = *width;
    screen->height = *height;
    (void)screen->curses.resize_term((int)*height, (int)*width);
    (void)screen->curses.wresize(screen->window, (int)*height, (int)*width);
    /* Terminals differ in what they do with text that no longer fits, so everything is sent again. */
    screen_forget(screen);
}

static void
set_style(struct screen *screen, unsigned style)
{
    unsigned colour = style & ~(unsigned)(CANVAS_REVERSE | CANVAS_STRONG);
    attr_t attributes = A_NORMAL;
    short pair = 0;

    if ((style & CANVAS_REVERSE) != 0)
        attributes |= A_REVERSE;
    if ((style & CANVAS_STRONG) != 0 || colour == TERM_BOLD)
        attributes |= A_BOLD;
    if (colour == TERM_DIM)
        attributes |= A_DIM;
    if (screen->colours && colour >= TERM_GOOD)
        pair = (short)colour;
    else if (colour == TERM_BAD)
        attributes |= A_BOLD;
    (void)screen->curses.wattr_set(screen->window, attributes, pair, NULL);
}

static void
show_row(struct screen *screen, const struct canvas *canvas, size_t row)
{
    const struct canvas_cell *cells = &canvas->cells[row * canvas->width];
    wchar_t text[CANVAS_SIDE_MAX];
    int count;

    (void)screen->curses.wmove(screen->window, (int)row, 0);
    for (size_t i = 0; i < canvas->width;) {
        unsigned style = cells[i].style;

        for (count = 0; i < canvas->width && cells[i].style == style; i++)
            if (cells[i].glyph != 0)
                text[count++] = cells[i].glyph;
        set_style(screen, style);
        /* At the last corner the cursor cannot advance, which is returned as an error. */
        (void)screen->curses.waddnwstr(screen->window, text, count);
    }
}

void
screen_show(struct screen *screen, const struct canvas *canvas)
{
    for (size_t row = 0; row < canvas->height; row++)
        show_row(screen, canvas, row);
    (void)screen->curses.wrefresh(screen->window);
}

static int
special_key(wint_t key)
{
    switch (key) {
    case KEY_UP:
        return SCREEN_UP;
    case KEY_DOWN:
        return SCREEN_DOWN;
    case KEY_PPAGE:
        return SCREEN_PAGE_UP;
    case KEY_NPAGE:
        return SCREEN_PAGE_DOWN;
    case KEY_HOME:
        return SCREEN_HOME;
    case KEY_END:
        return SCREEN_END;
    case KEY_ENTER:
        return '\n';
    default:
        return SCREEN_OTHER;
    }
}

int
screen_key(struct screen *screen)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    wint_t key = 0;
    int kind = screen->curses.wget_wch(screen->window, &key);

    if (kind == KEY_CODE_YES)
        return special_key(key);
    if (kind == OK)
        return key == '\r' ? '\n' : (int)key;
    /* There is no key, and the descriptor reports a hangup or an error: the terminal is gone. */
    if (poll(&input, 1, 0) > 0 && (input.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0)
        return SCREEN_GONE;
    return SCREEN_NONE;
}
