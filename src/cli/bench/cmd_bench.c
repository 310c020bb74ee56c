/* SPDX-License-Identifier: Apache-2.0 */
/* pawl bench: measures a server with bare SQL, with the engine and with a worker, in a separate database that it drops. */
#include "base/buf.h"
#include "base/json_write.h"
#include "base/text.h"
#include "cli/bench/bench.h"
#include "cli/command/commands.h"
#include "cli/command/invocation.h"
#include "cli/process/signals.h"
#include "cli/report/exit.h"
#include "cli/setup/scripts.h"
#include "cli/show/term.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum {
    SECONDS = 60,
    SECONDS_LEAST = 2,
    SECONDS_MOST = 3600,
    ROUNDS = 3,
    BATCH = 100,
};

/* The lines of the table, in their order. Ratios are to an earlier line. */
enum line {
    LINE_TRIP,
    LINE_COMMIT,
    LINE_COMMITS,
    LINE_TRIGGERS,
    LINE_BARE,
    LINE_ENGINE,
    LINE_RUNTIME,
    LINE_PICKUP,
    LINES,
};

static const struct {
    const char *name;
    const char *what;
    const char *script; /* NULL: a worker is measured */
    int connections;
    int items;         /* that one turn of the script counts as */
    int share;         /* of the whole time, in sixtieths; for each round */
    int rounds;        /* lines with several are measured in turns; the median is shown */
    enum line against; /* the line that the ratio is to; itself: no ratio */
} lines[LINES] = {
    [LINE_TRIP] = {"round_trip", "a round trip", script_bench_trip, 1, 1, 2, 1, LINE_TRIP},
    [LINE_COMMIT] = {"commit", "a row in a commit, one by one", script_bench_commit, 1, 1, 4, 1,
        LINE_COMMIT},
    [LINE_COMMITS] = {"commits", "the same, 8 connections", script_bench_commit, 8, 1, 4, 1,
        LINE_COMMITS},
    [LINE_TRIGGERS] = {"triggers", "  pawl.trigger, 8 connections", script_bench_trigger, 8, 1, 4,
        1, LINE_COMMITS},
    [LINE_BARE] = {"runs_bare", "three-step runs, bare SQL", script_bench_bare_runs, 2, BATCH, 4,
        ROUNDS, LINE_BARE},
    [LINE_ENGINE] = {"runs_engine", "  the engine's SQL", script_bench_engine_runs, 2, BATCH, 4,
        ROUNDS, LINE_BARE},
    [LINE_RUNTIME] = {"runs_worker", "  one worker process", NULL, 0, 0, 5, ROUNDS, LINE_BARE},
    [LINE_PICKUP] = {"pickup", "an idle worker begins a run", NULL, 0, 0, 5, 1, LINE_PICKUP},
};

static int64_t
time_of(const struct invocation *invocation)
{
    int64_t seconds = SECONDS;

    if (invocation_has(invocation, "seconds") &&
        !pw_parse_i64(
            invocation_option(invocation, "seconds"), SECONDS_LEAST, SECONDS_MOST, &seconds))
        return -1;
    return seconds;
}

/* --- the database --- */

/*
 * Returns the same server with another database: a later dbname overrides an earlier one, in a URI and in a list of pairs. Malloced; NULL:
 * out of memory.
 */
static char *
other_database(const char *database)
{
    bool uri =
        strncmp(database, "postgresql://", 13) == 0 || strncmp(database, "postgres://", 11) == 0;
    const char *joint = !uri ? " " : strchr(database, '?') == NULL ? "?" : "&";
    char *made = NULL;

    return asprintf(&made, "%s%sdbname=pawl_bench_scratch", database, joint) < 0 ? NULL : made;
}

/* The settings of the measurements: those of the command line, but with the scratch database. */
static int
scratch_config(struct invocation *invocation, pawl_config **config)
{
    int code = invocation_config(invocation, config);
    pawl_error *error = NULL;
    pawl_status status;
    char *database;

    if (code != EXIT_OK)
        return code;
    database = other_database(pawl_config_get(*config, "database"));
    if (database == NULL)
        return exit_saying(EXIT_OTHER, NULL, "out of memory");
    status = pawl_config_set(*config, "database", database, &error);
    if (status == PAWL_OK)
        status = pawl_config_set(*config, "concurrency", "256", &error);
    free(database);
    return exit_with(status, error);
}

static int
send(const pawl_config *config, const char *script)
{
    pawl_error *error = NULL;
    pawl_status status = pawl_admin_script(config, script, &error);

    return exit_with(status, error);
}

static int
create(const pawl_config *config)
{
    pawl_error *error = NULL;
    pawl_status status = pawl_admin_script(config, script_bench_create, &error);
    int code;

    if (status == PAWL_EFORBIDDEN && pawl_error_sqlstate(error)[0] != '\0') {
        pawl_error_free(error);
        return exit_saying(EXIT_FORBIDDEN,
            "Let a role do it that may, with --database; or, as a superuser: alter role ROLE "
            "createdb",
            "this role may not create a database, and pawl bench measures in one of its own");
    }
    if (status != PAWL_OK)
        return exit_with(status, error);
    code = send(config, script_bench_mark);
    if (code != EXIT_OK)
        (void)send(config, script_bench_drop);
    return code;
}

/* Drops the scratch database if pawl bench has made it. Touches no other database. */
static int
clean(const pawl_config *config)
{
    int code = send(config, script_bench_mine);

    return code == EXIT_OK ? send(config, script_bench_drop) : code;
}

/* --- measuring --- */

static void
say_progress(const char *what)
{
    if (!term_is_tty(TERM_ERR))
        return;
    (void)fprintf(stderr, "\r\033[K");
    if (what != NULL)
        (void)fprintf(stderr, "measuring: %s ", what);
    (void)fflush(stderr);
}

static int
measure(const struct bench *bench, enum line line, int64_t seconds, struct bench_figure *figure)
{
    int64_t time_us = seconds * 1000000 * lines[line].share / SECONDS;

    say_progress(lines[line].what + strspn(lines[line].what, " "));
    if (line == LINE_RUNTIME)
        return bench_runtime(bench, time_us, figure);
    if (line == LINE_PICKUP)
        return bench_pickup(bench, time_us, figure);
    return bench_script(
        bench, lines[line].script, lines[line].connections, lines[line].items, time_us, figure);
}

/* Returns the median figure, by rate. */
static struct bench_figure
middle_of(struct bench_figure *figures)
{
    for (int i = 0; i < ROUNDS; i++)
        for (int j = i + 1; j < ROUNDS; j++)
            if (figures[j].per_s < figures[i].per_s) {
                struct bench_figure other = figures[i];

                figures[i] = figures[j];
                figures[j] = other;
            }
    return figures[ROUNDS / 2];
}

static int
measure_all(const struct bench *bench, int64_t seconds, struct bench_figure *figures)
{
    struct bench_figure rounds[LINES][ROUNDS] = {0};
    int code = EXIT_OK;

    for (int round = 0; round < ROUNDS && code == EXIT_OK; round++) {
        code = send(bench->config, script_bench_reset);
        for (int i = 0; i < LINES && code == EXIT_OK; i++)
            if (round < lines[i].rounds)
                code = measure(bench, (enum line)i, seconds, &rounds[i][round]);
    }
    for (int i = 0; i < LINES; i++)
        figures[i] = lines[i].rounds == 1 ? rounds[i][0] : middle_of(rounds[i]);
    say_progress(NULL);
    return code;
}

static double
ratio_of(const struct bench_figure *figures, enum line line)
{
    double against = figures[lines[line].against].per_s;

    return lines[line].against == line || against <= 0 ? 0 : figures[line].per_s / against;
}

/* --- showing the results --- */

static void
print_number(double value, int decimals, int width)
{
    if (value > 0)
        (void)printf("%*.*f", width, decimals, value);
    else
        (void)printf("%*s", width, "");
}

static void
show_table(const struct bench_figure *figures)
{
    (void)printf("%s%-32s %10s %9s %9s %7s%s\n", term_style(TERM_OUT, TERM_BOLD), "what",
        "per second", "p50 ms", "p99 ms", "ratio", term_style(TERM_OUT, TERM_PLAIN));
    for (int i = 0; i < LINES; i++) {
        bool batched = lines[i].items > 1; /* the time of a batch shows little about a run */

        (void)printf("%-32s ", lines[i].what);
        print_number(figures[i].per_s, 0, 10);
        print_number(batched ? 0 : figures[i].p50_ms, 2, 10);
        print_number(batched ? 0 : figures[i].p99_ms, 2, 10);
        print_number(ratio_of(figures, (enum line)i), 2, 8);
        (void)fputc('\n', stdout);
    }
    (void)printf(
        "\nRatios are to the bare line above. Runs go in batches of %d over 2 connections;\n"
        "the worker executes 256 at once. More about each line: pawl bench --help\n",
        BATCH);
}

/* Rounds to as many digits as the measurement is exact. */
static double
rounded(double value, int64_t steps)
{
    return (double)(int64_t)(value * (double)steps + 0.5) / (double)steps;
}

static void
add_figure(struct pw_json_writer *writer, const struct bench_figure *figures, enum line line)
{
    double ratio = ratio_of(figures, line);

    pw_json_open(writer, '{');
    pw_json_key(writer, "name");
    pw_json_add_text(writer, lines[line].name);
    if (figures[line].per_s > 0) {
        pw_json_key(writer, "per_second");
        pw_json_add_double(writer, rounded(figures[line].per_s, 10));
    }
    if (lines[line].items <= 1 && figures[line].p50_ms > 0) {
        pw_json_key(writer, "p50_ms");
        pw_json_add_double(writer, figures[line].p50_ms);
        pw_json_key(writer, "p99_ms");
        pw_json_add_double(writer, figures[line].p99_ms);
    }
    if (ratio > 0) {
        pw_json_key(writer, "ratio");
        pw_json_add_double(writer, rounded(ratio, 1000));
        pw_json_key(writer, "ratio_to");
        pw_json_add_text(writer, lines[lines[line].against].name);
    }
    pw_json_close(writer);
}

/* Prints the figures as a JSON array, or one object in each line. */
static int
show_json(const struct bench_figure *figures, bool list)
{
    struct pw_json_writer writer;
    struct pw_buf buf;
    bool ok;

    pw_buf_init(&buf, 65536);
    for (int i = 0; i < LINES; i++) {
        pw_buf_adds(&buf, !list ? "" : i == 0 ? "[" : ",\n ");
        pw_json_writer_init(&writer, &buf);
        add_figure(&writer, figures, (enum line)i);
        pw_buf_adds(&buf, list ? "" : "\n");
    }
    pw_buf_adds(&buf, list ? "]\n" : "");
    ok = pw_buf_ok(&buf);
    if (ok)
        (void)fputs(pw_buf_text(&buf), stdout);
    pw_buf_done(&buf);
    return ok ? EXIT_OK : exit_saying(EXIT_OTHER, NULL, "out of memory");
}

static int
show(const struct invocation *invocation, const struct bench_figure *figures)
{
    if (invocation->output == OUTPUT_JSON || invocation->output == OUTPUT_JSONL)
        return show_json(figures, invocation->output == OUTPUT_JSON);
    if (invocation->output == OUTPUT_IDS)
        return EXIT_OK;
    show_table(figures);
    return EXIT_OK;
}

/* --- the command --- */

/*
 * Blocks the signals that end programs and ignores SIGPIPE, until the process exits. So neither a signal nor a closed pipe ends the program
 * before it has dropped its database. Returns a signalfd, or -1.
 */
static int
take_signals(void)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigset_t signals;

    (void)sigaction(SIGPIPE, &ignore, NULL);
    signals_that_end(&signals);
    (void)sigprocmask(SIG_BLOCK, &signals, NULL);
    return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Creates the scratch database, measures in it, drops it, and then shows the results. */
static int
with_scratch(struct invocation *invocation, const pawl_config *config, const pawl_config *scratch)
{
    struct bench_figure figures[LINES];
    struct bench bench = {.config = scratch, .signals = take_signals()};
    int code = bench.signals >= 0 ? create(config)
                                  : exit_saying(EXIT_OTHER, NULL, "cannot wait for signals");
    int cleaned = EXIT_OK;

    if (code == EXIT_OK) {
        say_progress("installing the engine");
        code = send(scratch, script_bench_here);
        if (code == EXIT_OK)
            code = send(scratch, script_install);
        if (code == EXIT_OK)
            code = send(scratch, script_bench_tables);
        if (code == EXIT_OK)
            code = send(scratch, script_bench_functions);
        if (code == EXIT_OK)
            code = measure_all(&bench, time_of(invocation), figures);
        cleaned = send(config, script_bench_drop);
    }
    if (bench.signals >= 0)
        (void)close(bench.signals);
    if (cleaned != EXIT_OK)
        (void)exit_saying(EXIT_OTHER, "When the database is back: pawl bench --clean",
            "the database \"pawl_bench_scratch\" could not be dropped");
    if (code == EXIT_INTERRUPTED && cleaned == EXIT_OK)
        return exit_saying(EXIT_INTERRUPTED, NULL, "interrupted; everything was removed");
    if (code == EXIT_OK)
        code = show(invocation, figures);
    return code != EXIT_OK ? code : cleaned;
}

/* Prints what the bench will do, asks for confirmation, and checks that nothing forbids it. */
static int
prepare(struct invocation *invocation, const pawl_config *config)
{
    int code;

    (void)fprintf(stderr,
        "For about %d seconds this loads the server of your database as much as it can.\n"
        "It makes a database \"pawl_bench_scratch\" next to yours, writes up to some\n"
        "gigabytes, and drops it. Your own database is not touched.\n",
        (int)time_of(invocation));
    code =
        invocation_confirm(invocation, "load this server for %d seconds", (int)time_of(invocation));
    if (code == EXIT_OK)
        code = send(config, script_bench_mine);
    if (code == EXIT_OK)
        code = send(config, script_bench_under_way);
    if (code == EXIT_OK && !invocation_has(invocation, "busy"))
        code = send(config, script_bench_busy);
    /* A bench that was killed may have left its database. */
    return code == EXIT_OK ? send(config, script_bench_drop) : code;
}

static int
bench(struct invocation *invocation)
{
    pawl_config *config = NULL;
    pawl_config *scratch = NULL;
    int code;

    if (time_of(invocation) < 0)
        return exit_saying(EXIT_USAGE, NULL, "--seconds takes a number from %d to %d",
            SECONDS_LEAST, SECONDS_MOST);
    code = invocation_config(invocation, &config);
    if (code == EXIT_OK && invocation_has(invocation, "clean")) {
        code = clean(config);
    } else {
        if (code == EXIT_OK)
            code = scratch_config(invocation, &scratch);
        if (code == EXIT_OK)
            code = prepare(invocation, config);
        if (code == EXIT_OK)
            code = with_scratch(invocation, config, scratch);
    }
    pawl_config_free(scratch);
    pawl_config_free(config);
    return code;
}

const struct command cmd_bench[] = {
    {.name = "bench",
        .summary = "Measure the server, bare and with pawl, in a minute",
        .text =
            "It measures in a database of its own, \"pawl_bench_scratch\", on the server that "
            "--database names, and drops it at the end, also when it is interrupted. Yours is not "
            "touched, and need not have pawl. The role must be allowed to create databases. After "
            "a kill -9 the next bench drops what was left, and so does --clean.\n\n"
            "A round trip is a statement that does nothing. A row in a commit is 240 bytes in a "
            "table with two indexes: a round trip and a flush of the log. pawl.trigger is the same "
            "with a run. A three-step run is triggered, claimed, has three steps recorded and "
            "ends, everything durable: first with the least SQL that does it, with no checks, "
            "which is the baseline; then with the engine's functions; both in batches of 100 over "
            "2 connections. Then by one worker process of the library, which executes 256 at once, "
            "while one thread triggers. These take turns, three times; the median is shown. "
            "The last line is the time from a trigger until an idle worker has begun the run.\n\n"
            "A ratio is to the bare line above it. On an idle server of two cores it is about 0.5 "
            "for triggers, 0.6 for the engine and 0.4 for a worker.",
        .options =
            (const struct option[]){
                {.kind = KIND_NUMBER,
                    .name = "seconds",
                    .value = "N",
                    .summary = "how long it may take, 60 by default; short ones are less exact"},
                {.kind = KIND_FLAG,
                    .name = "busy",
                    .summary = "measure even if other transactions write to the server"},
                {.kind = KIND_FLAG,
                    .name = "clean",
                    .summary = "only drop the database of a bench that was killed"},
                {.kind = KIND_FLAG, .name = "yes", .summary = "do not ask"},
                {.kind = KIND_END},
            },
        .examples =
            (const struct example[]){
                {"pawl bench", "a table after a minute"},
                {"pawl bench --seconds 10 --yes -o json", "for scripts"},
                {NULL, NULL},
            },
        .act = bench},
    {0},
};
