/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/top/top_draw.h"

#include "cli/show/time_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    NUMBER_SIZE = 32,
    GAP = 2,
    TITLE = 25, /* columns at the left of the title */
    WIDE = 120, /* from this width on there are columns for ids and more */
    ID_COLUMNS = 36,
    PANEL_MOST = 70, /* columns of the queues */
    NAME_MOST = 36,  /* of a worker */
    QUEUE_FIGURES = 24,
    WORKER_FIGURES = 21,
    TITLE_STYLE = CANVAS_REVERSE,
    HEAD_STYLE = TERM_DIM,
};

/* Writes "12,345". */
static void
write_count(char room[static NUMBER_SIZE], int64_t count)
{
    char digits[NUMBER_SIZE];
    size_t size = (size_t)snprintf(digits, sizeof(digits), "%" PRId64, count);
    size_t used = 0;

    for (size_t i = 0; i < size && used + 2 < NUMBER_SIZE; i++) {
        if (i > 0 && (size - i) % 3 == 0 && digits[i - 1] != '-')
            room[used++] = ',';
        room[used++] = digits[i];
    }
    room[used] = '\0';
}

/* Writes "9,999", "12.3k", "123k" or "1.2M": at most five columns. */
static void
write_short(char room[static NUMBER_SIZE], int64_t count)
{
    static const char *const units[] = {"k", "M", "G", "T"};
    double rest = (double)count;
    size_t unit = 0;

    if (count < 10000) {
        write_count(room, count);
        return;
    }
    for (rest /= 1000; rest >= 999.5 && unit < 3; unit++)
        rest /= 1000;
    (void)snprintf(room, NUMBER_SIZE, "%.*f%s", rest < 99.95 ? 1 : 0, rest, units[unit]);
}

/* Writes "0.4", "12.3" or "1,234". */
static void
write_rate(char room[static NUMBER_SIZE], double rate)
{
    if (rate >= 100)
        write_short(room, (int64_t)(rate + 0.5));
    else
        (void)snprintf(room, NUMBER_SIZE, "%.1f", rate);
}

/* Writes whole seconds, so that the text does not flicker with each look. Writes nothing for an unknown time. */
static void
write_span(char room[static TIME_TEXT_SIZE], int64_t us)
{
    if (us < 0)
        room[0] = '\0';
    else if (us < 1000000)
        (void)snprintf(room, TIME_TEXT_SIZE, "0s");
    else
        time_text_write_span(room, us / 1000000 * 1000000);
}

void
top_draw_title(struct canvas *canvas, const struct top_view *view, const struct top_face *face,
    const char *what)
{
    char clock[TIME_TEXT_SIZE];
    char every[TIME_TEXT_SIZE];
    char left[200];
    char right[200];
    char paused[400] = "";

    time_text_write_local(clock, view->now_us);
    time_text_write_span(every, face->every_us);
    (void)snprintf(left, sizeof(left), " pawl %s  %s", what, clock + 11);
    if (face->paused)
        (void)snprintf(right, sizeof(right), "paused ");
    else
        (void)snprintf(right, sizeof(right), "every %s: %zu calls, %" PRId64 " ms ", every,
            view->calls, (view->cost_us + 500) / 1000);
    if (view->pause_by != NULL)
        (void)snprintf(paused, sizeof(paused), "all paused by %s%s%s%s", view->pause_by,
            view->refuses_triggers ? ", no triggers" : "", view->pause_why[0] != '\0' ? ": " : "",
            view->pause_why);
    if (face->trouble[0] != '\0' || view->pause_by != NULL) {
        canvas_put_right(canvas, 0, TITLE,
            canvas->width > TITLE + 1 ? canvas->width - TITLE - 1 : 0, TERM_BAD | CANVAS_STRONG,
            face->trouble[0] != '\0' ? face->trouble : paused);
    } else {
        canvas_put_right(canvas, 0, TITLE, canvas->width > TITLE ? canvas->width - TITLE : 0,
            face->paused ? CANVAS_STRONG : TERM_PLAIN, right);
    }
    (void)canvas_put(canvas, 0, 0, TITLE, CANVAS_STRONG, left);
    canvas_mark(canvas, 0, TITLE_STYLE);
}

/* Puts "  finished  11.8" in columns of fixed width, so that nothing moves when numbers grow. */
static size_t
put_figure(struct canvas *canvas, size_t row, size_t column, const char *name, const char *figure,
    enum term_style style)
{
    (void)canvas_put(canvas, row, column, 10, TERM_DIM, name);
    canvas_put_right(canvas, row, column + 10, 6, style | CANVAS_STRONG, figure);
    return column + 10 + 6 + GAP;
}

static void
draw_rates(struct canvas *canvas, size_t row, const struct top_rates *rates)
{
    const double figures[] = {rates->triggered, rates->started, rates->finished, rates->failed};
    static const char *const names[] = {"triggered", "started", "finished", "failed"};
    size_t column = 9;
    char number[NUMBER_SIZE];
    char shown[NUMBER_SIZE + 4];
    char span[TIME_TEXT_SIZE];

    (void)canvas_put(canvas, row, 0, 8, TERM_PLAIN, "runs/s");
    for (size_t i = 0; i < 4; i++) {
        bool bad = i == 3 && figures[i] > 0;

        write_rate(number, figures[i]);
        (void)snprintf(shown, sizeof(shown), "%s%s", i > 0 && rates->least ? "≥" : "", number);
        column = put_figure(canvas, row, column, names[i], shown, bad ? TERM_BAD : TERM_PLAIN);
    }
    if (canvas->width >= WIDE) {
        write_span(span, rates->window_us);
        (void)snprintf(shown, sizeof(shown), "in the last %.10s", span);
        (void)canvas_put(canvas, row, column, 40, TERM_DIM, shown);
    }
}

static void
draw_hour(struct canvas *canvas, size_t row, const struct top_hour *hour, int64_t now_us)
{
    const int64_t counts[] = {hour->succeeded, hour->failed, hour->cancelled};
    static const char *const names[] = {"succeeded", "failed", "cancelled"};
    size_t column = 9;
    char text[TIME_TEXT_SIZE];

    (void)canvas_put(canvas, row, 0, 8, TERM_PLAIN, "in 1h");
    for (size_t i = 0; i < 3; i++) {
        write_short(text, counts[i]);
        column = put_figure(
            canvas, row, column, names[i], text, i == 1 && counts[i] > 0 ? TERM_BAD : TERM_PLAIN);
    }
    if (hour->counted_us >= 0 && now_us - hour->counted_us >= TIME_TEXT_COUNTED_LATE_US) {
        char counted[TIME_TEXT_SIZE + 12];

        time_text_write_span(text, now_us - hour->counted_us);
        (void)snprintf(counted, sizeof(counted), "counted %s ago", text);
        (void)canvas_put(canvas, row, column, 20, TERM_WAIT, counted);
        return;
    }
    time_text_write_span(text, (int64_t)(hour->took_s * 1e3) * 1000);
    column = put_figure(canvas, row, column, "took", text, TERM_PLAIN);
    if (canvas->width >= WIDE) {
        time_text_write_span(text, (int64_t)(hour->waited_s * 1e3) * 1000);
        (void)put_figure(canvas, row, column, "waited", text, TERM_PLAIN);
    }
}

/* The place of a panel. */
struct box {
    size_t row;
    size_t rows; /* below its heading */
    size_t column;
    size_t columns;
};

/* Puts "and 7 more" in the last row if not all rows fit. Returns true if it has used this row. */
static bool
draw_more(struct canvas *canvas, const struct box *box, size_t i, size_t count)
{
    char text[60];

    if (i + 1 < box->rows || count <= box->rows)
        return false;
    (void)snprintf(text, sizeof(text), "and %zu more", count - i);
    (void)canvas_put(canvas, box->row + 1 + i, box->column, box->columns, TERM_DIM, text);
    return true;
}

static void
draw_queue(struct canvas *canvas, const struct box *box, size_t row, const struct top_queue *queue)
{
    size_t name = box->columns - QUEUE_FIGURES;
    size_t at = box->column + name;
    bool nobody = queue->ready > 0 && queue->workers == 0;
    char text[TIME_TEXT_SIZE];

    (void)canvas_put(
        canvas, row, box->column, name - 1, nobody ? TERM_BAD : TERM_PLAIN, queue->name);
    canvas_put_right(
        canvas, row, at, 6, queue->ready > 0 ? CANVAS_STRONG : TERM_DIM, queue->ready_shown);
    write_short(text, queue->held);
    canvas_put_right(canvas, row, at + 6, 6, queue->held > 0 ? TERM_PLAIN : TERM_DIM, text);
    write_span(text, queue->ready > 0 ? queue->oldest_us : -1);
    canvas_put_right(canvas, row, at + 12, 7, TERM_PLAIN, text);
    write_count(text, queue->workers);
    canvas_put_right(canvas, row, at + 19, 5,
        queue->paused ? TERM_WAIT
            : nobody  ? TERM_BAD | CANVAS_STRONG
                      : TERM_PLAIN,
        queue->paused ? "paus" : text);
}

static void
draw_queues(struct canvas *canvas, const struct box *box, const struct top_view *view)
{
    size_t at = box->column + box->columns - QUEUE_FIGURES;

    (void)canvas_put(canvas, box->row, box->column, 10, HEAD_STYLE, "QUEUE");
    canvas_put_right(canvas, box->row, at, 6, HEAD_STYLE, "READY");
    canvas_put_right(canvas, box->row, at + 6, 6, HEAD_STYLE, "HELD");
    canvas_put_right(canvas, box->row, at + 12, 7, HEAD_STYLE, "OLDEST");
    canvas_put_right(canvas, box->row, at + 19, 5, HEAD_STYLE, "WKRS");
    if (view->queue_count == 0)
        (void)canvas_put(canvas, box->row + 1, box->column, box->columns, TERM_DIM,
            "no workflow was created yet");
    for (size_t i = 0; i < view->queue_count && i < box->rows; i++)
        if (!draw_more(canvas, box, i, view->queue_count))
            draw_queue(canvas, box, box->row + 1 + i, &view->queues[i]);
}

static enum term_style
style_of_worker(const char *state)
{
    return strcmp(state, "lost") == 0    ? TERM_BAD
        : strcmp(state, "draining") == 0 ? TERM_WAIT
        : strcmp(state, "live") == 0     ? TERM_GOOD
                                         : TERM_DIM;
}

/* Returns true if the panel is wide enough for the current step of each worker. */
static bool
has_step(const struct box *box)
{
    return box->columns >= NAME_MOST + WORKER_FIGURES + 20;
}

static size_t
worker_name(const struct box *box)
{
    return has_step(box) ? (size_t)NAME_MOST : box->columns - WORKER_FIGURES;
}

static void
draw_worker(
    struct canvas *canvas, const struct box *box, size_t row, const struct top_worker *worker)
{
    size_t at = box->column + worker_name(box);
    size_t step = at + WORKER_FIGURES + GAP;
    enum term_style style = style_of_worker(worker->state);
    char text[TIME_TEXT_SIZE];
    char doing[400];

    (void)canvas_put(canvas, row, box->column, worker_name(box) - 1,
        style == TERM_BAD ? style : TERM_PLAIN, worker->name);
    (void)canvas_put(canvas, row, at, 8, style, worker->state);
    write_short(text, worker->held);
    canvas_put_right(canvas, row, at + 8, 6, worker->held > 0 ? TERM_PLAIN : TERM_DIM, text);
    if (worker->lease_us < 0)
        time_text_write_span(text, worker->lease_us / 1000000 * 1000000);
    else
        write_span(text, worker->lease_us);
    canvas_put_right(canvas, row, at + 14, 7, worker->lease_us < 0 ? TERM_BAD : TERM_PLAIN, text);
    if (!has_step(box) || worker->step == NULL)
        return;
    write_span(text, worker->step_us);
    (void)snprintf(doing, sizeof(doing), "%s %s", worker->step, text);
    if (worker->steps > 1)
        (void)snprintf(doing, sizeof(doing), "%s %s +%zu", worker->step, text, worker->steps - 1);
    (void)canvas_put(canvas, row, step, box->column + box->columns - step, TERM_DIM, doing);
}

static void
draw_workers(struct canvas *canvas, const struct box *box, const struct top_view *view)
{
    size_t at = box->column + worker_name(box);

    (void)canvas_put(canvas, box->row, box->column, 10, HEAD_STYLE, "WORKER");
    (void)canvas_put(canvas, box->row, at, 8, HEAD_STYLE, "STATE");
    canvas_put_right(canvas, box->row, at + 8, 6, HEAD_STYLE, "HOLDS");
    canvas_put_right(canvas, box->row, at + 14, 7, HEAD_STYLE, "LEASE");
    if (has_step(box))
        (void)canvas_put(
            canvas, box->row, at + WORKER_FIGURES + GAP, 20, HEAD_STYLE, "LONGEST STEP");
    if (view->worker_count == 0)
        (void)canvas_put(
            canvas, box->row + 1, box->column, box->columns, TERM_DIM, "no worker is alive");
    for (size_t i = 0; i < view->worker_count && i < box->rows; i++)
        if (!draw_more(canvas, box, i, view->worker_count))
            draw_worker(canvas, box, box->row + 1 + i, &view->workers[i]);
}

static void
draw_failure(struct canvas *canvas, const struct box *box, size_t row, const struct top_view *view,
    const struct top_failure *failure)
{
    size_t name = canvas->width >= WIDE ? 40 : 20;
    char text[TIME_TEXT_SIZE];

    (void)canvas_put(canvas, row, 0, name - 1, TERM_BAD, failure->workflow);
    write_count(text, (int64_t)failure->failed);
    canvas_put_right(canvas, row, name, 6, failure->failed > 0 ? CANVAS_STRONG : TERM_DIM, text);
    write_count(text, (int64_t)failure->retrying);
    canvas_put_right(canvas, row, name + 6, 7, failure->retrying > 0 ? TERM_WAIT : TERM_DIM, text);
    write_span(text, failure->last_ended ? view->now_us - failure->last_us : -1);
    canvas_put_right(canvas, row, name + 13, 7, TERM_PLAIN, text);
    (void)canvas_put(
        canvas, row, name + 20 + GAP, box->columns - (name + 20 + GAP), TERM_PLAIN, failure->text);
}

static void
draw_failures(struct canvas *canvas, const struct box *box, const struct top_view *view)
{
    size_t name = canvas->width >= WIDE ? 40 : 20;

    if (view->failure_count == 0) {
        (void)canvas_put(canvas, box->row, 0, box->columns, TERM_DIM,
            "Nothing has failed in the last 15 minutes.");
        return;
    }
    (void)canvas_put(canvas, box->row, 0, 16, HEAD_STYLE, "FAILING NOW");
    canvas_put_right(canvas, box->row, name, 6, HEAD_STYLE, "FAILED");
    canvas_put_right(canvas, box->row, name + 6, 7, HEAD_STYLE, "RETRY");
    canvas_put_right(canvas, box->row, name + 13, 7, HEAD_STYLE, "AGO");
    (void)canvas_put(canvas, box->row, name + 20 + GAP, 10, HEAD_STYLE, "LAST ERROR");
    for (size_t i = 0; i < view->failure_count && i < box->rows; i++)
        if (!draw_more(canvas, box, i, view->failure_count))
            draw_failure(canvas, box, box->row + 1 + i, view, &view->failures[i]);
}

/* The columns of the list of runs. */
struct run_columns {
    size_t id; /* columns; 0: it is not shown */
    size_t workflow;
    size_t key;
    size_t what;
};

static struct run_columns
fit_run_columns(size_t width)
{
    struct run_columns fit = {.id = width >= WIDE ? ID_COLUMNS + GAP : 0};
    size_t rest = width - fit.id - 9 - 1 - 7 - GAP;

    fit.workflow = rest * 45 / 100;
    if (fit.workflow > 44)
        fit.workflow = 44;
    fit.key = rest * 25 / 100;
    if (fit.key > 40)
        fit.key = 40;
    fit.what = rest - fit.workflow - fit.key;
    return fit;
}

/* Writes what a run waits for, or who has it: "web-3", "retry, 12s", "after 3s". */
static void
write_what(char *room, size_t size, const struct top_view *view, const struct top_run *run)
{
    char span[TIME_TEXT_SIZE];

    if (run->ended_us >= 0) {
        write_span(span, run->ended_us - run->triggered_us);
        (void)snprintf(room, size, "after %s", span);
    } else if (run->ending || run->rolling_back) {
        (void)snprintf(room, size, "%s%s%s", run->ending ? "ending" : "rolling back",
            run->worker[0] != '\0' ? ", " : "", run->worker);
    } else if (run->reason[0] != '\0' && run->due_us > view->now_us) {
        write_span(span, run->due_us - view->now_us);
        (void)snprintf(room, size, "%s, %s", run->reason, span);
    } else if (run->reason[0] != '\0') {
        (void)snprintf(room, size, "%s", run->reason);
    } else {
        (void)snprintf(room, size, "%s", run->worker);
    }
}

static void
draw_run(struct canvas *canvas, size_t row, const struct top_view *view, const struct top_run *run)
{
    struct run_columns fit = fit_run_columns(canvas->width);
    size_t at = fit.id;
    char text[TIME_TEXT_SIZE];
    char what[300];

    if (fit.id > 0)
        (void)canvas_put(canvas, row, 0, ID_COLUMNS, TERM_PLAIN, run->id);
    (void)canvas_put(canvas, row, at, 9, term_style_of(run->status), run->status);
    write_span(text, view->now_us > run->triggered_us ? view->now_us - run->triggered_us : 0);
    canvas_put_right(canvas, row, at + 10, 7, TERM_PLAIN, text);
    at += 17 + GAP;
    (void)canvas_put(canvas, row, at, fit.workflow - GAP, TERM_PLAIN, run->workflow);
    (void)canvas_put(canvas, row, at + fit.workflow, fit.key - GAP, TERM_PLAIN, run->key);
    write_what(what, sizeof(what), view, run);
    (void)canvas_put(canvas, row, at + fit.workflow + fit.key, fit.what, TERM_PLAIN, what);
}

/* Draws "runs: live  failed  all", and at the right the id of the chosen run. */
static void
draw_tabs(
    struct canvas *canvas, size_t row, const struct top_view *view, const struct top_face *face)
{
    static const char *const names[TOP_LISTS] = {"live", "failed", "all"};
    const struct top_run *run = top_cursor_run(&face->cursor, view);
    size_t column = canvas_put(canvas, row, 0, 6, TERM_DIM, "RUNS  ");

    for (size_t i = 0; i < TOP_LISTS; i++) {
        bool chosen = i == (size_t)view->list;
        char text[20];

        (void)snprintf(text, sizeof(text), chosen ? "[%s]" : " %s ", names[i]);
        column += canvas_put(canvas, row, column, 12, chosen ? CANVAS_STRONG : TERM_DIM, text);
        column++;
    }
    if (run != NULL && !face->plain && canvas->width < WIDE)
        canvas_put_right(canvas, row, column, canvas->width - column, TERM_DIM, run->id);
}

static void
draw_runs(struct canvas *canvas, size_t row, size_t end, const struct top_view *view,
    struct top_face *face)
{
    static const char *const none[TOP_LISTS] = {
        "No run is queued, executed or waiting.", "No run has failed.", "There is no run yet."};
    struct run_columns fit = fit_run_columns(canvas->width);
    size_t at = fit.id;

    draw_tabs(canvas, row, view, face);
    if (fit.id > 0)
        (void)canvas_put(canvas, row + 1, 0, 10, HEAD_STYLE, "RUN");
    (void)canvas_put(canvas, row + 1, at, 9, HEAD_STYLE, "STATUS");
    canvas_put_right(canvas, row + 1, at + 10, 7, HEAD_STYLE, "AGE");
    (void)canvas_put(canvas, row + 1, at + 19, 10, HEAD_STYLE, "WORKFLOW");
    (void)canvas_put(canvas, row + 1, at + 19 + fit.workflow, 10, HEAD_STYLE, "KEY");
    (void)canvas_put(canvas, row + 1, at + 19 + fit.workflow + fit.key, 20, HEAD_STYLE,
        view->list == TOP_LIVE ? "WHERE, OR WHY NOT" : "WHERE, OR WHEN");
    row += 2;
    face->run_rows = end > row ? end - row : 0;
    top_cursor_fit(&face->cursor, face->run_rows, view->run_count);
    if (view->run_count == 0)
        (void)canvas_put(canvas, row, 0, canvas->width, TERM_DIM, none[view->list]);
    for (size_t i = 0; i < face->run_rows && face->cursor.first + i < view->run_count; i++) {
        draw_run(canvas, row + i, view, &view->runs[face->cursor.first + i]);
        if (face->cursor.first + i == face->cursor.index && !face->plain)
            canvas_mark(canvas, row + i, CANVAS_REVERSE);
    }
}

void
top_draw_foot(struct canvas *canvas, const struct top_face *face, const char *keys)
{
    size_t row = canvas->height - 1;

    if (face->question != NULL)
        (void)canvas_put(canvas, row, 0, canvas->width, TERM_WAIT | CANVAS_STRONG, face->question);
    else if (face->message != NULL && face->message[0] != '\0')
        (void)canvas_put(canvas, row, 0, canvas->width, CANVAS_STRONG, face->message);
    else
        (void)canvas_put(canvas, row, 0, canvas->width, TERM_DIM, keys);
}

static size_t
least(size_t a, size_t b)
{
    return a < b ? a : b;
}

void
top_draw(struct canvas *canvas, const struct top_view *view, struct top_face *face)
{
    size_t spare = canvas->height > 12 ? canvas->height - 12 : 0;
    size_t longest =
        view->queue_count > view->worker_count ? view->queue_count : view->worker_count;
    size_t left = least(canvas->width * 54 / 100, PANEL_MOST);
    struct box queues = {4, least(longest > 0 ? longest : 1, spare / 3), 0, left};
    struct box workers = {
        4, queues.rows, left + 3, canvas->width > left + 3 ? canvas->width - left - 3 : 0};
    struct box failures = {queues.row + queues.rows + 2,
        least(view->failure_count > 0 ? view->failure_count : 1, spare / 4), 0, canvas->width};

    if (canvas->width < 60 || canvas->height < 16) {
        (void)canvas_put(
            canvas, 0, 0, canvas->width, TERM_PLAIN, "pawl top needs 60 columns and 16 lines.");
        return;
    }
    top_draw_title(canvas, view, face, "top");
    draw_rates(canvas, 1, &view->rates);
    draw_hour(canvas, 2, &view->hour, view->now_us);
    draw_queues(canvas, &queues, view);
    draw_workers(canvas, &workers, view);
    draw_failures(canvas, &failures, view);
    draw_runs(canvas, failures.row + failures.rows + 2, canvas->height - (face->plain ? 0 : 1),
        view, face);
    if (!face->plain)
        top_draw_foot(canvas, face,
            "q quit   ? help   Enter open   c cancel   r retry   Tab other runs   p pause");
}

void
top_draw_help(struct canvas *canvas)
{
    static const char *const lines[] = {
        "up, down, j, k            the run above, below",
        "page up, page down        a page up, down",
        "g, G, home, end           the first run, the last",
        "Enter, o                  open the run: its steps, and why it does not progress",
        "c, r                      cancel or retry the run; it asks first",
        "Tab                       live runs, failed ones, or all, newest first",
        "p, space                  freeze the screen, or update it again",
        "Ctrl-L                    draw the screen again",
        "?, h                      this page",
        "q, Esc, Ctrl-C            back, or quit",
        "",
        "runs/s    of the newest 500 runs, in the last ten seconds, or in the time that",
        "          they span; ≥: older runs live, whose start and end are not among them",
        "in 1h     ended runs; live workers count each minute, about two minutes late",
        "QUEUE     ready: due, not taken; held: a worker has them; oldest: how long the",
        "          first has been due; wkrs: workers that handle it; red: none",
        "WORKER    lease: how long it counts as alive without heartbeat; below 0: lost",
        "FAILING   runs that failed in the last 15 minutes, and runs to be retried",
        "calls, ms one look at the database; what takes long is asked less often",
    };

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        (void)canvas_put(canvas, 2 + i, 1, canvas->width - 1, TERM_PLAIN, lines[i]);
}
