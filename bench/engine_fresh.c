/* SPDX-License-Identifier: Apache-2.0 */
/* What the sections of bench/engine and bench/lanes begin and end with: a fresh database, the server's settings, and figures. */
#include "engine.h"

void
engine_say(struct engine_report *report, const struct bench_figure *figure)
{
    if (!bench_figure_print(figure))
        report->failed++;
}

void
engine_say_plain(struct engine_report *report, const char *name, double value, const char *unit,
    enum bench_bound kind, double bound)
{
    struct bench_figure figure = {
        .name = name,
        .value = value,
        .unit = unit,
        .bound_kind = kind,
        .bound = bound,
    };

    engine_say(report, &figure);
}

void
engine_fresh(const char *database)
{
    PGconn *conn = bench_install(database);

    bench_do_file(conn, "bench/engine/fill.sql");
    bench_do(conn, "select pawl.create_workflow('" ENGINE_WORKFLOW "')");
    PQfinish(conn);
}

void
engine_quiet(bool quiet)
{
    PGconn *conn = bench_connect();
    double until = bench_limit_s(10);

    bench_do(conn, quiet ? "alter system set autovacuum to off" : "alter system reset autovacuum");
    bench_do(conn,
        quiet ? "alter system set full_page_writes to off" : "alter system reset full_page_writes");
    bench_do(conn, "select pg_reload_conf()");
    PQfinish(conn);
    /* A new connection has the settings when the server has read them. */
    for (bool done = false; !done;) {
        if (bench_now_s() > until)
            bench_die("the server did not take its new settings");
        conn = bench_connect();
        done = bench_value(conn, "select (current_setting('autovacuum') = 'off')::int") == quiet;
        if (done)
            bench_do(conn, "checkpoint"); /* The checkpointer decides on page images. */
        PQfinish(conn);
    }
}
