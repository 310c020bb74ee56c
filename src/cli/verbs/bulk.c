/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/verbs/bulk.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/json_read.h"
#include "base/json_write.h"
#include "base/text.h"
#include "cli/report/exit.h"
#include "cli/show/term.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    FILTER_MAX = 8192,
    PREVIEW_MAX = 65536,
    OUTPUT_MAX = 8192,
    PLAIN_SECONDS = 10, /* between lines of progress without a terminal */
    JSONL_SECONDS = 1,
};

/* The engine does housekeeping ten times a second at most. */
static const struct timespec look_every = {.tv_nsec = 100000000};

/* How many runs gave which answer. */
struct outcome {
    int64_t changed;
    int64_t skipped;
    int64_t failed;
    bool refused; /* some answered busy or refused */
};

/* Set by Ctrl-C or SIGTERM. A second signal ends the program at once. */
static volatile sig_atomic_t interrupted;

static void
note_signal(int number)
{
    (void)number;
    interrupted = 1;
}

static void
take_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM};
    struct sigaction action = {.sa_handler = note_signal, .sa_flags = (int)SA_RESETHAND};
    struct sigaction before;

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            (void)sigaction(numbers[i], &action, NULL);
}

static const char *
text_of(const pawl_rows *rows, const char *column)
{
    const char *text = pawl_rows_text(rows, 0, column);

    return text != NULL ? text : "";
}

static struct pw_json
json_of(const pawl_rows *rows, const char *column)
{
    const char *text = text_of(rows, column);

    return (struct pw_json){text, strlen(text)};
}

/* Adds a member to the filter, if its option was given. A time is converted to one of PostgreSQL. */
static int
add_member(struct invocation *invocation, struct pw_json_writer *w, const char *name, bool is_time)
{
    const char *value = invocation_option(invocation, name);
    char *time = NULL;
    int code = EXIT_OK;

    if (value == NULL)
        return EXIT_OK;
    if (is_time) {
        time = invocation_time(invocation, value, &code);
        if (time == NULL)
            return code;
    }
    pw_json_key(w, name);
    pw_json_add_text(w, is_time ? time : value);
    free(time);
    return EXIT_OK;
}

static int
write_filter(struct invocation *invocation, struct pw_buf *filter)
{
    static const char *const texts[] = {"workflow", "status", "key", "tenant"};
    struct pw_json_writer w;
    int code = EXIT_OK;

    pw_buf_init(filter, FILTER_MAX);
    pw_json_writer_init(&w, filter);
    pw_json_open(&w, '{');
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        (void)add_member(invocation, &w, texts[i], false);
    code = add_member(invocation, &w, "since", true);
    if (code == EXIT_OK)
        code = add_member(invocation, &w, "before", true);
    pw_json_close(&w);
    if (code == EXIT_OK && !pw_buf_ok(filter))
        code = exit_saying(EXIT_USAGE, NULL, "the filter is too long");
    return code;
}

static void
print_member(FILE *out, struct pw_json run, const char *name, struct pw_arena *arena)
{
    const char *text = pw_json_text(pw_json_member(run, name), arena);

    term_print(out, text != NULL ? text : "");
}

/* Prints the first runs of a preview, and how many more there are. */
static void
print_first(FILE *out, const pawl_rows *preview)
{
    struct pw_json_walk walk;
    struct pw_json key;
    struct pw_json run;
    struct pw_arena arena;
    int64_t count = 0;
    int64_t shown = 0;

    pw_arena_init(&arena, PREVIEW_MAX);
    pw_json_walk(&walk, json_of(preview, "first_runs"));
    for (; pw_json_walk_next(&walk, &key, &run); shown++) {
        const char *status = pw_json_text(pw_json_member(run, "status"), &arena);

        (void)fputs("  ", out);
        print_member(out, run, "run_id", &arena);
        (void)fprintf(out, "  %-9s  ", status != NULL ? status : "");
        print_member(out, run, "workflow", &arena);
        (void)fputc('\n', out);
    }
    pw_arena_done(&arena);
    if (strchr(text_of(preview, "runs_shown"), '+') != NULL)
        (void)fputs("  ... and more\n", out);
    else if (pw_parse_i64(text_of(preview, "runs"), 0, INT64_MAX, &count) && count > shown)
        (void)fprintf(out, "  ... and %" PRId64 " more\n", count - shown);
}

static bool
prints_json(const struct invocation *invocation)
{
    return invocation->output == OUTPUT_JSON || invocation->output == OUTPUT_JSONL;
}

static int
print_json(struct pw_json_writer *w, struct pw_buf *line)
{
    int code = EXIT_OK;

    pw_json_close(w);
    if (pw_json_ok(w))
        (void)puts(pw_buf_text(line));
    else
        code = exit_saying(EXIT_OTHER, NULL, "out of memory");
    (void)fflush(stdout);
    pw_buf_done(line);
    return code;
}

static void
add_raw(struct pw_json_writer *w, const char *name, const char *json)
{
    pw_json_key(w, name);
    if (json[0] == '\0')
        pw_json_add_null(w);
    else
        pw_json_add_raw(w, json, strlen(json));
}

/* Shows what --dry-run asks for. */
static int
show_preview(const struct invocation *invocation, const char *act, const pawl_rows *preview)
{
    const char *runs = text_of(preview, "runs_shown");
    struct pw_json_writer w;
    struct pw_buf line;

    if (!prints_json(invocation)) {
        print_first(stdout, preview);
        (void)printf("this would %s %s run%s\n", act, runs, strcmp(runs, "1") == 0 ? "" : "s");
        return EXIT_OK;
    }
    pw_buf_init(&line, PREVIEW_MAX);
    pw_json_writer_init(&w, &line);
    pw_json_open(&w, '{');
    pw_json_key(&w, "act");
    pw_json_add_text(&w, act);
    add_raw(&w, "runs", text_of(preview, "runs"));
    pw_json_key(&w, "runs_shown");
    pw_json_add_text(&w, runs);
    add_raw(&w, "first_runs", text_of(preview, "first_runs"));
    add_raw(&w, "filter", text_of(preview, "full_filter"));
    pw_json_key(&w, "digest");
    pw_json_add_text(&w, text_of(preview, "digest"));
    return print_json(&w, &line);
}

static int
confirm(const struct invocation *invocation, const char *act, const pawl_rows *preview)
{
    const char *runs = text_of(preview, "runs_shown");
    int code;

    if (!invocation_has(invocation, "yes"))
        print_first(stderr, preview);
    code =
        invocation_confirm(invocation, "%s %s run%s", act, runs, strcmp(runs, "1") == 0 ? "" : "s");
    if (!interrupted)
        return code;
    if (term_is_tty(TERM_ERR))
        (void)fputc('\n', stderr);
    return exit_saying(EXIT_INTERRUPTED, NULL, "interrupted: nothing was done");
}

static int
begin_previewed(struct invocation *invocation, const char *act, const char *rate,
    const pawl_rows *preview, struct bulk *bulk)
{
    const char *wanted = invocation_option(invocation, "rate");
    pawl_rows *rows = NULL;
    int code = invocation_verb(invocation, &rows, "begin_bulk", "act", act, "filter",
        text_of(preview, "full_filter"), "rate", wanted != NULL ? wanted : rate, "why",
        invocation_option(invocation, "why"), "by", invocation_option(invocation, "by"), "digest",
        text_of(preview, "digest"), "rollback", invocation_option(invocation, "rollback"), "step",
        invocation_option(invocation, "step"), NULL);

    if (code == EXIT_UNKNOWN)
        (void)fputs("pawl bulk list shows whether it has begun.\n", stderr);
    if (code == EXIT_OK)
        (void)snprintf(bulk->number, sizeof(bulk->number), "%s",
            text_of(rows, pawl_rows_column_name(rows, 0)));
    pawl_rows_free(rows);
    return code;
}

int
bulk_begin(struct invocation *invocation, const char *act, const char *rate, struct bulk *bulk)
{
    struct pw_buf filter;
    pawl_rows *preview = NULL;
    int code;

    take_signals();
    code = write_filter(invocation, &filter);
    if (code == EXIT_OK)
        code = invocation_verb(
            invocation, &preview, "preview_bulk", "act", act, "filter", pw_buf_text(&filter), NULL);
    pw_buf_done(&filter);
    if (code == EXIT_OK)
        (void)snprintf(bulk->found, sizeof(bulk->found), "%s", text_of(preview, "runs_shown"));
    if (code == EXIT_OK && invocation_has(invocation, "dry-run")) {
        code = show_preview(invocation, act, preview);
    } else if (code == EXIT_OK && strcmp(bulk->found, "0") != 0) {
        code = confirm(invocation, act, preview);
        if (code == EXIT_OK)
            code = begin_previewed(invocation, act, rate, preview, bulk);
    }
    pawl_rows_free(preview);
    return code;
}

void
bulk_done(struct bulk *bulk)
{
    pawl_rows_free(bulk->last);
    bulk->last = NULL;
}

/* Counts runs by what became of them. Adds the answers of skipped runs to a text, unless it is NULL. */
static struct outcome
judge(const struct bulk *bulk, struct pw_buf *skipped)
{
    struct outcome outcome = {0};
    struct pw_json_walk walk;
    struct pw_json answer;
    struct pw_json count;

    if (bulk->last == NULL)
        return outcome;
    pw_json_walk(&walk, json_of(bulk->last, "answers"));
    while (pw_json_walk_next(&walk, &answer, &count)) {
        int64_t runs = 0;

        if (!pw_json_to_int(count, &runs))
            continue;
        if (pw_json_is(answer, "ok")) {
            outcome.changed += runs;
        } else if (pw_json_is(answer, "failed")) {
            outcome.failed += runs;
        } else {
            if (skipped != NULL)
                pw_buf_addf(skipped, "%s%.*s %" PRId64, outcome.skipped > 0 ? ", " : "",
                    (int)answer.size, answer.data, runs);
            outcome.skipped += runs;
        }
        if (pw_json_is(answer, "busy") || pw_json_is(answer, "refused"))
            outcome.refused = true;
    }
    return outcome;
}

/* Prints how far a bulk is, as one object. */
static int
print_state(const struct bulk *bulk, const struct outcome *outcome)
{
    struct pw_json_writer w;
    struct pw_buf line;

    pw_buf_init(&line, OUTPUT_MAX);
    pw_json_writer_init(&w, &line);
    pw_json_open(&w, '{');
    add_raw(&w, "bulk", bulk->number);
    pw_json_key(&w, "state");
    pw_json_add_text(&w, bulk->last != NULL ? text_of(bulk->last, "state") : "done");
    pw_json_key(&w, "changed");
    pw_json_add_int(&w, outcome->changed);
    pw_json_key(&w, "skipped");
    pw_json_add_int(&w, outcome->skipped);
    pw_json_key(&w, "failed");
    pw_json_add_int(&w, outcome->failed);
    add_raw(&w, "waiting", bulk->last != NULL ? text_of(bulk->last, "waiting") : "0");
    add_raw(&w, "answers", bulk->last != NULL ? text_of(bulk->last, "answers") : "{}");
    return print_json(&w, &line);
}

/* Shows how far the bulk is: a line that is rewritten, plain lines without a terminal, objects for a program that reads lines. */
static void
show_progress(
    const struct invocation *invocation, const struct bulk *bulk, time_t *shown_at, bool done)
{
    const char *handled = text_of(bulk->last, "handled");
    const char *waiting = text_of(bulk->last, "waiting");
    bool objects = invocation->output == OUTPUT_JSONL;
    struct timespec now = {0};

    if (term_is_tty(TERM_ERR)) {
        (void)fprintf(stderr, "\r\033[K%s of %s", handled, bulk->found);
        if (strcmp(waiting, "0") != 0)
            (void)fprintf(stderr, ", %s held by other transactions", waiting);
        (void)fputs(done ? "\n" : "", stderr);
    }
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    if (*shown_at == 0)
        *shown_at = now.tv_sec;
    if (done || now.tv_sec - *shown_at < (objects ? JSONL_SECONDS : PLAIN_SECONDS))
        return;
    *shown_at = now.tv_sec;
    if (objects) {
        struct outcome outcome = judge(bulk, NULL);

        (void)print_state(bulk, &outcome);
    } else if (!term_is_tty(TERM_ERR)) {
        (void)fprintf(stderr, "bulk %s: %s of %s runs\n", bulk->number, handled, bulk->found);
    }
}

/* Ticks once, because no worker may be alive, and reads how far the bulk is. */
static int
look(struct invocation *invocation, struct bulk *bulk, bool *done)
{
    char after[BULK_TEXT_SIZE];
    pawl_rows *rows = NULL;
    int64_t number = 0;
    int code = pw_parse_i64(bulk->number, 0, INT64_MAX - 1, &number)
        ? invocation_verb(invocation, NULL, "tick", NULL)
        : exit_saying(EXIT_OTHER, NULL, "the database named no bulk");

    (void)snprintf(after, sizeof(after), "%" PRId64, number + 1);
    if (code == EXIT_OK)
        code = invocation_verb(
            invocation, &rows, "list_bulks", "cursor", after, "max_rows", "1", NULL);
    if (code == EXIT_OK &&
        (pawl_rows_count(rows) == 0 || strcmp(text_of(rows, "bulk"), bulk->number) != 0))
        code = exit_saying(EXIT_OTHER, NULL, "bulk %s is no longer listed", bulk->number);
    if (code != EXIT_OK) {
        pawl_rows_free(rows);
        return code;
    }
    bulk_done(bulk);
    bulk->last = rows;
    *done = strcmp(text_of(rows, "state"), "running") != 0;
    return EXIT_OK;
}

static int
say_interrupted(const struct bulk *bulk)
{
    char hint[120];

    if (term_is_tty(TERM_ERR))
        (void)fputc('\n', stderr);
    (void)snprintf(hint, sizeof(hint),
        "Follow it with pawl bulk list; stop it with pawl bulk stop %s.", bulk->number);
    return exit_saying(EXIT_INTERRUPTED, hint,
        "interrupted after %s of %s runs: bulk %s continues in the background",
        bulk->last != NULL ? text_of(bulk->last, "handled") : "0", bulk->found, bulk->number);
}

int
bulk_follow(struct invocation *invocation, struct bulk *bulk)
{
    time_t shown_at = 0;
    bool done = false;
    int code;

    /* Now, because a command that is killed cannot say it. */
    (void)fprintf(stderr,
        "bulk %s has begun; it continues if this command ends.\n"
        "Follow it with pawl bulk list; stop it with pawl bulk stop %s.\n",
        bulk->number, bulk->number);
    while ((code = look(invocation, bulk, &done)) == EXIT_OK) {
        show_progress(invocation, bulk, &shown_at, done);
        if (done)
            return EXIT_OK;
        if (!interrupted)
            (void)nanosleep(&look_every, NULL);
        if (interrupted)
            return say_interrupted(bulk);
    }
    (void)fprintf(stderr, "      Bulk %s continues in the background.\n", bulk->number);
    return code;
}

static int
summarize(const struct invocation *invocation, const struct bulk *bulk)
{
    struct pw_buf skipped;
    struct outcome outcome;
    int code = EXIT_OK;

    pw_buf_init(&skipped, OUTPUT_MAX);
    outcome = judge(bulk, &skipped);
    if (prints_json(invocation))
        code = print_state(bulk, &outcome);
    else if (bulk->number[0] == '\0')
        (void)puts("nothing to do");
    else
        (void)printf("%" PRId64 " changed, %" PRId64 " skipped%s%s%s, %" PRId64 " failed\n",
            outcome.changed, outcome.skipped, outcome.skipped > 0 ? " (" : "",
            pw_buf_ok(&skipped) ? pw_buf_text(&skipped) : "", outcome.skipped > 0 ? ")" : "",
            outcome.failed);
    pw_buf_done(&skipped);
    if (code != EXIT_OK || bulk->last == NULL)
        return code;
    if (strcmp(text_of(bulk->last, "state"), "stopped") == 0)
        return exit_saying(EXIT_REFUSED, "The same command continues with the other runs.",
            "bulk %s was stopped by %s", bulk->number, text_of(bulk->last, "stopped_by"));
    if (outcome.failed > 0)
        return exit_saying(EXIT_OTHER, NULL, "%" PRId64 " runs failed, the last with: %s",
            outcome.failed, text_of(bulk->last, "last_error"));
    /* A run that has ended or was purged since the search is not an error. */
    return outcome.refused ? EXIT_REFUSED : EXIT_OK;
}

static bool
has_any(const struct invocation *invocation, const char *const *names)
{
    for (; *names != NULL; names++)
        if (invocation_has(invocation, *names))
            return true;
    return false;
}

int
bulk_or_named(struct invocation *invocation)
{
    static const char *const filters[] = {
        "workflow", "status", "key", "tenant", "since", "before", NULL};
    static const char *const only_bulks[] = {"rate", "dry-run", NULL};
    struct bulk bulk = {0};
    int code;

    if (invocation->operand_count > 0 && has_any(invocation, filters))
        return exit_saying(EXIT_USAGE, NULL, "give ids, or options that name runs, not both");
    if (invocation->operand_count > 0 && has_any(invocation, only_bulks))
        return exit_saying(
            EXIT_USAGE, NULL, "--rate and --dry-run go with options that name runs, not with ids");
    if (invocation->operand_count > 0)
        return invocation_described(invocation);
    if (!has_any(invocation, filters))
        return exit_saying(
            EXIT_USAGE, "Give ids, or for example --workflow NAME --since 2h.", "which runs?");
    if (invocation->output == OUTPUT_IDS)
        return exit_saying(EXIT_USAGE, "pawl run list -o ids prints them.",
            "an action on runs that options name does not print their ids");
    /* The largest rate: an operator waits for the end of the bulk. */
    code = bulk_begin(invocation, invocation->command->verb, "1000", &bulk);
    if (code == EXIT_OK && bulk.number[0] != '\0')
        code = bulk_follow(invocation, &bulk);
    if (code == EXIT_OK && !invocation_has(invocation, "dry-run"))
        code = summarize(invocation, &bulk);
    bulk_done(&bulk);
    return code;
}
