/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show/run_view.h"

#include "base/json_read.h"
#include "base/pg_text/list_text.h"
#include "cli/show/run_view_map.h"
#include "cli/show/term.h"
#include "cli/show/time_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAME_SIZE = 320, /* branch, name and number */
    TEXT_SIZE = 500,
    BAR = 24, /* columns of the bar of time */
    NAME_LEAST = 12,
    NAME_MOST = 40,
};

struct step {
    char name[NAME_SIZE];
    char kind[16];
    char state[16];
    int64_t round;
    int64_t attempt;
    int64_t started_us; /* -1: none */
    int64_t ended_us;
    int64_t due_us;
    pawl_bytes output;
    pawl_bytes error;
    char child[PAWL_ID_SIZE]; /* "": it is not a child run */
    bool copied;
};

/* The time span of a run and the width of its names, for the lines of its steps. */
struct frame {
    int64_t begin_us;
    int64_t end_us;
    int64_t now_us;
    size_t name_columns;
    bool rounds; /* the run has more than one round */
};

static void
read_text(pawl_bytes json, const char *pointer, char *room, size_t size)
{
    if (pawl_json_text(json, pointer, room, size) != PAWL_OK)
        room[0] = '\0';
}

static int64_t
read_time(pawl_bytes json, const char *pointer)
{
    char text[64];
    int64_t us = -1;

    read_text(json, pointer, text, sizeof(text));
    return time_text_read_stamp(text, &us) ? us : -1;
}

/* Returns 1 if there is no number. */
static int64_t
read_number(pawl_bytes json, const char *pointer)
{
    int64_t number = 1;

    return pawl_json_int(json, pointer, &number) == PAWL_OK ? number : 1;
}

/* Returns a value other than null, or an empty pawl_bytes. */
static pawl_bytes
read_value(pawl_bytes json, const char *pointer)
{
    pawl_bytes value = {NULL, 0};

    if (pawl_json_find(json, pointer, &value) != PAWL_OK ||
        (value.size == 4 && memcmp(value.data, "null", 4) == 0))
        value = (pawl_bytes){NULL, 0};
    return value;
}

static bool
next_step(struct pw_json_walk *walk, struct step *step)
{
    struct pw_json key;
    struct pw_json value;
    pawl_bytes json;

    if (!pw_json_walk_next(walk, &key, &value))
        return false;
    json = (pawl_bytes){value.data, value.size};
    *step = (struct step){0};
    read_text(json, "/name", step->name, sizeof(step->name));
    read_text(json, "/kind", step->kind, sizeof(step->kind));
    read_text(json, "/state", step->state, sizeof(step->state));
    step->round = read_number(json, "/round");
    step->attempt = read_number(json, "/attempt");
    step->started_us = read_time(json, "/started_at");
    step->ended_us = read_time(json, "/ended_at");
    step->due_us = read_time(json, "/due_at");
    step->output = read_value(json, "/output");
    step->error = read_value(json, "/error");
    read_text(json, "/child", step->child, sizeof(step->child));
    step->copied = read_value(json, "/copied_from").size > 0;
    return true;
}

static void
walk_steps(struct pw_json_walk *walk, const pawl_rows *run)
{
    const char *steps = pawl_rows_text(run, 0, "steps");

    if (steps == NULL)
        steps = "[]";
    pw_json_walk(walk, (struct pw_json){steps, strlen(steps)});
}

static int64_t
time_at(const pawl_rows *run, const char *column)
{
    const char *text = pawl_rows_text(run, 0, column);
    int64_t us = -1;

    return text != NULL && time_text_read_stamp(text, &us) ? us : -1;
}

static const char *
text_at(const pawl_rows *run, const char *column)
{
    const char *text = pawl_rows_text(run, 0, column);

    return text != NULL ? text : "";
}

/* Prints a value in one line, cut at the width of the terminal. */
static void
print_json(FILE *out, pawl_bytes value, size_t indent)
{
    char *text = malloc(value.size + 1);
    size_t width = term_width();

    if (text == NULL || value.data == NULL) {
        free(text);
        (void)fputc('\n', out);
        return;
    }
    memcpy(text, value.data, value.size);
    text[value.size] = '\0';
    if (width > indent + 1)
        (void)term_print_cut(out, text, width - indent);
    else
        term_print(out, text);
    (void)fputc('\n', out);
    free(text);
}

/* Prints the message of an error, or the whole error if it has no message. */
static void
print_error(FILE *out, pawl_bytes error, size_t indent)
{
    char message[TEXT_SIZE];

    if (pawl_json_text(error, "/message", message, sizeof(message)) == PAWL_OK ||
        pawl_json_text(error, "", message, sizeof(message)) == PAWL_OK)
        print_json(out, pawl_text(message), indent);
    else
        print_json(out, error, indent);
}

static void
print_styled(FILE *out, const char *text, enum term_style style, size_t columns)
{
    size_t printed;

    (void)fputs(style == TERM_PLAIN ? "" : term_style(TERM_OUT, style), out);
    printed = term_print_cut(out, text, columns);
    (void)fputs(style == TERM_PLAIN ? "" : term_style(TERM_OUT, TERM_PLAIN), out);
    for (; printed < columns; printed++)
        (void)fputc(' ', out);
}

static size_t
place_of(const struct frame *frame, int64_t us)
{
    int64_t whole = frame->end_us - frame->begin_us;

    if (whole <= 0 || us <= frame->begin_us)
        return 0;
    if (us >= frame->end_us)
        return BAR;
    return (size_t)((double)(us - frame->begin_us) / (double)whole * BAR);
}

/* Prints a bar that shows when in the run's time the step was executed. */
static void
print_bar(FILE *out, const struct frame *frame, const struct step *step)
{
    size_t from = place_of(frame, step->started_us);
    size_t to = place_of(frame, step->ended_us >= 0 ? step->ended_us : frame->now_us);

    if (step->started_us < 0)
        return;
    if (from >= BAR)
        from = BAR - 1;
    if (to <= from)
        to = from + 1;
    (void)fprintf(out, "%*s", (int)from, "");
    (void)fputs(term_style(TERM_OUT, term_style_of(step->state)), out);
    for (; from < to; from++)
        (void)fputs(step->ended_us >= 0 ? "━" : "╌", out);
    (void)fputs(term_style(TERM_OUT, TERM_PLAIN), out);
}

/* Prints "next try in 41s, at 2026-11-15 18:30:12" for a step that continues automatically. */
static void
print_due(FILE *out, const struct frame *frame, const struct step *step)
{
    bool is_step = strcmp(step->kind, "step") == 0;
    char span[TIME_TEXT_SIZE];
    char at[TIME_TEXT_SIZE];

    time_text_write_local(at, step->due_us);
    (void)fprintf(out, "    %s", term_style(TERM_OUT, TERM_WAIT));
    if (step->due_us <= frame->now_us) {
        (void)fprintf(out, "%s since %s",
            is_step && step->error.size > 0 ? "next attempt is due" : "is due", at);
    } else {
        time_text_write_span(span, (step->due_us - frame->now_us) / 1000000 * 1000000);
        (void)fprintf(out, "%s %s, at %s",
            is_step && step->error.size > 0        ? "next attempt in"
                : is_step                          ? "continues in"
                : strcmp(step->kind, "sleep") == 0 ? "sleeps for another"
                                                   : "times out in",
            span, at);
    }
    (void)fprintf(out, "%s\n", term_style(TERM_OUT, TERM_PLAIN));
}

static void
print_step(FILE *out, const struct frame *frame, const struct step *step)
{
    char took[TIME_TEXT_SIZE] = "";
    char tries[TIME_TEXT_SIZE];
    int64_t until_us = step->ended_us >= 0 ? step->ended_us : frame->now_us;

    (void)fputs("  ", out);
    print_styled(out, step->name, TERM_PLAIN, frame->name_columns);
    (void)fputs("  ", out);
    print_styled(out, step->kind, TERM_DIM, 8);
    (void)fputs("  ", out);
    print_styled(out, step->state, term_style_of(step->state), 7);
    if (frame->rounds)
        (void)fprintf(out, "  %5" PRId64, step->round);
    (void)snprintf(tries, sizeof(tries), "%" PRId64, step->attempt);
    (void)fprintf(out, "  %8s", tries);
    if (step->started_us >= 0)
        time_text_write_span(took, until_us - step->started_us);
    (void)fprintf(out, "  %8s  ", step->copied ? "copied" : took);
    print_bar(out, frame, step);
    (void)fputc('\n', out);
    if (step->child[0] != '\0')
        (void)fprintf(out, "    %srun %s%s\n", term_style(TERM_OUT, TERM_DIM), step->child,
            term_style(TERM_OUT, TERM_PLAIN));
    if (step->error.size > 0) {
        (void)fprintf(out, "    %s", term_style(TERM_OUT, TERM_BAD));
        print_error(out, step->error, 4);
        (void)fputs(term_style(TERM_OUT, TERM_PLAIN), out);
    } else if (step->output.size > 0) {
        (void)fprintf(out, "    %s", term_style(TERM_OUT, TERM_DIM));
        print_json(out, step->output, 4);
        (void)fputs(term_style(TERM_OUT, TERM_PLAIN), out);
    }
    if (step->due_us >= 0 && step->ended_us < 0)
        print_due(out, frame, step);
}

/* Sets the width of the column of names, and returns the number of steps. */
static size_t
measure_steps(struct frame *frame, const pawl_rows *run, bool all)
{
    struct run_view_map map = {0};
    struct pw_json_walk walk;
    struct step step;
    size_t count = 0;
    size_t others = 2 + 2 + 8 + 2 + 7 + 2 + 8 + 2 + 8 + 2 + BAR + (frame->rounds ? 7U : 0U);
    size_t most = NAME_MOST;

    if (term_width() > 0)
        most = term_width() > others + NAME_LEAST ? term_width() - others : NAME_LEAST;
    if (most > NAME_MOST)
        most = NAME_MOST;
    frame->name_columns = NAME_LEAST;
    for (walk_steps(&walk, run); next_step(&walk, &step);) {
        size_t columns = term_columns(step.name);

        count += all || !run_view_map_hides(&map, step.name, step.state, &walk);
        if (columns > frame->name_columns)
            frame->name_columns = columns < most ? columns : most;
    }
    return count;
}

static void
print_steps(FILE *out, struct frame *frame, const pawl_rows *run, size_t steps_max)
{
    size_t count = measure_steps(frame, run, steps_max == 0);
    size_t half = steps_max / 2;
    struct run_view_map map = {0};
    struct pw_json_walk walk;
    struct step step;
    size_t i = 0;

    if (count == 0)
        return;
    (void)fprintf(out, "\n%s  %-*s  %-8s  %-7s%s  %8s  %8s%s\n", term_style(TERM_OUT, TERM_DIM),
        (int)frame->name_columns, "STEP", "KIND", "STATE", frame->rounds ? "  ROUND" : "",
        "ATTEMPTS", "DURATION", term_style(TERM_OUT, TERM_PLAIN));
    for (walk_steps(&walk, run); next_step(&walk, &step);) {
        bool hidden = steps_max > 0 && run_view_map_hides(&map, step.name, step.state, &walk);

        if (map.begins)
            run_view_map_print(out, &map, frame->name_columns);
        if (hidden)
            continue;
        if (steps_max == 0 || count <= steps_max || i < half || i >= count - half)
            print_step(out, frame, &step);
        else if (i == half)
            (void)fprintf(out, "  ... %zu more steps; --all shows them\n", count - 2 * half);
        i++;
    }
}

/* A worker reports with its heartbeats which steps last. Without this line a run in its first step would look as if it did nothing. */
static void
print_unknown_step(FILE *out, const pawl_rows *run)
{
    struct pw_json_walk walk;
    struct step step;

    if (strcmp(text_at(run, "status"), "RUNNING") != 0)
        return;
    for (walk_steps(&walk, run); next_step(&walk, &step);)
        if (strcmp(step.state, "RUNNING") == 0)
            return;
    (void)fprintf(out,
        "\n  %sa step in progress appears here with the next heartbeat of its worker%s\n",
        term_style(TERM_OUT, TERM_DIM), term_style(TERM_OUT, TERM_PLAIN));
}

bool
run_view_has_ended(const pawl_rows *run)
{
    return pawl_rows_text(run, 0, "ended_at") != NULL;
}

static void
print_fact(FILE *out, const char *name, const char *value)
{
    if (value[0] == '\0')
        return;
    (void)fprintf(
        out, "%s%-9s%s ", term_style(TERM_OUT, TERM_DIM), name, term_style(TERM_OUT, TERM_PLAIN));
    term_print(out, value);
    (void)fputc('\n', out);
}

static void
print_value(FILE *out, const char *name, const char *value, enum term_style style)
{
    if (value[0] == '\0')
        return;
    (void)fprintf(out, "%s%-9s%s %s", term_style(TERM_OUT, TERM_DIM), name,
        term_style(TERM_OUT, TERM_PLAIN), style == TERM_PLAIN ? "" : term_style(TERM_OUT, style));
    print_json(out, pawl_text(value), 10);
    (void)fputs(style == TERM_PLAIN ? "" : term_style(TERM_OUT, TERM_PLAIN), out);
}

static void
print_tags(FILE *out, const pawl_rows *run)
{
    struct pw_buf tags;

    pw_buf_init(&tags, TEXT_SIZE * 10);
    pw_list_text_write(&tags, text_at(run, "tags"));
    print_fact(out, "tags", pw_buf_text(&tags));
    pw_buf_done(&tags);
}

/* "1 (a worker lost it; pawl run history ID shows when)" */
static void
print_crashes(FILE *out, const pawl_rows *run)
{
    const char *crashes = text_at(run, "crashes");
    char text[200];

    if (crashes[0] == '\0' || strcmp(crashes, "0") == 0)
        return;
    (void)snprintf(text, sizeof(text), "%s (a worker lost it; when: pawl run history %.13s)",
        crashes, text_at(run, "run_id"));
    print_fact(out, "crashes", text);
}

/* "2026-11-15 18:23:18, started 120ms later, ended after 3.2s" */
static void
print_times(FILE *out, const pawl_rows *run, const struct frame *frame)
{
    int64_t started_us = time_at(run, "started_at");
    int64_t ended_us = time_at(run, "ended_at");
    char text[200];
    char room[TIME_TEXT_SIZE];
    size_t size;

    time_text_write_local(room, frame->begin_us);
    size = (size_t)snprintf(text, sizeof(text), "%s", room);
    if (started_us >= 0) {
        /* A claim may begin before the trigger of the run that it finds has committed. */
        time_text_write_span(room, started_us > frame->begin_us ? started_us - frame->begin_us : 0);
        size += (size_t)snprintf(text + size, sizeof(text) - size, ", started %s later", room);
    }
    time_text_write_span(room, frame->end_us - frame->begin_us);
    (void)snprintf(
        text + size, sizeof(text) - size, ended_us >= 0 ? ", ended after %s" : ", %s ago", room);
    print_fact(out, "triggered", text);
}

static void
print_state(FILE *out, const pawl_rows *run)
{
    const char *status = text_at(run, "status");
    const char *reason = text_at(run, "reason");

    (void)fputs(term_style(TERM_OUT, term_style_of(status)), out);
    term_print(out, status);
    (void)fputs(term_style(TERM_OUT, TERM_PLAIN), out);
    if (reason[0] != '\0') {
        (void)fputs(" (", out);
        term_print(out, reason);
        (void)fputc(')', out);
    }
    if (text_at(run, "ending")[0] == 't')
        (void)fputs(", ending", out);
    if (text_at(run, "rolling_back")[0] == 't')
        (void)fputs(", rolling back", out);
    (void)fputc('\n', out);
}

void
run_view_print(FILE *out, const pawl_rows *run, int64_t now_us, const char *why, size_t steps_max)
{
    struct frame frame = {.begin_us = time_at(run, "triggered_at"),
        .end_us = time_at(run, "ended_at"),
        .now_us = now_us,
        .rounds = strcmp(text_at(run, "round"), "1") != 0};
    const char *priority = text_at(run, "priority");
    const char *execution = text_at(run, "execution");

    if (frame.end_us < 0)
        frame.end_us = now_us;
    (void)fputs(term_style(TERM_OUT, TERM_BOLD), out);
    term_print(out, text_at(run, "workflow"));
    (void)fprintf(out, "%s ", term_style(TERM_OUT, TERM_PLAIN));
    term_print(out, text_at(run, "run_id"));
    (void)fputs("  ", out);
    print_state(out, run);
    print_times(out, run, &frame);
    print_fact(out, "key", text_at(run, "key"));
    print_fact(out, "tenant", text_at(run, "tenant"));
    print_tags(out, run);
    print_fact(out, "parent", text_at(run, "parent_id"));
    print_fact(out, "forked", text_at(run, "forked_from"));
    print_fact(out, "worker", text_at(run, "worker"));
    print_fact(out, "priority", strcmp(priority, "100") == 0 ? "" : priority);
    print_fact(out, "execution", strcmp(execution, "1") == 0 ? "" : execution);
    print_fact(out, "round", frame.rounds ? text_at(run, "round") : "");
    print_crashes(out, run);
    print_value(out, "input", text_at(run, "input"), TERM_PLAIN);
    print_value(out, "metadata", text_at(run, "metadata"), TERM_PLAIN);
    print_steps(out, &frame, run, steps_max);
    print_unknown_step(out, run);
    if (run_view_has_ended(run) || why != NULL)
        (void)fputc('\n', out);
    print_value(out, "output", text_at(run, "output"), TERM_GOOD);
    if (text_at(run, "error")[0] != '\0')
        print_value(out, "error", text_at(run, "error"), TERM_BAD);
    if (why != NULL) {
        term_print(out, why);
        (void)fputc('\n', out);
    }
}

void
run_view_print_line(FILE *out, const pawl_rows *run, int64_t now_us, size_t columns)
{
    struct pw_json_walk walk;
    struct step step;
    struct step open = {.started_us = -1};
    size_t done = 0;
    char line[TEXT_SIZE + NAME_SIZE];
    char span[TIME_TEXT_SIZE];
    size_t size;

    for (walk_steps(&walk, run); next_step(&walk, &step);) {
        if (step.ended_us >= 0)
            done++;
        else
            open = step;
    }
    size = (size_t)snprintf(line, sizeof(line), "%-7.20s  %zu step%s done", text_at(run, "status"),
        done, done == 1 ? "" : "s");
    if (open.name[0] != '\0' && strcmp(open.state, "RUNNING") == 0) {
        time_text_write_span(span, open.started_us >= 0 ? now_us - open.started_us : 0);
        (void)snprintf(line + size, sizeof(line) - size, ", in %s for %s", open.name, span);
    } else if (open.name[0] != '\0' && open.due_us >= now_us) {
        time_text_write_span(span, open.due_us - now_us);
        (void)snprintf(line + size, sizeof(line) - size,
            strcmp(open.kind, "step") == 0 ? ", tries %s again in %s"
                                           : ", waits in %s for at most %s",
            open.name, span);
    } else if (open.name[0] != '\0') {
        (void)snprintf(line + size, sizeof(line) - size, ", waits in %s", open.name);
    }
    (void)term_print_cut(out, line, columns);
}
