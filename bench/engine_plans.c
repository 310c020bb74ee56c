/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plans of every statement inside the verbs, under several states of the statistics, as the server itself reports
 * them (auto_explain): none may read a large table as a whole. Each verb is called often enough in one session that its
 * plans are the cached ones.
 */
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CALLS = 8, /* The server decides on a cached plan after five. */
    VERBS_MAX = 80,
};

/* The verbs of engine/verbs.sql. */
struct verbs {
    char *text; /* the file; the rest points into it */
    const char *names[VERBS_MAX];
    const char *calls[VERBS_MAX];
    size_t count;
};

/* A session whose plans are written to bench.plan through another connection. */
struct watch {
    PGconn *conn;  /* whose plans */
    PGconn *notes; /* who writes them down */
    const char *state;
    const char *verb;
    long plans;
};

static char *
read_file(const char *path)
{
    struct bench_text name;
    FILE *file;
    char *text = calloc(1, 65536);
    size_t length;

    bench_text_init(&name, 4096);
    bench_text_addf(&name, "%s/%s", BENCH_SOURCE_ROOT, path);
    file = fopen(name.data, "r");
    if (file == NULL || text == NULL)
        bench_die("cannot open \"%s\"", name.data);
    length = fread(text, 1, 65535, file);
    if (ferror(file) != 0 || length == 65535)
        bench_die("cannot read \"%s\"", name.data);
    (void)fclose(file); /* It was only read. */
    bench_text_done(&name);
    return text;
}

static void
verbs_read(struct verbs *verbs)
{
    char *line;

    verbs->count = 0;
    verbs->text = read_file("bench/engine/verbs.sql");
    for (line = verbs->text; *line != '\0';) {
        char *end = strchr(line, '\n'), *colon = strstr(line, ": ");

        if (end == NULL)
            bench_die("no newline at the end of the verbs");
        *end = '\0';
        if (line[0] != '-') {
            if (colon == NULL || verbs->count == VERBS_MAX)
                bench_die("not a verb, or one too many: %s", line);
            *colon = '\0';
            verbs->names[verbs->count] = line;
            verbs->calls[verbs->count++] = colon + 2;
        }
        line = end + 1;
    }
}

/* A plan comes as a message of the session that made it. */
static void
take_plan(void *arg, const PGresult *res)
{
    struct watch *watch = arg;
    const char *text = PQresultErrorField(res, PG_DIAG_MESSAGE_PRIMARY);
    const char *plan = text == NULL ? NULL : strchr(text, '{');
    const char *params[] = {watch->state, watch->verb, plan};

    if (plan == NULL || strncmp(text, "duration: ", 10) != 0)
        return;
    watch->plans++;
    PQclear(bench_exec_prepared(watch->notes, "note", 3, params));
}

static void
watch_open(struct watch *watch)
{
    watch->plans = 0;
    watch->verb = NULL;
    watch->conn = bench_connect();
    watch->notes = bench_connect();
    /* Neither what is counted nor what is planned depends on it. */
    bench_do(watch->conn, "set synchronous_commit to off");
    bench_do(watch->notes, "set synchronous_commit to off");
    bench_prepare(watch->notes, "note", "insert into bench.plan values ($1, $2, $3)", 3);
    /* Planning text is not made while it is off. */
    bench_do(watch->conn, "load 'auto_explain'");
    bench_do(watch->conn, "set auto_explain.log_nested_statements to on");
    bench_do(watch->conn, "set auto_explain.log_format to json");
    (void)PQsetNoticeReceiver(watch->conn, take_plan, watch); /* The old one printed them. */
}

static void
watch_close(struct watch *watch)
{
    PQfinish(watch->conn);
    PQfinish(watch->notes);
}

static void
watch_on(struct watch *watch, bool on)
{
    bench_do(watch->conn,
        on ? "set auto_explain.log_min_duration to 0" : "set auto_explain.log_min_duration to -1");
    bench_do(
        watch->conn, on ? "set client_min_messages to log" : "set client_min_messages to error");
}

/* An operator verb may find its run ended, which is an answer too; anything else that fails would hide a plan. */
static void
call_verb(struct watch *watch, const char *name, const char *call)
{
    PGresult *res = PQexec(watch->conn, call);
    const char *code = PQresultErrorField(res, PG_DIAG_SQLSTATE);

    if (PQresultStatus(res) != PGRES_TUPLES_OK && (code == NULL || strncmp(code, "PW0", 3) != 0))
        bench_die("%s: %s", name, PQerrorMessage(watch->conn));
    PQclear(res);
}

static void
run_verbs(struct watch *watch, const struct verbs *verbs, const char *state)
{
    watch->state = state;
    bench_do(watch->conn, "select pawl.register('plans', '{bench.*}', lease => '1 hour')");
    for (size_t i = 0; i < verbs->count; i++) {
        watch->verb = verbs->names[i];
        for (int n = 0; n < CALLS; n++) {
            /* The first is planned for its arguments, the last ones perhaps not; those between are like the first. */
            if (n == 0 || n == CALLS - 2)
                watch_on(watch, true);
            call_verb(watch, verbs->names[i], verbs->calls[i]);
            if (n == 0 || n == CALLS - 1)
                watch_on(watch, false);
        }
    }
}

static void
run_state(const struct verbs *verbs, const char *state)
{
    struct watch watch;

    watch_open(&watch);
    run_verbs(&watch, verbs, state);
    watch_close(&watch);
}

static void
fill_tables(PGconn *conn, long rows)
{
    static const char *const fills[] = {"fill_runs(current_date - 1", "fill_runs(current_date",
        "fill_steps(current_date - 1", "fill_steps(current_date", "fill_events(current_date - 1",
        "fill_events(current_date", "fill_trail(current_date - 1", "fill_trail(current_date",
        "fill_waiting('sleep', date_trunc('day', now()), now() + interval '3 days'",
        "fill_waits('plans', date_trunc('day', now()), now() + interval '3 days'",
        "fill_signals(date_trunc('day', now())"};
    struct bench_text sql;

    bench_text_init(&sql, 300);
    for (size_t i = 0; i < sizeof(fills) / sizeof(fills[0]); i++) {
        bool halves = strstr(fills[i], "current_date") != NULL;

        bench_text_clear(&sql);
        bench_text_addf(&sql, "select bench.%s, 1000, %ld)", fills[i], halves ? rows / 2 : rows);
        bench_do(conn, sql.data);
    }
    bench_text_clear(&sql);
    bench_text_addf(&sql, "select bench.fill_keys(1, %ld)", rows);
    bench_do(conn, sql.data);
    bench_text_done(&sql);
}

/* Today's partitions as they are just after midnight: new, empty, and unknown to the statistics. */
static void
fresh_partitions(PGconn *conn)
{
    bench_do(conn,
        "do $$ declare v_table text; begin "
        "foreach v_table in array array['run', 'input', 'step', 'audit', 'note', 'tag', 'event'] "
        "loop "
        "execute 'drop table pawl_data.' || pawl._partition_name(v_table, current_date); "
        "perform pawl._make_partition(v_table, current_date); end loop; end $$");
}

static void
say_state(struct bench_report *report, PGconn *conn, const char *state)
{
    struct bench_text sql, label;
    PGresult *res;

    bench_text_init(&sql, 1000);
    bench_text_init(&label, 1000);
    bench_text_addf(&sql, "select count(*) from bench.plan where state = '%s'", state);
    bench_text_addf(&label, "plans_%s_looked_at", state);
    bench_say_plain(report, label.data, bench_value(conn, sql.data), "plans", BENCH_AT_LEAST, 500);
    bench_text_clear(&sql);
    bench_text_addf(&sql,
        "select verb, scan, relation, index, count(*), "
        "left(regexp_replace(query, '[[:space:]\"\\\\]+', ' ', 'g'), 200) "
        "from bench.bad_scan where state = '%s' group by 1, 2, 3, 4, 6",
        state);
    res = bench_exec(conn, sql.data);
    for (int i = 0; i < PQntuples(res); i++)
        (void)fprintf(stderr, "%s: %s: %s on %s %s, %s times: %s\n", state, PQgetvalue(res, i, 0),
            PQgetvalue(res, i, 1), PQgetvalue(res, i, 2), PQgetvalue(res, i, 3),
            PQgetvalue(res, i, 4), PQgetvalue(res, i, 5));
    bench_text_clear(&label);
    bench_text_addf(&label, "plans_%s_that_read_a_large_table", state);
    bench_say_plain(report, label.data, PQntuples(res), "statements", BENCH_AT_MOST, 0);
    PQclear(res);
    bench_text_done(&label);
    bench_text_done(&sql);
}

void
engine_plans(struct bench_report *report)
{
    static const char *const states[] = {"never_analysed", "empty", "stale", "cached_while_empty",
        "many_rows", "fresh_partition", "dead_rows", "dead_rows_analysed"};
    long rows = report->quick ? 60000 : 1000000;
    struct verbs verbs;
    struct watch early;
    PGconn *conn;

    verbs_read(&verbs);
    engine_quiet(true);
    engine_fresh("bench_plans");
    conn = bench_connect();
    bench_do_file(conn, "bench/engine/plans.sql");
    run_state(&verbs, "never_analysed");
    bench_do(conn, "delete from pawl_data.task");
    bench_do(conn, "vacuum analyze");
    watch_open(&early);
    run_verbs(&early, &verbs, "empty");
    fill_tables(conn, rows);
    run_verbs(&early, &verbs, "cached_while_empty");
    watch_close(&early);
    run_state(&verbs, "stale");
    bench_do(conn, "analyze");
    run_state(&verbs, "many_rows");
    fresh_partitions(conn);
    run_state(&verbs, "fresh_partition");
    bench_do(conn, "delete from pawl_data.task");
    bench_do(conn, "delete from pawl_data.wait");
    bench_do(conn, "delete from pawl_data.key");
    bench_do(conn, "delete from pawl_data.signal");
    bench_do(conn, "delete from pawl_data.topic");
    run_state(&verbs, "dead_rows");
    bench_do(conn, "analyze");
    run_state(&verbs, "dead_rows_analysed");
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
        say_state(report, conn, states[i]);
    PQfinish(conn);
    engine_quiet(false);
    free(verbs.text);
}
