/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of the benchmarks and race programs; see the header. */
#include "harness.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

static const size_t file_bytes_max = 16 * 1024 * 1024;

void
bench_die(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)fputs("bench: ", stderr);
    (void)vfprintf(stderr, format, args);
    (void)fputc('\n', stderr);
    va_end(args);
    exit(1);
}

double
bench_now_s(void)
{
    struct timespec t;

    if (clock_gettime(CLOCK_MONOTONIC, &t) != 0)
        bench_die("no monotonic clock");
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

long
bench_number(const char *text, const char *what, long min, long max)
{
    long number = 0;
    size_t i = 0;

    for (; text[i] >= '0' && text[i] <= '9' && number <= max / 10; i++)
        number = number * 10 + (text[i] - '0');
    if (i == 0 || text[i] != '\0' || number < min || number > max) {
        (void)fprintf(stderr, "bench: %s must be a number from %ld to %ld, not \"%s\"\n", what, min,
            max, text);
        exit(2);
    }
    return number;
}

static int
compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double
bench_percentile(double *values, size_t count, double part)
{
    size_t at = (size_t)(part * (double)count);

    if (count == 0)
        bench_die("no value was measured");
    qsort(values, count, sizeof(*values), compare);
    return values[at < count ? at : count - 1];
}

void
bench_meet(pthread_barrier_t *barrier)
{
    int code = pthread_barrier_wait(barrier);

    if (code != 0 && code != PTHREAD_BARRIER_SERIAL_THREAD)
        bench_die("pthread_barrier_wait: error %d", code);
}

double
bench_limit_s(double seconds)
{
    const char *patience = getenv("PAWL_PATIENCE");

    if (patience != NULL)
        seconds *= (double)bench_number(patience, "PAWL_PATIENCE", 1, 100);
    return bench_now_s() + seconds;
}

bool
bench_in_time(bool kept, const char *what)
{
    const char *times = getenv("PAWL_TIMES");

    if (kept || (times != NULL && strcmp(times, "gate") == 0))
        return kept;
    (void)printf("# warning: %s is late\n", what);
    return true;
}

void
bench_need_cluster_with(char **argv, const char *const *options)
{
    static const char pg_tmp[] = BENCH_SOURCE_ROOT "/tools/pg_tmp";
    size_t arguments = 0, count = 0;
    /* execv() does not change them, but its prototype is older than const. */
    union {
        const char **given;
        char *const *taken;
    } command;

    if (getenv("PGHOST") != NULL)
        return;
    while (argv[arguments] != NULL)
        arguments++;
    while (options[count] != NULL)
        count++;
    command.given = calloc(arguments + count + 3, sizeof(*command.given));
    if (command.given == NULL)
        bench_die("out of memory");
    command.given[0] = pg_tmp;
    command.given[1] = "--durable";
    memcpy(command.given + 2, options, count * sizeof(*options));
    for (size_t i = 0; i < arguments; i++)
        command.given[2 + count + i] = argv[i];
    (void)execv(pg_tmp, command.taken);
    bench_die("cannot start \"%s\": error %d", pg_tmp, errno);
}

void
bench_need_cluster(char **argv)
{
    static const char *const none[] = {NULL};

    bench_need_cluster_with(argv, none);
}

PGconn *
bench_connect(void)
{
    PGconn *conn = PQconnectdb("");

    if (PQstatus(conn) != CONNECTION_OK)
        bench_die("%s", PQerrorMessage(conn));
    return conn;
}

static PGresult *
checked(PGconn *conn, const char *what, PGresult *res)
{
    ExecStatusType status = PQresultStatus(res);

    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        bench_die("%s: %s", what, PQerrorMessage(conn));
    return res;
}

PGresult *
bench_exec(PGconn *conn, const char *sql)
{
    return checked(conn, sql, PQexec(conn, sql));
}

PGresult *
bench_exec_params(PGconn *conn, const char *sql, int count, const char *const *params)
{
    return checked(conn, sql, PQexecParams(conn, sql, count, NULL, params, NULL, NULL, 0));
}

PGresult *
bench_exec_prepared(PGconn *conn, const char *name, int count, const char *const *params)
{
    return checked(conn, name, PQexecPrepared(conn, name, count, params, NULL, NULL, 0));
}

/* A number as the server writes it: digits, a sign, a point. */
static double
number_of(const char *text)
{
    double value = 0, unit = 0;
    bool negative = text[0] == '-';

    for (const char *p = text + (negative ? 1 : 0); *p != '\0'; p++) {
        if (*p == '.' && unit == 0) {
            unit = 1;
        } else if (*p >= '0' && *p <= '9') {
            value = value * 10 + (*p - '0');
            unit *= 10;
        } else {
            bench_die("not a number: \"%s\"", text);
        }
    }
    value = unit > 1 ? value / unit : value;
    return negative ? -value : value;
}

void
bench_do(PGconn *conn, const char *sql)
{
    PQclear(bench_exec(conn, sql));
}

double
bench_value(PGconn *conn, const char *sql)
{
    PGresult *res = bench_exec(conn, sql);
    double value;

    if (PQntuples(res) < 1 || PQnfields(res) < 1)
        bench_die("no value: %s", sql);
    value = number_of(PQgetvalue(res, 0, 0));
    PQclear(res);
    return value;
}

void
bench_prepare(PGconn *conn, const char *name, const char *sql, int count)
{
    PQclear(checked(conn, name, PQprepare(conn, name, sql, count, NULL)));
}

void
bench_do_file(PGconn *conn, const char *path)
{
    struct bench_text name, sql;
    FILE *file;

    bench_text_init(&name, 4096);
    bench_text_addf(&name, "%s%s", path[0] == '/' ? "" : BENCH_SOURCE_ROOT "/", path);
    file = fopen(name.data, "r");
    if (file == NULL)
        bench_die("cannot open \"%s\"", name.data);
    bench_text_init(&sql, file_bytes_max);
    sql.length = fread(sql.data, 1, sql.capacity, file);
    if (ferror(file) != 0 || sql.length == sql.capacity)
        bench_die("cannot read \"%s\"", name.data);
    sql.data[sql.length] = '\0';
    (void)fclose(file); /* It was only read. */
    bench_do(conn, sql.data);
    bench_text_done(&sql);
    bench_text_done(&name);
}

void
bench_go_to(const char *name)
{
    if (setenv("PGDATABASE", name, 1) != 0)
        bench_die("out of memory");
}

bool
bench_has_database(const char *name)
{
    const char *params[] = {name};
    PGconn *conn;
    PGresult *res;
    bool has;

    bench_go_to("postgres");
    conn = bench_connect();
    res = bench_exec_params(conn, "select from pg_database where datname = $1", 1, params);
    has = PQntuples(res) > 0;
    PQclear(res);
    PQfinish(conn);
    return has;
}

void
bench_copy_database(const char *name, const char *from)
{
    PGconn *conn;
    struct bench_text sql;

    bench_go_to("postgres");
    conn = bench_connect();
    bench_do(conn, "set client_min_messages to warning");
    bench_text_init(&sql, 200);
    bench_text_addf(&sql, "drop database if exists %s with (force)", name);
    bench_do(conn, sql.data);
    bench_text_clear(&sql);
    bench_text_addf(&sql, "create database %s template %s", name, from);
    bench_do(conn, sql.data);
    bench_text_done(&sql);
    PQfinish(conn);
    bench_go_to(name);
}

void
bench_fresh_database(const char *name)
{
    bench_copy_database(name, "template0");
}

PGconn *
bench_install(const char *name)
{
    const char *pawl_sql = getenv("PAWL_SQL");
    PGconn *conn;

    bench_fresh_database(name);
    conn = bench_connect();
    bench_do(conn, "set client_min_messages to warning");
    bench_do_file(conn, pawl_sql != NULL ? pawl_sql : BENCH_PAWL_SQL);
    return conn;
}

void
bench_text_init(struct bench_text *text, size_t capacity)
{
    text->data = malloc(capacity + 1);
    if (text->data == NULL)
        bench_die("out of memory");
    text->capacity = capacity;
    bench_text_clear(text);
}

void
bench_text_done(struct bench_text *text)
{
    free(text->data);
    text->data = NULL;
}

void
bench_text_clear(struct bench_text *text)
{
    text->length = 0;
    text->data[0] = '\0';
}

void
bench_text_add(struct bench_text *text, const char *string)
{
    size_t length = strlen(string);

    if (length > text->capacity - text->length)
        bench_die("text runs over its %zu bytes", text->capacity);
    memcpy(text->data + text->length, string, length + 1);
    text->length += length;
}

void
bench_text_addf(struct bench_text *text, const char *format, ...)
{
    size_t room = text->capacity - text->length;
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(text->data + text->length, room + 1, format, args);
    va_end(args);
    if (length < 0 || (size_t)length > room)
        bench_die("text runs over its %zu bytes", text->capacity);
    text->length += (size_t)length;
}

void
bench_text_add_uuid(struct bench_text *text)
{
    static const char digits[] = "0123456789abcdef";
    struct timespec t;
    unsigned char bytes[16];
    char hex[33];
    unsigned long long ms;

    if (clock_gettime(CLOCK_REALTIME, &t) != 0 ||
        getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        bench_die("no clock or no random bytes");
    ms = (unsigned long long)t.tv_sec * 1000 + (unsigned long long)t.tv_nsec / 1000000;
    for (int i = 0; i < 6; i++)
        bytes[i] = (unsigned char)(ms >> (40 - 8 * i));
    bytes[6] = (unsigned char)((bytes[6] & 0x0f) | 0x70);
    bytes[8] = (unsigned char)((bytes[8] & 0x3f) | 0x80);
    for (int i = 0; i < 16; i++) {
        hex[2 * i] = digits[bytes[i] >> 4];
        hex[2 * i + 1] = digits[bytes[i] & 0x0f];
    }
    hex[32] = '\0';
    bench_text_add(text, hex);
}

static bool
is_within(const struct bench_figure *figure, double bound)
{
    switch (figure->bound_kind) {
    case BENCH_AT_LEAST:
        return figure->value >= bound;
    case BENCH_AT_MOST:
        return figure->value <= bound;
    case BENCH_NO_BOUND:
        break;
    }
    return true;
}

double
bench_ratio_gate(bool quick, enum bench_bound kind, double bound)
{
    if (!quick)
        return 0;
    return kind == BENCH_AT_LEAST ? bound / 2 : 2 * bound;
}

double
bench_time_gate(bool quick)
{
    return quick ? 1e9 : 0;
}

bool
bench_figure_ok(const struct bench_figure *figure)
{
    return is_within(figure, figure->bound);
}

bool
bench_figure_passes(const struct bench_figure *figure)
{
    return is_within(figure, figure->gate != 0 ? figure->gate : figure->bound);
}

void
bench_figure_median(struct bench_figure *figure, double *values, int rounds)
{
    figure->value = bench_percentile(values, (size_t)rounds, 0.5);
    figure->rounds = rounds;
    figure->low = values[0];
    figure->high = values[rounds - 1];
}

void
bench_figure_write(const struct bench_figure *figure, struct bench_text *text)
{
    bench_text_addf(text, "{\"name\": \"%s\"", figure->name);
    if (figure->batch != 0)
        bench_text_addf(text, ", \"batch\": %d", figure->batch);
    if (figure->connections != 0)
        bench_text_addf(text, ", \"connections\": %d", figure->connections);
    bench_text_addf(text, ", \"value\": %.6g, \"unit\": \"%s\"", figure->value, figure->unit);
    if (figure->rounds != 0)
        bench_text_addf(text, ", \"rounds\": %d, \"low\": %.6g, \"high\": %.6g", figure->rounds,
            figure->low, figure->high);
    if (figure->bound_kind != BENCH_NO_BOUND)
        bench_text_addf(text, ", \"bound\": %.6g, \"ok\": %s", figure->bound,
            bench_figure_ok(figure) ? "true" : "false");
    if (figure->gate != 0)
        bench_text_addf(text, ", \"gate\": %.6g, \"gate_ok\": %s", figure->gate,
            bench_figure_passes(figure) ? "true" : "false");
    if (figure->goal != 0)
        bench_text_addf(text, ", \"goal\": %.6g", figure->goal);
    if (figure->note != NULL)
        bench_text_addf(text, ", \"note\": \"%s\"", figure->note);
    bench_text_add(text, "}");
}

bool
bench_figure_print(const struct bench_figure *figure)
{
    struct bench_text line;

    bench_text_init(&line, 1024);
    bench_figure_write(figure, &line);
    if (puts(line.data) == EOF || fflush(stdout) != 0)
        bench_die("cannot write to standard output");
    bench_text_done(&line);
    return bench_figure_passes(figure);
}

void
bench_say(struct bench_report *report, const struct bench_figure *figure)
{
    if (!bench_figure_print(figure))
        report->failed++;
}

void
bench_say_plain(struct bench_report *report, const char *name, double value, const char *unit,
    enum bench_bound kind, double bound)
{
    struct bench_figure figure = {
        .name = name,
        .value = value,
        .unit = unit,
        .bound_kind = kind,
        .bound = bound,
    };

    bench_say(report, &figure);
}

/* Notes which sections are asked for, all if none is named; false: an argument is none. */
static bool
read_sections(int argc, char **argv, const struct bench_section *sections, size_t count,
    struct bench_report *report, bool *asked)
{
    bool any = false;

    for (int i = 1; i < argc; i++) {
        bool known = strcmp(argv[i], "--quick") == 0;

        report->quick = report->quick || known;
        for (size_t s = 0; s < count; s++)
            if (strcmp(argv[i], sections[s].option) == 0)
                known = any = asked[s] = true;
        if (!known)
            return false;
    }
    for (size_t s = 0; s < count; s++)
        asked[s] = asked[s] || !any;
    return true;
}

int
bench_play(
    int argc, char **argv, const char *usage, const struct bench_section *sections, size_t count)
{
    struct bench_report report = {.quick = false};
    bool asked[32] = {false}; /* more than any benchmark has */

    if (!read_sections(argc, argv, sections, count, &report, asked)) {
        (void)fputs(usage, stderr);
        return 2;
    }
    bench_need_cluster(argv);
    for (size_t s = 0; s < count; s++) {
        double start = bench_now_s();

        if (!asked[s])
            continue;
        sections[s].run(&report);
        bench_say_plain(&report, sections[s].option + 2, bench_now_s() - start,
            "s for this section", BENCH_NO_BOUND, 0);
    }
    bench_say_plain(&report, "figures_out_of_bounds", report.failed, "figures", BENCH_NO_BOUND, 0);
    return report.failed == 0 ? 0 : 1;
}

void
bench_pause_ms(long ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    (void)nanosleep(&t, NULL); /* Waking early does no harm. */
}
