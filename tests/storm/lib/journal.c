/* SPDX-License-Identifier: Apache-2.0 */
/* Installs the journal of a storm and reads it. */
#include "journal.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    path_bytes = 1000
};

static void
run_file(PGconn *conn, const char *root, const char *name)
{
    char path[path_bytes];

    (void)snprintf(path, sizeof(path), "%s/%s", root, name);
    bench_do_file(conn, path);
}

void
journal_install(PGconn *conn, const char *root)
{
    run_file(conn, root, "tests/oracle/lib/oracle.sql");
    /* That is for a clock that stands still. */
    bench_do(conn, "drop trigger no_mark on pawl_data.queue_mark");
    run_file(conn, root, "tests/storm/lib/journal.sql");
}

static int64_t
number_of(const PGresult *res, size_t row, int column)
{
    int64_t value = 0;

    if (!PQgetisnull(res, (int)row, column) &&
        !pw_parse_i64(PQgetvalue(res, (int)row, column), INT64_MIN, INT64_MAX, &value))
        bench_die("\"%s\" is no number", PQgetvalue(res, (int)row, column));
    return value;
}

static const char *
text_of(const PGresult *res, size_t row, int column)
{
    return PQgetisnull(res, (int)row, column) ? NULL : PQgetvalue(res, (int)row, column);
}

/* The columns of an entry, in the order in which they are read. */
#define COLUMNS                                                                                    \
    "e.n, e.item, e.xid, e.seen, e.at, e.what, e.session, e.run, e.args::jsonb, "                  \
    "e.payload::jsonb, e.answer, case when json_typeof(e.value) = 'object' then e.value::jsonb - " \
    "'delay_ms' else e.value::jsonb end, e.told, e.image"

static struct journal_entry *
read_entries(const PGresult *res, size_t *count)
{
    struct journal_entry *entries;

    *count = (size_t)PQntuples(res);
    entries = race_alloc((long)*count + 1, sizeof(*entries));
    for (size_t i = 0; i < *count; i++) {
        const char *args = text_of(res, i, 8);

        entries[i] = (struct journal_entry){
            .n = number_of(res, i, 0),
            .item = number_of(res, i, 1),
            .xid = number_of(res, i, 2),
            .seen = text_of(res, i, 3),
            .at = number_of(res, i, 4),
            .what = text_of(res, i, 5),
            .session = number_of(res, i, 6),
            .run = text_of(res, i, 7),
            .args = {args, strlen(args)},
            .payload = text_of(res, i, 9),
            .answer = text_of(res, i, 10),
            .value = text_of(res, i, 11),
            .told = text_of(res, i, 12),
            .image = text_of(res, i, 13),
        };
    }
    return entries;
}

/* Every run with the one that somebody triggered, to which it goes back. */
static void
find_families(PGconn *conn)
{
    bench_do(conn, "drop table if exists pg_temp.family");
    bench_do(conn,
        "create temporary table family as with recursive run as (select r.run_id, r.parent_id,"
        " r.queue_id from pawl_data.run r where r.round = 1 union all select k.run_id, k.parent_id,"
        " k.queue_id from pawl_data.run_kept k where k.round = 1 union all select t.run_id, "
        "t.parent_id,"
        " t.queue_id from pawl_data.task t where t.task_no = 0 and t.round = 1),"
        " family as (select r.*, r.run_id as root from run r where r.parent_id is null"
        " union all select r.*, f.root from run r join family f on f.run_id = r.parent_id)"
        " select f.run_id, f.root, f.parent_id, q.name as workflow,"
        " bool_or(w.flow) over (partition by f.root) as flow from family f join pawl_data.queue q "
        "on "
        "q.queue_id = f.queue_id join pawl_data.workflow w"
        " on w.workflow_id = q.workflow_id");
    bench_do(conn, "create unique index on pg_temp.family (run_id)");
    bench_do(conn, "analyze pg_temp.family");
    bench_do(conn, "analyze journal.entry");
}

static void
read_runs(struct journal *journal)
{
    const PGresult *res = journal->results[3];

    journal->runs_count = (size_t)PQntuples(res);
    journal->runs = race_alloc((long)journal->runs_count + 1, sizeof(*journal->runs));
    for (size_t i = 0; i < journal->runs_count; i++)
        journal->runs[i] = (struct journal_run){
            .id = text_of(res, i, 0),
            .root = text_of(res, i, 1),
            .workflow = text_of(res, i, 2),
            .parent = text_of(res, i, 3),
            .shown = text_of(res, i, 4),
        };
}

void
journal_load(struct journal *journal, PGconn *conn)
{
    PGresult *res;

    memset(journal, 0, sizeof(*journal));
    find_families(conn);
    res = bench_exec(conn,
        "select s.crash_max, (extract(epoch from s.grace) * 1000000)::bigint, (select count(*) from"
        " pg_temp.family f where f.flow) from pawl_data.setting s");
    journal->crash_max = (int)number_of(res, 0, 0);
    journal->grace_us = number_of(res, 0, 1);
    journal->left_out = (long)number_of(res, 0, 2);
    PQclear(res);
    journal->results[0] = bench_exec(conn,
        "select " COLUMNS ", f.root from journal.entry e join pg_temp.family f on f.run_id = e.run"
        " where not f.flow order by f.root, e.n, e.item");
    journal->entries = read_entries(journal->results[0], &journal->entries_count);
    journal->roots = race_alloc((long)journal->entries_count + 1, sizeof(*journal->roots));
    for (size_t i = 0; i < journal->entries_count; i++)
        journal->roots[i] = text_of(journal->results[0], i, 14);
    journal->results[1] = bench_exec(conn,
        "select " COLUMNS " from journal.entry e where e.run is null and e.session is not null "
        "order by e.session, e.n");
    journal->sessions = read_entries(journal->results[1], &journal->sessions_count);
    journal->results[2] = bench_exec(
        conn, "select " COLUMNS " from journal.entry e where e.what = 'emit' order by e.n");
    journal->emits = read_entries(journal->results[2], &journal->emits_count);
    journal->results[3] = bench_exec(conn,
        "select f.run_id, f.root, f.workflow, f.parent_id, oracle.show_run(f.run_id)"
        " from pg_temp.family f where not f.flow order by f.root, f.run_id");
    read_runs(journal);
    journal->results[4] = bench_exec(conn,
        "select w.name, w.priority, w.max_attempts, (extract(epoch from w.base) * 1000000)::bigint,"
        " w.factor, (extract(epoch from w.cap) * 1000000)::bigint, w.jitter from "
        "pawl_data.workflow w"
        " where not w.flow order by w.workflow_id");
}

void
journal_done(struct journal *journal)
{
    for (int i = 0; i < 5; i++)
        PQclear(journal->results[i]);
    free(journal->entries);
    free(journal->roots);
    free(journal->sessions);
    free(journal->emits);
    free(journal->runs);
    memset(journal, 0, sizeof(*journal));
}
