/* SPDX-License-Identifier: Apache-2.0 */
/* pawl top: a live view of the whole installation, until the user quits. */
#include "base/text.h"
#include "base/time.h"
#include "cli/command/commands.h"
#include "cli/command/invocation.h"
#include "cli/report/exit.h"
#include "cli/show/screen.h"
#include "cli/show/term.h"
#include "cli/show/time_text.h"
#include "cli/top/top_asker.h"
#include "cli/top/top_draw.h"
#include "cli/top/top_page.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum {
    EVERY_MS = 2000,
    EVERY_LEAST_MS = 200,
    EVERY_MOST_MS = 3600000,
    SLOW_US = 2000000, /* after this time the title shows that the database does not answer */
    CTRL_L = 'L' - '@',
    ESCAPE = 27,
};

enum page {
    PAGE_TOP,
    PAGE_RUN,
    PAGE_HELP,
};

struct top {
    struct top_asker *asker;
    struct screen *screen;
    struct canvas canvas;
    struct top_face face;
    enum page page;
    enum top_list list;
    enum top_list shown; /* the list that the cursor belongs to */
    char open_id[TOP_ID_SIZE];
    size_t scroll;
    const char *verb; /* of the action that the question is about, or NULL */
    char verb_id[TOP_ID_SIZE];
    char question[200];
    bool answered; /* a key was pressed since the last action */
    bool waiting;  /* for the database; the title may show how long */
    bool quit;
    int code;
};

static void
draw_run(struct top *top, const struct top_found *found)
{
    size_t rows = top->canvas.height > 4 ? top->canvas.height - 4 : 1;
    char *text = NULL;
    size_t lines;

    top_draw_title(&top->canvas, found->view, &top->face, "top: run");
    if (found->run != NULL)
        text = top_page_run_view(found->run, found->why, found->view->now_us);
    if (text == NULL) {
        (void)canvas_put(&top->canvas, 2, 0, top->canvas.width, TERM_DIM, "Looking for the run.");
    } else {
        lines = top_page_draw(&top->canvas, 2, 0, text, 0);
        if (top->scroll + rows > lines)
            top->scroll = lines > rows ? lines - rows : 0;
        (void)top_page_draw(&top->canvas, 2, rows, text, top->scroll);
    }
    free(text);
    top_draw_foot(
        &top->canvas, &top->face, "q back   up, down scroll   c cancel   r retry   p pause");
}

/* Sets the text in the title about an error of the database or a missing answer, and for how long it lasts. */
static void
set_trouble(struct top *top, const struct top_found *found)
{
    int64_t now_us = pw_now_us();
    bool slow = found->asking_us >= 0 && now_us - found->asking_us >= SLOW_US;
    bool wrong = found->trouble[0] != '\0';
    int64_t for_us = now_us - (wrong ? found->trouble_us : found->asking_us);
    char span[TIME_TEXT_SIZE];

    top->waiting = wrong || found->asking_us >= 0;
    top->face.trouble[0] = '\0';
    if (!slow && !wrong)
        return;
    time_text_write_span(span, for_us / 1000000 * 1000000);
    (void)snprintf(top->face.trouble, sizeof(top->face.trouble), "%s for %s; trying again",
        wrong ? found->trouble : "no answer from the database", for_us < 1000000 ? "0s" : span);
}

static void
draw(struct top *top)
{
    struct top_found found;
    size_t width;
    size_t height;

    screen_measure(top->screen, &width, &height);
    if (!canvas_resize(&top->canvas, width, height))
        return;
    top_asker_lock(top->asker, &found);
    set_trouble(top, &found);
    if (found.view->list != top->shown) {
        top->face.cursor = (struct top_cursor){0};
        top->shown = found.view->list;
    }
    top_cursor_follow(&top->face.cursor, found.view);
    top->face.question = top->verb != NULL ? top->question : NULL;
    top->face.message = top->answered ? NULL : found.answer;
    if (top->page == PAGE_TOP) {
        top_draw(&top->canvas, found.view, &top->face);
    } else if (top->page == PAGE_RUN) {
        draw_run(top, &found);
    } else {
        top_draw_title(&top->canvas, found.view, &top->face, "top");
        top_draw_help(&top->canvas);
        top_draw_foot(&top->canvas, &top->face, "any key: back");
    }
    top_asker_unlock(top->asker);
    screen_show(top->screen, &top->canvas);
}

/* Sets id to the run that keys are about: the open run, or the chosen one. Returns false if there is none. */
static bool
chosen_id(const struct top *top, char id[static TOP_ID_SIZE])
{
    const char *from = top->page == PAGE_RUN ? top->open_id : top->face.cursor.id;

    (void)snprintf(id, TOP_ID_SIZE, "%s", from);
    return id[0] != '\0';
}

static void
ask_first(struct top *top, const char *verb)
{
    if (!chosen_id(top, top->verb_id))
        return;
    top->verb = verb;
    (void)snprintf(top->question, sizeof(top->question), "%s run %s? y/n",
        strcmp(verb, "cancel") == 0 ? "Cancel" : "Retry", top->verb_id);
}

static void
move(struct top *top, long by)
{
    struct top_found found;

    if (top->page == PAGE_RUN) {
        if (by < 0)
            top->scroll = (size_t)-by > top->scroll ? 0 : top->scroll - (size_t)-by;
        else
            top->scroll += (size_t)by; /* draw_run() limits it */
        return;
    }
    top_asker_lock(top->asker, &found);
    top_cursor_move(&top->face.cursor, found.view, by);
    top_asker_unlock(top->asker);
}

static void
open_run(struct top *top)
{
    if (top->page != PAGE_TOP || !chosen_id(top, top->open_id))
        return;
    top->page = PAGE_RUN;
    top->scroll = 0;
    top_asker_want(top->asker, top->list, top->open_id);
}

static void
go_back(struct top *top)
{
    if (top->page == PAGE_TOP)
        top->quit = true;
    else if (top->page == PAGE_RUN)
        top_asker_want(top->asker, top->list, NULL);
    top->page = PAGE_TOP;
}

/* Handles a key that moves. Returns false for another key. */
static bool
take_move(struct top *top, int key)
{
    long whole = (long)(top->page == PAGE_RUN ? top->canvas.height : top->face.run_rows + 1) - 1;

    switch (key) {
    case SCREEN_UP:
    case 'k':
        move(top, -1);
        return true;
    case SCREEN_DOWN:
    case 'j':
        move(top, 1);
        return true;
    case SCREEN_PAGE_UP:
        move(top, -whole);
        return true;
    case SCREEN_PAGE_DOWN:
        move(top, whole);
        return true;
    case SCREEN_HOME:
    case 'g':
        move(top, -CANVAS_SIDE_MAX * 1000L);
        return true;
    case SCREEN_END:
    case 'G':
        move(top, CANVAS_SIDE_MAX * 1000L);
        return true;
    default:
        return false;
    }
}

static void
take_deed(struct top *top, int key)
{
    switch (key) {
    case '\n':
    case 'o':
        open_run(top);
        break;
    case 'c':
        ask_first(top, "cancel");
        break;
    case 'r':
        ask_first(top, "retry");
        break;
    case '\t':
        if (top->page == PAGE_TOP) {
            top->list = (top->list + 1) % TOP_LISTS;
            top_asker_want(top->asker, top->list, NULL);
        }
        break;
    case 'p':
    case ' ':
        top->face.paused = !top->face.paused;
        top_asker_pause(top->asker, top->face.paused);
        break;
    case CTRL_L:
        screen_forget(top->screen);
        break;
    case '?':
    case 'h':
        if (top->page == PAGE_TOP)
            top->page = PAGE_HELP;
        break;
    case 'q':
    case ESCAPE:
        go_back(top);
        break;
    default:
        break;
    }
}

static void
take_key(struct top *top, int key)
{
    top->answered = true;
    if (top->verb != NULL) {
        if (key == 'y' || key == 'Y') {
            top_asker_do(top->asker, top->verb, top->verb_id);
            top->answered = false;
        }
        top->verb = NULL;
    } else if (top->page == PAGE_HELP) {
        top->page = PAGE_TOP;
    } else if (!take_move(top, key)) {
        take_deed(top, key);
    }
}

static void
take_keys(struct top *top)
{
    int key;

    while (!top->quit && (key = screen_key(top->screen)) != SCREEN_NONE) {
        if (key == SCREEN_GONE) {
            top->quit = true;
            top->code = EXIT_INTERRUPTED;
            return;
        }
        take_key(top, key);
    }
}

/* Releases the terminal to the shell until the shell continues this program. */
static void
stop_for_a_while(struct top *top)
{
    const struct sigaction by_default = {.sa_handler = SIG_DFL};
    sigset_t stop;

    screen_leave(top->screen);
    (void)sigemptyset(&stop);
    (void)sigaddset(&stop, SIGTSTP);
    (void)sigaction(SIGTSTP, &by_default, NULL);
    (void)raise(SIGTSTP);
    (void)pthread_sigmask(SIG_UNBLOCK, &stop, NULL); /* the program stops here */
    (void)pthread_sigmask(SIG_BLOCK, &stop, NULL);
    screen_return(top->screen);
}

static void
take_signals(struct top *top, int fd)
{
    struct signalfd_siginfo info;

    while (read(fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        switch (info.ssi_signo) {
        case SIGTSTP:
            stop_for_a_while(top);
            break;
        case SIGCONT:
            screen_return(top->screen);
            break;
        case SIGWINCH:
            break; /* draw() measures the terminal each time */
        case SIGINT:
            top->quit = true;
            break;
        default:
            top->quit = true;
            top->code = EXIT_INTERRUPTED;
            break;
        }
    }
}

/* Draws and handles keys until the user or a signal ends the program, or the terminal is gone. */
static void
watch(struct top *top, int signals)
{
    struct pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN},
        {.fd = signals, .events = POLLIN}, {.fd = top_asker_fd(top->asker), .events = POLLIN}};

    while (!top->quit) {
        draw(top);
        if (poll(fds, 3, top->waiting ? 1000 : -1) <= 0)
            continue;
        if (fds[1].revents != 0)
            take_signals(top, signals);
        if (fds[0].revents != 0)
            take_keys(top);
    }
}

/* From here on signals are read, by this thread only. Returns a descriptor, or -1. */
static int
read_signals(void)
{
    static const int taken[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT};
    sigset_t signals;

    (void)sigemptyset(&signals);
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
        (void)sigaddset(&signals, taken[i]);
    (void)pthread_sigmask(SIG_BLOCK, &signals, NULL);
    return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Takes the terminal, shows the live view, and restores the terminal. */
static int
watch_on_screen(pawl_client *client, struct top_look *look, int64_t every_us)
{
    struct top top = {.face = {.every_us = every_us}, .answered = true};
    const char *why = NULL;
    int signals = read_signals();

    if (signals >= 0)
        top.asker = top_asker_start(client, look);
    if (top.asker == NULL) {
        top_look_free(look);
        pawl_client_close(client);
        return exit_saying(EXIT_OTHER, NULL, "out of memory");
    }
    top.screen = screen_open(&why);
    if (top.screen != NULL)
        watch(&top, signals);
    else
        top.code = exit_saying(EXIT_OTHER, "pawl top --once prints one frame; pawl stats, figures.",
            "cannot draw on this terminal (%s)", why);
    screen_close(top.screen);
    canvas_done(&top.canvas);
    /* A thread that hangs in a call must not run while the end of the program frees what the thread uses. */
    if (!top_asker_stop(top.asker))
        _exit(top.code);
    (void)close(signals);
    return top.code;
}

/* Reads a size from an environment variable, as watch(1) does. */
static size_t
size_of(const char *name, size_t otherwise)
{
    int64_t size;

    return pw_parse_i64(getenv(name), 16, CANVAS_SIDE_MAX, &size) ? (size_t)size : otherwise;
}

static int
print_once(const struct top_look *look, int64_t every_us)
{
    struct top_face face = {.every_us = every_us, .plain = true};
    struct canvas canvas = {0};
    size_t width = term_width() > 0 ? term_width() : size_of("COLUMNS", 80);

    if (!canvas_resize(&canvas, width, size_of("LINES", 50)))
        return exit_saying(EXIT_OTHER, NULL, "out of memory");
    top_draw(&canvas, top_look_view(look), &face);
    canvas_print(&canvas, stdout);
    canvas_done(&canvas);
    return EXIT_OK;
}

/* Makes the first look. It reports errors as every command does. */
static int
first_look(struct top_look *look)
{
    pawl_error *error = NULL;
    pawl_status status = top_look_ask(look, TOP_LIVE, &error);

    if (status == PAWL_OK && !top_look_take(look))
        return exit_saying(EXIT_OTHER, NULL, "out of memory");
    if (status == PAWL_OK)
        status = top_look_ask_texts(look, &error);
    if (status == PAWL_OK)
        top_look_take_texts(look);
    return exit_with(status, error);
}

/* Opens a client with a short timeout, so that a lost connection is noticed soon. */
static int
open_client(struct invocation *invocation, pawl_client **client)
{
    pawl_config *config = NULL;
    pawl_error *error = NULL;
    pawl_status status;
    int code = invocation_config(invocation, &config);

    if (code != EXIT_OK)
        return code;
    status = pawl_config_set(config, "application_name", "pawl top", &error);
    if (status == PAWL_OK)
        status = pawl_config_set(config, "call_timeout", "3s", &error);
    if (status == PAWL_OK)
        status = pawl_client_open(config, client, &error);
    pawl_config_free(config);
    return exit_with(status, error);
}

static int
top(struct invocation *invocation)
{
    const char *given = invocation_option(invocation, "every");
    int64_t every_ms = given != NULL ? time_text_duration_ms(given) : EVERY_MS;
    bool once = invocation_has(invocation, "once");
    pawl_client *client = NULL;
    struct top_look *look;
    int code;

    if (every_ms < EVERY_LEAST_MS || every_ms > EVERY_MOST_MS)
        return exit_saying(EXIT_USAGE, NULL, "--every takes 200ms to 1h, not \"%s\"", given);
    if (invocation->output != OUTPUT_TABLE)
        return exit_saying(EXIT_USAGE,
            "For programs there are pawl stats, pawl queue list and pawl worker list.",
            "pawl top is for people, and takes no --output");
    if (!once && (!term_is_tty(TERM_OUT) || isatty(STDIN_FILENO) != 1))
        return exit_saying(EXIT_USAGE,
            "pawl top --once prints one frame; pawl stats, pawl queue list and pawl worker list "
            "are for scripts.",
            "pawl top needs a terminal");
    code = open_client(invocation, &client);
    if (code != EXIT_OK)
        return code;
    look = top_look_new(client, every_ms * 1000);
    code = look == NULL ? exit_saying(EXIT_OTHER, NULL, "out of memory") : first_look(look);
    if (code == EXIT_OK && !once)
        return watch_on_screen(client, look, every_ms * 1000);
    if (code == EXIT_OK)
        code = print_once(look, every_ms * 1000);
    top_look_free(look);
    pawl_client_close(client);
    return code;
}

const struct command cmd_top[] = {
    {.name = "top",
        .summary = "Show live activity, full screen",
        .text =
            "Rates, queues with what is ready and how long the oldest has waited, workers, what "
            "is failing and\n"
            "with which error, and a list of runs to move in: Enter opens one, c cancels it, r "
            "tries it again, Tab\n"
            "changes between live, failed and all runs, p keeps the screen as it is, ? explains "
            "all keys and\n"
            "figures, q quits. The title shows a lost connection, or who has paused everything; "
            "top reconnects "
            "automatically.\n\n"
            "The title says what one look costs: how many calls, and how long they took. That "
            "does not grow with\n"
            "the history. What takes long is asked less often.",
        .options =
            (const struct option[]){
                {.kind = KIND_DURATION,
                    .name = "every",
                    .value = "TIME",
                    .summary = "how often to look; 2s by default"},
                {.kind = KIND_FLAG,
                    .name = "once",
                    .summary = "print one frame as plain text and end; COLUMNS and LINES say how "
                               "large"},
                {.kind = KIND_END},
            },
        .examples =
            (const struct example[]){
                {"pawl top --every 10s", "less often, over a slow line"},
                {"pawl top --once | grep -A 5 FAILING", "for a script, or for watch(1)"},
                {NULL, NULL},
            },
        .act = top},
    {0},
};
